"""The same again adds nothing, growth adds the growth, a change replaces; and the digest is of the content alone."""

from __future__ import annotations

import copy
import random
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from operators.memory import open_store


def _frame(store: Path, user: str) -> pl.DataFrame:
    return open_store(str(store)).memory("default").rounds(user)


def _said(store: Path, user: str) -> list[str]:
    return [messages[0]["text"] for messages in _frame(store, user)["messages"].to_list()]


# --- one store through its life -----------------------------------------------------------------------------------


@dataclass
class Life:
    """A store after each of four backfills: first, the same again, grown, changed."""

    store: Path
    runs: dict[str, Any] = field(default_factory=dict)
    states: dict[str, dict[str, Any]] = field(default_factory=dict)
    said: dict[str, list[str]] = field(default_factory=dict)
    ended: dict[str, datetime] = field(default_factory=dict)


GROWING = [(f"The tortoise{n} walk", f"Walk {n} logged") for n in range(1, 4)]


@pytest.fixture(scope="module")
def life(cli: Any, make: Any, tmp_path_factory: pytest.TempPathFactory) -> Life:
    root = tmp_path_factory.mktemp("life")
    life = Life(root / "store")
    source = root / "src" / "h.jsonl"
    still = make.session("still", "S1", [("The metronome1 ticks", "Steadily")])
    changed = [*GROWING[:1], ("The tortoise2 nap", "Walk 2 logged"), *GROWING[2:]]
    stages = {"first": GROWING[:2], "again": GROWING[:2], "grown": GROWING, "changed": changed}
    for name, exchanges in stages.items():
        make.jsonl(source, [make.session("tess", "S1", exchanges), still])
        life.runs[name] = cli.backfill(source, store=life.store)
        life.states[name] = cli.status(life.store)
        life.said[name] = _said(life.store, "tess")
        life.ended[name] = datetime.now(UTC)
    return life


def test_the_same_source_again_adds_nothing(life: Life, reads: Any) -> None:
    first, again = life.states["first"], life.states["again"]
    assert again["content_digest"] == first["content_digest"]
    assert (again["rounds"], again["units"]) == (first["rounds"], first["units"]) == (3, 6)
    assert life.said["again"] == ["The tortoise1 walk", "The tortoise2 walk"]
    assert reads.number(life.runs["again"], "already") > 0, str(life.runs["again"])
    assert reads.number(life.runs["again"], "encoded") == 0, str(life.runs["again"])


def test_a_grown_session_adds_only_its_new_rounds(life: Life, reads: Any) -> None:
    grown = life.states["grown"]
    assert (grown["sessions"], grown["rounds"], grown["units"]) == (2, 4, 8)
    assert life.said["grown"] == ["The tortoise1 walk", "The tortoise2 walk", "The tortoise3 walk"]
    assert reads.number(life.runs["grown"], "encoded") == 2, str(life.runs["grown"])
    assert grown["content_digest"] != life.states["first"]["content_digest"]
    assert grown["version"] > life.states["again"]["version"]


def test_a_changed_text_replaces_the_old_one_and_is_told(life: Life, reads: Any) -> None:
    changed = life.states["changed"]
    assert (changed["sessions"], changed["rounds"], changed["units"]) == (2, 4, 8)
    assert life.said["changed"] == ["The tortoise1 walk", "The tortoise2 nap", "The tortoise3 walk"]
    assert reads.number(life.runs["changed"], "replaced", "changed") == 1, str(life.runs["changed"])
    assert changed["content_digest"] != life.states["grown"]["content_digest"]


def test_ids_and_order_stay_as_a_history_grows(life: Life) -> None:
    frame = _frame(life.store, "tess")
    assert frame["round_id"].to_list() == ["S1:1", "S1:2", "S1:3"]
    assert frame["order"].to_list() == sorted(set(frame["order"].to_list()))


def test_as_of_a_version_reads_the_old_state(life: Life, cli: Any, reads: Any) -> None:
    words = ("search", "tortoise2", "--user", "tess", "--store", life.store)
    old = reads.text(cli.read(*words, "--as-of", str(life.states["first"]["version"])))
    assert "tortoise2 walk" in old
    assert "tortoise2 nap" not in old
    assert "tortoise3" not in old
    new = reads.text(cli.read(*words))
    assert "tortoise2 nap" in new
    assert "tortoise2 walk" not in new


