"""Days, months and years as written: ``April 17, 2016``, ``the 17th``, ``4/17/2016``, ``in 2016``."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import date
from typing import Literal

from operators.ask.rules.calendar import (
    Make,
    Stretch,
    day_or_none,
    in_order,
    iso_week,
    latest_year,
    meets,
    months,
    stretch,
    years,
)
from operators.ask.rules.time_words import ALSO_VERBS, END, JOINTS, MEASURES, MONTHS, Token

Lead = Literal[0, 1, 2]
"""How sure what stands before a name makes that it is a time: nothing, a preposition, or one that only times have."""

_INTRODUCE = frozenset(
    (
        "did",
        "do",
        "was",
        "were",
        "is",
        "have",
        "had",
        "i",
        "my",
        "we",
        "and",
        "or",
        "to",
        "than",
        "vs",
        "versus",
        "compared",
        "until",
        "till",
        "through",
        "how",
        "what",
        "which",
        "thru",
        "on",
    )
)
"""Words before which ``the 17th`` is a day and not the seventeenth of something."""


@dataclass(frozen=True)
class Unit:
    """A named stretch of days. ``end``: the token behind it. ``makes``: its readings by the year (day-first before
    month-first); ``floating``: the year is not told; ``month``: of a day; ``weekdays``: see Period; ``repeats``: a day of
    the week; ``whole``: what it is a part of."""

    end: int
    makes: tuple[Make, ...]
    kind: Literal["day", "month", "year", "other"] = "other"
    year: int = 1
    floating: bool = False
    month: int = 0
    weekdays: frozenset[int] = frozenset()
    repeats: bool = False
    whole: tuple[Make, ...] = ()

    def mapped(self, change: Callable[[Stretch], Stretch | None], end: int | None = None) -> Unit:
        """A part of it, or a stretch beside it."""

        def changed(make: Make) -> Make:
            return lambda year: None if (made := make(year)) is None else change(made)

        makes = tuple(changed(make) for make in self.makes)
        return replace(
            self, makes=makes, kind="other", month=0, repeats=False, whole=(), end=self.end if end is None else end
        )


@dataclass(frozen=True)
class Scan:
    """A question in tokens, and what its times depend on."""

    tokens: list[Token]
    today: date
    day_first: bool | None
    known: Stretch | None
    depth: int = 0

    def at(self, place: int) -> Token:
        """The token there, END outside."""
        return self.tokens[place] if 0 <= place < len(self.tokens) else END

    def says(self, place: int, *words: str) -> bool:
        """Whether these words stand there."""
        for word in words:
            if self.at(place).word != word:
                return False
            place += 1
        return True

    def days(self, unit: Unit, *, closing: bool = False) -> tuple[Stretch, ...]:
        """The readings of a unit, the likeliest first; none where the calendar has none. ``closing``: see latest_year."""
        made = [self._made(unit, at, closing) for at in range(len(unit.makes))]
        return in_order(made, self.today, self.known)

    def _made(self, unit: Unit, at: int, closing: bool) -> Stretch | None:
        make = unit.makes[at]
        if not unit.floating:
            return make(unit.year)
        year = latest_year(make, self.today, self.known, closing=closing)
        made = None if year is None else make(year)
        if unit.whole and (closing or (made is not None and self.known is not None and not meets(made, self.known))):
            year = latest_year(unit.whole[at], self.today, self.known, closing=closing)
            made = None if year is None else make(year)
        return made


def fixed(end: int, days: Stretch | None, kind: Literal["day", "month", "year", "other"] = "other") -> Unit:
    """A unit that does not depend on a year; without days it is read and tells none."""
    return Unit(end, (lambda _: days,), kind)


def told_year(scan: Scan, place: int) -> tuple[int | None, int]:
    """The year behind a month or a day (``, 2016``, ``of last year``, ``'16``) and the token behind it; None: not told."""
    at = place + (scan.at(place).word in (",", "of", "in") or scan.says(place, "/"))
    token = scan.at(at)
    if scan.says(at, "last", "year") or scan.says(at, "previous", "year"):
        return scan.today.year - 1, at + 2
    if scan.says(at, "this", "year"):
        return scan.today.year, at + 2
    if token.word in ("'", "\u2019") and scan.at(at + 1).kind == "number" and len(scan.at(at + 1).word) == 2:
        return two_digits(scan.at(at + 1).number), at + 2
    if token.kind == "number" and len(token.word) == 4 and (token.word[0] == "0" or is_year(scan, at)):
        return token.number, at + 1
    return None, place


def is_year(scan: Scan, at: int) -> bool:
    """Whether four digits are a year: of a time near the records or today, or no amount."""
    token = scan.at(at)
    if token.kind != "number" or len(token.word) != 4 or not 1900 <= token.number <= 2099:
        return False
    first, last = scan.known or (scan.today, scan.today)
    near = min(first.year, scan.today.year - 10) <= token.number <= max(last.year, scan.today.year)
    return near or scan.at(at + 1).word not in MEASURES


def two_digits(year: int) -> int:
    """The year of two digits: 1970 to 2069."""
    return 2000 + year if year < 70 else 1900 + year


def day_maker(month: int, day: int) -> Make:
    """That day of a year."""

    def make(year: int) -> Stretch | None:
        made = day_or_none(year, month, day)
        return stretch(made, made)

    return make


def day_unit(scan: Scan, month: int, day: int, place: int) -> Unit:
    """A day of a month, with the year that may stand behind it."""
    year, end = told_year(scan, place)
    return Unit(end, (day_maker(month, day),), "day", year if year is not None else 1, year is None, month)


def day_number(scan: Scan, place: int) -> tuple[int, int] | None:
    """A day's number (``17``, ``the 17th``, ``the first``) and the token behind it."""
    place += scan.says(place, "the")
    token = scan.at(place)
    return (token.number, place + 1) if 1 <= token.number <= 31 and token.kind != "iso" else None


def in_digits(scan: Scan, place: int, lead: Lead) -> Unit | None:
    """A date in digits."""
    token = scan.at(place)
    numbers = [int(each) for each in re.findall("[0-9]+", token.word)]
    end = place + 1
    if token.kind in ("iso", "ymd"):
        return Unit(end, (day_maker(numbers[1], numbers[2]),), "day", numbers[0])
    if token.kind == "iso-month":
        year, month = numbers if numbers[0] > 31 else numbers[::-1]
        return Unit(end, (lambda year: months(year, month) if 1 <= month <= 12 else None,), "month", year)
    if token.kind == "iso-week":
        return fixed(end, iso_week(numbers[0], numbers[1]))
    if token.kind == "dotted":
        return Unit(end, (day_maker(numbers[1], numbers[0]),), "day", numbers[2])
    if token.kind == "slashed":
        year = numbers[2] if len(token.word.replace("-", "/").split("/")[2]) == 4 else two_digits(numbers[2])
        return replace(_either(scan, end, numbers[0], numbers[1]), year=year, floating=False)
    if token.kind == "pair" and _is_date(scan, place, lead, numbers):
        return _either(scan, end, numbers[0], numbers[1])
    return None


def _is_date(scan: Scan, place: int, lead: Lead, numbers: list[int]) -> bool:
    """Whether ``4/21`` is a date: behind a preposition; or alone at an end of the question, if it has one reading."""
    behind = scan.at(place + 1)
    if behind.word in MEASURES or not all(numbers) or min(numbers) > 12 or max(numbers) > 31 or numbers == [24, 7]:
        return False
    if lead:
        return scan.at(place - 1).word not in ("for", "of", "at", "about", "around", "over", "within")
    if scan.at(place + 1).word in ("-", "to", "through") and scan.at(place + 2).kind in ("pair", "slashed"):
        return True
    return max(numbers) > 12 and (place == 0 or behind.kind in ("sign", "gap"))


def _either(scan: Scan, end: int, one: int, two: int) -> Unit:
    readings = ((two, one), (one, two))
    if scan.day_first is not None:
        wanted = readings[not scan.day_first]
        readings = (wanted, wanted) if day_or_none(2024, *wanted) is not None else readings
    return Unit(end, tuple(day_maker(*each) for each in readings), "day", floating=True)


def from_number(scan: Scan, place: int, lead: Lead, after_the: bool) -> Unit | None:
    """What begins with a number: ``17 April``, ``the 17th of April``, ``the 17th``, ``2016``."""
    token = scan.at(place)
    if 1 <= token.number <= 99 and token.kind != "iso":
        at = place + 1
        at += scan.at(at).kind == "dash" and scan.at(at + 1).word in MONTHS
        at += scan.says(at, "of")
        at += 3 if scan.says(at, "the", "month", "of") else 0
        month = MONTHS.get(scan.at(at).word)
        if month is not None and not (month == 5 and scan.at(at + 1).word in ("i", "we")):
            dotted = scan.at(at + 1).word in (".", "-") and told_year(scan, at + 2)[0] is not None
            return day_unit(scan, month, token.number, at + 1 + dotted)
    if token.kind == "ordinal" and after_the and lead and 1 <= token.number <= 31:
        behind = scan.at(place + 1)
        if behind.kind in ("sign", "gap", "dash") or behind.word in _INTRODUCE:
            return Unit(place + 1, (_nth(token.number, scan),), "day")
    return None


def _nth(number: int, scan: Scan) -> Make:
    """The latest such day of a month up to today, among the records if one is."""

    def make(_: int) -> Stretch | None:
        ends = [scan.today, *([min(scan.known[1], scan.today)] if scan.known else [])]
        for end in reversed(ends):
            for step in range(4):
                month = months(end.year, end.month - step)
                day = None if month is None else day_or_none(month[0].year, month[0].month, number)
                if day is not None and day <= end:
                    return day, day
        return None

    return make


def from_month(scan: Scan, place: int, lead: Lead) -> Unit | None:
    """What begins with a month: ``April 17``, ``April 2016``, ``April``."""
    word = scan.at(place).word
    month = MONTHS[word]
    at = place + 1
    at += scan.says(at, ".") and scan.at(at + 1).number >= 0 and len(word) < 5
    at += (
        scan.at(at).kind == "dash"
        and scan.at(at + 1).kind in ("number", "ordinal")
        and scan.at(at).start == scan.at(at - 1).end
    )
    number = at + scan.says(at, "the")
    token = scan.at(number)
    if token.kind in ("number", "ordinal") and len(token.word) <= 4 and token.number <= 99 and not _counts(scan, number):
        return day_unit(scan, month, token.number, number + 1)
    year, end = told_year(scan, at)
    if year is not None:
        return Unit(end, (lambda y: months(y, month),), "month", year)
    if lead == 2 or _stands_alone(scan, place, word, lead):
        return Unit(place + 1, (lambda y: months(y, month),), "month", floating=True)
    return None


def _counts(scan: Scan, place: int) -> bool:
    """Whether a number behind a month is an amount (``in April 10 km``)."""
    return scan.at(place).kind == "number" and scan.at(place + 1).word in MEASURES


def _stands_alone(scan: Scan, place: int, word: str, lead: Lead) -> bool:
    before, behind = scan.at(place - 1).word, scan.at(place + 1).word
    if word in ("may", "mar", "march", "jan", "dec", "sep", "jun", "nov", "oct"):
        other = place + 2 + (scan.at(place + 2).word in ("in", "the", "of"))
        joined = behind in (*JOINTS, "to", "-", "/") and scan.at(other).word in MONTHS and scan.at(other).word != word
        return joined or before in ("my", "whole", "entire") or (word not in ALSO_VERBS and lead > 0)
    return before not in ("with", "call", "named", "called", "meet", "met", "told", "asked")


def bare_year(scan: Scan, place: int, lead: Lead, joined: bool) -> Unit | None:
    """A year by itself: behind ``in``, beside another year, or last in a question about records of that year."""
    if not is_year(scan, place) or scan.at(place + 1).word in MEASURES:
        return None
    year, before, behind = scan.at(place).number, scan.at(place - 1).word, scan.at(place + 1)
    beside = behind.word in (*JOINTS, "to", "-") and any(is_year(scan, place + step) for step in (2, 3))
    last = behind.kind == "sign" and scan.known is not None and scan.known[0].year <= year <= scan.known[1].year
    named = before in ("my", "year") or (last and before not in _BEFORE_AMOUNTS)
    sure = lead == 2 and before not in ("over", "within")
    if sure or joined or beside or named:
        return Unit(place + 1, (years,), "year", year)
    return None


_BEFORE_AMOUNTS = frozenset(
    [
        "than",
        "over",
        "above",
        "below",
        "under",
        "least",
        "most",
        "exactly",
        "to",
        "reach",
        "reached",
        "equal",
        "equals",
        "about",
        "a",
        "nearly",
        "around",
        "hit",
    ]
)
