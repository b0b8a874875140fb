"""The rules planner: an analytic question becomes steps over tables, anything else a retrieval."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date, timedelta
from typing import Any

from operators.ask.context import Context, ShownColumn
from operators.ask.outcomes import Intervals, Passages
from operators.ask.question import Question
from operators.ask.rules.events import Event
from operators.ask.rules.frame import Frame, Refused, Side
from operators.ask.rules.meaning import Meaning
from operators.ask.rules.times import Period
from operators.ask.rules.understand import understand
from operators.ask.steps import Form, Plan, Step, Taken, ToolName
from operators.errors import PlanError

_TOOL_OF: Mapping[str, ToolName] = {
    "max": "rank",
    "min": "rank",
    "rank": "rank",
    "latest": "rank",
    "first": "rank",
    "lookup": "lookup",
    "list": "filter",
}
_WHEN = re.compile(
    r"^\W*(?:and |so |hey |please )*(?:when|on (?:what|which) (?:day|date)|what (?:day|date))\b", re.IGNORECASE
)
_WEEKDAYS_AT_MOST = 700
_PASSAGES = 10
_ANY = "whether there are any records then"


class RulesPlanner:
    """``ask.steps.Planner`` without a model."""

    name = "rules"

    def __init__(self, meaning: Meaning) -> None:
        self._meaning = meaning
        self._understood: tuple[Question, Context, Frame | Refused | None] | None = None

    def plan(self, question: Question, context: Context) -> Plan:
        """Steps over tables for what the rules understand, else a retrieval."""
        refused = self._read(question, context)
        if isinstance(refused, Refused):
            return Plan((), Form("text"), (refused.why,))
        frame = self._frame(question, context)
        if frame is None:
            return _retrieval(question, context)
        steps = [Step(f"when: {event.phrase}", "event_locate") for event in _events(frame)[:1]]
        steps += _steps(frame)
        return Plan(tuple(steps), _form(frame, self._meaning), frame.notes)

    def arguments(
        self, question: Question, context: Context, plan: Plan, at: int, taken: tuple[Taken, ...], error: str | None
    ) -> Mapping[str, Any]:
        """The arguments of a step. PlanError where what it needs was not found."""
        frame, step = self._frame(question, context), plan.steps[at]
        if step.tool == "event_locate":
            return {"query": _events(frame)[0].phrase if frame and _events(frame) else question.text, "k": 1}
        if step.tool == "semantic_match":
            event = _events(frame)[:1] if frame and at < len(plan.steps) - 1 else []
            return {"query": event[0].phrase if event else question.text, "k": _PASSAGES}
        if frame is None:
            raise PlanError("the question says nothing that a table could be asked")
        done = [each for each in taken if each.step.tool not in ("event_locate", "semantic_match")]
        if step.goal == _ANY:
            frame = replace(frame, where=(), operation="count", counted=None)
        arguments = _arguments(frame, len(done), self._days(frame, taken), self._meaning)
        return arguments if error is None else _by_currency(frame, arguments)

    def instead(
        self,
        question: Question,
        context: Context,
        plan: Plan,
        at: int,  # noqa: ARG002
        taken: tuple[Taken, ...],
    ) -> Step | None:
        """Rounds, where an event is not located or no record is there; where none match, whether there are any at all."""
        frame = self._frame(question, context)
        if plan.form.kind in ("yes-no", "share") and len(taken) > 1 and taken[-2].found:
            return None
        if frame is not None and frame.operation in ("count", "distinct") and taken[-1].step.tool == "compute":
            return None if taken[-1].step.goal == _ANY else Step(_ANY, "compute")
        if taken[-1].step.tool == "semantic_match" or "semantic_match" not in context.tools:
            return None
        return Step(f"rounds that tell of it instead: {taken[-1].step.goal}", "semantic_match")

    def _frame(self, question: Question, context: Context) -> Frame | None:
        read = self._read(question, context)
        return read if isinstance(read, Frame) else None

    def _read(self, question: Question, context: Context) -> Frame | Refused | None:
        if self._understood is None or self._understood[:2] != (question, context):
            self._understood = (question, context, understand(question, context, self._meaning))
        return self._understood[2]

    def _days(self, frame: Frame, taken: tuple[Taken, ...]) -> tuple[date, date] | None:
        """The days of the event that the frame names, None where it names none. PlanError where they were not found."""
        events = _events(frame)
        if not events:
            return None
        for each in taken:
            if isinstance(each.outcome, Intervals) and each.found:
                found = each.outcome.intervals[0]
                if found.first_day is not None:
                    return found.first_day, found.last_day or found.first_day
            if isinstance(each.outcome, Passages) and each.step.tool == "semantic_match":
                day = _told_by(each.outcome, events[0].phrase, self._meaning)
                if day is not None:
                    return day, day
        raise PlanError("nothing in memory tells when that was")


def _told_by(found: Passages, phrase: str, meaning: Meaning) -> date | None:
    """The day of the best round that says every telling word of a phrase; None rather than a guess."""
    wanted = set(meaning.words(phrase))
    for passage in found.passages:
        said = {word for message in passage.messages for word in meaning.words(message.text)}
        if wanted and wanted <= said and passage.day is not None:
            return passage.day
    return None


def _retrieval(question: Question, context: Context) -> Plan:
    if _WHEN.search(question.text) and question.picture is None and "event_locate" in context.tools:
        return Plan((Step("when that was", "event_locate"),), Form("date"))
    return Plan((Step("the rounds that answer the question", "semantic_match"),), Form("text"))


# --- steps ------------------------------------------------------------------------------------------------------------


def _events(frame: Frame) -> list[Event]:
    of_sides = [side.event for side in frame.sides if side.event is not None]
    return [*([frame.event] if frame.event else []), *of_sides]


def _steps(frame: Frame) -> list[Step]:
    what = (frame.column or "records").replace("_", " ")
    name = frame.table.name
    if frame.operation == "change":
        return [Step(f"the {end} {what} of {name}", "compute") for end in ("first", "last")]
    if frame.operation in ("share", "exists"):
        return [Step(f"all {what} of {name}", "compute"), Step(f"those of {what} that match", "compute")]
    told = {"max": f"the record with the greatest {what}", "min": f"the record with the least {what}",
            "rank": f"the {frame.n} records with the {'greatest' if frame.largest else 'least'} {what}",
            "latest": f"the latest {what}", "first": f"the first {what}", "lookup": f"the {what} told",
            "compare": f"the {what} of both sides", "pick": f"{what} by {frame.by}", "groups": f"{what} by {frame.by}",
            "list": "the records that match"}  # fmt: skip
    goal = told.get(frame.operation, f"the {frame.operation} of {what}")
    return [Step(f"{goal} in {name}", _TOOL_OF.get(frame.operation, "compute"))]


def _form(frame: Frame, meaning: Meaning) -> Form:
    unit = frame.unit or _default_unit(_column(frame), meaning)
    operation = frame.operation
    told_text = any(each.name == frame.column and each.kind == "text" for each in frame.table.columns)
    if operation == "compare":
        labels = tuple(side.label for side in frame.sides)
        kind = "change" if frame.difference else "yes-no" if frame.yes_no else "choice"
        return Form(kind, labels, frame.column, frame.largest, unit=unit)  # type: ignore[arg-type]
    if operation in ("change", "share"):
        return Form("change" if operation == "change" else "share", column=frame.column, unit=unit)
    if operation == "exists":
        return Form("yes-no", column=frame.column)
    if operation in ("pick", "groups"):
        if operation == "groups" and frame.mean:
            return Form("number", column=frame.column, mean=True, unit=unit)
        kind = "groups" if operation == "groups" else "date" if frame.by == "day" and frame.when else "pick"
        if operation == "pick" and frame.by == "day" and not frame.when:
            kind = "number"
        return Form(kind, column=frame.column, largest=frame.largest, unit=unit)  # type: ignore[arg-type]
    if operation in ("count", "distinct"):
        return Form("number", unit=frame.counted)
    if operation in ("rank", "list"):
        return Form("dates" if frame.when else "records", column=frame.column, largest=frame.largest, unit=unit)
    if frame.shown is not None:
        told = next(each for each in frame.table.columns if each.name == frame.shown)
        return Form(
            "text" if told.kind == "text" else "number",
            column=frame.shown,
            largest=frame.largest,
            unit=frame.unit or _default_unit(told, meaning),
        )
    kind = "date" if frame.when else "text" if told_text else "number"
    return Form(kind, column=frame.column, largest=frame.largest, unit=unit, place=frame.place)  # type: ignore[arg-type]


def _column(frame: Frame) -> ShownColumn | None:
    return next((each for each in frame.table.columns if each.name == frame.column), None)


def _default_unit(column: ShownColumn | None, meaning: Meaning) -> str | None:
    """The unit that a column's values are mostly written in; hours for durations that are not all written in minutes."""
    if column is None or column.unit is None:
        return None
    written = [found[1] for sample in column.samples if (found := re.search(r"([^\W\d_/]+)\W*$", sample))]
    fitting = [word for word in written if (unit := meaning.unit(word)) is not None and unit.unit == column.unit]
    if column.kind == "duration":
        minutes = all(re.search(r"\d\s*h", sample) is None and "hour" not in sample for sample in column.samples)
        return "min" if minutes and fitting and fitting[0].startswith("min") else "h"
    return max(fitting, key=fitting.count) if fitting else column.unit


