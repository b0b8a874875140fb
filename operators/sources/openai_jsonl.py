"""Our own JSONL: one session a line, messages in OpenAI's shape.

``{"user_id", "session_id", "messages": [{"role", "content", "timestamp", "round", "name", "id"}], "timestamp", "metadata"}``

- ``content`` is text or a list of parts (``parts.content_of``). Parts of unknown type, and tool calls, are counted in the
  round's ``unknown_parts``.
- ``timestamp``, ``created_at``, ``time`` or ``date``: the first that is neither null nor blank, on message or session. One
  that is not understood is counted in the ``doubts`` of its round (the first one, where it is the session's), and the
  time is unknown.
- A message that cannot be read is an error, and the rest of its session goes in.
- ``round`` groups messages and names their round. Where no message has one, a round is the user's messages and what
  follows until the next user message, named ``<session>:<number from 1>``.
- A session without ``session_id`` gets one made from its content: from its first message where that has an exact time,
  so that it stays when the session grows; else from all its messages, so that two sessions that begin alike stay two.
- The user is ``user_id``; else, as in logs of requests, ``user`` or ``metadata.user_id``.
- The session's ``metadata`` stands in its first round. The tenant is never read from data.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from zoneinfo import ZoneInfo

from operators.errors import SourceError
from operators.records import Message, Session
from operators.sources.fields import clean, clean_json, identifier, label, mapping, reject, sequence, text_of, wrong_type
from operators.sources.origin import Origin, user_of_record
from operators.sources.parts import CALLS, content_of, named_in, role_of, role_told, time_of
from operators.sources.rounds import Group, Turn, by_names, groups_by_roles, lost_turn, make_session, session_from_content

NAME = "jsonl"


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
    user = user_of_record(named_in(session, "user_id", "user", "metadata.user_id"), origin)
    found = sequence(session.get("messages"), "messages")
    if not found:
        raise reject("no-messages", "the session has no messages")
    turns, names = [], []
    for number, raw in enumerate(found, start=1):
        turn, name = _message(raw, number, origin.zone)
        turns.append(turn)
        names.append(name)
    time, doubts = time_of(session, origin.zone)
    session_id = identifier(session.get("session_id"), "session_id") or session_from_content(turns, time)
    yield from make_session(user, session_id, _groups(session_id, turns, names), time, _metadata(session), doubts)


def _message(raw: object, number: int, zone: ZoneInfo | None) -> tuple[Turn, str | None]:
    """A message and the round it names; one that cannot be read keeps its place."""
    name: str | None = None
    try:
        message = mapping(raw, "the message")
        name = label(message.get("round"), "round")
        return _turn(message, zone), name
    except SourceError as error:
        return lost_turn(role_told(raw), reject(error.code, f"message {number}: {error}")), name


def _turn(message: Mapping[str, Any], zone: ZoneInfo | None) -> Turn:
    written = message.get("role")
    if not isinstance(written, str) or not written.strip():
        raise wrong_type("role", "a name such as user or assistant", written)
    content = content_of(message.get("content"))
    unknown = dict(content.unknown)
    for key in CALLS:
        if calls := message.get(key):
            unknown[key] = unknown.get(key, 0) + (len(calls) if isinstance(calls, list) else 1)
    time, doubts = time_of(message, zone)
    return Turn(
        message=Message(
            role=role_of(written),
            speaker=text_of(message.get("name"), "name").strip() or clean(written.strip()),
            text=content.text,
            message_id=label(message.get("id"), "id"),
            time=time,
        ),
        images=content.images,
        unknown=unknown,
        doubts=doubts,
    )


def _metadata(session: Mapping[str, Any]) -> dict[str, Any]:
    value = session.get("metadata")
    return {} if value is None else {"session": clean_json(value)}


def _groups(session_id: str, turns: Sequence[Turn], names: Sequence[str | None]) -> list[Group]:
    if all(name is None for name in names):
        return groups_by_roles(session_id, turns)
    named = by_names(names)
    return [Group(round_id, tuple(turns[index] for index in indexes)) for round_id, indexes in named]
