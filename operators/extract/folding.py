"""Characters folded one for one, so that every place in the folded text is the same place in the text."""

from __future__ import annotations

import re
import sys
import unicodedata
from functools import cache

_SAME = {
    "\u00a0": " ", "\u2007": " ", "\u2009": " ", "\u200a": " ", "\u202f": " ", "\u3000": " ", "\t": " ",
    "\u2018": "'", "\u2019": "'", "\u02bc": "'", "\u201c": '"', "\u201d": '"',
    "\u2212": "-", "\u2010": "-", "\u2011": "-", "\u2013": "-", "\u2014": "-", "\u066b": ".", "\u066c": ",",
    "\u00d7": "x",
    # What is not seen joins what it stands between: 1\u200b2 is neither 1 nor 12.
    "\u200b": "_", "\u200c": "_", "\u200d": "_", "\u2060": "_", "\ufeff": "_",
}  # fmt: skip

_PLAIN = re.compile(r"[\x00-\x08\x0a-\x7e]*")
_CODE = re.compile(r"```.*?(?:```|\Z)|`[^`\n]*`", re.DOTALL)
_ADDRESS = re.compile(
    r"https?://\S+|www\.\S+|(?<![\w.+-])[\w.+-]{1,64}@[\w-]{1,63}\.[\w.-]{1,63}|(?<!\w)[#@]\w+", re.IGNORECASE
)
_STRUCK = re.compile(r"~~[^\n]*?~~")
_QUOTED = re.compile(r"(?m)^[ ]*>.*$")


@cache
def _table() -> dict[int, str]:
    """Digits of any script to 0-9, full-width forms to ASCII, spaces, quotes and dashes to the plain ones."""
    found: dict[int, str] = {}
    for code in range(0x80, sys.maxunicode + 1):
        letter = chr(code)
        if unicodedata.category(letter) == "Nd":
            found[code] = str(unicodedata.digit(letter))
        elif 0xFF01 <= code <= 0xFF5E:
            found[code] = chr(code - 0xFEE0)
    return found | {ord(letter): plain for letter, plain in _SAME.items()}


def folded(text: str) -> str:
    """The text with digits, spaces, quotes and dashes in their plain form; as long as it was."""
    return text if _PLAIN.fullmatch(text) else text.translate(_table())


def spoken(text: str) -> str:
    """``folded`` text with what its writer does not say blanked out, in place: code, addresses, quoted lines, what
    is struck out."""
    for pattern in (_CODE, _ADDRESS, _QUOTED, _STRUCK):
        text = pattern.sub(_blank, text)
    return text


def _blank(found: re.Match[str]) -> str:
    return "".join("\n" if letter == "\n" else " " for letter in found[0])
