"""Answers by a model: from what a trace found and nothing else, with the places that it stands on (V-Mem, Appendix C)."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import Any

from operators.ask.model import figures, prompts
from operators.ask.model.chat import Chat, Meter, Prompt
from operators.ask.model.evidence import Evidence, evidence_of
from operators.ask.model.schemas import Schema, answer_schema, check
from operators.ask.outcomes import Citation, Computation, Outcome
from operators.ask.question import Question
from operators.ask.steps import Answer, AnswerValue, Status, Taken, Trace

MOST_CHARACTERS = 24_000
"""Of evidence in a prompt."""

_YES_NO = ("Yes", "No")
_CONFLICT = re.compile(r"\b(?:conflict|contradict|inconsisten|discrepan|incompatib)\w*", re.IGNORECASE)
_OPEN = re.compile(r"\s*(?:what|which|who|whom|whose|where|when|why|how|list|name|describe|explain)\b", re.IGNORECASE)
_SHOWN = r"(?:image|photo|picture|pic|photograph|screenshot)s?"
_WHICH_PICTURE = re.compile(
    rf"\bwhich (?:\S+ ){{0,3}}?{_SHOWN}\b|\bwhat (?:\S+ ){{0,2}}?{_SHOWN}\b(?! of)|\bimage ids?\b"
    rf"|\b(?:find|search|show|list|return|locate|give)\b(?:\W+\w+){{0,6}}?\W+{_SHOWN}\b",
    re.IGNORECASE,
)
_TOOL_SAYS = "the number that the model told is not the one that was computed: told is the one that was computed"
_UNCHECKED = "the number that the model told is none that a tool computed"


def is_conflict(text: str) -> bool:
    """Whether a question asks for a verdict on a conflict or contradiction, by its words (V-Mem, Appendix C)."""
    return bool(_CONFLICT.search(text)) and not _OPEN.match(text)


def asks_which_picture(text: str) -> bool:
    """Whether a question asks for a picture itself, by its words."""
    return bool(_WHICH_PICTURE.search(text))


@dataclass(frozen=True)
class _Told:
    """What the model answered, once it fits the schema."""

    evidence: tuple[str, ...]
    status: Status
    text: str
    value: AnswerValue | None


class ModelAnswerer:
    """``ask.steps.Answerer`` by a model. Errors of the model (ModelError) are raised: see ``fallback``.

    ``read`` reads written quantities (to hold the model's numbers against computed ones), ``meter`` counts its tokens, and
    what it has counted before is told as the answer's ``usage`` too: planner and answerer of one question share it.
    """

    def __init__(self, chat: Chat, read: figures.Read, meter: Meter | None = None) -> None:
        self._chat = chat
        self._read = read
        self.meter = meter or Meter()

    def answer(self, question: Question, trace: Trace) -> Answer:
        """The answer that the evidence of a trace holds; without any, none is asked for. ModelError."""
        evidence = evidence_of(trace, MOST_CHARACTERS)
        conflict = is_conflict(question.text)
        if not evidence.labels:
            told = _Told((), "answered", "No", AnswerValue("yes-no", "No")) if conflict else _nothing()
            return Answer(told.text, told.status, told.value, (), trace, self.meter.usage)
        pictures = list(evidence.pictures) if asks_which_picture(question.text) and not conflict else []
        schema = answer_schema([*evidence.labels], pictures, _YES_NO if conflict else ())
        system = prompts.CONFLICT if conflict else prompts.ANSWER
        prompt = Prompt(system, _asked(question, evidence), "answer", schema)
        told = self._chat.complete(prompt, lambda data: _told(data, schema, evidence, conflict), self.meter)
        return self._answered(trace, evidence, told)

    def _answered(self, trace: Trace, evidence: Evidence, told: _Told) -> Answer:
        labels = told.evidence
        if not labels and told.status == "answered" and told.text not in (prompts.NOT_MENTIONED, "No"):
            labels = tuple(evidence.labels)
        outcomes = [
            each.outcome for each in map(evidence.labels.get, labels) if isinstance(each, Taken) and each.outcome is not None
        ]
        told, note = self._checked(told, outcomes)
        noted = replace(trace, notes=(*trace.notes, note)) if note else trace
        return Answer(told.text, told.status, told.value, _cited(evidence, labels, told), noted, self.meter.usage)

    def _checked(self, told: _Told, outcomes: Sequence[Outcome]) -> tuple[_Told, str | None]:
        """The answer with computed numbers as they were computed, and what must be known of that.

        Where it stands on one whole COMPUTE, that one's number is the value, and where what is told is neither it nor can
        be derived from it, also the text. Where it stands on more, or on groups, a number that cannot be derived from them
        is kept, with a note: which of them is meant is not known.
        """
        kind = told.value.kind if told.value else ""
        possible = figures.derivable(outcomes, self._read)
        if told.status != "answered" or kind not in ("number", "text") or not possible:
            return told, None
        number = self._number(told)
        said = list(figures.told_in(told.text, self._read))
        one = figures.computed(outcomes, self._read)
        right = (number is None or figures.agrees(number, possible)) and _says(said, number, one, possible)
        if one is None or (number is None and right):
            return told, None if right else _UNCHECKED
        computation = outcomes[0]
        assert isinstance(computation, Computation)
        value = AnswerValue("number", computation.value, computation.unit)
        if not right:
            return replace(told, text=figures.amount(computation.value, computation.unit), value=value), _TOOL_SAYS
        is_it = number is not None and figures.agrees(number, [one])
        return replace(told, value=value if is_it else told.value), None

    def _number(self, told: _Told) -> figures.Figure | None:
        if told.value is None or told.value.kind != "number":
            return None
        return figures.figure(float(told.value.value), told.value.unit, self._read)


def _says(
    said: Sequence[figures.Figure], number: figures.Figure | None, one: figures.Figure | None, possible: list[figures.Figure]
) -> bool:
    """Whether the numbers of a text are what was computed: of the one that there is, those of its unit, else any of them."""
    if one is not None and number is not None and figures.agrees(number, [one]):
        return not said or any(figures.agrees(each, [one]) for each in said)
    alike = [each for each in said if one is not None and each.unit is not None and each.unit == one.unit]
    return not said or any(figures.agrees(each, possible) for each in alike or said)


def _asked(question: Question, evidence: Evidence) -> str:
    parts = [prompts.day_line(question), prompts.stored("evidence", evidence.text)]
    if question.picture is not None:
        note = prompts.picture_note(question.picture, evidence.name_of(question.picture.media))
        parts.append(prompts.stored("the picture that comes with the question", note))
    return "\n\n".join([*parts, f"Question: {json.dumps(question.text, ensure_ascii=False)}"])


def _told(data: Mapping[str, Any], schema: Schema, evidence: Evidence, conflict: bool) -> _Told:
    """OutputFault where the answer does not fit. Labels and pictures that were not shown are dropped."""
    shown: dict[str, Any] = {"evidence": evidence.labels, "pictures": evidence.pictures}
    kept: dict[str, Any] = {
        name: list(dict.fromkeys(each for each in value if isinstance(each, str) and each in shown[name]))
        if name in shown and isinstance(value, list)
        else value
        for name, value in data.items()
    }
    check(schema, kept)
    labels = tuple(kept["evidence"])
    text = kept["answer"].strip()
    if conflict:
        return _Told(labels, "answered", text, AnswerValue("yes-no", text))
    if kept.get("pictures") and kept["status"] == "answered":
        text = ", ".join(kept["pictures"])
        return _Told(labels, "answered", text, AnswerValue("text", text))
    if not text or kept["status"] == "not found" or text.rstrip(".").casefold() == prompts.NOT_FOUND.casefold():
        return _nothing()
    if kept["status"] == "no records":
        return _Told(labels, "no records", text, None)
    if text.rstrip(".").casefold() == prompts.NOT_MENTIONED.casefold():
        return _Told(labels, "answered", prompts.NOT_MENTIONED, AnswerValue("yes-no", prompts.NOT_MENTIONED))
    return _Told(labels, "answered", text, _value(kept, text))


def _value(told: Mapping[str, Any], text: str) -> AnswerValue:
    kind, number = told["kind"], told["number"]
    if kind == "number" and number is not None and math.isfinite(number):
        return AnswerValue("number", float(number), told["unit"])
    days = [each for each in told["dates"] if _is_day(each)]
    if kind == "date" and days:
        return AnswerValue("date", days[0])
    if kind == "dates" and days:
        return AnswerValue("dates", days)
    return AnswerValue(kind if kind in ("choice", "yes-no") else "text", text)


def _is_day(text: str) -> bool:
    try:
        return len(text) == len("2026-05-01") and date.fromisoformat(text) is not None
    except ValueError:
        return False


def _nothing() -> _Told:
    return _Told((), "not found", prompts.NOT_FOUND, None)


def _cited(evidence: Evidence, labels: Sequence[str], told: _Told) -> tuple[Citation, ...]:
    return () if told.status == "not found" else evidence.citations(labels)
