"""The wire: what a model's endpoint may do wrong, each over real HTTP, ends in its typed error and in time."""

from __future__ import annotations

import asyncio
import logging
import socket
import time
from collections.abc import Mapping
from typing import Any

import pytest
from scripted import KEY, Server, drips, drops, fails, hangs, says, send

from operators.ask.model.chat import Chat, Meter, OutputFault, Prompt
from operators.ask.model.endpoint import Endpoint
from operators.ask.steps import Usage
from operators.errors import (
    ModelDenied,
    ModelError,
    ModelOutputInvalid,
    ModelRefused,
    ModelRejected,
    ModelUnavailable,
)

SCHEMA = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"], "additionalProperties": False}
SECRET = "my private question"
PROMPT = Prompt("be exact", SECRET, "number", SCHEMA)


def read(data: Mapping[str, Any]) -> int:
    if not isinstance(data.get("n"), int):
        raise OutputFault("$.n: must be of type integer")
    return int(data["n"])


def asked(chat: Chat, meter: Meter | None = None) -> int:
    return chat.complete(PROMPT, read, meter or Meter())


def test_a_request_holds_the_prompt_the_schema_and_the_limits(server: Server) -> None:
    server.replies = [says({"n": 3})]
    meter = Meter()
    assert asked(server.chat(max_tokens=77), meter) == 3
    body = server.bodies[0]
    assert body["model"] == "tiny" and body["temperature"] == 0 and body["max_tokens"] == 77
    assert body["messages"] == [{"role": "system", "content": "be exact"}, {"role": "user", "content": SECRET}]
    assert body["response_format"]["json_schema"] == {"name": "number", "strict": True, "schema": SCHEMA}
    assert server.headers[0]["authorization"] == f"Bearer {KEY}"
    assert meter.usage == Usage(1, 100, 10)


