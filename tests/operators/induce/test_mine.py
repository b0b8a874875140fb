"""Itemsets by support and all-confidence, against brute force over all subsets and against other miners."""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from operators.errors import InductionError, MiningBudget
from operators.induce.maximal import mine_maximal
from operators.induce.mine import mine, mine_component
from operators.induce.pairs import components, pair_graph, split
from operators.induce.transactions import Itemset, Transactions, all_confidence, supports

ITEMS = 7
SETS = st.lists(st.tuples(st.frozensets(st.integers(0, ITEMS - 1)), st.integers(0, 40)), max_size=30)
SUPPORT = st.sampled_from([1, 2, 3, 5, 20])
ALL_CONF = st.sampled_from([0.0, 0.1, 0.3, 0.5, 2 / 3, 0.9, 1.0])
DENSE = st.sampled_from([-1, 12])
"""Whether short transactions are counted as long ones are."""
APART = (1, 4)
"""Items that `not_apart` allows in no set together."""


def built(sets: Sequence[tuple[Iterable[int], int]], width: int | None = ITEMS) -> Transactions:
    return Transactions.of([one for one, _ in sets], [weight for _, weight in sets], width)


def by_force(sets: Sequence[tuple[Iterable[int], int]], min_support: int, min_all_conf: float) -> list[Itemset]:
    """Eqs. 3 to 6 as they stand, for every subset."""

    def supp(items: Iterable[int]) -> int:
        return sum(weight for one, weight in sets if set(items) <= set(one))

    found = []
    for length in range(1, ITEMS + 1):
        for items in combinations(range(ITEMS), length):
            most = max(supp({item}) for item in items)
            if supp(items) >= min_support and supp(items) / most >= min_all_conf:
                found.append(Itemset(items, supp(items)))
    return found


def maximal(found: Iterable[Itemset]) -> list[Itemset]:
    found = list(found)
    return [one for one in found if not any(set(one.items) < set(other.items) for other in found)]


def not_apart(one: NDArray[np.int64], other: NDArray[np.int64]) -> NDArray[np.bool_]:
    return (one != APART[0]) | (other != APART[1])


def test_the_equations_on_a_small_example() -> None:
    steps, sleep, heart, weight = range(4)
    rounds = [{steps, sleep}, {steps, sleep, heart}, {steps, sleep, heart}, {steps}, {weight}]
    transactions = Transactions.of(rounds)
    # Eq. 3: the rounds whose attributes include the set.
    assert supports(transactions).tolist() == [4, 3, 2, 1]
    found = {one.items: one.support for one in mine(transactions, min_support=2, min_all_conf=0.5)}
    assert found[steps, sleep] == 3 and found[steps, sleep, heart] == 2
    # Eq. 4: at least theta_s rounds.
    assert (weight,) not in found and (heart,) in found
    # Eq. 5: the set's rounds over those of its most frequent item; Eq. 6: at least theta_a.
    assert all_confidence(3, [4, 3]) == 3 / 4
    assert all_confidence(2, [4, 3, 2]) == 2 / 4
    assert all_confidence(2, [2]) == 1.0
    assert [one.items for one in mine(transactions, min_support=2, min_all_conf=0.6)] == [
        (steps,),
        (sleep,),
        (heart,),
        (steps, sleep),
        (sleep, heart),
    ]
    # Only the inclusion-maximal ones become schemas.
    assert mine_maximal(transactions, min_support=2, min_all_conf=0.5) == [Itemset((steps, sleep, heart), 2)]


@settings(deadline=None, max_examples=150)
@given(SETS, SUPPORT, ALL_CONF, DENSE)
def test_mining_is_brute_force(
    sets: list[tuple[frozenset[int], int]], min_support: int, min_all_conf: float, dense: int
) -> None:
    expected = by_force(sets, min_support, min_all_conf)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("operators.induce.pairs._DENSE", dense)
        assert mine(built(sets), min_support=min_support, min_all_conf=min_all_conf) == expected
    shortest = mine(built(sets), min_support=min_support, min_all_conf=min_all_conf, longest=3)
    assert shortest == [one for one in expected if len(one.items) <= 3]


@settings(deadline=None, max_examples=150)
@given(SETS, SUPPORT, ALL_CONF, st.booleans())
def test_maximal_sets_are_those_inside_no_other(
    sets: list[tuple[frozenset[int], int]], min_support: int, min_all_conf: float, apart: bool
) -> None:
    allowed = not_apart if apart else None
    every = mine(built(sets), min_support=min_support, min_all_conf=min_all_conf, allowed=allowed)
    found = mine_maximal(built(sets), min_support=min_support, min_all_conf=min_all_conf, allowed=allowed)
    assert found == maximal(every)


