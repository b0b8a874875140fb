"""Words of any language for the lexical lane."""

from __future__ import annotations

import re
import sys
import unicodedata
from functools import cache

_UNSPACED = (
    "\u0e00-\u0eff"  # Thai, Lao
    "\u0f00-\u0fff"  # Tibetan
    "\u1000-\u109f"  # Myanmar
    "\u1780-\u17ff"  # Khmer
    "\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff"  # kana
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"  # Han
)


_PLAIN = re.compile("[\u0000-\u02ff\u2000-\u206f]*")
"""Latin letters and punctuation: nothing written without spaces, no combining marks."""
_WORD = re.compile(r"\w+")

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
    found = _written(text)
    return [singular(word) for word in found if word not in _FUNCTION_WORDS] or [singular(word) for word in found]


def words(text: str) -> list[str]:
    """The words of a text, in order: NFKC, case folded; scripts written without spaces as pairs of characters.

    Combining marks belong to their word, so that Indic and Arabic words stay whole. English plurals are folded.
    """
    return [singular(word) for word in _written(text)]


def _written(text: str) -> list[str]:
    folded = unicodedata.normalize("NFKC", text).casefold()
    if _PLAIN.fullmatch(folded):  # the same words, many times faster
        return _WORD.findall(folded)
    spaced, unspaced = _patterns()
    found: list[str] = []
    for word in spaced.findall(folded):
        if unspaced.match(word):
            found += [word] if len(word) == 1 else [word[at : at + 2] for at in range(len(word) - 1)]
        else:
            found.append(word)
    return found


def singular(word: str) -> str:
    """The word without a plural ending: the S stemmer of Harman 1991, "How effective is suffixing?", table 1."""
    if len(word) <= 3 or not word.isascii() or not word.endswith("s"):
        return word
    if word.endswith("ies") and not word.endswith(("eies", "aies")):
        return word[:-3] + "y"
    if word.endswith("es") and not word.endswith(("aes", "ees", "oes")):
        return word[:-1]
    return word if word.endswith(("us", "ss")) else word[:-1]


@cache
def _patterns() -> tuple[re.Pattern[str], re.Pattern[str]]:
    points = range(0x300, min(sys.maxunicode, 0x11FFF))
    marks = "".join(chr(point) for point in points if unicodedata.category(chr(point)).startswith("M"))
    letter = rf"(?:(?![{_UNSPACED}])[\w{re.escape(marks)}])"
    return re.compile(rf"[{_UNSPACED}]+|{letter}+"), re.compile(f"[{_UNSPACED}]")
