"""One user's data comes back whole and alone; listings hold one tenant."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from operators import records
from operators.errors import ScopeError, StoreCorrupt
from operators.store.buckets import iter_users, list_users, read_user
from operators.store.manifest import BucketFiles, Counts, Snapshot, StoreSpec
from operators.store.objects import ObjectStore
from operators.store.tables import ROW_GROUP, write_table, write_vectors

DIM = 4
START = datetime(2025, 1, 1, tzinfo=UTC)

People = Mapping[tuple[str, str], int]
"""(tenant, user) to rounds; each round has two units but the first, which has none."""


def rounds_of(tenant: str, user: str, count: int) -> list[dict[str, Any]]:
    told = [
        records.Round(
            session_id="s",
            round_id=f"r{n}",
            position=n,
            messages=(records.Message("user", user, f"{tenant}/{user} says {n}"),),
            time=records.Instant(START + timedelta(hours=n), 0, "second"),
        )
        for n in range(count)
    ]
    rows = records.round_rows(tenant, user, told, "test")
    return [{**row, records.ORDER: order} for order, row in enumerate(rows)]


def units_of(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    scope = (records.TENANT, records.USER, records.SESSION, records.ROUND, records.ORDER)
    return [
        {
            **{name: row[name] for name in scope},
            records.UNIT: records.unit_id("s", row[records.ROUND], "txt", 0, span),
            records.KIND: "txt",
            records.SPEAKER: row[records.USER],
            records.TEXT: f"{row[records.MESSAGES][0]['text']} part {span}",
            records.MESSAGE: 0,
            records.START: 0,
            records.END: 1,
            records.CONTENT_KEY: records.content_key(str(span)),
        }
        for row in rows
        if row[records.ORDER]
        for span in range(2)
    ]


def snapshot_of(objects: ObjectStore, people: People, buckets: int = 3) -> Snapshot:
    spec = StoreSpec(buckets=buckets, encoder={"dim": DIM})
    parts: dict[int, list[tuple[str, str]]] = {}
    for scope in sorted(people):
        parts.setdefault(records.bucket_of(*scope, buckets), []).append(scope)
    written = {number: bucket_of_people(objects, number, scopes, people) for number, scopes in parts.items()}
    return Snapshot(version=1, parent=0, commit_id="c", run_id="r", committed_at=START, spec=spec, buckets=written)


def bucket_of_people(objects: ObjectStore, number: int, scopes: list[tuple[str, str]], people: People) -> BucketFiles:
    rounds, units, users = [], [], []
    for tenant, user in scopes:
        mine = rounds_of(tenant, user, people[tenant, user])
        theirs = units_of(mine)
        users.append(
            {
                records.TENANT: tenant,
                records.USER: user,
                "round_start": len(rounds),
                "rounds": len(mine),
                "unit_start": len(units),
                "units": len(theirs),
                "sessions": 1,
                "pictures": 0,
                "first_time": START,
                "last_time": START,
                "digest": "0",
            }
        )
        rounds += mine
        units += theirs
    folder = f"runs/r/data/{number}"
    vectors = np.arange(len(units), dtype=np.float16)[:, None] * np.ones(DIM, np.float16)
    tables = {"rounds": (rounds, records.ROUNDS), "units": (units, records.UNITS), "users": (users, records.USERS)}
    files = {
        name: write_table(objects, f"{folder}/{name}.parquet", pa.Table.from_pylist(rows, schema), schema)
        for name, (rows, schema) in tables.items()
    }
    files["vectors"] = write_vectors(objects, f"{folder}/vectors.npy", [vectors], DIM)
    return BucketFiles(revision=f"r{number}", files=files, counts=Counts(users=len(users)), digest="0")


PEOPLE: People = {("a", "ann"): 3, ("a", "bob"): 1, ("a", "Ünal 日本"): 5, ("b", "ann"): 4, ("b", "zoe"): 0}


@pytest.fixture
def snapshot(objects: ObjectStore) -> Snapshot:
    return snapshot_of(objects, PEOPLE)


def check_users(objects: ObjectStore, snapshot: Snapshot, people: People) -> None:
    for (tenant, user), count in people.items():
        data = read_user(objects, snapshot, tenant, user)
        assert data is not None
        expected = rounds_of(tenant, user, count)
        assert data.rounds.equals(pa.Table.from_pylist(expected, records.ROUNDS))
        assert data.units.equals(pa.Table.from_pylist(units_of(expected), records.UNITS))
        assert data.vectors.shape == (len(data.units), DIM)
        assert data.vectors.dtype == np.float16
        row = next(row for row in iter_users(objects, snapshot, tenant) if row[records.USER] == user)
        np.testing.assert_array_equal(data.vectors[:, 0], row["unit_start"] + np.arange(len(data.units)))


def test_each_user_comes_back_whole_and_alone(objects: ObjectStore, snapshot: Snapshot) -> None:
    check_users(objects, snapshot, PEOPLE)


@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    people=st.dictionaries(
        st.tuples(st.sampled_from(["a", "b", "é"]), st.text(min_size=1, max_size=4).filter(lambda user: bool(user.strip()))),
        st.integers(0, 3),
        max_size=6,
    ),
    buckets=st.integers(1, 4),
)
def test_any_users(objects: ObjectStore, people: dict[tuple[str, str], int], buckets: int) -> None:
    snapshot = snapshot_of(objects, people, buckets)
    check_users(objects, snapshot, people)
    for tenant in ("a", "b", "é"):
        expected = sorted(user for theirs, user in people if theirs == tenant)
        assert list_users(objects, snapshot, tenant).column(records.USER).to_pylist() == expected
        assert [row[records.USER] for row in iter_users(objects, snapshot, tenant)] == expected


UNKNOWN = [("a", "nobody"), ("c", "ann"), ("A", "ann"), ("a", "an"), ("a", "zzz"), ("a", "zoe")]


@pytest.mark.parametrize(("tenant", "user"), UNKNOWN)
def test_an_unknown_user_is_none(objects: ObjectStore, snapshot: Snapshot, tenant: str, user: str) -> None:
    assert read_user(objects, snapshot, tenant, user) is None
    assert read_user(objects, replace(snapshot, buckets={}), tenant, user) is None


@pytest.mark.parametrize(("tenant", "user"), [(None, "ann"), ("a", None), ("", "ann"), ("a", ""), (" ", "ann"), ("a", "\t")])
def test_reads_without_scope_fail_closed(objects: ObjectStore, snapshot: Snapshot, tenant: Any, user: Any) -> None:
    with pytest.raises(ScopeError):
        read_user(objects, snapshot, tenant, user)


@pytest.mark.parametrize("tenant", [None, "", "  "])
def test_listings_without_tenant_fail_closed(objects: ObjectStore, snapshot: Snapshot, tenant: Any) -> None:
    with pytest.raises(ScopeError):
        list_users(objects, snapshot, tenant)
    with pytest.raises(ScopeError):
        iter_users(objects, snapshot, tenant)


def test_listings_hold_one_tenant_sorted(objects: ObjectStore, snapshot: Snapshot) -> None:
    listed = list_users(objects, snapshot, "a")
    assert listed.schema.equals(records.USERS)
    assert listed.column(records.USER).to_pylist() == ["ann", "bob", "Ünal 日本"]
    assert listed.to_pylist() == list(iter_users(objects, snapshot, "a"))
    assert list_users(objects, snapshot, "nobody").equals(records.USERS.empty_table())
    assert list_users(objects, replace(snapshot, buckets={}), "a").num_rows == 0


def test_many_users_in_one_bucket(objects: ObjectStore) -> None:
    people = {("t", f"u{number:05d}"): 0 for number in range(2 * ROW_GROUP + 10)}
    snapshot = snapshot_of(objects, people, buckets=1)
    for number in (0, 1, ROW_GROUP - 1, ROW_GROUP, 2 * ROW_GROUP, 2 * ROW_GROUP + 9):
        assert read_user(objects, snapshot, "t", f"u{number:05d}") is not None
    for unknown in ("a", "u", "u01000x", f"u{ROW_GROUP - 1:05d}x", "v"):
        assert read_user(objects, snapshot, "t", unknown) is None
    assert sum(1 for _ in iter_users(objects, snapshot, "t")) == len(people)


def test_a_wrong_place_gives_an_error_and_nobody_elses_rows(objects: ObjectStore) -> None:
    snapshot = snapshot_of(objects, {("a", "ann"): 3, ("a", "bob"): 3}, buckets=1)
    bucket = snapshot.buckets[0]
    rows = list_users(objects, snapshot, "a").to_pylist()
    for wrong in ({"round_start": 0}, {"unit_start": 0}):
        table = pa.Table.from_pylist([rows[0], {**rows[1], **wrong}], records.USERS)
        users = write_table(objects, "runs/r/data/wrong.parquet", table, records.USERS)
        damaged = replace(snapshot, buckets={0: replace(bucket, files={**bucket.files, "users": users})})
        assert read_user(objects, damaged, "a", "ann") is not None
        with pytest.raises(StoreCorrupt, match="rows of others"):
            read_user(objects, damaged, "a", "bob")


def test_missing_files_are_corrupt(objects: ObjectStore, snapshot: Snapshot) -> None:
    bucket = snapshot.buckets[records.bucket_of("a", "ann", 3)]
    objects.delete(bucket.files["vectors"].path)
    with pytest.raises(StoreCorrupt, match=r"vectors\.npy is gone"):
        read_user(objects, snapshot, "a", "ann")
    without = {number: replace(each, files={}) for number, each in snapshot.buckets.items()}
    with pytest.raises(StoreCorrupt, match="names no users"):
        read_user(objects, replace(snapshot, buckets=without), "a", "ann")
