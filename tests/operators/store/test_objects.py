"""What every object store promises, on a folder and on a real S3 server alike."""

from __future__ import annotations

import pickle
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from operators.errors import AlreadyExists, ETagMismatch, ObjectNotFound
from operators.store.objects import ObjectStore, check_key, check_prefix

SHARED_STORE = settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])

ODD_KEYS = [
    "ümlaut/日本語.json",
    "a b/c+d&e=f?g#h%20i",
    "emoji/🧵",
    "quote'\"/back\\slash",
    "dots/..a/b..",
    "~/$HOME",
    "*/?[x]",
]
BAD_KEYS = [
    "a/" * 512 + "a",
    "",
    "/a",
    "a/",
    "a//b",
    ".",
    "..",
    "a/../b",
    "a/./b",
    "../a",
    "a\nb",
    "a\0b",
    "\ud800",
    "x" * 256,
    ".mnemosaic/x",
]


def keys_of(objects: ObjectStore, prefix: str = "") -> list[str]:
    return [info.key for info in objects.list(prefix)]


def test_put_then_get(objects: ObjectStore) -> None:
    objects.put("a/b/c", b"one")
    assert objects.get("a/b/c") == b"one"
    objects.put("a/b/c", b"two")
    assert objects.get("a/b/c") == b"two"


@pytest.mark.parametrize("key", ODD_KEYS)
def test_any_unicode_key(objects: ObjectStore, key: str) -> None:
    objects.put(key, b"x")
    assert objects.get(key) == b"x"
    assert keys_of(objects) == [key]
    assert objects.head(key).key == key
    objects.delete(key)
    assert keys_of(objects) == []


@pytest.mark.parametrize("key", BAD_KEYS)
def test_unusable_keys_are_refused_by_every_call(objects: ObjectStore, key: str) -> None:
    for call in (objects.get, objects.get_with_etag, objects.head, objects.delete, objects.open):
        with pytest.raises(ValueError):
            call(key)
    for write in (objects.put, objects.put_if_absent):
        with pytest.raises(ValueError):
            write(key, b"x")
    with pytest.raises(ValueError):
        objects.put_if_match(key, b"x", "etag")


@pytest.mark.parametrize("prefix", ["/", "../", "a//b", "a/../b", "./a"])
def test_unusable_prefixes_are_refused(objects: ObjectStore, prefix: str) -> None:
    with pytest.raises(ValueError):
        list(objects.list(prefix))


@given(st.text(min_size=1, max_size=40))
def test_a_key_is_refused_or_taken_as_it_is(key: str) -> None:
    try:
        assert check_key(key) == key
    except ValueError:
        return
    assert check_prefix(key) == key
    assert not key.startswith("/")
    assert ".." not in key.split("/")


@pytest.mark.parametrize(
    ("start", "length", "expected"),
    [
        (0, None, b"0123456789"),
        (3, None, b"3456789"),
        (3, 4, b"3456"),
        (8, 10, b"89"),
        (10, None, b""),
        (50, 5, b""),
        (2, 0, b""),
    ],
)
def test_ranges(objects: ObjectStore, start: int, length: int | None, expected: bytes) -> None:
    objects.put("k", b"0123456789")
    assert objects.get("k", start=start, length=length) == expected


def test_ranges_of_nothing(objects: ObjectStore) -> None:
    objects.put("empty", b"")
    assert objects.get("empty") == b""
    assert objects.get("empty", start=0, length=5) == b""
    with objects.open("empty") as file:
        assert file.read() == b""
    with pytest.raises(ValueError):
        objects.get("empty", start=-1)
    with pytest.raises(ValueError):
        objects.get("empty", length=-1)


def test_missing_objects(objects: ObjectStore) -> None:
    objects.put("folder/a", b"x")
    for key in ("no", "folder", "folder/a/b"):
        for call in (objects.get, objects.get_with_etag, objects.head, objects.open):
            with pytest.raises(ObjectNotFound) as caught:
                call(key)
            assert caught.value.key == key
        with pytest.raises(ObjectNotFound):
            objects.get(key, length=0)
        objects.delete(key)
    with pytest.raises(ETagMismatch):
        objects.put_if_match("no", b"x", '"0"')
    assert keys_of(objects) == ["folder/a"]


def test_head_and_list_agree(objects: ObjectStore) -> None:
    before = datetime.now(UTC) - timedelta(seconds=2)
    etag = objects.put("a", b"12345")
    head = objects.head("a")
    (listed,) = objects.list("")
    assert (head.size, head.etag) == (listed.size, listed.etag) == (5, etag)
    assert before <= head.modified <= datetime.now(UTC) + timedelta(seconds=1)
    assert abs(listed.modified - head.modified) < timedelta(seconds=1)
    assert head.modified.utcoffset() == listed.modified.utcoffset() == timedelta(0)


