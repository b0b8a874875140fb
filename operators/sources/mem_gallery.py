"""Mem-Gallery and MemEye: sessions of rounds between a user and an assistant, with pictures.

``multi_session_dialogues`` of ``dialogues`` (Mem-Gallery, and MemEye as it is published with it):

- A round is the file's round under its ``round`` id. An absent side gives no message, an empty one an empty message.
- Pictures belong to the user's message. ``input_image``, ``image_caption`` and ``image_id`` are lists side by side, which
  may hold lists; where one is shorter, what it would say is unknown. References are relative to the file.
- A session's ``date`` is the time of its rounds, to the day; a round's own ``timestamp`` that of the round.

``sessions`` of ``turns`` (MemEye's own): ``{"speaker", "text", "images": [{"image_id", "path", "caption"}], "turn_id",
"timestamp"}``. A turn is a message under its ``turn_id``. Where the speakers are a user and an assistant a round is what the
user says and what follows; else the first who speaks takes the role user, the second assistant, others other, and a round
is two consecutive turns.

The user is the file's stem; the user's messages carry the name in ``character_profile`` where there is one. Questions in the
same file are no history and are not read.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import zip_longest
from typing import Any

from operators.errors import SourceError
from operators.records import Image, Message, Role, Session
from operators.sources.fields import clean, identifier, label, mapping, one_or_many, reject, sequence, text_of
from operators.sources.origin import Origin, user_of_conversation
from operators.sources.parts import role_of, time_of
from operators.sources.rounds import Group, Turn, by_pairs, by_roles, lost_turn, make_session, positional_id

NAME = "mem_gallery"


def matches(record: Any) -> bool:
    """True for an object with a list of ``multi_session_dialogues``, or of ``sessions`` whose turns have a speaker."""
    if not isinstance(record, dict):
        return False
    if isinstance(record.get("multi_session_dialogues"), list):
        return True
    sessions = record.get("sessions")
    first = next((one for one in sessions if isinstance(one, dict)), {}) if isinstance(sessions, list) else {}
    turns = first.get("turns")
    return isinstance(turns, list) and any(isinstance(turn, dict) and "speaker" in turn for turn in turns[:1])


def read(record: Any, origin: Origin) -> Iterator[Session | SourceError]:
    """The sessions of one dialog in the file's order; a session that cannot be read is an error in its place."""
    dialog = mapping(record, "a dialog")
    user, prefix = user_of_conversation(None, origin)
    key = "sessions" if "sessions" in dialog and "multi_session_dialogues" not in dialog else "multi_session_dialogues"
    sessions = sequence(dialog.get(key), key)
    if not sessions:
        raise reject("no-messages", "the dialog has no sessions")
    speaker = _name(dialog)
    for number, raw in enumerate(sessions, start=1):
        try:
            session = mapping(raw, "the session")
            told = _told_in_turns if "turns" in session else _told_in_rounds
            session_id = prefix + (identifier(session.get("session_id"), "session_id") or f"session_{number}")
            time, doubts = time_of(session, origin.zone, ("date", "timestamp"))
            yield from make_session(user, session_id, told(session, session_id, speaker, origin), time, {}, doubts)
        except SourceError as error:
            yield SourceError(f"session {number}: {error}", code=error.code, round_id=error.round_id)


def _name(dialog: Mapping[str, Any]) -> str:
    profile = dialog.get("character_profile")
    name = profile.get("name") if isinstance(profile, dict) else None
    return text_of(name, "character_profile: name").strip() or "user"


def _told_in_rounds(session: Mapping[str, Any], session_id: str, speaker: str, origin: Origin) -> list[Group]:
    groups = []
    for position, raw in enumerate(sequence(session.get("dialogues"), "dialogues")):
        groups.append(_group(raw, f"round {position + 1}", positional_id(session_id, position), speaker, origin))
    return groups


def _group(raw: object, where: str, name: str, speaker: str, origin: Origin) -> Group:
    """The round, under the id it has or else ``name``; one that cannot be read keeps its place."""
    try:
        found = mapping(raw, where)
        name = label(found.get("round"), f"{where}: round") or name
        return Group(name, tuple(_sides(found, where, speaker, origin)))
    except SourceError as error:
        return Group(name, (lost_turn("other", error),))


