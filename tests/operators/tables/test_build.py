"""Tables from observations: values in one unit, what people set right, and the way back to where each value stands."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from datetime import UTC, date, datetime
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from operators.extract.values import parse_value
from operators.tables.build import Built, Spec, arrow_schema, build
from operators.tables.columns import Column
from operators.tables.rows import KEY

NOON = datetime(2024, 5, 8, 12, tzinfo=UTC)
SAID = datetime(2024, 6, 1, 9, 30, tzinfo=UTC)

WEIGHT = Column("weight", "number", "kg")
STEPS = Column("steps", "number", "steps")
COUNT = Column("guests", "number")
SLEEP = Column("sleep", "duration", "s")
BATTERY = Column("battery", "percent", "%")
TOTAL = Column("total", "money")
MOOD = Column("mood", "ratio")
HEAT = Column("heat", "number", "°C")
RUN = Column("run", "number", "m")
DATE = Column("date", "date")
PAID = Column("paid", "bool")
BED = Column("bed", "time")
CAFE = Column("cafe", "text")
TIP = Column("tip", "money")


def key(column: Column) -> str:
    return f"{column.name}\t{column.kind}\t{column.unit or ''}"


def seen(column: Column, text: str, order: int = 0, **more: Any) -> dict[str, Any]:
    """What is observed where ``text`` is written in round ``order``, as the extractor reads it."""
    read = parse_value(text)
    assert read is not None
    kind = column.kind if column.kind == "text" else read.kind
    return {
        "order": order, "record": 0, "value": text, "kind": kind, "number": read.number, "unit": read.unit,
        "parsed": text.lower() if kind == "text" else read.text, "confidence": 1.0, "image": None, "media": None,
        "box": None, "message": 0, "start": 5, "end": 5 + len(text), "observation_id": f"s/r{order}/obs0",
        "from_round": None, KEY: key(column), **more,
    }  # fmt: skip


def round_(order: int, time: datetime | None = NOON, offset: int | None = 0, precision: str = "minute") -> dict[str, Any]:
    return {
        "order": order, "session_id": "s", "round_id": f"r{order}", "time": time, "time_offset_minutes": offset,
        "time_precision": precision,
    }  # fmt: skip


def said(column: Column, text: str | None, order: int = 0, **more: Any) -> dict[str, Any]:
    """What a person says a cell holds."""
    read = parse_value(text) if text is not None else None
    return {
        "tenant_id": "t", "user_id": "u", "session_id": "s", "round_id": f"r{order}", "record": 0, "table": "",
        "column": column.name, "names": [column.name], "value": text, "kind": column.kind, "number": read and read.number,
        "unit": read and read.unit, "parsed": read and read.text, "by": "ada", "at": SAID, **more,
    }  # fmt: skip


def spec(name: str, *columns: Column, support: int = 5) -> Spec:
    return Spec(name, [(column, [key(column)]) for column in columns], support)


def built(
    observations: Sequence[dict[str, Any]],
    *specs: Spec,
    corrections: Sequence[dict[str, Any]] = (),
    rounds: Sequence[dict[str, Any]] | None = None,
) -> list[Built]:
    told = rounds or [round_(order) for order in range(10)]
    found = build(observations, told, corrections, specs, frozenset({key(DATE)}))
    for each, one in zip(found, specs, strict=True):
        assert each.meta.name == one.name and each.meta.rows == len(each.rows)
        assert each.rows.schema.equals(arrow_schema(each.meta.columns))
    return found


def rows(*args: Any, **how: Any) -> list[dict[str, Any]]:
    (found,) = built(*args, **how)
    return list(found.rows.to_pylist())


def values(column: Column, *texts: str, **more: Any) -> list[Any]:
    """The column's values where the texts are written, a round each; raw texts are always kept."""
    found = rows([seen(column, text, order, **more) for order, text in enumerate(texts)], spec("one", column))
    assert [row[f"{column.name}.raw"] for row in found] == list(texts)
    return [row[column.name] for row in found]


def pointer(row: dict[str, Any], column: Column) -> dict[str, Any]:
    return dict(json.loads(row[f"{column.name}.at"]))


# --- tables ---------------------------------------------------------------------------------------------------------


