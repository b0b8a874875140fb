"""Creating a store, finding its versions, pinning one, publishing the next."""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from operators.errors import (
    AlreadyExists,
    CommitConflict,
    FingerprintMismatch,
    NotAStore,
    ObjectNotFound,
    SnapshotNotFound,
    StoreCorrupt,
    StoreError,
    UsageError,
)
from operators.store.manifest import (
    Snapshot,
    StoreSpec,
    snapshot_from_json,
    snapshot_to_json,
    spec_from_json,
    spec_to_json,
)
from operators.store.objects import ObjectStore

_log = logging.getLogger(__name__)

SPEC_KEY = "store.json"
SNAPSHOTS = "snapshots/"
HINT_KEY = f"{SNAPSHOTS}latest.json"

_MANIFEST = re.compile(r"snapshots/(\d{20})\.json")
_MOST_VERSION = 10**20 - 1
_PROBES = 16
_PIN_TRIES = 5


def snapshot_key(version: int) -> str:
    """Where the manifest of a version stands; keys sort as their versions do."""
    return f"{SNAPSHOTS}{version:020d}.json"


def version_of(key: str) -> int | None:
    """The version whose manifest stands under ``key``; None for other keys."""
    found = _MANIFEST.fullmatch(key)
    return int(found[1]) if found else None


# --- the store itself -----------------------------------------------------------------------------------------------


def create_store(objects: ObjectStore, spec: StoreSpec) -> StoreSpec:
    """Make the store, or take the one that is there; returns what holds from now on.

    Of racing creators one wins and all get its spec: the buckets of an existing store stand. FingerprintMismatch where it
    was made with another encoder. StoreError where the object store ignores conditions, on which every commit rests.
    """
    try:
        existing = load_spec(objects)
    except NotAStore:
        return _first_or_theirs(objects, spec)
    _require_same_encoder(objects, "encoder", existing.encoder, spec.encoder)
    _require_same_encoder(objects, "image encoder", existing.image_encoder, spec.image_encoder)
    return existing


def _first_or_theirs(objects: ObjectStore, spec: StoreSpec) -> StoreSpec:
    data = spec_to_json(spec)
    try:
        objects.put_if_absent(SPEC_KEY, data)
    except AlreadyExists:
        return create_store(objects, spec)
    try:
        objects.put_if_absent(SPEC_KEY, data)
    except AlreadyExists:
        return spec
    raise StoreError(
        f"{objects.uri} ignores conditional writes (If-None-Match), so commits could overwrite each other there: "
        "use an S3 server that honours them, or a folder"
    )


def load_spec(objects: ObjectStore) -> StoreSpec:
    """What the store fixed when it was made; NotAStore where there is none."""
    try:
        return spec_from_json(objects.get(SPEC_KEY), key=SPEC_KEY)
    except ObjectNotFound:
        raise NotAStore(
            f"there is no Mnemosaic store at {objects.uri} (no {SPEC_KEY}): "
            f"correct the address, or make one with `mnemosaic backfill SOURCE --store {objects.uri}`"
        ) from None


def _require_same_encoder(objects: ObjectStore, what: str, theirs: Mapping[str, Any], ours: Mapping[str, Any]) -> None:
    theirs, ours = _plain(theirs), _plain(ours)
    if theirs != ours:
        raise FingerprintMismatch(
            f"{objects.uri} was made with another {what}: vectors of the two cannot be compared.\n"
            f"  the store's: {json.dumps(theirs, sort_keys=True)}\n  this run's:  {json.dumps(ours, sort_keys=True)}\n"
            f"Use the store's {what}, or a new store."
        )


def _plain(encoder: Mapping[str, Any]) -> dict[str, Any]:
    return dict(json.loads(json.dumps(dict(encoder))))


# --- versions -------------------------------------------------------------------------------------------------------


