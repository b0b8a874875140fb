"""A bucket's analytic memory as it was, and what each user's part of it was made of."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc

from operators.records import (
    ATTRIBUTE,
    CONFIDENCE,
    CORRECTED_BY,
    CORRECTIONS,
    CORRECTS,
    COUNTS,
    END,
    IMAGE,
    KIND,
    MEASURE,
    MEDIA,
    MESSAGE,
    NUMBER,
    OBSERVATION,
    ORDER,
    PARSED,
    RECORD,
    ROUND,
    SCHEMA_CHANGES,
    SESSION,
    START,
    TABLES,
    TENANT,
    USER,
    VALUE,
)
from operators.store.manifest import (
    CHANGES_FILE,
    CORRECTIONS_FILE,
    COUNTS_FILE,
    PACK_FILE,
    TABLES_FILE,
    BucketFiles,
    DataFile,
)
from operators.store.objects import ObjectStore
from operators.store.tables import read_part, read_table

Scope = tuple[str, str]
"""Tenant and user."""

TELLING = [
    SESSION, ROUND, ORDER, OBSERVATION, RECORD, ATTRIBUTE, VALUE, KIND, NUMBER, MEASURE, PARSED, MESSAGE, START, END, IMAGE,
    MEDIA, CONFIDENCE, CORRECTS, CORRECTED_BY,
]  # fmt: skip
"""Columns of an observation that counts and tables are made of, but for the box, which its picture and value name."""

_SCHEMAS = {TABLES_FILE: TABLES, CHANGES_FILE: SCHEMA_CHANGES, COUNTS_FILE: COUNTS, CORRECTIONS_FILE: CORRECTIONS}

_AT_ONCE = 4096
"""Rows that are made dicts of together."""

STALE = "stale"
"""In the place of the digest of tables that are kept though their user's data are others now."""


def runs_of(table: pa.Table) -> list[tuple[Scope, int, int]]:
    """Of each run of rows of one user: whose, where it begins, and how many they are."""
    if not len(table):
        return []
    owners = [table[name].combine_chunks() for name in (TENANT, USER)]
    other = [pc.not_equal(column[1:], column[:-1]).to_numpy(zero_copy_only=False) for column in owners]
    begins = np.concatenate([[0], np.flatnonzero(other[0] | other[1]) + 1])
    rows = np.diff(begins, append=len(table))
    tenants, users = (column.take(pa.array(begins)).to_pylist() for column in owners)
    return list(zip(zip(tenants, users, strict=True), begins.tolist(), rows.tolist(), strict=True))


