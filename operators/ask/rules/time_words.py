"""A question cut into words, numbers and dates in digits, and the words by which people name days."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

Kind = Literal[
    "word", "number", "ordinal", "iso", "ymd", "slashed", "dotted", "pair", "iso-month", "iso-week", "dash", "sign", "gap"
]

_LONGEST_GAP = 3
"""Blanks that may stand between two words of one expression; more are what was taken out of the question."""

_TOKEN = re.compile(
    r"(?<![\w/.])(?:"
    r"(?P<iso>[0-9]{4}-[0-9]{1,2}-[0-9]{1,2})(?:T[0-9:.]{2,15}Z?)?(?![\w/]|-[0-9])"
    r"|(?P<ymd>[0-9]{4}(?P<s>[/.])[0-9]{1,2}(?P=s)[0-9]{1,2})(?![\w/]|[-.][0-9])"
    r"|(?P<isoweek>[0-9]{4}-w[0-9]{2})(?!\w)"
    r"|(?P<isomonth>[0-9]{4}-[0-9]{2}|[0-9]{1,2}/(?:19|20)[0-9]{2})(?![\w/]|-[0-9])"
    r"|(?P<slashed>[0-9]{1,2}/[0-9]{1,2}/(?:[0-9]{4}|[0-9]{2})|[0-9]{1,2}-[0-9]{1,2}-[0-9]{4})(?![\w/]|[.-][0-9])"
    r"|(?P<dotted>[0-9]{1,2}\.[0-9]{1,2}\.[0-9]{4})(?![\w/]|[.-][0-9])"
    r"|(?P<pair>[0-9]{1,2}/[0-9]{1,2})(?![\w/]|[.-][0-9])"
    r")"
    r"|(?P<other>[0-9]{1,3}(?:,[0-9]{3}){1,9}(?![\w])|[0-9]{1,9}[.:][0-9]{1,9}(?!\w))"
    r"|(?P<ordinal>[0-9]{1,2})(?:st|nd|rd|th)(?!\w)"
    r"|(?P<number>[0-9]{1,9})(?!\w)"
    r"|(?P<word>[^\W\d_]{1,30}(?:['\u2019](?=[^\W\d_]))?(?:(?<=['\u2019])[^\W\d_]{1,3})?)(?!\w)"
    r"|(?P<code>q[1-4]|h[12])(?!\w)"
    r"|(?P<dash>\.{2,3}|[-\u2013\u2014\u2026])"
    r"|\w+|[^\w\s]",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Token:
    """A piece of a text. ``word``: in lower case, without ``'s``; ``number``: of a number or an ordinal, else -1."""

    kind: Kind
    word: str
    start: int
    end: int
    number: int = -1


END = Token("sign", "", 0, 0)
"""What stands behind the last token and before the first."""

_KINDS: dict[str, Kind] = {
    "iso": "iso",
    "ymd": "ymd",
    "slashed": "slashed",
    "dotted": "dotted",
    "pair": "pair",
    "number": "number",
    "ordinal": "ordinal",
    "word": "word",
    "dash": "dash",
    "isoweek": "iso-week",
    "isomonth": "iso-month",
    "other": "sign",
    "code": "word",
}


def tokens(text: str) -> list[Token]:
    """The pieces of a text, from left to right."""
    found: list[Token] = []
    end = 0
    for match in _TOKEN.finditer(text):
        start = match.start()
        if start - end > _LONGEST_GAP:
            found.append(Token("gap", "", start, start))
        end = match.end()
        group = match.lastgroup
        if group == "s":
            group = "ymd"
        written = match[0].lower()
        if group == "word" and written[-2:] in ("'s", "\u2019s"):
            written = written[:-2]
        number = int(match[group]) if group in ("number", "ordinal") else SPELLED_ORDINALS.get(written, -1)
        kind: Kind = "sign" if group is None else _KINDS[group]
        found.append(Token(kind, written, start, end, number))
    return found


_MONTH_NAMES = (
    "january jan",
    "february feb",
    "march mar",
    "april apr",
    "may",
    "june jun",
    "july jul",
    "august aug",
    "september sept sep",
    "october oct",
    "november nov",
    "december dec",
)
MONTHS = {word: at for at, names in enumerate(_MONTH_NAMES, 1) for word in names.split()}
ALSO_VERBS = frozenset(("may", "march", "mar"))
"""Months by name that mean something else by themselves."""

