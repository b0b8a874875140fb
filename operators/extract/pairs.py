"""Attributes and values set side by side in a text: ``key: value``, ``key = value``, ``sleep 7h, steps 8,412``."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from operators.extract.finding import Finding
from operators.extract.lexicon import (
    ASKS,
    CORRECTS,
    DELTA,
    LASTING,
    METRICS,
    NO_NAMES,
    NOT_SO,
    NOTES,
    OCCASIONS,
    PLANNED_NAME,
    PRESSURE,
    TURNS,
    VERBS,
)
from operators.extract.values import Parsed, Style, leading_value, parse_value

LONGEST_NAME = 60
_LONGEST_TEXT, _MOST_WORDS = 60, 8
_WINDOW = 300
"""Characters before a name in which it may be denied."""

_WORD = r"[^\W\d_][\w'&%/°#²-]{0,30}"
_NAME = rf"{_WORD}(?:[ ]{_WORD}|[ ]\d{{1,3}}){{0,4}}"
_TELLERS = frozenset(("i", "we", "you", "he", "she", "they", "it", "let", "if", "when"))
"""With these a sentence begins, no name."""
_GOES_ON = re.compile(r"[^\s,.;:!)|*_\u00b7\u2022'\"(\]]|[.:]\d|\s?(?:[-x\u00b1/]|->|or|to)\s?[$€£]?\d|\s(?:[-x*])\s")
"""Behind a number: it is only the beginning of what is told (``555-123``, ``10 x 20``, ``9:00-17:00``)."""
_OWN_TAIL = re.compile(r"\b(?:my|the|our)\s+(?P<name>[^:]+)$", re.IGNORECASE)
_UNIT_IN_NAME = re.compile(r"^(.*?)\s*\(([^()]{1,12})\)$")
_STARTS = r"(?:^[^\w\n]{0,6}|(?<=[,;:|(\u00b7\u2022.!?])\s|(?<=\s-)\s|(?<=\sand)\s)\s*"
_PAIR = re.compile(
    rf"{_STARTS}(?P<name>{_NAME})\.?(?P<unit>\s?\([^()\n]{{1,12}}\))?\s{{0,3}}(?::(?!/)(?!(?<=\d:)\d)|=(?!=)|->|\u2192)",
    re.M,
)
_TIGHT = re.compile(rf"(?<!\S)(?P<name>{_WORD})(?P<unit>)=(?=[^\s=])")
_LISTED = re.compile(rf"{_STARTS}(?P<name>{_WORD}(?:[ ]{_WORD}){{0,3}})[ ](?:-[ ])?(?=[$€£¥~+-]?\d)", re.M)
_SHORTENED = re.compile(r"\b(?:[A-Z]{1,4}|[A-Z][a-z]{1,2})\.(?=\s)")
"""``SDN. BHD.``, ``St. Mary``: a full stop that ends no sentence."""
_ENDS = re.compile(r"\s*(?:\([^()]*\)\s*)?(?:$|[,;.|!)]|\band\b|-\s|\u00b7|\u2022)")


@dataclass(frozen=True)
class Paired:
    """The pairs of a line and the stretches of it that they leave: (start, end) in the line."""

    findings: list[Finding]
    rest: list[tuple[int, int]]


def pairs_in(line: str, style: Style, *, texts: bool) -> Paired:
    """``key: value`` and ``key = value`` of a ``spoken`` line. ``texts``: take values that are no quantity too."""
    found = {match.end(): match for pattern in (_TIGHT, _PAIR) for match in pattern.finditer(line)}
    names = [found[end] for end in sorted(found)]
    if not names:
        return Paired([], [(0, len(line))])
    findings: list[Finding] = []
    rest = [(0, names[0].start("name"))]
    for at, match in enumerate(names):
        end = names[at + 1].start("name") if at + 1 < len(names) else len(line)
        finding = _pair(line, match, end, style, texts)
        if finding is None:
            rest.append((match.start("name"), end))
            continue
        findings += split_pressure(finding, line)
        rest.append((finding.end, end))
    return Paired(findings, rest)


def _pair(line: str, match: re.Match[str], end: int, style: Style, texts: bool) -> Finding | None:
    begin = match.end()
    region = line[begin:end].rstrip(" ,;|")
    if CORRECTS.fullmatch(match["name"].strip()) or match["name"].strip().lower() == "actually":
        return _correction(region, begin, style)
    name = name_of(match["name"])
    if name is None or not region.strip() or name.split()[0].lower() in NOTES or _only_planned(line, match):
        return None
    told_with = (match["unit"] or "").strip()
    if told_with and with_told_unit(f"{name} {told_with}", Parsed("number", 1.0), style)[0] != name:
        name = f"{name} {told_with}"
    if PLANNED_NAME.search(name):
        return None
    if OCCASIONS.match(name) or name.split()[0].lower() in _TELLERS:
        return None
    if (tail := _OWN_TAIL.search(name)) and tail["name"].lower() in METRICS:
        name = tail["name"]
    quantity = leading_value(region, style)
    if quantity is not None and (_GOES_ON.match(region, quantity.end) or DELTA.match(region, quantity.end)):
        quantity = None
        texts = texts and not DELTA.search(region)
    if quantity is not None and "?" not in region:
        begins = begin + quantity.start
        tidy = _ENDS.match(region, quantity.end) is not None
        parsed = with_told_unit(f"{name} {told_with}", quantity.parsed, style)[1]
        return Finding(name, begins, begin + quantity.end, as_lasting(name, parsed), 0.95 if tidy else 0.8)
    if not texts:
        return None
    value = region.strip().rstrip(".")
    parsed_text = parse_value(value, style)
    if parsed_text is None or not _is_label_text(value):
        return None
    begins = begin + region.index(value)
    return Finding(name, begins, begins + len(value), parsed_text, 0.75)


def _correction(region: str, begin: int, style: Style) -> Finding | None:
    """``Correction: 7 h``: of what, the value before it says."""
    quantity = leading_value(region, style)
    if quantity is None:
        return None
    return Finding("", begin + quantity.start, begin + quantity.end, quantity.parsed, 0.8, corrects=True)


def _only_planned(line: str, match: re.Match[str]) -> bool:
    """``Plan for tomorrow - sleep: 8 h``: what stands before the name on its line says that it is not so (yet)."""
    before = line[max(0, match.start("name") - _WINDOW) : match.start("name")]
    return NOT_SO.search(TURNS.split(before)[-1]) is not None


def as_lasting(name: str, parsed: Parsed) -> Parsed:
    """``Sleep 7:24`` as hours and minutes; a time that nobody sleeps for stays a time."""
    if parsed.kind != "time" or parsed.text is None or name.lower() not in LASTING:
        return parsed
    hours, minutes = map(int, parsed.text.split(":")[:2])
    return Parsed("duration", float(hours * 3600 + minutes * 60), "s") if hours < 15 else parsed


def with_told_unit(name: str, parsed: Parsed, style: Style) -> tuple[str, Parsed]:
    """``Weight (kg)`` and a bare number: the name without the unit, and the number in it."""
    told = _UNIT_IN_NAME.match(name)
    if told is None or parsed.unit is not None or parsed.number is None:
        return name, parsed
    unit = parse_value(f"1 {told[2]}", style)
    if unit is None or unit.number is None or unit.unit is None:
        return name, parsed
    return told[1], Parsed(unit.kind, round(parsed.number * unit.number, 9), unit.unit, doubt=parsed.doubt)


def _is_label_text(value: str) -> bool:
    """Short, and no sentence."""
    words, plain = value.split(), _SHORTENED.sub("", value)
    if len(value) > _LONGEST_TEXT or len(words) > _MOST_WORDS:
        return False
    return not re.search(r"[.!?]\s|[!?]$|,\s\w+\s\w+\s\w+", plain)


def listed_in(line: str, style: Style) -> Paired:
    """Names with quantities right behind them, between commas: ``sleep 5h04m, steps 15506``.

    One alone counts if its name is that of something people measure.
    """
    found: list[tuple[int, Finding]] = []
    for match in _LISTED.finditer(line):
        name = name_of(match["name"])
        quantity = leading_value(line[match.end() : match.end() + _WINDOW], style)
        if name is None or quantity is None or quantity.start > 1 or name.split()[-1].lower() in VERBS:
            continue
        end = match.end() + quantity.end
        name, start = _metric_tail(name, match)
        if (_ENDS.match(line, end) or name.lower() in METRICS) and not NOT_SO.search(
            f"{line[max(0, start - _WINDOW) : start]} {name}"
        ):
            found.append((start, Finding(name, match.end() + quantity.start, end, as_lasting(name, quantity.parsed), 0.9)))
    known = [each for each in found if each[1].attribute.lower() in METRICS]
    if not known or ("?" in line and ASKS.match(line)):
        return Paired([], [(0, len(line))])
    kept = found if len(found) > 1 and len(known) * 2 >= len(found) else known
    split = [part for _, finding in kept for part in split_pressure(finding, line)]
    ends = [0, *(finding.end for _, finding in kept)]
    return Paired(split, list(zip(ends, [*(start for start, _ in kept), len(line)], strict=True)))


def _metric_tail(name: str, match: re.Match[str]) -> tuple[str, int]:
    """The known metric that ends the name, where one does: ``Morning weight`` stays, ``and my weight`` is ``weight``."""
    words = name.split()
    for at in range(len(words)):
        if " ".join(words[at:]).lower() in METRICS:
            tail = " ".join(words[at:])
            return tail, match.start("name") + match["name"].rindex(tail)
    return name, match.start("name")


def name_of(written: str) -> str | None:
    """An attribute's name as written, without a leading article; None where it names nothing or is too long."""
    name = re.sub(
        r"^(?:my|the|a|an|our|today's|todays|this morning's|current|and|also|then)\s+", "", written.strip(), flags=re.I
    )
    name = name.strip(" -*_.:")
    name = name.strip("()") if name.count("(") != name.count(")") else name
    words = name.lower().split()
    if not words or len(name) > LONGEST_NAME or all(word in NO_NAMES for word in words):
        return None
    return name


def split_pressure(finding: Finding, line: str) -> Iterator[Finding]:
    """``BP 128/84`` as two: the upper and the lower number, each where it stands."""
    parsed = finding.parsed
    if parsed.kind != "ratio" or finding.attribute.lower() not in PRESSURE or parsed.number is None or parsed.unit is None:
        yield finding
        return
    written = re.match(r"\s*(\d+)\s?/\s?(\d+)", line[finding.start :])
    if written is None:
        yield finding
        return
    for part, name in ((1, "systolic"), (2, "diastolic")):
        value = Parsed("number", float(written[part]), "mmHg")
        start, end = finding.start + written.start(part), finding.start + written.end(part)
        yield Finding(f"{finding.attribute} {name}", start, end, value, finding.confidence)
