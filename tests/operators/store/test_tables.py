"""Tables and vectors: what goes in comes out, by ranges, checked."""

from __future__ import annotations

import hashlib
import io
import uuid
import weakref
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import operators.store.tables
from operators import records
from operators.errors import StoreCorrupt
from operators.store.manifest import DataFile
from operators.store.objects import ObjectStore
from operators.store.tables import (
    ROW_GROUP,
    iter_table,
    read_near,
    read_table,
    read_table_verified,
    read_vectors,
    read_whole,
    write_pack,
    write_table,
    write_vectors,
)

SHARED_STORE = settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])

SCHEMA = pa.schema(
    [
        pa.field("name", pa.string(), nullable=False),
        pa.field("number", pa.int64()),
        pa.field("images", pa.list_(records.IMAGE_TYPE), nullable=False),
        pa.field("time", records.TIMESTAMP),
        pa.field("key", pa.binary(16)),
    ]
)
IMAGE = {
    "image_id": None,
    "message": 3,
    "reference": "r",
    "media": "ab",
    "caption": "日本",
    "format": None,
    "width": 1,
    "height": None,
}
ROWS = st.fixed_dictionaries(
    {
        "name": st.text(),
        "number": st.none() | st.integers(-(2**63), 2**63 - 1),
        "images": st.lists(st.just(IMAGE), max_size=2),
        "time": st.none() | st.datetimes(timezones=st.just(records.UTC)),
        "key": st.none() | st.binary(min_size=16, max_size=16),
    }
)


def numbered(rows: int) -> pa.Table:
    return pa.table({"n": pa.array(range(rows), pa.int64()), "t": pa.array([f"text {n}" for n in range(rows)])})


def key() -> str:
    return f"data/{uuid.uuid4().hex}.parquet"


@SHARED_STORE
@given(rows=st.lists(ROWS, max_size=8), start=st.integers(0, 8), count=st.integers(0, 8))
def test_any_table_comes_back(objects: ObjectStore, rows: list[dict[str, Any]], start: int, count: int) -> None:
    table = pa.Table.from_pylist(rows, SCHEMA)
    file = write_table(objects, key(), table, SCHEMA)
    assert (file.rows, file.bytes) == (len(rows), objects.head(file.path).size)
    for read in (read_table(objects, file), read_table_verified(objects, file)):
        assert read.schema.equals(SCHEMA)
        assert read.equals(table)
    start = min(start, len(rows))
    count = min(count, len(rows) - start)
    assert read_table(objects, file, start=start, count=count).equals(table.slice(start, count))
    some = read_table(objects, file, columns=["images", "name"], start=start)
    assert some.equals(table.select(["images", "name"]).slice(start))


KINDS = [records.ROUNDS, records.UNITS, records.USERS, records.QUARANTINE, records.vectors_by_key(384)]


@pytest.mark.parametrize("schema", KINDS)
def test_an_empty_table_of_every_kind_comes_back(objects: ObjectStore, schema: pa.Schema) -> None:
    file = write_table(objects, key(), schema.empty_table(), schema)
    assert file.rows == 0
    assert read_table(objects, file).schema.equals(schema)
    assert read_table(objects, file, columns=[schema.names[0]]).column_names == [schema.names[0]]
    assert read_table_verified(objects, file).num_rows == 0
    assert list(iter_table(objects, file)) == []


def test_float16_vectors_come_back_from_a_table(objects: ObjectStore) -> None:
    schema = records.vectors_by_key(3)
    table = pa.table([[b"k" * 16], pa.array([np.array([1, 2, 3], np.float16)], pa.list_(pa.float16(), 3))], schema=schema)
    file = write_table(objects, key(), table, schema)
    assert read_table(objects, file).equals(table)


