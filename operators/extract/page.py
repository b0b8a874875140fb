"""A picture's text with its layout: lines read by OCR, put upright and in rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

Box = tuple[float, float, float, float]
"""Left, top, right, bottom in pixels of the picture as it is seen (EXIF orientation applied)."""


@dataclass(frozen=True)
class TextLine:
    """A line that OCR read: its text, its box and how sure the reader is, 0 to 1."""

    text: str
    box: Box
    score: float


@dataclass(frozen=True)
class PictureText:
    """What OCR read of one picture. ``turn``: degrees, clockwise, that the picture must be turned by to be upright.

    ``tilt``: pixels that a line of text sinks per pixel to the right, once upright.
    """

    width: int
    height: int
    lines: tuple[TextLine, ...]
    turn: int = 0
    tilt: float = 0.0


@dataclass(frozen=True)
class Cell:
    """A line as the rules see it: upright, level; ``line`` is its place in ``PictureText.lines``."""

    text: str
    left: float
    top: float
    right: float
    bottom: float
    line: int
    score: float

    @property
    def height(self) -> float:
        """Of its box."""
        return self.bottom - self.top

    @property
    def middle(self) -> float:
        """Vertical middle."""
        return (self.top + self.bottom) / 2

    def sure(self, confidence: float) -> float:
        """A rule's confidence in what it found here, as far as the reader was sure of the text."""
        return round(confidence * min(1.0, self.score), 3)


def cells_of(picture: PictureText) -> list[Cell]:
    """The picture's lines upright and level, from top to bottom."""
    cells = []
    for at, line in enumerate(picture.lines):
        left, top, right, bottom = _upright(line.box, picture)
        drop = picture.tilt * (left + right) / 2
        cells.append(Cell(line.text, left, top - drop, right, bottom - drop, at, line.score))
    return sorted(cells, key=lambda cell: (cell.middle, cell.left))


def _upright(box: Box, picture: PictureText) -> Box:
    left, top, right, bottom = box
    width, height = picture.width, picture.height
    if picture.turn == 90:
        return height - bottom, left, height - top, right
    if picture.turn == 180:
        return width - right, height - bottom, width - left, height - top
    if picture.turn == 270:
        return top, width - right, bottom, width - left
    return box


def rows_of(cells: Sequence[Cell]) -> list[list[Cell]]:
    """Cells side by side as rows, each from left to right: those whose middles lie within half a line of each other."""
    rows: list[list[Cell]] = []
    for cell in sorted(cells, key=lambda each: each.middle):
        if rows and abs(cell.middle - median(each.middle for each in rows[-1])) < 0.5 * min(
            cell.height, median(each.height for each in rows[-1])
        ):
            rows[-1].append(cell)
        else:
            rows.append([cell])
    return [sorted(row, key=lambda each: each.left) for row in rows]


def part_box(picture: PictureText, line: int, start: int, end: int) -> Box:
    """The box of characters ``start`` to ``end`` of a line, by their share of its length."""
    told = picture.lines[line]
    left, top, right, bottom = told.box
    length = max(1, len(told.text))
    first, last = start / length, end / length
    if picture.turn in (180, 90):
        first, last = 1 - last, 1 - first
    if picture.turn in (90, 270):
        return left, top + (bottom - top) * first, right, top + (bottom - top) * last
    return left + (right - left) * first, top, left + (right - left) * last, bottom
