"""SEMANTICMATCH and EVENTLOCATE over one user's hierarchy (AdaMM, section 3.5.1 and Table 1)."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from operators.errors import UsageError
from operators.hierarchy.build import event_vectors
from operators.hierarchy.nodes import Node, RoundRef, tree_of
from operators.hierarchy.terms import sentences_of
from operators.hierarchy.told import DatesIn, Told, days_told
from operators.hierarchy.values import LEAST, WEIGHT
from operators.hierarchy.vectors import Floats, unit_length
from operators.records import CAPTION, LEVELS, MESSAGES, OFFSET, ORDER, PRECISION, TEXT, TIME, isoformat, local_day

Words = Callable[[str], Sequence[str]]

_NEAR_BEST = 0.9
"""Rounds of an episode that say so: those whose score is at least this part of its best one's."""


@dataclass(frozen=True)
class Reading:
    """How a text and a query become words, and which dates are written in a text."""

    of_text: Words
    of_query: Words
    dates_in: DatesIn


@dataclass(frozen=True)
class Match:
    """A node with its relevance (0 to 1), made of the cosine with the query and the part of its words that it says."""

    score: float
    cosine: float
    overlap: float
    node: Node

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values."""
        return {"score": self.score, "cosine": self.cosine, "overlap": self.overlap, **self.node.to_dict()}


@dataclass(frozen=True)
class Located:
    """When something was: from ``start`` to ``end`` (UTC), on the writer's days ``first_day`` to ``last_day``.

    ``confidence``: the event's score, from the threshold to 1. ``told``: the days are resolved from words such as
    "yesterday"; else they are those on which it was said. ``precision``: day where only days are known. ``rounds``: those of
    the episode that say so, the best first. All times are None where the event's is not known.
    """

    confidence: float
    start: datetime | None
    end: datetime | None
    first_day: date | None
    last_day: date | None
    precision: str
    told: bool
    rounds: tuple[RoundRef, ...]
    event: Node
    episode: Node

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values."""
        days = (self.first_day, self.last_day)
        first, last = (None if day is None else day.isoformat() for day in days)
        return {
            "confidence": self.confidence,
            "start": isoformat(self.start),
            "end": isoformat(self.end),
            "first_day": first,
            "last_day": last,
            "precision": self.precision,
            "told": self.told,
            "rounds": [{"session_id": r.session_id, "round_id": r.round_id, "order": r.order} for r in self.rounds],
            "event": self.event.to_dict(),
            "episode": self.episode.to_dict(),
        }


