"""Discovery and evolution of schemas, against AdaMM's Eqs. 3 to 7 as they stand, over all subsets."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import combinations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from operators.errors import MiningBudget
from operators.induce import schemas as module
from operators.induce.schemas import (
    Step,
    Thresholds,
    all_confidence,
    discover,
    ext_confidence,
    extension,
    induce,
    linker,
    relabelled,
    support,
)

Attributes = frozenset[str]
Sets = dict[Attributes, int]

LABELS = "abcdef"
SETS = st.dictionaries(st.frozensets(st.sampled_from(LABELS), min_size=1), st.integers(1, 9), max_size=14)
SCHEMAS = st.lists(st.frozensets(st.sampled_from(LABELS), min_size=1, max_size=4), max_size=3)
SHARE = st.sampled_from([0.0, 0.1, 0.3, 1 / 3, 0.5, 2 / 3, 0.9, 1.0])
THRESHOLDS = st.builds(Thresholds, st.sampled_from([1, 2, 3, 5, 20]), SHARE, SHARE)


def of(*rounds: str) -> Sets:
    """Rounds, each a letter an attribute: ``of("ab", "ab", "a")``."""
    found: Sets = {}
    for names in rounds:
        found[frozenset(names)] = found.get(frozenset(names), 0) + 1
    return found


def times(weights: Mapping[str, int]) -> Sets:
    return {frozenset(names): weight for names, weight in weights.items()}


def every(labels: Iterable[str]) -> Iterator[Attributes]:
    kinds = sorted(labels)
    return (frozenset(each) for length in range(1, len(kinds) + 1) for each in combinations(kinds, length))


def holds(sets: Mapping[Attributes, int], pattern: Attributes) -> int:
    return sum(weight for names, weight in sets.items() if pattern <= names)


def consistent(sets: Mapping[Attributes, int], pattern: Attributes) -> float:
    return holds(sets, pattern) / max(holds(sets, frozenset(each)) for each in pattern)


def never(first: str, second: str) -> bool:
    """Two pairs that share no records."""
    return {first, second} not in ({"a", "b"}, {"c", "e"})


def always(_first: str, _second: str) -> bool:
    return True


# --- the equations --------------------------------------------------------------------------------------------------

ROUNDS = of("ab", "abc", "abc", "a", "d")


def test_support_is_the_rounds_that_contain_a_pattern() -> None:
    assert [support(ROUNDS, frozenset(each)) for each in ("a", "ab", "abc", "ac", "d", "ad", "e")] == [4, 3, 2, 2, 1, 0, 0]


def test_all_confidence_is_support_over_that_of_the_most_frequent_attribute() -> None:
    assert all_confidence(ROUNDS, frozenset("ab")) == 3 / 4
    assert all_confidence(ROUNDS, frozenset("bc")) == 2 / 3
    assert all_confidence(ROUNDS, frozenset("abc")) == 2 / 4
    assert [all_confidence(ROUNDS, frozenset(each)) for each in "abcd"] == [1.0] * 4
    assert all_confidence(ROUNDS, frozenset("e")) == 0.0


def test_extension_confidence_is_support_over_that_of_the_schema() -> None:
    assert ext_confidence(ROUNDS, frozenset("abc"), frozenset("ab")) == 2 / 3
    assert ext_confidence(ROUNDS, frozenset("abc"), frozenset("c")) == 1.0
    assert ext_confidence(ROUNDS, frozenset("ed"), frozenset("e")) == 0.0


@settings(max_examples=30, deadline=None)
@given(SETS)
def test_the_equations_over_all_subsets(sets: Sets) -> None:
    for pattern in every(LABELS):
        assert support(sets, pattern) == holds(sets, pattern)
        if holds(sets, pattern):
            assert all_confidence(sets, pattern) == consistent(sets, pattern)


# --- discovery ------------------------------------------------------------------------------------------------------


def test_the_thresholds_of_discovery_are_reached_by_being_equal() -> None:
    pair = frozenset("ab")
    assert pair in discover(ROUNDS, [], 3 / 4, 3)
    assert pair not in discover(ROUNDS, [], 0.7501, 3)
    assert pair not in discover(ROUNDS, [], 3 / 4, 4)


@pytest.mark.parametrize("theta", [0.1, 0.3, 0.7, 1 / 3, 0.29])
def test_a_share_that_no_float_holds_is_reached_by_being_equal(theta: float) -> None:
    whole = 100 if theta != 1 / 3 else 99
    held = round(theta * whole)
    sets = times({"ab": held, "a": whole - held})
    assert frozenset("ab") in discover(sets, [], theta, 1)
    assert extension(sets, frozenset("a"), Thresholds(1, 1.0, theta)) is not None
    assert frozenset("ab") not in discover(times({"ab": held - 1, "a": whole - held + 1}), [], theta, 1)


def test_qualified_subsets_of_a_qualified_set_are_no_schemas() -> None:
    assert discover(of("abc", "abc", "abc"), [], 0.5, 3) == [frozenset("abc")]


def test_an_attribute_of_many_rounds_is_not_merged_with_all_patterns() -> None:
    sets = times({"ab": 3, "ac": 3, "a": 6})
    assert discover(sets, [], 0.5, 3) == [frozenset("a"), frozenset("b"), frozenset("c")]


def test_a_lone_recurring_attribute_is_a_schema_where_no_larger_one_has_it() -> None:
    assert discover(times({"ab": 3, "w": 3, "x": 2}), [], 0.5, 3) == [frozenset("ab"), frozenset("w")]


def test_what_is_inside_or_around_an_active_schema_is_not_new() -> None:
    sets = times({"abc": 5, "de": 5})
    assert discover(sets, [frozenset("abcd"), frozenset("de")], 0.5, 3) == []
    # {a, b, c} is around {a, b}; its largest parts that are neither are {a, c} and {b, c}.
    assert discover(sets, [frozenset("ab"), frozenset("de")], 0.5, 3) == [frozenset("ac"), frozenset("bc")]


def new_by_force(
    sets: Sets, active: Sequence[Attributes], thresholds: Thresholds, linked: Callable[[str, str], bool], leans: str
) -> list[Attributes]:
    novel = [
        pattern
        for pattern in every({label for names in sets for label in names})
        if holds(sets, pattern) >= thresholds.support
        and consistent(sets, pattern) >= thresholds.all_confidence
        and all(linked(*pair) for pair in combinations(sorted(pattern), 2))
        and not any(pattern <= schema or schema <= pattern for schema in active)
        and not pattern <= set(leans)
    ]
    return sorted((one for one in novel if not any(one < other for other in novel)), key=sorted)


@settings(max_examples=60, deadline=None)
@given(SETS, SCHEMAS, THRESHOLDS, st.sampled_from([always, never]), st.sampled_from(["", "a", "af"]))
def test_discovery_finds_what_brute_force_finds(
    sets: Sets, active: list[Attributes], thresholds: Thresholds, linked: Callable[[str, str], bool], leans: str
) -> None:
    found = discover(
        sets, active, thresholds.all_confidence, thresholds.support, linked=linked, leans=lambda label: label in leans
    )
    assert found == new_by_force(sets, active, thresholds, linked, leans)


# --- evolution ------------------------------------------------------------------------------------------------------


def grown_by_force(
    sets: Sets, schema: Attributes, thresholds: Thresholds, linked: Callable[[str, str], bool], barred: Attributes
) -> Step | None:
    held = holds(sets, schema)
    fitting = []
    for delta in every({label for names in sets for label in names} - schema):
        pattern = schema | delta
        count = holds(sets, pattern)
        if not held or count < max(thresholds.support, 1) or count / held < thresholds.ext_confidence:
            continue
        if delta & barred or not all(any(linked(label, own) for own in schema) for label in delta):
            continue
        fitting.append((-count / held, -len(pattern), sorted(pattern)))
    if not fitting:
        return None
    confidence, _, names = min(fitting)
    best = frozenset(names)
    return Step(schema, best, holds(sets, best), consistent(sets, best), -confidence)


@settings(max_examples=60, deadline=None)
@given(
    SETS,
    st.frozensets(st.sampled_from(LABELS), min_size=1, max_size=3),
    THRESHOLDS,
    st.sampled_from([always, never]),
    st.frozensets(st.sampled_from(LABELS), max_size=2),
)
def test_a_schema_becomes_the_best_superset_that_brute_force_finds(
    sets: Sets, schema: Attributes, thresholds: Thresholds, linked: Callable[[str, str], bool], barred: Attributes
) -> None:
    found = extension(sets, schema, thresholds, linked=linked, barred=barred - schema)
    assert found == grown_by_force(sets, schema, thresholds, linked, barred - schema)


def test_of_extensions_the_surest_then_the_largest_then_the_first_by_name() -> None:
    schema, low = frozenset("a"), Thresholds(1, 1.0, 0.1)

    def becomes(weights: Mapping[str, int]) -> str:
        step = extension(times(weights), schema, low)
        assert step is not None
        return "".join(sorted(step.after))

    assert becomes({"ab": 3, "acd": 2}) == "ab"
    assert becomes({"ab": 3, "acd": 3}) == "acd"
    assert becomes({"ac": 3, "ab": 3}) == "ab"


def test_all_confidence_does_not_gate_an_extension() -> None:
    sets = times({"ab": 4, "b": 96})
    step = extension(sets, frozenset("a"), Thresholds(3, 0.5, 0.5))
    assert step == Step(frozenset("a"), frozenset("ab"), 4, 4 / 100, 1.0)


def test_an_extension_recurs_in_enough_rounds() -> None:
    sets = times({"ab": 2, "a": 1})
    assert extension(sets, frozenset("a"), Thresholds(3, 0.5, 0.5)) is None
    assert extension(sets, frozenset("a"), Thresholds(2, 0.5, 0.67)) is None
    assert extension(sets, frozenset("a"), Thresholds(2, 0.5, 2 / 3)) is not None


# --- one pass -------------------------------------------------------------------------------------------------------


@settings(max_examples=60, deadline=None)
@given(SETS, SCHEMAS, THRESHOLDS, st.sampled_from([always, never]))
def test_one_pass_comes_to_a_fixpoint(
    sets: Sets, active: list[Attributes], thresholds: Thresholds, linked: Callable[[str, str], bool]
) -> None:
    found, steps, asked = induce(sets, active, thresholds, linked=linked)
    assert asked == thresholds.support and len(found) == len(steps)
    for schema, before in zip(found, active, strict=False):
        assert before <= schema, "an active schema only grows, and stays in its place"
    for at, (schema, made) in enumerate(zip(found, steps, strict=True)):
        path = [active[at] if at < len(active) else frozenset(), *(step.after for step in made)]
        assert [step.before for step in made] == path[:-1] and path[-1] == schema
        assert all(step.support >= thresholds.support for step in made)
        for step in made:
            if step.before:
                assert step.ext_confidence == holds(sets, step.after) / holds(sets, step.before) >= thresholds.ext_confidence
            else:
                assert step.all_confidence >= thresholds.all_confidence and step.ext_confidence is None


@settings(max_examples=60, deadline=None)
@given(SETS, SCHEMAS, THRESHOLDS, st.sampled_from([always, never]))
def test_a_second_pass_changes_nothing(
    sets: Sets, active: list[Attributes], thresholds: Thresholds, linked: Callable[[str, str], bool]
) -> None:
    found, _, _ = induce(sets, active, thresholds, linked=linked)
    distinct = list(dict.fromkeys(found))
    again, steps, _ = induce(sets, distinct, thresholds, linked=linked)
    assert again == distinct and not any(steps)


def test_discovered_schemas_evolve_in_the_same_pass() -> None:
    sets = times({"abx": 3, "ab": 2, "x": 9})
    found, steps, _ = induce(sets, [], Thresholds(3, 0.5, 0.6))
    assert found == [frozenset("abx"), frozenset("x")]
    assert [(len(step.before), len(step.after)) for step in steps[0]] == [(0, 2), (2, 3)]


def test_active_schemas_evolve_before_anything_is_discovered() -> None:
    sets = times({"abc": 4})
    assert induce(sets, [frozenset("ab")], Thresholds(3, 0.5, 0.5))[0] == [frozenset("abc")]


def test_counts_below_the_threshold_are_lifted_by_an_append() -> None:
    before, after = times({"ab": 2}), times({"ab": 3})
    assert induce(before, [], Thresholds(3, 0.5, 0.5))[0] == []
    assert induce(after, [], Thresholds(3, 0.5, 0.5))[0] == [frozenset("ab")]


def test_a_date_alone_makes_no_schema_but_belongs_to_one() -> None:
    thresholds = Thresholds(3, 0.5, 0.5)
    assert induce(times({"d": 9}), [], thresholds, leans=lambda label: label == "d")[0] == []
    assert induce(times({"ad": 9}), [], thresholds, leans=lambda label: label == "d")[0] == [frozenset("ad")]


def test_too_many_patterns_are_met_by_asking_for_more_support(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    whole = module.mine_maximal

    def few(*args: object, min_support: int, **how: object) -> object:
        asked.append(min_support)
        if min_support < 10:
            raise MiningBudget("too many")
        return whole(*args, min_support=min_support, **how)  # type: ignore[arg-type]

    monkeypatch.setattr(module, "mine_few", lambda *_, **__: None)
    monkeypatch.setattr(module, "mine_maximal", few)
    found, _, support_asked = induce(times({"ab": 12, "cd": 4}), [], Thresholds(3, 0.5, 0.5))
    assert (found, support_asked, asked) == ([frozenset("ab")], 12, [3, 6, 12])


def test_what_never_fits_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    def none(*_: object, **__: object) -> object:
        raise MiningBudget("too many")

    monkeypatch.setattr(module, "mine_few", lambda *_, **__: None)
    monkeypatch.setattr(module, "mine_maximal", none)
    found, steps, asked = induce(times({"abc": 4}), [frozenset("ab")], Thresholds(3, 0.5, 0.5))
    assert found == [frozenset("abc")] and len(steps) == 1 and asked > 3


# --- schemas beside each other --------------------------------------------------------------------------------------

TIPPED = times({"mtd": 20, "mtdp": 4, "tp": 2})
"""Receipts (merchant, total, date), some with a tip; twice a tip and a total alone."""


def test_a_schema_of_tips_does_not_swallow_receipts() -> None:
    receipts, tips = frozenset("mtd"), frozenset("p")
    found, _, _ = induce(TIPPED, [receipts, tips], Thresholds(3, 0.5, 0.5))
    assert found == [receipts, tips]
    assert induce(TIPPED, [], Thresholds(3, 0.5, 0.5))[0] == [receipts, tips]


def test_a_schema_that_the_larger_one_would_take_too_grows_into_it() -> None:
    sets = times({"mtdp": 20, "mtd": 4})
    found, _, _ = induce(sets, [frozenset("mtd"), frozenset("p")], Thresholds(3, 0.5, 0.5))
    assert found == [frozenset("mtdp"), frozenset("mtdp")]


def test_a_barred_attribute_bars_no_other() -> None:
    # Who tips says what for (w) as well: that is no receipt's.
    sets = times({"mtd": 20, "mtdpw": 4})
    found, _, _ = induce(sets, [frozenset("mtd"), frozenset("p")], Thresholds(3, 0.5, 0.5))
    assert found == [frozenset("mtd"), frozenset("pw")]


def test_a_smaller_schema_bars_nothing() -> None:
    sets = times({"abt": 5, "t": 20})
    assert induce(sets, [frozenset("ab"), frozenset("t")], Thresholds(3, 0.5, 0.5))[0] == [frozenset("abt"), frozenset("t")]


# --- records --------------------------------------------------------------------------------------------------------


def test_attributes_that_share_no_record_share_no_schema() -> None:
    rounds = times({"tia": 4})
    linked = linker(rounds, times({"t": 4, "ia": 12}))
    assert linked("i", "a") and linked("a", "i") and not linked("t", "i") and not linked("a", "t")
    assert induce(rounds, [], Thresholds(3, 0.5, 0.5), linked=linked)[0] == [frozenset("ai"), frozenset("t")]
    assert induce(rounds, [frozenset("t")], Thresholds(3, 0.5, 0.5), linked=linked)[0] == [frozenset("t"), frozenset("ai")]


def test_how_often_attributes_must_share_a_record() -> None:
    rounds = times({"ab": 4})
    assert linker(rounds, times({"ab": 2, "a": 2, "b": 2}))("a", "b")
    assert not linker(rounds, times({"ab": 1, "a": 3, "b": 3}))("a", "b")
    assert linker(rounds, rounds)("a", "b")


@example({("a", "b"): 3, ("b", "c"): 2, ("c",): 1})
@given(st.dictionaries(st.sampled_from([("a",), ("b",), ("a", "b"), ("b", "c"), ("c",)]), st.integers(1, 5)))
def test_names_of_one_attribute_are_merged_and_rounds_counted_once(sets: dict[tuple[str, ...], int]) -> None:
    found = relabelled(sets.items(), {"a": "x", "b": "x", "c": "y"})
    naive: Sets = {}
    for names, weight in sets.items():
        labels = frozenset("y" if name == "c" else "x" for name in names)
        naive[labels] = naive.get(labels, 0) + weight
    assert found == naive
    assert sum(found.values()) == sum(sets.values())


def test_noise_of_many_attributes_ends_soon() -> None:
    rng = np.random.default_rng(7)
    names = [f"a{number}" for number in range(300)]
    sets = {frozenset(rng.choice(names, 200, replace=False).tolist()): 1 for _ in range(40)}
    began = time.monotonic()
    _, _, asked = induce(sets, [], Thresholds(3, 0.5, 0.4))
    assert asked > 3
    assert time.monotonic() - began < 60
