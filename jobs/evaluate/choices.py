"""Questions with options: which letter is right, and which one an answer means."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

Options = tuple[tuple[str, str], ...]
"""Letters with what they stand for, in their order."""

LETTERS = "ABCDEFGHIJ"

_LINE = re.compile(r"(?:^|[\n\s])\(?([A-J])[.):]\s+(.+?)(?=(?:\s*\n|\s+)\(?[A-J][.):]\s+|\s*$)", re.DOTALL)
_NAMED = re.compile(r"^\W*(?:the\s+)?(?:answer|option|choice)(?:\s+is)?\W+([A-J])\b", re.IGNORECASE)
_BARE = re.compile(r"^\s*\(?([A-J])\)?(?:[.):,]|\s*$)")


def options_of(raw: Mapping[str, Any], question: str) -> Options:
    """The options of a question: its field ``options`` or ``choices`` (by letter, or a list), else those that its words list
    as ``A. ... B. ...``; none where there are fewer than two."""
    given = raw.get("options") or raw.get("choices")
    if isinstance(given, Mapping):
        found = [(str(letter).strip().upper(), str(text).strip()) for letter, text in given.items()]
    elif isinstance(given, list):
        texts = [str(text).strip() for text in given]
        found = [(letter, _LEAD.sub("", text)) for letter, text in zip(LETTERS, texts, strict=False)]
    else:
        found = [(letter, " ".join(text.split())) for letter, text in _LINE.findall(question)]
    letters = [letter for letter, _ in found]
    return tuple(found) if len(found) > 1 and letters == list(LETTERS[: len(found)]) else ()


_LEAD = re.compile(r"^\(?[A-J][.):]\s+")


def shown(question: str, options: Options) -> str:
    """The question with its options, a line each, where its words do not list them."""
    if not options or _LINE.search(question):
        return question
    return "\n".join([question, *(f"{letter}. {text}" for letter, text in options)])


def letter_of(answer: str, options: Options) -> str | None:
    """The letter that an answer means: the one it begins with, else that of the one option whose text it is or holds."""
    letters = {letter for letter, _ in options}
    text = answer.strip()
    found = _NAMED.match(text) or _BARE.match(text.upper() if len(text) <= len("(a).") else text)
    if found and found[1].upper() in letters:
        return found[1].upper()
    said = _plain(answer)
    told = {letter: _plain(text) for letter, text in options}
    held = [letter for letter, words in told.items() if words and f" {words} " in f" {said} "]
    # "dark red" holds "red": of options of which one holds the other the longer is meant.
    longest = [one for one in held if not any(one != other and f" {told[one]} " in f" {told[other]} " for other in held)]
    return longest[0] if len(longest) == 1 else None


def _plain(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.casefold()))
