"""A bucket's analytic memory: its counts, and every user's tables where what they are made of has changed."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from operators.encode.text import TextEncoder
from operators.induce.attributes import Attribute, name_of_key
from operators.induce.counts import count, keys_of, live
from operators.induce.induction import Induced, InduceValues, SchemaChange, TableColumn, TableSchema, as_they_are, induction
from operators.records import (
    BOX,
    CONFIDENCE,
    CORRECTIONS,
    COUNTS,
    END,
    FROM_ROUND,
    IMAGE,
    KIND,
    MEASURE,
    MEDIA,
    MESSAGE,
    NUMBER,
    OBSERVATION,
    OBSERVATIONS,
    OFFSET,
    ORDER,
    PARSED,
    PRECISION,
    RECORD,
    ROUND,
    ROUNDS_LEVEL,
    SCHEMA_CHANGES,
    SESSION,
    START,
    TABLES,
    TENANT,
    TIME,
    USER,
    VALUE,
)
from operators.store.manifest import (
    CHANGES_FILE,
    CORRECTIONS_FILE,
    COUNTS_FILE,
    OBSERVATIONS_FILE,
    PACK_FILE,
    ROUNDS_FILE,
    TABLES_FILE,
    USERS_FILE,
    BucketFiles,
    DataFile,
    Snapshot,
)
from operators.store.objects import ObjectStore
from operators.store.tables import parquet_bytes, read_part, read_table, write_pack, write_table
from operators.tables.build import BUILD_VERSION, Built, Spec, build
from operators.tables.columns import Column
from operators.tables.rows import KEY

Scope = tuple[str, str]
"""Tenant and user."""

_ROUND_COLUMNS = [ORDER, SESSION, ROUND, TIME, OFFSET, PRECISION]
_CELL_COLUMNS = [
    ORDER, RECORD, VALUE, KIND, NUMBER, MEASURE, PARSED, CONFIDENCE, IMAGE, OBSERVATION, MESSAGE, START, END, MEDIA, BOX,
    FROM_ROUND, KEY,
]  # fmt: skip
_LOOKS_BESIDE = [SESSION, ROUND]


@dataclass(frozen=True)
class Inducing:
    """How tables are made. ``evolve``: discover and evolve; else the tables there are take what fits them.

    ``shared``: by tenant, the schemas that its users have in common, None where each user has their own. ``as_held``: with
    the schemas that a user's tables have, to the letter, whatever the rest says: where only their cells may change.
    """

    values: InduceValues
    evolve: bool = True
    shared: Mapping[str, Induced] | None = None
    as_held: bool = False

    @property
    def fingerprint(self) -> str:
        """Names all that shapes tables beside the observations."""
        told = None if self.shared is None else [self.for_tenant(tenant) for tenant in sorted(self.shared)]
        return self._named(told)

    def for_tenant(self, tenant: str) -> str:
        """The same of one tenant's tables. How often a schema is seen is left out: it changes with every round."""
        if self.shared is None:
            return self._named(None)
        made = self.shared.get(tenant)
        return self._named([tenant, *((table.name, table.columns) for table in (made.tables if made else ()))])

    def _named(self, shared: object) -> str:
        told = {"build": BUILD_VERSION, "values": asdict(self.values), "evolve": self.evolve, "shared": shared}
        return hashlib.sha256(json.dumps(told, sort_keys=True, default=str).encode()).hexdigest()[:16]


