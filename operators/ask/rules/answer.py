"""Answers by rules: what the last step found, told in words and as data, with the places that it stands on."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import date

from operators.ask.outcomes import (
    Answered,
    Cell,
    Citation,
    Comparison,
    Computation,
    GroupValue,
    Intervals,
    Passages,
    Record,
    Records,
    Scalar,
    number_told,
    plain,
)
from operators.ask.question import Question
from operators.ask.rules import extract
from operators.ask.rules.meaning import Meaning
from operators.ask.steps import Answer, AnswerValue, Form, Taken, Trace

NOT_FOUND = "Information not found"


class RulesAnswerer:
    """``ask.steps.Answerer`` without a model."""

    def __init__(self, meaning: Meaning) -> None:
        self._meaning = meaning

    def answer(self, question: Question, trace: Trace) -> Answer:
        """The answer that the trace's last result gives; what is unknown is said to be so."""
        on_tables = [each for each in trace.taken if each.step.tool not in ("semantic_match", "event_locate")]
        if on_tables:
            return self._of_tables(trace, on_tables)
        if not trace.plan.steps and trace.notes:
            return _unknown(trace, trace.notes[0], ())
        return self._of_rounds(question, trace)

    # --- tables ---

    def _of_tables(self, trace: Trace, taken: Sequence[Taken]) -> Answer:
        form, last = trace.plan.form, taken[-1]
        events = _event_citations(trace)
        if last.outcome is None:
            return _unknown(trace, _in_words(last.error or "the tables could not be asked"), events)
        if form.kind in ("change", "share", "yes-no") and len(taken) == 2 and not isinstance(last.outcome, Comparison):
            made = self._of_two(form, taken)
        elif len(taken) > 1 and form.kind == "number" and all(isinstance(e.outcome, Computation) for e in taken):
            made = self._told(form, taken[0]) if last.found else None  # none of the records there are match
        elif last.outcome.empty and not (
            isinstance(last.outcome, Computation) and form.kind == "number" and _counts(last.outcome)
        ):
            made = None
        else:
            made = self._told(form, last)
        if made is None:
            return _no_records(trace, events)
        text, value, citations = made
        return Answer(text + _when_told(trace), "answered", value, _distinct([*citations, *events]), trace)

    def _told(self, form: Form, taken: Taken) -> tuple[str, AnswerValue, Iterable[Citation]] | None:
        found = taken.outcome
        if isinstance(found, Comparison):
            return self._compared(form, found)
        if isinstance(found, Computation):
            return self._computed(form, found)
        if isinstance(found, Records):
            return self._records(form, found, taken.step.tool == "lookup")
        if isinstance(found, Answered):
            rows = [[plain(value) for value in row] for row in found.rows]
            text = "; ".join(", ".join(map(str, row)) for row in rows[:20])
            return text, AnswerValue("groups", rows), found.citations()
        return None

    def _computed(self, form: Form, found: Computation) -> tuple[str, AnswerValue, Iterable[Citation]] | None:
        if _counts(found):
            return self._counted(form, found)
        if found.by is not None:
            return self._grouped(form, found)
        if found.value is None:
            return None
        what = (found.column or "value").replace("_", " ")
        how = {"avg": "average", "std": "standard deviation"}.get(found.operation, found.operation)
        told = _amount(found.value, found.unit)
        text = f"{told}: the {how} of {what} of {_over(found.records, found.n)}."
        return text, _value(found.value, found.unit), found.citations()

    def _counted(self, form: Form, found: Computation) -> tuple[str, AnswerValue, Iterable[Citation]]:
        if found.by is not None:
            grouped = self._grouped(form, found)
            if grouped is not None:
                return grouped
        value = 0 if found.value is None else found.value
        what = form.unit or "records"
        text = f"{_amount(value, None)} {what}" + (
            f", from {_over(found.records, found.n)}." if found.n else ": none match."
        )
        return text, AnswerValue("number", plain(value), form.unit), found.citations()

    def _grouped(self, form: Form, found: Computation) -> tuple[str, AnswerValue, Iterable[Citation]] | None:
        groups = [group for group in found.groups if group.value is not None and group.key is not None]
        if not groups:
            return None
        what = (found.column or "records").replace("_", " ")
        if form.mean:
            numbers = [float(group.value) for group in groups if isinstance(group.value, int | float)]
            mean = float(f"{sum(numbers) / len(numbers):.10g}")
            text = f"{_amount(mean, groups[0].unit)} of {what} a {found.by} on average, over {len(numbers)} with records."
            return text, _value(mean, groups[0].unit), found.citations()
        if form.kind in ("pick", "date", "number") and not (found.by or "").endswith(".unit"):
            return self._picked(form, found, groups)
        if (found.by or "").endswith(".unit") and len(groups) == 1 and form.kind == "groups":
            only = replace(found, by=None, groups=(), value=groups[0].value, unit=groups[0].unit)
            return self._computed(form, only)  # one currency after all
        rows = [{"key": plain(group.key), "value": plain(group.value), "unit": group.unit, "n": group.n} for group in groups]
        text = "; ".join(f"{plain(group.key)}: {_amount(group.value, group.unit)}" for group in groups)
        return text, AnswerValue("groups", rows), found.citations()

    def _picked(
        self, form: Form, found: Computation, groups: Sequence[GroupValue]
    ) -> tuple[str, AnswerValue, Iterable[Citation]]:
        ends = max if form.largest else min
        best = ends(groups, key=lambda group: group.value)  # type: ignore[arg-type, return-value]
        cited = [each for record in found.records if _in_group(record, found, best) for each in record.citations()]
        told = f"{plain(best.key)}: {_amount(best.value, best.unit)}, from {best.n} record{'s' * (best.n != 1)}."
        if form.kind == "number":
            return told, _value(best.value, best.unit), cited
        kind = "date" if form.kind == "date" else "choice"
        return told, AnswerValue(kind, plain(best.key)), cited

    def _compared(self, form: Form, found: Comparison) -> tuple[str, AnswerValue, Iterable[Citation]] | None:
        one, two = found.first, found.second
        if one.value is None or two.value is None:
            return None
        labels = form.options or ("first", "second")
        what = f"{one.operation} {(one.column or 'records').replace('_', ' ')}".replace("avg", "average")
        sides = (
            f"{labels[0]}: {_amount(one.value, one.unit)} ({one.n}), {labels[1]}: {_amount(two.value, two.unit)} ({two.n})"
        )
        if form.kind == "change":
            told = f"The difference in {what} is {_amount(abs(found.difference or 0), one.unit)}; {sides}."
            return told, _value(abs(found.difference or 0.0), one.unit), found.citations()
        higher = (two.value > one.value) == form.largest  # type: ignore[operator]
        if one.value == two.value:
            return f"Neither: {what} is the same; {sides}.", AnswerValue("choice", "same"), found.citations()
        if form.kind == "yes-no":
            first_wins = form.options[:1] != ("before",)
            yes = (not higher) if first_wins else higher
            return (
                f"{'Yes' if yes else 'No'}; {what}, {sides}.",
                AnswerValue("yes-no", "yes" if yes else "no"),
                found.citations(),
            )
        picked = labels[1] if higher else labels[0]
        return f"{picked[:1].upper()}{picked[1:]}; {what}, {sides}.", AnswerValue("choice", picked), found.citations()

    def _records(self, form: Form, found: Records, looked_up: bool) -> tuple[str, AnswerValue, Iterable[Citation]] | None:
        records = found.records
        if form.kind == "dates":
            days = [record.day for record in records if record.day is not None]
            told = "; ".join(
                f"{_day(r.day)}: {self._cells(r, form)}" if self._cells(r, form) else _day(r.day) for r in records
            )
            return told + ".", AnswerValue("dates", [day.isoformat() for day in days]), found.citations()
        if len(records) < form.place:
            return None
        best = records[form.place - 1]
        if form.kind == "date":
            day = best.day
            if day is None:
                return None
            told = f"{_day(day)}, {self._cells(best, form)}."
            return told, AnswerValue("date", day.isoformat()), best.citations()
        if form.kind == "text" and form.column is not None:
            cell = best.cells.get(form.column)
            if cell is None or cell.value is None:
                return None
            others = "; ".join(
                self._cell(c, form, n) for n, c in best.cells.items() if n != form.column and c.value is not None
            )
            return f"{cell.raw or cell.value} ({others}, {_day(best.day)}).", AnswerValue("text", cell.raw), best.citations()
        if form.kind == "number" and form.column is not None:
            kept = found if looked_up else replace(found, records=(best,))
            return self._one(form, form.column, kept, looked_up)
        told = "; ".join(f"{_day(r.day)}: {self._cells(r, form)}" for r in records[:20])
        rows = [record.to_dict() for record in records]
        return told + ".", AnswerValue("groups", rows), found.citations()

    def _one(
        self, form: Form, column: str, found: Records, looked_up: bool
    ) -> tuple[str, AnswerValue, Iterable[Citation]] | None:
        cells = [record.cells[column] for record in found.records if record.cells[column].value is not None]
        if not cells:
            return None
        values = [self._converted(cell, form) for cell in cells]
        told = ", ".join(_amount(value, unit) for value, unit in values)
        days = list(dict.fromkeys(_day(record.day) for record in found.records))
        text = f"{told}, {' and '.join(days)}."
        (value, unit), units = values[0], {unit for _, unit in values}
        numbers = [float(v) for v, _ in values if isinstance(v, int | float)]
        if looked_up and len(values) > 1 and len(units) == 1 and len(numbers) == len(values):
            value = float(f"{sum(numbers):.12g}")
            text = f"{_amount(value, unit)} together ({told}), {' and '.join(days)}."
        cited = found.citations() if looked_up else found.records[0].citations()
        return text, _value(value, unit), cited

    def _converted(self, cell: Cell, form: Form) -> tuple[Scalar | None, str | None]:
        value = cell.value
        if isinstance(value, bool) or not isinstance(value, int | float):
            return cell.raw if isinstance(value, str) else value, None
        measured = self._meaning.unit(form.unit) if form.unit else None
        base = None if measured is None else measured.unit
        if form.unit is None or cell.unit is not None or base is None:
            return value, cell.unit or form.unit
        converted = self._meaning.convert(float(value), base, form.unit)
        return (value, base) if converted is None else (converted, form.unit)

    def _cells(self, record: Record, form: Form) -> str:
        return ", ".join(self._cell(cell, form, name) for name, cell in record.cells.items() if cell.value is not None)

    def _cell(self, cell: Cell, form: Form, name: str) -> str:
        value, unit = self._converted(cell, form) if name == form.column else (cell.raw or cell.value, None)
        return f"{name.replace('_', ' ')} {_amount(value, unit)}"

    def _of_two(self, form: Form, taken: Sequence[Taken]) -> tuple[str, AnswerValue, Iterable[Citation]] | None:
        one, two = taken[0].outcome, taken[1].outcome
        if not isinstance(one, Computation) or not isinstance(two, Computation) or one.empty or one.value is None:
            return None
        if form.kind == "change":
            if not isinstance(one.value, int | float) or not isinstance(two.value, int | float):
                return None
            change = float(f"{two.value - one.value:.10g}")
            ends = f"from {_amount(one.value, one.unit)} to {_amount(two.value, two.unit)}"
            text = f"It changed by {_amount(change, one.unit)}: {ends}."
            return text, _value(change, one.unit), [*_at(one.records, 0), *_at(two.records, -1)]
        matching = float(two.value or 0)  # type: ignore[arg-type]
        if form.kind == "yes-no":
            text = f"{'Yes' if matching else 'No'}: {_amount(matching, None)} of {_amount(one.value, None)} days match."
            return text, AnswerValue("yes-no", "yes" if matching else "no"), two.citations() or one.citations()
        share = float(f"{100 * matching / float(one.value):.10g}")  # type: ignore[arg-type]
        text = f"{_amount(share, '%')}: {_amount(matching, None)} of {_amount(one.value, None)} days."
        return text, AnswerValue("number", share, "%"), two.citations() or one.citations()

    # --- rounds ---

    def _of_rounds(self, question: Question, trace: Trace) -> Answer:
        for taken in reversed(trace.taken):
            if isinstance(taken.outcome, Intervals) and taken.found and trace.plan.form.kind == "date":
                found = taken.outcome.intervals[0]
                if found.first_day is not None:
                    last = found.last_day
                    days = (
                        _day(found.first_day)
                        if last in (None, found.first_day)
                        else f"{_day(found.first_day)} to {_day(last)}"
                    )
                    cited = [replace(each, role="value") for each in found.rounds[:1]]
                    text = f"{days}: {found.text}" if found.text else days
                    return Answer(text, "answered", AnswerValue("date", found.first_day.isoformat()), tuple(cited), trace)
            if isinstance(taken.outcome, Passages) and taken.found:
                said = extract.answer(question, taken.outcome, self._meaning)
                if said is not None:
                    return Answer(said.text, said.status, said.value, tuple(said.citations), trace)
        return Answer(NOT_FOUND, "not found", None, (), trace)


