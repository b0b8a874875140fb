"""From a scope's counts and its tables so far to its tables now, and what changed and why."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import pyarrow as pa

from operators.induce.attributes import Attribute, Embed, Name, canonical, name_of_key
from operators.induce.schemas import (
    Sets,
    Step,
    Thresholds,
    all_confidence,
    induce,
    linker,
    relabelled,
    support,
)
from operators.records import RECORDS_LEVEL, ROUNDS_LEVEL

Change = str
"""A word of ``records.SCHEMA_CHANGES``."""


@dataclass(frozen=True)
class InduceValues:
    """How schemas are induced: thresholds, ``attributes`` that stand for others, and how alike names must be to be one."""

    thresholds: Thresholds
    attributes: Mapping[str, str] | None = None
    alike_at: float = 0.8


@dataclass(frozen=True)
class TableColumn:
    """A column: its name for good, the kind and unit of its values, and the names that it takes."""

    name: str
    kind: str
    unit: str | None
    names: tuple[Name, ...]


@dataclass(frozen=True)
class TableSchema:
    """A table's schema, columns in the order they came, and how it stands in the counts."""

    name: str
    columns: tuple[TableColumn, ...]
    support: int = 0
    all_confidence: float = 0.0


@dataclass(frozen=True)
class SchemaChange:
    """One change of a table (``records.SCHEMA_CHANGES``)."""

    change: Change
    table: str
    columns: tuple[str, ...]
    added: tuple[str, ...]
    support: int
    all_confidence: float | None
    ext_confidence: float | None
    why: str


@dataclass(frozen=True)
class Induced:
    """What a scope's counts make: its attributes, its tables, and what changed of them."""

    attributes: tuple[Attribute, ...]
    tables: tuple[TableSchema, ...]
    changes: tuple[SchemaChange, ...]


def sets_of(counts: pa.Table) -> tuple[list[tuple[tuple[Name, ...], int]], list[tuple[tuple[Name, ...], int]]]:
    """The distinct sets of rounds and of records of ``records.COUNTS`` rows of one scope, with their weights."""
    known: dict[str, Name] = {}

    def names(text: str) -> tuple[Name, ...]:
        keys = text.split("\n")
        return tuple(known.get(key) or known.setdefault(key, name_of_key(key)) for key in keys)

    found: dict[str, list[tuple[tuple[Name, ...], int]]] = {ROUNDS_LEVEL: [], RECORDS_LEVEL: []}
    for level, text, weight in zip(*(counts[name].to_pylist() for name in ("level", "names", "weight")), strict=True):
        found[level].append((names(text), weight))
    return found[ROUNDS_LEVEL], found[RECORDS_LEVEL]


def attributes_of(counts: pa.Table, values: InduceValues, embed: Embed | None) -> tuple[Attribute, ...]:
    """The attributes of one scope's ``records.COUNTS``."""
    rounds, records = sets_of(counts)
    return _attributes(rounds, records, values, embed)


def _attributes(
    rounds: Sequence[tuple[tuple[Name, ...], int]],
    records: Sequence[tuple[tuple[Name, ...], int]],
    values: InduceValues,
    embed: Embed | None,
) -> tuple[Attribute, ...]:
    return canonical(
        (name for names, _ in rounds for name in names),
        overrides=values.attributes,
        embed=embed,
        alike_at=values.alike_at,
        together=[names for names, _ in records],
    )


def induction(counts: pa.Table, active: Sequence[TableSchema], values: InduceValues, embed: Embed | None = None) -> Induced:
    """One re-induction of a scope: the tables that ``active`` become, and those that are new.

    A table keeps its name and its columns theirs, whatever joins them; what is dropped or changes its type is told.
    """
    scope = _scope(counts, values, embed)
    kept, changes = _kept(active, scope)
    schemas, steps, asked = induce(
        scope.rounds,
        [frozenset(labels) for _, labels in kept],
        values.thresholds,
        linked=linker(scope.rounds, scope.records),
        leans=lambda label: scope.by_label[label].dates_record,
    )
    if asked > values.thresholds.support:
        why = f"too many patterns at a support of {values.thresholds.support}: {asked} was asked of new tables"
        changes.append(SchemaChange("threshold", "", (), (), asked, None, None, why))
    tables: list[TableSchema] = []
    taken = {table.name for table, _ in kept}
    held: dict[frozenset[str], TableSchema] = {}
    for at, schema in enumerate(schemas):
        old, labels = kept[at] if at < len(kept) else (None, [])
        if schema in held:
            changes += _absorbed(old, held[schema])
            continue
        table = _table(old, labels, schema, steps[at], scope, taken)
        held[schema] = table
        taken.add(table.name)
        tables.append(table)
        changes += _told(table, old, labels, steps[at])
    return Induced(scope.attributes, tuple(tables), tuple(changes))