def _sides(found: Mapping[str, Any], where: str, speaker: str, origin: Origin) -> Iterator[Turn]:
    images = tuple(_images(found, where))
    time, doubts = time_of(found, origin.zone)
    if found.get("user") is not None or images:
        said = text_of(found.get("user"), f"{where}: user")
        yield Turn(Message("user", speaker, said, time=time), images, doubts=doubts)
        doubts = {}
    if found.get("assistant") is not None:
        said = text_of(found["assistant"], f"{where}: assistant")
        yield Turn(Message("assistant", "assistant", said, time=time), doubts=doubts)


def _images(found: Mapping[str, Any], where: str) -> Iterator[Image]:
    columns = (_flat(found.get(key)) for key in ("input_image", "image_caption", "image_id"))
    for path, caption, image_id in zip_longest(*columns):
        if path is None and caption is None and image_id is None:
            continue
        yield Image(
            message=0,
            reference=text_of(path, f"{where}: input_image"),
            image_id=identifier(image_id, f"{where}: image_id"),
            caption=text_of(caption, f"{where}: image_caption") or None,
        )


def _flat(value: object) -> Iterator[Any]:
    for item in one_or_many(value):
        if isinstance(item, list):
            yield from _flat(item)
        else:
            yield item


def _told_in_turns(session: Mapping[str, Any], session_id: str, speaker: str, origin: Origin) -> list[Group]:
    found = list(enumerate(sequence(session.get("turns"), "turns"), start=1))
    names = [_speaker(raw) for _, raw in found]
    heard = list(dict.fromkeys(name for name in names if name))
    known = all(role_of(name) != "other" for name in heard)
    roles: dict[str, Role] = {name: role_of(name) for name in heard} if known else _by_turn(heard)
    turns: list[Turn] = []
    for (number, raw), name in zip(found, names, strict=True):
        role = roles.get(name, "other")
        try:
            told = mapping(raw, f"turn {number}")
            turns.append(_turn(told, f"turn {number}", role, speaker if known and role == "user" else name, origin))
        except SourceError as error:
            turns.append(lost_turn(role, error))
    groups = by_roles([turn.message.role for turn in turns]) if known else by_pairs(len(turns))
    return [
        Group(positional_id(session_id, position), tuple(turns[index] for index in group))
        for position, group in enumerate(groups)
    ]


def _speaker(turn: object) -> str:
    """Who speaks; empty where that cannot be told, of which ``_turn`` says why."""
    name = turn.get("speaker") if isinstance(turn, dict) else None
    return clean(name).strip() if isinstance(name, str) else ""


def _by_turn(heard: list[str]) -> dict[str, Role]:
    first: tuple[Role, Role] = ("user", "assistant")
    return {name: first[number] if number < len(first) else "other" for number, name in enumerate(heard)}


def _turn(turn: Mapping[str, Any], where: str, role: Role, speaker: str, origin: Origin) -> Turn:
    if not text_of(turn.get("speaker"), f"{where}: speaker").strip():
        raise reject("wrong-type", f"{where} has no speaker")
    time, doubts = time_of(turn, origin.zone)
    message = Message(
        role=role,
        speaker=speaker,
        text=text_of(turn.get("text"), f"{where}: text"),
        message_id=label(turn.get("turn_id"), f"{where}: turn_id"),
        time=time,
    )
    return Turn(message, tuple(_shown(turn, where)), doubts=doubts)


def _shown(turn: Mapping[str, Any], where: str) -> Iterator[Image]:
    for found in _flat(turn.get("images")):
        image = {"path": found} if isinstance(found, str) else mapping(found, f"{where}: a picture")
        reference = image.get("path") if image.get("path") is not None else image.get("file")
        yield Image(
            message=0,
            reference=text_of(reference, f"{where}: the path of a picture"),
            image_id=label(image.get("image_id"), f"{where}: image_id"),
            caption=text_of(image.get("caption"), f"{where}: caption") or None,
        )
