"""Runs of neighbours."""

from __future__ import annotations

from itertools import pairwise
from time import perf_counter
from typing import get_args

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from operators.retrieve.assemble import choose, place, runs_of
from operators.retrieve.values import Placement

PLACEMENTS: tuple[Placement, ...] = get_args(Placement)


@settings(deadline=None)
@given(st.integers(1, 40).flatmap(lambda n: st.tuples(st.just(n), st.lists(st.integers(0, n - 1)))), st.integers(0, 4))
def test_runs_are_the_hits_and_their_neighbours(case: tuple[int, list[int]], neighbours: int) -> None:
    rounds, orders = case
    runs = runs_of(orders, neighbours, rounds)
    flat = [order for run in runs for order in run]
    assert flat == [order for order in range(rounds) if any(abs(order - hit) <= neighbours for hit in orders)]
    assert all(second == first + 1 for run in runs for first, second in pairwise(run))
    assert all(later[0] > earlier[-1] + 1 for earlier, later in pairwise(runs))


def test_no_hits_give_no_runs() -> None:
    assert runs_of([], 3, 10) == []


SCORED = st.lists(st.tuples(st.sampled_from([0.0, 0.5, 1.0, 2.0]), st.booleans()), max_size=15)


@settings(deadline=None)
@given(SCORED, st.integers(1, 18), st.sampled_from([0.0, 0.6]), st.integers(0, 2))
def test_chosen_are_the_best_after_what_their_neighbours_took(
    rows: list[tuple[float, bool]], k: int, spread: float, neighbours: int
) -> None:
    scores = np.array([score for score, _ in rows])
    candidates = np.array([candidate for _, candidate in rows], np.bool_)
    left = {order: score for order, (score, candidate) in enumerate(rows) if candidate}
    naive = []
    while left and len(naive) < k:
        best = min(left, key=lambda order: (-left[order], order))
        naive.append((best, left.pop(best)))
        around = [abs(order - best) for order in left]
        shown = [max(2 * neighbours + 1 - distance, 0) / (2 * neighbours) if neighbours else 0.0 for distance in around]
        left = {order: left[order] - spread * share for order, share in zip(left, shown, strict=True)}
    found = choose(scores, candidates, k, spread=spread, neighbours=neighbours)
    assert [score for _, score in found] == pytest.approx([score for _, score in naive])
    assert len({order for order, _ in found}) == len(found)
    if not spread:
        assert [order for order, _ in found] == [order for order, _ in naive]


@settings(deadline=None)
@given(
    st.integers(1, 30).flatmap(lambda n: st.tuples(st.just(n), st.lists(st.integers(0, n - 1), unique=True, max_size=12)))
)
def test_every_placement_returns_the_rounds_but_interleaving_which_loses_some(case: tuple[int, list[int]]) -> None:
    rounds, orders = case
    for placement in ("runs", "tail", "none"):
        kept, runs = place(orders, 1, rounds, placement)
        shown = [order for run in runs for order in run]
        assert kept == orders
        assert set(orders) <= set(shown)
        assert len(shown) == len(set(shown))
        assert set(shown) - set(orders) == (set() if placement == "none" else around(orders, rounds) - set(orders))
    kept, runs = place(orders, 1, rounds, "interleave")
    assert len(runs) == len(orders)
    assert kept == [order for order in orders if [order] in runs]
    assert place(orders, 0, rounds, "interleave") == place(orders, 0, rounds, "none")


def around(orders: list[int], rounds: int) -> set[int]:
    return {near for order in orders for near in (order - 1, order, order + 1) if 0 <= near < rounds}


def test_tail_puts_neighbours_last() -> None:
    assert place([5, 2], 1, 9, "tail") == ([5, 2], [[5], [2], [1], [3], [4], [6]])
    assert place([5, 2], 1, 9, "interleave") == ([5], [[5], [4]])


@pytest.mark.parametrize("placement", ["runs", "tail", "interleave"])
def test_more_neighbours_than_there_are_rounds_are_all_rounds(placement: Placement) -> None:
    """However many are asked for, what is made of them is bounded by the history."""
    assert place([5, 2], 10**12, 9, placement) == place([5, 2], 9, 9, placement)
    scores = np.arange(9.0)
    every = np.ones(9, np.bool_)
    assert choose(scores, every, 9, spread=1.2, neighbours=10**12) == choose(scores, every, 9, spread=1.2, neighbours=9)


def test_all_rounds_of_a_long_history_with_wide_runs_are_placed_at_once() -> None:
    orders = list(range(0, 20_000, 2))
    for placement in PLACEMENTS:
        began = perf_counter()
        place(orders, 10_000, 20_000, placement)
        assert perf_counter() - began < 2.0, placement
