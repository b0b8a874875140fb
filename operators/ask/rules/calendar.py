"""Stretches of days: weeks, months, quarters, seasons, parts of them, and which year is meant where none is told."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import date, timedelta

Stretch = tuple[date, date]
"""The first and the last day."""

Make = Callable[[int], Stretch | None]
"""The stretch that a name without a year (``April 17``) means in a year; None where that year has none."""

_LEAP_CYCLE = 8
"""The most years from one 29 February to the next."""


def day_or_none(year: int, month: int, day: int) -> date | None:
    """That day, None where the calendar has none."""
    try:
        return date(year, month, day)
    except ValueError:
        return None


def moved(day: date, days: int) -> date | None:
    """The day so many days on, None behind the ends of the calendar."""
    try:
        return day + timedelta(days=days)
    except OverflowError:
        return None


def stretch(first: date | None, last: date | None) -> Stretch | None:
    """From one day to another, None if either is none or they are in the wrong order."""
    return (first, last) if first is not None and last is not None and first <= last else None


def months(year: int, month: int, count: int = 1) -> Stretch | None:
    """So many whole months from a month on; ``month`` may lie outside 1 to 12 and counts into other years."""
    first_year, first = divmod(year * 12 + month - 1, 12)
    last_year, behind = divmod(year * 12 + month - 1 + count, 12)
    begins, ends = day_or_none(first_year, first + 1, 1), day_or_none(last_year, behind + 1, 1)
    if (last_year, behind) == (10_000, 0):
        return stretch(begins, date.max)
    return stretch(begins, moved(ends, -1) if ends is not None else None)


def years(year: int) -> Stretch | None:
    """A whole year."""
    return months(year, 1, 12)


def quarter_of(day: date, step: int = 0) -> Stretch | None:
    """The quarter of a day, or one so many before or after it."""
    return months(day.year, (day.month - 1) // 3 * 3 + 1 + 3 * step, 3)


def week_of(day: date, step: int = 0) -> Stretch | None:
    """Monday to Sunday around a day, or so many weeks before or after it."""
    monday = moved(day, 7 * step - day.weekday())
    return None if monday is None else stretch(monday, moved(monday, 6))


def iso_week(year: int, number: int) -> Stretch | None:
    """A week by its number (ISO 8601)."""
    try:
        monday = date.fromisocalendar(year, number, 1)
    except ValueError:
        return None
    return stretch(monday, moved(monday, 6))


def weekend_of(day: date, step: int = 0) -> Stretch | None:
    """Saturday and Sunday of the week of a day, or so many weeks before or after it."""
    week = week_of(day, step)
    return None if week is None else (week[0] + timedelta(days=5), week[1])


def season(year: int, number: int) -> Stretch | None:
    """A meteorological season of the northern half of the earth: 0 spring (March to May) to 3 winter.

    The winter of a year is the one that ends in it.
    """
    return months(year, 3 * number + 3, 3) if number < 3 else months(year, 0, 3)


def months_back(day: date, count: int) -> date | None:
    """The same day of the month so many months before (after, if negative), the month's last if it has no such day."""
    month = months(day.year, day.month - count)
    return None if month is None else month[0].replace(day=min(day.day, month[1].day))


def ordinal_week(whole: Stretch, number: int) -> Stretch | None:
    """The so-manieth seven days of a stretch, the last seven if -1; the fifth of a month is what is left of it."""
    first, last = whole
    if number < 0:
        return stretch(max(first, last - timedelta(days=6)), last)
    begins = moved(first, 7 * (number - 1))
    ends = None if begins is None else moved(begins, 6)
    return stretch(begins, None if ends is None else min(last, ends))


def edge_days(whole: Stretch, count: int) -> Stretch | None:
    """The first so many days of a stretch, the last ones if negative; None if it has fewer."""
    first, last = whole
    if not 0 < abs(count) <= (last - first).days + 1:
        return None
    return (first, first + timedelta(days=count - 1)) if count > 0 else (last + timedelta(days=count + 1), last)


def nth_weekday(whole: Stretch, weekday: int, number: int) -> Stretch | None:
    """The so-manieth such weekday of a stretch, the last if -1; None if it has fewer."""
    first, last = whole
    if number < 0:
        day = moved(last, -((last.weekday() - weekday) % 7))
    else:
        day = moved(first, (weekday - first.weekday()) % 7 + 7 * (number - 1))
    return stretch(day, day) if day is not None and first <= day <= last else None


def half(whole: Stretch, number: int) -> Stretch | None:
    """The first (1) or second (2) half: 1 to 15 and the rest of a month, six months each of a year, else of the days."""
    first, last = whole
    if whole == months(first.year, first.month):
        cut = first.replace(day=15)
    elif whole == years(first.year):
        cut = first.replace(month=6, day=30)
    else:
        cut = first + timedelta(days=(last - first).days // 2)
    return (first, cut) if number == 1 else stretch(moved(cut, 1), last)


def third(whole: Stretch, number: int) -> Stretch | None:
    """The early (0), middle (1) or late (2) part: 1 to 10, 11 to 20 and the rest of a month, four months each of a year."""
    first, last = whole
    if whole == months(first.year, first.month):
        cuts = (first.replace(day=10), first.replace(day=20))
    elif whole == years(first.year):
        cuts = (first.replace(month=4, day=30), first.replace(month=8, day=31))
    else:
        length = (last - first).days + 1
        cuts = (first + timedelta(days=(length + 2) // 3 - 1), first + timedelta(days=(2 * length + 1) // 3 - 1))
    begins = (first, moved(cuts[0], 1), moved(cuts[1], 1))[number]
    return stretch(begins, (*cuts, last)[number])


def latest_year(make: Make, today: date, known: Stretch | None, *, closing: bool = False) -> int | None:
    """The year that a name without one means: the latest in which it has begun by ``today``, if one can be one that meets
    ``known``. ``closing``: it is where a time ends, so not before all of ``known``, if there is such a year."""
    tried = {today.year + 1 - step for step in range(_LEAP_CYCLE + 2)}
    if known is not None:
        tried |= {known[1].year + 1 - step for step in range(_LEAP_CYCLE + 2)}
    found = {year: made for year in sorted(tried) if 1 <= year <= 9999 and (made := make(year)) is not None}
    begun = [year for year in found if found[year][0] <= today] or list(found)
    meeting = [year for year in begun if meets(found[year], known)]
    if closing and known is not None and not meeting and begun and found[begun[-1]][1] < known[0]:
        meeting = [year for year in found if found[year][0] >= known[0]][:1]
    chosen = meeting or begun
    return chosen[-1] if chosen else None


def meets(days: Stretch, known: Stretch | None) -> bool:
    """Whether two stretches have a day in common."""
    return known is not None and days[0] <= known[1] and known[0] <= days[1]


def in_order(readings: Iterable[Stretch | None], today: date, known: Stretch | None) -> tuple[Stretch, ...]:
    """Different readings, those that meet ``known`` and have begun by ``today`` first."""
    kept = dict.fromkeys(each for each in readings if each is not None)
    return tuple(sorted(kept, key=lambda each: not (each[0] <= today and (known is None or meets(each, known)))))
