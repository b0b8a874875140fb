"""Aggregates over a table: of all its records or of those that a condition matches, whole or by group."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from decimal import Context, Decimal, localcontext

import polars as pl

from operators.errors import ToolError
from operators.records import ORDER, RECORD, TIME
from operators.tables.aggregate import ONE_UNIT, Datum, Operation, Scalar, Scale, aggregate, to_float
from operators.tables.asked import Grouping, grouping_of, mixed_units, require_one_currency, scale_of, target_of
from operators.tables.columns import (
    CURRENCY,
    DAY,
    NUMERIC,
    PLAIN,
    Column,
    Read,
    Table,
    currency_of,
    is_beside,
    parts_of,
    resolve,
    text_of,
)
from operators.tables.conditions import Where, columns_of

_VALUE, _UNIT, _KEY, _SHOWN = "\x00value", "\x00unit", "\x00key", "\x00shown"
_UNDATED = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True)
class Group:
    """The records that share a key, and the aggregate of their values; ``key`` is None for records that have none."""

    key: str | date | bool | None
    value: Scalar | None
    n: int
    unit: str | None


@dataclass(frozen=True)
class Computed:
    """An aggregate. ``n``: how many values went in; ``value`` is None where that does not define it.

    ``groups``: by key, in order, None last; only those that have values. ``matched``: the rows of the frame whose values
    went in (``PLAIN``, the column, what it was grouped by and filtered by).
    """

    operation: Operation
    column: str | None
    unit: str | None
    value: Scalar | None
    n: int
    groups: tuple[Group, ...]
    matched: pl.DataFrame
    by: str | None = None

    @property
    def empty(self) -> bool:
        """Whether no record, or none with a value, was there to reckon with."""
        return self.n == 0

    def to_text(self) -> str:
        """The result in a few words; a line for each group."""
        if self.empty:
            return "no records" if self.value is None else f"{self.value} (no records)"
        lines = [f"{_text(group.key)}: {_text(group.value)} {group.unit or ''}".rstrip() for group in self.groups]
        if self.value is not None or not lines:
            lines.insert(0, f"{_text(self.value)} {self.unit or ''}".rstrip())
        return "\n".join(lines)


@dataclass(frozen=True)
class Compared:
    """Two aggregates of one column. ``difference``: second - first; ``ratio``: second / first.

    None where either has no value, or they are no numbers; the ratio also where the first is 0.
    """

    first: Computed
    second: Computed
    difference: float | None
    ratio: float | None


def compute(
    table: Table,
    operation: Operation,
    column: str | None = None,
    *,
    where: Where | None = None,
    by: str | None = None,
    unit: str | None = None,
    read: Read | None = None,
) -> Computed:
    """Aggregate ``column`` over the rows that ``where`` matches; see ``aggregate`` for the operations and their precision.

    ``count`` without a column counts rows, all else values that are there. Of no values the counts (``count``,
    ``distinct``) are 0 and every other aggregate None. ``by``: ``day``, ``week``, ``month``, ``year`` (of the record's
    ``day``), or a column of text, bool, date or currency (``total.unit``). ``unit``: the unit of the result, read by
    ``read``. The unit of a trend is ``<unit>/day``. Amounts of unknown currency count as of the only one that the column
    knows; where it knows several they are a currency of their own. ColumnNotFound, ColumnTypeError; MixedUnits where
    amounts of several currencies would be reckoned as one (by currency, the aggregate of all is None then); ToolError
    for a unit of another dimension.
    """
    target = target_of(table.meta, operation, column)
    scale = scale_of(target, operation, unit, read)
    grouping = None if by is None else grouping_of(table.meta, by)
    used = _used(table.frame, target, operation, where, grouping)
    data = _data(used)
    by_currency = grouping is not None and grouping.by.endswith(CURRENCY)
    if target and target.kind == "money" and scale.unit and any(each.unit != scale.unit for each in data):
        raise ToolError("unit: amounts are not converted between currencies; keep to one by a condition on the currency")
    mixed = operation in ONE_UNIT and len({each.unit for each in data}) > 1
    if mixed and not by_currency:
        raise mixed_units(target, {each.unit for each in data})
    groups = () if grouping is None else _groups(operation, target, data, used, scale)
    value, currency = (None, None) if mixed else aggregate(operation, data, scale)
    matched = used.select(pl.exclude(_VALUE, _UNIT, _KEY, _SHOWN))
    name = None if target is None else target.name
    shown = _unit(operation, currency or scale.unit) if value is not None else None
    return Computed(operation, name, shown, value, len(data), groups, matched, None if grouping is None else grouping.by)


def compare(
    table: Table,
    operation: Operation,
    column: str | None,
    first: Where,
    second: Where,
    *,
    unit: str | None = None,
    read: Read | None = None,
) -> Compared:
    """The same aggregate under two conditions, such as two periods. Errors as ``compute``."""
    one, two = (compute(table, operation, column, where=where, unit=unit, read=read) for where in (first, second))
    if one.value is None or two.value is None:
        return Compared(one, two, None, None)
    target = None if column is None else resolve(table.meta, column)
    if one.unit != two.unit:
        raise mixed_units(target, {one.unit, two.unit})
    numeric = operation in ("count", "distinct") or (target is not None and target.kind in NUMERIC)
    if not numeric:
        return Compared(one, two, None, None)
    with localcontext(Context(prec=40)):
        before, after = Decimal(repr(one.value)), Decimal(repr(two.value))
        return Compared(one, two, to_float(after - before), to_float(after / before) if before else None)


# --- rows -------------------------------------------------------------------------------------------------------


def _used(
    frame: pl.DataFrame, target: Column | None, operation: Operation, where: Where | None, grouping: Grouping | None
) -> pl.DataFrame:
    """The rows whose values go in, of the columns that are needed, with value, currency, key and shown key beside them."""
    looked_at = [*PLAIN.values(), *([target] if target else []), *columns_of(where).values()]
    looked_at += [grouping.column] if grouping and grouping.column else []
    names = dict.fromkeys(part for column in looked_at for part in parts_of(column))
    nothing = pl.lit(None, pl.String)
    beside = [
        (nothing if target is None else text_of(target) if target.kind == "text" else pl.col(target.name)).alias(_VALUE),
        (currency_of(target.name) if target and target.kind == "money" else nothing).alias(_UNIT),
        (nothing if grouping is None else grouping.key).alias(_KEY),
        (nothing if grouping is None else grouping.shown).alias(_SHOWN),
    ]
    # One filter: a currency is what the whole column says it is, so nothing may be left out before it is looked at.
    wanted = [*([where.to_expr()] if where else []), *_present(target, operation)]
    lazy = frame.lazy().with_columns(beside)
    lazy = lazy.filter(pl.all_horizontal(wanted)) if wanted else lazy
    return lazy.select(*names, _VALUE, _UNIT, _KEY, _SHOWN).collect()


def _present(target: Column | None, operation: Operation) -> list[pl.Expr]:
    if target is None:
        return []
    value = pl.col(_VALUE)
    there = value.is_not_null()
    if target.kind in NUMERIC and not is_beside(target):
        there = there & value.is_finite()
    return [there, pl.col(DAY).is_not_null()] if operation == "trend" else [there]


def _data(used: pl.DataFrame) -> list[Datum]:
    rows = used.select(_VALUE, _UNIT, DAY, TIME, ORDER, RECORD).iter_rows()
    return [Datum(value, unit, day, _place(when, day, order, record)) for value, unit, day, when, order, record in rows]


def _place(when: datetime | None, day: date | None, order: int, record: int) -> tuple[bool, datetime, int, int]:
    if when is None and day is not None:
        when = datetime.combine(day, time.min, UTC)
    return when is not None, when or _UNDATED, order, record


def _groups(
    operation: Operation, target: Column | None, data: Sequence[Datum], used: pl.DataFrame, scale: Scale
) -> tuple[Group, ...]:
    members: dict[str | date | bool | None, list[Datum]] = {}
    shown: dict[str | date | bool | None, str | date | bool | None] = {}
    for datum, key, as_written in zip(data, used[_KEY], used[_SHOWN], strict=True):
        members.setdefault(key, []).append(datum)
        shown.setdefault(key, as_written)
    found = []
    for key in sorted(members, key=lambda key: (key is None, key if key is not None else 0)):
        if operation in ONE_UNIT and target is not None:
            require_one_currency(target, (each.unit for each in members[key]))
        value, currency = aggregate(operation, members[key], scale)
        unit = _unit(operation, currency or scale.unit) if value is not None else None
        found.append(Group(shown[key], value, len(members[key]), unit))
    return tuple(found)


def _unit(operation: Operation, unit: str | None) -> str | None:
    return f"{unit or ''}/day" if operation == "trend" else unit


def _text(value: Scalar | None) -> str:
    if isinstance(value, float) and math.isfinite(value):
        return f"{value:.15g}"
    return "none" if value is None else str(value)
