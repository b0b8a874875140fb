"""Looking up, filtering and ranking records, and the calls that planners write."""

from __future__ import annotations

import json
from typing import Any

import pytest
from desk import META, at, on, read, table
from hypothesis import given, settings
from hypothesis import strategies as st

from operators.errors import ColumnNotFound, ColumnTypeError, MixedUnits, TableNotFound, ToolError
from operators.tables.columns import Table
from operators.tables.compute import Compared, Computed
from operators.tables.tools import Call, Rows, filter_rows, lookup, rank, read_call, run
from operators.tables.where import parse_where

DATA = table(
    {"guests": 3.0, "cafe": "Bean", "time": at("2016-04-03T08:00"), "total": 9.0, "currency": "EUR"},
    {"guests": 5.0, "cafe": "Lumen", "time": at("2016-04-01T08:00"), "total": 7.0, "currency": "EUR"},
    {"guests": 5.0, "cafe": "bean", "total": 4.0},
    {"cafe": "Bean", "time": at("2016-04-02T08:00"), "total": 2.0, "currency": "EUR"},
)


def where(text: str) -> Any:
    return parse_where(text, META, read)


def tables(name: str) -> Table:
    if name != "receipts":
        raise TableNotFound("there is no such table: receipts")
    return DATA


def call(**data: Any) -> Call:
    return read_call({"table": "receipts", **data})


def orders(found: Any) -> list[int]:
    assert isinstance(found, Rows)
    return found.rows["order"].to_list()


# --- rows -----------------------------------------------------------------------------------------------------------


def test_a_filter_gives_all_that_matches_in_order_of_time() -> None:
    found = filter_rows(DATA, where("cafe = bean"), limit=2)
    assert (orders(found), found.total, found.empty) == ([3, 0], 3, False)
    assert orders(filter_rows(DATA, None)) == [1, 3, 0, 2]
    assert filter_rows(DATA, where("guests > 9")).empty


def test_a_lookup_leaves_out_records_without_the_values_asked_for() -> None:
    found = lookup(DATA, where("cafe = bean"), ["guests"])
    assert (orders(found), found.total, found.columns) == ([0, 2], 2, ("guests",))
    assert orders(lookup(DATA, where("cafe = bean"))) == [3, 0, 2]


def test_rows_bring_pointers_of_the_columns_asked_for_and_no_others() -> None:
    found = filter_rows(DATA, None, columns=["amount", "cafe"])
    assert found.columns == ("total", "cafe")
    assert found.rows.columns == [
        "order", "time", "day", "session_id", "round_id", "record",
        "total", "total.raw", "total.at", "total.unit", "cafe", "cafe.raw", "cafe.at",
    ]  # fmt: skip


def test_a_rank_goes_by_value_then_time_and_leaves_out_what_has_none() -> None:
    assert orders(rank(DATA, "guests")) == [1]
    found = rank(DATA, "guests", n=9, columns=["cafe"])
    assert (orders(found), found.total, found.columns) == ([1, 2, 0], 3, ("guests", "cafe"))
    assert orders(rank(DATA, "guests", n=9, descending=False)) == [0, 1, 2]
    assert orders(rank(DATA, "time", n=2)) == [0, 3]
    assert orders(rank(DATA, "total", n=2, where=where("cafe = bean"))) == [0, 2]


@settings(deadline=None, max_examples=60)
@given(st.lists(st.one_of(st.none(), st.integers(0, 3)), max_size=10), st.integers(1, 5), st.booleans())
def test_a_rank_is_a_sort(values: list[int | None], n: int, descending: bool) -> None:
    data = table(*({"guests": value} for value in values))
    expected = sorted(
        (place for place, value in enumerate(values) if value is not None),
        key=lambda place: (-(values[place] or 0) if descending else (values[place] or 0), place),
    )
    assert orders(rank(data, "guests", n=n, descending=descending)) == expected[:n]


def test_several_currencies_are_not_ranked_together() -> None:
    data = table({"total": 1.0, "currency": "EUR"}, {"total": 9.0, "currency": "MYR"}, {"total": 5.0})
    with pytest.raises(MixedUnits, match="EUR, MYR and amounts of unknown currency"):
        rank(data, "total")
    assert orders(rank(data, "total", where=where("total.unit = EUR"))) == [0]


