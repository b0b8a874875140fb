"""The reading door: a store's versions, and one tenant's memory at one of them.

The command line, serve and notebooks use it:

store = open_store("./memory")
memory = store.memory("default")
memory.search("mira", "when does the flight leave?").rounds
"""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import date, datetime
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
from numpy.typing import NDArray

from operators.encode.image import ImageEncoder
from operators.encode.queries import ImageQueries, TextQueries
from operators.encode.text import TextEncoder, require_same
from operators.errors import ObjectNotFound, ScopeError, StoreCorrupt, UsageError
from operators.extract.dates import dates_in
from operators.extract.folding import folded
from operators.extract.values import parse_value
from operators.hierarchy.find import Reading, UserHierarchy
from operators.hierarchy.reads import HierarchyReads
from operators.induce.attributes import Attribute
from operators.induce.induction import InduceValues, attributes_of
from operators.records import (
    ATTRIBUTE,
    CORRECTED_BY,
    CORRECTIONS,
    COUNTS,
    DEFAULT_TENANT,
    HIERARCHY,
    IMAGES,
    ROUND,
    ROUNDS,
    SCHEMA_CHANGES,
    SESSION,
    TABLES,
    TIME,
    UNITS,
    bucket_of,
    media_key,
    pictures_of,
    require_scope,
)
from operators.retrieve.anchors import Anchors, NoAnchors
from operators.retrieve.find import Query, find
from operators.retrieve.index import UserIndex
from operators.retrieve.lanes import unit_length
from operators.retrieve.result import SearchResult, make_result
from operators.retrieve.route import route
from operators.retrieve.told import pictures_of_units, told
from operators.retrieve.values import SearchValues
from operators.retrieve.words import query_words, words
from operators.store.buckets import (
    UserData,
    list_users,
    read_observations,
    read_of_user,
    read_user,
    read_user_table,
)
from operators.store.commit import load_spec, pin, versions
from operators.store.manifest import (
    CHANGES_FILE,
    CORRECTIONS_FILE,
    COUNTS_FILE,
    HIERARCHY_FILE,
    TABLES_FILE,
    Snapshot,
)
from operators.store.objects import ObjectStore
from operators.store.opening import open_objects
from operators.tables.columns import Table, TableMeta, Value
from operators.tables.compute import Compared, Computed
from operators.tables.stored import find_row, meta_of, table_of
from operators.tables.tools import Call, Rows, read_call, run
from operators.units import embedding_texts

CACHE_BYTES = 512 * 1024 * 1024
"""Most bytes of opened users that one store keeps at hand, unless ``open_store`` is told otherwise."""

SEARCH_VALUES = SearchValues()
NO_ANCHORS = NoAnchors()

AsOf = int | datetime | None


def open_store(
    uri: str,
    *,
    encoder: TextEncoder | None = None,
    image_encoder: ImageEncoder | None = None,
    threads: int = 1,
    cache_bytes: int = CACHE_BYTES,
) -> Store:
    """The store at a folder or ``s3://bucket/prefix``, for reading. NotAStore where there is none.

    ``encoder`` of queries and ``image_encoder`` of their pictures: by default those that the store names are loaded when a
    search first needs them, with ``threads`` threads. FingerprintMismatch if one did not make the store's vectors.
    """
    objects = open_objects(uri)
    spec = load_spec(objects)
    if encoder is not None:
        require_same(spec.encoder, encoder.fingerprint)
    if image_encoder is not None:
        require_same(spec.image_encoder, image_encoder.fingerprint)
    encoders = _Encoders(
        TextQueries(spec.encoder, encoder, threads), ImageQueries(spec.image_encoder, image_encoder, threads)
    )
    return Store(objects, encoders, _Users(cache_bytes))


@dataclass(frozen=True)
class _Encoders:
    """What makes vectors of queries: of their words, of their pictures."""

    texts: TextQueries
    images: ImageQueries


class Store:
    """A store opened for reading; safe to share between threads."""

    def __init__(self, objects: ObjectStore, encoders: _Encoders, users: _Users) -> None:
        self._objects = objects
        self._encoders = encoders
        self._users = users

    @property
    def uri(self) -> str:
        """Where it is."""
        return self._objects.uri

    def versions(self) -> list[int]:
        """The versions that are kept, ascending."""
        return versions(self._objects)

    def pin(self, as_of: AsOf = None) -> Snapshot:
        """The newest snapshot, or that of a version, or the newest at an aware time. SnapshotNotFound."""
        return pin(self._objects, as_of)

    def memory(self, tenant: str = DEFAULT_TENANT, as_of: AsOf = None) -> Memory:
        """One tenant's memory at one version; it stays there whatever is committed later. ScopeError without tenant."""
        if not isinstance(tenant, str) or not tenant.strip():
            raise ScopeError("a memory is of one tenant: pass --tenant (tenant= in Python)")
        return Memory(self._objects, self.pin(as_of), tenant, self._encoders, self._users)

    def user(self, user: str, tenant: str = DEFAULT_TENANT, as_of: AsOf = None) -> UserMemory:
        """One user's memory at one version. ScopeError without tenant or user."""
        return UserMemory(self.memory(tenant, as_of), require_scope(tenant, user)[1])


