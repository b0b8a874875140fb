"""Questions to a real store of invented histories: values by own arithmetic, and citations against the rounds themselves."""

from __future__ import annotations

import json
import statistics
from collections import defaultdict
from collections.abc import Callable, Iterable
from datetime import UTC, date, datetime
from typing import Any

import pytest
from diaries import DAYS, LB, RECEIPTS, RIDES, SURGERY, TRIP, WEIGHINGS, Day

from operators.ask.outcomes import Citation
from operators.ask.steps import Answer
from operators.memory import Memory, open_store

NOW = datetime(2025, 5, 5, 12, tzinfo=UTC)
MILE = 1609.344
BASE = {"s": 1, "min": 60, "h": 3600, "m": 1, "km": 1000, "mi": MILE, "kg": 1, "lb": LB, "stone": 14 * LB}
LONG = {"minutes": "min", "hours": "h", "pounds": "lb", "miles": "mi", "seconds": "s", "mile": "mi", "hour": "h"}


def ask(memory: Memory, text: str, user: str = "nora", at: datetime = NOW) -> Answer:
    answer = memory.ask(user, text, now=at)
    check_citations(memory, user, answer)
    return answer


def check_citations(memory: Memory, user: str, answer: Answer) -> None:
    """Every citation is a round of this user, and what it quotes stands there."""
    rounds = {(row["session_id"], row["round_id"]): row for row in memory.rounds(user).iter_rows(named=True)}
    for cited in answer.citations:
        row = rounds[cited.session_id, cited.round_id]
        assert row["order"] == cited.order
        if cited.kind == "span":
            assert cited.message is not None
            assert row["messages"][cited.message]["text"][cited.start : cited.end] == cited.text


def base(answer: Answer) -> float:
    """A number in seconds, metres, kilograms, or as it is."""
    assert answer.value is not None, answer.text
    assert answer.value.kind == "number", answer.value
    return float(answer.value.value) * factor(answer.value.unit)


def factor(unit: str | None) -> float:
    """What one of a unit is in its base unit."""
    return BASE.get(LONG.get(unit or "", unit or ""), 1)


def cited_days(answer: Answer) -> set[date]:
    """The days of the rounds in which the values stand."""
    return {date.fromisoformat(cited.session_id[-10:]) for cited in values_of(answer)}


def values_of(answer: Answer) -> list[Citation]:
    return [cited for cited in answer.citations if cited.role == "value"]


def days(pick: Callable[[Day], bool] = lambda _: True) -> list[Day]:
    return [day for day in DAYS if pick(day)]


def month(number: int) -> list[Day]:
    return days(lambda day: day.day.month == number)


def within(first: date, last: date) -> list[Day]:
    return days(lambda day: first <= day.day <= last)


def sleep(of: Iterable[Day]) -> float:
    return statistics.fmean(day.sleep for day in of) * 60


def steps(of: Iterable[Day]) -> float:
    return statistics.fmean(day.steps for day in of)


def told(numbers: Iterable[float]) -> float:
    return float(sum(numbers))


BEFORE = days(lambda day: day.day < SURGERY)
AFTER = days(lambda day: day.day > SURGERY)
WEEK_BEFORE_TRIP = within(date(2025, 4, 3), date(2025, 4, 9))
WEEK_AFTER_SURGERY = within(date(2025, 2, 21), date(2025, 2, 27))
SINCE_MARCH = within(date(2025, 3, 1), date(2025, 5, 5))
MOST_STEPS = max(DAYS, key=lambda day: day.steps)
LEAST_SLEEP = min(DAYS, key=lambda day: day.sleep)

