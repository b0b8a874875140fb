"""Stretches of days by name: ``last week``, ``the end of May``, ``two weeks ago``, ``Christmas``, ``on Mondays``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import date

from operators.ask.rules import calendar
from operators.ask.rules.calendar import Stretch, moved, stretch
from operators.ask.rules.time_dates import (
    Lead,
    Scan,
    Unit,
    bare_year,
    day_maker,
    fixed,
    from_month,
    from_number,
    in_digits,
    told_year,
)
from operators.ask.rules.time_near import (
    LAST,
    MOST_DAYS,
    NEXT,
    TIMES,
    about_records,
    around,
    counted,
    one_unit,
    so_far,
    stepped,
    stepped_name,
    stepped_weekday,
    to_date,
    today_or_near,
    up_to_now,
)
from operators.ask.rules.time_words import (
    COUNTS,
    MONTHS,
    SEASONS,
    SPELLED_ORDINALS,
    UNITS,
    WEEKDAY_GROUPS,
    WEEKDAY_PLURALS,
    WEEKDAYS,
)  # fmt: skip

_PARTS = {"early": 0, "mid": 1, "middle": 1, "late": 2, "beginning": 0, "start": 0, "end": 2}
_WHICH = frozenset((*LAST, *NEXT, "this", "current"))
_DEEPEST = 3
_WHOLE = frozenset(("the", "all", "whole", "entire", "full"))


def unit_at(scan: Scan, place: int, lead: Lead, *, joined: bool = False) -> Unit | None:
    """The stretch of days that is named from a token on; None where none is. One without readings is not in the calendar."""
    start = place
    while scan.at(place).word in _WHOLE and place - start < 4:
        place += 1
    place += scan.says(place, "of") and place > start
    after_the = scan.at(place - 1).word == "the" and place > start
    if (scan.says(place, "month", "of") or scan.says(place, "year")) and place > start:
        named = _inner(scan, place + (2 if scan.says(place, "month") else 1 + scan.says(place + 1, "of")), 2)
        if named is not None and named.kind in ("month", "year"):
            return named
    token = scan.at(place)
    if token.kind in ("number", "ordinal"):
        counted = _counted(scan, place, lead, the=after_the)
        found = counted or from_number(scan, place, lead, after_the) or bare_year(scan, place, lead, joined)
        return found or _ordinal(scan, place)
    if token.kind != "word":
        return in_digits(scan, place, lead) if token.kind not in ("sign", "dash", "gap") else None
    if token.word in MONTHS:
        return from_month(scan, place, lead)
    return _by_name(scan, place, lead, after_the)


def _inner(scan: Scan, place: int, lead: Lead) -> Unit | None:
    """What another unit is made of; a few of them within each other at most."""
    return None if scan.depth >= _DEEPEST else unit_at(replace(scan, depth=scan.depth + 1), place, lead)


def _by_name(scan: Scan, place: int, lead: Lead, the: bool) -> Unit | None:
    word = scan.at(place).word
    if word in _WHICH or word in ("most", "so"):
        return _ordinal(scan, place) or _which(scan, place, the)
    if word in WEEKDAYS or word in WEEKDAY_PLURALS or word in WEEKDAY_GROUPS or word in ("every", "each", "any"):
        return _weekday(scan, place, lead, the)
    readers: dict[str, Callable[[], Unit | None]] = {
        **dict.fromkeys(SPELLED_ORDINALS, lambda: _ordinal(scan, place) or _first_of(scan, place)),
        **dict.fromkeys(_PARTS, lambda: _part(scan, place, lead)),
        **dict.fromkeys(SEASONS, lambda: _season(scan, place, lead)),
    } if word in SPELLED_ORDINALS or word in _PARTS or word in SEASONS else {}  # fmt: skip
    if word in readers:
        return readers[word]()
    if word in ("week", "day", "weekend", "month", "year", "ytd", "mtd", "wtd"):
        return _beside(scan, place, lead, the) or to_date(scan, place)
    if word in COUNTS:
        return _counted(scan, place, lead, the=the) or _a_weekday(scan, place)
    return today_or_near(scan, place) or _holiday(scan, place, lead) or _quarter(scan, place)


# --- days near today --------------------------------------------------------------------------------------------------


def _which(scan: Scan, place: int, the: bool) -> Unit | None:
    """``last ..``, ``this ..``, ``next ..``: a weekday, month, season, week, or so many of them."""
    if scan.says(place, "so", "far", "this"):
        return so_far(scan, place + 2)
    place += scan.says(place, "most")
    place += scan.says(place, "this") and scan.at(place + 1).word in LAST
    which, at = scan.at(place).word, place + 1
    if which not in _WHICH:
        return None
    step = -1 if which in LAST else 1 if which in NEXT else 0
    word = scan.at(at).word
    if step == 0 and word in TIMES:
        return fixed(at + 1, around(scan, 0), "day")
    if step == -1 and word == "night":
        return fixed(at + 1, around(scan, -1), "day")
    if word in WEEKDAYS:
        return fixed(at + 1 + (scan.at(at + 1).word in TIMES), stepped_weekday(scan, WEEKDAYS[word], step), "day")
    if word in MONTHS or word in SEASONS or word in ("christmas", "halloween"):
        named = _inner(scan, at, 2)
        return None if named is None else stepped_name(scan, named, step) if named.floating else named
    count, at = counted(scan, at)
    unit = UNITS.get(scan.at(at).word)
    if unit is None or about_records(scan, at + 1):
        return None
    if count is None:
        rolling = which in ("past", "recent") or (which == "last" and the)
        return one_unit(scan, at, unit, step, rolling=rolling)
    return None if step == 0 else up_to_now(scan, at + 1, unit, count * step)


def _counted(scan: Scan, place: int, lead: Lead, *, the: bool) -> Unit | None:
    """``two weeks ago``, ``3 days before Christmas``."""
    count, at = counted(scan, place)
    unit = UNITS.get(scan.at(at).word)
    if count is None or unit is None:
        return None
    if scan.says(at + 1, "ago") or scan.says(at + 1, "earlier"):
        return fixed(at + 2, stepped(scan, unit, -count), "day" if unit == "day" else "other")
    return _next_to(
        scan, at, unit, count, stretching=the or (lead > 0 and scan.at(place - 1).word not in ("on", "at", "from"))
    )


def _beside(scan: Scan, place: int, lead: Lead, the: bool) -> Unit | None:
    """``the week of April 18``, ``the week before last``, ``the day before yesterday``, ``the week after Christmas``."""
    word, at = scan.at(place).word, place + 1
    unit = UNITS.get(word)
    if unit is None or not (the or lead):
        return None
    if scan.says(at, "before", "last"):
        return fixed(at + 2, stepped(scan, unit, -2))
    if scan.says(at, "before", "yesterday") or scan.says(at, "after", "tomorrow"):
        return fixed(at + 2, around(scan, -2 if scan.says(at, "before") else 2), "day") if unit == "day" else None
    how = scan.at(at).word
    if unit == "week" and how in ("of", "beginning", "starting", "commencing", "ending", "around"):
        day = _inner(scan, at + 1 + (scan.at(at + 1).word == "on"), 2)
        if day is None or day.kind not in ("day", "other"):
            return None
        if how in ("of", "around"):
            return day.mapped(lambda days: calendar.week_of(days[0]))
        shift = -6 if how == "ending" else 6
        return day.mapped(lambda days: _spanned(days, shift))
    return _next_to(scan, place, unit, 1, stretching=True)


def _spanned(days: Stretch, shift: int) -> Stretch | None:
    if shift < 0:
        return stretch(moved(days[1], shift), days[1])
    return stretch(days[0], moved(days[0], shift))


def _next_to(scan: Scan, at: int, unit: str, count: int, *, stretching: bool) -> Unit | None:
    """So many days or weeks beside a day: the stretch of them, or the day that far away."""
    how = scan.at(at + 1).word
    how = "before" if scan.says(at + 1, "prior", "to") else how
    length = {"day": 1, "week": 7, "fortnight": 14, "month": 30}.get(unit)
    if how not in ("before", "after", "following") or length is None:
        return None
    base = _inner(scan, at + 2 + scan.says(at + 1, "prior", "to"), 2)
    if base is None or base.weekdays:
        return None
    far = length * count
    if far > MOST_DAYS:
        return fixed(base.end, None)

    def before(days: Stretch) -> Stretch | None:
        first = moved(days[0], -far)
        return stretch(first, moved(days[0], -1) if stretching else first)

    def after(days: Stretch) -> Stretch | None:
        last = moved(days[1], far)
        return stretch(moved(days[1], 1) if stretching else last, last)

    return base.mapped(before if how == "before" else after)


# --- weekdays ---------------------------------------------------------------------------------------------------------


def _a_weekday(scan: Scan, place: int) -> Unit | None:
    """``on a Monday``: any."""
    word = scan.at(place + 1).word
    if scan.at(place).word != "a" or not ((word in WEEKDAYS and len(word) > 5) or word in WEEKDAY_GROUPS):
        return None
    return _set(place + 2, WEEKDAY_GROUPS.get(word) or frozenset((WEEKDAYS[word],)))


def _set(end: int, weekdays: frozenset[int]) -> Unit:
    return Unit(end, (lambda _: (date.min, date.max),), weekdays=weekdays)


def _weekday(scan: Scan, place: int, lead: Lead, the: bool) -> Unit | None:
    word, before = scan.at(place).word, scan.at(place - 1).word
    if word in ("every", "each", "any"):
        named = scan.at(place + 1).word
        days = WEEKDAY_GROUPS.get(named) or (frozenset((WEEKDAYS[named],)) if named in WEEKDAYS and len(named) > 5 else None)
        return _set(place + 2, days) if days else None
    if before in ("black", "good", "ash", "cyber", "tgi", "tgif", "which", "what", "by", "per"):
        return None
    if word in WEEKDAY_PLURALS:
        return _weekdays(scan, place)
    if word in WEEKDAY_GROUPS:
        if the and word == "weekend":
            weekend = calendar.weekend_of(scan.today, 0 if scan.today.weekday() >= 5 else -1)
            return fixed(place + 1, weekend) if lead else None
        return None if the else _set(place + 1, WEEKDAY_GROUPS[word])
    number, end = WEEKDAYS[word], place + 1
    if (
        len(word) < 6
        and before not in _BEFORE_SHORT
        and not (scan.at(end).word in MONTHS or scan.at(end + 1).word in MONTHS)
    ):
        return None
    date_at = end + (scan.at(end).word in (",", "."))
    named_day = (
        _inner(scan, date_at, 1) if scan.at(date_at).kind != "word" or scan.at(date_at).word in (*MONTHS, "the") else None
    )
    if named_day is not None and named_day.kind == "day":
        return named_day
    end += scan.at(end).word in TIMES
    if scan.at(end - 1).word in ("nights", "mornings", "evenings", "afternoons"):
        return _set(end, frozenset((number,)))
    at = end + scan.says(end, "of")
    if scan.at(at).word in ("last", "this", "next", "previous") and scan.says(at + 1, "week"):
        week = _which(scan, at, False)
        return week and replace(week.mapped(lambda days: calendar.nth_weekday(days, number, 1)), kind="day")
    if the and not lead:
        return None
    return replace(fixed(end, around(scan, -((scan.today.weekday() - number) % 7)), "day"), repeats=True)


_BEFORE_SHORT = frozenset(("on", "since", "until", "till", "before", "after", "through", "from", "to", "and"))


def _weekdays(scan: Scan, place: int) -> Unit:
    """``Mondays``, ``Mondays, Wednesdays and Fridays``, ``Mondays to Fridays``."""
    days, end = WEEKDAY_PLURALS[scan.at(place).word], place + 1
    if scan.at(end).word in ("to", "through", "-") and scan.at(end + 1).word in WEEKDAY_PLURALS and len(days) == 1:
        first, last = min(days), min(WEEKDAY_PLURALS[scan.at(end + 1).word])
        return _set(end + 2, frozenset((first + step) % 7 for step in range((last - first) % 7 + 1)))
    while scan.at(end).word in (",", "and", "&"):
        behind = end + 1 + (scan.at(end + 1).word in ("and", "on"))
        if scan.at(behind).word not in WEEKDAY_PLURALS:
            break
        days, end = days | WEEKDAY_PLURALS[scan.at(behind).word], behind + 1
    return _set(end, days)


# --- parts of a stretch -----------------------------------------------------------------------------------------------


def _whole(scan: Scan, at: int) -> Unit | None:
    """What a part is of: ``May``, ``2016``, ``the month`` (this one)."""
    unit = UNITS.get(scan.at(at + 1).word)
    if scan.says(at, "the") and unit in ("week", "month", "quarter", "year") and not scan.says(at + 2, "of"):
        return fixed(at + 2, stepped(scan, unit, 0), "month" if unit == "month" else "other")
    found = _inner(scan, at, 2)
    return found if found is not None and found.kind != "day" and not found.weekdays else None


def _part(scan: Scan, place: int, lead: Lead) -> Unit | None:
    word, at = scan.at(place).word, place + 1
    number = _PARTS[word]
    if word in ("early", "late", "mid"):
        at += scan.at(at).kind == "dash"
        named = scan.at(at).word in MONTHS or scan.at(at).word in SEASONS or scan.at(at).kind == "number"
        whole = _whole(scan, at) if lead or named else None
    else:
        whole = _whole(scan, at + 1) if scan.at(at).word == "of" else None
    return None if whole is None else replace(whole.mapped(lambda days: calendar.third(days, number)), whole=whole.makes)


def _first_of(scan: Scan, place: int) -> Unit | None:
    """``the first of April``."""
    token = scan.at(place)
    if not scan.says(place + 1, "of") or scan.at(place + 2).word not in MONTHS:
        return None
    return from_number(scan, place, 1, False) if token.number > 0 else None


def _ordinal(scan: Scan, place: int) -> Unit | None:
    """``first week of May``, ``last 3 days of April``, ``second half of 2016``, ``the third Friday in April``."""
    token, at = scan.at(place), place + 1
    number = -1 if token.word in ("last", "final") else token.number if token.kind != "number" else 0
    if number == 0 or number < -1 or number > 31 or (number == -1 and token.word not in ("last", "final")):
        return None
    count, at = counted(scan, at) if number in (1, -1) else (None, at)
    word = scan.at(at).word
    if scan.at(at + 1).word not in ("of", "in") and not (word == "quarter" and told_year(scan, at + 1)[0]):
        return None
    unit = UNITS.get(word)
    change = _change(word, unit, number, count)
    whole = None if change is None else _whole(scan, at + 1 + (scan.at(at + 1).word in ("of", "in")))
    if whole is None or change is None or (word == "quarter" and whole.kind != "year"):
        return None
    found = whole.mapped(change)
    return replace(found, kind="day") if word == "day" else found


def _change(word: str, unit: str | None, number: int, count: int | None) -> Callable[[Stretch], Stretch | None] | None:
    if count is not None:
        days = {"day": 1, "week": 7, "fortnight": 14}.get(unit or "")
        return None if days is None else lambda whole: calendar.edge_days(whole, number * days * count)
    if word == "half":
        return None if number > 2 else lambda whole: calendar.half(whole, 1 if number == 1 else 2)
    if word in WEEKDAYS or unit == "weekend":
        return lambda whole: _weekday_in(whole, 5 if unit == "weekend" else WEEKDAYS[word], number, unit == "weekend")
    if unit == "week":
        return lambda whole: calendar.ordinal_week(whole, number)
    if unit == "quarter" and number <= 4:
        return lambda whole: calendar.months(whole[0].year, 3 * (number if number > 0 else 4) - 2, 3)
    if word in ("day", "night"):
        return lambda whole: _nth_day(whole, number)
    return None


def _weekday_in(whole: Stretch, weekday: int, number: int, weekend: bool) -> Stretch | None:
    found = calendar.nth_weekday(whole, weekday, number)
    return found if found is None or not weekend else stretch(found[0], moved(found[0], 1))


def _nth_day(whole: Stretch, number: int) -> Stretch | None:
    day = whole[1] if number < 0 else moved(whole[0], number - 1)
    return stretch(day, day) if day is not None and day <= whole[1] else None


def _quarter(scan: Scan, place: int) -> Unit | None:
    word = scan.at(place).word
    if len(word) != 2 or word[0] not in "qh" or not word[1].isdecimal():
        return None
    length = 3 if word[0] == "q" else 6
    year, end = told_year(scan, place + 1)
    month = length * int(word[1]) - length + 1
    return Unit(end, (lambda y: calendar.months(y, month, length),), year=year or 1, floating=year is None)


def _season(scan: Scan, place: int, lead: Lead) -> Unit | None:
    number = SEASONS[scan.at(place).word]
    year, end = told_year(scan, place + 1)
    before = scan.at(place - 1 - scan.says(place - 1, "the")).word
    if year is None and not (lead == 2 and before not in ("of", "for", "from", "before", "after", "within", "across")):
        return None
    makes = [lambda y: calendar.season(y, number)]
    if number == 3 and year is not None:
        makes.append(lambda y: calendar.season(y + 1, number))
    return Unit(end, tuple(makes), year=year or 1, floating=year is None)


_HOLIDAYS: tuple[tuple[tuple[str, ...], int, int], ...] = (
    (("christmas", "eve"), 12, 24), (("xmas", "eve"), 12, 24), (("christmas", "day"), 12, 25), (("christmas",), 12, 25),
    (("xmas",), 12, 25), (("boxing", "day"), 12, 26), (("new", "year", "eve"), 12, 31), (("new", "years", "eve"), 12, 31),
    (("new", "year", "day"), 1, 1), (("new", "years", "day"), 1, 1), (("new", "year"), 1, 1), (("halloween",), 10, 31),
    (("valentine", "day"), 2, 14), (("valentines", "day"), 2, 14),
)  # fmt: skip


def _holiday(scan: Scan, place: int, lead: Lead) -> Unit | None:
    for words, month, day in _HOLIDAYS:
        if scan.says(place, *words):
            year, end = told_year(scan, place + len(words))
            if len(words) == 1 or words[-1] != "year" or year is not None or lead == 2:
                return Unit(end, (day_maker(month, day),), "day", year or 1, year is None)
    return None
