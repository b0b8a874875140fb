"""One message's text to findings: tables, pairs, lists, sentences, in this order; what one takes the next leaves alone."""

from __future__ import annotations

import re
from bisect import bisect_left
from dataclasses import replace

from operators.extract.dates import WEEKDAY, dates_in
from operators.extract.finding import LOOKED_BACK, Finding, in_records, records_of, shifted, takes_back
from operators.extract.folding import folded, spoken
from operators.extract.lexicon import CORRECTS, HEADS_NO_FACTS, NOT_SO, TASKS
from operators.extract.markdown import tables_in
from operators.extract.pairs import listed_in, pairs_in
from operators.extract.prose import SENTENCE, told_in
from operators.extract.values import Style, dated_as, day_named, leading_value

LONGEST = 200_000
"""Characters of a message that are read; what stands behind them is left to retrieval."""

_BULLET = re.compile(r"^\s*(?:[-*+\u2022\u00b7]|\d{1,3}[.)])\s+(?:\[[ xX]\]\s+)?")
_HEADING = re.compile(r"^\s*#{1,6}\s+")
_MARKS = re.compile(r"\*\*|__")
_CODE_LINE = re.compile(
    r"[{};]\s*$|\w\([^)]*\)\s*[:;{]?$|^\s*(?:def|class|import|from|return|const|let|var|for|while|Traceback|File|npm|at)\s.*[:;(=\"]"
    r"|^\s*\w*(?:Error|Exception):|[=<>!]=|=\s*\w+\s*[*+/]\s*\w"
)
"""A line of a program or of its complaints."""
_ITEM = re.compile(r"^\s*(?:[-*+\u2022]\s+)?[^\W\d_][^:=\n]{0,40}[:=]\s*\S")
_WEEKDAY = re.compile(rf"^(?P<day>{WEEKDAY}|yesterday)\b\.?\s*(?:$|[:,-])", re.IGNORECASE)
_SOME_DAY = re.compile(r"\b(?:yesterday|(?:on|last|this past)\s(?:mon|tues|wednes|thurs|fri|satur|sun)day)\b", re.IGNORECASE)


def observe_text(text: str, style: Style) -> list[Finding]:
    """The findings of a message, by record and place. Places are character offsets into ``text``."""
    plain = _MARKS.sub("  ", spoken(folded(text[:LONGEST])))
    if TASKS.match(plain):
        return []
    if not any(letter.isdigit() for letter in plain) and ":" not in plain and "=" not in plain and "|" not in plain:
        return _grouped(told_in(plain, style))
    lines = _lines(plain)
    tables = {table.first: table for table in tables_in(lines, style)}
    inside = {row for table in tables.values() for row in range(table.first, table.last)}
    texts = sum(1 for row, (_, line) in enumerate(lines) if row not in inside and _ITEM.match(line)) >= 2
    gathered = _Gathered()
    planned = False
    for row, (offset, line) in enumerate(lines):
        if row in tables and not planned:
            gathered.close()
            gathered.add(tables[row].findings)
        if row in inside:
            continue
        planned = _planned(line, planned)
        if planned or _CODE_LINE.search(line):
            continue
        day = _day(line, offset, style)
        if day is not None:
            gathered.close()
            gathered.block.append(day)
            line = " " * (day.end - offset) + re.sub(r"^\s*[:,-]", lambda m: " " * len(m[0]), line[day.end - offset :])
        gathered.block += _of_line(line, offset, style, texts=texts)
    gathered.close()
    return gathered.found


class _Gathered:
    """Findings with their records, and the block of them that is still open."""

    def __init__(self) -> None:
        self.found: list[Finding] = []
        self.block: list[Finding] = []
        self._records = 0

    def close(self) -> None:
        """End the block: what comes next is of other records. A day by itself is no record."""
        if not all(finding.attribute == "date" for finding in self.block):
            self.add(_grouped(self.block))
        self.block = []

    def add(self, findings: list[Finding]) -> None:
        """Findings whose records count from 0."""
        self.found += shifted(findings, self._records)
        self._records += records_of(findings)


def _lines(text: str) -> list[tuple[int, str]]:
    lines, at = [], 0
    for line in text.split("\n"):
        lines.append((at, line))
        at += len(line) + 1
    return lines


