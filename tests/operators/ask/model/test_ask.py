"""Asking a real store with a model behind a scripted server: from the question to the answer, over real HTTP."""

from __future__ import annotations

import json
import statistics
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler
from typing import Any

import pytest
from diaries import DAYS, INJECTED
from scripted import KEY, Reply, Server, fails, says

from operators.ask.model.fallback import Model
from operators.ask.values import AskValues
from operators.memory import Memory

NOW = datetime(2025, 5, 5, 12, tzinfo=UTC)
HOURS = statistics.fmean(day.sleep for day in DAYS) / 60
SEARCH = {"query": "my landlord", "k": 3, "level": "round"}


def plan(*tools: str) -> Reply:
    return says({"steps": [{"goal": f"step {at}", "tool": tool} for at, tool in enumerate(tools)]})


def average_of_sleep(server: Server, **changed: Any) -> Reply:
    """Arguments of COMPUTE over the first table that the request's own schema offers and that has a column ``sleep``."""

    def reply(handler: BaseHTTPRequestHandler) -> None:
        offered = server.bodies[-1]["response_format"]["json_schema"]["schema"]["properties"]["table"]["enum"]
        shown = server.prompts()[-1].split("the best first\n")[1].split("\nEND STORED")[0]
        tables = {each["table"]: each["columns"] for each in json.loads(shown) if "table" in each}
        table = next(name for name in offered if any(column["name"] == "sleep" for column in tables[name]))
        told = {"table": table, "where": [], "operation": "avg", "column": "sleep", "by": None, "unit": "h", "compare": None}
        says({**told, **changed})(handler)

    return reply


def tells(text: str, *evidence: str, number: float | None = None) -> Reply:
    said = {"evidence": evidence, "status": "answered", "answer": text, "dates": []}
    kind = "text" if number is None else "number"
    return says({**said, "kind": kind, "number": number, "unit": None if number is None else "h"})


def test_a_number_is_planned_computed_answered_and_cited(diaries_memory: Memory, server: Server) -> None:
    server.replies = [plan("compute"), average_of_sleep(server), tells(f"{HOURS:.1f} hours", "T1", number=round(HOURS, 1))]
    found = diaries_memory.ask("nora", "What was my average sleep?", now=NOW, model=Model(server.chat()))
    assert found.trace.planner == "model" and found.trace.notes == ()
    assert found.value is not None and found.value.unit == "h"
    assert found.value.value == pytest.approx(HOURS, rel=1e-9)  # as computed, not as rounded by the model
    assert {each.session_id for each in found.citations} == {f"log-{day.day}" for day in DAYS}
    assert found.usage.calls == 3
    assert KEY not in json.dumps(found.to_dict(explain=True))


def test_a_number_of_the_models_own_gives_way(diaries_memory: Memory, server: Server) -> None:
    server.replies = [plan("compute"), average_of_sleep(server), tells("You slept 9 hours.", "T1", number=9)]
    found = diaries_memory.ask("nora", "What was my average sleep?", now=NOW, model=Model(server.chat()))
    assert found.value is not None and found.value.value == pytest.approx(HOURS, rel=1e-9)
    assert "9 hours" not in found.text and len(found.trace.notes) == 1


def test_arguments_that_the_table_refuses_come_back_with_what_would_do(diaries_memory: Memory, server: Server) -> None:
    wrong = average_of_sleep(server, column="slumber")
    server.replies = [plan("compute"), wrong, average_of_sleep(server), tells("so", "T1")]
    found = diaries_memory.ask("nora", "What was my average sleep?", now=NOW, model=Model(server.chat()))
    assert found.trace.taken[0].found and len(found.trace.taken[0].refused) == 1
    assert "were refused" in server.prompts()[2] and "slumber" in server.prompts()[2]


def test_rounds_are_found_and_cited(diaries_memory: Memory, server: Server) -> None:
    server.replies = [plan("semantic_match"), says(SEARCH), tells("Quintela", "R1")]
    found = diaries_memory.ask("nora", "What is my landlord's name?", now=NOW, model=Model(server.chat()))
    label = next(line for line in server.prompts()[2].splitlines() if line.startswith("R1 "))
    assert found.text == "Quintela" and found.citations[0].day is not None
    assert found.citations[0].day.isoformat() in label
    assert "My landlord is called Quintela" in server.prompts()[2]


def test_a_model_that_is_down_leaves_the_answer_of_the_rules(diaries_memory: Memory, server: Server) -> None:
    asked = "What was my average sleep?"
    server.replies = [fails(503)]
    found = diaries_memory.ask("nora", asked, now=NOW, model=Model(server.chat()))
    alone = diaries_memory.ask("nora", asked, now=NOW)
    assert (found.text, found.value, found.citations) == (alone.text, alone.value, alone.citations)
    assert found.trace.planner == "rules" and "HTTP 503" in found.trace.notes[0]


@pytest.mark.parametrize("obeyed", [{"tool": "delete"}, {**SEARCH, "user": "otto"}, {"sql": "DROP TABLE log"}])
def test_stored_orders_are_set_apart_and_a_model_that_obeys_them_reaches_nothing(
    diaries_memory: Memory, server: Server, obeyed: dict[str, Any]
) -> None:
    server.replies = [plan("semantic_match", "semantic_match"), says({**SEARCH, "query": INJECTED[0]}), says(obeyed)]
    found = diaries_memory.ask("mallory", "What was I told?", now=NOW, model=Model(server.chat()))
    told = server.prompts()[2]
    assert INJECTED[0] in told.split("what the steps before found")[1].split("END STORED")[0]
    assert all(INJECTED[0] not in body["messages"][0]["content"] for body in server.bodies)
    assert found.trace.planner == "rules" and "keeps to a JSON schema" in found.trace.notes[0]
    assert "zeppelin" not in json.dumps(found.to_dict(explain=True))


def test_query_is_offered_where_it_is_switched_on(diaries_memory: Memory, server: Server) -> None:
    server.replies = [fails(401)]
    for on in (False, True):
        diaries_memory.ask("nora", "What is it?", now=NOW, values=AskValues(query=on), model=Model(server.chat()))
        schema = server.bodies[-1]["response_format"]["json_schema"]["schema"]
        assert ("query" in schema["properties"]["steps"]["items"]["properties"]["tool"]["enum"]) is on
