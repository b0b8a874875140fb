"""Facts that people tell without measuring: ``my favourite book is ..``, ``a dog named Max``, ``I have three kids``."""

from __future__ import annotations

import re
from collections.abc import Iterator

from operators.extract.finding import Finding
from operators.extract.lexicon import ASKS, NO_NAMES, NOT_SO
from operators.extract.numbers import NUMBER_WORD, read_words
from operators.extract.values import Parsed

_NAME = r"[A-Z][\w'&-]*(?:(?:\s(?:of|the|and|de|la|le|&))?\s(?!I\b)[A-Z0-9][\w'&-]*){0,5}"
_QUOTED = r'"(?P<quoted>[^"\n]{2,60}?)[,.!?]?"'
_FAVOURITE = re.compile(
    r"\b(?:my|our)\s(?P<name>favou?rite\s[\w-]+(?:\s[\w-]+)?|name|first name|last name|job title|hometown|home town"
    r"|nickname|birthday|native language|blood type|zip code|postcode)\s(?:is|was|are|'s|has always been|would be)\s"
    rf"(?:called\s|definitely\s)?(?:{_QUOTED}|(?P<value>[^.,;:!?\n\"(-]{{2,60}}?))"
    r"(?=\s*(?:[.,;:!?\n(-]|$|\s(?:and|but|because|since|so|which|when|by far)\b))",
    re.IGNORECASE,
)
_NAMED = re.compile(
    r"\b(?P<noun>[a-z][a-z-]{2,20}(?:\s(?!named|called)[a-z][a-z-]{2,20})?)(?:\s(?:was|is|that's|which is))?"
    rf"\s(?:called|named|titled)\s(?:{_QUOTED}|(?P<value>{_NAME}))"
)
_OWNED = re.compile(
    r"\b(?:I've|we've|(?:I|we)\s(?:have|have got|got|own|adopted|bought|raise))(?:\sgot)?\s"
    rf"(?P<count>{NUMBER_WORD}|\d{{1,2}})\s"
    r"(?P<noun>(?:[a-z-]+\s)?(?:kids|children|sons|daughters|brothers|sisters|siblings|dogs|cats|pets|turtles|rabbits|birds|fish"
    r"|horses|snakes|hamsters|cars|bikes|guitars|houses|apartments|rooms|bedrooms|roommates|employees|grandchildren|cousins))\b",
    re.IGNORECASE,
)
_AGED = re.compile(
    r"\b(?:I'm|I am|I just turned|I turned|I'll soon be)\s(?P<age>\d{1,3})"
    r"(?=\s(?:years? old|yrs? old)|\s(?:today|this)|\s*[.,!])"
)
_WINDOW = 300
"""Characters before a fact in which it may be denied."""

_VAGUE_TEXT = "something nothing everything it that this these those whatever when where how what so just like being really"
_VAGUE = frozenset(_VAGUE_TEXT.split())
_NO_NOUNS_TEXT = "been also someone something somebody person people what's thing named called get gets just being guy girl"
_NO_NOUNS = NO_NAMES | frozenset(_NO_NOUNS_TEXT.split())


def facts_in(sentence: str) -> Iterator[Finding]:
    """The facts of a ``folded`` sentence; none in a question, or where they are denied or wished."""
    if sentence.rstrip().endswith("?") and ASKS.match(sentence):
        return
    lower = sentence.lower()
    for match in _FAVOURITE.finditer(sentence) if "my " in lower or "our " in lower else ():
        value, start = _value(match)
        words = value.lower().split()
        if words and words[0] not in _VAGUE and len(words) <= 8 and not NOT_SO.search(match["name"] + " " + value):
            yield _told(match["name"].lower(), value, start, 0.75)
    for match in _NAMED.finditer(sentence) if " called " in lower or " named " in lower or " titled " in lower else ():
        value, start = _value(match)
        noun = _noun(match["noun"])
        if noun and not NOT_SO.search(sentence, max(0, match.start() - _WINDOW), match.start()):
            yield _told(noun, value, start, 0.7)
    for match in _OWNED.finditer(sentence) if "i" in lower or "we" in lower else ():
        if not NOT_SO.search(sentence, max(0, match.start() - _WINDOW), match.start()):
            count = match["count"]
            number = float(count) if count.isdigit() else read_words(count)
            yield Finding(match["noun"].lower(), match.start("count"), match.end("count"), Parsed("number", number), 0.8)
    for match in _AGED.finditer(sentence) if any(letter.isdigit() for letter in sentence) else ():
        yield Finding("age", match.start("age"), match.end("age"), Parsed("number", float(match["age"])), 0.8)


def _value(match: re.Match[str]) -> tuple[str, int]:
    group = "quoted" if match["quoted"] else "value"
    return match[group].strip(), match.start(group) + len(match[group]) - len(match[group].lstrip())


def _told(name: str, value: str, start: int, confidence: float) -> Finding:
    parsed = Parsed("text", text=" ".join(value.lower().split()))
    return Finding(name, start, start + len(value), parsed, confidence)


def _noun(phrase: str) -> str | None:
    """What is named: the last words that name a kind of thing."""
    words = [word for word in phrase.split() if word.lower() not in _NO_NOUNS]
    return words[-1].lower() if words and words[-1] == phrase.split()[-1] else None
