"""Questions whose conditions were once passed over: names, currencies, negations, times that cannot be, texts."""

from __future__ import annotations

import statistics
from collections import Counter
from datetime import UTC, date, datetime
from typing import Any

import pytest
from diaries import DAYS, LB, RECEIPTS, RIDES, SURGERY, WEIGHINGS

from operators.ask.steps import Answer
from operators.memory import Memory

NOW = datetime(2025, 5, 5, 12, tzinfo=UTC)
BASE = {"s": 1, "min": 60, "minutes": 60, "h": 3600, "hours": 3600, "m": 1, "km": 1000, "kg": 1, "lb": LB}
AFTER = [day for day in DAYS if day.day > SURGERY]
FEBRUARY = [day for day in DAYS if day.day.month == 2]


def ask(memory: Memory, text: str, user: str = "nora") -> Answer:
    return memory.ask(user, text, now=NOW)


def number(answer: Answer) -> float:
    assert answer.value is not None, answer.text
    assert answer.value.kind == "number", answer.text
    return float(answer.value.value) * BASE.get(answer.value.unit or "", 1)


def spent(currency: str, pick: Any = lambda _: True) -> float:
    return round(sum(each.amount for each in RECEIPTS if each.currency == currency and pick(each)), 2)


SHORT = [day for day in FEBRUARY if day.sleep < 390]
WEEKDAYS = [day for day in DAYS if day.day.weekday() < 5]
NUMBERS: list[tuple[str, str, float]] = [
    # a value of two parts in a condition
    ("nora", "How many nights did I sleep less than 6 h 30 min in February?", len(SHORT)),
    ("nora", "In February, on how many days did I sleep less than 6 hours 30 minutes?", len(SHORT)),
    # counts of records that have two measures a record
    ("nora", "How many bike rides did I do?", len(RIDES)),
    ("nora", "How often did I cycle?", len(RIDES)),
    ("nora", "How many rides were longer than 5 miles?", sum(ride.km * 1000 > 5 * 1609.344 for ride in RIDES)),
    # a condition that is passed over in silence: the value of all records is told
    ("nora", "How many steps a day did I average after I had my knee surgery?", statistics.fmean(d.steps for d in AFTER)),
    ("nora", "How many steps did I take on my surgery day?", DAYS[25].steps),
    ("nora", "mean sleep excluding weekends", statistics.fmean(day.sleep for day in WEEKDAYS) * 60),
    ("nora", "On how many days did I not drink more than 1 coffee?", sum(day.coffees <= 1 for day in DAYS)),
    ("nora", "What was my third highest step count?", sorted((day.steps for day in DAYS), reverse=True)[2]),
    ("nora", "How long was my second longest night?", sorted(day.sleep for day in DAYS)[-2] * 60),
    # a currency that is named
    ("petra", "What was my most expensive purchase in dollars?", max(e.amount for e in RECEIPTS if e.currency == "USD")),
    ("petra", "How much did I spend in euros?", spent("EUR")),
    ("petra", "How much did I pay in dollars?", spent("USD")),
    ("petra", "How many euros did I spend?", spent("EUR")),
    ("petra", "How many purchases over 30 euros did I make?", sum(e.currency == "EUR" and e.amount > 30 for e in RECEIPTS)),
]


@pytest.mark.parametrize(("user", "text", "wanted"), NUMBERS, ids=[case[1] for case in NUMBERS])
def test_a_number(diaries_memory: Memory, user: str, text: str, wanted: float) -> None:
    assert number(ask(diaries_memory, text, user)) == pytest.approx(wanted, rel=1e-4)


@pytest.mark.parametrize(
    "text", ["When did I last weigh more than 160 lb?", "When was the last time I weighed more than 160 lb?"]
)
def test_the_last_day_that_meets_a_condition(diaries_memory: Memory, text: str) -> None:
    answer = ask(diaries_memory, text)
    wanted = [each.day for each in WEIGHINGS if each.kg > 160 * LB][-1].isoformat()
    assert answer.value is not None
    assert answer.value.value in (wanted, [wanted])


@pytest.mark.parametrize(
    "text", ["How many steps did I take on 31 February 2025?", "What was my average sleep in month 13?"]
)
def test_a_day_that_no_calendar_has_is_not_all_days(diaries_memory: Memory, text: str) -> None:
    answer = ask(diaries_memory, text)
    assert answer.value is None or answer.trace.notes or answer.trace.plan.notes, answer.text


