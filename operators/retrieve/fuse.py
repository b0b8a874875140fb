"""From scores of units to one ranking of rounds (V-Mem, Eq. 5)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Standing:
    """A round under one signal: rank from 1, and the score of its best unit."""

    rank: int
    score: float


@dataclass(frozen=True)
class Fused:
    """A round with its fused score and where it stands under each signal whose pool it is in."""

    order: int
    score: float
    signals: Mapping[str, Standing]


def rank_rounds(
    orders: NDArray[np.int64], scores: NDArray[Any], scored: NDArray[np.bool_], pool: int
) -> list[tuple[int, float]]:
    """The ``pool`` best rounds of one signal as (order, score), best first.

    ``orders`` and ``scores`` (units,): each unit's round and score; units outside ``scored`` (units,) do not count. A round
    takes the score of its best unit; of equal rounds the earlier comes first.
    """
    rounds, place = np.unique(orders[scored], return_inverse=True)
    best = np.full(len(rounds), -np.inf, np.float64)
    np.maximum.at(best, place, scores[scored].astype(np.float64))
    order = np.lexsort((rounds, -best))[:pool]
    return [(int(rounds[at]), float(best[at])) for at in order]


def fuse(rankings: Mapping[str, list[tuple[int, float]]], kappa: int = 60) -> list[Fused]:
    """Reciprocal rank fusion: the sum over signals of ``1 / (kappa + rank)``, best first, of equal rounds the earlier first.

    Cormack et al. 2009; V-Mem, Eq. 5, over the pools: a round outside a signal's pool gets nothing from it.
    """
    standings: dict[int, dict[str, Standing]] = {}
    for name, ranking in rankings.items():
        for rank, (order, score) in enumerate(ranking, start=1):
            standings.setdefault(order, {})[name] = Standing(rank, score)
    fused = [
        Fused(order, sum(1.0 / (kappa + standing.rank) for standing in signals.values()), signals)
        for order, signals in standings.items()
    ]
    return sorted(fused, key=lambda found: (-found.score, found.order))
