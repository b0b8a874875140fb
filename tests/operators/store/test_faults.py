"""A real S3 server with injected faults: each is got over, or told as it is with what to do; nothing is lost or doubled."""

from __future__ import annotations

import json
import re
import time
import uuid
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import boto3
import pyarrow as pa
import pytest

from operators.errors import CommitConflict, OutcomeUnknown, StoreDenied, StoreUnavailable
from operators.store.commit import HINT_KEY, create_store, latest_version, pin, publish, snapshot_key, versions
from operators.store.manifest import DataFile, Snapshot, StoreSpec
from operators.store.s3 import S3Objects
from operators.store.tables import read_table, read_whole, write_table

SPEC = StoreSpec(buckets=2, encoder={"m": 1})
NOON = datetime(2025, 3, 1, 12, tzinfo=UTC)
BODY = bytes(range(256)) * 4000
NUMBERS = pa.schema([pa.field("number", pa.int64(), nullable=False)])
ANYTHING = ["GET", "PUT", "HEAD", "DELETE"]


def following(base: Snapshot) -> Snapshot:
    fresh: dict[str, Any] = {"version": base.version + 1, "parent": base.version, "commit_id": uuid.uuid4().hex}
    return replace(base, run_id="r", committed_at=NOON + timedelta(hours=base.version), **fresh)


def written(objects: S3Objects) -> DataFile:
    """A table of which the end is not the whole: reading it takes several requests."""
    table = pa.table({"number": pa.array([number * 7919 % 100_003 for number in range(100_000)], pa.int64())}, NUMBERS)
    return write_table(objects, "runs/r/data/t.parquet", table, NUMBERS)


@pytest.fixture
def store(direct: S3Objects) -> S3Objects:
    """A store with three versions on the S3 server itself."""
    create_store(direct, SPEC)
    for _ in range(3):
        publish(direct, following(pin(direct)))
    return direct


# --- throttling -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["GET", "PUT", "HEAD"])
def test_a_commit_gets_over_throttling(through: S3Objects, store: S3Objects, lossy: Any, method: str) -> None:
    lossy.times(method, "503 SlowDown", 2)
    publish(through, following(pin(through)))
    assert lossy.script(method, "") == "pass"
    assert versions(store) == [1, 2, 3, 4]


def test_a_commit_throttled_for_ever_ends_and_nothing_is_committed(through: S3Objects, store: S3Objects, lossy: Any) -> None:
    mine = following(pin(through))
    lossy.script = lambda *_: "503 SlowDown"
    with pytest.raises(StoreUnavailable, match=r"in 3 tries \(SlowDown, HTTP 503.*try later"):
        publish(through, mine)
    assert versions(store) == [1, 2, 3]


