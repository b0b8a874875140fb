"""An image encoder without a model: which colours stand where. For tests, and for measuring everything but the encoder."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from operators.encode.image import EncodedPictures
from operators.encode.image_pixels import VERSION, Pixels, decode, encode_decoded, square
from operators.encode.text import resolve_numeric

_GRID, _SIDE, _BATCH = 4, 16, 256
DIM = _GRID * _GRID * 3 + 1


def fingerprint(numeric: str) -> dict[str, Any]:
    """The fingerprint of the encoder with these settings."""
    return {
        "kind": "stub",
        "model": "colours",
        "weights_sha256": "",
        "pooling": "grid",
        "size": _SIDE,
        "numeric": resolve_numeric("stub", numeric, ("fp32",)),
        "dim": DIM,
        "preprocessing": VERSION,
    }


class ImageStub:
    """See ``ImageEncoder``: the mean colour of each of 4 x 4 fields, around grey, and a constant."""

    def __init__(self, *, numeric: str, max_pixels: int) -> None:
        self.fingerprint = fingerprint(numeric)
        self.dim = DIM
        self._max_pixels = max_pixels

    def encode(self, pictures: Sequence[bytes]) -> EncodedPictures:
        """See ``ImageEncoder``."""
        return encode_decoded(pictures, self._prepare, _fields, DIM, _BATCH)

    def _prepare(self, data: bytes) -> Pixels:
        return square(decode(data, max_pixels=self._max_pixels, side=_SIDE), _SIDE)


def _fields(pixels: Pixels) -> NDArray[np.float32]:
    """Rows (n, dim) of pictures (n, side, side, 3)."""
    step = _SIDE // _GRID
    cells = pixels.reshape(-1, _GRID, step, _GRID, step, 3).mean(axis=(2, 4), dtype=np.float32)
    around = cells.reshape(len(pixels), -1) / np.float32(128) - np.float32(1)
    return np.concatenate([around, np.full((len(pixels), 1), 0.1, np.float32)], axis=1)
