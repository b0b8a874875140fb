"""Numbers as written: separators of both styles, and number words."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Literal

Decimal = Literal["point", "comma"]

DECIMAL_OR_THOUSANDS = "decimal-or-thousands"

NUMBER = (
    r"(?:\d{1,3}(?:,\d{3}){1,5}(?:\.\d{1,9})?(?![\d,])|\d{1,3}(?:\.\d{3}){1,5}(?:,\d{1,9})(?!\d)"
    r"|\d{1,3}(?:\.\d{3}){2,5}(?!\d)|\d{1,3}(?: \d{3}){1,5}(?:[.,]\d{1,9})?(?![ -]?\d)"
    r"|\d{1,3}(?:'\d{3}){1,5}(?:\.\d{1,9})?(?!\d)|\d{1,15}[.,]\d{1,9}(?!\d)|\d{1,15}(?!\d))"
)
"""A number without sign: ``1,234.5``, ``1.234,5``, ``1 234``, ``1'234``, ``6.4``, ``6,4``, ``12``."""

_UNSURE = re.compile(r"[1-9]\d{0,2}[.,]\d{3}")
_UNITS_WORDS = {
    "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10,
    "eleven": 11, "twelve": 12, "thirteen": 13, "fourteen": 14, "fifteen": 15, "sixteen": 16, "seventeen": 17,
    "eighteen": 18, "nineteen": 19,
}  # fmt: skip
_TENS_WORDS = {
    "twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "seventy": 70, "eighty": 80, "ninety": 90,
}  # fmt: skip

NUMBER_WORD = (
    rf"(?:(?:{'|'.join(_TENS_WORDS)})(?:[ -](?:{'|'.join(list(_UNITS_WORDS)[:9])}))?|{'|'.join(_UNITS_WORDS)})"
    r"(?: and a (?:half|quarter))?"
)
"""One to ninety-nine in words, and a half more."""


def read_number(text: str, decimal: Decimal | None = None) -> tuple[float, str | None]:
    """The value of a ``NUMBER`` and what is doubtful about it. ``decimal``: the writer's decimal separator, where known.

    Of two separators the last is the decimal one. A lone one before exactly three digits could be either: a comma is then
    taken to group thousands, a point to begin decimals, with a doubt, unless the writer's style is known.
    """
    plain = text.replace(" ", "").replace("'", "")
    if "," in plain and "." in plain:
        last = max(plain.rfind(","), plain.rfind("."))
        return float(re.sub(r"[.,]", "", plain[:last]) + "." + plain[last + 1 :]), None
    if plain.count(",") > 1 or plain.count(".") > 1:
        return float(re.sub(r"[.,]", "", plain)), None
    if _UNSURE.fullmatch(plain):
        if decimal is None:
            groups = "," in plain
            return float(plain.replace(",", "")), None if groups else DECIMAL_OR_THOUSANDS
        separator = "." if decimal == "point" else ","
        whole = plain.replace("," if separator == "." else ".", "")
        return float(whole.replace(",", ".")), None
    return float(plain.replace(",", ".")), None


def decimal_shown(text: str) -> Decimal | None:
    """The decimal separator that a ``NUMBER`` can only have, None where it shows none."""
    plain = text.replace(" ", "").replace("'", "")
    if "," in plain and "." in plain:
        return "comma" if plain.rfind(",") > plain.rfind(".") else "point"
    if plain.count(",") > 1:
        return "point"
    if plain.count(".") > 1:
        return "comma"
    if _UNSURE.fullmatch(plain) or not re.search(r"[.,]", plain):
        return None
    return "comma" if "," in plain else "point"


def decimal_style(shown: Iterable[Decimal | None]) -> Decimal | None:
    """A writer's decimal separator, if all that show one agree."""
    styles = {style for style in shown if style}
    return styles.pop() if len(styles) == 1 else None


def read_words(text: str) -> float:
    """The value of a ``NUMBER_WORD``."""
    words = text.lower().replace("-", " ").split(" and a ")
    whole = sum(_UNITS_WORDS.get(word, 0) + _TENS_WORDS.get(word, 0) for word in words[0].split())
    return whole + (0 if len(words) == 1 else 0.5 if words[1] == "half" else 0.25)
