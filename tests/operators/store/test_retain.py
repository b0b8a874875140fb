"""Collection: whatever a kept snapshot names is there, whatever may be at work is left alone, the rest goes."""

from __future__ import annotations

import contextlib
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from growing import SPEC, Run, grown, picture, require_whole
from hypothesis import given, settings
from hypothesis import strategies as st

from operators import records
from operators.errors import NotAStore, StoreCorrupt, UsageError
from operators.store.commit import create_store, pin, snapshot_key, versions
from operators.store.manifest import Snapshot
from operators.store.objects import ObjectStore
from operators.store.retain import GcReport, collect_garbage, store_time
from operators.store.tables import write_table

LATER = timedelta(days=30)
DAY = timedelta(days=1)


def keys_of(objects: ObjectStore, prefix: str = "") -> set[str]:
    return {info.key for info in objects.list(prefix)}


def named_by(snapshot: Snapshot) -> set[str]:
    return {file.path for file in snapshot.files()}


@pytest.fixture
def store(objects: ObjectStore) -> ObjectStore:
    create_store(objects, SPEC)
    return objects


def gc(store: ObjectStore, keep: int, **changed: Any) -> GcReport:
    """A collection a month from now."""
    return collect_garbage(store, **{"keep": keep, "grace": DAY, "now": datetime.now(UTC) + LATER, **changed})


def test_the_newest_are_kept_whole_and_the_rest_goes(store: ObjectStore) -> None:
    committed = grown(store, 4)
    before = {info.key: info.size for info in store.list("")}
    report = gc(store, keep=2)
    assert (report.versions_removed, report.kept_versions) == ((1, 2), (3, 4))
    left = keys_of(store)
    named = named_by(committed[2]) | named_by(committed[3])
    assert left == named | {"store.json", "snapshots/latest.json", snapshot_key(3), snapshot_key(4)} | {
        picture(number)[1] for number in (2, 3, 100)
    }
    assert report.objects_removed == len(before) - len(left)
    assert report.bytes_removed == sum(size for key, size in before.items() if key not in left)
    require_whole(store)
    assert pin(store) == committed[3]
    again = gc(store, keep=2)
    assert (again.versions_removed, again.objects_removed, again.bytes_removed) == ((), 0, 0)


def test_a_dry_run_tells_the_same_and_removes_nothing(store: ObjectStore) -> None:
    grown(store, 3)
    before = keys_of(store)
    told = gc(store, keep=1, dry_run=True)
    assert keys_of(store) == before
    assert gc(store, keep=1) == told
    assert told.versions_removed == (1, 2)


def test_nothing_young_is_removed(store: ObjectStore) -> None:
    grown(store, 3)
    before = keys_of(store)
    report = gc(store, keep=1, now=datetime.now(UTC))
    assert (report.objects_removed, report.kept_versions) == (0, (1, 2, 3))
    assert keys_of(store) == before


def test_a_store_without_commits(store: ObjectStore) -> None:
    Run(store).work(0, 1)
    store.put("elsewhere/theirs", b"x")
    store.put("media/sha256/zz/no-picture", b"x")
    report = gc(store, keep=3)
    assert (report.versions_removed, report.kept_versions) == ((), ())
    assert keys_of(store) == {"store.json", "elsewhere/theirs", "media/sha256/zz/no-picture"}


def test_what_is_no_store_is_left_alone(objects: ObjectStore) -> None:
    objects.put("runs/mine/x", b"x")
    with pytest.raises(NotAStore):
        gc(objects, keep=1)
    assert keys_of(objects) == {"runs/mine/x"}


@pytest.mark.parametrize(
    "changed", [{"keep": 0}, {"keep": -1}, {"grace": timedelta(seconds=-1)}, {"now": datetime(2030, 1, 1)}]
)
def test_what_makes_no_sense_is_refused(store: ObjectStore, changed: dict[str, Any]) -> None:
    grown(store, 1)
    with pytest.raises(UsageError):
        gc(store, **{"keep": 1, **changed})
    require_whole(store)


