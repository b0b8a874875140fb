"""The tables of a bucket's users as they go into the store: their rows of metadata, and their Parquet in one pack."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa

from jobs.held import Held, runs_of
from operators.records import TABLES
from operators.store.manifest import PACK_FILE, TABLES_FILE, DataFile
from operators.store.objects import ObjectStore
from operators.store.tables import write_pack, write_table


def joined(kept: pa.Table, fresh: pa.Table) -> tuple[pa.Table, list[int]]:
    """Rows that stay and new ones by tenant and user, those of one user as they stand; and which row each was."""
    if not len(fresh):
        return kept, list(range(len(kept)))
    both, offset = (kept, fresh), (0, len(kept))
    runs = [(*run, which) for which, table in enumerate(both) for run in runs_of(table)]
    parts: list[list[int]] = []  # of which table, from where, to where: what stands side by side is one
    for _, begin, rows, which in sorted(runs, key=lambda run: (run[0], run[3], run[1])):
        if parts and parts[-1][0] == which and parts[-1][2] == begin:
            parts[-1][2] += rows
        else:
            parts.append([which, begin, begin + rows])
    order = [offset[which] + at for which, begin, end in parts for at in range(begin, end)]
    table = pa.concat_tables([both[which].slice(begin, end - begin) for which, begin, end in parts])
    return table.combine_chunks(), order


def tables_of(
    kept: pa.Table, pack: memoryview, rows: Sequence[dict[str, Any]], blobs: Sequence[bytes]
) -> tuple[pa.Table, list[memoryview | bytes]]:
    """``records.TABLES`` of all users in order, and the parts of their pack.

    ``kept``: those that stay as they were, in ``pack``; ``rows``: those made anew, whose Parquet are ``blobs``. What stands
    side by side in ``pack`` and stays so is one part.
    """
    tables, order = joined(kept, pa.Table.from_pylist(list(rows), TABLES))
    starts, sizes = kept["start"].to_pylist(), kept["bytes"].to_pylist()
    parts: list[memoryview | bytes] = []
    begin = end = 0
    for at in order:
        if at < len(kept) and starts[at] == end and begin < end:
            end += sizes[at]
            continue
        parts.append(pack[begin:end])
        begin = end = 0
        if at < len(kept):
            begin, end = starts[at], starts[at] + sizes[at]
        else:
            parts.append(blobs[at - len(kept)])
    parts.append(pack[begin:end])
    lengths = np.array([(sizes[at] if at < len(kept) else len(blobs[at - len(kept)])) for at in order], np.int64)
    tables = _with(_with(tables, "start", np.cumsum(lengths) - lengths), "bytes", lengths)
    return tables, [part for part in parts if len(part)]


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
    with ThreadPoolExecutor(len(writing)) as threads:
        files = {dataset: threads.submit(write) for dataset, write in writing.items()}
    return {dataset: file.result() for dataset, file in files.items()}
