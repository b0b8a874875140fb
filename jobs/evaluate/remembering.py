"""A text encoder that encodes each text once: configurations ask the same questions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from operators.encode.text import TextEncoder


class Remembering:
    """The encoder, and every vector that it made; the same vectors as without."""

    def __init__(self, encoder: TextEncoder) -> None:
        self._encoder = encoder
        self._known: dict[str, NDArray[np.float32]] = {}

    @property
    def dim(self) -> int:
        """Numbers in a vector."""
        return self._encoder.dim

    @property
    def window(self) -> int:
        """Tokens the model sees of a text."""
        return self._encoder.window

    @property
    def fingerprint(self) -> Mapping[str, Any]:
        """The encoder's own."""
        return self._encoder.fingerprint

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Vectors (texts, dim) of unit length."""
        new = [text for text in dict.fromkeys(texts) if text not in self._known]
        self._known.update(zip(new, self._encoder.encode(new), strict=True) if new else ())
        return np.stack([self._known[text] for text in texts]) if texts else self._encoder.encode([])

    def spans(self, text: str) -> list[tuple[int, int]]:
        """The encoder's own."""
        return self._encoder.spans(text)

    def learn(self, texts: Sequence[str], progress: Callable[[int], None], batch: int = 256) -> None:
        """Encode texts ahead, many at once; ``progress`` hears how many are done."""
        for start in range(0, len(texts), batch):
            self.encode(texts[start : start + batch])
            progress(min(start + batch, len(texts)))
