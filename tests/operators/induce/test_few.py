"""The search without arrays finds what the search with arrays finds."""

from __future__ import annotations

import random
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from operators.errors import InductionError
from operators.induce.few import MOST_ITEMS, MOST_SETS, mine_few
from operators.induce.maximal import mine_maximal
from operators.induce.transactions import Itemset, Transactions

ITEMS = 9
SETS = st.lists(st.tuples(st.frozensets(st.integers(0, ITEMS - 1)), st.integers(0, 40)), max_size=40)
PAIRS = st.frozensets(st.tuples(st.integers(0, ITEMS - 1), st.integers(0, ITEMS - 1)), max_size=6)


@settings(deadline=None, max_examples=300)
@given(SETS, st.sampled_from([1, 2, 3, 20, 60]), st.sampled_from([0.0, 0.3, 0.5, 2 / 3, 0.9, 1.0]), PAIRS)
def test_it_finds_what_arrays_find(
    sets: Sequence[tuple[frozenset[int], int]], support: int, least: float, apart: frozenset[tuple[int, int]]
) -> None:
    def allowed(first: NDArray[np.int64], second: NDArray[np.int64]) -> NDArray[np.bool_]:
        return np.array([pair not in apart for pair in zip(first.tolist(), second.tolist(), strict=True)], bool)

    told, weights = [sorted(one) for one, _ in sets], [weight for _, weight in sets]
    exact = mine_maximal(
        Transactions.of(told, weights, ITEMS), min_support=support, min_all_conf=least, allowed=allowed, budget=1 << ITEMS
    )
    found = mine_few(
        told, weights, min_support=support, min_all_conf=least, allowed=lambda one, other: (one, other) not in apart
    )
    assert found == exact


def test_where_all_may_come_with_all() -> None:
    chance = random.Random(5)
    sets = [[item for item in range(MOST_ITEMS) if chance.random() < 0.8] for _ in range(MOST_SETS)]
    exact = mine_maximal(Transactions.of(sets, None, MOST_ITEMS), min_support=12, min_all_conf=0.2)
    assert len(exact) > 100
    assert mine_few(sets, [1] * len(sets), min_support=12, min_all_conf=0.2) == exact


def test_what_is_much_is_left_to_arrays() -> None:
    wide = [list(range(MOST_ITEMS + 1))] * 2
    assert mine_few(wide, [1, 1], min_support=2, min_all_conf=0.5) is None
    assert mine_few(wide, [1, 1], min_support=3, min_all_conf=0.5) == []
    assert mine_few([[0]] * (MOST_SETS + 1), [1] * (MOST_SETS + 1), min_support=2, min_all_conf=0.5) is None
    assert mine_few([[0]] * MOST_SETS, [1] * MOST_SETS, min_support=2, min_all_conf=0.5) == [Itemset((0,), MOST_SETS)]


@pytest.mark.parametrize(("support", "least"), [(0, 0.5), (1, 1.5), (1, -0.1)])
def test_thresholds_out_of_range(support: int, least: float) -> None:
    with pytest.raises(InductionError):
        mine_few([[0]], [1], min_support=support, min_all_conf=least)
