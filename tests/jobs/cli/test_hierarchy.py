"""Topics and timelines for people: counted, dated, made harmless; what cannot be asked is refused."""

from __future__ import annotations

from datetime import UTC, date, datetime
from typing import Any

import pytest

from jobs.cli.hierarchy import _print_episode, _print_located
from jobs.cli.main import main
from operators.hierarchy.find import Located
from operators.hierarchy.nodes import Node, RoundRef


def node(level: str = "event", children: tuple[Node, ...] = (), **more: Any) -> Node:
    told: dict[str, Any] = {
        "level": level, "node": f"{level}/S/r1", "parent": None, "name": "cat", "description": "The cat.\x1b[2J",
        "rounds": (RoundRef("S", "r1", 0),), "pictures": 1, "first_time": datetime(2026, 1, 2, tzinfo=UTC),
        "last_time": None, "first_day": date(2026, 1, 2), "last_day": date(2026, 1, 2), "children": children,
    }  # fmt: skip
    return Node(**{**told, **more})


def test_an_episode_is_a_line_and_what_tells_it(capsys: pytest.CaptureFixture[str]) -> None:
    _print_episode(node("episode", last_day=date(2026, 1, 3), pictures=2), events=False)
    _print_episode(node("episode", (node(), node()), first_day=None, name=""), events=True)
    assert capsys.readouterr().out.splitlines() == [
        "2026-01-02 to 2026-01-03  cat  (1 round, 2 pictures)",
        "    The cat.\\x1b[2J",
        "time unknown  (1 round, 1 picture)",
        "    r1  The cat.\\x1b[2J",
        "    r1  The cat.\\x1b[2J",
    ]


def test_an_interval_says_how_it_is_known(capsys: pytest.CaptureFixture[str]) -> None:
    moment = datetime(2026, 1, 1, 9, tzinfo=UTC)
    days = (date(2026, 1, 1), date(2026, 1, 1))
    rounds = (RoundRef("S", "r1", 0), RoundRef("S", "r2", 1))
    _print_located(Located(0.75, moment, moment, *days, "day", True, rounds, node(), node("episode")))
    _print_located(Located(0.5, None, None, None, None, "unknown", False, rounds[:1], node(), node("episode")))
    out = capsys.readouterr().out
    assert "2026-01-01 by its words  confidence 0.75\n    from 2026-01-01T09:00:00Z to 2026-01-01T09:00:00Z" in out
    assert "    in r1, r2\n" in out and "time unknown  confidence 0.50\n    in r1\n" in out
    assert "\x1b" not in out


@pytest.mark.parametrize("command", [["topics"], ["timeline"], ["locate", "the hospital"]])
def test_a_missing_user_is_refused_before_the_store_is_touched(
    capsys: pytest.CaptureFixture[str], command: list[str]
) -> None:
    assert main([*command, "--store", "/nowhere/at/all"]) == 2
    assert capsys.readouterr().err == "error: a read needs a user: pass --user (user= in Python)\n"


@pytest.mark.parametrize("option", ["--from", "--to"])
def test_a_day_that_is_none_is_refused(capsys: pytest.CaptureFixture[str], option: str) -> None:
    assert main(["timeline", "--user", "u", "--store", "/nowhere", option, "last May"]) == 2
    assert f"{option} 'last May' is no day such as 2026-01-14" in capsys.readouterr().err
