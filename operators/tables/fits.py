"""Whether a value fits a column, and what it stands for there."""

from __future__ import annotations

import math
import re
from datetime import UTC, date, datetime, timedelta
from typing import Any

from operators.errors import ConditionError
from operators.records import TIME
from operators.tables.columns import NUMERIC, Column, Read, Value, fold

_SEVERAL_UNITS = frozenset({"s", "m", "kg", "l", "m2", "km/h", "s/km", "°C", "B", "W", "kWh"})
"""Base units of what people count in several units: a bare number does not say which."""

_EXAMPLES = {
    "s": "'7 h'", "m": "'5 km'", "kg": "'70 kg'", "l": "'2 l'", "m2": "'60 m2'", "km/h": "'20 km/h'", "s/km": "'5 min/km'",
    "°C": "'20 °C'", "B": "'500 MB'", "W": "'200 W'", "kWh": "'3 kWh'",
}  # fmt: skip

_DAY = re.compile(r"(\d{4})(?:-(\d{1,2})(?:-(\d{1,2}))?)?")
_INSTANT = re.compile(r"\d{4}-\d{2}-\d{2}[T ]\d{1,2}:\d{2}(?::\d{2}(?:\.\d{1,6})?)?\s?(?:Z|[+-]\d{2}:?\d{2})?", re.I)


def read_value(column: Column, text: str, read: Read) -> Value:
    """A value as written, read as its column's kind; ConditionError, saying what to write, where it is none."""
    if column.kind == "text":
        return Value("text", text=text)
    written = text.strip()
    if column.kind == "date" and (_DAY.fullmatch(written) or _INSTANT.fullmatch(written)):
        return Value("date", text=written)
    value = read(written)
    if value is None:
        raise misfit(column)
    return value


def check_value(column: Column, value: Value) -> None:
    """ConditionError, saying what to write, where the value is not one that the column can be compared with."""
    if column.kind in NUMERIC:
        _check_number(column, value)
    elif value.kind != column.kind or value.text is None:
        raise misfit(column)
    elif column.kind == "date":
        _span(column, value.text)
    elif column.kind == "bool" and value.text not in ("true", "false"):
        raise misfit(column)
    elif not encodable(value.text):
        raise ConditionError(f"{column.name!r}: the text holds half a character (a lone surrogate)")


def _check_number(column: Column, value: Value) -> None:
    if value.number is None or not math.isfinite(value.number) or value.kind not in NUMERIC:
        raise misfit(column)
    bare = value.kind == "number" and value.unit is None
    if bare and column.kind != "duration" and column.unit not in _SEVERAL_UNITS:
        return
    if column.kind == "money" and value.kind == "money":
        return
    if bare or column.kind == "money" or value.unit != column.unit:
        raise misfit(column)


def misfit(column: Column) -> ConditionError:
    """The error of a value that is none for the column; it says what is."""
    return ConditionError(f"{column.name!r} is a {column.kind} column: compare it with {_example(column)}")


def _example(column: Column) -> str:
    unit = column.unit or ""
    if column.kind == "duration":
        return "a duration and its unit, such as '7 h' or '30 min'"
    if column.kind in ("number", "percent", "ratio"):
        if unit in _SEVERAL_UNITS:
            return f"a number and its unit, such as {_EXAMPLES[unit]}"
        written = f"8{unit}" if unit.startswith(("/", "%")) else f"8 {unit}".strip()
        return f"a number, such as '{written}'"
    return {
        "money": "an amount, such as '20' or '20 EUR'",
        "date": "a day, month or year, such as 2016-04-20, 2016-04 or 2016"
        + (", or an instant, such as 2016-04-20T07:30Z" if column.name == TIME else ""),
        "time": "a time of day, such as 07:30",
        "bool": "yes or no",
        "text": "a text",
    }[column.kind]


def encodable(text: str) -> bool:
    """Whether the text is whole Unicode: without half a character (a lone surrogate)."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def bounds(column: Column, value: Value) -> tuple[Any, Any]:
    """The least and the greatest of what a value stands for, as what the column's values are compared with."""
    if column.kind in NUMERIC:
        return value.number, value.number
    text = value.text or ""
    if column.kind == "date":
        return _span(column, text)
    if column.kind == "bool":
        return text == "true", text == "true"
    exact = _with_seconds(text) if column.kind == "time" else fold(text)
    return exact, exact


def _span(column: Column, text: str) -> tuple[date, date]:
    """First and last day of a day, month or year; of an instant twice itself. ConditionError where it is neither."""
    try:
        if match := _DAY.fullmatch(text):
            return _days(*(int(part) if part else None for part in match.groups()))
        if column.name == TIME and _INSTANT.fullmatch(text):
            moment = datetime.fromisoformat(re.sub(r"\s(?=[Z+-])", "", text.upper()))
            instant = (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC)
            return instant, instant
    except (ValueError, OverflowError):
        pass
    raise misfit(column)


def _days(year: int | None, month: int | None, day: int | None) -> tuple[date, date]:
    first = date(year or 0, month or 1, day or 1)
    if day is not None:
        return first, first
    if month is None or month == 12:
        return first, date(first.year, 12, 31)
    return first, date(first.year, first.month + 1, 1) - timedelta(days=1)


def _with_seconds(text: str) -> str:
    return f"{text}:00" if len(text) == len("07:30") else text
