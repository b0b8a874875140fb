"""Understanding an analytic question: what is to be reckoned, of which column, over which records, told in which form."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from typing import Literal

from operators.ask.context import Context, ShownTable
from operators.ask.question import Question
from operators.ask.rules import cues
from operators.ask.rules.columns import LEAST, NUMERIC, Target, by_meaning, concept_of, targets
from operators.ask.rules.concepts import CONCEPTS, stem
from operators.ask.rules.events import Event, Sides, take_event, take_sides
from operators.ask.rules.filters import Bound, Named, take_bounds, take_named, take_unknown_name
from operators.ask.rules.meaning import Meaning
from operators.ask.rules.reading import Reading
from operators.ask.rules.refusals import refusal
from operators.ask.rules.spelling import corrected
from operators.ask.rules.times import Period, periods

Operation = Literal[
    "avg", "sum", "count", "distinct", "median", "std", "trend", "max", "min", "rank", "latest", "first", "lookup",
    "compare", "change", "pick", "groups", "list", "exists", "share", "located",
]  # fmt: skip


@dataclass(frozen=True)
class Side:
    """One side of a comparison: what it is called, and what makes it."""

    label: str
    period: Period | None = None
    event: Event | None = None
    named: Named | None = None


@dataclass(frozen=True)
class Frame:
    """What a question asks of a table. ``column``: whose values are reckoned; ``shown``: whose are told, if another's.

    ``when``: the answer is a day. ``where``: conditions on texts and numbers. ``periods`` and ``event``: of the days that
    count. ``by``: what is grouped by; ``mean``: the groups are averaged. ``counted``: what a count is of (``days``).
    ``place``: which of the records from the end (3: the third greatest).
    """

    operation: Operation
    table: ShownTable
    column: str | None = None
    shown: str | None = None
    when: bool = False
    where: tuple[str, ...] = ()
    periods: tuple[Period, ...] = ()
    event: Event | None = None
    sides: tuple[Side, ...] = ()
    by: str | None = None
    mean: bool = False
    n: int = 1
    largest: bool = True
    unit: str | None = None
    counted: str | None = None
    yes_no: bool = False
    difference: bool = False
    adds: bool = True
    place: int = 1
    notes: tuple[str, ...] = field(default=())


@dataclass
class _Parts:
    """What was taken of a question on the way."""

    reading: Reading
    named: list[tuple[ShownTable, str, list[Named]]]
    periods: list[Period]
    sides: Sides | None
    event: Event | None
    bounds: list[Bound]
    unknown: str | None
    """What is named behind ``at`` or ``from`` that no record has."""


@dataclass(frozen=True)
class Refused:
    """An analytic question that asks for what cannot be honoured."""

    why: str


def understand(question: Question, context: Context, meaning: Meaning) -> Frame | Refused | None:
    """The frame of an analytic question; None where it is none, or is about nothing that the tables hold.

    Of several sentences the last is the question, unless it says ``it`` or ``that day`` of what was said before.
    """
    last = _last_sentence(question.text)
    if last is not None:
        frame = understand(replace(question, text=last), context, meaning)
        if frame is not None:
            return frame
    if not context.tables or cues.is_about_talk(question.text):
        return None
    names = {word for t in context.tables for c in t.columns for n in (c.name, *c.aliases) for word in n.split("_")}
    values = {word.casefold() for t in context.tables for c in t.columns for v in c.values for word in re.findall(r"\w+", v)}
    question = replace(question, text=corrected(question.text, lambda word: word in values or meaning.is_word(word), names))
    parts = _take_apart(question, context)
    reading = parts.reading
    if parts.event is not None and parts.event.relation == "on" and not _asks_value(parts, context, meaning):
        # "the day I walked most": no event, but what is asked.
        inner = cues.read(Reading(parts.event.phrase))
        if inner.superlative:
            reading.left, parts.event = f"{reading.left} day i {parts.event.phrase.lower()}", None
            reading.text = f"{reading.text}{' ' * (len(reading.left) - len(reading.text))}"
    asked = cues.read(reading)
    if not asked.any and not parts.bounds and not parts.periods and parts.sides is None:
        return None
    target = _target(parts, context.tables, meaning, asked)
    frame = _frame_without_column(parts, context, asked) if target is None else _frame(parts, asked, target, meaning)
    why = None if frame is None else refusal(reading.left)
    return frame if why is None else Refused(why)


_SENTENCES = re.compile(r"(?<=[a-z\d)][.!?])\s+(?=[A-Z])")
_REFERS = re.compile(
    r"\b(?:it|its|that|then|those|them|this|these|there|one|ones|remaining|rest|other|others|before|after)\b", re.IGNORECASE
)


def _last_sentence(text: str) -> str | None:
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


def _asks_value(parts: _Parts, context: Context, meaning: Meaning) -> bool:
    """Whether a column is asked for beside the event."""
    found = targets(parts.reading.left, context.tables, meaning, kinds=NUMERIC)
    return bool(found) and found[0].score >= LEAST


def _take_apart(question: Question, context: Context) -> _Parts:
    reading = Reading(question.text)
    common = _common(context.tables)
    named = []
    for table in context.tables:
        for column in table.columns:
            if column.kind == "text" and column.values:
                probe = Reading(question.text)
                probe.left = reading.left
                if found := take_named(probe, column.values, common):
                    named.append((table, column.name, found))
    for _, _, found in named:
        for each in found:
            reading.blank(each.start, each.end)
    sides = take_sides(reading)
    spans = _periods(reading, question, context)
    event = None if sides is not None else take_event(reading)
    bounds = take_bounds(reading)
    sold = not named and any(_merchant(table) for table in context.tables) and cues.is_about_money(reading.left)
    return _Parts(reading, named, spans, sides, event, bounds, take_unknown_name(reading) if sold else None)


def _merchant(table: ShownTable) -> str | None:
    """The column of a table that tells where something was bought."""
    return next((each.name for each in table.columns if each.kind == "text" and _holds(each.name, "merchant")), None)


def _common(tables: Sequence[ShownTable]) -> frozenset[str]:
    """Words that name no value by themselves: what tables, columns and things are called."""
    names = {word for table in tables for each in (table.name, *(c.name for c in table.columns)) for word in each.split("_")}
    return frozenset(names) | cues.WORDS | {word for concept in CONCEPTS for word in concept.said}


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


# --- which column -----------------------------------------------------------------------------------------------------


def _target(parts: _Parts, tables: Sequence[ShownTable], meaning: Meaning, asked: cues.Asked) -> Target | None:
    """The column that is reckoned with; of columns that are as sure the one of a table that the question names values of."""
    kinds = NUMERIC
    text = parts.reading.left
    found = targets(text, tables, meaning, kinds=kinds)
    naming = {table.name for table, _, _ in parts.named}
    ranked = sorted(
        found,
        key=lambda each: -(each.score + (0.4 if each.table.name in naming else 0) + _fit(each, asked, found)),
    )
    best = ranked[0] if ranked else None
    if best is not None and best.score >= LEAST:
        return best
    bounded = " ".join(bound.noun for bound in parts.bounds if bound.noun)
    of_bound = targets(bounded, tables, meaning, kinds=kinds) if bounded else []
    if of_bound and of_bound[0].score >= 0.3:
        return of_bound[0]
    if asked.counts:
        return None
    if asked.reckons or parts.periods or parts.event or parts.sides:
        return by_meaning(cues.bare(text), tables, meaning, kinds)
    return None


def _fit(target: Target, asked: cues.Asked, found: Sequence[Target]) -> float:
    """What speaks for a column beside its name: money where money is asked for, and of money what a purchase came to, if
    no other amount (``tax``) is named."""
    if target.column.kind != "money":
        return -0.3 if asked.money else 0.0
    amounts = [each for each in found if each.column.kind == "money" and each.score >= 1 and not _is_whole(each)]
    named = any(concept is not None and concept.key != "money" for concept in map(concept_of, (e.column for e in amounts)))
    if named:
        concept = concept_of(target.column)
        return 1.0 if concept is not None and concept.key != "money" else 0.0
    whole = _is_whole(target) and not asked.items
    return (0.5 if asked.money else 0.0) + (0.4 if whole else 0.0)


def _is_whole(target: Target) -> bool:
    return any(stem(word) in _WHOLE for word in target.column.name.split("_"))


_WHOLE = frozenset(stem(word) for word in ("total", "paid", "spent"))
"""Columns of what a purchase came to, not of its parts."""


# --- frames -----------------------------------------------------------------------------------------------------------


def _frame(parts: _Parts, asked: cues.Asked, target: Target, meaning: Meaning) -> Frame | None:
    table, column = target.table, target.column
    where, notes = _conditions(parts, target, meaning, asked)
    if where is None:
        return None
    frame = Frame(
        "lookup",
        table,
        column.name,
        where=where,
        periods=tuple(parts.periods),
        event=parts.event,
        n=asked.n or 1,
        largest=asked.largest,
        unit=_unit(asked, target, meaning),
        adds=target.adds,
        notes=notes,
    )
    frame, several = _in_currency(parts, asked, frame, target, meaning)
    special = _at_extreme(frame, asked, meaning) or _compared(parts, asked, frame)
    item = next((c.name for c in target.table.columns if c.kind == "text" and _holds(c.name, "item")), None)
    if special is None and asked.what_bought and item is not None:
        at_end: Operation = "latest" if asked.latest else "first" if asked.earliest else "list"
        return replace(frame, operation=at_end, column=item, unit=None, adds=False)
    made = special or _single(parts, asked, frame)
    return _by_currency(made) if several and made is not None else made


def _in_currency(parts: _Parts, asked: cues.Asked, frame: Frame, target: Target, meaning: Meaning) -> tuple[Frame, bool]:
    """The frame kept to the currency that a question names, and whether amounts of several are left."""
    if target.column.kind != "money":
        return frame, False
    words = re.findall(r"\b[a-z]{2,}\b(?: francs)?|[$\u20ac\u00a3\u00a5]", parts.reading.left)
    named = [
        unit.unit for word in (*asked.units, *words) if (unit := meaning.unit(word)) is not None and unit.kind == "money"
    ]
    named += ["CHF"] if "swiss francs" in parts.reading.left else []
    known = target.column.currencies
    if not named or (len(known) == 1 and named[0] in known):
        bounded = any(bound.noun and meaning.unit(bound.noun.split()[0]) for bound in parts.bounds)
        return frame, len(known) > 1 and not bounded
    where = f"{_quoted(target.column.name + '.unit')} = {_quoted(str(named[0]))}"
    return replace(frame, where=(*frame.where, where)), False


def _by_currency(frame: Frame) -> Frame:
    """Amounts of several currencies are never added or compared: each currency is told by itself."""
    how = {"rank": "max" if frame.largest else "min"}.get(frame.operation, frame.operation)
    if how not in ("sum", "avg", "median", "max", "min", "std") or frame.when or frame.shown or frame.place > 1:
        return frame
    return replace(frame, operation="groups", by=f"{frame.column}.unit", counted=how)


def _compared(parts: _Parts, asked: cues.Asked, frame: Frame) -> Frame | None:
    sides: tuple[Side, ...] = ()
    if parts.sides is not None:
        first, second = parts.sides.first, parts.sides.second
        sides = (Side(first.relation, event=first), Side(second.relation, event=second))
        frame = replace(frame, event=None)
    elif len(parts.periods) == 2 and asked.compares:
        one, two = parts.periods
        sides = tuple(Side(_told(parts.reading, each), period=each) for each in (one, two))
        frame = replace(frame, periods=())
    elif asked.compares and len(parts.named) == 1 and len(parts.named[0][2]) == 2:
        _, column, (one_name, two_name) = parts.named[0]
        sides = tuple(Side(parts.reading.text[n.start : n.end], named=n) for n in (one_name, two_name))
        frame = replace(
            frame, where=tuple(each for each in frame.where if not each.startswith(_quoted(column))), shown=column
        )
    elif asked.changed and parts.event is not None and parts.event.relation in ("after", "since"):
        after = replace(parts.event, relation="after")
        sides = (Side("before", event=replace(after, relation="before")), Side("after", event=after))
        frame = replace(frame, event=None, yes_no=True, largest=asked.rises)
    if not sides:
        return None
    operation = _aggregate(asked, frame, compared=all(side.event is None for side in sides))
    how = {"count": "count", "sum": "sum", "median": "median"}.get(operation, "avg")
    difference = asked.how_much_more
    yes_no = frame.yes_no or (asked.yes_no and asked.than and not asked.or_)
    return replace(
        frame, operation="compare", sides=sides, shown=frame.shown, counted=how, difference=difference,
        yes_no=yes_no, largest=frame.largest if frame.yes_no else not asked.lower,
    )  # fmt: skip


def _told(reading: Reading, period: Period) -> str:
    told = reading.text[period.start : period.end].strip()
    return re.sub(r"^(?:in|on|during|over|from|for)\s+", "", told, flags=re.IGNORECASE)


def _aggregate(asked: cues.Asked, frame: Frame, *, compared: bool) -> Operation:
    """What stands for many values: as asked, else the sum of what adds up where the stretches are as long as each other."""
    if asked.median:
        return "median"
    if asked.counts and frame.where and not asked.average:
        return "count"
    if asked.average or not frame.adds:
        return "avg"
    return "sum" if asked.total or _is_money(frame) or compared else "avg"


def _is_money(frame: Frame) -> bool:
    return any(each.kind == "money" for each in frame.table.columns if each.name == frame.column)


def _at_extreme(frame: Frame, asked: cues.Asked, meaning: Meaning) -> Frame | None:
    """``how long did I sleep on the day I walked the most``: the value told by the record that is the extreme of another."""
    if frame.event is None or frame.event.relation != "on" or frame.event.length is not None:
        return None
    inner = cues.read(Reading(frame.event.phrase))
    if not inner.superlative:
        return None
    found = targets(frame.event.phrase, [frame.table], meaning, kinds=NUMERIC)
    if not found or found[0].score < LEAST:
        return None
    operation: Operation = "max" if inner.largest else "min"
    other = found[0].column.name
    if other == frame.column:
        when = asked.which_day and not asked.how_much
        return replace(frame, event=None, operation=operation, largest=inner.largest, when=when)
    return replace(frame, event=None, operation=operation, column=other, shown=frame.column, unit=frame.unit)


def _single(parts: _Parts, asked: cues.Asked, frame: Frame) -> Frame | None:
    ends = asked.superlative
    if asked.group and ends and asked.group_picked:
        return _picked(frame, asked)
    if asked.which_of and (thing := _thing(asked, frame)) is not None:
        if asked.many and not ends:
            return replace(frame, operation="distinct", column=thing, counted=asked.which_of)
        return replace(
            _picked(frame, asked, by=thing) if ends else replace(frame, operation="groups", by=thing, counted="count")
        )
    if asked.share and parts.bounds:
        return replace(frame, operation="share", counted=asked.counted or "days")
    divided = asked.strong_average and not parts.bounds
    counts = (asked.counts and (asked.counted is not None or bool(parts.bounds) or _is_money(frame))) or (
        (asked.how_often or asked.many_are) and (bool(parts.bounds) or _is_money(frame)) and not asked.total
    )
    if counts and not divided and (not ends or parts.bounds or asked.how_often):
        return _counted(frame, asked, parts)
    if ends or (asked.ranked and not asked.latest):
        return _extreme(parts, asked, frame)
    if parts.bounds and asked.yes_no:
        return replace(frame, operation="exists", yes_no=True)
    told = asked.how_much or asked.average or asked.total or asked.median
    if parts.bounds and asked.when and asked.latest:
        return replace(frame, operation="latest", when=True)
    if parts.bounds and not told and (asked.when or asked.listed):
        return replace(frame, operation="list", when=asked.when)
    if asked.trend:
        return replace(frame, operation="trend")
    if asked.spread:
        return replace(frame, operation="std")
    if asked.changed_by and (frame.periods or frame.event):
        return replace(frame, operation="change")
    if asked.how_often and not ends:
        return replace(frame, operation="count", counted="times")
    if asked.latest or asked.earliest:
        if asked.strong_average or (asked.n and asked.n > 1):
            return None
        when = asked.which_day and not asked.how_much
        return replace(frame, operation="latest" if asked.latest else "first", when=when)
    if asked.group:
        return _grouped(frame, asked)
    by_text = _grouped_by_text(parts, frame)
    if by_text is not None:
        return replace(_grouped(frame, asked), by=by_text)
    if asked.median:
        return replace(frame, operation="median")
    if asked.strong_average or (asked.average and not asked.total):
        return replace(frame, operation="avg")
    if asked.total:
        return replace(frame, operation="sum")
    return _plainly(parts, asked, frame)


def _grouped_by_text(parts: _Parts, frame: Frame) -> str | None:
    found = re.search(r"\b(?:per|by|each|every|for each|for every)\s+(?P<thing>[a-z]+)", parts.reading.left)
    if found is None:
        return None
    wanted = stem(found["thing"])
    texts = [each.name for each in frame.table.columns if each.kind == "text"]
    return next((name for name in texts if wanted in {stem(word) for word in name.split("_")}), None)


def _plainly(parts: _Parts, asked: cues.Asked, frame: Frame) -> Frame | None:
    """No word says how: the value of a day, else of many values their sum, or mean where they do not add up."""
    one_day = len(frame.periods) == 1 and frame.periods[0].first == frame.periods[0].last and frame.periods[0].first
    on_event = frame.event is not None and (
        (frame.event.relation == "on" and frame.event.length is None) or frame.event.point
    )
    if one_day or on_event:
        return replace(frame, operation="lookup")
    if asked.when and not parts.bounds:
        return None
    if asked.habit:
        return replace(frame, operation="avg")
    if frame.periods or frame.event or frame.where:
        return replace(frame, operation="sum" if frame.adds else "avg")
    if asked.how_much and frame.adds:
        return replace(frame, operation="sum")
    if asked.present or asked.how_much:
        return replace(frame, operation="latest" if not frame.adds else "avg")
    return None


def _picked(frame: Frame, asked: cues.Asked, by: str | None = None) -> Frame:
    how = "avg" if asked.average or not frame.adds else "sum"
    if asked.counts or asked.how_often:
        how = "count"
    return replace(frame, operation="pick", by=by or asked.group, counted=how, largest=asked.largest)


def _grouped(frame: Frame, asked: cues.Asked) -> Frame:
    if asked.average and _is_money(frame) and asked.group in ("day", "week", "month", "year"):
        return replace(frame, operation="groups", by=asked.group, counted="sum", mean=True)
    how = "avg" if asked.average or not frame.adds else "median" if asked.median else "sum"
    return replace(frame, operation="groups", by=asked.group, counted=how)


def _counted(frame: Frame, asked: cues.Asked, parts: _Parts) -> Frame:
    if parts.bounds or asked.counted in ("days", "nights", None):
        days = asked.counted in ("days", "nights") or (asked.counted is None and bool(parts.bounds))
        return replace(frame, operation="distinct" if days else "count", counted=asked.counted or ("days" if days else None))
    return replace(frame, operation="count", counted=asked.counted)


def _extreme(parts: _Parts, asked: cues.Asked, frame: Frame) -> Frame:
    n = asked.n or 1
    if asked.nth is not None:
        return replace(frame, operation="max" if asked.largest else "min", place=asked.nth, when=asked.when)
    other = _other(parts, frame)
    if other is not None and not asked.records:
        return _picked(frame, asked, by=other)
    if other is not None:
        return replace(frame, operation="max" if asked.largest else "min", shown=other)
    if n > 1 or (asked.ranked and not asked.one):
        return replace(
            frame, operation="rank", n=max(n, asked.n or 3), when=asked.when or not asked.records, largest=asked.largest
        )
    several = frame.table.rows > frame.table.days > 0 and frame.adds and not asked.records and asked.in_a_day
    if several:
        return replace(frame, operation="pick", by="day", counted="sum", when=asked.when)
    return replace(frame, operation="max" if asked.largest else "min", when=asked.when)


def _other(parts: _Parts, frame: Frame) -> str | None:
    """Another column of the table that is asked for at the extreme of this one: ``where was my biggest purchase``."""
    found = re.search(
        r"^\W*(?:and |so )?where\b|\bwhere (?:did|was|is|were|do|have)\b|\b(?:which (?:shop|store|merchant"
        r"|place|restaurant)|what (?:shop|store|merchant|place))\b",
        parts.reading.left,
    )
    if found is None:
        return None
    return _merchant(frame.table)


def _holds(column: str, key: str) -> bool:
    concept = next(each for each in CONCEPTS if each.key == key)
    return any(stem(word) in concept.names for word in column.split("_"))


def _said_text(parts: _Parts, tables: Sequence[ShownTable]) -> tuple[ShownTable, str] | None:
    """The text column whose name a question says."""
    said = {stem(word) for word in re.findall(r"[^\W_]+", parts.reading.left)}
    for table in tables:
        for column in table.columns:
            if column.kind == "text" and stem(column.name.split("_")[-1]) in said:
                return table, column.name
    return None


def _of_text(parts: _Parts, context: Context, asked: cues.Asked) -> Frame | None:
    """``what mood did I have most often``, ``my latest mood``, ``how many different moods``: questions of a text column."""
    said = _said_text(parts, context.tables)
    if said is None:
        return None
    table, column = said
    where = tuple(_is_in(name, found) for named, name, found in parts.named if named.name == table.name)
    frame = Frame("list", table, column, where=where, periods=tuple(parts.periods), event=parts.event)
    if asked.superlative or asked.how_often:
        return replace(frame, operation="pick", column=None, by=column, counted="count", largest=asked.largest)
    if asked.latest or asked.earliest:
        return replace(frame, operation="latest" if asked.latest else "first")
    if asked.many:
        return replace(frame, operation="distinct", counted=f"different {column.replace('_', ' ')}")
    return replace(frame, operation="groups", column=None, by=column, counted="count") if asked.listed else None


def _thing(asked: cues.Asked, frame: Frame) -> str | None:
    """The text column that ``which shop``, ``which items`` asks for."""
    if asked.which_of is None:
        return None
    wanted = stem(asked.which_of)
    for column in frame.table.columns:
        if column.kind != "text":
            continue
        names = {stem(word) for word in column.name.split("_")}
        concept = next((each for each in CONCEPTS if each.names & names), None)
        if wanted in names or (concept is not None and wanted in concept.words):
            return column.name
    return None


# --- conditions -------------------------------------------------------------------------------------------------------


def _conditions(
    parts: _Parts, target: Target, meaning: Meaning, asked: cues.Asked
) -> tuple[tuple[str, ...] | None, tuple[str, ...]]:
    """What records must fulfil, as the tools' conditions; None where a bound is of a column that the table lacks."""
    where = [_is_in(column, found) for table, column, found in parts.named if table.name == target.table.name]
    if not where and (asked.money or target.column.kind == "money"):
        merchant = _merchant(target.table)
        if merchant is not None and parts.unknown is not None:
            where.append(f"{_quoted(merchant)} contains {_quoted(parts.unknown)}")
    for bound in parts.bounds:
        column = _bounded(bound, target, meaning)
        if column is None:
            return None, ()
        where.append(_bound_text(bound, column, target, meaning))
    return tuple(where), ()


