"""A scripted OpenAI-compatible server, and small tables, rounds and tools that questions are asked of."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from operators.ask.context import Context, ShownColumn, ShownEpisode, ShownTable
from operators.ask.model.chat import Chat
from operators.ask.model.endpoint import Endpoint
from operators.ask.outcomes import (
    Cell,
    Citation,
    Computation,
    Interval,
    Intervals,
    Outcome,
    Passage,
    Passages,
    Record,
    Said,
    Shown,
)
from operators.ask.question import Question
from operators.ask.steps import Plan, Step, Taken, ToolName, Trace
from operators.errors import ToolError

KEY = "sk-secret-0001"

# --- the server -----------------------------------------------------------------------------------------------------

Reply = Callable[[BaseHTTPRequestHandler], None]


class Server:
    """Answers each request with the next reply of ``replies``, the last one again and again; keeps what it was asked."""

    def __init__(self) -> None:
        self.replies: list[Reply] = []
        self.bodies: list[dict[str, Any]] = []
        self.headers: list[Mapping[str, str]] = []
        self.stopped = threading.Event()
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                server.bodies.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
                server.headers.append({name.lower(): value for name, value in self.headers.items()})
                reply = server.replies.pop(0) if len(server.replies) > 1 else server.replies[0]
                try:
                    reply(self)
                except (BrokenPipeError, ConnectionResetError):
                    self.close_connection = True

            def log_message(self, *_: Any) -> None:
                """Not to stderr."""

        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._http.daemon_threads = True
        self._thread = threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        self._thread.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._http.server_address[1]}/v1"

    def chat(self, **changed: Any) -> Chat:
        """A model behind this server; tries are few and short."""
        return Chat(Endpoint(self.url, "tiny", **{"key": KEY, "timeout_s": 20.0, "attempts": 2, **changed}))

    def prompts(self) -> list[str]:
        """What the user's message of each request said."""
        return [str(body["messages"][1]["content"]) for body in self.bodies]

    def close(self) -> None:
        self.stopped.set()
        self._http.shutdown()
        self._http.server_close()
        self._thread.join(5)


def send(status: int, body: str, content_type: str = "application/json", **headers: str) -> Reply:
    """A reply as it is on the wire."""

    def reply(handler: BaseHTTPRequestHandler) -> None:
        data = body.encode()
        handler.send_response(status)
        handler.send_header("Content-Type", content_type)
        handler.send_header("Content-Length", str(len(data)))
        for name, value in headers.items():
            handler.send_header(name.replace("_", "-"), value)
        handler.end_headers()
        handler.wfile.write(data)

    return reply


def says(content: Any, finish: str = "stop", refusal: str | None = None, **headers: str) -> Reply:
    """A completion; what is no text is written as JSON."""
    text = content if isinstance(content, str) or content is None else json.dumps(content)
    message = {"role": "assistant", "content": text, "refusal": refusal}
    choice = {"index": 0, "finish_reason": finish, "message": message}
    usage = {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110}
    body = {"id": "1", "object": "chat.completion", "created": 1, "model": "tiny", "choices": [choice], "usage": usage}
    return send(200, json.dumps(body), **headers)


def fails(status: int, message: str = "no", code: str | None = None, param: str | None = None, **headers: str) -> Reply:
    """An error as OpenAI has them."""
    error = {"message": message, "type": "error", "code": code, "param": param}
    return send(status, json.dumps({"error": error}), **headers)


def hangs(server: Server) -> Reply:
    """Nothing is ever sent."""
    return lambda _: (server.stopped.wait(30), None)[1]


