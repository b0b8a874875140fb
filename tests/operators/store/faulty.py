"""An S3 server with faults: it stands between a client and a real S3 server and says what becomes of each request."""

from __future__ import annotations

import contextlib
import http.client
import re
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from email.utils import format_datetime, parsedate_to_datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

Script = Callable[[str, str], str]
Headers = list[tuple[str, str]]

STALL_SECONDS = 1.0
"""How long a stalled answer is silent; clients that are to notice must wait for less."""

SLOW_PIECES = 8


def passing(method: str, path: str) -> str:  # noqa: ARG001
    """The script of a server without faults."""
    return "pass"


@dataclass
class FaultyServer:
    """``script(method, path)`` says what becomes of each request:

    ``pass``
    ``lose``       carried out, the answer lost
    ``drop``       lost before it arrived
    ``reset``      the connection is reset before it is carried out
    ``land``       carried out, then the connection is reset
    ``late``       the connection breaks at once, the request is carried out 0.4 s later
    ``cut N``      carried out; the answer breaks off after N bytes of the body that its header promises
    ``stall N``    carried out; after N bytes of the body nothing comes for ``STALL_SECONDS``, then the connection closes
    ``slow``       carried out; the body comes whole, in ``SLOW_PIECES`` pieces with 0.05 s between them
    ``503 SlowDown`` and the like: answered so, not carried out.

    ``rewrite`` changes the path and query that the S3 server sees, ``reshape(method, path, body)`` the body that the
    client sees. ``skew`` is what the server's clock is ahead of ours: it moves all times that the client sees.
    """

    upstream: str
    script: Script = passing
    rewrite: Callable[[str], str] = str
    reshape: Callable[[str, str, bytes], bytes] = lambda method, path, body: body  # noqa: ARG005
    skew: timedelta = timedelta(0)
    seen: list[tuple[str, str]] = field(default_factory=list)
    sent: int = 0

    def once(self, method: str, action: str) -> None:
        """The next request of this method meets ``action``, all others pass."""
        self.times(method, action, 1)

    def times(self, method: str, action: str, count: int, part: str = "") -> None:
        """The next ``count`` requests of this method whose path holds ``part`` meet ``action``, all others pass."""
        left = [action] * count
        self.script = lambda verb, path: left.pop() if verb == method and part in path and left else "pass"

    def after(self, method: str, count: int, action: str) -> None:
        """Requests of this method meet ``action`` once ``count`` of them have passed."""
        passed: list[str] = []

        def script(verb: str, path: str) -> str:
            if verb != method:
                return "pass"
            if len(passed) >= count:
                return action
            passed.append(path)
            return "pass"

        self.script = script

    def hide(self, part: str) -> None:
        """Listings lack the keys that hold ``part``, as those of a store that is only eventually consistent may."""
        entry = re.compile(rb"<Contents>(?:(?!</Contents>).)*</Contents>", re.DOTALL)

        def reshape(method: str, path: str, body: bytes) -> bytes:
            if method != "GET" or "list-type=2" not in path:
                return body
            return entry.sub(lambda found: b"" if part.encode() in found[0] else found[0], body)

        self.reshape = reshape

    def count(self, method: str) -> int:
        """Requests of this method so far."""
        return sum(verb == method for verb, _ in self.seen)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    faulty: FaultyServer

    def _serve(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.faulty.seen.append((self.command, self.path))
        action, _, detail = self.faulty.script(self.command, self.path).partition(" ")
        self.close_connection = True
        if action.isdigit():
            self._refuse(int(action), detail)
        elif action == "late":
            threading.Timer(0.4, self._carry_out, [body]).start()
        elif action == "reset":
            self._reset()
        elif action != "drop":
            self._pass_on(action, int(detail or 0), body)

    do_GET = do_PUT = do_HEAD = do_DELETE = do_POST = _serve  # noqa: N815

    def _pass_on(self, action: str, count: int, body: bytes) -> None:
        answer = self._carry_out(body)
        if action == "land":
            self._reset()
        elif action != "lose":
            with contextlib.suppress(BrokenPipeError, ConnectionResetError):  # the client had enough
                self._answer(*answer, send=lambda data: self._send(action, count, data))

    def _send(self, action: str, count: int, data: bytes) -> None:
        if action == "slow":
            length = -(-len(data) // SLOW_PIECES) or 1
            for start in range(0, len(data), length):
                self._write(data[start : start + length])
                time.sleep(0.05)
            return
        self._write(data[:count] if action in ("cut", "stall") else data)
        if action == "stall":
            time.sleep(STALL_SECONDS)

    def _write(self, data: bytes) -> None:
        self.wfile.write(data)
        self.wfile.flush()
        self.faulty.sent += len(data)

    def _refuse(self, status: int, code: str) -> None:
        self._answer(status, [], f"<Error><Code>{code}</Code><Message>no</Message></Error>".encode(), send=self._write)

    def _reset(self) -> None:
        """Close so that the client sees a reset, not an end."""
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.connection.shutdown(socket.SHUT_RD)
        self.connection.close()

    def finish(self) -> None:
        with contextlib.suppress(OSError):  # after a reset there is nothing to flush to
            super().finish()

    def _carry_out(self, body: bytes) -> tuple[int, Headers, bytes]:
        connection = http.client.HTTPConnection(self.faulty.upstream.removeprefix("http://"), timeout=20)
        headers = {name: value for name, value in self.headers.items() if name.lower() not in ("expect", "connection")}
        connection.request(self.command, self.faulty.rewrite(self.path), body or None, headers)
        answer = connection.getresponse()
        data = self.faulty.reshape(self.command, self.path, answer.read())
        return answer.status, self._told(answer.getheaders()), _moved(data, self.faulty.skew)

    def _told(self, headers: Headers) -> Headers:
        skew = self.faulty.skew
        timed = ("date", "last-modified")
        return [(name, _http_time(value, skew) if skew and name.lower() in timed else value) for name, value in headers]

    def _answer(self, status: int, headers: Headers, body: bytes, send: Callable[[bytes], None]) -> None:
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
            send(body)


def _http_time(value: str, skew: timedelta) -> str:
    return format_datetime(parsedate_to_datetime(value) + skew, usegmt=True)


def _moved(body: bytes, skew: timedelta) -> bytes:
    """An XML answer with its times moved; other bodies hold no such tags."""
    if not skew:
        return body

    def moved(found: re.Match[bytes]) -> bytes:
        time_ = datetime.fromisoformat(found[2].decode().replace("Z", "+00:00")) + skew
        return found[1] + time_.strftime("%Y-%m-%dT%H:%M:%S.000Z").encode() + found[3]

    return re.sub(rb"(<(?:LastModified|Initiated)>)([^<]+)(</)", moved, body)


@contextlib.contextmanager
def faulty_server(upstream: str) -> Iterator[tuple[FaultyServer, str]]:
    """A faulty server in front of ``upstream``, and its URL; it ends with the block."""
    state = FaultyServer(upstream)
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (_Handler,), {"faulty": state}))
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield state, f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
