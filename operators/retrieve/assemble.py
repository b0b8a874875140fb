"""From fused scores to what is returned: which rounds, and their neighbours (V-Mem, section 3.3, Table 13)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from operators.retrieve.values import Placement


def choose(
    scores: NDArray[np.float64], candidates: NDArray[np.bool_], k: int, *, spread: float = 0.0, neighbours: int = 0
) -> list[tuple[int, float]]:
    """The ``k`` best candidates (rounds,) as (order, score), best first, of equal rounds the earlier first.

    A round that is chosen shows its ``neighbours`` too, so rounds beside it would show less that is new: each is lowered by
    ``spread`` times the part of what it would show around itself that is shown already. ``scores`` (rounds,).
    """
    left = np.where(candidates, scores, -np.inf)
    reach = 2 * neighbours
    if spread <= 0 or reach <= 0:
        best_first = np.lexsort((np.arange(len(left)), -left))[:k]
        return [(int(place), float(left[place])) for place in best_first if np.isfinite(left[place])]
    shares = [spread * (reach + 1 - abs(distance)) / reach for distance in range(-reach, reach + 1)]
    chosen: list[tuple[int, float]] = []
    while len(chosen) < min(k, len(left)) and np.isfinite(left[best := int(np.argmax(left))]):
        chosen.append((best, float(left[best])))
        first, last = max(best - reach, 0), min(best + reach + 1, len(left))
        left[first:last] -= shares[first - best + reach : last - best + reach]
        left[best] = -np.inf
    return chosen


def runs_of(orders: Iterable[int], neighbours: int, rounds: int) -> list[list[int]]:
    """Each round with its ``neighbours`` on both sides, as ascending runs of orders; runs that meet or overlap are one.

    ``rounds``: how many the user has; orders count from 0. Neighbours come on top and never push out a round.
    """
    wanted: set[int] = set()
    for order in orders:
        wanted.update(range(max(order - neighbours, 0), min(order + neighbours + 1, rounds)))
    runs: list[list[int]] = []
    for order in sorted(wanted):
        if runs and runs[-1][-1] == order - 1:
            runs[-1].append(order)
        else:
            runs.append([order])
    return runs


def place(orders: Sequence[int], neighbours: int, rounds: int, placement: Placement) -> tuple[list[int], list[list[int]]]:
    """Which of the rounds found (best first) are returned, and the runs that show them with their neighbours.

    ``runs``: time-ordered runs. ``tail``: the rounds by score, then all neighbours. ``none``: without neighbours.
    ``interleave``: each round is followed by its neighbours, and all is cut to as many as were found; it loses rounds, and
    is here to show that.
    """
    if placement == "runs" or neighbours == 0:
        return list(orders), runs_of(orders, neighbours, rounds)
    if placement == "none":
        return list(orders), runs_of(orders, 0, rounds)
    if placement == "tail":
        beside = [order for run in runs_of(orders, neighbours, rounds) for order in run if order not in set(orders)]
        return list(orders), [[order] for order in (*orders, *beside)]
    mixed = list(dict.fromkeys(near for order in orders for near in _around(order, neighbours, rounds)))[: len(orders)]
    return [order for order in orders if order in set(mixed)], [[order] for order in mixed]


def _around(order: int, neighbours: int, rounds: int) -> list[int]:
    near = [order + step for distance in range(1, neighbours + 1) for step in (-distance, distance)]
    return [order, *(other for other in near if 0 <= other < rounds)]
