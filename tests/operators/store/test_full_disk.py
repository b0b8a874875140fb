"""A disk without room: writes stop clearly, leave nothing behind and commit nothing; with room again they go on."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

WRITER = Path(__file__).with_name("full_disk.py")
LIMIT = 100_000


def on_tmpfs(tmp_path: Path, task: str) -> dict[str, Any]:
    """What the task says of a store on a file system of 256 KiB, of which it is the only user."""
    (tmp_path / "disk").mkdir()
    command = 'mount -t tmpfs -o size=256k tmpfs "$1" && exec "$2" "$3" "$4" "$1"'
    program = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", command, "sh"]
    done = subprocess.run(
        [*program, str(tmp_path / "disk"), sys.executable, str(WRITER), task], capture_output=True, text=True, timeout=120
    )
    if "unshare:" in done.stderr or "mount:" in done.stderr:
        pytest.skip(f"no file system may be mounted here: {done.stderr.strip()}")
    assert done.returncode == 0, done.stderr
    return dict(json.loads(done.stdout))


def with_small_files(tmp_path: Path, task: str) -> dict[str, Any]:
    """What the task says of a store in which no file may become larger than ``LIMIT`` bytes."""
    done = subprocess.run(
        [sys.executable, str(WRITER), task, str(tmp_path / "store")],
        capture_output=True,
        text=True,
        timeout=120,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (LIMIT, LIMIT)),
    )
    assert done.returncode == 0, done.stderr
    return dict(json.loads(done.stdout))


@pytest.fixture(params=[on_tmpfs, with_small_files])
def cramped(request: pytest.FixtureRequest) -> Any:
    """Runs a task of ``full_disk.py`` where there is little room."""
    return request.param


def test_each_kind_of_write_stops_clearly_and_leaves_nothing(cramped: Any, tmp_path: Path) -> None:
    said = cramped(tmp_path, "writes")
    assert set(said) == {"put", "put_file", "put_if_absent", "put_if_match"}
    for kind, found in said.items():
        assert found["error"] == "StoreError", kind
        assert "nothing was written" in found["message"]
        assert found["disk"] in found["message"]
        assert (found["kept"], found["left"], found["keys"]) == ("old", [], ["k"])
    words = {found["message"].split(": ", 1)[1] for found in said.values()}
    if cramped is on_tmpfs:
        assert all("is full" in word and "Make room" in word and "gc" in word for word in words)
    else:
        assert all("File too large" in word for word in words)


def test_a_commit_without_room_commits_nothing_and_succeeds_later(cramped: Any, tmp_path: Path) -> None:
    said = cramped(tmp_path, "publish")
    assert said["refused"] == "StoreError"
    assert "nothing was written" in said["message"]
    assert (said["versions_then"], said["left_then"]) == ([1], [])
    assert said["versions_later"] == [1, 2]


def test_gc_makes_room_on_a_full_disk(tmp_path: Path) -> None:
    said = on_tmpfs(tmp_path, "gc")
    assert said["full"] == "StoreError"
    assert (said["kept"], said["removed"]) == ([2], [1])
    assert said["written"] is True


def test_a_scratch_disk_without_room_is_told_apart(tmp_path: Path) -> None:
    said = on_tmpfs(tmp_path, "scratch")
    assert said["error"] == "StoreError"
    assert "set TMPDIR" in said["message"]
    assert (said["left"], said["keys"]) == ([], ["k"])
