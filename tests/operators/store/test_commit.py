"""Creating, finding, pinning, publishing: nothing lost, nothing doubled, no gap, whatever races or fails."""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest

from operators.errors import (
    CommitConflict,
    FingerprintMismatch,
    NotAStore,
    OutcomeUnknown,
    SnapshotNotFound,
    StoreCorrupt,
    StoreError,
    StoreFormatError,
    StoreUnavailable,
    UsageError,
)
from operators.store.commit import (
    HINT_KEY,
    SPEC_KEY,
    create_store,
    latest_version,
    load_snapshot,
    load_spec,
    pin,
    publish,
    snapshot_key,
    versions,
)
from operators.store.local import LocalObjects
from operators.store.manifest import FORMAT, Snapshot, StoreSpec, snapshot_to_json
from operators.store.objects import ObjectStore
from operators.store.s3 import S3Objects

SPEC = StoreSpec(buckets=8, encoder={"model": "m", "dim": 384, "window": 256, "files": ["a", "b"]})
NOON = datetime(2025, 3, 1, 12, tzinfo=UTC)


def following(base: Snapshot, **changed: Any) -> Snapshot:
    fresh = {"version": base.version + 1, "parent": base.version, "commit_id": uuid.uuid4().hex}
    return replace(base, **{**fresh, "committed_at": NOON + timedelta(hours=base.version), "run_id": "r", **changed})


@pytest.fixture
def store(objects: ObjectStore) -> ObjectStore:
    create_store(objects, SPEC)
    return objects


def grown(store: ObjectStore, count: int) -> list[Snapshot]:
    """Publishes that many versions, an hour apart from noon on."""
    published = []
    for _ in range(count):
        published.append(following(pin(store)))
        publish(store, published[-1])
    return published


# --- creation -------------------------------------------------------------------------------------------------------


def test_a_new_store_is_empty(objects: ObjectStore) -> None:
    assert create_store(objects, SPEC) == SPEC
    assert load_spec(objects) == SPEC
    assert latest_version(objects) == 0
    empty = pin(objects)
    assert (empty.version, empty.spec, dict(empty.buckets), empty.counts.rounds) == (0, SPEC, {}, 0)
    assert load_snapshot(objects, 0) == pin(objects, 0) == empty


def test_an_existing_store_keeps_its_buckets(store: ObjectStore) -> None:
    assert create_store(store, replace(SPEC, buckets=64)) == SPEC
    assert create_store(store, replace(SPEC, encoder=dict(reversed(SPEC.encoder.items())))) == SPEC
    assert create_store(store, replace(SPEC, encoder={**SPEC.encoder, "files": ("a", "b")})) == SPEC


def test_another_encoder_is_refused_showing_both(store: ObjectStore) -> None:
    with pytest.raises(FingerprintMismatch, match=r'(?s)"window": 256.*"window": 512'):
        create_store(store, replace(SPEC, encoder={**SPEC.encoder, "window": 512}))
    assert load_spec(store) == SPEC


def test_no_store_says_how_to_make_one(objects: ObjectStore) -> None:
    for read in (load_spec, pin, lambda o: pin(o, 3), lambda o: pin(o, NOON), lambda o: load_snapshot(o, 0)):
        with pytest.raises(NotAStore, match="mnemosaic backfill"):
            read(objects)


def test_a_store_of_another_release_or_broken(store: ObjectStore) -> None:
    store.put(SPEC_KEY, json.dumps({"format": 99, "buckets": 1, "encoder": {}}).encode())
    with pytest.raises(StoreFormatError, match="99"):
        create_store(store, SPEC)
    store.put(SPEC_KEY, b"{")
    with pytest.raises(StoreCorrupt, match=SPEC_KEY):
        load_spec(store)


class Unconditional(LocalObjects):
    """A server that takes the condition and ignores it, as some do."""

    def put_if_absent(self, key: str, data: bytes) -> str:
        return self.put(key, data)


def test_a_server_that_ignores_conditions_is_refused(tmp_path: Any) -> None:
    with pytest.raises(StoreError, match="If-None-Match"):
        create_store(Unconditional(tmp_path / "store"), SPEC)


# --- versions and the hint ------------------------------------------------------------------------------------------


def test_versions_follow_each_other(store: ObjectStore) -> None:
    published = grown(store, 3)
    assert versions(store) == [1, 2, 3]
    assert latest_version(store) == 3
    assert [load_snapshot(store, version) for version in (1, 2, 3)] == published
    assert pin(store) == published[-1]
    assert json.loads(store.get(HINT_KEY)) == {"version": 3}


