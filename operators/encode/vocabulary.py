"""Which words are known to be words: the whole ones of the packaged tokenizer's vocabulary."""

from __future__ import annotations

from functools import cache
from importlib.resources import files


def is_word(word: str) -> bool:
    """Whether a word (lower case) is a common one, of English mostly. A slip of the pen rarely is."""
    return word in _words()


@cache
def _words() -> frozenset[str]:
    text = files("operators.encode").joinpath("assets/vocab.txt").read_text(encoding="utf-8")
    return frozenset(line for line in text.split("\n") if line and not line.startswith(("##", "[")))
