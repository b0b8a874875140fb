"""The planning context: the tables and episodes that fit a question best, and their tools (AdaMM, 3.5.2)."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

import numpy as np
from numpy.typing import NDArray

from operators.ask.outcomes import plain
from operators.ask.values import ANALYTIC, ContextValues

Words = Callable[[str], Sequence[str]]
Encode = Callable[[Sequence[str]], NDArray[np.float32]]
"""Unit-length vectors (n, dim) of texts."""

MOST_VALUES = 500
"""Distinct texts of a column that rules may look for in a question."""


@dataclass(frozen=True)
class ShownColumn:
    """A column as a planner sees it. ``samples``: some values as written. ``values``: the distinct texts of a text column,
    the most frequent first (for rules; a model is shown the samples). ``currencies``: of a money column."""

    name: str
    kind: str
    unit: str | None = None
    aliases: tuple[str, ...] = ()
    samples: tuple[str, ...] = ()
    values: tuple[str, ...] = ()
    currencies: tuple[str, ...] = ()
    filled: int = 0
    """How many records have a value in it."""

    @property
    def spaced(self) -> str:
        """Its name in words."""
        return _spaced(self.name)


@dataclass(frozen=True)
class ShownTable:
    """A table as a planner sees it: ``rows`` records on ``days`` different days from ``first_day`` to ``last_day``."""

    name: str
    description: str
    columns: tuple[ShownColumn, ...]
    rows: int
    first_day: date | None = None
    last_day: date | None = None
    days: int = 0

    @property
    def text(self) -> str:
        """What of it is compared with a question: name, description, columns and sampled values (AdaMM, 3.5.2)."""
        columns = "; ".join(f"{each.spaced}: {', '.join(each.samples[:3])}" for each in self.columns)
        return f"{_spaced(self.name)}. {self.description} {columns}"

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values, as a model is shown them."""
        columns = [
            {"name": c.name, "kind": c.kind, "unit": c.unit, "currencies": list(c.currencies), "samples": list(c.samples)}
            for c in self.columns
        ]
        days = {"first_day": plain(self.first_day), "last_day": plain(self.last_day)}
        return {"table": self.name, "description": self.description, "rows": self.rows, **days, "columns": columns}


@dataclass(frozen=True)
class ShownEpisode:
    """An episode as a planner sees it."""

    node: str
    name: str
    description: str
    rounds: int
    first_day: date | None = None
    last_day: date | None = None

    @property
    def text(self) -> str:
        """What of it is compared with a question."""
        return self.description

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values, as a model is shown them."""
        days = {"first_day": plain(self.first_day), "last_day": plain(self.last_day)}
        return {"episode": self.name, "description": self.description, "rounds": self.rounds, **days}


@dataclass(frozen=True)
class Context:
    """What a planner is shown: the best tables and episodes, the best first, and the tools that may be used."""

    tables: tuple[ShownTable, ...]
    episodes: tuple[ShownEpisode, ...]
    tools: tuple[str, ...]
    scores: tuple[float, ...] = ()
    """Of the tables, then of the episodes."""

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values."""
        shown: list[ShownTable | ShownEpisode] = [*self.tables, *self.episodes]
        scores: list[float | None] = [*self.scores] if self.scores else [None] * len(shown)
        candidates = [{"score": score, **each.to_dict()} for each, score in zip(shown, scores, strict=True)]
        return {"tools": list(self.tools), "candidates": candidates}


def token_similarity(query: Sequence[str], text: Sequence[str]) -> float:
    """The share of a query's distinct words that a text says: 0 to 1 (TokSim of AdaMM, Eq. 9)."""
    wanted = set(query)
    return len(wanted & set(text)) / len(wanted) if wanted else 0.0


def relevance(cosine: float, overlap: float, weight: float) -> float:
    """h(q, mu) = lambda cos(E(q), E(mu)) + (1 - lambda) TokSim(q, mu) (AdaMM, Eq. 9)."""
    return weight * cosine + (1 - weight) * overlap


def make_context(
    query: str,
    vector: NDArray[np.float32],
    tables: Sequence[ShownTable],
    table_vectors: NDArray[np.float32],
    episodes: Sequence[ShownEpisode],
    episode_vectors: NDArray[np.float32],
    words: Words,
    tools: Sequence[str],
    values: ContextValues,
) -> Context:
    """The tables and episodes that fit a query best.

    ``vector`` (dim,) of the query, ``table_vectors`` (tables, dim), ``episode_vectors`` (episodes, dim): all unit length.
    Of equals the earlier comes first. Tools that have nothing to work on are left out.
    """
    wanted = words(query)
    best_tables, table_scores = _best(tables, table_vectors @ vector, wanted, words, values.weight, values.tables)
    best_episodes, episode_scores = _best(episodes, episode_vectors @ vector, wanted, words, values.weight, values.episodes)
    usable = [tool for tool in tools if tables or (tool not in ANALYTIC and tool != "query")]
    return Context(tuple(best_tables), tuple(best_episodes), tuple(usable), (*table_scores, *episode_scores))


def _best(
    candidates: Sequence[Any],
    cosines: NDArray[np.float32],
    wanted: Sequence[str],
    words: Words,
    weight: float,
    most: int | None,
) -> tuple[list[Any], list[float]]:
    scores = [
        relevance(float(cosine), token_similarity(wanted, words(each.text)), weight)
        for each, cosine in zip(candidates, cosines, strict=True)
    ]
    ranked = sorted(range(len(candidates)), key=lambda at: (-scores[at], at))[:most]
    return [candidates[at] for at in ranked], [round(scores[at], 6) for at in ranked]


def _spaced(name: str) -> str:
    return re.sub(r"_+", " ", name)
