"""The signals, each against its definition."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from operators.retrieve.lanes import Bm25, DenseRounds, best_of_round, dense_scores, unit_length, with_neighbours
from operators.retrieve.words import words

VOCABULARY = st.sampled_from(["ape", "bee", "cow", "doe", "猫", "elk"])
DOCUMENT = st.lists(VOCABULARY, max_size=8).map(" ".join)


def naive_bm25(documents: list[list[str]], query: list[str], k1: float = 1.5, b: float = 0.75) -> list[float]:
    """Robertson's formula with Lucene's idf."""
    mean = sum(map(len, documents)) / len(documents)
    scores = []
    for document in documents:
        counts, score = Counter(document), 0.0
        for word in query:
            holding = sum(word in other for other in documents)
            idf = math.log(1 + (len(documents) - holding + 0.5) / (holding + 0.5))
            score += idf * counts[word] / (counts[word] + k1 * (1 - b + b * len(document) / mean))
        scores.append(score)
    return scores


@settings(deadline=None)
@given(st.lists(DOCUMENT, min_size=1, max_size=8), DOCUMENT)
def test_bm25_is_the_formula(documents: list[str], query: str) -> None:
    found = Bm25([words(text) for text in documents]).scores(query)
    assert found.shape == (len(documents),)
    if any(documents):
        assert np.allclose(found, naive_bm25([text.split() for text in documents], query.split()), atol=1e-4)
    else:
        assert not found.any()


def test_bm25_of_nothing_and_of_unknown_words_is_zero() -> None:
    assert Bm25([]).scores("x").shape == (0,)
    assert not Bm25([[], []]).scores("ape").any()
    assert not Bm25([["ape"], []]).scores("zebra").any()
    assert Bm25([["ape"], []]).scores("ape").tolist()[1] == 0


def test_dense_is_the_cosine_and_zero_rows_score_zero() -> None:
    rows = np.array([[3, 4], [0, 0], [-1, 0]], np.float16)
    scores = dense_scores(unit_length(rows), np.array([2, 0], np.float32))
    assert np.allclose(scores, [0.6, 0, -1], atol=1e-3)
    assert not dense_scores(unit_length(rows), np.zeros(2, np.float32)).any()


UNITS = st.lists(st.tuples(st.integers(0, 12), st.sampled_from([-0.5, 0.0, 0.25, 0.5, 1.0]), st.booleans()), max_size=40)


@settings(deadline=None)
@given(UNITS)
def test_a_round_takes_its_best_unit_and_others_the_lowest(units: list[tuple[int, float, bool]]) -> None:
    best: dict[int, float] = {}
    for order, score, scored in units:
        if scored:
            best[order] = max(score, best.get(order, -9.0))
    found = best_of_round(
        np.array([order for order, _, _ in units], np.int64),
        np.array([score for _, score, _ in units], np.float32),
        np.array([scored for *_, scored in units], np.bool_),
        13,
    )
    assert {order for order in range(13) if found.scored[order]} == set(best)
    lowest = min(best.values(), default=0.0)
    assert found.values.tolist() == [best.get(order, lowest) for order in range(13)]


@settings(deadline=None)
@given(
    st.integers(1, 9).flatmap(
        lambda rounds: st.tuples(
            st.lists(st.integers(0, rounds - 1), min_size=1, max_size=14).map(sorted),
            st.lists(st.integers(0, 2), min_size=rounds, max_size=rounds).map(sorted),
        )
    ),
    st.floats(0, 2),
    st.integers(0, 2**32 - 1),
)
def test_context_and_session_are_cosines_of_sums(case: tuple[list[int], list[int]], weight: float, seed: int) -> None:
    orders, sessions = case
    rng = np.random.default_rng(seed)
    vectors = unit_length(rng.normal(size=(len(orders), 6)))
    query = unit_length(rng.normal(size=(1, 6)))[0]
    seen = rng.random(len(orders)) < 0.8
    dense = DenseRounds(np.array(orders), vectors, seen, np.array(sessions))
    sums = np.zeros((len(sessions), 6))
    for order, vector, counts in zip(orders, vectors, seen, strict=True):
        sums[order] += vector * counts
    cosines = dense_scores(vectors, query)
    for at in range(len(sessions)):
        near = sum((weight * sums[place] for place in (at - 1, at + 1) if 0 <= place < len(sums)), sums[at].copy())
        whole = sums[[place for place, other in enumerate(sessions) if other == sessions[at]]].sum(0)
        for found, vector in ((dense.context(cosines, weight), near), (dense.session(cosines), whole)):
            length = float(np.linalg.norm(vector))
            assert found.values[at] == (
                pytest.approx(float(vector @ query) / length, abs=1e-3) if length > 0.1 else found.values[at]
            )
            assert length > 1e-3 or abs(found.values[at]) <= 1 or not length


def test_neighbours_add_their_share() -> None:
    assert with_neighbours(np.array([1.0, 0.0, 4.0]), 0.5).tolist() == [1.0, 2.5, 4.0]
