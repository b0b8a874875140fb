"""A question taken apart: names, periods, events and bounds, and what is left of it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, replace

from operators.ask.context import Context, ShownTable
from operators.ask.question import Question
from operators.ask.rules import cues, patterns
from operators.ask.rules.concepts import CONCEPTS, stem
from operators.ask.rules.events import Event, Sides, take_event, take_sides
from operators.ask.rules.filters import Bound, Named, take_bounds, take_named, take_unknown_name
from operators.ask.rules.reading import Reading
from operators.ask.rules.times import Period, periods


@dataclass
class Parts:
    """What was taken of a question on the way."""

    reading: Reading
    named: list[tuple[ShownTable, str, list[Named]]]
    periods: list[Period]
    sides: Sides | None
    event: Event | None
    bounds: list[Bound]
    unknown: str | None
    """What is named behind ``at`` or ``from`` that no record has."""


_SENTENCES = re.compile(r"(?<=[a-z\d)][.!?])\s+(?=[A-Z])")


_REFERS = re.compile(
    r"\b(?:it|its|that|then|those|them|this|these|there|one|ones|remaining|rest|other|others|before|after)\b", re.IGNORECASE
)


def last_sentence(text: str) -> str | None:
    """The last of several sentences, if it stands by itself."""
    parts = [part for part in _SENTENCES.split(text.strip()) if re.search(r"\w", part)]
    if len(parts) < 2 or len(parts[-1].split()) < 4:
        return None
    referring = _REFERS.search(parts[-1])
    if referring is None:
        return parts[-1]
    # "before" and "after" of something that the sentence itself tells refer to nothing else.
    reading = Reading(parts[-1])
    told = referring[0].lower() in ("before", "after") and (take_sides(reading) or take_event(reading)) is not None
    return parts[-1] if told and not _ANAPHORA.search(parts[-1]) else None


_ANAPHORA = re.compile(
    r"\b(?:it|that day|then|those|them|these|that)\b\W*$|\b(?:that|this) (?:day|date|time|week)\b", re.IGNORECASE
)


def take_apart(question: Question, context: Context) -> Parts:
    """Names first, whose words ask for nothing, then sides, times, events and bounds; each is blanked out of the rest."""
    reading = Reading(question.text)
    common = _common(context.tables)
    named = []
    for table in context.tables:
        for column in table.columns:
            # Every column sees the whole question: a name may be one of several columns' values.
            found = take_named(copy(reading), column.values, common) if column.kind == "text" else []
            if found:
                named.append((table, column.name, found))
    for _, _, found in named:
        for each in found:
            reading.blank(each.start, each.end)
    sides = take_sides(reading)
    spans = _periods(reading, question, context)
    event = None if sides is not None else take_event(reading)
    bounds = take_bounds(reading)
    sold = not named and any(merchant_of(table) for table in context.tables) and cues.is_about_money(reading.left)
    return Parts(reading, named, spans, sides, event, bounds, take_unknown_name(reading) if sold else None)


def merchant_of(table: ShownTable) -> str | None:
    """The column of a table that tells where something was bought."""
    return next((each.name for each in table.columns if each.kind == "text" and holds(each.name, "merchant")), None)


def _common(tables: Sequence[ShownTable]) -> frozenset[str]:
    """Words that name no value by themselves: what tables, columns and things are called."""
    names = {word for table in tables for each in (table.name, *(c.name for c in table.columns)) for word in each.split("_")}
    return frozenset(names) | patterns.WORDS | {word for concept in CONCEPTS for word in concept.said}


def _periods(reading: Reading, question: Question, context: Context) -> list[Period]:
    days = [day for table in context.tables for day in (table.first_day, table.last_day) if day is not None]
    known = (min(days), max(days)) if days else None
    found = periods(reading.left, question.today, known=known)
    told = [each for each in found if reading.left[each.start : each.end].strip(" ,.") not in _NO_PERIODS]
    told = [_without(reading, each) for each in told]
    for each in found:
        reading.blank(each.start, each.end)
    return told


_EXCLUDES = re.compile(r"\b(?:excluding|except(?: for)?|other than|apart from|not)\s+(?:on |at |the )?$")


def _without(reading: Reading, period: Period) -> Period:
    """``excluding weekends``: the other days of the week. What else is left out is refused where it stands."""
    found = _EXCLUDES.search(reading.left[: period.start])
    if found is None or not period.weekdays or len(period.weekdays) == 7:
        return period
    reading.blank(*found.span())
    return replace(period, weekdays=frozenset(range(7)) - period.weekdays)


_NO_PERIODS = frozenset(("tonight", "now", "this evening"))
"""What says when it is asked, not of when."""


def holds(column: str, key: str) -> bool:
    """Whether a column holds the things of a concept, by the words of its name."""
    concept = next(each for each in CONCEPTS if each.key == key)
    return any(stem(word) in concept.names for word in column.split("_"))
