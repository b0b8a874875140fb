"""The itemsets inside no other, found without finding the others."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from operators.errors import MiningBudget
from operators.induce.pairs import Allowed, PairGraph, components, pair_graph, split
from operators.induce.transactions import Bounds, Itemset, Transactions, bits_of, ranges

_WIDE = 4096
"""Pairs of candidates whose looking through is as long as a visit: a wide set costs as many."""


def mine_maximal(
    transactions: Transactions,
    *,
    min_support: int,
    min_all_conf: float,
    allowed: Allowed | None = None,
    budget: int = 200_000,
) -> list[Itemset]:
    """Of the itemsets that ``mine`` finds those inside no other, sorted by length, then items, without finding the others.

    Only inclusion-maximal candidates become schemas (AdaMM, after Eq. 6). MiningBudget where the search visits more than
    ``budget`` sets, wide ones counting for several; InductionError where a threshold is out of range.
    """
    graph = pair_graph(transactions, min_support=min_support, min_all_conf=min_all_conf, allowed=allowed)
    pairs = dict(zip(zip(graph.first.tolist(), graph.second.tolist(), strict=True), graph.supports.tolist(), strict=True))
    groups = components(graph)
    found = [Itemset(one, int(graph.item_supports[one[0]])) for one in groups if len(one) == 1]
    found += [Itemset(one, pairs[one]) for one in groups if len(one) == 2]
    larger = [one for one in groups if len(one) > 2]
    for part, component in zip(split(transactions, larger), larger, strict=True):
        names = np.array(component)
        linked = _linked(graph, names)
        search = _Maximal(part, linked, graph.item_supports[names], Bounds(min_support, min_all_conf), budget)
        budget = search.run()
        found += [Itemset(tuple(names[sorted(items)].tolist()), support) for items, support in search.found]
    return sorted(found, key=lambda itemset: (len(itemset.items), itemset.items))


def _linked(graph: PairGraph, names: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Which of the component's items make a passing pair (items, items); an item counts as linked to itself."""
    begin, end = np.searchsorted(graph.first, names), np.searchsorted(graph.first, names, side="right")
    pairs = ranges(begin, end - begin)
    one, other = np.searchsorted(names, graph.first[pairs]), np.searchsorted(names, graph.second[pairs])
    linked = np.eye(len(names), dtype=np.bool_)
    linked[one, other] = linked[other, one] = True
    return linked


@dataclass(frozen=True)
class _Node:
    """A set on the way: ``prefix`` with its transactions, support and largest support of an item, and what may join it.

    ``bits`` are those of the node above; the last item of the prefix has yet to be taken in.
    """

    prefix: tuple[int, ...]
    bits: NDArray[np.uint64]
    count: int
    most: int
    candidates: NDArray[np.int64]


@dataclass
class _Maximal:
    """A depth-first search for the maximal sets of one component; a superset is always met before its subsets.

    It stops at a node whose candidates pass all together, or lie with the prefix inside a set already found; and it takes
    an item in at once when the prefix never occurs without it and it changes neither measure.
    """

    part: Transactions
    linked: NDArray[np.bool_]
    counts: NDArray[np.int64]
    thresholds: Bounds
    budget: int
    found: list[tuple[tuple[int, ...], int]] = field(default_factory=list)

    def run(self) -> int:
        """Fill ``found``; what is left of the budget."""
        part = self.part
        self._bits = bits_of(part, np.arange(part.width))
        self._inside = [0] * part.width
        every = np.full(self._bits.rows.shape[1], np.iinfo(np.uint64).max)
        stack = [_Node((), every, int(part.weights.sum()), 0, np.arange(part.width))]
        left = self.budget
        while stack:
            if left == 0:
                raise MiningBudget(
                    "the search for maximal itemsets is too large: raise min_support or min_all_conf, or budget"
                )
            node = stack.pop()
            left = max(left - 1 - len(node.candidates) ** 2 // _WIDE, 0)
            stack.extend(reversed(self._visit(node)))
        return left

    def _visit(self, node: _Node) -> list[_Node]:
        """The nodes below; the sets that are complete here are kept."""
        if self._is_inside((*node.prefix, *node.candidates.tolist())):
            return []
        bits = node.bits & self._bits.rows[node.prefix[-1]] if node.prefix else node.bits
        joined = self._bits.rows[node.candidates] & bits
        counts, most = self._bits.weigh(joined), np.maximum(node.most, self.counts[node.candidates])
        passed = self.thresholds.passed(counts, most)
        candidates, joined, counts, most = node.candidates[passed], joined[passed], counts[passed], most[passed]
        with_all = self.linked[np.ix_(candidates, candidates)].all(axis=1)
        absorbed = (counts == node.count) & (most == node.most) & with_all
        prefix = (*node.prefix, *candidates[absorbed].tolist())
        candidates, joined, counts, most = candidates[~absorbed], joined[~absorbed], counts[~absorbed], most[~absorbed]
        if not len(candidates):
            self._keep(prefix, node.count)
            return []
        if with_all.all() and self._keep_all(prefix, candidates, joined, most):
            return []
        order = np.argsort(counts, kind="stable")  # rare items first: the sets below them are small
        candidates, counts, most = candidates[order], counts[order], most[order]
        return [
            _Node((*prefix, item), bits, count, top, candidates[at:][self.linked[item, candidates[at:]]])
            for at, (item, count, top) in enumerate(
                zip(candidates.tolist(), counts.tolist(), most.tolist(), strict=True), start=1
            )
        ]

    def _keep_all(
        self, prefix: tuple[int, ...], candidates: NDArray[np.int64], joined: NDArray[np.uint64], most: NDArray[np.int64]
    ) -> bool:
        """Whether the prefix passes with all its candidates; it is kept then."""
        count = self._bits.weigh(np.bitwise_and.reduce(joined, axis=0)[None])
        if not self.thresholds.passed(count, most.max()).all():
            return False
        self._keep((*prefix, *candidates.tolist()), int(count[0]))
        return True

    def _keep(self, items: tuple[int, ...], count: int) -> None:
        if not items or self._is_inside(items):
            return
        for item in items:
            self._inside[item] |= 1 << len(self.found)
        self.found.append((items, count))

    def _is_inside(self, items: tuple[int, ...]) -> bool:
        """Whether a set already found holds all of the items."""
        holding = -1
        for item in items:
            holding &= self._inside[item]
            if not holding:
                return False
        return bool(items)
