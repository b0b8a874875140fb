"""Conditions on the rows of a table, as a tree that becomes a Polars expression."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

import polars as pl

from operators.errors import ColumnTypeError, ConditionError
from operators.records import TIME
from operators.tables.columns import (
    DAY,
    NUMERIC,
    Column,
    Read,
    TableMeta,
    Value,
    currency_of,
    fold,
    is_beside,
    resolve,
    text_of,
)
from operators.tables.fits import bounds, check_value, read_value

Op = Literal["=", "!=", "<", "<=", ">", ">=", "contains", "starts with", "in", "between", "is null", "is not null"]

_NULLS: tuple[Op, ...] = ("is null", "is not null")
_ORDERED: tuple[Op, ...] = ("=", "!=", "<", "<=", ">", ">=", "in", "between", *_NULLS)
_BOOL: tuple[Op, ...] = ("=", "!=", "in", *_NULLS)
_TEXT: tuple[Op, ...] = ("=", "!=", "contains", "starts with", "in", *_NULLS)


@dataclass(frozen=True)
class Condition:
    """One column compared with a value (``in``: several; ``between``: two, both ends included; ``is null``: none).

    What is null is neither equal nor unequal to anything: such a row is matched by ``is null`` alone, not by ``!=``, nor by
    a ``Not`` around a comparison. Money with a currency is compared with amounts in that currency only; all others count as
    null, but for those of unknown currency where the column knows no currency but this one. Money without a currency is
    compared as a number, whatever the currency. Texts are compared without regard to case and width of whitespace.
    A date stands for a day of the record's own calendar, a month (``2016-04``) or year for all its days.

    ColumnTypeError where the operator, ConditionError where the value does not fit the column.
    """

    column: Column
    op: Op
    value: Value | tuple[Value, ...] | None = None

    def __post_init__(self) -> None:
        allowed = ops_of(self.column)
        if self.op not in allowed:
            raise ColumnTypeError(f"{self.column.name!r} is a {self.column.kind} column; it takes: {', '.join(allowed)}")
        _check_values(self)

    def to_expr(self) -> pl.Expr:
        """A Boolean expression (null where nothing can be said); must be evaluated on the whole table."""
        if self.op in _NULLS:
            there = _subject(self.column, None).is_not_null()
            return there if self.op == "is not null" else ~there
        values = _values(self)
        if self.op == "in" and self.column.kind == "text":
            return folded(self.column).is_in([fold(value.text or "") for value in values])
        if self.op == "in":
            return _any([_compare(self.column, "=", value) for value in values])
        if self.op == "between":
            return pl.all_horizontal(_compare(self.column, ">=", values[0]), _compare(self.column, "<=", values[1]))
        return _compare(self.column, self.op, values[0])


@dataclass(frozen=True)
class All:
    """Every one of the conditions; with none, every row."""

    parts: tuple[Where, ...]

    def to_expr(self) -> pl.Expr:
        """A Boolean expression; must be evaluated on the whole table."""
        return pl.all_horizontal([part.to_expr() for part in self.parts]) if self.parts else pl.lit(True)


@dataclass(frozen=True)
class AnyOf:
    """At least one of the conditions; with none, no row."""

    parts: tuple[Where, ...]

    def to_expr(self) -> pl.Expr:
        """A Boolean expression; must be evaluated on the whole table."""
        return _any([part.to_expr() for part in self.parts])


@dataclass(frozen=True)
class Not:
    """The rows that the condition is known not to hold for."""

    part: Where

    def to_expr(self) -> pl.Expr:
        """A Boolean expression; must be evaluated on the whole table."""
        return ~self.part.to_expr()


Where = Condition | All | AnyOf | Not


def condition(meta: TableMeta, name: str, op: Op, texts: str | Sequence[str], read: Read) -> Condition:
    """A condition of a column's name and values as written: ``condition(meta, "total", ">", "20 MYR", read)``.

    ColumnNotFound, ColumnTypeError, ConditionError.
    """
    column = resolve(meta, name)
    if op not in ops_of(column):
        return Condition(column, op)
    values = tuple(read_value(column, text, read) for text in ([texts] if isinstance(texts, str) else texts))
    if op in _NULLS:
        return Condition(column, op)
    return Condition(column, op, values if op in ("in", "between") or len(values) != 1 else values[0])


def ops_of(column: Column) -> tuple[Op, ...]:
    """The operators that a column takes."""
    if column.kind == "text":
        return _TEXT
    return _BOOL if column.kind == "bool" else _ORDERED


def columns_of(where: Where | None) -> dict[str, Column]:
    """The columns that a condition looks at, by name, in the order of its parts."""
    if where is None:
        return {}
    if isinstance(where, Condition):
        return {where.column.name: where.column}
    parts = (where.part,) if isinstance(where, Not) else where.parts
    return {name: column for part in parts for name, column in columns_of(part).items()}


def _values(condition: Condition) -> tuple[Value, ...]:
    if isinstance(condition.value, Value):
        return (condition.value,)
    return condition.value or ()


def _check_values(condition: Condition) -> None:
    column, op, values = condition.column, condition.op, _values(condition)
    wanted = {"is null": 0, "is not null": 0, "between": 2}.get(op, 1)
    if len(values) != wanted and not (op == "in" and values):
        raise ConditionError(f"{column.name!r} {op}: takes {'one or more values' if op == 'in' else f'{wanted} value(s)'}")
    for value in values:
        check_value(column, value)
        if op in ("contains", "starts with") and not fold(value.text or ""):
            raise ConditionError(f"{column.name!r} {op}: needs a text that is not blank")
    if op == "between":
        _check_ends(column, *values)


def _check_ends(column: Column, low: Value, high: Value) -> None:
    if column.kind == "money" and low.unit != high.unit and low.unit is not None and high.unit is not None:
        raise ConditionError(f"{column.name!r} between: both ends need the same currency")
    first, last = bounds(column, low)[0], bounds(column, high)[1]
    if type(first) is type(last) and first > last:
        raise ConditionError(f"{column.name!r} between: the first value must not be above the second")


# --- expressions ------------------------------------------------------------------------------------------------


def _any(parts: list[pl.Expr]) -> pl.Expr:
    return pl.any_horizontal(parts) if parts else pl.lit(False)


def _subject(column: Column, bound: Any) -> pl.Expr:
    """What of a column is compared with ``bound``."""
    if column.kind == "text":
        return folded(column)
    if column.name == TIME and bound is not None and not isinstance(bound, datetime):
        return pl.col(DAY)
    if column.kind == "time":
        told = pl.col(column.name)
        return pl.when(told.str.len_chars() == len("07:30")).then(told + ":00").otherwise(told)
    held = pl.col(column.name)
    return held.fill_nan(None) if column.kind in NUMERIC and not is_beside(column) else held


def folded(column: Column) -> pl.Expr:
    """A text column for comparing (String): see ``columns.fold``."""
    return text_of(column).map_batches(_fold_all, return_dtype=pl.String, is_elementwise=True)


def _fold_all(texts: pl.Series) -> pl.Series:
    return pl.Series(texts.name, [None if text is None else fold(text) for text in texts], pl.String)


def _compare(column: Column, op: Op, value: Value) -> pl.Expr:
    """One comparison; ``low`` to ``high`` is what the value stands for (a month has many days)."""
    low, high = bounds(column, value)
    subject = _subject(column, low)
    if op == "contains":
        return subject.str.contains(low, literal=True)
    if op == "starts with":
        return subject.str.starts_with(low)
    first, last = pl.lit(low), pl.lit(high)
    held = {
        "=": lambda: subject == first if low == high else (subject >= first) & (subject <= last),
        "!=": lambda: subject != first if low == high else (subject < first) | (subject > last),
        "<": lambda: subject < first,
        "<=": lambda: subject <= last,
        ">": lambda: subject > last,
        ">=": lambda: subject >= first,
    }[op]()
    if column.kind != "money" or value.unit is None:
        return held
    return pl.when(currency_of(column.name) == value.unit).then(held)