class UserHierarchy:
    """One user's hierarchy at one version, ready to be read; it never changes."""

    def __init__(
        self, hierarchy: pa.Table, rounds: pa.Table, units: pa.Table, vectors: NDArray[np.float16], reading: Reading
    ) -> None:
        """``records.HIERARCHY``, ``ROUNDS``, ``UNITS`` of one user in order; ``vectors`` (units, dim), row i for unit i."""
        self._rounds = rounds
        self._units = units
        self._reading = reading
        self._unit_vectors = vectors
        self._table = hierarchy
        self.topics, self.episodes, self.events = tree_of(hierarchy, rounds)

    def match(
        self, query: str, vector: Floats, *, levels: Sequence[str] = LEVELS, k: int = 12, weight: float = WEIGHT
    ) -> list[Match]:
        """SEMANTICMATCH: the ``k`` nodes of the levels that fit the query best, of equal ones the higher and earlier first.

        The score of a node is ``weight`` times its cosine with ``vector`` (dim,) and, for the rest, the part of the query's
        words that it says, each weighed by how few rounds say it (AdaMM, Eq. 9). UsageError for values out of range.
        """
        check_match(query, levels=levels, k=k, weight=weight)
        cosines, overlaps, scores = self._scores(query, vector, weight)
        nodes = self._nodes
        allowed = np.array([at for at, node in enumerate(nodes) if node.level in levels], np.int64)
        ranked = allowed[np.lexsort((allowed, -scores[allowed]))][:k].tolist()
        return [Match(_share(scores[at]), float(cosines[at]), float(overlaps[at]), nodes[at]) for at in ranked]

    def locate(
        self, query: str, vector: Floats, *, k: int = 1, weight: float = WEIGHT, least: float = LEAST
    ) -> list[Located]:
        """EVENTLOCATE: the ``k`` intervals in which what the query tells was, the most likely first, one an episode.

        Scores as in ``match``; an event below ``least`` is none, and without any the answer is empty. UsageError as there.
        """
        check_match(query, k=k, weight=weight, least=least)
        _, _, scores = self._scores(query, vector, weight)
        scores = scores[len(self.topics) + len(self.episodes) :]
        found: list[Located] = []
        taken: set[str | None] = set()
        for at in np.lexsort((np.arange(len(scores)), -scores)).tolist():
            if len(found) == k or scores[at] < least:
                break
            if self.events[at].parent not in taken:
                taken.add(self.events[at].parent)
                found.append(self._located(at, scores, least, self._worth(query)))
        return found

    # --- scores ---

    @cached_property
    def _nodes(self) -> list[Node]:
        return [*self.topics, *self.episodes, *self.events]

    @cached_property
    def _vectors(self) -> Floats:
        """A unit-length vector a node (nodes, dim): as stored, events' from their units."""
        events = event_vectors(self._units[ORDER].to_numpy(), self._unit_vectors, len(self._rounds))
        upper = np.zeros((len(self._nodes) - len(events), events.shape[1]), np.float32)
        stored = self._table["vector"].slice(0, len(upper)).combine_chunks()
        known = pc.is_valid(stored).to_numpy(zero_copy_only=False)
        flat = stored.drop_null().flatten().to_numpy(zero_copy_only=False)
        upper[known] = flat.astype(np.float32).reshape(-1, events.shape[1])
        return np.concatenate([unit_length(upper), events])

    @cached_property
    def _places(self) -> dict[str, list[int]]:
        """The nodes (ascending) that say a word: events all that was said, the others their names and descriptions."""
        places: dict[str, list[int]] = {}
        for at, words in enumerate(self._said()):
            for word in words:
                places.setdefault(word, []).append(at)
        return places

    def _said(self) -> Iterator[set[str]]:
        for node in (*self.topics, *self.episodes):
            yield set(self._reading.of_text(f"{node.name} {node.description}"))
        said: list[set[str]] = [set() for _ in range(len(self._rounds))]
        texts = pc.coalesce(self._units[TEXT], self._units[CAPTION]).to_pylist()
        for order, text in zip(self._units[ORDER].to_pylist(), texts, strict=True):
            said[order].update(self._reading.of_text(text or ""))
        for order, messages in enumerate(self._rounds[MESSAGES].to_pylist()):
            said[order].update(word for each in messages for word in self._reading.of_text(each["speaker"]))
        yield from said

    def _worth(self, query: str) -> dict[str, float]:
        """The inverse document frequency of each word of a query, over the user's rounds; they sum to 1."""
        upper = len(self.topics) + len(self.episodes)
        rare: dict[str, float] = {}
        for word in self._reading.of_query(query):
            places = self._places.get(word, [])
            count = len(places) - bisect_left(places, upper)
            rare[word] = math.log(1 + (len(self.events) - count + 0.5) / (count + 0.5))
        total = sum(rare.values())
        return {word: value / total for word, value in rare.items()}

    def _scores(self, query: str, vector: Floats, weight: float) -> tuple[Floats, Floats, Floats]:
        """Cosine, overlap and score (nodes,) of each node."""
        dim = self._vectors.shape[1]
        if vector.shape != (dim,):
            raise UsageError(f"the query's vector has shape {vector.shape}, the store's have ({dim},)")
        if not np.isfinite(vector).all():
            raise UsageError("the query's vector holds numbers that are not finite")
        cosines: Floats = self._vectors @ unit_length(vector.reshape(1, -1))[0]
        overlaps = np.zeros(len(cosines), np.float32)
        for word, value in self._worth(query).items():
            overlaps[self._places.get(word, [])] += value
        return cosines, overlaps, (weight * cosines + (1 - weight) * overlaps).astype(np.float32)

    # --- intervals ---

    def _located(self, at: int, scores: Floats, least: float, worth: Mapping[str, float]) -> Located:
        event = self.events[at]
        episode = self._above[event.parent]
        enough = max(least, _NEAR_BEST * float(scores[at]))
        saying = [each for each in episode.rounds if scores[each.order] >= enough]
        saying.sort(key=lambda each: (-scores[each.order], each.order))
        row = {name: self._rounds[name][at].as_py() for name in (TIME, OFFSET, PRECISION, MESSAGES)}
        span = _Span.unknown() if row[TIME] is None else self._span(row, worth)
        return Located(_share(scores[at]), *span, tuple(saying), event, episode)

    @cached_property
    def _above(self) -> dict[str | None, Node]:
        return {episode.node: episode for episode in self.episodes}

    def _span(self, row: Mapping[str, Any], worth: Mapping[str, float]) -> _Span:
        """When what a round tells was: on the days that it names, else when it was said."""
        said = local_day(row[TIME], row[OFFSET])
        told = self._told(row[MESSAGES], worth, said)
        if told is not None:
            return _Span(*_whole_days(told.first, told.last, row[OFFSET]), told.first, told.last, "day", True)
        if row[PRECISION] == "day":
            return _Span(*_whole_days(said, said, row[OFFSET]), said, said, "day", False)
        end = max([row[TIME], *(each[TIME] for each in row[MESSAGES] if each[TIME] is not None)])
        return _Span(row[TIME], end, said, local_day(end, row[OFFSET]), row[PRECISION], False)

    def _told(self, messages: Sequence[Mapping[str, Any]], worth: Mapping[str, float], said: date) -> Told | None:
        """The day told by the sentence that says most of the query's words; other sentences tell of other things."""
        best: tuple[float, str] = (0.0, "")
        for message in messages:
            for sentence in sentences_of(message["text"]):
                words = set(self._reading.of_text(sentence.text))
                score = sum(value for word, value in worth.items() if word in words)
                if score > best[0]:
                    best = (score, sentence.text)
        return days_told(best[1], said, self._reading.dates_in)


