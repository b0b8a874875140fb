"""A question asked of a model, and by rules where the model fails."""

from __future__ import annotations

from dataclasses import dataclass, replace

from operators.ask.context import Context
from operators.ask.execute import execute
from operators.ask.model.anchors import ModelAnchors
from operators.ask.model.answerer import ModelAnswerer
from operators.ask.model.chat import Chat, Meter
from operators.ask.model.figures import Read
from operators.ask.model.planner import ModelPlanner
from operators.ask.question import Question
from operators.ask.steps import Answer, Answerer, Planner, Tools
from operators.ask.values import Limits
from operators.errors import ModelError


@dataclass(frozen=True)
class Model:
    """What a model does of asking: ``plans``, ``answers``, words what rounds are searched with (``anchors``).

    Rules do what it does not.
    """

    chat: Chat
    plans: bool = True
    answers: bool = True
    anchors: bool = True


def ask_model(
    model: Model,
    question: Question,
    context: Context,
    tools: Tools,
    limits: Limits,
    rules: tuple[Planner, Answerer],
    read: Read,
    anchors: ModelAnchors,
) -> Answer:
    """The answer with a model; where it fails, by ``rules`` alone, saying so in the trace's notes.

    A question that the model fails on, in whichever call, is begun anew by rules, from the plan on: no plan is half of
    either, and the answer is the one that there would be without a model. The next question is the model's again. ``usage``
    counts what the model cost even so. ``read`` reads written quantities; ``anchors``: those of this question, which the
    tools search with. PlanError where no plan can be made.
    """
    meter = anchors.meter
    planner = ModelPlanner(model.chat, meter, limits.steps) if model.plans else rules[0]
    answerer = ModelAnswerer(model.chat, read, meter) if model.answers else rules[1]
    try:
        answer = answerer.answer(question, execute(question, context, planner, tools, limits))
    except ModelError as error:
        anchors.failed = error
        answer = rules[1].answer(question, execute(question, context, rules[0], tools, limits))
        return _noted(answer, f"answered by rules, without the model: {error}", meter)
    failed = anchors.failed
    return _noted(answer, None if failed is None else f"searched with the question's own words alone: {failed}", meter)


def _noted(answer: Answer, note: str | None, meter: Meter) -> Answer:
    notes = answer.trace.notes if note is None else (note, *answer.trace.notes)
    return replace(answer, trace=replace(answer.trace, notes=notes), usage=meter.usage)