# Question, number in base units, the days whose rounds must be cited and no others (None: not of the daily logs).
Case = tuple[str, float, list[Day] | None]
NUMBERS: list[Case] = [
    # averages, and the column by its meaning
    ("What was my average sleep?", sleep(DAYS), list(DAYS)),
    ("How long do I usually rest at night?", sleep(DAYS), list(DAYS)),
    ("average shut-eye in March", sleep(month(3)), month(3)),
    ("How many hours did I sleep on average in January 2025?", sleep(month(1)), month(1)),
    ("mean number of steps in February", steps(month(2)), month(2)),
    ("What is my median step count in March?", statistics.median(day.steps for day in month(3)), month(3)),
    # totals
    ("How many steps did I take in total in February 2025?", told(day.steps for day in month(2)), month(2)),
    ("How many coffees did I drink altogether in January?", told(day.coffees for day in month(1)), month(1)),
    ("In total, how far did I cycle?", told(ride.km for ride in RIDES) * 1000, None),
    ("How much time did I spend cycling in total?", told(ride.minutes for ride in RIDES) * 60, None),
    # counts, filtered by value and by text
    ("On how many days did I walk more than 10,000 steps?", len(days(lambda d: d.steps > 10_000)), None),
    ("On how many days did I drink at least 3 coffees?", len(days(lambda d: d.coffees >= 3)), None),
    ("How many nights did I sleep less than 6.5 hours in February?", len([d for d in month(2) if d.sleep < 390]), None),
    ("How many days was my mood tired?", len(days(lambda d: d.mood == "tired")), None),
    ("What was my average sleep on days when my mood was calm?", sleep(days(lambda d: d.mood == "calm")), None),
    ("average sleep on days with more than 10,000 steps", sleep(days(lambda d: d.steps > 10_000)), None),
    ("On how many days did I drink more than 50 coffees?", 0, None),
    ("How many days did I sleep between 7 and 8 hours?", len(days(lambda d: 420 <= d.sleep <= 480)), None),
    ("On how many days did I drink exactly 2 coffees?", len(days(lambda d: d.coffees == 2)), None),
    (
        "How many days was I both tired and walked over 8,000 steps?",
        len(days(lambda d: d.mood == "tired" and d.steps > 8000)),
        days(lambda d: d.mood == "tired" and d.steps > 8000),
    ),
    ("What share of days did I walk more than 10,000 steps?", 100 * len(days(lambda d: d.steps > 10_000)) / len(DAYS), None),
    # extremes, latest, first, a day's value, one value at the extreme of another
    ("What was my highest step count?", MOST_STEPS.steps, [MOST_STEPS]),
    ("What is the least I slept?", LEAST_SLEEP.sleep * 60, [LEAST_SLEEP]),
    ("What do I weigh now?", WEIGHINGS[-1].kg, None),
    ("What was my first recorded weight?", WEIGHINGS[0].kg, None),
    ("What was the heaviest I have weighed?", max(each.kg for each in WEIGHINGS), None),
    ("What was my longest ride?", max(ride.km for ride in RIDES) * 1000, None),
    ("How many steps did I take on 17 January 2025?", DAYS[8].steps, [DAYS[8]]),
    ("How many km did I cycle on 4 March 2025?", told(r.km for r in RIDES if r.day == date(2025, 3, 4)) * 1000, None),
    ("What did I weigh on 26 March 2025 in kg?", WEIGHINGS[12].kg, None),
    ("How long did I sleep on 2025-03-02?", DAYS[30].sleep * 60, [DAYS[30]]),
    ("How long did I sleep on the day I walked the most?", MOST_STEPS.sleep * 60, [MOST_STEPS]),
    # before and after events
    ("What was my average sleep before my knee surgery?", sleep(BEFORE), BEFORE),
    ("What was my average sleep after my knee surgery?", sleep(AFTER), AFTER),
    ("How many steps a day did I average after my knee surgery?", steps(AFTER), AFTER),
    ("average sleep in the week before my trip to Porto", sleep(WEEK_BEFORE_TRIP), WEEK_BEFORE_TRIP),
    ("average sleep in the week after my knee surgery", sleep(WEEK_AFTER_SURGERY), WEEK_AFTER_SURGERY),
    ("How many steps did I take on the day before my trip?", DAYS[49].steps, [DAYS[49]]),
    ("average steps until my trip", steps(days(lambda d: d.day < TRIP)), days(lambda d: d.day < TRIP)),
    ("How many steps since my surgery?", told(d.steps for d in DAYS if d.day >= SURGERY), None),
    # times
    ("total steps in Q1 2025", told(d.steps for d in DAYS if d.day.month <= 3), None),
    ("average sleep in the first half of March", sleep(within(date(2025, 3, 1), date(2025, 3, 15))), None),
    ("Total cycling distance before 10 March", told(r.km for r in RIDES if r.day < date(2025, 3, 10)) * 1000, None),
    ("What was my average sleep since March?", sleep(SINCE_MARCH), SINCE_MARCH),
    ("What was my average sleep last month?", sleep(month(4)), month(4)),
    ("total steps between 10 March and 20 March", told(d.steps for d in within(date(2025, 3, 10), date(2025, 3, 20))), None),
    ("average steps on weekends", steps(days(lambda d: d.day.weekday() >= 5)), days(lambda d: d.day.weekday() >= 5)),
    # units that are not the table's
    ("What is my average weight in pounds?", statistics.fmean(each.kg for each in WEIGHINGS), None),
    ("average weight in stone", statistics.fmean(each.kg for each in WEIGHINGS), None),
    ("How many miles did I cycle in total?", told(ride.km for ride in RIDES) * 1000, None),
    ("How many minutes did I sleep on average in April?", sleep(month(4)), month(4)),
    ("How often did I weigh more than 160 pounds?", sum(each.kg > 160 * LB for each in WEIGHINGS), None),
    ("How many times did I cycle more than 5 miles?", sum(ride.km * 1000 > 5 * MILE for ride in RIDES), None),
    ("How many nights were shorter than 400 minutes?", len(days(lambda d: d.sleep < 400)), None),
]
"""Number, in seconds, metres or kilograms where it has a unit."""