def as_they_are(
    counts: pa.Table, active: Sequence[TableSchema], values: InduceValues, embed: Embed | None = None
) -> Induced:
    """The active tables with the names that now belong to their columns: nothing is discovered and nothing evolves."""
    scope = _scope(counts, values, embed)
    kept, changes = _kept(active, scope)
    tables: list[TableSchema] = []
    for old, labels in kept:
        table = _table(old, labels, frozenset(labels), (), scope, set())
        tables.append(table)
        changes += _told(table, old, labels, ())
    return Induced(scope.attributes, tuple(tables), tuple(changes))


@dataclass(frozen=True)
class _Scope:
    """A scope's counts by the labels of its attributes."""

    attributes: tuple[Attribute, ...]
    by_label: Mapping[str, Attribute]
    label_of: Mapping[Name, str]
    rounds: Sets
    records: Sets


def _scope(counts: pa.Table, values: InduceValues, embed: Embed | None) -> _Scope:
    rounds, records = sets_of(counts)
    attributes = _attributes(rounds, records, values, embed)
    label_of = {name: each.label for each in attributes for name in each.names}
    by_label = {each.label: each for each in attributes}
    return _Scope(attributes, by_label, label_of, relabelled(rounds, label_of), relabelled(records, label_of))


def _kept(active: Sequence[TableSchema], scope: _Scope) -> tuple[list[tuple[TableSchema, list[str]]], list[SchemaChange]]:
    """The active tables that still have columns with values, each with the labels of those now; and what that changed."""
    by_label, label_of = scope.by_label, scope.label_of
    kept: list[tuple[TableSchema, list[str]]] = []
    changes: list[SchemaChange] = []
    for table in active:
        columns: dict[str, TableColumn] = {}
        lost: list[str] = []
        told: list[SchemaChange] = []
        for column in table.columns:
            labels = sorted({label_of[name] for name in column.names if name in label_of})
            if not labels:
                lost.append(column.name)
                continue
            label = min(labels, key=lambda each: (_rank(by_label[each], column), each))
            told += _parted(table, column, label, label_of)
            if label in columns:
                into, names = columns[label], (*columns[label].names, *column.names)
                columns[label] = replace(into, names=tuple(dict.fromkeys(names)))
                why = f"{column.name} and {into.name} are one attribute: {by_label[label].why}"
                told.append(_change("merged", table, [into.name], [column.name], why))
            else:
                columns[label] = column
        if not columns:
            changes.append(_change("dropped", table, [], lost, "none of its attributes is observed in these rounds"))
            continue
        if lost:
            left = [each.name for each in columns.values()]
            told.append(_change("narrowed", table, left, lost, "not observed in these rounds"))
        changes += told
        kept.append((replace(table, columns=tuple(columns.values())), list(columns)))
    return kept, changes


def _parted(table: TableSchema, column: TableColumn, label: str, label_of: Mapping[Name, str]) -> list[SchemaChange]:
    """That names which the column took are another attribute now: their values leave it."""
    gone = [name for name in column.names if label_of.get(name, label) != label]
    if not gone:
        return []
    others = sorted({label_of[name] for name in gone})
    names = sorted({name.name for name in gone})
    return [_change("parted", table, [column.name], names, f"now of {', '.join(others)}, not of {column.name}")]


def _rank(attribute: Attribute, column: TableColumn) -> tuple[bool, bool, bool, int]:
    """Where a column's names are several attributes now: the one called like it, then by kind, by unit, by most names."""
    shared = len(set(attribute.names) & set(column.names))
    return attribute.label != column.name, attribute.kind != column.kind, attribute.unit != column.unit, -shared


