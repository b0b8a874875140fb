"""What is asked of a table, checked against its columns: what to aggregate, in which unit, grouped by what."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from typing import get_args

import polars as pl

from operators.errors import ColumnTypeError, MixedUnits, ToolError
from operators.records import TIME
from operators.tables.aggregate import NEEDS_NUMBERS, Operation, Scale
from operators.tables.columns import CURRENCY, DAY, NUMERIC, PLAIN, Column, Read, TableMeta, names_of, resolve, text_of
from operators.tables.conditions import folded

PERIODS = {
    "day": pl.col(DAY).dt.to_string("%Y-%m-%d"),
    "week": pl.col(DAY).dt.truncate("1w").dt.to_string("%Y-%m-%d"),
    "month": pl.col(DAY).dt.to_string("%Y-%m"),
    "year": pl.col(DAY).dt.to_string("%Y"),
}
"""Calendar groups by name; each key is the period as a condition writes it, of a week its Monday."""

OPERATIONS: tuple[Operation, ...] = get_args(Operation)


@dataclass(frozen=True)
class Grouping:
    """What records are grouped by: ``key`` is equal for those of one group, ``shown`` is the key as it is written."""

    by: str
    column: Column | None
    key: pl.Expr
    shown: pl.Expr


def target_of(meta: TableMeta, operation: Operation, name: str | None) -> Column | None:
    """The column to aggregate, None to count rows. ToolError for no such operation, ColumnTypeError for an unfit column."""
    if operation not in OPERATIONS:
        raise ToolError(f"there is no such operation; there are: {', '.join(OPERATIONS)}")
    kinds = NUMERIC if operation in NEEDS_NUMBERS else NUMERIC | {"date", "time"} if operation in ("min", "max") else None
    fitting = [column for column in (*meta.columns, *PLAIN.values()) if kinds is None or column.kind in kinds]
    if name is None:
        if operation == "count":
            return None
        raise ToolError(f"{operation} needs a column; columns that would do: {names_of(fitting)}")
    column = resolve(meta, name)
    if kinds is not None and column.kind not in kinds:
        raise ColumnTypeError(
            f"{column.name!r} is a {column.kind} column and has no {operation}; columns that would do: {names_of(fitting)}"
        )
    return column


def scale_of(column: Column | None, operation: Operation, unit: str | None, read: Read | None) -> Scale:
    """How to come into the unit asked for; ToolError where the column is not converted into it."""
    base = None if column is None or operation in ("count", "distinct") else column.unit
    if unit is None:
        return Scale(base)
    if column is None or operation in ("count", "distinct") or column.kind not in NUMERIC:
        raise ToolError("unit: only what is reckoned from numbers has a unit; leave it out")
    if unit == base:
        return Scale(base)
    if column.kind == "money":
        many = None if read is None else read(f"1000 {unit}")
        return Scale((many and many.unit) or unit)
    found = None if read is None else conversion(base, unit, read)
    if found is None:
        raise ToolError(f"unit: {column.name!r} is in {base or 'no unit'}, which is not converted into what was asked for")
    if not found.factor:
        raise ToolError("unit: it has no size")
    return found


def conversion(base: str | None, unit: str, read: Read) -> Scale | None:
    """How numbers of a base unit come into another one (a factor of 0: it has no size); None where they do not."""
    # A thousand and nought rather than one: what is read may be rounded, and some scales do not begin at 0 (°F).
    many, none = read(f"1000 {unit}"), read(f"0 {unit}")
    if many is None or many.number is None or many.unit is None or many.unit != base:
        return None
    shift = Decimal(0) if none is None or none.number is None else Decimal(repr(none.number))
    return Scale(unit, (Decimal(repr(many.number)) - shift) / 1000, shift, converted=True)


def grouping_of(meta: TableMeta, by: str) -> Grouping:
    """What ``by`` groups by; ColumnTypeError where it is a column that forms no groups."""
    if by in PERIODS:
        return Grouping(by, None, PERIODS[by], PERIODS[by])
    column = resolve(meta, by)
    if column.kind == "text":
        return Grouping(column.name, column, folded(column), text_of(column))
    if column.kind not in ("bool", "date") or column.name == TIME:
        have = (*(each for each in meta.columns if each.kind in ("text", "bool", "date")), *_currencies(meta))
        raise ColumnTypeError(
            f"{column.name!r} is a {column.kind} column and forms no groups; "
            f"by takes {', '.join(PERIODS)}, or one of: {names_of(have)}"
        )
    return Grouping(column.name, column, pl.col(column.name), pl.col(column.name))


def _currencies(meta: TableMeta) -> list[Column]:
    return [Column(column.name + CURRENCY, "text") for column in meta.columns if column.kind == "money"]


def require_one_currency(column: Column, currencies: Iterable[str | None]) -> None:
    """MixedUnits where there are several currencies; None is one of its own."""
    several = set(currencies)
    if len(several) > 1:
        raise mixed_units(column, several)


def mixed_units(column: Column | None, currencies: Iterable[str | None]) -> MixedUnits:
    """The error of several currencies (None: unknown), with the ways out."""
    name = "" if column is None else column.name
    named = ", ".join(sorted(unit for unit in currencies if unit is not None))
    unknown = " and amounts of unknown currency" if None in set(currencies) else ""
    return MixedUnits(
        f"{name!r} holds {named}{unknown}: they are not reckoned as one; keep to one by a condition on "
        f"'{name}{CURRENCY}', or group by='{name}{CURRENCY}'"
    )
