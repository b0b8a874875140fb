from __future__ import annotations

from datetime import date

import pytest

from operators.extract.page import PictureText, TextLine
from operators.extract.pictures import observe_picture
from operators.extract.values import Style

STYLE = Style(order="month-first", said=date(2024, 5, 8))


def receipt(*rows: str) -> PictureText:
    """A paper 400 pixels wide: a row each, at ``|`` broken into what stands left and what stands right."""
    lines = []
    for at, row in enumerate(rows):
        left, _, right = (part.strip() for part in row.partition("|"))
        top = 40 + 30 * at
        if left:
            lines.append(TextLine(left, (20, top, 20 + 9 * len(left), top + 20), 0.97))
        if right:
            lines.append(TextLine(right, (380 - 9 * len(right), top, 380, top + 20), 0.97))
    return PictureText(400, 100 + 30 * len(rows), tuple(lines))


def head(of: PictureText, style: Style = STYLE) -> dict[str, object]:
    """What the receipt itself says: everything of its first record."""
    told: dict[str, object] = {}
    for each in observe_picture(of, style):
        parsed = each.finding.parsed
        if each.finding.record == 0:
            told[each.finding.attribute.casefold()] = parsed.text if parsed.number is None else parsed.number
    return told


def total(of: PictureText) -> tuple[float | None, str | None]:
    (found,) = [each.finding.parsed for each in observe_picture(of, STYLE) if each.finding.attribute.casefold() == "total"]
    assert found.kind == "money"
    return found.number, found.unit


def items(of: PictureText) -> list[tuple[str, float | None]]:
    """Name as written and price of each line with what was bought."""
    rows: dict[int, dict[str, object]] = {}
    for each in observe_picture(of, STYLE):
        finding = each.finding
        if finding.record:
            text = of.lines[each.line].text[finding.start : finding.end]
            rows.setdefault(finding.record, {})[finding.attribute] = (
                text if finding.parsed.kind == "text" else finding.parsed.number
            )
    return [(str(row["item"]), row["amount"]) for _, row in sorted(rows.items())]  # type: ignore[misc]


CAFE = receipt(
    "BLUE BOTTLE COFFEE", "300 Webster St", "Oakland, CA 94607", "05/08/2024 | 8:41 AM", "Receipt # 1182", "Cashier: Mia",
    "",
    "Latte | $4.50", "Croissant | $3.75", "Cold brew | $5.00", "",
    "Subtotal | $13.25", "Tax | $1.19", "TOTAL | $14.44", "Cash | $20.00", "Change | $5.56", "Thank you!",
)  # fmt: skip


def test_the_head_of_a_receipt() -> None:
    assert head(CAFE) == {
        "merchant": "blue bottle coffee", "date": "2024-05-08", "time": "08:41", "tax": 1.19, "total": 14.44,
    }  # fmt: skip
    assert total(CAFE) == (14.44, "USD")


def test_the_lines_of_a_receipt() -> None:
    assert items(CAFE) == [("Latte", 4.5), ("Croissant", 3.75), ("Cold brew", 5.0)]


HEAD = (
    "FRESH MART SDN BHD",
    "12 Jalan Besar",
    "Invoice No: 4711",
    "Date: 2024-05-08 | 18:02",
    "Milk | 6.50",
    "Bread | 3.48",
)


@pytest.mark.parametrize(
    ("foot", "amount"),
    [
        (["Subtotal | 9.98", "Tax | 0.60", "Grand Total | 10.58", "Cash | 20.00", "Change | 9.42"], 10.58),
        (["Sub Total | 9.98", "Total | 9.98", "Cash | 50.00", "Change | 40.02"], 9.98),
        (["SUBTOTAL | 9.98", "Rounding Adj | 0.02", "Total Rounded | 10.00", "Cash | 50.00", "Change | 40.00"], 10.00),
        (["Total | 9.98", "Rounding | 0.02", "Net Total | 10.00", "CASH | 10.00", "CHANGE | 0.00"], 10.00),
        (["Total | 9.98", "Visa ****1234 | 9.98", "Change | 0.00"], 9.98),
        (["Amount due | 9.98", "Cash tendered | 100.00", "Change due | 90.02"], 9.98),
        (["Total Qty | 2.00", "Total Amount | 9.98", "Cash | 20.00", "Change | 10.02"], 9.98),
        (["Total excl. GST | 9.42", "GST 6% | 0.56", "Total incl. GST | 9.98", "Cash | 10.00", "Change | 0.02"], 9.98),
        (["Discount | -1.00", "Total savings | 1.00", "Total | 8.98", "Cash | 10.00", "Change | 1.02"], 8.98),
        (["Total: 9.98", "Cash: 20.00", "Change: 10.02"], 9.98),
        (["TOTAL", "9.98", "CASH", "20.00", "CHANGE", "10.02"], 9.98),
        (["Total | 9.98", "GST Summary | Amount | Tax", "SR 6% | 9.42 0.56", "Total | 9.42 0.56"], 9.98),
        (["Balance due | 9.98", "Credit card | 9.98", "Total points | 120.00"], 9.98),
        (["Cash | 20.00", "Change | 10.02", "Total | 9.98"], 9.98),
    ],
)  # fmt: skip
def test_the_total_is_what_was_to_be_paid(foot: list[str], amount: float) -> None:
    assert total(receipt(*HEAD, *foot))[0] == amount


