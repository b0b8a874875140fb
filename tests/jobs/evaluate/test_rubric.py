"""The judge: a rubric with its places filled, scores that are rounded to its levels, and none that is made up."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobs.evaluate.rubric import Judge, filled, nearest, read_rubric
from operators.ask.model.chat import Chat, Meter
from operators.ask.model.endpoint import Endpoint
from operators.errors import ModelError, UsageError

RUBRIC = 'Q: {question} A: {answer} R: {reference} Reply {"score": 0 or 1}.'


class Server:
    """Answers every request with the same text; keeps what it was asked."""

    def __init__(self, content: str) -> None:
        self.asked: list[dict[str, Any]] = []
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                server.asked.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
                message = {"role": "assistant", "content": content}
                body = json.dumps({"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}).encode()
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: Any) -> None:
                """Not to stderr."""

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.http.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.http.server_address[1]}/v1"

    def judge(self, *levels: float) -> Judge:
        return Judge(Chat(Endpoint(self.url, "judge", timeout_s=20.0, attempts=1)), RUBRIC, Meter(), levels)


@pytest.fixture
def servers() -> Iterator[list[Server]]:
    started: list[Server] = []
    yield started
    for one in started:
        one.http.shutdown()
        one.http.server_close()


def test_what_stands_in_a_place_is_not_filled_again() -> None:
    found = filled(RUBRIC, "{answer}?", "{reference}", "7")
    assert found == 'Q: {answer}? A: {reference} R: 7 Reply {"score": 0 or 1}.'


def test_a_rubric_names_all_three_places(tmp_path: Path) -> None:
    path = tmp_path / "rubric.txt"
    path.write_text("{question} {answer}")
    with pytest.raises(UsageError, match=r"lacks \{reference\}"):
        read_rubric(path)
    with pytest.raises(UsageError, match="cannot be read"):
        read_rubric(tmp_path / "none.txt")
    path.write_text(RUBRIC)
    assert read_rubric(path) == RUBRIC


@pytest.mark.parametrize(("score", "level"), [(0.0, 0.0), (0.2, 0.0), (0.25, 0.5), (0.7, 0.5), (0.75, 1.0), (1.0, 1.0)])
def test_levels_of_mem_gallery(score: float, level: float) -> None:
    assert nearest(score, (0.0, 0.5, 1.0)) == level


@given(score=st.floats(0, 1), levels=st.lists(st.floats(0, 1), min_size=1, max_size=5))
def test_no_level_is_nearer(score: float, levels: list[float]) -> None:
    found = nearest(score, levels)
    assert found in levels
    assert abs(found - score) <= min(abs(level - score) for level in levels) + 1e-8
    assert nearest(score, ()) == score


def test_the_model_is_given_the_rubric_and_scores(servers: list[Server]) -> None:
    server = Server('{"reason": "close", "score": 0.75}')
    servers.append(server)
    assert server.judge().score("how many days?", "seven", "7") == 0.75
    assert server.judge(0.0, 0.5, 1.0).score("how many days?", "seven", "7") == 1.0
    (_, user), _ = server.asked[0]["messages"], server.asked[0]
    assert user["content"] == 'Q: how many days? A: seven R: 7 Reply {"score": 0 or 1}.'


@pytest.mark.parametrize("content", ['{"reason": "?", "score": 4}', '{"score": true, "reason": ""}', "yes", "{}"])
def test_what_is_no_score_is_none(servers: list[Server], content: str) -> None:
    server = Server(content)
    servers.append(server)
    with pytest.raises(ModelError):
        server.judge().score("how many days?", "seven", "7")
