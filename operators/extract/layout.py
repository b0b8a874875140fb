"""Attributes and values by where they stand in a picture: label above a value or beside it, tables, ``label: value``."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from operators.extract.dates import MONTHS, WEEKDAY
from operators.extract.finding import Finding
from operators.extract.folding import folded
from operators.extract.lexicon import METRICS, NO_NAMES
from operators.extract.page import Cell, rows_of
from operators.extract.pairs import listed_in, name_of, pairs_in, with_told_unit
from operators.extract.units import UNITS
from operators.extract.values import Parsed, Style, day_named, leading_value, parse_value

Direction = Literal["above", "left", "below", "right"]
_DIRECTIONS: tuple[Direction, ...] = ("left", "above", "below", "right")

_MOST_WORDS = 5
_NEAR_LINES, _NEAR_WIDTHS = 2.2, 14.0
_LETTERS = re.compile(r"[^\W\d_]")
_MARKS = "*_:;.,-|=> "
_NAMES_TOO = METRICS | {"day", "days", "week", "weeks", "hour", "hours", "minutes"}
"""Units whose names also head columns."""
_FLAG = re.compile(r"(?<=\d)\s[HLNM]$")
"""Behind a result on a laboratory's report: high, low, normal."""
_MONTH = re.compile(r"(?:" + "|".join(MONTHS) + r")[a-z]{0,6}\.?$", re.IGNORECASE)
_ON_SIGNS = frozenset(
    ("open", "closed", "exit", "stop", "entrance", "no entry", "speed limit", "platform", "gate", "chapter", "page")
)
"""What stands beside a number on signs and in books, where it measures nothing."""


@dataclass(frozen=True)
class Shown:
    """A finding in a picture: ``line`` of its text, and the places of the value in that line."""

    line: int
    finding: Finding


@dataclass(frozen=True)
class _Value:
    """A cell, perhaps with its unit in the cell behind it, that is a quantity as a whole."""

    cell: Cell
    parsed: Parsed


def observe_layout(cells: Sequence[Cell], style: Style) -> list[Shown]:
    """The findings of a picture that is no receipt, by record and place."""
    rows = rows_of(cells)
    tables, inside = _tables(rows, style)
    free = [cell for cell in cells if cell.line not in inside]
    written = [shown for cell in free for shown in _written(cell, style)]
    taken = {shown.line for shown in written}
    free = [cell for cell in free if cell.line not in taken]
    beside = _beside(free, style)
    loose = [*written, *beside]
    if not any(shown.finding.parsed.kind == "date" for shown in loose):
        loose += _own_date([cell for cell in free if cell.line not in {shown.line for shown in beside}], style)
    first = 1 if any(shown.finding.parsed.kind != "date" for shown in loose) else 0
    if not first and not tables:
        return []
    at = [replace(shown, finding=replace(shown.finding, record=shown.finding.record + first)) for shown in tables]
    if not first:  # the date beside a table is of all of its rows, which a record of its own could not say
        return at
    return _once(loose) + at


def _once(shown: Sequence[Shown]) -> list[Shown]:
    """One record; of an attribute that two values claim, the surer one."""
    best: dict[str, Shown] = {}
    for each in shown:
        name = each.finding.attribute.casefold()
        if name not in best or each.finding.confidence > best[name].finding.confidence:
            best[name] = each
    return sorted(best.values(), key=lambda each: (each.line, each.finding.start))


# --- label: value in one line ---------------------------------------------------------------------------------------


def _written(cell: Cell, style: Style) -> list[Shown]:
    text = folded(cell.text)
    found = pairs_in(text, style, texts=len(text) <= 48).findings or _single(text, style)
    return [
        Shown(cell.line, replace(_as_date(finding), confidence=cell.sure(finding.confidence), corrects=False))
        for finding in found
    ]


_DATE_NAMES = re.compile(
    r"date|day|due|birth|born|expir|until|since|from|start|end|issued|valid|check|arriv|depart", re.IGNORECASE
)


def _as_date(finding: Finding) -> Finding:
    """``Health 10 Nov 2025``: a title beside a date names no kind of date; it is the picture's own."""
    if finding.parsed.kind != "date" or _DATE_NAMES.search(finding.attribute):
        return finding
    return replace(finding, attribute="date")


def _single(text: str, style: Style) -> list[Finding]:
    """``Steps 8,412``, or ``8,412 steps``, alone on a line."""
    if listed := listed_in(text, style).findings:
        return listed
    match = re.fullmatch(r"\s*(?P<name>[^\W\d_][^\d:=]{1,30}?)\s+(?P<value>\S*\d.*?)\s*", text)
    if (
        match
        and (name := _label(match["name"]))
        and (parsed := parse_value(match["value"], style))
        and parsed.kind != "text"
    ):
        return [Finding(name, match.start("value"), match.end("value"), parsed, 0.75)]
    return []