def drips(server: Server) -> Reply:
    """A body that comes byte by byte, each within any time-out of a single read."""

    def reply(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        handler.send_header("Content-Type", "application/json")
        handler.send_header("Content-Length", "100000")
        handler.end_headers()
        while not server.stopped.wait(0.1):
            handler.wfile.write(b" ")

    return reply


def drops(handler: BaseHTTPRequestHandler) -> None:
    """The connection ends in the middle of the body."""
    handler.send_response(200)
    handler.send_header("Content-Length", "1000")
    handler.end_headers()
    handler.wfile.write(b'{"id"')
    handler.wfile.flush()
    handler.connection.shutdown(socket.SHUT_RDWR)
    handler.close_connection = True


# --- what is asked --------------------------------------------------------------------------------------------------

NOW = datetime(2026, 4, 10, 21, 0, tzinfo=UTC)
ACTIVITY = ShownTable(
    "activity",
    "60 records of sleep, steps",
    (
        ShownColumn("sleep", "duration", "s", (), ("7h 5m", "6h 40m"), filled=60),
        ShownColumn("steps", "number", "steps", (), ("10,544",), filled=60),
    ),
    60,
    date(2026, 2, 1),
    date(2026, 4, 10),
    60,
)
EPISODE = ShownEpisode("e1", "cat", "The new cat is called Pixel.", 4, date(2026, 3, 1), date(2026, 3, 2))
CONTEXT = Context(
    (ACTIVITY,), (EPISODE,), ("lookup", "filter", "compute", "rank", "semantic_match", "event_locate"), (0.9, 0.4)
)


def question(text: str, **changed: Any) -> Question:
    return Question(text, NOW, **changed)


def passage(order: int, *said: str, score: float | None = 1.0, pictures: tuple[Shown, ...] = (), **changed: Any) -> Passage:
    messages = tuple(Said(("Mira", "assistant")[at % 2], text) for at, text in enumerate(said))
    place = {"session_id": "s1", "round_id": f"r{order}", "order": order, "day": date(2026, 3, 1), "time": None}
    return Passage(**{"level": "round", "score": score, "messages": messages, "pictures": pictures, **place, **changed})


def passages(*found: Passage, around: tuple[Passage, ...] = ()) -> Passages:
    return Passages("q", "text_to_text", found, around)


def record(order: int, value: float) -> Record:
    at = Citation("s1", f"r{order}", order, "span", 0, 0, 5, table="activity", record=0, column="sleep", text="7h")
    cells = {"sleep": Cell(value, None, "7h", at)}
    return Record("s1", f"r{order}", order, 0, date(2026, 3, order), None, cells)


def average(value: float | None = 25_500.0, n: int = 3, **changed: Any) -> Computation:
    records = tuple(record(order, 25_500.0) for order in range(1, n + 1))
    told = {"column": "sleep", "unit": "s", "value": value, "n": n, "by": None, "groups": (), "records": records}
    return Computation("activity", **{"operation": "avg", **told, **changed})


def located() -> Intervals:
    place = Citation("s1", "r4", 4, day=date(2026, 3, 4), role="event")
    return Intervals("wrist", (Interval(0.9, date(2026, 3, 4), date(2026, 3, 4), True, "The wrist broke.", (place,)),))


def taken(tool: ToolName, outcome: Outcome | None, goal: str = "find it", **arguments: Any) -> Taken:
    return Taken(Step(goal, tool), arguments, outcome, None if outcome else "nothing", (), 1)


def trace(*steps: Taken) -> Trace:
    return Trace(CONTEXT, Plan(tuple(each.step for each in steps)), steps, "model")


class FakeTools:
    """Gives what it is told to, by tool; keeps each call. ``refuses``: how many calls are turned away first."""

    def __init__(self, found: Mapping[str, Outcome], refuses: int = 0) -> None:
        self.found, self.refuses = found, refuses
        self.calls: list[tuple[str, Mapping[str, Any]]] = []

    def run(self, tool: ToolName, arguments: Mapping[str, Any], units: int) -> tuple[Outcome, int]:  # noqa: ARG002
        self.calls.append((tool, arguments))
        if self.refuses:
            self.refuses -= 1
            raise ToolError("there is no column 'rest'; columns: sleep, steps")
        return self.found[tool], 1


PLAN = {"steps": [{"goal": "average sleep", "tool": "compute"}]}
COMPUTE = {
    "table": "activity",
    "where": [],
    "operation": "avg",
    "column": "sleep",
    "by": None,
    "unit": None,
    "compare": None,
}


def answered(answer: str, evidence: list[str], **changed: Any) -> dict[str, Any]:
    """An answer as the schema has it."""
    told = {"evidence": evidence, "status": "answered", "answer": answer, "kind": "text", "number": None, "dates": []}
    return {**told, "unit": None, **changed}
