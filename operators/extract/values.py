"""Values: what a piece of text says as a number with its unit, money, a date, a time, yes or no; or that it says nothing."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import date
from itertools import accumulate

from operators.extract.dates import DAY_OR_MONTH, Dated, DayOrder, dates_in, relative_day
from operators.extract.numbers import DECIMAL_OR_THOUSANDS, NUMBER, NUMBER_WORD, Decimal, read_number, read_words
from operators.extract.units import AFTER, BEFORE, CURRENCIES, UNIT_NAMES, UNITS, Kind

APPROXIMATE = "approximate"
RANGE = "range"
NO_DAY = "no-day"


@dataclass(frozen=True)
class Parsed:
    """A value understood. ``number`` is in ``unit`` (a base unit, a currency, ``%``; None: a bare number).

    ``text``: a date (``2024-05-08``), a time (``07:30``), ``true`` or ``false``, a text folded for comparing; None for
    numbers. A ratio is ``number`` of ``unit`` ``/N``. ``doubt``: why it may mean something else.
    """

    kind: Kind
    number: float | None = None
    unit: str | None = None
    text: str | None = None
    doubt: str | None = None


@dataclass(frozen=True)
class Style:
    """How a writer writes, as far as their data show, and the day of the message: what makes two readings one."""

    order: DayOrder | None = None
    decimal: Decimal | None = None
    said: date | None = None


PLAIN = Style()


@dataclass(frozen=True)
class Quantity:
    """A value in a text: where it stands, and its unit as written, in lower case."""

    start: int
    end: int
    parsed: Parsed
    unit_written: str = ""


_MISSING = re.compile(r"(?:n\s?/\s?a|none|null|nil|nan|tba|tbd|unknown|pending|[-_.*?/\\]+|\?+)\.?", re.IGNORECASE)
_YES = {"yes": "true", "true": "true", "no": "false", "false": "false", "y": "true", "on": "true", "off": "false"}

_MAGNITUDES = "thousand|million|mio|billion|mrd|trillion"
_MINUTES = "(?:minutes?|minuten|mins?|m|мин|分钟|分鐘|分)"
_BEGINS = r"(?<![\w.,:/'#-])(?<![\w]\s-)"
_TOKEN = re.compile(
    _BEGINS + r"(?:"
    # 160 lb 4 oz; 5 ft 11 in, 5'11"
    rf"(?P<lb>{NUMBER})\s?(?:lbs?|pounds?)\s(?P<oz>1[0-5]|\d)\s?(?:oz|ounces?)\b|"
    r"(?P<f1>[1-9])\s?(?:ft|feet|foot|')\s?(?P<f2>1[01]|\d)(?:\s?(?:inches|inch|in)\b|\s?\"|''|(?!\w))|"
    # 6 h 12 min, 5h04m, 2 hours and 30 minutes, 1h30
    rf"(?P<h>{NUMBER})\s?-?(?:hours?|hrs?|h|std|stunden|ч|時間|小时|小時)(?:\.(?=\s?\d))?"
    # Behind a comma minutes say that they are: 7 h, 8,000 steps
    rf"(?:(?:\s?,?\s?(?:and\s)?(?=\d\d?\s?-?{_MINUTES})|\s?(?:and\s)?(?=\d\d?(?![.,]?\d)))"
    rf"(?P<hm>[0-5]?\d)(?:\s?-?{_MINUTES})?(?![A-Za-z]))?"
    r"(?:\s?(?P<hs>[0-5]?\d)\s?(?:seconds?|secs?|s))?(?![A-Za-z\d])"
    # 12 min 30 s
    r"|(?P<m>\d{1,3})\s?(?:minutes?|mins?|m)\s?(?:and\s)?(?P<ms>[0-5]?\d)\s?(?:seconds?|secs?|s)(?![A-Za-z\d])"
    # 7:30 am, 19:05; 1:45 h; 5:30 /km
    r"|(?P<c1>\d{1,2}):(?P<c2>[0-5]\d)(?::(?P<c3>[0-5]\d))?"
    r"(?:\s?(?P<cu>[ap]\.?m\b|(?:hours?|hrs?|h|minutes?|mins?|min)\b|/\s?km\b))?(?![\w:])"
    r"|(?P<t1>1[0-2]|[1-9])\s?(?P<tu>[ap]\.?m\b)"
    # 128/84, 8/10, 9 out of 10
    r"|(?P<r1>\d{1,3}(?:\.\d+)?)(?:\s?/\s?|\sout\sof\s)(?P<r2>\d{1,4})(?![\w/.,]\d|[\w/])(?:\s?(?P<ru>mmhg)\b)?"
    # $3.45, 45 euros
    rf"|(?P<cs>-)?(?P<cb>{BEFORE})\s?(?P<cn>{NUMBER})(?P<ck>k|m|bn|\s(?:{_MAGNITUDES})\b)?(?:\s(?:usd|eur|gbp|jpy|cad|aud))?(?![\w]|[.,]\d)"
    rf"|(?P<an>{NUMBER})\s?(?P<ca>{AFTER})(?![\w])"
    # 72.4 kg, 8,412 steps, 64 %, 6ish, 12
    rf"|(?<!\d\s)(?P<s>[+-](?=[\d]))?(?!(?:1[89]|20)\d0s\b)(?P<n>{NUMBER})(?P<k>k(?=\s)|\s(?:{_MAGNITUDES})\b)?(?P<ish>-?ish\b)?"
    rf"(?:\s?-?(?P<u>{UNIT_NAMES})(?![\w/]|\u00b2)|(?!\s\d))(?!\w|[.,]\d|/\d)"
    # seven and a half hours, an hour and a half, half an hour
    rf"|(?P<w>{NUMBER_WORD})\s(?P<wu>{UNIT_NAMES})\b"
    r"|(?P<half>half\san\shour)\b|(?P<hour>an\shour(?P<ahalf>\sand\sa\shalf)?)\b"
    r")",
    re.IGNORECASE,
)  # fmt: skip
_SIGN = r"(?:[$€£¥₹]|rm|usd|eur|gbp)?\s?"
_RANGE = re.compile(
    rf"(?<![\w.,:/-]){_SIGN}{NUMBER}\s?(?:{UNIT_NAMES})?\s?(?:-|to|or)\s?{_SIGN}{NUMBER}(?![\d/:-]|\.\d)"
    rf"|\bbetween\s{_SIGN}{NUMBER}\s?(?:{UNIT_NAMES})?\sand\s{_SIGN}{NUMBER}"
    r"|(?<![\d:])\d{1,2}:\d{2}\s?(?:am|pm)?\s?(?:-|to)\s?\d{1,2}:\d{2}",
    re.IGNORECASE,
)
_ABOUT = re.compile(
    r"(?:~|≈|\b(?:about|around|approx(?:\.|imately)?|roughly|nearly|almost|circa|over|under|some)\s)\s?$", re.I
)


def quantities(text: str, style: Style = PLAIN) -> list[Quantity]:
    """The dates, times and quantities of a ``folded`` text, from left to right; ranges (``30-60 s``) are not among them."""
    found = [Quantity(dated.start, dated.end, dated_as(dated, style)) for dated in dates_in(text)]
    taken = sorted([(each.start, each.end) for each in found] + [match.span() for match in _RANGE.finditer(text)])
    ends = list(accumulate((end for _, end in taken), max))
    starts = [start for start, _ in taken]
    for match in _TOKEN.finditer(text):
        before = bisect_left(starts, match.end())
        if before and ends[before - 1] > match.start():
            continue
        parsed, unit = _read(match, style)
        if _ABOUT.search(text, max(0, match.start() - 16), match.start()) and parsed.doubt is None:
            parsed = replace(parsed, doubt=APPROXIMATE)
        found.append(Quantity(match.start(), match.end(), parsed, unit))
    return sorted(found, key=lambda quantity: quantity.start)


def parse_value(text: str, style: Style = PLAIN) -> Parsed | None:
    """What a ``folded`` value says, read as a whole; None where it says that there is none (``n/a``, ``--``, blank).

    A quantity may be followed by a remark in brackets and by punctuation; what is none of the kinds is text.
    """
    bare = text.strip().strip("*_").strip()
    if not bare or _MISSING.fullmatch(bare):
        return None
    if (answer := _YES.get(bare.rstrip(".!").lower())) is not None:
        return Parsed("bool", text=answer)
    whole = leading_value(bare, style)
    if whole is not None and (moment := _moment(whole, bare, style)):
        return moment
    if whole is not None and not re.sub(r"\(.*\)|[\s.,;!*]+", "", bare[whole.end :]):
        return whole.parsed
    doubt = RANGE if _RANGE.match(bare) else None
    return Parsed("text", text=" ".join(bare.lower().split()), doubt=doubt)


def _moment(day: Quantity, text: str, style: Style) -> Parsed | None:
    """A date with a time behind it, as one."""
    if day.parsed.kind != "date" or day.parsed.text is None:
        return None
    hour = leading_value(text[day.end :].lstrip(" ,T"), style)
    if hour is None or hour.parsed.kind != "time":
        return None
    return replace(day.parsed, text=f"{day.parsed.text}T{hour.parsed.text}")


def leading_value(text: str, style: Style = PLAIN) -> Quantity | None:
    """The quantity that a ``folded`` text begins with, perhaps after ``about`` or ``~``; None where it begins otherwise."""
    head = text[:120]
    for quantity in quantities(head, style):
        before = head[: quantity.start]
        return quantity if not _ABOUT.sub("", before).strip(" ~*_(\"'") else None
    return None


def dated_as(dated: Dated, style: Style) -> Parsed:
    """A date as this writer means it."""
    day, doubt = dated.on(style.order, style.said)
    return Parsed("date", text=None if day is None else day.isoformat(), doubt=doubt)


def day_named(words: str, style: Style) -> Parsed:
    """``yesterday``, ``on Monday`` .. as the date it was; with a doubt where the day of the message is not known."""
    if style.said is None:
        return Parsed("date", doubt=NO_DAY)
    return Parsed("date", text=relative_day(words, style.said).isoformat())


def ambiguous(parsed: Parsed) -> bool:
    """Whether the rest of a user's data may tell which reading is meant."""
    return parsed.doubt in (DAY_OR_MONTH, DECIMAL_OR_THOUSANDS)