@pytest.mark.parametrize(
    ("foot", "amount", "currency"),
    [
        (["Total | \u20ac9,98", "Cash | \u20ac20,00", "Change | \u20ac10,02"], 9.98, "EUR"),
        (["Total | 9,98 \u20ac", "Cash | 20,00 \u20ac", "Change | 10,02 \u20ac"], 9.98, "EUR"),
        (["Total | 1.209,98 EUR", "Cash | 1.210,00 EUR", "Change | 0,02 EUR"], 1209.98, "EUR"),
        (["Total | \u00a39.98", "Cash | \u00a320.00", "Change | \u00a310.02"], 9.98, "GBP"),
        (["Total | RM 9.98", "Cash | RM 20.00", "Change | RM 10.02"], 9.98, "MYR"),
        (["Total | 9.98 $", "Cash | 20.00 $", "Change | 10.02 $"], 9.98, "USD"),
        (["Total | 9.98\u00a3", "Cash | 20.00\u00a3", "Change | 10.02\u00a3"], 9.98, "GBP"),
        (["Total | 1 234,50 \u20ac", "Cash | 1 300,00 \u20ac", "Change | 65,50 \u20ac"], 1234.5, "EUR"),
        (["Total | USD 1,209.98", "Visa | USD 1,209.98"], 1209.98, "USD"),
        (["Total | 9.98"], 9.98, None),
    ],
)
def test_currencies_before_and_behind(foot: list[str], amount: float, currency: str | None) -> None:
    paper = receipt("CORNER SHOP", "Receipt 12", "2024-05-08", "Milk | 6.50", "Bread | 3.48", "Subtotal | 9.98", *foot)
    assert total(paper) == (amount, currency)


def test_money_without_cents() -> None:
    paper = receipt(
        "KONBINI STORE", "Receipt 12", "2024-05-08", "Milk | \u00a5650", "Bread | \u00a5348", "Subtotal | \u00a5998",
        "Total | \u00a5998", "Cash | \u00a51,000", "Change | \u00a52",
    )  # fmt: skip
    assert total(paper) == (998, "JPY")
    assert not {"cash", "change", "subtotal"} & set(head(paper))


def test_the_name_of_a_thing_bought_does_not_hold_its_price() -> None:
    paper = receipt("CAFE", "Receipt 12", "2024-05-08", "1 Latte 4.50", "2 Bagel 6.00", "Subtotal 10.50", "Total 10.50")
    assert [amount for _, amount in items(paper)] == [4.5, 6.0]
    assert not any("4.50" in name or "6.00" in name for name, _ in items(paper))


def test_german_receipt() -> None:
    told = head(
        receipt(
            "B\u00e4ckerei M\u00fcller GmbH", "Hauptstr. 1", "08.05.2024 | 07:12", "Br\u00f6tchen | 1,20", "Kaffee | 2,80",
            "Zwischensumme | 4,00", "Summe | EUR 4,00", "MwSt 7% | 0,26", "Bar | 10,00", "R\u00fcckgeld | 6,00",
            "Invoice 88",
        ),
        Style(order="day-first"),
    )  # fmt: skip
    assert (told["total"], told["date"], told["tax"]) == (4.0, "2024-05-08", 0.26)


def test_without_a_label_of_the_total_cash_less_change_or_nothing() -> None:
    paid = receipt(
        "CORNER SHOP", "Receipt 12", "2024-05-08", "Milk | 6.50", "Bread | 3.48", "9.98", "Cash | 20.00", "Change | 10.02"
    )
    assert head(paid)["total"] == 9.98
    bare = receipt("CORNER SHOP", "Receipt 12", "Invoice 4", "2024-05-08", "Milk | 6.50", "Bread | 3.48")
    assert "total" not in head(bare)


def test_change_and_cash_are_no_total_where_nothing_else_is_told() -> None:
    told = head(receipt("CORNER SHOP", "Receipt 12", "2024-05-08", "Milk | 6.50", "Cash | 20.00", "Change | 13.50"))
    assert told.get("total") in (None, 6.5)


@pytest.mark.parametrize(
    ("row", "day"),
    [
        ("Date: 05/08/2024", "2024-05-08"), ("08 May 2024 18:02", "2024-05-08"), ("2024-05-08 18:02:11", "2024-05-08"),
        ("05-08-24", "2024-05-08"), ("25/12/2023", "2023-12-25"),
    ],
)  # fmt: skip
def test_the_day_of_the_purchase(row: str, day: str) -> None:
    foot = ("Exchange before 30/06/2024", "Milk | 6.50", "Total | 6.50", "Cash | 10.00", "Change | 3.50")
    assert head(receipt("CORNER SHOP", "Receipt 12", row, *foot))["date"] == day


def test_a_day_that_may_be_read_in_two_ways_is_doubted() -> None:
    found = observe_picture(CAFE, Style(said=date(2024, 5, 8)))
    (day,) = [each.finding.parsed for each in found if each.finding.attribute == "date"]
    assert day.text is None and day.doubt == "day-or-month"


@pytest.mark.parametrize(
    "rows",
    [
        ["COFFEE MENU", "Latte | $4.50", "Croissant | $3.75"],
        ["The total cost of the war", "was never counted."],
        ["Receipt"],
    ],
)
def test_what_is_no_receipt_has_no_total(rows: list[str]) -> None:
    assert "total" not in head(receipt(*rows))


def test_every_value_stands_in_its_line() -> None:
    places = {
        each.finding.attribute: (each.line, each.finding.start, each.finding.end) for each in observe_picture(CAFE, STYLE)
    }
    line, start, end = places["total"]
    assert CAFE.lines[line].text[start:end] == "$14.44"
    line, start, end = places["merchant"]
    assert CAFE.lines[line].text[start:end] == "BLUE BOTTLE COFFEE"
