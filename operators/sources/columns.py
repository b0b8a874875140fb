"""Which column of a table of messages says what: by common names, or as the user mapped them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from operators.errors import SourceError, UsageError
from operators.sources.fields import reject
from operators.sources.parts import CALLS

_COMMON: dict[str, tuple[str, ...]] = {
    "user": ("user_id", "user", "uid", "owner_id", "owner", "customer_id", "account_id", "member_id", "author_id"),
    "session": (
        *("session_id", "conversation_id", "thread_id", "chat_id", "dialog_id", "dialogue_id", "channel_id", "room_id"),
        *("session", "conversation", "thread", "chat", "dialog", "dialogue", "channel", "room"),
    ),
    "round": ("round", "round_id"),
    "text": ("text", "content", "body", "message", "message_text", "message_content", "message_body", "utterance", "msg"),
    "role": ("role", "sender_type", "author_role", "speaker_role", "sender_role", "author_type", "message_role"),
    "speaker": (
        *("speaker", "speaker_name", "sender_name", "author_name", "name", "sender", "author", "from", "from_name"),
        *("username", "user_name", "nickname", "display_name"),
    ),
    "time": (
        *("timestamp", "created_at", "sent_at", "time", "datetime", "date_time", "create_time", "created", "date", "ts"),
        *("message_time", "sent", "sent_time"),
    ),
    "id": ("id", "message_id", "uuid", "msg_id", "message_uuid"),
    "image": (
        *("image", "image_path", "image_url", "attachment", "images", "attachments", "picture", "picture_url", "photo"),
        *("photo_url", "img", "img_url"),
    ),
    "caption": ("caption", "image_caption", "alt_text", "alt", "picture_caption"),
}
BESIDE = ("date",)
"""Columns that are looked at for a cell of another."""
KEYS = tuple(_COMMON)
"""What a column can be mapped to."""

_TELLING = ("user", "session", "round", "role", "speaker", "time")
_BARE = re.compile(r"[\W_]+")
_PLAIN = re.compile(r"[^\W\d]\w{0,39}")
_SHOWN = 20


def asked_columns(text: str) -> dict[str, str]:
    """The mapping that a text such as ``text=body,time=created_at`` asks for: what is wanted, and the column that has it.

    UsageError where it is no such text, or asks for what is not one of ``KEYS``, or for the same twice.
    """
    chosen: dict[str, str] = {}
    for pair in text.split(","):
        key, mark, column = (part.strip() for part in pair.partition("="))
        if not mark or not column:
            raise UsageError(f"--map {pair.strip()!r} is not of the form text=body,time=created_at; keys: {', '.join(KEYS)}")
        if key in chosen:
            raise UsageError(f"--map names {key!r} twice")
        chosen[key] = column
    check_keys(chosen)
    return chosen


def check_keys(chosen: Mapping[str, str]) -> None:
    """UsageError unless every key is one of ``KEYS``."""
    for key in chosen:
        if key not in _COMMON:
            raise UsageError(f"--map: {key!r} is not something a column can be mapped to; one of {', '.join(KEYS)}")


def find_columns(names: Sequence[str], chosen: Mapping[str, str] | None) -> dict[str, str]:
    """The column for each of ``KEYS`` that there is one for: the chosen one, else the first that has a common name.

    Common names are compared without case, blanks and punctuation. A column that was chosen for something is nothing else.
    ``author_id`` names the user only where no other column tells who speaks, for then it is the speaker's.
    """
    chosen = chosen or {}
    found = {key: column for key, column in chosen.items() if column in names}
    taken = set(chosen.values())
    bare: dict[str, str] = {}
    for name in names:
        if name not in taken:
            bare.setdefault(_bared(name), name)
    for key, common in _COMMON.items():
        if key not in chosen and (column := next((bare[c] for c in map(_bared, common) if c in bare), None)) is not None:
            found[key] = column
    if "user" not in chosen and "speaker" in found and _bared(found.get("user", "")) == "authorid":
        del found["user"]
    return found


def unread_columns(names: Sequence[str], chosen: Mapping[str, str] | None) -> tuple[str, ...]:
    """The columns that stand for nothing and are kept nowhere, of those whose names look like names."""
    taken = set(find_columns(names, chosen).values())
    beside = set(map(_bared, (*BESIDE, *CALLS)))
    return tuple(name for name in names if name not in taken and _PLAIN.fullmatch(name) and _bared(name) not in beside)


def is_readable(found: Mapping[str, str]) -> bool:
    """True where the columns say what was said, and who said it, or when or where."""
    return "text" in found and any(key in found for key in _TELLING)


def check_columns(names: Sequence[str], chosen: Mapping[str, str] | None) -> None:
    """SourceError ``wrong-columns`` where a chosen column is missing, or none says what was said."""
    missing = [column for column in (chosen or {}).values() if column not in names]
    if missing:
        raise wrong_columns(f"expected the mapped columns {', '.join(missing)}", names)
    if "text" not in find_columns(names, chosen):
        raise wrong_columns(
            "expected a column text (content, body, message ..) and user, session, role, speaker or time", names
        )


def wrong_columns(expected: str, names: Sequence[str]) -> SourceError:
    """SourceError ``wrong-columns`` that shows both sides.

    Only names that look like names are shown: the first line of a table without header is what somebody said.
    """
    plain = [name for name in names if _PLAIN.fullmatch(name)]
    shown = plain[:_SHOWN]
    more = len(names) - len(shown)
    parts = [*shown, *([f"{more} more" if shown else f"{more} that are no plain names"] if more else [])]
    return reject(
        "wrong-columns", f"{expected}; found {', '.join(parts) or 'none'}. Say which is which with --map text=COLUMN"
    )


def _bared(name: str) -> str:
    return _BARE.sub("", name).lower()
