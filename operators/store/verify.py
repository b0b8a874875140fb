"""Is a snapshot whole: every file re-hashed, every reference followed, every bucket counted again."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from typing import TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from operators.errors import ObjectNotFound, StoreCorrupt
from operators.records import ORDER, TENANT, USER, bucket_of, media_key, pictures_of
from operators.store.manifest import (
    ROUNDS_FILE,
    UNITS_FILE,
    USERS_FILE,
    VECTORS_FILE,
    BucketFiles,
    Counts,
    DataFile,
    Snapshot,
    add_digests,
)
from operators.store.objects import ObjectStore
from operators.store.tables import read_table, read_vectors

_PIECE = 8 << 20
_VECTORS_AT_ONCE = 16_384
_AT_WORK = 4
_SHA256 = re.compile(r"[0-9a-f]{64}")

T = TypeVar("T")

Recount = Callable[[pa.Table, pa.Table], pa.Table]
"""Rounds and units of a bucket to the ``records.USERS`` rows that they make."""


@dataclass(frozen=True)
class Finding:
    """One thing that is not as it should be: the object, a stable word for what is wrong, and both sides.

    Codes: ``missing``, ``size``, ``sha256``, ``unreadable``, ``users``, ``counts``, ``digest``, ``vectors``, ``order``,
    ``bucket``, ``picture-missing``, ``picture-sha256``, ``picture-name``. No text of a user and no name of one is in it.
    """

    key: str
    code: str
    expected: str
    found: str


@dataclass
class Checked:
    """What was looked at already, so that versions that share files are not read twice: revisions, files, pictures."""

    revisions: set[str] = field(default_factory=set)
    files: set[str] = field(default_factory=set)
    pictures: set[str] = field(default_factory=set)


@dataclass(frozen=True)
class VerifyReport:
    """What was read of a version, beyond what was checked before, and what was found."""

    version: int
    files: int
    bytes: int
    pictures: int
    findings: tuple[Finding, ...]


def verify(
    objects: ObjectStore,
    snapshot: Snapshot,
    *,
    recount: Recount,
    checked: Checked,
    threads: int,
    progress: Callable[[int, int], None],
) -> VerifyReport:
    """Look at everything that the snapshot names. ``progress`` is told the files done and their number.

    One damage never hides another, but the content of a file whose bytes are wrong is not judged. Holds one bucket's tables
    a thread. StoreDenied and StoreUnavailable pass through.
    """
    buckets = [
        (number, bucket) for number, bucket in sorted(snapshot.buckets.items()) if bucket.revision not in checked.revisions
    ]
    others = [snapshot.quarantine] if snapshot.quarantine and snapshot.quarantine.path not in checked.files else []
    total = sum(len(bucket.files) for _, bucket in buckets) + len(others)
    findings: list[Finding] = []
    pictures: set[str] = set()
    done = size = 0
    with ThreadPoolExecutor(threads) as pool:
        looks = (partial(_bucket, objects, snapshot.spec.buckets, number, bucket, recount) for number, bucket in buckets)
        for bucket_findings, named, files in _in_order(pool, looks, threads):
            findings += bucket_findings
            pictures |= named
            done += len(files)
            size += sum(file.bytes for file in files)
            progress(done, total)
        for file in others:
            findings += _bytes(objects, file)
            done, size = done + 1, size + file.bytes
            progress(done, total)
        fresh = sorted(pictures - checked.pictures)
        seen = (partial(_picture, objects, name) for name in fresh)
        findings += [finding for found in _in_order(pool, seen, threads) for finding in found]
    checked.revisions.update(bucket.revision for _, bucket in buckets)
    checked.files.update(file.path for file in others)
    checked.pictures.update(fresh)
    return VerifyReport(snapshot.version, done, size, len(fresh), tuple(findings))


def _in_order(pool: ThreadPoolExecutor, works: Iterable[Callable[[], T]], threads: int) -> Iterator[T]:
    """Results in order, a bounded number of works begun at a time."""
    left = iter(works)
    begun = [pool.submit(work) for work in islice(left, threads + _AT_WORK)]
    while begun:
        yield begun.pop(0).result()
        begun += [pool.submit(work) for work in islice(left, 1)]


# --- one bucket -----------------------------------------------------------------------------------------------------


def _bucket(
    objects: ObjectStore, buckets: int, number: int, bucket: BucketFiles, recount: Recount
) -> tuple[list[Finding], set[str], list[DataFile]]:
    files = [bucket.files[name] for name in sorted(bucket.files)]
    findings = [finding for file in files for finding in _bytes(objects, file)]
    broken = {finding.key for finding in findings}
    whole = {name: file for name, file in bucket.files.items() if file.path not in broken}
    named: set[str] = set()
    try:
        findings += _content(objects, buckets, number, bucket, whole, recount, named)
    except (StoreCorrupt, ValueError, KeyError, pa.ArrowException) as error:
        findings.append(Finding(files[0].path.rpartition("/")[0], "unreadable", "files of a bucket", type(error).__name__))
    return findings, named, files


def _content(
    objects: ObjectStore,
    buckets: int,
    number: int,
    bucket: BucketFiles,
    whole: Mapping[str, DataFile],
    recount: Recount,
    named: set[str],
) -> Iterator[Finding]:
    tables = {name: read_table(objects, whole[name]) for name in (ROUNDS_FILE, UNITS_FILE, USERS_FILE) if name in whole}
    if ROUNDS_FILE in tables:
        rounds = tables[ROUNDS_FILE]
        yield from _places(rounds, whole[ROUNDS_FILE].path, number, buckets)
        yield from _names(rounds, whole[ROUNDS_FILE].path, named)
    if len(tables) == 3:
        yield from _users(tables, whole[USERS_FILE].path, recount)
    if USERS_FILE in tables:
        yield from _totals(tables[USERS_FILE], bucket, whole[USERS_FILE].path)
    if VECTORS_FILE in whole:
        units = bucket.files[UNITS_FILE].rows
        yield from _vectors(objects, whole[VECTORS_FILE], units)


def _bytes(objects: ObjectStore, file: DataFile) -> list[Finding]:
    """The file's size and sha256, read piece by piece."""
    digest, size = hashlib.sha256(), 0
    try:
        while piece := objects.get(file.path, start=size, length=_PIECE):
            digest.update(piece)
            size += len(piece)
    except ObjectNotFound:
        return [Finding(file.path, "missing", f"{file.bytes} bytes", "nothing")]
    if size != file.bytes:
        return [Finding(file.path, "size", f"{file.bytes} bytes", f"{size} bytes")]
    found = digest.hexdigest()
    return [] if found == file.sha256 else [Finding(file.path, "sha256", file.sha256, found)]