def _read(match: re.Match[str], style: Style) -> tuple[Parsed, str]:
    part = match.groupdict()
    for names, read in _READERS:
        if any(part[name] for name in names):
            return read(part, style)
    raise AssertionError(f"no reader for {match.lastgroup}")


def _pounds(part: dict[str, str], style: Style) -> tuple[Parsed, str]:
    pounds, doubt = read_number(part["lb"], style.decimal)
    return Parsed(
        "number", round(pounds * UNITS["lb"].factor + int(part["oz"]) * UNITS["oz"].factor, 9), "kg", doubt=doubt
    ), "lb"


def _feet(part: dict[str, str], style: Style) -> tuple[Parsed, str]:
    del style
    return Parsed(
        "number", round(int(part["f1"]) * UNITS["ft"].factor + int(part["f2"]) * UNITS["inch"].factor, 9), "m"
    ), "ft"


def _hours(part: dict[str, str], style: Style) -> tuple[Parsed, str]:
    hours, doubt = read_number(part["h"], style.decimal)
    seconds = hours * 3600 + int(part["hm"] or 0) * 60 + int(part["hs"] or 0)
    return Parsed("duration", seconds, "s", doubt=doubt), "h"


def _minutes(part: dict[str, str], style: Style) -> tuple[Parsed, str]:
    del style
    return Parsed("duration", float(int(part["m"]) * 60 + int(part["ms"])), "s"), "min"


