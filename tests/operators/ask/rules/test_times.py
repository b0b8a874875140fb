"""The times of questions: a table of wordings, periods written out and read back, and texts that are none."""

from __future__ import annotations

import time
from datetime import date

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from operators.ask.rules.times import Period, periods

TODAY = date(2016, 5, 11)
"""A Wednesday."""
KNOWN = (date(2016, 4, 12), TODAY)


def read(text: str) -> list[Period]:
    return periods(text, TODAY, known=KNOWN)


def told(text: str) -> list[tuple[str, str, str]]:
    return [(text[each.start : each.end], str(each.first or ""), str(each.last or "")) for each in read(text)]


ONE = [
    ("on April 17, 2016", "2016-04-17", "2016-04-17"),
    ("17 April", "2016-04-17", "2016-04-17"),
    ("the 17th of April", "2016-04-17", "2016-04-17"),
    ("Apr 17th", "2016-04-17", "2016-04-17"),
    ("4/17/2016", "2016-04-17", "2016-04-17"),
    ("2016-04-17", "2016-04-17", "2016-04-17"),
    ("on Sunday, April 17", "2016-04-17", "2016-04-17"),
    ("on the 17th", "2016-04-17", "2016-04-17"),
    ("on 12 May", "2015-05-12", "2015-05-12"),
    ("from April 21 to April 26, 2016", "2016-04-21", "2016-04-26"),
    ("April 21-26", "2016-04-21", "2016-04-26"),
    ("21 to 26 April", "2016-04-21", "2016-04-26"),
    ("between April 21 and April 26", "2016-04-21", "2016-04-26"),
    ("the 21st through the 26th of April 2016", "2016-04-21", "2016-04-26"),
    ("between the 21st and the 26th of April", "2016-04-21", "2016-04-26"),
    ("4/21 - 4/26", "2016-04-21", "2016-04-26"),
    ("from December 28 to January 3, 2016", "2015-12-28", "2016-01-03"),
    ("April 2015 to June 2016", "2015-04-01", "2016-06-30"),
    ("from April to now", "2016-04-01", "2016-05-11"),
    ("from Monday to Friday", "2016-05-02", "2016-05-06"),
    ("in April", "2016-04-01", "2016-04-30"),
    ("in may", "2016-05-01", "2016-05-31"),
    ("during the month of May", "2016-05-01", "2016-05-31"),
    ("early April", "2016-04-01", "2016-04-10"),
    ("mid-April", "2016-04-11", "2016-04-20"),
    ("in late April", "2016-04-21", "2016-04-30"),
    ("first week of May", "2016-05-01", "2016-05-07"),
    ("in the last week of April", "2016-04-24", "2016-04-30"),
    ("in the second half of April", "2016-04-16", "2016-04-30"),
    ("the first three days of May", "2016-05-01", "2016-05-03"),
    ("at the end of April", "2016-04-21", "2016-04-30"),
    ("first Monday of April", "2016-04-04", "2016-04-04"),
    ("since March", "2016-03-01", ""),
    ("since April 20", "2016-04-20", ""),
    ("from April 20 on", "2016-04-20", ""),
    ("from April 20 onwards", "2016-04-20", ""),
    ("after April 20", "2016-04-21", ""),
    ("before April 20", "", "2016-04-19"),
    *[(f"{word} April 20", "", "2016-04-20") for word in ("until", "up to", "through", "by", "as of")],
    ("until the end of May", "", "2016-05-31"),
    ("by May 20", "", "2016-05-20"),
    ("today", "2016-05-11", "2016-05-11"),
    ("this morning", "2016-05-11", "2016-05-11"),
    *[(word, "2016-05-10", "2016-05-10") for word in ("yesterday", "last night", "overnight")],
    ("the day before yesterday", "2016-05-09", "2016-05-09"),
    ("last week", "2016-05-02", "2016-05-08"),
    ("this week", "2016-05-09", "2016-05-15"),
    ("the week before last", "2016-04-25", "2016-05-01"),
    ("past week", "2016-05-05", "2016-05-11"),
    ("last weekend", "2016-05-07", "2016-05-08"),
    ("this month", "2016-05-01", "2016-05-31"),
    ("last month", "2016-04-01", "2016-04-30"),
    ("last quarter", "2016-01-01", "2016-03-31"),
    ("previous year", "2015-01-01", "2015-12-31"),
    ("the last 7 days", "2016-05-05", "2016-05-11"),
    ("past two weeks", "2016-04-28", "2016-05-11"),
    ("last 3 months", "2016-02-12", "2016-05-11"),
    ("the previous 30 days", "2016-04-12", "2016-05-11"),
    ("in the last 24 hours", "2016-05-10", "2016-05-11"),
    ("two weeks ago", "2016-04-25", "2016-05-01"),
    ("3 days ago", "2016-05-08", "2016-05-08"),
    ("a month ago", "2016-04-01", "2016-04-30"),
    ("last Friday", "2016-05-06", "2016-05-06"),
    ("on Friday", "2016-05-06", "2016-05-06"),
    ("last Wednesday", "2016-05-04", "2016-05-04"),
    ("on Wednesday", "2016-05-11", "2016-05-11"),
    ("Q1 2016", "2016-01-01", "2016-03-31"),
    ("in 2016", "2016-01-01", "2016-12-31"),
    ("year to date", "2016-01-01", "2016-05-11"),
    ("so far this year", "2016-01-01", "2016-05-11"),
    ("this month so far", "2016-05-01", "2016-05-11"),
    ("summer 2015", "2015-06-01", "2015-08-31"),
    ("Christmas 2015", "2015-12-25", "2015-12-25"),
    ("New Year's Eve", "2015-12-31", "2015-12-31"),
    ("the week of April 18", "2016-04-18", "2016-04-24"),
    ("the day after April 20", "2016-04-21", "2016-04-21"),
    ("the week before April 20", "2016-04-13", "2016-04-19"),
    ("next week", "2016-05-16", "2016-05-22"),
    ("on 29 February", "2016-02-29", "2016-02-29"),
]


