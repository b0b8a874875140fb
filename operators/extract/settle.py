"""What only the rest of a user's data can tell of an observation: which of two readings is meant, and what is corrected.

Both are told anew whenever the user's observations change, from what stands in them, so that appending in any order and
extracting all at once come to the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import date
from typing import Any

import pyarrow as pa

from operators.extract.dates import dates_in, day_order
from operators.extract.folding import folded
from operators.extract.numbers import decimal_shown, decimal_style
from operators.extract.values import PLAIN, Parsed, Style, ambiguous, leading_value, numbers_in
from operators.records import (
    ATTRIBUTE,
    CORRECTED_BY,
    CORRECTS,
    DOUBT,
    KIND,
    MEASURE,
    NAMED,
    NUMBER,
    OBSERVATION,
    OBSERVATIONS,
    OFFSET,
    ORDER,
    PARSED,
    ROUND,
    SESSION,
    SPEAKER,
    TENANT,
    TIME,
    USER,
    VALUE,
    local_day,
)

_COUNTED = ("number", "money", "duration", "percent")

_BACK = 20
"""Rounds of its session that a correction looks back."""

_CHANGED = (ATTRIBUTE, NUMBER, PARSED, DOUBT, CORRECTS, CORRECTED_BY)
_READ = (TENANT, USER, SESSION, ROUND, ORDER, OBSERVATION, VALUE, KIND, MEASURE, NAMED, SPEAKER, *_CHANGED)


def settled(observations: pa.Table, rounds: pa.Table) -> pa.Table:
    """``OBSERVATIONS`` of whole users, sorted, with doubts that their data resolve resolved and corrections named.

    ``rounds`` (``records.ROUNDS``): when each was said.
    """
    columns = {name: observations[name].to_pylist() for name in _READ}
    days = _days(rounds)
    for first, last in _stretches(columns[TENANT], columns[USER]):
        _resolve(columns, first, last, days)
        _correct(columns, first, last)
    for name in _CHANGED:
        at = OBSERVATIONS.get_field_index(name)
        made = pa.array(columns[name], OBSERVATIONS.field(name).type)
        observations = observations.set_column(at, OBSERVATIONS.field(name), made)
    return observations


def _days(rounds: pa.Table) -> dict[tuple[str, str, str, str], date]:
    """The local day of each round whose time is known."""
    scopes = zip(*(rounds[name].to_pylist() for name in (TENANT, USER, SESSION, ROUND)), strict=True)
    told = zip(scopes, rounds[TIME].to_pylist(), rounds[OFFSET].to_pylist(), strict=True)
    return {scope: local_day(time, offset) for scope, time, offset in told if time is not None}


def _stretches(tenants: Sequence[str], users: Sequence[str]) -> Iterator[tuple[int, int]]:
    """First and one past the last row of each user."""
    first = 0
    for row in range(1, len(users) + 1):
        if row == len(users) or (tenants[row], users[row]) != (tenants[first], users[first]):
            yield first, row
            first = row


def _resolve(columns: dict[str, list[Any]], first: int, last: int, days: dict[tuple[str, str, str, str], date]) -> None:
    """Re-read values that can be read in two ways, in the style that this user's values show."""
    values = [folded(value) for value in columns[VALUE][first:last]]
    kinds = columns[KIND][first:last]
    scopes = zip(*(columns[name][first:last] for name in (TENANT, USER, SESSION, ROUND)), strict=True)
    told = list(zip(kinds, values, (days.get(scope) for scope in scopes), strict=True))
    dated = [(each, day) for kind, value, day in told if kind == "date" for each in dates_in(value)]
    numbers = [number for kind, value, _ in told if kind in _COUNTED for number in numbers_in(value)]
    style = Style(order=day_order(dated), decimal=decimal_style(map(decimal_shown, numbers)))
    for row, value in enumerate(values, start=first):
        plain = leading_value(value, PLAIN) if any(letter.isdigit() for letter in value) else None
        if (
            plain is None
            or plain.parsed.kind not in ("date", columns[KIND][row], "number")
            or not _either(plain.parsed, value)
        ):
            continue
        meant = leading_value(value, style)
        if meant is not None:
            _reread(columns, row, plain.parsed, meant.parsed)


def _either(parsed: Parsed, value: str) -> bool:
    """Whether the value can be read in two ways: with a doubt, or as thousands that a comma groups."""
    if ambiguous(parsed):
        return True
    numbers = list(numbers_in(value)) if parsed.number is not None else []
    return bool(numbers) and "," in numbers[0] and decimal_shown(numbers[0]) is None


def _reread(columns: dict[str, list[Any]], row: int, plain: Parsed, meant: Parsed) -> None:
    """Put the reading that is meant. A number whose unit stands elsewhere, as in a heading, is left as it is."""
    if meant.kind == "date":
        columns[PARSED][row], columns[DOUBT][row] = meant.text, meant.doubt
    elif plain.unit == columns[MEASURE][row]:
        columns[NUMBER][row], columns[DOUBT][row] = meant.number, meant.doubt


def _correct(columns: dict[str, list[Any]], first: int, last: int) -> None:
    """Name what each correction takes back: the last observation before it, in its session, that it can be of."""
    for row in range(first, last):
        columns[CORRECTED_BY][row] = None
        if not columns[NAMED][row]:
            columns[ATTRIBUTE][row] = ""
        if columns[CORRECTS][row]:
            columns[CORRECTS][row] = ""
    for row in range(first, last):
        if columns[CORRECTS][row] is None:
            continue
        at = next((at for at in _before(columns, row, first) if _takes_back(columns, row, at)), None)
        if at is not None:
            columns[CORRECTS][row] = columns[OBSERVATION][at]
            columns[CORRECTED_BY][at] = columns[OBSERVATION][row]
            columns[ATTRIBUTE][row] = columns[ATTRIBUTE][row] or columns[ATTRIBUTE][at]


def _before(columns: dict[str, list[Any]], row: int, first: int) -> Iterator[int]:
    """The rows before one, nearest first, as far back as a correction looks."""
    for at in range(row - 1, first - 1, -1):
        if columns[ORDER][row] - columns[ORDER][at] > _BACK:
            return
        yield at


def _takes_back(columns: dict[str, list[Any]], row: int, at: int) -> bool:
    if columns[SESSION][row] != columns[SESSION][at]:
        return False
    if columns[ORDER][row] == columns[ORDER][at] or columns[CORRECTED_BY][at] is not None:
        return False
    if columns[SPEAKER][row] != columns[SPEAKER][at]:
        return False
    if columns[ATTRIBUTE][row]:
        return bool(columns[ATTRIBUTE][row].casefold() == columns[ATTRIBUTE][at].casefold())
    same = columns[KIND][row] == columns[KIND][at] and columns[MEASURE][row] in (None, columns[MEASURE][at])
    return bool(same and columns[ATTRIBUTE][at])
