"""From fused scores to what is returned: which rounds, and their neighbours (V-Mem, section 3.3, Table 13)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

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
    reach = 2 * min(neighbours, len(left))
    if spread <= 0 or reach <= 0:
        best_first = np.lexsort((np.arange(len(left)), -left))[:k]
        return [(int(place), float(left[place])) for place in best_first if np.isfinite(left[place])]
    shares = spread * (reach + 1 - np.abs(np.arange(-reach, reach + 1))) / reach
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
    runs: list[list[int]] = []
    for order in sorted(orders):
        first, end = max(order - neighbours, 0), min(order + neighbours + 1, rounds)
        if runs and runs[-1][-1] >= first - 1:
            runs[-1].extend(range(runs[-1][-1] + 1, end))
        else:
            runs.append(list(range(first, end)))
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
        found = set(orders)
        beside = [order for run in runs_of(orders, neighbours, rounds) for order in run if order not in found]
        return list(orders), [[order] for order in (*orders, *beside)]
    mixed: dict[int, None] = {}
    for near in (near for order in orders for near in _around(order, neighbours, rounds)):
        if len(mixed) == len(orders):
            break
        mixed[near] = None
    return [order for order in orders if order in mixed], [[order] for order in mixed]


def _around(order: int, neighbours: int, rounds: int) -> Iterator[int]:
    """The round and its neighbours, the nearest first."""
    yield order
    for distance in range(1, min(neighbours, rounds) + 1):
        yield from (near for near in (order - distance, order + distance) if 0 <= near < rounds)
