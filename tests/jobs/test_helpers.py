"""Helpers: every order is done once, by several processes; what becomes of errors, of the dead and of those left alone."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from jobs.helpers import beside
from operators.errors import StoreDenied

Do = Callable[[int], dict[str, Any]]


@pytest.fixture(autouse=True)
def importable(monkeypatch: pytest.MonkeyPatch) -> None:
    """Helpers import this file by its name; they look for it where this process does."""
    monkeypatch.syspath_prepend(Path(__file__).resolve().parents[2])


def working(parent: int, away: Callable[[int], None] | None = None) -> Do:
    """Tells who did which order; ``away``: what a helper does first."""

    def do(order: int) -> dict[str, Any]:
        if away is not None and os.getpid() != parent:
            away(order)
        time.sleep(0.05)
        return {"order": order, "by": os.getpid()}

    return do


def denied(_: int) -> None:
    raise StoreDenied("no permission")


def gone(order: int) -> None:
    if order > 20:
        os._exit(1)


def broken() -> Do:
    raise RuntimeError("made in no process")


def orders(number: int) -> list[str]:
    return [str(order) for order in range(number)]


def lives(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


def test_every_order_is_done_once_and_by_several_processes_which_then_are_gone() -> None:
    results = list(beside(partial(working, os.getpid()), orders(80), 2))
    assert sorted(result["order"] for result in results) == list(range(80))
    processes = {result["by"] for result in results}
    assert len(processes) == 3
    assert [process for process in processes if lives(process)] == [os.getpid()]


def test_without_helpers_and_without_orders() -> None:
    assert [result["order"] for result in beside(partial(working, os.getpid()), orders(3), 0)] == [0, 1, 2]
    assert list(beside(partial(working, os.getpid()), [], 1)) == []


def test_what_a_helper_did_not_finish_is_done_here(capfd: pytest.CaptureFixture[str]) -> None:
    results = list(beside(partial(working, os.getpid(), gone), orders(60), 2))
    assert sorted(result["order"] for result in results) == list(range(60))
    assert {result["by"] for result in results if result["order"] > 20} == {os.getpid()}
    assert len({result["by"] for result in results}) > 1
    assert capfd.readouterr().out == ""


def test_a_typed_error_of_a_helper_is_raised_as_itself() -> None:
    with pytest.raises(StoreDenied, match="no permission"):
        list(beside(partial(working, os.getpid(), denied), orders(200), 1))


def test_an_error_that_all_have_is_raised_here() -> None:
    with pytest.raises(RuntimeError, match="made in no process"):
        list(beside(broken, orders(5), 1))


def test_helpers_end_with_whoever_reads_no_further() -> None:
    results = beside(partial(working, os.getpid()), orders(400), 1)
    helper = next(result["by"] for result in results if result["by"] != os.getpid())
    assert lives(helper)
    results.close()  # type: ignore[attr-defined]
    assert not lives(helper)
