"""Data files: Parquet tables and float16 vectors, written once, read by ranges, checked against their manifest."""

from __future__ import annotations

import hashlib
import io
import tempfile
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import reduce
from pathlib import Path
from typing import BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from operators.errors import ObjectNotFound, StoreCorrupt, StoreError
from operators.store.manifest import DataFile
from operators.store.objects import ObjectStore

ROW_GROUP = 2048
"""Most rows of a row group: what a reader of one user's rows fetches beyond them is at most two of these."""

PICTURES_GROUP = 256
"""The same of a table of pictures' vectors, some kilobytes a row."""

IN_MEMORY = 16 << 20
"""Bytes up to which a file is made in memory: to write and read a scratch file takes longer than most of them do."""

_ALONE = 4 << 20
"""Bytes up to which row groups are decoded by the caller: to hand them to other threads takes longer than it saves."""

NPY_HEADER = 128
"""Bytes before the first vector. NumPy pads a header to a multiple of 64; one of two dimensions always comes to this."""


# --- writing --------------------------------------------------------------------------------------------------------


def write_table(
    objects: ObjectStore, key: str, table: pa.Table, schema: pa.Schema, *, row_group: int = ROW_GROUP
) -> DataFile:
    """Write a table as zstd Parquet. ValueError unless its schema is ``schema`` to the letter, in order and nullability."""
    if not table.schema.equals(schema):
        raise ValueError(f"{key}: the table has another schema.\nexpected:\n{schema}\nfound:\n{table.schema}")
    empty = [field.name for field in schema if not field.nullable and table.column(field.name).null_count]
    if empty:
        raise ValueError(f"{key}: nulls where the schema allows none: {', '.join(empty)}")
    if table.nbytes > IN_MEMORY:
        return _through_file(objects, key, table.num_rows, lambda file: _dump(table, file, row_group))
    sink = pa.BufferOutputStream()
    _dump(table, sink, row_group)
    return _put(objects, key, sink.getvalue().to_pybytes(), table.num_rows)


def _dump(table: pa.Table, file: BinaryIO | pa.BufferOutputStream, row_group: int) -> None:
    pq.write_table(table, file, compression="zstd", row_group_size=row_group)


def write_pack(objects: ObjectStore, key: str, parts: Iterable[bytes]) -> tuple[DataFile, list[int]]:
    """Write parts one behind the other; the file (``rows``: the parts) and where each begins, in bytes."""
    starts: list[int] = []
    held: list[bytes] = []
    size = 0
    rest = iter(parts)
    for part in rest:
        starts.append(size)
        held.append(part)
        size += len(part)
        if size > IN_MEMORY:
            break
    else:
        return _put(objects, key, b"".join(held), len(starts)), starts
    with _scratch(key) as folder:
        path = folder / "pack"
        with path.open("wb") as file:
            file.writelines(held)
            held.clear()
            for part in rest:
                starts.append(file.tell())
                file.write(part)
        return _upload(objects, key, path, len(starts)), starts


def parquet_bytes(table: pa.Table) -> bytes:
    """A small table as Parquet, as packs hold them."""
    sink = pa.BufferOutputStream()
    # What helps to skip parts of a large file would be most of a small one.
    told = {"compression": "zstd", "use_dictionary": False, "write_statistics": False, "store_schema": False}
    with pq.ParquetWriter(sink, table.schema, **told) as writer:
        writer.write_table(table)
    return bytes(sink.getvalue())


def write_vectors(objects: ObjectStore, key: str, parts: Iterable[NDArray[np.floating]], dim: int) -> DataFile:
    """Write blocks of vectors, each (n, dim), one after the other as one float16 ``.npy`` of (sum of n, dim), C order.

    Blocks are taken one at a time. ValueError for a block of another shape, or a number that float16 cannot hold.
    """
    with _scratch(key) as folder:
        path = folder / "vectors.npy"
        with path.open("wb") as file:
            file.write(bytes(NPY_HEADER))
            rows = sum(_append(file, key, part, dim) for part in parts)
            file.seek(0)
            file.write(_npy_header(rows, dim))
        return _upload(objects, key, path, rows)


def vector_column(vectors: NDArray[np.floating]) -> pa.FixedSizeListArray:
    """Vectors (n, dim) as a column of float16 lists."""
    flat = pa.array(np.ascontiguousarray(vectors, dtype=np.float16).reshape(-1), pa.float16())
    return pa.FixedSizeListArray.from_arrays(flat, vectors.shape[1])


