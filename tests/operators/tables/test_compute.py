"""Aggregates, against plain Python over the same rows."""

from __future__ import annotations

import math
import statistics
from datetime import date, timedelta
from fractions import Fraction
from typing import Any

import pytest
from desk import META, at, on, read, table
from hypothesis import given, settings
from hypothesis import strategies as st

from operators.errors import ColumnNotFound, ColumnTypeError, MixedUnits, ToolError
from operators.tables.aggregate import Operation
from operators.tables.asked import OPERATIONS
from operators.tables.compute import compare, compute
from operators.tables.where import parse_where


def where(text: str) -> Any:
    return parse_where(text, META, read)


# --- against a reference --------------------------------------------------------------------------------------------

NUMBERS = st.one_of(st.none(), st.integers(-400, 400).map(lambda number: number / 100))
DAYS = st.one_of(st.none(), st.integers(0, 60).map(lambda days: date(2016, 2, 20) + timedelta(days)))
ROWS = st.lists(st.tuples(NUMBERS, DAYS, st.sampled_from(["a", "A ", "b", None])), max_size=12)


def reference(operation: Operation, rows: list[tuple[int, Any, Any, Any]]) -> Any:
    """The aggregate of ``(order, value, day, _)`` rows, in fractions of the decimals as written."""
    rows = [row for row in rows if row[1] is not None and (operation != "trend" or row[2] is not None)]
    exact = [Fraction(str(row[1])) for row in rows]
    if operation in ("count", "distinct"):
        return len(rows) if operation == "count" else len(set(exact))
    if not rows:
        return None
    if operation in ("first", "last"):
        dated = [row for row in rows if row[2] is not None] or rows
        return (min if operation == "first" else max)(dated, key=lambda row: (row[2] or date.min, row[0]))[1]
    if operation == "std":
        return math.sqrt(statistics.variance(exact)) if len(rows) > 1 else None
    if operation == "trend":
        days = [Fraction(row[2].toordinal()) for row in rows]
        if len(set(days)) < 2:
            return None
        middle, mean = statistics.mean(days), statistics.mean(exact)
        spread = sum((day - middle) ** 2 for day in days)
        return float(sum((day - middle) * (value - mean) for day, value in zip(days, exact, strict=True)) / spread)
    plain = {"sum": sum, "avg": statistics.mean, "min": min, "max": max, "median": statistics.median}[operation]
    return float(plain(exact))  # type: ignore[operator]


@settings(deadline=None, max_examples=200)
@given(st.sampled_from(OPERATIONS), ROWS)
def test_an_aggregate_is_that_of_plain_python(operation: Operation, drawn: list[tuple[Any, Any, Any]]) -> None:
    data = table(*({"guests": value, "day": day, "cafe": cafe} for value, day, cafe in drawn))
    rows = [(place, *row) for place, row in enumerate(drawn)]
    found = compute(data, operation, "guests", by="month")
    expected = reference(operation, rows)
    assert found.value == (None if expected is None else pytest.approx(expected, rel=1e-12, abs=1e-15))
    months: dict[str | None, list[Any]] = {}
    for row in rows:
        if row[1] is not None and (operation != "trend" or row[2] is not None):
            months.setdefault(row[2] and f"{row[2]:%Y-%m}", []).append(row)
    assert [group.key for group in found.groups] == sorted(months, key=lambda key: (key is None, key or ""))
    for group in found.groups:
        inner = reference(operation, months[group.key])
        assert group.value == (None if inner is None else pytest.approx(inner, rel=1e-12, abs=1e-15))
        assert group.n == len(months[group.key])
    assert found.n == found.matched.height == sum(group.n for group in found.groups)
    assert found.empty == (found.n == 0)


# --- precision ------------------------------------------------------------------------------------------------------


@settings(deadline=None)
@given(st.lists(st.integers(-(10**9), 10**9), min_size=1, max_size=30))
def test_sums_of_cents_show_no_dust(cents: list[int]) -> None:
    data = table(*({"total": float(f"{each / 100:.2f}"), "currency": "EUR"} for each in cents))
    found = compute(data, "sum", "total")
    assert found.value == float(Fraction(sum(cents), 100)) and found.unit == "EUR"


