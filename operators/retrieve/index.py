"""One user's rounds, ready to be searched; and the search itself, over plain values."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from operators.retrieve.assemble import choose
from operators.retrieve.fuse import Fused, reciprocal_ranks, standardised, standings
from operators.retrieve.lanes import (
    Bm25,
    DenseRounds,
    Floats,
    Scores,
    best_of_round,
    dense_scores,
    unit_length,
    with_neighbours,
)
from operators.retrieve.route import Route
from operators.retrieve.told import Pictures, Told
from operators.retrieve.values import LANE_NAMES, Lane, SearchValues
from operators.retrieve.words import words

Made = TypeVar("Made")

Cosines = Callable[[Floats], Floats]
"""Of a query vector (dim,) with the vector of every unit (units,)."""


@dataclass(frozen=True)
class Probe:
    """What a lane searches with: words, their vector (dim,), a picture's vector (image dim,); None for what is not there."""

    text: str = ""
    vector: Floats | None = None
    picture: Floats | None = None


class UserIndex:
    """The lanes of one user at one version. What a search needs is made when first needed; safe to share by threads."""

    def __init__(self, told: Told, vectors: NDArray[Any], pictures: Pictures | None = None) -> None:
        """``vectors`` (units, dim): one of each unit. ``pictures``: those that rounds show, where they have vectors."""
        if not len(told.orders) == len(told.texts) == len(vectors):
            raise ValueError(f"{len(told.orders)} orders, {len(told.texts)} texts and {len(vectors)} vectors do not align")
        self.told = told
        self._vectors = unit_length(vectors)
        self._pictures = pictures
        self._seen = np.array([text is not None for text in told.texts], np.bool_)
        self._made: dict[object, Any] = {}
        self._lock = threading.Lock()

    def search(self, probes: Mapping[Lane, Probe], route: Route, values: SearchValues, k: int) -> list[Fused]:
        """The ``k`` best rounds, best first; with ``items`` units, the best units, whose ``order`` is their round's."""
        if values.items == "units":
            apart = self._once("apart", lambda: UserIndex(self.told.apart(), self._vectors, self._pictures))
            return [
                Fused(int(self.told.orders[found.order]), found.score, found.signals)
                for found in apart._search(probes, route, values, k)
            ]
        return self._search(probes, route, values, k)

    @property
    def captioned(self) -> bool:
        """Whether any stored picture has a caption."""
        return bool((self._seen & self.told.pictures).any())

    def _search(self, probes: Mapping[Lane, Probe], route: Route, values: SearchValues, k: int) -> list[Fused]:
        signals, weights = self.signals(probes, route, values)
        if not signals:
            return []
        if values.fusion == "reciprocal-rank":
            # A pool below k would cut the answer.
            total = reciprocal_ranks(signals, weights, values.kappa, max(values.pool, k))
            candidates = total > 0
        else:
            total = standardised(signals, weights)
            candidates = np.logical_or.reduce([signal.scored for signal in signals.values()])
        candidates = self._with_pictures(candidates, route, values)
        chosen = choose(total, candidates, k, spread=_spread(route, values), neighbours=values.neighbours)
        return [Fused(order, score, standings(signals, order)) for order, score in chosen]

    def signals(
        self, probes: Mapping[Lane, Probe], route: Route, values: SearchValues
    ) -> tuple[dict[str, Scores], dict[str, float]]:
        """Scores of all rounds under each signal that takes part, and its weight: the lane's times its own.

        Where no lane of the case has anything to say, the text lane is asked.
        """
        signals: dict[str, Scores] = {}
        weights: dict[str, float] = {}
        cosines = self._cosines()
        active = {lane: weight for lane, weight in values.lanes_of(route.case).items() if weight > 0}
        for lanes in (active, {"text": 1.0}):
            for lane in LANE_NAMES:
                own: Mapping[Any, float] = values.text if lane == "text" else values.image
                for name, scores in self._lane(lane, probes.get(lane, Probe()), values, cosines) if lane in lanes else ():
                    signals[name], weights[name] = scores, lanes[lane] * own[name]
            if signals:
                break
        return signals, weights

    def _lane(self, lane: Lane, probe: Probe, values: SearchValues, cosines: Cosines) -> Iterator[tuple[str, Scores]]:
        own: Mapping[Any, float] = values.text if lane == "text" else values.image
        if lane == "text":
            units = self._seen if values.fold_captions else self._seen & ~self.told.pictures
            made = self._text_signals(probe, values, units, cosines)
        else:
            made = self._image_signals(probe, cosines)
        for name, scores in made:
            if own.get(name, 0) > 0 and (found := scores()).scored.any():
                yield name, found

    def _text_signals(
        self, probe: Probe, values: SearchValues, units: NDArray[np.bool_], cosines: Cosines
    ) -> Iterator[tuple[str, Callable[[], Scores]]]:
        told, fold = self.told, values.fold_captions
        if probe.vector is not None and units.any():
            vector = probe.vector
            dense = self._once(("dense", fold), lambda: DenseRounds(told.orders, self._vectors, units, told.sessions))
            yield "dense", lambda: best_of_round(told.orders, cosines(vector), units, told.rounds)
            yield "dense-context", lambda: dense.context(cosines(vector), values.context)
            yield "dense-session", lambda: dense.session(cosines(vector))
        if probe.text:
            key = ("words", fold, values.dates)
            of_rounds, of_sessions = self._once(key, lambda: self._lexical(fold, values.dates))
            rounds = of_rounds.scores(probe.text).astype(np.float64)
            yield "bm25", lambda: self._units_matched(probe.text, units, f"units, captions {fold}")
            yield "bm25-round", lambda: _positive(rounds)
            yield "bm25-context", lambda: _positive(with_neighbours(rounds, values.context))
            yield "bm25-session", lambda: _positive(of_sessions.scores(probe.text).astype(np.float64)[told.sessions])

    def _image_signals(self, probe: Probe, cosines: Cosines) -> Iterator[tuple[str, Callable[[], Scores]]]:
        told, captions = self.told, self._seen & self.told.pictures
        if probe.picture is not None and self._pictures is not None and len(self._pictures.units):
            shown, picture = self._pictures, probe.picture
            every = np.ones(len(shown.units), np.bool_)
            orders = told.orders[shown.units]
            yield "visual", lambda: best_of_round(orders, dense_scores(shown.vectors, picture), every, told.rounds)
        if probe.vector is not None and captions.any():
            vector = probe.vector
            yield "caption-dense", lambda: best_of_round(told.orders, cosines(vector), captions, told.rounds)
        if probe.text and captions.any():
            yield "caption-bm25", lambda: self._units_matched(probe.text, captions, "captions")

    def _cosines(self) -> Cosines:
        """Of a vector with every unit's, once for all the signals of a search: lanes often search with the same one."""
        known: dict[int, tuple[Floats, Floats]] = {}

        def of(vector: Floats) -> Floats:
            if id(vector) not in known:
                known[id(vector)] = (vector, dense_scores(self._vectors, vector))
            return known[id(vector)][1]

        return of

    def _units_matched(self, text: str, units: NDArray[np.bool_], name: str) -> Scores:
        """BM25 among the ``units`` (units,) that count, each by itself."""
        texts = self.told.texts
        index = self._once(name, lambda: Bm25([words(texts[unit] or "") for unit in np.flatnonzero(units).tolist()]))
        scores = np.zeros(len(units), np.float32)
        scores[units] = index.scores(text)
        return best_of_round(self.told.orders, scores, scores > 0, self.told.rounds, otherwise=0.0)

    def _lexical(self, fold: bool, dates: bool) -> tuple[Bm25, Bm25]:
        """BM25 of whole rounds, with the words of their dates where asked for, and of whole sessions."""
        told = self.told
        rounds: list[list[str]] = [[] for _ in range(told.rounds)]
        for order, text, picture in zip(told.orders.tolist(), told.texts, told.pictures.tolist(), strict=True):
            if text and (fold or not picture):
                rounds[order] += words(text)
        sessions: list[list[str]] = [[] for _ in range(int(told.sessions.max(initial=-1)) + 1)]
        for session, document in zip(told.sessions.tolist(), rounds, strict=True):
            sessions[session] += document
        dated = [[*document, *words(date)] for document, date in zip(rounds, told.dates, strict=True)] if dates else rounds
        return Bm25(dated), Bm25(sessions)

    def _with_pictures(self, candidates: NDArray[np.bool_], route: Route, values: SearchValues) -> NDArray[np.bool_]:
        """V-Mem, Appendix B: where a picture is asked for, rounds that hold none nearby go, unless none would stay."""
        if not values.routing or route.case in ("text_to_text", "picture_to_text"):
            return candidates
        reach = 0 if route.case == "picture_to_image" else values.image_rounds
        if reach is None:
            return candidates
        holding = candidates & near(self.told.shown, reach)
        return holding if holding.any() else candidates

    def _once(self, name: object, make: Callable[[], Made]) -> Made:
        if name not in self._made:
            made = make()
            with self._lock:
                self._made.setdefault(name, made)
        found: Made = self._made[name]
        return found


def _spread(route: Route, values: SearchValues) -> float:
    """Where a picture is asked for or with, the rounds that hold its like are what answers, side by side or not."""
    return values.spread if route.case == "text_to_text" and values.placement in ("runs", "tail") else 0.0


def near(held: NDArray[np.bool_], reach: int) -> NDArray[np.bool_]:
    """Which rounds (rounds,) hold something, or stand at most ``reach`` rounds from one that does."""
    found = held.copy()
    for distance in range(1, min(reach, len(held) - 1) + 1):
        found[distance:] |= held[:-distance]
        found[:-distance] |= held[distance:]
    return found


def _positive(values: NDArray[np.float64]) -> Scores:
    return Scores(values, values > 0)
