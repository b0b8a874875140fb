"""The step loop: order, progressive arguments, one retry, the shared budget, the next best step."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from shown import context, question

from operators.ask.context import Context
from operators.ask.execute import execute
from operators.ask.outcomes import Interval, Intervals, Outcome, Passage, Passages
from operators.ask.question import Question
from operators.ask.steps import Plan, Step, Taken, ToolName
from operators.ask.values import Limits
from operators.errors import PlanError, ToolError

EVENT = Intervals("q", (Interval(0.9, None, None, False, "it was", ()),))
NOTHING = Intervals("q", ())


def passages(count: int) -> Passages:
    found = tuple(Passage("round", "s", f"s:{n}", n, None, None, 1.0, ()) for n in range(count))
    return Passages("q", "text_to_text", found)


class Scripted:
    """A planner with a plan and what to call each step with; ``seen``: how much each call was shown, and which error."""

    name = "scripted"

    def __init__(self, plan: Plan, other: Step | None = None, fails_at: int | None = None) -> None:
        self._plan, self._other, self._fails_at = plan, other, fails_at
        self.seen: list[tuple[int, int, str | None]] = []

    def plan(self, question: Question, context: Context) -> Plan:  # noqa: ARG002
        return self._plan

    def arguments(
        self,
        question: Question,  # noqa: ARG002
        context: Context,  # noqa: ARG002
        plan: Plan,
        at: int,
        taken: tuple[Taken, ...],
        error: str | None,
    ) -> Mapping[str, Any]:
        self.seen.append((at, len(taken), error))
        if at == self._fails_at:
            raise PlanError("what it needs was not found")
        return {"query": f"{plan.steps[at].goal} {len(self.seen)}"}

    def instead(self, *told: Any) -> Step | None:
        taken = told[-1]
        return self._other if taken[-1].step != self._other else None


class Fake:
    """Tools that give what they are told to, by goal; ``refuse``: how many calls are refused first."""

    def __init__(self, found: Mapping[str, Outcome], refuse: int = 0) -> None:
        self._found, self._refuse = found, refuse
        self.calls: list[tuple[str, str, int]] = []

    def run(self, tool: ToolName, arguments: Mapping[str, Any], units: int) -> tuple[Outcome, int]:
        goal = arguments["query"].rsplit(" ", 1)[0]
        self.calls.append((tool, goal, units))
        if self._refuse:
            self._refuse -= 1
            raise ToolError("columns: a, b")
        outcome = self._found[goal]
        used = len(outcome.passages[:units]) if isinstance(outcome, Passages) else 1
        return outcome, used


def plan_of(*goals: str, tool: ToolName = "event_locate") -> Plan:
    return Plan(tuple(Step(goal, tool) for goal in goals))


def run(planner: Scripted, tools: Fake, limits: Limits | None = None) -> tuple[Taken, ...]:
    return execute(question("q"), context(), planner, tools, limits or Limits()).taken


def test_steps_see_what_was_found_before_them() -> None:
    planner = Scripted(plan_of("a", "b", "c"))
    taken = run(planner, Fake({"a": EVENT, "b": EVENT, "c": EVENT}))
    assert [each.step.goal for each in taken] == ["a", "b", "c"]
    assert planner.seen == [(0, 0, None), (1, 1, None), (2, 2, None)]


def test_without_progress_nothing_is_seen() -> None:
    planner = Scripted(plan_of("a", "b"))
    run(planner, Fake({"a": EVENT, "b": EVENT}), Limits(progressive=False))
    assert planner.seen == [(0, 0, None), (1, 0, None)]


def test_a_plan_is_cut_to_the_most_steps() -> None:
    assert len(run(Scripted(plan_of(*"abcde")), Fake(dict.fromkeys("abcde", EVENT)), Limits(steps=2))) == 2


def test_refused_arguments_are_made_once_more_with_the_error() -> None:
    planner = Scripted(plan_of("a"))
    (taken,) = run(planner, Fake({"a": EVENT}, refuse=1))
    assert taken.found
    assert taken.error is None
    assert [error for _, error in taken.refused] == ["columns: a, b"]
    assert planner.seen == [(0, 0, None), (0, 0, "columns: a, b")]


def test_refused_twice_is_an_error() -> None:
    tools = Fake({"a": EVENT}, refuse=5)
    (taken,) = run(Scripted(plan_of("a")), tools)
    assert (taken.outcome, taken.error) == (None, "columns: a, b")
    assert len(tools.calls) == 2


def test_the_budget_is_shared() -> None:
    plan = plan_of("a", "b", "c", tool="semantic_match")
    tools = Fake({"a": passages(6), "b": passages(9), "c": passages(9)})
    taken = run(Scripted(plan), tools, Limits(units=10))
    assert [each.units for each in taken] == [6, 4]
    assert [units for _, _, units in tools.calls] == [10, 4]


def test_where_nothing_is_found_the_next_best_step_is_taken_then_the_plan_goes_on() -> None:
    other = Step("other", "semantic_match")
    taken = run(Scripted(plan_of("a", "b"), other), Fake({"a": NOTHING, "other": passages(1), "b": EVENT}))
    assert [each.step.goal for each in taken] == ["a", "other", "b"]


def test_where_there_is_no_next_best_the_plan_ends() -> None:
    taken = run(Scripted(plan_of("a", "b")), Fake({"a": NOTHING, "b": EVENT}))
    assert [each.step.goal for each in taken] == ["a"]


def test_arguments_that_cannot_be_made_are_an_error_and_no_call() -> None:
    tools = Fake({"a": EVENT, "b": EVENT})
    taken = run(Scripted(plan_of("a", "b"), fails_at=1), tools)
    assert taken[1].error == "what it needs was not found"
    assert len(tools.calls) == 1


def test_a_tool_that_is_not_in_the_context_is_never_called() -> None:
    tools = Fake({})
    shown = Context((), (), ("semantic_match",))
    (taken,) = execute(question("q"), shown, Scripted(plan_of("a")), tools, Limits()).taken
    assert taken.error is not None
    assert "semantic_match" in taken.error
    assert tools.calls == []


@pytest.mark.parametrize("units", [1, 2, 7])
def test_no_more_evidence_than_the_budget(units: int) -> None:
    plan = plan_of("a", "b", "c", tool="semantic_match")
    taken = run(Scripted(plan), Fake(dict.fromkeys("abc", passages(3))), Limits(units=units))
    assert sum(each.units for each in taken) <= units
