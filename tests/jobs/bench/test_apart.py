"""Work in processes of its own: answers come back, and so do failures."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from functools import partial

import pytest

from jobs.bench.apart import apart, beside, together
from operators.errors import MnemosaicError


def prepare_sleep(seconds: float) -> Callable[[], None]:
    return partial(time.sleep, seconds)


def prepare_to_fail(where: str) -> Callable[[], None]:
    if where == "before":
        raise ValueError("before the start")
    return partial(prepare_to_fail, "before")


def test_apart_is_another_process() -> None:
    assert apart(os.getpid) != os.getpid()
    with pytest.raises(ZeroDivisionError):
        apart(divmod, 1, 0)


def test_together_takes_as_long_as_the_slowest() -> None:
    assert 0.3 <= together(prepare_sleep, [(0.05,), (0.3,)]) < 3


@pytest.mark.parametrize("where", ["before", "within"])
def test_a_failure_in_one_is_told(where: str) -> None:
    with pytest.raises(MnemosaicError, match="before the start"):
        together(prepare_to_fail, [(where,)])


def test_beside_runs_for_the_time_of_the_block() -> None:
    with beside(prepare_sleep, [(0.01,)]):
        pass
    with pytest.raises(MnemosaicError, match="before the start"), beside(prepare_to_fail, [("within",)]):
        pass