def test_what_cannot_be_ranked_or_shown_says_what_can() -> None:
    with pytest.raises(ColumnTypeError, match="columns that would do: 'total'"):
        rank(DATA, "cafe")
    with pytest.raises(ColumnNotFound, match="near: 'cafe'"):
        filter_rows(DATA, None, columns=["cafes"])
    for wrong in (lambda: rank(DATA, "guests", n=0), lambda: filter_rows(DATA, None, limit=0)):
        with pytest.raises(ToolError, match="1 or more"):
            wrong()


# --- calls ----------------------------------------------------------------------------------------------------------


def test_calls_are_carried_out() -> None:
    found = run(call(tool="lookup", where=["cafe = lumen"], columns=["total"]), tables, read)
    assert orders(found) == [1]
    assert orders(run(call(tool="filter", where=["cafe = bean", "guests > 3"], limit=5), tables, read)) == [2]
    assert orders(run(call(tool="rank", column="guests", n=2), tables, read)) == [1, 2]
    summed = run(call(tool="compute", operation="sum", column="total", where=["cafe = bean"], by="month"), tables, read)
    assert isinstance(summed, Computed)
    assert (summed.value, summed.unit, [group.key for group in summed.groups]) == (15.0, "EUR", ["2016-04", None])


def test_a_compute_call_compares_within_its_conditions() -> None:
    sides = {"first": ["time < 2016-04-03"], "second": ["time >= 2016-04-03"]}
    found = run(call(tool="compute", operation="sum", column="total", where=["cafe = bean"], compare=sides), tables, read)
    assert isinstance(found, Compared)
    assert (found.first.value, found.second.value, found.difference) == (2.0, 9.0, 7.0)
    with pytest.raises(ToolError, match="do not go together"):
        run(call(tool="compute", operation="count", compare=sides, by="month"), tables, read)


def test_a_call_survives_json() -> None:
    made = call(tool="compute", operation="avg", column="total", unit="EUR", compare={"first": ["a"], "second": ["b"]})
    assert read_call(json.loads(made.model_dump_json())) == made


@pytest.mark.parametrize(
    ("data", "says"),
    [
        ({"tool": "delete", "table": "receipts"}, "one of: lookup, filter, compute, rank"),
        ({"table": "receipts"}, "one of: lookup, filter, compute, rank"),
        ("lookup", "call: "),
        ({"tool": "lookup"}, "lookup.table: Field required"),
        ({"tool": "filter", "table": "t", "where": "a = 1"}, "filter.where: Input should be a valid list"),
        ({"tool": "filter", "table": "t", "limit": 0}, "filter.limit: "),
        ({"tool": "filter", "table": "t", "rows": 1}, "allowed are: table, where, tool, columns, limit"),
        ({"tool": "compute", "table": "t", "operation": "product"}, "'count', 'sum'"),
        (
            {"tool": "compute", "table": "t", "operation": "sum", "compare": {"first": ["a"]}},
            "compare.second: Field required",
        ),
        (
            {"tool": "compute", "table": "t", "operation": "sum", "compare": {"first": ["a"], "second": ["a"], "third": []}},
            "allowed are: first, second",
        ),
    ],
)
def test_a_call_that_is_none_says_what_is_allowed_and_repeats_nothing(data: Any, says: str) -> None:
    with pytest.raises(ToolError) as caught:
        read_call(data)
    assert says in str(caught.value) and "product" not in str(caught.value) and "delete" not in str(caught.value)


def test_what_a_table_lacks_is_said_when_the_call_is_run() -> None:
    with pytest.raises(TableNotFound):
        run(read_call({"tool": "lookup", "table": "weights"}), tables, read)
    with pytest.raises(ColumnNotFound, match="near: 'guests'"):
        run(call(tool="rank", column="guest"), tables, read)
    with pytest.raises(ToolError, match="7 h"):
        run(call(tool="filter", where=["sleep duration > 7"]), tables, read)


def test_days_rank_too() -> None:
    assert orders(rank(table({"visited": on("2016-01-02")}, {"visited": on("2016-03-01")}), "visited")) == [1]
