"""Conditions: which rows a written condition matches, and what it says where it does not fit."""

from __future__ import annotations

import operator
from typing import Any

import pytest
from desk import META, at, on, read, table
from hypothesis import given, settings
from hypothesis import strategies as st

from operators.errors import ColumnNotFound, ColumnTypeError, ConditionError, ToolError
from operators.tables.columns import Column, Table, TableMeta, Value, resolve
from operators.tables.where import All, AnyOf, Condition, Not, columns_of, condition, parse_all, parse_where

WORDS = [
    "total",
    "cafe",
    "sleep duration",
    "time",
    "paid",
    "mood",
    "and",
    "or",
    "not",
    "in",
    "between",
    "is",
    "null",
    "(",
    ")",
]
PIECES = [
    *WORDS,
    "=",
    "!=",
    "<",
    ">=",
    "contains",
    "starts",
    "with",
    ",",
    "'",
    '"',
    "7 h",
    "20 MYR",
    "2016-04",
    "yes",
    "total.unit",
]


def matched(data: Table, text: str) -> list[int]:
    """The orders of the rows that a condition matches."""
    return data.frame.filter(parse_where(text, META, read).to_expr())["order"].to_list()


def error(text: str, kind: type[ToolError] = ConditionError) -> str:
    with pytest.raises(kind) as caught:
        parse_where(text, META, read)
    return str(caught.value)


# --- values ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "orders"),
    [
        ("sleep duration >= 7 h", [1, 2]),
        ("sleep_duration < 420 min", [0]),
        ("time asleep = 7 h", [1]),
        ("'sleep duration' != 7 h", [0, 2]),
        ("sleep duration between 6 h and 7 h", [0, 1]),
        ("sleep duration in (6 h, 8 h)", [0, 2]),
        ("sleep duration not in (6 h, 8 h)", [1]),
        ("sleep duration is null", [3]),
        ("Sleep Duration IS NOT NULL", [0, 1, 2]),
        ("not sleep duration > 6 h", [0]),
        ("not not sleep duration > 6 h", [1, 2]),
        ("steps > 8,000", [2]),
        ("steps <= 8000 steps", [0, 1]),
        ("distance < 5 km", [0]),
        ("battery >= 50", [2]),
        ("battery < 50 %", [0, 1]),
        ("mood == 8/10", [2]),
        ("mood <> 8", [0, 1]),
        ("paid = yes", [0, 2]),
        ("paid != yes", [1]),
        ("bedtime > 22:30", [1, 2]),
        ("bedtime = 23:00", [1]),
        ("order >= 2", [2, 3]),
        ("steps > 1 and (battery > 60 or paid = no)", [1, 2]),
        ("steps > 1 and battery > 60 or paid = no", [1, 2]),
        ("paid = no or steps > 1 and battery > 60", [1, 2]),
    ],
)
def test_values_are_compared_in_the_base_unit(text: str, orders: list[int]) -> None:
    data = table(
        {"sleep duration": 21600.0, "steps": 2.0, "distance": 4999.0, "battery": 10.0, "mood": 3.0, "paid": True},
        {"sleep duration": 25200.0, "steps": 8000.0, "distance": 5000.0, "battery": 49.0, "mood": 7.0, "paid": False}
        | {"bedtime": "23:00"},
        {"sleep duration": 28800.0, "steps": 9000.0, "battery": 64.0, "mood": 8.0, "paid": True, "bedtime": "23:00:30"},
        {},
    )
    assert matched(data, text) == orders


@pytest.mark.parametrize(
    ("text", "orders"),
    [
        ("time = 2016-04-20", [1]),
        ("time >= 2016-04-20", [1, 2, 3]),
        ("time > 2016-04-20", [2, 3]),
        ("day = 20 April 2016", [1]),
        ("time = 2016-04", [1, 2]),
        ("time != 2016-04", [0, 3]),
        ("time <= 2016-04", [0, 1, 2]),
        ("time < 2016", [0]),
        ("time > 2015", [1, 2, 3]),
        ("day between 2016-04 and 2016-12", [1, 2, 3]),
        ("time in (2015, 2016-12)", [0, 3]),
        ("time < 2016-04-20T00:00", [0, 1]),
        ("time >= 2016-04-20T02:00+02:00", [2, 3]),
        ("time = 2016-04-19T23:30Z", [1]),
        ("day is null", [4]),
    ],
)
def test_a_date_stands_for_local_days_and_a_timestamp_for_an_instant(text: str, orders: list[int]) -> None:
    data = table(
        {"time": at("2015-12-31T22:00")},
        {"time": at("2016-04-19T23:30"), "day": on("2016-04-20")},
        {"time": at("2016-04-30T12:00")},
        {"time": at("2016-12-31T12:00")},
        {},
    )
    assert matched(data, text) == orders


