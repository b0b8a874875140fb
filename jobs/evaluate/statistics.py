"""How sure a mean over questions is: bootstrap intervals, and paired tests of two configurations (V-Mem, Appendix I)."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

RESAMPLES = 10_000
SEED = 20_260_131
LEVEL = 0.95

Floats = NDArray[np.float64]

_AT_ONCE = 1 << 22
"""Drawn values that are held at a time."""

_TIE = 1e-9
"""Sums this near to each other, relative to what they are sums of, are equal."""


def bootstrap_interval(values: Floats, *, resamples: int = RESAMPLES, seed: int = SEED) -> Floats:
    """The 95% interval (metrics, 2) of each column's mean; ``values`` (questions, metrics), at least one question.

    Questions are drawn with replacement, as many as there are, the same for all columns; the 2.5 and 97.5 percentiles of
    the resampled means. The interval of a difference is that of paired per-question differences.
    """
    count = len(values)
    rng = np.random.default_rng([seed, count])
    means = np.concatenate([_times_drawn(rng, rows, count) @ values for rows in _chunks(resamples, count)]) / count
    tail = 100 * (1 - LEVEL) / 2
    return np.asarray(np.percentile(means, [tail, 100 - tail], axis=0).T)


def _times_drawn(rng: np.random.Generator, rows: int, count: int) -> Floats:
    """How often (rows, count) each question is in each resample."""
    drawn = rng.integers(count, size=(rows, count)) + count * np.arange(rows)[:, None]
    return np.bincount(drawn.ravel(), minlength=rows * count).reshape(rows, count).astype(np.float64)


def sign_flip_p(differences: Floats, *, resamples: int = RESAMPLES, seed: int = SEED) -> float:
    """The two-sided p value of paired per-question ``differences`` (questions,) under random signs.

    The share of sign patterns whose mean is at least as far from 0 as the one found: of all patterns where there are no
    more than ``resamples``, else of so many drawn ones and the one found. 1 where nothing differs.
    """
    told = differences[differences != 0]
    if not len(told):
        return 1.0
    least = abs(told.sum()) - _TIE * np.abs(told).sum()
    if 2 ** len(told) <= resamples:
        return float((np.abs(_every_pattern(len(told)) @ told) >= least).mean())
    rng = np.random.default_rng([seed, len(told)])
    far = sum(int((np.abs(_signs(rng, rows, len(told)) @ told) >= least).sum()) for rows in _chunks(resamples, len(told)))
    return (far + 1) / (resamples + 1)


def _every_pattern(count: int) -> Floats:
    """All patterns of signs (2 ** count, count)."""
    bits = np.arange(2**count)[:, None] >> np.arange(count) & 1
    return np.asarray(2.0 * bits - 1.0, np.float64)


def _signs(rng: np.random.Generator, rows: int, count: int) -> Floats:
    return np.asarray(2.0 * rng.integers(2, size=(rows, count), dtype=np.int8) - 1.0, np.float64)


def _chunks(total: int, width: int) -> Iterator[int]:
    """Rows at a time, so that no more than ``_AT_ONCE`` values are held."""
    rows = max(1, _AT_ONCE // width)
    for start in range(0, total, rows):
        yield min(rows, total - start)
