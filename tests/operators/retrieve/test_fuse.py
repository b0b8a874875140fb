"""Ranking rounds and fusing signals, against naive restatements of V-Mem's Eq. 5 and of standard scores."""

from __future__ import annotations

import statistics

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from operators.retrieve.fuse import ranks, reciprocal_ranks, standardised, standings
from operators.retrieve.lanes import Scores

ROUNDS = 12
SCORES = st.lists(st.tuples(st.sampled_from([0.0, 0.1, 0.2, 0.3]), st.booleans()), min_size=ROUNDS, max_size=ROUNDS).map(
    lambda rows: Scores(np.array([score for score, _ in rows]), np.array([scored for _, scored in rows], np.bool_))
)
SIGNALS = st.dictionaries(st.sampled_from(["dense", "bm25", "other"]), SCORES, min_size=1)
WEIGHTS = {"dense": 1.0, "bm25": 0.5, "other": 2.0}


def naive_ranking(signal: Scores) -> list[int]:
    scored = [order for order in range(ROUNDS) if signal.scored[order]]
    return sorted(scored, key=lambda order: (-signal.values[order], order))


@settings(deadline=None)
@given(SCORES)
def test_ranks_are_places_in_the_ranking_of_what_is_scored(signal: Scores) -> None:
    ranking = naive_ranking(signal)
    assert ranks(signal).tolist() == [ranking.index(order) + 1 if order in ranking else 0 for order in range(ROUNDS)]


@settings(deadline=None)
@given(SCORES)
def test_a_standing_has_the_rank_of_the_ranking(signal: Scores) -> None:
    all_ranks = ranks(signal)
    for order in range(ROUNDS):
        standing = standings({"dense": signal}, order).get("dense")
        assert (0 if standing is None else standing.rank) == all_ranks[order]


@settings(deadline=None)
@given(SIGNALS, st.integers(0, 100), st.integers(1, 12))
def test_reciprocal_ranks_are_summed_over_pools(signals: dict[str, Scores], kappa: int, pool: int) -> None:
    naive = [0.0] * ROUNDS
    for name, signal in signals.items():
        for place, order in enumerate(naive_ranking(signal)[:pool], start=1):
            naive[order] += WEIGHTS[name] / (kappa + place)
    assert reciprocal_ranks(signals, WEIGHTS, kappa, pool).tolist() == pytest.approx(naive)


@settings(deadline=None)
@given(SIGNALS)
def test_standardised_scores_are_deviations_from_the_mean(signals: dict[str, Scores]) -> None:
    naive = [0.0] * ROUNDS
    for name, signal in signals.items():
        values = [float(value) for value in signal.values]
        spread = statistics.pstdev(values)
        for order, value in enumerate(values):
            naive[order] += WEIGHTS[name] * (value - statistics.fmean(values)) / spread if spread > 1e-6 else 0.0
    assert standardised(signals, WEIGHTS).tolist() == pytest.approx(naive, abs=1e-9)


def test_a_signal_that_tells_no_rounds_apart_changes_nothing() -> None:
    flat = Scores(np.full(3, 0.1) + np.array([0, 1e-17, 0]), np.ones(3, np.bool_))
    told = Scores(np.array([0.0, 1.0, 2.0]), np.ones(3, np.bool_))
    weights = {"flat": 5.0, "told": 1.0}
    assert standardised({"flat": flat, "told": told}, weights).tolist() == standardised({"told": told}, weights).tolist()


def test_standings_leave_out_signals_without_a_score() -> None:
    signals = {
        "dense": Scores(np.array([0.1, 0.9]), np.ones(2, np.bool_)),
        "bm25": Scores(np.array([0.0, 0.0]), np.zeros(2, np.bool_)),
    }
    found = standings(signals, 1)
    assert {name: (standing.rank, standing.score) for name, standing in found.items()} == {"dense": (1, 0.9)}