def _clock(part: dict[str, str], style: Style) -> tuple[Parsed, str]:
    del style
    first, second, third = int(part["c1"]), int(part["c2"]), int(part["c3"] or 0)
    unit = (part["cu"] or "").lower()
    if unit.startswith("h"):
        return Parsed("duration", float(first * 3600 + second * 60 + third), "s"), "h"
    if unit.startswith("min"):
        return Parsed("duration", float(first * 60 + second), "s"), "min"
    if unit.startswith("/"):
        return Parsed("number", float(first * 60 + second), "s/km"), "/km"
    return _time(first, second, unit, part["c3"]), ""


def _hour(part: dict[str, str], style: Style) -> tuple[Parsed, str]:
    del style
    return _time(int(part["t1"]), 0, part["tu"].lower(), None), ""


def _time(hour: int, minute: int, half: str, second: str | None) -> Parsed:
    if half[:1] in ("a", "p"):
        hour = hour % 12 + (12 if half[0] == "p" else 0)
    if hour > 23:
        return Parsed("text", text=f"{hour}:{minute:02d}", doubt="no-such-time")
    return Parsed("time", text=f"{hour:02d}:{minute:02d}" + (f":{second}" if second else ""))


def _ratio(part: dict[str, str], style: Style) -> tuple[Parsed, str]:
    del style
    return Parsed("ratio", float(part["r1"]), f"/{int(part['r2'])}"), (part["ru"] or "").lower()


