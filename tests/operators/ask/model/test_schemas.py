"""The schemas that a model is held to, beside the calls that tools take."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, get_args

import pytest

from operators.ask.model import prompts
from operators.ask.model.chat import OutputFault
from operators.ask.model.schemas import (
    CAPTION,
    EXAMPLES,
    KEYWORDS,
    LEVELS,
    OPERATIONS,
    answer_schema,
    arguments_schema,
    check,
    plan_schema,
)
from operators.ask.steps import Status, ToolName
from operators.memory.tools import EventLocateCall, Level, QueryCall, SemanticMatchCall
from operators.tables.aggregate import Operation
from operators.tables.tools import ComputeCall, FilterCall, LookupCall, RankCall, read_call

MODELS = {
    "lookup": LookupCall,
    "filter": FilterCall,
    "compute": ComputeCall,
    "rank": RankCall,
    "semantic_match": SemanticMatchCall,
    "event_locate": EventLocateCall,
    "query": QueryCall,
}
ALL: dict[str, Mapping[str, Any]] = {
    **{tool: arguments_schema(tool, ["T"]) for tool in get_args(ToolName)},
    "plan": plan_schema(get_args(ToolName), 3),
    "answer": answer_schema(["R1"], ["P"]),
    "conflict": answer_schema(["R1"], [], ["Yes", "No"]),
    "caption": CAPTION,
    "keywords": KEYWORDS,
}


@pytest.mark.parametrize("tool", get_args(ToolName))
def test_the_examples_of_a_tool_are_calls_that_it_takes(tool: ToolName) -> None:
    for example in EXAMPLES[tool]:
        check(arguments_schema(tool, ["T"]), example)
        if tool in ("lookup", "filter", "compute", "rank"):
            assert read_call({**example, "tool": tool}).table == "T"
        else:
            told = {name: value for name, value in example.items() if value is not None}
            assert MODELS[tool].model_validate(told)


@pytest.mark.parametrize("tool", get_args(ToolName))
def test_a_schema_names_what_its_tool_names_and_nothing_else(tool: ToolName) -> None:
    assert set(arguments_schema(tool, ["T"])["properties"]) == set(MODELS[tool].model_fields) - {"tool"}


def test_what_may_be_chosen_is_what_the_tools_know() -> None:
    assert get_args(Operation) == OPERATIONS
    assert set(LEVELS) <= set(get_args(Level))
    assert set(prompts.TOOLS) == set(get_args(ToolName))
    assert tuple(ALL["answer"]["properties"]["status"]["enum"]) == get_args(Status)


def objects(schema: Any) -> Iterator[Mapping[str, Any]]:
    if isinstance(schema, Mapping):
        if schema.get("type") == "object":
            yield schema
        for part in schema.values():
            yield from objects(part)
    elif isinstance(schema, list):
        for part in schema:
            yield from objects(part)


@pytest.mark.parametrize("name", ALL)
def test_every_schema_is_strict(name: str) -> None:
    found = list(objects(ALL[name]))
    assert found
    for each in found:
        assert each["additionalProperties"] is False
        assert each["required"] == list(each["properties"])


@pytest.mark.parametrize(
    ("data", "told"),
    [
        ({"steps": [{"goal": "secret words", "tool": "no"}]}, r"\$\.steps\[0\]\.tool: must be one of: lookup"),
        ({"steps": []}, r"\$\.steps: has at least 1 items"),
        ({"steps": [{"goal": "secret words", "tool": "rank"}] * 4}, r"\$\.steps: has at most 3 items"),
        ({"steps": [{"goal": "secret words"}]}, "needs all of: goal, tool"),
        ({"steps": [{"goal": 3, "tool": "rank"}]}, "must be of type string"),
        ({"steps": [{"goal": "a", "tool": "rank", "secret words": 1}]}, "holds a property that there is none of"),
        ({}, r"\$: needs all of: steps"),
    ],
)
def test_a_fault_says_where_and_by_which_rule_without_what_was_written(data: dict[str, Any], told: str) -> None:
    with pytest.raises(OutputFault, match=told) as caught:
        check(ALL["plan"], data)
    assert "secret words" not in str(caught.value)
