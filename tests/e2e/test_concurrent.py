"""Two backfills at once into one store: both end, the lost race is rebased, nothing is lost or doubled."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from operators.memory import open_store


@pytest.fixture(scope="module")
def sources(make: Any, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Two sources that share a user (other sessions, and one session in both) and have users of their own."""
    root = tmp_path_factory.mktemp("two")
    both = make.session("shared", "both", [("The compass1 spun", "Odd")])
    paths = []
    for name in ("left", "right"):
        own = [make.session(f"{name}{n}", "S1", [(f"{name} talk {n}", "Heard")]) for n in range(12)]
        shared = make.session("shared", name, [(f"{name} compass{n}", "Turned") for n in range(2, 5)])
        paths.append(make.jsonl(root / f"{name}.jsonl", [*own, shared, both]))
    return paths[0], paths[1]


@pytest.fixture(scope="module")
def expected(cli: Any, sources: tuple[Path, Path], tmp_path_factory: pytest.TempPathFactory) -> str:
    store = tmp_path_factory.mktemp("two-expected") / "store"
    cli.backfill(*sources, store=store)
    digest: str = cli.digest(store)
    return digest


def _both(cli: Any, first: Path, second: Path, store: Path) -> None:
    running = [cli.start(source, store=store) for source in (first, second)]
    for done in [each.wait() for each in running]:
        assert done.code == 0, str(done)


def test_different_sources_at_once(cli: Any, sources: tuple[Path, Path], expected: str, tmp_path: Path) -> None:
    store = tmp_path / "store"
    _both(cli, *sources, store)
    status = cli.status(store)
    assert (status["users"], status["sessions"], status["rounds"]) == (25, 27, 31)
    assert status["content_digest"] == expected
    assert open_store(str(store)).memory("default").rounds("shared").height == 7


def test_the_same_source_at_once(cli: Any, sources: tuple[Path, Path], expected: str, tmp_path: Path) -> None:
    store = tmp_path / "store"
    _both(cli, sources[0], sources[0], store)
    status = cli.status(store)
    assert (status["users"], status["sessions"], status["rounds"]) == (13, 14, 16)
    cli.backfill(sources[1], store=store)
    assert cli.digest(store) == expected
