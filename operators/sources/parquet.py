"""Parquet with our JSONL's columns: ``user_id``, ``session_id``, ``messages`` and, optional, a time column and ``metadata``.

``messages`` is a list of structs (role, content, timestamp ..) or JSON text; all else is read as in our JSONL. Without a
column ``messages`` a file holds one message a row (``rows``). Rows are read in small batches, whatever the size of a row
group.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import IO, Any

import pyarrow as pa
import pyarrow.parquet as pq

from operators.errors import SourceError
from operators.sources.fields import reject
from operators.sources.parts import TIME_FIELDS

NAME = "parquet"

_MAGIC = b"PAR1"
_COLUMNS = ("user_id", "session_id", "messages", "metadata", *TIME_FIELDS)
_BATCH_BYTES = 4 << 20
_BATCH_ROWS = 1024
_IN_MEMORY = 16 << 20
_BROKEN = (pa.ArrowException, OSError, ValueError, OverflowError, KeyError)
"""What Arrow raises on bytes that are not what the footer says."""


def matches(head: bytes) -> bool:
    """True for a Parquet file."""
    return head[:4] == _MAGIC


@contextmanager
def spooled(chunks: Iterable[bytes]) -> Iterator[IO[bytes]]:
    """A temporary file of ``chunks``, on disk where it is large."""
    with tempfile.SpooledTemporaryFile(max_size=_IN_MEMORY) as stream:
        for chunk in chunks:
            stream.write(chunk)
        stream.seek(0)
        yield stream


def row_group_ranges(stream: IO[bytes], split_bytes: int) -> list[tuple[int, int]]:
    """Ranges of row groups (first, one past last) of about ``split_bytes`` each.

    SourceError ``bad-parquet`` where it is broken, ``wrong-columns`` where ``messages`` are of no readable type.
    """
    with _opened(stream) as file:
        _check(file.schema_arrow)
        ranges: list[tuple[int, int]] = []
        first = size = 0
        for group in range(file.num_row_groups):
            size += file.metadata.row_group(group).total_byte_size
            if size >= split_bytes or group == file.num_row_groups - 1:
                ranges.append((first, group + 1))
                first, size = group + 1, 0
        return ranges


def columns_of(stream: IO[bytes]) -> tuple[str, ...]:
    """The names of the columns. SourceError ``bad-parquet``."""
    with _opened(stream) as file:
        return tuple(file.schema_arrow.names)


def row_groups(stream: IO[bytes]) -> int:
    """How many row groups there are. SourceError ``bad-parquet``."""
    with _opened(stream) as file:
        return int(file.num_row_groups)


def row_count(stream: IO[bytes], first: int, end: int) -> int:
    """How many rows there are in row groups ``first`` up to ``end``. SourceError ``bad-parquet``."""
    with _opened(stream) as file:
        return sum(file.metadata.row_group(group).num_rows for group in range(first, end))


def rows_of(
    stream: IO[bytes], first: int, end: int, wanted: Sequence[str] | None = None
) -> Iterator[tuple[int, dict[str, Any] | SourceError]]:
    """The rows of row groups ``first`` up to ``end``, numbered from 1: as records of our JSONL, or the ``wanted`` columns.

    A SourceError stands in place of a row that is none, and of the rest of a row group that is broken.
    """
    with _opened(stream) as file:
        schema = file.schema_arrow
        if wanted is None:
            _check(schema)
        columns = [name for name in _COLUMNS if name in schema.names] if wanted is None else list(wanted)
        before = 0
        for group in range(first, end):
            line = before
            try:
                for row in _group_rows(file, group, columns):
                    line += 1
                    yield line, _record(row) if wanted is None else row
            except _BROKEN as error:
                yield line + 1, _bad_parquet(error)
            before += file.metadata.row_group(group).num_rows


def _group_rows(file: pq.ParquetFile, group: int, columns: list[str]) -> Iterator[dict[str, Any]]:
    found = file.metadata.row_group(group)
    size = int(max(1, min(_BATCH_ROWS, _BATCH_BYTES * found.num_rows // max(found.total_byte_size, 1))))
    for batch in file.iter_batches(size, row_groups=[group], columns=columns):
        yield from pa.Table.from_batches([batch]).cast(_coarse_schema(batch.schema), safe=False).to_pylist()


@contextmanager
def _opened(stream: IO[bytes]) -> Iterator[pq.ParquetFile]:
    try:
        with pq.ParquetFile(pa.PythonFile(stream, mode="r"), pre_buffer=False) as file:
            yield file
    except _BROKEN as error:
        raise _bad_parquet(error) from error


def _bad_parquet(error: Exception) -> SourceError:
    return reject("bad-parquet", f"the Parquet file is broken ({type(error).__name__})")


def _check(schema: pa.Schema) -> None:
    shown = ", ".join(f"{field.name}: {field.type}" for field in schema)[:500]
    if "messages" not in schema.names:
        raise reject("wrong-columns", f"expected columns user_id, session_id, messages; found {shown or 'none'}")
    kind = schema.field("messages").type
    if not (_is_text(kind) or (_is_list(kind) and pa.types.is_struct(kind.value_type))):
        raise reject("wrong-columns", f"expected messages as list<struct<role, content, ..>> or JSON text; found {shown}")


def _record(row: dict[str, Any]) -> dict[str, Any] | SourceError:
    messages = row.get("messages")
    if isinstance(messages, str):
        try:
            row["messages"] = json.loads(messages)
        except (ValueError, RecursionError) as error:
            reason = error.msg if isinstance(error, json.JSONDecodeError) else "not readable"
            return reject("bad-json", f"messages is not JSON: {reason}")
    if isinstance(metadata := row.get("metadata"), str):
        try:
            row["metadata"] = json.loads(metadata)
        except (ValueError, RecursionError):
            row["metadata"] = metadata
    return row


def _is_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))


def _is_list(kind: pa.DataType) -> bool:
    return bool(pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind))


def _coarse_schema(schema: pa.Schema) -> pa.Schema:
    return pa.schema([field.with_type(_coarse(field.type)) for field in schema])


def _coarse(kind: pa.DataType) -> pa.DataType:
    """The type with nanoseconds as microseconds, which is as fine as a datetime can be."""
    if pa.types.is_timestamp(kind) and kind.unit == "ns":
        return pa.timestamp("us", tz=kind.tz)
    if pa.types.is_struct(kind):
        return pa.struct([field.with_type(_coarse(field.type)) for field in kind])
    if pa.types.is_large_list(kind):
        return pa.large_list(kind.value_field.with_type(_coarse(kind.value_type)))
    if pa.types.is_list(kind):
        return pa.list_(kind.value_field.with_type(_coarse(kind.value_type)))
    return kind