class _Span(NamedTuple):
    start: datetime | None
    end: datetime | None
    first_day: date | None
    last_day: date | None
    precision: str
    told: bool

    @classmethod
    def unknown(cls) -> _Span:
        """Of an event without a time."""
        return cls(None, None, None, None, "unknown", False)


def _whole_days(first: date, last: date, offset_minutes: int | None) -> tuple[datetime, datetime]:
    """From the first to the last moment of days on a writer's clock, in UTC."""
    shift = timedelta(minutes=offset_minutes or 0)
    start = datetime.combine(first, time.min, UTC)
    end = datetime.combine(last, time.max, UTC)
    try:
        return start - shift, end - shift
    except OverflowError:  # in the first or the last hours of all time
        return start, end


def _share(score: float) -> float:
    return round(min(max(float(score), 0.0), 1.0), 6)


def check_match(query: str, *, levels: Sequence[str] = LEVELS, k: int, weight: float, least: float = 0.0) -> None:
    """UsageError where a match cannot be made as asked."""
    if not isinstance(query, str) or not query.strip():
        raise UsageError("the query is blank: say what to look for")
    if isinstance(k, bool) or not isinstance(k, int) or k < 1:
        raise UsageError(f"k must be a whole number of at least 1, not {k!r}")
    for name, value in (("weight", weight), ("least", least)):
        if not 0.0 <= value <= 1.0:
            raise UsageError(f"{name} must be a number from 0 to 1, not {value!r}")
    if isinstance(levels, str) or not levels or not set(levels) <= set(LEVELS):
        raise UsageError(f"levels must be some of {', '.join(LEVELS)}, not {levels!r}")
