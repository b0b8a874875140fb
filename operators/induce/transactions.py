"""Weighted sets of items and what all miners of them share: supports and thresholds, bit sets, arrays of arrays."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from operators.errors import InductionError

_EXACT = 2**53
"""Weights are summed in float64, which is exact below this."""
_POWERS = np.ldexp(1.0, np.arange(32))


@dataclass(frozen=True, eq=False)
class Transactions:
    """Weighted sets of items 0..width-1: set ``n`` is ``items[starts[n]:starts[n + 1]]`` and occurs ``weights[n]`` times.

    ``starts`` (sets + 1,), ``items`` (occurrences,) ascending and distinct inside a set, ``weights`` (sets,) not negative.
    InductionError where the arrays are not so, or the weights add up to 2**53.
    """

    starts: NDArray[np.int64]
    items: NDArray[np.int32]
    weights: NDArray[np.int64]
    width: int

    def __post_init__(self) -> None:
        starts, items, weights = self.starts, self.items, self.weights
        if len(starts) != len(weights) + 1 or starts[0] != 0 or starts[-1] != len(items) or (np.diff(starts) < 0).any():
            raise InductionError("transactions: starts must rise from 0 to the number of items, one more than weights")
        if len(weights) and (weights.min() < 0 or weights.sum(dtype=np.float64) >= _EXACT):
            raise InductionError("transactions: weights must not be negative, nor add up to 2**53")
        if len(items) and not 0 <= items.min() <= items.max() < self.width:
            raise InductionError(f"transactions: items must be numbers from 0 to below the width, {self.width}")
        rises = items[1:] > items[:-1]
        if not rises.all():
            inner = starts[1:-1]
            rises[inner[(inner > 0) & (inner < len(items))] - 1] = True
            if not rises.all():
                raise InductionError("transactions: the items of a set must be ascending and distinct")

    def __len__(self) -> int:
        return len(self.weights)

    @classmethod
    def of(
        cls, sets: Iterable[Iterable[int]], weights: Sequence[int] | None = None, width: int | None = None
    ) -> Transactions:
        """From sets of item numbers in any order; without ``weights`` each occurs once, without ``width`` it is the least.

        InductionError where numbers are negative or not below ``width``, or weights do not belong to the sets.
        """
        held = [one if isinstance(one, list | tuple) else list(one) for one in sets]
        lengths = np.fromiter(map(len, held), np.int64, len(held))
        items = np.fromiter(chain.from_iterable(held), np.int64, int(lengths.sum()))
        if width is None:
            width = int(items.max(initial=-1)) + 1
        if len(items) and not 0 <= items.min() <= items.max() < min(width, 2**31):
            raise InductionError(f"transactions: items must be numbers from 0 to below the width, {width}")
        rows = np.repeat(np.arange(len(held)), lengths)
        keys = np.sort(rows * width + items)
        keys = keys[np.diff(keys, prepend=-1) > 0]
        starts = np.searchsorted(keys, np.arange(len(held) + 1) * width)
        times = np.ones(len(held), np.int64) if weights is None else np.array(weights, np.int64)
        return cls(starts.astype(np.int64), (keys % max(1, width)).astype(np.int32), times, width)


class Itemset(NamedTuple):
    """Items, ascending, and the weight of the transactions that hold them all."""

    items: tuple[int, ...]
    support: int


def supports(transactions: Transactions) -> NDArray[np.int64]:
    """How many transactions, by weight, hold each item: supp({a}), (width,) (AdaMM, Eq. 3)."""
    weights = _occurrence_weights(transactions, lengths_of(transactions))
    return np.bincount(transactions.items, weights, transactions.width).astype(np.int64)


def all_confidence(support: int, supports_of_items: Iterable[int]) -> float:
    """supp(C) / max over a in C of supp({a}) (AdaMM, Eq. 5), 1 for a single item; 0 where no item ever occurs."""
    most = max(supports_of_items, default=0)
    return support / most if most else 0.0


def _occurrence_weights(transactions: Transactions, lengths: NDArray[np.int64]) -> NDArray[np.int64] | None:
    """Each occurrence's weight, with ``lengths`` (sets,) occurrences a set; None where every weight is 1."""
    if (transactions.weights == 1).all():
        return None
    return np.repeat(transactions.weights, lengths)


def lengths_of(transactions: Transactions) -> NDArray[np.int64]:
    """How many items each set has (sets,)."""
    return np.diff(transactions.starts)


