"""Everything a user has, as lines that a backfill turns into the same content again (``operators/sources/native.py``)."""

from __future__ import annotations

import base64
import json
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

from operators.errors import UsageError
from operators.memory import Memory
from operators.records import Round, round_of_row
from operators.sources.native import line_of

HISTORY = "history.jsonl"
PICTURES = "media"

_LINE_BYTES = 8 << 20
_TYPES = {"PNG": "png", "JPEG": "jpg", "WEBP": "webp", "GIF": "gif", "BMP": "bmp", "TIFF": "tiff", "AVIF": "avif"}


@dataclass(frozen=True)
class Exported:
    """What was written."""

    sessions: int
    rounds: int
    pictures: int


def export_to_folder(memory: Memory, user: str, folder: Path) -> Exported:
    """Write ``history.jsonl`` and ``media/`` into a folder that is empty or not there yet; whole or not at all.

    The files of pictures are theirs byte for byte. Of a user who has nothing, nothing is written. UsageError where the
    folder holds something.
    """
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UsageError(f"{folder} is there and not empty: name a new folder")
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f".{folder.name}-", dir=folder.parent) as temporary:
        made = Path(temporary, "export")
        (made / PICTURES).mkdir(parents=True)
        named: dict[str, str] = {}

        def keep(name: str, kind: str | None, data: bytes) -> str:
            if name not in named:
                named[name] = f"{PICTURES}/{name}.{_TYPES.get(kind or '', 'bin')}"
                (made / named[name]).write_bytes(data)
            return named[name]

        with (made / HISTORY).open("w", encoding="utf-8", newline="\n") as stream:
            exported = _write(memory, user, stream, keep, in_ascii=False)
        if exported.rounds:
            made.replace(folder)  # an empty folder may be in its place
    return exported


def export_to_stream(memory: Memory, user: str, stream: TextIO, *, in_ascii: bool = False) -> Exported:
    """Write the lines alone; pictures stand in them as ``data:`` URLs, once a round that shows them.

    ``in_ascii``: other characters as JSON's escapes, for a stream that does not take them.
    """

    def keep(_: str, kind: str | None, data: bytes) -> str:
        return f"data:image/{(kind or 'png').lower()};base64,{base64.b64encode(data).decode('ascii')}"

    return _write(memory, user, stream, keep, in_ascii)


Keep = Callable[[str, str | None, bytes], str]
"""Keeps a picture by its sha256, format and bytes; where it can be found, for the line that shows it."""


def _write(memory: Memory, user: str, stream: TextIO, keep: Keep, in_ascii: bool) -> Exported:
    sessions: set[str] = set()
    pictures: set[str] = set()
    count = 0
    for session_id, rounds in _lines(memory, user):
        files = {}
        for record in rounds:
            for image in record.images:
                if image.media is not None and (data := memory.picture(user, image.media)) is not None:
                    files[image.media] = keep(image.media, image.format, data)
        line = line_of(user, session_id, rounds, files)
        stream.write(json.dumps(line, ensure_ascii=in_ascii) + "\n")
        sessions.add(session_id)
        pictures.update(files)
        count += len(rounds)
    return Exported(len(sessions), count, len(pictures))


def _lines(memory: Memory, user: str) -> Iterator[tuple[str, list[Round]]]:
    """Rounds in the order of the history, those of one session that follow each other together, in lines of bounded size."""
    session: str | None = None
    held: list[Round] = []
    size = 0
    for row in memory.rounds(user).iter_rows(named=True):
        record = round_of_row(row)
        weight = _weight(record)
        if held and (record.session_id != session or size + weight > _LINE_BYTES):
            yield held[0].session_id, held
            held, size = [], 0
        session = record.session_id
        held.append(record)
        size += weight
    if held:
        yield held[0].session_id, held


def _weight(record: Round) -> int:
    """About the bytes of the round in its line; pictures, which may stand in it, make a line of their own soon."""
    text = sum(len(message.text) for message in record.messages)
    return 256 + 4 * text + len(json.dumps(record.metadata)) + (_LINE_BYTES // 4) * len(record.images)
