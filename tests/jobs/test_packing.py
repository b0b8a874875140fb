"""What of a bucket stays and what is new as one: rows in order, and a pack whose parts are where its rows say."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from jobs.packing import joined, tables_of
from operators.records import TABLES

USERS = ("ann", "bob", "eve", "gus", "ida")
SCHEMA = pa.schema([("tenant_id", pa.string()), ("user_id", pa.string()), ("told", pa.int64())])

of_users = st.lists(st.tuples(st.sampled_from(USERS), st.integers(0, 99)), max_size=12)
tables = st.lists(st.tuples(st.sampled_from(USERS), st.binary(min_size=1, max_size=5)), max_size=10)


def rows_of(told: list[tuple[str, int]]) -> pa.Table:
    rows = [{"tenant_id": "t", "user_id": user, "told": number} for user, number in sorted(told, key=lambda row: row[0])]
    return pa.Table.from_pylist(rows, SCHEMA)


def table_rows(told: list[tuple[str, bytes]]) -> list[dict[str, Any]]:
    """Rows of ``records.TABLES``, one behind the other in a pack; ``description``: which bytes are theirs."""
    rows, start = [], 0
    for at, (user, blob) in enumerate(told):
        row: dict[str, Any] = dict.fromkeys(TABLES.names, "")
        row |= {"tenant_id": "t", "user_id": user, "table": f"{user}{at}", "description": blob.hex(), "start": start}
        row |= {"columns": [], "dates": [], "support": 1, "rows": 1, "bytes": len(blob), "all_confidence": 1.0}
        rows.append(row)
        start += len(blob)
    return rows


@settings(deadline=None)
@given(of_users, of_users)
def test_rows_stand_by_user_and_those_that_stay_before_new_ones(kept: list[tuple[str, int]], fresh: list[Any]) -> None:
    both = (rows_of(kept), rows_of(fresh))
    made, parts = joined(*both)
    assert made.to_pylist() == sorted([*both[0].to_pylist(), *both[1].to_pylist()], key=lambda row: row["user_id"])
    slices = [both[which].slice(begin, end - begin) for which, begin, end in parts]
    assert pa.concat_tables([SCHEMA.empty_table(), *slices]).equals(made)


@settings(deadline=None)
@given(tables, tables, st.sets(st.sampled_from(USERS)))
def test_every_row_finds_its_bytes_in_the_pack(held: list[Any], fresh: list[Any], gone: set[str]) -> None:
    held, fresh = sorted(held, key=lambda each: each[0]), sorted(fresh, key=lambda each: each[0])
    pack = b"".join(blob for _, blob in held)
    kept = [row for row in table_rows(held) if row["user_id"] not in gone]
    rows = table_rows(fresh)
    made, parts = tables_of(pa.Table.from_pylist(kept, TABLES), memoryview(pack), rows, [blob for _, blob in fresh])
    joint = b"".join(parts)
    found = made.to_pylist()
    assert [row["user_id"] for row in found] == sorted(row["user_id"] for row in [*kept, *rows])
    assert [joint[row["start"] : row["start"] + row["bytes"]].hex() for row in found] == [
        row["description"] for row in found
    ]
    assert len(joint) == sum(row["bytes"] for row in found)


def test_what_stands_side_by_side_and_stays_is_one_part() -> None:
    rows = table_rows([(user, bytes([at])) for at, user in enumerate(USERS)])
    kept = [row for row in rows if row["user_id"] != "eve"]
    pack = memoryview(bytes(range(len(USERS))))
    _, parts = tables_of(pa.Table.from_pylist(kept, TABLES), pack, [], [])
    assert [bytes(part) for part in parts] == [b"\x00\x01", b"\x03\x04"]
