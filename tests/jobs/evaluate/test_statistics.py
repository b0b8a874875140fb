"""Intervals and p values against closed forms, brute force, and what they must hold for any data."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jobs.evaluate.statistics import bootstrap_interval, sign_flip_p

DIFFERENCES = st.lists(st.sampled_from([-1.0, -0.5, -1 / 3, 0.0, 1 / 3, 0.5, 1.0]), min_size=1, max_size=8)


def test_the_interval_of_a_share_is_the_binomials() -> None:
    values = np.zeros((400, 1))
    values[:120] = 1.0
    low, high = bootstrap_interval(values)[0]
    half = 1.96 * np.sqrt(0.3 * 0.7 / 400)
    assert low == pytest.approx(0.3 - half, abs=0.006)
    assert high == pytest.approx(0.3 + half, abs=0.006)


def test_the_interval_of_a_mean_is_the_normals() -> None:
    values = np.random.default_rng(1).normal(2.0, 3.0, (1500, 2))
    half = 1.96 * values.std(axis=0) / np.sqrt(1500)
    found = bootstrap_interval(values)
    assert found == pytest.approx(np.stack([values.mean(axis=0) - half, values.mean(axis=0) + half], axis=1), abs=0.02)


def test_of_two_questions_every_resample_is_known() -> None:
    """Means of two draws are 0, 1/2, 1 with chances 1/4, 1/2, 1/4: both tails are longer than 2.5 percent."""
    assert bootstrap_interval(np.array([[0.0], [1.0]])).tolist() == [[0.0, 1.0]]


def test_columns_are_resampled_together_and_chunks_do_not_show(monkeypatch: pytest.MonkeyPatch) -> None:
    values = np.random.default_rng(2).random((50, 1))
    both = bootstrap_interval(np.hstack([values, 1 - values]))
    assert both[1].tolist() == pytest.approx((1 - both[0][::-1]).tolist())
    monkeypatch.setattr("jobs.evaluate.statistics._AT_ONCE", 777)
    assert bootstrap_interval(values)[0] == pytest.approx(both[0], abs=0.01)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=30))
@settings(deadline=None, max_examples=25)
def test_an_interval_lies_within_the_values_and_comes_again(values: list[float]) -> None:
    column = np.array(values)[:, None]
    low, high = bootstrap_interval(column, resamples=500)[0]
    assert min(values) - 1e-9 <= low <= high <= max(values) + 1e-9
    assert bootstrap_interval(column, resamples=500)[0].tolist() == [low, high]


def brute_force(differences: list[float]) -> float:
    found = abs(sum(differences))
    far = [abs(sum(s * d for s, d in zip(signs, differences, strict=True))) >= found - 1e-9 for signs in _signs(differences)]
    return sum(far) / len(far)


def _signs(differences: list[float]) -> list[tuple[int, ...]]:
    return list(product((-1, 1), repeat=len(differences)))


@given(DIFFERENCES)
@settings(deadline=None)
def test_few_differences_are_tested_exactly(differences: list[float]) -> None:
    assert sign_flip_p(np.array(differences)) == pytest.approx(brute_force(differences))


@given(DIFFERENCES)
@settings(deadline=None, max_examples=25)
def test_drawn_signs_come_near_the_exact_value(differences: list[float]) -> None:
    drawn = sign_flip_p(np.array(differences * 2), resamples=4000)
    assert drawn == pytest.approx(brute_force(differences * 2) if len(differences) <= 6 else drawn, abs=0.05)
    assert sign_flip_p(np.array(differences)) == sign_flip_p(-np.array(differences))


def test_many_alike_differences_cannot_be_chance() -> None:
    assert sign_flip_p(np.full(100, 0.25)) == 1 / 10_001
    assert sign_flip_p(np.array([0.5, -0.5] * 100)) == 1.0


def test_many_differences_follow_the_normal() -> None:
    """A mean of 2 standard errors: p is about .0455."""
    values = np.random.default_rng(3).normal(size=2000)
    values += 2 * np.sqrt((values**2).sum()) / 2000 - values.mean()
    assert sign_flip_p(values) == pytest.approx(0.0455, abs=0.01)


def test_nothing_differs() -> None:
    assert sign_flip_p(np.zeros(40)) == 1.0
