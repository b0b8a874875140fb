"""One user's units, ready to be searched; and the search itself, over plain values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from operators.errors import UsageError
from operators.retrieve.fuse import Fused, fuse, rank_rounds
from operators.retrieve.lanes import Bm25, Floats, dense_scores, unit_length

SIGNALS = ("dense", "bm25")


class UserIndex:
    """The lanes of one user at one version; immutable, safe to share between threads."""

    def __init__(self, orders: NDArray[np.int64], texts: Sequence[str | None], vectors: NDArray[np.float16]) -> None:
        """Each unit's round (units,), what the signals see of it (None for nothing), its vector (units, dim)."""
        if not len(orders) == len(texts) == len(vectors):
            raise ValueError(f"{len(orders)} orders, {len(texts)} texts and {len(vectors)} vectors do not align")
        self._orders = orders
        self._seen = np.array([text is not None for text in texts], np.bool_)
        self._vectors = unit_length(vectors)
        self._bm25 = Bm25(texts)

    def rankings(
        self, query: str, vector: Floats | None, signals: Sequence[str], pool: int
    ) -> Mapping[str, list[tuple[int, float]]]:
        """The pool of each signal: (order, score) of its best rounds, best first. ``vector`` (dim,) serves ``dense``."""
        found: dict[str, list[tuple[int, float]]] = {}
        for signal in signals:
            if signal == "bm25":
                scores = self._bm25.scores(query)
                found[signal] = rank_rounds(self._orders, scores, scores > 0, pool)
            elif vector is not None:
                found[signal] = rank_rounds(self._orders, dense_scores(self._vectors, vector), self._seen, pool)
        return found

    def search(
        self, query: str, vector: Floats | None, *, k: int, kappa: int, pool: int, signals: Sequence[str]
    ) -> list[Fused]:
        """The ``k`` best rounds of the fused signals, best first. The pool is at least ``k``, or it would cut the answer."""
        return fuse(self.rankings(query, vector, signals, max(pool, k)), kappa)[:k]

    @property
    def nbytes(self) -> int:
        """Bytes that the index holds, about."""
        return int(self._vectors.nbytes + self._orders.nbytes + self._seen.nbytes) + self._bm25.nbytes


def check_search(query: str, *, k: int, neighbours: int, kappa: int, pool: int, signals: Sequence[str]) -> None:
    """UsageError where a search cannot be done as asked; nothing asked for is ever ignored."""
    if not isinstance(query, str) or not query.strip():
        raise UsageError("the query is blank: say what to look for")
    for name, value, least in (("k", k, 1), ("neighbours", neighbours, 0), ("kappa", kappa, 0), ("pool", pool, 1)):
        if isinstance(value, bool) or not isinstance(value, int) or value < least:
            raise UsageError(f"{name} must be a whole number of at least {least}, not {value!r}")
    if isinstance(signals, str) or not signals or len(set(signals)) != len(signals) or not set(signals) <= set(SIGNALS):
        raise UsageError(f"signals must be some of {', '.join(SIGNALS)}, each once, not {signals!r}")