def test_throttled_writes_wait_longer_each_time(through: S3Objects, lossy: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    waited: list[float] = []
    monkeypatch.setattr("operators.store.s3._FIRST_PAUSE", 0.2)
    monkeypatch.setattr("operators.store.s3.time", type("Clock", (), {"sleep": waited.append}))
    patient = S3Objects(through.uri, tries=8)
    lossy.script = lambda *_: "503 SlowDown"
    with pytest.raises(StoreUnavailable, match="in 8 tries"):
        patient.get("ready")
    assert len(waited) == 7
    assert all(
        0.5 * longest <= pause <= longest for pause, longest in zip(waited, [0.2, 0.4, 0.8, 1.6, 3.2, 4, 4], strict=True)
    )


# --- resets ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("action", ["reset", "land"])
def test_calls_get_over_a_reset(through: S3Objects, direct: S3Objects, lossy: Any, action: str) -> None:
    calls: list[tuple[str, Callable[[], Any], Any]] = [
        ("GET", lambda: through.get("ready"), b"x"),
        ("HEAD", lambda: through.head("ready").size, 1),
        ("GET", lambda: [info.key for info in through.list("")], ["ready"]),
        ("PUT", lambda: direct.get("p") if through.put("p", b"y") else None, b"y"),
        ("PUT", lambda: direct.get("q") if through.put_if_absent("q", b"y") else None, b"y"),
        ("DELETE", lambda: through.delete("p"), None),
    ]
    for method, call, expected in calls:
        lossy.once(method, action)
        assert call() == expected
    assert [info.key for info in direct.list("")] == ["q", "ready"]


@pytest.mark.parametrize("action", ["reset", "land"])
def test_a_commit_reset_before_or_after_it_landed_is_one_commit(
    through: S3Objects, store: S3Objects, lossy: Any, action: str
) -> None:
    mine = following(pin(through))
    lossy.times("PUT", action, 1, part="0004.json")
    publish(through, mine)
    assert pin(store) == mine
    assert versions(store) == [1, 2, 3, 4]


def test_a_commit_that_landed_before_the_line_went_dead_is_found_by_publishing_again(
    through: S3Objects, store: S3Objects, lossy: Any
) -> None:
    mine = following(pin(through))
    dead: list[bool] = []

    def script(method: str, path: str) -> str:
        if dead:
            return "reset"
        if method == "PUT" and path.endswith("0004.json"):
            dead.append(True)
            return "land"
        return "pass"

    lossy.script = script
    with pytest.raises(OutcomeUnknown):
        publish(through, mine)
    lossy.script = lambda *_: "pass"
    publish(through, mine)
    assert (pin(store), versions(store)) == (mine, [1, 2, 3, 4])


# --- slow, stalled and truncated answers ----------------------------------------------------------------------------


def test_a_slow_answer_is_read_whole(direct: S3Objects, lossy: Any) -> None:
    direct.put("f", BODY)
    patient = S3Objects(direct.uri, tries=1, read_timeout=0.3)
    lossy.script = lambda *_: "slow"
    assert patient.get("f") == BODY
    assert lossy.count("GET") == 1


@pytest.mark.parametrize("action", ["stall 0", "stall 300000", "cut 0", "cut 1", "cut 1023999"])
def test_an_answer_that_stalls_or_breaks_off_is_asked_again(direct: S3Objects, lossy: Any, action: str) -> None:
    direct.put("f", BODY)
    objects = S3Objects(direct.uri, tries=2, read_timeout=0.3)
    lossy.once("GET", action)
    assert objects.get("f") == BODY
    lossy.once("GET", action)
    assert objects.get_with_etag("f")[0] == BODY
    assert lossy.count("GET") == 4


def test_an_answer_that_always_breaks_off_is_never_taken_for_the_whole(
    through: S3Objects, direct: S3Objects, lossy: Any
) -> None:
    direct.put("f", BODY)
    file = written(direct)
    lossy.script = lambda method, _: "cut 100" if method == "GET" else "pass"
    for read in (
        lambda: through.get("f"),
        lambda: through.get("f", start=5, length=5000),
        lambda: through.get_with_etag("f"),
        lambda: through.open("f"),
        lambda: list(through.list("")),
        lambda: read_whole(through, file),
        lambda: read_table(through, file),
    ):
        lossy.seen.clear()
        with pytest.raises(StoreUnavailable, match="in 3 tries"):
            read()
        assert lossy.count("GET") == 3


@pytest.mark.parametrize("action", ["cut 50", "stall 50", "reset", "503 SlowDown"])
def test_a_table_is_read_right_although_every_other_answer_fails(direct: S3Objects, lossy: Any, action: str) -> None:
    file = written(direct)
    expected = read_table(direct, file)
    objects = S3Objects(direct.uri, tries=2, read_timeout=0.3)
    turn: list[int] = []

    def script(method: str, path: str) -> str:  # noqa: ARG001
        turn.append(0)
        return action if len(turn) % 2 else "pass"

    lossy.script = script
    assert read_table(objects, file).equals(expected)
    assert len(turn) >= 4


# --- uploads in parts -----------------------------------------------------------------------------------------------

PART = 5 << 20


@pytest.fixture
def large(tmp_path: Path) -> Path:
    path = tmp_path / "large"
    path.write_bytes(b"a" * PART + b"b" * PART + b"c" * 17)
    return path


def left_uploads(objects: S3Objects, s3_server: str) -> int:
    bucket, _, root = objects.uri.removeprefix("s3://").partition("/")
    client = boto3.session.Session().client("s3", endpoint_url=s3_server)
    return len(client.list_multipart_uploads(Bucket=bucket, Prefix=root).get("Uploads", []))


@pytest.mark.parametrize("action", ["reset", "land", "503 SlowDown"])
def test_a_part_that_fails_is_sent_again(direct: S3Objects, lossy: Any, large: Path, action: str) -> None:
    lossy.times("PUT", action, 2, part="partNumber=2")
    S3Objects(direct.uri, tries=3, part_bytes=PART).put_file("big", large)
    assert direct.get("big") == large.read_bytes()


def test_an_upload_that_dies_midway_is_no_object_and_its_parts_are_swept(
    through: S3Objects, direct: S3Objects, lossy: Any, large: Path, s3_server: str
) -> None:
    direct.put("big", b"what stood there before")
    objects = S3Objects(through.uri, tries=2, connect_timeout=1, read_timeout=2, part_bytes=PART)
    lossy.after("PUT", 1, "reset")
    passing = lossy.script
    lossy.script = lambda method, path: "reset" if method == "DELETE" else passing(method, path)  # it cannot abort either
    with pytest.raises(StoreUnavailable, match="big"):
        objects.put_file("big", large)
    assert direct.get("big") == b"what stood there before"
    assert left_uploads(direct, s3_server) == 1
    assert direct.sweep(datetime.now(UTC) + timedelta(hours=1)) == 1
    assert left_uploads(direct, s3_server) == 0


# --- credentials and clocks -----------------------------------------------------------------------------------------

REFUSED = [
    ("403 ExpiredToken", r"have expired.*[Rr]enew them"),
    ("400 ExpiredToken", r"have expired.*[Rr]enew them"),
    ("403 TokenRefreshRequired", r"have expired.*[Rr]enew them"),
    ("403 RequestTimeTooSkewed", r"clock.*[Ss]et (it|the clock)"),
    ("403 RequestExpired", r"clock.*[Ss]et (it|the clock)"),
]


@pytest.mark.parametrize(("action", "advice"), REFUSED)
def test_expired_credentials_and_a_wrong_clock_say_what_to_do_at_once(
    through: S3Objects, lossy: Any, action: str, advice: str
) -> None:
    lossy.script = lambda *_: action
    calls: list[Callable[[], Any]] = [
        lambda: through.get("ready"),
        lambda: through.head("ready"),
        lambda: through.put("k", b"x"),
        lambda: through.put_if_absent("k", b"x"),
        lambda: through.put_if_match("k", b"x", '"0"'),
        lambda: list(through.list("")),
        lambda: through.delete("k"),
        lambda: through.open("ready"),
    ]
    for call in calls:
        lossy.seen.clear()
        with pytest.raises(StoreDenied, match=advice) as caught:
            call()
        assert "s3:GetObject" not in str(caught.value)
        assert lossy.count("GET") + lossy.count("PUT") + lossy.count("DELETE") == 1


def test_credentials_that_expire_between_two_parts_end_the_upload(
    through: S3Objects, direct: S3Objects, lossy: Any, large: Path
) -> None:
    objects = S3Objects(through.uri, tries=3, part_bytes=PART)
    lossy.after("PUT", 2, "400 ExpiredToken")
    with pytest.raises(StoreDenied, match="have expired"):
        objects.put_file("big", large)
    assert lossy.count("PUT") == 3
    assert [info.key for info in direct.list("")] == ["ready"]


def test_credentials_that_expire_while_a_commits_answer_is_lost_leave_it_unknown_and_say_why(
    through: S3Objects, store: S3Objects, lossy: Any
) -> None:
    mine = following(pin(through))
    expired: list[bool] = []

    def script(method: str, path: str) -> str:
        if expired:
            return "403 ExpiredToken"
        if method == "PUT" and path.endswith("0004.json"):
            expired.append(True)
            return "land"
        return "pass"

    lossy.script = script
    with pytest.raises(OutcomeUnknown, match="have expired"):
        publish(through, mine)
    lossy.script = lambda *_: "pass"
    publish(through, mine)
    assert versions(store) == [1, 2, 3, 4]


def test_a_credential_process_whose_credentials_have_expired(
    direct: S3Objects, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """boto tells it as a bare RuntimeError."""
    given = {"AccessKeyId": "a", "SecretAccessKey": "b", "SessionToken": "c", "Expiration": "2020-01-01T00:00:00Z"}
    (tmp_path / "given.json").write_text(json.dumps({"Version": 1, **given}))
    (tmp_path / "config").write_text(f"[default]\ncredential_process = cat {tmp_path / 'given.json'}\n")
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "config"))
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name)
    objects = S3Objects(direct.uri)
    for call in (lambda: objects.get("ready"), lambda: objects.put_if_absent("k", b"x")):
        began = time.monotonic()
        with pytest.raises(StoreDenied, match="have expired"):
            call()
        assert time.monotonic() - began < 5