def _in_words(error: str) -> str:
    """A tool's error for who asks: no arguments are named."""
    if "not reckoned as one" in error:
        return "the amounts are of several currencies, which are not compared or added; ask for one, for example in EUR"
    return error


def _counts(found: Computation) -> bool:
    return found.operation in ("count", "distinct")


def _in_group(record: Record, found: Computation, group: GroupValue) -> bool:
    if found.by in ("day", "week", "month", "year"):
        day = record.day
        if day is None:
            return False
        shown = {"day": day.isoformat(), "month": f"{day:%Y-%m}", "year": f"{day:%Y}",
                 "week": date.fromordinal(day.toordinal() - day.weekday()).isoformat()}[found.by]  # fmt: skip
        return bool(shown == plain(group.key))
    cell = record.cells.get(found.by or "")
    return cell is None or str(cell.raw or cell.value).casefold() == str(group.key).casefold()


def _at(records: Sequence[Record], place: int) -> tuple[Citation, ...]:
    dated = sorted(records, key=lambda record: (record.day or date.min, record.order, record.record))
    return dated[place].citations() if dated else ()


def _event_citations(trace: Trace) -> list[Citation]:
    return [
        replace(each, role="event")
        for taken in trace.taken
        if isinstance(taken.outcome, Intervals) and taken.found
        for each in taken.outcome.citations()
    ]


