"""S3 when it goes wrong: lost answers, late writes, refusals, silence. The conformance tests cover the rest."""

from __future__ import annotations

import re
import socket
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import boto3
import pytest
import requests

from operators.errors import (
    AlreadyExists,
    ETagMismatch,
    ObjectNotFound,
    OutcomeUnknown,
    StoreDenied,
    StoreError,
    StoreUnavailable,
    UsageError,
)
from operators.store.s3 import S3Objects

# --- conditional writes whose answer is lost ------------------------------------------------------------------------


def test_a_write_that_landed_is_recognised(through: S3Objects, direct: S3Objects, lossy: Any) -> None:
    lossy.once("PUT", "lose")
    etag = through.put_if_absent("k", b"mine")
    assert direct.get_with_etag("k") == (b"mine", etag)
    assert lossy.count("PUT") == 1


def test_a_replacement_that_landed_is_recognised(through: S3Objects, direct: S3Objects, lossy: Any) -> None:
    old = direct.put("k", b"old")
    lossy.once("PUT", "lose")
    etag = through.put_if_match("k", b"new", old)
    assert direct.get_with_etag("k") == (b"new", etag)
    assert lossy.count("PUT") == 1


@pytest.mark.parametrize(
    "action", ["drop", "503 SlowDown", "500 InternalError", "400 RequestTimeout", "409 OperationAborted"]
)
def test_a_write_that_did_not_land_is_tried_again(through: S3Objects, direct: S3Objects, lossy: Any, action: str) -> None:
    lossy.once("PUT", action)
    through.put_if_absent("k", b"mine")
    assert direct.get("k") == b"mine"
    etag = direct.put("m", b"old")
    lossy.once("PUT", action)
    through.put_if_match("m", b"new", etag)
    assert direct.get("m") == b"new"
    assert lossy.count("PUT") == 4


def test_a_write_that_another_overtook_is_lost(through: S3Objects, direct: S3Objects, lossy: Any) -> None:
    def overtaken(method: str, path: str) -> str:
        if method != "PUT":
            return "pass"
        direct.put(path.rpartition("/")[2], b"theirs")
        return "drop"

    lossy.script = overtaken
    with pytest.raises(AlreadyExists):
        through.put_if_absent("k", b"mine")
    etag = direct.put("m", b"old")
    with pytest.raises(ETagMismatch):
        through.put_if_match("m", b"mine", etag)
    assert direct.get("k") == direct.get("m") == b"theirs"


def test_a_replacement_whose_object_went_away_is_lost(through: S3Objects, direct: S3Objects, lossy: Any) -> None:
    etag = direct.put("m", b"old")

    def removed(method: str, path: str) -> str:  # noqa: ARG001
        if method != "PUT" or not any(info.key == "m" for info in direct.list("")):
            return "pass"
        direct.delete("m")
        return "drop"

    lossy.script = removed
    with pytest.raises(ETagMismatch):
        through.put_if_match("m", b"mine", etag)
    with pytest.raises(ObjectNotFound):
        direct.get("m")


def test_a_write_that_lands_late_is_recognised_when_its_repetition_loses(
    through: S3Objects, direct: S3Objects, lossy: Any, monkeypatch: Any
) -> None:
    monkeypatch.setattr("operators.store.s3._pause", lambda attempt: time.sleep(0.8 if attempt else 0))
    lossy.once("PUT", "late")
    through.put_if_absent("k", b"mine")
    assert direct.get("k") == b"mine"
    assert lossy.count("PUT") == 2


@pytest.mark.parametrize("after", ["drop", "503 SlowDown", "403 AccessDenied"])
def test_where_the_key_cannot_be_reread_the_outcome_is_unknown(
    through: S3Objects, direct: S3Objects, lossy: Any, after: str
) -> None:
    lossy.script = lambda method, _: "lose" if method == "PUT" else after
    with pytest.raises(OutcomeUnknown, match="Nothing was deleted") as caught:
        through.put_if_absent("k", b"mine")
    assert caught.value.key == "k"
    assert direct.get("k") == b"mine"
    etag = direct.put("m", b"old")
    with pytest.raises(OutcomeUnknown):
        through.put_if_match("m", b"new", etag)
    assert direct.get("m") == b"new"
    assert lossy.count("DELETE") == 0


