"""Tables as text: comma, semicolon, tab or bar between cells, a header in the first line.

The first line that is not blank names the columns and tells what stands between cells (``sep=;`` before it, as Excel
writes, says so too). Quotes may hold line ends and doubled quotes. UTF-8, with or without BOM, or UTF-16 with one.
A quote that is never closed costs the line it stands on: those after it are read again without it. A line whose quotes make
no sense (``"Hi" she said``) is taken as it stands, where it has as many cells as the header.
"""

from __future__ import annotations

import csv
import io
import re
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from operators.errors import SourceError
from operators.sources.columns import find_columns
from operators.sources.fields import reject

_DELIMITERS = ",;\t|"
_BUFFER = 1 << 18
_HEADER_LIMIT = 1 << 16
_UNDECODED = re.compile("[\udc80-\udcff]")
_SAID = re.compile(r"sep=(.)\s*", re.IGNORECASE)


@dataclass(frozen=True)
class Header:
    """The names of the columns, each once, and what stands between cells."""

    names: tuple[str, ...]
    delimiter: str


def header_of(head: bytes, *, complete: bool, chosen: Mapping[str, str] | None = None) -> Header | None:
    """The header with which the content begins; None where it begins with none, of two columns at least.

    ``complete``: there is nothing after ``head``; else its last line may be cut off and is not looked at.
    """
    text = _text_of([head])
    lines = _header_lines(text)
    if not lines or not (complete or lines[-1].endswith(("\n", "\r"))) or _UNDECODED.search("".join(lines)):
        return None
    return _header(lines, chosen)


class TableReader:
    """The records of a table, by its header: iterate for (line, record), lines of the file from 1.

    A SourceError stands in place of a row that cannot be read: ``wrong-fields``, ``line-too-long`` (more than ``limit``
    characters), ``open-quote``, ``bad-row``, ``bad-utf8``. SourceErrors of the stream are raised after all that stood before
    them. ``lines``: how many the file has, once all were read.
    """

    def __init__(self, chunks: Iterable[bytes], limit: int, chosen: Mapping[str, str] | None = None) -> None:
        self._raw = _Raw(chunks)
        self._lines = _Lines(_text_of(self._raw), limit)
        self._limit = limit
        self._chosen = chosen

    @property
    def lines(self) -> int:
        """How many lines were read."""
        return self._lines.count

    def __iter__(self) -> Iterator[tuple[int, dict[str, Any] | SourceError]]:
        csv.field_size_limit(max(csv.field_size_limit(), self._limit))
        first = _header_lines(self._lines)
        header = _header(first, self._chosen)
        if header is None:
            yield 1, reject("wrong-columns", "the file does not begin with the names of two columns or more")
        else:
            yield from self._records(header)
        if self._raw.broken is not None:
            raise self._raw.broken

    def _records(self, header: Header) -> Iterator[tuple[int, dict[str, Any] | SourceError]]:
        lines = self._lines
        reader = csv.reader(lines, delimiter=header.delimiter, strict=True)
        names, width = header.names, len(header.names)
        while True:
            line = lines.begin()
            cells: list[str] | None = None
            broken, fault = False, None
            try:
                cells = next(reader, None)
            except _TooLong:
                broken, fault = True, _too_long(self._limit) if len(lines.held) == 1 else _open_quote()
            except csv.Error:
                cells = _as_it_stands(lines.held[0] or "", header.delimiter)
                fault = _open_quote() if lines.ended else None if len(cells) == width else _bad_row()
                broken = True
            if broken:
                lines.take_back()
                reader = csv.reader(lines, delimiter=header.delimiter, strict=True)
            if fault is not None:
                yield line, fault
            elif cells is None:
                return
            elif lines.undecoded:
                yield line, reject("bad-utf8", "the row is not UTF-8")
            elif len(cells) == width:
                yield line, dict(zip(names, cells, strict=True))
            elif cells:
                yield line, reject("wrong-fields", f"the row has {len(cells)} cells, the header {width}")


class _TooLong(Exception):
    """A record holds more than it may."""


