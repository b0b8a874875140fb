"""The tables of a bucket's users as they go into the store: their rows of metadata, and their Parquet in one pack."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa

from jobs.held import Held
from operators.records import TABLES, TENANT, USER
from operators.store.manifest import PACK_FILE, TABLES_FILE, DataFile
from operators.store.objects import ObjectStore
from operators.store.tables import write_pack, write_table


def joined(kept: pa.Table, fresh: pa.Table) -> tuple[pa.Table, list[int]]:
    """Rows that stay and new ones by tenant and user, those of one user as they stand; and which row each was."""
    if not len(fresh):
        return kept, list(range(len(kept)))
    both = pa.concat_tables([kept, fresh])
    frame = pl.DataFrame(pl.from_arrow(both.select([TENANT, USER]))).with_row_index("at")
    order = frame.sort([TENANT, USER, "at"])["at"]
    return both.take(order.to_arrow()).combine_chunks(), order.to_list()


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
