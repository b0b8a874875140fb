"""Evidence recall: of the rounds that answer a question, how many does a search return? And the questions to ask.

A question's recall is the share of its evidence rounds that are returned; the result is the mean over questions. The first
``k`` rounds count, and once more the same rounds with their neighbours.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from operators.errors import SourceError
from operators.records import MESSAGES, ORDER, ROUND
from operators.retrieve.result import SearchResult

ADVERSARIAL = 5
"""LoCoMo's category of questions that the conversation does not answer."""


@dataclass(frozen=True)
class Question:
    """A question to one user's history. ``evidence``: round ids, or ids of messages in the rounds, that answer it."""

    user_id: str
    text: str
    evidence: frozenset[str]
    category: str


@dataclass(frozen=True)
class Recall:
    """Means over ``questions``: ``at_k`` of the hits alone, ``with_neighbours`` of hits and neighbours."""

    questions: int
    at_k: float
    with_neighbours: float


def evidence_recall(
    memory_search: Callable[[str, str], SearchResult],
    questions: Iterable[Question],
    round_of: Callable[[str], Mapping[str, int]],
) -> Recall:
    """Recall of ``memory_search(user, query)``.

    ``round_of(user)`` maps evidence ids to orders of that user's rounds; ids it lacks are dropped, and so are questions
    none of whose evidence it knows. Several ids of one round are one round of evidence.
    """
    alone, around = [], []
    known: dict[str, Mapping[str, int]] = {}
    for question in questions:
        if question.user_id not in known:
            known[question.user_id] = round_of(question.user_id)
        places = known[question.user_id]
        wanted = {places[name] for name in question.evidence if name in places}
        if not wanted:
            continue
        found = memory_search(question.user_id, question.text)
        alone.append(share(wanted, (hit.order for hit in found.hits)))
        around.append(share(wanted, (order for run in found.runs for order in run)))
    count = len(alone)
    return Recall(count, sum(alone) / count if count else 0.0, sum(around) / count if count else 0.0)


def share(wanted: set[int], returned: Iterable[int]) -> float:
    """The share of ``wanted`` (not empty) that is among ``returned``."""
    return len(wanted.intersection(returned)) / len(wanted)


def evidence_places(rounds: Iterable[Mapping[str, Any]]) -> dict[str, int]:
    """Round ids and message ids to orders, from rows of ``records.ROUNDS``."""
    places: dict[str, int] = {}
    for row in rounds:
        places[row[ROUND]] = row[ORDER]
        places |= {message["message_id"]: row[ORDER] for message in row[MESSAGES] if message["message_id"]}
    return places


# --- the benchmarks' questions ------------------------------------------------------------------------------------


def mem_gallery_questions(path: Path) -> list[Question]:
    """The questions of a Mem-Gallery file that name clue rounds; the user is the file's stem."""
    return [
        Question(path.stem, raw["question"], frozenset(clues), "+".join(_words(raw.get("point"))))
        for raw in _section(path, "human-annotated QAs")
        if (clues := list(_words(raw.get("clue"))))
    ]


def locomo_questions(path: Path) -> list[Question]:
    """The questions of a LoCoMo file with evidence turns, without the adversarial ones; the user is the file's stem."""
    return [
        Question(path.stem, raw["question"], frozenset(evidence), str(raw["category"]))
        for raw in _section(path, "qa")
        if raw["category"] != ADVERSARIAL and (evidence := list(_turns(raw.get("evidence") or [])))
    ]


def _words(value: Any) -> Iterator[str]:
    """The words of a word, or of lists of words however nested (MemEye's points: ``[["X1"], ["Y2"]]``)."""
    if isinstance(value, list):
        for item in value:
            yield from _words(item)
    elif value is not None:
        yield str(value)


def _turns(evidence: Sequence[str]) -> Iterator[str]:
    """Turn ids; the files also write several in one string (``D8:6; D9:17``)."""
    for written in evidence:
        yield from re.findall(r"D\d+:\d+", written)


def _section(path: Path, name: str) -> list[dict[str, Any]]:
    try:
        found: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))[name]
    except (ValueError, KeyError, TypeError) as error:
        raise SourceError(
            f"{path} has no questions under {name!r}: {error!r}", code="no-questions", file=str(path)
        ) from error
    return found
