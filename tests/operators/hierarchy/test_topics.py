"""Topics: average linkage, as the plain algorithm finds it, whatever the order of the episodes."""

from __future__ import annotations

import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from operators.hierarchy.topics import _beyond_background, topic_labels
from operators.hierarchy.vectors import Floats, unit_length


def drawn(seed: int, count: int, dim: int = 12, subjects: int = 4) -> Floats:
    rng = np.random.default_rng(seed)
    centres = rng.standard_normal((subjects, dim))
    return unit_length(centres[rng.integers(0, subjects, count)] + 0.7 * rng.standard_normal((count, dim)))


def plain(vectors: Floats, similarity: float) -> set[frozenset[int]]:
    """Join the two nearest groups until none are near enough."""
    rows = _beyond_background(vectors)
    groups = [[place] for place in range(len(rows))]
    while len(groups) > 1:
        near, one, other = max(
            (float(np.mean(rows[a] @ rows[b].T)), i, j) for i, a in enumerate(groups) for j, b in enumerate(groups) if i < j
        )
        if near < similarity:
            break
        groups[one] += groups.pop(other)
    return {frozenset(group) for group in groups}


def groups_of(labels: NDArray[np.int64]) -> set[frozenset[int]]:
    return {frozenset(np.flatnonzero(labels == number).tolist()) for number in np.unique(labels)}


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10_000), st.integers(0, 25), st.sampled_from([0.1, 0.25, 0.5, 0.9]))
def test_chains_find_what_the_plain_algorithm_finds(seed: int, count: int, similarity: float) -> None:
    vectors = drawn(seed, count) if count else np.zeros((0, 12), np.float32)
    assert groups_of(topic_labels(vectors, similarity, 2048)) == (plain(vectors, similarity) if count else set())


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10_000), st.permutations(range(20)))
def test_the_order_of_episodes_changes_nothing_but_numbers(seed: int, order: list[int]) -> None:
    vectors = drawn(seed, 20)
    shuffled = topic_labels(vectors[order], 0.3, 2048)
    back = np.empty(20, np.int64)
    back[order] = shuffled
    assert groups_of(back) == groups_of(topic_labels(vectors, 0.3, 2048))


def test_topics_are_numbered_by_their_first_episodes() -> None:
    labels = topic_labels(drawn(3, 40), 0.3, 2048)
    firsts = [int(np.flatnonzero(labels == number)[0]) for number in range(labels.max() + 1)]
    assert firsts == sorted(firsts) and labels[0] == 0


def test_equal_episodes_are_one_topic_and_ties_end() -> None:
    one, other = [1.0, 0.0], [0.0, 1.0]
    assert topic_labels(unit_length(np.array([one, other] * 9)), 0.3, 2048).tolist() == [0, 1] * 9


def test_episodes_that_say_nothing_are_topics_by_themselves() -> None:
    assert topic_labels(np.zeros((3, 4), np.float32), 0.2, 2048).tolist() == [0, 1, 2]


def test_two_unlike_episodes_stay_apart_and_two_alike_join() -> None:
    assert topic_labels(unit_length(np.array([[1.0, 0.0], [0.1, 1.0]])), 0.25, 2048).tolist() == [0, 1]
    assert topic_labels(unit_length(np.array([[1.0, 0.2], [1.0, 0.1]])), 0.25, 2048).tolist() == [0, 0]


def test_long_histories_are_joined_stretch_by_stretch_to_the_same_when_subjects_are_plain() -> None:
    vectors = unit_length(np.eye(6)[np.arange(600) % 6] + 0.01 * drawn(1, 600, 6))
    assert groups_of(topic_labels(vectors, 0.3, 64)) == groups_of(topic_labels(vectors, 0.3, 2048))


@pytest.mark.parametrize("alike", [True, False])
def test_five_thousand_episodes_take_seconds(alike: bool) -> None:
    vectors = drawn(5, 5000, 64, 40) if alike else unit_length(np.random.default_rng(1).standard_normal((5000, 64)))
    began = time.monotonic()
    labels = topic_labels(vectors, 0.25, 2048)
    assert time.monotonic() - began < 30
    assert len(labels) == 5000 and (labels.max() < 1000) == alike
