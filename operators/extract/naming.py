"""What a quantity in a sentence is of: the verb before it, the words around it, or its unit say so."""

from __future__ import annotations

import re
from dataclasses import dataclass

from operators.extract.lexicon import CLOCKED, COUNTING, METRICS, NO_NAMES, NOUN_OF_UNIT, OWN_SUBJECT, VERBS
from operators.extract.pairs import name_of
from operators.extract.values import Parsed, Quantity

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
_ALSO = re.compile(r"(?:^|\s)(?:and|,|plus|then|&)\s(?:another\s)?$", re.IGNORECASE)
_BEHIND = re.compile(r"\s(?:of\s)?[a-z]+(?:\s[a-z]+){0,2}", re.IGNORECASE)
_STEPS = re.compile(r"\bsteps\b", re.IGNORECASE)
_FAR = frozenset(("km", "kms", "mi", "mile", "miles", "kilometers", "kilometres"))
BOUGHT = re.compile(
    r"\b(?:bought|purchased|ordered|got)\s(?:(?:a|an|the|some|my|new|myself)\s)*(?P<item>[\w' -]{2,40}?)\sfor\s$",
    re.IGNORECASE,
)
"""``bought a book for``, before an amount: what the money was for is told there."""

_WHEN = re.compile(
    r"(?:\s|^)(?:this (?:morning|afternoon|evening)|last night|today|tonight|now|just now|right now|~|about|around)\s*$",
    re.IGNORECASE,
)
_NEAR = 100
"""Characters before a quantity in which what it is of may stand with a verb."""


@dataclass(frozen=True)
class Clause:
    """One quantity in its sentence: what stands before it, since the last turn, and behind it, up to the next quantity."""

    sentence: str
    scope: str
    before: str
    after: str
    quantity: Quantity
    of_others: bool


def name_and_confidence(clause: Clause) -> tuple[str | None, float]:
    """What the quantity is of, and how sure that is; None where the sentence does not say."""
    quantity, before = clause.quantity, clause.before
    others = clause.of_others
    if (clocked := _CLOCKS.search(before)) and quantity.parsed.kind == "time" and not others:
        return CLOCKED[clocked["verb"].lower()], 0.9
    if quantity.parsed.kind == "time":
        return None, 0.0
    if not others and (name := _of_verb(clause)):
        return name, 0.9
    if not others and quantity.parsed.kind == "money" and BOUGHT.search(before):
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


def _metric_behind(clause: Clause) -> str | None:
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


def _of_verb(clause: Clause) -> str | None:
    parsed = clause.quantity.parsed
    own = _VERB.search(clause.before)
    match = own or (next(reversed(list(_SOME_VERB.finditer(clause.scope))), None) if _shares_verb(clause) else None)
    if match is None:
        return None
    unit = "money" if parsed.kind == "money" else parsed.unit or ""
    verb = match["verb"].lower()
    name = VERBS[verb].get(unit)
    if name is None or (verb != "cost" and not _by_writer((clause.before if own else clause.scope)[: match.start()])):
        return None
    return name if own is None else _checked(name, match["gap"])


def _by_writer(before: str) -> bool:
    """Whether what stands before a verb leaves the writer as the one who did it."""
    words = re.findall(r"[\w']+|[^\w\s]", before)
    return not words or not words[-1][0].isalnum() or words[-1].lower() in OWN_SUBJECT or words[-1].lower().endswith("ly")


def _checked(name: str, gap: str) -> str | None:
    return name if _GAP.match(gap) else None


def _shares_verb(clause: Clause) -> bool:
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
    phrase = _BREAKS.split(match["np"])[-1]
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


def _counted(clause: Clause) -> str | None:
    """``did 20 push-ups``: the thing counted, where the number has no unit of its own."""
    parsed = clause.quantity.parsed
    counts = _COUNTS.search(clause.before)
    if counts is None and not _and_counts(clause):
        return None
    if counts is not None and not _by_writer(clause.before[: counts.start()]):
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


def _and_counts(clause: Clause) -> bool:
    """``did 20 push-ups and 30 squats``: the verb of the count before."""
    joined = re.fullmatch(r"\s[\w-]+(?:\s[\w-]+)?\s?(?:,|,?\sand|&)\s", clause.before)
    return joined is not None and _SOME_COUNT.search(clause.scope) is not None