def test_a_tenth_and_two_are_three_tenths() -> None:
    data = table({"guests": 0.1}, {"guests": 0.2})
    assert [compute(data, operation, "guests").value for operation in ("sum", "avg", "median")] == [0.3, 0.15, 0.15]


def test_what_is_no_number_does_not_go_in_and_does_not_come_out() -> None:
    data = table({"guests": float("nan")}, {"guests": float("inf")}, {"guests": 2.0}, {"guests": None})
    for operation in OPERATIONS:
        found = compute(data, operation, "guests")
        assert found.n == (0 if operation == "trend" else 1)
        assert found.value is None or math.isfinite(float(found.value))  # type: ignore[arg-type]
    with pytest.raises(ToolError, match="larger than a number can be"):
        compute(table({"guests": 1e308}, {"guests": 1e308}), "sum", "guests")


# --- nothing there --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("operation", OPERATIONS)
def test_of_no_records_nothing_is_said_but_that_there_are_none(operation: Operation) -> None:
    for data, condition in ((table(), None), (table({}, {}), None), (table({"guests": 2.0}), where("guests > 5"))):
        found = compute(data, operation, "guests", where=condition, by="month")
        counts = operation in ("count", "distinct")
        assert found.empty and found.groups == () and found.matched.height == 0 and found.unit is None
        assert (found.value, found.to_text()) == ((0, "0 (no records)") if counts else (None, "no records"))


def test_one_record_has_no_spread_and_one_day_no_trend() -> None:
    data = table({"guests": 2.0, "time": at("2016-04-20T08:00")})
    for operation in ("std", "trend"):
        found = compute(data, operation, "guests")  # type: ignore[arg-type]
        assert (found.value, found.n, found.empty, found.to_text()) == (None, 1, False, "none")


def test_count_counts_rows_or_the_values_of_a_column() -> None:
    data = table({"guests": 2.0}, {}, {"cafe": "x"})
    assert compute(data, "count").value == 3
    assert compute(data, "count", "guests").value == 1
    assert compute(data, "count", where=where("cafe is null")).value == 2


# --- order in time --------------------------------------------------------------------------------------------------


def test_first_and_last_are_by_time_and_then_order_and_undated_records_win_neither() -> None:
    data = table(
        {"order": 0, "cafe": "undated first"},
        {"order": 5, "cafe": "late", "time": at("2016-04-20T08:00")},
        {"order": 7, "record": 1, "cafe": "early, second record", "time": at("2016-04-01T08:00")},
        {"order": 7, "record": 0, "cafe": "early", "time": at("2016-04-01T08:00")},
        {"order": 9, "cafe": "undated last"},
    )
    assert [compute(data, operation, "cafe").value for operation in ("first", "last")] == ["early", "late"]
    undated = where("cafe starts with undated")
    found = [compute(data, operation, "cafe", where=undated).value for operation in ("first", "last")]
    assert found == ["undated first", "undated last"]


def test_dates_and_times_have_a_least_and_a_greatest() -> None:
    data = table(
        {"visited": on("2016-04-20"), "bedtime": "23:00", "time": at("2016-04-20T08:00")},
        {"visited": on("2015-04-20"), "bedtime": "07:30"},
    )
    assert compute(data, "min", "visited").value == on("2015-04-20")
    assert compute(data, "max", "bedtime").value == "23:00"
    assert compute(data, "max", "time").value == at("2016-04-20T08:00")
    assert compute(data, "distinct", "visited").value == 2


def test_a_trend_is_a_slope_a_day() -> None:
    data = table(*({"sleep duration": 3600.0 * hours, "day": on(f"2016-04-0{1 + hours}")} for hours in (1, 3, 5)))
    found = compute(data, "trend", "sleep duration", unit="min", read=read)
    assert (found.value, found.unit) == (60.0, "min/day")


# --- groups ---------------------------------------------------------------------------------------------------------


def test_calendar_groups_are_those_of_the_local_day_and_a_week_begins_on_monday() -> None:
    days = ("2016-01-03", "2016-01-04", "2016-01-10", "2016-03-01", None)
    data = table(*({"guests": 1.0, "day": day and on(day)} for day in days))
    keys = {by: [(group.key, group.value) for group in compute(data, "sum", "guests", by=by).groups] for by in
            ("day", "week", "month", "year")}  # fmt: skip
    assert keys["week"] == [("2015-12-28", 1), ("2016-01-04", 2), ("2016-02-29", 1), (None, 1)]
    assert keys["month"] == [("2016-01", 3), ("2016-03", 1), (None, 1)]
    assert keys["year"] == [("2016", 4), (None, 1)]
    assert [key for key, _ in keys["day"]] == [*days]


