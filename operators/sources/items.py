"""A split's records one by one, whatever holds them: lines, a JSON document, a table, or Parquet."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from typing import IO, Any

from operators.errors import SourceError
from operators.sources import parquet
from operators.sources.columns import BESIDE, find_columns
from operators.sources.csv_rows import TableReader
from operators.sources.documents import values_of
from operators.sources.fields import reject
from operators.sources.files import Files, SourceFile
from operators.sources.lines import lines_of
from operators.sources.origin import placed
from operators.sources.sniff import Container
from operators.sources.streams import raw_chunks, unpacked_chunks


@dataclass(frozen=True)
class Split:
    """A part of a file that is read on its own.

    ``start`` and ``end`` are bytes of plain JSON lines, row groups of Parquet, else the whole file. ``packed``: it must be
    unpacked first.
    """

    file: SourceFile
    format: str
    index: int
    start: int
    end: int
    container: Container
    packed: bool


@dataclass(frozen=True)
class SplitEnd:
    """The last item of a split: how many lines (rows, for Parquet) it has, blank ones and broken ones included."""

    lines: int


@dataclass(frozen=True)
class Record:
    """One JSON value and the line (row, for Parquet) on which it begins, from 1 within the split.

    ``part`` is its number among the conversations of its file, None where it is the only one or where that does not matter.
    """

    line: int
    value: Any
    part: int | None = None


Item = Record | SourceError | SplitEnd


def items_of(split: Split, files: Files, limit: int, chosen: Mapping[str, str] | None = None) -> Iterator[Item]:
    """The records of a split, an error in place of each that is none, and SplitEnd.

    No record is longer than ``limit`` bytes (characters, in a document or table; a row of Parquet has no limit).
    ``chosen``: the columns that were mapped, of a table or of Parquet with one message a row.
    """
    if split.container == "lines":
        return _lines(split, files, limit)
    if split.container == "table":
        return _table(split, files, limit, chosen)
    return _documents(split, files, limit) if split.container == "document" else _rows(split, files, chosen)


@contextmanager
def open_parquet(file: SourceFile, files: Files, packed: bool) -> Iterator[IO[bytes]]:
    """The Parquet file as a stream in which one can seek."""
    with closing(files.open(file.uri)) as raw:
        if not packed and raw.seekable():
            yield raw
            return
    with parquet.spooled(unpacked_chunks(files, file.uri)) as stream:
        yield stream


def _lines(split: Split, files: Files, limit: int) -> Iterator[Item]:
    count = 0
    try:
        for data in _split_lines(split, files, limit):
            count += 1
            if data is None:
                yield placed(reject("line-too-long", f"the line is longer than {limit} bytes"), split.file.uri, count)
            elif data.strip():
                yield _json_line(data.removeprefix(b"\xef\xbb\xbf") if count == 1 else data, count, split.file.uri)
    except SourceError as error:
        yield placed(error, split.file.uri, count + 1)
    yield SplitEnd(count)


def _split_lines(split: Split, files: Files, limit: int) -> Iterator[bytes | None]:
    uri = split.file.uri
    if split.packed:
        return lines_of(unpacked_chunks(files, uri), limit)
    if split.start == 0:
        return lines_of(raw_chunks(files, uri), limit, within=split.end)
    begin = split.start - 1
    return lines_of(raw_chunks(files, uri, begin), limit, within=split.end - begin, midway=True)


def _json_line(data: bytes, line: int, file: str) -> Record | SourceError:
    try:
        return Record(line, json.loads(data.decode("utf-8")))
    except UnicodeDecodeError:
        return placed(reject("bad-utf8", "the line is not UTF-8"), file, line)
    except json.JSONDecodeError as error:
        return placed(reject("bad-json", f"{error.msg}, character {error.pos + 1}"), file, line)
    except (ValueError, RecursionError):
        return placed(reject("bad-json", "a number is too long or the nesting too deep"), file, line)


def _documents(split: Split, files: Files, limit: int) -> Iterator[Item]:
    uri = split.file.uri
    lines = _Counted(unpacked_chunks(files, uri))
    try:
        for line, value in values_of(lines, limit):
            yield placed(value, uri, line) if isinstance(value, SourceError) else Record(line, value)
    except SourceError as error:
        yield placed(error, uri, None)
    yield SplitEnd(lines.total)


class _Counted:
    """Chunks that pass through, and how many lines they had."""

    def __init__(self, chunks: Iterator[bytes]) -> None:
        self._chunks = chunks
        self._newlines = 0
        self._last = b"\n"

    def __iter__(self) -> Iterator[bytes]:
        for chunk in self._chunks:
            self._newlines += chunk.count(b"\n")
            self._last = chunk[-1:] or self._last
            yield chunk

    @property
    def total(self) -> int:
        return self._newlines + (self._last != b"\n")


def _table(split: Split, files: Files, limit: int, chosen: Mapping[str, str] | None) -> Iterator[Item]:
    uri = split.file.uri
    table = TableReader(unpacked_chunks(files, uri), limit, chosen)
    try:
        for line, row in table:
            yield placed(row, uri, line) if isinstance(row, SourceError) else Record(line, row)
    except SourceError as error:
        yield placed(error, uri, table.lines + 1)
    yield SplitEnd(table.lines)


def _rows(split: Split, files: Files, chosen: Mapping[str, str] | None) -> Iterator[Item]:
    total = 0
    uri = split.file.uri
    try:
        with open_parquet(split.file, files, split.packed) as stream:
            total = parquet.row_count(stream, split.start, split.end)
            wanted = None if split.format == parquet.NAME else _wanted(parquet.columns_of(stream), chosen)
            for line, row in parquet.rows_of(stream, split.start, split.end, wanted):
                yield placed(row, uri, line) if isinstance(row, SourceError) else Record(line, row)
    except SourceError as error:
        yield placed(error, uri, None)
    yield SplitEnd(total)


def _wanted(names: tuple[str, ...], chosen: Mapping[str, str] | None) -> tuple[str, ...]:
    """The columns of Parquet that one message a row is read from; those beside them may be large."""
    used = {*find_columns(names, chosen).values(), *BESIDE}
    return tuple(name for name in names if name in used)
