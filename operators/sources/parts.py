"""What a message holds, in the shapes that OpenAI's and Anthropic's APIs share: a role, and text or a list of parts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from zoneinfo import ZoneInfo

from operators.errors import SourceError
from operators.records import Image, Instant, Role
from operators.sources.fields import clean, identifier, json_type, label, mapping, text_of
from operators.sources.times import parse_time

CALLS = ("tool_calls", "function_call")
"""Where a message or row holds calls of tools beside what it says."""

TIME_FIELDS = ("timestamp", "created_at", "time", "date")
"""Where a record tells its time: the first that is neither null nor blank."""

_ROLES: dict[str, Role] = {
    "user": "user",
    "human": "user",
    "assistant": "assistant",
    "ai": "assistant",
    "gpt": "assistant",
    "chatgpt": "assistant",
    "claude": "assistant",
    "model": "assistant",
    "bot": "assistant",
    "system": "system",
    "developer": "system",
    "tool": "tool",
    "function": "tool",
}
_TEXT_PARTS = {"text": "text", "input_text": "text", "output_text": "text", "refusal": "refusal"}
_NAME_LIMIT = 64


@dataclass(frozen=True)
class Content:
    """A message's text (parts joined by line ends), its pictures, and how many parts of which kind nobody here can read."""

    text: str = ""
    images: tuple[Image, ...] = ()
    unknown: Mapping[str, int] = field(default_factory=dict)


def role_of(written: str) -> Role:
    """The role that a source's word means; ``other`` for a word that is none."""
    return _ROLES.get(written.strip().lower(), "other")


def role_told(raw: object, key: str = "role") -> Role:
    """The role of a message that may be none; ``other`` where it tells none."""
    written = raw.get(key) if isinstance(raw, dict) else None
    return role_of(written) if isinstance(written, str) else "other"


def named_in(record: Mapping[str, Any], *paths: str) -> str | None:
    """The first id that stands under one of the paths (``metadata.user_id``); None where none does.

    SourceError ``wrong-type`` or ``bad-id`` where it is no id.
    """
    for path in paths:
        value: Any = record
        for key in path.split("."):
            value = value.get(key) if isinstance(value, dict) else None
        if value is not None:
            return identifier(value, path)
    return None


def content_of(value: object) -> Content:
    """Text, a list of parts, or nothing (None). SourceError ``wrong-type``.

    Parts: ``text``, ``input_text``, ``output_text``, ``refusal``; ``image_url`` and ``input_image`` (a URL as text or under
    ``url``), Anthropic's ``image`` (base64 or URL source). A picture part may carry ``caption`` and ``image_id``. Parts of
    any other type are counted.
    """
    if not isinstance(value, list):
        return Content(text_of(value, "content"))
    texts: list[str] = []
    images: list[Image] = []
    unknown: Counter[str] = Counter()
    for part in value:
        if isinstance(part, str):
            texts.append(clean(part))
            continue
        kind = mapping(part, "a part of content").get("type")
        if isinstance(kind, str) and kind in _TEXT_PARTS:
            texts.append(text_of(part.get(_TEXT_PARTS[kind]), f"a {kind} part"))
        elif (image := image_of(part)) is not None:
            images.append(image)
        else:
            unknown[kind_of(kind)] += 1
    return Content("\n".join(text for text in texts if text), tuple(images), dict(unknown))


def kind_of(kind: object) -> str:
    """The name under which a part of unknown kind is counted."""
    return clean(kind)[:_NAME_LIMIT] if isinstance(kind, str) else json_type(kind)


def image_of(part: Mapping[str, Any]) -> Image | None:
    """The picture of a part; None where it is no picture, or names none that could be found. SourceError ``wrong-type``."""
    reference = _reference(part)
    if reference is None:
        return None
    return Image(
        message=0,
        reference=reference,
        image_id=label(part.get("image_id"), "image_id"),
        caption=text_of(part.get("caption"), "caption") or None,
    )


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


def time_of(
    holder: Mapping[str, Any], zone: ZoneInfo | None, fields: tuple[str, ...] = TIME_FIELDS
) -> tuple[Instant | None, Mapping[str, int]]:
    """The time a record tells, and the doubts it leaves: one that is not understood is no reason to lose what was said."""
    value = next((holder[key] for key in fields if holder.get(key) is not None and holder[key] != ""), None)
    if value is None:
        return None, {}
    try:
        return parse_time(value, zone), {}
    except SourceError as error:
        return None, {error.code: 1}
