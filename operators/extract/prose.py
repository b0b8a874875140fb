"""Attributes and values told in sentences: ``slept 6 h 12 min``, ``my step count was 8,412``, ``paid $3.45 at Blue Bottle``.

What is denied, wished, planned, asked, advised or told of someone else is no observation.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from dataclasses import dataclass, replace

from operators.extract.facts import facts_in
from operators.extract.finding import Finding
from operators.extract.lexicon import (
    ASKS,
    CLOCKED,
    CORRECTS,
    CORRECTS_IF_UNNAMED,
    COUNTING,
    METRICS,
    NO_NAMES,
    NOT_SO,
    NOUN_OF_UNIT,
    OTHERS,
    PRESSURE,
    TURNS,
    VERBS,
)
from operators.extract.pairs import name_of
from operators.extract.values import Parsed, Quantity, Style, quantities

SENTENCE = re.compile(r"[^.!?\n]+(?:\.(?=\S)[^.!?\n]*)*[.!?]*")
"""A sentence: to a full stop that is followed by a space, ``!``, ``?`` or the end of the line."""

_COPULA = re.compile(
    r"(?P<np>(?:\b[\w'%-]+[ ]){1,6}?)"
    r"(?P<verb>is|was|were|are|came (?:in )?(?:to|at)|comes to|hit|reached|reads?|showed|shows|says?"
    r"|stood at|stands at|measured|measures|dropped to|rose to|fell to|went (?:up|down) to|averaged|totall?ed|of|at|equals)"
    r"(?:\s(?:now|only|just|about|around|exactly|at|up to|down to|roughly|approximately|still|a|an|already|even|currently"
    r"|today))*\s*[~]?$",
    re.IGNORECASE,
)
_BREAKS = re.compile(
    r"[,;:(]|\b(?:and|but|that|because|while|since|with|so|then|where|when|think|says?|know|guess)\b", re.IGNORECASE
)
_WEAK = ("of", "at", "is", "are", "was", "were", "hit", "reached", "says", "say", "showed", "shows")
_VERB = re.compile(rf"\b(?P<verb>{'|'.join(sorted(VERBS, key=len, reverse=True))})\b(?P<gap>[^.;]*)$", re.IGNORECASE)
_SOME_VERB = re.compile(rf"\b(?P<verb>{'|'.join(sorted(VERBS, key=len, reverse=True))})\b", re.IGNORECASE)
_COUNTS = re.compile(rf"\b(?P<verb>{'|'.join(sorted(COUNTING))})\b(?P<gap>(?:\s\w+){{0,3}})\s*[~]?$", re.IGNORECASE)
_SOME_COUNT = re.compile(rf"\b(?:{'|'.join(sorted(COUNTING))})\s\d", re.IGNORECASE)
_CLOCKS = re.compile(rf"\b(?P<verb>{'|'.join(CLOCKED)})\s*(?:about|around)?\s*$", re.IGNORECASE)
_GAP = re.compile(
    r"^(?:\s|for|about|around|only|just|a total of|another|some|nearly|almost|over|roughly|exactly|me|us|him|her|it|out"
    r"|by|was|is|at|in|~|approximately|in total|altogether|well|badly|and|of|on|down|to|last night|today|yesterday"
    r"|this morning|,)*$",
    re.IGNORECASE,
)
_NOUN = re.compile(r"\s(?:of\s)?(?P<noun>[a-z][a-z-]{1,24}(?:\s[a-z][a-z-]{2,24})?)", re.IGNORECASE)
_OF = re.compile(
    r"\s(?:of|in)\s(?:[a-z]+\s)?(?P<noun>sleep|water|exercise|steps|reading|practice|walking|running|cycling|meditation|coffee"
    r"|tea)\b",
    re.IGNORECASE,
)
_PLACE = re.compile(
    r"\s(?:at|to)\s(?:the\s)?(?P<name>(?:[A-Z][\w'&.-]*|\d\w*)(?:\s(?:(?:[A-Z][\w'&.-]*)|of|and|the|&|de|la|le)(?!\w))*)"
)
_CONNECTS = re.compile(r"(?:\s(?:of|and|the|&|de|la|le))+$")
_ALSO = re.compile(r"(?:^|\s)(?:and|,|plus|then|&)\s(?:another\s)?$", re.IGNORECASE)
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
_WINDOW = 300
"""Characters before and after a quantity that tell what it is."""
_NEAR, _FEW = 100, 20
_DELTA = re.compile(
    r"^\s?(?:more|less|fewer|higher|lower|longer|shorter|better|worse|faster|slower|above|below|over|under|off|away|ago|old"
    r"|years?|later|earlier|ahead|left|to go|short|each|apart|per|a (?:day|week|month|year|night))\b",
    re.IGNORECASE,
)
_BEHIND = re.compile(r"\s(?:of\s)?[a-z]+(?:\s[a-z]+){0,2}", re.IGNORECASE)
_STEPS = re.compile(r"\bsteps\b", re.IGNORECASE)
_FAR = frozenset(("km", "kms", "mi", "mile", "miles", "kilometers", "kilometres"))
_BOUGHT = re.compile(
    r"\b(?:bought|purchased|ordered|got)\s(?:(?:a|an|the|some|my|new|myself)\s)*(?P<item>[\w' -]{2,40}?)\sfor\s$",
    re.IGNORECASE,
)
_WHEN = re.compile(
    r"(?:\s|^)(?:this (?:morning|afternoon|evening)|last night|today|tonight|now|just now|right now|~|about|around)\s*$",
    re.IGNORECASE,
)
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


@dataclass(frozen=True)
class _Clause:
    """One quantity in its sentence: what stands before it, since the last turn, and behind it, up to the next quantity."""

    sentence: str
    scope: str
    before: str
    after: str
    quantity: Quantity
    of_others: bool


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
    if sentence.rstrip().endswith("?") and ASKS.match(sentence):
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
        if marks.denied(scope, quantity.start):
            continue
        clause = _Clause(
            sentence,
            sentence[scope : quantity.start],
            sentence[begin : quantity.start],
            sentence[quantity.end : end],
            quantity,
            marks.of_others(scope, quantity.start),
        )
        found += [replace(each, corrects=each.corrects or corrects) for each in _of_clause(clause, corrects)]
    return found


def _of_clause(clause: _Clause, corrects: bool) -> list[Finding]:
    quantity = clause.quantity
    if _DELTA.match(clause.after):
        return []
    name, confidence = _name(clause)
    if name is None:
        if _UNNAMED.fullmatch(_bare(clause.before)) and (corrects or CORRECTS_IF_UNNAMED.search(clause.before)):
            return [Finding("", quantity.start, quantity.end, quantity.parsed, 0.8, corrects=True)]
        return []
    doubtful = 0.1 if quantity.parsed.doubt else 0.0
    findings = _pressure(name, clause, round(confidence - doubtful, 3))
    return findings + _beside_money(clause, name)


def _bare(text: str) -> str:
    """What is left of a correction without the words and marks that only say that it is one."""
    return " ".join(re.sub(r"[,;:.!-]", " ", CORRECTS_IF_UNNAMED.sub(" ", CORRECTS.sub(" ", text))).split())


def _name(clause: _Clause) -> tuple[str | None, float]:
    """What the quantity is of, and how sure that is; None where the sentence does not say."""
    quantity, before = clause.quantity, clause.before
    others = clause.of_others
    if (clocked := _CLOCKS.search(before)) and quantity.parsed.kind == "time" and not others:
        return CLOCKED[clocked["verb"].lower()], 0.9
    if quantity.parsed.kind == "time":
        return None, 0.0
    if not others and (name := _of_verb(clause)):
        return name, 0.9
    if not others and quantity.parsed.kind == "money" and _BOUGHT.search(before):
        return "paid", 0.85
    if not others and (of := _OF.match(clause.after)) and (_COUNTS.search(before) or not before.strip(" ,")):
        return of["noun"].lower(), 0.85
    if not others and (name := _metric_behind(clause)):
        return name, 0.85
    unit = quantity.parsed.unit or ""
    if name := _of_copula(before, quantity.parsed):
        if unit in NOUN_OF_UNIT and not _measures(name) and not others:
            return NOUN_OF_UNIT[unit], 0.75
        return name, 0.8
    if (metric := _metric_before(before)) and not others:
        return metric, 0.85
    if not others and (name := _counted(clause)):
        return name, 0.8
    if not others and unit in NOUN_OF_UNIT:
        return NOUN_OF_UNIT[unit], 0.7
    if not others and quantity.unit_written in _FAR and _STEPS.search(clause.sentence):
        return "distance", 0.7
    return None, 0.0


def _measures(name: str) -> bool:
    """Whether the name is, or ends with, that of something people measure."""
    words = name.lower().split()
    return any(" ".join(words[at:]) in METRICS for at in range(len(words)))


def _metric_behind(clause: _Clause) -> str | None:
    """``7h 5m sleep``, ``2 l water``: what is measured, right behind the quantity."""
    match = _BEHIND.match(clause.after)
    if match is None or clause.quantity.parsed.unit is None:
        return None
    words = match[0].split()
    for length in (3, 2, 1):
        name = " ".join(words[:length])
        if len(words) >= length and name.lower() in METRICS and name.lower() != clause.quantity.unit_written:
            return name
    return None


def _of_verb(clause: _Clause) -> str | None:
    parsed = clause.quantity.parsed
    own = _VERB.search(clause.before)
    match = own or (next(reversed(list(_SOME_VERB.finditer(clause.scope))), None) if _shares_verb(clause) else None)
    if match is None:
        return None
    unit = "money" if parsed.kind == "money" else parsed.unit or ""
    name = VERBS[match["verb"].lower()].get(unit)
    return name if name is None or own is None else _checked(name, match["gap"])


def _checked(name: str, gap: str) -> str | None:
    return name if _GAP.match(gap) else None


def _shares_verb(clause: _Clause) -> bool:
    """``ran 5 km in 25 min``, ``paid $3 at the Corner and $12 at Target``: the verb of the quantity before is this one's."""
    also = clause.quantity.parsed.kind == "money" and _ALSO.search(clause.before) is not None
    return also or _and_only(clause.before)