def test_a_table_of_rounds() -> None:
    told = [seen(SLEEP, "7 h 30 min", 0), seen(STEPS, "8,412 steps", 0), seen(STEPS, "9,000 steps", 2)]
    (found,) = built(told, spec("activity", SLEEP, STEPS))
    assert found.rows.schema.names == [
        "order", "time", "day", "session_id", "round_id", "record",
        "sleep", "sleep.raw", "sleep.at", "steps", "steps.raw", "steps.at",
    ]  # fmt: skip
    first, second = found.rows.to_pylist()
    assert (first["order"], first["time"], first["day"], first["round_id"]) == (0, NOON, NOON.date(), "r0")
    assert (first["sleep"], first["sleep.raw"], first["steps"]) == (27000.0, "7 h 30 min", 8412.0)
    assert (second["sleep"], second["sleep.raw"], second["sleep.at"], second["steps"]) == (None, None, None, 9000.0)


def test_the_types_of_columns() -> None:
    schema = arrow_schema([TOTAL, DATE, PAID, BED, CAFE])
    types = [pa.float64(), pa.date32(), pa.bool_(), pa.string(), pa.string()]
    assert [schema.field(each.name).type for each in (TOTAL, DATE, PAID, BED, CAFE)] == types
    assert "total.unit" in schema.names and "cafe.unit" not in schema.names
    (empty,) = built([], spec("nothing", TOTAL, DATE))
    assert (len(empty.rows), empty.meta.rows, empty.meta.samples) == (0, 0, {"total": (), "date": ()})


def test_what_a_planner_is_told_of_a_table() -> None:
    told = [seen(CAFE, f"cafe {at}", at) for at in range(9)] + [seen(CAFE, "cafe 0", 9), seen(DATE, "2018-04-03", 9)]
    (found,) = built(told, spec("visits", CAFE, DATE))
    assert found.meta.samples["cafe"][0] == "cafe 0" and found.meta.samples["cafe"][-1] == "cafe 8"
    assert len(found.meta.samples["cafe"]) == 5 and found.meta.samples["date"] == ("2018-04-03",)
    assert found.meta.description == "10 records of cafe, date, 2018-04-03 to 2024-05-08"


def test_an_unknown_time_and_the_calendar_of_the_writer() -> None:
    told = [seen(CAFE, "Roma", 0), seen(CAFE, "Luna", 1)]
    late = round_(1, datetime(2024, 5, 9, 4, 30, tzinfo=UTC), -300)
    first, second = rows(told, spec("visits", CAFE), rounds=[round_(0, None, None, "unknown"), late])
    assert (first["time"], first["day"]) == (None, None)
    assert second["day"] == date(2024, 5, 8)


def test_days_at_the_ends_of_time() -> None:
    told = [seen(DATE, text, order, parsed=text, kind="date") for order, text in enumerate(["0001-01-01", "9999-12-31"])]
    found = rows(told, spec("days", DATE), rounds=[round_(0, offset=840), round_(1, offset=-720)])
    assert [row["day"] for row in found] == [row["date"] for row in found] == [date.min, date.max]


# --- values ---------------------------------------------------------------------------------------------------------


def test_values_are_in_one_unit() -> None:
    kilos, pounds = values(WEIGHT, "72.4 kg", "160 lb")
    assert kilos == 72.4 and math.isclose(pounds, 72.5747792)
    assert values(SLEEP, "7 h", "450 min", "7 h 30 min") == [25200, 27000, 27000]


def test_a_bare_number_is_in_the_unit_that_all_others_are_written_in() -> None:
    assert values(WEIGHT, "72.4 kg", "72.1", "71 kg") == [72.4, 72.1, 71]
    assert values(WEIGHT, "160 lb", "158", "161 lbs")[1] == pytest.approx(158 * 0.45359237, rel=1e-5)
    assert values(SLEEP, "7 h", "8 h", "6.5") == [25200, 28800, 23400]
    assert values(RUN, "5 km", "1,200 km", "3") == [5000, 1_200_000, 3000]


def test_a_bare_number_among_several_units_or_none_is_not_known() -> None:
    assert values(WEIGHT, "72.4 kg", "160 lb", "72.1")[2] is None
    assert values(SLEEP, "7 h", "30 min", "8")[2] is None
    assert values(WEIGHT, "72.1", "160") == [None, None]


def test_a_bare_number_of_what_is_counted_in_one_unit() -> None:
    assert values(STEPS, "8,412 steps", "9000") == [8412, 9000]
    assert values(BATTERY, "80%", "75") == [80, 75]
    assert values(COUNT, "4", "12") == [4, 12]


def test_a_value_of_another_unit_is_not_known() -> None:
    assert values(WEIGHT, "72.4 kg", "5 km") == [72.4, None]
    assert values(COUNT, "4", "5 km") == [4, None]
    assert values(WEIGHT, "72.4 kg", "heavy") == [72.4, None]
    assert values(SLEEP, "7 h", "well") == [25200, None]


