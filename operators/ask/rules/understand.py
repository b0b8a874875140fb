"""Understanding an analytic question: what is to be reckoned, of which column, over which records, told in which form."""

from __future__ import annotations

import re
from dataclasses import replace

from operators.ask.context import Context
from operators.ask.question import Question
from operators.ask.rules import cues
from operators.ask.rules.apart import Parts, holds, last_sentence, merchant_of, take_apart
from operators.ask.rules.columns import LEAST, NUMERIC, Target, targets
from operators.ask.rules.concepts import stem
from operators.ask.rules.conditions import by_currency, conditions_of, in_currency, quoted
from operators.ask.rules.frame import Frame, Operation, Refused, Side, is_money
from operators.ask.rules.meaning import Meaning
from operators.ask.rules.reading import Reading
from operators.ask.rules.records_asked import frame_of_records, text_column
from operators.ask.rules.refusals import refusal
from operators.ask.rules.spelling import corrected
from operators.ask.rules.target import asks_value, target_of
from operators.ask.rules.times import Period


def understand(question: Question, context: Context, meaning: Meaning) -> Frame | Refused | None:
    """The frame of an analytic question; None where it is none, or is about nothing that the tables hold.

    Of several sentences the last is the question, unless it says ``it`` or ``that day`` of what was said before.
    """
    last = last_sentence(question.text)
    if last is not None:
        frame = understand(replace(question, text=last), context, meaning)
        if frame is not None:
            return frame
    if not context.tables or cues.is_about_talk(question.text):
        return None
    names = {word for t in context.tables for c in t.columns for n in (c.name, *c.aliases) for word in n.split("_")}
    question = replace(
        question, text=corrected(question.text, lambda word: meaning.is_word(word) or _is_of_a_value(word, context), names)
    )
    parts = take_apart(question, context)
    reading = parts.reading
    if parts.event is not None and parts.event.relation == "on" and not asks_value(parts, context, meaning):
        # "the day I walked most": no event, but what is asked.
        inner = cues.read(Reading(parts.event.phrase))
        if inner.superlative:
            reading.left, parts.event = f"{reading.left} day i {parts.event.phrase.lower()}", None
            reading.text = f"{reading.text}{' ' * (len(reading.left) - len(reading.text))}"
    asked = cues.read(reading)
    if not asked.any and not parts.bounds and not parts.periods and parts.sides is None:
        return None
    target = target_of(parts, context.tables, meaning, asked)
    frame = frame_of_records(parts, context, asked) if target is None else _frame(parts, asked, target, meaning)
    why = None if frame is None else refusal(reading.left)
    return frame if why is None else Refused(why)


def _is_of_a_value(word: str, context: Context) -> bool:
    """Whether some text of the tables says a word."""
    values = (value.casefold() for t in context.tables for c in t.columns for value in c.values)
    return any(word in value and word in re.findall(r"\w+", value) for value in values)


def _frame(parts: Parts, asked: cues.Asked, target: Target, meaning: Meaning) -> Frame | None:
    table, column = target.table, target.column
    where = conditions_of(parts, target, meaning, asked)
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
        notes=_not_converted(asked, target, meaning),
    )
    frame, several = in_currency(parts, asked, frame, target, meaning)
    special = _at_extreme(frame, asked, meaning) or _compared(parts, asked, frame)
    item = next((c.name for c in target.table.columns if c.kind == "text" and holds(c.name, "item")), None)
    if special is None and asked.what_bought and item is not None:
        at_end: Operation = "latest" if asked.latest else "first" if asked.earliest else "list"
        return replace(frame, operation=at_end, column=item, unit=None, adds=False)
    made = special or _single(parts, asked, frame)
    return by_currency(made) if several and made is not None else made


def _compared(parts: Parts, asked: cues.Asked, frame: Frame) -> Frame | None:
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
            frame, where=tuple(each for each in frame.where if not each.startswith(quoted(column))), shown=column
        )
    elif asked.changed and parts.event is not None and parts.event.relation in ("after", "since"):
        after = replace(parts.event, relation="after")
        sides = (Side("before", event=replace(after, relation="before")), Side("after", event=after))
        frame = replace(frame, event=None, yes_no=True, largest=asked.rises)
    if not sides:
        return None
    operation = _aggregate(asked, frame)
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


