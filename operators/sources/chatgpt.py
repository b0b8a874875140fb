"""ChatGPT's data export: conversations as graphs of messages, in ``conversations.json`` or ``conversations-000.json`` ..

- Of a conversation's graph (``mapping``) the path from ``current_node`` up through ``parent`` is what was last on screen.
  The messages of other branches are kept out and counted (``branch_messages`` in the session's metadata, beside its title).
  Without ``current_node`` the newest leaf is taken, and ``no-current-node`` is among the round's doubts.
- What is hidden from the conversation is left out. Reasoning, calls of tools and pages they read are counted as parts that
  are not kept; what code printed and quotes from files stay, as messages of a tool.
- Rounds follow the roles and are named by their first message. A picture's pointer is a reference that the files of the
  export answer (``references.asset_of``).
- The user is the one asked for, else the name of the export (``origin.owner_of``).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any
from zoneinfo import ZoneInfo

from operators.errors import SourceError
from operators.records import Image, Message, Session
from operators.sources.fields import clean, identifier, label, mapping, reject, text_of, title_of, wrong_type
from operators.sources.origin import Origin, user_of_export
from operators.sources.parts import kind_of, role_of, time_of
from operators.sources.rounds import Turn, gathered, groups_by_roles, lost_turn, make_session

NAME = "chatgpt"

_TEXT_FIELDS = {"code": "text", "execution_output": "text", "tether_quote": "text"}
_PARTED = ("text", "multimodal_text")


def matches(record: Any) -> bool:
    """True for a conversation: an object with a ``mapping`` of nodes that have a message or a parent."""
    if not isinstance(record, dict) or not isinstance(record.get("mapping"), dict):
        return False
    node = next(iter(record["mapping"].values()), None)
    if node is None:
        return "current_node" in record
    return isinstance(node, dict) and ("message" in node or "parent" in node)


def read(record: Any, origin: Origin) -> Iterator[Session | SourceError]:
    """The session of one conversation, and an error for each message that cannot be read."""
    conversation = mapping(record, "a conversation")
    session_id = label(conversation.get("conversation_id"), "conversation_id") or identifier(conversation.get("id"), "id")
    if session_id is None:
        raise wrong_type("conversation_id", "text", None)
    nodes = mapping(conversation.get("mapping"), "mapping")
    path, doubts = _path(nodes, conversation.get("current_node"))
    turns = gathered(
        turn for number, key in enumerate(path, 1) if (turn := _node(nodes[key], number, origin.zone)) is not None
    )
    if not turns:
        raise reject("no-messages", "the conversation has no message with words or a picture")
    time, undated = time_of(conversation, origin.zone, ("create_time",))
    told: dict[str, Any] = {}
    if title := title_of(conversation.get("title")):
        told["title"] = title
    if branches := sum(_is_said(nodes[key]) for key in nodes.keys() - set(path)):
        told["branch_messages"] = branches
    groups = groups_by_roles(session_id, turns, by_message=True)
    metadata = {"session": told} if told else {}
    yield from make_session(user_of_export(origin), session_id, groups, time, metadata, {**doubts, **undated})


# --- the graph --------------------------------------------------------------------------------------------------


def _path(nodes: Mapping[str, Any], current: object) -> tuple[list[str], dict[str, int]]:
    """Keys of the nodes from the root to the current one; a parent that is missing or was met before ends the walk,
    and is a doubt."""
    doubts: dict[str, int] = {}
    if not isinstance(current, str) or current not in nodes:
        current, doubts = _newest_leaf(nodes), {"no-current-node": 1}
    path: list[str] = []
    seen: set[str] = set()
    while isinstance(current, str) and current in nodes and current not in seen:
        seen.add(current)
        path.append(current)
        node = nodes[current]
        current = node.get("parent") if isinstance(node, dict) else None
    if current is not None:
        doubts["broken-branch"] = 1
    return path[::-1], doubts


def _newest_leaf(nodes: Mapping[str, Any]) -> str | None:
    parents = {node["parent"] for node in nodes.values() if isinstance(node, dict) and isinstance(node.get("parent"), str)}
    leaves = [key for key in nodes if key not in parents] or list(nodes)
    return max(leaves, key=lambda key: (_created(nodes[key]), key), default=None)


def _created(node: object) -> float:
    message = node.get("message") if isinstance(node, dict) else None
    created = message.get("create_time") if isinstance(message, dict) else None
    return (
        float(created) if isinstance(created, int | float) and not isinstance(created, bool) and abs(created) < 1e15 else 0.0
    )


def _is_said(node: object) -> bool:
    """True for a node that a branch would have shown: neither empty nor hidden nor of the system."""
    if not isinstance(node, dict) or not isinstance(message := node.get("message"), dict) or _is_hidden(message):
        return False
    author, content = message.get("author"), message.get("content")
    role = author.get("role") if isinstance(author, dict) else None
    parts = content.get("parts") if isinstance(content, dict) else None
    return role != "system" and isinstance(parts, list) and any(parts)


# --- messages ---------------------------------------------------------------------------------------------------


def _node(raw: object, number: int, zone: ZoneInfo | None) -> Turn | None:
    """The node's message; None where it has none to show. One that cannot be read keeps its place."""
    try:
        message = mapping(raw, "the node").get("message")
        if message is None:
            return None
        message = mapping(message, "the message")
        return None if _is_hidden(message) else _turn(message, zone)
    except SourceError as error:
        return lost_turn("other", reject(error.code, f"message {number} of the current branch: {error}"))


