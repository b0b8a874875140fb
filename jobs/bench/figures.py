"""Numbers that describe many measurements."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Spread:
    """The middle of some measurements, and their extremes."""

    median: float
    least: float
    most: float
    runs: int

    @classmethod
    def of(cls, values: Sequence[float]) -> Spread:
        """Of at least one value."""
        return cls(float(np.median(values)), float(min(values)), float(max(values)), len(values))


@dataclass(frozen=True)
class Latency:
    """Times of single calls, in milliseconds."""

    p50: float
    p99: float
    calls: int

    @classmethod
    def of(cls, seconds: Sequence[float]) -> Latency:
        """Of at least one time."""
        p50, p99 = np.percentile(np.asarray(seconds) * 1000, [50, 99])
        return cls(float(p50), float(p99), len(seconds))


def seconds_of(work: Callable[[], object]) -> float:
    """How long the work takes."""
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def growth(sizes: Sequence[float], values: Sequence[float]) -> float:
    """The exponent p of values ~ sizes^p between the smallest and the largest size: 1 is linear, 0 is flat."""
    first, last = int(np.argmin(sizes)), int(np.argmax(sizes))
    return float(np.log(values[last] / values[first]) / np.log(sizes[last] / sizes[first]))
