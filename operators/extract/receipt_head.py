"""The head of a receipt: who sold, on which day, at what time."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from operators.extract.dates import Dated, date_or_none, dates_in
from operators.extract.finding import Finding
from operators.extract.folding import folded
from operators.extract.layout import Shown
from operators.extract.page import Cell
from operators.extract.values import Parsed, Style, dated_as, quantities

_HEAD_ROWS = 9

_COMPANY = re.compile(
    r"\b(?:sdn|bhd|berhad|enterprise|trading|ltd|limited|inc|llc|gmbh|ag|s\.?a|co|corp|company|plc|pte|restaurants?|restoran"
    r"|caf[eé]|coffee|kopitiam|bakery|bakeries|mart|market|supermarket|hypermarket|stores?|shop|hardware|stationery|pharmacy"
    r"|farmasi|clinic|hotel|book\s?stores?|books|book\s?shop|kedai|syarikat|perniagaan|gift|deco|home|foods?|kitchen|grill|pizza"
    r"|burger|station|petrol|electrical|electronics|motor|auto|optical|salon|boutique|industries|resources|services|holdings"
    r"|group|cent(?:re|er)|house|garden|corner|bistro|bar|deli|grocer\w*|retail|marketing|supplies|supply|machinery|furniture)\b",
    re.IGNORECASE,
)
_SUFFIX = re.compile(
    r"\b(?:s[do0]n\.?\s*bhd|s/b|ltd|limited|inc|llc|gmbh|enterprise|berhad|plc|pte|company|restaurant)\W*$", re.IGNORECASE
)
_ONLY_SUFFIX = re.compile(
    r"^(?:\([\w\s.]+\)\s*)?(?:s[do0]n\.?\s*bhd|ltd|limited|inc|llc|gmbh|berhad|plc|pte)\W*$", re.IGNORECASE
)
_REGISTERED = re.compile(r"\s*(?:\([A-Z]{0,2}\d[\dA-Z\s-]*\)?|[A-Z]{0,2}\d[\dOTZ]{3,}\s?-?\s?[A-Z])\s*$")
_BEFORE_NAME = re.compile(r"^\s*(?:own(?:ed)? by|operated by|managed by|welcome to)\s*:?\s*", re.IGNORECASE)
_NO_NAME = re.compile(
    r"\b(?:tel|fax|phone|hp|gst|vat|reg|roc|co\.? no|invoice|inv|receipt|bill|date|time|cashier|order|welcome|thank|copy"
    r"|table|original|duplicate|jalan|jln|taman|lorong|persiaran|street|road|avenue|floor|level|lot|no\.|www|http|email|e-mail"
    r"|simplified|customer|member|tax|cash(?!\s*(?:&|and)\s*carry)|reprint|doc|page|document|number)\b"
    r"|@|\.com|^\W*\d+\W*\d*\W*$|^\s*no[\s.:]*\d",
    re.IGNORECASE,
)
_RUN_TOGETHER = re.compile(r"(?<!\d)(?P<a>\d{2})(?P<b>\d{2})(?P<y>20\d{2})(?!\d)")


@dataclass(frozen=True)
class _Name:
    """A line, or two that run on, which may be the name: the cells, and where the name stands in the first."""

    cells: list[Cell]
    text: str
    start: int
    end: int


def merchant_of(rows: Sequence[Sequence[Cell]], priced: Sequence[bool]) -> list[Shown]:
    """The line near the top that is most like the name of a business. ``priced``: whether a row holds amounts."""
    typical = median(cell.height for row in rows for cell in row)
    best: tuple[float, _Name] | None = None
    for at, row in enumerate(rows[:_HEAD_ROWS]):
        name = _name(row, rows[at + 1] if at + 1 < len(rows) else [])
        score = None if name is None or priced[at] else _like_a_name(name, at, typical)
        if name is not None and score is not None and (best is None or score > best[0]):
            best = (score, name)
    if best is None:
        return []
    name = best[1]
    known = re.sub(r"\bs[do0]n(\.?\s*bhd)", r"sdn\1", name.text.lower())
    cell = name.cells[0]
    finding = Finding("merchant", name.start, name.end, Parsed("text", text=known), cell.sure(0.8))
    return [Shown(cell.line, finding)]


def _name(row: Sequence[Cell], below: Sequence[Cell]) -> _Name | None:
    """The name that a row, with the one below where it runs on, would be."""
    cells = [cell for cell in row if re.search(r"[^\W\d_]{2}|&", cell.text)]
    if not cells:
        return None
    first = folded(cells[0].text)
    lead = _BEFORE_NAME.match(first)
    start = lead.end() if lead else len(first) - len(first.lstrip(" *-.'"))
    parts = [first[start:], *(folded(cell.text) for cell in cells[1:] if not any(letter.isdigit() for letter in cell.text))]
    text = " ".join(" ".join(parts).split())
    if (
        not _SUFFIX.search(text)
        and len(below) == 1
        and _ONLY_SUFFIX.match(_REGISTERED.sub("", folded(below[0].text).strip()))
    ):
        text = f"{text} {folded(below[0].text).strip()}"
        cells = [*cells, below[0]]
    text = _REGISTERED.sub("", text).strip(" *-,'")
    end = start + len(_REGISTERED.sub("", first[start:]).rstrip(" *-,'"))
    return _Name(cells, text, start, end) if text else None


def _like_a_name(name: _Name, at: int, typical: float) -> float | None:
    """How much the line is like the name of a business; None where it cannot be one."""
    text = name.text
    letters = sum(letter.isalpha() for letter in text)
    if letters < 3 or letters * 2 < len(text.replace(" ", "")) or _NO_NAME.search(text) or _ONLY_SUFFIX.match(text):
        return None
    score = 5.0 - 0.8 * at
    score += 3 if _COMPANY.search(text) else 0
    score += 2 if _SUFFIX.search(text) else 0
    score += 0.7 if text.isupper() else -1.5 if text.islower() else 0
    score += min(1.5, max(-1.0, name.cells[0].height / max(1.0, typical) - 1))
    score -= 1.5 if re.search(r"\d{3}", text) else 0
    return score - 0.5 * text.count(",")


def date_of(rows: Sequence[Sequence[Cell]], style: Style) -> list[Shown]:
    """The day of the purchase: a date called so, else the first with a time beside it, else the first."""
    found: list[tuple[float, Cell, Dated]] = []
    for at, row in enumerate(rows):
        text = " ".join(folded(cell.text) for cell in row)
        called = re.search(r"date|dt\b|datum", text, re.IGNORECASE) is not None
        timed = re.search(r"\d{1,2}:\d{2}", text) is not None
        wrong = re.search(r"due|valid|expir|until|from|promo|before|born|since", text, re.IGNORECASE) is not None
        score = 2 * called + timed - 3 * wrong - at / (len(rows) + 1)
        found += [(score, cell, dated) for cell in row for dated in dates_in(folded(cell.text)) if dated.readings]
    if not found:
        found = [(0.0, cell, dated) for row in rows for cell in row for dated in _run_together(folded(cell.text))]
    if not found:
        return []
    _, cell, dated = max(found, key=lambda each: each[0])
    parsed = dated_as(dated, style)
    return [Shown(cell.line, Finding("date", dated.start, dated.end, parsed, cell.sure(0.9)))]


def _run_together(text: str) -> list[Dated]:
    """``27032018``: what OCR makes of a date whose separators it missed; only where day and month cannot be mistaken."""
    found = []
    for match in _RUN_TOGETHER.finditer(text):
        first, second, year = int(match["a"]), int(match["b"]), int(match["y"])
        readings = [each for each in (date_or_none(year, second, first), date_or_none(year, first, second)) if each]
        if len(set(readings)) == 1:
            found.append(Dated(match.start(), match.end(), (readings[0],)))
    return found


def time_of(rows: Sequence[Sequence[Cell]], style: Style) -> list[Shown]:
    """The first time of day, written with a colon."""
    for row in rows:
        for cell in row:
            for quantity in quantities(folded(cell.text), style):
                if quantity.parsed.kind == "time" and ":" in folded(cell.text)[quantity.start : quantity.end]:
                    return [Shown(cell.line, Finding("time", quantity.start, quantity.end, quantity.parsed, cell.sure(0.8)))]
    return []
