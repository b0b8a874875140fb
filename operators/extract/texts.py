"""What was read in pictures, as rows of a table and back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from operators.extract.page import PictureText, TextLine
from operators.records import BOX, CONTENT_KEY, MEDIA, PICTURE_TEXTS, picture_key


def picture_rows(read: Sequence[tuple[str, PictureText | str]]) -> pa.Table:
    """``records.PICTURE_TEXTS`` of pictures by name: what was read in each, or the code of what is wrong with it."""
    return pa.Table.from_pylist([_row(name, text) for name, text in read], PICTURE_TEXTS)


def _row(name: str, read: PictureText | str) -> dict[str, Any]:
    picture = PictureText(0, 0, ()) if isinstance(read, str) else read
    return {
        CONTENT_KEY: picture_key(name),
        MEDIA: name,
        "width": picture.width,
        "height": picture.height,
        "turn": picture.turn,
        "tilt": picture.tilt,
        "lines": [{"text": line.text, BOX: list(line.box), "score": line.score} for line in picture.lines],
        "fault": read if isinstance(read, str) else None,
    }


def picture_texts(table: pa.Table) -> dict[str, PictureText]:
    """By name, the pictures of ``records.PICTURE_TEXTS`` that could be read."""
    found = {}
    for row in table.to_pylist():
        if row["fault"] is None:
            lines = tuple(TextLine(line["text"], tuple(line[BOX]), line["score"]) for line in row["lines"])
            found[row[MEDIA]] = PictureText(row["width"], row["height"], lines, row["turn"], row["tilt"])
    return found
