"""One user's part of a snapshot, and who is in it."""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from operators.errors import ScopeError, StoreCorrupt
from operators.records import MEDIA, OBSERVATIONS, TENANT, USER, USERS, VECTOR, bucket_of, pictures_of, require_scope
from operators.store.manifest import (
    OBSERVATIONS_FILE,
    PACK_FILE,
    PICTURE_VECTORS_FILE,
    ROUNDS_FILE,
    UNITS_FILE,
    USERS_FILE,
    VECTORS_FILE,
    BucketFiles,
    DataFile,
    Snapshot,
)
from operators.store.objects import ObjectStore
from operators.store.tables import ROW_GROUP, iter_table, read_packed, read_sorted, read_table, read_vectors, vector_rows


@dataclass(frozen=True)
class UserData:
    """All of one user: ``records.ROUNDS`` and ``records.UNITS`` rows in order, and a float16 vector (units, dim) a unit.

    ``pictures``: the names (``media``) of the distinct pictures that have a vector, sorted; ``picture_vectors`` (pictures,
    image dim), row i for picture i.
    """

    rounds: pa.Table
    units: pa.Table
    vectors: NDArray[np.float16]
    pictures: tuple[str, ...] = ()
    picture_vectors: NDArray[np.float16] = field(default_factory=lambda: np.zeros((0, 0), np.float16))


def read_user(objects: ObjectStore, snapshot: Snapshot, tenant: str | None, user: str | None) -> UserData | None:
    """What a snapshot holds of one user, by ranged reads; None where it does not know the user.

    ScopeError without tenant or user. StoreCorrupt where a file is missing or rows of anyone else stand in the user's range.
    """
    tenant, user = require_scope(tenant, user)
    bucket = snapshot.buckets.get(bucket_of(tenant, user, snapshot.spec.buckets))
    place = None if bucket is None else _place(objects, bucket, tenant, user)
    if bucket is None or place is None:
        return None
    rounds = _part(objects, bucket, ROUNDS_FILE, place["round_start"], place["rounds"])
    units = _part(objects, bucket, UNITS_FILE, place["unit_start"], place["units"])
    vectors = read_vectors(objects, _file(bucket, VECTORS_FILE), place["unit_start"], place["units"])
    for name, table in ((ROUNDS_FILE, rounds), (UNITS_FILE, units)):
        _require_only(table, tenant, user, _file(bucket, name))
    pictures: tuple[str, ...] = ()
    seen = np.zeros((0, int(snapshot.spec.image_encoder.get("dim", 0))), np.float16)
    if seen.shape[1]:
        pictures, seen = _pictures(objects, bucket, rounds, tenant, user)
    return UserData(rounds=rounds, units=units, vectors=vectors, pictures=pictures, picture_vectors=seen)


def _pictures(
    objects: ObjectStore, bucket: BucketFiles, rounds: pa.Table, tenant: str, user: str
) -> tuple[tuple[str, ...], NDArray[np.float16]]:
    """Names and vectors (n, dim) of the pictures of a user's rounds; StoreCorrupt where one is of no round of theirs."""
    file = _file(bucket, PICTURE_VECTORS_FILE)
    table = read_sorted(objects, file, {TENANT: tenant, USER: user})
    if not pc.all(pc.is_in(table[MEDIA], value_set=pictures_of(rounds)), min_count=0).as_py():
        raise StoreCorrupt(f"{file.path}: pictures that no round of the user holds: nothing is returned")
    return tuple(table[MEDIA].to_pylist()), vector_rows(table[VECTOR])


def read_observations(objects: ObjectStore, snapshot: Snapshot, tenant: str | None, user: str | None) -> pa.Table:
    """The user's ``records.OBSERVATIONS`` in order, by ranged reads; none where the snapshot does not know the user.

    ScopeError without tenant or user; StoreCorrupt where the file is missing.
    """
    return read_of_user(objects, snapshot, OBSERVATIONS_FILE, OBSERVATIONS, tenant, user)


