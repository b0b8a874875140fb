"""Schemas from counts: discovery of new ones and evolution of those that are active (AdaMM, section 3.3.2).

Everything here is over labels of attributes: ``Sets`` are the distinct sets of a scope's rounds, each with its weight.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from operators.errors import MiningBudget
from operators.induce.few import mine_few
from operators.induce.maximal import mine_maximal
from operators.induce.transactions import Itemset, Transactions
from operators.induce.transactions import all_confidence as quotient

N = TypeVar("N", bound=Hashable)

Sets = Mapping[frozenset[str], int]

Attributes = frozenset[str]

Linked = Callable[[str, str], bool]

MOST_TRIES = 12
"""Times the support asked for is doubled where there are too many patterns, before that is given up."""

_MOST_PARTS = 10_000
_MOST_SCHEMAS = 256
"""New schemas of one scope at once: of more than these most are noise."""
_BUDGET = 20_000
"""Sets looked at for new schemas of one scope, which takes about a second: one user's noise must not hold up all others."""


@dataclass(frozen=True)
class Thresholds:
    """What a schema needs: theta_s (rounds), theta_a (all-confidence) and theta_e (extension confidence)."""

    support: int = 3
    all_confidence: float = 0.5
    ext_confidence: float = 0.4


@dataclass(frozen=True)
class Step:
    """One thing that induction did. ``before`` is empty for a discovery, ``ext_confidence`` None."""

    before: Attributes
    after: Attributes
    support: int
    all_confidence: float
    ext_confidence: float | None


def support(sets: Sets, pattern: Attributes) -> int:
    """Rounds whose set contains the pattern (AdaMM, Eq. 3)."""
    return sum(weight for names, weight in sets.items() if pattern <= names)


def all_confidence(sets: Sets, pattern: Attributes) -> float:
    """Support of the pattern over that of its most frequent attribute (AdaMM, Eq. 5); 0 where nothing holds it."""
    return quotient(support(sets, pattern), (support(sets, frozenset((each,))) for each in pattern))


def ext_confidence(sets: Sets, pattern: Attributes, schema: Attributes) -> float:
    """Support of the pattern over that of the schema it contains (AdaMM, Eq. 7); 0 where nothing holds the schema."""
    held = support(sets, schema)
    return support(sets, pattern) / held if held else 0.0


def induce(
    sets: Sets,
    active: Sequence[Attributes],
    thresholds: Thresholds,
    *,
    linked: Linked = lambda _first, _second: True,
    leans: Callable[[str], bool] = lambda _: False,
) -> tuple[list[Attributes], list[list[Step]], int]:
    """One pass: evolve the active schemas until none changes, discover, evolve once more.

    Returns the schemas (the active ones first, in their order; two that became the same are both there), the steps that made
    each, and the support that discovery asked for: theta_s, or more where there were too many patterns. ``linked``: whether
    two attributes stand in one record often enough to share rows. ``leans``: attributes that make no schema by themselves.
    """
    schemas = list(active)
    grown = _evolve(sets, schemas, thresholds, linked)
    asked = thresholds.support
    for _ in range(MOST_TRIES):
        try:
            fresh = discover(sets, schemas, thresholds.all_confidence, asked, linked=linked, leans=leans)
            break
        except MiningBudget:
            asked *= 2
    else:
        fresh = []
    for found in fresh:
        told = Step(frozenset(), found, support(sets, found), all_confidence(sets, found), None)
        grown.append([told])
        schemas.append(found)
    for steps, more in zip(grown, _evolve(sets, schemas, thresholds, linked), strict=True):
        steps += more
    return schemas, grown, asked


# --- discovery ------------------------------------------------------------------------------------------------------


def discover(
    sets: Sets,
    active: Sequence[Attributes],
    least_confidence: float,
    least_support: int,
    *,
    linked: Linked = lambda _first, _second: True,
    leans: Callable[[str], bool] = lambda _: False,
) -> list[Attributes]:
    """The inclusion-maximal patterns that recur and hold together and are neither inside nor around an active schema.

    AdaMM, Eqs. 4 and 6. MiningBudget where there are too many to look through.
    """
    labels = sorted({label for names in sets for label in names})
    number = {label: at for at, label in enumerate(labels)}
    numbered = [[number[label] for label in names] for names in sets]
    found = _maximal(numbered, list(sets.values()), labels, least_confidence, least_support, linked)
    patterns = [frozenset(labels[item] for item in each.items) for each in found]
    novel = [part for pattern in patterns for part in _novel_parts(pattern, active)]
    telling = {part for part in novel if not all(map(leans, part))}
    if len(telling) > _MOST_SCHEMAS:
        raise MiningBudget(f"{len(telling)} patterns recur: more than anybody keeps records of")
    return sorted((part for part in telling if not any(part < other for other in telling)), key=_named)


