"""Plans by a model: the steps first, then each step's arguments when the results before it are known (AdaMM, 3.5.2)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from operators.ask.context import Context
from operators.ask.model import prompts
from operators.ask.model.chat import Chat, Meter, Prompt
from operators.ask.model.schemas import EXAMPLES, arguments_schema, check, plan_schema
from operators.ask.question import Question
from operators.ask.steps import Plan, Step, Taken, ToolName
from operators.ask.values import MOST_STEPS, RETRIEVAL
from operators.errors import PlanError

_CONTEXT, _RESULTS = 24_000, 12_000
"""Characters of the planning context, and of what earlier steps found, that a prompt holds."""


class ModelPlanner:
    """``ask.steps.Planner`` by a model. Errors of the model (ModelError) are raised: see ``fallback``.

    ``meter`` counts its tokens; ``steps``: most of a plan.
    """

    name = "model"

    def __init__(self, chat: Chat, meter: Meter | None = None, steps: int = MOST_STEPS) -> None:
        self._chat, self._steps = chat, steps
        self.meter = meter or Meter()

    def plan(self, question: Question, context: Context) -> Plan:
        """At most ``steps`` goals, each with one of the context's tools. PlanError where there is no tool; ModelError."""
        tools = _known(context)
        if not tools:
            raise PlanError("no tool may be used: see the settings asking.analytic and asking.retrieval")
        schema = plan_schema(tools, self._steps)

        def read(data: Mapping[str, Any]) -> Plan:
            check(schema, data)
            return Plan(tuple(Step(step["goal"].strip() or "answer", step["tool"]) for step in data["steps"]))

        user = "\n\n".join(
            [
                prompts.day_line(question),
                f"Most steps: {self._steps}",
                f"Tools:\n{_described(tools)}",
                prompts.stored("tables and episodes, the best first", _shown(context)),
                f"Question: {json.dumps(question.text, ensure_ascii=False)}",
                *_of_picture(question),
            ]
        )
        return self._chat.complete(Prompt(prompts.PLAN, user, "plan", schema), read, self.meter)

    def arguments(
        self, question: Question, context: Context, plan: Plan, at: int, taken: tuple[Taken, ...], error: str | None
    ) -> Mapping[str, Any]:
        """The arguments of a step, made with what was found before it; ``error`` of the last ones is told. ModelError."""
        step = plan.steps[at]
        schema = arguments_schema(step.tool, [table.name for table in context.tables])

        def read(data: Mapping[str, Any]) -> Mapping[str, Any]:
            check(schema, data)
            return dict(data)

        name = f"{step.tool}_arguments"
        user = self._asked(question, context, plan, at, taken, error)
        return self._chat.complete(Prompt(prompts.ARGUMENTS, user, name, schema), read, self.meter)

    def instead(
        self,
        question: Question,  # noqa: ARG002
        context: Context,
        plan: Plan,
        at: int,
        taken: tuple[Taken, ...],
    ) -> Step | None:
        """Rounds that tell of the goal, once; None after that, and where rounds may not be searched.

        A rule, no call: the only other place to look is the other memory, and a rule ends for certain.
        """
        goal = plan.steps[at].goal
        tried = any(each.step.goal == goal and each.step.tool == "semantic_match" for each in taken)
        return None if tried or "semantic_match" not in context.tools else Step(goal, "semantic_match")

    def _asked(
        self, question: Question, context: Context, plan: Plan, at: int, taken: tuple[Taken, ...], error: str | None
    ) -> str:
        step = plan.steps[at]
        goals = "\n".join(f"{n + 1}. {each.goal} ({each.tool})" for n, each in enumerate(plan.steps))
        examples = "\n".join(json.dumps(each) for each in EXAMPLES[step.tool])
        found = prompts.bounded([each.to_dict() for each in taken], _RESULTS)
        parts = [
            prompts.day_line(question),
            f"Question: {json.dumps(question.text, ensure_ascii=False)}",
            *_of_picture(question),
            f"Plan:\n{goals}",
            f"Your step: {at + 1}. {step.goal}\nTool {step.tool}: {prompts.TOOLS[step.tool]}. Examples:\n{examples}",
            prompts.stored("tables and episodes, the best first", _shown(context)),
            prompts.stored("what the steps before found", found if taken else "nothing"),
        ]
        if error is not None:
            told = json.dumps(error[:_RESULTS], ensure_ascii=False)
            parts.append(f"Your last arguments of this step were refused: {told}\nWrite others, which fit.")
        return "\n\n".join(parts)


def _known(context: Context) -> tuple[ToolName, ...]:
    """Tools of the context that a model is told of; those over tables only where it is shown one."""
    return tuple(tool for tool in prompts.TOOLS if tool in context.tools and (context.tables or tool in RETRIEVAL))


def _described(tools: tuple[ToolName, ...]) -> str:
    return "\n".join(f"- {tool}: {prompts.TOOLS[tool]}" for tool in tools)


def _shown(context: Context) -> str:
    return prompts.bounded(context.to_dict()["candidates"], _CONTEXT)


def _of_picture(question: Question) -> list[str]:
    if question.picture is None:
        return []
    return [prompts.stored("the picture that comes with the question", prompts.picture_note(question.picture, None))]