def _and_only(between: str) -> bool:
    """``ran 5 km in 25 min``: the verb of the quantity before is this one's too."""
    return re.fullmatch(r"\s*(?:in|and|for|,|at|within)?\s*(?:just|about|only)?\s*", between, re.IGNORECASE) is not None


def _of_copula(before: str, parsed: Parsed) -> str | None:
    match = _COPULA.search(before[-_NEAR:])
    if match is None:
        return None
    phrase = re.split(
        r"[,;:(]|\b(?:and|but|that|because|while|since|with|so|then|where|when|think|says?|know|guess)\b",
        match["np"],
        flags=re.I,
    )[-1]
    mine = re.search(r"\b(?:my|our)\b", phrase, re.IGNORECASE)
    phrase = phrase[mine.end() :] if mine else phrase
    words = phrase.split()
    while words and words[0].lower() in NO_NAMES | {"this", "today's"}:
        words = words[1:]
    while words and words[-1].lower() in NO_NAMES | {"today", "yesterday", "now", "currently", "level", "reading"}:
        words = words[:-1]
    name = name_of(" ".join(words))
    if name is None or any(word.lower() in NO_NAMES or word.isdigit() for word in words) or len(words) > 4:
        return None
    known = name.lower() in METRICS
    weak = match["verb"].lower() in _WEAK
    if parsed.kind == "ratio" and not known:
        return None
    if weak and not known and not (mine or parsed.unit):
        return None
    if match["verb"].lower() in ("of", "at") and not known:
        return None
    return name


