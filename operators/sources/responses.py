"""OpenAI's Responses API and its kin: responses, lists of conversation items, batches, stored chat completions.

- A response is ``{"object": "response", "input", "output", ..}``: the items of ``input`` (or its text), then those of
  ``output``. Of items, messages are kept, and what a function answered, as a message of a tool; reasoning and calls are
  counted as parts that are not kept.
- A batch's line holds either under ``response.body``; a chat completion its reply under ``choices`` and what was asked
  under ``messages`` or ``input``. A list (``{"object": "list", "data": [..]}``) holds the items of one conversation.
- Each record is its session so far: that of its ``conversation``, else of its own ``id`` (a list: of its first item). A
  response that continues another by ``previous_response_id`` tells only what it holds itself, as a session of its own.
- The user is ``user``, ``safety_identifier`` or ``metadata.user_id``, else the one asked for.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any
from zoneinfo import ZoneInfo

from operators.errors import SourceError
from operators.records import Message, Session
from operators.sources.fields import clean, clean_json, identifier, label, mapping, reject, sequence, text_of, wrong_type
from operators.sources.origin import Origin, user_of_record
from operators.sources.parts import content_of, kind_of, named_in, role_of, role_told, time_of
from operators.sources.rounds import Turn, gathered, groups_by_roles, lost_turn, make_session, session_from_content

NAME = "responses"

_OBJECTS = ("response", "chat.completion")
_ANSWERS = ("function_call_output", "computer_call_output", "custom_tool_call_output", "local_shell_call_output")


def matches(record: Any) -> bool:
    """True for a response, a chat completion, a batch's line with either, or a list of conversation items."""
    if not isinstance(record, dict):
        return False
    body = _body(record)
    if body.get("object") in _OBJECTS:
        return isinstance(body.get("output"), list) or isinstance(body.get("choices"), list)
    data = body.get("data")
    if body.get("object") != "list" or not isinstance(data, list) or not data:
        return False
    return isinstance(data[0], dict) and isinstance(data[0].get("type"), str) and ("content" in data[0] or "role" in data[0])


def read(record: Any, origin: Origin) -> Iterator[Session | SourceError]:
    """The session of one record, and an error for each item that cannot be read."""
    whole = mapping(record, "a record")
    body = _body(whole)
    user = user_of_record(named_in(body, "user", "safety_identifier", "metadata.user_id"), origin)
    items = list(_items(body))
    turns = gathered(_item(raw, number, origin.zone) for number, raw in enumerate(items, start=1))
    if not turns:
        raise reject("no-messages", "the record has no message with words or a picture")
    time, doubts = time_of(body, origin.zone, ("created_at", "created"))
    session_id = _session(body) or session_from_content(turns, time)
    metadata = {} if not body.get("metadata") else {"session": clean_json(body["metadata"])}
    yield from make_session(user, session_id, groups_by_roles(session_id, turns), time, metadata, doubts)


def _body(record: Mapping[str, Any]) -> Mapping[str, Any]:
    response = record.get("response")
    body = response.get("body") if isinstance(response, dict) else None
    return body if isinstance(body, dict) else record


def _session(body: Mapping[str, Any]) -> str | None:
    conversation = body.get("conversation")
    if isinstance(conversation, dict):
        conversation = conversation.get("id")
    first = body["data"][0] if isinstance(body.get("data"), list) and body["data"] else None
    ids = (
        (conversation, "conversation"),
        (body.get("conversation_id"), "conversation_id"),
        (body.get("id"), "id"),
        (first.get("id") if isinstance(first, dict) else None, "the first item's id"),
    )
    return next((identifier(value, what) for value, what in ids if value is not None), None)


def _items(body: Mapping[str, Any]) -> Iterator[Any]:
    """Items of the conversation in their order."""
    if (instructions := body.get("instructions")) is not None:
        yield {"role": "system", "content": instructions}
    asked = body.get("messages") if body.get("messages") is not None else body.get("input")
    yield from [{"role": "user", "content": asked}] if isinstance(asked, str) else sequence(asked, "input")
    yield from sequence(body.get("output"), "output")
    yield from sequence(body.get("data"), "data")
    for number, choice in enumerate(sequence(body.get("choices"), "choices")):
        message = choice.get("message") if isinstance(choice, dict) else None
        yield message if number == 0 else {"type": "further_choice"}  # of several replies the first was said


def _item(raw: object, number: int, zone: ZoneInfo | None) -> Turn:
    try:
        return _turn(mapping(raw, "the item"), zone)
    except SourceError as error:
        return lost_turn(role_told(raw), reject(error.code, f"item {number}: {error}"))


def _turn(item: Mapping[str, Any], zone: ZoneInfo | None) -> Turn:
    kind = item.get("type") or "message"
    time, doubts = time_of(item, zone)
    if kind in _ANSWERS:
        output = item.get("output")
        content = content_of(output if isinstance(output, str | list) else None)
        if not isinstance(output, str | list | None):
            content = replace(content, unknown={**content.unknown, kind_of(kind): 1})
        answer = Message("tool", "tool", content.text, label(item.get("id"), "id"), time)
        return Turn(answer, content.images, content.unknown, doubts)
    if kind != "message":
        return Turn(Message("assistant", "assistant", "", time=time), unknown={kind_of(kind): 1}, doubts=doubts)
    role = item.get("role")
    if not isinstance(role, str) or not role.strip():
        raise wrong_type("role", "a name such as user or assistant", role)
    content = content_of(item.get("content"))
    unknown = dict(content.unknown)
    if calls := item.get("tool_calls"):
        unknown["tool_calls"] = len(calls) if isinstance(calls, list) else 1
    refusal = text_of(item.get("refusal"), "refusal")
    speaker = text_of(item.get("name"), "name").strip() or clean(role.strip())
    said = Message(role_of(role), speaker, content.text or refusal, label(item.get("id"), "id"), time)
    return Turn(said, content.images, unknown, doubts)
