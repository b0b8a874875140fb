"""The tables of a bucket's users as they go into the store: their rows of metadata, and their Parquet in one pack."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass, replace
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa

from jobs.held import Held, runs_of
from operators.records import TABLES
from operators.store.manifest import PACK_FILE, TABLES_FILE, DataFile
from operators.store.objects import ObjectStore
from operators.store.tables import write_pack, write_table

_AT_ONCE = 8
"""Files that are written at once."""

Part = tuple[int, int, int]
"""Of which of two tables, from which of its rows, and to which."""


def joined(kept: pa.Table, fresh: pa.Table) -> tuple[pa.Table, list[Part]]:
    """Rows that stay (0) and new ones (1), each by tenant and user, as one table by these; and the parts it is made of.

    Of one user those that stay come first.
    """
    if not len(fresh):
        return kept, [(0, 0, len(kept))]
    held = runs_of(kept)
    scopes = [scope for scope, _, _ in held]
    begins = [begin for _, begin, _ in held] + [len(kept)]
    parts: list[Part] = []
    at = 0
    for scope, begin, rows in runs_of(fresh):
        upto = begins[bisect_right(scopes, scope)]
        parts += [(0, at, upto), (1, begin, begin + rows)]
        at = upto
    parts.append((0, at, len(kept)))
    both = (kept, fresh)
    return pa.concat_tables([both[which].slice(begin, end - begin) for which, begin, end in parts]).combine_chunks(), parts


def tables_of(
    kept: pa.Table, pack: memoryview, rows: Sequence[dict[str, Any]], blobs: Sequence[bytes]
) -> tuple[pa.Table, list[memoryview | bytes]]:
    """``records.TABLES`` of all users in order, and the parts of their pack.

    ``kept``: those that stay as they were, in ``pack``; ``rows``: those made anew, whose Parquet are ``blobs``. What stands
    side by side in ``pack`` and stays so is one part.
    """
    tables, parts = joined(kept, pa.Table.from_pylist(list(rows), TABLES))
    starts, sizes = kept["start"].to_numpy(), kept["bytes"].to_numpy()
    ends = starts + sizes
    packed: list[memoryview | bytes] = []
    lengths = [np.empty(0, np.int64)]
    for which, begin, end in parts:
        if which:
            packed += blobs[begin:end]
            lengths.append(np.array([len(blob) for blob in blobs[begin:end]], np.int64))
            continue
        cuts = np.flatnonzero(starts[begin + 1 : end] != ends[begin : end - 1]) + begin + 1 if begin < end else ()
        packed += [pack[starts[first] : ends[last - 1]] for first, last in pairwise([begin, *cuts, end]) if first < last]
        lengths.append(sizes[begin:end])
    length = np.concatenate(lengths)
    tables = _with(_with(tables, "start", np.cumsum(length) - length), "bytes", length)
    return tables, [part for part in packed if len(part)]


def _with(table: pa.Table, name: str, values: np.ndarray) -> pa.Table:
    at = TABLES.get_field_index(name)
    return table.set_column(at, TABLES.field(name), pa.array(values, pa.int64()))


@dataclass(frozen=True)
class Writer:
    """Writes a bucket's files; with ``held``, what is as it was stays the file that it was."""

    objects: ObjectStore
    home: str
    held: Held | None

    def table(self, dataset: str, name: str, table: pa.Table, schema: pa.Schema) -> DataFile:
        """The file of a dataset, called ``name``."""
        if self.held is not None and (same := self.held.file_of(dataset, table)) is not None:
            return same
        return write_table(self.objects, f"{self.home}/{name}.parquet", table, schema)

    def pack(self, tables: pa.Table, parts: Sequence[memoryview | bytes]) -> DataFile:
        """The pack of the tables that ``records.TABLES`` rows tell, from ``tables_of``."""
        # What tables are made of is told beside them: where that is the same, so are they.
        if self.held is not None and self.held.base is not None and self.held.file_of(TABLES_FILE, tables) is not None:
            return self.held.base.files[PACK_FILE]
        file, _ = write_pack(self.objects, f"{self.home}/tables.pack", parts)  # type: ignore[arg-type]
        return replace(file, rows=len(tables))  # the tables, however many parts they are written in


def together(writing: Mapping[str, Callable[[], DataFile]]) -> dict[str, DataFile]:
    """The files that are written, each by a thread: a disk or a network that settles one settles others meanwhile.

    All are as durable as each is when its writing returns. What the first of them raises is raised when all have ended.
    """
    files = {dataset: _writers().submit(write) for dataset, write in writing.items()}
    wait(files.values())
    return {dataset: file.result() for dataset, file in files.items()}


@cache
def _writers() -> ThreadPoolExecutor:
    """The threads that write a bucket's files; they wait for the next bucket's."""
    return ThreadPoolExecutor(_AT_ONCE, "mnemosaic-write")
