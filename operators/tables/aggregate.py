"""Aggregates of one group of values, reckoned in decimals: what was written as 0.1 and 0.2 adds up to 0.3."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Context, Decimal, localcontext
from typing import Literal

from operators.errors import ToolError
from operators.tables.columns import fold

Operation = Literal["count", "sum", "avg", "min", "max", "median", "std", "first", "last", "distinct", "trend"]
Scalar = float | int | str | bool | date | datetime

NEEDS_NUMBERS: frozenset[Operation] = frozenset({"sum", "avg", "median", "std", "trend"})
ONE_UNIT: frozenset[Operation] = NEEDS_NUMBERS | {"min", "max"}
"""What is never reckoned over amounts of several currencies."""

_DIGITS = 60
_CONVERTED_DIGITS = 10


@dataclass(frozen=True)
class Scale:
    """From base units into ``unit``: ``(number - shift) / factor``. ``converted``: whether that changes anything."""

    unit: str | None
    factor: Decimal = Decimal(1)
    shift: Decimal = Decimal(0)
    converted: bool = False


@dataclass(frozen=True)
class Datum:
    """One value: its currency (money alone), the day of its record, and where the record stands in time.

    ``place`` compares by time, then order, then record; its first item is False where the record has no time.
    """

    value: Scalar | None
    unit: str | None
    day: date | None
    place: tuple[bool, datetime, int, int]


def aggregate(operation: Operation, data: Sequence[Datum], scale: Scale) -> tuple[Scalar | None, str | None]:
    """The aggregate of the data and its currency (money alone); None where it is not defined for them.

    ``std`` (of the sample) needs two values, ``trend`` (least squares, a day) two days. ``first`` and ``last`` look at
    records without a time only where none has one. Numbers are exact but for a last rounding to a double; those
    converted from the base unit are rounded to ten digits. ToolError where a result is beyond what a double can hold.
    """
    if operation == "count":
        return len(data), None
    if operation == "distinct":
        return len({(fold(each.value) if isinstance(each.value, str) else each.value, each.unit) for each in data}), None
    if not data:
        return None, None
    with localcontext(Context(prec=_DIGITS)):
        if operation in ("first", "last"):
            return _outermost(operation, data, scale)
        if not _is_number(data[0].value):
            values = [each.value for each in data]
            return (min if operation == "min" else max)(values), None  # type: ignore[type-var]
        numbers = [scaled(each.value, scale) for each in data]
        found = _trend(numbers, data) if operation == "trend" else _REDUCE[operation](numbers)
        return None if found is None else to_float(found, scale.converted), data[0].unit


def scaled(value: Scalar | None, scale: Scale) -> Decimal:
    """A number of the table in the unit of ``scale``; a float counts as the shortest decimal that it is written as."""
    number = Decimal(repr(value))
    return (number - scale.shift) / scale.factor if scale.converted else number


def to_float(number: Decimal, converted: bool = False) -> float:
    """A decimal as a double, to ten digits where it was converted. ToolError where it is beyond a double."""
    found = float(Context(prec=_CONVERTED_DIGITS).plus(number) if converted else number)
    if not math.isfinite(found):
        raise ToolError("the result is larger than a number can be: ask for fewer records")
    return found + 0.0


def _is_number(value: Scalar | None) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _outermost(operation: Operation, data: Sequence[Datum], scale: Scale) -> tuple[Scalar | None, str | None]:
    dated = [each for each in data if each.place[0]] or data
    found = (min if operation == "first" else max)(dated, key=lambda each: each.place)
    if _is_number(found.value):
        return to_float(scaled(found.value, scale), scale.converted), found.unit
    return found.value, None


def _mean(numbers: Sequence[Decimal]) -> Decimal:
    return sum(numbers, Decimal(0)) / len(numbers)


def _median(numbers: Sequence[Decimal]) -> Decimal:
    ordered, half = sorted(numbers), len(numbers) // 2
    return ordered[half] if len(ordered) % 2 else (ordered[half - 1] + ordered[half]) / 2


def _std(numbers: Sequence[Decimal]) -> Decimal | None:
    if len(numbers) < 2:
        return None
    mean = _mean(numbers)
    return (sum(((number - mean) ** 2 for number in numbers), Decimal(0)) / (len(numbers) - 1)).sqrt()


def _trend(numbers: Sequence[Decimal], data: Sequence[Datum]) -> Decimal | None:
    days = [Decimal(each.day.toordinal()) for each in data if each.day is not None]
    middle, mean = _mean(days), _mean(numbers)
    spread = sum(((day - middle) ** 2 for day in days), Decimal(0))
    if len(set(days)) < 2:
        return None
    return sum(((day - middle) * (number - mean) for day, number in zip(days, numbers, strict=True)), Decimal(0)) / spread


_REDUCE: dict[Operation, Callable[[Sequence[Decimal]], Decimal | None]] = {
    "sum": lambda numbers: sum(numbers, Decimal(0)),
    "avg": _mean,
    "min": min,
    "max": max,
    "median": _median,
    "std": _std,
}
