"""From the best rounds to what is returned: time-ordered runs with their neighbours (V-Mem, section 3.3)."""

from __future__ import annotations

from collections.abc import Iterable


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
