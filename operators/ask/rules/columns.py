"""Which column a question is about: by its name, by what people call such things, by its unit, else by its meaning."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from operators.ask.context import ShownColumn, ShownTable
from operators.ask.rules.concepts import ADDED_UNITS, CONCEPTS, Concept, stem, stems
from operators.ask.rules.meaning import Meaning

NUMERIC = frozenset({"number", "duration", "money", "percent", "ratio"})

LEAST = 0.5
"""Score from which a column is the one that is asked for."""
_ALIKE = 0.42
"""Cosine of a question and a column's name from which they are about the same, if no word says so."""
_MARGIN = 0.04
"""By how much it must be above that of other tables' columns."""

_WEAK = frozenset(
    stem(word) for word in ["total", "amount", "sum", "average", "date", "day", "time", "number", "count", "record", "value"]
)
"""Names of columns that questions also say without meaning them."""


@dataclass(frozen=True)
class Target:
    """A column of a table, and how surely it is meant (from 0 to some 2)."""

    table: ShownTable
    column: ShownColumn
    score: float

    @property
    def adds(self) -> bool:
        """Whether its values add up over days."""
        concept = concept_of(self.column)
        if concept is not None:
            return concept.adds
        return self.column.kind == "money" or (self.column.unit in ADDED_UNITS)


def concept_of(column: ShownColumn) -> Concept | None:
    """What a column holds, by its names and kind; None where it is nothing that is known."""
    names = [stems(name.replace("_", " ")) for name in (column.name, *column.aliases)]
    fitting = [each for each in CONCEPTS if column.kind in each.kinds and any(each.names & set(words) for words in names)]
    # The last word names the thing: "deep sleep" is sleep, "sleep score" a score.
    return next((each for each in fitting if any(words and words[-1] in each.names for words in names)), None) or (
        fitting[0] if fitting else None
    )


def targets(
    text: str, tables: Sequence[ShownTable], meaning: Meaning, *, kinds: frozenset[str] | None = None
) -> list[Target]:
    """The columns (of ``kinds``) that a text is about, the surest first; of equals those of more records."""
    words = stems(text)
    found = [
        Target(table, column, _score(words, table, column, meaning))
        for table in tables
        for column in table.columns
        if kinds is None or column.kind in kinds
    ]
    return sorted(found, key=lambda each: (-each.score, -each.column.filled))


def by_meaning(text: str, tables: Sequence[ShownTable], meaning: Meaning, kinds: frozenset[str]) -> Target | None:
    """The column whose name is nearest to a text in meaning, if it is near and none of another name is as near."""
    columns = [(table, column) for table in tables for column in table.columns if column.kind in kinds]
    told = re.sub(r"\W+", " ", text).strip()
    if not columns or not told:
        return None
    cosines = meaning.alike(told, [column.spaced for _, column in columns])
    ranked = sorted(range(len(columns)), key=lambda at: (-cosines[at], -columns[at][1].filled))
    best = ranked[0]
    others = [cosines[at] for at in ranked[1:] if columns[at][1].name != columns[best][1].name]
    if cosines[best] < _ALIKE or (others and cosines[best] - others[0] < _MARGIN):
        return None
    return Target(*columns[best], LEAST)


def _score(words: Sequence[str], table: ShownTable, column: ShownColumn, meaning: Meaning) -> float:
    said = set(words)
    score = max(_named(said, name) for name in (column.name, *column.aliases))
    concept = concept_of(column)
    if concept is not None:
        hits = sorted((weight for word, weight in concept.words.items() if word in said), reverse=True)
        if hits:
            score = max(score, hits[0]) + 0.15 * min(len(hits) - 1, 2)
    if column.unit is not None and any(_of_unit(word, column, meaning) for word in dict.fromkeys(words)):
        score += 0.3
    done, told = _ACTIVITIES.keys() & set(stems(column.name.replace("_", " "))), _ACTIVITIES.keys() & said
    if done and told and not {_ACTIVITIES[word] for word in done} & {_ACTIVITIES[word] for word in told}:
        return 0.0  # how far one ran says nothing of cycling
    if any(word in said for word in stems(table.name.replace("_", " "))):
        score += 0.2
    return score


_ACTIVITIES = {
    stem(word): name
    for name, words in {
        "run": "run ran running jog jogged jogging",
        "cycle": "cycle cycled cycling bike biked biking ride rides rode riding",
        "swim": "swim swam swimming swims",
        "hike": "hike hiked hiking hikes",
        "row": "row rowed rowing",
        "drive": "drive drove driving",
    }.items()
    for word in words.split()
}


def _named(said: set[str], name: str) -> float:
    words = stems(name.replace("_", " "))
    if not words:
        return 0.0
    worth = [0.6 if word in _WEAK else 1.1 for word in words]
    held = sum(value for value, word in zip(worth, words, strict=True) if word in said)
    share = held / sum(worth)
    if share < 1:
        return 0.45 * share
    return max(worth) + 0.1 * (len(words) - 1)


_NOT_UNITS = frozenset(
    ["day", "days", "night", "nights", "week", "weeks", "second", "mean", "may", "in", "a", "one", "total"]
)


def _of_unit(word: str, column: ShownColumn, meaning: Meaning) -> bool:
    if len(word) < 2 or word in _NOT_UNITS:
        return False
    unit = meaning.unit(word) or meaning.unit(word + "s") or meaning.unit(word + "e")
    return unit is not None and unit.unit == column.unit
