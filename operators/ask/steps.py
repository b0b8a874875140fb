"""Plans and what becomes of them: typed steps, the calls that they turn into, and the trace of it all."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from operators.ask.context import Context
from operators.ask.outcomes import Citation, Outcome
from operators.ask.question import Question

ToolName = Literal["lookup", "filter", "compute", "rank", "semantic_match", "event_locate", "query"]
FormKind = Literal[
    "auto", "number", "date", "dates", "choice", "yes-no", "change", "groups", "pick", "records", "share", "text"
]


@dataclass(frozen=True)
class Step:
    """What is to be found out, and the tool that shall; its arguments are made when its turn comes (AdaMM, Eq. 10)."""

    goal: str
    tool: ToolName


@dataclass(frozen=True)
class Form:
    """What the answer is to look like. ``options``: of a choice, first side first. ``column``: whose values are told.

    ``largest``: which end is picked, of groups or sides. ``mean``: whether groups are averaged. ``unit``: what a count is of
    (``days``). ``place``: which of the records from the end.
    """

    kind: FormKind = "auto"
    options: tuple[str, ...] = ()
    column: str | None = None
    largest: bool = True
    mean: bool = False
    unit: str | None = None
    place: int = 1


@dataclass(frozen=True)
class Plan:
    """At most ``values.MOST_STEPS`` steps, and the form of the answer.

    ``notes``: how the question was read, where it is in doubt.
    """

    steps: tuple[Step, ...]
    form: Form = Form()
    notes: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values."""
        return {"steps": [{"goal": step.goal, "tool": step.tool} for step in self.steps], "answer": self.form.kind}


@dataclass(frozen=True)
class Taken:
    """A step that was taken: the arguments it was called with and what it found, or the error that it ended in.

    ``refused``: arguments that were tried before, with the error that sent them back. ``units``: of the evidence budget.
    """

    step: Step
    arguments: Mapping[str, Any]
    outcome: Outcome | None
    error: str | None = None
    refused: tuple[tuple[Mapping[str, Any], str], ...] = ()
    units: int = 0

    @property
    def found(self) -> bool:
        """Whether there is something to go on with."""
        return self.outcome is not None and not self.outcome.empty

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values."""
        told: dict[str, Any] = {
            "goal": self.step.goal,
            "tool": self.step.tool,
            "arguments": dict(self.arguments),
            "units": self.units,
        }
        if self.refused:
            told["refused"] = [{"arguments": dict(given), "error": error} for given, error in self.refused]
        if self.error is not None:
            told["error"] = self.error
        return {**told, "result": None if self.outcome is None else self.outcome.to_dict()}


@dataclass(frozen=True)
class Trace:
    """How a question was worked on. ``planner``: who planned; ``notes``: what a reader must know (a model that was down)."""

    context: Context
    plan: Plan
    taken: tuple[Taken, ...]
    planner: str
    notes: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values."""
        return {
            "planner": self.planner,
            "notes": list(self.notes),
            "context": self.context.to_dict(),
            "plan": self.plan.to_dict(),
            "steps": [each.to_dict() for each in self.taken],
        }


class Planner(Protocol):
    """Plans, and makes the arguments of each step when its turn comes (AdaMM, Eqs. 10 and 11)."""

    name: str

    def plan(self, question: Question, context: Context) -> Plan:
        """The steps. PlanError where none can be made."""

    def arguments(
        self, question: Question, context: Context, plan: Plan, at: int, taken: tuple[Taken, ...], error: str | None
    ) -> Mapping[str, Any]:
        """The arguments of the step at ``at``, given what the steps before found; ``error``: why the last ones were refused.

        PlanError where none can be made of what there is.
        """

    def instead(self, question: Question, context: Context, plan: Plan, at: int, taken: tuple[Taken, ...]) -> Step | None:
        """The next best step where the one at ``at`` (the last taken) found nothing; None: there is none."""


class Tools(Protocol):
    """What carries out calls on one user's memory."""

    def run(self, tool: ToolName, arguments: Mapping[str, Any], units: int) -> tuple[Outcome, int]:
        """What is found, and how many units of evidence that is, ``units`` at most.

        UsageError (ToolError for tables) for arguments that do not fit, saying what would.
        """


@dataclass(frozen=True)
class Usage:
    """Tokens that a model read and wrote, in how many calls."""

    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            self.calls + other.calls,
            self.prompt_tokens + other.prompt_tokens,
            self.completion_tokens + other.completion_tokens,
        )


Status = Literal["answered", "no records", "not found"]


@dataclass(frozen=True)
class AnswerValue:
    """The answer as data. ``kind``: number (``value`` a float), date (ISO), dates (list of ISO), choice, text, yes-no
    or groups (list of key, value)."""

    kind: str
    value: Any
    unit: str | None = None


@dataclass(frozen=True)
class Answer:
    """An answer and what it stands on. ``status``: ``no records`` where what is asked for has none, ``not found`` where
    memory holds nothing that answers. ``usage``: of the model, where there was one."""

    text: str
    status: Status
    value: AnswerValue | None
    citations: tuple[Citation, ...]
    trace: Trace
    usage: Usage = field(default=Usage())

    def to_dict(self, *, explain: bool = False) -> dict[str, Any]:
        """Plain JSON values; ``explain``: with the trace."""
        value = None if self.value is None else {"type": self.value.kind, "value": self.value.value, "unit": self.value.unit}
        told: dict[str, Any] = {"answer": self.text, "status": self.status, "value": value}
        told["citations"] = [each.to_dict() for each in self.citations]
        told |= {"planner": self.trace.planner, "notes": list(self.trace.notes)}
        if self.usage.calls:
            told["usage"] = {
                "calls": self.usage.calls,
                "prompt_tokens": self.usage.prompt_tokens,
                "completion_tokens": self.usage.completion_tokens,
            }
        return {**told, "trace": self.trace.to_dict()} if explain else told


class Answerer(Protocol):
    """Makes the answer of what was found."""

    def answer(self, question: Question, trace: Trace) -> Answer:
        """The answer, citing what it stands on; what is unknown is said to be so."""