@pytest.mark.parametrize(
    "hint", [None, b"", b"[]", b"{}", b'{"version": 0}', b'{"version": -3}', b'{"version": true}', b'{"version": "2"}']
    + [b'{"version": %d}' % version for version in (1, 2, 3, 10**30)] + [b"\xff\xfe"],
)  # fmt: skip
def test_no_hint_hides_a_version(store: ObjectStore, hint: bytes | None) -> None:
    grown(store, 3)
    if hint is None:
        store.delete(HINT_KEY)
    else:
        store.put(HINT_KEY, hint)
    assert latest_version(store) == 3
    assert pin(store).version == 3


@pytest.mark.parametrize("left", [0, 2])
def test_a_published_version_whose_manifest_is_gone_is_not_passed_over(store: ObjectStore, left: int) -> None:
    grown(store, 3)
    for version in range(left + 1, 4):
        store.delete(snapshot_key(version))
    with pytest.raises(StoreCorrupt, match=r"version 3 .* its manifest .* is gone"):
        latest_version(store)
    with pytest.raises(StoreCorrupt, match="go on from version"):
        pin(store)
    store.delete(HINT_KEY)
    assert latest_version(store) == left


def test_a_hint_far_behind(store: ObjectStore) -> None:
    grown(store, 20)
    store.put(HINT_KEY, b'{"version": 2}')
    assert latest_version(store) == 20


def test_a_hint_out_of_reach_hides_nothing(s3_uri: str, lossy: Any, monkeypatch: Any) -> None:
    monkeypatch.setattr("operators.store.s3._FIRST_PAUSE", 0.02)
    store = S3Objects(s3_uri, tries=2)
    create_store(store, SPEC)
    grown(store, 2)
    for fault in ("503 SlowDown", "403 AccessDenied", "drop"):
        lossy.script = lambda _, path, fault=fault: fault if path.endswith("latest.json") else "pass"
        assert latest_version(store) == 2
        publish(store, following(pin(store)))
        assert pin(store).version == 3
        store.delete(snapshot_key(3))


def test_other_objects_are_no_versions(store: ObjectStore) -> None:
    grown(store, 1)
    digits = f"{9:020d}"
    for name in ("7.json", f"{digits}.json.bak", f"{digits}.txt", f"sub/{digits}.json", f"{digits}0.json"):
        store.put(f"snapshots/{name}", b"{}")
    store.delete(HINT_KEY)
    assert latest_version(store) == 1


# --- pinning --------------------------------------------------------------------------------------------------------


def test_pin_by_version_and_time(store: ObjectStore) -> None:
    one, two, three = grown(store, 3)
    assert pin(store, 2) == two
    assert pin(store, NOON) == one
    assert pin(store, NOON + timedelta(minutes=59)) == one
    assert pin(store, NOON + timedelta(hours=1)) == two
    assert pin(store, NOON + timedelta(days=9)) == three
    local = timezone(timedelta(hours=-5))
    assert pin(store, datetime(2025, 3, 1, 8, 30, tzinfo=local)) == two


def test_pin_by_time_where_clocks_differ(store: ObjectStore) -> None:
    publish(store, following(pin(store), committed_at=NOON + timedelta(hours=5)))
    publish(store, following(pin(store), committed_at=NOON))
    assert pin(store, NOON + timedelta(hours=1)).version == 2
    assert pin(store, NOON + timedelta(hours=9)).version == 2


def test_what_is_not_kept_says_what_is(store: ObjectStore) -> None:
    with pytest.raises(SnapshotNotFound, match="nothing was committed"):
        pin(store, 1)
    with pytest.raises(SnapshotNotFound, match="nothing was committed"):
        pin(store, NOON)
    grown(store, 4)
    for gone in (1, 2):
        store.delete(snapshot_key(gone))
    for wrong in (1, 5, -1, 10**20):
        with pytest.raises(SnapshotNotFound, match="versions 3 to 4"):
            pin(store, wrong)
    with pytest.raises(SnapshotNotFound, match=r"versions 3 to 4.*2025-03-01T14:00:00"):
        pin(store, NOON)
    store.delete(snapshot_key(3))
    with pytest.raises(SnapshotNotFound, match="it keeps version 4"):
        pin(store, 3)


@pytest.mark.parametrize("as_of", [datetime(2025, 1, 1), True, "3", 1.0])
def test_what_names_no_version(store: ObjectStore, as_of: Any) -> None:
    with pytest.raises(UsageError):
        pin(store, as_of)


def test_a_broken_manifest_is_not_passed_over(store: ObjectStore) -> None:
    one, _ = grown(store, 2)
    store.put(snapshot_key(2), b'{"format": %d}' % FORMAT)
    with pytest.raises(StoreCorrupt, match=r"0002\.json"):
        pin(store)
    store.put(snapshot_key(2), snapshot_to_json(one))
    with pytest.raises(StoreCorrupt, match="holds version 1"):
        pin(store)


# --- publishing -----------------------------------------------------------------------------------------------------


