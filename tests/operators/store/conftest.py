"""Object stores for the tests: a folder, a real S3 server on loopback, one whose answers get lost, and racing processes."""

from __future__ import annotations

import contextlib
import http.client
import json
import logging
import os
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import boto3
import pytest
from moto.server import DomainDispatcherApplication, create_backend_app
from werkzeug.serving import make_server

from operators.store.local import LocalObjects
from operators.store.objects import ObjectStore
from operators.store.s3 import S3Objects

BUCKET = "mnemosaic-tests"

_ENVIRONMENT = {
    "AWS_ACCESS_KEY_ID": "test",
    "AWS_SECRET_ACCESS_KEY": "test",
    "AWS_REGION": "us-east-1",
    "AWS_DEFAULT_REGION": "us-east-1",
    "AWS_EC2_METADATA_DISABLED": "true",
    "AWS_CONFIG_FILE": os.devnull,
    "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
    "NO_PROXY": "127.0.0.1,localhost",
    "no_proxy": "127.0.0.1,localhost",
}


def _one_at_a_time(app: Callable[..., Any]) -> Callable[..., Any]:
    """S3 judges a condition and writes in one step; moto does so in two, so its requests must not overlap."""
    lock = threading.Lock()

    def serve(environ: dict[str, Any], start_response: Callable[..., Any]) -> Any:
        with lock:
            return app(environ, start_response)

    return serve


@pytest.fixture(scope="session")
def s3_server() -> Iterator[str]:
    """A moto server on a free loopback port with the bucket ``mnemosaic-tests``; yields its URL, to which AWS_* point."""
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server = make_server("127.0.0.1", 0, _one_at_a_time(DomainDispatcherApplication(create_backend_app)), threaded=True)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    url = f"http://127.0.0.1:{server.server_port}"
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("AWS_PROFILE", raising=False)
        for name, value in {**_ENVIRONMENT, "AWS_ENDPOINT_URL": url}.items():
            patch.setenv(name, value)
        boto3.session.Session().client("s3").create_bucket(Bucket=BUCKET)
        yield url
    server.shutdown()
    thread.join()


@pytest.fixture
def s3_uri(s3_server: str) -> str:  # noqa: ARG001  (it must run)
    """A prefix of its own on the S3 server."""
    return f"s3://{BUCKET}/{uuid.uuid4().hex}/store"


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


# --- a server whose answers get lost --------------------------------------------------------------------------------

Script = Callable[[str, str], str]


def _pass(method: str, path: str) -> str:  # noqa: ARG001
    return "pass"


@dataclass
class LossyServer:
    """Stands between a client and the S3 server. ``script(method, path)`` says what becomes of each request:

    ``pass``; ``lose`` (carried out, the answer lost), ``drop`` (lost before it arrived), ``late`` (the connection breaks at
    once, the request is carried out 0.4 s later), or ``503 SlowDown``: answered so, not carried out. ``rewrite`` changes
    the path and query that the S3 server sees.
    """

    upstream: str
    script: Script = _pass
    rewrite: Callable[[str], str] = str
    seen: list[tuple[str, str]] = field(default_factory=list)
    sent: int = 0

    def once(self, method: str, action: str) -> None:
        """The next request of this method meets ``action``, all others pass."""
        left = [action]
        self.script = lambda verb, _: left.pop() if verb == method and left else "pass"

    def count(self, method: str) -> int:
        return sum(verb == method for verb, _ in self.seen)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    lossy: LossyServer

    def _serve(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.lossy.seen.append((self.command, self.path))
        action = self.lossy.script(self.command, self.path)
        self.close_connection = True
        if action == "pass":
            self._answer(*self._carry_out(body))
        elif action == "lose":
            self._carry_out(body)
        elif action == "late":
            threading.Timer(0.4, self._carry_out, [body]).start()
        elif action != "drop":
            status, code = action.split()
            self._answer(int(status), [], f"<Error><Code>{code}</Code><Message>no</Message></Error>".encode())

    do_GET = do_PUT = do_HEAD = do_DELETE = do_POST = _serve  # noqa: N815

    def _carry_out(self, body: bytes) -> tuple[int, list[tuple[str, str]], bytes]:
        connection = http.client.HTTPConnection(self.lossy.upstream.removeprefix("http://"), timeout=20)
        headers = {name: value for name, value in self.headers.items() if name.lower() not in ("expect", "connection")}
        connection.request(self.command, self.lossy.rewrite(self.path), body or None, headers)
        answer = connection.getresponse()
        return answer.status, answer.getheaders(), answer.read()

    def _answer(self, status: int, headers: list[tuple[str, str]], body: bytes) -> None:
        self.send_response_only(status)
        for name, value in headers:
            if name.lower() not in ("connection", "transfer-encoding", "content-length"):
                self.send_header(name, value)
        told = {name.lower(): value for name, value in headers}
        length = told.get("content-length", "0") if self.command == "HEAD" else len(body)
        self.send_header("Content-Length", str(length))
        self.send_header("Connection", "close")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)
            self.lossy.sent += len(body)


@pytest.fixture
def lossy(s3_server: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[LossyServer]:
    """A lossy server in front of the S3 server; clients made during the test go through it."""
    state = LossyServer(s3_server)
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (_Handler,), {"lossy": state}))
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{server.server_port}")
    yield state
    server.shutdown()
    server.server_close()
    thread.join()


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