def _is_in(column: str, found: Sequence[Named]) -> str:
    values = dict.fromkeys(value for each in found for value in each.values)
    return f"{_quoted(column)} in ({', '.join(map(_quoted, values))})"


def _bounded(bound: Bound, target: Target, meaning: Meaning) -> str | None:
    """The column that a bound is of: that of its unit or noun, else the target."""
    table = target.table
    if bound.noun is None:
        return target.column.name
    found = targets(bound.noun, [table], meaning, kinds=NUMERIC)
    if found and found[0].score >= 0.3:
        same = [each for each in found if each.score >= found[0].score - 1e-9]
        return next((e.column.name for e in same if e.column.name == target.column.name), same[0].column.name)
    unit = meaning.unit(bound.noun.split()[0])
    if unit is not None and unit.unit != target.column.unit:
        of_unit = [column.name for column in table.columns if column.unit == unit.unit]
        return of_unit[0] if of_unit else target.column.name if target.column.kind == "money" else None
    return target.column.name


_OPPOSITE = {">": "<=", ">=": "<", "<": ">=", "<=": ">", "=": "!="}


def _bound_text(bound: Bound, column: str, target: Target, meaning: Meaning) -> str:
    unit = ""
    held = next(each for each in target.table.columns if each.name == column)
    if bound.noun is not None:
        word = bound.noun.split()[0]
        found = meaning.unit(word)
        if found is not None and (found.unit == held.unit or found.kind == "money" == held.kind):
            unit = f" {word}"
    if not unit and held.kind == "duration" and not re.search(r"[a-z]", bound.values[-1]):
        unit = " h"
    values = [f"'{value}{unit}'" for value in bound.values]
    if bound.negated and bound.op in _OPPOSITE:
        return f"{_quoted(column)} {_OPPOSITE[bound.op]} {values[0]}"
    if bound.op == "between":
        return f"{_quoted(column)} between {values[0]} and {values[1]}"
    return f"{_quoted(column)} {bound.op} {values[0]}"


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _unit(asked: cues.Asked, target: Target, meaning: Meaning) -> str | None:
    """The unit that the answer is asked in, if it is one of the column's."""
    for word in asked.units:
        unit = meaning.unit(word)
        if unit is not None and unit.unit == target.column.unit and target.column.kind in NUMERIC:
            return word
    return None


