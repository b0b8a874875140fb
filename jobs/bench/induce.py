"""Counting and induction at scale: invented observations of many users, induced, appended to and induced again."""

from __future__ import annotations

import tempfile
import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import yaml

from configs.settings import Settings
from jobs.bench.scale import watched_command
from jobs.bench.usage import Peaks
from operators.encode.text import text_fingerprint
from operators.induce.counts import count, keys_of, live
from operators.merge import users_of
from operators.records import (
    CORRECTIONS,
    COUNTS,
    OBSERVATIONS,
    ROUNDS,
    SCHEMA_CHANGES,
    TABLES,
    UNITS,
    USERS,
    bucket_of,
)
from operators.store.commit import create_store, latest_version, load_snapshot, publish
from operators.store.manifest import (
    CHANGES_FILE,
    CORRECTIONS_FILE,
    COUNTS_FILE,
    OBSERVATIONS_FILE,
    PACK_FILE,
    ROUNDS_FILE,
    TABLES_FILE,
    USERS_FILE,
    BucketFiles,
    Counts,
    DataFile,
    Snapshot,
    StoreSpec,
)
from operators.store.objects import ObjectStore
from operators.store.opening import open_objects
from operators.store.tables import write_pack, write_table

TENANT_NAME = "bench"
_SEED = 20_261_130
_BEGINS = int(datetime(2024, 1, 1, tzinfo=UTC).timestamp() * 1_000_000)
_DAY = 86_400_000_000

Tell = Callable[[str], None]

_KINDS: tuple[tuple[str, str, str | None], ...] = (
    ("sleep", "duration", "s"), ("steps", "number", "steps"), ("calories", "number", "kcal"), ("distance", "number", "m"),
    ("merchant", "text", None), ("total", "money", "EUR"), ("date", "date", None), ("weight", "number", "kg"),
    ("mood", "ratio", "/10"), ("heart rate", "number", "bpm"),
)  # fmt: skip
_LOGS = ((0, 1, 2), (0, 1, 2, 3), (4, 5, 6), (4, 5), (7,), (8,), (0, 9), (9,))
"""What is told in one round, as places in ``_KINDS``."""


@dataclass(frozen=True)
class InduceFigures:
    """``count``: in one process. ``full`` and ``append``: seconds of ``reinduce`` but for the start of Ray."""

    users: int
    rounds: int
    observations: int
    buckets: int
    count_rounds_per_second: float
    full_seconds: float
    full_rounds_per_second: float
    appended_rounds: int
    append_seconds: float
    append_share: float
    tables: int
    peaks: Peaks


def measure_induce(
    users: int, rounds: int, buckets: int, settings: Settings, *, append: float, temp: Path | None, tell: Tell
) -> InduceFigures:
    """Write ``users`` with ``rounds`` each, induce them, append a share of the rounds and induce again.

    The append is of that share of the users, each of whom gets as many rounds more as they had: what a night's backfill of
    active users does, wherever their buckets are.
    """
    with tempfile.TemporaryDirectory(prefix="mnemosaic-induce-", dir=temp) as folder:
        store = str(Path(folder) / "store")
        objects = open_objects(store)
        tell(f"writing {users * rounds:,} rounds of {users:,} users")
        counted = _write(objects, users, rounds, buckets, 0.0)
        tell("inducing all of them")
        full, peaks = _reinduce(Path(folder), store, settings)
        snapshot = load_snapshot(objects, latest_version(objects))
        tell(f"appending {append:.0%}")
        _write(objects, users, rounds, buckets, append)
        again, _ = _reinduce(Path(folder), store, settings)
    total = users * rounds
    return InduceFigures(
        users=users,
        rounds=total,
        observations=snapshot.observations,
        buckets=buckets,
        count_rounds_per_second=counted,
        full_seconds=full["seconds"],
        full_rounds_per_second=total / full["seconds"],
        appended_rounds=int(users * append) * rounds,
        append_seconds=again["seconds"],
        append_share=again["seconds"] / full["seconds"],
        tables=snapshot.tables,
        peaks=peaks,
    )


def _write(objects: ObjectStore, users: int, rounds: int, buckets: int, append: float) -> float:
    """Publish a version with those users; with ``append``, with more rounds of a share of them. Rounds counted a second.

    Nothing but what induction reads is written, and of a bucket that is there its tables are kept.
    """
    spec = create_store(objects, StoreSpec(buckets=buckets, encoder=text_fingerprint("stub")))
    base = load_snapshot(objects, latest_version(objects))
    names: dict[int, list[int]] = {}
    for user in range(users):
        names.setdefault(bucket_of(TENANT_NAME, _name(user), buckets), []).append(user)
    written: dict[int, BucketFiles] = {}
    spent = 0.0
    for number, theirs in sorted(names.items()):
        more = [rounds * (2 if user < int(users * append) else 1) for user in theirs]
        written[number], seconds = _bucket(objects, theirs, more, base.buckets.get(number))
        spent += seconds
    version = base.version + 1
    now = datetime.now(UTC)
    publish(objects, Snapshot(version, base.version, uuid.uuid4().hex, "bench", now, spec, buckets=written))
    return users * rounds / spent