class _Lines(Iterator[str]):
    """Lines of a text for a csv reader, which may take back what it was given since the record began.

    A line longer than the limit is passed over and raises ``_TooLong``; so does a record of several that is.
    """

    def __init__(self, text: io.TextIOBase, limit: int) -> None:
        self._text = text
        self._limit = limit
        self._again: deque[str | None] = deque()
        self.held: list[str | None] = []
        self.count = 0
        self.ended = self.undecoded = False
        self._size = 0

    def begin(self) -> int:
        """A record begins; the number of its line."""
        self.held.clear()
        self.ended = self.undecoded = False
        self._size = 0
        return self.count + 1

    def take_back(self) -> None:
        """Give all but the first line of the record again."""
        again = self.held[1:]
        self._again.extendleft(reversed(again))
        self.count -= len(again)

    def __next__(self) -> str:
        line = self._again.popleft() if self._again else self._read()
        if line == "":
            self.ended = bool(self.held)
            raise StopIteration
        self.count += 1
        self.held.append(line)
        self._size += self._limit + 1 if line is None else len(line)
        if line is None or self._size > self._limit:
            raise _TooLong
        if not line.isascii() and _UNDECODED.search(line):
            self.undecoded = True
        return line

    def _read(self) -> str | None:
        """The next line, ``""`` at the end, None for one that is too long."""
        line = self._text.readline(self._limit + 1)
        if len(line) <= self._limit:
            return line
        while line and not line.endswith(("\n", "\r")):
            line = self._text.readline(_BUFFER)
        return None


def _too_long(limit: int) -> SourceError:
    return reject("line-too-long", f"the line is longer than {limit} characters")


def _as_it_stands(line: str, delimiter: str) -> list[str]:
    try:
        return next(csv.reader([line], delimiter=delimiter, quoting=csv.QUOTE_NONE), [])
    except csv.Error:
        return []


def _bad_row() -> SourceError:
    return reject("bad-row", "a quote stands where none can: inside quoted text it must be doubled")


def _open_quote() -> SourceError:
    return reject("open-quote", "a quote is opened on this line and not closed")


class _Raw(io.RawIOBase):
    """Chunks as a raw stream, which ends where they break; ``broken`` says why."""

    def __init__(self, chunks: Iterable[bytes]) -> None:
        super().__init__()
        self._chunks = iter(chunks)
        self._left = memoryview(b"")
        self.broken: SourceError | None = None

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self._left:
            try:
                chunk = next(self._chunks, None)
            except SourceError as error:
                self.broken, chunk = error, None
            if chunk is None:
                return 0
            self._left = memoryview(chunk)
        count = min(len(buffer), len(self._left))
        buffer[:count] = self._left[:count]
        self._left = self._left[count:]
        return count


def _text_of(source: _Raw | Sequence[bytes]) -> io.TextIOWrapper:
    raw = source if isinstance(source, _Raw) else _Raw(source)
    buffered = io.BufferedReader(raw, _BUFFER)
    if buffered.peek(2)[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return io.TextIOWrapper(buffered, "utf-16", "replace", newline="")
    return io.TextIOWrapper(buffered, "utf-8-sig", "surrogateescape", newline="")


def _header_lines(lines: Iterable[str]) -> list[str]:
    """The lines of the first record, with a ``sep=`` line before it; none where it is too long or there is none."""
    found: list[str] = []
    size = quotes = 0
    try:
        for line in lines:
            size += len(line)
            if size > _HEADER_LIMIT:
                return []
            if not found and not line.strip():
                continue
            found.append(line)
            quotes += line.count('"')
            if quotes % 2 == 0 and not (len(found) == 1 and _SAID.fullmatch(line)):
                break
    except _TooLong:
        return []
    return found


def _header(lines: Sequence[str], chosen: Mapping[str, str] | None) -> Header | None:
    if not lines:
        return None
    said = _SAID.fullmatch(lines[0])
    found = [_named(lines[1:], said[1])] if said else [_named(lines, mark) for mark in _DELIMITERS]
    headers = [header for header in found if header is not None]
    return max(headers, key=lambda header: (len(find_columns(header.names, chosen)), len(header.names)), default=None)


def _named(lines: Sequence[str], delimiter: str) -> Header | None:
    try:
        cells = next(csv.reader(lines, delimiter=delimiter), [])
    except (csv.Error, TypeError, ValueError):
        return None
    if len(cells) < 2 or not any(cell.strip() for cell in cells):
        return None
    names: dict[str, None] = {}
    for cell in cells:
        name, number = cell.strip(), 1
        while name in names:
            number += 1
            name = f"{cell.strip()} ({number})"
        names[name] = None
    return Header(tuple(names), delimiter)
