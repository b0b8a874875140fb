"""Markdown tables: a header, a rule, and rows; a record a row, or two columns of names and values."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from operators.extract.finding import Finding
from operators.extract.pairs import LONGEST_NAME, with_told_unit
from operators.extract.values import Style, parse_value

_RULE = re.compile(r"\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)*\|?")
_PIPE = re.compile(r"(?<!\\)\|")


@dataclass(frozen=True)
class Cell:
    """A cell's text and where it starts in the whole text."""

    text: str
    start: int


@dataclass(frozen=True)
class TextTable:
    """A table's lines (first, one past the last) and its findings, records counted from 0."""

    first: int
    last: int
    findings: list[Finding]


def tables_in(lines: Sequence[tuple[int, str]], style: Style) -> list[TextTable]:
    """The tables among ``spoken`` lines, each with its offset in the text."""
    found: list[TextTable] = []
    at = 1
    while at < len(lines):
        rule = lines[at][1].strip()
        if not ("-" in rule and "|" in lines[at - 1][1] and ("|" in rule or "--" in rule) and _RULE.fullmatch(rule)):
            at += 1
            continue
        last = at + 1
        while last < len(lines) and "|" in lines[last][1] and lines[last][1].strip():
            last += 1
        header, *rows = (_cells(*lines[row]) for row in (at - 1, *range(at + 1, last)))
        found.append(TextTable(at - 1, last, _read(header, rows, style)))
        at = last + 1
    return found


def _cells(offset: int, line: str) -> list[Cell]:
    cells, start = [], 0
    for part in _PIPE.split(line):
        text = part.strip().strip("*_").strip()
        cells.append(Cell(text, offset + start + (part.find(text) if text else 0)))
        start += len(part) + 1
    if cells and not cells[0].text and line.lstrip().startswith("|"):
        cells = cells[1:]
    if cells and not cells[-1].text and line.rstrip().endswith("|"):
        cells = cells[:-1]
    return cells


def _read(header: list[Cell], rows: list[list[Cell]], style: Style) -> list[Finding]:
    if len(header) == 2 and _names_and_values(header, rows, style):
        findings = [_finding(row[0].text, row[1], 0, style) for row in rows if len(row) > 1]
    else:
        findings = [
            _finding(name.text, cell, record, style)
            for record, row in enumerate(rows)
            for name, cell in zip(header, row, strict=False)
        ]
    return [finding for finding in findings if finding is not None]


def _names_and_values(header: list[Cell], rows: list[list[Cell]], style: Style) -> bool:
    """Two columns that list attributes: names to the left that do not come twice, and values of several kinds or units."""
    generic = {"value", "reading", "result", "amount", "today", "measurement", "number", "detail", "details"}
    names = [row[0].text.lower() for row in rows if len(row) > 1]
    parsed = [parse_value(row[0].text, style) for row in rows if row]
    if not names or len(set(names)) < len(names) or any(value is None or value.kind != "text" for value in parsed):
        return False
    kinds = {(value.kind, value.unit) for row in rows if len(row) > 1 and (value := parse_value(row[1].text, style))}
    return header[1].text.lower() in generic or not header[1].text or len(kinds) > 1


def _finding(name: str, cell: Cell, record: int, style: Style) -> Finding | None:
    parsed = parse_value(cell.text, style)
    if parsed is None or not name or len(name) > LONGEST_NAME:
        return None
    name, parsed = with_told_unit(name, parsed, style)
    return Finding(name, cell.start, cell.start + len(cell.text), parsed, 0.95, record)