def vector_rows(column: pa.ChunkedArray) -> NDArray[np.float16]:
    """A column of vectors as rows (n, dim)."""
    flat: NDArray[np.float16] = column.combine_chunks().flatten().to_numpy(zero_copy_only=False)
    return flat.reshape(len(column), column.type.list_size)


def _append(file: BinaryIO, key: str, part: NDArray[np.floating], dim: int) -> int:
    if part.ndim != 2 or part.shape[1] != dim:
        raise ValueError(f"{key}: a block of shape {part.shape}, expected (n, {dim})")
    with np.errstate(over="ignore"):
        block = np.ascontiguousarray(part, dtype="<f2")
    if not np.isfinite(block).all():
        raise ValueError(f"{key}: a vector holds a number that is no finite float16")
    file.write(block.data if block.size else b"")
    return len(block)


def _npy_header(rows: int, dim: int) -> bytes:
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(header, {"descr": "<f2", "fortran_order": False, "shape": (rows, dim)})
    if len(header.getvalue()) != NPY_HEADER:
        raise ValueError(f"a header of {len(header.getvalue())} bytes for shape ({rows}, {dim}), expected {NPY_HEADER}")
    return header.getvalue()


@contextmanager
def _scratch(key: str) -> Iterator[Path]:
    """A temporary folder; StoreError where the machine has no room for it."""
    try:
        with tempfile.TemporaryDirectory() as folder:
            yield Path(folder)
    except OSError as error:
        raise StoreError(
            f"{key} could not be prepared in {tempfile.gettempdir()}: {error.strerror or type(error).__name__}; "
            "make room there, or set TMPDIR to a disk that has some"
        ) from error


def _through_file(objects: ObjectStore, key: str, rows: int, write: Callable[[BinaryIO], None]) -> DataFile:
    with _scratch(key) as folder:
        path = folder / "data"
        with path.open("wb") as file:
            write(file)
        return _upload(objects, key, path, rows)


def _put(objects: ObjectStore, key: str, data: bytes, rows: int) -> DataFile:
    objects.put(key, data)
    return DataFile(path=key, bytes=len(data), sha256=hashlib.sha256(data).hexdigest(), rows=rows)


def _upload(objects: ObjectStore, key: str, path: Path, rows: int) -> DataFile:
    with path.open("rb") as file:
        sha256 = hashlib.file_digest(file, "sha256").hexdigest()
    objects.put_file(key, path)
    return DataFile(path=key, bytes=path.stat().st_size, sha256=sha256, rows=rows)


# --- reading --------------------------------------------------------------------------------------------------------


def read_table(
    objects: ObjectStore,
    file: DataFile,
    *,
    columns: Sequence[str] | None = None,
    start: int = 0,
    count: int | None = None,
) -> pa.Table:
    """``count`` rows from ``start`` (all by default) of the columns named, in that order; other row groups are not read.

    ValueError for rows or columns that the file does not have; StoreCorrupt where it is missing or not what was written.
    """
    count = _checked_range(file, start, count)
    with _parquet(objects, file) as parquet:
        return _rows(file, parquet, columns, start, count)


def iter_table(objects: ObjectStore, file: DataFile, *, columns: Sequence[str] | None = None) -> Iterator[pa.Table]:
    """The table in order, at most ``ROW_GROUP`` rows at a time; errors as in ``read_table``."""
    with _parquet(objects, file) as parquet:
        for start in range(0, file.rows, ROW_GROUP):
            yield _rows(file, parquet, columns, start, min(ROW_GROUP, file.rows - start))


def read_sorted(objects: ObjectStore, file: DataFile, wanted: Mapping[str, str]) -> pa.Table:
    """The rows whose columns of ``wanted`` hold its values, of a table sorted by those columns, in order of the mapping.

    Found by bisection over row groups, of which only these columns are read; then the row groups that hold the rows are.
    Errors as in ``read_table``.
    """
    names, values = list(wanted), tuple(wanted.values())
    with _parquet(objects, file) as parquet:

        def last(group: int) -> tuple[str, ...]:
            keys = parquet.read_row_group(group, columns=names)
            return tuple(keys[name][-1].as_py() for name in names)

        groups = range(parquet.metadata.num_row_groups if file.rows else 0)  # one without rows is a group too
        found = [parquet.schema_arrow.empty_table()]
        for group in groups[bisect_left(groups, values, key=last) :]:
            table = parquet.read_row_group(group)
            theirs = [pc.equal(table[name], value) for name, value in wanted.items()]
            found.append(table.filter(reduce(pc.and_, theirs)))
            if last(group) > values:
                break
    return pa.concat_tables(found).combine_chunks()


