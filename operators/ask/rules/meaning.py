"""What rules compare words by: how they are read as quantities, and how alike they are in meaning."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Quantity:
    """A number in its base unit (of money the currency, None where it is not told)."""

    kind: str
    number: float
    unit: str | None


@dataclass(frozen=True)
class Meaning:
    """``vectors``: unit vectors (n, dim) of short texts. ``fold``: a text for comparing. ``read``: a written quantity, None
    for what is none. ``words``: the words of a question that tell something, without endings. ``convert``: a number of a
    base unit in another unit, None where it is not converted into that. ``is_word``: whether a word in lower case is one
    of the language; what is none may be a slip."""

    vectors: Callable[[Sequence[str]], NDArray[np.float32]]
    fold: Callable[[str], str]
    read: Callable[[str], Quantity | None]
    words: Callable[[str], Sequence[str]]
    convert: Callable[[float, str | None, str | None], float | None]
    is_word: Callable[[str], bool] = bool

    def unit(self, word: str) -> Quantity | None:
        """One of a unit (``hours``: 3600 s), None for what is no unit."""
        found = self.read(f"1 {word}")
        return None if found is None or found.unit is None or found.kind == "percent" else found

    def alike(self, text: str, others: Sequence[str]) -> list[float]:
        """The cosine of a text with each of others."""
        if not others:
            return []
        first, *rest = self.vectors([text, *others])
        return [float(first @ each) for each in rest]
