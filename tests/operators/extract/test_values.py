from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from operators.extract.folding import folded
from operators.extract.values import Parsed, Style, leading_value, parse_value, quantities


def value(text: str, style: Style = Style()) -> Parsed:  # noqa: B008
    found = parse_value(folded(text), style)
    assert found is not None, text
    return found


def counted(text: str, style: Style = Style()) -> tuple[str, float | None, str | None]:  # noqa: B008
    found = value(text, style)
    return found.kind, None if found.number is None else round(found.number, 6), found.unit


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("12", 12), ("6.4", 6.4), ("6,4", 6.4), ("0.123", 0.123), ("0,123", 0.123), ("1,234.5", 1234.5), ("1.234,5", 1234.5),
        ("1,234,567", 1234567), ("1.234.567", 1234567), ("1.234.567,89", 1234567.89), ("1 234 567", 1234567),
        ("1\u202f234,5", 1234.5), ("1'234.5", 1234.5), ("1\u2019234.5", 1234.5), ("8,412", 8412), ("-3.5", -3.5),
        ("\u22123.5", -3.5), ("+2", 2), ("\uff17\uff12.\uff14", 72.4), ("\u0667\u0662\u066b\u0664", 72.4), (" 12 ", 12),
        ("**12**", 12), ("12.", 12),
    ],
)  # fmt: skip
def test_numbers_in_every_style(text: str, number: float) -> None:
    assert counted(text) == ("number", number, None)
    assert value(text).doubt is None


@pytest.mark.parametrize(
    ("text", "kind", "number", "unit"),
    [
        ("72.4 kg", "number", 72.4, "kg"), ("72,4kg", "number", 72.4, "kg"), ("160 lb", "number", 72.574779, "kg"),
        ("500 g", "number", 0.5, "kg"), ("8 oz", "number", 0.226796, "kg"), ("5.2 km", "number", 5200, "m"),
        ("3.1 miles", "number", 4988.9664, "m"), ("180 cm", "number", 1.8, "m"), ("500 ml", "number", 0.5, "l"),
        ("2 liters", "number", 2, "l"), ("450 kcal", "number", 450, "kcal"), ("2,092 kJ", "number", 500, "kcal"),
        ("98.6 \u00b0F", "number", 37, "\u00b0C"), ("38.2\u00b0C", "number", 38.2, "\u00b0C"),
        ("62 bpm", "number", 62, "bpm"),
        ("8,412 steps", "number", 8412, "steps"), ("5:30 /km", "number", 330, "s/km"),
        ("5.4 mmol/L", "number", 5.4, "mmol/l"),
        ("72.4 kg (after breakfast)", "number", 72.4, "kg"),
        ("6 h 12 min", "duration", 22320, "s"), ("6h12m", "duration", 22320, "s"), ("6h12", "duration", 22320, "s"),
        ("6 hours and 12 minutes", "duration", 22320, "s"), ("6 h 12 min 30 s", "duration", 22350, "s"),
        ("12 min 30 s", "duration", 750, "s"), ("1:45 h", "duration", 6300, "s"), ("90 min", "duration", 5400, "s"),
        ("1,5 h", "duration", 5400, "s"), ("half an hour", "duration", 1800, "s"), ("2 days", "duration", 172800, "s"),
        ("seven and a half hours", "duration", 27000, "s"),
        ("$3.45", "money", 3.45, "USD"), ("\u20ac1.234,56", "money", 1234.56, "EUR"),
        ("1.234,56 \u20ac", "money", 1234.56, "EUR"),
        ("1\u202f234,56 \u20ac", "money", 1234.56, "EUR"), ("45 euros", "money", 45, "EUR"), ("\u00a35", "money", 5, "GBP"),
        ("\u00a51,200", "money", 1200, "JPY"), ("RM 12.50", "money", 12.5, "MYR"), ("CHF 1'234.50", "money", 1234.5, "CHF"),
        ("20 USD", "money", 20, "USD"), ("USD 20", "money", 20, "USD"), ("$12k", "money", 12000, "USD"),
        ("-$5", "money", -5, "USD"), ("$3.45 USD", "money", 3.45, "USD"),
        ("18.5%", "percent", 18.5, "%"), ("18,5 %", "percent", 18.5, "%"), ("64 percent", "percent", 64, "%"),
        ("128/84", "ratio", 128, "/84"), ("8/10", "ratio", 8, "/10"), ("4.5 / 5", "ratio", 4.5, "/5"),
        ("9 out of 10", "ratio", 9, "/10"),
    ],
)  # fmt: skip
def test_quantities_are_told_in_base_units(text: str, kind: str, number: float, unit: str) -> None:
    assert counted(text) == (kind, number, unit)