@pytest.mark.parametrize(
    ("text", "orders"),
    [
        ("cafe = CAFÉ  Lumen", [0]),
        ("cafe = 'cafe lumen'", [1]),
        ("cafe != 'café lumen'", [1, 2, 3]),
        ("cafe contains LUMEN", [0, 1]),
        ("cafe not contains lumen", [2, 3]),
        ("cafe starts with STRASSE", [2]),
        ("cafe contains 'it''s'", [3]),
        ('cafe contains "it\'s ""x"""', [3]),
        ("cafe in (cafe lumen, 'STRASSE 5')", [1, 2]),
        ("cafe is null", [4]),
        ("session_id = S1", [0, 1, 2, 3, 4]),
    ],
)
def test_texts_are_compared_without_case_or_spacing_but_with_accents(text: str, orders: list[int]) -> None:
    data = table({"cafe": "Cafe\u0301\u00a0 Lumen"}, {"cafe": "cafe lumen"}, {"cafe": "Straße 5"}, {"cafe": 'It\'s "X"'}, {})
    assert matched(data, text) == orders


@pytest.mark.parametrize(
    ("currencies", "text", "orders"),
    [
        (["MYR", None, "MYR"], "total > 20 MYR", [1, 2]),
        (["MYR", None, "MYR"], "total > 20 EUR", []),
        (["MYR", None, "MYR"], "total.unit = myr", [0, 1, 2]),
        (["MYR", None, "EUR"], "total > 20 MYR", []),
        (["MYR", None, "EUR"], "total >= RM 20", [0]),
        (["MYR", None, "EUR"], "total > 20", [1, 2]),
        (["MYR", None, "EUR"], "not total > 20 MYR", [0]),
        (["MYR", None, "EUR"], "total != 20 EUR", [2]),
        (["MYR", None, "EUR"], "total in (20 MYR, 40 EUR)", [0, 2]),
        (["MYR", None, "EUR"], "total.unit is null", [1]),
        (["MYR", None, "EUR"], "amount.unit = EUR and order >= 0", [2]),
        (["MYR", None, "EUR"], "order < 2 and total >= 20 MYR", [0]),
        ([None, None, None], "total > 20 MYR", []),
    ],
)
def test_money_with_a_currency_asks_for_that_currency(currencies: list[Any], text: str, orders: list[int]) -> None:
    amounts = (20.0, 30.0, 40.0)
    data = table(*({"total": amount, "currency": unit} for amount, unit in zip(amounts, currencies, strict=True)))
    assert matched(data, text) == orders


# --- what does not fit ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("sleep duration > 7", "7 h"),
        ("distance > 5", "5 km"),
        ("distance > 5 h", "5 km"),
        ("steps > 5 km", "8 steps"),
        ("guests > 5 km", "such as '8'"),
        ("guests > many", "such as '8'"),
        ("total > 5 h", "20 EUR"),
        ("total between 5 MYR and 9 EUR", "same currency"),
        ("guests between 9 and 5", "above"),
        ("visited = 2016-13", "2016-04"),
        ("visited = 2016-04-20T07:30", "2016-04"),
        ("paid = maybe", "yes or no"),
        ("bedtime > 7 h", "07:30"),
        ("cafe = null", "is null"),
        ("cafe contains ''", "blank"),
        ("cafe = 'open", "character 8: a quote is opened"),
        ("cafe = a 'b'", "character 10"),
        ("cafe = salt and pepper", "operator is missing"),
        ("cafe =", "value is missing"),
        ("cafe in ()", "value is missing"),
        ("cafe in (a", "not closed"),
        ("guests between 1 or 2", "joined by 'and'"),
        ("(guests = 1", "not closed"),
        ("guests = 1) ", "character 11"),
        ("= 1", "name is missing"),
        ("", "name is missing"),
        ("cafe = '\ud800'", "surrogate"),
        ("(" * 33 + "guests = 1" + ")" * 33, "at most 32 deep"),
        ("not " * 5000, "in parts"),
    ],
)
def test_a_condition_that_does_not_fit_says_what_would(text: str, says: str) -> None:
    assert says in error(text)


def test_an_operator_that_a_column_does_not_take_names_those_it_takes() -> None:
    assert "contains" not in error("guests contains 1", ColumnTypeError).split("it takes", 1)[1]
    assert "starts with" in error("cafe < b", ColumnTypeError)
    assert "'paid' is a bool column; it takes: =, !=, in, is null" in error("paid > yes", ColumnTypeError)


