"""Signals: each scores the rounds of one user against what its lane searches with (V-Mem, section 3.3)."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import bm25s
import numpy as np
from numpy.typing import NDArray

from operators.retrieve.words import query_words

Floats = NDArray[np.float32]
Orders = NDArray[np.int64]

logging.getLogger("bm25s").setLevel(logging.WARNING)


@dataclass(frozen=True)
class Scores:
    """Scores (rounds,) of every round under one signal, and for which it has something to say (rounds,)."""

    values: NDArray[np.float64]
    scored: NDArray[np.bool_]


def unit_length(vectors: NDArray[Any]) -> Floats:
    """Rows (n, dim) as float32 of unit length; rows of zeros stay zeros."""
    rows = vectors.astype(np.float32)
    norms: Floats = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.divide(rows, norms, out=rows, where=norms > 0)


def dense_scores(vectors: Floats, query: Floats) -> Floats:
    """Cosine of each row (n, dim) of unit length with a query vector (dim,), to six decimals: V-Mem, Eq. 4.

    The last bits of a product depend on the row's place; equal texts are to tie.
    """
    norm = float(np.linalg.norm(query))
    scores: Floats = vectors @ (query.astype(np.float32) / np.float32(norm or 1.0))
    return np.round(scores, 6, out=scores)


def best_of_round(
    orders: Orders, scores: NDArray[Any], scored: NDArray[np.bool_], rounds: int, *, otherwise: float | None = None
) -> Scores:
    """A round takes the score of its best unit (V-Mem, Eq. 5); units outside ``scored`` (units,) do not count.

    A round without such a unit takes ``otherwise``; without that, the lowest score of those that have one.
    """
    best = np.full(rounds, -np.inf)
    np.maximum.at(best, orders[scored], scores[scored].astype(np.float64))
    found = np.isfinite(best)
    lowest = best[found].min() if found.any() else 0.0
    best[~found] = lowest if otherwise is None else otherwise
    return Scores(best, found)


def with_neighbours(values: NDArray[np.float64], weight: float) -> NDArray[np.float64]:
    """Each round's value (rounds,) and ``weight`` times those of the rounds before and after it."""
    around = values.copy()
    around[1:] += weight * values[:-1]
    around[:-1] += weight * values[1:]
    return around


class Bm25:
    """BM25 over token lists; it never changes, a new version of the user gets a new one."""

    def __init__(self, documents: Sequence[Sequence[str]]) -> None:
        """Documents without a word score 0 for every query."""
        self._count = len(documents)
        self._index: Any = None
        if any(documents):
            self._index = bm25s.BM25()
            self._index.index([list(words) for words in documents], show_progress=False)

    def scores(self, query: str) -> Floats:
        """Score (n,) of each document, 0 where it shares no word with the query."""
        known = [] if self._index is None else [word for word in query_words(query) if word in self._index.vocab_dict]
        if not known:
            return np.zeros(self._count, np.float32)
        scores: Floats = np.asarray(self._index.get_scores(known), np.float32)
        return scores


class DenseRounds:
    """The dense signals of rounds and sessions without vectors of their own: a sum of units scores as the sum of scores.

    A round's vector is the sum of its units' (unit length each), context adds its neighbours', a session's sums its rounds';
    all are compared by cosine.
    """

    def __init__(self, orders: Orders, vectors: Floats, seen: NDArray[np.bool_], sessions: Orders) -> None:
        """Units: their rounds (units,), vectors (units, dim), which count (units,). ``sessions`` (rounds,) of the rounds."""
        rounds, dim = len(sessions), vectors.shape[1]
        sums = np.zeros((rounds, dim), np.float32)
        np.add.at(sums, orders[seen], vectors[seen])
        self._orders, self._seen, self._sessions, self._rounds = orders[seen], seen, sessions, rounds
        self._squares = np.einsum("ij,ij->i", sums, sums).astype(np.float64)
        self._next = np.einsum("ij,ij->i", sums[:-1], sums[1:]).astype(np.float64)
        self._after = np.einsum("ij,ij->i", sums[:-2], sums[2:]).astype(np.float64)
        count = int(sessions.max()) + 1 if rounds else 0
        whole = np.zeros((count, dim), np.float32)
        np.add.at(whole, sessions, sums)
        self._session_norms = np.linalg.norm(whole, axis=1).astype(np.float64)
        self._told = np.bincount(self._orders, minlength=rounds) > 0

    def context(self, cosines: Floats, weight: float) -> Scores:
        """Cosine of each round with ``weight`` times its neighbours; ``cosines`` (units,): of every unit."""
        sums = with_neighbours(self._sums(cosines), weight)
        return Scores(_ratio(sums, np.sqrt(np.maximum(self._context_squares(weight), 0.0))), self._near())

    def session(self, cosines: Floats) -> Scores:
        """Cosine of each round's session."""
        sums = _sums_of(self._sessions, self._sums(cosines), len(self._session_norms))
        return Scores(_ratio(sums, self._session_norms)[self._sessions], self._told)

    def _sums(self, cosines: Floats) -> NDArray[np.float64]:
        return _sums_of(self._orders, cosines[self._seen].astype(np.float64), self._rounds)

    def _near(self) -> NDArray[np.bool_]:
        near = self._told.copy()
        near[1:] |= self._told[:-1]
        near[:-1] |= self._told[1:]
        return near

    def _context_squares(self, weight: float) -> NDArray[np.float64]:
        """|m_i + w (m_{i-1} + m_{i+1})|^2, from the products of neighbours."""
        found: NDArray[np.float64] = self._squares.copy()
        found[1:] += weight**2 * self._squares[:-1] + 2 * weight * self._next
        found[:-1] += weight**2 * self._squares[1:] + 2 * weight * self._next
        found[1:-1] += 2 * weight**2 * self._after
        return found


def _sums_of(places: Orders, values: NDArray[np.float64], count: int) -> NDArray[np.float64]:
    return np.bincount(places, weights=values, minlength=count).astype(np.float64)


def _ratio(above: NDArray[np.float64], below: NDArray[np.float64]) -> NDArray[np.float64]:
    # Sums that cancel leave noise in the norm, which would blow up what is noise above too.
    ratio: NDArray[np.float64] = np.divide(above, below, out=np.zeros_like(above), where=below > 1e-4)
    return ratio
