"""LoCoMo: two people's sessions, flat (``session_1`` at the top) or wrapped (under ``conversation``, in a list of samples).

- A round is two consecutive turns of a session, the odd last one alone: ``session_1:1``, ``session_1:2`` ..
- ``speaker_a`` takes the role user, ``speaker_b`` assistant, anyone else other; speakers keep their names. Where the file
  does not name the two, they are the first two who speak.
- A turn's ``dia_id`` is its message id. ``blip_caption`` is the caption of its picture; ``img_url`` is kept as reference.
- ``session_1_date_time`` ("1:56 pm on 8 May, 2023") is the time of the session's rounds; turns have none of their own.
- Questions, observations and summaries in the same file are no history and are not read.
- The user is the file's stem; in a file of several samples each sample's ``sample_id``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import zip_longest
from typing import Any

from operators.errors import SourceError
from operators.records import Image, Message, Role, Session
from operators.sources.fields import identifier, mapping, one_or_many, reject, sequence, text_of
from operators.sources.origin import Origin, user_of_conversation
from operators.sources.parts import time_of
from operators.sources.rounds import Group, Turn, by_pairs, lost_turn, make_session, positional_id

NAME = "locomo"

_SESSION = re.compile(r"session_(\d{1,9})", re.ASCII)


def matches(record: Any) -> bool:
    """True for an object with ``session_1`` .. (or under ``conversation``) whose turns have a speaker."""
    if not isinstance(record, dict):
        return False
    conversation = record.get("conversation", record)
    if not isinstance(conversation, dict):
        return False
    sessions = [value for key, value in conversation.items() if _SESSION.fullmatch(key) and isinstance(value, list)]
    turns = [turn for session in sessions for turn in session[:1]]
    named = "speaker_a" in conversation and "speaker_b" in conversation
    if not turns:
        return bool(sessions) and named
    return isinstance(turns[0], dict) and ("speaker" in turns[0] or "dia_id" in turns[0])


def read(record: Any, origin: Origin) -> Iterator[Session | SourceError]:
    """The sessions of one conversation in their numeric order; a session that cannot be read is an error in its place."""
    whole = mapping(record, "a conversation")
    conversation = mapping(whole.get("conversation", whole), "conversation")
    user, prefix = user_of_conversation(identifier(whole.get("sample_id"), "sample_id"), origin)
    numbers = sorted((int(found[1]), key) for key in conversation if (found := _SESSION.fullmatch(key)))
    if not numbers:
        raise reject("no-messages", "the conversation has no session_1, session_2 ..")
    told = [key for _, key in numbers if conversation[key] is not None and conversation[key] != []]
    if not told:
        raise reject("no-messages", "the conversation's sessions are all empty")
    roles = _roles(conversation, told)
    for key in told:
        try:
            yield from _session(conversation, key, user, prefix, roles, origin)
        except SourceError as error:
            yield SourceError(f"{key}: {error}", code=error.code, round_id=error.round_id)


def _session(
    conversation: Mapping[str, Any], key: str, user: str, prefix: str, roles: Mapping[str, Role], origin: Origin
) -> Iterator[Session | SourceError]:
    session_id = prefix + key
    found = sequence(conversation[key], "the session")
    turns = [_turn_or_fault(turn, f"turn {number}", roles) for number, turn in enumerate(found, start=1)]
    time, doubts = time_of(conversation, origin.zone, (f"{key}_date_time",))
    groups = [
        Group(positional_id(session_id, position), tuple(turns[index] for index in pair))
        for position, pair in enumerate(by_pairs(len(turns)))
    ]
    yield from make_session(user, session_id, groups, time, {}, doubts)


def _turn_or_fault(raw: object, where: str, roles: Mapping[str, Role]) -> Turn:
    try:
        return _turn(mapping(raw, where), where, roles)
    except SourceError as error:
        return lost_turn("other", error)


def _turn(turn: Mapping[str, Any], where: str, roles: Mapping[str, Role]) -> Turn:
    speaker = text_of(turn.get("speaker"), f"{where}: speaker").strip()
    if not speaker:
        raise reject("wrong-type", f"{where} has no speaker")
    return Turn(
        message=Message(
            role=roles.get(speaker, "other"),
            speaker=speaker,
            text=text_of(turn.get("text"), f"{where}: text"),
            message_id=identifier(turn.get("dia_id"), f"{where}: dia_id"),
        ),
        images=tuple(_images(turn, where)),
    )


def _images(turn: Mapping[str, Any], where: str) -> Iterator[Image]:
    pairs = zip_longest(one_or_many(turn.get("img_url")), one_or_many(turn.get("blip_caption")))
    for url, caption in pairs:
        reference = text_of(url, f"{where}: img_url")
        told = text_of(caption, f"{where}: blip_caption")
        if reference or told:
            yield Image(message=0, reference=reference, caption=told or None)


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _roles(conversation: Mapping[str, Any], keys: list[str]) -> dict[str, Role]:
    named = [conversation.get("speaker_a"), conversation.get("speaker_b")]
    speakers = [name.strip() for name in named if isinstance(name, str) and name.strip()]
    if len(speakers) < 2:
        heard = (turn.get("speaker") for key in keys for turn in _listed(conversation[key]) if isinstance(turn, dict))
        speakers = list(dict.fromkeys([*speakers, *(name.strip() for name in heard if isinstance(name, str))]))
    roles: tuple[Role, Role] = ("user", "assistant")
    return dict(zip(speakers, roles, strict=False))
