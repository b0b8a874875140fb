"""Times as people and machines write them, turned into instants. Nothing here knows "now"."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta
from difflib import get_close_matches
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError, available_timezones

from operators.errors import SourceError, UsageError
from operators.records import Instant, TimePrecision

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

_ISO = re.compile(
    r"(\d{4})([-/.])(\d{1,2})\2(\d{1,2})(?:\s*\([A-Za-z]{2,9}\))?"
    r"(?:(?:[Tt]|\s+)(\d{1,2}):(\d{2})(?::(\d{2})(?:[.,](\d+))?)?\s*(Z|z|UTC|[+-]\d{2}(?::?\d{2})?)?)?",
    re.ASCII,
)
_SPOKEN = re.compile(
    r"(\d{1,2}):(\d{2})\s*([ap])\.?m\.?\s+on\s+(\d{1,2})\s+([A-Za-z]{3,9}),?\s+(\d{4})", re.ASCII | re.IGNORECASE
)
_NAMED = re.compile(
    r"(?:[A-Za-z]{3,9},?\s+)?(?:(\d{1,2})\s+([A-Za-z]{3,9})|([A-Za-z]{3,9})\s+(\d{1,2})),?\s+(\d{4})"
    r"(?:(?:,|\s+at)?\s+(\d{1,2}):(\d{2})(?::(\d{2}))?(?:\s*([ap])\.?m\.?)?(?:\s*(Z|GMT|UTC|[+-]\d{2}:?\d{2})(?:\s*\([A-Za-z]{1,5}\))?)?)?",
    re.ASCII | re.IGNORECASE,
)
"""A day with its month by name, which cannot be mistaken for another, and a time after it; RFC 2822 too."""
_EPOCH_TEXT = re.compile(r"\d{10}(?:\.\d+)?|\d{13}|\d{16}|\d{19}", re.ASCII)
_NARROW_SPACES = str.maketrans("\u00a0\u2009\u202f", "   ")
"""Spaces that programs put before am and pm."""
_BASIC = re.compile(r"\d{8}|\d{8}[Tt]\d{4}(\d{2})?(Z|z|[+-]\d{2}(?::?\d{2})?)?", re.ASCII)
_MONTHS = (
    "january", "february", "march", "april", "may", "june",
    "july", "august", "september", "october", "november", "december",
)  # fmt: skip


def zone_of(name: str | None) -> ZoneInfo | None:
    """The IANA zone of this name, None for None. UsageError, with near names, where there is none."""
    if name is None:
        return None
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        near = get_close_matches(name, sorted(available_timezones()), n=3)
        hint = f"; did you mean {', '.join(near)}?" if near else "; give an IANA name such as Europe/Berlin"
        raise UsageError(f"unknown time zone {name!r}{hint}") from error


def parse_time(value: object, zone: ZoneInfo | None) -> Instant:
    """The instant a source's value tells; SourceError ``bad-time`` where it cannot be told.

    Text: ISO 8601 (``2024-05-08``, ``2024-05-08T13:56[:07[.25]]`` with ``Z``, ``+02:00`` or nothing; ``/`` for ``-`` and a
    weekday in brackets are accepted; basic form too), ``1:56 pm on 8 May, 2023``, ``8 May 2023``, ``May 8, 2023 1:56 PM``,
    RFC 2822 (``Wed, 08 May 2024 13:56:07 +0200``), epoch digits (10: seconds, 13: milli-, 16: micro-, 19: nanoseconds).
    Days and months as numbers in another order, and years of two digits, could mean several days: they are not understood.

    Numbers: epoch seconds, milliseconds, micro- or nanoseconds, told apart by magnitude (seconds below 1e11, then a factor
    of 1000 each). Arrow's dates and datetimes.

    A wall time without offset is ``zone``'s, else UTC with offset unknown. ``utc + offset`` is always the wall time as
    written. Where clocks go back the earlier of the two moments is taken; a wall time that clocks skip keeps the offset
    from before the change. Epoch numbers take ``zone``'s offset of that moment, unknown without zone. A date alone is
    the start of its day, precision ``day``.
    """
    if isinstance(value, bool):
        raise _bad("a timestamp cannot be true or false")
    try:
        if isinstance(value, str):
            return _from_text(value.translate(_NARROW_SPACES).strip(), zone)
        if isinstance(value, int | float):
            return _from_epoch(value, zone)
        if isinstance(value, datetime):
            return _from_datetime(value, zone)
        if isinstance(value, date):
            return _from_wall(datetime(value.year, value.month, value.day), None, zone, "day")
    except (OverflowError, ValueError) as error:
        raise _bad("the timestamp is no moment between the years 1 and 9999") from error
    raise _bad(f"a timestamp must be text or a number, not {type(value).__name__}")


def _from_text(text: str, zone: ZoneInfo | None) -> Instant:
    if found := _ISO.fullmatch(text):
        return _from_iso(found, zone)
    if found := _SPOKEN.fullmatch(text):
        return _from_spoken(found, zone)
    if found := _NAMED.fullmatch(text):
        return _from_named(found, zone)
    if _EPOCH_TEXT.fullmatch(text):
        return _from_epoch(float(text) if "." in text else int(text), zone)
    if found := _BASIC.fullmatch(text):
        moment = datetime.fromisoformat(text.upper())
        precision: TimePrecision = "day" if len(text) == 8 else "second" if found[1] else "minute"
        return _from_wall(moment.replace(tzinfo=None), moment.utcoffset(), zone, precision)
    raise _bad("the timestamp is not understood: write ISO 8601, epoch seconds or epoch milliseconds")


def _from_iso(found: re.Match[str], zone: ZoneInfo | None) -> Instant:
    year, _, month, day, hour, minute, second, fraction, offset = found.groups()
    if hour is None:
        return _from_wall(datetime(int(year), int(month), int(day)), None, zone, "day")
    leap = second == "60"
    micro = int(fraction[:6].ljust(6, "0")) if fraction and not leap else 0
    wall = datetime(int(year), int(month), int(day), int(hour), int(minute), 59 if leap else int(second or 0), micro)
    if leap:
        wall += timedelta(seconds=1)
    return _from_wall(wall, _offset(offset), zone, "minute" if second is None else "second")


def _offset(text: str | None) -> timedelta | None:
    if text is None:
        return None
    if text.upper() in ("Z", "UTC"):
        return timedelta(0)
    hours, minutes = int(text[1:3]), int(text[-2:]) if len(text) > 3 else 0
    if hours > 23 or minutes > 59:
        raise ValueError("offset out of range")
    size = timedelta(hours=hours, minutes=minutes)
    return -size if text[0] == "-" else size


def _from_spoken(found: re.Match[str], zone: ZoneInfo | None) -> Instant:
    hour, minute, half, day, month, year = found.groups()
    wall = datetime(int(year), _month(month), int(day), _clock(hour, half), int(minute))
    return _from_wall(wall, None, zone, "minute")


def _from_named(found: re.Match[str], zone: ZoneInfo | None) -> Instant:
    before, named, first, after, year, hour, minute, second, half, offset = found.groups()
    wall = datetime(int(year), _month(named or first), int(before or after))
    if hour is None:
        return _from_wall(wall, None, zone, "day")
    wall = wall.replace(hour=_clock(hour, half), minute=int(minute), second=int(second or 0))
    told = _offset("Z" if offset and offset.upper() == "GMT" else offset)
    return _from_wall(wall, told, zone, "minute" if second is None else "second")


def _clock(hour: str, half: str | None) -> int:
    """The hour of the day, of an hour before or after noon where ``half`` (a or p) tells one; ValueError."""
    if half is None:
        return int(hour)
    if not 1 <= int(hour) <= 12:
        raise ValueError("hour out of range")
    return int(hour) % 12 + (12 if half.lower() == "p" else 0)


def _month(name: str) -> int:
    """1 to 12 for a full English name or its first three letters; ValueError."""
    for number, month in enumerate(_MONTHS, start=1):
        if name.lower() in (month, month[:3]):
            return number
    raise ValueError("not a month")


def _from_epoch(number: int | float, zone: ZoneInfo | None) -> Instant:
    size = abs(number)
    if size < 1e11:
        since = timedelta(seconds=number)
    elif size < 1e14:
        since = timedelta(milliseconds=number)
    elif size < 1e17:
        since = timedelta(microseconds=number)
    else:
        since = timedelta(microseconds=number // 1000)
    return _from_utc(_EPOCH + since, zone)


def _from_datetime(moment: datetime, zone: ZoneInfo | None) -> Instant:
    offset = moment.utcoffset()
    if offset == timedelta(0):
        return _from_utc(moment.replace(tzinfo=UTC), zone)
    return _from_wall(moment.replace(tzinfo=None, fold=0), offset, zone, "second")


def _from_utc(utc: datetime, zone: ZoneInfo | None) -> Instant:
    offset = None if zone is None else _minutes(utc.astimezone(zone).utcoffset())
    return Instant(utc, offset, "second")


def _from_wall(wall: datetime, offset: timedelta | None, zone: ZoneInfo | None, precision: TimePrecision) -> Instant:
    if offset is None and zone is not None:
        offset = zone.utcoffset(wall)
    utc = wall - offset if offset else wall
    return Instant(utc.replace(tzinfo=UTC), _minutes(offset), precision)


def _minutes(offset: timedelta | None) -> int | None:
    return None if offset is None else offset // timedelta(minutes=1)


def _bad(reason: str) -> SourceError:
    return SourceError(reason, code="bad-time")
