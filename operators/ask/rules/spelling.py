"""Slips of the pen: a word that is none becomes the word of questions or of columns that it is one slip away from."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from rapidfuzz.distance import OSA

from operators.ask.rules import patterns
from operators.ask.rules.concepts import CONCEPTS

_WORD = re.compile(r"[^\W\d_]{4,}")
_SHORT, _LONG_FROM = 1, 8

KNOWN = patterns.WORDS | {word for concept in CONCEPTS for word in concept.said}


def corrected(text: str, is_word: Callable[[str], bool], names: Iterable[str]) -> str:
    """The text with its slips set right.

    ``is_word``: whether a word (lower case) is one of the language. ``names``: words of columns, which slips are looked for
    in, too. A word that begins with a capital in the middle of a sentence is a name and stays; so does one that several
    words are as near to.
    """
    wanted = KNOWN | {word.casefold() for word in names}

    def right(found: re.Match[str]) -> str:
        word = found[0]
        if word in wanted or (word[0].isupper() and found.start() > 0) or word != word.lower() or is_word(word):
            return word
        return _nearest(word, wanted) or word

    return _WORD.sub(right, text)


def _nearest(word: str, wanted: Iterable[str]) -> str | None:
    most = _SHORT if len(word) < _LONG_FROM else _SHORT + 1
    near: dict[tuple[int, bool], list[str]] = {}
    for other in wanted:
        if abs(len(other) - len(word)) <= most and len(other) >= 4 and other[0] == word[0]:
            distance = OSA.distance(word, other, score_cutoff=most)
            if distance <= most:
                # Two letters in each other's place are the likelier slip.
                near.setdefault((distance, sorted(word) != sorted(other)), []).append(other)
    if not near:
        return None
    best = near[min(near)]
    # "slep" may be sleep or slept: they are one thing, so either will do.
    return min(best) if len({other[:3] for other in best}) == 1 else None
