"""Tables through the jobs: what appends, re-inductions and corrections do to them, alone and beside each other."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import jobs.correct
import jobs.reinduce
import jobs.source
from configs.settings import Settings
from jobs.backfill import BackfillRequest, backfill
from jobs.correct import Corrected, CorrectRequest, correct
from jobs.reinduce import ReinduceReport, reinduce
from operators.errors import (
    ColumnNotFound,
    ConditionError,
    ScopeError,
    StoreUnavailable,
    TableNotFound,
    ToolError,
    UsageError,
)
from operators.induce.counts import merge
from operators.memory import UserMemory, open_store
from operators.records import bucket_of
from operators.store.commit import latest_version, load_snapshot
from operators.store.manifest import COUNTS_FILE, PACK_FILE, Snapshot
from operators.store.opening import open_objects
from operators.store.tables import read_table

pytestmark = pytest.mark.usefixtures("ray_cluster")

WriteSessions = Callable[..., Path]
START = datetime(2024, 5, 1, 20, tzinfo=UTC)


def log(user: str, day: int, text: str) -> dict[str, Any]:
    """One session of one round, a day each."""
    time = (START + timedelta(days=day)).isoformat()
    told = [{"role": "user", "content": text}, {"role": "assistant", "content": "noted"}]
    messages = [{**message, "timestamp": time} for message in told]
    return {"user_id": user, "session_id": f"S{day:03d}", "messages": messages}


def sleeper(user: str, days: Sequence[int], *, steps: bool = True) -> list[dict[str, Any]]:
    return [
        log(user, day, f"Slept {6 + day % 3} h 15 min." + (f" Walked {8000 + day} steps." if steps else "")) for day in days
    ]


def fill(
    write: WriteSessions, name: str, sessions: list[dict[str, Any]], store: Path, settings: Settings, tenant: str = "default"
) -> None:
    source = write(name, sessions)
    backfill(BackfillRequest(sources=(str(source),), store=str(store), tenant=tenant), settings, lambda _: None)


def redo(store: Path, settings: Settings, **given: Any) -> ReinduceReport:
    return reinduce(str(store), settings, lambda _: None, **given)


def induced(settings: Settings, **changed: Any) -> Settings:
    return settings.model_copy(update={"induce": settings.induce.model_copy(update=changed)})


def mine(store: Path, user: str = "ann", tenant: str = "default") -> UserMemory:
    return open_store(str(store)).user(user, tenant)


def snapshot(store: Path) -> Snapshot:
    objects = open_objects(str(store))
    return load_snapshot(objects, latest_version(objects))


def counted(store: Path) -> list[dict[str, Any]]:
    objects = open_objects(str(store))
    return list(merge(read_table(objects, each.files[COUNTS_FILE]) for each in snapshot(store).buckets.values()).to_pylist())


def changes(store: Path, user: str = "ann") -> list[tuple[str, str, list[str]]]:
    rows = open_store(str(store)).memory().schema_changes(user).to_dicts()
    return [(row["change"], row["table"], row["added"]) for row in rows]


def test_a_table_grows_with_what_is_logged_from_some_day_on(
    tmp_path: Path, settings: Settings, write_sessions: WriteSessions
) -> None:
    store = tmp_path / "store"
    fill(write_sessions, "a.jsonl", sleeper("ann", range(4), steps=False), store, settings)
    before = mine(store).table("sleep")
    assert before["sleep"].to_list() == [22500.0, 26100.0, 29700.0, 22500.0]
    fill(write_sessions, "b.jsonl", sleeper("ann", range(4, 12)), store, settings)
    table = mine(store).table("sleep")
    assert [name for name in table.columns if "." not in name][-2:] == ["sleep", "steps"]
    assert table["steps"].to_list() == [None] * 4 + [8000.0 + day for day in range(4, 12)]
    assert table["day"].to_list() == [(START + timedelta(days=day)).date() for day in range(12)]
    assert changes(store) == [("discovered", "sleep", ["sleep"]), ("evolved", "sleep", ["steps"])]
    row = open_store(str(store)).memory().schema_changes("ann").to_dicts()[-1]
    assert (row["support"], row["ext_confidence"]) == (8, 8 / 12)


def test_any_schedule_of_appends_counts_as_one_pass(
    tmp_path: Path, settings: Settings, write_sessions: WriteSessions
) -> None:
    sessions = [*sleeper("ann", range(6)), *sleeper("bob", range(3), steps=False), log("bob", 9, "weight: 72.4 kg")]
    fill(write_sessions, "all.jsonl", sessions, tmp_path / "one", settings)
    for at, part in enumerate((sessions[7:], sessions[2:5], sessions[:2], sessions[4:8])):
        fill(write_sessions, f"{at}.jsonl", part, tmp_path / "many", settings)
    assert counted(tmp_path / "one") == counted(tmp_path / "many")
    whole, parts = (mine(tmp_path / name).table("activity") for name in ("one", "many"))
    assert parts.drop([name for name in parts.columns if name.endswith(".at")]).equals(
        whole.select(parts.columns).drop([name for name in parts.columns if name.endswith(".at")])
    )


def test_an_append_leaves_the_tables_of_others_byte_for_byte(
    tmp_path: Path, settings: Settings, write_sessions: WriteSessions
) -> None:
    settings = settings.model_copy(update={"store": settings.store.model_copy(update={"buckets": 1})})
    store = tmp_path / "store"
    fill(write_sessions, "a.jsonl", [*sleeper("ann", range(5)), *sleeper("bob", range(5))], store, settings)
    objects = open_objects(str(store))
    old = {row["user_id"]: row for row in tables(store)}
    pack = objects.get(snapshot(store).buckets[0].files[PACK_FILE].path)
    fill(write_sessions, "b.jsonl", sleeper("bob", range(5, 8)), store, settings)
    now = {row["user_id"]: row for row in tables(store)}
    after = objects.get(snapshot(store).buckets[0].files[PACK_FILE].path)
    assert now["ann"] == old["ann"]
    assert after[now["ann"]["start"] :][: now["ann"]["bytes"]] == pack[old["ann"]["start"] :][: old["ann"]["bytes"]]
    assert (now["bob"]["rows"], now["bob"]["made_of"] != old["bob"]["made_of"]) == (8, True)


def tables(store: Path) -> list[dict[str, Any]]:
    objects = open_objects(str(store))
    found = [read_table(objects, each.files["tables"]).to_pylist() for each in snapshot(store).buckets.values()]
    return [row for rows in found for row in rows]


def test_reinduction_follows_the_settings_and_says_so(
    tmp_path: Path, settings: Settings, write_sessions: WriteSessions
) -> None:
    store = tmp_path / "store"
    late = induced(settings, in_backfill=False)
    fill(write_sessions, "a.jsonl", [*sleeper("ann", range(4)), *sleeper("bob", range(2))], store, late)
    assert mine(store).tables() == []
    report = redo(store, settings)
    assert report.published
    assert [(row["user_id"], row["change"], row["table"]) for row in report.changes] == [("ann", "discovered", "activity")]
    assert len(mine(store).table("activity")) == 4
    again = redo(store, settings)
    assert (again.published, again.version) == (False, report.version)
    lower = redo(store, induced(settings, support=2))
    assert {row["user_id"] for row in lower.changes} == {"bob"}
    assert [table.rows for table in mine(store, "bob").tables()] == [2]
    # A table that is there stays, whatever would be asked of a new one.
    assert redo(store, induced(settings, support=9)).changes == ()
    assert [table.rows for table in mine(store, "bob").tables()] == [2]


def test_reinduction_of_named_users_alone(tmp_path: Path, settings: Settings, write_sessions: WriteSessions) -> None:
    store = tmp_path / "store"
    late = induced(settings, in_backfill=False)
    fill(write_sessions, "a.jsonl", [*sleeper("ann", range(4)), *sleeper("bob", range(4))], store, late)
    redo(store, settings, tenant="default", users=["ann"])
    assert [len(mine(store, user).tables()) for user in ("ann", "bob")] == [1, 0]
    redo(store, settings)
    assert [len(mine(store, user).tables()) for user in ("ann", "bob")] == [1, 1]
    with pytest.raises(ScopeError):
        redo(store, settings, tenant=None, users=["ann"])


def test_reinduction_beside_a_backfill_loses_nothing(
    tmp_path: Path, settings: Settings, write_sessions: WriteSessions, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = tmp_path / "store"
    late = induced(settings, in_backfill=False)
    fill(write_sessions, "a.jsonl", sleeper("ann", range(4)), store, late)
    real, raced = jobs.reinduce.publish, []

    def overtaken(objects: Any, made: Snapshot) -> None:
        if not raced:
            raced.append(1)
            fill(write_sessions, "b.jsonl", sleeper("ann", range(4, 9)), store, late)
        real(objects, made)

    monkeypatch.setattr(jobs.reinduce, "publish", overtaken)
    report = redo(store, settings)
    assert report.version == 3
    assert len(mine(store).table("activity")) == 9
    assert snapshot(store).counts.rounds == 9


def test_whoever_is_always_overtaken_says_so(
    tmp_path: Path, settings: Settings, write_sessions: WriteSessions, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = tmp_path / "store"
    fill(write_sessions, "a.jsonl", sleeper("ann", range(4)), store, induced(settings, in_backfill=False))
    days = iter(range(10, 99))

    def overtaken(_objects: Any, made: Snapshot) -> None:
        fill(write_sessions, "b.jsonl", sleeper("ann", [next(days)]), store, induced(settings, in_backfill=False))
        raise jobs.reinduce.CommitConflict("overtaken", expected=made.parent, found=made.version)

    monkeypatch.setattr(jobs.reinduce, "publish", overtaken)
    few = settings.model_copy(update={"commit": settings.commit.model_copy(update={"attempts": 2})})
    with pytest.raises(StoreUnavailable, match="overtaken"):
        redo(store, few)


# --- corrections ----------------------------------------------------------------------------------------------------


def say(store: Path, settings: Settings, column: str, round_id: str, value: str | None, **more: Any) -> Corrected:
    asked = {"store": str(store), "tenant": "default", "user": "ann", "table": "activity", "by": "ann herself", **more}
    return correct(CorrectRequest(column=column, round_id=round_id, value=value, **asked), settings)


@pytest.fixture
def logged(tmp_path: Path, settings: Settings, write_sessions: WriteSessions) -> Path:
    store = tmp_path / "store"
    fill(write_sessions, "a.jsonl", [*sleeper("ann", range(5)), *sleeper("bob", range(5))], store, settings)
    return store


def first_round(store: Path, day: int) -> tuple[str, str]:
    row = mine(store).table("activity").filter(pl.col("session_id") == f"S{day:03d}").to_dicts()[0]
    return row["session_id"], row["round_id"]


def test_a_correction_outlives_all_that_is_done_anew(
    logged: Path, settings: Settings, write_sessions: WriteSessions
) -> None:
    session, round_id = first_round(logged, 2)
    done = say(logged, settings, "sleep", round_id, "7 h 45 min", session=session)
    assert (done.before, done.value) == ("8 h 15 min", "7 h 45 min")
    fill(write_sessions, "b.jsonl", sleeper("ann", range(5, 8)), logged, settings)
    redo(logged, induced(settings, support=2))
    row = mine(logged).table("activity").to_dicts()[2]
    assert (row["sleep"], row["sleep.raw"]) == (27900.0, "7 h 45 min")
    assert '"corrected_by": "ann herself"' in row["sleep.at"]
    assert '"corrected_at": "20' in row["sleep.at"]
    others = mine(logged, "bob").table("activity")["sleep"].to_list()
    assert others == [22500.0, 26100.0, 29700.0, 22500.0, 26100.0]
    last = say(logged, settings, "sleep", round_id, None, session=session)
    assert last.before == "7 h 45 min"
    assert mine(logged).table("activity")["sleep"].to_list()[2] is None
    said = open_store(str(logged)).memory().table_corrections("ann").to_dicts()
    assert [(row["value"], row["by"]) for row in said] == [(None, "ann herself")]


def test_what_a_correction_refuses(logged: Path, settings: Settings) -> None:
    session, round_id = first_round(logged, 1)
    before = latest_version(open_objects(str(logged)))
    with pytest.raises(ConditionError, match="duration"):
        say(logged, settings, "sleep", round_id, "72 kg", session=session)
    with pytest.raises(ConditionError):
        say(logged, settings, "steps", round_id, "many", session=session)
    with pytest.raises(ColumnNotFound, match="steps"):
        say(logged, settings, "stepz", round_id, "7", session=session)
    with pytest.raises(TableNotFound, match="activity"):
        say(logged, settings, "sleep", round_id, "7 h", table="activities")
    with pytest.raises(ToolError):
        say(logged, settings, "day", round_id, "2024-01-01", session=session)
    with pytest.raises(UsageError, match="no such round"):
        say(logged, settings, "sleep", "elsewhere", "7 h")
    with pytest.raises(UsageError, match="--by"):
        say(logged, settings, "sleep", round_id, "7 h", by=" ")
    with pytest.raises(ScopeError):
        say(logged, settings, "sleep", round_id, "7 h", user="")
    assert latest_version(open_objects(str(logged))) == before


def test_a_correction_goes_with_its_round(logged: Path, settings: Settings, write_sessions: WriteSessions) -> None:
    session, round_id = first_round(logged, 3)
    say(logged, settings, "steps", round_id, "9", session=session)
    changed = log("ann", 3, "Nothing to tell of today.")
    fill(write_sessions, "c.jsonl", [changed], logged, settings)
    kept = open_store(str(logged)).memory().table_corrections("ann")["value"].to_list()
    still = {
        row["round_id"] for row in open_store(str(logged)).memory().rounds("ann").to_dicts() if row["session_id"] == session
    }
    assert kept == (["9"] if round_id in still else [])


# --- tenants --------------------------------------------------------------------------------------------------------


def test_users_of_a_tenant_share_schemas_and_nothing_else(
    tmp_path: Path, settings: Settings, write_sessions: WriteSessions
) -> None:
    store = tmp_path / "store"
    pooled = induced(settings, scope="tenant")
    fill(write_sessions, "a.jsonl", [*sleeper("ann", [0, 1]), *sleeper("bob", [2, 3])], store, pooled, "acme")
    fill(write_sessions, "b.jsonl", sleeper("ann", [0, 1]), store, pooled, "other")
    assert mine(store, "ann", "acme").tables() == []
    report = redo(store, pooled)
    assert [(row["tenant_id"], row["user_id"], row["change"]) for row in report.changes] == [("acme", "", "discovered")]
    assert mine(store, "ann", "acme").table("activity")["steps"].to_list() == [8000.0, 8001.0]
    assert mine(store, "bob", "acme").table("activity")["steps"].to_list() == [8002.0, 8003.0]
    assert mine(store, "ann", "other").tables() == []
    fill(write_sessions, "c.jsonl", sleeper("ann", [5]), store, pooled, "acme")
    assert mine(store, "ann", "acme").table("activity")["steps"].to_list() == [8000.0, 8001.0, 8005.0]
    assert not redo(store, pooled).changes
    own = redo(store, settings)
    assert {(row["tenant_id"], row["user_id"]) for row in own.changes} >= set()
    assert snapshot(store).shared == {}


def test_a_user_reads_their_own_tables_alone(logged: Path) -> None:
    assert set(mine(logged, "bob").table("activity")["session_id"]) == {f"S{day:03d}" for day in range(5)}
    with pytest.raises(TableNotFound, match="no tables"):
        mine(logged, "eve").table("activity")
    with pytest.raises(TableNotFound, match="no tables"):
        mine(logged, "ann", "elsewhere").table("activity")
    for user, tenant in (("", "default"), ("ann", " ")):
        with pytest.raises(ScopeError):
            mine(logged, user, tenant)


def test_earlier_versions_keep_their_tables(logged: Path, settings: Settings, write_sessions: WriteSessions) -> None:
    version = latest_version(open_objects(str(logged)))
    fill(write_sessions, "b.jsonl", sleeper("ann", range(5, 8)), logged, settings)
    store = open_store(str(logged))
    assert len(store.user("ann", as_of=version).table("activity")) == 5
    assert len(store.user("ann").table("activity")) == 8


# --- what a breaker found -------------------------------------------------------------------------------------------


def cells(store: Path, column: str, user: str = "ann") -> list[Any]:
    return list(mine(store, user).table("activity")[column].to_list())


def test_a_correction_under_other_settings_touches_its_cell_alone(
    tmp_path: Path, settings: Settings, write_sessions: WriteSessions
) -> None:
    store = tmp_path / "store"
    own = induced(settings, attributes={"zzz": "sleep"})
    told = [log("ann", day, f"{'zzz' if day % 2 else 'sleep'}: {5 + day} h\nsteps: {1000 + day}") for day in range(4)]
    fill(write_sessions, "a.jsonl", told, store, own)
    before = cells(store, "sleep")
    session, round_id = first_round(store, 1)
    say(store, settings, "steps", round_id, "7", session=session)
    assert cells(store, "sleep") == before == [3600.0 * hours for hours in (5, 6, 7, 8)]
    assert cells(store, "steps")[1] == 7.0
    assert not redo(store, own).changes
    assert cells(store, "sleep") == before


def test_what_was_made_so_for_some_is_looked_at_when_all_are_asked_for(
    logged: Path, settings: Settings, write_sessions: WriteSessions
) -> None:
    moods = [log(user, day, "mood: 7/10") for user in ("ann", "bob") for day in (20, 21)]
    fill(write_sessions, "m.jsonl", moods, logged, settings)
    redo(logged, induced(settings, support=2), tenant="default", users=["ann"])
    assert [len(mine(logged, user).tables()) for user in ("ann", "bob")] == [2, 1]
    assert len({row["made_of"].partition("-")[0] for row in tables(logged)}) == 2
    redo(logged, settings)
    assert len({row["made_of"].partition("-")[0] for row in tables(logged)}) == 1
    assert [len(mine(logged, user).tables()) for user in ("ann", "bob")] == [2, 1]


def test_what_changes_nothing_publishes_nothing(logged: Path, settings: Settings) -> None:
    version = latest_version(open_objects(str(logged)))
    assert not redo(logged, settings, tenant="default", users=["ann"]).published
    with pytest.raises(UsageError, match="nobody"):
        redo(logged, settings, tenant="default", users=["ann", "nobody"])
    assert latest_version(open_objects(str(logged))) == version


def test_records_that_are_not_there_and_words_taken_back(logged: Path, settings: Settings) -> None:
    session, round_id = first_round(logged, 2)
    for record in (5, 2**31 - 1, -1):
        with pytest.raises(UsageError, match="no record"):
            say(logged, settings, "sleep", round_id, "7 h", session=session, record=record)
    with pytest.raises(UsageError, match="Unicode"):
        say(logged, settings, "sleep", round_id, "7 h", session=session, by="\udcff")
    with pytest.raises(UsageError, match="take back"):
        say(logged, settings, "sleep", round_id, None, session=session, undo=True)
    before = cells(logged, "sleep")
    for column in ("sleep", "steps"):
        say(logged, settings, column, round_id, None, session=session)
    assert len(cells(logged, "sleep")) == 4
    for column in ("sleep", "steps"):
        say(logged, settings, column, round_id, None, session=session, undo=True)
    assert cells(logged, "sleep") == before


def test_a_name_of_one_user_is_in_no_schema_of_a_tenant(
    tmp_path: Path, settings: Settings, write_sessions: WriteSessions
) -> None:
    store = tmp_path / "store"
    pooled = induced(settings, scope="tenant")
    secret = [log("ann", day, "secret project falcon: 7 kg\nweight: 70 kg") for day in range(4)]
    fill(write_sessions, "a.jsonl", [*secret, log("bob", 0, "weight: 50 kg")], store, pooled, "acme")
    redo(store, pooled)
    for user in ("ann", "bob"):
        (table,) = mine(store, user, "acme").tables()
        assert [column.name for column in table.columns] == ["weight"]
        assert "falcon" not in table.name


def one_bucket(settings: Settings) -> Settings:
    return settings.model_copy(update={"store": settings.store.model_copy(update={"buckets": 1})})


def test_what_comes_to_the_same_is_not_written_again(
    tmp_path: Path, settings: Settings, write_sessions: WriteSessions
) -> None:
    settings, store = one_bucket(settings), tmp_path / "store"
    fill(write_sessions, "a.jsonl", [*sleeper("ann", range(5)), *sleeper("bob", range(3))], store, settings)
    before = snapshot(store).buckets[0]
    report = redo(store, induced(settings, all_confidence=0.6))
    after = snapshot(store).buckets[0]
    changed = {name for name, file in after.files.items() if file != before.files[name]}
    # What tables are made of tells how; counts, changes and corrections are what they were.
    assert (changed, report.tables, report.changes) == ({"tables", "table_rows"}, 0, ())
    again = redo(store, induced(settings, in_backfill=False, all_confidence=0.6))
    assert not again.published


def test_nothing_of_rounds_and_observations_is_read_of_whom_nothing_changed(
    tmp_path: Path, settings: Settings, write_sessions: WriteSessions, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings, store = one_bucket(settings), tmp_path / "store"
    late = induced(settings, in_backfill=False)
    fill(write_sessions, "a.jsonl", [*sleeper("ann", range(5)), *sleeper("bob", range(5))], store, settings)
    fill(write_sessions, "b.jsonl", sleeper("bob", range(5, 9)), store, late)
    made = {row["user_id"]: row["made_of"].partition("-")[0] for row in tables(store)}
    assert made["ann"] != made["bob"]
    read: list[Any] = []
    near = jobs.source.read_near

    def reading(objects: Any, file: Any, wanted: Any, **how: Any) -> Any:
        read.append(sorted(user for _, user in wanted))
        return near(objects, file, wanted, **how)

    monkeypatch.setattr(jobs.source, "read_near", reading)
    ann = [row for row in tables(store) if row["user_id"] == "ann"]
    assert redo(store, settings).published
    assert read == [["bob"], ["bob"]]  # the observations, and the rounds
    assert [row for row in tables(store) if row["user_id"] == "ann"] == ann
    assert {row["made_of"].partition("-")[0] for row in tables(store)} == {made["ann"]}


def test_here_with_helpers_and_through_ray_come_to_the_same(
    tmp_path: Path,
    settings: Settings,
    write_sessions: WriteSessions,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    late = induced(settings, in_backfill=False)
    users = ("ann", "bob", "eve", "gus", "ida", "jon", "kim", "lea")
    assert {bucket_of("default", user, 3) for user in users} == {0, 1, 2}  # the third is what is left to others
    sessions = [each for user in users for each in sleeper(user, range(4))]
    stores = [tmp_path / name for name in ("here", "helpers", "ray")]
    for store in stores:
        fill(write_sessions, f"{store.name}.jsonl", sessions, store, late)
    reports = [redo(stores[0], settings)]
    for name, value in {"_TRIED": 0.0, "_ALONE": 0.0, "_HELPER_STARTS": 1e-6}.items():
        monkeypatch.setattr(jobs.reinduce, name, value)
    told: list[str] = []

    def noted(name: str, of: object) -> None:
        real = getattr(of, name)

        def noting(*given: object) -> object:
            told.append(name)
            return real(*given)

        monkeypatch.setattr(of, name, noting)

    noted("beside", jobs.reinduce)
    noted("_start", jobs.reinduce._Hands)
    reports.append(redo(stores[1], settings))
    assert "Traceback" not in capfd.readouterr().err  # no helper was lost, which would go unseen
    monkeypatch.setattr(jobs.reinduce, "_RAY_PAYS", 0.0)
    reports.append(redo(stores[2], settings))
    assert told == ["beside", "_start"]
    changes = [sorted((row["user_id"], row["change"], row["table"]) for row in report.changes) for report in reports]
    assert changes[0] == changes[1] == changes[2]
    assert {report.tables for report in reports} == {len(users)}
    assert counted(stores[0]) == counted(stores[1]) == counted(stores[2])
    plain = [sorted(str({**row, "start": 0}) for row in tables(store)) for store in stores]
    assert plain[0] == plain[1] == plain[2]