def _aggregate(asked: cues.Asked, frame: Frame) -> Operation:
    """What stands for the values of a side: as asked, else the sum of amounts, and the mean of what not every day logs."""
    if asked.median:
        return "median"
    if asked.counts and frame.where and not asked.average:
        return "count"
    if asked.average or not frame.adds:
        return "avg"
    return "sum" if asked.total or is_money(frame) else "avg"


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


def _single(parts: Parts, asked: cues.Asked, frame: Frame) -> Frame | None:
    ends = asked.superlative
    if asked.group and ends and asked.group_picked:
        return _picked(frame, asked)
    if asked.which_of and (thing := text_column(asked, frame)) is not None:
        if asked.many and not ends:
            return replace(frame, operation="distinct", column=thing, counted=asked.which_of)
        return _picked(frame, asked, by=thing) if ends else replace(frame, operation="groups", by=thing, counted="count")
    if asked.share and parts.bounds:
        return replace(frame, operation="share", counted=asked.counted or "days")
    divided = asked.strong_average and not parts.bounds
    counts = (asked.counts and (asked.counted is not None or bool(parts.bounds) or is_money(frame))) or (
        (asked.how_often or asked.many_are) and (bool(parts.bounds) or is_money(frame)) and not asked.total
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


def _grouped_by_text(parts: Parts, frame: Frame) -> str | None:
    found = re.search(r"\b(?:per|by|each|every|for each|for every)\s+(?P<thing>[a-z]+)", parts.reading.left)
    if found is None:
        return None
    wanted = stem(found["thing"])
    texts = [each.name for each in frame.table.columns if each.kind == "text"]
    return next((name for name in texts if wanted in {stem(word) for word in name.split("_")}), None)


def _plainly(parts: Parts, asked: cues.Asked, frame: Frame) -> Frame | None:
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
    if asked.average and is_money(frame) and asked.group in ("day", "week", "month", "year"):
        return replace(frame, operation="groups", by=asked.group, counted="sum", mean=True)
    how = "avg" if asked.average or not frame.adds else "median" if asked.median else "sum"
    return replace(frame, operation="groups", by=asked.group, counted=how)


def _counted(frame: Frame, asked: cues.Asked, parts: Parts) -> Frame:
    if parts.bounds or asked.counted in ("days", "nights", None):
        days = asked.counted in ("days", "nights") or (asked.counted is None and bool(parts.bounds))
        return replace(frame, operation="distinct" if days else "count", counted=asked.counted or ("days" if days else None))
    return replace(frame, operation="count", counted=asked.counted)


def _extreme(parts: Parts, asked: cues.Asked, frame: Frame) -> Frame:
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


def _other(parts: Parts, frame: Frame) -> str | None:
    """Another column of the table that is asked for at the extreme of this one: ``where was my biggest purchase``."""
    found = re.search(
        r"^\W*(?:and |so )?where\b|\bwhere (?:did|was|is|were|do|have)\b|\b(?:which (?:shop|store|merchant"
        r"|place|restaurant)|what (?:shop|store|merchant|place))\b",
        parts.reading.left,
    )
    if found is None:
        return None
    return merchant_of(frame.table)


def _not_converted(asked: cues.Asked, target: Target, meaning: Meaning) -> tuple[str, ...]:
    """That a unit is asked for which no column of the table is measured in."""
    measured = {column.unit for column in target.table.columns}
    for word in asked.units:
        unit = meaning.unit(word)
        if unit is not None and unit.kind != "money" and unit.unit not in measured:
            return (f"{target.column.name.replace('_', ' ')} is not converted into {word}",)
    return ()


def _unit(asked: cues.Asked, target: Target, meaning: Meaning) -> str | None:
    """The unit that the answer is asked in, if it is one of the column's."""
    for word in asked.units:
        unit = meaning.unit(word)
        if unit is not None and unit.unit == target.column.unit and target.column.kind in NUMERIC:
            return word
    return None
