"""The main job on a real Ray: what goes in comes out, once, whatever interrupts or overtakes it."""

from __future__ import annotations

import socket
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from configs.settings import Settings
from jobs.backfill import BackfillReport, BackfillRequest, backfill
from jobs.stages import _require_listener
from jobs.watch import Progress
from operators.encode.text import load_text_encoder
from operators.errors import ClusterError, ScopeError
from operators.memory import open_store
from operators.store.buckets import read_user
from operators.store.commit import latest_version, pin
from operators.store.opening import open_objects
from operators.units import embedding_texts

pytestmark = pytest.mark.usefixtures("ray_cluster")

WriteSessions = Callable[..., Path]


def session(user: str, name: str, texts: list[str], day: int = 1) -> dict[str, Any]:
    """One line of our JSONL: user and assistant in turn, a minute apart."""
    messages = [
        {
            "role": "user" if number % 2 == 0 else "assistant",
            "content": text,
            "timestamp": f"2024-05-{day:02d}T10:{number:02d}:00Z",
        }
        for number, text in enumerate(texts)
    ]
    return {"user_id": user, "session_id": name, "messages": messages}


def many(users: int, sessions: int, rounds: int = 3, word: str = "word") -> list[dict[str, Any]]:
    """A small world: every text differs but for what the assistant says."""
    return [
        session(
            f"user-{user}",
            f"S{number}",
            [
                f"{word} {user} {number} {turn}" if speaker == 0 else "noted, thanks"
                for turn in range(rounds)
                for speaker in range(2)
            ],
            day=1 + number % 28,
        )
        for user in range(users)
        for number in range(sessions)
    ]


def run(source: Path, store: Path, settings: Settings, watch=lambda _: None, **given: str) -> BackfillReport:  # type: ignore[no-untyped-def]
    request = BackfillRequest(sources=(str(source),), store=str(store), tenant=given.pop("tenant", "default"))
    return backfill(replace(request, **given), settings, watch)


@pytest.mark.parametrize("by", ["the driver", "workers"])
def test_every_unit_stands_beside_the_vector_of_its_own_text(
    tmp_path: Path, settings: Settings, write_sessions: WriteSessions, monkeypatch: pytest.MonkeyPatch, by: str
) -> None:
    """Whether so little is read, merged and finished that the driver does it, or not."""
    if by == "workers":
        monkeypatch.setattr("jobs.backfill._FEW_BYTES", 0)
        monkeypatch.setattr("jobs.settle._FEW_ROUNDS", 0)
    report = run(write_sessions("a.jsonl", many(users=5, sessions=4)), tmp_path / "store", settings)
    assert (report.version, report.users, report.sessions, report.rounds, report.units) == (1, 5, 20, 60, 120)
    assert (report.added, report.published, report.quarantined) == (60, True, 0)
    objects = open_objects(str(tmp_path / "store"))
    encoder = load_text_encoder("stub")
    for number in range(5):
        data = read_user(objects, pin(objects), "default", f"user-{number}")
        assert data is not None
        expected = encoder.encode(embedding_texts(data.units).to_pylist())
        np.testing.assert_allclose(data.vectors, expected, atol=2e-3)
        assert data.rounds["order"].to_pylist() == list(range(12))


def test_a_text_that_many_buckets_hold_is_encoded_once(
    tmp_path: Path, settings: Settings, write_sessions: WriteSessions
) -> None:
    report = run(write_sessions("a.jsonl", many(users=12, sessions=2)), tmp_path / "store", settings)
    distinct = 12 * 2 * 3 + 1
    assert report.encoded == distinct
    more = run(write_sessions("b.jsonl", many(users=12, sessions=3)), tmp_path / "store", settings)
    assert (more.added, more.unchanged, more.encoded) == (36, 72, 36)


def test_encoding_is_shared_out_and_kept_block_by_block(
    tmp_path: Path, settings: Settings, write_sessions: WriteSessions
) -> None:
    seen: list[Progress] = []
    report = run(write_sessions("a.jsonl", many(users=6, sessions=8)), tmp_path / "store", settings, seen.append)
    done = [0, *(told.done for told in seen if told.stage == "encode")]
    assert done[-1] == report.encoded == 6 * 8 * 3 + 1
    steps = [after - before for before, after in pairwise(done)]
    assert len(steps) >= 145 // 32
    assert max(steps) <= 32  # block_units of these settings: a killed run loses no more than the blocks in flight


def test_the_same_again_publishes_nothing(tmp_path: Path, settings: Settings, write_sessions: WriteSessions) -> None:
    source = write_sessions("a.jsonl", many(users=3, sessions=2))
    first = run(source, tmp_path / "store", settings)
    again = run(source, tmp_path / "store", settings)
    assert (again.version, again.published, again.added, again.encoded) == (1, False, 0, 0)
    assert again.content_digest == first.content_digest


def test_what_changed_replaces_and_what_grew_is_added(
    tmp_path: Path, settings: Settings, write_sessions: WriteSessions
) -> None:
    before = session("ann", "S1", ["I run", "well", "I swim", "nice"])
    after = session("ann", "S1", ["I run", "well", "I cycle", "nice", "new", "yes"])
    run(write_sessions("a.jsonl", [before]), tmp_path / "store", settings)
    report = run(write_sessions("b.jsonl", [after]), tmp_path / "store", settings)
    assert (report.added, report.replaced, report.unchanged, report.version) == (1, 1, 1, 2)
    memory = open_store(str(tmp_path / "store"), encoder=load_text_encoder("stub")).memory("default")
    texts = [m["text"] for row in memory.rounds("ann")["messages"].to_list() for m in row]
    assert texts == ["I run", "well", "I cycle", "nice", "new", "yes"]
    assert all("swim" not in (text or "") for text in memory.units("ann")["text"].to_list())