def test_put_if_absent_takes_a_key_once(objects: ObjectStore) -> None:
    objects.put_if_absent("k", b"first")
    with pytest.raises(AlreadyExists) as caught:
        objects.put_if_absent("k", b"second")
    assert caught.value.key == "k"
    assert objects.get("k") == b"first"
    objects.delete("k")
    objects.put_if_absent("k", b"third")
    assert objects.get("k") == b"third"


def test_put_if_match_replaces_only_what_was_read(objects: ObjectStore) -> None:
    first = objects.put("k", b"1")
    data, etag = objects.get_with_etag("k")
    assert (data, etag) == (b"1", first)
    second = objects.put_if_match("k", b"2", etag)
    with pytest.raises(ETagMismatch):
        objects.put_if_match("k", b"3", etag)
    assert objects.get_with_etag("k") == (b"2", second)
    objects.delete("k")
    with pytest.raises(ETagMismatch):
        objects.put_if_match("k", b"4", second)
    assert keys_of(objects) == []


def test_list_is_in_key_order_and_by_prefix(objects: ObjectStore) -> None:
    keys = ["a", "b/1", "b-/x", "b.json", "b0", "b/10", "b/2/deep/er", "é/x", "z/🧵", "z/\uffee"]
    for key in keys:
        objects.put(key, b"x")
    ordered = sorted(keys, key=lambda key: key.encode())
    assert keys_of(objects) == ordered
    for prefix in ("b", "b/", "b/1", "b/2/deep", "b/2/deep/", "z", "é", "nothing", "nothing/here", "a/"):
        assert keys_of(objects, prefix) == [key for key in ordered if key.startswith(prefix)]


@SHARED_STORE
@given(
    keys=st.sets(
        st.text("ab-./0é", min_size=1, max_size=6).filter(lambda key: not any(p in ("", ".", "..") for p in key.split("/"))),
        max_size=8,
    ),
    prefix=st.text("ab-/", max_size=3).filter(lambda prefix: "//" not in prefix and not prefix.startswith("/")),
)
def test_any_listing(objects: ObjectStore, keys: set[str], prefix: str) -> None:
    kept = {key for key in keys if not any(other.startswith(key + "/") for other in keys)}
    for key in kept:
        objects.put(key, b"")
    assert keys_of(objects, prefix) == sorted((key for key in kept if key.startswith(prefix)), key=lambda key: key.encode())
    for key in kept:
        objects.delete(key)
    assert keys_of(objects) == []


def test_put_file(objects: ObjectStore, tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.write_bytes(b"z" * 300_000)
    objects.put("f", b"old")
    etag = objects.put_file("f", source)
    assert objects.get_with_etag("f") == (b"z" * 300_000, etag)
    assert source.exists()


def test_open_gives_random_access(objects: ObjectStore) -> None:
    data = bytes(range(256)) * 8192  # 2 MiB: more than a tail and a window of read-ahead
    objects.put("f", data)
    with objects.open("f") as file:
        assert file.size() == len(data)
        for start, length in [(0, 4), (len(data) - 8, 8), (1_000_000, 600_000), (1_000_003, 10), (2_000_000, 10**9), (5, 0)]:
            assert file.read_at(length, start) == data[start : start + length]
        file.seek(700)
        assert file.read(3) == data[700:703]
        assert file.tell() == 703
    with objects.open("f") as file:
        assert file.read() == data


def test_an_open_object_survives_its_deletion_or_says_it_is_gone(objects: ObjectStore) -> None:
    objects.put("f", b"q" * 2_000_000)
    with objects.open("f") as file:
        objects.delete("f")
        try:
            assert file.read_at(10, 0) == b"q" * 10
        except ObjectNotFound as error:
            assert error.key == "f"


def test_pickled_to_another_process(objects: ObjectStore) -> None:
    objects.put("k", b"x")
    copy: Any = pickle.loads(pickle.dumps(objects))
    assert copy.uri == objects.uri
    assert copy.get("k") == b"x"
    assert isinstance(copy.open("k"), pa.NativeFile)


def test_exactly_one_of_racing_processes_wins_each_key(objects: ObjectStore, racers: Any) -> None:
    keys = [f"race/{number:03d}" for number in range(40)]
    won = racers.race("put_if_absent", uri=objects.uri, keys=keys)
    assert sorted(key for mine in won for key in mine) == keys
    for racer, mine in enumerate(won):
        assert all(objects.get(key) == f"racer {racer}".encode() for key in mine)


def test_no_update_is_lost_among_racing_processes(objects: ObjectStore, racers: Any) -> None:
    objects.put("counter", b"0")
    racers.race("count_up", uri=objects.uri, key="counter", times=20)
    assert objects.get("counter") == str(20 * racers.count).encode()


def test_sweep_leaves_objects_alone(objects: ObjectStore) -> None:
    objects.put("k", b"x")
    assert objects.sweep(datetime.now(UTC) + timedelta(days=1)) == 0
    assert objects.get("k") == b"x"
