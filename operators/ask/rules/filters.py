"""What a question asks records by: values of texts that it names, and bounds of numbers."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher

from operators.ask.rules.reading import Reading

_ALIKE = 0.85
"""From which two names are one, a few letters read wrongly apart."""

_FILLERS_TEXT = """
    the a an and of at in on for to my sdn bhd ltd limited inc llc gmbh co corp company plc pte enterprise
    trading restaurant restaurants shop store cafe m
"""
_FILLERS = frozenset(_FILLERS_TEXT.split())
_NO_NAMES_TEXT = """
    the a an my me i all any each every this that these those it them there here home work night noon midnight
    once least most first last average what which where when how one time day days date dates receipt receipts
    bill bills record records log logs data purchase purchases invoice invoices shop shops store stores merchant
    place history memory table then now start beginning end top bottom total both lunch dinner breakfast mean
"""
_NO_NAMES = frozenset(_NO_NAMES_TEXT.split())
_PLACE = re.compile(r"\b(?:at|from|with|by|in|to|called|named|for|on|of)\s+(?=\S)")
_AT = re.compile(r"\b(?:at|from)\s+(?=\S)")
_PHRASE_END = re.compile(
    r"[?!;:]|,\s|\.(?=\s|$)|\b(?:in total|in all|altogether|overall|combined|so far|on average|all told"
    r"|all together|add(?:s|ed)? up"
    r"|did|do i|have i|was|were|is|come|comes|came|cost|costs|according|please|before|after|since|during"
    r"|between|until|in \d|on \d"
    r"|total|sum|spend|spending|receipts?|bills?|purchases?|visits?|times|and how)\b"
)


@dataclass(frozen=True)
class Named:
    """Values of a text column that a question names, and where (in ``Reading.text``)."""

    values: tuple[str, ...]
    start: int
    end: int


def letters(name: str) -> str:
    """A name without case, space and punctuation, which are lost or put in where a picture is read."""
    return re.sub(r"[\W_]", "", name.casefold())


def alike(name: str, other: str) -> bool:
    """Whether two names are likely one."""
    first, second = letters(name), letters(other)
    if first == second:
        return True
    matcher = SequenceMatcher(None, first, second, autojunk=False)
    return matcher.real_quick_ratio() >= _ALIKE and matcher.quick_ratio() >= _ALIKE and matcher.ratio() >= _ALIKE


def take_named(reading: Reading, values: Sequence[str], common: frozenset[str]) -> list[Named]:
    """The values that a question names, in its order; ``common``: words that are no names by themselves.

    A value is named where its letters stand there, or where what follows a preposition is like it, or is the telling part of
    its words. Values that are like a named one are meant with it.
    """
    found = _exact(reading, values, common) or _near(reading, values, common)
    named = [Named(_with_alike(each.values, values), each.start, each.end) for each in found]
    for each in named:
        reading.blank(each.start, each.end)
    return named


def take_unknown_name(reading: Reading) -> str | None:
    """What a question names behind ``at`` or ``from`` that is no value there is; None where it names nothing."""
    for found in _AT.finditer(reading.left):
        end = _phrase_end(reading, found.end())
        phrase = reading.text[found.end() : end].strip(" .?!,;:'\"")
        words = re.findall(r"[^\W_]+", phrase.casefold())
        if words and words[0] not in _NO_NAMES and not words[0].isdigit():
            reading.blank(found.start(), end)
            return phrase
    return None


def _exact(reading: Reading, values: Sequence[str], common: frozenset[str]) -> list[Named]:
    places = [at for at, each in enumerate(reading.left) if each.isalnum()]
    run = "".join(reading.left[at] for at in places)
    found: list[Named] = []
    spelled = [(value, letters(value)) for value in values] + [(value, core) for value in values if (core := _core(value))]
    for value, wanted in sorted(spelled, key=lambda each: -len(each[1])):
        if any(value in each.values for each in found):
            continue
        if len(wanted) < 3 or wanted.isdigit() or all(word in common for word in re.findall(r"[^\W_]+", value.casefold())):
            continue
        at = run.find(wanted)
        if at < 0:
            continue
        start, end = places[at], places[at + len(wanted) - 1] + 1
        begins = start == 0 or not reading.left[start - 1].isalnum()
        ends = end == len(reading.left) or not reading.left[end].isalnum()
        if begins and ends and not any(each.start < end and start < each.end for each in found):
            found.append(Named((value,), start, end))
    return sorted(found, key=lambda each: each.start)


def _core(value: str) -> str | None:
    """The letters of a name without what many names have (``SDN BHD``, ``Restaurant``), where enough are left."""
    words = re.findall(r"[^\W_]+", value.casefold())
    telling = [word for word in words if word not in _FILLERS]
    core = "".join(telling)
    return core if len(telling) > 1 and len(core) >= 8 and len(telling) < len(words) else None


def _near(reading: Reading, values: Sequence[str], common: frozenset[str]) -> list[Named]:
    for place in _PLACE.finditer(reading.left):
        start = place.end()
        end = _phrase_end(reading, start)
        words = list(re.finditer(r"\S+", reading.left[start:end]))[:8]
        for count in range(len(words), 0, -1):
            until = start + words[count - 1].end()
            phrase = reading.left[start:until]
            meant = tuple(value for value in values if _means(phrase, value, common))
            if meant:
                return [Named(meant, start, until)]
    return []


def _means(phrase: str, value: str, common: frozenset[str]) -> bool:
    if len(letters(phrase)) < 3:
        return False
    if len(letters(phrase)) > 4 and alike(phrase, value):
        return True
    told = {word for word in re.findall(r"[^\W_]{2,}", phrase) if word not in _FILLERS}
    held = {word for word in re.findall(r"[^\W_]{2,}", value.casefold()) if word not in _FILLERS}
    telling = {word for word in told if len(word) > 2 and word not in common and word not in _NO_NAMES}
    return bool(telling) and (told <= held or (len(held) > 1 and held <= told))


def _with_alike(named: tuple[str, ...], values: Sequence[str]) -> tuple[str, ...]:
    more = [value for value in values if value not in named and any(len(letters(n)) > 4 and alike(n, value) for n in named)]
    return (*named, *more)


def _phrase_end(reading: Reading, start: int) -> int:
    cut = _PHRASE_END.search(reading.left, start)
    return len(reading.left.rstrip()) if cut is None else cut.start()


# --- numbers --------------------------------------------------------------------------------------------------------

_NUMBER = (
    r"(?P<{0}>(?:[$\u20ac\u00a3]\s?|rm\s?|(?:usd|eur|gbp|myr|sgd|chf|inr|aud|cad|jpy)\s)?\d[\d,]*(?:\.\d+)?(?:\s?k\b)?)"
)
_NOUN = (
    r"(?:\s*-?\s*(?P<noun>(?!(?:or|and|in|on|at|a|i|did|was|for|the|days?|nights?|times?|count|total|per|by|is|were|that)\b)"
    r"[a-z%][\w/%]*(?:\s+of\s+[a-z]+)?))?"
)
_ABOVE = (
    r"(?:more than|greater than|higher than|longer than|larger than|bigger than|better than|over|above"
    r"|exceed(?:ed|ing|s)?"
    r"|surpass(?:ed|ing)?|beat|top(?:ped|ping)?(?=\s+\d[\d,]{2})|crack(?:ed|ing)?|clear(?:ed|ing)?|in excess of|north "
    r"of|upwards of|beyond|past|br(?:oke|eak|eaking|oken)|breach(?:ed)?|cross(?:ed|ing)?|>)"
)
_BELOW = r"(?:less than|fewer than|lower than|shorter than|smaller than|cheaper than|under|below|beneath|short of|<)"
_FROM = r"(?:at least|no less than|no fewer than|not less than|a minimum of|minimum|>=|\u2265|reach(?:ed|ing)?|hit(?:ting)?)"
_UP_TO = r"(?:at most|no more than|not more than|a maximum of|up to|<=|\u2264)"
_BETWEEN = re.compile(rf"\bbetween\s+{_NUMBER.format('low')}\s*(?P<unit>[a-z]+)?\s+and\s+{_NUMBER.format('high')}{_NOUN}")
_BOUNDS: tuple[tuple[str, re.Pattern[str]], ...] = (
    (
        ">=",
        re.compile(
            rf"{_NUMBER.format('value')}{_NOUN}\s*(?:\+|\bor (?:more|above|over|better|longer|higher)\b|-?\s?plus\b)"
        ),
    ),
    ("<=", re.compile(rf"{_NUMBER.format('value')}{_NOUN}\s*\bor (?:less|fewer|below|under|shorter|lower)\b")),
    (">=", re.compile(rf"(?<![\w]){_FROM}\s+(?:the\s+|a\s+)?{_NUMBER.format('value')}{_NOUN}")),
    ("<=", re.compile(rf"(?<![\w]){_UP_TO}\s+{_NUMBER.format('value')}{_NOUN}")),
    (">", re.compile(rf"(?<![\w]){_ABOVE}\s+(?:the\s+|a\s+)?{_NUMBER.format('value')}{_NOUN}")),
    ("<", re.compile(rf"(?<![\w]){_BELOW}\s+(?:the\s+|a\s+)?{_NUMBER.format('value')}{_NOUN}")),
    ("=", re.compile(rf"\bexactly\s+{_NUMBER.format('value')}{_NOUN}")),
)
_MARK = re.compile(
    rf"{_NUMBER.format('value')}[\s-]*(?P<noun>[a-z]+)[\s-]*(?:threshold|mark|barrier|line|limit|goal|target|level)\b"
)
_REACHED = re.compile(r"\b(?:reach(?:ed|ing)?|hit(?:ting)?|met|meet(?:ing)?|made|at least)\b")
_PLUS = re.compile(r"(?<![\w.,])(?P<value>\d[\d,]*(?:\.\d+)?(?:\s?k)?)(?:\s?\+|[\s-]plus\b)(?:[\s-]*(?P<noun>[a-z][\w]*))?")


@dataclass(frozen=True)
class Bound:
    """A bound of a number. ``values``: as a condition writes them, one or (between) two. ``noun``: what was counted, as the
    question says it. ``before``: where it stands in the question."""

    op: str
    values: tuple[str, ...]
    noun: str | None
    start: int
    negated: bool = False


_NOT = re.compile(r"\b(?:not|never|didn't|don't|wasn't|weren't|no)\b(?:\s+\w+){0,3}\s*$")


def take_bounds(reading: Reading) -> list[Bound]:
    """The bounds that a question sets, in the order found; they are taken."""
    whole = reading.left
    found = [replace(each, negated=_NOT.search(whole[: each.start]) is not None) for each in _bounds(reading)]
    return [each for each in found if each.values[0]]


def _bounds(reading: Reading) -> list[Bound]:
    found: list[Bound] = []
    while between := reading.take(_BETWEEN):
        noun = between["noun"] or between["unit"]
        found.append(Bound("between", (_plain(between["low"]), _plain(between["high"])), noun, between.start()))
    while mark := reading.take(_MARK):
        op = ">=" if reading.has(_REACHED) else ">"
        found.append(Bound(op, (_plain(mark["value"]),), mark["noun"], mark.start()))
    while plus := reading.take(_PLUS):
        found.append(Bound(">=", (_plain(plus["value"]),), plus["noun"], plus.start()))
    for op, pattern in _BOUNDS:
        while bound := reading.take(pattern):
            found.append(Bound(op, (_plain(bound["value"]),), bound["noun"], bound.start()))
    return found


def _plain(number: str) -> str:
    bare = number.replace(",", "").strip()
    if bare.endswith("k"):
        return f"{float(re.sub(r'[^0-9.]', '', bare)) * 1000:.10g}"
    return bare