def test_a_write_never_answered_is_unknown_though_it_is_not_there(through: S3Objects, lossy: Any) -> None:
    lossy.script = lambda method, _: "drop" if method == "PUT" else "pass"
    with pytest.raises(OutcomeUnknown):
        through.put_if_absent("k", b"mine")
    assert lossy.count("PUT") == 3


def test_denied_after_a_lost_answer_is_unknown(through: S3Objects, lossy: Any) -> None:
    left = ["403 AccessDenied", "drop"]
    lossy.script = lambda method, _: left.pop() if method == "PUT" else "pass"
    with pytest.raises(OutcomeUnknown):
        through.put_if_absent("k", b"mine")


def test_always_409_ends_as_unavailable(through: S3Objects, lossy: Any) -> None:
    lossy.script = lambda method, _: "409 ConditionalRequestConflict" if method == "PUT" else "pass"
    with pytest.raises(StoreUnavailable, match="ConditionalRequestConflict"):
        through.put_if_absent("k", b"mine")
    assert lossy.count("PUT") == 3


def test_a_server_without_conditions_says_so(through: S3Objects, lossy: Any) -> None:
    lossy.script = lambda method, _: "501 NotImplemented" if method == "PUT" else "pass"
    with pytest.raises(StoreError, match="NotImplemented"):
        through.put_if_absent("k", b"mine")
    assert lossy.count("PUT") == 1


# --- other calls ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("action", ["drop", "lose", "503 SlowDown", "500 InternalError", "429 TooManyRequests"])
def test_plain_calls_are_tried_again(through: S3Objects, direct: S3Objects, lossy: Any, action: str) -> None:
    calls: list[tuple[str, Callable[[], Any], Any]] = [
        ("GET", lambda: through.get("ready"), b"x"),
        ("HEAD", lambda: through.head("ready").size, 1),
        ("GET", lambda: [info.key for info in through.list("")], ["ready"]),
        ("GET", lambda: through.open("ready").read(), b"x"),
        ("PUT", lambda: direct.get("p") if through.put("p", b"y") else None, b"y"),
        ("DELETE", lambda: through.delete("p"), None),
    ]
    for method, call, expected in calls:
        lossy.once(method, action)
        assert call() == expected


def test_no_call_goes_on_for_ever(through: S3Objects, lossy: Any) -> None:
    lossy.script = lambda *_: "503 SlowDown"
    for call in (lambda: through.get("ready"), lambda: through.put("k", b"x"), lambda: list(through.list(""))):
        lossy.seen.clear()
        with pytest.raises(StoreUnavailable, match="in 3 tries"):
            call()
        assert len(lossy.seen) == 3


def test_listing_goes_past_a_page(through: S3Objects, direct: S3Objects, lossy: Any) -> None:
    keys = [f"many/{number:02d}" for number in range(11)]
    for key in keys:
        direct.put(key, b"")
    lossy.rewrite = lambda path: f"{path}&max-keys=3" if "list-type=2" in path else path
    assert [info.key for info in through.list("many/")] == keys
    assert lossy.count("GET") == 4


def test_keys_that_are_no_objects_of_ours_are_not_listed(direct: S3Objects, s3_server: str) -> None:
    bucket, _, root = direct.uri.removeprefix("s3://").partition("/")
    client = boto3.session.Session().client("s3", endpoint_url=s3_server)
    client.put_object(Bucket=bucket, Key=f"{root}/folder/", Body=b"")
    client.put_object(Bucket=bucket, Key=f"{root}x/beside", Body=b"")
    assert [info.key for info in direct.list("")] == ["ready"]


def test_a_key_too_long_with_its_prefix(direct: S3Objects) -> None:
    with pytest.raises(ValueError, match="with its prefix"):
        direct.put("/".join(["a" * 250] * 4), b"x")


# --- refusals and silence -------------------------------------------------------------------------------------------


@pytest.fixture
def strict(s3_server: str) -> Iterator[None]:
    """The S3 server checks signatures and permissions."""
    requests.post(f"{s3_server}/moto-api/reset-auth", data="0", timeout=5)
    yield
    requests.post(f"{s3_server}/moto-api/reset-auth", data="inf", timeout=5)


def every_call(objects: S3Objects) -> list[Callable[[], Any]]:
    return [
        lambda: objects.get("ready"),
        lambda: objects.head("ready"),
        lambda: objects.put("k", b"x"),
        lambda: objects.put_if_absent("k", b"x"),
        lambda: objects.put_if_match("k", b"x", '"0"'),
        lambda: list(objects.list("")),
        lambda: objects.delete("k"),
        lambda: objects.open("ready"),
    ]


