"""Sentences and words of any script, for describing: words keep the form in which they are written."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, lru_cache

_SENTENCE = re.compile(
    r"[^\n]*?(?:(?<![.!?\u2026])[.!?\u2026]++[\"')\]\u201d\u2019\u00bb]*+(?=\s|$)"
    r"|[\u3002\uff01\uff1f\u061f\u0964]++[\u300d\u300f\uff09]*+|(?=\n)|$)"
)
_SHORT = re.compile(r"(?:^|\s)(?:\w|mr|mrs|ms|dr|st|no|vs|etc|e\.g|i\.e)\.$", re.IGNORECASE)
"""A full stop behind one of these ends no sentence."""

_HAN = "\u3005-\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_UNSPACED = "\u0e00-\u0fff\u1000-\u109f\u1780-\u17ff"
_NOT_SPACED_OUT = rf"(?![{_HAN}{_UNSPACED}\u3041-\u30ff])"

_PLAIN = re.compile(r"[A-Za-z0-9]{2,}+(?:['-][A-Za-z0-9]++)*+|[A-Za-z0-9](?:['-][A-Za-z0-9]++)++")

_RUN = 12
_LONGEST = 20_000
"""Characters of a text that are looked at: a unit is longer only where it is no language."""

_FUNCTION_TEXT = """
    a an the and but if or because as until while of at by for with about against between into through during before
    after above below to from up down in out on off over under again further then once here there all any both each
    few more most other some such no nor not only own same so than too very can will just should now i me my we our
    ours you your yours he him his she her hers it its they them their theirs what which who whom when where why how
    that this these those am is are was were be been being have has had having do does did doing would could may might
    must shall i'm i've i'd i'll it's that's there's what's let's you're you've you'll you'd we're we've we'll he's
    she's they're don't didn't doesn't isn't aren't wasn't weren't can't couldn't won't wouldn't shouldn't haven't
    hasn't hadn't also really got get getting like know think want going go went one much many lot thing things way
    good great nice well yes yeah okay ok oh wow hey hi hello thanks thank please sure sounds sound see make makes
    made say says said tell take took keep let still even back new time day today yesterday tomorrow first last next
    since always never something anything everything glad hope feel looks look looking need needs help maybe actually
    definitely absolutely totally awesome amazing us around another it'd could've le la les un une des de du et ou est
    dans que qui ne pas ce je tu il elle nous vous sur avec au aux en se sa el los las y o es por con para una uno del
    al lo su der das ein eine einen und oder ist nicht mit zu von im auf für ich er sie wir ihr dem sich auch os e um
    uma da dos na em não com eu gli di che non sono è della het een ik niet op dat voor и не на я что он как это по но
    она из за от так
"""
FUNCTION_WORDS = frozenset(unicodedata.normalize("NFKC", word).replace("\u2019", "'") for word in _FUNCTION_TEXT.split())
"""Words of grammar or courtesy, of the languages most often met; of others how often they stand tells."""


@dataclass(frozen=True)
class Sentence:
    """A sentence as written, white space aside, and its words: key (folded) and form; ``keys``: each key once."""

    text: str
    words: tuple[tuple[str, str], ...]
    keys: frozenset[str]


def sentences_of(text: str) -> list[Sentence]:
    """The sentences and lines of a text, in order, without blank ones."""
    found: list[Sentence] = []
    held = ""
    for match in _SENTENCE.finditer(text[:_LONGEST]):
        held += match[0]
        if _SHORT.search(match[0]) and text[match.end() : match.end() + 1] == " ":
            continue
        if flat := " ".join(held.split()):
            words = tuple(_words(flat))
            found.append(Sentence(flat, words, frozenset(key for key, _ in words)))
        held = ""
    return found


@cache
def _word() -> re.Pattern[str]:
    """A run of Han, katakana, hiragana (the grammar of Japanese) or a script without spaces, or a word with its marks."""
    points = range(0x300, 0x12000)
    marks = "".join(chr(point) for point in points if unicodedata.category(chr(point)) in ("Mn", "Mc"))
    letter = rf"(?:{_NOT_SPACED_OUT}(?:[^\W_]|[{marks}]))"
    return re.compile(
        rf"(?P<han>[{_HAN}]+)|(?P<kana>[\u30a1-\u30fa\u30fc]+)|(?P<hiragana>[\u3041-\u309f]+)"
        rf"|(?P<run>[{_UNSPACED}]+)|{letter}++(?:['\u2019-]{letter}++)*+"
    )


def _words(text: str) -> Iterator[tuple[str, str]]:
    if text.isascii():
        for form in _PLAIN.findall(text):
            if key := _key(form):
                yield key, form.removesuffix("'s")
        return
    for match in _word().finditer(text):
        for form in _forms(match):
            if key := _key(form):
                yield key, form.removesuffix("'s").removesuffix("\u2019s")


@lru_cache(maxsize=1 << 15)
def _key(form: str) -> str:
    """What a word is counted by; empty for one that tells nothing."""
    key = unicodedata.normalize("NFKC", form).casefold().replace("\u2019", "'").removesuffix("'s")
    return "" if key in FUNCTION_WORDS else key


def _forms(match: re.Match[str]) -> list[str]:
    """The words of a match. Long runs of Han are taken in pairs: most of its words are two characters."""
    word = match[0]
    if match["han"]:
        return [word] if len(word) <= 4 else [word[at : at + 2] for at in range(len(word) - 1)]
    if match["run"]:
        return [word[at : at + _RUN] for at in range(0, len(word), _RUN)]
    return [] if match["hiragana"] or (len(word) == 1 and word.isascii()) else [word]
