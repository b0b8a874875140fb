"""Topics, timelines and intervals through the command line: of one user alone, and the same whether appended or built."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Any

import pytest

from operators.errors import ScopeError, UsageError
from operators.memory import open_store


def ask(cli: Any, store: Path, command: str, user: str, *more: str) -> Any:
    return cli.read(command, "--user", user, "--store", store, *more)


def test_topics_hold_episodes_and_these_all_rounds(cli: Any, sample_store: Path) -> None:
    topics = ask(cli, sample_store, "topics", "ada")["topics"]
    assert topics == sorted(topics, key=lambda topic: -len(topic["rounds"]))
    told = [ref["order"] for topic in topics for episode in topic["children"] for ref in episode["rounds"]]
    assert sorted(told) == list(range(10))
    assert sum(topic["pictures"] for topic in topics) == 2
    shown = cli.ok("topics", "--user", "ada", "--store", sample_store).out
    assert "lighthouse" in shown and "saxophone" in shown and "walrus" not in shown


def test_a_timeline_follows_the_days(cli: Any, sample_store: Path) -> None:
    whole = ask(cli, sample_store, "timeline", "ada", "--level", "event")["episodes"]
    events = [event for episode in whole for event in episode["children"]]
    assert [event["rounds"][0]["order"] for event in events] == list(range(10))
    assert [event["first_day"] for event in events] == ["2024-03-01"] * 5 + ["2024-03-05"] * 4 + ["2024-04-02"]
    march = ask(cli, sample_store, "timeline", "ada", "--from", "2024-03-05", "--to", "2024-03-31")["episodes"]
    assert {episode["first_day"] for episode in march} == {"2024-03-05"} and "children" not in march[0]
    assert cli.run("timeline", "--user", "ada", "--store", sample_store, "--from", "2025-01-01").err.startswith(
        "no episodes"
    )


def test_an_event_is_located_and_an_unknown_one_is_not(cli: Any, sample_store: Path) -> None:
    found = ask(cli, sample_store, "locate", "ada", "--k", "2", "the saxophone3 lesson")["found"]
    assert found[0]["first_day"] == "2024-03-05" and found[0]["rounds"][0]["order"] == 7
    nothing = cli.run("locate", "the moon landing", "--user", "ada", "--store", sample_store)
    assert nothing.code == 0 and nothing.out == "" and "tells of this" in nothing.err


@pytest.mark.parametrize("command", ["topics", "timeline"])
def test_nobody_sees_what_is_not_theirs(cli: Any, sample_store: Path, command: str) -> None:
    assert "lighthouse" not in str(ask(cli, sample_store, command, "bo"))
    (empty,) = ask(cli, sample_store, command, "nobody").values()
    assert empty == []
    (empty,) = ask(cli, sample_store, command, "ada", "--tenant", "other").values()
    assert empty == []


def test_the_same_from_python(sample_store: Path) -> None:
    memory = open_store(str(sample_store)).memory("default")
    assert [len(each.rounds) for each in memory.timeline("ada", date(2024, 4, 1))] == [1]
    match = memory.semantic_match("ada", "the saxophone3 lesson", levels=["event"], k=1)[0]
    assert match.node.rounds[0].order == 7
    located = memory.event_locate("ada", "giraffe1")[0]
    assert located.first_day == date(2024, 4, 2) and located.event.rounds[0].order == 9
    assert memory.topics("nobody") == memory.event_locate("nobody", "x") == memory.semantic_match("nobody", "x") == []
    with pytest.raises(ScopeError):
        memory.topics("")
    with pytest.raises(ScopeError):
        memory.event_locate(" ", "x")
    with pytest.raises(UsageError, match="has no days"):
        memory.timeline("ada", date(2024, 4, 1), date(2024, 3, 1))
    with pytest.raises(UsageError, match="blank"):
        memory.semantic_match("ada", "")


def test_an_append_is_the_same_as_a_rebuild(cli: Any, make: Any, tmp_path: Path) -> None:
    first = make.session("cy", "S1", [(f"The cat{n} sleeps", "Sweet") for n in range(3)], "2024-01-02")
    later = make.session("cy", "S2", [(f"The cat{n} at the vet", "Oh") for n in range(3)], "2024-01-09")
    late = make.session("cy", "S0", [("Looking for a cat", "Try the shelter")], "2024-01-01")
    for number, sessions in enumerate(([first], [first, later], [late, first, later])):
        make.jsonl(tmp_path / "src" / "cy.jsonl", sessions)
        cli.backfill(tmp_path / "src", store=tmp_path / "grown")
        assert len(ask(cli, tmp_path / "grown", "timeline", "cy")["episodes"]) >= number + 1
    cli.backfill(tmp_path / "src", store=tmp_path / "built")
    for command in ("topics", "timeline"):
        assert ask(cli, tmp_path / "grown", command, "cy") == ask(cli, tmp_path / "built", command, "cy")
    assert cli.ok("verify", "--store", tmp_path / "grown").code == 0