def _when_told(trace: Trace) -> str:
    """When the event was that a question names."""
    for taken in trace.taken:
        if isinstance(taken.outcome, Intervals) and taken.found:
            found = taken.outcome.intervals[0]
            if found.first_day is not None:
                return f" {taken.step.goal.removeprefix('when: ')!r} was on {_day(found.first_day)}."
    return ""


def _unknown(trace: Trace, why: str, events: Sequence[Citation]) -> Answer:
    return Answer(f"{NOT_FOUND}: {why}", "not found", None, tuple(events), trace)


def _no_records(trace: Trace, events: Sequence[Citation]) -> Answer:
    return Answer(f"No records match.{_when_told(trace)}", "no records", None, tuple(events), trace)


def _distinct(citations: Iterable[Citation]) -> tuple[Citation, ...]:
    return tuple(dict.fromkeys(citations))


def _value(value: Scalar | None, unit: str | None) -> AnswerValue:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return AnswerValue("date" if isinstance(value, date) else "text", plain(value))
    return AnswerValue("number", value, unit)


def _amount(value: Scalar | None, unit: str | None) -> str:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return str(plain(value))
    number = number_told(value)
    if unit == "h":
        minutes = round(float(value) * 60)
        return f"{number} h ({minutes // 60} h {minutes % 60} min)" if not float(value).is_integer() else f"{number} h"
    return f"{number} {unit}" if unit else number


def _day(day: date | None) -> str:
    return "an unknown day" if day is None else f"{day.day} {day:%B %Y}"


def _over(records: Sequence[Record], n: int) -> str:
    days = sorted(record.day for record in records if record.day is not None)
    told = f"{n} record{'s' * (n != 1)}"
    if not days:
        return told
    return f"{told} of {_day(days[0])}" if days[0] == days[-1] else f"{told}, {_day(days[0])} to {_day(days[-1])}"
