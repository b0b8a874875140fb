"""The maximal sets of a few transactions, as ``mine_maximal`` finds them, without arrays: what one user tells is small."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field

from operators.induce.transactions import Bounds, Itemset

MOST_ITEMS = 12
"""Items of enough support, of which at most two to their number are sets to look at."""
MOST_SETS = 64
"""Distinct transactions whose weights are added one by one."""


def mine_few(
    sets: Sequence[Collection[int]],
    weights: Sequence[int],
    *,
    min_support: int,
    min_all_conf: float,
    allowed: Callable[[int, int], bool] = lambda _first, _second: True,
) -> list[Itemset] | None:
    """What ``mine_maximal`` finds of sets of item numbers with their weights; None where they are not few.

    ``allowed``: of two items, the smaller first, whether they may be in one set. InductionError where a threshold is out of
    range.
    """
    thresholds = Bounds(min_support, min_all_conf)
    if len(sets) > MOST_SETS:
        return None
    counts: dict[int, int] = {}
    holders: dict[int, int] = {}
    for at, (items, weight) in enumerate(zip(sets, weights, strict=True)):
        for item in items:
            counts[item] = counts.get(item, 0) + weight
            holders[item] = holders.get(item, 0) | 1 << at
    kept = sorted(item for item, count in counts.items() if count >= min_support)
    if len(kept) > MOST_ITEMS:
        return None
    search = _Few(weights, counts, holders, thresholds, allowed)
    search.below((), (1 << len(sets)) - 1, 0, 0, kept)
    return sorted(search.found, key=lambda itemset: (len(itemset.items), itemset.items))


@dataclass(frozen=True)
class _Few:
    """A depth-first search in the order of items, in which a set is met after all that hold it.

    ``counts``: each item's support; ``holders``: the transactions with it, a bit each.
    """

    weights: Sequence[int]
    counts: dict[int, int]
    holders: dict[int, int]
    thresholds: Bounds
    allowed: Callable[[int, int], bool]
    found: list[Itemset] = field(default_factory=list)
    inside: list[frozenset[int]] = field(default_factory=list)

    def below(self, prefix: tuple[int, ...], bits: int, count: int, most: int, candidates: Sequence[int]) -> None:
        """Keep the maximal sets of a passing prefix, with its transactions, support and largest support of an item, and
        some of the later items.
        """
        if self._is_inside((*prefix, *candidates)):
            return
        joined = [(item, *self._joined(prefix, bits, most, item)) for item in candidates]
        passing = [each for each in joined if each[2]]
        for at, (item, with_it, support, top) in enumerate(passing, start=1):
            self.below((*prefix, item), with_it, support, top, [each[0] for each in passing[at:]])
        if not passing and prefix and not self._is_inside(prefix):
            self.found.append(Itemset(prefix, count))
            self.inside.append(frozenset(prefix))

    def _is_inside(self, items: tuple[int, ...]) -> bool:
        """Whether a set already found holds all of the items."""
        return any(each.issuperset(items) for each in self.inside)

    def _joined(self, prefix: tuple[int, ...], bits: int, most: int, item: int) -> tuple[int, int, int]:
        """The transactions of the prefix with one more item, their support and the largest of an item; 0 where it fails."""
        with_it = bits & self.holders[item]
        support = self._weight(with_it)
        top = max(most, self.counts[item])
        passed = support >= self.thresholds.support and support / max(top, 1) >= self.thresholds.all_conf
        if not passed or not all(self.allowed(own, item) for own in prefix):
            return 0, 0, 0
        return with_it, support, top

    def _weight(self, bits: int) -> int:
        total = 0
        while bits:
            low = bits & -bits
            total += self.weights[low.bit_length() - 1]
            bits ^= low
        return total