def _bucket(
    objects: ObjectStore, users: list[int], rounds: list[int], base: BucketFiles | None
) -> tuple[BucketFiles, float]:
    told, observed = _tables(users, rounds)
    home = f"runs/bench/data/{uuid.uuid4().hex}"
    people = users_of(told, UNITS.empty_table())
    began = time.perf_counter()
    counts = count(live(observed), keys_of(observed))
    seconds = time.perf_counter() - began
    held = dict(base.files) if base is not None else _no_tables(objects, home, counts)
    files = {
        **held,
        ROUNDS_FILE: write_table(objects, f"{home}/rounds.parquet", told, ROUNDS),
        USERS_FILE: write_table(objects, f"{home}/users.parquet", people, USERS),
        OBSERVATIONS_FILE: write_table(objects, f"{home}/observations.parquet", observed, OBSERVATIONS),
    }
    return BucketFiles(uuid.uuid4().hex, files, Counts(users=len(users), rounds=len(told)), "0"), seconds


def _no_tables(objects: ObjectStore, home: str, counts: pa.Table) -> dict[str, DataFile]:
    nothing = {TABLES_FILE: TABLES, CHANGES_FILE: SCHEMA_CHANGES, CORRECTIONS_FILE: CORRECTIONS}
    files = {
        name: write_table(objects, f"{home}/{name}.parquet", schema.empty_table(), schema)
        for name, schema in nothing.items()
    }
    files[COUNTS_FILE] = write_table(objects, f"{home}/counts.parquet", counts, COUNTS)
    files[PACK_FILE] = write_pack(objects, f"{home}/tables.pack", [])[0]
    return files


def _name(user: int) -> str:
    return f"user-{user:07d}"


def _tables(users: list[int], rounds: list[int]) -> tuple[pa.Table, pa.Table]:
    """``ROUNDS`` and ``OBSERVATIONS`` of users, a round a day; a user's first rounds are the same however many follow."""
    owners = np.repeat(np.array(users), rounds)
    orders = np.concatenate([np.arange(number) for number in rounds])
    rng = np.random.default_rng(_SEED)
    habits = rng.integers(0, len(_LOGS), (max(users) + 1, 3))
    logs = habits[owners, (owners + orders) % 3]
    names = np.array([_name(user) for user in users])[np.repeat(np.arange(len(users)), rounds)]
    ids = np.char.add("r", orders.astype(str))
    scope = {"tenant_id": pa.array([TENANT_NAME] * len(names)), "user_id": pa.array(names), "session_id": pa.array(ids)}
    times = pa.array(_BEGINS + orders * _DAY, pa.timestamp("us", tz="UTC"))
    empty = pa.array([[]] * len(names))
    told = {
        **scope,
        "round_id": pa.array(ids),
        "order": pa.array(orders),
        "position": pa.array(np.zeros(len(names), np.int32)),
        "time": times,
        "time_precision": pa.array(["second"] * len(names)),
        "messages": empty,
        "images": empty,
        "metadata": pa.array(["{}"] * len(names)),
        "content_hash": pa.array(ids),
        "source": pa.array(["bench"] * len(names)),
    }
    return _typed(told, ROUNDS), _typed(_observed(scope, ids, orders, logs), OBSERVATIONS)


def _observed(scope: dict[str, pa.Array], ids: Any, orders: Any, logs: Any) -> dict[str, pa.Array]:
    widths = np.array([len(log) for log in _LOGS])[logs]
    at = np.repeat(np.arange(len(orders)), widths)
    kinds = np.concatenate([np.array(log) for log in _LOGS])
    starts = np.cumsum([0, *map(len, _LOGS)])[:-1]
    place = np.arange(len(at)) - np.repeat(np.cumsum(widths) - widths, widths)
    which = kinds[starts[logs[at]] + place]
    numbers = 10.0 + (orders[at] * 37 + which * 11) % 90
    rows = pa.array(at)
    name, kind, unit = (pa.array([each[column] for each in _KINDS]).take(pa.array(which)) for column in range(3))
    text = np.char.mod("%d", numbers)
    days = np.datetime_as_string(np.datetime64("2024-01-01") + (orders[at] % 700).astype("timedelta64[D]"))
    dated = which == [each[1] for each in _KINDS].index("date")
    wordy = dated | (which == [each[1] for each in _KINDS].index("text"))
    ones = np.ones(len(at))
    return {
        **{column: values.take(rows) for column, values in scope.items()},
        "round_id": pa.array(ids).take(rows),
        "order": pa.array(orders[at]),
        "observation_id": pa.array(np.char.add(np.char.add(ids[at], "/"), place.astype(str))),
        "record": pa.array(np.zeros(len(at), np.int32)),
        "attribute": name,
        "value": pa.array(text),
        "kind": kind,
        "number": pa.array(numbers, mask=wordy),
        "unit": unit,
        "parsed": pa.array(np.where(dated, days, text), mask=~wordy),
        "speaker": pa.array(["user"] * len(at)),
        "message": pa.array(np.zeros(len(at), np.int32)),
        "start": pa.array(np.zeros(len(at), np.int32)),
        "end": pa.array(ones.astype(np.int32)),
        "extractor": pa.array(["bench"] * len(at)),
        "confidence": pa.array(ones.astype(np.float32)),
        "named": pa.array(ones.astype(bool)),
    }


def _typed(columns: dict[str, pa.Array], schema: pa.Schema) -> pa.Table:
    rows = len(columns["order"])
    arrays = [
        columns[field.name].cast(field.type) if field.name in columns else pa.nulls(rows, field.type) for field in schema
    ]
    return pa.Table.from_arrays(arrays, schema=schema)


def _reinduce(folder: Path, store: str, settings: Settings) -> tuple[dict[str, Any], Peaks]:
    config = folder / "settings.yaml"
    config.write_text(yaml.safe_dump(settings.model_dump(mode="json")), encoding="utf-8")
    report, peaks, _ = watched_command(folder, "reinduce", ["--store", store, "--config", str(config)])
    report["seconds"] -= report["startup_seconds"]
    return report, peaks
