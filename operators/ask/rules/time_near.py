"""Stretches of days near today: ``last week``, ``the past 30 days``, ``this month so far``, ``last Friday``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from operators.ask.rules import calendar
from operators.ask.rules.calendar import Stretch, moved, stretch
from operators.ask.rules.time_dates import Scan, Unit, fixed
from operators.ask.rules.time_words import COUNTS, UNITS, WEEKDAYS

LAST = ("last", "past", "previous", "preceding", "prior", "recent")
NEXT = ("next", "coming", "upcoming", "following")
TIMES = frozenset(("morning", "afternoon", "evening", "night", "nights", "mornings", "evenings", "afternoons"))
MOST_DAYS = 36_600


def today_or_near(scan: Scan, place: int) -> Unit | None:
    """``today``, ``yesterday morning``, ``overnight``."""
    word, end = scan.at(place).word, place + 1
    steps = {"today": 0, "tonight": 0, "yesterday": -1, "tomorrow": 1}
    if word in steps:
        end += scan.at(end).word in TIMES
        return fixed(end, around(scan, steps[word]), "day")
    if word == "overnight" and (
        scan.at(end).kind in ("sign", "gap") or scan.at(end).word in ("and", "or", "did", "compared")
    ):
        return fixed(end, around(scan, -1), "day")
    return None


def around(scan: Scan, first: int, last: int | None = None) -> Stretch | None:
    """From so many days after today to so many; one day if the last is not told."""
    return stretch(moved(scan.today, first), moved(scan.today, first if last is None else last))


def about_records(scan: Scan, at: int) -> bool:
    """Whether the days meant are not the calendar's but those with records (``the last 3 days I logged``)."""
    at += scan.says(at, "that") or scan.says(at, "which")
    at += scan.at(at).word in ("i", "we")
    at += scan.at(at).word in ("have", "had", "ve", "did")
    words = ("logged", "log", "recorded", "record", "tracked", "entered", "reported", "noted", "registered", "data", "on")
    return scan.at(at).word in words and not (scan.says(at, "on") and scan.at(at - 1).word not in ("logged", "recorded"))


def counted(scan: Scan, at: int) -> tuple[int | None, int]:
    """A number of units and the token behind it; None: no number."""
    token = scan.at(at)
    if token.kind == "number":
        return token.number, at + 1 + (scan.at(at + 1).kind == "dash")
    if token.word in COUNTS and token.kind == "word":
        at += token.word in ("a", "an") and scan.at(at + 1).word in ("couple", "few")
        return COUNTS[scan.at(at).word], at + 1 + scan.says(at + 1, "of")
    return None, at


def one_unit(scan: Scan, at: int, unit: str, step: int, *, rolling: bool) -> Unit | None:
    """``last week``: the one before this; ``the past week``: the seven days up to today."""
    word, end = scan.at(at).word, at + 1
    if (word.endswith("s") and unit != "hour") or unit in ("day", "hour"):
        return None
    if step == -1 and unit == "fortnight":
        return up_to_now(scan, end, unit, -1)
    if step == -1 and scan.says(end, "before", "last"):
        step, end, rolling = -2, end + 2, False
    if rolling and unit != "weekend":
        return up_to_now(scan, end, unit, -1)
    if step == 0 and (scan.says(end, "so", "far") or scan.says(end, "to", "date")):
        return so_far(scan, at - 1)
    kind = "month" if unit == "month" else "year" if unit == "year" else "other"
    found = fixed(end, stepped(scan, unit, step), kind)  # type: ignore[arg-type]
    weekday = WEEKDAYS.get(scan.at(end).word)
    if unit == "week" and weekday is not None and len(scan.at(end).word) > 5:
        return replace(found.mapped(lambda week: calendar.nth_weekday(week, weekday, 1), end + 1), kind="day")
    return found


