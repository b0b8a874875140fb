from __future__ import annotations

from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from operators.extract.dates import DayOrder, dates_in, day_order, relative_day

SAID = date(2024, 5, 8)


def on(text: str, order: DayOrder | None = None, said: date | None = SAID) -> date | None:
    (found,) = dates_in(text)
    return found.on(order, said)[0]


@pytest.mark.parametrize(
    "text",
    [
        "2024-05-08", "2024/05/08", "2024.5.8", "8 May 2024", "8th of May 2024", "May 8, 2024", "May 8th, 2024",
        "08-May-2024",
        "Wed, 8 May 2024", "Wednesday, May 8, 2024", "8 May '24", "08MAY2024", "2024\u5e745\u67088\u65e5", "May 8", "8 May",
    ],
)  # fmt: skip
def test_ways_to_write_one_day(text: str) -> None:
    assert on(text) == date(2024, 5, 8)


@pytest.mark.parametrize(
    "text",
    [
        "2024-02-30", "31/02/2024", "99/99/2024", "13/13/2024", "may 99", "3/4", "1.2.3", "12345", "version 10.4.2.1",
        "maybe 8",
        "marching 3", "192.168.1.20", "2024-13-01", "07:30", "a 5-3-2 formation",
    ],
)  # fmt: skip
def test_what_is_no_date(text: str) -> None:
    assert list(dates_in(text)) == []


@pytest.mark.parametrize(
    ("text", "day_first", "month_first"),
    [
        ("3/4/2018", date(2018, 4, 3), date(2018, 3, 4)),
        ("03.04.2018", date(2018, 4, 3), date(2018, 3, 4)),
        ("03-04-18", date(2018, 4, 3), date(2018, 3, 4)),
        ("13/4/2018", date(2018, 4, 13), date(2018, 4, 13)),
        ("4/13/2018", date(2018, 4, 13), date(2018, 4, 13)),
        ("5/5/2018", date(2018, 5, 5), date(2018, 5, 5)),
        ("2018-04-03", date(2018, 4, 3), date(2018, 4, 3)),
    ],
)
def test_the_order_of_day_and_month_is_the_writers(text: str, day_first: date, month_first: date) -> None:
    assert on(text, "day-first") == day_first
    assert on(text, "month-first") == month_first
    assert on(text) == (day_first if day_first == month_first else None)


def test_an_undecided_date_says_so() -> None:
    (found,) = dates_in("3/4/2018")
    day, doubt = found.on(None, SAID)
    assert day is None and doubt == "day-or-month"


def test_a_day_without_year_is_the_one_nearest_to_when_it_was_said() -> None:
    assert on("Dec 30", said=date(2024, 1, 2)) == date(2023, 12, 30)
    assert on("2 Jan", said=date(2023, 12, 30)) == date(2024, 1, 2)
    assert on("Feb 29", said=date(2023, 3, 1)) == date(2024, 2, 29)
    (found,) = dates_in("Dec 30")
    assert found.on(None, None) == (None, "no-year")


def order_of(*texts: str, said: date | None = None) -> DayOrder | None:
    return day_order([(found, said) for text in texts for found in dates_in(text)])


def test_evidence_decides_the_order() -> None:
    assert order_of("13/4/2018", "3/4/2018") == "day-first"
    assert order_of("4/13/2018", "3/4/2018") == "month-first"
    assert order_of("3/4/2018", "5/5/2018", "2018-04-13") is None
    assert order_of("13/4/2018", "4/13/2018") is None
    assert order_of() is None


def test_the_day_of_the_message_is_weaker_evidence() -> None:
    assert order_of("8/5/2024", said=SAID) == "day-first"
    assert order_of("5/8/2024", said=SAID) == "month-first"
    assert order_of("5/8/2024", "13/4/2018", said=SAID) == "day-first"


@pytest.mark.parametrize(
    ("words", "day"),
    [
        ("yesterday", date(2024, 5, 7)),
        ("on Monday", date(2024, 5, 6)),
        ("last Thursday", date(2024, 5, 2)),
        ("Wed", date(2024, 5, 8)),
        ("Sunday", date(2024, 5, 5)),
    ],
)
def test_days_told_from_the_day_of_the_message(words: str, day: date) -> None:
    assert relative_day(words, SAID) == day


@given(st.dates(date(1900, 1, 1), date(2099, 12, 31)), st.sampled_from(["%Y-%m-%d", "%d %B %Y", "%B %d, %Y", "%d-%b-%Y"]))
def test_a_day_written_out_is_that_day(day: date, form: str) -> None:
    assert on(f"on {day.strftime(form)} we met") == day


@given(st.dates(date(1970, 1, 1), date(2069, 12, 31)), st.sampled_from("/-."), st.booleans())
def test_a_day_in_numbers_is_that_day_in_the_writers_order(day: date, mark: str, short: bool) -> None:
    year = "%y" if short else "%Y"
    assert on(day.strftime(f"%d{mark}%m{mark}{year}"), "day-first") == day
    assert on(day.strftime(f"%m{mark}%d{mark}{year}"), "month-first") == day


@given(st.text(), st.dates())
def test_any_text_is_searched_without_fault(text: str, said: date) -> None:
    for found in dates_in(text):
        assert 0 <= found.start < found.end <= len(text)
        found.on(None, said)


@given(st.lists(st.dates(date(1900, 1, 1), date(2099, 12, 31)), max_size=5), st.dates())
def test_any_day_of_a_message_is_evidence_without_fault(days: list[date], said: date) -> None:
    order_of(*(day.strftime("%d/%m/%Y") for day in days), said=said)


@pytest.mark.parametrize("said", [date.min, date.max, date.min + timedelta(days=3)])
def test_the_ends_of_time(said: date) -> None:
    order_of("3/4/2018", said=said)
    on("Feb 29", said=said)
    for words in ("yesterday", "on Monday", "Sunday"):
        relative_day(words, said)
