"""The encoders of queries, loaded when first needed; safe to share between threads."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from operators.encode.image import FORMATS, MAX_PIXELS, ImageEncoder, image_encoder_of
from operators.encode.text import TextEncoder, encoder_of
from operators.errors import UsageError


@dataclass
class ImageQueries:
    """The encoder of queries' pictures that a store's fingerprint names, or the one at hand."""

    fingerprint: Mapping[str, Any]
    encoder: ImageEncoder | None
    threads: int

    def __post_init__(self) -> None:
        self._lock = threading.Lock()

    @property
    def dim(self) -> int:
        """Numbers in a picture's vector, 0 where the store holds none."""
        return int(self.fingerprint.get("dim", 0))

    def query(self, image: bytes) -> NDArray[np.float32]:
        """The vector (dim,) of a picture. UsageError where it cannot be decoded."""
        made = self._loaded().encode([image])
        if made.faults[0] is not None:
            raise UsageError(
                f"the query's picture cannot be used ({made.faults[0]}): give an intact {', '.join(FORMATS)} file of at "
                f"most {MAX_PIXELS:,} pixels"
            )
        vector: NDArray[np.float32] = made.vectors[0]
        return vector

    def check(self, vector: NDArray[np.float32]) -> NDArray[np.float32]:
        """The vector as it is; UsageError for one that the store's cannot be compared with."""
        if vector.shape != (self.dim,):
            raise UsageError(f"the picture's vector has shape {vector.shape}, the store's have ({self.dim},)")
        if not np.isfinite(vector).all():
            raise UsageError("the picture's vector holds numbers that are not finite")
        return vector

    def require(self, store: str) -> None:
        """UsageError where the store holds no vectors of pictures."""
        if self.dim == 0:
            raise UsageError(
                f"{store} holds no vectors of pictures (image_encoder.kind: none), so a picture finds nothing in it: ask in "
                "words, or build the store again with an image encoder"
            )

    def _loaded(self) -> ImageEncoder:
        with self._lock:
            if self.encoder is None:
                self.encoder = image_encoder_of(self.fingerprint, threads=self.threads)
            assert self.encoder is not None, "asked of a store that holds no vectors of pictures"
            return self.encoder


@dataclass
class TextQueries:
    """The encoder of queries' words that a store's fingerprint names, or the one at hand."""

    fingerprint: Mapping[str, Any]
    encoder: TextEncoder | None
    threads: int

    def __post_init__(self) -> None:
        self._lock = threading.Lock()

    def query(self, text: str) -> NDArray[np.float32]:
        """The vector (dim,) of a query."""
        vector: NDArray[np.float32] = self._loaded().encode([text])[0]
        return vector

    def names(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Unit vectors (n, dim) of names."""
        vectors: NDArray[np.float32] = self._loaded().encode(list(texts))
        return vectors

    def _loaded(self) -> TextEncoder:
        with self._lock:
            if self.encoder is None:
                self.encoder = encoder_of(self.fingerprint, threads=self.threads)
            return self.encoder
