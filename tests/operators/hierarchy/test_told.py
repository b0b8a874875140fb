"""Days that words tell, reckoned from the day on which they are said."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from operators.hierarchy.told import days_told

SAID = date(2026, 3, 18)  # a Wednesday


def none_written(_text: str, _said: date) -> list[tuple[int, date]]:
    return []


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("I came home from the hospital today", "2026-03-18", "2026-03-18"),
        ("Went there this morning", "2026-03-18", "2026-03-18"),
        ("YESTERDAY I fell", "2026-03-17", "2026-03-17"),
        ("the day before yesterday", "2026-03-16", "2026-03-16"),
        ("two days ago", "2026-03-16", "2026-03-16"),
        ("a week ago we met", "2026-03-09", "2026-03-15"),
        ("last week", "2026-03-09", "2026-03-15"),
        ("last weekend", "2026-03-14", "2026-03-15"),
        ("next month", "2026-04-01", "2026-04-30"),
        ("last month", "2026-02-01", "2026-02-28"),
        ("14 months ago", "2025-01-01", "2025-01-31"),
        ("last Friday", "2026-03-13", "2026-03-13"),
        ("last Wednesday", "2026-03-11", "2026-03-11"),
        ("this past Sunday", "2026-03-15", "2026-03-15"),
        ("next Wednesday", "2026-03-25", "2026-03-25"),
        ("this Friday", "2026-03-20", "2026-03-20"),
        ("10 years ago", "2016-01-01", "2016-12-31"),
        ("tomorrow", "2026-03-19", "2026-03-19"),
    ],
)
def test_days(text: str, first: str, last: str) -> None:
    told = days_told(text, SAID, none_written)
    assert told is not None and (told.first.isoformat(), told.last.isoformat()) == (first, last)


@pytest.mark.parametrize(
    "text",
    ["", "the last straw", "the operation is on Friday", "on the weekend", "todays", "9999 years ago", "999 years agog"],
)
def test_no_day(text: str) -> None:
    assert days_told(text, SAID, none_written) is None


def test_a_date_that_is_written_first_is_the_one() -> None:
    def written(text: str, _said: date) -> list[tuple[int, date]]:
        return [(text.index("2 May"), date(2025, 5, 2))]

    told = days_told("On 2 May, not yesterday", SAID, written)
    assert told is not None and told.first == date(2025, 5, 2)
    told = days_told("yesterday, not 2 May", SAID, written)
    assert told is not None and told.first == date(2026, 3, 17)


@given(st.dates(), st.sampled_from(["yesterday", "999 years ago", "999 weeks ago", "next year", "last month", "last week"]))
def test_the_calendar_ends_without_an_error(said: date, text: str) -> None:
    told = days_told(text, said, none_written)
    assert told is None or told.first <= told.last