@pytest.mark.parametrize("damage", ["manifest", "rounds", "picture name"])
def test_where_a_kept_snapshot_cannot_be_read_nothing_goes(store: ObjectStore, damage: str) -> None:
    newest = grown(store, 3)[-1]
    rounds = newest.buckets[0].files["rounds"].path
    if damage == "manifest":
        store.put(snapshot_key(3), b"{")
    elif damage == "rounds":
        store.delete(rounds)
    else:
        odd = records.Round("s", "r", 0, (), images=(records.Image(0, "r", media="odd"),))
        table = pa.Table.from_pylist(records.round_rows("t", "u", [odd], "x"), records.ROUNDS)
        write_table(store, rounds, table, records.ROUNDS)
    before = keys_of(store)
    with pytest.raises(StoreCorrupt):
        gc(store, keep=1)
    assert keys_of(store) == before


# --- with a clock of our own ----------------------------------------------------------------------------------------

GRACE = timedelta(hours=10)


@pytest.fixture
def clocked(tmp_path: Path, clocked_objects: Any) -> Any:
    store = clocked_objects(tmp_path / "store")
    with store.at(0):
        create_store(store, SPEC)
    return store


def collect(store: Any, keep: int = 1) -> GcReport:
    return collect_garbage(store, keep=keep, grace=GRACE, now=store.now)


def test_a_run_at_work_keeps_its_oldest_files_and_pictures(clocked: Any) -> None:
    with clocked.at(0):
        run = Run(clocked)
        run.work(0, 1)
    with clocked.at(90):
        run.work(1, 2)
    with clocked.at(95):
        report = collect(clocked)
    assert report.objects_removed == 0
    with clocked.at(99):
        run.commit()
    require_whole(clocked)


def test_a_version_stays_for_those_who_pinned_it_until_grace_has_passed_since_it_was_superseded(clocked: Any) -> None:
    with clocked.at(0):
        grown(clocked, 2)
    with clocked.at(50):
        pinned = pin(clocked)
        grown(clocked, 1)
    with clocked.at(51):
        assert collect(clocked).versions_removed == (1,)
        for file in pinned.files():
            assert clocked.get(file.path)
    with clocked.at(61):
        assert collect(clocked).versions_removed == (2,)


def test_a_version_that_the_listing_does_not_show_yet_is_young(clocked: Any, monkeypatch: Any) -> None:
    with clocked.at(0):
        grown(clocked, 3)
    listing = clocked.list
    hidden = snapshot_key(3)
    monkeypatch.setattr(clocked, "list", lambda prefix: (info for info in listing(prefix) if info.key != hidden))
    with clocked.at(50):
        report = collect(clocked)
    assert (report.versions_removed, report.kept_versions) == ((1,), (2, 3))
    require_whole(clocked)


def test_a_collection_that_ends_after_any_delete_leaves_all_whole_and_the_next_one_ends_it(
    tmp_path: Path, clocked_objects: Any
) -> None:
    def made(name: str) -> Any:
        store = clocked_objects(tmp_path / name)
        with store.at(0):
            create_store(store, SPEC)
            grown(store, 3)
            Run(store).work(1, 7)
        return store

    whole = made("whole")
    with whole.at(50):
        steps = collect(whole).objects_removed
    left = {key.split("/")[0] for key in keys_of(whole)}, len(keys_of(whole))
    assert steps > 8
    for step in range(steps):
        store = made(f"after-{step}")
        with store.at(50):
            store.deletes_left = step
            with pytest.raises(store.crash):
                collect(store)
            require_whole(store)
            store.deletes_left = None
            collect(store)
        require_whole(store)
        assert ({key.split("/")[0] for key in keys_of(store)}, len(keys_of(store))) == left


def test_the_stores_own_clock_tells_the_time_and_leaves_nothing(objects: ObjectStore) -> None:
    objects.put("beside", b"x")
    told = store_time(objects)
    assert abs(told - objects.head("beside").modified) < timedelta(seconds=30)
    assert keys_of(objects) == {"beside"}


def test_a_run_that_ended_without_commit_goes_when_it_is_old(clocked: Any) -> None:
    with clocked.at(0):
        Run(clocked).work(0, 1)
    with clocked.at(9):
        assert collect(clocked).objects_removed == 0
    with clocked.at(11):
        assert collect(clocked).objects_removed == 5
    assert keys_of(clocked) == {"store.json"}


def test_a_picture_put_again_is_young(clocked: Any) -> None:
    with clocked.at(0):
        clocked.put(picture(1)[1], b"x")
        clocked.put(picture(2)[1], b"x")
    with clocked.at(15):
        clocked.put(picture(1)[1], b"x")
    with clocked.at(20):
        assert collect(clocked).objects_removed == 1
    assert keys_of(clocked, "media/") == {picture(1)[1]}