@settings(deadline=None)
@given(SETS, SUPPORT, ALL_CONF)
def test_only_sets_of_allowed_pairs(sets: list[tuple[frozenset[int], int]], min_support: int, min_all_conf: float) -> None:
    found = mine(built(sets), min_support=min_support, min_all_conf=min_all_conf, allowed=not_apart)
    assert found == [one for one in by_force(sets, min_support, min_all_conf) if not set(APART) <= set(one.items)]


@settings(deadline=None)
@given(SETS, SUPPORT, ALL_CONF, st.randoms(use_true_random=False))
def test_weights_are_repeats_and_neither_order_nor_shards_matter(
    sets: list[tuple[frozenset[int], int]], min_support: int, min_all_conf: float, chance: random.Random
) -> None:
    expected = mine(built(sets), min_support=min_support, min_all_conf=min_all_conf)
    repeated = [(one, 1) for one, weight in sets for _ in range(weight)]
    chance.shuffle(repeated)
    assert mine(built(repeated), min_support=min_support, min_all_conf=min_all_conf) == expected
    # The counts of two shards add up.
    cut = chance.randint(0, len(repeated))
    states = [Counter(one for one, _ in shard) for shard in (repeated[:cut], repeated[cut:])]
    merged = list((states[0] + states[1]).items())
    assert mine(built(merged), min_support=min_support, min_all_conf=min_all_conf) == expected


@settings(deadline=None)
@given(SETS, SUPPORT, ALL_CONF, st.booleans())
def test_each_component_can_be_mined_elsewhere(
    sets: list[tuple[frozenset[int], int]], min_support: int, min_all_conf: float, apart: bool
) -> None:
    allowed = not_apart if apart else None
    transactions = built(sets)
    parts = components(pair_graph(transactions, min_support=min_support, min_all_conf=min_all_conf, allowed=allowed))
    found = [
        itemset
        for part, component in zip(split(transactions, parts), parts, strict=True)
        for itemset in mine_component(part, component, min_support=min_support, min_all_conf=min_all_conf, allowed=allowed)
    ]
    expected = mine(transactions, min_support=min_support, min_all_conf=min_all_conf, allowed=allowed)
    assert sorted(found, key=lambda one: (len(one.items), one.items)) == expected


@settings(deadline=None)
@given(SETS, st.randoms(use_true_random=False))
def test_all_confidence_never_rises_with_the_set(sets: list[tuple[frozenset[int], int]], chance: random.Random) -> None:
    counts = supports(built(sets))
    items = chance.sample(range(ITEMS), ITEMS)
    values = [
        all_confidence(
            sum(weight for one, weight in sets if set(items[:length]) <= one), [int(counts[item]) for item in items[:length]]
        )
        for length in range(1, ITEMS + 1)
    ]
    assert values == sorted(values, reverse=True)


@settings(deadline=None, max_examples=50)
@given(st.integers(0, 10_000), st.sampled_from([2, 8, 20]), st.sampled_from([0.0, 0.2, 0.5]), st.booleans(), DENSE)
def test_the_pairs_are_those_of_a_full_count(
    seed: int, min_support: int, min_all_conf: float, weighted: bool, dense: int
) -> None:
    sets = skewed(seed, 300, 60)
    weights = np.random.default_rng(seed).geometric(0.3, len(sets)).tolist() if weighted else [1] * len(sets)
    counts: Counter[tuple[int, ...]] = Counter()
    for one, weight in zip(sets, weights, strict=True):
        for length in (1, 2):
            for items in combinations(sorted(one), length):
                counts[items] += weight
    expected = [
        (a, b, count)
        for (a, b), count in sorted((items, count) for items, count in counts.items() if len(items) == 2)
        if count >= min_support and count / max(counts[a,], counts[b,]) >= min_all_conf
    ]
    transactions = Transactions.of(sets, weights, 60)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("operators.induce.pairs._DENSE", dense)
        graph = pair_graph(transactions, min_support=min_support, min_all_conf=min_all_conf)
    assert list(zip(graph.first.tolist(), graph.second.tolist(), graph.supports.tolist(), strict=True)) == expected


