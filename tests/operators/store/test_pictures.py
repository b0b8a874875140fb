"""Vectors of pictures as a store holds them: one user's alone, found by bisection, checked by verify."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from operators import records
from operators.errors import StoreCorrupt
from operators.merge import users_of
from operators.records import Image, Message, Round, bucket_of, picture_vectors, round_rows
from operators.store.buckets import UserData, read_user
from operators.store.local import LocalObjects
from operators.store.manifest import BucketFiles, Counts, DataFile, Snapshot, StoreSpec
from operators.store.objects import ObjectStore
from operators.store.tables import read_sorted, write_table, write_vectors
from operators.store.verify_pictures import picture_vector_faults

DIM, TEXT_DIM = 3, 2
KEYS = pa.schema([pa.field("a", pa.string()), pa.field("b", pa.string()), pa.field("at", pa.int64())])
Shown = dict[tuple[str, str], list[str]]


def vector_of(name: str) -> list[float]:
    angle = sum(name.encode()) / 100
    return [np.cos(angle), np.sin(angle), 0.0]


def vectors_table(rows: list[tuple[str, str, str]]) -> pa.Table:
    columns = [*zip(*rows, strict=True)] if rows else [[], [], []]
    flat = pa.array(np.array([vector_of(row[2]) for row in rows], np.float16).reshape(-1), pa.float16())
    vectors = pa.FixedSizeListArray.from_arrays(flat, DIM)
    return pa.table([*(pa.array(column, pa.string()) for column in columns), vectors], schema=picture_vectors(DIM))


def rounds_table(shown: Shown) -> pa.Table:
    rows = []
    for (tenant, user), names in sorted(shown.items()):
        images = tuple(Image(0, "x", media=name) for name in [*names, None])
        told = [Round("s", "r", 0, (Message("user", "user", "look"),), images)]
        rows += round_rows(tenant, user, told, "f")
    return pa.Table.from_pylist(rows, records.ROUNDS)


def snapshot_of(objects: ObjectStore, shown: Shown, vectors: pa.Table, dim: int = DIM) -> Snapshot:
    """One bucket of users with one round each, and these vectors of pictures."""
    rounds, units = rounds_table(shown), records.UNITS.empty_table()
    tables = {
        "rounds": (rounds, records.ROUNDS),
        "units": (units, records.UNITS),
        "users": (users_of(rounds, units), records.USERS),
        "picture_vectors": (vectors, picture_vectors(DIM)),
    }
    files: dict[str, DataFile] = {name: write_table(objects, f"d/{name}", *made) for name, made in tables.items()}
    files["vectors"] = write_vectors(objects, "d/vectors.npy", [], TEXT_DIM)
    spec = StoreSpec(buckets=1, encoder={"dim": TEXT_DIM}, image_encoder={"kind": "x", "dim": dim})
    when = datetime(2025, 1, 1, tzinfo=UTC)
    return Snapshot(1, 0, "c", "r", when, spec, buckets={0: BucketFiles("rev", files, Counts(), "0")})


SHOWN: Shown = {("t", "ann"): ["p1", "p2"], ("t", "bob"): ["p2"], ("u", "ann"): ["p3"], ("u", "cy"): []}
ROWS = [(*scope, name) for scope, names in SHOWN.items() for name in names]


def test_each_user_gets_the_own_pictures_and_vectors(objects: ObjectStore) -> None:
    snapshot = snapshot_of(objects, SHOWN, vectors_table(ROWS))
    for (tenant, user), names in SHOWN.items():
        data = read_user(objects, snapshot, tenant, user)
        assert isinstance(data, UserData)
        assert data.pictures == tuple(names)
        assert data.picture_vectors.dtype == np.float16
        assert data.picture_vectors.shape == (len(names), DIM)
        for name, vector in zip(names, data.picture_vectors, strict=True):
            np.testing.assert_allclose(vector, vector_of(name), atol=1e-3)


def test_a_store_without_image_encoder_reads_none(objects: ObjectStore) -> None:
    snapshot = snapshot_of(objects, SHOWN, vectors_table(ROWS), dim=0)
    data = read_user(objects, snapshot, "t", "ann")
    assert data is not None
    assert (data.pictures, data.picture_vectors.shape) == ((), (0, 0))


def test_a_picture_of_no_round_of_the_user_is_not_returned(objects: ObjectStore) -> None:
    """As where rows of others stand under a user's name."""
    snapshot = snapshot_of(objects, SHOWN, vectors_table(sorted([*ROWS, ("t", "ann", "p3")])))
    with pytest.raises(StoreCorrupt, match="nothing is returned"):
        read_user(objects, snapshot, "t", "ann")


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    rows=st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from("abcé"))).map(sorted),
    group=st.integers(1, 5),
    wanted=st.tuples(st.sampled_from("abcd"), st.sampled_from("aéz")),
)
def test_sorted_rows_are_found_whatever_the_row_groups(
    tmp_path: Path, rows: list[tuple[str, str]], group: int, wanted: tuple[str, str]
) -> None:
    objects = LocalObjects(str(tmp_path))
    table = pa.Table.from_pylist([{"a": a, "b": b, "at": at} for at, (a, b) in enumerate(rows)], KEYS)
    file = write_table(objects, "k", table, KEYS, row_group=group)
    found = read_sorted(objects, file, {"a": wanted[0], "b": wanted[1]})
    assert found["at"].to_pylist() == [at for at, row in enumerate(rows) if row == wanted]
    assert found.schema.equals(KEYS)


def faults(rows: list[tuple[str, str, str]], change: float = 1.0) -> list[str]:
    table = vectors_table(rows)
    if change != 1.0:
        flat = table["vector"].combine_chunks().flatten().to_numpy(zero_copy_only=False) * np.float16(change)
        vectors = pa.FixedSizeListArray.from_arrays(pa.array(flat, pa.float16()), DIM)
        table = table.set_column(3, table.schema.field(3), vectors)
    return [expected for expected, _ in picture_vector_faults(rounds_table(SHOWN), table)]


def test_verify_tells_rows_that_are_not_what_they_should_be() -> None:
    assert faults(ROWS) == []
    assert faults(ROWS[:1]) == []  # one that cannot be decoded has no row
    assert faults(ROWS[::-1]) == ["pictures sorted by tenant, user and name, each once"]
    assert faults([ROWS[0], *ROWS]) == ["pictures sorted by tenant, user and name, each once"]
    assert faults([*ROWS[:2], ("t", "bob", "p1"), *ROWS[2:]]) == ["pictures of the user's own rounds"]
    assert faults(ROWS, change=2.0) == ["vectors of unit length"]
    assert faults(ROWS, change=float("nan")) == ["vectors of unit length"]


def test_the_bucket_of_these_tests_is_the_users() -> None:
    assert {bucket_of(*scope, 1) for scope in SHOWN} == {0}