@pytest.mark.parametrize(("text", "wanted", "of"), NUMBERS, ids=[case[0] for case in NUMBERS])
def test_a_number(diaries_memory: Memory, text: str, wanted: float, of: list[Day] | None) -> None:
    answer = ask(diaries_memory, text)
    assert answer.status == "answered"
    assert base(answer) == pytest.approx(wanted, rel=1e-4)
    if of is not None:
        assert cited_days(answer) == {day.day for day in of}
    assert values_of(answer) or wanted == 0


@pytest.mark.parametrize(
    ("text", "at", "of"),
    [
        ("average sleep last week", datetime(2025, 4, 16, 12, tzinfo=UTC), within(date(2025, 4, 7), date(2025, 4, 13))),
        ("average sleep last month", datetime(2025, 3, 2, 12, tzinfo=UTC), month(2)),
        ("average sleep this month", datetime(2025, 3, 12, 22, tzinfo=UTC), within(date(2025, 3, 1), date(2025, 3, 12))),
        ("how long did I sleep yesterday", datetime(2025, 3, 5, 12, tzinfo=UTC), [DAYS[31]]),
        ("average sleep since March", datetime(2025, 3, 12, 22, tzinfo=UTC), within(date(2025, 3, 1), date(2025, 3, 12))),
    ],
    ids=["last week", "last month", "this month", "yesterday", "since March"],
)
def test_relative_times_count_from_the_time_of_asking(
    diaries_memory: Memory, text: str, at: datetime, of: list[Day]
) -> None:
    answer = diaries_memory.ask("nora", text, now=at, until=at)
    check_citations(diaries_memory, "nora", answer)
    assert base(answer) == pytest.approx(sleep(of), rel=1e-4)
    assert cited_days(answer) == {day.day for day in of}


DATES: list[tuple[str, date]] = [
    ("On which date did I walk the most?", MOST_STEPS.day),
    ("When did I sleep the least?", LEAST_SLEEP.day),
    ("Which day had my lowest step count in March?", min(month(3), key=lambda d: d.steps).day),
    ("When did I first weigh less than 72 kg?", next(each.day for each in WEIGHINGS if each.kg < 72)),
    ("When was my knee surgery?", SURGERY),
    ("On which day was I lightest?", WEIGHINGS[-1].day),
    ("On what date did my trip to Porto begin?", TRIP),
    ("On which day did I do my longest ride?", max(RIDES, key=lambda ride: ride.km).day),
]


@pytest.mark.parametrize(("text", "wanted"), DATES, ids=[case[0] for case in DATES])
def test_a_date(diaries_memory: Memory, text: str, wanted: date) -> None:
    answer = ask(diaries_memory, text)
    assert answer.value is not None, answer.text
    value = answer.value.value
    assert (value if isinstance(value, str) else value[0])[:10] == wanted.isoformat()
    assert wanted in {cited.day for cited in answer.citations}


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("On which three days did I walk the most?", sorted(DAYS, key=lambda d: -d.steps)[:3]),
        ("Give me the two nights with the least sleep", sorted(DAYS, key=lambda d: d.sleep)[:2]),
        ("On which 2 nights did I sleep the longest?", sorted(DAYS, key=lambda d: -d.sleep)[:2]),
        ("the dates of my 4 highest step counts in March", sorted(month(3), key=lambda d: -d.steps)[:4]),
    ],
)
def test_a_ranking(diaries_memory: Memory, text: str, wanted: list[Day]) -> None:
    answer = ask(diaries_memory, text)
    assert answer.value is not None, answer.text
    assert (answer.value.kind, answer.value.value) == ("dates", [day.day.isoformat() for day in wanted])
    assert cited_days(answer) == {day.day for day in wanted}


