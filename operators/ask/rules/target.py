"""Which column a question is about, beside what speaks for it in its words."""

from __future__ import annotations

from collections.abc import Sequence

from operators.ask.context import Context, ShownTable
from operators.ask.rules import cues
from operators.ask.rules.apart import Parts
from operators.ask.rules.columns import LEAST, NUMERIC, Target, by_meaning, concept_of, targets
from operators.ask.rules.concepts import stem
from operators.ask.rules.meaning import Meaning


def asks_value(parts: Parts, context: Context, meaning: Meaning) -> bool:
    """Whether a column is asked for beside the event."""
    found = targets(parts.reading.left, context.tables, meaning, kinds=NUMERIC)
    return bool(found) and found[0].score >= LEAST


def target_of(parts: Parts, tables: Sequence[ShownTable], meaning: Meaning, asked: cues.Asked) -> Target | None:
    """The column that is reckoned with; of columns that are as sure the one of a table that the question names values of."""
    kinds = NUMERIC
    text = parts.reading.left
    found = targets(text, tables, meaning, kinds=kinds)
    naming = {table.name for table, _, _ in parts.named}
    ranked = sorted(
        found,
        key=lambda each: -(each.score + (0.4 if each.table.name in naming else 0) + _fit(each, asked, found)),
    )
    best = ranked[0] if ranked else None
    if best is not None and best.score >= LEAST:
        return best
    bounded = " ".join(bound.noun for bound in parts.bounds if bound.noun)
    of_bound = targets(bounded, tables, meaning, kinds=kinds) if bounded else []
    if of_bound and of_bound[0].score >= 0.3:
        return of_bound[0]
    if asked.counts:
        return None
    if asked.reckons or parts.periods or parts.event or parts.sides:
        return by_meaning(cues.bare(text), tables, meaning, kinds)
    return None


def _fit(target: Target, asked: cues.Asked, found: Sequence[Target]) -> float:
    """What speaks for a column beside its name: money where money is asked for, and of money what a purchase came to, if
    no other amount (``tax``) is named."""
    if target.column.kind != "money":
        return -0.3 if asked.money else 0.0
    amounts = [each for each in found if each.column.kind == "money" and each.score >= 1 and not _is_whole(each)]
    named = any(concept is not None and concept.key != "money" for concept in map(concept_of, (e.column for e in amounts)))
    if named:
        concept = concept_of(target.column)
        return 1.0 if concept is not None and concept.key != "money" else 0.0
    whole = _is_whole(target) and not asked.items
    return (0.5 if asked.money else 0.0) + (0.4 if whole else 0.0)


def _is_whole(target: Target) -> bool:
    return any(stem(word) in _WHOLE for word in target.column.name.split("_"))


_WHOLE = frozenset(stem(word) for word in ("total", "paid", "spent"))
"""Columns of what a purchase came to, not of its parts."""