def test_wrong_credentials_are_told_at_once(direct: S3Objects, strict: None, monkeypatch: Any) -> None:  # noqa: ARG001
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIAWRONG")
    objects = S3Objects(direct.uri)
    for call in every_call(objects):
        began = time.monotonic()
        with pytest.raises(StoreDenied, match="AWS_ACCESS_KEY_ID") as caught:
            call()
        assert "AKIAWRONG" not in str(caught.value)
        assert time.monotonic() - began < 2


def test_forbidden_is_not_tried_again(through: S3Objects, lossy: Any) -> None:
    lossy.script = lambda *_: "403 AccessDenied"
    for call in every_call(through):
        lossy.seen.clear()
        with pytest.raises(StoreDenied, match=re.escape(through.uri)):
            call()
        assert len(lossy.seen) - lossy.count("HEAD") == 1  # a HEAD's refusal says no reason: a GET asks for it


def test_no_credentials_are_denied(direct: S3Objects, monkeypatch: Any) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name)
    with pytest.raises(StoreDenied, match="no usable credentials"):
        S3Objects(direct.uri).get("ready")


def test_an_unknown_profile_is_a_store_error(direct: S3Objects, monkeypatch: Any) -> None:
    monkeypatch.setenv("AWS_PROFILE", "nobody")
    with pytest.raises(StoreError, match="ProfileNotFound"):
        S3Objects(direct.uri).get("ready")


def test_a_missing_bucket_is_named(s3_server: str) -> None:  # noqa: ARG001
    for call in every_call(S3Objects("s3://no-such-bucket/p")):
        with pytest.raises(StoreError, match="'no-such-bucket'") as caught:
            call()
        assert not isinstance(caught.value, ObjectNotFound | StoreUnavailable)


def test_nobody_at_the_address(s3_uri: str, monkeypatch: Any) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{port}")
    for call in (lambda: S3Objects(s3_uri).get("k"), lambda: S3Objects(s3_uri).put_if_absent("k", b"x")):
        began = time.monotonic()
        with pytest.raises(StoreUnavailable, match="AWS_ENDPOINT_URL"):
            call()
        assert time.monotonic() - began < 8


def test_a_server_that_never_answers(s3_uri: str, monkeypatch: Any) -> None:
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen(16)
        monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{silent.getsockname()[1]}")
        objects = S3Objects(s3_uri, tries=2, connect_timeout=0.5, read_timeout=0.5)
        with pytest.raises(StoreUnavailable, match="ReadTimeoutError"):
            objects.get("k")
        with pytest.raises(OutcomeUnknown):
            objects.put_if_absent("k", b"x")


def test_a_failure_in_the_midst_of_reading_is_told_as_it_is(direct: S3Objects, lossy: Any) -> None:
    direct.put("f", bytes(1_000_000))
    objects = S3Objects(direct.uri, tries=2)
    with objects.open("f") as file:
        lossy.script = lambda *_: "503 SlowDown"
        with pytest.raises(StoreUnavailable):
            file.read_at(10, 0)


# --- addresses and processes ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("uri", ["s3://", "s3:///prefix", "s3://bucket//double", "s3://bucket/a/../b", "http://bucket/x"])
def test_addresses_that_name_no_bucket(uri: str) -> None:
    with pytest.raises(UsageError):
        S3Objects(uri)


def test_addresses_are_plain() -> None:
    assert S3Objects("s3://bucket").uri == "s3://bucket"
    assert S3Objects("s3://bucket/").uri == "s3://bucket"
    assert S3Objects("s3://bucket/a b/ü/").uri == "s3://bucket/a b/ü"


def test_a_bucket_without_prefix(s3_server: str) -> None:
    boto3.session.Session().client("s3", endpoint_url=s3_server).create_bucket(Bucket="whole-bucket")
    objects = S3Objects("s3://whole-bucket")
    objects.put("a/b", b"x")
    assert [info.key for info in objects.list("")] == ["a/b"]
    objects.delete("a/b")


def test_threads_share_an_object(direct: S3Objects) -> None:
    objects, failures = S3Objects(direct.uri), []

    def work(number: int) -> None:
        try:
            objects.put(f"t/{number}", b"x" * number)
            assert objects.get(f"t/{number}") == b"x" * number
        except Exception as error:  # told below: a thread's own failure is lost
            failures.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