def latest_version(objects: ObjectStore) -> int:
    """The newest published version, 0 where none is. The answer rests neither on the hint nor on a listing that lags.

    StoreCorrupt where the hint tells of a version that is gone and none later is there: what it held is not "nothing".
    """
    newest = _by_hint(objects)
    if newest is not None:
        return newest
    found = _onward(objects, max(_listed(objects), default=0))
    hinted = _hinted(objects) or 0
    if found < hinted and not _published(objects, hinted):
        raise StoreCorrupt(
            f"version {hinted} of {objects.uri} was published and its manifest {snapshot_key(hinted)} is gone: restore it "
            f"from a copy; if it is lost for good, delete {HINT_KEY} to go on from version {found}"
        )
    return found


def versions(objects: ObjectStore) -> list[int]:
    """All versions that the store keeps, ascending. What a lagging listing lacks is looked for by its key."""
    listed = _listed(objects)
    newest = _onward(objects, max(listed, default=0) or _by_hint(objects) or 0)
    unlisted = set(range(min(listed, default=1), newest + 1)) - set(listed)
    return sorted({*listed, *(version for version in unlisted if _published(objects, version))})


def _listed(objects: ObjectStore) -> list[int]:
    return [found for info in objects.list(SNAPSHOTS) if (found := version_of(info.key))]


def _by_hint(objects: ObjectStore) -> int | None:
    """The newest version, found upward from the hint; None where that leads nowhere or far."""
    hinted = _hinted(objects)
    if hinted and _published(objects, hinted):
        for version in range(hinted, hinted + _PROBES):
            if not _published(objects, version + 1):
                return version
    return None


def _onward(objects: ObjectStore, version: int) -> int:
    """The last published version of those that follow ``version`` without a gap."""
    while _published(objects, version + 1):
        version += 1
    return version


def _hinted(objects: ObjectStore) -> int | None:
    try:
        version = json.loads(objects.get(HINT_KEY))["version"]
    except (StoreError, ValueError, KeyError, TypeError, RecursionError) as error:
        # The way round a hint that is missing, broken or out of reach is the listing, which tells its own errors.
        _log.debug("no usable hint at %s/%s: %s", objects.uri, HINT_KEY, type(error).__name__)
        return None
    usable = isinstance(version, int) and not isinstance(version, bool) and 0 < version < _MOST_VERSION
    return version if usable else None


def _published(objects: ObjectStore, version: int) -> bool:
    try:
        objects.head(snapshot_key(version))
    except ObjectNotFound:
        return False
    return True


def load_snapshot(objects: ObjectStore, version: int) -> Snapshot:
    """The snapshot of a version; 0 is the empty store. SnapshotNotFound (it says what is kept), NotAStore, StoreCorrupt."""
    if version == 0:
        return _empty(load_spec(objects))
    if not 0 < version <= _MOST_VERSION:
        raise SnapshotNotFound(f"{version} is no version of {objects.uri}: {_kept(objects)}")
    key = snapshot_key(version)
    try:
        snapshot = snapshot_from_json(objects.get(key), key=key)
    except ObjectNotFound:
        load_spec(objects)
        raise SnapshotNotFound(f"{objects.uri} has no version {version}: {_kept(objects)}") from None
    if snapshot.version != version:
        raise StoreCorrupt(f"{key} holds version {snapshot.version}: it was copied or renamed; restore the store")
    return snapshot


def _empty(spec: StoreSpec) -> Snapshot:
    beginning = datetime(1970, 1, 1, tzinfo=UTC)
    return Snapshot(version=0, parent=-1, commit_id="", run_id="", committed_at=beginning, spec=spec)


def _kept(objects: ObjectStore) -> str:
    kept = versions(objects)
    if not kept:
        return "nothing was committed yet"
    return f"it keeps version {kept[0]}" if len(kept) == 1 else f"it keeps versions {kept[0]} to {kept[-1]}"


# --- pinning --------------------------------------------------------------------------------------------------------


