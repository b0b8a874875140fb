"""Where a model fails, the whole question is worked on by rules, and the answer says so."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from scripted import (
    COMPUTE,
    CONTEXT,
    KEY,
    PLAN,
    FakeTools,
    Server,
    answered,
    average,
    fails,
    hangs,
    question,
    says,
)

from operators.ask.context import Context
from operators.ask.model.anchors import ModelAnchors
from operators.ask.model.fallback import Model, ask_model
from operators.ask.outcomes import Outcome
from operators.ask.question import Question
from operators.ask.steps import Answer, AnswerValue, Plan, Step, Taken, ToolName, Trace
from operators.ask.values import Limits
from operators.memory.written import read_quantity

BY_RULES = {"table": "activity", "operation": "avg", "column": "sleep"}


class Rules:
    """A planner and an answerer of which a test can tell that they were asked."""

    name = "rules"

    def plan(self, question: Question, context: Context) -> Plan:  # noqa: ARG002
        return Plan((Step("by rules", "compute"),))

    def arguments(self, *_: Any) -> Mapping[str, Any]:
        return BY_RULES

    def instead(self, *_: Any) -> None:
        return None

    def answer(self, question: Question, trace: Trace) -> Answer:  # noqa: ARG002
        return Answer("by rules", "answered", AnswerValue("text", "by rules"), (), trace)


def ask(server: Server, tools: FakeTools | None = None, **changed: Any) -> Answer:
    model = Model(server.chat(timeout_s=changed.pop("timeout_s", 20.0)), **changed)
    given = tools or FakeTools({"compute": average()})
    anchors = ModelAnchors(model.chat)
    return ask_model(model, question("sleep?"), CONTEXT, given, Limits(), (Rules(), Rules()), read_quantity, anchors)


SAID = answered("7 h 5 min", ["T1"], kind="number", number=25_500, unit="s")


def test_a_model_that_works_plans_and_answers(server: Server) -> None:
    server.replies = [says(PLAN), says(COMPUTE), says(SAID)]
    found = ask(server)
    assert (found.text, found.trace.planner, found.trace.notes) == ("7 h 5 min", "model", ())
    assert (found.usage.calls, found.usage.prompt_tokens, found.usage.completion_tokens) == (3, 300, 30)


GOOD = [says(PLAN), says(COMPUTE), says(SAID)]


@pytest.mark.parametrize("at", [0, 1, 2], ids=["plan", "arguments", "answer"])
@pytest.mark.parametrize(
    ("fault", "told"),
    [
        (fails(500), "HTTP 500"),
        (fails(429), "HTTP 429"),
        (fails(401), "refuses the key"),
        (says("nonsense"), "keeps to a JSON schema"),
        (says(None, refusal="no"), "declines"),
        (says("{", finish="length"), "cut off"),
    ],
    ids=["500", "429", "401", "invalid", "refusal", "truncated"],
)
def test_whatever_fails_wherever_rules_do_it_all(server: Server, at: int, fault: Any, told: str) -> None:
    server.replies = [*GOOD[:at], fault]
    tools = FakeTools({"compute": average()})
    found = ask(server, tools)
    assert (found.text, found.trace.planner) == ("by rules", "rules")
    assert [each.step.goal for each in found.trace.taken] == ["by rules"]
    assert tools.calls[-1] == ("compute", BY_RULES)
    assert len(found.trace.notes) == 1
    assert found.trace.notes[0].startswith("answered by rules, without the model: ") and told in found.trace.notes[0]
    assert KEY not in str(found.to_dict(explain=True))
    assert found.usage.calls >= at  # what the model cost is told even so


def test_a_model_that_hangs_is_waited_for_once(server: Server) -> None:
    server.replies = [hangs(server)]
    found = ask(server, timeout_s=0.5)
    assert found.text == "by rules" and "did not answer within 0.5 s" in found.trace.notes[0]
    assert len(server.bodies) == 1


def test_what_rules_search_for_is_not_worded_by_a_model_that_failed(server: Server) -> None:
    server.replies = [fails(500)]
    anchors = ModelAnchors(server.chat())

    class Searching(FakeTools):
        def run(self, tool: ToolName, arguments: Mapping[str, Any], units: int) -> tuple[Outcome, int]:
            assert anchors.caption("which photo?") is None
            return super().run(tool, arguments, units)

    tools = Searching({"compute": average()})
    rules = (Rules(), Rules())
    ask_model(Model(server.chat()), question("sleep?"), CONTEXT, tools, Limits(), rules, read_quantity, anchors)
    assert len(tools.calls) == 1 and len(server.bodies) == 2  # the plan, tried twice


def test_where_only_the_words_of_a_search_fail_the_answer_says_so(server: Server) -> None:
    server.replies = [*GOOD[:2], fails(401), GOOD[2]]
    anchors = ModelAnchors(server.chat())

    class Searching(FakeTools):
        def run(self, tool: ToolName, arguments: Mapping[str, Any], units: int) -> tuple[Outcome, int]:
            assert anchors.caption("which photo?") is None
            return super().run(tool, arguments, units)

    tools, rules = Searching({"compute": average()}), (Rules(), Rules())
    model = Model(server.chat())
    found = ask_model(model, question("sleep?"), CONTEXT, tools, Limits(), rules, read_quantity, anchors)
    assert (found.text, found.trace.planner) == ("7 h 5 min", "model")
    assert found.trace.notes[0].startswith("searched with the question's own words alone: ")


def test_the_next_question_is_the_models_again(server: Server) -> None:
    server.replies = [fails(401), *GOOD]
    assert ask(server).text == "by rules"
    assert ask(server).text == "7 h 5 min"


def test_a_model_may_answer_what_rules_planned(server: Server) -> None:
    server.replies = [says(SAID)]
    found = ask(server, plans=False)
    assert (found.text, found.trace.planner, found.usage.calls) == ("7 h 5 min", "rules", 1)


def test_rules_may_answer_what_a_model_planned(server: Server) -> None:
    server.replies = [says(PLAN), says(COMPUTE)]
    found = ask(server, answers=False)
    assert (found.text, found.trace.planner, found.usage.calls) == ("by rules", "model", 2)
    assert isinstance(found.trace.taken[0], Taken)
