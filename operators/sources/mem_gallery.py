"""Mem-Gallery (and MemEye): ``multi_session_dialogues`` of rounds between a user and an assistant, with pictures.

- A round is the file's round under its ``round`` id. An absent side gives no message, an empty one an empty message.
- Pictures belong to the user's message. ``input_image``, ``image_caption`` and ``image_id`` are lists side by side; where
  one is shorter, what it would say is unknown. References are relative to the file.
- A session's ``date`` is the time of its rounds, to the day.
- The user is the file's stem; the user's messages carry the name in ``character_profile`` where there is one.
- Questions in the same file are no history and are not read.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import zip_longest
from typing import Any

from operators.errors import SourceError
from operators.records import Image, Message, Session
from operators.sources.fields import identifier, mapping, one_or_many, reject, sequence, text_of
from operators.sources.origin import Origin, user_of_conversation
from operators.sources.rounds import Group, Turn, make_session, positional_id
from operators.sources.times import parse_time

NAME = "mem_gallery"


def matches(record: Any) -> bool:
    """True for an object with a list of ``multi_session_dialogues``."""
    return isinstance(record, dict) and isinstance(record.get("multi_session_dialogues"), list)


def read(record: Any, origin: Origin) -> Iterator[Session | SourceError]:
    """The sessions of one dialog in the file's order; a session that cannot be read is an error in its place."""
    dialog = mapping(record, "a dialog")
    user, prefix = user_of_conversation(None, origin)
    sessions = sequence(dialog.get("multi_session_dialogues"), "multi_session_dialogues")
    if not sessions:
        raise reject("no-messages", "the dialog has no sessions")
    speaker = _name(dialog)
    for number, raw in enumerate(sessions, start=1):
        try:
            yield from _session(mapping(raw, "the session"), number, user, prefix, speaker, origin)
        except SourceError as error:
            yield SourceError(f"session {number}: {error}", code=error.code, round_id=error.round_id)


def _name(dialog: Mapping[str, Any]) -> str:
    profile = dialog.get("character_profile")
    name = profile.get("name") if isinstance(profile, dict) else None
    return text_of(name, "character_profile: name").strip() or "user"


def _session(
    session: Mapping[str, Any], number: int, user: str, prefix: str, speaker: str, origin: Origin
) -> Iterator[Session | SourceError]:
    session_id = prefix + (identifier(session.get("session_id"), "session_id") or f"session_{number}")
    date = session.get("date")
    time = None if date is None else parse_time(date, origin.zone)
    groups = []
    for position, raw in enumerate(sequence(session.get("dialogues"), "dialogues")):
        where = f"round {position + 1}"
        found = mapping(raw, where)
        round_id = identifier(found.get("round"), f"{where}: round") or positional_id(session_id, position)
        groups.append(Group(round_id, tuple(_turns(found, where, speaker))))
    yield from make_session(user, session_id, groups, time, {})


def _turns(found: Mapping[str, Any], where: str, speaker: str) -> Iterator[Turn]:
    images = tuple(_images(found, where))
    if found.get("user") is not None or images:
        yield Turn(Message("user", speaker, text_of(found.get("user"), f"{where}: user")), images)
    if found.get("assistant") is not None:
        yield Turn(Message("assistant", "assistant", text_of(found["assistant"], f"{where}: assistant")))


def _images(found: Mapping[str, Any], where: str) -> Iterator[Image]:
    columns = (one_or_many(found.get(key)) for key in ("input_image", "image_caption", "image_id"))
    for path, caption, image_id in zip_longest(*columns):
        if path is None and caption is None and image_id is None:
            continue
        yield Image(
            message=0,
            reference=text_of(path, f"{where}: input_image"),
            image_id=identifier(image_id, f"{where}: image_id"),
            caption=text_of(caption, f"{where}: image_caption") or None,
        )
