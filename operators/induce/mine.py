"""Sets of items that occur together often and consistently: itemsets by support and all-confidence (AdaMM, Eqs. 3 to 6).

Both measures can only fall as a set grows, so every pair inside a passing set passes too. The pairs are counted over all
transactions first; nothing else is ever looked at, and the components of the graph they form are independent of each other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from operators.errors import InductionError, MiningBudget

Allowed = Callable[[NDArray[np.int64], NDArray[np.int64]], NDArray[np.bool_]]
"""A further condition on pairs: arrays of item numbers, the first of each pair the smaller, to a bool each."""

_EXACT = 2**53
"""Weights are summed in float64, which is exact below this."""
_Pairs = tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]
"""Pairs as ranks, the smaller first, with a count each."""
_UNDER = 1 - 1e-9
"""Times a threshold: a bound that rounding may make too low, never too high."""
_SPARED = 0.7
"""How much of the support that a partner needs is left out of the first count. More leaves too many to count again."""
_MOST_WORDS = 1 << 24
"""Words of 8 bytes that the bits of the items counted again may take."""
_PAIRS = 1 << 17
"""Pairs counted at a time: their codes stay in the processor's cache."""
_DENSE = 12
"""Pairs an item has on average from which on leaving some out costs less than counting them."""
_POWERS = np.ldexp(1.0, np.arange(32))
_BLOCK = 1 << 22
"""Bytes of bit rows that one step of the search makes."""


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


@dataclass(frozen=True, eq=False)
class PairGraph:
    """The pairs that pass both thresholds, counted over all transactions.

    ``first`` < ``second`` (pairs,), sorted by both, with their ``supports`` (pairs,); ``vertices``, the items that have the
    support, ascending; ``item_supports`` (width,) of every item.
    """

    first: NDArray[np.int64]
    second: NDArray[np.int64]
    supports: NDArray[np.int64]
    vertices: NDArray[np.int64]
    item_supports: NDArray[np.int64]


def supports(transactions: Transactions) -> NDArray[np.int64]:
    """How many transactions, by weight, hold each item: supp({a}), (width,) (AdaMM, Eq. 3)."""
    weights = _occurrence_weights(transactions, _lengths(transactions))
    return np.bincount(transactions.items, weights, transactions.width).astype(np.int64)


def all_confidence(support: int, supports_of_items: Iterable[int]) -> float:
    """supp(C) / max over a in C of supp({a}) (AdaMM, Eq. 5), 1 for a single item; 0 where no item ever occurs."""
    most = max(supports_of_items, default=0)
    return support / most if most else 0.0


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
    thresholds = _Thresholds(min_support, min_all_conf)
    graph, bits = _graph(transactions, thresholds, allowed)
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


def components(graph: PairGraph) -> list[tuple[int, ...]]:
    """The connected components, each with its items ascending, by their first items; an item without a pair is its own.

    Every passing itemset lies inside one.
    """
    label = np.arange(len(graph.item_supports))
    first, second = graph.first, graph.second
    while (label[first] != label[second]).any():
        least = np.minimum(label[first], label[second])
        np.minimum.at(label, label[first], least)
        np.minimum.at(label, label[second], least)
        while (label[label] != label).any():
            label = label[label]
    labels = label[graph.vertices]
    order = np.argsort(labels, kind="stable")
    cuts = np.flatnonzero(np.diff(labels[order])) + 1
    return [tuple(one.tolist()) for one in np.split(graph.vertices[order], cuts) if len(one)]