# --- label beside value ---------------------------------------------------------------------------------------------


def _beside(cells: Sequence[Cell], style: Style) -> list[Shown]:
    """Each value with the label that stands nearest in the direction in which most of the picture's labels stand."""
    values = [value for cell in cells if (value := _value(cell, cells, style)) is not None]
    numbers = {value.cell.line for value in values}
    labels = [(cell, name) for cell in cells if cell.line not in numbers and (name := _label(cell.text)) is not None]
    values = [value for value in values if value.parsed.kind != "date"]
    found = {way: {v.cell.line: near for v in values if (near := _nearest(v.cell, labels, way))} for way in _DIRECTIONS}
    counts = Counter({way: len({name for _, name in found[way].values()}) for way in _DIRECTIONS})
    if not counts.total():
        return []
    main = max(_DIRECTIONS, key=lambda way: (counts[way], -_DIRECTIONS.index(way)))
    shown = []
    used: set[int] = set()
    for way, sure in ((main, 0.9), *((way, 0.7) for way in _DIRECTIONS if way != main)):
        for value in values:
            near = found[way].get(value.cell.line)
            if near is None or near[0].line in used or value.cell.line in used:
                continue
            used |= {near[0].line, value.cell.line}
            text = value.cell.text
            start, end = len(text) - len(text.lstrip()), len(text.rstrip())
            sure_of = round(sure * min(1.0, value.cell.score, near[0].score), 3)
            shown.append(Shown(value.cell.line, Finding(near[1], start, end, value.parsed, sure_of)))
    return shown


def _value(cell: Cell, cells: Sequence[Cell], style: Style) -> _Value | None:
    text = _FLAG.sub("", folded(cell.text).strip(" *|"))
    parsed = parse_value(text, style)
    if parsed is None or parsed.kind in ("text", "bool"):
        return None
    if parsed.unit is None and parsed.kind == "number" and (unit := _unit_behind(cell, cells)):
        parsed = parse_value(f"{text} {unit}", style) or parsed
    return _Value(cell, parsed)


def _unit_behind(cell: Cell, cells: Sequence[Cell]) -> str | None:
    """A unit by itself right behind the number, as dashboards set it in smaller type."""
    for other in cells:
        close = 0 <= other.left - cell.right < cell.height and abs(other.bottom - cell.bottom) < cell.height / 2
        if close and folded(other.text).strip(" .").lower() in UNITS:
            return folded(other.text).strip(" .")
    return None


def _label(text: str) -> str | None:
    """The text as an attribute's name, None where it is none: a sentence, a number, nothing but a unit."""
    bare = folded(text).strip(_MARKS)
    words = bare.split()
    if not words or len(words) > _MOST_WORDS or not _LETTERS.search(bare) or re.search(r"\d{2}", bare):
        return None
    letters = sum(letter.isalpha() for letter in bare)
    if letters < 2 or letters * 2 < len(bare) or (bare.lower() in UNITS and bare.lower() not in _NAMES_TOO):
        return None
    if (any(word.lower() in NO_NAMES for word in words) and len(words) > 2) or bare.lower() in _ON_SIGNS:
        return None
    if len(words) == 1 and _MONTH.match(bare):
        return None
    return name_of(bare)


def _nearest(value: Cell, labels: Sequence[tuple[Cell, str]], way: Direction) -> tuple[Cell, str] | None:
    best: tuple[float, Cell, str] | None = None
    for cell, name in labels:
        distance = _distance(value, cell, way)
        if distance is not None and (best is None or distance < best[0]):
            best = (distance, cell, name)
    return None if best is None else best[1:]


def _distance(value: Cell, label: Cell, way: Direction) -> float | None:
    """How far the label is in that direction, None where it is not there or too far."""
    line = max(value.height, label.height)
    if way in ("left", "right"):
        gap = value.left - label.right if way == "left" else label.left - value.right
        level = abs(value.middle - label.middle) < 0.5 * line
        return gap if level and -0.3 * line <= gap <= _NEAR_WIDTHS * line else None
    gap = value.top - label.bottom if way == "above" else label.top - value.bottom
    overlap = min(value.right, label.right) - max(value.left, label.left)
    under = overlap > 0.3 * min(value.right - value.left, label.right - label.left)
    return gap if under and -0.4 * line <= gap <= _NEAR_LINES * line else None


def _own_date(cells: Sequence[Cell], style: Style) -> list[Shown]:
    """The picture's own date: the first that stands by itself or heads a line."""
    for cell in cells:
        quantity = leading_value(folded(cell.text), style)
        if quantity is not None and quantity.parsed.kind == "date":
            finding = Finding("date", quantity.start, quantity.end, quantity.parsed, cell.sure(0.9))
            return [Shown(cell.line, finding)]
    return []


# --- tables ---------------------------------------------------------------------------------------------------------