def _money(part: dict[str, str], style: Style) -> tuple[Parsed, str]:
    sign = (part["cb"] or part["ca"]).lower().rstrip(".")
    amount, doubt = read_number(part["cn"] or part["an"], style.decimal)
    amount *= (-1 if part["cs"] else 1) * _magnitude(part["ck"])
    return Parsed("money", amount, CURRENCIES[sign], doubt=doubt), sign


def _magnitude(written: str | None) -> float:
    """``k``, ``million`` .. as a factor."""
    word = (written or "").strip().lower()
    return {"": 1.0, "k": 1e3, "thousand": 1e3, "bn": 1e9, "billion": 1e9, "mrd": 1e9, "trillion": 1e12}.get(word, 1e6)


def _number(part: dict[str, str], style: Style) -> tuple[Parsed, str]:
    number, doubt = read_number(part["n"], style.decimal)
    number *= (-1 if part["s"] == "-" else 1) * _magnitude(part["k"])
    if part["ish"]:
        doubt = APPROXIMATE
    if not part["u"]:
        return Parsed("number", number, doubt=doubt), ""
    return _in_base(number, part["u"], doubt), part["u"].lower()


def _words(part: dict[str, str], style: Style) -> tuple[Parsed, str]:
    del style
    return _in_base(read_words(part["w"]), part["wu"], None), part["wu"].lower()


def _half_hour(part: dict[str, str], style: Style) -> tuple[Parsed, str]:
    del style
    return Parsed("duration", 1800.0 if part["half"] else 5400.0 if part["ahalf"] else 3600.0, "s"), "h"


def _in_base(number: float, written: str, doubt: str | None) -> Parsed:
    unit = UNITS[written.lower()]
    return Parsed(unit.kind, round(number * unit.factor + unit.shift, 9), unit.base, doubt=doubt)


_READERS = (
    (("lb",), _pounds),
    (("f1",), _feet),
    (("h",), _hours),
    (("m",), _minutes),
    (("c1",), _clock),
    (("t1",), _hour),
    (("r1",), _ratio),
    (("cb", "ca"), _money),
    (("n",), _number),
    (("w",), _words),
    (("half", "hour"), _half_hour),
)


def numbers_in(text: str) -> Iterator[str]:
    """The numbers of a ``folded`` text as written."""
    yield from re.findall(rf"(?<![\w.,]){NUMBER}", text)