def test_rows_across_row_groups(objects: ObjectStore) -> None:
    table = numbered(2 * ROW_GROUP + 100)
    file = write_table(objects, key(), table, table.schema)
    with objects.open(file.path) as source:
        metadata = pq.ParquetFile(source).metadata
    assert metadata.num_row_groups == 3
    assert metadata.row_group(0).column(0).compression == "ZSTD"
    for start, count in [
        (0, 1),
        (ROW_GROUP - 1, 2),
        (ROW_GROUP, ROW_GROUP),
        (5, 2 * ROW_GROUP),
        (file.rows, 0),
        (ROW_GROUP, 0),
    ]:
        assert read_table(objects, file, start=start, count=count).column("n").to_pylist() == list(
            range(start, start + count)
        )
    assert read_table(objects, file, start=4000).num_rows == file.rows - 4000
    parts = list(iter_table(objects, file, columns=["n"]))
    assert [part.num_rows for part in parts] == [ROW_GROUP, ROW_GROUP, 100]
    assert pa.concat_tables(parts).equals(table.select(["n"]))


NEAR = [
    (set(), []),
    ({("a", "nobody")}, []),
    ({("b", "u00")}, [1]),
    ({("a", "u00"), ("c", "u0")}, [0, 2]),
    ({("a", "u1"), ("b", "u1"), ("c", "u1")}, [0, 1, 2]),
]


