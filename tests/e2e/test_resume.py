"""SIGKILL at any stage: readers keep the old version, the next run picks up what is finished and ends as if never killed."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from operators.memory import open_store

USERS, SESSIONS, ROUNDS = 40, 24, 10
BUCKETS = 8
UNITS = USERS * SESSIONS * ROUNDS * 2

STAGES: dict[str, tuple[str, int]] = {
    "one split read": ("read/*.json", 1),
    "encoding": ("vectors/*/*.parquet", 1),
    "one bucket done": ("buckets/*.json", 1),
    "last bucket done": ("buckets/*.json", BUCKETS),
}
WHOLE_GROUP = {"encoding", "last bucket done"}


@dataclass(frozen=True)
class Setting:
    folder: Path
    base: Path
    config: Path
    expected: dict[str, Any]
    seen: frozenset[tuple[int, ...]]


@pytest.fixture(scope="module")
def setting(cli: Any, make: Any, tmp_path_factory: pytest.TempPathFactory) -> Setting:
    """The source, and what an uninterrupted run makes of it on top of a small first version."""
    root = tmp_path_factory.mktemp("resume")
    config = make.config(
        root / "config.yaml",
        {
            "store.buckets": BUCKETS,
            "sources.split_bytes": 400_000,
            "sources.fragment_rounds": 1000,
            "encoder.block_units": 256,
            "ray.encode_actors": 1,
        },
    )
    base = make.jsonl(root / "base.jsonl", [make.session("early", "S1", [("The barometer1 rose", "Noted")])])
    for part in range(4):
        users = range(part, USERS, 4)
        sessions = [_session(make, user, number) for user in users for number in range(SESSIONS)]
        make.jsonl(root / "src" / f"part-{part}.jsonl", sessions)
    whole = root / "whole"
    cli.backfill(base, store=whole, config=config)
    running = cli.start(root / "src", store=whole, config=config)
    seen = set()
    while running.running():
        seen.add(_heights(whole))
        time.sleep(0.05)
    done = running.wait()
    assert done.code == 0, str(done)
    return Setting(root / "src", base, config, cli.status(whole), frozenset(seen | {_heights(whole)}))


def _session(make: Any, user: int, number: int) -> dict[str, Any]:
    exchanges = [
        (f"u{user} s{number} r{r} asks about topic {user * r}", f"u{user} s{number} r{r} answer") for r in range(ROUNDS)
    ]
    session: dict[str, Any] = make.session(f"user{user}", f"S{number}", exchanges, f"2024-03-{number % 28 + 1:02d}")
    return session


def test_the_uninterrupted_run_holds_everything(setting: Setting) -> None:
    expected = {"users": USERS + 1, "sessions": USERS * SESSIONS + 1, "rounds": UNITS // 2 + 1, "units": UNITS + 2}
    assert {name: setting.expected[name] for name in expected} == expected


def test_killed_at_every_stage_it_ends_as_if_never_killed(
    cli: Any, setting: Setting, tmp_path: Path, until: Callable[..., bool]
) -> None:
    store = tmp_path / "store"
    cli.backfill(setting.base, store=store, config=setting.config)
    before = cli.status(store)
    old_runs = set(_runs(store))
    killed = []
    for stage, (sign, count) in STAGES.items():
        running = cli.start(setting.folder, store=store, config=setting.config)
        assert until(partial(_seen_or_ended, running, store, old_runs, sign, count), 120), (
            f"no '{stage}'\n{running.output()}"
        )
        if not running.running():
            done = running.wait()
            assert done.code == 0, str(done)
            assert stage == "last bucket done", f"the run ended before '{stage}' was seen; {done}"
            break
        (running.kill_all if stage in WHOLE_GROUP else running.kill_driver)()
        killed.append(stage)
        if stage != "last bucket done":  # which may have been killed after its commit
            assert cli.status(store) == before, f"readers see something new after a kill at '{stage}'"
            assert len(set(_runs(store)) - old_runs) == 1, "a rerun picks up the run that was killed"
    assert killed[:3] == list(STAGES)[:3]
    last = cli.backfill(setting.folder, store=store, config=setting.config)
    assert _logical(cli.status(store)) == _logical(setting.expected), str(last)


@pytest.mark.parametrize(
    ("number", "code", "word"), [(signal.SIGTERM, 143, "terminated"), (signal.SIGINT, 130, "interrupted")]
)
def test_a_signal_ends_it_with_a_word_and_leaves_nothing_running(
    cli: Any, setting: Setting, tmp_path: Path, until: Callable[..., bool], number: int, code: int, word: str
) -> None:
    running = cli.start(setting.folder, store=tmp_path / "store", config=setting.config)
    sign, count = STAGES["encoding"]
    assert until(partial(_seen_or_ended, running, tmp_path / "store", set(), sign, count), 120), running.output()
    running.signal_driver(number)
    done = running.wait(60)
    assert done.code == code, str(done)
    assert done.out.splitlines()[-1].startswith(f"{word}: what is done is kept"), str(done)
    assert until(lambda: not running.left(), 60), running.left()


def test_the_summary_tells_what_was_encoded_and_what_was_found(
    cli: Any, reads: Any, setting: Setting, tmp_path: Path, until: Callable[..., bool]
) -> None:
    store = tmp_path / "store"
    running = cli.start(setting.folder, store=store, config=setting.config)
    assert until(partial(_seen_or_ended, running, store, set(), "buckets/*.json", 3), 120), running.output()
    assert running.running(), running.output()
    running.kill_driver()
    last = cli.backfill(setting.folder, store=store, config=setting.config)
    encoded, found = reads.number(last, "encoded"), reads.number(last, "found")
    assert encoded + found == UNITS, str(last)
    assert found >= UNITS * 3 // BUCKETS // 4, f"what three finished buckets hold was encoded again\n{last}"


def test_a_reader_beside_a_backfill_sees_the_old_or_the_new_version_never_a_mix(setting: Setting) -> None:
    """One memory, opened again and again while the uninterrupted run worked, read three users each time."""
    assert setting.seen == {(1, 0, 0), (1, SESSIONS * ROUNDS, SESSIONS * ROUNDS)}


def _heights(store: Path) -> tuple[int, ...]:
    memory = open_store(str(store)).memory("default")
    return tuple(memory.rounds(user).height for user in ("early", "user0", "user1"))


def _logical(status: dict[str, Any]) -> dict[str, Any]:
    names = ("users", "sessions", "rounds", "units", "pictures", "quarantined", "content_digest")
    return {name: status[name] for name in names}


def _runs(store: Path) -> list[str]:
    return sorted(path.name for path in (store / "runs").iterdir() if path.is_dir()) if (store / "runs").exists() else []


def _count(store: Path, old_runs: set[str], sign: str) -> int:
    return sum(len(list((store / "runs" / run).glob(sign))) for run in _runs(store) if run not in old_runs)


def _seen_or_ended(running: Any, store: Path, old_runs: set[str], sign: str, count: int) -> bool:
    return _count(store, old_runs, sign) >= count or not running.running()