# --- arguments --------------------------------------------------------------------------------------------------------


def _arguments(frame: Frame, at: int, event: tuple[date, date] | None, meaning: Meaning) -> dict[str, Any]:
    """Of the step at ``at`` among those over tables."""
    days = [_in_period(each, frame) for each in frame.periods]
    if frame.event is not None and event is not None:
        days.append(_between(*frame.event.days(*event)))
    days = [each for each in days if each]
    where = [*frame.where, *([" or ".join(f"({each})" for each in days)] if _alternatives(frame) else days)]
    base: dict[str, Any] = {"table": frame.table.name, "where": where}
    unit = frame.unit or _default_unit(_column(frame), meaning)
    operation, column = frame.operation, frame.column
    if operation in ("max", "min", "rank"):
        shown = [each for each in (frame.shown, column) if each]
        largest = operation == "max" or (operation == "rank" and frame.largest)
        return {
            **base,
            "column": column,
            "n": frame.n if operation == "rank" else frame.place,
            "descending": largest,
            "columns": shown,
        }
    if operation in ("latest", "first"):
        there = [f"'{column}' is not null"] if column else []
        return {**base, "where": [*where, *there], "column": "time", "n": 1, "descending": operation == "latest",
                "columns": [column] if column else None}  # fmt: skip
    if operation in ("lookup", "list"):
        return {**base, "columns": [column] if column else None}
    if operation == "compare":
        first, second = ([_of_side(side, frame, event)] for side in frame.sides)
        how = frame.counted or "avg"
        told = {"operation": how, "column": column, "compare": {"first": first, "second": second}}
        return {**base, **told, "unit": unit if how != "count" else None}
    if operation in ("count", "distinct"):
        if operation == "distinct":
            return {**base, "operation": "distinct", "column": column if frame.counted not in ("days", "nights") else "day"}
        return {**base, "operation": "count", "column": column if not frame.where else None}
    if operation in ("pick", "groups"):
        how = frame.counted or "sum"
        return {**base, "operation": how, "column": None if how == "count" else column, "by": frame.by,
                "unit": None if how == "count" else unit}  # fmt: skip
    if operation in ("share", "exists"):
        bare = [*days, f"'{column}' is not null"]
        return {**base, "where": bare if at == 0 else where, "operation": "distinct", "column": "day"}
    if operation == "change":
        return {**base, "operation": "first" if at == 0 else "last", "column": column, "unit": unit}
    return {**base, "operation": operation, "column": column, "unit": unit}


