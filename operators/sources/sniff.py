"""What a file holds, told by the beginning of its content."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Literal

from operators.errors import SourceError
from operators.records import Session
from operators.sources import locomo, mem_gallery, openai_jsonl, parquet
from operators.sources.origin import Origin

Container = Literal["lines", "document", "parquet"]


@dataclass(frozen=True)
class Format:
    """One format: how a record of it looks, how it is read, and whether its records name their user.

    Where they do not, a record is one conversation, and the file must be seen as a whole to name its user.
    """

    name: str
    matches: Callable[[Any], bool]
    read: Callable[[Any, Origin], Iterator[Session | SourceError]]
    names_user: bool


FORMATS = (
    Format(mem_gallery.NAME, mem_gallery.matches, mem_gallery.read, names_user=False),
    Format(locomo.NAME, locomo.matches, locomo.read, names_user=False),
    Format(openai_jsonl.NAME, openai_jsonl.matches, openai_jsonl.read, names_user=True),
    Format(parquet.NAME, openai_jsonl.matches, openai_jsonl.read, names_user=True),
)
"""Every format this release reads, the more telling shapes first."""


@dataclass(frozen=True)
class Look:
    """What the beginning of a file tells. ``container`` None: it is neither JSON nor Parquet.

    ``settled``: more of the file would not change the answer. ``fault``: where and why what begins like JSON is none.
    """

    container: Container | None
    format: str | None
    settled: bool = True
    fault: str | None = None


def sniff(head: bytes) -> str | None:
    """Name of the format whose content begins with these (unpacked) bytes, None where there is none."""
    return look(head, complete=False).format


def look(head: bytes, *, complete: bool) -> Look:
    """What the beginning of the (unpacked) content tells; ``complete``: there is nothing after it."""
    if parquet.matches(head):
        return Look("parquet", parquet.NAME)
    text = head.decode("utf-8-sig", errors="replace")
    lines = text.split("\n")
    whole = [line for line in (lines if complete else lines[:-1]) if line.strip()]
    values = [value for value in map(_loaded, whole) if value is not _BROKEN]
    if whole and _loaded(whole[0]) is not _BROKEN and not isinstance(values[0], list):
        return Look("lines", _format_of(values))
    value = _loaded(text) if complete else _beginning(text)
    if isinstance(value, dict) and len(lines) == 1 and not complete:
        name = _format_of([value])
        return Look("lines", name, settled=name is not None)
    if isinstance(value, dict | list):
        name = _format_of(value if isinstance(value, list) else [value])
        return Look("document", name, settled=complete or name is not None)
    if (name := _format_of(values)) is not None:
        return Look("lines", name)
    cut_off = _beginning(text)
    name = _format_of(cut_off if isinstance(cut_off, list) else [cut_off])
    if name is not None:
        return Look("document", name)
    return Look(None, None, settled=complete or not text.isspace(), fault=_fault(text))


def _format_of(records: list[Any]) -> str | None:
    return next((form.name for record in records for form in FORMATS if form.matches(record)), None)


_BROKEN = object()


def _loaded(text: str) -> Any:
    """The JSON value, ``_BROKEN`` where it is none."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return _BROKEN


def _fault(text: str) -> str | None:
    if text.lstrip()[:1] not in ("{", "["):
        return None
    try:
        json.loads(text)
    except json.JSONDecodeError as error:
        return f"line {error.lineno}: {error.msg}"
    except (ValueError, RecursionError):
        return "a number is too long or the nesting too deep"
    return None


_TOKEN = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"|[\[\]{},]', re.DOTALL)
_CLOSER = {"{": "}", "[": "]"}


def _beginning(text: str) -> Any:
    """The one value of a text that is cut off somewhere: cut back to its last whole member, open brackets closed."""
    closers: list[str] = []
    cut, tail, closed = 0, "", False
    for token in _TOKEN.finditer(text):
        mark = token[0]
        if mark in _CLOSER:
            closers.append(_CLOSER[mark])
            cut, tail = token.end(), "".join(reversed(closers))
        elif mark == ",":
            cut, tail = token.start(), "".join(reversed(closers))
        elif mark in ("]", "}"):
            if not closers or closers.pop() != mark:
                return _BROKEN
            cut, tail = token.end(), "".join(reversed(closers))
            if not closers:
                closed = True
                break
    if not cut or (closed and text[cut:].strip()):
        return _BROKEN
    return _loaded(text[:cut] + tail)
