"""The signals, each against its definition."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from operators.retrieve.lanes import Bm25, dense_scores, unit_length

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
    found = Bm25(documents).scores(query)
    assert found.shape == (len(documents),)
    if any(documents):
        assert np.allclose(found, naive_bm25([text.split() for text in documents], query.split()), atol=1e-4)
    else:
        assert not found.any()


def test_bm25_of_nothing_and_of_unknown_words_is_zero() -> None:
    assert Bm25([]).scores("x").shape == (0,)
    assert not Bm25([None, "", "?!"]).scores("ape").any()
    assert not Bm25(["ape", None]).scores("zebra").any()
    assert Bm25(["ape", None]).scores("ape").tolist()[1] == 0


def test_dense_is_the_cosine_and_zero_rows_score_zero() -> None:
    rows = np.array([[3, 4], [0, 0], [-1, 0]], np.float16)
    scores = dense_scores(unit_length(rows), np.array([2, 0], np.float32))
    assert np.allclose(scores, [0.6, 0, -1], atol=1e-3)
    assert not dense_scores(unit_length(rows), np.zeros(2, np.float32)).any()
