"""A process that races others: reads a task a line from stdin, does it at the moment named, says what came of it."""

from __future__ import annotations

import json
import sys
import time
import uuid
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import operators.store.s3  # noqa: F401  (imported here, not while the race is on)
from operators.errors import AlreadyExists, CommitConflict, ETagMismatch
from operators.store.commit import pin, publish
from operators.store.local import LocalObjects
from operators.store.opening import open_objects


def put_if_absent(uri: str, racer: int, keys: list[str]) -> list[str]:
    """The keys that this racer won."""
    objects, won = open_objects(uri), []
    for key in keys:
        try:
            objects.put_if_absent(key, f"racer {racer}".encode())
        except AlreadyExists:
            continue
        won.append(key)
    return won


def count_up(uri: str, racer: int, key: str, times: int) -> int:  # noqa: ARG001
    """Adds ``times`` to the counter under ``key``, one by one; how often it lost."""
    objects, lost, done = open_objects(uri), 0, 0
    while done < times:
        data, etag = objects.get_with_etag(key)
        try:
            objects.put_if_match(key, str(int(data) + 1).encode(), etag)
            done += 1
        except ETagMismatch:
            lost += 1
    return lost


def commit(uri: str, racer: int, times: int) -> list[int]:
    """Publishes ``times`` snapshots, each counting one up for this racer on top of its parent; their versions."""
    objects, landed = open_objects(uri), []
    while len(landed) < times:
        base = pin(objects)
        following = replace(
            base,
            version=base.version + 1,
            parent=base.version,
            commit_id=uuid.uuid4().hex,
            run_id=f"racer-{racer}",
            committed_at=datetime.now(UTC),
            changes={**base.changes, str(racer): base.changes.get(str(racer), 0) + 1},
        )
        try:
            publish(objects, following)
            landed.append(following.version)
        except CommitConflict as conflict:
            assert conflict.found > conflict.expected
    return landed


def churn(uri: str, racer: int, folder: str, times: int) -> int:
    """Writes and deletes keys of one folder, so that others see it come and go; how many it wrote."""
    objects = LocalObjects(Path(uri))
    for number in range(times):
        objects.put(f"{folder}/{racer}", b"x")
        assert objects.get(f"{folder}/{racer}") == b"x"
        objects.delete(f"{folder}/{racer}")
        objects.put(f"{folder}-kept/{racer}-{number}", b"y")
    return times


_TASKS: dict[str, Callable[..., Any]] = {task.__name__: task for task in (put_if_absent, count_up, commit, churn)}


def main() -> None:
    print("ready", flush=True)
    for line in sys.stdin:
        arguments = json.loads(line)
        task, at = _TASKS[arguments.pop("task")], arguments.pop("at")
        time.sleep(max(0.0, at - time.time()))
        print(json.dumps(task(**arguments)), flush=True)


if __name__ == "__main__":
    main()