# --- counts without a column --------------------------------------------------------------------------------------------


def _frame_without_column(parts: _Parts, context: Context, asked: cues.Asked) -> Frame | None:
    """Counts and lists of records: of the table whose values are named, or whose name is said."""
    told = _of_text(parts, context, asked)
    if told is not None:
        return told
    if parts.named and asked.when and not asked.superlative:
        named_table, column, found = parts.named[0]
        only = (_is_in(column, found),)
        return Frame("list", named_table, column, when=True, where=only, periods=tuple(parts.periods), event=parts.event)
    table = _named_table(parts, context, asked)
    if table is None and asked.logged:
        table = context.tables[0]
    if table is None:
        return None
    one_day = len(parts.periods) == 1 and parts.periods[0].first == parts.periods[0].last
    if asked.logged and not asked.counts and (one_day or (parts.event is not None and parts.event.relation == "on")):
        return Frame("lookup", table, periods=tuple(parts.periods), event=parts.event)
    if not (asked.counts or asked.how_often or asked.which_of or (asked.listed and parts.named)):
        return None
    where = [_is_in(column, found) for named, column, found in parts.named if named.name == table.name]
    merchant = _merchant(table)
    if not where and merchant is not None and parts.unknown is not None:
        where.append(f"{_quoted(merchant)} contains {_quoted(parts.unknown)}")
    frame = Frame("count", table, where=tuple(where), periods=tuple(parts.periods), event=parts.event, counted=asked.counted)
    thing = _thing(asked, frame)
    if thing is not None:
        if asked.superlative or asked.how_often:
            return replace(frame, operation="pick", by=thing, counted="count", largest=asked.largest)
        if asked.many:
            return replace(frame, operation="distinct", column=thing, counted=asked.which_of)
        return replace(frame, operation="groups", by=thing, counted="count")
    if asked.counted in ("days", "nights"):
        return replace(frame, operation="distinct")
    return frame if asked.counts or asked.how_often else replace(frame, operation="list")


def _named_table(parts: _Parts, context: Context, asked: cues.Asked) -> ShownTable | None:
    said = {stem(word) for word in re.findall(r"[^\W_]+", parts.reading.left)}
    named = [table for table, _, _ in parts.named]
    by_name = [t for t in context.tables if {stem(word) for word in t.name.split("_")} & said]
    for table in (*[t for t in named if t in by_name], *named, *by_name):
        return table
    money = [t for t in context.tables if any(c.kind == "money" and _holds(c.name, "money") for c in t.columns)]
    if money and asked.receipts:
        return max(money, key=lambda table: _merchant(table) is not None)
    return None


def day_of(value: date | None) -> str:
    """A day as conditions write it."""
    assert value is not None
    return value.isoformat()
