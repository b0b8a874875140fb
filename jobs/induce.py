"""A bucket's analytic memory: its counts, and every user's tables where what they are made of has changed."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Collection, Mapping, Sequence, Set
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from jobs.held import (
    STALE,
    UNOBSERVED,
    Held,
    Ranges,
    Rows,
    Scope,
    data_of,
    observed_of,
    of_scopes,
    told_half,
    told_of,
    way_of,
)
from jobs.packing import Writer, joined, tables_of, together
from jobs.schema_rows import as_shared, change_row, schema_of, schema_row
from jobs.source import ROUND_COLUMNS, Source, of_known_rounds
from operators.encode.text import TextEncoder
from operators.induce.counts import count, keys_of, live
from operators.induce.induction import Induced, InduceValues, TableColumn, TableSchema, as_they_are, induction
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
    ORDER,
    PARSED,
    RECORD,
    ROUNDS_LEVEL,
    SCHEMA_CHANGES,
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
    Snapshot,
)
from operators.store.objects import ObjectStore
from operators.store.tables import parquet_bytes, read_table
from operators.tables.build import BUILD_VERSION, Built, Spec, build
from operators.tables.columns import Column
from operators.tables.rows import KEY

_CELL_COLUMNS = [
    ORDER, RECORD, VALUE, KIND, NUMBER, MEASURE, PARSED, CONFIDENCE, IMAGE, OBSERVATION, MESSAGE, START, END, MEDIA, BOX,
    FROM_ROUND, KEY,
]  # fmt: skip


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

    def discovering(self, tenant: str) -> str:
        """The same where schemas are discovered too: of data that are the same such tables stay as they are."""
        return self.for_tenant(tenant) if self.shared is not None else replace(self, evolve=True).for_tenant(tenant)

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
class InducedBucket:
    """A bucket's analytic memory: its files, how many tables are others than before, and the schema changes of this run."""

    files: dict[str, DataFile]
    tables: int
    changes: list[dict[str, Any]]


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
    held = Held(objects, base)
    return _induced(Writer(objects, home, None), source, held, how, embed, run_id, only).files


def reinduce_bucket(
    objects: ObjectStore,
    home: str,
    source: Source,
    base: BucketFiles,
    how: Inducing,
    embed: Embedder,
    *,
    run_id: str,
    only: Collection[Scope] | None = None,
) -> InducedBucket:
    """The same, and what it changed; what comes to the same as in ``base`` is not written: its file there is named."""
    held = Held(objects, base)
    return _induced(Writer(objects, home, held), source, held, how, embed, run_id, only)


def _induced(
    writer: Writer,
    source: Source,
    held: Held,
    how: Inducing,
    embed: Embedder,
    run_id: str,
    only: Collection[Scope] | None,
) -> InducedBucket:
    corrections = of_known_rounds(source)
    plan = _plan(source, corrections, held, how, only)
    parts = _Parts.of(source, corrections, plan)
    made = [_make(scope, parts, plan, how, embed, run_id) for scope in sorted(plan.due)]
    rows = [row for each in made for row in each.rows]
    kept = _staying(held, plan)
    tables, pack = tables_of(
        kept, held.pack if len(kept) else memoryview(b""), rows, [b for each in made for b in each.blobs]
    )
    told = [row for each in made for row in each.changes]
    counts, _ = joined(of_scopes(held.table(COUNTS_FILE), plan.known - plan.counted), parts.counted)
    changes, _ = joined(of_scopes(held.table(CHANGES_FILE), plan.known), pa.Table.from_pylist(told, SCHEMA_CHANGES))
    files = together(
        {
            TABLES_FILE: partial(writer.table, TABLES_FILE, "tables", tables, TABLES),
            PACK_FILE: partial(writer.pack, tables, pack),
            COUNTS_FILE: partial(writer.table, COUNTS_FILE, "counts", counts, COUNTS),
            CHANGES_FILE: partial(writer.table, CHANGES_FILE, "schema-changes", changes, SCHEMA_CHANGES),
            CORRECTIONS_FILE: partial(writer.table, CORRECTIONS_FILE, "corrections", corrections, CORRECTIONS),
        }
    )
    return InducedBucket(files, _others(plan, rows), told)


# --- whose tables are to be made ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Plan:
    """Of whom there is something: what of (``digests``); whose tables are ``due``; who is ``counted`` anew, with what is
    ``observed`` of them; ``before``: the rows of ``records.TABLES`` of those who are due or gone.
    """

    digests: Mapping[Scope, str]
    due: frozenset[Scope]
    counted: frozenset[Scope]
    observed: pa.Table
    before: Mapping[Scope, Sequence[Mapping[str, Any]]]

    @property
    def known(self) -> Set[Scope]:
        return self.digests.keys()


def _plan(source: Source, corrections: pa.Table, held: Held, how: Inducing, only: Collection[Scope] | None) -> _Plan:
    ways = {tenant: how.for_tenant(tenant) for tenant in source.users[TENANT].unique().to_pylist()}
    fits = {tenant: {way, how.discovering(tenant)} for tenant, way in ways.items()}
    before = held.made_of
    told = told_of(source.users, corrections, source.extraction)
    whole = source.observations if isinstance(source.observations, pa.Table) else None
    seen = {} if whole is None else observed_of(whole)
    if whole is None:
        others = {scope for scope, half in told.items() if half != told_half(before.get(scope, ""))}
    else:
        others = {
            scope for scope, half in told.items() if half + seen.get(scope, UNOBSERVED) != data_of(before.get(scope, ""))
        }
    otherwise = {scope for scope in told if way_of(before.get(scope, "")) not in fits[scope[0]]}
    due = others if how.as_held else others | otherwise
    due = due if only is None else due & set(only)
    counted = due | others
    observed = source.observations_of(counted)
    seen = observed_of(observed) if whole is None else seen
    digests = {}
    for scope, half in told.items():
        way = way_of(before[scope]) if how.as_held and scope in before else ways[scope[0]]
        anew = whole is not None or scope in counted
        digests[scope] = f"{way}-{half + seen.get(scope, UNOBSERVED) if anew else data_of(before[scope])}"
    gone = before.keys() - told.keys()
    rows = {scope: held.rows(scope) for scope in (*due, *gone)}
    return _Plan(digests, frozenset(due), frozenset(counted), observed, rows)