def side_by_side(runs: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Runs of rows (where each begins, and how many they are) that rise; those without a gap between them as one."""
    found: list[list[int]] = []
    end = -1
    for begin, rows in runs:
        if begin == end:
            found[-1][1] += rows
        else:
            found.append([begin, rows])
        end = begin + rows
    return [(begin, rows) for begin, rows in found]


class Ranges:
    """Rows of a table that is sorted by tenant and user, by whose they are."""

    def __init__(self, table: pa.Table) -> None:
        self._table = table

    @cached_property
    def _at(self) -> dict[Scope, tuple[int, int]]:
        return {scope: (begin, rows) for scope, begin, rows in runs_of(self._table)}

    def of(self, scope: Scope) -> pa.Table:
        """The rows of one user."""
        return self._table.slice(*self.place(scope))

    def place(self, scope: Scope) -> tuple[int, int]:
        """Where one user's begin, and how many they are."""
        return self._at.get(scope, (0, 0))

    def places(self, scopes: Collection[Scope]) -> list[tuple[int, int]]:
        """Where those of some users begin, and how many they are, in order; what stands side by side is one."""
        return side_by_side(sorted(self._at[scope] for scope in scopes if scope in self._at))

    def of_all(self, scopes: Collection[Scope]) -> pa.Table:
        """The rows of some users, in order."""
        if not scopes:
            return self._table.slice(0, 0)
        parts = [self._table.slice(*run) for run in self.places(scopes)]
        return parts[0] if len(parts) == 1 else pa.concat_tables([self._table.slice(0, 0), *parts]).combine_chunks()


class Rows:
    """Rows of a table that is sorted by tenant and user, as dicts of some columns; those of many users are made at once."""

    def __init__(self, table: pa.Table, columns: Sequence[str]) -> None:
        self._at = Ranges(table)
        self._frame = pl.DataFrame(pl.from_arrow(table.select(columns)))
        self._begin = 0
        self._made: list[dict[str, Any]] = []

    def of(self, scope: Scope) -> list[dict[str, Any]]:
        """The rows of one user; soonest told of users in order."""
        begin, rows = self._at.place(scope)
        if not self._begin <= begin <= begin + rows <= self._begin + len(self._made):
            self._begin, self._made = begin, self._frame.slice(begin, max(rows, _AT_ONCE)).rows(named=True)
        return self._made[begin - self._begin :][:rows]


@dataclass(frozen=True)
class Held:
    """The analytic memory of a bucket as it was, read when wanted; nothing where there was no bucket."""

    objects: ObjectStore
    base: BucketFiles | None

    @cached_property
    def _tables(self) -> dict[str, pa.Table]:
        return {}

    def table(self, name: str) -> pa.Table:
        """A dataset of it."""
        if name not in self._tables:
            file = self.base.files[name] if self.base is not None else None
            told = read_table(self.objects, file) if file is not None and file.rows else _SCHEMAS[name].empty_table()
            self._tables[name] = told
        return self._tables[name]

    def file_of(self, name: str, table: pa.Table) -> DataFile | None:
        """The file of a dataset if it holds just this table."""
        return self.base.files[name] if self.base is not None and table.equals(self.table(name)) else None

    @cached_property
    def made_of(self) -> dict[Scope, str]:
        """Of each user with tables what those were made of."""
        rows = zip(*(self.table(TABLES_FILE)[name].to_pylist() for name in (TENANT, USER, "made_of")), strict=True)
        return {(tenant, user): made_of for tenant, user, made_of in rows}

    @cached_property
    def pack(self) -> memoryview:
        """The Parquet of all tables."""
        if self.base is None:
            return memoryview(b"")
        file = self.base.files[PACK_FILE]
        return memoryview(read_part(self.objects, file, 0, file.bytes))

    @cached_property
    def _ranges(self) -> Ranges:
        return Ranges(self.table(TABLES_FILE))

    def rows(self, scope: Scope) -> list[dict[str, Any]]:
        """The rows of ``records.TABLES`` of one user."""
        return list(self._ranges.of(scope).to_pylist()) if scope in self.made_of else []


def of_scopes(table: pa.Table, scopes: Collection[Scope]) -> pa.Table:
    """The rows of some users."""
    runs = side_by_side((begin, rows) for scope, begin, rows in runs_of(table) if scope in scopes)
    if runs == [(0, len(table))]:
        return table
    return pa.concat_tables([table.slice(0, 0), *(table.slice(*run) for run in runs)])


def told_of(users: pa.Table, corrections: pa.Table, extraction: str) -> dict[Scope, str]:
    """Of each user the half of a digest that tells their rounds, their corrections and the extraction, without observations.

    ``users``: whose digest covers their rounds.
    """
    corrected = _hashed(corrections, [name for name in CORRECTIONS.names if name not in (TENANT, USER, "names")])
    found: dict[Scope, str] = {}
    for tenant, user, said in zip(*(users[name].to_pylist() for name in (TENANT, USER, "digest")), strict=True):
        text = f"{said}|{corrected.get((tenant, user), 0)}|{extraction}"
        found[tenant, user] = hashlib.sha256(text.encode()).hexdigest()[:_HALF]
    return found


def observed_of(observations: pa.Table) -> dict[Scope, str]:
    """Of each user who has observations the other half of a digest, which tells them."""
    return {scope: f"{hashed:0{_HALF}x}" for scope, hashed in _hashed(observations, TELLING).items()}


UNOBSERVED = "0" * 16
"""That half of users without observations."""

_HALF = 16


def told_half(made_of: str) -> str:
    """Of what a user's tables were made of the half that ``told_of`` gives."""
    return data_of(made_of)[:_HALF]


def data_of(made_of: str) -> str:
    """Of what a user's tables were made of the part that tells the data."""
    return made_of.partition("-")[2]


def way_of(made_of: str) -> str:
    """Of what a user's tables were made of the part that tells how."""
    return made_of.partition("-")[0]


def _hashed(table: pa.Table, columns: Sequence[str]) -> dict[Scope, int]:
    """A sum of hashes of each user's rows: whatever their order, for the order of rounds is among the columns."""
    if len(table) == 0:
        return {}
    frame = pl.DataFrame(pl.from_arrow(table.select([TENANT, USER, *columns])))
    hashes = frame.select(columns).hash_rows(seed=1)
    added = frame.select(TENANT, USER, hashes.alias("hash")).group_by([TENANT, USER]).agg(pl.col("hash").sum())
    return {(tenant, user): value for tenant, user, value in added.iter_rows()}
