"""From scores of rounds under several signals to one ranking: by rank (V-Mem, Eq. 5), or by standardised scores."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from operators.retrieve.lanes import Scores

Numbers = NDArray[np.float64]


@dataclass(frozen=True)
class Standing:
    """A round under one signal: rank from 1, and the score of its best unit."""

    rank: int
    score: float


@dataclass(frozen=True)
class Fused:
    """A round with its fused score and where it stands under each signal that has something to say of it."""

    order: int
    score: float
    signals: Mapping[str, Standing]


def ranks(signal: Scores) -> NDArray[np.int64]:
    """Rank (rounds,) from 1 of every round that is scored, of equal rounds the earlier first; 0 for the others."""
    places = np.flatnonzero(signal.scored)
    best_first = places[np.lexsort((places, -signal.values[places]))]
    found = np.zeros(len(signal.values), np.int64)
    found[best_first] = np.arange(1, len(best_first) + 1)
    return found


def reciprocal_ranks(signals: Mapping[str, Scores], weights: Mapping[str, float], kappa: int, pool: int) -> Numbers:
    """The weighted sum (rounds,) over signals of ``1 / (kappa + rank)``.

    Cormack et al. 2009; V-Mem, Eq. 5 (weights of 1), over pools: a round behind the ``pool`` best of a signal gets nothing
    from it.
    """
    total = np.zeros(_rounds(signals))
    for name, signal in signals.items():
        rank = ranks(signal)
        pooled = (rank > 0) & (rank <= pool)
        total[pooled] += weights[name] / (kappa + rank[pooled])
    return total


def standardised(signals: Mapping[str, Scores], weights: Mapping[str, float]) -> Numbers:
    """The weighted sum (rounds,) over signals of how many standard deviations a round's score lies above the mean.

    Unlike ranks this keeps how far the best stands out; unlike raw scores no signal dominates by its scale.
    """
    total = np.zeros(_rounds(signals))
    for name, signal in signals.items():
        spread = float(signal.values.std())
        # Rounding leaves equal scores a hair apart; that is no difference.
        if spread > 1e-6 * max(1.0, float(np.abs(signal.values).max())):
            total += weights[name] * (signal.values - signal.values.mean()) / spread
    return total


def standings(signals: Mapping[str, Scores], order: int) -> dict[str, Standing]:
    """Where a round stands under each signal that scores it."""
    return {
        name: Standing(_rank(signal, order), float(signal.values[order]))
        for name, signal in signals.items()
        if signal.scored[order]
    }


def _rank(signal: Scores, order: int) -> int:
    """The same as ``ranks`` gives; sorting all rounds for the few that are found takes longer than the search."""
    better = signal.scored & (signal.values > signal.values[order])
    as_good = signal.scored[:order] & (signal.values[:order] == signal.values[order])
    return 1 + int(np.count_nonzero(better)) + int(np.count_nonzero(as_good))


def _rounds(signals: Mapping[str, Scores]) -> int:
    return max((len(signal.values) for signal in signals.values()), default=0)