@pytest.mark.parametrize("hours", [-1, 1, 24 * 400])
def test_a_server_whose_clock_is_wrong_is_read_and_committed_to(
    through: S3Objects, store: S3Objects, lossy: Any, hours: int
) -> None:
    lossy.skew = timedelta(hours=hours)
    file = written(through)
    assert read_table(through, file).num_rows == 100_000
    assert abs(through.head("ready").modified - datetime.now(UTC) - lossy.skew) < timedelta(minutes=1)
    publish(through, following(pin(through)))
    assert (latest_version(through), versions(store)) == (4, [1, 2, 3, 4])
    assert pin(through, NOON + timedelta(hours=1)).version == 2


# --- listings that lag ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("hint", [True, False])
@pytest.mark.parametrize("hidden", ["0003.json", "0002.json", ".json"])
def test_a_listing_that_lags_hides_no_version(
    through: S3Objects, store: S3Objects, lossy: Any, hidden: str, hint: bool
) -> None:
    if not hint:
        store.delete(HINT_KEY)
    lossy.hide(hidden)
    assert latest_version(through) == 3
    assert pin(through).version == 3
    assert versions(through) == [1, 2, 3]
    assert pin(through, NOON + timedelta(days=9)).version == 3
    assert pin(through, NOON + timedelta(hours=1)).version == 2


def test_a_lost_race_behind_a_lagging_listing_tells_the_newest(through: S3Objects, store: S3Objects, lossy: Any) -> None:
    late = following(pin(store, 2))
    store.delete(HINT_KEY)
    lossy.hide("0003.json")
    with pytest.raises(CommitConflict) as caught:
        publish(through, late)
    assert (caught.value.expected, caught.value.found) == (2, 3)
    publish(through, following(pin(through)))
    assert versions(store) == [1, 2, 3, 4]


def test_a_listing_that_still_shows_what_is_gone_misleads_no_reader(
    through: S3Objects, store: S3Objects, lossy: Any
) -> None:
    shown = {}

    def reshape(method: str, path: str, body: bytes) -> bytes:
        listing = re.search(r"list-type=2.*prefix=([^&]*)", path)
        return shown.setdefault(listing[1], body) if method == "GET" and listing else body

    lossy.reshape = reshape
    assert versions(through) == [1, 2, 3]
    store.delete(snapshot_key(1))
    store.delete(HINT_KEY)
    assert latest_version(through) == 3
    assert pin(through).version == 3
    assert pin(through, NOON + timedelta(hours=1)).version == 2
