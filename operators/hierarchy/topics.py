"""Topics: related episodes of one user, by average linkage over their vectors (AdaMM, section 3.4).

The mean cosine of two groups of unit vectors is the product of their sums over the product of their sizes. Average linkage
is reducible, so nearest-neighbour chains find its tree in quadratic time (Murtagh 1983), and the cut at a similarity is that
of the usual algorithm.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from operators.hierarchy.vectors import Floats, unit_length

Group = list[int]

_SHY = 5
"""The background of so few episodes is half of their mean: two unlike episodes are not told apart by what they share."""


def topic_labels(vectors: Floats, similarity: float, block: int) -> NDArray[np.int64]:
    """The topic (episodes,) of each episode, numbered from 0 by their first episodes.

    ``vectors`` (episodes, dim): unit length; one of zeros is a topic by itself. What all of the user's episodes have in
    common is taken off first, as with rounds (``episodes``). Groups are joined while their mean cosine is at least
    ``similarity`` (above 0), the nearest first. At most ``block`` groups are compared each with each: of more, stretches
    of the history are joined first, and what comes of them then.
    """
    rows = _beyond_background(vectors)
    groups: list[Group] = [[place] for place in range(len(rows))]
    while len(groups) > block:
        stretches = [groups[at : at + block] for at in range(0, len(groups), block)]
        joined = [group for stretch in stretches for group in _joined(rows, stretch, similarity)]
        joined.sort(key=lambda group: group[0])
        if len(joined) * 2 > len(groups):  # what is left has little in common: another pass would find no more
            return _labels(joined, len(rows))
        groups = joined
    return _labels(_joined(rows, groups, similarity), len(rows))


def _beyond_background(vectors: Floats) -> NDArray[np.float64]:
    known = np.asarray(vectors.any(axis=1))
    background = vectors.sum(axis=0, dtype=np.float64) / (int(known.sum()) + _SHY)
    return unit_length(np.where(known.reshape(-1, 1), vectors - background, 0.0)).astype(np.float64)


def _labels(groups: Sequence[Group], count: int) -> NDArray[np.int64]:
    labels = np.zeros(count, np.int64)
    for number, group in enumerate(sorted(groups, key=lambda group: group[0])):
        labels[group] = number
    return labels


def _joined(rows: NDArray[np.float64], groups: Sequence[Group], similarity: float) -> list[Group]:
    """The groups after all joins at or above the similarity; members ascending."""
    sums = np.array([rows[group].sum(axis=0) for group in groups]).reshape(len(groups), rows.shape[1])
    sizes = np.array([len(group) for group in groups], np.float64)
    near = sums @ sums.T / np.outer(sizes, sizes)
    np.fill_diagonal(near, -np.inf)
    parts: dict[int, Group] = {place: list(group) for place, group in enumerate(groups)}
    done: list[Group] = []
    chain: list[int] = []
    while parts:
        if not chain:
            chain.append(min(parts))
        top = chain[-1]
        best = _nearest(near[top], chain[-2] if len(chain) > 1 else None)
        if near[top, best] < similarity:  # by reducibility nothing that is joined later comes nearer
            done.append(parts.pop(top))
            near[top, :] = near[:, top] = -np.inf
            chain.pop()
        elif len(chain) > 1 and best == chain[-2]:
            kept, gone = min(top, best), max(top, best)
            _join(near, sizes, kept, gone)
            parts[kept] = sorted(parts[kept] + parts.pop(gone))
            del chain[-2:]
        else:
            chain.append(best)
    return done


def _nearest(row: NDArray[np.float64], before: int | None) -> int:
    """The nearest group: of equal ones that before in the chain, which ends it, else the earliest."""
    best = int(np.argmax(row))
    return before if before is not None and row[before] == row[best] else best


def _join(near: NDArray[np.float64], sizes: NDArray[np.float64], kept: int, gone: int) -> None:
    """Lance and Williams' update for average linkage."""
    total = sizes[kept] + sizes[gone]
    row = (sizes[kept] * near[kept] + sizes[gone] * near[gone]) / total
    row[[kept, gone]] = -np.inf
    near[kept, :] = near[:, kept] = row
    near[gone, :] = near[:, gone] = -np.inf
    sizes[kept] = total