def pin(objects: ObjectStore, as_of: int | datetime | None = None) -> Snapshot:
    """The snapshot to read: the newest, a version, or the newest that was committed at or before an aware time.

    UsageError for a time without zone; SnapshotNotFound, saying what is kept; NotAStore.
    """
    if as_of is None:
        return _newest(objects)
    if isinstance(as_of, datetime):
        return _as_of(objects, as_of)
    if isinstance(as_of, bool) or not isinstance(as_of, int):
        raise UsageError(f"as of {as_of!r}: give a version (a whole number) or a time with its zone")
    return load_snapshot(objects, as_of)


def _newest(objects: ObjectStore) -> Snapshot:
    for _ in range(_PIN_TRIES - 1):
        try:
            return load_snapshot(objects, latest_version(objects))
        except SnapshotNotFound:  # commits and a gc overtook us between the two reads
            continue
    return load_snapshot(objects, latest_version(objects))


def _as_of(objects: ObjectStore, moment: datetime) -> Snapshot:
    if moment.tzinfo is None or moment.utcoffset() is None:
        raise UsageError(f"as of {moment.isoformat()}: a time needs its zone, as in {moment.isoformat()}Z")
    oldest = None
    # Newest first, each one looked at: committers' clocks differ, so times need not rise with versions.
    for version in reversed(versions(objects)):
        oldest = load_snapshot(objects, version)
        if oldest.committed_at <= moment:
            return oldest
    if oldest is None:
        load_spec(objects)
        raise SnapshotNotFound(f"{objects.uri} has no version as of {moment.isoformat()}: nothing was committed yet")
    raise SnapshotNotFound(
        f"{objects.uri} has no version as of {moment.isoformat()}: {_kept(objects)}, "
        f"the oldest committed at {oldest.committed_at.isoformat()}"
    )


# --- publishing -----------------------------------------------------------------------------------------------------


def publish(objects: ObjectStore, snapshot: Snapshot) -> None:
    """Commit: make ``snapshot`` the newest version, for good, in one conditional write.

    Its ``commit_id`` must be unique to the attempt; by it a write is recognised that landed although its answer was lost, so
    publishing the same snapshot again is harmless. CommitConflict where ``parent`` is not the newest version any more:
    rebase and publish again. OutcomeUnknown where the store does not say whether the write landed: publish the same
    snapshot again when it answers. ValueError where the version does not follow its parent or the commit has no id.
    """
    if snapshot.version != snapshot.parent + 1 or not 0 < snapshot.version <= _MOST_VERSION:
        raise ValueError(f"version {snapshot.version} does not follow its parent {snapshot.parent}")
    if not snapshot.commit_id:
        raise ValueError(f"version {snapshot.version} has no commit id")
    newest = latest_version(objects)
    if newest != snapshot.parent:
        if not _is_ours(objects, snapshot):
            raise _conflict(objects, snapshot, newest)
    else:
        try:
            objects.put_if_absent(snapshot_key(snapshot.version), snapshot_to_json(snapshot))
        except AlreadyExists:
            if not _is_ours(objects, snapshot):
                raise _conflict(objects, snapshot, latest_version(objects)) from None
    _leave_hint(objects, max(newest, snapshot.version))


def _is_ours(objects: ObjectStore, snapshot: Snapshot) -> bool:
    key = snapshot_key(snapshot.version)
    try:
        return snapshot_from_json(objects.get(key), key=key).commit_id == snapshot.commit_id
    except ObjectNotFound:
        return False


def _conflict(objects: ObjectStore, snapshot: Snapshot, newest: int) -> CommitConflict:
    return CommitConflict(
        f"version {snapshot.version} of {objects.uri} stands on version {snapshot.parent}, "
        f"but the newest is {newest}: rebase on it and commit again",
        expected=snapshot.parent,
        found=newest,
    )


def _leave_hint(objects: ObjectStore, version: int) -> None:
    try:
        objects.put(HINT_KEY, json.dumps({"version": version}).encode())
    except StoreError as error:
        # The commit stands all the same: readers probe upward from an older hint or list.
        _log.info("version %d is published; its hint could not be written: %s", version, error)