def _places(rounds: pa.Table, key: str, number: int, buckets: int) -> Iterator[Finding]:
    """Rows sorted by tenant and user, who belong here, each history counted from 0."""
    before: tuple[str, str] | None = None
    due = 0
    orders = rounds[ORDER].to_pylist()
    for row, scope in enumerate(zip(rounds[TENANT].to_pylist(), rounds[USER].to_pylist(), strict=True)):
        if scope != before:
            if before is not None and scope < before:
                yield Finding(key, "order", "rows sorted by tenant and user", f"row {row} stands before the one above it")
                return
            if bucket_of(*scope, buckets) != number:
                yield Finding(
                    key, "bucket", f"users of bucket {number}", f"row {row} of bucket {bucket_of(*scope, buckets)}"
                )
            before, due = scope, 0
        if orders[row] != due:
            yield Finding(key, "order", f"order {due} in row {row}", f"order {orders[row]}")
            return
        due += 1


def _names(rounds: pa.Table, key: str, named: set[str]) -> Iterator[Finding]:
    for name in pictures_of(rounds).to_pylist():
        if _SHA256.fullmatch(name):
            named.add(name)
        else:
            yield Finding(key, "picture-name", "a sha256", "something else")


def _users(tables: Mapping[str, pa.Table], key: str, recount: Recount) -> Iterator[Finding]:
    told, counted = tables[USERS_FILE], recount(tables[ROUNDS_FILE], tables[UNITS_FILE])
    if told.num_rows != counted.num_rows:
        yield Finding(key, "users", f"{counted.num_rows} users", f"{told.num_rows}")
        return
    for name in counted.column_names:
        if not told[name].combine_chunks().equals(counted[name].combine_chunks()):
            yield Finding(key, "users", f"{name} as counted from rounds and units", f"another {name}")


def _totals(users: pa.Table, bucket: BucketFiles, key: str) -> Iterator[Finding]:
    columns = ("sessions", "rounds", "units", "pictures")
    counted = Counts(users=users.num_rows, **{name: pc.sum(users[name]).as_py() or 0 for name in columns})
    if counted != bucket.counts:
        yield Finding(key, "counts", str(counted), str(bucket.counts))
    if (digest := add_digests(users["digest"].to_pylist())) != bucket.digest:
        yield Finding(key, "digest", digest, bucket.digest)


def _vectors(objects: ObjectStore, file: DataFile, units: int) -> Iterator[Finding]:
    if file.rows != units:
        yield Finding(file.path, "vectors", f"{units} vectors, one a unit", f"{file.rows}")
        return
    for start in range(0, file.rows, _VECTORS_AT_ONCE):
        block = read_vectors(objects, file, start, min(_VECTORS_AT_ONCE, file.rows - start))
        if not np.isfinite(block).all():
            yield Finding(file.path, "vectors", "finite numbers", f"others in vectors {start} to {start + len(block) - 1}")
            return


def _picture(objects: ObjectStore, name: str) -> list[Finding]:
    key = media_key(name)
    try:
        found = hashlib.sha256(objects.get(key)).hexdigest()
    except ObjectNotFound:
        return [Finding(key, "picture-missing", "a picture that rounds name", "nothing")]
    return [] if found == name else [Finding(key, "picture-sha256", name, found)]