def test_a_picture_put_again_while_gc_lists_stays(clocked: Any, monkeypatch: Any) -> None:
    with clocked.at(0):
        clocked.put(picture(1)[1], b"x")
    listing = clocked.list

    def refreshed(prefix: str) -> Any:
        for info in listing(prefix):
            if prefix.startswith("media"):
                clocked.put(info.key, b"x")
            yield info

    monkeypatch.setattr(clocked, "list", refreshed)
    with clocked.at(20):
        assert collect(clocked).objects_removed == 0


def test_markers_go_before_their_data(clocked: Any) -> None:
    with clocked.at(0):
        run = Run(clocked)
        run.work(0, 1)
        run.work(1, 2)
    with clocked.at(50):
        clocked.deletes_left = 3
        with pytest.raises(clocked.crash):
            collect(clocked)
    assert keys_of(clocked, "runs/") == {key for key in keys_of(clocked, "runs/") if key.endswith(".parquet")} != set()


def test_a_commit_during_collection_is_kept(clocked: Any, monkeypatch: Any) -> None:
    with clocked.at(0):
        late = Run(clocked)
        late.work(0, 1)
        grown(clocked, 2)
    delete = clocked.delete

    def delete_after_commit(key: str) -> None:
        if late.done:
            late.commit()
            late.done.clear()
        delete(key)

    monkeypatch.setattr(clocked, "delete", delete_after_commit)
    with clocked.at(50):
        report = collect(clocked)
    assert report.kept_versions == (2, 3)
    require_whole(clocked)


OPERATIONS = st.lists(
    st.one_of(
        st.tuples(st.just("begin")),
        st.tuples(st.just("work"), st.integers(0, 2), st.integers(0, 2), st.integers(0, 3)),
        st.tuples(st.just("commit"), st.integers(0, 2)),
        st.tuples(st.just("wait"), st.sampled_from([1, 4, 9, 11, 40])),
        st.tuples(st.just("gc"), st.integers(1, 3), st.none() | st.integers(0, 6)),
    ),
    min_size=4,
    max_size=16,
)


class Schedule:
    """Runs begin, work, commit and are forgotten while time passes and collections come, some of which crash."""

    def __init__(self, store: Any) -> None:
        self.store = store
        self.hours = 0.0
        self.runs: list[tuple[Run, float]] = []
        with store.at(0):
            create_store(store, SPEC)

    def play(self, operation: tuple[Any, ...]) -> None:
        with self.store.at(self.hours):
            getattr(self, operation[0])(*operation[1:])
        require_whole(self.store)

    def begin(self) -> None:
        self.runs.append((Run(self.store), self.hours))

    def work(self, number: int, bucket: int, pictured: int) -> None:
        if (run := self._at_work(number)) is not None:
            run.work(bucket, pictured)
            self.runs[number] = (run, self.hours)

    def commit(self, number: int) -> None:
        if (run := self._at_work(number)) is not None:
            run.commit()
            del self.runs[number]

    def wait(self, hours: float) -> None:
        self.hours += hours

    def gc(self, keep: int, deletes: int | None) -> None:
        before, self.store.deletes_left = versions(self.store), deletes
        with contextlib.suppress(self.store.crash):
            collect(self.store, keep)
        self.store.deletes_left = None
        after = versions(self.store)
        assert after == before[len(before) - len(after) :]
        assert len(after) >= min(keep, len(before))

    def _at_work(self, number: int) -> Run | None:
        """The run, unless it paused for longer than grace allows."""
        if number >= len(self.runs) or self.hours - self.runs[number][1] >= GRACE.total_seconds() / 3600:
            return None
        return self.runs[number][0]

    def clean(self) -> None:
        """In the end only the newest snapshot and what it names is left."""
        self.wait(1000)
        self.play(("gc", 1, None))
        newest = pin(self.store)
        named = named_by(newest)
        left = {key for key in keys_of(self.store) if not key.startswith(("store.json", "snapshots/", "media/"))}
        assert left == named
        assert len(versions(self.store)) == min(1, newest.version)


@settings(max_examples=40, deadline=None)
@given(operations=OPERATIONS)
def test_after_any_schedule_kept_snapshots_are_whole(
    tmp_path_factory: pytest.TempPathFactory, clocked_objects: Any, operations: Any
) -> None:
    schedule = Schedule(clocked_objects(tmp_path_factory.mktemp("gc") / "store"))
    for operation in operations:
        schedule.play(operation)
    schedule.clean()
