"""Colours of pictures as vectors: which there are, and where.

Features of a network that was trained to name things tell little of them.
"""

from __future__ import annotations

from itertools import product

import numpy as np
from numpy.typing import NDArray

from operators.encode.image_pixels import Pixels

LEVELS, FIELDS, _COARSE = 4, 4, 56
HISTOGRAM_DIM, LAYOUT_DIM = LEVELS**3, FIELDS**2 * 3

Floats = NDArray[np.float32]


def histograms(pixels: Pixels) -> Floats:
    """Unit rows (n, 64): square roots of the shares of 4 x 4 x 4 colours in pictures (n, side, side, 3).

    A pixel counts for the eight colours around it, the nearest most, so that a little more light moves little. Cosines of
    roots of shares are Bhattacharyya's coefficient.
    """
    coarse = _means(pixels, _COARSE).reshape(len(pixels), -1, 3) * np.float32((LEVELS - 1) / 255)
    low = np.minimum(coarse.astype(np.int64), LEVELS - 2)
    part = coarse - low
    shares = np.zeros((len(pixels), HISTOGRAM_DIM), np.float64)
    picture = np.arange(len(pixels))[:, None]
    for corner in product((0, 1), repeat=3):
        weight = np.prod(np.where(corner, part, 1 - part), axis=2)
        place = (low + np.array(corner)) @ np.array([LEVELS**2, LEVELS, 1])
        np.add.at(shares, (picture, place), weight)
    rows: Floats = np.sqrt(shares / shares.sum(axis=1, keepdims=True)).astype(np.float32)
    return rows


def layouts(pixels: Pixels) -> Floats:
    """Unit rows (n, 48): the mean colours of 4 x 4 fields of pictures (n, side, side, 3), around grey; zeros if all is."""
    rows: Floats = (_means(pixels, FIELDS) / np.float32(128) - np.float32(1)).reshape(len(pixels), -1)
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    out: Floats = np.divide(rows, lengths, out=np.zeros_like(rows), where=lengths > 1e-6)
    return out


def _means(pixels: Pixels, side: int) -> Floats:
    """Pictures (n, s, s, 3) made smaller, to (n, side, side, 3), by means; ``side`` divides s."""
    step = pixels.shape[1] // side
    means: Floats = pixels.reshape(len(pixels), side, step, side, step, 3).mean(axis=(2, 4), dtype=np.float32)
    return means
