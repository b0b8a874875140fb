"""What a question tells of an event: before, after, on the day of something that only the conversation dates."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Literal

from operators.ask.rules.reading import Reading

Relation = Literal["before", "after", "since", "until", "on"]

_COUNTS = {
    "a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9,
    "ten": 10, "couple of": 2, "few": 3,
}  # fmt: skip
_DAYS = {"day": 1, "night": 1, "week": 7, "fortnight": 14, "month": 30, "year": 365}

_JOINED = r"(?:or|and|vs\.?|versus|than|compared (?:to|with)|against|rather than|/)"
_THE_DAY = (
    r"(?:(?:that|the|this)? ?(?:very )?(?:day|date|night|time|moment|point|event|one)"
    r" (?:that |when |of |on which |where )?)?"
)
_LONG = (
    r"(?:(?:the |in the |during the )?(?:(?P<n>\d{1,3}|one|two|three|four|five|six|seven|eight|nine|ten) )?"
    r"(?<!per )(?<!a )(?P<unit>weeks?|fortnights?|months?|years?|days) )?"
)
_LINK = r"(?:was it |is it |rather |the (?:time|days?|period|weeks?|months?) )?"
_BOTH = re.compile(
    rf"{_LONG}\b(?P<a>before|after)\b[\s,]*{_JOINED}\s*{_LINK}(?P<b>before|after)\b"
    rf"\s*{_THE_DAY}(?P<phrase>\S.*)"
)
_SPLIT = re.compile(
    rf"{_LONG}\b(?P<a>before|after)\b\s+{_THE_DAY}(?P<phrase>\S.*?)[\s,]+{_JOINED}\s+(?:[\w' ]{{0,30}}?\b)?"
    r"(?P<b>before|after)(?:wards?)?\b(?P<rest>.*)"
)
_WINDOW = re.compile(
    r"\b(?:(?:in|for|over|during|within|on|of)\s+)?(?:the\s+)?(?:first\s+|last\s+)?"
    r"(?P<n>\d{1,3}|one|two|three|four|five|six|seven|eight|nine|ten|couple of|few)?\s*"
    r"(?<!typical )(?<!average )(?<!any )(?<!each )(?<!every )(?<!normal )(?<!per )(?<!a )"
    rf"(?P<unit>day|night|week|fortnight|month|year)(?P<s>s?) (?P<rel>before|after)\s+{_THE_DAY}(?P<phrase>\S.*)"
)
_WEEK_OF = re.compile(rf"\b(?:in |during )?the week (?:of|that|when|in which)\s+{_THE_DAY}(?P<phrase>\S.*)")
_ONE = re.compile(rf"\b(?P<rel>before|after|since|until|till)\s+{_THE_DAY}(?P<phrase>\S.*)")
_ON = re.compile(
    r"\b(?:(?:on|during)\s+(?:the (?:very |same )?(?:day|date|night) (?:that |when |of |on which )?)"
    r"|the (?:day|night) (?:that |when |of )?"
    r"(?=i\b|we\b|my\b)|(?:during|while)\s+(?=i\b|my\b|we\b|the\b))(?P<phrase>\S.*)"
)
_DAY_OF = re.compile(
    r"\bon (?:my|the) (?!(?:newest|recent|closing|ending|current|earliest|final|greatest|biggest|largest|smallest"
    r"|actual|exact|particular|best|worst|last|first|latest|most|least|very|same|final|shortest|longest|busiest|single"
    r"|logged|next|given"
    r"|other|previous|following|top|record|highest|lowest)\b)(?P<phrase>[a-z][\w']*(?: [\w']+)?) day\b"
)
_CUT = re.compile(
    r"[,;?!:]|\.(?=\s|$)|\b(?:what|how|which|please|tell me|give me|show me|in total|in all|on average"
    r"|overall|altogether|combined"
    r"|averaged?|in (?:hours?|minutes?|mins?|km|miles?|met(?:er|re)s|hrs)|per (?:day|night|week|month)"
    r"|(?:a|each|every) (?:day|night|week)"
    r"|(?:did|do|was|were|is|are) (?:i|my|we|it|there)|(?:had|have) (?:i|we)|average|total|compared"
    r"|that (?:i|my)|as (?:the|a)|(?:to|until|till|up to) (?:the (?:very )?end|now|today)|leaving out|excluding|not "
    r"counting)\b"
)
_SAYS_NOTHING_TEXT = """
    the a an i my me we our it that this then day date days of on in to was is and or so far now today until actual
    exact event period inclusive one bigger greater higher more larger longer fewer less lower better which