def _by_currency(frame: Frame, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
    """Amounts of several currencies are told each by itself."""
    column = _column(frame)
    if column is None or column.kind != "money" or arguments.get("by") or arguments.get("compare"):
        return arguments
    how = {"max": "max", "min": "min"}.get(frame.operation, arguments.get("operation", "sum"))
    return {"table": frame.table.name, "where": arguments["where"], "operation": how, "column": frame.column,
            "by": f"{frame.column}.unit"}  # fmt: skip


def _alternatives(frame: Frame) -> bool:
    """Several stretches of days are alternatives ("in April and in June"), unless one only says on which weekdays."""
    dated = [each for each in frame.periods if not each.weekdays]
    return len(dated) > 1 and len(dated) == len(frame.periods) and frame.event is None


def _of_side(side: Side, frame: Frame, event: tuple[date, date] | None) -> str:
    if side.period is not None:
        return _in_period(side.period, frame)
    if side.named is not None:
        values = ", ".join("'" + value.replace("'", "''") + "'" for value in side.named.values)
        return f"'{frame.shown}' in ({values})"
    assert side.event is not None and event is not None
    return _between(*side.event.days(*event))


def _in_period(period: Period, frame: Frame) -> str:
    if period.weekdays:
        return _on_weekdays(period, frame)
    return _between(period.first, period.last)


def _between(first: date | None, last: date | None) -> str:
    if first is not None and last is not None:
        return f"day = {first.isoformat()}" if first == last else f"day between {first.isoformat()} and {last.isoformat()}"
    if first is not None:
        return f"day >= {first.isoformat()}"
    return f"day <= {last.isoformat()}" if last is not None else ""


def _on_weekdays(period: Period, frame: Frame) -> str:
    """The days of a week as the days of the calendar that they are, over the table's time."""
    first, last = period.first or frame.table.first_day, period.last or frame.table.last_day
    if first is None or last is None:
        raise PlanError("the records have no days: weekdays cannot be told")
    days: Sequence[date] = [first + timedelta(days=step) for step in range((last - first).days + 1)]
    days = [day for day in days if day.weekday() in period.weekdays]
    if len(days) > _WEEKDAYS_AT_MOST:
        raise PlanError("too many such weekdays for one question: name a year")
    if not days:
        raise PlanError("there is no such weekday in that time")
    return f"day in ({', '.join(day.isoformat() for day in days)})"
