"""Objects on disk: what killed writers, symbolic links, odd file systems and other programs' files do to them."""

from __future__ import annotations

import errno
import os
import signal
import stat
import subprocess
import sys
import threading
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from operators.errors import AlreadyExists, ETagMismatch, ObjectNotFound, OutcomeUnknown, StoreDenied, StoreError
from operators.store.local import LocalObjects


@pytest.fixture
def local(tmp_path: Path) -> LocalObjects:
    return LocalObjects(tmp_path / "store")


def keys_of(local: LocalObjects, prefix: str = "") -> list[str]:
    return [info.key for info in local.list(prefix)]


def test_reading_makes_no_folder(local: LocalObjects) -> None:
    assert keys_of(local) == []
    with pytest.raises(ObjectNotFound):
        local.get("k")
    assert not local.root.exists()


def test_a_root_of_any_name(tmp_path: Path) -> None:
    local = LocalObjects(tmp_path / "ein Ordner/日本 語")
    local.put("k/ü", b"x")
    assert LocalObjects(str(local.root)).get("k/ü") == b"x"


def test_every_write_has_its_own_etag(local: LocalObjects) -> None:
    etags = [local.put("k", b"same") for _ in range(60)]
    assert len(set(etags)) == 60


def test_nothing_lies_beside_the_objects(local: LocalObjects) -> None:
    local.put("a/b", b"x")
    local.put_if_absent("a/c", b"x")
    with pytest.raises(AlreadyExists):
        local.put_if_absent("a/c", b"x")
    with pytest.raises(ETagMismatch):
        local.put_if_match("a/c", b"x", "wrong")
    files = {path.relative_to(local.root).as_posix() for path in local.root.rglob("*") if path.is_file()}
    assert {name for name in files if not name.startswith(".mnemosaic/locks/")} == {"a/b", "a/c"}


def test_emptied_folders_go_and_free_their_name(local: LocalObjects) -> None:
    local.put("a/b/c", b"x")
    local.delete("a/b/c")
    assert not (local.root / "a").exists()
    (local.root / "a").mkdir()
    local.put("a", b"now an object")
    assert keys_of(local) == ["a"]
    (local.root / "z").mkdir()
    local.put_if_absent("z", b"x")
    assert local.get("z") == b"x"


def test_a_key_cannot_be_object_and_folder(local: LocalObjects) -> None:
    local.put("a", b"x")
    with pytest.raises(StoreError, match="is an object itself"):
        local.put("a/b", b"x")
    local.put("c/d", b"x")
    for write in (local.put, local.put_if_absent):
        with pytest.raises(StoreError, match="it is a folder"):
            write("c", b"x")
    assert keys_of(local) == ["a", "c/d"]


def test_a_writer_killed_at_any_moment_leaves_whole_objects_only(local: LocalObjects) -> None:
    program = (
        "import sys; from operators.store.local import LocalObjects\n"
        "objects = LocalObjects(sys.argv[1]); number = 0\n"
        "while True: number += 1; objects.put('k', bytes([number % 251]) * 3_000_000); objects.put(f'n/{number}', b'done')\n"
    )
    for delay in (0.0, 0.004, 0.011, 0.023):
        writer = subprocess.Popen([sys.executable, "-c", program, str(local.root)])
        while not keys_of(local, "n/"):
            time.sleep(0.005)
        time.sleep(delay)
        writer.send_signal(signal.SIGKILL)
        writer.wait()
        data = local.get("k")
        assert len(data) == 3_000_000
        assert len(set(data)) == 1
        assert all(key == "k" or key.startswith("n/") for key in keys_of(local))
        assert local.put_if_absent(f"after/{delay}", b"x")
        for key in keys_of(local, "n/") + keys_of(local, "after/"):
            local.delete(key)


def test_sweep_removes_what_killed_writers_left(local: LocalObjects) -> None:
    local.put("k", b"x")
    left = local.root / ".mnemosaic/tmp/left"
    left.write_bytes(b"half")
    now = datetime.now(UTC)
    assert local.sweep(now - timedelta(hours=1)) == 0
    assert local.sweep(now + timedelta(hours=1)) == 1
    assert not left.exists()
    assert keys_of(local) == ["k"]


