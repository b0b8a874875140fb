"""What a file holds, told by the beginning of its content."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from operators.errors import SourceError
from operators.records import Session
from operators.sources import (
    anthropic,
    chatgpt,
    claude_export,
    csv_rows,
    locomo,
    longmemeval,
    mem_gallery,
    native,
    openai_jsonl,
    parquet,
    responses,
    rows,
    sharegpt,
)
from operators.sources.columns import find_columns, is_readable
from operators.sources.origin import Origin

Container = Literal["lines", "document", "parquet", "table"]


@dataclass(frozen=True)
class Format:
    """One format: how a record of it looks, how it is read, and what names its user.

    ``user_from``: ``record``, each record does; ``file``, a record is one conversation, and the file must be seen as a whole
    to name its user; ``export``, the files of one folder or archive are one user's (``origin.owner_of``).
    ``gathers``: records are messages, which are grouped into sessions before they are read; so a file is read as one.
    """

    name: str
    matches: Callable[[Any], bool]
    read: Callable[[Any, Origin], Iterator[Session | SourceError]]
    user_from: Literal["record", "file", "export"]
    gathers: bool = False


FORMATS = (
    Format(native.NAME, native.matches, native.read, user_from="record"),
    Format(mem_gallery.NAME, mem_gallery.matches, mem_gallery.read, user_from="file"),
    Format(locomo.NAME, locomo.matches, locomo.read, user_from="file"),
    Format(chatgpt.NAME, chatgpt.matches, chatgpt.read, user_from="export"),
    Format(claude_export.NAME, claude_export.matches, claude_export.read, user_from="export"),
    Format(responses.NAME, responses.matches, responses.read, user_from="record"),
    Format(anthropic.NAME, anthropic.matches, anthropic.read, user_from="record"),
    Format(sharegpt.NAME, sharegpt.matches, sharegpt.read, user_from="export"),
    Format(openai_jsonl.NAME, openai_jsonl.matches, openai_jsonl.read, user_from="record"),
    Format(parquet.NAME, openai_jsonl.matches, openai_jsonl.read, user_from="record"),
    Format(longmemeval.NAME, longmemeval.matches, longmemeval.read, user_from="record"),
    Format(rows.NAME, rows.matches, openai_jsonl.read, user_from="record", gathers=True),
)
"""Every format this release reads, the more telling shapes first."""


@dataclass(frozen=True)
class Look:
    """What the beginning of a file tells. ``container`` None: it is neither JSON nor Parquet nor a table of messages.

    ``settled``: more of the file would not change the answer. ``fault``: where and why what begins like JSON is none.
    ``columns``: of a table, or the names in the objects of the file, where it is one message a row or in no format.
    """

    container: Container | None
    format: str | None
    settled: bool = True
    fault: str | None = None
    columns: tuple[str, ...] = ()


def sniff(head: bytes) -> str | None:
    """Name of the format whose content begins with these (unpacked) bytes, None where there is none."""
    return look(head, complete=False).format


def look(head: bytes, *, complete: bool, chosen: Mapping[str, str] | None = None) -> Look:
    """What the beginning of the (unpacked) content tells; ``complete``: there is nothing after it.

    ``chosen``: the columns that one message a row is read from, where they were mapped (``columns``).
    """
    if parquet.matches(head):
        return Look("parquet", parquet.NAME)
    text = head.decode("utf-8-sig", errors="replace")
    lines = text.split("\n")
    whole = [line for line in (lines if complete else lines[:-1]) if line.strip()]
    values = [value for value in map(_loaded, whole) if value is not _BROKEN]
    if whole and _loaded(whole[0]) is not _BROKEN and not isinstance(values[0], list):
        return _told("lines", values, chosen)
    value = _loaded(text) if complete else _beginning(text)
    if isinstance(value, dict) and len(lines) == 1 and not complete:
        return _told("lines", [value], chosen, settled=False)
    if isinstance(value, dict | list):
        return _told("document", value if isinstance(value, list) else [value], chosen, settled=complete)
    fault = _fault(text)
    header = csv_rows.header_of(head, complete=complete, chosen=chosen) if fault is None else None
    if header is not None and is_readable(find_columns(header.names, chosen)):
        return Look("table", rows.NAME, columns=header.names)
    cut_off = _beginning(text)
    found = _told("lines", values, chosen)
    if found.format is None:
        found = _told("document", cut_off if isinstance(cut_off, list) else [cut_off], chosen)
    if found.format is not None:
        return found
    known = header.names if header is not None else ()
    return Look(None, None, settled=complete or not text.isspace(), fault=fault, columns=known)


def _told(container: Container, records: list[Any], chosen: Mapping[str, str] | None, *, settled: bool = True) -> Look:
    """What records of the file say; the answer is settled where they are in a format."""
    name = next((form.name for record in records for form in FORMATS if form.matches(record)), None)
    if name is None and chosen and any(rows.matches(record, chosen) for record in records):
        name = rows.NAME
    if name is not None and name != rows.NAME:
        return Look(container, name)
    names = {key: None for record in records[:_RECORDS] if isinstance(record, dict) for key in record}
    return Look(container, name, settled=settled or name is not None, columns=tuple(names)[:_NAMES])


_RECORDS, _NAMES = 1000, 1000
"""How many records, and names in them, tell which columns a file has."""

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
    cut, closed = 0, False
    for token in _TOKEN.finditer(text):
        mark = token[0]
        if mark in _CLOSER:
            closers.append(_CLOSER[mark])
            cut = token.end()
        elif mark == ",":
            cut = token.start()
        elif mark in ("]", "}"):
            if not closers or closers.pop() != mark:
                return _BROKEN
            cut = token.end()
            if not closers:
                closed = True
                break
    if not cut or (closed and text[cut:].strip()):
        return _BROKEN
    return _loaded(text[:cut] + "".join(reversed(closers)))
