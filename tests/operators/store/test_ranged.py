"""Random access by ranges: the same bytes as a plain file, few requests."""

from __future__ import annotations

import io

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from operators.store.ranged import READ_AHEAD, TAIL, RangedFile

DATA = np.random.default_rng(1).bytes(3 * READ_AHEAD + 12_345)


class Requests:
    def __init__(self, data: bytes) -> None:
        self.data = data
        self.made: list[tuple[int, int]] = []

    def __call__(self, start: int, length: int) -> bytes:
        assert start >= 0
        assert length > 0
        assert start + length <= len(self.data)
        self.made.append((start, length))
        return self.data[start : start + length]


@settings(deadline=None)
@given(
    st.sampled_from([0, 10, TAIL, len(DATA)]),
    st.lists(st.tuples(st.integers(0, len(DATA) + 10), st.integers(-1, 2 * READ_AHEAD)), max_size=20),
)
def test_reads_as_a_plain_file_does(tail: int, reads: list[tuple[int, int]]) -> None:
    plain = io.BytesIO(DATA)
    ranged = RangedFile(Requests(DATA), len(DATA), DATA[len(DATA) - tail :])
    for start, length in reads:
        assert ranged.seek(start) == plain.seek(start)
        assert ranged.read(length) == plain.read(length)
        assert ranged.tell() == plain.tell()
    for offset, whence in [(-5, io.SEEK_END), (3, io.SEEK_CUR)]:
        assert ranged.seek(offset, whence) == plain.seek(offset, whence)
    buffer = bytearray(7)
    assert ranged.readinto(buffer) == 2
    with pytest.raises(ValueError):
        ranged.seek(-1)


def test_nearby_reads_are_one_request() -> None:
    requests = Requests(DATA)
    ranged = RangedFile(requests, len(DATA))
    for start in range(0, 1000, 10):
        ranged.seek(start)
        ranged.read(10)
    assert requests.made == [(0, READ_AHEAD)]


def test_a_users_rows_of_a_large_parquet_file_are_few_requests() -> None:
    table = pa.table({"a": [str(number) * 40 for number in range(40_000)]})
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink, compression="none", use_dictionary=False, row_group_size=2048)
    data = sink.getvalue().to_pybytes()
    requests = Requests(data)
    file = pa.PythonFile(RangedFile(requests, len(data), data[-TAIL:]), mode="r")
    got = pq.ParquetFile(file, pre_buffer=True).read_row_groups([3])
    assert got.column("a").to_pylist() == table.column("a").to_pylist()[3 * 2048 : 4 * 2048]
    assert len(requests.made) <= 2
    assert sum(length for _, length in requests.made) < len(data) / 8
