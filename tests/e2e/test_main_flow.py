"""Histories in, a snapshot out, rounds found: the journey a newcomer makes, and what every read refuses."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from operators.errors import ScopeError
from operators.memory import open_store

STATUS_KEYS = {"version", "users", "sessions", "rounds", "units", "pictures", "quarantined", "content_digest"}


# --- what was built -----------------------------------------------------------------------------------------------


def test_backfill_ends_with_a_summary(sample_run: tuple[Path, Any], reads: Any) -> None:
    done = sample_run[1]
    seen = {name: reads.number(done, name) for name in ("users", "sessions", "rounds", "units", "pictures", "quarantined")}
    assert seen == {"users": 2, "sessions": 5, "rounds": 17, "units": 37, "pictures": 3, "quarantined": 0}, str(done)
    assert reads.number(done, "version") == 1
    for word in ("already", "rounds/s", "second"):
        assert word in done.text.lower(), f"{word} is not in the summary\n{done}"


def test_output_that_is_no_terminal_is_plain_lines(sample_run: tuple[Path, Any]) -> None:
    assert "\x1b[" not in sample_run[1].text
    assert "\r" not in sample_run[1].text


def test_status_has_the_promised_keys_and_exact_counts(cli: Any, sample: Any, sample_store: Path) -> None:
    status = cli.status(sample_store)
    assert set(status) >= STATUS_KEYS
    assert {name: status[name] for name in sample.counts} == sample.counts
    assert status["version"] == 1
    assert isinstance(status["content_digest"], str)
    assert len(status["content_digest"]) >= 16


def test_plain_status_tells_the_same(cli: Any, sample: Any, sample_store: Path) -> None:
    done = cli.ok("status", "--store", sample_store)
    for name, count in sample.counts.items():
        assert name in done.out.lower(), name
        assert str(count) in done.out, name


def test_users_lists_each_user_once(cli: Any, reads: Any, sample_store: Path) -> None:
    assert sorted(reads.users(cli.read("users", "--store", sample_store))) == ["ada", "bo"]
    plain = cli.ok("users", "--store", sample_store)
    assert "ada" in plain.out
    assert "bo" in plain.out


def test_users_says_how_much_each_holds(cli: Any, reads: Any, sample_store: Path) -> None:
    rows = {row.get("user_id", row.get("user")): row for row in reads.rows(cli.read("users", "--store", sample_store))}
    assert (rows["ada"]["sessions"], rows["ada"]["rounds"]) == (3, 10)
    assert (rows["bo"]["sessions"], rows["bo"]["rounds"]) == (2, 7)


def test_show_a_user_gives_the_sessions(cli: Any, reads: Any, sample_store: Path) -> None:
    answer = reads.text(cli.read("show", "ada", "--store", sample_store))
    for session in ("S1", "S2", "S3"):
        assert f'"{session}"' in answer
    assert "walrus" not in answer


def test_show_a_session_gives_its_rounds_in_order(cli: Any, reads: Any, sample_store: Path) -> None:
    answer = cli.read("show", "ada", "S2", "--store", sample_store)
    assert reads.ids(answer) == [("S2", f"S2:{n}") for n in range(1, 5)]
    assert [record["messages"][0]["text"] for record in reads.rounds(answer)] == [
        f"The saxophone{n} lesson" for n in range(1, 5)
    ]
    plain = cli.ok("show", "ada", "S2", "--store", sample_store).out
    assert plain.index("saxophone1") < plain.index("saxophone4")
    assert "lighthouse" not in plain


def test_pictures_are_kept_byte_for_byte_under_their_hash(sample: Any, sample_store: Path, cli: Any, reads: Any) -> None:
    record = reads.rounds(cli.read("show", "ada", "S3", "--store", sample_store))[0]
    (picture,) = record["images"]
    kept = sample_store / "media" / "sha256" / picture["media"][:2] / picture["media"]
    assert kept.read_bytes() == (sample.folder / "images" / "p2.png").read_bytes()


# --- search -------------------------------------------------------------------------------------------------------


def test_search_finds_the_round_and_scores_it(cli: Any, reads: Any, sample_store: Path) -> None:
    answer = cli.read("search", "saxophone3", "--user", "ada", "--store", sample_store)
    hits = reads.hits(answer)
    best = max(hits, key=lambda record: record["score"])
    assert (best["session_id"], best["round_id"]) == ("S2", "S2:3")
    assert len(hits) <= 12


def test_search_gives_the_neighbours_which_do_not_count(cli: Any, reads: Any, sample_store: Path) -> None:
    answer = cli.read("search", "saxophone3", "--user", "ada", "--store", sample_store, "--k", "1")
    assert len(reads.hits(answer)) == 1
    assert reads.ids(answer) == [("S2", "S2:2"), ("S2", "S2:3"), ("S2", "S2:4")]


def test_search_prints_rounds_for_people(cli: Any, sample_store: Path) -> None:
    done = cli.ok("search", "giraffe1", "--user", "ada", "--store", sample_store)
    assert "Look at this giraffe1" in done.out
    assert "S3" in done.out


def test_search_is_repeatable(cli: Any, sample_store: Path) -> None:
    words = ("search", "lesson kept", "--user", "ada", "--store", sample_store)
    assert cli.read(*words) == cli.read(*words)


# --- scope --------------------------------------------------------------------------------------------------------


def test_search_without_a_user_is_refused(cli: Any, sample_store: Path) -> None:
    done = cli.run("search", "saxophone3", "--store", sample_store)
    assert done.code == 2, str(done)
    assert "--user" in done.err
    assert "saxophone" not in done.out


@pytest.mark.parametrize(
    "scope",
    [("--user", ""), ("--user", "   "), ("--user", "ada", "--tenant", ""), ("--user", "ada", "--tenant", "  ")],
    ids=["no user", "blank user", "no tenant", "blank tenant"],
)
def test_a_blank_scope_is_refused(cli: Any, sample_store: Path, scope: tuple[str, ...]) -> None:
    done = cli.run("search", "saxophone3", *scope, "--store", sample_store)
    assert done.code == 2, str(done)
    assert "saxophone3 lesson" not in done.text


@pytest.mark.parametrize("command", [("users",), ("show", "ada")], ids=["users", "show"])
def test_a_blank_tenant_is_refused_by_listings(cli: Any, sample_store: Path, command: tuple[str, ...]) -> None:
    done = cli.run(*command, "--tenant", " ", "--store", sample_store)
    assert done.code == 2, str(done)
    assert "ada" not in done.out


@pytest.mark.parametrize(
    "scope",
    [("--user", "nobody"), ("--user", "ada", "--tenant", "other"), ("--user", "ad"), ("--user", "ADA"), ("--user", "ada ")],
    ids=["unknown", "other tenant", "prefix", "case", "trailing space"],
)
def test_an_unknown_user_is_an_empty_result(cli: Any, reads: Any, sample_store: Path, scope: tuple[str, ...]) -> None:
    answer = cli.read("search", "saxophone3", *scope, "--store", sample_store)
    assert reads.rounds(answer) == []
    assert "lesson" not in reads.text(answer)


def test_a_user_never_sees_another_users_rounds(cli: Any, reads: Any, sample_store: Path) -> None:
    answer = cli.read("search", "saxophone3 lesson", "--user", "bo", "--store", sample_store, "--k", "50")
    assert len(reads.rounds(answer)) <= 7
    assert "saxophone1" not in reads.text(answer)
    assert "Lesson" not in reads.text(answer)
    assert reads.rounds(cli.read("show", "bo", "S3", "--store", sample_store)) == []


def test_tenants_share_a_store_without_seeing_each_other(
    cli: Any, reads: Any, make: Any, sample: Any, tmp_path: Path
) -> None:
    store = tmp_path / "store"
    here = make.jsonl(tmp_path / "a.jsonl", [make.session("ada", "S1", [("The marzipan1 cake", "Baked")])])
    there = make.jsonl(tmp_path / "b.jsonl", [make.session("ada", "S9", [("The gondola1 trip", "Booked")])])
    cli.backfill(here, store=store, more=["--tenant", "left"])
    cli.backfill(there, sample.folder, store=store, more=["--tenant", "right"])
    assert reads.users(cli.read("users", "--store", store, "--tenant", "left")) == ["ada"]
    assert sorted(reads.users(cli.read("users", "--store", store, "--tenant", "right"))) == ["ada", "bo"]
    assert reads.users(cli.read("users", "--store", store)) == []
    left = reads.text(cli.read("search", "gondola1", "--user", "ada", "--tenant", "left", "--store", store))
    assert "gondola1 trip" not in left
    assert "marzipan1 cake" in left
    assert reads.ids(cli.read("show", "ada", "S9", "--tenant", "right", "--store", store)) == [("S9", "S9:1")]
    assert reads.rounds(cli.read("show", "ada", "S9", "--tenant", "left", "--store", store)) == []


# --- the Python door ----------------------------------------------------------------------------------------------


def test_python_reads_rounds_as_a_polars_frame(sample_store: Path) -> None:
    frame = open_store(str(sample_store)).memory("default").rounds("ada")
    assert isinstance(frame, pl.DataFrame)
    assert frame["order"].to_list() == sorted(frame["order"].to_list())
    assert frame["session_id"].to_list() == ["S1"] * 5 + ["S2"] * 4 + ["S3"]
    assert frame["messages"][5][0]["text"] == "The saxophone1 lesson"
    assert set(frame["user_id"]) == {"ada"}
    assert frame["time"].is_null().sum() == 0


def test_python_gives_an_empty_frame_for_who_is_not_there(sample_store: Path) -> None:
    store = open_store(str(sample_store))
    here = store.memory("default").rounds("ada")
    for tenant, user in (("default", "nobody"), ("other", "ada")):
        frame = store.memory(tenant).rounds(user)
        assert frame.height == 0
        assert frame.schema == here.schema


@pytest.mark.parametrize(("tenant", "user"), [("", "ada"), (" ", "ada"), (None, "ada"), ("default", ""), ("default", None)])
def test_python_fails_closed(sample_store: Path, tenant: Any, user: Any) -> None:
    with pytest.raises(ScopeError):
        open_store(str(sample_store)).memory(tenant).rounds(user)
    with pytest.raises(ScopeError):
        open_store(str(sample_store)).memory(tenant).search(user, "saxophone3")


def test_python_searches_what_the_command_line_searches(cli: Any, reads: Any, sample_store: Path) -> None:
    found = open_store(str(sample_store)).memory("default").search("ada", "saxophone3")
    hits = reads.hits(cli.read("search", "saxophone3", "--user", "ada", "--store", sample_store))
    best = max(hits, key=lambda record: record["score"])
    frame = found if isinstance(found, pl.DataFrame) else found.rounds
    assert isinstance(frame, pl.DataFrame)
    top = frame.filter(pl.col("score").is_not_null()).sort("score", descending=True).row(0, named=True)
    assert (top["session_id"], top["round_id"]) == (best["session_id"], best["round_id"])


def test_a_place_without_a_store_is_said_plainly(cli: Any, tmp_path: Path) -> None:
    for command in (("status",), ("users",), ("search", "x", "--user", "ada"), ("show", "ada"), ("quarantine",), ("gc",)):
        done = cli.run(*command, "--store", tmp_path / "nothing")
        assert done.code != 0, str(done)
        assert "nothing" in done.err
        assert "Traceback" not in done.text
    assert not (tmp_path / "nothing").exists()


def test_json_is_alone_on_standard_output(cli: Any, sample_store: Path) -> None:
    for command in (("status",), ("users",), ("show", "ada"), ("quarantine",), ("search", "walrus1", "--user", "bo")):
        json.loads(cli.ok(*command, "--store", sample_store, "--json").out)
