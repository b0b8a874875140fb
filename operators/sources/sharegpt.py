"""ShareGPT and its kin: ``{"id", "conversations": [{"from": "human", "value": ..}, ..]}``, LLaMA-Factory's variants, Alpaca.

- ``from`` and ``value``, or ``role`` and ``content``. ``system`` is a message before the others; ``tools`` is not kept.
- ``images`` (paths or URLs) are bound to the ``<image>`` marks in the texts, in their order, and the marks taken out;
  pictures that no mark asks for belong to the first message of the user.
- Alpaca: ``history`` (pairs), then ``instruction`` with ``input`` below it, then ``output``.
- The session is ``id`` (or ``conversation_id``), else one made from what was said (``rounds.session_from_content``).
- The user is ``user_id`` or ``user``; else the one asked for, else the file's stem: a file's conversations are one user's.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any
from zoneinfo import ZoneInfo

from operators.errors import SourceError
from operators.records import Image, Message, Session
from operators.sources.fields import clean, identifier, label, mapping, one_or_many, reject, sequence, text_of, wrong_type
from operators.sources.origin import Origin, user_of_export, user_of_record
from operators.sources.parts import content_of, role_of, time_of
from operators.sources.rounds import Turn, groups_by_roles, lost_turn, make_session, session_from_content

NAME = "sharegpt"

_MARK = "<image>"
_USERS = ("prompter", "user", "human")
_TOOLS = ("observation", "function_response")
_CALLS = ("function_call", "tool_call")


def matches(record: Any) -> bool:
    """True for an object with ``conversations`` of messages, or with Alpaca's ``instruction`` and ``output``."""
    if not isinstance(record, dict):
        return False
    found = record.get("conversations")
    if isinstance(found, list):
        first = found[0] if found else None
        pairs = (("from", "value"), ("role", "content"))
        return isinstance(first, dict) and any(by in first and said in first for by, said in pairs)
    return isinstance(record.get("instruction"), str) and isinstance(record.get("output"), str)


def read(record: Any, origin: Origin) -> Iterator[Session | SourceError]:
    """The session of one record, and an error for each message that cannot be read."""
    whole = mapping(record, "a conversation")
    named = label(whole.get("user_id"), "user_id") or label(whole.get("user"), "user")
    user = user_of_export(origin) if named is None else user_of_record(named, origin)
    listed = whole.get("conversations")
    found = _alpaca(whole) if listed is None else sequence(listed, "conversations")
    turns = [_message(raw, number, origin.zone) for number, raw in enumerate(found, start=1)]
    if isinstance(system := whole.get("system"), str) and system:
        turns.insert(0, Turn(Message("system", "system", clean(system))))
    turns = _with_images(turns, [clean(item) if isinstance(item, str) else "" for item in one_or_many(whole.get("images"))])
    if not turns:
        raise reject("no-messages", "the conversation has no messages")
    time, doubts = time_of(whole, origin.zone)
    told = identifier(whole.get("id"), "id") or identifier(whole.get("conversation_id"), "conversation_id")
    # Ids such as identity_1 or 0 are of their file; where its name is not the user, it tells its sessions from others'.
    prefix = f"{origin.stem}/" if told is not None and origin.user is not None else ""
    session_id = prefix + (told or session_from_content(turns, time))
    yield from make_session(user, session_id, groups_by_roles(session_id, turns), time, {}, doubts)


def _alpaca(record: Mapping[str, Any]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for number, pair in enumerate(sequence(record.get("history"), "history"), start=1):
        asked = sequence(pair, f"history {number}")
        found += [{"from": who, "value": said} for who, said in zip(("human", "gpt"), asked, strict=False)]
    instruction = text_of(record.get("instruction"), "instruction")
    given = text_of(record.get("input"), "input")
    found.append({"from": "human", "value": "\n".join(filter(None, (instruction, given)))})
    found.append({"from": "gpt", "value": record.get("output")})
    return found


def _message(raw: object, number: int, zone: ZoneInfo | None) -> Turn:
    try:
        return _turn(mapping(raw, "the message"), zone)
    except SourceError as error:
        return lost_turn("other", reject(error.code, f"message {number}: {error}"))


def _turn(message: Mapping[str, Any], zone: ZoneInfo | None) -> Turn:
    by, value = ("from", "value") if "from" in message else ("role", "content")
    written = message.get(by)
    if not isinstance(written, str) or not written.strip():
        raise wrong_type(by, "a name such as human or gpt", written)
    word = written.strip().lower()
    role = "user" if word in _USERS else "tool" if word in _TOOLS else role_of(word)
    content = content_of(message.get(value))
    time, doubts = time_of(message, zone)
    if word in _CALLS:
        return Turn(Message("assistant", "assistant", "", time=time), unknown={word: 1}, doubts=doubts)
    speaker = text_of(message.get("name"), "name").strip() or clean(written.strip())
    said = Message(role, speaker, content.text, label(message.get("id"), "id"), time)
    return Turn(said, content.images, content.unknown, doubts)


def _with_images(turns: list[Turn], references: list[str]) -> list[Turn]:
    """The turns with their marks replaced by the pictures they stand for."""
    left = [Image(message=0, reference=reference) for reference in references]
    bound: list[Turn] = []
    for turn in turns:
        marks = turn.message.text.count(_MARK) if references else 0
        if marks:
            text = turn.message.text.replace(_MARK, "").strip()
            unknown = {**turn.unknown, **({"image": marks - len(left)} if marks > len(left) else {})}
            said = replace(turn.message, text=text)
            turn = replace(turn, message=said, images=(*turn.images, *left[:marks]), unknown=unknown)
            left = left[marks:]
        bound.append(turn)
    if bound and left:
        at = next((number for number, turn in enumerate(bound) if turn.message.role == "user"), 0)
        bound[at] = replace(bound[at], images=(*bound[at].images, *left))
    return bound
