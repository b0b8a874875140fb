"""The loop: a plan is made, then each step in its turn, seeing what the earlier ones found (AdaMM, section 3.5.2)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from operators.ask.context import Context
from operators.ask.outcomes import Outcome
from operators.ask.question import Question
from operators.ask.steps import Plan, Planner, Step, Taken, Tools, Trace
from operators.ask.values import Limits
from operators.errors import PlanError, UsageError

_TRIES = 2
"""A call that was refused is made once more, the planner knowing why."""


def execute(question: Question, context: Context, planner: Planner, tools: Tools, limits: Limits) -> Trace:
    """Plan, take the steps, and tell how it went; where a step finds nothing the planner's next best one is taken.

    A step whose arguments are refused twice, or that none can be made for, is told with its error. PlanError where no plan
    can be made.
    """
    plan = planner.plan(question, context)
    plan = replace(plan, steps=plan.steps[: limits.steps])
    taken: list[Taken] = []
    left = limits.units
    steps = list(enumerate(plan.steps))
    while steps and left > 0:
        at, step = steps.pop(0)
        before = tuple(taken) if limits.progressive else ()
        done = _take(question, context, planner, replace(plan, steps=_with(plan, at, step)), at, before, tools, left)
        taken.append(done)
        left -= done.units
        if done.found or not limits.progressive:
            continue
        other = planner.instead(question, context, plan, at, tuple(taken))
        if other is None:
            break
        steps.insert(0, (at, other))
    return Trace(context, plan, tuple(taken), planner.name, plan.notes)


def _with(plan: Plan, at: int, step: Step) -> tuple[Step, ...]:
    return (*plan.steps[:at], step, *plan.steps[at + 1 :])


def _take(
    question: Question,
    context: Context,
    planner: Planner,
    plan: Plan,
    at: int,
    before: tuple[Taken, ...],
    tools: Tools,
    units: int,
) -> Taken:
    step = plan.steps[at]
    refused: list[tuple[Mapping[str, Any], str]] = []
    arguments: Mapping[str, Any] = {}
    for _ in range(_TRIES):
        try:
            arguments = planner.arguments(question, context, plan, at, before, refused[-1][1] if refused else None)
        except PlanError as error:
            return Taken(step, {}, None, str(error), tuple(refused))
        outcome: Outcome
        try:
            if step.tool not in context.tools:
                raise PlanError(f"there is no tool {step.tool} here; tools: {', '.join(context.tools)}")
            outcome, used = tools.run(step.tool, arguments, units)
        except UsageError as error:
            refused.append((arguments, str(error)))
            continue
        return Taken(step, arguments, outcome, None, tuple(refused), used)
    return Taken(step, arguments, None, refused[-1][1], tuple(refused[:-1]))
