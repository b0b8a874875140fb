"""Attribute names as people write them, brought to the form in which two spellings of one thing meet."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z][a-z])")
_POSSESSIVE = re.compile(r"(?<=\w)['\u2019]s\b", re.IGNORECASE)
UNNAMED = "unnamed"
_LONGEST = 80
_REMEMBERED = 65_536


@lru_cache(maxsize=_REMEMBERED)
def normal_name(name: str) -> str:
    """A name without case, punctuation and width: ``Time-Asleep``, ``timeAsleep`` and ``time asleep`` are one.

    Letters, marks and digits of every script are kept; a name of symbols alone stays as it is, a blank one is ``unnamed``.
    At most 80 characters.
    """
    text = _POSSESSIVE.sub("", unicodedata.normalize("NFKC", _CAMEL.sub(" ", name))).casefold()
    kept: list[str] = []
    for letter in text:
        # A vowel point or accent belongs to the letter before it; behind a symbol it only says how that is drawn.
        marks = unicodedata.category(letter)[0] == "M" and bool(kept) and kept[-1] != " "
        kept.append(letter if letter.isalnum() or marks else " ")
    found = " ".join("".join(kept).split()) or " ".join(name.split())
    return found[:_LONGEST].strip() or UNNAMED


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_FILLERS = _words(
    """a an the my your our his her their of for in this that today yesterday daily current
    latest logged recorded tracked measured value values level levels reading readings measurement figure stat stats
    """
)
"""Words that say nothing of what is measured."""

_MEASURES: dict[str, frozenset[str]] = {
    "s": _words("time duration length amount total hours hour hrs hr minutes minute mins min overall"),
    "m": _words("total amount length overall covered travelled traveled distance"),
    "kcal": _words("total amount count burned burnt burn used spent expended overall"),
    "steps": _words("total amount count number walked taken made overall"),
    "number": _words("total amount count number no walked taken overall"),
    "money": _words("amount grand sum due payable price final overall total"),
    "bpm": _words("rate beats bpm"),
    "kg": _words("body total overall"),
}
"""Words that say only that something of a unit is measured: ``sleep duration`` is ``sleep``, ``step count`` is ``steps``."""

_WORDS = {
    "asleep": "sleep", "slept": "sleep", "sleeping": "sleep", "bodyweight": "weight", "wt": "weight", "mass": "weight",
    "temp": "temperature", "cals": "calorie", "cal": "calorie", "calories": "calorie", "kcals": "calorie", "kcal": "calorie",
    "kilocalories": "calorie", "kilocalorie": "calorie", "pulse": "heart", "hr": "heart", "avg": "average",
    "max": "maximum", "highest": "maximum", "peak": "maximum", "min": "minimum", "lowest": "minimum", "bp": "pressure",
    "blood": "", "stepcount": "step", "spo2": "oxygen", "vendor": "merchant", "seller": "merchant", "store": "merchant",
    "shop": "merchant", "retailer": "merchant", "supplier": "merchant", "gst": "tax", "vat": "tax", "sugar": "glucose",
    "km": "distance", "kms": "distance", "kilometers": "distance", "kilometres": "distance", "mileage": "distance",
    "rhr": "resting heart", "energy": "calorie", "datum": "date", "fecha": "date",
}  # fmt: skip
"""A word and the one it stands for."""

_ONLY_OF = {
    "energy": ("kcal",), "pulse": ("bpm", "number"), "hr": ("bpm", "number"), "rhr": ("bpm", "number"),
    "blood": ("mmHg", "mmol/L", "mg/dL", "number"), "sugar": ("mmol/L", "mg/dL"), "mass": ("kg",), "wt": ("kg", "number"),
    "km": ("m", "number"), "kms": ("m", "number"), "mileage": ("m",), "store": ("text",), "shop": ("text",),
    "seller": ("text",), "vendor": ("text",), "supplier": ("text",), "retailer": ("text",), "gst": ("money", "number"),
    "vat": ("money", "number"), "min": ("bpm", "number", "kg", "m", "kcal", "money"), "cal": ("kcal", "number"),
    "cals": ("kcal", "number"),
}  # fmt: skip
"""Words that stand for another only where the value is of such a dimension."""

DATES = frozenset(
    ("date", "day", "receipt date", "invoice date", "order date", "purchase date", "transaction date", "bill date", "datum",
     "fecha", "entry date", "log date", "date of purchase", "date of visit", "logged on", "recorded on")
)  # fmt: skip
"""Names (normal) of the day that a record tells of itself."""


@lru_cache(maxsize=_REMEMBERED)
def core_words(name: str, dimension: str) -> tuple[str, ...]:
    """The words of a normal name that say what is measured, sorted; at least one.

    ``dimension``: that of the values, as ``attributes.dimension_of`` gives it.
    """
    words = name.split()
    kept = [word for word in words if word not in _FILLERS] or words
    meant = [part for word in kept for part in _meant(word, dimension)] or kept
    said = [_singular(word) for word in meant]
    measures = {_singular(word) for word in _MEASURES.get(dimension, frozenset())}
    telling = [word for word in said if word not in measures]
    return tuple(sorted(set(telling or _last_of(said))))


def _meant(word: str, dimension: str) -> list[str]:
    if word not in _WORDS or (word in _ONLY_OF and dimension not in _ONLY_OF[word]):
        return [word]
    return _WORDS[word].split()


def _last_of(words: list[str]) -> list[str]:
    """Of words that are all mere measures the one that tells most: of ``grand total`` it is ``total``."""
    nouns = [word for word in words if word in ("total", "distance")]
    return nouns[-1:] if nouns else sorted(words)


_NOT_PLURAL = re.compile(r"(?:ss|us|is|as|os)$")


def _singular(word: str) -> str:
    if len(word) < 4 or not word.isascii() or not word.endswith("s") or _NOT_PLURAL.search(word):
        return word
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    return word[:-2] if word.endswith(("ches", "shes", "xes", "sses")) else word[:-1]
