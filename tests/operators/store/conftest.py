"""Object stores for the tests: a folder, a real S3 server on loopback, one with faults, and racing processes."""

from __future__ import annotations

import contextlib
import importlib.util
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from operators.store.local import LocalObjects
from operators.store.objects import ObjectStore
from operators.store.s3 import S3Objects

for _name in ("faulty", "growing"):  # helpers beside this file, which its tests import by name
    _spec = importlib.util.spec_from_file_location(_name, Path(__file__).with_name(f"{_name}.py"))
    assert _spec is not None and _spec.loader is not None
    sys.modules[_name] = importlib.util.module_from_spec(_spec)
    _spec.loader.exec_module(sys.modules[_name])


@pytest.fixture(params=["local", "s3"])
def objects(request: pytest.FixtureRequest, tmp_path: Path) -> ObjectStore:
    """An empty object store: a folder, and a prefix on the S3 server."""
    if request.param == "local":
        return LocalObjects(tmp_path / "store")
    return S3Objects(request.getfixturevalue("s3_uri"))


@pytest.fixture
def direct(s3_uri: str) -> S3Objects:
    """A store on the S3 server with one object, ``ready``; it stays with that server, whatever AWS_ENDPOINT_URL becomes."""
    objects = S3Objects(s3_uri)
    objects.put("ready", b"x")
    return objects


# --- a server with faults -------------------------------------------------------------------------------------------


@pytest.fixture
def lossy(s3_server: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """A ``faulty.FaultyServer`` in front of the S3 server; clients made during the test go through it."""
    with sys.modules["faulty"].faulty_server(s3_server) as (state, url):
        monkeypatch.setenv("AWS_ENDPOINT_URL", url)
        yield state


@pytest.fixture
def through(direct: S3Objects, lossy: Any, monkeypatch: pytest.MonkeyPatch) -> S3Objects:  # noqa: ARG001
    """The store of ``direct`` through the faulty server, with short pauses and little patience."""
    monkeypatch.setattr("operators.store.s3._FIRST_PAUSE", 0.02)
    return S3Objects(direct.uri, tries=3, connect_timeout=1, read_timeout=2)


# --- racing processes -----------------------------------------------------------------------------------------------


class Racers:
    """Processes of their own that do the same thing at the same moment (see ``racer.py``)."""

    def __init__(self, count: int) -> None:
        program = [sys.executable, str(Path(__file__).with_name("racer.py"))]
        self._running = [
            subprocess.Popen(program, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) for _ in range(count)
        ]
        self.count = count
        for process in self._running:
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"

    def race(self, task: str, **arguments: Any) -> list[Any]:
        """What each of them says of ``task(racer=its number, **arguments)``."""
        at = time.time() + 0.1
        for number, process in enumerate(self._running):
            assert process.stdin is not None
            process.stdin.write(json.dumps({"task": task, "at": at, "racer": number, **arguments}) + "\n")
            process.stdin.flush()
        return [json.loads(process.stdout.readline()) for process in self._running if process.stdout is not None]

    def stop(self) -> None:
        for process in self._running:
            assert process.stdin is not None
            process.stdin.close()
            process.wait(timeout=20)


@pytest.fixture(scope="session")
def racers(s3_server: str) -> Iterator[Racers]:  # noqa: ARG001  (they inherit its environment)
    """Five processes to race with."""
    running = Racers(5)
    yield running
    running.stop()


# --- a clock and a crash of our own ---------------------------------------------------------------------------------

EPOCH = datetime(2001, 1, 1, tzinfo=UTC)


class Crash(Exception):
    """The process ends here."""


class ClockedObjects(LocalObjects):
    """A folder in which it is the hour that we say, and which crashes after ``deletes_left`` deletes where that is set."""

    crash = Crash

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        self.now = EPOCH
        self.deletes_left: int | None = None

    @contextlib.contextmanager
    def at(self, hours: float) -> Iterator[None]:
        """What is written meanwhile bears this hour: it is told from the rest by today's real date."""
        self.now = EPOCH + timedelta(hours=hours)
        yield
        for path in self.root.rglob("*"):
            if path.is_file() and path.stat().st_mtime > EPOCH.timestamp() + 10**8:
                os.utime(path, (self.now.timestamp(), self.now.timestamp()))

    def delete(self, key: str) -> None:
        if self.deletes_left is not None:
            if self.deletes_left == 0:
                raise Crash
            self.deletes_left -= 1
        super().delete(key)


@pytest.fixture(scope="session")
def clocked_objects() -> type[ClockedObjects]:
    """Makes object stores whose time is the test's own."""
    return ClockedObjects
