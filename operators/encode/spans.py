"""Cutting texts that are longer than an encoder's window."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import pairwise

TokenEnds = Callable[[str], Sequence[tuple[int, int]]]
"""Character range of each token of a text, without the model's own marks."""

_LONE_SURROGATE = re.compile("[\ud800-\udfff]")
_SENTENCE_END = frozenset(".!?\n\u2026\u3002\uff01\uff1f\u061f\u0964")
_CLOSING = frozenset("\"')]\u201d\u2019\u00bb")

_AT_ONCE = 1 << 16
"""Characters that a tokenizer is given at a time: its work on one text grows faster than the text."""


def encodable(text: str) -> str:
    """The text with lone surrogates, which no tokenizer takes, replaced one for one: offsets stay."""
    return text if text.isascii() else _LONE_SURROGATE.sub("\ufffd", text)


def split_spans(text: str, tokens: TokenEnds, limit: int) -> list[tuple[int, int]]:
    """Consecutive ranges that cover ``text``, each of at most ``limit`` tokens; empty for a blank text.

    A cut falls after a sentence where one ends in the second half of the window, else before a word, else between tokens.
    """
    if not text.strip():
        return []
    pending: list[tuple[int, int]] = list(reversed(_stretches(text)))
    done: list[tuple[int, int]] = []
    while pending:
        start, end = pending.pop()
        part = text[start:end]
        cuts = [start + cut for cut in _cuts(part, tokens(part), limit)]
        if not cuts:
            done.append((start, end))
            continue
        borders = [start, *cuts, end]
        # A piece may have more tokens than its stretch of the whole had (a word cut in two): each is looked at again.
        pending += reversed(list(pairwise(borders)))
    return done


def _stretches(text: str) -> list[tuple[int, int]]:
    """Ranges that cover the text, of at most ``_AT_ONCE`` characters, cut before white space where there is some."""
    ranges, start = [], 0
    while len(text) - start > _AT_ONCE:
        space = max(text.rfind("\n", start + _AT_ONCE // 2, start + _AT_ONCE), 0)
        space = space or max(text.rfind(" ", start + _AT_ONCE // 2, start + _AT_ONCE), 0)
        end = space or start + _AT_ONCE
        ranges.append((start, end))
        start = end
    return [*ranges, (start, len(text))]


def _cuts(text: str, tokens: Sequence[tuple[int, int]], limit: int) -> list[int]:
    cuts: list[int] = []
    first = 0
    while len(tokens) - first > limit:
        after = _best_cut(text, tokens, first, limit)
        cut = tokens[after][0]
        if cut > (cuts[-1] if cuts else 0):
            cuts.append(cut)
        elif len(text) > 1 and not cuts:
            return [len(text) // 2]  # the tokens of one character fill the window: halve the text instead
        first = after
    return cuts


def _best_cut(text: str, tokens: Sequence[tuple[int, int]], first: int, limit: int) -> int:
    """Number of the token before which to cut: at most ``limit`` after ``first``, at least half of that."""
    word = 0
    for at in range(first + limit, first + max(limit // 2, 1), -1):
        gap = text[tokens[at - 1][1] : tokens[at][0]]
        last = text[tokens[at - 1][1] - 1]
        before = text[tokens[at - 2][1] - 1] if last in _CLOSING and at - 2 >= first else last
        if "\n" in gap or (before in _SENTENCE_END and (gap or not before.isascii())):
            return at
        if not word and gap:
            word = at
    return word or first + limit
