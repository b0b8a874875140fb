"""Search results for people: runs of rounds, the best first, stored text made harmless."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from jobs.cli.main import main
from jobs.cli.search import print_runs, runs_of


def round_row(order: int, score: float | None, text: str = "hello") -> dict[str, Any]:
    return {
        "order": order,
        "score": score,
        "session_id": f"S{order // 10}",
        "round_id": f"S{order // 10}:{order}",
        "time": datetime(2026, 1, 2, 3, order, tzinfo=UTC),
        "time_offset_minutes": 60,
        "time_precision": "second",
        "messages": [
            {"role": "user", "speaker": "user", "text": text},
            {"role": "assistant", "speaker": "assistant", "text": "noted"},
        ],
        "images": [{"message": 0, "reference": "a.png", "caption": "a cat", "media": "ab"}],
    }


def test_rounds_that_follow_each_other_are_one_run() -> None:
    rows = [round_row(order, None) for order in (5, 1, 2, 9, 4)]
    assert [[row["order"] for row in run] for run in runs_of(rows)] == [[1, 2], [4, 5], [9]]
    assert list(runs_of([])) == []


def test_the_run_with_the_best_score_comes_first(capsys: pytest.CaptureFixture[str]) -> None:
    print_runs([round_row(1, 0.01), round_row(2, None), round_row(21, None), round_row(22, 0.03)])
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "1. S2"
    assert "2. S0" in lines
    assert " * 2026-01-02 04:22 +01:00  S2:22  score 0.0300" in lines
    assert "   2026-01-02 04:21 +01:00  S2:21" in lines
    assert "     user       hello" in lines
    assert "                [picture a.png: a cat]" in lines


def test_stored_text_cannot_drive_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    print_runs([round_row(1, 0.5, "\x1b[2Jgone\r\nsecond line")])
    out = capsys.readouterr().out
    assert "\x1b" not in out
    assert "\\x1b[2Jgone second line" in out


def test_a_missing_user_is_refused_before_the_store_is_touched(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["search", "anything", "--store", "/nowhere/at/all"]) == 2
    captured = capsys.readouterr()
    assert captured.err == "error: a read needs a user: pass --user (user= in Python)\n"
    assert captured.out == ""