def _of_line(line: str, offset: int, style: Style, *, texts: bool) -> list[Finding]:
    head = _BULLET.match(line) or _HEADING.match(line)
    if head is not None:
        line = " " * head.end() + line[head.end() :]
    paired = pairs_in(line, style, texts=texts)
    found = list(paired.findings)
    for start, end in paired.rest:
        listed = listed_in(line[start:end], style)
        found += _moved(listed.findings, start)
        for begin, stop in listed.rest:
            found += _moved(told_in(line[start + begin : start + stop], style), start + begin)
    found = sorted(found, key=lambda finding: finding.start)
    head = CORRECTS.match(line.lstrip(" ,-"))
    if head is not None:
        found = [replace(finding, corrects=True) for finding in found]
    # A day that is part of another value is not told beside it: two findings of a record never share a place.
    days = _days_of(line, found, style)
    apart = [day for day in days if all(day.end <= one.start or one.end <= day.start for one in found)]
    return _moved(found + apart, offset)


def _days_of(line: str, found: list[Finding], style: Style) -> list[Finding]:
    """The day that a line's sentences tell of: a date in one with findings, or ``yesterday`` where it is of all."""
    if any(finding.attribute.lower() == "date" or not finding.attribute for finding in found):
        return []
    days: list[Finding] = []
    starts = [finding.start for finding in found]
    for match in SENTENCE.finditer(line):
        inside = found[bisect_left(starts, match.start()) : bisect_left(starts, match.end())]
        if not inside or any(finding.parsed.kind == "date" for finding in inside):
            continue
        dated = list(dates_in(match[0]))
        for day in dated:
            parsed = dated_as(day, style)
            days.append(Finding("date", match.start() + day.start, match.start() + day.end, parsed, 0.8))
        named = list(_SOME_DAY.finditer(match[0]))
        if len(named) == 1 and not dated and (len(found) == 1 or not match[0][: named[0].start()].strip(" -*")):
            start = match.start() + named[0].start()
            days.append(Finding("date", start, start + len(named[0][0]), day_named(named[0][0], style), 0.7))
        if len(days) > 1:
            return []
    return days


def _planned(line: str, before: bool) -> bool:
    """Whether a list stands below a heading such as ``Goals for next week:``, which says that none of it is so."""
    bare = line.strip(" *#")
    if bare.endswith(":"):
        return NOT_SO.search(bare) is not None or HEADS_NO_FACTS.search(bare) is not None
    return before and bool(bare)


def _day(line: str, offset: int, style: Style) -> Finding | None:
    """The day at the head of a line, to which what follows belongs."""
    head = _BULLET.match(line) or _HEADING.match(line)
    start = head.end() if head is not None else len(line) - len(line.lstrip())
    rest = line[start:]
    if named := _WEEKDAY.match(rest):
        return Finding("date", offset + start, offset + start + len(named["day"]), day_named(named["day"], style), 0.8)
    dated = leading_value(rest, style)
    if dated is not None and dated.parsed.kind == "date" and re.match(r"\s*(?:$|[:,|-])", rest[dated.end :]):
        return Finding("date", offset + start + dated.start, offset + start + dated.end, dated.parsed, 0.85)
    return None


def _moved(findings: list[Finding], by: int) -> list[Finding]:
    return [replace(finding, start=finding.start + by, end=finding.end + by) for finding in findings]


def _grouped(findings: list[Finding]) -> list[Finding]:
    """Corrections carried out, then records. One that names no attribute is of the last finding of its kind and unit."""
    kept: list[Finding] = []
    for finding in findings:
        if not finding.corrects:
            kept.append(finding)
            continue
        at = next(
            (at for at in range(len(kept) - 1, max(-1, len(kept) - LOOKED_BACK), -1) if _same(kept[at], finding)), None
        )
        if at is None:
            kept.append(finding)
        else:
            kept[at] = replace(finding, attribute=kept[at].attribute, corrects=kept[at].corrects)
    return in_records(kept)


def _same(earlier: Finding, later: Finding) -> bool:
    """Whether the later one takes back the earlier; the day of a record only where it is named."""
    return takes_back(later, earlier) and (bool(later.attribute) or earlier.attribute != "date")