def read_near(
    objects: ObjectStore, file: DataFile, wanted: Iterable[tuple[str, ...]], *, by: Sequence[str], columns: Sequence[str]
) -> pa.Table:
    """The rows whose strings in the columns ``by`` are among ``wanted``, in order, and others of the row groups they lie in.

    Row groups are chosen by what the file tells of its least and greatest values: the fewest of a table sorted by these
    columns. Errors as in ``read_table``.
    """
    sought = sorted(wanted)
    with _parquet(objects, file) as parquet:
        if parquet.metadata.num_rows != file.rows:
            raise _other_rows(file, parquet)
        groups = _near(parquet.metadata, sought, by)
        if not groups:
            return parquet.schema_arrow.empty_table().select(columns)
        return _read_groups(parquet, groups, columns)


@contextmanager
def _parquet(objects: ObjectStore, file: DataFile) -> Iterator[pq.ParquetFile]:
    try:
        with objects.open(file.path) as source:
            far = not isinstance(source, pa.MemoryMappedFile | pa.BufferReader)  # what is at hand is not fetched ahead
            with pq.ParquetFile(source, pre_buffer=far) as parquet:
                yield parquet
    except ObjectNotFound:
        raise _missing(objects, file) from None
    except (pa.ArrowException, OSError) as error:
        raise _unreadable(objects, file, error) from error


def _rows(file: DataFile, parquet: pq.ParquetFile, columns: Sequence[str] | None, start: int, count: int) -> pa.Table:
    if parquet.metadata.num_rows != file.rows:
        raise _other_rows(file, parquet)
    schema = parquet.schema_arrow
    names = schema.names if columns is None else list(columns)
    if unknown := set(names) - set(schema.names):
        raise ValueError(f"{file.path} has no columns {sorted(unknown)}, only {schema.names}")
    groups, skipped = _groups(parquet.metadata, start, count)
    if not groups:
        return schema.empty_table().select(names)
    return _read_groups(parquet, groups, names).slice(start - skipped, count)


def _read_groups(parquet: pq.ParquetFile, groups: Sequence[int], names: Sequence[str]) -> pa.Table:
    size = sum(parquet.metadata.row_group(group).total_byte_size for group in groups)
    return parquet.read_row_groups(groups, columns=names, use_threads=size > _ALONE).select(names)


def _groups(metadata: pq.FileMetaData, start: int, count: int) -> tuple[list[int], int]:
    """The row groups that hold the rows, and how many rows precede the first of them."""
    groups: list[int] = []
    skipped = position = 0
    for number in range(metadata.num_row_groups):
        rows = metadata.row_group(number).num_rows
        if position < start + count and position + rows > start:
            skipped = skipped if groups else position
            groups.append(number)
        position += rows
    return groups, skipped


def _near(metadata: pq.FileMetaData, sought: Sequence[tuple[str, ...]], by: Sequence[str]) -> list[int]:
    """The row groups that may hold some of ``sought``, which rise: all that are not told to hold none."""
    paths = [metadata.schema.column(at).path for at in range(metadata.num_columns)]
    at = [paths.index(name) for name in by]
    groups = []
    for number in range(metadata.num_row_groups):
        told = [metadata.row_group(number).column(column).statistics for column in at]
        first = 0
        if all(each is not None and each.has_min_max for each in told):
            first = bisect_left(sought, tuple(each.min for each in told))
            if first < len(sought) and sought[first] > tuple(each.max for each in told):
                continue
        if first < len(sought):
            groups.append(number)
    return groups


def _other_rows(file: DataFile, parquet: pq.ParquetFile) -> StoreCorrupt:
    return StoreCorrupt(f"{file.path}: {parquet.metadata.num_rows} rows, the manifest says {file.rows}. {_ADVICE}")


