"""What is kept: old snapshots, and what nothing names any more, are removed once no one can be at work on it."""

from __future__ import annotations

import re
import uuid
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import groupby

import pyarrow as pa

from operators.errors import ObjectNotFound, StoreCorrupt, UsageError
from operators.records import IMAGES, pictures_of
from operators.store.commit import SNAPSHOTS, load_snapshot, load_spec, version_of, versions
from operators.store.manifest import ROUNDS_FILE, DataFile, Snapshot
from operators.store.objects import ObjectInfo, ObjectStore
from operators.store.tables import iter_table

_RUNS = "runs/"
_PICTURES = "media/sha256/"
_PICTURE_KEY = re.compile(r"media/sha256/[0-9a-f]{2}/([0-9a-f]{64})")
_SHA256 = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True)
class GcReport:
    """What a collection removed, or would remove: versions, and objects (their manifests among them) with their bytes."""

    versions_removed: tuple[int, ...]
    objects_removed: int
    bytes_removed: int
    kept_versions: tuple[int, ...]


def store_time(objects: ObjectStore) -> datetime:
    """What the store's own clock says, by which it dates its objects. StoreError where none can be written."""
    key = f"{_RUNS}clock-{uuid.uuid4().hex}/now"  # should it stay, the next collection takes it as a run that ended
    objects.put(key, b"")
    try:
        return objects.head(key).modified
    finally:
        objects.delete(key)


def collect_garbage(objects: ObjectStore, *, keep: int, grace: timedelta, now: datetime, dry_run: bool = False) -> GcReport:
    """Keep the newest ``keep`` snapshots and all that they name; remove what is older than ``grace`` and named by none.

    A snapshot younger than grace is kept too, with the one before it and all those after it; the newest always. So a reader
    has at least ``grace`` for what it pinned, from the moment another version takes its place. ``now`` must be told by the
    store's own clock (``store_time``), which the age of its objects is told by. A run of which any object is
    younger than grace may be at work: it is left wholly alone, and so is every picture that it may have met since it
    began. So ``grace`` must be longer than a run ever pauses between two writes. A run that goes on with old work must
    first write an object of its own, its plan.

    Manifests go first, oldest first, then a run's markers, then data: a crash at any point leaves every manifest that is
    still there whole, and no marker without its files. Whoever still reads a removed version gets StoreCorrupt.
    Errors: UsageError, NotAStore; StoreCorrupt, with nothing removed, where a kept snapshot cannot be read.
    """
    if keep < 1:
        raise UsageError(f"keep {keep}: at least the newest snapshot is kept")
    if now.tzinfo is None or grace < timedelta(0):
        raise UsageError("gc needs the time with its zone, and a grace that is not negative")
    load_spec(objects)
    before = now - grace
    bin_ = _Bin(objects, dry_run)
    kept, old = _divide(objects, keep, before)
    held = _Held(objects)
    held.add(kept)
    for info in old:
        bin_.remove(info)
    removed = tuple(found for info in old if (found := version_of(info.key)) is not None)
    # What was committed while we read is kept as well.
    kept = sorted(set(versions(objects)) - set(removed))
    held.add(kept)
    began = _clear_runs(objects, held, bin_, before)
    _clear_pictures(objects, held, bin_, before if began is None else min(before, began - grace))
    if not dry_run:
        objects.sweep(before)
    return GcReport(removed, bin_.count, bin_.bytes, tuple(kept))


class _Bin:
    """Removes, or only counts."""

    def __init__(self, objects: ObjectStore, dry_run: bool) -> None:
        self._objects, self._dry_run = objects, dry_run
        self.count = self.bytes = 0

    def remove(self, info: ObjectInfo) -> None:
        if not self._dry_run:
            self._objects.delete(info.key)
        self.count += 1
        self.bytes += info.size


class _Held:
    """What kept snapshots name: data files by key, pictures by sha256."""

    def __init__(self, objects: ObjectStore) -> None:
        self._objects = objects
        self._versions: set[int] = set()
        self._read: set[str] = set()
        self.keys: set[str] = set()
        self.pictures: set[bytes] = set()

    def add(self, kept: Iterable[int]) -> None:
        for version in sorted(set(kept) - self._versions):
            snapshot = load_snapshot(self._objects, version)
            self.keys.update(file.path for file in snapshot.files())
            for file in _rounds_files(snapshot):
                self._add_pictures(file)
            self._versions.add(version)

    def _add_pictures(self, file: DataFile) -> None:
        if file.path in self._read:
            return
        for table in iter_table(self._objects, file, columns=[IMAGES]):
            self.pictures.update(_pictures(table, file))
        self._read.add(file.path)


def _rounds_files(snapshot: Snapshot) -> Iterator[DataFile]:
    for bucket in snapshot.buckets.values():
        if ROUNDS_FILE in bucket.files:
            yield bucket.files[ROUNDS_FILE]


def _pictures(table: pa.Table, file: DataFile) -> Iterator[bytes]:
    for name in pictures_of(table).to_pylist():
        if not _SHA256.fullmatch(name):
            raise StoreCorrupt(f"{file.path} names a picture that is no sha256: nothing was removed")
        yield bytes.fromhex(name)


def _divide(objects: ObjectStore, keep: int, before: datetime) -> tuple[list[int], list[ObjectInfo]]:
    """Versions to keep, and the manifests of all older ones, oldest first."""
    listed = {found: info for info in objects.list(SNAPSHOTS) if (found := version_of(info.key)) is not None}
    there = versions(objects)
    # A version that the listing lacks has just been committed; the one before a young one was the newest until then.
    young = [at for at, version in enumerate(there) if version not in listed or listed[version].modified > before]
    first = min([len(there) - keep, *(at - 1 for at in young)])
    kept = there[max(first, 0) :]
    old = sorted(version for version in listed if kept and version < kept[0])
    return kept, [listed[version] for version in old]


def _clear_runs(objects: ObjectStore, held: _Held, bin_: _Bin, before: datetime) -> datetime | None:
    """Clear runs that ended; when the first of those that may be at work wrote its oldest object, None where none is."""
    began: list[datetime] = []
    for _, found in groupby(objects.list(_RUNS), key=lambda info: info.key.split("/")[1]):
        run = list(found)
        if any(info.modified > before for info in run):
            began.append(min(info.modified for info in run))
            continue
        unnamed = [info for info in run if info.key not in held.keys]
        for info in sorted(unnamed, key=lambda info: not info.key.endswith(".json")):
            bin_.remove(info)
    return min(began, default=None)


def _clear_pictures(objects: ObjectStore, held: _Held, bin_: _Bin, before: datetime) -> None:
    for info in objects.list(_PICTURES):
        name = _PICTURE_KEY.fullmatch(info.key)
        if name is None or info.modified > before or bytes.fromhex(name[1]) in held.pictures:
            continue
        if _still_old(objects, info.key, before):
            bin_.remove(info)


def _still_old(objects: ObjectStore, key: str, before: datetime) -> bool:
    """Looked at again just before it goes: a run that met the picture since the listing has refreshed it."""
    try:
        return objects.head(key).modified <= before
    except ObjectNotFound:
        return False
