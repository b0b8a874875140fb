"""The times that a question tells: ``from April 21 to April 26, 2016``, ``last week``, ``since March``, ``on Mondays``.

Own rules, because no library that was tried (dateparser, parsedatetime, datefinder, timefhuman, ctparse) finds periods in
a question: ``in April`` becomes an instant or nothing, ``the first week of May`` becomes May, ``May I ask`` a month, and a
missing year is the next one, where a question about records means the last.

What is meant where English leaves it open: weeks begin on Monday; ``last week`` is the one before this week, ``the past
week`` and ``the last week`` the seven days up to today, as are ``the last 7 days``; ``last night`` is yesterday; ``two
weeks ago`` a whole week; the first week of a month its days 1 to 7; early, middle and late are days 1 to 10, 11 to 20
and the rest; seasons are meteorological and northern, winter being that of the year it ends in, the other reading is
given too.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import Literal

from operators.ask.rules.calendar import Make, Stretch, moved, stretch
from operators.ask.rules.time_dates import Lead, Scan, Unit, day_number, day_unit, fixed
from operators.ask.rules.time_units import unit_at
from operators.ask.rules.time_words import COMPARES, FIRM, JOINTS, LEADS, MEASURES, Token, tokens

Relation = Literal["in", "since", "after", "before", "until"]
Days = tuple[date | None, date | None]

_RELATIONS: tuple[tuple[tuple[str, ...], Relation], ...] = (
    (("up", "to", "and", "including"), "until"),
    (("no", "later", "than"), "until"),
    (("not", "later", "than"), "until"),
    (("on", "or", "after"), "since"),
    (("on", "or", "before"), "until"),
    (("up", "to"), "until"),
    (("up", "until"), "until"),
    (("up", "till"), "until"),
    (("as", "of"), "until"),
    (("as", "from"), "since"),
    (("starting", "from"), "since"),
    (("starting", "on"), "since"),
    (("starting", "in"), "since"),
    (("starting", "with"), "since"),
    (("starting",), "since"),
    (("beginning", "on"), "since"),
    (("beginning", "in"), "since"),
    (("beginning", "with"), "since"),
    (("beginning", "from"), "since"),
    (("ever", "since"), "since"),
    (("since",), "since"),
    (("later", "than"), "after"),
    (("after",), "after"),
    (("following",), "after"),
    (("prior", "to"), "before"),
    (("earlier", "than"), "before"),
    (("ahead", "of"), "before"),
    (("before",), "before"),
    (("until",), "until"),
    (("till",), "until"),
    (("til",), "until"),
    (("through",), "until"),
    (("thru",), "until"),
    (("by",), "until"),
)
_BY_FIRST: dict[str, list[tuple[tuple[str, ...], Relation]]] = {}
for _words, _relation in _RELATIONS:
    _BY_FIRST.setdefault(_words[0], []).append((_words, _relation))
_TO = (
    ("up", "to"),
    ("up", "until"),
    ("to",),
    ("through",),
    ("thru",),
    ("until",),
    ("till",),
    ("til",),
    ("-",),
    ("\u2013",),
    ("\u2014",),
    ("..",),
    ("...",),
    ("…",),
)
_TO_FIRST = frozenset(words[0] for words in _TO)
_ONWARD = frozenset(("onwards", "onward", "forward", "forwards", "upwards"))
_NOW = frozenset(("now", "today", "present", "date"))
_BEHIND_ON = frozenset(("did", "do", "was", "were", "is", "have", "had", "how", "what", "and"))


@dataclass(frozen=True)
class Period:
    """Days that a question tells, from ``first`` to ``last``, both included; None: open.

    ``start`` and ``end``: where in the text, with its preposition. ``ambiguous``: other readings (``03/04/2016``).
    ``weekdays``: ``on Mondays``, ``at weekends`` (0 = Monday); then ``first`` and ``last`` are None, but for ``the last two
    weekends``.
    """

    first: date | None
    last: date | None
    start: int
    end: int
    ambiguous: tuple[tuple[date | None, date | None], ...] = ()
    weekdays: frozenset[int] = frozenset()


@dataclass(frozen=True)
class _Found:
    """A period by tokens: from ``start`` (the preposition) to before ``end``."""

    start: int
    end: int
    days: tuple[Days, ...]
    weekdays: frozenset[int] = frozenset()
    kind: str = "other"


def periods(
    text: str, today: date, *, day_first: bool | None = None, known: tuple[date, date] | None = None
) -> list[Period]:
    """The periods that a text tells, from left to right, none over another.

    ``today``: the day of asking. ``day_first``: how the user writes ``03/04/2016``; None: both readings are given.
    ``known``: the first and last day of the user's records; a date without a year is the latest one that has begun by today
    and meets them, if one does. What is not in the calendar (``31 February``) is no period.
    """
    scan = Scan(tokens(text), today, day_first, known)
    found: list[Period] = []
    compares = False
    at, last = 0, None
    while at < len(scan.tokens):
        token = scan.tokens[at]
        compares = compares or token.word in COMPARES
        joined = last is not None and at - last.end <= 3 and _joins(scan.tokens[last.end : at])
        read = _read(scan, at, joined=last if joined else None, compares=compares)
        if not read:
            at += 1
            continue
        found += [_period(scan.tokens, each) for each in read if each.days]
        last = read[-1]
        at = last.end
    return found


def _joins(between: Sequence[Token]) -> bool:
    return all(each.word in JOINTS or each.word in (",", "to", "compared", "/", "in") for each in between)


def _period(pieces: Sequence[Token], found: _Found) -> Period:
    start, end = pieces[found.start].start, pieces[found.end - 1].end
    first, last = found.days[0]
    if found.weekdays and (first, last) == (date.min, date.max):
        first = last = None
    return Period(first, last, start, end, found.days[1:], found.weekdays)


def _read(scan: Scan, at: int, *, joined: _Found | None, compares: bool) -> list[_Found]:
    """The period that begins at a token; two for ``before or after April 20``."""
    word = scan.at(at).word
    lead: Lead
    if scan.at(at).kind in ("sign", "dash", "gap"):
        return []
    if word in ("before", "after") and (both := _both(scan, at)):
        return both
    if word == "between" or (word == "from" and not compares):
        found = _range(scan, at, at + 1, 2, compares=compares and word == "between", between=word == "between")
        if found is not None:
            return [found]
    for words, relation in _BY_FIRST.get(word, ()):
        if scan.says(at, *words):
            unit = unit_at(scan, at + len(words), 2 if word not in ("up", "following", "ahead") else 1)
            if unit is not None and not (word == "by" and unit.weekdays):
                return [_related(scan, at, unit, relation)]
    if word in LEADS:
        lead = 2 if word in FIRM or joined else 1
        found = _range(scan, at, at + 1, lead, compares=compares) or _one(scan, at, at + 1, lead, joined)
        if found is not None:
            return [_onward(scan, found) if word == "from" else found]
        return []
    lead = 2 if joined else 0
    if unit_at(scan, at, lead, joined=joined is not None) is None and scan.at(at).kind == "word" and word != "the":
        return []
    single = _range(scan, at, at, lead, compares=compares) or _one(scan, at, at, lead, joined)
    return [] if single is None else [single]


def _one(scan: Scan, start: int, at: int, lead: Lead, joined: _Found | None) -> _Found | None:
    unit = unit_at(scan, at, lead, joined=joined is not None and joined.kind == "year")
    return None if unit is None else _related(scan, start, unit, "in")


def _related(scan: Scan, start: int, unit: Unit, relation: Relation) -> _Found:
    change: Callable[[Stretch], Days] = {
        "in": lambda days: days,
        "since": lambda days: (days[0], None),
        "after": lambda days: (moved(days[1], 1), None),
        "before": lambda days: (None, moved(days[0], -1)),
        "until": lambda days: (None, days[1]),
    }[relation]
    days = scan.days(unit, closing=relation in ("until", "before"))
    if unit.weekdays:
        return _Found(start, unit.end, days, unit.weekdays)
    changed = tuple(each for each in map(change, days) if each != (None, None))
    return _Found(start, unit.end, changed, kind=unit.kind)


def _onward(scan: Scan, found: _Found) -> _Found:
    """``from April 20 on``, ``from April to now``."""
    word, behind = scan.at(found.end).word, scan.at(found.end + 1)
    open_end = word in _ONWARD or (word == "on" and (behind.kind in ("sign", "gap") or behind.word in _BEHIND_ON))
    until_now = word in ("to", "until", "till", "through") and behind.word in _NOW
    if not (open_end or until_now) or found.weekdays:
        return found
    last = scan.today if until_now else None
    days: tuple[Days, ...] = tuple((first, last) for first, _ in found.days if last is None or (first and first <= last))
    return replace(found, end=found.end + 1 + until_now, days=days)


def _both(scan: Scan, at: int) -> list[_Found]:
    """``before or after April 20``: what lies before and what lies after."""
    other = {"before": "after", "after": "before"}[scan.at(at).word]
    if scan.at(at + 1).word not in JOINTS or not scan.says(at + 2, other):
        return []
    unit = unit_at(scan, at + 3, 2)
    if unit is None or unit.weekdays:
        return []
    first, second = (_related(scan, at, unit, "before"), _related(scan, at + 2, unit, "after"))
    if other == "before":
        first, second = replace(first, days=second.days), replace(second, days=first.days)
    return [replace(first, end=at + 1), second]


# --- from one to another ----------------------------------------------------------------------------------------------


def _range(scan: Scan, start: int, at: int, lead: Lead, *, compares: bool, between: bool = False) -> _Found | None:
    """``April 21 to 26``, ``between the 21st and the 26th of April``; None where two periods are set side by side."""
    if compares and (between or start == at or scan.at(start).word not in ("from", "in", "over", "during", "for")):
        return None
    left = unit_at(scan, at, lead)
    if left is not None and left.weekdays:
        return None
    number = day_number(scan, at) if left is None or left.kind == "day" else None
    left_end = left.end if left is not None else number[1] if number else 0
    behind = _connected(scan, left_end, between) if left_end else None
    if behind is None:
        return None
    right = unit_at(scan, behind + (scan.at(behind).word in ("in", "on", "from")), 2)
    if left is None:
        if number is None or right is None or right.kind != "day" or not right.month:
            return None
        left = day_unit(scan, right.month, number[0], len(scan.tokens))
    elif left.month and (right is None or not right.month):
        bare = day_number(scan, behind)
        if bare is not None and right is None and scan.at(bare[1]).word not in MEASURES:
            right = day_unit(scan, left.month, bare[0], bare[1])
    if (
        right is None
        or right.weekdays
        or (
            (right.kind == "day") != (left.kind == "day")
            and "other" not in (left.kind, right.kind)
            and not between
            and scan.at(start).word != "from"
        )
    ):
        return None
    joined = _joined(left, right)
    if joined is None:
        joined = _fixed_range(scan, left, right)
    return _related(scan, start, joined, "in")


def _connected(scan: Scan, at: int, between: bool) -> int | None:
    """The token behind ``to`` (``and``, between two)."""
    if between:
        at += scan.says(at, ",")
        return at + 1 if scan.at(at).word in ("and", "to", "-", "&") else None
    if scan.at(at).word not in _TO_FIRST:
        return None
    return next((at + len(words) for words in _TO if scan.says(at, *words)), None)


def _joined(left: Unit, right: Unit) -> Unit | None:
    """From one unit to another where a year decides both; None where either is a stretch by itself."""
    if not (left.floating or right.floating):
        if left.makes and left.kind == "day" and right.kind == "day" and max(len(left.makes), len(right.makes)) > 1:
            return Unit(right.end, tuple(_both_told(*pair, left.year, right.year) for pair in _pairs(left, right)), "day")
        return None
    if left.floating and right.floating:
        return replace(right, makes=tuple(_span(*pair) for pair in _pairs(left, right)), kind="other")
    told = right if left.floating else left
    if told.year == 1:
        return None
    if left.floating:
        return Unit(right.end, tuple(_span(*pair) for pair in _pairs(left, right)), year=right.year)
    return Unit(right.end, tuple(_span_from(*pair) for pair in _pairs(left, right)), year=left.year)


def _pairs(left: Unit, right: Unit) -> list[tuple[Make, Make]]:
    """Their readings in the same order of day and month."""
    count = max(len(left.makes), len(right.makes))
    one = left.makes if len(left.makes) == count else left.makes[:1] * count
    two = right.makes if len(right.makes) == count else right.makes[:1] * count
    return list(zip(one, two, strict=True))


def _ordered(one: Stretch | None, two: Stretch | None) -> Stretch | None:
    if one is None or two is None:
        return None
    return (min(one[0], two[0]), max(one[1], two[1]))


def _both_told(left: Make, right: Make, one: int, two: int) -> Make:
    return lambda _: _ordered(left(one), right(two))


def _span(left: Make, right: Make) -> Make:
    """By the year of its end; it begins the year before where its beginning would come later in the same one."""

    def make(year: int) -> Stretch | None:
        one, two = left(year), right(year)
        if one is not None and two is not None and one[0] > two[1] and one[0].month != two[0].month:
            one = left(year - 1)
        return _ordered(one, two)

    return make


def _span_from(left: Make, right: Make) -> Make:
    """By the year of its beginning."""

    def make(year: int) -> Stretch | None:
        one, two = left(year), right(year)
        if one is not None and two is not None and one[0] > two[1] and one[0].month != two[0].month:
            two = right(year + 1)
        return _ordered(one, two)

    return make


def _fixed_range(scan: Scan, left: Unit, right: Unit) -> Unit:
    one, two = scan.days(left), scan.days(right, closing=True)
    if one and two and left.repeats and one[0] > two[0]:
        return fixed(right.end, stretch(moved(one[0][0], -7), two[0][1]))
    return fixed(right.end, _ordered(one[0], two[0]) if one and two else None)
