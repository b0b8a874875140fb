"""Numbers that a model tells, held against those that tools computed."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import permutations

from operators.ask.outcomes import Comparison, Computation, Outcome, number_told, plain
from operators.ask.rules.meaning import Quantity

Read = Callable[[str], Quantity | None]

_NUMBER = re.compile(r"(?<![\w.,])-?\d[\d,]*(?:\.\d+)?")
_MONTH = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?"
_NTH = r"\d\d?(?:st|nd|rd|th)?"
_DAY = re.compile(
    rf"\b\d{{4}}-\d\d(?:-\d\d)?\b|\b\d\d?:\d\d\b|\b{_NTH}(?: of)? {_MONTH}(?:,? \d{{4}})?\b"
    rf"|\b{_MONTH} {_NTH}(?:,? \d{{4}})?\b|\b{_MONTH} \d{{4}}\b",
    re.IGNORECASE,
)
_WORDS = 4
_MINUTE = 60
_ROUNDED = 0.01
"""Share of a value by which one that is told in other words may differ: "7.1 hours" is not wrong of 7 h 5 min.

Counts do not differ at all."""


@dataclass(frozen=True)
class Figure:
    """A number in its base unit (of money its currency; None: none is told)."""

    number: float
    unit: str | None


def figure(number: float, unit: str | None, read: Read) -> Figure:
    """A number with its unit, in the base unit where the unit is known."""
    found = read(f"{number:.12g} {unit}") if unit else None
    return Figure(number, unit) if found is None else Figure(found.number, found.unit or unit)


def computed(outcomes: Sequence[Outcome], read: Read) -> Figure | None:
    """The one number that tools computed, where it is one: a whole COMPUTE's."""
    if len(outcomes) != 1 or not isinstance(outcomes[0], Computation) or outcomes[0].by is not None:
        return None
    return _value(outcomes[0], read)


def derivable(outcomes: Sequence[Outcome], read: Read) -> list[Figure]:
    """All numbers that may be told of what tools computed: their values, how many there are, and of each two of a kind the
    difference, sum, ratio and percentage. None where no value is a number."""
    values: list[Figure] = []
    counts: list[Figure] = []
    for outcome in outcomes:
        for each in _computations(outcome):
            whole = _value(each, read)
            values += [whole] if whole else []
            groups = [found for g in each.groups if (found := _figure(g.value, g.unit, read))]
            values += groups
            counts += [Figure(float(n), None) for n in (each.n, len(each.groups), len({r.day for r in each.records}))]
            if groups:
                counts.append(Figure(sum(g.number for g in groups) / len(groups), groups[0].unit))
    pairs = [pair for one, two in permutations(values[:40], 2) if one.unit == two.unit for pair in _of_pair(one, two)]
    return [*values, *counts, *pairs] if values else []


def agrees(told: Figure, figures: Sequence[Figure]) -> bool:
    """Whether a number is one of others, but for rounding; one without a unit may be in any."""
    return any(_near(told, each) and (told.unit == each.unit or told.unit is None or each.unit is None) for each in figures)


def told_in(text: str, read: Read) -> Iterator[Figure]:
    """The quantities of a text ("7 h 5 min", "12.50 EUR", "3"), without days and times of day; each in all its readings."""
    plain = _DAY.sub(" ", text)
    for match in _NUMBER.finditer(plain):
        number = match.group().replace(",", "")
        yield Figure(float(number), None)
        before = plain[: match.start()].split()[-1:]
        words = plain[match.end() :].split()[: 2 * _WORDS]
        for many in range(1, len(words) + 1):
            found = read(f"{number} {' '.join(words[:many]).rstrip('.,;:!?)')}")
            if found is not None and found.unit is not None:
                yield Figure(found.number, found.unit)
        found = read(f"{before[0]} {number}") if before else None
        if found is not None and found.unit is not None:
            yield Figure(found.number, found.unit)


def amount(value: object, unit: str | None) -> str:
    """A value with its unit in words: ``7 h 5 min`` of 25500 s, ``1,234.5 kcal``."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return str(plain(value))
    if unit == "s" and abs(value) >= _MINUTE:
        minutes = round(abs(value) / _MINUTE)
        told = [f"{minutes // 60} h"] * (minutes >= 60) + [f"{minutes % 60} min"] * (minutes % 60 > 0)
        return ("-" if value < 0 else "") + " ".join(told)
    number = number_told(value)
    return f"{number} {unit}" if unit else number


def _computations(outcome: Outcome) -> tuple[Computation, ...]:
    if isinstance(outcome, Comparison):
        return (outcome.first, outcome.second)
    return (outcome,) if isinstance(outcome, Computation) else ()


def _value(found: Computation, read: Read) -> Figure | None:
    return _figure(found.value, found.unit, read)


def _figure(value: object, unit: str | None, read: Read) -> Figure | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return figure(float(value), unit, read)


def _of_pair(one: Figure, two: Figure) -> list[Figure]:
    made = [Figure(one.number - two.number, one.unit), Figure(one.number + two.number, one.unit)]
    if two.number:
        ratio = one.number / two.number
        made += [Figure(ratio, None), Figure(100 * ratio, "%"), Figure(100 * (ratio - 1), "%")]
    return made


def _near(told: Figure, figure: Figure) -> bool:
    value = figure.number
    if figure.unit is None and value.is_integer():
        return told.number == value
    return abs(told.number - value) <= max(_ROUNDED * abs(value), 0.005)