_WEEKDAY_NAMES = (
    "monday mon",
    "tuesday tue tues",
    "wednesday wed weds",
    "thursday thu thur thurs",
    "friday fri",
    "saturday sat",
    "sunday sun",
)
WEEKDAYS = {word: at for at, names in enumerate(_WEEKDAY_NAMES) for word in names.split()}
WEEKDAY_PLURALS: dict[str, frozenset[int]] = {
    **{f"{names.split()[0]}s": frozenset((at,)) for at, names in enumerate(_WEEKDAY_NAMES)},
    "weekends": frozenset((5, 6)),
    "weekdays": frozenset(range(5)),
    "weeknights": frozenset(range(5)),
    "workdays": frozenset(range(5)),
}
WEEKDAY_GROUPS = {"weekend": frozenset((5, 6)), "weekday": frozenset(range(5)), "workday": frozenset(range(5))}

SEASONS = {"spring": 0, "springtime": 0, "summer": 1, "summertime": 1, "autumn": 2, "fall": 2, "winter": 3, "wintertime": 3}

SPELLED_ORDINALS = {
    "first": 1,
    "second": 2,
    "third": 3,
    "fourth": 4,
    "fifth": 5,
    "sixth": 6,
    "seventh": 7,
    "eighth": 8,
    "ninth": 9,
    "tenth": 10,
}

COUNTS = {
    "a": 1,
    "an": 1,
    "one": 1,
    "two": 2,
    "three": 3,
    "four": 4,
    "five": 5,
    "six": 6,
    "seven": 7,
    "eight": 8,
    "nine": 9,
    "ten": 10,
    "eleven": 11,
    "twelve": 12,
    "fourteen": 14,
    "fifteen": 15,
    "twenty": 20,
    "thirty": 30,
    "sixty": 60,
    "ninety": 90,
    "couple": 2,
    "few": 3,
}

UNITS = {
    "day": "day",
    "days": "day",
    "night": "day",
    "nights": "day",
    "week": "week",
    "weeks": "week",
    "wk": "week",
    "wks": "week",
    "fortnight": "fortnight",
    "fortnights": "fortnight",
    "month": "month",
    "months": "month",
    "quarter": "quarter",
    "quarters": "quarter",
    "year": "year",
    "years": "year",
    "yr": "year",
    "yrs": "year",
    "weekend": "weekend",
    "weekends": "weekend",
    "hours": "hour",
    "hrs": "hour",
}

JOINTS = frozenset(("and", "or", "vs", "versus", "than", "with", "against", "&"))
"""What stands between two periods that are set side by side."""

COMPARES = frozenset(
    ("compare", "compared", "compares", "comparing", "comparison", "difference", "differences", "differ", "differed")
)

MEASURES = frozenset(
    [
        "steps",
        "step",
        "calories",
        "calorie",
        "kcal",
        "cal",
        "cals",
        "km",
        "kms",
        "kilometers",
        "kilometres",
        "miles",
        "mile",
        "m",
        "meters",
        "metres",
        "ml",
        "l",
        "liters",
        "litres",
        "g",
        "grams",
        "kg",
        "kgs",
        "lb",
        "lbs",
        "pounds",
        "ringgit",
        "rm",
        "myr",
        "dollars",
        "dollar",
        "euros",
        "euro",
        "usd",
        "eur",
        "gbp",
        "bucks",
        "minutes",
        "minute",
        "mins",
        "min",
        "hours",
        "hour",
        "hrs",
        "h",
        "points",
        "words",
        "items",
        "pieces",
        "cup",
        "cups",
        "teaspoon",
        "teaspoons",
        "tsp",
        "tablespoon",
        "tablespoons",
        "tbsp",
        "of",
        "percent",
        "times",
        "%",
        "$",
    ]
)
"""What makes a number before it an amount."""

LEADS = frozenset(
    ("in", "on", "during", "for", "over", "throughout", "within", "across", "at", "of", "from", "around", "about")
)
"""Prepositions that only say that what follows is the time."""

FIRM = frozenset(
    (
        "in",
        "during",
        "throughout",
        "of",
        "since",
        "until",
        "till",
        "for",
        "over",
        "within",
        "across",
        "from",
        "after",
        "before",
    )
)
"""Words behind which ``may`` is a month."""
