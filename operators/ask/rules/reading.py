"""A question as it is read: what has been understood is blanked out, so that no word is taken twice."""

from __future__ import annotations

import re
import unicodedata

_SAID_OTHERWISE: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern, re.IGNORECASE), said)
    for pattern, said in (
        (r"[\u2018\u2019\u02bc`]", "'"),
        (r"[\u201c\u201d]", '"'),
        (r"[\u2013\u2014]", "-"),
        (
            r"\bprior to\b|\bahead of\b|\bpreceding\b|\bleading up to\b|\bin the (?:time|period|days?) before\b"
            r"|\bearlier than\b",
            "before",
        ),
        (
            r"\bsubsequent to\b|\bonce(?= (?:I|my|we|the)\b)|\bin the (?:time|period) (?:after|following)\b"
            r"|\bafter I'd\b",
            "after",
        ),
        (r"\bfollowing\b(?! (?:days?|weeks?|nights?|months?|questions?|dates?|are|is|was|were)\b)(?=\s\w)", "after"),
        (r"\bpost\b(?=\s\w)", "after"),
        (r"\bpre\b(?=\s\w)", "before"),
        (r"(?<![\d.,])(\d{1,3}) (\d{3})\b(?!\s?\d)", r"\1\2"),
        (
            r"\b(?:starting|beginning|commencing) (?:on|from|with|at) (.{4,30}?),?(?: and|,)? (?:ending|finishing"
            r"|stopping) (?:on|with|at) ",
            r"from \1 to ",
        ),
        (r"\bup to and including\b", "to"),
        (r"\b(?:until|to|till|up to) the end of (?=\w+ \d{1,2}\b|\d{1,2}(?:st|nd|rd|th)? \w+)", "to "),
        (r",? (?:with )?(?:the )?(?:first and last|both)(?: days?)? (?:counted|included|inclusive)\b", ""),
        (
            r"\b(?:during|in|over|for) the (?:period|time|days|stretch|span) (?=(?:from |between )?(?:\d|[a-z]{3,9} \d))",
            "from ",
        ),
        (r"\bfrom from\b", "from"),
        (r"\b(?:from|starting|beginning)(?: from| with| on)? the (?:day|night|morning) (?:after|following)\b", "after"),
        (r"\b(?:any )?later than\b(?= (?:the|my|I|when|our|we)\b)", "after"),
        (r"\b(?:that |which )?(?:follow(?:ed|ing)|came after|come after)\b(?= (?:my|the|I|when|our|we|that)\b)", "after"),
        (r"\b(?:that |which )?(?:preceded|came before|come before)\b(?= (?:my|the|I|when|our|we|that)\b)", "before"),
        (r"\bfrom (?:the day|the moment|when)(?= (?:I|we|my|after))", "since the day"),
        (r"\b(?:pre|post)-(?=\w)", ""),
        (r"\bkilometres?\b|\bkilometers?\b", "km"),
        (r"\bstepcount\b", "step count"),
        (r"\bshut[- ]eye\b", "shuteye"),
        (r"\bwhat'?s\b", "what is"),
        (r"\bwhen'?s\b", "when is"),
        (r"\bhow's\b", "how is"),
        (r"\bavg\.?(?=\W|$)", "average"),
        (r"\bmax\.?(?=\W|$)", "maximum"),
        (r"\bmin\.?(?=\W|$)(?!s)", "minimum"),
    )
)
_BEFORE_AFTER = re.compile(r"\b(pre|post)-([a-z][\w-]*)", re.IGNORECASE)


_SMALL = {
    "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10,
    "eleven": 11, "twelve": 12, "thirteen": 13, "fourteen": 14, "fifteen": 15, "sixteen": 16, "seventeen": 17,
    "eighteen": 18, "nineteen": 19, "twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "seventy": 70,
    "eighty": 80, "ninety": 90, "a": 1,
}  # fmt: skip
_TENS = "twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety"
_SPELLED = "|".join(_SMALL)
_LARGE = re.compile(
    rf"\b(?:(?P<tens>{_TENS})[\s-])?(?P<n>{_SPELLED}|\d{{1,3}})[\s-](?P<many>hundred|thousand|grand|k)\b(?! total)",
    re.IGNORECASE,
)
_HALF = re.compile(rf"\b(?P<n>{_SPELLED}|\d{{1,3}}) and a half\b", re.IGNORECASE)
_COUNTED = re.compile(
    rf"\b(?P<n>{_SPELLED[: -len('|a')]}) (?=(?:hours?|hrs?|minutes?|mins?|kilos?|kg|km|miles?|euros?|dollars?|pounds?)\b)",
    re.IGNORECASE,
)


def _spelled(text: str) -> str:
    """Numbers in words as digits, where they count hundreds, thousands or a unit."""

    def large(found: re.Match[str]) -> str:
        word = found["n"].lower()
        number = (_SMALL.get(word) or int(word)) + (_SMALL[found["tens"].lower()] if found["tens"] else 0)
        return str(number * (100 if found["many"].lower() == "hundred" else 1000))

    def half(found: re.Match[str]) -> str:
        word = found["n"].lower()
        return f"{_SMALL.get(word) or int(word)}.5"

    text = _HALF.sub(half, _LARGE.sub(large, text))
    return _COUNTED.sub(lambda found: f"{_SMALL[found['n'].lower()]} ", text)


_PARTS = re.compile(
    r"\b(?P<h>\d{1,3})\s*(?:h|hrs?|hours?)\s*(?:and\s*)?(?P<m>\d{1,2})\s*(?:m|mins?|minutes?)\b", re.IGNORECASE
)


def _around(found: re.Match[str]) -> str:
    """``post-surgery`` as a phrase of its own."""
    return f"{'before' if found[1].lower() == 'pre' else 'after'} {found[2].replace('-', ' ')},"


class Reading:
    """``text``: the question, on one line, its signs made plain. ``left``: the same in lower case, where what was taken is
    blanks; the two have the same length."""

    def __init__(self, question: str) -> None:
        text = _spelled(" ".join(unicodedata.normalize("NFKC", question.replace("\u00ad", "")).split()))
        text = _PARTS.sub(lambda found: f"{60 * int(found['h']) + int(found['m'])} minutes", text)
        text = _BEFORE_AFTER.sub(_around, text)
        for pattern, said in _SAID_OTHERWISE:
            text = pattern.sub(said, text)
        self.text = text
        self.left = "".join(lower if len(lower := each.lower()) == 1 else each for each in text)

    def take(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        """The first place of a pattern in what is left, which is then taken."""
        found = pattern.search(self.left)
        if found is not None:
            self.blank(*found.span())
        return found

    def has(self, pattern: re.Pattern[str]) -> bool:
        """Whether a pattern is in what is left."""
        return pattern.search(self.left) is not None

    def blank(self, start: int, end: int) -> None:
        """Take what stands between two places."""
        self.left = self.left[:start] + " " * (end - start) + self.left[end:]