def read_part(objects: ObjectStore, file: DataFile, start: int, length: int) -> bytes:
    """``length`` bytes of a pack from ``start``; StoreCorrupt where they are not all there."""
    if start < 0 or length < 0 or start + length > file.bytes:
        raise StoreCorrupt(f"{file.path} has {file.bytes} bytes, not {length} from {start}. {_ADVICE}")
    data = _get(objects, file, start, length) if length else b""
    if len(data) != length:
        raise StoreCorrupt(f"{file.path} in {objects.uri} is shorter than the manifest says. {_ADVICE}")
    return data


def read_packed(objects: ObjectStore, file: DataFile, start: int, length: int) -> pa.Table:
    """A Parquet table of a pack; StoreCorrupt where there is none."""
    data = read_part(objects, file, start, length)
    try:
        return pq.read_table(pa.BufferReader(data))
    except (pa.ArrowException, OSError) as error:
        raise _unreadable(objects, file, error) from error


def read_vectors(objects: ObjectStore, file: DataFile, start: int, count: int) -> NDArray[np.float16]:
    """Vectors ``start`` to ``start + count`` as float16 (count, dim), read-only; one ranged read, none beside them.

    ValueError for rows that the file does not have; StoreCorrupt where it is missing or not what was written.
    """
    _checked_range(file, start, count)
    dim = _dim(objects, file)
    if count == 0:
        return np.zeros((0, dim), dtype=np.float16)
    data = _get(objects, file, NPY_HEADER + start * dim * 2, count * dim * 2)
    if len(data) != count * dim * 2:
        raise StoreCorrupt(f"{file.path} in {objects.uri} is shorter than the manifest says. {_ADVICE}")
    return np.frombuffer(data, dtype="<f2").reshape(count, dim)


def _dim(objects: ObjectStore, file: DataFile) -> int:
    if file.rows == 0:  # only the header knows the width of no rows
        header = io.BytesIO(_get(objects, file, 0, NPY_HEADER))
        try:
            np.lib.format.read_magic(header)
            return int(np.lib.format.read_array_header_1_0(header)[0][1])
        except (ValueError, IndexError) as error:
            raise StoreCorrupt(f"{file.path} in {objects.uri} holds no vectors ({error}). {_ADVICE}") from error
    dim, rest = divmod(file.bytes - NPY_HEADER, file.rows * 2)
    if rest or dim < 0:
        raise StoreCorrupt(f"{file.path}: {file.bytes} bytes are not {file.rows} float16 vectors. {_ADVICE}")
    return dim


def read_whole(objects: ObjectStore, file: DataFile) -> bytes:
    """The file's bytes, checked against the manifest's sha256; StoreCorrupt where they differ or are missing."""
    data = _get(objects, file, 0, None)
    if len(data) != file.bytes or hashlib.sha256(data).hexdigest() != file.sha256:
        found = f"{len(data)} of {file.bytes} bytes"
        raise StoreCorrupt(f"{file.path} in {objects.uri} is not what was written ({found}). {_ADVICE}")
    return data


def read_table_verified(objects: ObjectStore, file: DataFile) -> pa.Table:
    """The whole table, its bytes checked against the manifest's sha256."""
    data = read_whole(objects, file)
    try:
        return pq.read_table(pa.BufferReader(data))
    except (pa.ArrowException, OSError) as error:
        raise _unreadable(objects, file, error) from error


_ADVICE = "Restore it from a copy, read an older version (--as-of), or backfill the sources into a new store."


def _get(objects: ObjectStore, file: DataFile, start: int, length: int | None) -> bytes:
    try:
        return objects.get(file.path, start=start, length=length)
    except ObjectNotFound:
        raise _missing(objects, file) from None


def _unreadable(objects: ObjectStore, file: DataFile, error: Exception) -> StoreCorrupt:
    return StoreCorrupt(f"{file.path} in {objects.uri} cannot be read as Parquet ({type(error).__name__}). {_ADVICE}")


def _missing(objects: ObjectStore, file: DataFile) -> StoreCorrupt:
    return StoreCorrupt(
        f"{file.path} is gone from {objects.uri} although a manifest names it. "
        f"If gc ran while this version was being read, read the newest version instead. {_ADVICE}"
    )


def _checked_range(file: DataFile, start: int, count: int | None) -> int:
    count = file.rows - start if count is None else count
    if start < 0 or count < 0 or start + count > file.rows:
        raise ValueError(f"{file.path} has {file.rows} rows, not {count} from {start}")
    return count