@pytest.mark.parametrize(("text", "first", "last"), ONE)
def test_one_period(text: str, first: str, last: str) -> None:
    assert told(text) == [(text, first, last)]
    assert told(f"how far did I walk {text}?") == [(text, first, last)]


@pytest.mark.parametrize(
    ("text", "days"),
    [("on Mondays", {0}), ("every Monday", {0}), ("on weekends", {5, 6}), ("on weekdays", {0, 1, 2, 3, 4}),
     ("Mondays, Wednesdays and Fridays", {0, 2, 4})],
)  # fmt: skip
def test_weekdays(text: str, days: set[int]) -> None:
    assert read(text) == [Period(None, None, 0, len(text), weekdays=frozenset(days))]


@pytest.mark.parametrize(
    "text",
    ["May I ask how much I slept", "how long did I march", "in total", "the day I went to the hospital", "last day I logged",
     "the second time in the sun", "the cat sat on a bench", "I may or may not", "10,000 steps", "7.5 km", "10-15", "12/5",
     "1/2 cup", "more than 2016 steps", "by weekday", "on the 2nd floor", "the last 3 days I logged", "31 February 2016",
     "April 17, 0000", "0000-01-01", "last 99999999 weeks", "99999 years ago", "२०१६-०४-१७", ""],
)  # fmt: skip
def test_no_period(text: str) -> None:
    assert read(text) == []


@pytest.mark.parametrize(
    ("text", "spans"),
    [("in April or in May", ["in April", "in May"]), ("April vs May", ["April", "May"]),
     ("more in April than in May", ["in April", "in May"]), ("more in april than may", ["in april", "may"]),
     ("last week compared to this week", ["last week", "this week"]), ("compare April to May", ["April", "May"]),
     ("the difference between April and May", ["April", "May"]), ("2015 vs 2016", ["2015", "2016"]),
     ("before or after April 20", ["before", "after April 20"]), ("on Saturdays or Sundays", ["on Saturdays", "Sundays"])],
)  # fmt: skip
def test_two_periods(text: str, spans: list[str]) -> None:
    assert [span for span, _, _ in told(text)] == spans


def test_day_and_month_in_either_order() -> None:
    april, march = date(2016, 4, 3), date(2016, 3, 4)
    both = periods("on 03/04/2016", TODAY)[0]
    assert (both.first, both.ambiguous) == (april, ((march, march),))
    assert [periods("on 03/04/2016", TODAY, day_first=order)[0].first for order in (True, False)] == [april, march]
    assert [periods("on 03/04/2016", TODAY, day_first=order)[0].ambiguous for order in (True, False)] == [(), ()]
    assert periods("on 4/17/2016", TODAY, day_first=True)[0].first == date(2016, 4, 17)


def test_a_missing_year_is_the_last_that_meets_the_records() -> None:
    assert periods("in April", date(2026, 12, 1), known=KNOWN)[0].first == date(2016, 4, 1)
    assert periods("in April", date(2026, 3, 1))[0].first == date(2025, 4, 1)


_DAYS = st.dates(date(1950, 1, 1), date(2069, 12, 31))
_LONG, _SHORT = "{0:%B} {0.day}, {0.year}", "{0.day} {0:%b} {0.year}"


@given(_DAYS, _DAYS, st.sampled_from(["from {} to {}", "between {} and {}", "{} through {}", "{} - {}"]),
       st.sampled_from([_LONG, _SHORT, "{0:%Y-%m-%d}"]))  # fmt: skip
def test_written_out_and_read_back(one: date, two: date, joined: str, written: str) -> None:
    first, last = min(one, two), max(one, two)
    text = joined.format(written.format(first), written.format(last))
    assert [(each.first, each.last, each.start, each.end) for each in read(text)] == [(first, last, 0, len(text))]


_WORDS = st.sampled_from(
    [
        "from",
        "to",
        "between",
        "and",
        "in",
        "on",
        "the",
        "of",
        "last",
        "first",
        "week",
        "weeks",
        "month",
        "april",
        "may",
        "2016",
        "17",
        "21st",
        "4/5",
        "-",
        ",",
        "before",
        "after",
        "since",
        "ago",
        "two",
        "day",
        "year",
        "end",
        "until",
        "monday",
        "mondays",
        "0",
        "31",
        "99999999",
        "next",
        "quarter",
        "christmas",
        "so",
        "far",
        "this",
        "q1",
        "winter",
        "every",
        "half",
        "2016-04-17",
    ]
)


@given(st.text(max_size=200) | st.lists(_WORDS, max_size=14).map(" ".join), st.dates(), st.none() | st.booleans())
@settings(max_examples=400)
def test_any_text_has_periods_in_order(text: str, today: date, day_first: bool | None) -> None:
    end = 0
    for each in periods(text, today, day_first=day_first, known=KNOWN):
        assert end <= each.start < each.end <= len(text)
        assert text[each.start : each.end].strip()
        assert each.first is None or each.last is None or each.first <= each.last
        end = each.end


@pytest.mark.parametrize(
    "piece", ["a", "1", "1 ", "april ", "from april to ", "the last ", "the ", "week after ", "1/", "'", "  "]
)
def test_long_texts_take_no_long(piece: str) -> None:
    text = (piece * 10_000)[:10_000]
    started = time.process_time()
    read(text)
    assert time.process_time() - started < 0.5