def test_temperatures_below_zero() -> None:
    assert values(HEAT, "-5 °C", "20 °C", "-3 °C") == [-5, 20, -3]


@pytest.mark.parametrize("texts", [("-5 °C", "3"), ("-5 °C", "20 °C", "3"), ("-5 °C", "-20 °C", "-3")])
def test_a_bare_number_beside_temperatures_below_zero(texts: tuple[str, ...]) -> None:
    assert values(HEAT, *texts)[-1] == float(texts[-1])


@pytest.mark.parametrize("texts", [("50 °F", "68"), ("50 °F", "50 °F", "68")])
def test_a_bare_number_beside_a_unit_with_another_zero(texts: tuple[str, ...]) -> None:
    found = values(HEAT, *texts)[-1]
    assert found is None or found == pytest.approx(20)


def test_a_bare_number_beside_values_that_may_be_read_in_two_ways() -> None:
    assert values(RUN, "5.250 km", "4.5")[1] in (None, 4500)
    assert values(RUN, "5.250 km", "3.125 km", "4.5")[2] in (None, 4500)
    assert values(RUN, "5.250 km", "2.1 km", "4.5")[2] == 4500


def test_ratios_are_out_of_the_largest() -> None:
    (found,) = built([seen(MOOD, "7/10", 0), seen(MOOD, "4/5", 1)], spec("moods", MOOD))
    assert found.meta.columns[0].unit == "/10"
    assert [row["mood"] for row in found.rows.to_pylist()] == [7, 8]
    assert values(MOOD, "4/5", "3/5") == [4, 3]
    assert values(MOOD, "4/5", "3")[0] == 4


def test_a_ratio_out_of_nothing_is_not_known() -> None:
    assert values(MOOD, "7/10", "7/0") == [7, None]
    assert values(MOOD, "7/0") == [None]


def test_currencies_stand_beside_the_amounts() -> None:
    found = rows([seen(TOTAL, "€ 12.50", 0), seen(TOTAL, "RM 20", 1), seen(TOTAL, "7.20", 2)], spec("receipts", TOTAL))
    assert [(row["total"], row["total.unit"]) for row in found] == [(12.5, "EUR"), (20, "MYR"), (7.2, None)]


def test_dates_times_truths_and_texts() -> None:
    assert values(DATE, "2018-04-03") == [date(2018, 4, 3)]
    assert values(PAID, "yes", "no") == [True, False]
    assert values(BED, "23:15") == ["23:15"]
    assert values(CAFE, "Café Roma", "7") == ["Café Roma", "7"]


@pytest.mark.parametrize("column", [DATE, PAID, BED])
def test_a_value_of_another_kind_is_not_known(column: Column) -> None:
    assert values(column, "a lot", "12 kg") == [None, None]
    assert values(column, "x", parsed=None, kind=column.kind) == [None]


def test_a_date_that_is_none_is_not_known() -> None:
    assert values(DATE, "31 February 2024", parsed="2024-02-31", kind="date") == [None]


