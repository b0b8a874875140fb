"""One user's hierarchy: an event a round, episodes over events, topics over episodes (AdaMM, section 3.4)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from operators.hierarchy.describe import Describe, Said, Terms, described, name_of, weights
from operators.hierarchy.episodes import episode_starts
from operators.hierarchy.terms import Sentence, sentences_of
from operators.hierarchy.topics import topic_labels
from operators.hierarchy.values import HierarchyValues
from operators.hierarchy.vectors import Floats, means, unit_length
from operators.records import (
    CAPTION,
    EPISODE,
    EVENT,
    HIERARCHY,
    IMAGES,
    MEDIA,
    OFFSET,
    ORDER,
    ROUND,
    SESSION,
    SPEAKER,
    TENANT,
    TEXT,
    TIME,
    TOPIC,
    USER,
    node_id,
)

_ROLES = frozenset(("user", "assistant", "system", "tool", "other", ""))
_ANSWERS = frozenset(("assistant", "system", "tool"))
_FEW_WORDS = 2
Pictures = Mapping[str, NDArray[Any]]
"""Vectors of pictures by their ``media`` (``records.IMAGE_TYPE``)."""


@dataclass(frozen=True)
class _Spoken:
    """A sentence, who said it (empty for a role), whether it is an assistant's, and the row of its unit."""

    sentence: Sentence
    speaker: str
    answers: bool
    unit: int


def _words(said: Sequence[_Spoken]) -> set[str]:
    """The words that tell what a round is about: a person's where they say some, else the answer's too."""
    own = {key for each in said if not each.answers for key in each.sentence.keys}
    return own if len(own) >= _FEW_WORDS else {key for each in said for key in each.sentence.keys}


def event_vectors(orders: NDArray[np.int64], vectors: NDArray[Any], rounds: int) -> Floats:
    """Unit-length means (rounds, dim) of each round's units: their ``orders`` (units,) and ``vectors`` (units, dim)."""
    return means(unit_length(vectors), orders, rounds)


def hierarchy_of(
    rounds: pa.Table,
    units: pa.Table,
    vectors: NDArray[Any],
    values: HierarchyValues,
    *,
    made_of: str,
    pictures: Pictures | None = None,
    describe: Describe | None = None,
) -> pa.Table:
    """The ``records.HIERARCHY`` rows of one user: topics, then episodes, then events, each by their first rounds.

    ``rounds`` (``records.ROUNDS``) and ``units`` (``records.UNITS``) in order, ``vectors`` (units, dim) row i for unit i. A
    function of these alone: a history that was appended to has the hierarchy of one built at once. ``describe``: a model's
    words. ValueError where units and vectors do not align, or rounds are not counted from 0.
    """
    if len(units) != len(vectors):
        raise ValueError(f"{len(units)} units and {len(vectors)} vectors do not align")
    if not np.array_equal(rounds[ORDER].to_numpy(), np.arange(len(rounds))):
        raise ValueError("the rounds of a history are counted from 0")
    if len(rounds) == 0:
        return HIERARCHY.empty_table()
    return _Builder(rounds, units, unit_length(vectors), values, pictures or {}, describe).table(made_of)