def test_a_soft_hyphen_is_no_letter(diaries_memory: Memory) -> None:
    mean = statistics.fmean(day.sleep for day in DAYS) * 60
    assert number(ask(diaries_memory, "What was my av\u00aderage sleep?")) == pytest.approx(mean, rel=1e-4)


# --- text columns ---------------------------------------------------------------------------------------------------


def test_the_most_frequent_text(diaries_memory: Memory) -> None:
    answer = ask(diaries_memory, "What mood did I have most often?")
    assert answer.value is not None
    assert answer.value.value == Counter(day.mood for day in DAYS).most_common(1)[0][0]


def test_the_latest_text(diaries_memory: Memory) -> None:
    answer = ask(diaries_memory, "What was my latest mood?")
    assert DAYS[-1].mood in answer.text
    assert {cited.day for cited in answer.citations} == {DAYS[-1].day}


def test_a_number_of_each_text(diaries_memory: Memory) -> None:
    answer = ask(diaries_memory, "average sleep per mood")
    assert answer.value is not None
    assert answer.value.kind == "groups"
    assert {row["key"] for row in answer.value.value} == {day.mood for day in DAYS}


def test_the_days_of_a_text(diaries_memory: Memory) -> None:
    answer = ask(diaries_memory, "On which days was I nervous in April?")
    assert answer.value is not None
    wanted = [day.day.isoformat() for day in DAYS if day.mood == "nervous" and day.day.month == 4]
    assert answer.value.value == wanted


def test_the_texts_that_there_are(diaries_memory: Memory) -> None:
    assert number(ask(diaries_memory, "How many different moods did I have?")) == 4


# --- groups ---------------------------------------------------------------------------------------------------------


def test_weekdays_as_groups(diaries_memory: Memory) -> None:
    answer = ask(diaries_memory, "average coffees per weekday")
    assert answer.value is None or answer.value.kind == "groups", answer.text


def test_a_currency_that_is_not_there(diaries_memory: Memory) -> None:
    answer = ask(diaries_memory, "How much did I spend in Swiss francs?", "petra")
    assert answer.status == "no records" or answer.trace.notes, answer.text


def test_what_was_bought_on_a_day(diaries_memory: Memory) -> None:
    answer = ask(diaries_memory, "What did I buy on 3 February 2025?", "petra")
    assert "bread" in answer.text.lower(), answer.text
    assert {cited.day for cited in answer.citations} == {date(2025, 2, 3)}


# --- a value that is not what was asked for -------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "What is otto's average sleep?",
        "How many steps did otto take in total?",
        "How long does my sister sleep on average?",
        "Average sleep of my neighbour",
    ],
)
def test_own_values_are_not_told_as_anothers(diaries_memory: Memory, text: str) -> None:
    answer = ask(diaries_memory, text)
    assert answer.value is None or answer.trace.notes or answer.trace.plan.notes, answer.text


def test_running_is_not_cycling(diaries_memory: Memory) -> None:
    answer = ask(diaries_memory, "How many kilometres did I run?")
    assert answer.value is None, answer.text


@pytest.mark.parametrize("text", ["total sleep on 30 February", "average sleep 2025-13-01", "average sleep in Smarch"])
def test_a_time_that_cannot_be_is_not_passed_over(diaries_memory: Memory, text: str) -> None:
    answer = ask(diaries_memory, text)
    assert answer.value is None or answer.trace.notes or answer.trace.plan.notes, answer.text


@pytest.mark.parametrize("text", ["What was my most expensive purchase?", "What was the cheapest thing I bought?"])
def test_extremes_in_two_currencies(diaries_memory: Memory, text: str) -> None:
    answer = ask(diaries_memory, text, "petra")
    assert answer.status == "answered", answer.text
    pick = max if "most" in text else min
    for unit in ("EUR", "USD"):
        assert f"{pick(each.amount for each in RECEIPTS if each.currency == unit):g}" in answer.text


def test_a_comparison_of_items_in_two_currencies_says_so_in_words(diaries_memory: Memory) -> None:
    answer = ask(diaries_memory, "Was lunch more expensive than bread on average?", "petra")
    assert "paid.unit" not in answer.text, answer.text


def test_what_was_bought_last_is_a_thing(diaries_memory: Memory) -> None:
    answer = ask(diaries_memory, "What did I last buy?", "petra")
    assert RECEIPTS[-1].item in answer.text, answer.text