def split(transactions: Transactions, components: Sequence[Sequence[int]]) -> list[Transactions]:
    """What each component sees of the transactions: sets of its items alone, equal ones added up, empty ones left out.

    Item ``i`` of a part is ``component[i]``. Every occurrence of an item is in the part, so its counts are global ones.
    InductionError where components share items or do not ascend.
    """
    sizes = np.array([len(one) for one in components], np.int64)
    names = np.fromiter(chain.from_iterable(components), np.int64, int(sizes.sum()))
    owner = np.full(transactions.width, -1, np.int64)
    owner[names] = np.repeat(np.arange(len(sizes)), sizes)
    local = np.zeros(transactions.width, np.int32)
    local[names] = _ranges(np.zeros(len(sizes), np.int64), sizes)
    if len(np.unique(names)) < len(names) or any(list(one) != sorted(one) for one in components):
        raise InductionError("components: each must ascend, and no item may be in two")
    held = np.flatnonzero(owner[transactions.items] >= 0)
    rows = np.repeat(np.arange(len(transactions)), _lengths(transactions))[held]
    owners = owner[transactions.items[held]]
    order = np.argsort(owners, kind="stable")  # keeps the order of sets, and of the items in each
    rows, owners, items = rows[order], owners[order], local[transactions.items[held[order]]]
    begins = np.flatnonzero((np.diff(rows, prepend=-1) != 0) | (np.diff(owners, prepend=-1) != 0))
    ragged = _Ragged(begins, np.diff(begins, append=len(items)), items)
    ragged, weights, groups = _distinct(ragged, transactions.weights[rows[begins]], owners[begins])
    cuts = np.searchsorted(groups, np.arange(len(sizes) + 1))
    return [
        _part(ragged, weights, slice(start, end), int(size))
        for start, end, size in zip(cuts[:-1], cuts[1:], sizes, strict=True)
    ]


# --- pairs ------------------------------------------------------------------------------------------------------------


def pair_graph(
    transactions: Transactions, *, min_support: int, min_all_conf: float, allowed: Allowed | None = None
) -> PairGraph:
    """The pairs whose support and all-confidence reach the thresholds over all transactions, and that are ``allowed``.

    A shard's own counts say nothing about a pair, which may pass as a whole and fail in every shard. InductionError where
    a threshold is out of range.
    """
    return _graph(transactions, _Thresholds(min_support, min_all_conf), allowed)[0]


def _graph(transactions: Transactions, thresholds: _Thresholds, allowed: Allowed | None) -> tuple[PairGraph, _Bits | None]:
    """The pair graph, and the bits of all its items where they had to be made."""
    counts = supports(transactions)
    vertices = np.flatnonzero(counts >= thresholds.support)
    ranked = vertices[np.argsort(-counts[vertices], kind="stable")]
    (one, other, together), bits = _passing_pairs(transactions, ranked, counts[ranked], thresholds)
    first, second = np.minimum(ranked[one], ranked[other]), np.maximum(ranked[one], ranked[other])
    if allowed is not None:
        kept = np.asarray(allowed(first, second), np.bool_)
        first, second, together = first[kept], second[kept], together[kept]
    order = np.lexsort((second, first))
    return PairGraph(first[order], second[order], together[order], vertices, counts), bits