def test_symbolic_links_are_neither_followed_nor_listed(local: LocalObjects, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret").write_bytes(b"secret")
    local.put("a/b", b"x")
    (local.root / "a/link").symlink_to(outside / "secret")
    (local.root / "folder").symlink_to(outside)
    (local.root / "loop").symlink_to(local.root)
    assert keys_of(local) == keys_of(local, "a/") == ["a/b"]
    assert keys_of(local, "folder/") == []
    with pytest.raises(ObjectNotFound):
        local.get("a/link")
    for call in (local.get, local.delete, local.open):
        with pytest.raises(StoreDenied, match="symbolic link"):
            call("folder/secret")
    for write in (local.put, local.put_if_absent):
        with pytest.raises(StoreDenied, match="symbolic link"):
            write("folder/secret", b"y")
    local.put("a/link", b"mine")
    assert (outside / "secret").read_bytes() == b"secret"
    assert local.get("a/link") == b"mine"


def test_a_root_that_is_a_link_is_the_users_choice(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    LocalObjects(tmp_path / "link").put("k", b"x")
    assert LocalObjects(tmp_path / "real").get("k") == b"x"


def test_other_files_do_not_stop_a_listing(local: LocalObjects) -> None:
    local.put("k", b"x")
    os.mkfifo(local.root / "pipe")
    (local.root / "tab\there").write_bytes(b"x")
    with open(os.fsencode(local.root) + b"/bad-\xff", "wb") as file:  # noqa: PTH123
        file.write(b"x")
    with pytest.raises(ObjectNotFound):
        local.get("pipe")
    assert "k" in keys_of(local)
    assert "tab\there" not in keys_of(local)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_no_permission_is_denied(local: LocalObjects) -> None:
    local.put("a/b", b"x")
    local.root.joinpath("a").chmod(0o500)
    try:
        with pytest.raises(StoreDenied):
            local.put("a/c", b"x")
    finally:
        local.root.joinpath("a").chmod(0o700)


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EIO, errno.EACCES])
def test_a_failing_disk_is_a_typed_error_and_leaves_nothing(local: LocalObjects, code: int, monkeypatch: Any) -> None:
    local.put("k", b"old")

    def fail(*_: Any) -> None:
        raise OSError(code, os.strerror(code))

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", fail)
        with pytest.raises(StoreDenied if code == errno.EACCES else StoreError) as caught:
            local.put("k", b"new")
    assert os.strerror(code) in str(caught.value)
    assert local.get("k") == b"old"
    assert list((local.root / ".mnemosaic/tmp").iterdir()) == []


def test_a_disk_that_fails_once_the_object_is_in_place_leaves_the_outcome_unknown(
    local: LocalObjects, monkeypatch: Any
) -> None:
    local.put("a/old", b"x")
    sync = os.fsync

    def fail_for_folders(descriptor: int) -> None:
        if stat.S_ISDIR(os.fstat(descriptor).st_mode):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        sync(descriptor)

    monkeypatch.setattr(os, "fsync", fail_for_folders)
    for write in (local.put, local.put_if_absent):
        key = f"a/{write.__name__}"
        with pytest.raises(OutcomeUnknown, match="may not survive a power cut") as caught:
            write(key, b"x")
        assert caught.value.key == key
        assert local.get(key) == b"x"
    assert list((local.root / ".mnemosaic/tmp").iterdir()) == []


@pytest.mark.parametrize("hours", [-5, 5])
def test_objects_bear_the_time_of_their_file_system_not_of_the_writers_clock(
    local: LocalObjects, monkeypatch: Any, hours: int
) -> None:
    real = time.time_ns
    before = datetime.now(UTC)
    monkeypatch.setattr(time, "time_ns", lambda: real() + hours * 3_600_000_000_000)
    etags = [local.put("k", b"same") for _ in range(30)]
    assert abs(local.head("k").modified - before) < timedelta(minutes=1)
    assert len(set(etags)) == 30


def test_without_hard_links_a_key_is_still_taken_once(local: LocalObjects, monkeypatch: Any) -> None:
    def no_links(*_: Any) -> None:
        raise OSError(errno.EPERM, "no hard links here")

    monkeypatch.setattr(Path, "hardlink_to", no_links)
    won: list[int] = []

    def race(number: int) -> None:
        for key in range(30):
            try:
                local.put_if_absent(f"k/{key}", str(number).encode())
            except AlreadyExists:
                continue
            won.append(key)

    threads = [threading.Thread(target=race, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(won) == list(range(30))


def test_threads_lose_no_update(local: LocalObjects) -> None:
    local.put("n", b"0")

    def count() -> None:
        done = 0
        while done < 25:
            data, etag = local.get_with_etag("n")
            try:
                local.put_if_match("n", str(int(data) + 1).encode(), etag)
                done += 1
            except ETagMismatch:
                continue

    threads = [threading.Thread(target=count) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert local.get("n") == b"100"


def test_folders_that_come_and_go_under_racing_writers(local: LocalObjects, racers: Any) -> None:
    assert racers.race("churn", uri=local.uri, folder="deep/er", times=40) == [40] * racers.count
    assert len(keys_of(local)) == 40 * racers.count
    assert keys_of(local, "deep/er/") == []
