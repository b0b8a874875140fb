"""An encoder without a model: bags of hashed words. For tests, and for measuring everything but the encoder."""

from __future__ import annotations

import re
import zlib
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from operators.encode.spans import encodable, split_spans
from operators.encode.text import resolve_numeric, resolve_window

DIM, WINDOW, MOST_WINDOW = 64, 256, 4096
_ROWS, _SEED = 1 << 14, 20240131
_AT_ONCE = 256
_WORD = re.compile(r"\S+")


def fingerprint(window: int | None, numeric: str) -> dict[str, Any]:
    """The fingerprint of the encoder with these settings."""
    return {
        "kind": "stub",
        "model": "hashed-words",
        "weights_sha256": "",
        "pooling": "sum",
        "window": resolve_window("stub", window, MOST_WINDOW, WINDOW),
        "numeric": resolve_numeric("stub", numeric, ("fp32",)),
        "dim": DIM,
    }


class Stub:
    """See ``TextEncoder``: texts that share words are near, the same everywhere and always."""

    def __init__(self, *, window: int | None = None, numeric: str = "fp32") -> None:
        self.fingerprint = fingerprint(window, numeric)
        self.dim = DIM
        self.window: int = self.fingerprint["window"]
        self._table = np.random.default_rng(_SEED).standard_normal((_ROWS, DIM), dtype=np.float32)

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """See ``TextEncoder``. A token is a word between spaces."""
        vectors = np.empty((len(texts), DIM), np.float32)
        for start in range(0, len(texts), _AT_ONCE):
            vectors[start : start + _AT_ONCE] = self._bags(texts[start : start + _AT_ONCE])
        return vectors

    def _bags(self, texts: Sequence[str]) -> NDArray[np.float32]:
        rows: list[int] = []
        starts = []
        for text in texts:
            starts.append(len(rows))
            words = encodable(text).lower().split(maxsplit=self.window)[: self.window] or [""]
            rows += [zlib.crc32(word.encode("utf-8")) % _ROWS for word in words]
        sums = np.add.reduceat(self._table[rows], starts, axis=0)
        vectors: NDArray[np.float32] = sums / np.linalg.norm(sums, axis=1, keepdims=True)
        return vectors

    def spans(self, text: str) -> list[tuple[int, int]]:
        """See ``TextEncoder``."""
        if len(text) <= self.window:
            return [(0, len(text))] if text.strip() else []
        return split_spans(text, _word_ends, self.window)


def _word_ends(text: str) -> list[tuple[int, int]]:
    return [found.span() for found in _WORD.finditer(text)]
