"""Exports and logs of other assistants: Claude's export, Anthropic's and OpenAI's APIs, ShareGPT."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from operators.errors import SourceError
from operators.records import Session
from operators.sources import anthropic, claude_export, responses, sharegpt
from operators.sources.origin import Origin
from operators.sources.sniff import FORMATS

ORIGIN = Origin(None, None, "file", owner="ada")
ASKED = Origin("ann", None, "file", owner="ada")


def one(read: Callable[..., Any], record: Any, origin: Origin = ORIGIN) -> Session:
    (session,) = read(json.loads(json.dumps(record)), origin)
    assert isinstance(session, Session)
    return session


def said(session: Session) -> list[list[tuple[str, str]]]:
    return [[(message.role, message.text) for message in record.messages] for record in session.rounds]


# --- Claude -----------------------------------------------------------------------------------------------------


def claude_message(uuid: str, sender: str, text: str, parent: str | None = None, **more: Any) -> dict[str, Any]:
    return {
        "uuid": uuid,
        "sender": sender,
        "text": text,
        "created_at": "2026-01-02T03:04:05Z",
        "parent_message_uuid": parent,
        **more,
    }


CLAUDE = {
    "uuid": "C",
    "name": "soup",
    "created_at": "2026-01-02T03:04:05Z",
    "account": {"uuid": "acc"},
    "chat_messages": [
        claude_message("m1", "human", "flat", content=[{"type": "text", "text": "what soup?"}]),
        claude_message(
            "m2",
            "assistant",
            "flat",
            "m1",
            content=[
                {"type": "thinking", "thinking": "hm"},
                {"type": "text", "text": "leek"},
                {"type": "tool_use", "name": "x"},
            ],
        ),
    ],
}


def test_claude_content_before_text_and_thinking_counted() -> None:
    session = one(claude_export.read, CLAUDE)
    assert (session.user_id, session.session_id) == ("ada", "C")
    assert said(session) == [[("user", "what soup?"), ("assistant", "leek")]]
    (record,) = session.rounds
    assert record.round_id == "m1"
    assert record.metadata == {"session": {"title": "soup"}, "unknown_parts": {"thinking": 1, "tool_use": 1}}
    assert record.messages[0].speaker == "human"


def test_claude_attachments_are_text_and_pictures_are_named() -> None:
    attached = {"file_name": "a.txt", "extracted_content": "inside"}
    message = claude_message(
        "m",
        "human",
        "see",
        attachments=[attached, {"file_name": "b"}],
        files=[{"file_name": "p.JPG"}, {"file_name": "c.pdf"}],
    )
    (record,) = one(claude_export.read, CLAUDE | {"chat_messages": [message]}).rounds
    assert record.messages[0].text == "see\n\na.txt:\ninside"
    assert [image.reference for image in record.images] == ["p.JPG"]
    assert record.metadata["unknown_parts"] == {"attachment": 1, "file": 1}


def test_claude_branches_follow_the_leaf() -> None:
    messages = [*CLAUDE["chat_messages"], claude_message("m3", "assistant", "onion", "m1")]  # type: ignore[misc]
    record = CLAUDE | {"chat_messages": messages, "current_leaf_message_uuid": "m3"}
    session = one(claude_export.read, record)
    assert said(session) == [[("user", "what soup?"), ("assistant", "onion")]]
    assert session.rounds[0].metadata["session"]["branch_messages"] == 1
    assert len(said(one(claude_export.read, record | {"current_leaf_message_uuid": "gone"}))[0]) == 3


# --- Anthropic --------------------------------------------------------------------------------------------------

TOOL_LOG = {
    "system": "be kind",
    "metadata": {"user_id": "u"},
    "messages": [
        {"role": "user", "content": "weather?"},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "w", "input": {}}]},
        {
            "role": "user",
            "content": [{"type": "tool_result", "tool_use_id": "t", "content": [{"type": "text", "text": "12 C"}]}],
        },
        {"role": "assistant", "content": [{"type": "text", "text": "cold"}]},
        {"role": "user", "content": [{"type": "document", "source": {"type": "text", "data": "note"}, "title": "T"}]},
    ],
    "response": {
        "type": "message",
        "role": "assistant",
        "content": [{"type": "text", "text": "noted"}],
        "stop_reason": "end",
    },
}


def test_anthropic_tools_answer_within_the_round() -> None:
    session = one(anthropic.read, TOOL_LOG)
    assert session.user_id == "u"
    assert said(session) == [
        [("system", "be kind"), ("user", "weather?"), ("tool", "12 C"), ("assistant", "cold")],
        [("user", "T:\nnote"), ("assistant", "noted")],
    ]
    assert session.rounds[0].metadata == {"session": {"user_id": "u"}, "unknown_parts": {"tool_use": 1}}


def test_anthropic_request_beside_response() -> None:
    record = {
        "request": {"model": "claude-x", "messages": [{"role": "user", "content": "hi"}]},
        "response": TOOL_LOG["response"],
    }
    assert anthropic.matches(record)
    session = one(anthropic.read, record | {"session_id": "S"}, ASKED)
    assert (session.user_id, session.session_id) == ("ann", "S")
    assert said(session) == [[("user", "hi"), ("assistant", "noted")]]


# --- OpenAI -----------------------------------------------------------------------------------------------------

RESPONSE = {
    "object": "response",
    "id": "resp_1",
    "created_at": 1715176567,
    "user": "u",
    "conversation": {"id": "conv_1"},
    "instructions": "be brief",
    "input": [
        {"role": "user", "content": [{"type": "input_text", "text": "hi"}, {"type": "input_image", "image_url": "a.png"}]},
        {"type": "function_call_output", "call_id": "c", "output": "7"},
    ],
    "output": [
        {"type": "reasoning", "summary": []},
        {"type": "message", "id": "m", "role": "assistant", "content": [{"type": "output_text", "text": "seven"}]},
    ],
}


def test_a_response_with_its_input() -> None:
    session = one(responses.read, RESPONSE)
    assert (session.user_id, session.session_id) == ("u", "conv_1")
    assert said(session) == [[("system", "be brief"), ("user", "hi"), ("tool", "7"), ("assistant", "seven")]]
    (record,) = session.rounds
    assert record.time is not None
    assert [image.reference for image in record.images] == ["a.png"]
    assert record.metadata == {"unknown_parts": {"reasoning": 1}}


def test_a_batch_line_and_a_completion() -> None:
    completion = {"object": "chat.completion", "id": "cc", "choices": [{"message": {"role": "assistant", "content": "yes"}}]}
    batch = {"custom_id": "1", "response": {"body": completion | {"input": "well?"}}}
    assert responses.matches(batch)
    session = one(responses.read, batch, ASKED)
    assert (session.user_id, session.session_id) == ("ann", "cc")
    assert said(session) == [[("user", "well?"), ("assistant", "yes")]]


def test_a_list_of_conversation_items() -> None:
    items = [{"type": "message", "id": "i1", "role": "user", "content": [{"type": "input_text", "text": "hi"}]}]
    record = {"object": "list", "data": items}
    assert responses.matches(record)
    assert one(responses.read, record, ASKED).session_id == "i1"


# --- ShareGPT ---------------------------------------------------------------------------------------------------


def test_sharegpt_turns_marks_and_calls() -> None:
    record = {
        "id": 7,
        "system": "s",
        "images": ["a.png", "b.png", "c.png"],
        "conversations": [
            {"from": "human", "value": "<image>what <image>is this?"},
            {"from": "function_call", "value": "{}"},
            {"from": "observation", "value": "cat"},
            {"from": "gpt", "value": "a cat"},
        ],
    }
    session = one(sharegpt.read, record)
    assert (session.user_id, session.session_id) == ("ada", "7")
    assert said(session) == [
        [("system", "s"), ("user", "what is this?"), ("assistant", ""), ("tool", "cat"), ("assistant", "a cat")]
    ]
    assert [image.reference for image in session.rounds[0].images] == ["a.png", "b.png", "c.png"]
    assert session.rounds[0].metadata == {"unknown_parts": {"function_call": 1}}


def test_alpaca_with_history() -> None:
    record = {"instruction": "add", "input": "1 2", "output": "3", "history": [["hi", "hello"]]}
    assert said(one(sharegpt.read, record)) == [
        [("user", "hi"), ("assistant", "hello")],
        [("user", "add\n1 2"), ("assistant", "3")],
    ]


def test_sharegpt_sessions_without_ids_are_told_apart_by_what_they_say() -> None:
    first = {"conversations": [{"from": "human", "value": "a"}, {"from": "gpt", "value": "b"}]}
    second = {"conversations": [{"from": "human", "value": "a"}, {"from": "gpt", "value": "c"}]}
    assert one(sharegpt.read, first).session_id != one(sharegpt.read, second).session_id
    assert one(sharegpt.read, first).session_id == one(sharegpt.read, first).session_id


# --- all --------------------------------------------------------------------------------------------------------

SAMPLES: dict[str, Any] = {
    "claude": CLAUDE,
    "anthropic": TOOL_LOG,
    "responses": RESPONSE,
    "sharegpt": {"conversations": [{"from": "human", "value": "a"}]},
    "jsonl": {"user_id": "u", "session_id": "s", "messages": [{"role": "user", "content": "x"}]},
    "chatgpt": {"mapping": {"a": {"message": None, "parent": None}}, "current_node": "a"},
    "longmemeval": {"question_id": "q", "haystack_sessions": [[{"role": "user", "content": "x"}]]},
    "mem_gallery": {"multi_session_dialogues": []},
    "locomo": {"session_1": [{"speaker": "a", "text": "x", "dia_id": "D1:1"}]},
    "mnemosaic": {"mnemosaic": 1, "rounds": []},
}


@pytest.mark.parametrize("name", sorted(SAMPLES))
@pytest.mark.parametrize("shape", ["line", "list"])
def test_each_format_is_told_by_its_own_shape(name: str, shape: str, tmp_path: Path, read: Callable[..., Any]) -> None:
    path = tmp_path / "x.json"
    path.write_text(json.dumps(SAMPLES[name] if shape == "line" else [SAMPLES[name]], indent=None if shape == "line" else 1))
    assert read(path, user="ann").survey.format == name
    assert next(form.name for form in FORMATS if form.matches(SAMPLES[name])) == name


KEYS = st.sampled_from(
    [
        "messages",
        "role",
        "content",
        "type",
        "text",
        "source",
        "data",
        "url",
        "system",
        "request",
        "response",
        "metadata",
        "user_id",
        "object",
        "input",
        "output",
        "choices",
        "message",
        "id",
        "conversation",
        "conversations",
        "from",
        "value",
        "images",
        "history",
        "instruction",
        "uuid",
        "chat_messages",
        "sender",
        "attachments",
        "files",
        "file_name",
        "current_leaf_message_uuid",
        "parent_message_uuid",
        "created_at",
        "tool_calls",
    ]
)
LEAVES = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=4)
    | st.sampled_from(["user", "text", "message", "list"])
)
JSON = st.recursive(
    LEAVES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=5), max_leaves=15
)


@given(st.dictionaries(KEYS, JSON, max_size=6), st.sampled_from(FORMATS))
def test_anything_gives_sessions_or_typed_errors(record: dict[str, Any], form: Any) -> None:
    form.matches(record)
    with suppress(SourceError):
        for item in form.read(record, ASKED):
            assert isinstance(item, Session | SourceError)


# --- what a review found ----------------------------------------------------------------------------------------


def test_an_anthropic_reply_beside_its_request_is_kept() -> None:
    record = {
        "model": "claude-x",
        "messages": [{"role": "user", "content": "hi"}],
        "role": "assistant",
        "content": [{"type": "text", "text": "hello"}],
        "stop_reason": "end_turn",
    }
    assert anthropic.matches(record)
    assert said(one(anthropic.read, record, ASKED)) == [[("user", "hi"), ("assistant", "hello")]]


def test_our_own_jsonl_stays_our_own_whatever_parts_it_holds() -> None:
    messages = [{"role": "user", "round": "R1", "content": [{"type": "thinking"}, {"type": "text", "text": "x"}]}]
    for more in ({"session_id": "S"}, {"user_id": "u", "system": "s"}, {"system": "s"}):
        record = {"messages": messages, **more}
        assert next(form.name for form in FORMATS if form.matches(record)) == "jsonl"


def test_an_item_whose_type_is_null_is_a_message_and_further_choices_are_counted() -> None:
    item = {"type": None, "role": "user", "content": "hi"}
    assert said(one(responses.read, {"object": "response", "id": "r", "input": [item], "output": []}, ASKED)) == [
        [("user", "hi")]
    ]
    choices = [{"message": {"role": "assistant", "content": text}} for text in ("a", "b")]
    session = one(responses.read, {"object": "chat.completion", "id": "c", "choices": choices}, ASKED)
    assert said(session) == [[("assistant", "a")]]
    assert session.rounds[0].metadata == {"unknown_parts": {"further_choice": 1}}


def test_an_answer_of_a_tool_that_is_no_text_is_counted() -> None:
    items = [{"role": "user", "content": "hi"}, {"type": "function_call_output", "output": {"a": 1}}]
    session = one(responses.read, {"object": "response", "id": "r", "input": items, "output": []}, ASKED)
    assert session.rounds[0].metadata == {"unknown_parts": {"function_call_output": 1}}


def test_claude_counts_files_that_are_no_pictures_and_odd_attachments_lose_no_words() -> None:
    message = claude_message("m", "human", "see", attachments=[None], files=[{"file_name": "c.pdf"}, 5])
    (record,) = one(claude_export.read, CLAUDE | {"name": 5, "chat_messages": [message]}).rounds
    assert record.messages[0].text == "see"
    assert record.metadata == {"unknown_parts": {"attachment": 1, "file": 2}}


def test_claude_messages_that_name_parents_only_in_part_stay_in_their_order() -> None:
    messages = [
        {key: value for key, value in message.items() if number or key != "parent_message_uuid"}
        for number, message in enumerate(CLAUDE["chat_messages"])  # type: ignore[arg-type, var-annotated]
    ]
    session = one(claude_export.read, CLAUDE | {"chat_messages": messages, "current_leaf_message_uuid": "m2"})
    assert len(said(session)[0]) == 2
    assert session.rounds[0].metadata["session"] == {"title": "soup"}


def test_sharegpt_keeps_what_it_can() -> None:
    record = {
        "id": "identity_1",
        "system": ["s"],
        "images": [None, "b.png"],
        "conversations": [{"from": "human", "value": "<image><image><image>x"}],
    }
    session = one(sharegpt.read, record, ASKED)
    assert session.session_id == "file/identity_1"
    assert [image.reference for image in session.rounds[0].images] == ["", "b.png"]
    assert session.rounds[0].metadata == {"unknown_parts": {"image": 1}}
