"""Runs of neighbours."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from operators.retrieve.assemble import runs_of


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
