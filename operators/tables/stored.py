"""Tables as the store holds them (``records.TABLES`` and their rows) and as the tools take them."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl
import pyarrow as pa

from operators.errors import StoreCorrupt, TableNotFound
from operators.tables.columns import Column, Table, TableMeta, loosely

_NEAR = 3


def meta_of(row: Mapping[str, Any]) -> TableMeta:
    """What a row of ``records.TABLES`` tells of a table."""
    columns = tuple(Column(each["name"], each["kind"], each["unit"], _aliases(each["names"])) for each in row["columns"])
    samples = {each["name"]: tuple(each["samples"]) for each in row["columns"]}
    return TableMeta(row["table"], row["description"], columns, row["rows"], samples)


def _aliases(keys: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(key.split("\t")[0] for key in keys))


def find_row(rows: Sequence[Mapping[str, Any]], name: str) -> Mapping[str, Any]:
    """The row of the table called so, but for case, spaces and underscores; TableNotFound, naming what there is."""
    for told in (str, loosely):
        found = [row for row in rows if told(row["table"]) == told(name)]
        if len(found) == 1:
            return found[0]
    names = [row["table"] for row in rows]
    if not names:
        raise TableNotFound("this user has no tables: too little recurs in their rounds")
    near = difflib.get_close_matches(loosely(name), [loosely(each) for each in names], _NEAR, 0.5)
    hint = [each for each in names if loosely(each) in near]
    told_near = f"; near: {', '.join(map(repr, hint))}" if hint else ""
    raise TableNotFound(f"there is no table {name[:60]!r}{told_near}; tables: {', '.join(map(repr, names))}")


def table_of(row: Mapping[str, Any], rows: pa.Table) -> Table:
    """The table of a row of ``records.TABLES`` and its rows; StoreCorrupt where the two do not belong together."""
    frame = pl.from_arrow(rows)
    assert isinstance(frame, pl.DataFrame)
    if len(frame) != row["rows"] or not {each["name"] for each in row["columns"]} <= set(frame.columns):
        raise StoreCorrupt("a table's rows are not what its metadata says: see `mnemosaic verify`")
    return Table(meta_of(row), frame)