def test_groups_of_a_column_are_folded_and_keep_the_first_writing() -> None:
    data = table(
        {"guests": 1.0, "cafe": "Lumen", "paid": True, "visited": on("2016-01-03")},
        {"guests": 2.0, "cafe": "bean", "paid": False},
        {"guests": 4.0, "cafe": " LUMEN", "paid": True},
        {"guests": 8.0},
    )
    by = {name: [(group.key, group.value) for group in compute(data, "sum", "guests", by=name).groups] for name in
          ("cafe", "paid", "visited", "session_id")}  # fmt: skip
    assert by["cafe"] == [("bean", 2), ("Lumen", 5), (None, 8)]
    assert by["paid"] == [(False, 2), (True, 5), (None, 8)]
    assert by["visited"] == [(on("2016-01-03"), 1), (None, 14)]
    assert by["session_id"] == [("s1", 15)]
    assert compute(data, "distinct", "cafe").value == 2
    assert compute(data, "count", by="cafe").to_text() == "4\nbean: 1\nLumen: 2\nnone: 1"


# --- currencies -----------------------------------------------------------------------------------------------------


def money(*amounts: tuple[float, str | None]) -> Any:
    return table(*({"total": amount, "currency": unit, "guests": 1.0} for amount, unit in amounts))


@pytest.mark.parametrize("operation", ["sum", "avg", "min", "max", "median", "std", "trend"])
def test_two_currencies_are_never_reckoned_as_one(operation: Operation) -> None:
    data = money((1.0, "MYR"), (2.0, "EUR"))
    data = type(data)(data.meta, data.frame.with_columns(day=on("2016-01-01")))
    with pytest.raises(MixedUnits, match=r"EUR, MYR: .*condition on 'total\.unit', or group by='total\.unit'"):
        compute(data, operation, "total")
    with pytest.raises(MixedUnits):
        compute(data, operation, "total", by="month")
    assert compute(data, operation, "total", where=where("total.unit = EUR")).n == 1
    assert compute(data, operation, "total", where=where("total > 0 MYR")).n == 1


def test_by_currency_each_has_its_own_and_there_is_no_whole() -> None:
    found = compute(money((1.0, "MYR"), (2.0, "EUR"), (4.0, "MYR"), (8.0, None)), "sum", "amount", by="amount.unit")
    assert [(group.key, group.value, group.unit) for group in found.groups] == [
        ("EUR", 2, "EUR"), ("MYR", 5, "MYR"), (None, 8, None),
    ]  # fmt: skip
    assert (found.value, found.unit, found.empty, found.by) == (None, None, False, "total.unit")
    assert found.to_text() == "EUR: 2 EUR\nMYR: 5 MYR\nnone: 8"


def test_unknown_currencies_join_the_only_one_that_the_column_knows() -> None:
    found = compute(money((1.0, "MYR"), (2.0, None)), "sum", "total")
    assert (found.value, found.unit) == (3.0, "MYR")
    assert compute(money((1.0, "MYR"), (2.0, None)), "sum", "total", where=where("order = 1")).unit == "MYR"
    with pytest.raises(MixedUnits, match="MYR and amounts of unknown currency"):
        compute(money((1.0, "MYR"), (2.0, None), (3.0, "EUR")), "sum", "total", where=where("order < 2"))
    found = compute(money((1.0, None), (2.0, None)), "sum", "total")
    assert (found.value, found.unit) == (3.0, None)


def test_what_adds_no_amounts_takes_several_currencies() -> None:
    data = money((1.0, "MYR"), (1.0, "EUR"))
    assert compute(data, "count", "total").value == compute(data, "distinct", "total").value == 2
    assert (compute(data, "last", "total").value, compute(data, "last", "total").unit) == (1.0, "EUR")
    assert compute(data, "sum", "guests").value == 2


# --- units ----------------------------------------------------------------------------------------------------------