@pytest.mark.parametrize(
    ("text", "kind", "meant"),
    [
        ("7:30 am", "time", "07:30"), ("7:30 PM", "time", "19:30"), ("12:15 a.m.", "time", "00:15"),
        ("12 pm", "time", "12:00"),
        ("19:05", "time", "19:05"), ("2024-05-08", "date", "2024-05-08"), ("May 8, 2024", "date", "2024-05-08"),
        ("8 May 2024 13:05", "date", "2024-05-08T13:05"), ("2024-05-08T13:05", "date", "2024-05-08T13:05"),
        ("yes", "bool", "true"), ("No.", "bool", "false"), ("TRUE", "bool", "true"), ("Blue  Bottle", "text", "blue bottle"),
    ],
)  # fmt: skip
def test_times_dates_answers_and_texts(text: str, kind: str, meant: str) -> None:
    assert (value(text).kind, value(text).text) == (kind, meant)


@pytest.mark.parametrize(
    "text", ["n/a", "N/A", "n / a", "--", "-", "\u2014", "none", "?", "???", "tbd", "...", "", "   ", "unknown", "null"]
)
def test_what_says_that_there_is_no_value_is_none(text: str) -> None:
    assert parse_value(folded(text)) is None


@pytest.mark.parametrize(
    ("text", "number", "unit"), [("6ish", 6, None), ("~6", 6, None), ("about 7 h", 25200, "s"), ("6ish hours", 21600, "s")]
)
def test_what_is_only_about_right_is_doubted(text: str, number: float, unit: str | None) -> None:
    found = value(text)
    assert (found.number, found.unit, found.doubt) == (number, unit, "approximate")


@pytest.mark.parametrize(
    "text",
    [
        "l2 kg", "1O2", "7\u00b2 kg", "12abc", "v3.2.1", "192.168.1.1", "555-1234", "10-20 min", "7-8 h", "25:10", "99:99",
        "2024-02-30", "1,23,45", "#5", "7 \u043ag", "9" * 400,
    ],
)  # fmt: skip
def test_what_only_looks_like_a_number_is_text(text: str) -> None:
    found = value(text)
    assert (found.kind, found.number) == ("text", None)


def test_a_lone_separator_before_three_digits_is_decided_by_the_writers_style() -> None:
    assert counted("8.412", Style(decimal="comma")) == ("number", 8412, None)
    assert counted("8.412", Style(decimal="point")) == ("number", 8.412, None)
    assert counted("8,412", Style(decimal="comma")) == ("number", 8.412, None)
    assert counted("8,412", Style(decimal="point")) == ("number", 8412, None)
    assert value("8.412").doubt is not None
    assert value("8.412", Style(decimal="comma")).doubt is None


def test_a_text_may_begin_with_a_quantity_or_not() -> None:
    found = leading_value("72.4 kg this morning")
    assert found is not None and (found.start, found.end, found.unit_written) == (0, 7, "kg")
    assert leading_value("this morning 72.4 kg") is None


def test_quantities_stand_where_they_are_said_to() -> None:
    text = "On 2024-05-08 at 7:30 am I ran 5.2 km for $3.45, 64 % of 8/10"
    assert [text[each.start : each.end] for each in quantities(text)] == [
        "2024-05-08", "7:30 am", "5.2 km", "$3.45", "64 %", "8/10",
    ]  # fmt: skip


@given(st.integers(0, 10**9), st.integers(0, 99))
def test_a_number_of_either_style_is_the_number(whole: int, cents: int) -> None:
    written = f"{whole:,}.{cents:02d}"
    assert value(written).number == pytest.approx(whole + cents / 100)
    swapped = written.translate(str.maketrans(",.", ".,"))
    assert value(swapped).number == pytest.approx(whole + cents / 100)
    assert value(f"{swapped} \u20ac").number == pytest.approx(whole + cents / 100)


PIECES = st.lists(
    st.sampled_from(
        ["12", "7.5", "1,234", " ", "kg", "h", "min", "/", ":", "-", "$", "%", "May", "2024", "am", "~", "ish", "."]
    )
    | st.text(max_size=3)
).map("".join)


@given(PIECES)
def test_any_text_is_read_without_fault(text: str) -> None:
    plain = folded(text)
    assert len(plain) == len(text)
    ends = 0
    for found in quantities(plain):
        assert ends <= found.start < found.end <= len(plain)
        ends = found.end
    for parsed in (parse_value(plain), *(each.parsed for each in quantities(plain))):
        assert parsed is None or parsed.number is None or math.isfinite(parsed.number)


def test_a_number_of_four_hundred_digits_is_no_infinity() -> None:
    assert all(math.isfinite(found.parsed.number or 0) for found in quantities("weighs " + "9" * 400 + " kg"))
