"""Logs of Anthropic's Messages API: a request, with its reply beside it.

- A request is ``{"messages", "system", "metadata": {"user_id"}}``; its reply (``{"type": "message", "role", "content"}``)
  stands under ``response``, the request under ``request`` beside it, or both in one object.
- Parts: text, image, and document (text that was given is kept). What a tool answered (``tool_result``) is a message of a
  tool and begins no round; its pictures are kept. Thinking and the use of tools are counted as parts that are not kept.
- Each record is its session so far: ``session_id`` or ``conversation_id`` of the record or of its metadata, else one made
  from what was said. The user is ``metadata.user_id``, ``user_id`` or ``user``, else the one asked for.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any
from zoneinfo import ZoneInfo

from operators.errors import SourceError
from operators.records import Instant, Message, Session
from operators.sources.fields import clean, clean_json, label, mapping, reject, sequence, text_of, wrong_type
from operators.sources.origin import Origin, user_of_record
from operators.sources.parts import Content, content_of, named_in, role_of, role_told, time_of
from operators.sources.rounds import Turn, gathered, groups_by_roles, lost_turn, make_session, session_from_content

NAME = "anthropic"

_OWN_PARTS = frozenset(
    ("tool_use", "tool_result", "thinking", "redacted_thinking", "document", "server_tool_use", "search_result")
)


def matches(record: Any) -> bool:
    """True for what only this API says: a request beside its reply, or one with ``system``, a Claude or parts of its own."""
    if not isinstance(record, dict):
        return False
    request, response = _halves(record)
    messages = request.get("messages")
    if not isinstance(messages, list) or not messages or not all(isinstance(message, dict) for message in messages):
        return False
    if response is not None:
        return isinstance(response.get("content"), list) and ("role" in response or "stop_reason" in response)
    if "session_id" in record or "user_id" in record or any("round" in message for message in messages):
        return False  # our own JSONL
    model = request.get("model")
    if "system" in request or (isinstance(model, str) and model.startswith("claude")):
        return True
    return any(_has_own_part(message.get("content")) for message in messages)


def read(record: Any, origin: Origin) -> Iterator[Session | SourceError]:
    """The session of one record, and an error for each message that cannot be read."""
    whole = mapping(record, "a record")
    request, response = _halves(whole)
    user = user_of_record(named_in(whole, *_places("user_id", "user")), origin)
    told, doubts = time_of(whole, origin.zone)
    turns = list(_turns(request, response, origin.zone))
    kept = gathered(turns)
    if not kept:
        raise reject("no-messages", "the record has no message with words or a picture")
    session_id = named_in(whole, *_places("session_id", "conversation_id")) or session_from_content(kept, told)
    metadata = whole.get("metadata")
    session = {} if not metadata else {"session": clean_json(metadata)}
    yield from make_session(user, session_id, groups_by_roles(session_id, kept), told, session, doubts)


def _places(*names: str) -> list[str]:
    """Where an id may stand, in the order in which it is looked for: the record and its metadata, then the request's."""
    return [place + name for place in ("", "metadata.", "request.", "request.metadata.") for name in names]


def _halves(record: Mapping[str, Any]) -> tuple[Mapping[str, Any], Mapping[str, Any] | None]:
    request, response = record.get("request"), record.get("response")
    if not isinstance(response, dict):  # the reply may stand beside the messages it answers
        beside = isinstance(record.get("content"), list) and ("stop_reason" in record or "role" in record)
        response = {"role": "assistant", **record} if beside else None
    return (request if isinstance(request, dict) else record), response


def _has_own_part(content: object) -> bool:
    return isinstance(content, list) and any(isinstance(part, dict) and part.get("type") in _OWN_PARTS for part in content)


def _turns(request: Mapping[str, Any], response: Mapping[str, Any] | None, zone: ZoneInfo | None) -> Iterator[Turn]:
    if (system := request.get("system")) is not None:
        yield from _message({"role": "system", "content": system}, "system", zone)
    for number, raw in enumerate(sequence(request.get("messages"), "messages"), start=1):
        yield from _message(raw, f"message {number}", zone)
    if response is not None:
        yield from _message(response, "response", zone)


def _message(raw: object, where: str, zone: ZoneInfo | None) -> Iterator[Turn]:
    try:
        yield from _split(mapping(raw, "the message"), zone)
    except SourceError as error:
        yield lost_turn(role_told(raw), reject(error.code, f"{where}: {error}"))


def _split(message: Mapping[str, Any], zone: ZoneInfo | None) -> list[Turn]:
    """The message, after what tools answered in it."""
    written = message.get("role")
    if not isinstance(written, str) or not written.strip():
        raise wrong_type("role", "user or assistant", written)
    time, doubts = time_of(message, zone)
    content = message.get("content")
    answers: list[Turn] = []
    parts: list[Any] = []
    for part in content if isinstance(content, list) else [] if content is None else [text_of(content, "content")]:
        if isinstance(part, dict) and part.get("type") == "tool_result":
            answers.append(_answer(part, time))
        else:
            parts.append(_readable(part))
    said = content_of(parts)
    speaker = text_of(message.get("name"), "name").strip() or clean(written.strip())
    turn = Message(role_of(written), speaker, said.text, label(message.get("id"), "id"), time)
    return [*answers, Turn(turn, said.images, said.unknown, doubts)]


def _answer(part: Mapping[str, Any], time: Instant | None) -> Turn:
    inner = part.get("content")
    content = content_of([_readable(item) for item in inner] if isinstance(inner, list) else inner)
    return Turn(Message("tool", "tool", content.text, time=time), content.images, content.unknown)


def _readable(part: Any) -> Any:
    """A document's text as a text part; everything else as it is."""
    if not isinstance(part, dict) or part.get("type") != "document":
        return part
    source = part.get("source")
    if not isinstance(source, dict):
        return part
    inner = source.get("content") if source.get("type") == "content" else source.get("data")
    if source.get("type") not in ("text", "content"):
        return part
    held: Content = content_of(inner)
    title = text_of(part.get("title"), "document: title").strip()
    kept = [f"{title}:" if title and held.text else "", held.text]
    return {"type": "text", "text": "\n".join(filter(None, kept))}
