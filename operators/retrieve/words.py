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


def words(text: str) -> list[str]:
    """The words of a text, in order: NFKC, case folded; scripts written without spaces as pairs of characters.

    Combining marks belong to their word, so that Indic and Arabic words stay whole.
    """
    spaced, unspaced = _patterns()
    found: list[str] = []
    for word in spaced.findall(unicodedata.normalize("NFKC", text).casefold()):
        if unspaced.match(word):
            found += [word] if len(word) == 1 else [word[at : at + 2] for at in range(len(word) - 1)]
        else:
            found.append(word)
    return found


@cache
def _patterns() -> tuple[re.Pattern[str], re.Pattern[str]]:
    points = range(0x300, min(sys.maxunicode, 0x11FFF))
    marks = "".join(chr(point) for point in points if unicodedata.category(chr(point)).startswith("M"))
    letter = rf"(?:(?![{_UNSPACED}])[\w{re.escape(marks)}])"
    return re.compile(rf"[{_UNSPACED}]+|{letter}+"), re.compile(f"[{_UNSPACED}]")