def test_a_result_comes_in_the_unit_asked_for() -> None:
    data = table({"sleep duration": 21600.0, "distance": 1.0}, {"sleep duration": 28800.0, "distance": 2500.0})
    asked = [("avg", "sleep duration", "h", 7.0), ("sum", "distance", "km", 2.501), ("max", "distance", "m", 2500.0)]
    for operation, column, unit, value in asked:
        found = compute(data, operation, column, unit=unit, read=read)  # type: ignore[arg-type]
        assert (found.value, found.unit) == (value, unit)
    assert compute(data, "avg", "sleep duration").to_text() == "25200 s"
    assert compute(data, "std", "sleep duration", unit="h", read=read).value == round(math.sqrt(2), 9)


@pytest.mark.parametrize(
    ("operation", "column", "unit"),
    [("avg", "sleep duration", "km"), ("avg", "guests", "h"), ("count", "distance", "km"), ("max", "visited", "h"),
     ("sum", "total", "EUR"), ("avg", "distance", "furlong")],
)  # fmt: skip
def test_a_unit_of_another_dimension_is_refused(operation: Operation, column: str, unit: str) -> None:
    data = table({"sleep duration": 1.0, "guests": 1.0, "distance": 1.0, "visited": on("2016-01-01"), "total": 1.0}
                 | {"currency": "MYR"})  # fmt: skip
    with pytest.raises(ToolError, match="unit: "):
        compute(data, operation, column, unit=unit, read=read)
    with pytest.raises(ToolError, match="unit: "):
        compute(data, operation, column, unit=unit)


def test_an_amount_may_be_asked_for_in_its_own_currency() -> None:
    assert compute(money((1.0, "MYR")), "sum", "total", unit="RM", read=read).unit == "MYR"


# --- what does not fit ----------------------------------------------------------------------------------------------


def test_a_column_that_does_not_do_names_those_that_would() -> None:
    with pytest.raises(ColumnTypeError, match="columns that would do: 'total', 'sleep duration'"):
        compute(table(), "sum", "cafe")
    with pytest.raises(ColumnTypeError, match="'visited', 'bedtime'"):
        compute(table(), "max", "paid")
    with pytest.raises(ColumnTypeError, match=r"by takes day, week, month, year, or one of: 'cafe', .*'total\.unit'"):
        compute(table(), "count", by="guests")
    with pytest.raises(ToolError, match="sum needs a column"):
        compute(table(), "sum")
    with pytest.raises(ToolError, match="there are: count, sum"):
        compute(table(), "product", "guests")  # type: ignore[arg-type]
    with pytest.raises(ColumnNotFound, match="near: 'guests'"):
        compute(table(), "sum", "guest")


# --- what it stands on ----------------------------------------------------------------------------------------------


def test_the_matched_rows_bring_their_pointers_and_what_they_were_chosen_by() -> None:
    data = table({"guests": 1.0, "cafe": "x", "steps": 3.0}, {"guests": 2.0, "cafe": "y"}, {"cafe": "x"})
    found = compute(data, "sum", "guests", where=where("cafe = x"), by="paid")
    assert found.matched["round_id"].to_list() == ["r0"]
    assert found.matched["guests.at"].to_list() == [{"round": "r0"}]
    assert {"cafe", "cafe.raw", "paid"} < set(found.matched.columns) and "steps" not in found.matched.columns


# --- comparisons ----------------------------------------------------------------------------------------------------


def test_two_periods_are_compared() -> None:
    data = table(*({"total": amount, "currency": "EUR", "day": on(day)} for amount, day in
                   ((0.1, "2016-03-01"), (0.2, "2016-04-01"), (0.4, "2016-04-02"))))  # fmt: skip
    march, april, may = (where(f"day = 2016-0{month}") for month in (3, 4, 5))
    found = compare(data, "sum", "total", march, april)
    assert (found.first.value, found.second.value, found.difference, found.ratio) == (0.1, 0.6, 0.5, 6.0)
    found = compare(data, "sum", "total", april, may)
    assert (found.second.empty, found.difference, found.ratio) == (True, None, None)
    found = compare(data, "count", None, may, april)
    assert (found.difference, found.ratio) == (2.0, None)
    assert compare(data, "max", "day", march, april).difference is None


def test_two_currencies_are_not_compared() -> None:
    data = money((1.0, "MYR"), (2.0, "EUR"))
    with pytest.raises(MixedUnits):
        compare(data, "sum", "total", where("total.unit = MYR"), where("total.unit = EUR"))
