"""Vectors of levels: unit-length means of the vectors below them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]


def unit_length(vectors: NDArray[Any]) -> Floats:
    """Rows (n, dim) as float32 of unit length; rows of zeros stay zeros."""
    rows = vectors.astype(np.float64)
    norms = np.linalg.norm(rows, axis=1, keepdims=True)
    found: Floats = np.divide(rows, norms, out=np.zeros_like(rows), where=norms > 0).astype(np.float32)
    return found


def means(vectors: Floats, groups: NDArray[np.int64], count: int) -> Floats:
    """Unit-length means (count, dim) of the rows (n, dim) of each group (n,); zeros for a group without rows.

    ``groups``: ascending or not, each from 0 to ``count`` - 1. Rows of zeros weigh nothing.
    """
    sums = np.zeros((count, vectors.shape[1]), np.float64)
    np.add.at(sums, groups, vectors)
    return unit_length(sums)