def _change(change: Change, table: TableSchema, columns: Sequence[str], added: Sequence[str], why: str) -> SchemaChange:
    return SchemaChange(change, table.name, tuple(columns), tuple(added), table.support, None, None, why)


def _absorbed(old: TableSchema | None, into: TableSchema) -> list[SchemaChange]:
    if old is None:
        return []
    why = f"it has come to the same attributes as {into.name}, which holds its rows"
    return [_change("dropped", old, [], [column.name for column in old.columns], why)]


def _table(
    old: TableSchema | None,
    labels: Sequence[str],
    schema: frozenset[str],
    steps: Sequence[Step],
    scope: _Scope,
    taken: set[str],
) -> TableSchema:
    by_label, rounds = scope.by_label, scope.rounds
    columns: list[TableColumn] = []
    for label, column in zip(labels, old.columns if old else (), strict=True):
        now = by_label[label]
        unseen = [name for name in column.names if name not in scope.label_of]
        names = tuple(dict.fromkeys((*unseen, *now.names)))
        columns.append(TableColumn(column.name, now.kind, now.unit, names))
    singles = {label: support(rounds, frozenset((label,))) for label in schema}
    added = list(labels)
    for part in [step.after for step in steps] or [schema]:
        fresh = sorted(part - set(added), key=lambda label: (-singles[label], label))
        added += fresh
        for label in fresh:
            name = _free(label, {column.name for column in columns})
            columns.append(TableColumn(name, by_label[label].kind, by_label[label].unit, by_label[label].names))
    discovered = columns[: len(steps[0].after)] if steps else columns
    name = old.name if old else _free(table_name([column.name for column in discovered]), taken)
    return TableSchema(name, tuple(columns), support(rounds, schema), all_confidence(rounds, schema))


def _told(table: TableSchema, old: TableSchema | None, labels: Sequence[str], steps: Sequence[Step]) -> list[SchemaChange]:
    changes: list[SchemaChange] = []
    for before, now in zip(old.columns if old else (), table.columns, strict=False):
        if (before.kind, before.unit) != (now.kind, now.unit):
            why = f"{before.name}: {_measured(before)} before, {_measured(now)} now"
            changes.append(_change("retyped", table, [now.name], [], why))
    at = len(labels)
    for step in steps:
        upto = at + len(step.after - step.before) if step.before else len(step.after)
        added = tuple(column.name for column in table.columns[at:upto])
        columns = tuple(column.name for column in table.columns[:upto])
        kind = "evolved" if step.before else "discovered"
        why = (
            f"{step.support} rounds, {step.ext_confidence:.2f} of those that held the rest"
            if step.ext_confidence is not None
            else f"{step.support} rounds, {step.all_confidence:.2f} of those that hold its most frequent attribute"
        )
        ext = step.ext_confidence
        changes.append(SchemaChange(kind, table.name, columns, added, step.support, step.all_confidence, ext, why))
        at = upto
    return changes


def _measured(column: TableColumn) -> str:
    return f"{column.kind} in {column.unit}" if column.unit else column.kind


def _free(wanted: str, taken: set[str]) -> str:
    """The name, or with the first number behind it that makes it one of its own."""
    number, name = 2, wanted
    while name in taken:
        name, number = f"{wanted}_{number}", number + 1
    return name


_KNOWN = (
    ("receipts", frozenset(("merchant", "total", "date")), 2),
    ("line_items", frozenset(("item", "amount")), 2),
    ("activity", frozenset(("sleep", "steps", "calories", "distance", "active_minutes", "floors")), 2),
    ("vitals", frozenset(("bp_systolic", "bp_diastolic", "systolic", "diastolic", "heart_rate", "pulse")), 2),
    ("workouts", frozenset(("exercise", "workout", "reps", "sets")), 2),
)
"""What a table is called that has so many of some columns."""

_NAMED_AFTER = 3


def table_name(columns: Sequence[str]) -> str:
    """A name for a new table, told by its columns: what such a table is commonly called, else the first three of them."""
    for name, telling, least in _KNOWN:
        if len(telling.intersection(columns)) >= least:
            return name
    return "_".join(columns[:_NAMED_AFTER])
