"""Our own JSONL: one session a line, messages in OpenAI's shape.

``{"user_id", "session_id", "messages": [{"role", "content", "timestamp", "round", "name", "id"}], "timestamp", "metadata"}``

- ``content`` is text or a list of parts: ``text``, ``input_text``, ``output_text``, ``refusal``; ``image_url`` and
  ``input_image`` (a URL as text or under ``url``), Anthropic's ``image`` (base64 or URL source). A picture part may carry
  ``caption`` and ``image_id``. Parts of any other type, and tool calls, are counted in the round's ``unknown_parts``.
- ``timestamp``, ``created_at``, ``time`` or ``date``: the first that is not null, on message or session.
- ``round`` groups messages and names their round. Where no message has one, a round is the user's messages and what
  follows until the next user message, named ``<session>:<number from 1>``.
- A session without ``session_id`` gets one made from its content: from its first message where that has an exact time,
  so that it stays when the session grows; else from all its messages, so that two sessions that begin alike stay two.
- The session's ``metadata`` stands in its first round. The tenant is never read from data.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from zoneinfo import ZoneInfo

from operators.errors import SourceError
from operators.records import Image, Instant, Message, Role, Session
from operators.sources.fields import (
    clean,
    clean_json,
    identifier,
    json_type,
    mapping,
    reject,
    sequence,
    text_of,
    wrong_type,
)
from operators.sources.origin import Origin, user_of_record
from operators.sources.rounds import Group, Turn, by_names, by_roles, make_session, positional_id
from operators.sources.times import parse_time

NAME = "jsonl"

TIME_FIELDS = ("timestamp", "created_at", "time", "date")

_ROLES: dict[str, Role] = {
    "user": "user",
    "human": "user",
    "assistant": "assistant",
    "ai": "assistant",
    "gpt": "assistant",
    "model": "assistant",
    "bot": "assistant",
    "system": "system",
    "developer": "system",
    "tool": "tool",
    "function": "tool",
}
_TEXT_PARTS = {"text": "text", "input_text": "text", "output_text": "text", "refusal": "refusal"}
_CALLS = ("tool_calls", "function_call")
_NAME_LIMIT = 64


def matches(record: Any) -> bool:
    """True for a session: an object with a list of messages that have a role or content."""
    if not isinstance(record, dict) or not isinstance(record.get("messages"), list):
        return False
    messages = record["messages"]
    if not messages:
        return "user_id" in record or "session_id" in record
    return isinstance(messages[0], dict) and ("role" in messages[0] or "content" in messages[0])


def read(record: Any, origin: Origin) -> Iterator[Session | SourceError]:
    """The session of one record, and an error for each of its rounds that cannot go in; SourceError where none can."""
    session = mapping(record, "a session")
    user = user_of_record(identifier(session.get("user_id"), "user_id"), origin)
    found = sequence(session.get("messages"), "messages")
    if not found:
        raise reject("no-messages", "the session has no messages")
    turns, names = [], []
    for number, raw in enumerate(found, start=1):
        try:
            turns.append(_turn(mapping(raw, "the message"), origin.zone))
            names.append(identifier(raw.get("round"), "round"))
        except SourceError as error:
            raise reject(error.code, f"message {number}: {error}") from error
    time = _time(session, origin.zone)
    session_id = identifier(session.get("session_id"), "session_id") or _session_id(turns, time)
    yield from make_session(user, session_id, _groups(session_id, turns, names), time, _metadata(session))


def _turn(message: Mapping[str, Any], zone: ZoneInfo | None) -> Turn:
    written = message.get("role")
    if not isinstance(written, str) or not written.strip():
        raise wrong_type("role", "a name such as user or assistant", written)
    content = message.get("content")
    text, images, unknown = _parts(content) if isinstance(content, list) else (text_of(content, "content"), (), {})
    for key in _CALLS:
        if calls := message.get(key):
            unknown[key] = unknown.get(key, 0) + (len(calls) if isinstance(calls, list) else 1)
    return Turn(
        message=Message(
            role=_ROLES.get(written.strip().lower(), "other"),
            speaker=text_of(message.get("name"), "name").strip() or clean(written.strip()),
            text=text,
            message_id=identifier(message.get("id"), "id"),
            time=_time(message, zone),
        ),
        images=images,
        unknown=unknown,
    )


def _parts(content: list[Any]) -> tuple[str, tuple[Image, ...], dict[str, int]]:
    texts: list[str] = []
    images: list[Image] = []
    unknown: Counter[str] = Counter()
    for part in content:
        if isinstance(part, str):
            texts.append(clean(part))
            continue
        kind = mapping(part, "a part of content").get("type")
        if isinstance(kind, str) and kind in _TEXT_PARTS:
            texts.append(text_of(part.get(_TEXT_PARTS[kind]), f"a {kind} part"))
        elif (reference := _reference(part)) is not None:
            images.append(_image(part, reference))
        else:
            unknown[clean(kind)[:_NAME_LIMIT] if isinstance(kind, str) else json_type(kind)] += 1
    return "\n".join(text for text in texts if text), tuple(images), unknown


def _reference(part: Mapping[str, Any]) -> str | None:
    kind = part.get("type")
    if kind in ("image_url", "input_image"):
        url = part.get("image_url")
        url = url.get("url") if isinstance(url, dict) else url
        return None if url is None else text_of(url, "the URL of a picture")
    if kind == "image" and isinstance(part.get("source"), dict):
        source = part["source"]
        if source.get("data") is not None:
            media_type = text_of(source.get("media_type"), "media_type")
            return f"data:{media_type};base64,{text_of(source['data'], 'the data of a picture')}"
        return None if source.get("url") is None else text_of(source["url"], "the URL of a picture")
    return None


def _image(part: Mapping[str, Any], reference: str) -> Image:
    return Image(
        message=0,
        reference=reference,
        image_id=identifier(part.get("image_id"), "image_id"),
        caption=text_of(part.get("caption"), "caption") or None,
    )


def _time(holder: Mapping[str, Any], zone: ZoneInfo | None) -> Instant | None:
    for key in TIME_FIELDS:
        if (value := holder.get(key)) is not None:
            return parse_time(value, zone)
    return None


def _metadata(session: Mapping[str, Any]) -> dict[str, Any]:
    value = session.get("metadata")
    return {} if value is None else {"session": clean_json(value)}


def _groups(session_id: str, turns: Sequence[Turn], names: Sequence[str | None]) -> list[Group]:
    if any(name is not None for name in names):
        named = by_names(names)
    else:
        groups = by_roles([turn.message.role for turn in turns])
        named = [(positional_id(session_id, position), group) for position, group in enumerate(groups)]
    return [Group(round_id, tuple(turns[index] for index in indexes)) for round_id, indexes in named]


def _session_id(turns: Sequence[Turn], time: Instant | None) -> str:
    first = turns[0].message.time or time
    exact = first is not None and first.precision in ("second", "minute")
    digest = hashlib.sha256()
    for turn in turns[:1] if exact else turns:
        told = turn.message.time or time
        parts = [turn.message.role, turn.message.text, told.utc.isoformat() if told else ""]
        parts += [image.reference for image in turn.images]
        for part in parts:
            data = part.encode("utf-8")
            digest.update(len(data).to_bytes(8, "big") + data)
    return f"s-{digest.hexdigest()[:16]}"