@dataclass
class Embedder:
    """Vectors of names, from an encoder that is loaded when first needed; each name is encoded once."""

    load: Callable[[], TextEncoder]
    known: dict[str, NDArray[np.float32]] = field(default_factory=dict)
    encoder: TextEncoder | None = None

    def __call__(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Unit vectors (n, dim) of the texts."""
        fresh = [text for text in dict.fromkeys(texts) if text not in self.known]
        if fresh:
            self.encoder = self.encoder or self.load()
            self.known.update(zip(fresh, self.encoder.encode(fresh), strict=True))
        return np.stack([self.known[text] for text in texts])


@dataclass(frozen=True)
class Source:
    """What a bucket's tables are made of: its rounds, users and observations, and what people set right."""

    rounds: pa.Table
    users: pa.Table
    observations: pa.Table
    corrections: pa.Table
    extraction: str


def induce_bucket(
    objects: ObjectStore,
    home: str,
    source: Source,
    base: BucketFiles | None,
    how: Inducing,
    embed: Embedder,
    *,
    run_id: str,
    only: Collection[Scope] | None = None,
) -> dict[str, DataFile]:
    """Write the bucket's counts and tables below ``home`` and say where.

    ``base``: the bucket as it was, whose tables are those there are. A user whose tables were made of the same, or who is
    not among ``only``, keeps them byte for byte.
    """
    held = _Held.of(objects, base)
    observations = live(source.observations)
    keys = keys_of(observations)
    observations = observations.append_column(KEY, keys)
    counts = count(observations, keys)
    corrections = _of_known_rounds(source.corrections, source.rounds)
    digests = _digests(source, observations, corrections, how)
    if how.as_held:
        digests = {scope: _as_before(made_of, held.made_of.get(scope)) for scope, made_of in digests.items()}
    parts = _Parts(_Ranges(observations), _Ranges(counts), _Ranges(corrections), digests)
    due = {
        scope
        for scope, made_of in digests.items()
        if (held.made_of.get(scope) != made_of and (only is None or scope in only))
    }
    made = [
        _make(scope, parts, _rounds_of(source, user), held.rows(scope), how, embed, run_id)
        for user in source.users.select([TENANT, USER, "round_start", "rounds"]).to_pylist()
        if (scope := (user[TENANT], user[USER])) in due
    ]
    staying = digests.keys() - due
    tables, blobs = _tables_of(held, staying, made)
    pack, starts = write_pack(objects, f"{home}/tables.pack", blobs)
    sizes = [len(blob) for blob in blobs]
    tables = _with(_with(tables, "start", starts), "bytes", sizes)
    changes = _changes_of(held, digests.keys(), made)
    return {
        PACK_FILE: pack,
        COUNTS_FILE: write_table(objects, f"{home}/counts.parquet", counts, COUNTS),
        TABLES_FILE: write_table(objects, f"{home}/tables.parquet", tables, TABLES),
        CHANGES_FILE: write_table(objects, f"{home}/schema-changes.parquet", changes, SCHEMA_CHANGES),
        CORRECTIONS_FILE: write_table(objects, f"{home}/corrections.parquet", corrections, CORRECTIONS),
    }


def _rounds_of(source: Source, user: Mapping[str, Any]) -> list[dict[str, Any]]:
    part = source.rounds.slice(user["round_start"], user["rounds"]).select(_ROUND_COLUMNS)
    return list(part.to_pylist())


def _tables_of(held: _Held, staying: Collection[Scope], made: Sequence[_Made]) -> tuple[pa.Table, list[bytes]]:
    """``records.TABLES`` of all users in order, and the bytes of each: of those who stay as they were, and made anew."""
    rows = [row for each in made for row in each.rows]
    fresh = [blob for each in made for blob in each.blobs]
    kept, kept_blobs = held.staying(staying)
    both = pa.concat_tables([kept, pa.Table.from_pylist(rows, TABLES)])
    order = _in_order(both)
    blobs = [*kept_blobs, *fresh]
    return both.take(pa.array(order, pa.int64())).combine_chunks(), [blobs[at] for at in order]


def _changes_of(held: _Held, known: Collection[Scope], made: Sequence[_Made]) -> pa.Table:
    """``records.SCHEMA_CHANGES`` of all users who are here, in order."""
    fresh = pa.Table.from_pylist([row for each in made for row in each.changes], SCHEMA_CHANGES)
    both = pa.concat_tables([_of_scopes(held.changes, known), fresh])
    return both.take(pa.array(_in_order(both), pa.int64())).combine_chunks()


def _in_order(table: pa.Table) -> list[int]:
    """Row numbers by tenant and user; of one user as they stand."""
    frame = pl.DataFrame(pl.from_arrow(table.select([TENANT, USER]))).with_row_index("at")
    return frame.sort([TENANT, USER, "at"])["at"].to_list()


def _of_scopes(table: pa.Table, scopes: Collection[Scope]) -> pa.Table:
    owners = zip(table[TENANT].to_pylist(), table[USER].to_pylist(), strict=True)
    return table.filter(pa.array([owner in scopes for owner in owners], pa.bool_()))


def _with(table: pa.Table, name: str, values: Sequence[int]) -> pa.Table:
    at = TABLES.get_field_index(name)
    return table.set_column(at, TABLES.field(name), pa.array(values, pa.int64()))


# --- one user -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Made:
    """One user's tables as they go into the store: metadata, bytes, and what changed."""

    rows: list[dict[str, Any]]
    blobs: list[bytes]
    changes: list[dict[str, Any]]


def _make(
    scope: Scope,
    parts: _Parts,
    rounds: Sequence[Mapping[str, Any]],
    held: Sequence[Mapping[str, Any]],
    how: Inducing,
    embed: Embedder,
    run_id: str,
) -> _Made:
    counts = parts.counts.of(scope)
    active = [schema_of(row) for row in held]
    if not active and how.shared is None and _seldom(counts, how):
        return _Made([], [], [])
    if how.as_held:
        induced = Induced((), tuple(active), ())
    elif how.shared is not None:
        induced = how.shared.get(scope[0], Induced((), (), ()))
    elif how.evolve:
        induced = induction(counts, active, how.values, embed)
    else:
        induced = as_they_are(counts, active, how.values, embed)
    dated = (attribute for attribute in induced.attributes if attribute.dates_record)
    names = (name.key() for attribute in dated for name in attribute.names)
    dates = frozenset(held[0]["dates"] if how.as_held and held else names)
    specs = [Spec(schema.name, [_column(column) for column in schema.columns], schema.support) for schema in induced.tables]
    observed = parts.observations.of(scope).select(_CELL_COLUMNS).to_pylist()
    built = build(observed, rounds, parts.corrections.of(scope).to_pylist(), specs, dates)
    # Where schemas are a tenant's, a user has those of them that hold something.
    kept = [pair for pair in zip(induced.tables, built, strict=True) if pair[1].meta.rows or how.shared is None]
    changes = () if how.shared is not None else induced.changes
    return _Made(
        [_table_row(scope, schema, table, sorted(dates), parts.digests[scope]) for schema, table in kept],
        [parquet_bytes(table.rows) for _, table in kept],
        [change_row(scope, run_id, len(rounds), change) for change in changes],
    )


def _seldom(counts: pa.Table, how: Inducing) -> bool:
    """Whether so few rounds tell anything that nothing can recur often enough."""
    told = pc.sum(counts.filter(pc.equal(counts["level"], ROUNDS_LEVEL))["weight"]).as_py() or 0
    return bool(told < how.values.thresholds.support)


def _column(column: TableColumn) -> tuple[Column, list[str]]:
    aliases = tuple(dict.fromkeys(name.name for name in column.names))
    return Column(column.name, column.kind, column.unit, aliases), [name.key() for name in column.names]  # type: ignore[arg-type]


def _table_row(scope: Scope, schema: TableSchema, built: Built, dates: list[str], made_of: str) -> dict[str, Any]:
    row = schema_row(scope, schema)
    columns = [
        {**told, "unit": column.unit, "samples": list(built.meta.samples[column.name])}
        for column, told in zip(built.meta.columns, row["columns"], strict=True)
    ]
    told = {"description": built.meta.description, "columns": columns, "rows": built.meta.rows}
    return {**row, **told, "dates": dates, "made_of": made_of}


def schema_row(scope: Scope, schema: TableSchema) -> dict[str, Any]:
    """A schema as a row of ``records.TABLES`` without records; user ``""`` for one that a tenant's users have in common."""
    columns = [
        {
            "name": each.name,
            "kind": each.kind,
            "unit": each.unit,
            "names": [name.key() for name in each.names],
            "samples": [],
        }
        for each in schema.columns
    ]
    return {
        TENANT: scope[0],
        USER: scope[1],
        "table": schema.name,
        "description": "",
        "columns": columns,
        "support": schema.support,
        "all_confidence": schema.all_confidence,
        "rows": 0,
        "start": 0,
        "bytes": 0,
        "dates": [],
        "made_of": "",
    }


def schema_of(row: Mapping[str, Any]) -> TableSchema:
    """The schema that a row of ``records.TABLES`` tells."""
    columns = tuple(
        TableColumn(each["name"], each["kind"], each["unit"], tuple(map(name_of_key, each["names"])))
        for each in row["columns"]
    )
    return TableSchema(row["table"], columns, row["support"], row["all_confidence"])


def change_row(scope: Scope, run_id: str, rounds: int, change: SchemaChange) -> dict[str, Any]:
    """A change as a row of ``records.SCHEMA_CHANGES``."""
    told = {**asdict(change), "columns": list(change.columns), "added": list(change.added)}
    return {TENANT: scope[0], USER: scope[1], "run_id": run_id, "rounds": rounds, **told}


# --- what is at hand ------------------------------------------------------------------------------------------------


class _Ranges:
    """Rows of a table that is sorted by tenant and user, by whose they are."""

    def __init__(self, table: pa.Table) -> None:
        self._table = table
        owners = pl.DataFrame(pl.from_arrow(table.select([TENANT, USER])))
        runs = owners.with_row_index("at").group_by([TENANT, USER]).agg(pl.col("at").min(), pl.len())
        self._at = {(tenant, user): (at, rows) for tenant, user, at, rows in runs.iter_rows()}

    def of(self, scope: Scope) -> pa.Table:
        """The rows of one user."""
        return self._table.slice(*self._at.get(scope, (0, 0)))


@dataclass(frozen=True)
class _Parts:
    observations: _Ranges
    counts: _Ranges
    corrections: _Ranges
    digests: Mapping[Scope, str]


def _digests(source: Source, observations: pa.Table, corrections: pa.Table, how: Inducing) -> dict[Scope, str]:
    """Of each user all that their tables are made of, as a hex digest."""
    sums = [
        _hashed(observations, [name for name in _CELL_COLUMNS if name != BOX] + _LOOKS_BESIDE),
        _hashed(source.rounds, _ROUND_COLUMNS),
        _hashed(corrections, [name for name in CORRECTIONS.names if name not in (TENANT, USER, "names")]),
    ]
    fingerprints = {tenant: how.for_tenant(tenant) for tenant in source.users[TENANT].unique().to_pylist()}
    found: dict[Scope, str] = {}
    for tenant, user in zip(source.users[TENANT].to_pylist(), source.users[USER].to_pylist(), strict=True):
        told = [str(each.get((tenant, user), 0)) for each in sums]
        text = "|".join((*told, source.extraction))
        found[tenant, user] = f"{fingerprints[tenant]}-{hashlib.sha256(text.encode()).hexdigest()[:32]}"
    return found


def _as_before(made_of: str, before: str | None) -> str:
    """The digest of what tables are made of now, behind how they were made before."""
    return made_of if before is None else f"{before.partition('-')[0]}-{made_of.partition('-')[2]}"


def _hashed(table: pa.Table, columns: Sequence[str]) -> dict[Scope, int]:
    """A sum of hashes of each user's rows: whatever their order, for the order of rounds is among the columns."""
    frame = pl.DataFrame(pl.from_arrow(table.select([TENANT, USER, *columns])))
    hashes = frame.select(columns).hash_rows(seed=1)
    added = frame.select(TENANT, USER, hashes.alias("hash")).group_by([TENANT, USER]).agg(pl.col("hash").sum())
    return {(tenant, user): value for tenant, user, value in added.iter_rows()}


def _of_known_rounds(corrections: pa.Table, rounds: pa.Table) -> pa.Table:
    """The corrections of rounds that are here: with a round goes what was said of it."""
    if len(corrections) == 0:
        return corrections
    identity = [TENANT, USER, SESSION, ROUND]
    known = set(zip(*(rounds[name].to_pylist() for name in identity), strict=True))
    rows = zip(*(corrections[name].to_pylist() for name in identity), strict=True)
    kept = corrections.filter(pa.array([row in known for row in rows], pa.bool_()))
    return kept.sort_by([(TENANT, "ascending"), (USER, "ascending"), ("at", "ascending")]).combine_chunks()


class _Held:
    """The tables of the bucket as it was; their bytes are read when first wanted."""

    def __init__(self, tables: pa.Table, changes: pa.Table, pack: Callable[[], bytes]) -> None:
        self.changes = changes
        self._tables = tables
        self._ranges = _Ranges(tables)
        self._read = pack
        rows = zip(*(tables[name].to_pylist() for name in (TENANT, USER, "made_of")), strict=True)
        self.made_of = {(tenant, user): made_of for tenant, user, made_of in rows}

    @classmethod
    def of(cls, objects: ObjectStore, base: BucketFiles | None) -> _Held:
        if base is None:
            return cls(TABLES.empty_table(), SCHEMA_CHANGES.empty_table(), bytes)
        pack = base.files[PACK_FILE]
        return cls(
            read_table(objects, base.files[TABLES_FILE]),
            read_table(objects, base.files[CHANGES_FILE]),
            lambda: read_part(objects, pack, 0, pack.bytes),
        )

    def rows(self, scope: Scope) -> list[dict[str, Any]]:
        return list(self._ranges.of(scope).to_pylist())

    def staying(self, scopes: Collection[Scope]) -> tuple[pa.Table, list[bytes]]:
        """The tables of those users, and the bytes of each."""
        tables = _of_scopes(self._tables, scopes)
        pack = self._read() if len(tables) else b""
        places = zip(tables["start"].to_pylist(), tables["bytes"].to_pylist(), strict=True)
        return tables, [pack[start : start + length] for start, length in places]


def shared_schemas(objects: ObjectStore, snapshot: Snapshot) -> dict[str, Induced]:
    """The schemas that the users of each tenant have in common, as a snapshot holds them."""
    file = snapshot.shared.get(TABLES_FILE)
    tables: dict[str, list[TableSchema]] = {}
    for row in read_table(objects, file).to_pylist() if file is not None else ():
        tables.setdefault(row[TENANT], []).append(schema_of(row))
    return {tenant: as_shared(schemas) for tenant, schemas in tables.items()}


def as_shared(schemas: Sequence[TableSchema]) -> Induced:
    """Schemas as the users of a tenant are given them."""
    columns = {column.names: column for schema in schemas for column in schema.columns}
    attributes = tuple(Attribute(each.name, each.kind, each.unit, names, "") for names, each in columns.items())
    return Induced(attributes, tuple(schemas), ())


def held_corrections(objects: ObjectStore, base: BucketFiles | None) -> pa.Table:
    """What people set right in the bucket as it was."""
    return read_table(objects, base.files[CORRECTIONS_FILE]) if base is not None else CORRECTIONS.empty_table()


def source_of(objects: ObjectStore, bucket: BucketFiles, corrections: pa.Table | None = None) -> Source:
    """What the tables of a finished bucket are made of; other ``corrections`` than it holds where they are given."""
    rounds = read_table(objects, bucket.files[ROUNDS_FILE], columns=[TENANT, USER, *_ROUND_COLUMNS])
    observations = read_table(objects, bucket.files[OBSERVATIONS_FILE]).cast(OBSERVATIONS)
    held = held_corrections(objects, bucket) if corrections is None else corrections
    return Source(rounds, read_table(objects, bucket.files[USERS_FILE]), observations, held, bucket.extraction)