def test_a_column_is_found_by_its_name_loosely_written_or_by_an_alias() -> None:
    names = ("Sleep_Duration", "sleepduration", "TIME ASLEEP", "Grand Total", "ORDER", "Total.unit")
    assert [resolve(META, name).name for name in names] == [
        "sleep duration", "sleep duration", "sleep duration", "total", "order", "total.unit",
    ]  # fmt: skip
    where = parse_where("time in bed > 7 h or not (cafe contains x and total.unit = EUR)", META, read)
    assert list(columns_of(where)) == ["time in bed", "cafe", "total.unit"]


def test_a_column_that_is_not_there_names_the_near_ones_and_all() -> None:
    message = error("stepps > 1", ColumnNotFound)
    assert "near: 'steps'" in message and "'total'" in message and "'day'" in message
    assert "columns of money: 'total'" in error("steps.unit = MYR", ColumnNotFound)
    assert len(error("x" * 9000 + " = 1", ColumnNotFound)) < 600
    error("total" + ".unit" * 1500 + " = 1", ColumnNotFound)


def test_a_name_that_two_columns_share_is_refused() -> None:
    meta = TableMeta("t", "", (Column("a", "text", None, ("x",)), Column("b", "text", None, ("X",))), 0, {})
    with pytest.raises(ColumnNotFound, match="may be any of 'a', 'b'"):
        resolve(meta, "x")


def test_conditions_are_made_from_python_and_checked_alike() -> None:
    data = table({"guests": 1.0}, {"guests": 5.0}, {})
    few, many = condition(META, "guests", "<", "3", read), Condition(META.columns[4], ">", Value("number", 3.0))
    assert data.frame.filter(AnyOf((few, many)).to_expr()).height == 2
    assert data.frame.filter(All((few, Not(many))).to_expr())["order"].to_list() == [0]
    assert data.frame.filter(All(()).to_expr()).height == 3
    assert data.frame.filter(AnyOf(()).to_expr()).height == 0
    for op, value in (
        ("contains", Value("text", text="a")),
        ("=", Value("text", text="a")),
        ("=", None),
        ("between", few.value),
    ):
        with pytest.raises(ToolError):
            Condition(META.columns[4], op, value)  # type: ignore[arg-type]


def test_several_texts_all_hold() -> None:
    data = table({"guests": 1.0}, {"guests": 5.0}, {"guests": 9.0})
    assert data.frame.filter(parse_all(["guests > 1", "guests < 9"], META, read).to_expr())["order"].to_list() == [1]
    assert data.frame.filter(parse_all([], META, read).to_expr()).height == 3


def test_what_is_not_a_number_matches_nothing() -> None:
    assert matched(table({"guests": float("nan")}, {"guests": 1.0}), "guests > 0 or guests <= 0 or guests != 7") == [1]


# --- any text, any values -------------------------------------------------------------------------------------------


@settings(deadline=None, max_examples=300)
@given(st.one_of(st.text(max_size=60), st.lists(st.sampled_from(PIECES), max_size=14).map(" ".join)))
def test_any_text_is_a_condition_or_a_tool_error(text: str) -> None:
    try:
        where = parse_where(text, META, read)
    except ToolError:
        return
    table({"total": 1.0}).frame.filter(where.to_expr())


COMPARE = {"=": operator.eq, "!=": operator.ne, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}
LEAF = st.tuples(st.sampled_from(["guests", "steps"]), st.sampled_from(sorted(COMPARE)), st.integers(-2, 2))
TREE = st.recursive(
    LEAF,
    lambda inner: st.one_of(st.tuples(st.just("not"), inner), st.tuples(inner, st.sampled_from(["and", "or"]), inner)),
    max_leaves=6,
)


def written(tree: Any) -> str:
    if len(tree) == 2:
        return f"not ({written(tree[1])})"
    if isinstance(tree[0], str):
        return f"{tree[0]} {tree[1]} {tree[2]}"
    return f"({written(tree[0])}) {tree[1]} ({written(tree[2])})"


def holds(tree: Any, row: dict[str, Any]) -> bool | None:
    """The tree over a row in three-valued logic."""
    if len(tree) == 2:
        inner = holds(tree[1], row)
        return None if inner is None else not inner
    if isinstance(tree[0], str):
        value = row[tree[0]]
        return None if value is None else COMPARE[tree[1]](value, tree[2])
    sides = {holds(tree[0], row), holds(tree[2], row)}
    decisive = tree[1] == "or"
    return decisive if decisive in sides else None if None in sides else not decisive


@settings(deadline=None, max_examples=150)
@given(TREE, st.lists(st.tuples(*[st.one_of(st.none(), st.integers(-2, 2))] * 2), min_size=1, max_size=8))
def test_a_condition_is_the_python_filter_in_three_valued_logic(tree: Any, values: list[tuple[Any, Any]]) -> None:
    rows = [{"guests": guests, "steps": steps} for guests, steps in values]
    assert matched(table(*rows), written(tree)) == [place for place, row in enumerate(rows) if holds(tree, row) is True]
