"""Attributes and values told in sentences: ``slept 6 h 12 min``, ``my step count was 8,412``, ``paid $3.45 at Blue Bottle``.

What is denied, wished, planned, asked, advised or told of someone else is no observation.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from dataclasses import replace

from operators.extract.facts import facts_in
from operators.extract.finding import Finding
from operators.extract.lexicon import ASKS, CORRECTS, CORRECTS_IF_UNNAMED, DELTA, NO_NAMES, NOT_SO, OTHERS, TURNS
from operators.extract.naming import BOUGHT, Clause, name_and_confidence
from operators.extract.pairs import split_pressure
from operators.extract.values import Parsed, Style, quantities

SENTENCE = re.compile(r"[^.!?\n]+(?:\.(?=\S)[^.!?\n]*)*[.!?]*")
"""A sentence: to a full stop that is followed by a space, ``!``, ``?`` or the end of the line."""

_PLACE = re.compile(
    r"\s(?:at|to)\s(?:the\s)?(?P<name>(?:[A-Z][\w'&.-]*|\d\w*)(?:\s(?:(?:[A-Z][\w'&.-]*)|of|and|the|&|de|la|le)(?!\w))*)"
)
_CONNECTS = re.compile(r"(?:\s(?:of|and|the|&|de|la|le))+$")
_FOR = re.compile(
    r"\s(?:for|on)\s(?:(?:a|an|the|my|some|our)\s)?(?P<name>[a-z][\w' -]{1,30}?)"
    r"(?=\s(?:at|to|from|in|on|today|yesterday|this)\b|[,.;!?]|$)",
    re.IGNORECASE,
)
_UNNAMED = re.compile(
    r"(?:(?:no|it|that|this|they|i|to)\s?)?(?:was|is|were|'s|should be|should have been|should read|as)?\s?"
    r"(?:actually|really|more like|about|only)?",
    re.IGNORECASE,
)
_THEN_ASKS = re.compile(
    r"(?:,|;|-)\s*(?:is|was|are|does|do|did|should|can|could|what|how|why|any|would|will)\b(?!n't)", re.IGNORECASE
)
"""What was told before it in a question is told all the same: ``slept 7 h, is that ok?``"""
_WINDOW = 300
"""Characters before and after a quantity that tell what it is."""
_FEW = 20
"""Corrections of a sentence that are looked at."""
_SOME_WORD = re.compile(r"\b(?:hours?|minutes?|km|miles?|steps|pages|kg|euros?|dollars?)\b", re.IGNORECASE)


class _Marks:
    """Where in a sentence something is denied, turned, corrected or told of others: looked for once for all quantities."""

    def __init__(self, sentence: str) -> None:
        self._corrections = [match.span() for match in CORRECTS.finditer(sentence)]
        self._turns = [match.end() for match in TURNS.finditer(sentence)]
        denied = (match.span() for match in NOT_SO.finditer(sentence))
        self._denied = [start for start, end in denied if not self._in_correction(start, end)]
        self._others = [match.start() for match in OTHERS.finditer(sentence)]

    def _in_correction(self, start: int, end: int) -> bool:
        return any(first <= start and end <= last for first, last in self._corrections[:_FEW])

    def scope(self, at: int) -> int:
        """Where what belongs to a quantity at that place begins: after the last turn, and not too far before it."""
        turn = bisect_right(self._turns, at)
        return max(self._turns[turn - 1] if turn else 0, at - _WINDOW, 0)

    def denied(self, first: int, last: int) -> bool:
        """Whether something between says that it is not so."""
        return bisect_left(self._denied, first) < bisect_left(self._denied, last)

    def of_others(self, first: int, last: int) -> bool:
        """Whether something between says that somebody else did it."""
        return bisect_left(self._others, first) < bisect_left(self._others, last)

    def corrected(self, first: int, last: int) -> bool:
        """Whether something between takes back what was said before."""
        return any(first <= start < last for start, _ in self._corrections[:_FEW])


def told_in(text: str, style: Style) -> list[Finding]:
    """The findings of a stretch of ``spoken`` text, in their order; records are left at 0."""
    found: list[Finding] = []
    for match in SENTENCE.finditer(text):
        told = list(facts_in(match[0]))
        if any(letter.isdigit() for letter in match[0]) or _SOME_WORD.search(match[0]):
            told += _told(match[0], style)
        found += [replace(each, start=each.start + match.start(), end=each.end + match.start()) for each in told]
    return found


def _told(sentence: str, style: Style) -> list[Finding]:
    asks = sentence.rstrip().endswith("?")
    if asks and ASKS.match(sentence):
        return []
    found: list[Finding] = []
    measured = [quantity for quantity in quantities(sentence, style) if quantity.parsed.kind != "date"]
    marks = _Marks(sentence) if measured else None
    corrects = False
    for at, quantity in enumerate(measured if marks else ()):
        assert marks is not None
        begin = max(measured[at - 1].end if at else 0, quantity.start - _WINDOW)
        end = min(measured[at + 1].start if at + 1 < len(measured) else len(sentence), quantity.end + _WINDOW)
        scope = marks.scope(quantity.start)
        corrects = corrects or marks.corrected(begin, quantity.start)
        if marks.denied(scope, quantity.start) or (asks and not _THEN_ASKS.search(sentence, quantity.end)):
            continue
        clause = Clause(
            sentence,
            sentence[scope : quantity.start],
            sentence[begin : quantity.start],
            sentence[quantity.end : end],
            quantity,
            marks.of_others(scope, quantity.start),
        )
        found += [replace(each, corrects=each.corrects or corrects) for each in _of_clause(clause, corrects)]
    return found


def _of_clause(clause: Clause, corrects: bool) -> list[Finding]:
    quantity = clause.quantity
    if DELTA.match(clause.after):
        return []
    name, confidence = name_and_confidence(clause)
    if name is None:
        ends = not clause.after.strip(" .!)") or clause.after.lstrip(" ,").startswith(("not ", "instead"))
        if ends and _UNNAMED.fullmatch(_bare(clause.before)) and (corrects or CORRECTS_IF_UNNAMED.search(clause.before)):
            return [Finding("", quantity.start, quantity.end, quantity.parsed, 0.8, corrects=True)]
        return []
    doubtful = 0.1 if quantity.parsed.doubt else 0.0
    finding = Finding(name, quantity.start, quantity.end, quantity.parsed, round(confidence - doubtful, 3))
    return [*split_pressure(finding, clause.sentence), *_beside_money(clause, name)]


def _bare(text: str) -> str:
    """What is left of a correction without the words and marks that only say that it is one."""
    return " ".join(re.sub(r"[,;:.!-]", " ", CORRECTS_IF_UNNAMED.sub(" ", CORRECTS.sub(" ", text))).split())


def _beside_money(clause: Clause, name: str) -> list[Finding]:
    """Where and on what money was spent: ``at Blue Bottle``, ``for lunch``."""
    if clause.quantity.parsed.kind != "money" or name not in ("paid", "spent", "tip", "donated", "cost"):
        return []
    found = []
    if bought := BOUGHT.search(clause.before):
        start = clause.quantity.start - len(clause.before) + bought.start("item")
        item = bought["item"]
        found.append(Finding("item", start, start + len(item), Parsed("text", text=item.lower()), 0.8))
    offset = clause.quantity.end
    for attribute, pattern in (("merchant", _PLACE), ("item", _FOR)):
        if any(finding.attribute == attribute for finding in found):
            continue
        match = pattern.search(clause.after)
        if match is not None and match["name"].split()[0].lower() not in NO_NAMES:
            said = _CONNECTS.sub("", match["name"].rstrip(" .,"))
            parsed = Parsed("text", text=said.lower())
            found.append(
                Finding(attribute, offset + match.start("name"), offset + match.start("name") + len(said), parsed, 0.8)
            )
    return sorted(found, key=lambda finding: finding.start)