def grouped(answer: Answer) -> dict[str, float]:
    assert answer.value is not None, answer.text
    assert answer.value.kind == "groups", answer.value
    return {str(row["key"]): float(row["value"]) * factor(row["unit"]) for row in answer.value.value}


def test_groups_by_month(diaries_memory: Memory) -> None:
    found = grouped(ask(diaries_memory, "What was my average sleep by month?"))
    assert len(found) == 4
    assert [value for _, value in sorted(found.items())] == pytest.approx([sleep(month(n)) for n in (1, 2, 3, 4)], rel=1e-4)


def test_groups_by_week(diaries_memory: Memory) -> None:
    weeks: dict[tuple[int, int], int] = defaultdict(int)
    for day in DAYS:
        weeks[day.day.isocalendar()[:2]] += day.steps
    found = grouped(ask(diaries_memory, "Total steps per week"))
    assert [value for _, value in sorted(found.items())] == pytest.approx([weeks[key] for key in sorted(weeks)], rel=1e-4)


def test_groups_in_a_unit_that_is_not_the_tables(diaries_memory: Memory) -> None:
    answer = ask(diaries_memory, "weight by month in lb")
    assert answer.value is not None
    assert {row["unit"] for row in answer.value.value} == {"lb"}
    wanted = [
        statistics.fmean(e.number if e.unit == "lb" else e.number / LB for e in WEIGHINGS if e.day.month == n)
        for n in (1, 2, 3, 4)
    ]
    assert [row["value"] for row in answer.value.value] == pytest.approx(wanted, rel=1e-4)


def test_the_change_since_a_time(diaries_memory: Memory) -> None:
    answer = ask(diaries_memory, "How much weight have I lost since January?")
    assert abs(base(answer)) == pytest.approx(WEIGHINGS[0].kg - WEIGHINGS[-1].kg, rel=1e-4)
    assert {cited.day for cited in answer.citations} == {WEIGHINGS[0].day, WEIGHINGS[-1].day}


def test_a_comparison_of_before_and_after(diaries_memory: Memory) -> None:
    answer = ask(diaries_memory, "Did I sleep more before or after my knee surgery?")
    assert answer.value is not None
    assert answer.value.kind == "choice"
    assert str(answer.value.value).lower().startswith("before" if sleep(BEFORE) > sleep(AFTER) else "after")
    assert cited_days(answer) == {day.day for day in BEFORE + AFTER}


def test_a_comparison_of_two_periods(diaries_memory: Memory) -> None:
    answer = ask(diaries_memory, "Did I walk more steps a day in March or in April on average?")
    assert answer.value is not None
    assert answer.value.kind == "choice"
    assert ("march" if steps(month(3)) > steps(month(4)) else "april") in str(answer.value.value).lower()


def test_the_difference_of_two_periods(diaries_memory: Memory) -> None:
    answer = ask(diaries_memory, "By how much did my average steps differ between January and February?")
    assert abs(base(answer)) == pytest.approx(abs(steps(month(2)) - steps(month(1))), rel=1e-4)
    assert cited_days(answer) == {day.day for day in month(1) + month(2)}


def test_the_month_at_the_extreme(diaries_memory: Memory) -> None:
    totals = {number: sum(day.steps for day in month(number)) for number in (1, 2, 3, 4)}
    best = max(totals, key=lambda number: totals[number])
    answer = ask(diaries_memory, "In which month did I take the most steps in total?")
    assert answer.value is not None
    name = date(2025, best, 1).strftime("%B").lower()
    assert f"2025-{best:02d}" in str(answer.value.value) or name in str(answer.value.value).lower()


def test_yes_and_no(diaries_memory: Memory) -> None:
    assert ask(diaries_memory, "Did I ever walk more than 12,000 steps?").text.lower().startswith("yes")
    assert ask(diaries_memory, "Did I ever walk more than 20,000 steps?").text.lower().startswith("no")