@pytest.mark.parametrize("odd", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("column", [COUNT, WEIGHT, SLEEP, TOTAL, BATTERY])
def test_what_is_no_finite_number_does_not_come_out(odd: float, column: Column) -> None:
    read = {"kind": column.kind, "unit": "EUR" if column is TOTAL else column.unit}
    told = [seen(column, "5", 0, number=odd, **read), seen(column, "72.1", 1, number=72.1, **read)]
    assert [row[column.name] for row in rows(told, spec("one", column))] == [None, 72.1]


@pytest.mark.parametrize("odd", [math.nan, math.inf, -math.inf])
def test_a_ratio_that_is_no_finite_number_does_not_come_out(odd: float) -> None:
    told = [seen(MOOD, "7/10", 0, number=odd), seen(MOOD, "4/5", 1)]
    assert [row["mood"] for row in rows(told, spec("one", MOOD))] == [None, 8]


@pytest.mark.parametrize("odd", [math.nan, math.inf])
def test_what_is_no_finite_number_makes_no_bare_number_so(odd: float) -> None:
    told = [seen(WEIGHT, "5 kg", 0, number=odd), seen(WEIGHT, "72.1", 1)]
    assert rows(told, spec("one", WEIGHT))[1]["weight"] in (None, 72.1)


NUMBERS = st.floats() | st.none() | st.sampled_from([0.0, -5.0, 72.4, 1e308])
CELLS = st.lists(
    st.tuples(
        st.sampled_from(["number", "duration", "money", "percent", "ratio", "date", "bool", "text"]),
        st.sampled_from(["kg", "s", "m", "°C", "%", "EUR", None]),
        NUMBERS,
        st.sampled_from(["7.2 kg", "5", "1.234", "-5 °C", "x", "", "5 km in 30 min", "3,4"]),
    ),
    min_size=1,
    max_size=5,
)


def odd_numbers(column: Column, cells: list[tuple[str, str | None, float | None, str]]) -> list[float | None]:
    told = [
        seen(column, "x", order, kind=kind, unit=unit, number=number, value=text)
        for order, (kind, unit, number, text) in enumerate(cells)
    ]
    return [row[column.name] for row in rows(told, spec("one", column))]


@settings(max_examples=60, deadline=None)
@given(st.sampled_from([COUNT, STEPS, TOTAL, BATTERY]), CELLS)
def test_whatever_the_numbers_are_those_that_come_out_are_finite(
    column: Column, cells: list[tuple[str, str | None, float | None, str]]
) -> None:
    assert all(number is None or math.isfinite(number) for number in odd_numbers(column, cells))


@settings(max_examples=100, deadline=None)
@given(st.sampled_from([WEIGHT, SLEEP, RUN, HEAT]), CELLS)
def test_whatever_the_numbers_of_several_units_are_those_that_come_out_are_finite(
    column: Column, cells: list[tuple[str, str | None, float | None, str]]
) -> None:
    assert all(number is None or math.isfinite(number) for number in odd_numbers(column, cells))


# --- pointers -------------------------------------------------------------------------------------------------------


def test_a_pointer_leads_to_the_observation() -> None:
    (row,) = rows([seen(CAFE, "Roma", 3, message=2, start=11, end=15)], spec("visits", CAFE))
    assert pointer(row, CAFE) == {"observation_id": "s/r3/obs0", "message": 2, "start": 11, "end": 15}


def test_a_pointer_leads_to_the_place_in_a_picture() -> None:
    where = {"start": None, "end": None, "image": 1, "media": "ab" * 32, "box": [1.0, 2.0, 3.5, 4.0]}
    (row,) = rows([seen(CAFE, "Roma \u2615", 3, **where)], spec("visits", CAFE))
    told = {"observation_id": "s/r3/obs0", "message": 0, "image": 1, "media": "ab" * 32, "box": [1.0, 2.0, 3.5, 4.0]}
    assert pointer(row, CAFE) == told


def test_a_pointer_tells_the_later_round_that_set_its_row_right() -> None:
    # As ``counts.live`` has it: the observation of round 5 stands in the row of round 3.
    later = seen(CAFE, "Luna", 3, observation_id="s/r5/obs2", from_round="r5")
    (row,) = rows([later], spec("visits", CAFE))
    assert row["round_id"] == "r3"
    assert pointer(row, CAFE)["from_round"] == "r5" and pointer(row, CAFE)["observation_id"] == "s/r5/obs2"


# --- what people set right ------------------------------------------------------------------------------------------


def test_a_persons_word_goes_before_what_was_observed() -> None:
    told = [seen(CAFE, "Roma", 0), seen(SLEEP, "7 h", 0), seen(CAFE, "Luna", 1)]
    fixed = [said(CAFE, "Lupa", 0), said(SLEEP, "8 h", 0)]
    first, second = rows(told, spec("visits", CAFE, SLEEP), corrections=fixed)
    assert (first["cafe"], first["cafe.raw"], first["sleep"], first["sleep.raw"]) == ("Lupa", "Lupa", 28800, "8 h")
    assert second["cafe"] == "Luna"
    assert pointer(first, CAFE) == {"corrected_by": "ada", "corrected_at": "2024-06-01T09:30:00Z"}


def test_a_persons_word_of_nothing_empties_the_cell() -> None:
    told = [seen(CAFE, "Roma", 0), seen(TOTAL, "€ 5", 0), seen(SLEEP, "7 h", 0), seen(MOOD, "4/5", 0)]
    columns = (CAFE, TOTAL, SLEEP, MOOD)
    for kept in columns:
        emptied = [column for column in columns if column is not kept]
        (row,) = rows(told, spec("visits", *columns), corrections=[said(column, None) for column in emptied])
        assert [row[f"{column.name}.raw"] is None for column in columns] == [column is not kept for column in columns]
        assert all(row[column.name] is None for column in emptied)
        assert all(pointer(row, column)["corrected_by"] == "ada" for column in emptied)


def test_a_record_of_which_nothing_is_left_is_none() -> None:
    told = [seen(CAFE, "Roma", 0), seen(TOTAL, "€ 5", 0)]
    assert rows(told, spec("visits", CAFE, TOTAL), corrections=[said(CAFE, None), said(TOTAL, None)]) == []


def test_a_persons_word_changes_no_other_cell() -> None:
    told = [seen(WEIGHT, "160 lb", 0), seen(WEIGHT, "158", 1), seen(WEIGHT, "1500 lb", 2)]
    before = [row["weight"] for row in rows(told, spec("weights", WEIGHT))]
    fixed = said(WEIGHT, "68", 2, unit="kg")  # as `mnemosaic correct` writes a bare 68
    assert before[1] == pytest.approx(158 * 0.45359237, rel=1e-5)
    assert [row["weight"] for row in rows(told, spec("weights", WEIGHT), corrections=[fixed])] == [*before[:2], 68]


def test_a_persons_word_in_a_record_that_had_no_row_makes_one() -> None:
    told = [seen(CAFE, "Roma", 0), seen(CAFE, "Luna", 4)]
    fixed = [said(CAFE, "Lupa", 2), said(CAFE, "second", 0, record=1)]
    found = rows(told, spec("visits", CAFE, SLEEP), corrections=fixed)
    told_of = [(row["order"], row["record"], row["round_id"], row["cafe"]) for row in found]
    assert told_of == [(0, 0, "r0", "Roma"), (0, 1, "r0", "second"), (2, 0, "r2", "Lupa"), (4, 0, "r4", "Luna")]
    assert (found[2]["time"], found[2]["day"], found[2]["session_id"]) == (NOON, NOON.date(), "s")


def test_a_persons_word_on_the_date_moves_the_day() -> None:
    told = [seen(CAFE, "Roma", 0), seen(DATE, "2018-03-04", 0)]
    (row,) = rows(told, spec("visits", CAFE, DATE), corrections=[said(DATE, "2018-04-03")])
    assert (row["date"], row["day"]) == (date(2018, 4, 3), date(2018, 4, 3))
    assert row["time"] == datetime(2018, 4, 3, tzinfo=UTC)
    (row,) = rows(told, spec("visits", CAFE, DATE), corrections=[said(DATE, "2024-05-08")])
    assert (row["time"], row["day"]) == (NOON, NOON.date())
    (row,) = rows([], spec("visits", CAFE, DATE), corrections=[said(DATE, "2018-04-03")])
    assert row["day"] == date(2018, 4, 3)


def test_a_date_that_a_person_takes_away_dates_nothing() -> None:
    told = [seen(CAFE, "Roma", 0), seen(DATE, "2018-03-04", 0)]
    (row,) = rows(told, spec("visits", CAFE, DATE), corrections=[said(DATE, None)])
    assert row["date"] is None and (row["time"], row["day"]) == (NOON, NOON.date())


def test_a_persons_word_on_the_date_is_of_the_whole_record() -> None:
    """A record whose values stand in two tables is of one day."""
    told = [seen(CAFE, "Roma", 0), seen(DATE, "2018-03-04", 0), seen(TIP, "€ 1", 0)]
    tables = (spec("visits", CAFE, DATE), spec("tips", TIP))
    visits, tips = (each.rows.to_pylist() for each in built(told, *tables, corrections=[said(DATE, "2018-04-03")]))
    assert visits[0]["day"] == tips[0]["day"] == date(2018, 4, 3)


def test_a_persons_word_on_a_receipts_date_is_of_its_lines_too() -> None:
    told = [seen(CAFE, "Roma", 0, image=0), seen(DATE, "2018-03-04", 0, image=0), seen(TIP, "€ 1", 0, image=0, record=1)]
    tables = (spec("visits", CAFE, DATE), spec("lines", TIP))
    before = [each.rows.to_pylist()[0]["day"] for each in built(told, *tables)]
    assert before == [date(2018, 3, 4)] * 2
    after = [each.rows.to_pylist()[0]["day"] for each in built(told, *tables, corrections=[said(DATE, "2018-04-03")])]
    assert after == [date(2018, 4, 3)] * 2


def test_the_clock_of_a_record_stays_when_its_date_is_set_right() -> None:
    clock = seen(BED, "07:30", 0, **{KEY: "time\ttime\t"})
    told = [seen(CAFE, "Roma", 0), seen(DATE, "2018-03-04", 0), clock]
    assert rows(told, spec("visits", CAFE, DATE))[0]["time"] == datetime(2018, 3, 4, 7, 30, tzinfo=UTC)
    (row,) = rows(told, spec("visits", CAFE, DATE), corrections=[said(DATE, "2018-04-03")])
    assert row["time"] == datetime(2018, 4, 3, 7, 30, tzinfo=UTC)


def test_a_persons_word_on_a_round_that_is_gone_does_nothing() -> None:
    told = [seen(CAFE, "Roma", 0)]
    fixed = [said(CAFE, "Lupa", 99), said(CAFE, "Lupa", 0, session_id="other")]
    assert [row["cafe"] for row in rows(told, spec("visits", CAFE), corrections=fixed)] == ["Roma"]
    assert rows(told, spec("naps", SLEEP), corrections=[said(CAFE, "Lupa", 0)]) == []


def test_a_persons_word_on_a_cell_that_two_tables_could_have_goes_where_the_value_stands() -> None:
    told = [seen(TIP, "€ 1", 0), seen(TOTAL, "€ 20", 0), seen(CAFE, "Roma", 0), seen(DATE, "2018-03-04", 0)]
    for tables in (
        (spec("a", TIP, TOTAL), spec("b", TOTAL, CAFE, DATE)),
        (spec("b", TOTAL, CAFE, DATE), spec("a", TIP, TOTAL)),
    ):
        found = {each.meta.name: each.rows.to_pylist() for each in built(told, *tables)}
        assert [row["total"] for row in found["b"]] == [20] and [row["total"] for row in found["a"]] == [None]
        fixed = {each.meta.name: each.rows.to_pylist() for each in built(told, *tables, corrections=[said(TOTAL, "€ 25")])}
        assert [row["total"] for row in fixed["b"]] == [25]
        assert [row["total"] for row in fixed["a"]] == [None]


def test_a_persons_word_outlives_the_name_of_the_column() -> None:
    renamed = Column("bistro", "text")
    table = Spec("visits", [(renamed, [key(CAFE), key(renamed)])], 5)
    (row,) = rows([seen(CAFE, "Roma", 0)], table, corrections=[said(CAFE, "Lupa", 0)])
    assert row["bistro"] == "Lupa"
    other = Spec("visits", [(Column("bistro", "number"), [key(CAFE)])], 5)
    assert rows([], other, corrections=[said(CAFE, "Lupa", 0)]) == []


def test_the_last_word_on_a_cell_stands() -> None:
    found = rows(
        [seen(CAFE, "Roma", 0)], spec("visits", CAFE), corrections=[said(CAFE, "Luna"), said(CAFE, "Lupa", by="bo")]
    )
    assert [(row["cafe"], pointer(row, CAFE)["corrected_by"]) for row in found] == [("Lupa", "bo")]


@pytest.mark.parametrize("column", [WEIGHT, SLEEP, BATTERY, PAID, BED, CAFE, COUNT, DATE])
@pytest.mark.parametrize("text", ["80%", "7/10", "7 h", "72 kg", "23:15", "yes", "2018-04-03", "x", "12"])
def test_a_persons_word_of_a_kind_that_the_column_no_longer_has_breaks_nothing(column: Column, text: str) -> None:
    """A column may have become another kind since: its table is built all the same, the word kept as written."""
    read = parse_value(text)
    assert read is not None
    (row,) = rows([], spec("one", column), corrections=[said(column, text, kind=read.kind)])
    assert row[f"{column.name}.raw"] == text
    fits = column.kind == read.kind and column.unit == read.unit
    bare = (read.kind, read.unit) == ("number", None) and column is BATTERY
    assert (row[column.name] is not None) == (fits or bare)


@pytest.mark.parametrize("text", ["80%", "7 h", "72 kg"])
def test_a_persons_word_of_another_kind_in_a_column_of_ratios(text: str) -> None:
    read = parse_value(text)
    assert read is not None
    assert [row["mood"] for row in rows([], spec("one", MOOD), corrections=[said(MOOD, text, kind=read.kind)])] == [None]


@pytest.mark.parametrize("text", ["80%", "7 h", "72 kg"])
def test_a_persons_word_of_another_kind_in_a_column_of_money(text: str) -> None:
    read = parse_value(text)
    assert read is not None
    (row,) = rows([], spec("one", TOTAL), corrections=[said(TOTAL, text, kind=read.kind)])
    assert (row["total"], row["total.unit"]) == (None, None)
