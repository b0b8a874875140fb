"""Sets of items that occur together often and consistently: itemsets by support and all-confidence (AdaMM, Eqs. 3 to 6)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from operators.errors import InductionError
from operators.induce.pairs import BLOCK, Allowed, PairGraph, graph_and_bits
from operators.induce.transactions import Bits, Bounds, Itemset, Transactions, bits_of, cuts, ranges


def mine(
    transactions: Transactions,
    *,
    min_support: int,
    min_all_conf: float,
    longest: int | None = None,
    allowed: Allowed | None = None,
) -> list[Itemset]:
    """All itemsets of at least both thresholds (AdaMM, Eqs. 4 and 6), single items too, sorted by length, then items.

    None is longer than ``longest``; every pair in one is ``allowed``. Many items that always occur together have as many
    itemsets as they have subsets: ``mine_maximal`` is for those. InductionError where a threshold is out of range.
    """
    thresholds = Bounds(min_support, min_all_conf)
    graph, bits = graph_and_bits(transactions, thresholds, allowed)
    found = _itemsets(graph.vertices[:, None], graph.item_supports[graph.vertices])
    if longest is None or longest > 1:
        found += _itemsets(np.stack([graph.first, graph.second], axis=1), graph.supports)
    if longest is None or longest > 2:
        larger = [
            itemset
            for sets, counts in _larger(transactions, graph, bits, thresholds, longest)
            for itemset in _itemsets(sets, counts)
        ]
        found += sorted(larger, key=lambda itemset: (len(itemset.items), itemset.items))
    return found if longest is None or longest > 0 else []


def mine_component(
    part: Transactions,
    component: Sequence[int],
    *,
    min_support: int,
    min_all_conf: float,
    longest: int | None = None,
    allowed: Allowed | None = None,
) -> list[Itemset]:
    """What ``mine`` finds of one component's items, from its part of ``split`` alone, so that another worker can do it."""
    names = _names(part, component)
    local = None if allowed is None else _renamed(allowed, names)
    found = mine(part, min_support=min_support, min_all_conf=min_all_conf, longest=longest, allowed=local)
    return [Itemset(tuple(names[list(items)].tolist()), support) for items, support in found]


def _itemsets(sets: NDArray[np.int64], counts: NDArray[np.int64]) -> list[Itemset]:
    return [Itemset(tuple(items), count) for items, count in zip(sets.tolist(), counts.tolist(), strict=True)]


def _names(part: Transactions, component: Sequence[int]) -> NDArray[np.int64]:
    if len(component) != part.width:
        raise InductionError(f"the part has {part.width} items, the component {len(component)}: take both from one split")
    return np.array(component, np.int64)


def _renamed(allowed: Allowed, names: NDArray[np.int64]) -> Allowed:
    return lambda one, other: allowed(names[one], names[other])


# --- sets of three and more -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Level:
    """Passing sets of one length: ``sets`` (n, length) in order, their transactions (n, words), and by set: the support, the
    largest support of an item, and the number of the set that it extends by its last item, which never falls.
    """

    sets: NDArray[np.int64]
    bits: NDArray[np.uint64]
    counts: NDArray[np.int64]
    most: NDArray[np.int64]
    parents: NDArray[np.int64]


@dataclass(frozen=True)
class _Search:
    """A breadth-first search in blocks of limited size; sets with all but their last item in common are joined in pairs."""

    bits: Bits
    edges: NDArray[np.int64]
    thresholds: Bounds
    longest: int | None

    def below(self, level: _Level) -> Iterator[_Level]:
        """All passing sets that extend two sets of the level, and those that extend them."""
        if self.longest is not None and level.sets.shape[1] >= self.longest:
            return
        for left, right in self._joins(level):
            found = self._joined(level, left, right)
            if len(found.sets):
                yield found
                yield from self.below(found)

    def _joins(self, level: _Level) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
        last, width = level.sets[:, -1], len(self.bits.rows)
        after = np.arange(1, len(last) + 1)
        others = np.searchsorted(level.parents, level.parents, side="right") - after
        for begin, end in cuts(others, BLOCK // (8 * level.bits.shape[1])):
            left = np.repeat(after[begin:end] - 1, others[begin:end])
            right = ranges(after[begin:end], others[begin:end])
            joined = _found_in(self.edges, last[left] * width + last[right])
            yield left[joined], right[joined]

    def _joined(self, level: _Level, left: NDArray[np.int64], right: NDArray[np.int64]) -> _Level:
        bits = level.bits[left] & level.bits[right]
        counts, most = self.bits.weigh(bits), np.maximum(level.most[left], level.most[right])
        passed = self.thresholds.passed(counts, most)
        left, right = left[passed], right[passed]
        sets = np.concatenate([level.sets[left], level.sets[right, -1:]], axis=1)
        return _Level(sets, bits[passed], counts[passed], most[passed], left)


def _larger(
    transactions: Transactions, graph: PairGraph, bits: Bits | None, thresholds: Bounds, longest: int | None
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Passing sets of three items and more (n, length) with their supports (n,), in several parts."""
    degree = np.bincount(np.concatenate([graph.first, graph.second]), minlength=transactions.width)
    kept = (degree[graph.first] > 1) & (degree[graph.second] > 1)  # as every pair inside three linked items
    first, second, counts = graph.first[kept], graph.second[kept], graph.supports[kept]
    if len(first) < 3:
        return
    most = np.maximum(graph.item_supports[first], graph.item_supports[second])
    if bits is None:
        bits = bits_of(transactions, np.unique(np.concatenate([first, second])))
    names, first, second = bits.names, bits.of_items(first), bits.of_items(second)
    search = _Search(bits, first * len(names) + second, thresholds, longest)
    per_first = np.bincount(first, minlength=len(names))
    upto = np.concatenate([[0], np.cumsum(per_first)])
    for begin, end in cuts(per_first, BLOCK // (8 * bits.rows.shape[1])):
        cut = slice(upto[begin], upto[end])
        pairs = np.stack([first[cut], second[cut]], axis=1)
        together = bits.rows[first[cut]] & bits.rows[second[cut]]
        for level in search.below(_Level(pairs, together, counts[cut], most[cut], first[cut])):
            yield names[level.sets], level.counts


def _found_in(known: NDArray[np.int64], wanted: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Which numbers are among ``known``, which rise and are at least one."""
    places = np.minimum(np.searchsorted(known, wanted), len(known) - 1)
    found: NDArray[np.bool_] = known[places] == wanted
    return found
