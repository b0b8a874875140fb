"""What ``mnemosaic export`` writes: a user's rounds as they are stored, so that a backfill of them gives the same content.

``{"mnemosaic": 1, "user_id", "session_id", "rounds": [{"round_id", "position", "time", "messages", "images", "metadata"}]}``

- A time is ``{"utc", "offset_minutes", "precision"}``, null where unknown.
- A message is ``{"role", "speaker", "text", "message_id", "time"}``.
- A picture is ``{"message", "reference", "image_id", "caption", "file"}``. ``file`` (a path from the export's folder, or a
  ``data:`` URL) is where its bytes are, absent where they were not at hand. ``message`` counts the round's messages from 0.
- A long session stands in several lines, each with some of its rounds.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, get_args

from operators.errors import SourceError
from operators.records import Image, Instant, Message, Role, Round, Session, TimePrecision, isoformat
from operators.sources.fields import clean_json, identifier, json_type, label, mapping, reject, sequence, text_of, wrong_type
from operators.sources.origin import Origin, user_of_record

NAME = "mnemosaic"
VERSION = 1
"""Of the shape above; a reader refuses others."""


def matches(record: Any) -> bool:
    """True for a line of an export, of whatever version."""
    return isinstance(record, dict) and NAME in record and isinstance(record.get("rounds"), list)


def read(record: Any, origin: Origin) -> Iterator[Session | SourceError]:
    """The rounds of one line, and an error for each that cannot go in. SourceError ``unknown-version``."""
    line = mapping(record, "a line of an export")
    if line.get(NAME) != VERSION:
        raise reject("unknown-version", f"the export is not of version {VERSION}: read it with the release that wrote it")
    user = user_of_record(identifier(line.get("user_id"), "user_id"), origin)
    session_id = identifier(line.get("session_id"), "session_id")
    if session_id is None:
        raise wrong_type("session_id", "text", None)
    rounds: list[Round] = []
    for number, raw in enumerate(sequence(line.get("rounds"), "rounds"), start=1):
        try:
            rounds.append(_round(session_id, mapping(raw, "the round")))
        except SourceError as error:
            yield reject(error.code, f"round {number} of the line: {error}")
    if not rounds:
        raise reject("no-messages", "the line has no round that can be read")
    yield Session(user, session_id, tuple(rounds))


def line_of(user_id: str, session_id: str, rounds: Sequence[Round], files: Mapping[str, str]) -> dict[str, Any]:
    """One line of an export. ``files``: where the bytes of a picture are, by the sha256 that names it."""
    told = [_told_round(record, files) for record in rounds]
    return {NAME: VERSION, "user_id": user_id, "session_id": session_id, "rounds": told}


# --- reading ----------------------------------------------------------------------------------------------------


def _round(session_id: str, raw: Mapping[str, Any]) -> Round:
    round_id = identifier(raw.get("round_id"), "round_id")
    if round_id is None:
        raise wrong_type("round_id", "text", None)
    messages = tuple(_message(mapping(item, "a message")) for item in sequence(raw.get("messages"), "messages"))
    return Round(
        session_id=session_id,
        round_id=round_id,
        position=_whole(raw.get("position"), "position", below=1 << 31),
        messages=messages,
        images=tuple(_image(mapping(item, "a picture"), len(messages)) for item in sequence(raw.get("images"), "images")),
        time=_time(raw.get("time")),
        metadata=clean_json(mapping(raw.get("metadata", {}), "metadata")),
    )


def _message(raw: Mapping[str, Any]) -> Message:
    role = raw.get("role")
    known: tuple[Role, ...] = get_args(Role)
    if role not in known:
        raise wrong_type("role", f"one of {', '.join(known)}", role)
    return Message(
        role=known[known.index(role)],
        speaker=text_of(raw.get("speaker"), "speaker"),
        text=text_of(raw.get("text"), "text"),
        message_id=label(raw.get("message_id"), "message_id"),
        time=_time(raw.get("time")),
    )


def _image(raw: Mapping[str, Any], messages: int) -> Image:
    file = raw.get("file")
    return Image(
        message=_whole(raw.get("message"), "message", below=max(messages, 1)),
        reference=text_of(raw.get("reference"), "reference") if file is None else text_of(file, "file"),
        image_id=label(raw.get("image_id"), "image_id"),
        caption=text_of(raw.get("caption"), "caption") or None,
    )


def _time(raw: object) -> Instant | None:
    if raw is None:
        return None
    told = mapping(raw, "a time")
    precision, offset, written = told.get("precision"), told.get("offset_minutes"), told.get("utc")
    known: tuple[TimePrecision, ...] = get_args(TimePrecision)
    if precision not in known or not isinstance(written, str):
        raise reject("bad-time", "a time needs utc and a known precision")
    if offset is not None and (not isinstance(offset, int) or isinstance(offset, bool) or abs(offset) >= 24 * 60):
        raise reject("bad-time", "offset_minutes must be a whole number of less than a day, or null")
    try:
        moment = datetime.fromisoformat(written)
    except ValueError as error:
        raise reject("bad-time", "utc is not ISO 8601") from error
    if moment.tzinfo is None:
        raise reject("bad-time", "utc has no offset")
    return Instant(moment.astimezone(UTC), offset, known[known.index(precision)])


def _whole(raw: object, what: str, *, below: int) -> int:
    if not isinstance(raw, int) or isinstance(raw, bool) or not 0 <= raw < below:
        raise reject("wrong-type", f"{what} must be a whole number from 0, below {below}, not {json_type(raw)}")
    return raw


# --- writing ----------------------------------------------------------------------------------------------------


def _told_round(record: Round, files: Mapping[str, str]) -> dict[str, Any]:
    return {
        "round_id": record.round_id,
        "position": record.position,
        "time": _told_time(record.time),
        "messages": [
            {
                "role": message.role,
                "speaker": message.speaker,
                "text": message.text,
                "message_id": message.message_id,
                "time": _told_time(message.time),
            }
            for message in record.messages
        ],
        "images": [_told_image(image, files) for image in record.images],
        "metadata": record.metadata,
    }


def _told_image(image: Image, files: Mapping[str, str]) -> dict[str, Any]:
    told: dict[str, Any] = {
        "message": image.message,
        "reference": image.reference,
        "image_id": image.image_id,
        "caption": image.caption,
    }
    if image.media is not None and image.media in files:
        told["file"] = files[image.media]
    return told


def _told_time(time: Instant | None) -> dict[str, Any] | None:
    if time is None:
        return None
    return {"utc": isoformat(time.utc), "offset_minutes": time.offset_minutes, "precision": time.precision}