def test_a_lost_race_tells_expected_and_found(store: ObjectStore) -> None:
    base = pin(store)
    grown(store, 2)
    late = following(base)
    with pytest.raises(CommitConflict) as caught:
        publish(store, late)
    assert (caught.value.expected, caught.value.found) == (0, 2)
    assert versions(store) == [1, 2]


def test_no_gap_is_ever_made(store: ObjectStore) -> None:
    grown(store, 1)
    with pytest.raises(CommitConflict) as caught:
        publish(store, following(pin(store), version=6, parent=5))
    assert (caught.value.expected, caught.value.found) == (5, 1)
    for version, parent in ((3, 1), (1, 1), (0, -1)):
        with pytest.raises(ValueError, match="does not follow"):
            publish(store, following(pin(store), version=version, parent=parent))
    with pytest.raises(ValueError, match="commit id"):
        publish(store, following(pin(store), commit_id=""))
    assert versions(store) == [1]


def test_publishing_again_is_harmless(store: ObjectStore) -> None:
    mine = following(pin(store))
    publish(store, mine)
    publish(store, mine)
    grown(store, 2)
    publish(store, mine)
    assert versions(store) == [1, 2, 3]
    assert latest_version(store) == 3
    with pytest.raises(CommitConflict):
        publish(store, replace(mine, commit_id="another"))


class Scripted(LocalObjects):
    """A folder in which the next conditional write or put meets ``then``."""

    then: Callable[[str, bytes], str] | None = None

    def put_if_absent(self, key: str, data: bytes) -> str:
        then, self.then = self.then, None
        return then(key, data) if then else super().put_if_absent(key, data)

    def really(self, key: str, data: bytes) -> str:
        return super().put_if_absent(key, data)


@pytest.fixture
def scripted(tmp_path: Any) -> Scripted:
    store = Scripted(tmp_path / "store")
    create_store(store, SPEC)
    return store


def test_one_who_commits_between_our_look_and_our_write_wins(scripted: Scripted) -> None:
    mine, theirs = following(pin(scripted)), following(pin(scripted))

    def overtake(key: str, data: bytes) -> str:
        publish(scripted, theirs)
        publish(scripted, following(theirs))
        return scripted.really(key, data)

    scripted.then = overtake
    with pytest.raises(CommitConflict) as caught:
        publish(scripted, mine)
    assert (caught.value.expected, caught.value.found) == (0, 2)
    assert load_snapshot(scripted, 1) == theirs


def test_an_unknown_outcome_passes_through_and_publishing_again_settles_it(scripted: Scripted) -> None:
    def landed(key: str, data: bytes) -> str:
        scripted.really(key, data)
        raise OutcomeUnknown("silence", key=key)

    def not_landed(key: str, data: bytes) -> str:  # noqa: ARG001
        raise OutcomeUnknown("silence", key=key)

    for outcome in (landed, not_landed):
        mine = following(pin(scripted))
        scripted.then = outcome
        with pytest.raises(OutcomeUnknown):
            publish(scripted, mine)
        publish(scripted, mine)
        assert pin(scripted) == mine
    assert versions(scripted) == [1, 2]


def test_a_key_taken_by_our_own_write_is_a_commit(scripted: Scripted) -> None:
    def sent_twice(key: str, data: bytes) -> str:  # by a gateway that repeats requests by itself
        scripted.really(key, data)
        return scripted.really(key, data)

    mine = following(pin(scripted))
    scripted.then = sent_twice
    publish(scripted, mine)
    assert pin(scripted) == mine


def test_a_hint_that_cannot_be_written_fails_no_commit(scripted: Scripted, monkeypatch: Any) -> None:
    def full(key: str, data: bytes) -> str:  # noqa: ARG001
        raise StoreUnavailable("full")

    monkeypatch.setattr(scripted, "put", full)
    grown(scripted, 2)
    assert pin(scripted).version == 2


def test_a_lost_reply_on_the_wire_is_one_commit(s3_uri: str, lossy: Any) -> None:
    store = S3Objects(s3_uri)
    create_store(store, SPEC)
    mine = following(pin(store))
    left = ["lose"]
    lossy.script = lambda method, path: left.pop() if left and method == "PUT" and path.endswith("0001.json") else "pass"
    publish(store, mine)
    assert not left
    assert pin(store) == mine
    assert versions(store) == [1]


def test_racing_committers_lose_and_double_nothing(store: ObjectStore, racers: Any) -> None:
    times = 4
    landed = racers.race("commit", uri=store.uri, times=times)
    everyone = sorted(version for mine in landed for version in mine)
    assert everyone == versions(store) == list(range(1, times * racers.count + 1))
    newest = pin(store)
    assert newest.changes == {str(racer): times for racer in range(racers.count)}
    for racer, mine in enumerate(landed):
        assert all(load_snapshot(store, version).run_id == f"racer-{racer}" for version in mine)