def _staying(held: Held, plan: _Plan) -> pa.Table:
    """``records.TABLES`` of those whose tables are not made anew; it tells of whom they are not what they would be now."""
    kept = of_scopes(held.table(TABLES_FILE), plan.known - plan.due)
    stale = plan.counted - plan.due
    if not stale:
        return kept
    owners = zip(*(kept[name].to_pylist() for name in (TENANT, USER, "made_of")), strict=True)
    told = [f"{way_of(made_of)}-{STALE}" if (tenant, user) in stale else made_of for tenant, user, made_of in owners]
    at = TABLES.get_field_index("made_of")
    return kept.set_column(at, TABLES.field("made_of"), pa.array(told, pa.string()))


def _others(plan: _Plan, rows: Sequence[Mapping[str, Any]]) -> int:
    """How many tables are others than before, and how many are no more."""
    before = {_name(row): _shown(row) for told in plan.before.values() for row in told}
    after = {_name(row): _shown(row) for row in rows}
    return sum(before.get(name) != shown for name, shown in after.items()) + len(before.keys() - after.keys())


def _name(row: Mapping[str, Any]) -> tuple[str, str, str]:
    return row[TENANT], row[USER], row["table"]


def _shown(row: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in row.items() if name not in ("start", "made_of")}


# --- one user -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Parts:
    """What the tables of those who are due are made of."""

    rounds: Rows
    observations: Rows
    corrections: Rows
    counted: pa.Table
    counts: Ranges

    @classmethod
    def of(cls, source: Source, corrections: pa.Table, plan: _Plan) -> _Parts:
        observed = live(plan.observed)
        keys = keys_of(observed)
        counted = count(observed, keys)
        rounds = source.rounds_of(plan.due)
        return cls(
            Rows(rounds, ROUND_COLUMNS),
            Rows(observed.append_column(KEY, keys), _CELL_COLUMNS),
            Rows(corrections, CORRECTIONS.names),
            counted,
            Ranges(counted),
        )


@dataclass(frozen=True)
class _Made:
    """One user's tables as they go into the store: metadata, bytes, and what changed."""

    rows: list[dict[str, Any]]
    blobs: list[bytes]
    changes: list[dict[str, Any]]


def _make(scope: Scope, parts: _Parts, plan: _Plan, how: Inducing, embed: Embedder, run_id: str) -> _Made:
    held = plan.before[scope]
    active = [schema_of(row) for row in held]
    counts = parts.counts.of(scope)
    if not active and how.shared is None and _seldom(counts, how):
        return _Made([], [], [])
    induced = _schemas(scope[0], counts, active, how, embed)
    dated = (attribute for attribute in induced.attributes if attribute.dates_record)
    names = (name.key() for attribute in dated for name in attribute.names)
    dates = frozenset(held[0]["dates"] if how.as_held and held else names)
    specs = [Spec(schema.name, [_column(column) for column in schema.columns], schema.support) for schema in induced.tables]
    rounds = parts.rounds.of(scope)
    built = build(parts.observations.of(scope), rounds, parts.corrections.of(scope), specs, dates)
    # Where schemas are a tenant's, a user has those of them that hold something.
    kept = [pair for pair in zip(induced.tables, built, strict=True) if pair[1].meta.rows or how.shared is None]
    changes = () if how.shared is not None else induced.changes
    made_of, told = plan.digests[scope], sorted(dates)
    blobs = [parquet_bytes(table.rows) for _, table in kept]
    rows = [
        _table_row(scope, schema, table, told, made_of) | {"bytes": len(blob)}
        for (schema, table), blob in zip(kept, blobs, strict=True)
    ]
    return _Made(rows, blobs, [change_row(scope, run_id, len(rounds), change) for change in changes])


def _schemas(tenant: str, counts: pa.Table, active: Sequence[TableSchema], how: Inducing, embed: Embedder) -> Induced:
    if how.as_held:
        return Induced((), tuple(active), ())
    if how.shared is not None:
        return how.shared.get(tenant, Induced((), (), ()))
    return (induction if how.evolve else as_they_are)(counts, active, how.values, embed)


def _seldom(counts: pa.Table, how: Inducing) -> bool:
    """Whether so few rounds tell anything that nothing can recur often enough."""
    levels, weights = counts["level"].to_pylist(), counts["weight"].to_pylist()
    told = sum(weight for level, weight in zip(levels, weights, strict=True) if level == ROUNDS_LEVEL)
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


# --- what is at hand ------------------------------------------------------------------------------------------------


def shared_schemas(objects: ObjectStore, snapshot: Snapshot) -> dict[str, Induced]:
    """The schemas that the users of each tenant have in common, as a snapshot holds them."""
    file = snapshot.shared.get(TABLES_FILE)
    tables: dict[str, list[TableSchema]] = {}
    for row in read_table(objects, file).to_pylist() if file is not None else ():
        tables.setdefault(row[TENANT], []).append(schema_of(row))
    return {tenant: as_shared(schemas) for tenant, schemas in tables.items()}