@pytest.mark.parametrize(("wanted", "groups"), NEAR)
def test_row_groups_near_what_is_wanted(objects: ObjectStore, wanted: set[tuple[str, str]], groups: list[int]) -> None:
    owners = [("a", "u0"), ("a", "u1"), ("b", "u0"), ("b", "u1"), ("c", "u0"), ("c", "u1")]
    rows = [(*owner, [at]) for owner in owners for at in range(ROW_GROUP // 2)]
    schema = pa.schema([("list", pa.list_(pa.int64())), ("t", pa.string()), ("u", pa.string())])
    table = pa.table({"list": [row[2] for row in rows], "t": [row[0] for row in rows], "u": [row[1] for row in rows]})
    file = write_table(objects, key(), table.cast(schema), schema)
    found = read_near(objects, file, wanted, by=("t", "u"), columns=["u", "list", "t"])
    near = [table.slice(group * ROW_GROUP, ROW_GROUP).select(["u", "list", "t"]) for group in groups]
    assert found.to_pylist() == [row for part in near for row in part.to_pylist()]


def test_nothing_is_left_out_where_no_values_are_told(objects: ObjectStore) -> None:
    sink = pa.BufferOutputStream()
    table = pa.table({"t": ["a", "b"]})
    pq.write_table(table, sink, write_statistics=False)
    data = sink.getvalue().to_pybytes()
    objects.put("t/untold.parquet", data)
    file = DataFile("t/untold.parquet", len(data), hashlib.sha256(data).hexdigest(), 2)
    assert read_near(objects, file, {("b",)}, by=["t"], columns=["t"]).equals(table)
    assert read_near(objects, file, set(), by=["t"], columns=["t"]).num_rows == 0
    with pytest.raises(StoreCorrupt, match="the manifest says 3"):
        read_near(objects, replace(file, rows=3), {("b",)}, by=["t"], columns=["t"])


def test_large_and_small_files_are_told_alike(objects: ObjectStore, monkeypatch: pytest.MonkeyPatch) -> None:
    parts = [b"abc", b"", b"defg", b"h"]
    table = numbered(100)
    small = write_table(objects, key(), table, table.schema), *write_pack(objects, "t/small.pack", iter(parts))
    monkeypatch.setattr(operators.store.tables, "IN_MEMORY", 4)
    large = write_table(objects, key(), table, table.schema), *write_pack(objects, "t/large.pack", iter(parts))
    for one, other in zip(small[:2], large[:2], strict=True):
        assert replace(one, path="") == replace(other, path="")
        assert read_whole(objects, one) == read_whole(objects, other)
    assert small[2] == large[2] == [0, 3, 3, 7]


def test_other_rows_are_not_fetched(s3_uri: str, lossy: Any) -> None:
    from operators.store.s3 import S3Objects

    objects = S3Objects(s3_uri)
    blobs = [np.random.default_rng(n).bytes(400) for n in range(10 * ROW_GROUP)]
    table = pa.table({"b": pa.array(blobs, pa.binary()), "n": pa.array(range(len(blobs)))})
    file = write_table(objects, key(), table, table.schema)
    lossy.seen.clear()
    assert read_table(objects, file, columns=["n"], start=5 * ROW_GROUP, count=7).column("n").to_pylist() == [
        5 * ROW_GROUP + n for n in range(7)
    ]
    assert lossy.count("GET") <= 3
    assert lossy.sent < file.bytes / 8


@pytest.mark.parametrize(("start", "count"), [(-1, 1), (0, -1), (0, 11), (11, 0), (5, 6)])
def test_rows_that_are_not_there(objects: ObjectStore, start: int, count: int) -> None:
    table = numbered(10)
    file = write_table(objects, key(), table, table.schema)
    vectors = write_vectors(objects, key(), [np.zeros((10, 4))], 4)
    with pytest.raises(ValueError, match="10 rows"):
        read_table(objects, file, start=start, count=count)
    with pytest.raises(ValueError, match="10 rows"):
        read_vectors(objects, vectors, start, count)


def test_columns_that_are_not_there(objects: ObjectStore) -> None:
    table = numbered(3)
    file = write_table(objects, key(), table, table.schema)
    with pytest.raises(ValueError, match="nope"):
        read_table(objects, file, columns=["n", "nope"])


@pytest.mark.parametrize(
    "found",
    [
        numbered(2).select(["t", "n"]),
        numbered(2).select(["n"]),
        numbered(2).append_column("more", pa.array([1, 2])),
        numbered(2).cast(pa.schema([("n", pa.int32()), ("t", pa.string())])),
        numbered(2).cast(pa.schema([pa.field("n", pa.int64(), nullable=False), pa.field("t", pa.string())])),
    ],
)
def test_another_schema_is_refused_showing_both(objects: ObjectStore, found: pa.Table) -> None:
    with pytest.raises(ValueError, match=r"(?s)expected:.*n: int64.*found:"):
        write_table(objects, "k", found, numbered(0).schema)
    assert list(objects.list("")) == []


def test_nulls_where_none_may_be_are_refused(objects: ObjectStore) -> None:
    schema = pa.schema([pa.field("n", pa.int64(), nullable=False)])
    with pytest.raises(ValueError, match="nulls"):
        write_table(objects, "k", pa.table({"n": pa.array([1, None], pa.int64())}, schema=schema), schema)


# --- vectors --------------------------------------------------------------------------------------------------------


@SHARED_STORE
@given(
    sizes=st.lists(st.integers(0, 5), max_size=4), dim=st.integers(1, 6), start=st.integers(0, 20), count=st.integers(0, 20)
)
def test_any_vectors_come_back(objects: ObjectStore, sizes: list[int], dim: int, start: int, count: int) -> None:
    random = np.random.default_rng(3)
    parts = [random.normal(size=(size, dim)).astype(np.float32) for size in sizes]
    whole = np.concatenate([np.zeros((0, dim), np.float32), *parts]).astype(np.float16)
    file = write_vectors(objects, key(), iter(parts), dim)
    assert file.rows == len(whole)
    start = min(start, len(whole))
    count = min(count, len(whole) - start)
    read = read_vectors(objects, file, start, count)
    assert (read.dtype, read.shape) == (np.float16, (count, dim))
    np.testing.assert_array_equal(read, whole[start : start + count])
    np.testing.assert_array_equal(np.load(io.BytesIO(read_whole(objects, file))), whole)


@pytest.mark.parametrize(("rows", "dim"), [(0, 384), (1, 1), (3, 99_999)])
def test_numpy_reads_them_whatever_their_shape(objects: ObjectStore, rows: int, dim: int) -> None:
    file = write_vectors(objects, key(), [np.ones((rows, dim), dtype=np.float64, order="F")], dim)
    assert np.load(io.BytesIO(read_whole(objects, file))).shape == (rows, dim)
    assert read_vectors(objects, file, 0, rows).shape == (rows, dim)


@pytest.mark.parametrize("part", [np.zeros((2, 3)), np.zeros(4), np.full((1, 4), np.nan), np.full((1, 4), 1e6)])
def test_vectors_that_do_not_fit_are_refused(objects: ObjectStore, part: Any) -> None:
    with pytest.raises(ValueError):
        write_vectors(objects, "k", [np.zeros((1, 4)), part], 4)
    assert list(objects.list("")) == []


def test_blocks_are_taken_one_at_a_time(objects: ObjectStore) -> None:
    made: list[weakref.ref[Any]] = []

    def blocks() -> Iterator[Any]:
        for _ in range(5):
            block = np.zeros((100, 8), np.float16)
            made.append(weakref.ref(block))
            yield block
            assert sum(ref() is not None for ref in made) <= 2

    assert write_vectors(objects, key(), blocks(), 8).rows == 500


# --- damage ---------------------------------------------------------------------------------------------------------


def test_missing_files_are_named(objects: ObjectStore) -> None:
    table = numbered(3)
    file = replace(write_table(objects, key(), table, table.schema), path="data/gone")
    vectors = replace(write_vectors(objects, key(), [np.zeros((3, 2))], 2), path="data/gone")
    for read in (
        lambda: read_table(objects, file),
        lambda: list(iter_table(objects, file)),
        lambda: read_table_verified(objects, file),
        lambda: read_whole(objects, file),
        lambda: read_vectors(objects, vectors, 0, 3),
    ):
        with pytest.raises(StoreCorrupt, match=r"data/gone is gone.*newest version"):
            read()


def test_one_wrong_bit_is_found(objects: ObjectStore) -> None:
    table = numbered(1000)
    file = write_table(objects, key(), table, table.schema)
    data = bytearray(objects.get(file.path))
    data[len(data) // 3] ^= 1
    objects.put(file.path, bytes(data))
    for read in (read_whole, read_table_verified):
        with pytest.raises(StoreCorrupt, match="not what was written"):
            read(objects, file)


def test_truncated_files_are_corrupt(objects: ObjectStore) -> None:
    table = numbered(1000)
    file = write_table(objects, key(), table, table.schema)
    vectors = write_vectors(objects, key(), [np.zeros((100, 8))], 8)
    for stored in (file, vectors):
        objects.put(stored.path, objects.get(stored.path)[:-50])
    with pytest.raises(StoreCorrupt, match="Parquet"):
        read_table(objects, file)
    with pytest.raises(StoreCorrupt, match="shorter"):
        read_vectors(objects, vectors, 0, 100)
    objects.put(file.path, b"")
    with pytest.raises(StoreCorrupt):
        read_table(objects, file)


def test_a_file_that_is_another_is_corrupt(objects: ObjectStore) -> None:
    table = numbered(10)
    file = write_table(objects, key(), table, table.schema)
    with pytest.raises(StoreCorrupt, match="the manifest says 9"):
        read_table(objects, replace(file, rows=9))
    vectors = write_vectors(objects, key(), [np.zeros((10, 4))], 4)
    with pytest.raises(StoreCorrupt, match="not 7 float16"):
        read_vectors(objects, replace(vectors, rows=7), 0, 1)


def test_a_store_that_falls_silent_is_not_called_corrupt(s3_uri: str, lossy: Any) -> None:
    from operators.errors import StoreUnavailable
    from operators.store.s3 import S3Objects

    objects = S3Objects(s3_uri, tries=2)
    table = pa.table({"b": pa.array([np.random.default_rng(n).bytes(400) for n in range(3 * ROW_GROUP)], pa.binary())})
    file = write_table(objects, key(), table, table.schema)
    left = ["pass"]  # the footer arrives, the rows do not
    lossy.script = lambda method, _: "pass" if method != "GET" or (left and left.pop()) else "503 SlowDown"
    with pytest.raises(StoreUnavailable):
        read_table(objects, file, start=0, count=5)
