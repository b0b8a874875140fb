"""Days that are told by words and the day on which they are said: yesterday, last Friday, two weeks ago."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, timedelta

DatesIn = Callable[[str, date], list[tuple[int, date]]]
"""The dates written in a text, each with its place in it, given the day on which it was said."""

_DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_DAY = r"(?P<{0}>mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?"
_NUMBERS = {"a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8,
            "nine": 9, "ten": 10, "a couple of": 2, "couple of": 2}  # fmt: skip
_PATTERN = re.compile(
    r"\b(?:"
    r"(?P<today>today|tonight|this (?:morning|afternoon|evening)|just now)"
    r"|(?P<before>the day before yesterday)|(?P<yesterday>yesterday|last night)|(?P<tomorrow>tomorrow)"
    r"|(?P<ago>a couple of|couple of|an?|one|two|three|four|five|six|seven|eight|nine|ten|\d{1,3}) "
    r"(?P<unit>day|week|month|year)s? ago"
    rf"|(?P<which>last|past|this past|this|next) (?:{_DAY.format('weekday')}\b|(?P<period>weekend|week|month|year))"
    r")\b",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Told:
    """The first and the last day that a text tells, and where in it."""

    first: date
    last: date
    start: int


def days_told(text: str, said: date, dates_in: DatesIn) -> Told | None:
    """The first telling of a day in a text that was said on a day; None where it tells none.

    ``last week`` is the seven days from Monday on before this week's, ``last weekend`` its Saturday and Sunday; ``last
    Friday`` the Friday before the day. ``on Friday`` may be the last one or the next and tells none.
    """
    found = [Told(day, day, start) for start, day in dates_in(text, said)]
    for match in _PATTERN.finditer(text):
        span = _span(match, said)
        if span is not None:
            found.append(Told(*span, match.start()))
            break
    return min(found, key=lambda told: told.start, default=None)


def _span(match: re.Match[str], said: date) -> tuple[date, date] | None:
    part = match.groupdict()
    try:
        if part["ago"]:
            return _ago(part["ago"].lower(), part["unit"].lower(), said)
        if part["which"]:
            return _named(part["which"].lower(), part["weekday"], part["period"], said)
        steps = {"today": 0, "before": -2, "yesterday": -1, "tomorrow": 1}
        step = next(steps[name] for name in steps if part[name])
        return (said + timedelta(days=step),) * 2
    except OverflowError:  # before the first or behind the last day of the calendar
        return None


def _ago(number: str, unit: str, said: date) -> tuple[date, date]:
    count = _NUMBERS.get(number) or int(number)
    if unit == "day":
        return (said - timedelta(days=count),) * 2
    if unit == "week":
        return _week(said, -count)
    return _month(said, -count) if unit == "month" else _year(said.year - count)


def _named(which: str, weekday: str | None, period: str | None, said: date) -> tuple[date, date]:
    step = {"next": 1, "this": 0}.get(which, -1)
    if weekday:
        number = _DAYS.index(weekday[:3].lower())
        if which == "next":
            return (said + timedelta(days=(number - said.weekday() - 1) % 7 + 1),) * 2
        if which == "this":
            return (said + timedelta(days=number - said.weekday()),) * 2
        back = (said.weekday() - number) % 7
        return (said - timedelta(days=back or 7),) * 2
    kind = str(period).lower()
    if kind == "weekend":
        monday = _week(said, step)[0]
        return monday + timedelta(days=5), monday + timedelta(days=6)
    if kind == "week":
        return _week(said, step)
    return _month(said, step) if kind == "month" else _year(said.year + step)


def _week(said: date, step: int) -> tuple[date, date]:
    monday = said - timedelta(days=said.weekday()) + timedelta(weeks=step)
    return monday, monday + timedelta(days=6)


def _month(said: date, step: int) -> tuple[date, date]:
    first = _month_start(said.year * 12 + said.month - 1 + step)
    return first, _month_start(first.year * 12 + first.month) - timedelta(days=1)


def _month_start(months: int) -> date:
    year, month = divmod(months, 12)
    if not 1 <= year <= 9999:
        raise OverflowError(f"there is no year {year}")
    return date(year, month + 1, 1)


def _year(year: int) -> tuple[date, date]:
    if not 1 <= year <= 9999:
        raise OverflowError(f"there is no year {year}")
    return date(year, 1, 1), date(year, 12, 31)
