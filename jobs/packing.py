"""The tables of a bucket's users as they go into the store: their rows of metadata, and their Parquet in one pack."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa

from operators.records import TABLES, TENANT, USER
from operators.store.manifest import DataFile
from operators.store.objects import ObjectStore
from operators.store.tables import write_pack


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


def write_tables_pack(objects: ObjectStore, key: str, parts: Sequence[memoryview | bytes], tables: int) -> DataFile:
    """The pack of so many tables; its ``rows`` are they, however many parts it is written in."""
    file, _ = write_pack(objects, key, parts)  # type: ignore[arg-type]
    return replace(file, rows=tables)