def skewed(seed: int, sets: int, items: int) -> list[list[int]]:
    """Sets of up to half of the items, some of which are far more frequent, with groups that tend to come together."""
    chance = np.random.default_rng(seed)
    found = []
    for _ in range(sets):
        drawn = set(((items * chance.random(int(chance.integers(0, items // 2))) ** 2.5).astype(int)).tolist())
        for item in list(drawn):
            if item % 5 == 0 and chance.random() < 0.8:
                drawn |= {min(items - 1, item + 1), min(items - 1, item + 2)}
        found.append(sorted(drawn))
    return found


@pytest.mark.parametrize(
    "name", ["pairs._PAIRS", "pairs.BLOCK", "mine.BLOCK", "pairs._MOST_WORDS", "pairs._DENSE", "pairs._SPARED"]
)
def test_how_the_work_is_cut_does_not_matter(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    transactions = Transactions.of(skewed(1, 400, 60))
    expected = mine(transactions, min_support=8, min_all_conf=0.3)
    assert max(len(one.items) for one in expected) > 3
    monkeypatch.setattr(f"operators.induce.{name}", 0)
    assert mine(transactions, min_support=8, min_all_conf=0.3) == expected


def test_many_rare_items_are_counted_without_a_table_of_all_pairs() -> None:
    transactions = Transactions.of([[2 * number, 2 * number + 1] for number in range(30_000)])
    graph = pair_graph(transactions, min_support=1, min_all_conf=0.5)
    assert graph.first.tolist() == list(range(0, 60_000, 2))
    assert set(graph.supports.tolist()) == {1}
    assert len(components(graph)) == 30_000


def test_equal_hashes_do_not_make_sets_equal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("operators.induce.transactions._mixed", lambda numbers: numbers * np.uint64(0))
    transactions = Transactions.of([[0, 1], [0, 2], [0, 1], [1, 2], [0]], [1, 2, 3, 4, 5])
    (part,) = split(transactions, [(0, 1, 2)])
    held: Counter[tuple[int, ...]] = Counter()
    for begin, end, weight in zip(part.starts[:-1], part.starts[1:], part.weights.tolist(), strict=True):
        held[tuple(part.items[begin:end].tolist())] += weight
    assert held == {(0, 1): 4, (0, 2): 2, (1, 2): 4, (0,): 5}


def test_a_threshold_that_is_met_exactly_passes() -> None:
    assert Itemset((0, 1), 3) in mine(built([([0, 1], 3), ([0], 27)]), min_support=3, min_all_conf=0.1)
    assert 0.28 * 25 > 7
    assert Itemset((0, 1), 7) in mine(built([([0, 1], 7), ([0], 18)]), min_support=7, min_all_conf=0.28)
    for most in range(1, 200):
        for least in (1, most // 7, most // 3, most // 2, most):
            if least:
                pair = Transactions.of([[0, 1], [0]], [least, most - least])
                assert len(mine(pair, min_support=least, min_all_conf=least / most)) == 3
                assert mine_maximal(pair, min_support=least, min_all_conf=least / most) == [Itemset((0, 1), least)]


def test_a_pair_that_fails_in_each_half_passes_as_a_whole() -> None:
    halves: list[list[tuple[list[int], int]]] = [[([0, 1], 2), ([0], 8)], [([0, 1], 2), ([1], 8)]]
    for half in halves:
        assert pair_graph(built(half), min_support=2, min_all_conf=0.3).first.tolist() == []
    assert pair_graph(built(halves[0] + halves[1]), min_support=2, min_all_conf=0.3).supports.tolist() == [4]


def test_forty_items_that_always_come_together_are_one_set() -> None:
    block = list(range(40))
    transactions = Transactions.of([block, [*block, 40], [*block, 41], [40, 41]], [20, 5, 3, 1])
    began = time.perf_counter()
    found = mine_maximal(transactions, min_support=5, min_all_conf=0.5)
    assert time.perf_counter() - began < 0.5
    assert found == [Itemset((40,), 6), Itemset(tuple(block), 28)]
    exact = mine_maximal(transactions, min_support=5, min_all_conf=0.1)
    assert exact == [Itemset(tuple(range(41)), 5)]


def test_a_search_that_grows_too_large_is_given_up() -> None:
    everything = range(24)
    transactions = Transactions.of([[item for item in everything if item not in out] for out in combinations(everything, 2)])
    with pytest.raises(MiningBudget, match="raise min_support"):
        mine_maximal(transactions, min_support=10, min_all_conf=0.0, budget=500)
    assert mine_maximal(Transactions.of([[0, 1, 2]] * 3), min_support=2, min_all_conf=1.0, budget=1) == [
        Itemset((0, 1, 2), 3)
    ]
    with pytest.raises(MiningBudget):
        mine_maximal(Transactions.of([[0, 1, 2]] * 3), min_support=2, min_all_conf=1.0, budget=0)


@pytest.mark.parametrize("sets", [[], [[]], [[], []]])
def test_nothing_gives_nothing(sets: list[list[int]]) -> None:
    for width in (None, 0, 3):
        transactions = Transactions.of(sets, width=width)
        assert len(transactions) == len(sets)
        assert supports(transactions).tolist() == [0] * (width or 0)
        assert mine(transactions, min_support=1, min_all_conf=0.0) == []
        assert mine_maximal(transactions, min_support=1, min_all_conf=0.0) == []
    assert split(Transactions.of(sets, width=3), [(0, 2), (1,)])[0].width == 2


def test_an_item_of_every_transaction_counts() -> None:
    transactions = Transactions.of([[0, 1], [0, 2], [0, 1, 2]])
    found = mine(transactions, min_support=2, min_all_conf=0.5)
    assert found == [Itemset((0,), 3), Itemset((1,), 2), Itemset((2,), 2), Itemset((0, 1), 2), Itemset((0, 2), 2)]


def test_sets_are_taken_in_any_order_with_repeats() -> None:
    transactions = Transactions.of([iter([3, 1, 3]), {0}, ()], width=5)
    assert (transactions.starts.tolist(), transactions.items.tolist()) == ([0, 2, 3, 3], [1, 3, 0])
    assert (transactions.weights.tolist(), transactions.width) == ([1, 1, 1], 5)


@pytest.mark.parametrize(
    ("sets", "weights", "width"),
    [
        ([[0, -1]], None, None),
        ([[0, 5]], None, 5),
        ([[0]], [1, 2], None),
        ([[0]], [-1], None),
        ([[0], [1]], [2**52] * 2, None),
    ],
)
def test_what_cannot_be_transactions(sets: list[list[int]], weights: list[int] | None, width: int | None) -> None:
    with pytest.raises(InductionError, match="transactions"):
        Transactions.of(sets, weights, width)


def test_arrays_that_cannot_be_transactions() -> None:
    one = np.ones(1, np.int64)
    for items in ([1, 0], [1, 1]):
        with pytest.raises(InductionError, match="ascending"):
            Transactions(np.array([0, 2]), np.array(items, np.int32), one, 3)
    with pytest.raises(InductionError, match="starts"):
        Transactions(np.array([0, 1]), np.array([0, 1], np.int32), one, 3)


@pytest.mark.parametrize(("min_support", "min_all_conf"), [(0, 0.5), (1, -0.1), (1, 1.1), (1, float("nan"))])
def test_thresholds_out_of_range(min_support: int, min_all_conf: float) -> None:
    for work in (mine, mine_maximal, pair_graph):
        with pytest.raises(InductionError, match="min_"):
            work(Transactions.of([[0]]), min_support=min_support, min_all_conf=min_all_conf)  # type: ignore[operator]


def test_components_that_do_not_fit() -> None:
    transactions = Transactions.of([[0, 1, 2]])
    for wrong in ([(0, 1), (1, 2)], [(1, 0)]):
        with pytest.raises(InductionError, match="components"):
            split(transactions, wrong)
    with pytest.raises(InductionError, match="the component 3"):
        mine_component(split(transactions, [(0, 1)])[0], (0, 1, 2), min_support=1, min_all_conf=0.0)


# --- other miners -----------------------------------------------------------------------------------------------------


def filtered(found: dict[tuple[int, ...], int], counts: Sequence[int], min_all_conf: float) -> list[Itemset]:
    kept = [Itemset(items, n) for items, n in found.items() if all_confidence(n, [counts[a] for a in items]) >= min_all_conf]
    return sorted(kept, key=lambda one: (len(one.items), one.items))


@pytest.mark.parametrize("seed", range(4))
def test_efficient_apriori_finds_the_same(seed: int) -> None:
    apriori = pytest.importorskip("efficient_apriori")
    sets = [one for one in skewed(seed, 200, 24) if one]
    levels: dict[int, dict[tuple[int, ...], int]]
    levels, _ = apriori.itemsets_from_transactions(sets, min_support=12 / len(sets))
    found = {tuple(sorted(items)): int(count) for level in levels.values() for items, count in level.items() if count >= 12}
    transactions = Transactions.of(sets)
    expected = filtered(found, supports(transactions).tolist(), 0.3)
    assert len(expected) > 30 and max(len(one.items) for one in expected) > 2
    assert mine(transactions, min_support=12, min_all_conf=0.3) == expected


@pytest.mark.parametrize("seed", range(4))
def test_mlxtend_finds_the_same(seed: int) -> None:
    patterns: Any = pytest.importorskip("mlxtend.frequent_patterns")
    pandas: Any = pytest.importorskip("pandas")
    sets = skewed(seed, 200, 24)
    table = np.zeros((len(sets), 24), np.bool_)
    for row, one in enumerate(sets):
        table[row, one] = True
    frame = patterns.fpgrowth(pandas.DataFrame(table), min_support=11.5 / len(sets))
    found = {
        tuple(sorted(items)): round(share * len(sets))
        for items, share in zip(frame["itemsets"], frame["support"], strict=True)
    }
    transactions = Transactions.of(sets, width=24)
    expected = filtered(found, supports(transactions).tolist(), 0.3)
    assert mine(transactions, min_support=12, min_all_conf=0.3) == expected
