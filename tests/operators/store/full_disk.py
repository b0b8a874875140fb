"""What writers meet where there is no room. ``test_full_disk.py`` runs it with a task and a folder, on a disk of its own."""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa

from operators.errors import StoreError
from operators.store.commit import create_store, pin, publish, versions
from operators.store.local import LocalObjects
from operators.store.manifest import BucketFiles, Counts, DataFile, Snapshot, StoreSpec
from operators.store.retain import collect_garbage
from operators.store.tables import write_table

BIG = b"x" * 400_000
SPEC = StoreSpec(buckets=4, encoder={"m": 1})


def disk_of(path: Path) -> str:
    while not os.path.ismount(path):
        path = path.parent
    return str(path)


def left(objects: LocalObjects) -> list[str]:
    """Working files that a write left behind."""
    return sorted(path.name for path in (objects.root / ".mnemosaic/tmp").iterdir())


def keys(objects: LocalObjects) -> list[str]:
    return [info.key for info in objects.list("")]


def refused(act: Callable[[], object]) -> tuple[str, str]:
    try:
        act()
    except StoreError as error:
        return type(error).__name__, str(error)
    return "nothing", ""


def writes(objects: LocalObjects) -> dict[str, Any]:
    etag = objects.put("k", b"old")
    said = {}
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        acts: dict[str, Callable[[], object]] = {
            "put": lambda: objects.put("k", BIG),
            "put_file": lambda: objects.put_file("k", _large_source(Path(folder) / "pipe")),
            "put_if_absent": lambda: objects.put_if_absent("new/key", BIG),
            "put_if_match": lambda: objects.put_if_match("k", BIG, etag),
        }
        for kind, act in acts.items():
            error, message = refused(act)
            said[kind] = {
                "error": error,
                "message": message,
                "disk": disk_of(objects.root),
                "kept": objects.get("k").decode(),
                "left": left(objects),
                "keys": keys(objects),
            }
    return said


def _large_source(pipe: Path) -> Path:
    """More than this process may write to a file, as a pipe that a child fills."""
    os.mkfifo(pipe)
    if os.fork() == 0:
        try:
            with pipe.open("wb") as out:
                out.write(BIG)
        finally:
            os._exit(0)
    return pipe


def snapshot_of(base: Snapshot, files: int, commit_id: str) -> Snapshot:
    """A following version with that many files, about 240 bytes of manifest each."""
    named = {f"dataset-{number}": DataFile(f"runs/r/{number}", 1, "ab" * 32, 1) for number in range(files)}
    bucket = BucketFiles("rev", named, Counts(), "0")
    return replace(
        base,
        version=base.version + 1,
        parent=base.version,
        commit_id=commit_id,
        committed_at=datetime.now(UTC),
        buckets={0: bucket},
    )


def publish_task(objects: LocalObjects) -> dict[str, Any]:
    create_store(objects, SPEC)
    publish(objects, snapshot_of(pin(objects), 1, "first"))
    second = snapshot_of(pin(objects), 2000, "second")
    error, message = refused(lambda: publish(objects, second))
    then, left_then = versions(objects), left(objects)
    publish(objects, replace(second, buckets={}))
    return {
        "refused": error,
        "message": message,
        "versions_then": then,
        "left_then": left_then,
        "versions_later": versions(objects),
    }


def gc_task(objects: LocalObjects) -> dict[str, Any]:
    create_store(objects, SPEC)
    publish(objects, replace(snapshot_of(pin(objects), 0, "first"), buckets={}))
    publish(objects, replace(snapshot_of(pin(objects), 0, "second"), buckets={}))
    full = ""
    for number in range(1000):
        full, _ = refused(lambda number=number: objects.put(f"runs/old/{number}", bytes(4096)))  # type: ignore[misc]
        if full == "StoreError":
            break
    later = datetime.now(UTC) + timedelta(days=2)
    report = collect_garbage(objects, keep=1, grace=timedelta(hours=1), now=later)
    objects.put("k", bytes(40_000))
    return {
        "full": full,
        "kept": list(report.kept_versions),
        "removed": list(report.versions_removed),
        "written": len(objects.get("k")) == 40_000,
    }


def scratch_task(objects: LocalObjects) -> dict[str, Any]:
    """The store has room, the disk on which tables are prepared has none."""
    roomy = LocalObjects(tempfile.mkdtemp(dir="/dev/shm"))
    roomy.put("k", b"x")
    objects.root.mkdir(parents=True)
    tempfile.tempdir = str(objects.root)
    schema = pa.schema([pa.field("noise", pa.binary(), nullable=False)])
    table = pa.table({"noise": pa.array([os.urandom(20_000_000)], pa.binary())}, schema)
    error, message = refused(lambda: write_table(roomy, "t", table, schema))
    said = {"error": error, "message": message, "keys": keys(roomy), "left": sorted(map(str, objects.root.iterdir()))}
    roomy.delete("k")
    for path in sorted(roomy.root.rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()
    roomy.root.rmdir()
    return said


TASKS = {"writes": writes, "publish": publish_task, "gc": gc_task, "scratch": scratch_task}

if __name__ == "__main__":
    print(json.dumps(TASKS[sys.argv[1]](LocalObjects(Path(sys.argv[2]) / "store"))))
