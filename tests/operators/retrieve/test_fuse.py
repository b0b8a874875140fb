"""Ranking rounds and fusing rankings, against naive restatements of V-Mem's Eq. 5."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from operators.retrieve.fuse import fuse, rank_rounds

UNITS = st.lists(st.tuples(st.integers(0, 12), st.sampled_from([-0.5, 0.0, 0.25, 0.5, 1.0]), st.booleans()), max_size=40)
SIGNAL = st.dictionaries(st.integers(0, 15), st.sampled_from([0.1, 0.2, 0.3]), max_size=12)


def ranking(scores: dict[int, float], pool: int) -> list[tuple[int, float]]:
    return sorted(scores.items(), key=lambda item: (-item[1], item[0]))[:pool]


@settings(deadline=None)
@given(UNITS, st.integers(1, 15))
def test_a_round_takes_its_best_unit(units: list[tuple[int, float, bool]], pool: int) -> None:
    best: dict[int, float] = {}
    for order, score, scored in units:
        if scored:
            best[order] = max(score, best.get(order, -9.0))
    orders = np.array([order for order, _, _ in units], np.int64)
    scores = np.array([score for _, score, _ in units], np.float32)
    found = rank_rounds(orders, scores, np.array([scored for *_, scored in units], np.bool_), pool)
    assert found == ranking(best, pool)


@settings(deadline=None)
@given(st.dictionaries(st.sampled_from(["dense", "bm25", "other"]), SIGNAL), st.integers(0, 100), st.integers(1, 12))
def test_fusion_sums_reciprocal_ranks(signals: dict[str, dict[int, float]], kappa: int, pool: int) -> None:
    pools = {name: ranking(scores, pool) for name, scores in signals.items()}
    naive: dict[int, float] = {}
    for order in {order for pooled in pools.values() for order, _ in pooled}:
        places = [[held for held, _ in pooled].index(order) for pooled in pools.values() if order in dict(pooled)]
        naive[order] = sum(1 / (kappa + place + 1) for place in places)
    found = fuse(pools, kappa)
    assert {hit.order: hit.score for hit in found} == naive
    assert [(hit.score, -hit.order) for hit in found] == sorted(((hit.score, -hit.order) for hit in found), reverse=True)
    for hit in found:
        for name, standing in hit.signals.items():
            assert pools[name][standing.rank - 1] == (hit.order, standing.score)


def test_ties_go_to_the_earlier_round_whatever_the_signals_order() -> None:
    one, two = [(5, 1.0), (3, 0.5)], [(3, 9.0), (5, 8.0)]
    assert [hit.order for hit in fuse({"a": one, "b": two})] == [hit.order for hit in fuse({"b": two, "a": one})] == [3, 5]