@dataclass
class _Builder:
    rounds: pa.Table
    units: pa.Table
    vectors: Floats
    values: HierarchyValues
    pictures: Pictures
    describe: Describe | None
    said: list[list[_Spoken]] = field(default_factory=list)

    def table(self, made_of: str) -> pa.Table:
        self.said = self._said()
        starts = self.starts
        ends = [*starts[1:], len(self.rounds)]
        spans = [range(start, end) for start, end in zip(starts, ends, strict=True)]
        vectors = means(self.events, self._owners(spans), len(spans))
        labels = topic_labels(vectors, self.values.topic_similarity, self.values.block_episodes)
        topics = [np.flatnonzero(labels == number).tolist() for number in range(int(labels.max()) + 1)]
        events, episodes, terms = self._told(spans, vectors)
        named = self._topics(topics, spans, vectors, terms)
        ids = [self._id(TOPIC, spans[members[0]][0]) for members in topics]
        episode_ids = [self._id(EPISODE, span[0]) for span in spans]
        rows = [
            self._row(TOPIC, ids[at], None, *named[at], [place for each in members for place in spans[each]])
            for at, members in enumerate(topics)
        ]
        rows += [self._row(EPISODE, episode_ids[at], ids[labels[at]], *episodes[at], span) for at, span in enumerate(spans)]
        rows += [
            self._row(EVENT, self._id(EVENT, place), episode_ids[at], "", events[place], [place])
            for at, span in enumerate(spans)
            for place in span
        ]
        topic_vectors = means(vectors, labels, len(topics))
        return self._with_vectors(rows, np.concatenate([topic_vectors, vectors]), made_of)

    # --- what there is ---

    @cached_property
    def events(self) -> Floats:
        return event_vectors(self.units[ORDER].to_numpy(), self.vectors, len(self.rounds))

    @cached_property
    def times(self) -> list[Any]:
        return list(self.rounds[TIME].to_pylist())

    @cached_property
    def starts(self) -> list[int]:
        micros = pc.fill_null(pc.cast(self.rounds[TIME], pa.int64()), np.iinfo(np.int64).min).to_numpy()
        minutes = np.where(micros == np.iinfo(np.int64).min, np.nan, micros / 60e6)
        return episode_starts(self.events, self.rounds[SESSION].to_pylist(), minutes, self.values)

    def _owners(self, spans: Sequence[range]) -> NDArray[np.int64]:
        return np.repeat(np.arange(len(spans)), [len(span) for span in spans])

    def _said(self) -> list[list[_Spoken]]:
        """The sentences of each round, and of its pictures' captions."""
        said: list[list[_Spoken]] = [[] for _ in range(len(self.rounds))]
        columns = (self.units[ORDER], self.units[SPEAKER], pc.coalesce(self.units[TEXT], self.units[CAPTION]))
        for row, (order, speaker, text) in enumerate(zip(*(column.to_pylist() for column in columns), strict=True)):
            named = "" if speaker in _ROLES else speaker
            answers = speaker in _ANSWERS
            said[order] += [_Spoken(sentence, named, answers, row) for sentence in sentences_of(text or "")]
        return said

    def _id(self, level: str, place: int) -> str:
        return node_id(level, self.rounds[SESSION][place].as_py(), self.rounds[ROUND][place].as_py())

    # --- descriptions ---

    def _told(self, spans: Sequence[range], vectors: Floats) -> tuple[list[str], list[tuple[str, str]], list[Terms]]:
        """Descriptions of events, names and descriptions of episodes, by what was said until then; terms of episodes."""
        before = Terms()
        events: list[str] = []
        episodes: list[tuple[str, str]] = []
        terms: list[Terms] = []
        for span, vector in zip(spans, vectors, strict=True):
            inside = Terms()
            for place in span:
                alone = Terms()
                alone.add(_words(self.said[place]))
                inside.merge(alone)
                before.merge(alone)
                said = self._near([place], self.events[place])
                told = described(said, weights(alone, before), self.values.sentences, self.values.characters)
                events.append(self._worded(EVENT, [place], "", told)[1])
            said = self._near(span, vector)
            tellings = weights(inside, before)
            name = self._name(tellings, span)
            told = described(said, tellings, self.values.sentences, self.values.characters)
            episodes.append(self._worded(EPISODE, span, name, told))
            terms.append(inside)
        return events, episodes, terms

    def _topics(
        self, topics: Sequence[Sequence[int]], spans: Sequence[range], vectors: Floats, terms: Sequence[Terms]
    ) -> list[tuple[str, str]]:
        """A name and a description a topic, against all of the user's others."""
        everywhere = Terms()
        for each in terms:
            everywhere.merge(each)
        found: list[tuple[str, str]] = []
        for members in topics:
            inside = Terms()
            for at in members:
                inside.merge(terms[at])
            places = [place for at in members for place in spans[at]]
            centre = unit_length(vectors[members].sum(axis=0, dtype=np.float64, keepdims=True))[0]
            tellings = weights(inside, everywhere)
            name = self._name(tellings, places)
            said = self._near(places, centre)
            told = described(said, tellings, self.values.sentences, self.values.characters)
            found.append(self._worded(TOPIC, places, name, told))
        return found

    def _near(self, places: Sequence[int], centre: Floats) -> list[Said]:
        return [
            Said(each.sentence, each.speaker, float(self.vectors[each.unit] @ centre), each.answers)
            for place in places
            for each in self.said[place]
        ]

    def _name(self, tellings: Mapping[str, float], places: Sequence[int]) -> str:
        """Those who speak name no level: what they say does."""
        left = {word: weight for word, weight in tellings.items() if word not in self._speakers}
        said = (each.sentence for place in places for each in self.said[place])
        return name_of(left, said, self.values.name_words)

    @cached_property
    def _speakers(self) -> frozenset[str]:
        names = {each.speaker for said in self.said for each in said if each.speaker}
        return frozenset(key for name in names for sentence in sentences_of(name) for key in sentence.keys)

    def _worded(self, level: str, places: Sequence[int], name: str, told: str) -> tuple[str, str]:
        """The model's words where there is one, else these."""
        if self.describe is None:
            return name, told
        texts = [each.sentence.text for place in places for each in self.said[place]]
        model_name, model_told = self.describe(level, texts)
        return model_name.strip() or name, model_told.strip() or told

    # --- rows ---

    def _row(self, level: str, node: str, parent: str | None, name: str, told: str, places: Sequence[int]) -> dict[str, Any]:
        timed = [place for place in places if self.times[place] is not None]
        first = min(timed, key=lambda place: self.times[place], default=None)
        last = max(timed, key=lambda place: self.times[place], default=None)
        offsets = self.rounds[OFFSET]
        return {
            "level": level,
            "node": node,
            "parent": parent,
            "name": name,
            "description": told,
            "first_order": places[0],
            "last_order": places[-1],
            "rounds": len(places),
            "pictures": sum(len(self._media[place]) for place in places),
            "first_time": None if first is None else self.times[first],
            "first_offset_minutes": None if first is None else offsets[first].as_py(),
            "last_time": None if last is None else self.times[last],
            "last_offset_minutes": None if last is None else offsets[last].as_py(),
            "image_vector": None if level == EVENT else self._image_vector(places),
        }

    @cached_property
    def _media(self) -> list[list[str | None]]:
        return [[image[MEDIA] for image in images] for images in self.rounds[IMAGES].to_pylist()]

    def _image_vector(self, places: Sequence[int]) -> Floats | None:
        """The unit-length mean of the vectors of the pictures that have one; None without any."""
        names = [name for place in places for name in self._media[place] if name is not None and name in self.pictures]
        if not names:
            return None
        rows = unit_length(np.array([self.pictures[name] for name in names]))
        mean = unit_length(rows.sum(axis=0, dtype=np.float64, keepdims=True))[0]
        return mean if mean.any() else None

    def _with_vectors(self, rows: list[dict[str, Any]], vectors: Floats, made_of: str) -> pa.Table:
        """The rows as a table: topics and episodes with their vectors, whose rows come first."""
        scope = {name: self.rounds[name][0].as_py() for name in (TENANT, USER)}
        upper = [vector if vector.any() else None for vector in vectors]
        upper += [None] * (len(rows) - len(upper))
        images = [row.pop("image_vector") for row in rows]
        columns: dict[str, Any] = {name: [row[name] for row in rows] for name in rows[0]}
        columns |= {name: [value] * len(rows) for name, value in (*scope.items(), ("made_of", made_of))}
        columns |= {"vector": halves(upper), "image_vector": halves(images)}
        return pa.table([pa.array(columns[each.name], each.type) for each in HIERARCHY], schema=HIERARCHY)


def halves(vectors: Sequence[Floats | None]) -> pa.Array:
    """Vectors of any length as lists of float16, null for None."""
    lengths = [0 if vector is None else len(vector) for vector in vectors]
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
    known = [vector for vector in vectors if vector is not None]
    flat = np.concatenate(known).astype(np.float16) if known else np.empty(0, np.float16)
    mask = pa.array([vector is None for vector in vectors], pa.bool_())
    return pa.ListArray.from_arrays(pa.array(offsets), pa.array(flat, pa.float16()), mask=mask)