def read_value(text: str) -> Value | None:
    """A value as a person writes it in a condition (``7 h``, ``RM 20``, ``2016-04-20``); None for nothing."""
    parsed = parse_value(folded(text))
    return None if parsed is None else Value(parsed.kind, parsed.number, parsed.unit, parsed.text)


class UserMemory:
    """One user's memory at one version, for a notebook: ``store.user("mira").table("activity")``."""

    def __init__(self, memory: Memory, user: str) -> None:
        self._memory = memory
        self._user = user

    def tables(self) -> list[TableMeta]:
        """What tables there are, sorted by name."""
        return self._memory.tables(self._user)

    def table(self, name: str) -> pl.DataFrame:
        """The rows of a table; each column has its values as written (``.raw``) and where they stand (``.at``) beside it."""
        return self._memory.table(self._user, name).frame

    def compute(self, table: str, operation: str, column: str | None = None, **options: Any) -> Computed | Compared:
        """``compute("activity", "avg", "sleep", where=["time >= 2016-04-20"], by="week", unit="h")`` (``ComputeCall``)."""
        found = self.run({"tool": "compute", "table": table, "operation": operation, "column": column, **options})
        assert not isinstance(found, Rows)
        return found

    def run(self, call: Mapping[str, Any]) -> Rows | Computed | Compared:
        """A tool on these tables, as data (``tables.tools``). ToolError, saying what is allowed, for what does not fit."""
        return self._memory.run(self._user, read_call(call))


class Memory(HierarchyReads):
    """One pinned snapshot of one tenant. Every read of conversations names a user; an unknown one has none."""

    def __init__(self, objects: ObjectStore, snapshot: Snapshot, tenant: str, encoders: _Encoders, users: _Users) -> None:
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

    def _open(self, user: str) -> _Opened | None:
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
            opened = self._cache.put(key, _Opened(data))
        return opened


class _Opened:
    """One user's data; its index is built when first searched."""

    def __init__(self, data: UserData) -> None:
        self.data = data
        self.lock = threading.Lock()
        self._index: UserIndex | None = None
        self._hierarchy: UserHierarchy | None = None

    def hierarchy(self, rows: Callable[[], pa.Table]) -> UserHierarchy:
        """The user's hierarchy, read (``records.HIERARCHY``) when first asked for."""
        with self.lock:
            if self._hierarchy is None:
                data = self.data
                self._hierarchy = UserHierarchy(rows(), data.rounds, data.units, data.vectors, _READING)
            return self._hierarchy

    def check_vector(self, vector: NDArray[np.float32] | None) -> None:
        """UsageError for a query vector that the store's cannot be compared with."""
        dim = self.data.vectors.shape[1]
        if vector is not None and vector.shape != (dim,):
            raise UsageError(f"the query's vector has shape {vector.shape}, the store's have ({dim},)")

    @property
    def index(self) -> UserIndex:
        with self.lock:
            if self._index is None:
                data = self.data
                pictures = pictures_of_units(data.units, data.pictures, unit_length(data.picture_vectors))
                texts = embedding_texts(data.units).to_pylist()
                self._index = UserIndex(told(data.rounds, data.units, texts), data.vectors, pictures)
            return self._index

    @cached_property
    def pictures(self) -> frozenset[str]:
        """The names of all pictures that the user's rounds hold."""
        return frozenset(pictures_of(self.data.rounds).to_pylist())

    @property
    def nbytes(self) -> int:
        """Counted as if the index and the hierarchy were built: BM25 takes about as much as the text and so do the words of
        the hierarchy, the vectors twice their float16 and those of events once more."""
        vectors = 4 * self.data.vectors.nbytes + 3 * self.data.picture_vectors.nbytes
        return int(3 * self.data.units.nbytes + self.data.rounds.nbytes + vectors)


# --- ranking --------------------------------------------------------------------------------------------------------


class _Users:
    """Opened users, the least recently used dropped first. A bucket's revision names its content, so nothing goes stale."""

    def __init__(self, most_bytes: int) -> None:
        self._most = most_bytes
        self._held: OrderedDict[tuple[str, str, str], _Opened] = OrderedDict()
        self._bytes = 0
        self._lock = threading.Lock()

    def get(self, key: tuple[str, str, str]) -> _Opened | None:
        with self._lock:
            if key in self._held:
                self._held.move_to_end(key)
            return self._held.get(key)

    def put(self, key: tuple[str, str, str], opened: _Opened) -> _Opened:
        """Keep it; the one that another thread kept meanwhile stands."""
        with self._lock:
            if key in self._held:
                return self._held[key]
            self._held[key] = opened
            self._bytes += opened.nbytes
            while self._bytes > self._most and self._held:
                self._bytes -= self._held.popitem(last=False)[1].nbytes
        return opened


def _written_dates(text: str, said: date) -> list[tuple[int, date]]:
    """The dates written in a text that was said on a day; one whose day and month may be the other way round is none."""
    return [(found.start, day) for found in dates_in(folded(text)) if (day := found.on(None, said)[0]) is not None]


_READING = Reading(words, query_words, _written_dates)


def _frame(table: pa.Table) -> pl.DataFrame:
    frame = pl.from_arrow(table)
    assert isinstance(frame, pl.DataFrame)
    return frame
