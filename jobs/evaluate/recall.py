"""Evidence recall: of the rounds that answer a question, how many does a search return?

A question's recall is the share of its evidence rounds that are returned; the result is the mean over questions. The first
``k`` rounds count, and once more the same rounds with their neighbours.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from jobs.evaluate.questions import Question
from operators.records import MESSAGES, ORDER, ROUND, SESSION
from operators.retrieve.result import SearchResult

FIRST, FEW = 12, 5
"""Rounds of a result that count, whatever its route returned; and those of the shorter measure."""

METRICS = ("recall@5", "recall@12", "recall@12+n", "hit@12", "mrr")

Evidence = frozenset[int]
"""Rounds, by order, of which any one will do: one round; for a session all of its rounds."""


@dataclass(frozen=True)
class Returned:
    """Of a search, by order: its ``first`` 12 rounds, best first; and those with their neighbours in time order."""

    first: tuple[int, ...]
    around: tuple[int, ...]


def returned(found: SearchResult, neighbours: int) -> Returned:
    """What counts of a result.

    The neighbours are those rounds of the result that stand at most ``neighbours`` places from one of the first 12: what the
    route did not return does not count, nor does what stands around a later hit.
    """
    first = tuple(hit.order for hit in found.hits[:FIRST])
    near = {order + step for order in first for step in range(-neighbours, neighbours + 1)}
    return Returned(first, tuple(sorted({*first, *(order for run in found.runs for order in run if order in near)})))


def scores(wanted: Collection[Evidence], result: Returned) -> tuple[float, ...]:
    """A question's ``METRICS``; ``wanted`` is not empty.

    Recall is the share of ``wanted`` among the rounds returned (design.md, section 7), ``hit@12`` 1 where any of it is
    among the first 12, ``mrr`` 1 / rank of the first that is, else 0.
    """
    first = result.first
    ranks = (rank for rank, order in enumerate(first, start=1) if any(order in one for one in wanted))
    rank = next(ranks, None)
    return (
        _share(wanted, first[:FEW]),
        _share(wanted, first),
        _share(wanted, result.around),
        0.0 if rank is None else 1.0,
        0.0 if rank is None else 1.0 / rank,
    )


def _share(wanted: Collection[Evidence], orders: Sequence[int]) -> float:
    there = frozenset(orders)
    return sum(not one.isdisjoint(there) for one in wanted) / len(wanted)


# --- where the evidence stands --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Places:
    """One user's rounds: ``rounds`` by round ids and message ids, ``sessions`` by session ids; ``names`` by order."""

    rounds: Mapping[str, Evidence]
    sessions: Mapping[str, Evidence]
    names: Mapping[int, str]

    def wanted(self, question: Question) -> frozenset[Evidence]:
        """The question's evidence. Ids that the history lacks are dropped; several ids of one round are one."""
        known = self.sessions if question.by_session else self.rounds
        return frozenset(known[name] for name in question.evidence if name in known)


def places_of(rows: Iterable[Mapping[str, Any]]) -> Places:
    """From rows of ``records.ROUNDS``. A round is named by its messages' ids joined by ``+``, else by its own id."""
    rounds: dict[str, set[int]] = {}
    sessions: dict[str, set[int]] = {}
    names: dict[int, str] = {}
    for row in rows:
        said = [message["message_id"] for message in row[MESSAGES]]
        for name in (row[ROUND], *filter(None, said)):
            rounds.setdefault(name, set()).add(row[ORDER])
        sessions.setdefault(row[SESSION], set()).add(row[ORDER])
        names[row[ORDER]] = "+".join(said) if said and all(said) else row[ROUND]
    return Places(_frozen(rounds), _frozen(sessions), names)


def _frozen(found: Mapping[str, set[int]]) -> dict[str, Evidence]:
    return {name: frozenset(orders) for name, orders in found.items()}


# --- one pair of figures --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Recall:
    """Means over ``questions``: ``at_k`` of all hits, ``with_neighbours`` of hits and neighbours, however many there are."""

    questions: int
    at_k: float
    with_neighbours: float


def evidence_recall(
    memory_search: Callable[[str, str], SearchResult],
    questions: Iterable[Question],
    rounds_of: Callable[[str], Iterable[Mapping[str, Any]]],
) -> Recall:
    """Recall of ``memory_search(user, query)``; ``rounds_of(user)`` are rows of ``records.ROUNDS``.

    Questions none of whose evidence is in the user's rounds are dropped.
    """
    alone, around = [], []
    known: dict[str, Places] = {}
    for question in questions:
        if question.user_id not in known:
            known[question.user_id] = places_of(rounds_of(question.user_id))
        wanted = known[question.user_id].wanted(question)
        if not wanted:
            continue
        found = memory_search(question.user_id, question.text)
        alone.append(_share(wanted, [hit.order for hit in found.hits]))
        around.append(_share(wanted, [order for run in found.runs for order in run]))
    count = len(alone)
    return Recall(count, sum(alone) / count if count else 0.0, sum(around) / count if count else 0.0)