# --- money ----------------------------------------------------------------------------------------------------------


def spent(currency: str, pick: Callable[[Any], bool] = lambda _: True) -> float:
    return round(sum(each.amount for each in RECEIPTS if each.currency == currency and pick(each)), 2)


def test_spending_by_shop_item_and_currency(diaries_memory: Memory) -> None:
    asked = {
        "How much did I spend at Kornladen?": spent("EUR", lambda each: each.shop == "Kornladen"),
        "How much did I spend at Kornladn?": spent("EUR", lambda each: each.shop == "Kornladen"),
        "How many purchases did I make at Fischer Books?": sum(each.shop == "Fischer Books" for each in RECEIPTS),
    }
    for text, wanted in asked.items():
        answer = ask(diaries_memory, text, "petra")
        assert base(answer) == pytest.approx(wanted, abs=0.005), text


def test_shops_compared_and_counted(diaries_memory: Memory) -> None:
    by_shop = {shop: spent("EUR", lambda each, s=shop: each.shop == s) for shop in ("Kornladen", "Fischer Books")}
    answer = ask(diaries_memory, "Did I spend more at Kornladen or at Fischer Books?", "petra")
    assert answer.value is not None
    assert answer.value.value == max(by_shop, key=lambda shop: by_shop[shop])
    counts = {shop: sum(each.shop == shop for each in RECEIPTS) for shop in {each.shop for each in RECEIPTS}}
    most = ask(diaries_memory, "Which shop did I visit most often?", "petra")
    assert most.value is not None
    assert most.value.value == max(counts, key=lambda shop: counts[shop])


def test_where_something_was_bought_on_a_day(diaries_memory: Memory) -> None:
    answer = ask(diaries_memory, "At which shop did I buy the novel on 7 February 2025?", "petra")
    (shop,) = {each.shop for each in RECEIPTS if each.day == date(2025, 2, 7)}
    assert shop in answer.text
    assert {cited.day for cited in answer.citations} == {date(2025, 2, 7)}


# --- rounds ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "said", "where"),
    [
        ("What is my landlord called?", "Quintela", "landlord"),
        ("Which doctor did my knee surgery?", "Okafor", "surgery"),
        ("When did the train to Porto leave?", "dawn", "trip"),
    ],
)
def test_what_no_table_holds_comes_from_a_cited_round(diaries_memory: Memory, text: str, said: str, where: str) -> None:
    answer = ask(diaries_memory, text)
    assert answer.status == "answered"
    assert said in answer.text
    assert where in {cited.session_id for cited in answer.citations}


# --- the same again -------------------------------------------------------------------------------------------------


def test_the_same_question_gives_the_same_json(diaries_memory: Memory, diaries_store: str) -> None:
    fresh = open_store(diaries_store).memory()
    for text in ("average sleep by month", "When was my knee surgery?", "What is my landlord called?", "steps on 3 May"):
        first, second, third = (
            json.dumps(memory.ask("nora", text, now=NOW).to_dict(explain=True))
            for memory in (diaries_memory, diaries_memory, fresh)
        )
        assert first == second == third


def test_the_plan_stays_within_its_limits(diaries_memory: Memory) -> None:
    for text in ("average sleep after my knee surgery", "What is my landlord called?", "did I sleep more in May or June?"):
        trace = ask(diaries_memory, text).trace
        assert 1 <= len(trace.plan.steps) <= 3
        assert sum(taken.units for taken in trace.taken) <= 10
        assert {taken.step.tool for taken in trace.taken} <= set(trace.context.tools)


def test_what_is_held_of_a_user_does_not_grow_with_questions(diaries_memory: Memory) -> None:
    before = set(diaries_memory.known("nora").names)
    ask(diaries_memory, "Who told me about the water heater?")
    ask(diaries_memory, "how much liquid went down on average?")
    assert set(diaries_memory.known("nora").names) == before
    assert "steps" in before


def test_records_that_are_not_there_yet_are_in_no_tool(diaries_memory: Memory) -> None:
    until = datetime(2025, 2, 28, 23, tzinfo=UTC)
    answer = diaries_memory.ask("nora", "How many days did I log steps?", now=until, until=until)
    assert answer.citations
    assert all(each.day is None or each.day <= until.date() for each in answer.citations)
