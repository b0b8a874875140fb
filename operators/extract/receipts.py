"""Receipts: who sold, when, for how much in all, the tax, and what was bought."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from operators.extract.finding import Finding
from operators.extract.folding import folded
from operators.extract.layout import Shown
from operators.extract.numbers import read_number
from operators.extract.page import Cell, rows_of
from operators.extract.receipt_head import date_of, merchant_of, time_of
from operators.extract.units import CURRENCIES
from operators.extract.values import Parsed, Style

_SIGN = r"rm|rh|myr|us\$|s\$|[$€£¥₹]|usd|eur|gbp|sgd|aud|idr|inr"
_AMOUNT = re.compile(
    rf"(?:(?<![\w.,/:-])|(?<=[a-z])(?=(?:{_SIGN})\s?-?\d)|(?<=[^\d.,/:-]-))(?P<before>-\s?)?(?P<sign>{_SIGN})?\s?(?P<minus>-\s?)?"
    r"(?P<digits>\d{1,3}(?:,\d{3})+\.\s?\d{2}|\d{1,3}(?:[. ]\d{3})+,\s?\d{2}|\d{1,9}[.,]\s?\d{2})"
    rf"(?P<behind>\s?(?:{_SIGN})(?!\w))?"
    r"(?![\d%]|[.,]\d|\s?(?:kg|g|ml|l|%)\b)",
    re.IGNORECASE,
)
_WHOLE = re.compile(
    r"(?:(?P<sign>[¥₩₫￥])\s?)?(?<![\d.,])(?P<digits>\d{1,3}(?:,\d{3})+|\d{1,9})(?P<behind>\s?[円원])?(?![\d.,]\d)"
)
"""An amount of a currency without cents; it is one only with its sign."""
_DASHED = re.compile(r"(?<![\w.,/:-])(?P<whole>\d{1,5})\s?[-;·]\s?(?P<cents>\d{2})(?![\w-])")
"""An amount whose point OCR took for something else; looked for only where an amount must be."""

_WORDS = {
    name: re.compile(pattern, re.IGNORECASE)
    for name, pattern in {
        "total": r"t[o0]t[a4]?[l1i]\b|t[o0]t[a4][l1i]?(?=rm|\W|$)|\btt[l1]\b|(?:amount|amt|balance) due|amount payable"
        r"|to pay|gesamt|summe|importe|totale|合計|合计",
        "sub": r"sub\s?-?\s?t|subt|net\s?am|before|zwischensumme",
        "gone": r"qty|quantity|q.antity|items?\b|disc|saving|points?|tax code|change|cash back|tender|deposit|excl|w/o"
        r"|without",
        "part": r"includes?\s*\d|\d\s?%?\s?tip|suggest|gratuity|w/\s*\d|estimat|deduction",
        "tax": r"\bgst\b|\btax\b|\bvat\b|\bmwst\b|\biva\b|\bsst\b|service charge|svc",
        "incl": r"inc[l1\]]|include",
        "final": r"round(?:ed)? total|total rounded|after round|grand|nett?\b|paya|(?:amount|balance|total) due|to pay"
        r"|inc[l1\]]",
        "cash": r"\bcash\b|tender|paid|visa|master|card|debit|credit|amex|payment|bar\b",
        "change": r"\bchange\b|\bchg\b|rückgeld|cambio",
        "round": r"r[o0c]?u?n?d(?:[il1]ng|g)|rouding|rouing|rcunding|\brnd",
    }.items()
}
_SIGNS = re.compile(
    r"receipt|invoice|\bcashier|\bchange\b|sub\s?-?total|\bgst\b|\bvat\b|bill no|tender|\bsalesperson", re.IGNORECASE
)
_SUMMARY = re.compile(r"(?:gst|tax|vat)\s*summary|summary\s*(?:of)?\s*(?:gst|tax)|gst analysis|tax code", re.IGNORECASE)
_NO_TAX = re.compile(r"exc|before|id|reg|no\b|code|sales|amt|inclusive|\(incl|includes?\b", re.IGNORECASE)


@dataclass(frozen=True)
class _Amount:
    """An amount of money: its cell, its place in the cell's text, how much, and the currency's sign if there is one."""

    cell: Cell
    start: int
    end: int
    number: float
    sign: str


@dataclass(frozen=True)
class _Row:
    """A row of the receipt: its cells, their text together, and the amounts in it."""

    cells: list[Cell]
    text: str
    amounts: list[_Amount]

    def says(self, *words: str) -> bool:
        """Whether it holds one of the words for one of these."""
        return any(_WORDS[word].search(self.text) for word in words)


def is_receipt(cells: Sequence[Cell]) -> bool:
    """Whether a picture is a receipt or bill: amounts, and the words that only such papers have."""
    text = "\n".join(folded(cell.text) for cell in cells)
    amounts = max(len(_AMOUNT.findall(text)), sum(1 for each in _WHOLE.finditer(text) if each["sign"] or each["behind"]))
    signs = len({match.lower() for match in _SIGNS.findall(text)})
    total = _WORDS["total"].search(text) is not None
    return amounts >= 2 and (signs >= 2 or (total and (signs >= 1 or amounts >= 3)))


def observe_receipt(cells: Sequence[Cell], style: Style) -> list[Shown]:
    """Record 0: merchant, date, time, tax, total; a record each for the lines with what was bought."""
    by_row = rows_of(cells)
    rows = [_row(row) for row in by_row]
    currency = _currency(rows)
    total = _total(rows)
    head = [*merchant_of(by_row, [bool(row.amounts) for row in rows]), *date_of(by_row, style), *time_of(by_row, style)]
    if total is not None:
        head.append(_money("total", total, currency, 0.9))
    if (tax := _tax(rows, total)) is not None:
        head.append(_money("tax", tax, currency, 0.8))
    if not any(shown.finding.attribute in ("total", "date") for shown in head):
        return []
    return head + _items(rows, currency, total)


def _row(cells: list[Cell]) -> _Row:
    amounts = [amount for cell in cells for amount in _amounts(cell)]
    row = _Row(cells, " ".join(folded(cell.text) for cell in cells), amounts)
    if not amounts and row.says("total", "cash", "change"):
        return _Row(cells, row.text, [amount for cell in cells for amount in _dashed(cell)])
    return row


def _amounts(cell: Cell) -> list[_Amount]:
    found = []
    for match in _WHOLE.finditer(folded(cell.text)):
        if sign := (match["sign"] or match["behind"] or "").strip():
            number = read_number(match["digits"], "point")[0]
            found.append(_Amount(cell, match.start(), match.end(), number, sign.replace("￥", "¥").replace("원", "₩")))
    if found:
        return found
    for match in _AMOUNT.finditer(folded(cell.text)):
        number = read_number(re.sub(r"\s", "", match["digits"]))[0]
        sign = (match["sign"] or match["behind"] or "").strip().lower()
        found.append(
            _Amount(cell, match.start(), match.end(), -number if match["minus"] or match["before"] else number, sign)
        )
    return found


def _dashed(cell: Cell) -> list[_Amount]:
    found = _DASHED.finditer(folded(cell.text))
    return [_Amount(cell, each.start(), each.end(), int(each["whole"]) + int(each["cents"]) / 100, "") for each in found]


def _currency(rows: Sequence[_Row]) -> str | None:
    """The currency that amounts are marked with, or that is named on the paper."""
    counts: dict[str, int] = {}
    for row in rows:
        for amount in row.amounts:
            if code := CURRENCIES.get(amount.sign.replace("rh", "rm")):
                counts[code] = counts.get(code, 0) + 2
        for word in re.findall(r"(?<![a-z])(?:rm|myr|s[do0]n\.? bhd|usd|eur|gbp|sgd|gmbh)(?![a-z])", row.text.lower()):
            code = "MYR" if word.endswith("bhd") else "EUR" if word == "gmbh" else CURRENCIES[word]
            counts[code] = counts.get(code, 0) + 1
    return max(counts, key=lambda code: counts[code]) if counts else None


def _money(name: str, amount: _Amount, currency: str | None, sure: float, record: int = 0) -> Shown:
    confidence = amount.cell.sure(sure)
    parsed = Parsed("money", amount.number, currency)
    return Shown(amount.cell.line, Finding(name, amount.start, amount.end, parsed, confidence, record))


# --- total ----------------------------------------------------------------------------------------------------------


def _total(rows: Sequence[_Row]) -> _Amount | None:
    """What was to be paid: the amount called so, checked against cash less change where both are told."""
    rows = rows[: _summary(rows)]
    paid = _paid(rows)
    scored: list[tuple[float, int, _Amount]] = []
    for at, row in enumerate(rows):
        for amount in _amounts_of_total(rows, at) if row.says("total") else row.amounts:
            score = _score(row, at / len(rows), amount.number, paid)
            if score > 0 and amount.number > 0:
                scored.append((score, at, amount))
    if not scored:
        return None
    _, at, best = max(scored, key=lambda each: each[:2])
    return _rounded(rows, at, best, paid)


def _score(row: _Row, place: float, amount: float, paid: float | None) -> float:
    """How much an amount is like the grand total; ``place``: how far down the paper it stands, 0 to 1."""
    score = 0.0
    if row.says("total") and not row.says("sub", "part") and not (row.says("gone") and not row.says("final")):
        score += 4 + place + (2 if row.says("final") else 0)
        if row.says("tax") and not row.says("incl"):
            score -= 4
        if row.says("incl") and not re.search(r"sales|amount|amt", row.text, re.IGNORECASE):
            score -= 1
    if paid is not None and abs(amount - paid) < 0.005:
        score += 1.5 if row.says("sub") else 3
    return score


def _paid(rows: Sequence[_Row]) -> float | None:
    """Cash less change; with no change told, what was paid. None where the paper does not say."""
    changed = next((at for at in reversed(range(len(rows))) if rows[at].says("change") and rows[at].amounts), None)
    change = abs(rows[changed].amounts[-1].number) if changed is not None else 0.0
    given = [row for row in rows if row.says("cash") and not row.says("change", "total", "sub")]
    cash = [amount.number for row in given for amount in row.amounts]
    if cash:
        return round(max(cash) - change, 2)
    if changed is None or not change:
        return None
    above = [amount.number for row in rows[max(0, changed - 3) : changed] for amount in row.amounts]
    sums = [low for low in above for high in above if abs(high - low - change) < 0.005]
    return sums[0] if sums else None


def _amounts_of_total(rows: Sequence[_Row], at: int) -> list[_Amount]:
    """The last amount of a row that says total; where it holds none, that of a bare row of amounts right below or above."""
    if rows[at].amounts:
        return rows[at].amounts[-1:]
    for near in (at + 1, at - 1):
        bare = 0 <= near < len(rows) and not re.search(r"[^\W\d_]{3}", _AMOUNT.sub("", rows[near].text))
        if bare and rows[near].amounts:
            return rows[near].amounts[-1:]
    return []


def _rounded(rows: Sequence[_Row], at: int, amount: _Amount, paid: float | None) -> _Amount:
    """The amount after rounding to what coins can pay, where the paper tells it below the total."""
    rounding = [row.amounts[-1].number for row in rows if row.says("round") and row.amounts and not row.says("total")]
    due = [amount.number + by for by in rounding if 0 < abs(by) < 0.1]
    due += [paid] if paid is not None and rounding and 0 < abs(paid - amount.number) < 0.06 else []
    for wanted in due:
        for row in rows[at:]:
            for other in row.amounts:
                if abs(other.number - wanted) < 0.001 and not row.says("change"):
                    return other
    return amount


def _summary(rows: Sequence[_Row]) -> int:
    """Where the summary of taxes at the foot begins, whose totals are not of the purchase."""
    third = len(rows) // 3
    return next((at for at, row in enumerate(rows) if at > third and _SUMMARY.search(row.text)), len(rows))


def _tax(rows: Sequence[_Row], total: _Amount | None) -> _Amount | None:
    for row in rows[: _summary(rows)]:
        if row.says("tax") and row.amounts and not _NO_TAX.search(row.text):
            amount = row.amounts[-1]
            if total is None or 0 < amount.number < total.number / 3:
                return amount
    return None


# --- lines ----------------------------------------------------------------------------------------------------------


def _items(rows: Sequence[_Row], currency: str | None, total: _Amount | None) -> list[Shown]:
    """What was bought: a name with an amount on its row, or on the row above or below it; a record each."""
    ends = ("total", "sub", "cash", "change", "round", "tax")
    end = next((at for at, row in enumerate(rows) if row.amounts and row.says(*ends)), len(rows))
    begin = next((at for at, row in enumerate(rows[:end]) if row.amounts), end)
    below = begin < end and _name_cell(rows[begin]) is None and begin > 0 and _plain_name(rows[begin - 1]) is None
    shown: list[Shown] = []
    record = 0
    for at in range(begin, end):
        row = rows[at]
        if not row.amounts or row.amounts[-1].number < 0 or (total and row.amounts[-1].number > total.number * 1.5):
            continue
        near = (at + 1, at - 1) if below else (at - 1, at + 1)
        names = [_name_cell(row), *(_plain_name(rows[each]) for each in near if begin - 1 <= each < end)]
        name = next((cell for cell in names if cell is not None), None)
        if name is None:
            continue
        record += 1
        text = folded(name.text)
        priced = min((amount.start for amount in row.amounts if amount.cell is name), default=len(text))
        text = text[:priced] if priced > len(text) // 3 else text
        start, stop = len(text) - len(text.lstrip(" *-.")), len(text.rstrip(" *-@x"))
        parsed = Parsed("text", text=" ".join(text[start:stop].lower().split()))
        sure = name.sure(0.7)
        shown.append(Shown(name.line, Finding("item", start, stop, parsed, sure, record)))
        shown.append(_money("amount", row.amounts[-1], currency, 0.7, record))
    return shown


def _name_cell(row: _Row) -> Cell | None:
    """The cell of a row that names a thing: letters that are no amount and no code."""
    for cell in row.cells:
        text = _AMOUNT.sub("", folded(cell.text))
        if len(re.findall(r"[^\W\d_]", text)) >= 4 and not re.fullmatch(r"[\W\d]*[A-Z0-9-]{4,}\d+[\W\d]*", text):
            return cell
    return None


def _plain_name(row: _Row) -> Cell | None:
    return None if row.amounts or len(row.cells) > 2 else _name_cell(row)
