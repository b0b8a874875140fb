"""Signals of the text lane: each scores every unit of one user against a query (V-Mem, section 3.3)."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any

import bm25s
import numpy as np
from numpy.typing import NDArray

from operators.retrieve.words import query_words, words

Floats = NDArray[np.float32]

logging.getLogger("bm25s").setLevel(logging.WARNING)


def unit_length(vectors: NDArray[Any]) -> Floats:
    """Rows (n, dim) as float32 of unit length; rows of zeros stay zeros."""
    rows = vectors.astype(np.float32)
    norms: Floats = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.divide(rows, norms, out=rows, where=norms > 0)


def dense_scores(vectors: Floats, query: Floats) -> Floats:
    """Cosine of each row (n, dim) of unit length with a query vector (dim,): V-Mem, Eq. 4."""
    norm = float(np.linalg.norm(query))
    scores: Floats = vectors @ (query.astype(np.float32) / np.float32(norm or 1.0))
    return scores


class Bm25:
    """BM25 over the texts of one user's units; it never changes, a new version of the user gets a new one."""

    def __init__(self, texts: Sequence[str | None]) -> None:
        """``None`` and texts without a word score 0 for every query."""
        self._count = len(texts)
        corpus = [words(text) if text else [] for text in texts]
        self._index: Any = None
        if any(corpus):
            self._index = bm25s.BM25()
            self._index.index(corpus, show_progress=False)

    def scores(self, query: str) -> Floats:
        """Score (n,) of each text, 0 where it shares no word with the query."""
        known = [] if self._index is None else [word for word in query_words(query) if word in self._index.vocab_dict]
        if not known:
            return np.zeros(self._count, np.float32)
        scores: Floats = np.asarray(self._index.get_scores(known), np.float32)
        return scores

    @property
    def nbytes(self) -> int:
        """Bytes that the index holds, about."""
        if self._index is None:
            return 0
        arrays = sum(array.nbytes for array in self._index.scores.values() if isinstance(array, np.ndarray))
        return int(arrays) + 120 * len(self._index.vocab_dict)