def test_what_the_environment_holds_for_another_service_is_not_sent(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID", "OPENAI_ADMIN_KEY"):
        monkeypatch.setenv(name, "of-another")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    server.replies = [says({"n": 3})]
    assert asked(server.chat(key=None)) == 3
    assert "of-another" not in str(server.headers)


def test_a_picture_goes_as_a_part_of_the_message(server: Server) -> None:
    server.replies = [says({"n": 3})]
    server.chat().complete(Prompt("s", "u", "number", SCHEMA, "data:image/png;base64,AA=="), read, Meter())
    parts = server.bodies[0]["messages"][1]["content"]
    assert [part["type"] for part in parts] == ["text", "image_url"]


def test_half_a_character_is_sent_as_a_question_mark(server: Server) -> None:
    server.replies = [says({"n": 3})]
    assert server.chat().complete(Prompt("s", "caf\udce9", "number", SCHEMA), read, Meter()) == 3
    assert server.prompts() == ["caf?"]


def test_it_answers_from_within_a_running_loop(server: Server) -> None:
    server.replies = [says({"n": 3})]
    chat = server.chat()

    async def inside() -> int:
        return asked(chat)

    assert asyncio.run(inside()) == 3
    assert asked(chat) == 3


@pytest.mark.parametrize(
    "content",
    ["nonsense", "", None, "[1]", '{"n": "three"}', '{"n": NaN}', "[" * 100_000, '{"n": 3'],
    ids=["words", "empty", "null", "list", "type", "nan", "deep", "open"],
)
def test_invalid_output_is_told_once_and_then_is_an_error(server: Server, content: Any) -> None:
    server.replies = [says(content), says({"n": 3})]
    meter = Meter()
    assert asked(server.chat(), meter) == 3
    assert meter.usage.calls == 2
    told = server.bodies[1]["messages"]
    assert [each["role"] for each in told] == ["system", "user", "assistant", "user"]
    assert "not accepted" in told[3]["content"]
    server.replies = [says(content)]
    with pytest.raises(ModelOutputInvalid, match="keeps to a JSON schema"):
        asked(server.chat())
    assert len(server.bodies) == 4


def test_json_between_fences_is_read(server: Server) -> None:
    server.replies = [says('```json\n{"n": 3}\n```')]
    assert asked(server.chat()) == 3


def test_a_truncated_output_is_asked_for_with_a_larger_limit_once(server: Server) -> None:
    server.replies = [says('{"n": 3', finish="length"), says({"n": 3})]
    assert asked(server.chat(max_tokens=10)) == 3
    assert [body["max_tokens"] for body in server.bodies] == [10, 40]
    server.replies = [says('{"n": 3}', finish="length")]
    with pytest.raises(ModelOutputInvalid, match="cut off at 40 tokens: raise max_tokens in the settings, planner_model"):
        asked(server.chat(max_tokens=10))


@pytest.mark.parametrize("reply", [says(None, refusal="I can't"), says(None, finish="content_filter")])
def test_a_refusal_is_not_asked_again(server: Server, reply: Any) -> None:
    server.replies = [reply]
    with pytest.raises(ModelRefused, match="declines"):
        asked(server.chat())
    assert len(server.bodies) == 1


@pytest.mark.parametrize("status", [429, 500, 502, 503, 408])
def test_what_passes_is_tried_again(server: Server, status: int) -> None:
    server.replies = [fails(status), says({"n": 3})]
    assert asked(server.chat()) == 3
    assert len(server.bodies) == 2


def test_retry_after_is_kept_to(server: Server) -> None:
    server.replies = [fails(429, Retry_After="1"), says({"n": 3})]
    begun = time.monotonic()
    assert asked(server.chat()) == 3
    assert time.monotonic() - begun >= 1


def test_a_retry_after_beyond_the_time_ends_in_time(server: Server) -> None:
    server.replies = [fails(429, Retry_After="60")]
    begun = time.monotonic()
    with pytest.raises(ModelUnavailable):
        asked(server.chat(timeout_s=0.5))
    assert time.monotonic() - begun < 3


@pytest.mark.parametrize(
    ("reply", "error", "match", "calls"),
    [
        (fails(429), ModelUnavailable, "HTTP 429", 2),
        (fails(500), ModelUnavailable, "HTTP 500", 2),
        (fails(401), ModelDenied, r"refuses the key \(HTTP 401\): see key_env in the settings", 1),
        (fails(403), ModelDenied, "HTTP 403", 1),
        (fails(404), ModelRejected, "knows no model 'tiny'", 1),
        (fails(400, code="context_length_exceeded"), ModelRejected, "HTTP 400, context_length_exceeded", 1),
        (fails(422, message=SECRET, code=SECRET), ModelRejected, r"HTTP 422\)$", 1),
        (send(200, "<html>hello</html>", "text/html"), ModelRejected, "no chat completion", 1),
        (send(200, '{"hello": 1}'), ModelRejected, "no chat completion", 1),
        (send(200, "[]"), ModelRejected, "no chat completion", 1),
        (send(200, '{"choices": []}'), ModelOutputInvalid, "does not fit", 2),
        (send(200, '{"choices": [{"message": null}]}'), ModelOutputInvalid, "does not fit", 2),
        (send(200, '{"choices": [7], "usage": {"prompt_tokens": "many"}}'), ModelOutputInvalid, "does not fit", 2),
        (drops, ModelUnavailable, "no model answers", 2),
    ],
)
def test_what_does_not_pass_is_its_typed_error(
    server: Server, reply: Any, error: type[ModelError], match: str, calls: int
) -> None:
    server.replies = [reply]
    with pytest.raises(error, match=match) as caught:
        asked(server.chat())
    assert len(server.bodies) == calls
    assert SECRET not in str(caught.value) and KEY not in str(caught.value)


@pytest.mark.parametrize("kind", [hangs, drips])
def test_a_socket_that_hangs_or_drips_ends_within_the_time(server: Server, kind: Any) -> None:
    server.replies = [kind(server)]
    begun = time.monotonic()
    with pytest.raises(ModelUnavailable, match=r"did not answer within 0\.5 s: raise timeout_s"):
        asked(server.chat(timeout_s=0.5, attempts=3))
    assert time.monotonic() - begun < 3


def test_after_one_that_hung_the_next_is_answered(server: Server) -> None:
    server.replies = [hangs(server), says({"n": 3})]
    chat = server.chat(timeout_s=2.0, attempts=1)
    with pytest.raises(ModelUnavailable):
        asked(chat)
    assert asked(chat) == 3


def test_where_nothing_listens_it_is_unavailable() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with pytest.raises(ModelUnavailable, match=rf"no model answers at 127\.0\.0\.1:{port}"):
        asked(Chat(Endpoint(f"http://user:pass@127.0.0.1:{port}/v1", "tiny", attempts=2)))


@pytest.mark.parametrize(("param", "kept"), [("max_tokens", "max_completion_tokens"), ("temperature", "max_tokens")])
def test_models_with_other_names_for_the_limits_are_asked_so(server: Server, param: str, kept: str) -> None:
    server.replies = [fails(400, code="unsupported_parameter", param=param), says({"n": 3})]
    chat = server.chat()
    assert asked(chat) == 3 and asked(chat) == 3
    assert len(server.bodies) == 3  # it is remembered
    assert param not in server.bodies[2] and kept in server.bodies[2]


def test_a_parameter_that_stays_unsupported_is_an_error(server: Server) -> None:
    server.replies = [fails(400, code="unsupported_parameter", param="temperature")]
    with pytest.raises(ModelRejected):
        asked(server.chat())
    assert len(server.bodies) == 2


def test_neither_text_nor_key_is_in_logs_or_representations(server: Server, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    server.replies = [fails(500), says({"n": "three"}), says({"n": 3})]
    chat = server.chat()
    asked(chat)
    assert caplog.records, "nothing was logged: the test proves nothing"
    assert SECRET not in caplog.text and KEY not in caplog.text
    assert KEY not in repr(chat.endpoint)


def test_several_threads_may_ask_at_once(server: Server) -> None:
    from concurrent.futures import ThreadPoolExecutor

    server.replies = [says({"n": 3})]
    chat = server.chat()
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(lambda _: asked(chat), range(24))) == [3] * 24
    assert len(server.bodies) == 24