class Stopped(Exception):
    """Stands for the end of the process."""


@pytest.mark.parametrize(("stage", "after"), [("read", 1), ("merge", 1), ("encode", 40), ("finish", 1)])
def test_a_run_that_stops_is_taken_up_and_ends_as_if_it_had_not(
    tmp_path: Path, settings: Settings, write_sessions: WriteSessions, stage: str, after: int
) -> None:
    source = write_sessions("a.jsonl", many(users=9, sessions=6))
    whole = run(source, tmp_path / "whole", settings)

    def stop(progress: Progress) -> None:
        if progress.stage == stage and progress.done >= after:
            raise Stopped

    with pytest.raises(Stopped):
        run(source, tmp_path / "store", settings, stop)
    assert latest_version(open_objects(str(tmp_path / "store"))) == 0
    resumed = run(source, tmp_path / "store", settings)
    assert resumed.content_digest == whole.content_digest
    assert (resumed.version, resumed.added) == (1, whole.added)
    if stage in ("encode", "finish"):
        assert resumed.encoded < whole.encoded
        assert resumed.found > 0
    if stage == "finish":
        assert resumed.encoded == 0


def test_a_commit_that_was_overtaken_is_rebased_on_the_other(
    tmp_path: Path, settings: Settings, write_sessions: WriteSessions
) -> None:
    store = tmp_path / "store"
    ours = write_sessions("ours.jsonl", many(users=6, sessions=2))
    theirs = write_sessions("theirs.jsonl", many(users=6, sessions=4, word="other") + many(users=2, sessions=2))
    overtaken = False

    def overtake(progress: Progress) -> None:
        nonlocal overtaken
        if progress.stage == "finish" and progress.done == progress.total and not overtaken:
            overtaken = True
            assert run(theirs, store, settings).version == 1

    report = run(ours, store, settings, overtake)
    assert overtaken
    assert report.version == 2
    both = tmp_path / "both"
    run(theirs, both, settings)
    assert report.content_digest == run(ours, both, settings).content_digest


def test_nothing_is_finished_before_the_commit_and_readers_keep_their_version(
    tmp_path: Path, settings: Settings, write_sessions: WriteSessions
) -> None:
    store = tmp_path / "store"
    run(write_sessions("a.jsonl", many(users=2, sessions=1)), store, settings)
    objects = open_objects(str(store))
    pinned = pin(objects)
    seen: set[int] = set()
    run(
        write_sessions("b.jsonl", many(users=2, sessions=3)),
        store,
        settings,
        lambda _: seen.add(latest_version(objects)),
    )
    assert seen == {1}
    held = read_user(objects, pinned, "default", "user-0")
    now = read_user(objects, pin(objects), "default", "user-0")
    assert held is not None and now is not None
    assert (len(held.rounds), len(now.rounds)) == (3, 9)


def test_quarantine_speaks_of_the_last_reading_of_each_file(
    tmp_path: Path, settings: Settings, write_sessions: WriteSessions
) -> None:
    store = tmp_path / "store"
    source = write_sessions("a.jsonl", many(users=3, sessions=5))
    lines = source.read_text().splitlines()
    lines[7] = '{"user_id": "x", "messages": ['
    source.write_text("\n".join(lines) + "\n")
    report = run(source, store, settings)
    assert (report.quarantined, report.sessions) == (1, 14)
    objects = open_objects(str(store))
    with objects.open(pin(objects).quarantine.path) as handle:  # type: ignore[union-attr]
        import pyarrow.parquet as pq

        row = pq.read_table(handle).to_pylist()[0]
    assert (row["line"], row["code"]) == (8, "bad-json")
    write_sessions("a.jsonl", many(users=3, sessions=5))
    mended = run(source, store, settings)
    assert (mended.quarantined, mended.sessions, pin(objects).quarantined) == (0, 15, 0)


def test_two_files_that_would_become_one_user_are_refused_and_copies_are_read_once(
    tmp_path: Path, settings: Settings
) -> None:
    def gallery(text: str) -> str:
        turn = f'{{"round": "D1:1", "user": "{text}", "assistant": "yes"}}'
        return f'{{"multi_session_dialogues": [{{"session_id": "D1", "date": "2024-01-01", "dialogues": [{turn}]}}]}}'

    for folder, text in (("a", "cats"), ("b", "dogs"), ("c", "cats")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "pets.json").write_text(gallery(text))
    report = run(tmp_path, tmp_path / "store", settings)
    assert (report.rounds, report.quarantined, len(report.identical_files)) == (0, 2, 1)
    named = run(tmp_path / "a", tmp_path / "store", settings, user="ann")
    assert (named.rounds, named.users) == (1, 1)


def test_a_blank_tenant_or_user_is_refused_before_anything_is_made(
    tmp_path: Path, settings: Settings, write_sessions: WriteSessions
) -> None:
    source = write_sessions("a.jsonl", many(users=1, sessions=1))
    for given in ({"tenant": " "}, {"user": ""}, {"user": "\ud800"}):
        with pytest.raises(ScopeError):
            run(source, tmp_path / "store", settings, **given)
    assert not (tmp_path / "store").exists()


def test_an_address_where_no_cluster_listens_is_said_at_once() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{free.getsockname()[1]}"
    with pytest.raises(ClusterError, match="no Ray cluster answers"):
        _require_listener(address)
    _require_listener("auto")
