"""The pairs of items that pass, counted over all transactions before anything else, and the components of their graph.

Both measures can only fall as a set grows, so every pair inside a passing set passes too, and the set lies in one component.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from operators.errors import InductionError
from operators.induce.transactions import (
    Bits,
    Bounds,
    Ragged,
    Transactions,
    bits_of,
    cuts,
    distinct,
    lengths_of,
    ranges,
    supports,
)

Allowed = Callable[[NDArray[np.int64], NDArray[np.int64]], NDArray[np.bool_]]
"""A further condition on pairs: arrays of item numbers, the first of each pair the smaller, to a bool each."""

BLOCK = 1 << 22
"""Bytes of bit rows that one step of the counting or of the search makes."""
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


def pair_graph(
    transactions: Transactions, *, min_support: int, min_all_conf: float, allowed: Allowed | None = None
) -> PairGraph:
    """The pairs whose support and all-confidence reach the thresholds over all transactions, and that are ``allowed``.

    A shard's own counts say nothing about a pair, which may pass as a whole and fail in every shard. InductionError where
    a threshold is out of range.
    """
    return graph_and_bits(transactions, Bounds(min_support, min_all_conf), allowed)[0]


def graph_and_bits(transactions: Transactions, thresholds: Bounds, allowed: Allowed | None) -> tuple[PairGraph, Bits | None]:
    """The pair graph, and the bits (names, words) of all its items where they had to be made."""
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
    local[names] = ranges(np.zeros(len(sizes), np.int64), sizes)
    if len(np.unique(names)) < len(names) or any(list(one) != sorted(one) for one in components):
        raise InductionError("components: each must ascend, and no item may be in two")
    held = np.flatnonzero(owner[transactions.items] >= 0)
    rows = np.repeat(np.arange(len(transactions)), lengths_of(transactions))[held]
    owners = owner[transactions.items[held]]
    order = np.argsort(owners, kind="stable")  # keeps the order of sets, and of the items in each
    rows, owners, items = rows[order], owners[order], local[transactions.items[held[order]]]
    begins = np.flatnonzero((np.diff(rows, prepend=-1) != 0) | (np.diff(owners, prepend=-1) != 0))
    ragged = Ragged(begins, np.diff(begins, append=len(items)), items)
    ragged, weights, groups = distinct(ragged, transactions.weights[rows[begins]], owners[begins])
    cuts = np.searchsorted(groups, np.arange(len(sizes) + 1))
    return [
        _part(ragged, weights, slice(start, end), int(size))
        for start, end, size in zip(cuts[:-1], cuts[1:], sizes, strict=True)
    ]


def _part(ragged: Ragged, weights: NDArray[np.int64], rows: slice, width: int) -> Transactions:
    lengths = ragged.lengths[rows]
    starts = np.concatenate([[0], np.cumsum(lengths)])
    begin = int(ragged.begins[rows][0]) if len(lengths) else 0
    return Transactions(starts, ragged.items[begin : begin + int(starts[-1])], weights[rows], width)


# --- counting ---------------------------------------------------------------------------------------------------------


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
    longest_first = np.argsort(-lengths_of(transactions), kind="stable")
    rows = np.empty(size, kind)
    rows[longest_first] = np.arange(size, dtype=kind) << kind(bits)
    keys = np.repeat(rows, lengths_of(transactions))
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
    transactions: Transactions, ranked: NDArray[np.int64], counts: NDArray[np.int64], thresholds: Bounds
) -> tuple[_Pairs, Bits | None]:
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
            bits = bits_of(transactions, again)
            together = _together(bits, bits.of_items(ranked[first]), bits.of_items(ranked[second]))
    passed = thresholds.passed(together, counts[first])
    return (first[passed], second[passed], together[passed]), bits


def _together(bits: Bits, first: NDArray[np.int64], second: NDArray[np.int64]) -> NDArray[np.int64]:
    """The supports of pairs of items."""
    together = np.zeros(len(first), np.int64)
    step = max(1, BLOCK // (8 * bits.rows.shape[1]))
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


def _scan(held: _Ranked, counts: NDArray[np.int64], thresholds: Bounds) -> _Scan:
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
    for begin, end in cuts(np.diff(pairs), _PAIRS):
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
    for start, stop in cuts(partners, 4 * _PAIRS):
        part = occurrences[start:stop], partners[start:stop]
        counts += np.bincount(_codes(held, *part, codes_of[start:stop]), _repeated(held, *part), bins).astype(
            np.int64, copy=False
        )
    return None, counts


def _codes(
    held: _Ranked, occurrences: NDArray[np.int64], partners: NDArray[np.int64], codes_of: NDArray[np.int64]
) -> NDArray[np.int64]:
    codes: NDArray[np.int64] = np.repeat(codes_of, partners)
    codes += held.ranks[ranges(occurrences + 1, partners)]
    return codes


def _repeated(held: _Ranked, occurrences: NDArray[np.int64], partners: NDArray[np.int64]) -> NDArray[np.int64] | None:
    return None if held.weights is None else np.repeat(held.weights[occurrences], partners)