def _metric_before(before: str) -> str | None:
    before = before[-60:]
    while _WHEN.search(before):
        before = _WHEN.sub("", before)
    if not re.search(r"\w\s*$", before):
        return None
    words = re.findall(r"[\w'%]+", before)
    for length in (3, 2, 1):
        tail = " ".join(words[-length:])
        if len(words) >= length and tail.lower() in METRICS:
            return tail
    return None


def _counted(clause: _Clause) -> str | None:
    """``did 20 push-ups``: the thing counted, where the number has no unit of its own."""
    parsed = clause.quantity.parsed
    if not _COUNTS.search(clause.before) and not _and_counts(clause):
        return None
    if parsed.unit in ("steps", "kcal"):
        return "steps" if parsed.unit == "steps" else "calories"
    if parsed.kind != "number" or parsed.unit is not None or parsed.number is None:
        return None
    noun = _NOUN.match(clause.after)
    if noun is None:
        return None
    words = [word for word in noun["noun"].split() if word.lower() not in NO_NAMES]
    if not words or words[0] != noun["noun"].split()[0]:
        return None
    first = words[0]
    plural = first.lower().endswith("s") and not first.lower().endswith("ss")
    return first.lower() if plural or parsed.number == 1 else " ".join(words).lower() if words[-1].endswith("s") else None


def _and_counts(clause: _Clause) -> bool:
    """``did 20 push-ups and 30 squats``: the verb of the count before."""
    joined = re.fullmatch(r"\s[\w-]+(?:\s[\w-]+)?\s?(?:,|,?\sand|&)\s", clause.before)
    return joined is not None and _SOME_COUNT.search(clause.scope) is not None


def _pressure(name: str, clause: _Clause, confidence: float) -> list[Finding]:
    quantity = clause.quantity
    parsed = quantity.parsed
    if parsed.kind != "ratio" or name.lower() not in PRESSURE or parsed.number is None:
        return [Finding(name, quantity.start, quantity.end, parsed, confidence)]
    written = clause.sentence[quantity.start : quantity.end]
    upper, lower = re.findall(r"\d+", written)[:2]
    second = quantity.start + written.index(lower, len(upper))
    return [
        Finding(
            f"{name} systolic",
            quantity.start,
            quantity.start + len(upper),
            Parsed("number", float(upper), "mmHg"),
            confidence,
        ),
        Finding(f"{name} diastolic", second, second + len(lower), Parsed("number", float(lower), "mmHg"), confidence),
    ]


def _beside_money(clause: _Clause, name: str) -> list[Finding]:
    """Where and on what money was spent: ``at Blue Bottle``, ``for lunch``."""
    if clause.quantity.parsed.kind != "money" or name not in ("paid", "spent", "tip", "donated", "cost"):
        return []
    found = []
    if bought := _BOUGHT.search(clause.before):
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
