"""A store of many users for measuring search, made by the store's own writers without a backfill."""

from __future__ import annotations

import multiprocessing
import uuid
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from datetime import UTC, datetime

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from jobs.bench.conversations import texts
from operators.merge import users_of
from operators.records import DEFAULT_TENANT, ORDER, ROUNDS, UNITS, USERS, Message, Round, bucket_of, round_rows
from operators.store.commit import create_store, publish
from operators.store.manifest import BucketFiles, Counts, Snapshot, StoreSpec, add_digests
from operators.store.opening import open_objects
from operators.store.tables import write_table, write_vectors
from operators.units import units_of

DIM = 384
"""Numbers of a vector, as of all-MiniLM-L6-v2."""
WORDS = (30, 45)
"""Mean words of a user's and of an assistant's message: about what the shared conversations have."""

_ROUNDS_PER_SESSION, _ROUNDS_PER_BUCKET, _FEWEST_BUCKETS = 10, 32_768, 4


def user_name(number: int) -> str:
    """Name of the user of this number, from 0."""
    return f"user-{number:06d}"


def build_store(uri: str, *, users: int, rounds: int, processes: int) -> None:
    """Write and publish a store of so many users with so many rounds each; texts are invented, vectors random."""
    buckets = _FEWEST_BUCKETS
    while buckets * _ROUNDS_PER_BUCKET < users * rounds:
        buckets *= 2
    objects = open_objects(uri)
    spec = create_store(objects, StoreSpec(buckets, {"kind": "random", "model": "none", "dim": DIM}))
    members: dict[int, list[int]] = {}
    for number in range(users):
        members.setdefault(bucket_of(DEFAULT_TENANT, user_name(number), buckets), []).append(number)
    with ProcessPoolExecutor(processes, mp_context=multiprocessing.get_context("spawn")) as pool:
        made = {bucket: pool.submit(write_bucket, uri, bucket, numbers, rounds) for bucket, numbers in members.items()}
        written = {bucket: future.result() for bucket, future in sorted(made.items())}
    now = datetime.now(UTC)
    publish(
        objects, Snapshot(1, 0, uuid.uuid4().hex, "bench", now, spec, buckets=written, changes={"added": users * rounds})
    )


def write_bucket(uri: str, bucket: int, users: list[int], rounds: int) -> BucketFiles:
    """Write the files of one bucket."""
    objects = open_objects(uri)
    told = pa.concat_tables([_rounds_of(number, rounds) for number in users]).combine_chunks()
    units = units_of(told, lambda text: [(0, len(text))])
    places = users_of(told, units)
    revision = uuid.uuid4().hex
    home = f"runs/bench/data/{bucket:05d}-{revision}"
    files = {
        "rounds": write_table(objects, f"{home}/rounds.parquet", told, ROUNDS),
        "units": write_table(objects, f"{home}/units.parquet", units, UNITS),
        "users": write_table(objects, f"{home}/users.parquet", places, USERS),
        "vectors": write_vectors(objects, f"{home}/vectors.npy", _vectors(bucket, places["units"].to_pylist()), DIM),
    }
    counts = Counts(len(users), sum(places["sessions"].to_pylist()), len(told), len(units), 0)
    return BucketFiles(revision, files, counts, add_digests(places["digest"].to_pylist()))


def _rounds_of(number: int, rounds: int) -> pa.Table:
    """One user's history (``records.ROUNDS``), in order."""
    said = texts(np.random.default_rng([number]), list(WORDS) * rounds)
    told = [
        Round(
            session_id=f"s{index // _ROUNDS_PER_SESSION:04d}",
            round_id=f"r{index:05d}",
            position=index % _ROUNDS_PER_SESSION,
            messages=(
                Message("user", "user", said[2 * index]),
                Message("assistant", "assistant", said[2 * index + 1]),
            ),
        )
        for index in range(rounds)
    ]
    rows = round_rows(DEFAULT_TENANT, user_name(number), told, "bench")
    return pa.Table.from_pylist([row | {ORDER: index} for index, row in enumerate(rows)], ROUNDS)


def _vectors(bucket: int, units: list[int]) -> Iterator[NDArray[np.float32]]:
    rng = np.random.default_rng([bucket, DIM])
    for count in units:
        drawn = rng.standard_normal((count, DIM), dtype=np.float32)
        yield drawn / np.linalg.norm(drawn, axis=1, keepdims=True)
