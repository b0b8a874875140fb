"""Dates as people and machines print them. Which of two readings of ``3/4/2018`` is meant, the user's data decide."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Literal

DayOrder = Literal["day-first", "month-first"]

DAY_OR_MONTH = "day-or-month"
NO_YEAR = "no-year"

MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
WEEKDAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")

_MONTH = (
    r"(?P<{0}>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?"
    r"|nov(?:ember)?|dec(?:ember)?)\.?"
)
WEEKDAY = r"(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?"
"""A day of the week by name, whole or short, as part of a regular expression."""

_WEEKDAY = rf"(?:{WEEKDAY}\.?,?\s*)?"
_YEAR = r"(?P<{0}>(?:19|20)\d{{2}}|'?\d{{2}}(?![\d:.,]))"

_PATTERN = re.compile(
    r"(?<![\w/.])" + _WEEKDAY + r"(?:"
    r"(?P<y1>(?:19|20)\d{2})(?P<s1>[-/.])(?P<m1>\d{1,2})(?P=s1)(?P<d1>\d{1,2})(?!\d)"
    r"|(?P<a>\d{1,2})\s?(?P<s2>[-/.])\s?(?P<b>\d{1,2})\s?(?P=s2)\s?(?P<y2>(?:19|20)\d{2}(?:(?![\d/])|(?=\d{1,2}:\d{2}))|\d{2}(?![\d/]))"
    r"|(?P<d3>\d{1,2})(?:st|nd|rd|th)?(?:\s+of)?[\s./-]{0,2}" + _MONTH.format("m3") + r"(?:[\s,./-]{1,2}"
    + _YEAR.format("y3") + r"|(?P<y5>(?:19|20)\d{2}))?(?![A-Za-z\d])"
    r"|" + _MONTH.format("m4") + r"[\s-]{0,2}(?P<d4>\d{1,2})(?:st|nd|rd|th)?(?:[\s,./-]{1,2}"
    + _YEAR.format("y4") + r")?(?![A-Za-z\d]|:\d)"
    r"|(?P<y6>(?:19|20)\d{2})\s?年\s?(?P<m6>\d{1,2})\s?月\s?(?P<d6>\d{1,2})\s?日"
    r")",
    re.IGNORECASE,
)  # fmt: skip


@dataclass(frozen=True)
class Dated:
    """A date in a text: its place and its readings, the day-first one before the month-first one where there are two.

    No readings: the year is not told (``month``, ``day`` are) and must come from when it was said. ``shows``: the order that
    its numbers can only be in.
    """

    start: int
    end: int
    readings: tuple[date, ...]
    month: int = 0
    day: int = 0
    shows: DayOrder | None = None

    def on(self, order: DayOrder | None, said: date | None) -> tuple[date | None, str | None]:
        """The date, or why it is not known. ``order``: how this user writes; ``said``: the day of the message."""
        if not self.readings:
            return (None, NO_YEAR) if said is None else (_nearest(self.month, self.day, said), None)
        if len(self.readings) == 1:
            return self.readings[0], None
        return (None, DAY_OR_MONTH) if order is None else (self.readings[order == "month-first"], None)


def dates_in(text: str) -> Iterator[Dated]:
    """The dates of a ``folded`` text, from left to right; a number that only looks like one is none."""
    for found in _PATTERN.finditer(text):
        dated = _dated(found)
        if dated is not None:
            yield dated


def _dated(found: re.Match[str]) -> Dated | None:
    start, end = found.span()
    end -= found[0].endswith(".")
    part = found.groupdict()
    if part["a"]:
        first, second, year = int(part["a"]), int(part["b"]), _year(part["y2"])
        day_first, month_first = date_or_none(year, second, first), date_or_none(year, first, second)
        readings = tuple(dict.fromkeys(reading for reading in (day_first, month_first) if reading))
        shows: DayOrder | None = (
            None if len(readings) != 1 or first == second else "day-first" if day_first else "month-first"
        )
        return Dated(start, end, readings, shows=shows) if readings else None
    for at in ("1", "3", "4", "6"):
        if part.get(f"d{at}"):
            month = _month(part[f"m{at}"])
            told_year = part.get(f"y{at}") or (part["y5"] if at == "3" else None)
            day = int(part[f"d{at}"])
            if told_year is None:
                valid = date_or_none(2024, month, day)
                return Dated(start, end, (), month, day) if valid else None
            told = date_or_none(_year(told_year), month, day)
            return Dated(start, end, (told,)) if told else None
    return None


def _month(name: str) -> int:
    return int(name) if name.isdigit() else MONTHS.index(name[:3].lower()) + 1


def _year(text: str) -> int:
    year = int(text.lstrip("'"))
    return year if year > 99 else 2000 + year if year < 70 else 1900 + year


def date_or_none(year: int, month: int, day: int) -> date | None:
    """That day, None where the calendar has none."""
    try:
        return date(year, month, day)
    except ValueError:
        return None


def _nearest(month: int, day: int, said: date) -> date | None:
    """The day of that name nearest to when it was said."""
    around = [date_or_none(said.year + step, month, day) for step in (-1, 0, 1) if 1 <= said.year + step <= 9999]
    return min((each for each in around if each), key=lambda each: abs(each - said), default=None)


_PAST, _FUTURE = timedelta(days=31), timedelta(days=1)


def day_order(dates: Iterable[tuple[Dated, date | None]]) -> DayOrder | None:
    """How a writer orders day and month, by all of their dates and the days on which each was told; None: not known.

    A date that has one reading only decides, if all such agree; else one of which a single reading lies shortly before the
    day it was told. Evidence on both sides is none.
    """
    sure: set[DayOrder] = set()
    near: set[DayOrder] = set()
    for dated, said in dates:
        if dated.shows:
            sure.add(dated.shows)
        elif len(dated.readings) == 2 and said is not None:
            close = [-_FUTURE <= said - reading <= _PAST for reading in dated.readings]
            if sum(close) == 1:
                near.add("day-first" if close[0] else "month-first")
    evidence = sure or near
    return next(iter(evidence)) if len(evidence) == 1 else None


def relative_day(words: str, said: date) -> date:
    """The day that ``yesterday``, ``on Monday`` or ``Tue`` names: the last such day up to the one on which it was said."""
    last = words.split()[-1].lower()
    back = 1 if last == "yesterday" else (said.weekday() - WEEKDAYS.index(last[:3])) % 7
    return date.fromordinal(max(1, said.toordinal() - back))