def _maximal(
    sets: Sequence[Sequence[int]],
    weights: Sequence[int],
    labels: Sequence[str],
    least_confidence: float,
    least_support: int,
    linked: Linked,
) -> list[Itemset]:
    found = mine_few(
        sets,
        weights,
        min_support=least_support,
        min_all_conf=least_confidence,
        allowed=lambda first, second: linked(labels[first], labels[second]),
    )
    if found is not None:
        return found

    def allowed(first: NDArray[np.int_], second: NDArray[np.int_]) -> NDArray[np.bool_]:
        pairs = zip(first.tolist(), second.tolist(), strict=True)
        return np.array([linked(labels[a], labels[b]) for a, b in pairs], bool)

    transactions = Transactions.of(sets, weights, len(labels))
    return mine_maximal(
        transactions, min_support=least_support, min_all_conf=least_confidence, allowed=allowed, budget=_BUDGET
    )


def _novel_parts(pattern: Attributes, active: Sequence[Attributes]) -> list[Attributes]:
    """The largest parts of a pattern that contain no active schema and lie in none."""
    parts = {pattern}
    for schema in active:
        around = {part for part in parts if schema <= part}
        parts = (parts - around) | {part - {each} for part in around for each in schema}
        if len(parts) > _MOST_PARTS:
            raise MiningBudget(f"a pattern of {len(pattern)} attributes has too many parts beside the active schemas")
    return [part for part in parts if part and not any(part <= schema for schema in active)]


def _named(attributes: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted(attributes))


# --- evolution ------------------------------------------------------------------------------------------------------


def _evolve(sets: Sets, schemas: list[Attributes], thresholds: Thresholds, linked: Linked) -> list[list[Step]]:
    """Evolves each of the schemas, in place, until none changes; the steps of each."""
    steps: list[list[Step]] = [[] for _ in schemas]
    held: dict[Attributes, int] = {}
    changed = True
    while changed:
        changed = False
        for at, schema in enumerate(schemas):
            barred = _barred(sets, schema, [other for place, other in enumerate(schemas) if place != at], thresholds, held)
            step = extension(sets, schema, thresholds, linked=linked, barred=barred)
            if step is not None:
                steps[at].append(step)
                schemas[at], changed = step.after, True
    return steps


def _barred(
    sets: Sets, schema: Attributes, others: Sequence[Attributes], thresholds: Thresholds, held: dict[Attributes, int]
) -> Attributes:
    """Attributes of schemas no smaller than this one that would not take it in their turn.

    Whoever tips sometimes has a total with every tip: without this, a schema of tips would become a second one of receipts,
    and take those with a tip out of the first. ``held``: supports known already.
    """
    holding = {names: weight for names, weight in sets.items() if schema <= names}
    beside = frozenset().union(*holding) - schema
    barred: set[str] = set()
    for other in others:
        if len(other) < len(schema) or beside.isdisjoint(other):
            continue
        if other not in held:
            held[other] = support(sets, other)
        if not held[other] or support(holding, other) / held[other] < thresholds.ext_confidence:
            barred |= other
    return frozenset(barred - schema)


def extension(
    sets: Sets,
    schema: Attributes,
    thresholds: Thresholds,
    *,
    linked: Linked = lambda _first, _second: True,
    barred: Attributes = frozenset(),
) -> Step | None:
    """The best pattern that a schema becomes (AdaMM, Eq. 7): by extension confidence, then size, then name. None for none.

    Support only falls as a pattern grows, so the best confidence is that of one attribute more; and the largest pattern of
    the same support is all that stands in every round which has that one too. ``barred`` attributes take no part.
    """
    holding = {names: weight for names, weight in sets.items() if schema <= names}
    held = sum(holding.values())
    gate = max(thresholds.support, 1)
    beside: Counter[str] = Counter()
    for names, weight in holding.items():
        for label in names - schema - barred:
            beside[label] += weight
    counted = {label: beside[label] for label in beside if any(linked(label, own) for own in schema)}
    most = max(counted.values(), default=0)
    if most < gate or most / held < thresholds.ext_confidence:
        return None
    candidates = set()
    for label in (label for label, count in counted.items() if count == most):
        common = frozenset.intersection(*(names for names in holding if label in names))
        candidates.add(schema | (common & counted.keys()))
    best = min(candidates, key=lambda each: (-len(each), _named(each)))
    return Step(schema, best, most, all_confidence(sets, best), most / held)


# --- which attributes share rows ------------------------------------------------------------------------------------


def linker(rounds: Sets, records: Sets, *, least: float = 0.5) -> Linked:
    """Whether two attributes share a record in at least so large a part of the rounds that hold both.

    A receipt's total and its line items stand in one round, never in one record: their rows are not one table's.
    """
    if rounds == records:
        return lambda _first, _second: True
    together = _pairs(records)
    both = _pairs(rounds)

    def linked(first: str, second: str) -> bool:
        pair = (first, second) if first < second else (second, first)
        return together.get(pair, 0) >= least * both.get(pair, 0)

    return linked


def _pairs(sets: Sets) -> dict[tuple[str, str], int]:
    found: dict[tuple[str, str], int] = {}
    for names, weight in sets.items():
        for pair in combinations(sorted(names), 2):
            found[pair] = found.get(pair, 0) + weight
    return found


def relabelled(sets: Iterable[tuple[Collection[N], int]], labels: Mapping[N, str]) -> dict[frozenset[str], int]:
    """Sets of names with their weights as sets of labels: names that are one attribute merge, and so do sets that agree."""
    found: dict[frozenset[str], int] = {}
    for names, weight in sets:
        key = frozenset(labels[name] for name in names)
        found[key] = found.get(key, 0) + weight
    return found