def _is_hidden(message: Mapping[str, Any]) -> bool:
    metadata = message.get("metadata")
    hidden = isinstance(metadata, dict) and metadata.get("is_visually_hidden_from_conversation") is True
    return hidden or message.get("weight") == 0


def _turn(message: Mapping[str, Any], zone: ZoneInfo | None) -> Turn | None:
    author = mapping(message.get("author"), "author")
    role = author.get("role")
    if not isinstance(role, str) or not role.strip():
        raise wrong_type("author: role", "a name such as user or assistant", role)
    text, images, unknown = _content(mapping(message.get("content"), "content"), message.get("recipient"))
    if role_of(role) == "system" and not text.strip():
        return None
    time, doubts = time_of(message, zone, ("create_time",))
    return Turn(
        Message(
            role=role_of(role),
            speaker=text_of(author.get("name"), "author: name").strip() or clean(role.strip()),
            text=text,
            message_id=label(message.get("id"), "id"),
            time=time,
        ),
        images,
        unknown,
        doubts,
    )


def _content(content: Mapping[str, Any], recipient: object) -> tuple[str, tuple[Image, ...], dict[str, int]]:
    kind = content.get("content_type")
    if recipient not in (None, "", "all"):  # said to a tool
        return "", (), {kind_of(kind): 1}
    if kind in _PARTED:
        return _parts(content.get("parts"))
    if isinstance(kind, str) and kind in _TEXT_FIELDS:
        return text_of(content.get(_TEXT_FIELDS[kind]), f"{kind}: text"), (), {}
    return "", (), {kind_of(kind): 1}


def _parts(parts: object) -> tuple[str, tuple[Image, ...], dict[str, int]]:
    if not isinstance(parts, list):
        raise wrong_type("content: parts", "a list", parts)
    texts: list[str] = []
    images: list[Image] = []
    unknown: Counter[str] = Counter()
    for part in parts:
        if isinstance(part, str):
            texts.append(clean(part))
            continue
        if part is None:
            continue
        kind = mapping(part, "a part of content").get("content_type")
        if kind == "image_asset_pointer":
            images.append(Image(message=0, reference=text_of(part.get("asset_pointer"), "asset_pointer")))
        elif kind == "audio_transcription":
            texts.append(text_of(part.get("text"), "audio_transcription: text"))
        else:
            unknown[kind_of(kind)] += 1
    return "\n".join(text for text in texts if text), tuple(images), dict(unknown)