def read_of_user(
    objects: ObjectStore, snapshot: Snapshot, name: str, schema: pa.Schema, tenant: str | None, user: str | None
) -> pa.Table:
    """The user's rows of a dataset that is sorted by tenant and user, by ranged reads; none for a user not known.

    ScopeError without tenant or user; StoreCorrupt where the file is missing.
    """
    tenant, user = require_scope(tenant, user)
    bucket = snapshot.buckets.get(bucket_of(tenant, user, snapshot.spec.buckets))
    if bucket is None:
        return schema.empty_table()
    file = _file(bucket, name)
    parts = [schema.empty_table()]
    for number in range(_first_group(objects, file, tenant, user), -(-file.rows // ROW_GROUP)):
        table = _group(objects, file, number)
        if (tenant, user) < _scope_at(table, 0):
            break
        parts.append(table.filter(pc.and_(pc.equal(table[TENANT], tenant), pc.equal(table[USER], user))))
    return pa.concat_tables(parts).combine_chunks()


def read_user_table(
    objects: ObjectStore, snapshot: Snapshot, tenant: str | None, user: str | None, start: int, length: int
) -> pa.Table:
    """The rows of one table of the user's, where ``records.TABLES`` of that user says that they stand."""
    tenant, user = require_scope(tenant, user)
    bucket = snapshot.buckets[bucket_of(tenant, user, snapshot.spec.buckets)]
    return read_packed(objects, _file(bucket, PACK_FILE), start, length)


def _first_group(objects: ObjectStore, file: DataFile, tenant: str, user: str) -> int:
    """The first row group of a sorted file that can hold the user's rows."""
    low, high = 0, -(-file.rows // ROW_GROUP)
    while low < high:
        middle = (low + high) // 2
        if _scope_at(_group(objects, file, middle), -1) < (tenant, user):
            low = middle + 1
        else:
            high = middle
    return low


def list_users(objects: ObjectStore, snapshot: Snapshot, tenant: str | None) -> pa.Table:
    """The ``records.USERS`` rows of one tenant, sorted by user; ScopeError without a tenant."""
    tenant = _require_tenant(tenant)
    tables = [_of_tenant(read_table(objects, file), tenant) for file in _user_files(snapshot)]
    return pa.concat_tables([USERS.empty_table(), *tables]).sort_by(USER).combine_chunks()


def iter_users(objects: ObjectStore, snapshot: Snapshot, tenant: str | None) -> Iterator[dict[str, Any]]:
    """The rows of ``list_users``, one at a time and in its order; holds one row group a bucket, whatever the users."""
    tenant = _require_tenant(tenant)
    return heapq.merge(*(_rows_of(objects, file, tenant) for file in _user_files(snapshot)), key=lambda row: row[USER])


def _place(objects: ObjectStore, bucket: BucketFiles, tenant: str, user: str) -> dict[str, Any] | None:
    """The user's row in ``users``: the file is sorted, so its row group is found by bisection."""
    file = _file(bucket, USERS_FILE)
    low, high = 0, -(-file.rows // ROW_GROUP)
    while low < high:
        middle = (low + high) // 2
        table = _group(objects, file, middle)
        first, last = (_scope_at(table, 0), _scope_at(table, -1))
        if (tenant, user) < first:
            high = middle
        elif (tenant, user) > last:
            low = middle + 1
        else:
            return _row_of(table, tenant, user, file)
    return None


def _group(objects: ObjectStore, file: DataFile, number: int) -> pa.Table:
    start = number * ROW_GROUP
    return read_table(objects, file, start=start, count=min(ROW_GROUP, file.rows - start))


def _scope_at(table: pa.Table, row: int) -> tuple[str, str]:
    return table.column(TENANT)[row].as_py(), table.column(USER)[row].as_py()


def _row_of(table: pa.Table, tenant: str, user: str, file: DataFile) -> dict[str, Any] | None:
    rows = table.filter(pc.and_(pc.equal(table[TENANT], tenant), pc.equal(table[USER], user))).to_pylist()
    if len(rows) > 1:
        raise StoreCorrupt(f"{file.path} names one user {len(rows)} times: backfill the sources into a new store")
    return rows[0] if rows else None


def _part(objects: ObjectStore, bucket: BucketFiles, name: str, start: int, count: int) -> pa.Table:
    return read_table(objects, _file(bucket, name), start=start, count=count)


def _require_only(table: pa.Table, tenant: str, user: str, file: DataFile) -> None:
    theirs = pc.and_(pc.equal(table[TENANT], tenant), pc.equal(table[USER], user))
    if not pc.all(theirs, min_count=0).as_py():
        raise StoreCorrupt(f"{file.path}: rows of others stand where one user's should: nothing is returned")


def _file(bucket: BucketFiles, name: str) -> DataFile:
    try:
        return bucket.files[name]
    except KeyError:
        raise StoreCorrupt(f"bucket {bucket.revision} names no {name} file: restore its manifest") from None


def _user_files(snapshot: Snapshot) -> list[DataFile]:
    return [_file(bucket, USERS_FILE) for _, bucket in sorted(snapshot.buckets.items())]


def _of_tenant(table: pa.Table, tenant: str) -> pa.Table:
    return table.filter(pc.equal(table[TENANT], tenant))


def _rows_of(objects: ObjectStore, file: DataFile, tenant: str) -> Iterator[dict[str, Any]]:
    for table in iter_table(objects, file):
        yield from _of_tenant(table, tenant).to_pylist()


def _require_tenant(tenant: str | None) -> str:
    if not isinstance(tenant, str) or not tenant.strip():
        raise ScopeError("a listing of users needs a tenant: pass --tenant (tenant= in Python)")
    return tenant