def test_as_of_a_time_reads_what_was_published_then(life: Life, cli: Any, reads: Any) -> None:
    words = ("search", "tortoise2", "--user", "tess", "--store", life.store, "--as-of")
    then = reads.text(cli.read(*words, life.ended["grown"].isoformat()))
    assert "tortoise2 walk" in then
    assert "tortoise3" in then
    assert "tortoise2 nap" not in then


@pytest.mark.parametrize("moment", ["999", "2001-01-01T00:00:00Z", "yesterday-ish", "-1"])
def test_as_of_what_never_was_is_an_error(life: Life, cli: Any, moment: str) -> None:
    done = cli.run("search", "tortoise2", "--user", "tess", "--store", life.store, f"--as-of={moment}")
    assert done.code != 0, str(done)
    assert "Traceback" not in done.text
    assert moment.split("T")[0] in done.err
    assert "tortoise" not in done.out


def test_gc_leaves_the_store_whole(life: Life, cli: Any, reads: Any) -> None:
    before = cli.status(life.store)
    cli.read("gc", "--store", life.store)
    assert cli.status(life.store) == before
    assert "tortoise2 nap" in reads.text(cli.read("search", "tortoise2", "--user", "tess", "--store", life.store))


# --- the digest ---------------------------------------------------------------------------------------------------


def test_digest_is_blind_to_names_order_splitting_and_layout(
    cli: Any, make: Any, sample: Any, sample_store: Path, tmp_path: Path
) -> None:
    """Other names, other order of lines, three files and a double for one, other buckets and splits: the same digest."""
    sessions = [copy.deepcopy(session) for session in sample.sessions]
    random.Random(7).shuffle(sessions)
    folder = tmp_path / "elsewhere"
    for number in (1, 2, 3):
        make.picture(folder / "images" / f"p{number}.png", number)
    make.jsonl(folder / "z.jsonl.gz", sessions[:2])
    make.jsonl(folder / "a.jsonl", sessions[2:3])
    make.jsonl(folder / "m.jsonl", sessions[3:])
    make.jsonl(folder / "m again.jsonl", sessions[3:])
    config = make.config(
        tmp_path / "other.yaml",
        {"store.buckets": 11, "sources.split_bytes": 300, "sources.fragment_rounds": 2, "encoder.block_units": 3},
    )
    cli.backfill(folder, store=tmp_path / "store", config=config)
    status = cli.status(tmp_path / "store")
    assert {name: status[name] for name in sample.counts} == sample.counts, "a file twice in one run counts once"
    assert status["content_digest"] == cli.digest(sample_store)


def test_digest_differs_when_one_message_differs(
    cli: Any, make: Any, sample: Any, sample_store: Path, tmp_path: Path
) -> None:
    sessions = copy.deepcopy(list(sample.sessions))
    assert sessions[4]["messages"][-1]["content"] == "Recipe 3 filed"
    sessions[4]["messages"][-1]["content"] = "Recipe 3 filed."
    folder = tmp_path / "changed"
    for number in (1, 2, 3):
        make.picture(folder / "images" / f"p{number}.png", number)
    make.jsonl(folder / "histories.jsonl", sessions)
    cli.backfill(folder, store=tmp_path / "store")
    status = cli.status(tmp_path / "store")
    assert {name: status[name] for name in sample.counts} == sample.counts
    assert status["content_digest"] != cli.digest(sample_store)


def test_a_store_grown_in_steps_equals_one_built_at_once(
    cli: Any, make: Any, sample: Any, sample_store: Path, tmp_path: Path
) -> None:
    """Later sessions first, then a shorter session, then all: order and digest come out as from one run."""
    folder = tmp_path / "src"
    for number in (1, 2, 3):
        make.picture(folder / "images" / f"p{number}.png", number)
    short = copy.deepcopy(sample.sessions[0])
    short["messages"] = short["messages"][:4]
    make.jsonl(folder / "h.jsonl", [sample.sessions[4], sample.sessions[2], short])
    cli.backfill(folder, store=tmp_path / "store")
    cli.backfill(sample.folder, store=tmp_path / "store")
    assert cli.digest(tmp_path / "store") == cli.digest(sample_store)
    assert _frame(tmp_path / "store", "ada")["order"].to_list() == _frame(sample_store, "ada")["order"].to_list()