@dataclass(frozen=True)
class Bounds:
    """What a set needs to pass. InductionError where the support is below 1 or the all-confidence not from 0 to 1."""

    support: int
    all_conf: float

    def __post_init__(self) -> None:
        if self.support < 1:
            raise InductionError(f"min_support is {self.support}: it must be at least 1")
        if not 0 <= self.all_conf <= 1:
            raise InductionError(f"min_all_conf is {self.all_conf}: it must be from 0 to 1")

    def passed(self, counts: NDArray[np.int64], most: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Whether sets (n,) of these supports, with these largest supports of an item, pass (AdaMM, Eqs. 4 to 6).

        The quotient is compared, never a product with the threshold: 7 of 25 pass at 0.28, yet 7 < 0.28 * 25 in floats.
        """
        return (counts >= self.support) & (counts / np.maximum(most, 1) >= self.all_conf)


# --- bit sets ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Bits:
    """Which transactions hold an item: ``rows`` (names, words), a bit a transaction; ``names`` are item numbers, ascending.

    A weight is the sum of its binary digits: ``planes[k]`` has the bits of the transactions whose weight has digit ``k``,
    and is as short as it can be, heavier transactions standing first. No planes where every weight is 1.
    """

    names: NDArray[np.int64]
    rows: NDArray[np.uint64]
    planes: tuple[NDArray[np.uint64], ...]

    def of_items(self, items: NDArray[np.int64]) -> NDArray[np.int64]:
        """Which rows (n,) are those of some of the items (n,)."""
        places: NDArray[np.int64] = np.searchsorted(self.names, items)
        return places

    def weigh(self, sets: NDArray[np.uint64]) -> NDArray[np.int64]:
        """The weight (sets,) of each set of transactions (sets, words)."""
        if not self.planes:
            counts: NDArray[np.int64] = np.bitwise_count(sets).sum(axis=1, dtype=np.int64)
            return counts
        total = np.zeros(len(sets), np.int64)
        for digit, plane in enumerate(self.planes):
            total += np.bitwise_count(sets[:, : len(plane)] & plane).sum(axis=1, dtype=np.int64) << digit
        return total


def bits_of(transactions: Transactions, names: NDArray[np.int64]) -> Bits:
    """The bits of some items (names,), ascending."""
    weights, words = transactions.weights, max(1, -(-len(transactions) // 64))
    local = np.full(transactions.width, -1, np.int32)
    local[names] = np.arange(len(names), dtype=np.int32)
    items = local[transactions.items]
    kept = np.flatnonzero(items >= 0)
    rows, items = np.repeat(np.arange(len(weights)), lengths_of(transactions))[kept], items[kept]
    if (weights == 1).all():
        return Bits(names, _packed(items, rows, len(names), words), ())
    place = np.empty(len(weights), np.int64)
    place[np.argsort(-weights, kind="stable")] = np.arange(len(weights))
    planes = []
    for digit in range(int(weights.max()).bit_length()):
        members = place[(weights >> digit) & 1 == 1]
        plane = _packed(np.zeros(len(members), np.int64), members, 1, words)[0]
        planes.append(plane[: int(members.max(initial=-1)) // 64 + 1])
    return Bits(names, _packed(items, place[rows], len(names), words), tuple(planes))


def _packed(rows: NDArray[Any], bits: NDArray[np.int64], height: int, words: int) -> NDArray[np.uint64]:
    """A matrix (height, words) with the distinct places (row, bit) set: half a word is a sum of powers of two."""
    halves = rows.astype(np.int64)
    halves *= 2 * words
    halves += bits >> 5
    table = np.bincount(halves, _POWERS[bits & 31], height * 2 * words)
    return table.astype(np.uint32).view(np.uint64).reshape(height, words)


# --- arrays of arrays -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Ragged:
    """Rows of unequal length: row ``n`` is ``items[begins[n]:begins[n] + lengths[n]]``.

    ``begins`` and ``lengths`` (rows,), ``items`` (occurrences,).
    """

    begins: NDArray[np.int64]
    lengths: NDArray[np.int64]
    items: NDArray[np.int32]

    def take(self, rows: NDArray[np.int64]) -> NDArray[np.int32]:
        """The items (n,) of some rows, one row after the other."""
        return self.items[ranges(self.begins[rows], self.lengths[rows])]


def distinct(
    ragged: Ragged, weights: NDArray[np.int64], groups: NDArray[np.int64]
) -> tuple[Ragged, NDArray[np.int64], NDArray[np.int64]]:
    """Distinct rows of each group, with their summed weights and their group, which rises. Rows are not empty.

    ``weights`` and ``groups`` (rows,); those returned have as many elements as there are distinct rows. Rows are brought
    together by a hash and compared in full; two that only share the hash stay apart.
    """
    if not len(weights):
        return ragged, weights, groups
    marks = _mixed(np.arange(int(ragged.items.max()) + 1, dtype=np.uint64))[ragged.items]
    hashes = np.add.reduceat(marks, ragged.begins)
    order = np.lexsort((hashes, ragged.lengths, groups))
    before, here = order[:-1], order[1:]
    same = (
        (groups[before] == groups[here])
        & (ragged.lengths[before] == ragged.lengths[here])
        & (hashes[before] == hashes[here])
    )
    pairs = np.flatnonzero(same)
    if len(pairs):
        lengths = ragged.lengths[here[pairs]]
        equal = ragged.take(before[pairs]) == ragged.take(here[pairs])
        same[pairs] = np.logical_and.reduceat(equal, np.cumsum(lengths) - lengths)
    firsts = np.flatnonzero(np.concatenate([[True], ~same]))
    rows = order[firsts]
    lengths = ragged.lengths[rows]
    distinct = Ragged(np.cumsum(lengths) - lengths, lengths, ragged.take(rows))
    return distinct, np.add.reduceat(weights[order], firsts), groups[rows]


def _mixed(numbers: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Well spread 64-bit numbers (the finaliser of SplitMix64, Steele et al. 2014)."""
    mixed = (numbers + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return mixed ^ (mixed >> np.uint64(31))


def ranges(begins: NDArray[np.int64], lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    """``begin, begin + 1 ..``, ``length`` of them, for each pair of the two (n,), one after the other (sum of lengths,)."""
    ends = np.cumsum(lengths)
    places: NDArray[np.int64] = np.repeat(begins - (ends - lengths), lengths)
    places += np.arange(len(places))
    return places


def cuts(sizes: NDArray[np.int64], limit: int) -> Iterator[tuple[int, int]]:
    """Neighbours together, as (begin, end), while the ``sizes`` (n,) add up to at most ``limit``, a larger one alone."""
    upto = np.cumsum(sizes)
    begin, done = 0, 0
    while begin < len(sizes):
        end = max(begin + 1, int(np.searchsorted(upto, done + limit, side="right")))
        yield begin, end
        begin, done = end, int(upto[end - 1])
