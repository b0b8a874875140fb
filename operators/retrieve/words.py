"""Words of any language for the lexical lane."""

from __future__ import annotations

import re
import threading
import unicodedata
from collections.abc import Iterable
from functools import cache, lru_cache

import Stemmer

_UNSPACED = (
    "\u0e00-\u0eff"  # Thai, Lao
    "\u0f00-\u0fff"  # Tibetan
    "\u1000-\u109f"  # Myanmar
    "\u1780-\u17ff"  # Khmer
    "\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff"  # kana
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"  # Han
    "\u1100-\u11ff\uac00-\ud7ff"  # Hangul: written with spaces, but endings grow on its words
)
_WHOLE_SYLLABLES = re.compile(
    "[\u3005-\u3007\u3040-\u30ff\u31f0-\u4dbf\u4e00-\u9fff\uac00-\ud7ff\uf900-\ufaff\U00020000-\U0003ffff]"
)
"""One of these can be a word by itself."""

_PLAIN = re.compile("[\u0000-\u02ff\u2000-\u206f]*")
"""Latin letters and punctuation: nothing written without spaces, no combining marks."""
_WORD = re.compile(r"\w+")

_OF_THREAD = threading.local()
"""A stemmer is one thread's: it keeps what it works on."""

_FUNCTION_TEXT = """
    i me my myself we our ours ourselves you your yours yourself yourselves he him his himself she her hers herself it its
    itself they them their theirs themselves what which who whom whose when where why how that this these those am is are
    was were be been being have has had having do does did doing done would should could ought can may might must shall will
    a an the and but if or because as until while of at by for with about against between into through during before after
    above below to from up down in out on off over under again further then once here there all any both each few more most
    other some such no nor not only own same so than too very let s t d ll m re ve don didn doesn isn aren wasn weren won
    wouldn couldn shouldn hasn haven hadn
"""
_FUNCTION_WORDS = frozenset(_FUNCTION_TEXT.split())
"""English words that carry grammar rather than matter: pronouns, question words, auxiliaries, prepositions, conjunctions."""


def query_words(text: str) -> list[str]:
    """The words of a query without function words, unless it has no others. Texts keep theirs."""
    found = _written(text, singles=False)
    return [stem(word) for word in found if word not in _FUNCTION_WORDS] or [stem(word) for word in found]


def is_function_word(word: str) -> bool:
    """True for a word, case folded, that carries grammar rather than matter."""
    return word in _FUNCTION_WORDS


def words(text: str) -> list[str]:
    """The words of a text, in order: NFKC, case folded, accents of Latin and Greek letters and vowel points of Arabic and
    Hebrew left out.

    Scripts written without spaces, and Hangul, give pairs of characters and, where a syllable can be a word, each character
    too, which a query looks for only where it stands alone. Combining marks belong to their word, so that Indic words stay
    whole. An emoji is a word. English endings are folded.
    """
    return [stem(word) for word in _written(text, singles=True)]


def _written(text: str, *, singles: bool) -> list[str]:
    folded = unicodedata.normalize("NFKC", text).casefold()
    if folded.isascii():
        return _WORD.findall(folded)
    folded = folded.translate(_plain_letters())
    if _PLAIN.fullmatch(folded):  # the same words, many times faster
        return _WORD.findall(folded)
    spaced, unspaced = _patterns()
    found: list[str] = []
    for word in spaced.findall(folded):
        found += _pieces(word, singles) if unspaced.match(word) else [word]
    return found


def _pieces(run: str, singles: bool) -> list[str]:
    if len(run) == 1:
        return [run]
    pairs = [run[at : at + 2] for at in range(len(run) - 1)]
    return pairs + _WHOLE_SYLLABLES.findall(run) if singles else pairs


def stem(word: str) -> str:
    """The word without its English ending: Porter's second stemmer (Snowball). Words with other letters stay as they are."""
    if len(word) <= 2 or not word.isascii() or not word.isalpha():
        return word
    return _stemmed(word)


@lru_cache(maxsize=100_000)
def _stemmed(word: str) -> str:
    stemmer = getattr(_OF_THREAD, "stemmer", None)
    if stemmer is None:
        stemmer = _OF_THREAD.stemmer = Stemmer.Stemmer("english")
    found: str = stemmer.stemWord(word)
    return found


@cache
def _patterns() -> tuple[re.Pattern[str], re.Pattern[str]]:
    """What a word is: a run of an unspaced script, a run of other letters with their marks, or one emoji."""
    marks = _class_of(chr(point) for point in range(0x300, 0x11FFF) if unicodedata.category(chr(point)).startswith("M"))
    letter = rf"(?:(?![{_UNSPACED}])[\w{marks}])"
    symbols = _class_of(chr(point) for point in range(0x2100, 0x20000) if unicodedata.category(chr(point)) == "So")
    return re.compile(rf"[{_UNSPACED}]+|{letter}+|[{symbols}]"), re.compile(f"[{_UNSPACED}]")


def _class_of(letters: Iterable[str]) -> str:
    """Ascending letters as ranges of a character class: single ones beyond U+FFFF would be tried one after the other."""
    ranges: list[list[str]] = []
    for letter in letters:
        if ranges and ord(letter) == ord(ranges[-1][1]) + 1:
            ranges[-1][1] = letter
        else:
            ranges.append([letter, letter])
    return "".join(f"{re.escape(first)}-{re.escape(last)}" for first, last in ranges)


@cache
def _plain_letters() -> dict[int, str]:
    """Letters that people write with and without their accent, and marks they leave out; Indic and kana marks stay."""
    table = dict.fromkeys(
        [0x640, 0x670, *range(0x64B, 0x660), *range(0x591, 0x5BE), *range(0x5BF, 0x5C8), 0xFE0E, 0xFE0F], ""
    )
    table |= {ord("\u0623"): "\u0627", ord("\u0625"): "\u0627", ord("\u0622"): "\u0627", ord("\u0671"): "\u0627"}
    table |= {ord("\u0649"): "\u064a", ord("\u0451"): "\u0435"}
    table |= {ord("\u00f8"): "o", ord("\u0142"): "l", ord("\u0111"): "d", ord("\u0131"): "i"}
    for point in (*range(0xC0, 0x250), *range(0x370, 0x400), *range(0x1E00, 0x2000)):
        base, *marks = list(unicodedata.normalize("NFD", chr(point)))
        if marks and all(unicodedata.category(mark) == "Mn" for mark in marks):
            table[point] = base
    return table
