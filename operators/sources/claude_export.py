"""Claude's data export: ``conversations.json``, a list of conversations of ``chat_messages``.

- ``text`` and ``content`` tell the same: the text parts of ``content`` are taken where there are any. Thinking and the use
  of tools are counted as parts that are not kept. An attachment's ``extracted_content`` is text of its message, after its
  name.
- Where messages name their parents and the conversation its ``current_leaf_message_uuid``, the path to that leaf is the
  conversation; messages of other branches are counted (``branch_messages`` in the session's metadata, beside its title).
- Rounds follow the roles and are named by their first message.
- The user is the one asked for, else the name of the export (``origin.owner_of``); ``account`` is kept nowhere.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from zoneinfo import ZoneInfo

from operators.errors import SourceError
from operators.records import Image, Message, Session
from operators.sources.fields import clean, identifier, label, mapping, reject, sequence, text_of, title_of, wrong_type
from operators.sources.origin import Origin, user_of_export
from operators.sources.parts import content_of, role_of, role_told, time_of
from operators.sources.rounds import Turn, gathered, groups_by_roles, lost_turn, make_session

NAME = "claude"


def matches(record: Any) -> bool:
    """True for a conversation with a list of ``chat_messages``."""
    return isinstance(record, dict) and isinstance(record.get("chat_messages"), list) and "uuid" in record


def read(record: Any, origin: Origin) -> Iterator[Session | SourceError]:
    """The session of one conversation, and an error for each message that cannot be read."""
    conversation = mapping(record, "a conversation")
    session_id = identifier(conversation.get("uuid"), "uuid")
    if session_id is None:
        raise wrong_type("uuid", "text", None)
    found = sequence(conversation.get("chat_messages"), "chat_messages")
    path = _path(found, conversation.get("current_leaf_message_uuid"))
    turns = gathered(_message(raw, number, origin.zone) for number, raw in enumerate(path, start=1))
    if not turns:
        raise reject("no-messages", "the conversation has no message with words or a picture")
    time, doubts = time_of(conversation, origin.zone)
    told: dict[str, Any] = {}
    if title := title_of(conversation.get("name")):
        told["title"] = title
    if len(path) < len(found):
        told["branch_messages"] = len(found) - len(path)
    groups = groups_by_roles(session_id, turns, by_message=True)
    yield from make_session(user_of_export(origin), session_id, groups, time, {"session": told} if told else {}, doubts)


def _path(found: Sequence[Any], leaf: object) -> Sequence[Any]:
    """The messages from the first to the leaf; all, as they stand, where no leaf is told or a message names no parent."""
    by_id = {raw["uuid"]: raw for raw in found if isinstance(raw, dict) and isinstance(raw.get("uuid"), str)}
    linked = len(by_id) == len(found) and all("parent_message_uuid" in raw for raw in found)
    if not isinstance(leaf, str) or leaf not in by_id or not linked:
        return found
    path: list[Any] = []
    seen: set[str] = set()
    current: object = leaf
    while isinstance(current, str) and current in by_id and current not in seen:
        seen.add(current)
        path.append(by_id[current])
        current = by_id[current].get("parent_message_uuid")
    return path[::-1]


def _message(raw: object, number: int, zone: ZoneInfo | None) -> Turn:
    try:
        return _turn(mapping(raw, "the message"), zone)
    except SourceError as error:
        return lost_turn(role_told(raw, "sender"), reject(error.code, f"message {number}: {error}"))


def _turn(message: Mapping[str, Any], zone: ZoneInfo | None) -> Turn:
    sender = message.get("sender")
    if not isinstance(sender, str) or not sender.strip():
        raise wrong_type("sender", "a name such as human or assistant", sender)
    parts = message.get("content")
    content = content_of(parts if isinstance(parts, list) else None)
    texts = [content.text or text_of(message.get("text"), "text")]
    unknown = Counter(content.unknown)
    for number, raw in enumerate(sequence(message.get("attachments"), "attachments"), start=1):
        attachment = raw if isinstance(raw, dict) else {}
        name = text_of(attachment.get("file_name"), f"attachment {number}: file_name").strip()
        if extracted := text_of(attachment.get("extracted_content"), f"attachment {number}: extracted_content"):
            texts.append(f"{name}:\n{extracted}" if name else extracted)
        else:
            unknown["attachment"] += 1
    images = list(_files(message, unknown))
    time, doubts = time_of(message, zone)
    return Turn(
        Message(
            role_of(sender),
            clean(sender.strip()),
            "\n\n".join(filter(None, texts)),
            label(message.get("uuid"), "uuid"),
            time,
        ),
        (*content.images, *images),
        dict(unknown),
        doubts,
    )


def _files(message: Mapping[str, Any], unknown: Counter[str]) -> Iterator[Image]:
    """Pictures among the files of a message, by name: an export holds their names, seldom bytes. Others are counted."""
    listed = message.get("files_v2") if message.get("files_v2") else message.get("files")
    for number, raw in enumerate(sequence(listed, "files"), start=1):
        file = raw if isinstance(raw, dict) else {}
        name = text_of(file.get("file_name"), f"file {number}: file_name").strip()
        if name.lower().endswith((".png", ".jpg", ".jpeg", ".webp", ".gif", ".bmp", ".tif", ".tiff", ".avif", ".heic")):
            yield Image(message=0, reference=name, image_id=label(file.get("file_uuid"), "file_uuid"))
        else:
            unknown["file"] += 1
