"""Printing: stored text cannot drive the terminal, JSON stays JSON, tables stay whole on a pipe."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobs.cli.output import cell, moment, one_line, print_facts, print_json, print_table, printable, told_time

DRIVING = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


@pytest.mark.parametrize(
    ("stored", "shown"),
    [
        ("plain", "plain"),
        ("two\nlines\tand a tab", "two\nlines\tand a tab"),
        ("dos\r\nlines", "dos\nlines"),
        ("\x1b[2J\x1b]0;title\x07", "\\x1b[2J\\x1b]0;title\\x07"),
        ("over\rwritten", "over\\x0dwritten"),
        ("\x9b31m", "\\x9b31m"),
        ("abc\u202ecba", "abc\\u202ecba"),
        ("犬 é 👩‍👩‍👧", "犬 é 👩‍👩‍👧"),
    ],
)
def test_printable(stored: str, shown: str) -> None:
    assert printable(stored) == shown


@given(st.text())
def test_nothing_printable_drives_a_terminal(text: str) -> None:
    assert not DRIVING.search(printable(text))
    assert not DRIVING.search(one_line(text, 40))
    assert "\n" not in one_line(text, 40)


@given(st.text(alphabet=st.characters(exclude_categories=["Cs"])))
def test_json_round_trips_and_is_safe(text: str) -> None:
    import contextlib
    import io

    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        print_json({"text": text})
    assert json.loads(out.getvalue()) == {"text": text}
    assert not DRIVING.search(out.getvalue())


def test_json_times_are_iso(capsys: pytest.CaptureFixture[str]) -> None:
    print_json({"at": datetime(2026, 1, 2, 3, 4, tzinfo=UTC)})
    assert json.loads(capsys.readouterr().out) == {"at": "2026-01-02T03:04:00Z"}


def test_one_line_marks_its_cut() -> None:
    assert one_line("a  b\n c", 10) == "a b c"
    assert one_line("abcdefghij", 5) == "abcd…"


def test_cells() -> None:
    assert [cell(value) for value in (1234567, None, "x\x1b\ny", 0.03251)] == ["1,234,567", "-", "x\\x1b\\ny", "0.03251"]
    assert moment(datetime(2026, 1, 2, 3, 4, tzinfo=UTC)) == "2026-01-02 03:04"
    assert moment(None) is None


@pytest.mark.parametrize(
    ("offset", "precision", "shown"),
    [
        (None, "second", "2026-01-02 23:04 UTC"),
        (0, "second", "2026-01-02 23:04 +00:00"),
        (540, "minute", "2026-01-03 08:04 +09:00"),
        (-210, "second", "2026-01-02 19:34 -03:30"),
        (540, "day", "2026-01-03"),
    ],
)
def test_times_are_shown_on_the_writers_clock(offset: int | None, precision: str, shown: str) -> None:
    time = datetime(2026, 1, 2, 23, 4, tzinfo=UTC)
    assert told_time({"time": time, "time_offset_minutes": offset, "time_precision": precision}) == shown


def test_an_unknown_time_is_said_to_be_unknown() -> None:
    assert told_time({"time": None, "time_offset_minutes": None, "time_precision": "unknown"}) == "time unknown"


def test_a_table_on_a_pipe_is_aligned_and_never_cut(capsys: pytest.CaptureFixture[str]) -> None:
    long = "x" * 300
    print_table(("user", "rounds"), [("ada", 7), (long, 12345), ("[bold]bo[/bold]", None)])
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 4
    assert long in lines[2]
    assert "[bold]bo[/bold]" in lines[3]
    assert len({len(line.rstrip()) for line in lines}) == 1, "numbers stand to the right"
    assert "\x1b" not in "".join(lines)


def test_facts_are_aligned(capsys: pytest.CaptureFixture[str]) -> None:
    print_facts([("version", "3"), ("content_digest", "ab"), ("rounds", 1200)])
    assert capsys.readouterr().out.splitlines() == ["version         3", "content_digest  ab", "rounds          1,200"]
