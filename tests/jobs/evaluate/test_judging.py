"""What is exact: by the type that is expected, in any unit that converts, and never in another currency."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobs.evaluate.histories import Expected
from jobs.evaluate.judging import convert, judge
from operators.ask.context import Context
from operators.ask.steps import Answer, AnswerValue, Plan, Trace
from operators.extract.units import UNITS

TRACE = Trace(Context((), (), ()), Plan(()), (), "rules")


def told(kind: str, value: Any, unit: str | None = None) -> Answer:
    return Answer("words", "answered", AnswerValue(kind, value, unit), (), TRACE)


def number(value: float, tolerance: float = 0.0, unit: str | None = None) -> Expected:
    return Expected("number", value, tolerance, unit=unit)


@pytest.mark.parametrize(
    ("expected", "answer", "right", "value", "unit"),
    [
        (number(6.005, 0.03, "hours"), told("number", 6.03, "h"), True, 6.03, "hours"),
        (number(6.005, 0.03, "hours"), told("number", 6.04, "h"), False, 6.04, "hours"),
        (number(6.5, 0.01, "hours"), told("number", 390, "min"), True, 6.5, "hours"),
        (number(6.5, 0.01, "hours"), told("number", 23_400, "s"), True, 6.5, "hours"),
        (number(10, 0.01, "km"), told("number", 6.2137, "mi"), True, pytest.approx(10, abs=1e-3), "km"),
        (number(70, 0.05, "kg"), told("number", 154.32, "lb"), True, pytest.approx(70, abs=1e-2), "kg"),
        (number(22, 0, "days"), told("number", 22), True, 22, "days"),
        (number(22, 0, "days"), told("number", 22, "records"), True, 22, "days"),
        (number(3), told("number", 3, "receipts"), True, 3, "receipts"),
        (number(44.5, 0.005, "MYR"), told("number", 44.5, "RM"), True, 44.5, "MYR"),
        (number(44.5, 0.005, "MYR"), told("number", 44.5, "USD"), False, 44.5, "USD"),
        (number(44.5, 0.005, "MYR"), told("number", 44.5, "kg"), False, 44.5, "kg"),
        (number(5, 0, "kcal"), told("number", 5, "steps"), False, 5, "steps"),
        (number(0), told("number", float("nan")), False, None, None),
        (number(1), told("number", True), False, None, None),
        (number(1), told("text", "1"), False, None, None),
    ],
)
def test_numbers(expected: Expected, answer: Answer, right: bool, value: Any, unit: str | None) -> None:
    found = judge(expected, answer)
    assert (found.right, found.value, found.unit) == (right, value, unit)
    assert (found.why is None) is right


@pytest.mark.parametrize(
    ("kind", "wanted", "answer", "right"),
    [
        ("date", "2024-05-01", told("date", "2024-05-01"), True),
        ("date", "2024-05-01", told("date", "2024-05-01T20:00:00Z"), True),
        ("date", "2024-05-01", told("date", "2024-05-02"), False),
        ("date", "2024-05-01", told("dates", ["2024-05-01"]), True),
        ("date", "2024-05-01", told("dates", ["2024-05-01", "2024-05-02"]), False),
        ("date", "2024-05-01", told("text", "1 May"), False),
        ("dates", ["2024-05-01", "2024-05-02"], told("dates", ["2024-05-01", "2024-05-02"]), True),
        ("dates", ["2024-05-01", "2024-05-02"], told("dates", ["2024-05-02", "2024-05-01"]), False),
        ("dates", ["2024-05-01", "2024-05-02"], told("dates", ["2024-05-01"]), False),
        ("dates", ["2024-05-01"], told("dates", []), False),
    ],
)
def test_dates(kind: str, wanted: Any, answer: Answer, right: bool) -> None:
    assert judge(Expected(kind, wanted), answer).right is right


def test_a_choice_is_one_of_the_options_in_any_case() -> None:
    expected = Expected("choice", "Before", options=("Before", "After"))
    assert judge(expected, told("choice", "before ")).right
    assert not judge(expected, told("choice", "after")).right
    assert judge(expected, told("choice", "same")).value is None


def test_no_answer_is_wrong_and_says_why() -> None:
    assert judge(number(0), None).why == "no answer"
    assert judge(number(0), Answer("none", "no records", None, (), TRACE)).why == "no records"


@given(
    value=st.floats(-1e6, 1e6),
    units=st.sampled_from([(a, b) for a in UNITS for b in UNITS if UNITS[a].base == UNITS[b].base]),
)
def test_converting_there_and_back_is_nothing(value: float, units: tuple[str, str]) -> None:
    one, other = units
    assert convert(convert(value, one, other), other, one) == pytest.approx(value, rel=1e-9, abs=1e-6)