def _tables(rows: Sequence[Sequence[Cell]], style: Style) -> tuple[list[Shown], set[int]]:
    """Rows of values below a row of labels, a record each, and the lines that are taken by them."""
    shown: list[Shown] = []
    inside: set[int] = set()
    record = 0
    at = 0
    while at < len(rows):
        header = _header(rows[at], style)
        body = _body(rows[at + 1 :], header, style) if header else []
        if not _is_table(header, body):
            at += 1
            continue
        inside |= {cell.line for cell, _ in header} | {each.cell.line for row in body for each in row}
        for row in _by_day(header, body, style) if _all_days(header) else body:
            for each in row:
                told = f"{each.name} ({each.name})" if each.name.lower() in UNITS else each.name
                name, parsed = with_told_unit(told, each.parsed, style)
                name = each.name if told != each.name else name
                finding = Finding(name, 0, len(each.cell.text), parsed, each.cell.sure(0.9), record)
                shown.append(Shown(each.cell.line, finding))
            record += 1
        at += 1 + len(body)
    return shown, inside


@dataclass(frozen=True)
class _Placed:
    """A cell of a table with what it is of."""

    cell: Cell
    name: str
    parsed: Parsed


_ROW_NAME = "name"
"""What the cells of a column without a heading are, to the left of those that have one."""

_WEEKDAY = re.compile(rf"^{WEEKDAY}\.?$", re.IGNORECASE)


def _unit_name(text: str) -> str | None:
    """A unit that heads a column: ``km``."""
    bare = folded(text).strip(_MARKS)
    return bare if bare.lower() in UNITS else None


def _is_table(header: Sequence[tuple[Cell, str]], body: Sequence[Sequence[_Placed]]) -> bool:
    """Rows enough; and of two columns one that is named in the left and measured alike in the right, else it is a form."""
    if not header or len(body) < (1 if _all_days(header) else 2):
        return False
    if len(header) > 2 or any(each.name == _ROW_NAME for row in body for each in row):
        return True
    worded = all(row[0].parsed.kind == "text" for row in body)
    alike = len({(row[-1].parsed.kind, row[-1].parsed.unit) for row in body}) == 1
    return not worded or (alike and body[0][-1].parsed.kind != "text")


def _all_days(header: Sequence[tuple[Cell, str]]) -> bool:
    return bool(header) and all(_WEEKDAY.match(name) for _, name in header)


def _by_day(header: Sequence[tuple[Cell, str]], body: Sequence[Sequence[_Placed]], style: Style) -> list[list[_Placed]]:
    """A table with days above and labels to the left: a row for each day."""
    rows = []
    for day, name in header:
        told = Parsed("text", text=name.lower()) if style.said is None else day_named(name, style)
        row = [_Placed(day, "date" if told.kind == "date" else "day", told)]
        for line in body:
            label = next((each.cell.text for each in line if each.name == _ROW_NAME), None)
            row += [_Placed(each.cell, label, each.parsed) for each in line if each.name == name and label]
        rows.append(row)
    return rows


def _header(row: Sequence[Cell], style: Style) -> list[tuple[Cell, str]]:
    if len(row) < 2:
        return []
    named = [(cell, _label(cell.text) or _unit_name(cell.text)) for cell in row]
    if any(name is None for _, name in named) or any(_value(cell, (), style) for cell in row):
        return []
    names = [name.casefold() for _, name in named if name]
    return [(cell, name) for cell, name in named if name] if len(set(names)) == len(names) else []


def _body(rows: Sequence[Sequence[Cell]], header: Sequence[tuple[Cell, str]], style: Style) -> list[list[_Placed]]:
    """The rows right below the header whose cells stand below its labels, with at least one quantity each.

    One cell more may stand left of them all: the row's name.
    """
    body = []
    first = min(cell.left for cell, _ in header)
    for row in rows:
        places = [(cell, _column(cell, header)) for cell in row]
        if places[0][1] is None and places[0][0].right <= first and _label(places[0][0].text):
            places[0] = (places[0][0], _ROW_NAME)
        names = [name for _, name in places]
        if None in names or len(row) < 2 or len(set(names)) != len(row):
            break
        read = [_Placed(cell, name, parsed) for cell, name in places if name and (parsed := _parsed(cell, style))]
        if all(each.parsed.kind == "text" for each in read):
            break
        body.append(read)
    return body


def _parsed(cell: Cell, style: Style) -> Parsed | None:
    return parse_value(_FLAG.sub("", folded(cell.text)), style)


def _column(cell: Cell, header: Sequence[tuple[Cell, str]]) -> str | None:
    """The label that the cell stands below: the one it overlaps most, None where it overlaps none."""
    best, found = 0.0, None
    for label, name in header:
        overlap = min(cell.right, label.right) - max(cell.left, label.left)
        if overlap > best:
            best, found = overlap, name
    return found
