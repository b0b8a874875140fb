"""One tenant's memory at one version: every read of conversations names a user."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
from numpy.typing import NDArray

from operators.ask.model.fallback import Model
from operators.ask.steps import Answer
from operators.ask.values import AskValues
from operators.errors import ObjectNotFound, StoreCorrupt
from operators.hierarchy.find import UserHierarchy
from operators.hierarchy.reads import HierarchyReads
from operators.induce.attributes import Attribute
from operators.induce.induction import InduceValues, attributes_of
from operators.memory.asking import Asked, ask
from operators.memory.known import Known, known_of
from operators.memory.opened import Encoders, Opened, Users
from operators.memory.written import read_value
from operators.records import (
    ATTRIBUTE,
    CORRECTED_BY,
    CORRECTIONS,
    COUNTS,
    HIERARCHY,
    IMAGES,
    OFFSET,
    ROUND,
    ROUNDS,
    SCHEMA_CHANGES,
    SESSION,
    TABLES,
    TIME,
    UNITS,
    bucket_of,
    media_key,
    require_scope,
)
from operators.retrieve.anchors import Anchors, NoAnchors
from operators.retrieve.find import Query, find
from operators.retrieve.lanes import unit_length
from operators.retrieve.result import SearchResult, make_result
from operators.retrieve.route import route
from operators.retrieve.values import SearchValues
from operators.store.buckets import (
    list_users,
    read_observations,
    read_of_user,
    read_user,
    read_user_table,
)
from operators.store.manifest import (
    CHANGES_FILE,
    CORRECTIONS_FILE,
    COUNTS_FILE,
    HIERARCHY_FILE,
    TABLES_FILE,
    Snapshot,
)
from operators.store.objects import ObjectStore
from operators.tables.columns import Table, TableMeta
from operators.tables.compute import Compared, Computed
from operators.tables.stored import find_row, meta_of, table_of
from operators.tables.tools import Call, Rows, run

SEARCH_VALUES = SearchValues()
NO_ANCHORS = NoAnchors()
ASK_VALUES = AskValues()


class Memory(HierarchyReads):
    """One pinned snapshot of one tenant. Every read of conversations names a user; an unknown one has none."""

    def __init__(self, objects: ObjectStore, snapshot: Snapshot, tenant: str, encoders: Encoders, users: Users) -> None:
        self._objects = objects
        self._snapshot = snapshot
        self._tenant = tenant
        self._encoders = encoders
        self._cache = users

    @property
    def snapshot(self) -> Snapshot:
        """What this memory reads."""
        return self._snapshot

    @property
    def tenant(self) -> str:
        """Whose users these are."""
        return self._tenant

    def users(self) -> pl.DataFrame:
        """The tenant's users and what each has (``records.USERS`` columns), sorted by user."""
        return _frame(list_users(self._objects, self._snapshot, self._tenant))

    def rounds(self, user: str) -> pl.DataFrame:
        """The user's rounds (``records.ROUNDS`` columns) in order."""
        opened = self._open(user)
        return _frame(opened.data.rounds if opened else ROUNDS.empty_table())

    def units(self, user: str) -> pl.DataFrame:
        """The user's units (``records.UNITS`` columns) in order."""
        opened = self._open(user)
        return _frame(opened.data.units if opened else UNITS.empty_table())

    def observations(self, user: str, *, round_id: str | None = None, corrected: bool = False) -> pl.DataFrame:
        """The user's observations (``records.OBSERVATIONS`` columns) in order, of one round where it is named.

        Without those that a later one takes back, unless ``corrected``, and without corrections of nothing that is known.
        """
        tenant, user = require_scope(self._tenant, user)
        frame = _frame(read_observations(self._objects, self._snapshot, tenant, user)).filter(pl.col(ATTRIBUTE) != "")
        if round_id is not None:
            frame = frame.filter(pl.col(ROUND) == round_id)
        return frame if corrected else frame.filter(pl.col(CORRECTED_BY).is_null())

    def tables(self, user: str) -> list[TableMeta]:
        """What tables the user has, sorted by name."""
        return [meta_of(row) for row in self._tables(user)]

    def table(self, user: str, name: str) -> Table:
        """One of the user's tables, all its rows; TableNotFound, naming what there is."""
        row = find_row(self._tables(user), name)
        rows = read_user_table(self._objects, self._snapshot, self._tenant, user, row["start"], row["bytes"])
        return table_of(row, rows)

    def run(self, user: str, call: Call) -> Rows | Computed | Compared:
        """A tool on the user's tables. TableNotFound; ToolError, saying what is allowed, for what does not fit."""
        return run(call, lambda name: self.table(user, name), read_value)

    def _tables(self, user: str) -> list[dict[str, Any]]:
        return list(self._of_user(TABLES_FILE, TABLES, user).to_pylist())

    def schema_changes(self, user: str) -> pl.DataFrame:
        """How the user's tables came to be what they are (``records.SCHEMA_CHANGES`` columns), oldest first."""
        return _frame(self._of_user(CHANGES_FILE, SCHEMA_CHANGES, user))

    def table_corrections(self, user: str) -> pl.DataFrame:
        """The cells that people set right (``records.CORRECTIONS`` columns), oldest first."""
        return _frame(self._of_user(CORRECTIONS_FILE, CORRECTIONS, user))

    def attributes(self, user: str, values: InduceValues, *, alike: bool = True) -> tuple[Attribute, ...]:
        """The attributes that the names in the user's rounds are, and why; ``alike``: names alike in meaning too."""
        counts = self._of_user(COUNTS_FILE, COUNTS, user)
        return attributes_of(counts, values, self._encoders.texts.names if alike else None)

    def hierarchy(self, user: str) -> UserHierarchy | None:
        """The user's topics, episodes and events, ready to be searched; None for a user who is not known."""
        opened = self._open(user)
        if opened is None:
            return None
        return opened.hierarchy(lambda: self._of_user(HIERARCHY_FILE, HIERARCHY, user))

    def text_vectors(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Unit vectors (n, dim) of short texts, by the encoder that made the store's."""
        return self._encoders.texts.names(texts)

    def known(self, user: str) -> Known:
        """What a planner may be shown of the user; of one who is not known there is nothing. ScopeError without user."""
        opened = self._open(user)
        if opened is None:
            return known_of([], [], self.text_vectors, 0)
        return opened.known(lambda: self._known(user, opened))

    def _known(self, user: str, opened: Opened) -> Known:
        tables = [
            table_of(row, read_user_table(self._objects, self._snapshot, self._tenant, user, row["start"], row["bytes"]))
            for row in self._tables(user)
        ]
        hierarchy = self.hierarchy(user)
        offsets = opened.data.rounds[OFFSET].drop_null()
        offset = int(offsets[-1].as_py()) if len(offsets) else 0
        return known_of(tables, hierarchy.episodes if hierarchy else [], self.text_vectors, offset)

    def ask(
        self,
        user: str,
        question: str,
        *,
        now: datetime | None = None,
        until: datetime | None = None,
        image: bytes | None = None,
        caption: str | None = None,
        values: AskValues = ASK_VALUES,
        search: SearchValues = SEARCH_VALUES,
        model: Model | None = None,
    ) -> Answer:
        """The answer to a question about the user, with what it stands on.

        ``now``: the moment it is asked at (UTC; default: this one); ``until``: what is later was not there yet. ``image``:
        the bytes of a picture that comes with it, ``caption`` what it shows. ``model``: plans and answers, where there is
        one; rules do where there is none, and where it fails, which the trace's notes say. ScopeError without user;
        UsageError for a question that is blank or too long, and for a picture that cannot be decoded.
        """
        _, user = require_scope(self._tenant, user)
        asked = Asked(question, search, now, until, image, caption)
        return ask(self, user, asked, values, model)

    def query_vector(self, query: str) -> NDArray[np.float32]:
        """The vector (dim,) of a query, by the encoder that made the store's."""
        return self._encoders.texts.query(query)

    def _of_user(self, dataset: str, schema: pa.Schema, user: str) -> pa.Table:
        tenant, user = require_scope(self._tenant, user)
        return read_of_user(self._objects, self._snapshot, dataset, schema, tenant, user)

    def picture(self, user: str, media: str) -> bytes | None:
        """The bytes of a picture (``records.IMAGE_TYPE`` media) of the user's rounds; None where no round of theirs has it.

        StoreCorrupt where the bytes are gone or no longer what their name says.
        """
        opened = self._open(user)
        if opened is None or media not in opened.pictures:
            return None
        key = media_key(media)
        try:
            data = self._objects.get(key)
        except ObjectNotFound as error:
            raise StoreCorrupt(
                f"{key} is gone from {self._objects.uri}, though rounds name it: see `mnemosaic verify`"
            ) from error
        if hashlib.sha256(data).hexdigest() != media:
            raise StoreCorrupt(f"{key} in {self._objects.uri} is not what its name says: see `mnemosaic verify`")
        return data

    def nearest_picture(self, user: str, image: bytes) -> tuple[str, float, NDArray[np.float32]] | None:
        """The user's stored picture (media) that looks most like a picture (bytes), their cosine, and the latter's vector.

        None where the store holds no vectors of pictures, or the user none. UsageError where it cannot be decoded.
        """
        opened = self._open(user)
        if opened is None or not opened.data.pictures or not self._encoders.images.dim:
            return None
        vector = self._encoders.images.query(image)
        cosines = unit_length(opened.data.picture_vectors) @ unit_length(vector.reshape(1, -1))[0]
        best = int(np.argmax(cosines))
        return opened.data.pictures[best], float(cosines[best]), vector

    def sessions(self, user: str) -> pl.DataFrame:
        """The user's sessions in order: session_id, rounds, pictures, first_time, last_time (UTC, null where unknown)."""
        grouped = self.rounds(user).group_by(SESSION, maintain_order=True)
        return grouped.agg(
            pl.len().cast(pl.Int64).alias("rounds"),
            pl.col(IMAGES).list.len().sum().cast(pl.Int64).alias("pictures"),
            pl.col(TIME).min().alias("first_time"),
            pl.col(TIME).max().alias("last_time"),
        )

    def search(
        self,
        user: str,
        query: str = "",
        *,
        k: int | None = None,
        neighbours: int | None = None,
        values: SearchValues = SEARCH_VALUES,
        image: bytes | None = None,
        caption: str | None = None,
        vector: NDArray[np.float32] | None = None,
        image_vector: NDArray[np.float32] | None = None,
        anchors: Anchors = NO_ANCHORS,
    ) -> SearchResult:
        """The rounds of the user's history that answer the query best, each with its neighbours.

        ``values``: how; ``k`` and ``neighbours`` where they differ from them. ``image``: the bytes of a picture that comes
        with the query, which may then be blank, ``caption`` what it shows. ``vector`` (dim,) and ``image_vector`` (image
        dim,): of the query and its picture, where they are at hand. ``anchors``: a model's, where there is one.

        ScopeError without user; UsageError for a blank query, a value out of range, a picture that cannot be decoded, or one
        asked of a store that holds no vectors of pictures.
        """
        scope = require_scope(self._tenant, user)
        values = replace(
            values, k=values.k if k is None else k, neighbours=values.neighbours if neighbours is None else neighbours
        )
        values.check()
        picture = self._picture_vector(image, image_vector)
        asked = Query(query, vector, image, picture, caption)
        asked.check()
        opened = self._open(user)
        if opened is None:
            case = route(query, picture=asked.pictured).case
            return make_result(self._snapshot.version, scope, query, case, _frame(ROUNDS.empty_table()), [], [])
        opened.check_vector(vector)
        found = find(opened.index, asked, self._encoders.texts.names, anchors, values)
        wanted = pa.array([order for run in found.runs for order in run], pa.int64())
        # Orders count from 0 without gaps, so a round's order is its row.
        rounds = _frame(opened.data.rounds.take(wanted))
        return make_result(self._snapshot.version, scope, query, found.route.case, rounds, found.hits, found.runs)

    def _picture_vector(self, image: bytes | None, vector: NDArray[np.float32] | None) -> NDArray[np.float32] | None:
        """The query's picture as a vector (image dim,), None without picture."""
        images = self._encoders.images
        if image is None and vector is None:
            return None
        images.require(self._objects.uri)
        if vector is not None:
            return images.check(vector)
        return None if image is None else images.query(image)

    def _open(self, user: str) -> Opened | None:
        tenant, user = require_scope(self._tenant, user)
        bucket = self._snapshot.buckets.get(bucket_of(tenant, user, self._snapshot.spec.buckets))
        if bucket is None:
            return None
        key = (bucket.revision, tenant, user)
        opened = self._cache.get(key)
        if opened is None:
            data = read_user(self._objects, self._snapshot, tenant, user)
            if data is None:
                return None
            opened = self._cache.put(key, Opened(data))
        return opened


def _frame(table: pa.Table) -> pl.DataFrame:
    frame = pl.from_arrow(table)
    assert isinstance(frame, pl.DataFrame)
    return frame