"""
_SAYS_NOTHING = frozenset(_SAYS_NOTHING_TEXT.split())


@dataclass(frozen=True)
class Event:
    """An event as a question tells it. ``length``: of a stretch of days next to it (``the week before``), None: open.

    ``point``: one day that far away (``the day after``)."""

    relation: Relation
    phrase: str
    length: int | None = None
    point: bool = False

    def days(self, first: date, last: date) -> tuple[date | None, date | None]:
        """The first and last day that are meant (None: open), the event being from ``first`` to ``last``.

        The days after a day begin on the next (AdaMM, Figure 2).
        """
        one = timedelta(days=1)
        try:
            if self.relation == "on":
                return (first, last) if self.length is None else _week(first)
            if self.relation == "after":
                begins = last + one
                ends = None if self.length is None else last + timedelta(days=self.length)
                return (ends, ends) if self.point else (begins, ends)
            if self.relation == "since":
                return first, None
            ends = first - one
            if self.length is None:
                return None, ends
            begins = first - timedelta(days=self.length)
            return (begins, begins) if self.point else (begins, ends)
        except OverflowError:  # next to the first or the last day of the calendar
            return first, last


def _week(day: date) -> tuple[date, date]:
    monday = day - timedelta(days=day.weekday())
    return monday, monday + timedelta(days=6)


@dataclass(frozen=True)
class Sides:
    """A comparison of the days before and after an event, in the order of the question."""

    first: Event
    second: Event


def take_sides(reading: Reading) -> Sides | None:
    """``before or after I moved``; None where nothing is compared so."""
    for pattern in (_BOTH, _SPLIT):
        found = pattern.search(reading.left)
        if found is None or found["a"] == found["b"]:
            continue
        end = _end(reading, found.start("phrase"), found.end("phrase"))
        phrase = _phrase(reading, found.start("phrase"), end) or _introduced(reading)
        if not phrase:
            continue
        reading.blank(found.start(), end if pattern is _BOTH else found.start("rest"))
        length = None
        if found["unit"] and (found["n"] or found["unit"] != "days"):
            length = (_COUNTS.get(found["n"] or "") or int(found["n"] or 1)) * _DAYS[found["unit"].removesuffix("s")]
        first, second = (Event(_relation(found[side]), phrase, length) for side in ("a", "b"))
        return Sides(first, second)
    return _loose_sides(reading)


_INTRODUCES = re.compile(
    r"^\W*(?:thinking (?:of|about)|regarding|about|considering|with regard to|given|around|as for|re|on the subject of"
    r"|looking at"
    r"|take|taking|concerning|speaking of|talking about|in relation to|relative to)?\b\s*(?P<phrase>[^,;:.?!]+)[,;:.?!]"
)
_EITHER = re.compile(r"\b(?:before|after)(?:wards?)?\b")


_AROUND = re.compile(
    rf"\b(?:on (?:either|each|both) sides? of|around|surrounding|relative to|with respect to) {_THE_DAY}(?P<phrase>\S.*)"
)
_CHANGED = re.compile(r"\b(?:changed|affected|altered|influenced|made|improved|impacted|hurt|helped)\b.*")
_WONDERS = re.compile(
    r"^(?:i (?:wonder|am wondering|was wondering)|wondering|curious|i want to know|i'd like to know)\s+(?:if|whether|how)\s+"
)


def _introduced(reading: Reading) -> str:
    """What a question begins with, for what it later calls ``it``, or what it says to look around."""
    around = _AROUND.search(reading.left)
    if around is not None:
        end = _end(reading, around.start("phrase"), around.end("phrase"))
        phrase = _phrase(reading, around.start("phrase"), end)
        if phrase:
            reading.blank(around.start(), end)
            return phrase
    found = _INTRODUCES.search(reading.left)
    if found is None or _EITHER.search(reading.left, 0, found.end()):
        return ""
    phrase = _phrase(reading, found.start("phrase"), found.end("phrase"))
    phrase = _CHANGED.sub("", _WONDERS.sub("", phrase.lower())).strip() if _WONDERS.search(phrase.lower()) else phrase
    if phrase:
        reading.blank(*found.span())
    return phrase


def _loose_sides(reading: Reading) -> Sides | None:
    """Both words stand somewhere, and one of them, or the beginning of the question, tells of what."""
    places = list(_EITHER.finditer(reading.left))
    first = places[0] if places else None
    second = next((each for each in places if first is not None and each[0][:3] != first[0][:3]), None)
    if first is None or second is None:
        return None
    phrase = ""
    for start, end in ((first.end(), second.start()), (second.end(), len(reading.left))):
        cut = _LINKS.search(reading.left, start, _end(reading, start + 1, end))
        stop = _end(reading, start + 1, end) if cut is None else cut.start()
        phrase = phrase or _phrase(reading, start, stop)
    phrase = phrase or _introduced(reading)
    if not phrase:
        return None
    reading.blank(first.start(), _end(reading, second.end(), len(reading.left)))
    one, two = (Event("after" if each[0].startswith("after") else "before", phrase) for each in (first, second))
    return Sides(one, two)


_LINKS = re.compile(
    r"\b(?:or|and|vs\.?|versus|than|compare[ds]?|comparing|against|rather|was|were|is|with|to that"
    r"|differ\w*)\b(?!\s+(?:the|my|i|a)\b)"
)


def take_event(reading: Reading) -> Event | None:
    """The first event that days are told by; None where there is none."""
    window = _taken(reading, _WINDOW)
    if window is not None:
        found, phrase = window
        count = _COUNTS.get(found["n"] or "") or int(found["n"] or 1)
        length = count * _DAYS[found["unit"]]
        if found["s"] and not found["n"]:  # "the days after": all of them
            return Event(_relation(found["rel"]), phrase)
        return Event(_relation(found["rel"]), phrase, length, point=found["unit"] in ("day", "night") and not found["s"])
    week = _taken(reading, _WEEK_OF)
    if week is not None:
        return Event("on", week[1], 7)
    one = _taken(reading, _ONE)
    if one is not None:
        return Event(_relation(one[0]["rel"]), one[1])
    on = _taken(reading, _ON) or _taken(reading, _DAY_OF)
    return None if on is None else Event("on", on[1])


def _taken(reading: Reading, pattern: re.Pattern[str]) -> tuple[re.Match[str], str] | None:
    """A pattern whose phrase tells something; it is taken up to the end of that."""
    for found in pattern.finditer(reading.left):
        end = _end(reading, found.start("phrase"), found.end("phrase"))
        phrase = _phrase(reading, found.start("phrase"), end)
        if phrase:
            reading.blank(found.start(), end)
            return found, phrase
    return None


def _end(reading: Reading, start: int, end: int) -> int:
    cut = _CUT.search(reading.left, start, end)
    return end if cut is None else cut.start()


def _phrase(reading: Reading, start: int, end: int) -> str:
    """What was written there, if it tells anything and nothing of it was taken already."""
    phrase = re.sub(r"\s+(?:onwards?|on|then|there)$", "", reading.text[start:end].strip(" .?!,;:'\""), flags=re.IGNORECASE)
    told = [word for word in re.findall(r"[^\W_]+", reading.left[start:end]) if word not in _SAYS_NOTHING]
    return phrase if told else ""


def _relation(word: str) -> Relation:
    return "until" if word == "till" else word  # type: ignore[return-value]