@dataclass(frozen=True)
class _Thresholds:
    support: int
    all_conf: float

    def __post_init__(self) -> None:
        if self.support < 1:
            raise InductionError(f"min_support is {self.support}: it must be at least 1")
        if not 0 <= self.all_conf <= 1:
            raise InductionError(f"min_all_conf is {self.all_conf}: it must be from 0 to 1")

    def passed(self, counts: NDArray[np.int64], most: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Whether sets of these supports, with these largest supports of an item, pass (AdaMM, Eqs. 4 to 6).

        The quotient is compared, never a product with the threshold: 7 of 25 pass at 0.28, yet 7 < 0.28 * 25 in floats.
        """
        return (counts >= self.support) & (counts / np.maximum(most, 1) >= self.all_conf)


@dataclass(frozen=True)
class _Ranked:
    """Occurrences (n,) of the frequent items by transaction, the longest first, and in it by rank.

    Rank 0 is the most frequent item's. ``ends``: where the occurrence's transaction ends. ``weights``: None where all are 1.
    """

    ranks: NDArray[Any]
    ends: NDArray[np.int64]
    weights: NDArray[np.int64] | None
    keys: NDArray[Any]
    """Transaction and rank in one number, the rank in the lowest bits; they rise."""


def _by_rank(transactions: Transactions, ranked: NDArray[np.int64]) -> _Ranked:
    bits, size = max(1, len(ranked).bit_length()), len(transactions)
    kind: Any = np.uint32 if size << bits < 2**32 else np.int64
    rank = np.zeros(transactions.width, kind)
    rank[ranked] = np.arange(len(ranked), dtype=kind)
    frequent = np.zeros(transactions.width, np.bool_)
    frequent[ranked] = True
    longest_first = np.argsort(-_lengths(transactions), kind="stable")
    rows = np.empty(size, kind)
    rows[longest_first] = np.arange(size, dtype=kind) << kind(bits)
    keys = np.repeat(rows, _lengths(transactions))
    keys += rank[transactions.items]
    keys = np.sort(keys[frequent[transactions.items]])
    lengths = np.bincount(keys >> kind(bits), minlength=size)
    weights = transactions.weights[longest_first]
    # A stable sort of 16-bit numbers is a radix sort.
    ranks = (keys & kind((1 << bits) - 1)).astype(np.uint16 if len(ranked) <= 2**16 else np.int64)
    return _Ranked(
        ranks,
        np.repeat(np.cumsum(lengths), lengths),
        None if (weights == 1).all() else np.repeat(weights, lengths),
        keys,
    )


def _passing_pairs(
    transactions: Transactions, ranked: NDArray[np.int64], counts: NDArray[np.int64], thresholds: _Thresholds
) -> tuple[_Pairs, _Bits | None]:
    """The pairs that pass, as ranks, with their supports, and the bits of their items if made; ``counts`` (ranks,) falls.

    Where transactions are long, an item's rarest partners and its longest transactions are left out of the count. A partner
    needs a certain support; it must have what is not left out of that in the rest, which few do that do not pass. Those few
    are counted by bits.
    """
    held = _by_rank(transactions, ranked)
    needed = np.maximum(thresholds.support, (thresholds.all_conf * _UNDER * counts).astype(np.int64))
    scan = _scan(held, counts, thresholds)
    spare = (needed * (_SPARED if scan.dense else 0.0)).astype(np.int64)
    spared = _spared(held, scan, counts, spare) if spare.any() else scan
    first, second, together = _counted(held, spared, needed - spare)
    bits = None
    if spare.any() and len(first):
        again = np.unique(ranked[np.concatenate([first, second])])
        words = len(transactions) // 64 + 1
        if len(first) * words > 8 * (scan.partners.sum() - spared.partners.sum()) or len(again) * words > _MOST_WORDS:
            first, second, together = _counted(held, scan, needed)
        else:
            bits = _bits_of(transactions, again)
            together = _together(bits, bits.of_items(ranked[first]), bits.of_items(ranked[second]))
    passed = thresholds.passed(together, counts[first])
    return (first[passed], second[passed], together[passed]), bits


def _together(bits: _Bits, first: NDArray[np.int64], second: NDArray[np.int64]) -> NDArray[np.int64]:
    """The supports of pairs of items."""
    together = np.zeros(len(first), np.int64)
    step = max(1, _BLOCK // (8 * bits.rows.shape[1]))
    for start in range(0, len(first), step):
        cut = slice(start, start + step)
        together[cut] = bits.weigh(bits.rows[first[cut]] & bits.rows[second[cut]])
    return together


@dataclass(frozen=True)
class _Scan:
    """What is counted: ``occurrences`` (n,) by rank, each with so many ``partners`` behind it in its transaction.

    A pair's code is ``offsets[first]`` (ranks + 1,) plus how far its second rank is behind the first. ``dense``: an item has
    so many partners that leaving some out saves work.
    """

    occurrences: NDArray[np.int64]
    partners: NDArray[np.int64]
    offsets: NDArray[np.int64]
    dense: bool


def _scan(held: _Ranked, counts: NDArray[np.int64], thresholds: _Thresholds) -> _Scan:
    """Every occurrence with all partners of higher rank, or with those that are not too rare where that saves work.

    A pair of the items a and b has a support of at most b's, so b must not be much rarer than a.
    """
    positions = np.arange(1, len(held.ranks) + 1)
    bands, ends = np.full(len(counts), len(counts)), held.ends
    dense = bool((held.ends - positions).sum() > _DENSE * len(positions))
    if dense:
        bands = np.searchsorted(-counts, -(thresholds.all_conf * _UNDER) * counts, side="right")
        ends = np.searchsorted(held.keys, held.keys - held.ranks + bands[held.ranks].astype(held.keys.dtype))
    widths = bands - np.arange(1, len(counts) + 1)
    order = np.argsort(held.ranks, kind="stable")  # an item's occurrences together, in the longest transactions first
    partners = ends - positions
    return _Scan(order, partners[order], np.concatenate([[0], np.cumsum(widths)]), dense)


def _spared(held: _Ranked, scan: _Scan, counts: NDArray[np.int64], spare: NDArray[np.int64]) -> _Scan:
    """The scan without each item's occurrences in the longest transactions, at most ``spare`` (ranks,) by weight."""
    weights = None if held.weights is None else held.weights[scan.occurrences]
    of_item = np.bincount(held.ranks, minlength=len(counts))
    upto = np.cumsum(np.ones(len(scan.occurrences), np.int64) if weights is None else weights)
    kept = upto > np.repeat(spare + np.cumsum(counts) - counts, of_item)
    return _Scan(scan.occurrences[kept], scan.partners[kept], scan.offsets, scan.dense)


def _counted(held: _Ranked, scan: _Scan, least: NDArray[np.int64]) -> _Pairs:
    """The pairs whose count in the scan reaches ``least`` (ranks,) of their first item."""
    found: list[_Pairs] = []
    upto = np.searchsorted(held.ranks[scan.occurrences], np.arange(len(least) + 1))
    pairs = np.concatenate([[0], np.cumsum(scan.partners)])[upto]
    for begin, end in _cuts(np.diff(pairs), _PAIRS):
        part = slice(upto[begin], upto[end])
        codes, together = _count(held, scan.occurrences[part], scan.partners[part], scan.offsets, begin, end)
        places = np.flatnonzero(together >= least[begin:end].min())
        together = together[places]
        codes = places + scan.offsets[begin] if codes is None else codes[places]
        first = np.searchsorted(scan.offsets, codes, side="right") - 1
        enough = together >= least[first]
        first = first[enough]
        found.append((first, codes[enough] - scan.offsets[first] + first + 1, together[enough]))
    empty = np.zeros(0, np.int64)
    return tuple(np.concatenate([empty, *(one[at] for one in found)]) for at in range(3))  # type: ignore[return-value]


def _count(
    held: _Ranked,
    occurrences: NDArray[np.int64],
    partners: NDArray[np.int64],
    offsets: NDArray[np.int64],
    begin: int,
    end: int,
) -> tuple[NDArray[np.int64] | None, NDArray[np.int64]]:
    """The pairs of the items ``begin`` to ``end``: codes and supports, or supports of all codes from the first item's on."""
    ranks = held.ranks[occurrences].astype(np.int64)
    codes_of = offsets[ranks] - ranks - 1
    bins, total = int(offsets[end] - offsets[begin]), int(partners.sum())
    if bins > 4 * total + 1024:
        codes, place = np.unique(_codes(held, occurrences, partners, codes_of), return_inverse=True)
        return codes, np.bincount(place, _repeated(held, occurrences, partners), len(codes)).astype(np.int64)
    counts = np.zeros(bins, np.int64)
    codes_of -= offsets[begin]
    for start, stop in _cuts(partners, 4 * _PAIRS):
        part = occurrences[start:stop], partners[start:stop]
        counts += np.bincount(_codes(held, *part, codes_of[start:stop]), _repeated(held, *part), bins).astype(
            np.int64, copy=False
        )
    return None, counts


def _codes(
    held: _Ranked, occurrences: NDArray[np.int64], partners: NDArray[np.int64], codes_of: NDArray[np.int64]
) -> NDArray[np.int64]:
    codes: NDArray[np.int64] = np.repeat(codes_of, partners)
    codes += held.ranks[_ranges(occurrences + 1, partners)]
    return codes


def _repeated(held: _Ranked, occurrences: NDArray[np.int64], partners: NDArray[np.int64]) -> NDArray[np.int64] | None:
    return None if held.weights is None else np.repeat(held.weights[occurrences], partners)


# --- sets of three and more -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Bits:
    """Which transactions hold an item: ``rows`` (names, words), a bit a transaction; ``names`` are item numbers, ascending.

    A weight is the sum of its binary digits: ``planes[k]`` has the bits of the transactions whose weight has digit ``k``,
    and is as short as it can be, heavier transactions standing first. No planes where every weight is 1.
    """

    names: NDArray[np.int64]
    rows: NDArray[np.uint64]
    planes: tuple[NDArray[np.uint64], ...]

    def of_items(self, items: NDArray[np.int64]) -> NDArray[np.int64]:
        """Which rows are those of some of the items."""
        places: NDArray[np.int64] = np.searchsorted(self.names, items)
        return places

    def weigh(self, sets: NDArray[np.uint64]) -> NDArray[np.int64]:
        """The weight of each set of transactions (sets, words)."""
        if not self.planes:
            counts: NDArray[np.int64] = np.bitwise_count(sets).sum(axis=1, dtype=np.int64)
            return counts
        total = np.zeros(len(sets), np.int64)
        for digit, plane in enumerate(self.planes):
            total += np.bitwise_count(sets[:, : len(plane)] & plane).sum(axis=1, dtype=np.int64) << digit
        return total


def _bits_of(transactions: Transactions, names: NDArray[np.int64]) -> _Bits:
    """The bits of some items, ascending."""
    weights, words = transactions.weights, max(1, -(-len(transactions) // 64))
    local = np.full(transactions.width, -1, np.int32)
    local[names] = np.arange(len(names), dtype=np.int32)
    items = local[transactions.items]
    kept = np.flatnonzero(items >= 0)
    rows, items = np.repeat(np.arange(len(weights)), _lengths(transactions))[kept], items[kept]
    if (weights == 1).all():
        return _Bits(names, _packed(items, rows, len(names), words), ())
    place = np.empty(len(weights), np.int64)
    place[np.argsort(-weights, kind="stable")] = np.arange(len(weights))
    planes = []
    for digit in range(int(weights.max()).bit_length()):
        members = place[(weights >> digit) & 1 == 1]
        plane = _packed(np.zeros(len(members), np.int64), members, 1, words)[0]
        planes.append(plane[: int(members.max(initial=-1)) // 64 + 1])
    return _Bits(names, _packed(items, place[rows], len(names), words), tuple(planes))


def _packed(rows: NDArray[Any], bits: NDArray[np.int64], height: int, words: int) -> NDArray[np.uint64]:
    """A matrix (height, words) with the distinct places (row, bit) set: half a word is a sum of powers of two."""
    halves = rows.astype(np.int64)
    halves *= 2 * words
    halves += bits >> 5
    table = np.bincount(halves, _POWERS[bits & 31], height * 2 * words)
    return table.astype(np.uint32).view(np.uint64).reshape(height, words)


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

    bits: _Bits
    edges: NDArray[np.int64]
    thresholds: _Thresholds
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
        for begin, end in _cuts(others, _BLOCK // (8 * level.bits.shape[1])):
            left = np.repeat(after[begin:end] - 1, others[begin:end])
            right = _ranges(after[begin:end], others[begin:end])
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
    transactions: Transactions, graph: PairGraph, bits: _Bits | None, thresholds: _Thresholds, longest: int | None
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Passing sets of three items and more (n, length) with their supports (n,), in several parts."""
    degree = np.bincount(np.concatenate([graph.first, graph.second]), minlength=transactions.width)
    kept = (degree[graph.first] > 1) & (degree[graph.second] > 1)  # as every pair inside three linked items
    first, second, counts = graph.first[kept], graph.second[kept], graph.supports[kept]
    if len(first) < 3:
        return
    most = np.maximum(graph.item_supports[first], graph.item_supports[second])
    if bits is None:
        bits = _bits_of(transactions, np.unique(np.concatenate([first, second])))
    names, first, second = bits.names, bits.of_items(first), bits.of_items(second)
    search = _Search(bits, first * len(names) + second, thresholds, longest)
    per_first = np.bincount(first, minlength=len(names))
    upto = np.concatenate([[0], np.cumsum(per_first)])
    for begin, end in _cuts(per_first, _BLOCK // (8 * bits.rows.shape[1])):
        cut = slice(upto[begin], upto[end])
        pairs = np.stack([first[cut], second[cut]], axis=1)
        together = bits.rows[first[cut]] & bits.rows[second[cut]]
        for level in search.below(_Level(pairs, together, counts[cut], most[cut], first[cut])):
            yield names[level.sets], level.counts


# --- maximal sets -----------------------------------------------------------------------------------------------------


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
    ``budget`` sets; InductionError where a threshold is out of range.
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
        search = _Maximal(part, linked, graph.item_supports[names], _Thresholds(min_support, min_all_conf), budget)
        budget = search.run()
        found += [Itemset(tuple(names[sorted(items)].tolist()), support) for items, support in search.found]
    return sorted(found, key=lambda itemset: (len(itemset.items), itemset.items))


def _linked(graph: PairGraph, names: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Which of the component's items make a passing pair (items, items); an item counts as linked to itself."""
    begin, end = np.searchsorted(graph.first, names), np.searchsorted(graph.first, names, side="right")
    pairs = _ranges(begin, end - begin)
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
    thresholds: _Thresholds
    budget: int
    found: list[tuple[tuple[int, ...], int]] = field(default_factory=list)

    def run(self) -> int:
        """Fill ``found``; what is left of the budget."""
        part = self.part
        self._bits = _bits_of(part, np.arange(part.width))
        self._inside = [0] * part.width
        every = np.full(self._bits.rows.shape[1], np.iinfo(np.uint64).max)
        stack = [_Node((), every, int(part.weights.sum()), 0, np.arange(part.width))]
        left = self.budget
        while stack:
            if left == 0:
                raise MiningBudget(
                    "the search for maximal itemsets is too large: raise min_support or min_all_conf, or budget"
                )
            left -= 1
            stack.extend(reversed(self._visit(stack.pop())))
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


# --- arrays of arrays -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Ragged:
    """Rows of unequal length: row ``n`` is ``items[begins[n]:begins[n] + lengths[n]]``."""

    begins: NDArray[np.int64]
    lengths: NDArray[np.int64]
    items: NDArray[np.int32]

    def take(self, rows: NDArray[np.int64]) -> NDArray[np.int32]:
        """The items of some rows, one row after the other."""
        return self.items[_ranges(self.begins[rows], self.lengths[rows])]


def _distinct(
    ragged: _Ragged, weights: NDArray[np.int64], groups: NDArray[np.int64]
) -> tuple[_Ragged, NDArray[np.int64], NDArray[np.int64]]:
    """Distinct rows of each group, with their summed weights and their group, which rises. Rows are not empty.

    Rows are brought together by a hash and compared in full; two that only share the hash stay apart.
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
    distinct = _Ragged(np.cumsum(lengths) - lengths, lengths, ragged.take(rows))
    return distinct, np.add.reduceat(weights[order], firsts), groups[rows]


def _part(ragged: _Ragged, weights: NDArray[np.int64], rows: slice, width: int) -> Transactions:
    lengths = ragged.lengths[rows]
    starts = np.concatenate([[0], np.cumsum(lengths)])
    begin = int(ragged.begins[rows][0]) if len(lengths) else 0
    return Transactions(starts, ragged.items[begin : begin + int(starts[-1])], weights[rows], width)


def _mixed(numbers: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Well spread 64-bit numbers (the finaliser of SplitMix64, Steele et al. 2014)."""
    mixed = (numbers + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return mixed ^ (mixed >> np.uint64(31))


def _lengths(transactions: Transactions) -> NDArray[np.int64]:
    return np.diff(transactions.starts)


def _occurrence_weights(transactions: Transactions, lengths: NDArray[np.int64]) -> NDArray[np.int64] | None:
    """Each occurrence's weight, with ``lengths`` (sets,) occurrences a set; None where every weight is 1."""
    if (transactions.weights == 1).all():
        return None
    return np.repeat(transactions.weights, lengths)


def _ranges(begins: NDArray[np.int64], lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    """``begin, begin + 1 ..``, ``length`` of them, for each pair, one after the other."""
    ends = np.cumsum(lengths)
    places: NDArray[np.int64] = np.repeat(begins - (ends - lengths), lengths)
    places += np.arange(len(places))
    return places


def _cuts(sizes: NDArray[np.int64], limit: int) -> Iterator[tuple[int, int]]:
    """Neighbours taken together, as (begin, end), as long as their sizes add up to at most ``limit``; a larger one alone."""
    upto = np.cumsum(sizes)
    begin, done = 0, 0
    while begin < len(sizes):
        end = max(begin + 1, int(np.searchsorted(upto, done + limit, side="right")))
        yield begin, end
        begin, done = end, int(upto[end - 1])


def _found_in(known: NDArray[np.int64], wanted: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Which numbers are among ``known``, which rise and are at least one."""
    places = np.minimum(np.searchsorted(known, wanted), len(known) - 1)
    found: NDArray[np.bool_] = known[places] == wanted
    return found


def _itemsets(sets: NDArray[np.int64], counts: NDArray[np.int64]) -> list[Itemset]:
    return [Itemset(tuple(items), count) for items, count in zip(sets.tolist(), counts.tolist(), strict=True)]


def _names(part: Transactions, component: Sequence[int]) -> NDArray[np.int64]:
    if len(component) != part.width:
        raise InductionError(f"the part has {part.width} items, the component {len(component)}: take both from one split")
    return np.array(component, np.int64)


def _renamed(allowed: Allowed, names: NDArray[np.int64]) -> Allowed:
    return lambda one, other: allowed(names[one], names[other])