def stepped(scan: Scan, unit: str, step: int) -> Stretch | None:
    """The week, month or year of today, or one so many before or after it."""
    today = scan.today
    made: dict[str, Callable[[], Stretch | None]] = {
        "week": lambda: calendar.week_of(today, step),
        "weekend": lambda: calendar.weekend_of(today, step),
        "month": lambda: calendar.months(today.year, today.month + step),
        "quarter": lambda: calendar.quarter_of(today, step),
        "year": lambda: calendar.years(today.year + step),
        "day": lambda: around(scan, step),
        "fortnight": lambda: around(scan, 14 * step),
    }
    return made[unit]() if unit in made and abs(step) < MOST_DAYS else None


def so_far(scan: Scan, place: int) -> Unit | None:
    """``this month so far``: up to today."""
    unit = UNITS.get(scan.at(place + 1).word)
    if unit not in ("week", "month", "quarter", "year"):
        return None
    end = place + 2
    end += 2 if scan.says(end, "so", "far") or scan.says(end, "to", "date") else 0
    return fixed(end, _up_to_today(scan, unit))


def _up_to_today(scan: Scan, unit: str) -> Stretch | None:
    whole = stepped(scan, unit, 0)
    return None if whole is None else stretch(whole[0], scan.today)


def to_date(scan: Scan, place: int) -> Unit | None:
    """``year to date``, ``ytd``."""
    word = scan.at(place).word
    short = {"ytd": "year", "mtd": "month", "wtd": "week"}
    if word in short:
        return fixed(place + 1, _up_to_today(scan, short[word]))
    if scan.says(place + 1, "to", "date") and word in ("week", "month", "year"):
        return fixed(place + 3, _up_to_today(scan, word))
    return None


def up_to_now(scan: Scan, end: int, unit: str, count: int) -> Unit:
    """So many units up to today, or from tomorrow on."""
    number = abs(count)
    if not 0 < number <= MOST_DAYS:
        return fixed(end, None)
    if unit == "weekend":
        weekend = calendar.weekend_of(scan.today, -number if count < 0 else number)
        edge = calendar.weekend_of(scan.today, -1 if count < 0 else 1)
        whole = None if weekend is None or edge is None else (min(weekend[0], edge[0]), max(weekend[1], edge[1]))
        return replace(fixed(end, whole), weekdays=frozenset((5, 6)))
    if unit == "hour":
        return fixed(end, around(scan, number // -24, 0) if count < 0 else around(scan, 0, -(number // -24)))
    days = {"day": 1, "week": 7, "fortnight": 14}.get(unit)
    if days is not None:
        return fixed(end, around(scan, 1 - days * number, 0) if count < 0 else around(scan, 1, days * number))
    many = number * {"month": 1, "quarter": 3, "year": 12}[unit]
    edge_day = calendar.months_back(scan.today, many if count < 0 else -many)
    if edge_day is None:
        return fixed(end, None)
    return fixed(end, stretch(moved(edge_day, 1), scan.today) if count < 0 else stretch(moved(scan.today, 1), edge_day))


def stepped_weekday(scan: Scan, weekday: int, step: int) -> Stretch | None:
    """``last Friday``: before today; ``this Friday``: of this week; ``next Friday``: after today."""
    back = (scan.today.weekday() - weekday) % 7
    if step == 0:
        return around(scan, weekday - scan.today.weekday())
    return around(scan, -(back or 7) if step < 0 else 7 - back)


def stepped_name(scan: Scan, named: Unit, step: int) -> Unit:
    """``last April``: the latest that is over; ``this April``: of this year; ``next April``: the first to come."""
    today = scan.today
    made = [each for y in range(today.year - 2, today.year + 3) if 1 <= y <= 9999 and (each := named.makes[0](y))]
    if step < 0:
        found = max((each for each in made if each[1] < today), default=None)
    elif step > 0:
        found = min((each for each in made if each[0] > today), default=None)
    else:
        now = [each for each in made if each[0] <= today <= each[1]]
        found = now[0] if now else named.makes[0](today.year)
    return fixed(named.end, found, "month" if named.kind == "month" else "other")
