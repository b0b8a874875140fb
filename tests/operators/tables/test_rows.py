"""Which record is a row of which table, and when it was."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from operators.tables.rows import KEY, Placed, Shape, at_day, place, when_told

DATE = "date\tdate\t"
TIME = "time\ttime\t"
NOON = datetime(2024, 5, 8, 12, tzinfo=UTC)


def key(name: str) -> str:
    return f"{name}\ttext\t"


def seen(order: int, name: str, value: str = "x", **more: Any) -> dict[str, Any]:
    """An observation of round ``order``; ``name`` is a key, or the name of a text."""
    return {
        "order": order, "record": 0, "value": value, "kind": "text", "number": None, "unit": None, "parsed": value,
        "confidence": 1.0, "image": None, KEY: name if "\t" in name else key(name), **more,
    }  # fmt: skip


def dated(order: int, day: str | None, **more: Any) -> dict[str, Any]:
    return seen(order, DATE, day or "", kind="date", **{"parsed": day, **more})


def round_(order: int, time: datetime | None = NOON, offset: int | None = 0, precision: str = "minute") -> dict[str, Any]:
    return {
        "order": order, "session_id": "s", "round_id": f"r{order}", "time": time, "time_offset_minutes": offset,
        "time_precision": precision,
    }  # fmt: skip


def shape(name: str, columns: str, support: int = 5) -> Shape:
    """A table of text columns (``date`` is a date): ``shape("visits", "cafe drink")``."""
    return Shape(name, [(each, [DATE if each == "date" else key(each)]) for each in columns.split()], support)


def put(
    observations: Sequence[dict[str, Any]], *shapes: Shape, rounds: Sequence[dict[str, Any]] | None = None
) -> list[list[Placed]]:
    told = rounds or [round_(order) for order in sorted({row["order"] for row in observations})]
    return place(observations, told, shapes or [shape("visits", "cafe drink date")], {DATE})


def cells(rows: Sequence[Placed]) -> list[tuple[int, int, dict[str, str]]]:
    return [(row.order, row.record, {name: cell["value"] for name, cell in row.cells.items()}) for row in rows]


# --- rows -----------------------------------------------------------------------------------------------------------


def test_a_round_with_any_attribute_of_a_table_is_a_row() -> None:
    told = [seen(4, "cafe", "Roma"), seen(4, "drink", "tea"), seen(7, "drink", "milk"), seen(9, "shoe", "left")]
    (rows,) = put(told)
    assert cells(rows) == [(4, 0, {"cafe": "Roma", "drink": "tea"}), (7, 0, {"drink": "milk"})]
    assert [(row.session_id, row.round_id, row.time, row.day) for row in rows] == [
        ("s", "r4", NOON, NOON.date()),
        ("s", "r7", NOON, NOON.date()),
    ]


def test_each_record_of_a_round_is_a_row() -> None:
    told = [seen(0, "cafe", name, record=record) for record, name in enumerate(["a", "b", "c"])]
    (rows,) = put([*reversed(told), seen(0, "drink", "tea", record=1)])
    assert cells(rows) == [(0, 0, {"cafe": "a"}), (0, 1, {"cafe": "b", "drink": "tea"}), (0, 2, {"cafe": "c"})]


def test_of_several_values_in_a_cell_the_surest_then_the_first() -> None:
    told = [seen(0, "cafe", value, confidence=sure) for value, sure in (("low", 0.4), ("first", 0.9), ("second", 0.9))]
    assert cells(put(told)[0]) == [(0, 0, {"cafe": "first"})]


def test_names_of_one_column_are_one_cell() -> None:
    both = Shape("visits", [("cafe", [key("cafe"), key("bistro")])], 5)
    assert cells(put([seen(0, "bistro", "Roma"), seen(1, "cafe", "Luna")], both)[0]) == [
        (0, 0, {"cafe": "Roma"}),
        (1, 0, {"cafe": "Luna"}),
    ]


def test_nothing_observed() -> None:
    assert put([]) == [[]]
    assert place([], [], [], set()) == []
    assert place([seen(0, "cafe")], [round_(0)], [], set()) == []


# --- what several tables have ---------------------------------------------------------------------------------------


def of_tables(told: Sequence[dict[str, Any]], *shapes: Shape) -> dict[str, list[tuple[int, int, dict[str, str]]]]:
    return {shape.name: cells(rows) for shape, rows in zip(shapes, put(told, *shapes), strict=True)}


def test_a_shared_attribute_goes_record_by_record_to_the_table_that_it_covers_best() -> None:
    one, two = shape("one", "cafe drink"), shape("two", "cafe cake plate")
    told = [
        seen(0, "cafe", "a"), seen(0, "drink", "b"),
        seen(1, "cafe", "c"), seen(1, "cake", "d"), seen(1, "plate", "e"),
        seen(2, "cafe", "f", record=0), seen(2, "cake", "g", record=0), seen(2, "plate", "h", record=0),
        seen(2, "cafe", "i", record=1), seen(2, "drink", "j", record=1),
    ]  # fmt: skip
    expected = {
        "one": [(0, 0, {"cafe": "a", "drink": "b"}), (2, 1, {"cafe": "i", "drink": "j"})],
        "two": [(1, 0, {"cafe": "c", "cake": "d", "plate": "e"}), (2, 0, {"cafe": "f", "cake": "g", "plate": "h"})],
    }
    assert of_tables(told, one, two) == of_tables(told, two, one) == expected


def test_a_record_may_be_a_row_of_two_tables_but_each_value_is_in_one() -> None:
    one, two = shape("one", "cafe drink"), shape("two", "cafe cake plate mood")
    told = [seen(0, "cafe", "a"), seen(0, "drink", "b"), seen(0, "cake", "c")]
    assert of_tables(told, one, two) == {"one": [(0, 0, {"cafe": "a", "drink": "b"})], "two": [(0, 0, {"cake": "c"})]}


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (shape("z", "cafe"), shape("a", "cafe drink")),  # the larger share of its columns
        (shape("z", "cafe drink"), shape("a", "cafe cake mood")),
        (shape("z", "cafe", support=9), shape("a", "cafe", support=8)),  # then the more frequent
        (shape("a", "cafe"), shape("z", "cafe")),  # then the first by name
    ],
)
def test_what_covers_best(first: Shape, second: Shape) -> None:
    for shapes in ([first, second], [second, first]):
        found = of_tables([seen(0, "cafe", "a")], *shapes)
        assert found[first.name] and not found[second.name]


def test_of_equal_shares_the_one_with_more_values() -> None:
    small, large = shape("a", "cafe", support=99), shape("z", "cafe drink")
    found = of_tables([seen(0, "cafe", "a"), seen(0, "drink", "b")], small, large)
    assert found == {"a": [], "z": [(0, 0, {"cafe": "a", "drink": "b"})]}


NAMES = ("cafe", "drink", "cake", "plate")
TOLD = st.lists(
    st.tuples(st.integers(0, 2), st.integers(0, 2), st.sampled_from([*NAMES, "shoe"]), st.integers(1, 3)), max_size=14
)
SHAPES = st.lists(
    st.tuples(st.lists(st.sampled_from(NAMES), min_size=1, max_size=3, unique=True), st.integers(1, 3)), max_size=3
)


@settings(max_examples=40, deadline=None)
@given(TOLD, SHAPES)
def test_every_value_that_fits_is_in_one_cell_of_one_table(
    told: list[tuple[int, int, str, int]], shaped: list[tuple[list[str], int]]
) -> None:
    observations = [
        seen(order, name, str(at), record=record, confidence=sure) for at, (order, record, name, sure) in enumerate(told)
    ]
    shapes = [shape(f"t{at}", " ".join(names), support) for at, (names, support) in enumerate(shaped)]
    tables = place(observations, [round_(order) for order in range(3)], shapes, {DATE})
    known = {name for names, _ in shaped for name in names}
    surest: dict[tuple[int, int, str], tuple[int, str]] = {}
    for at, (order, record, name, sure) in enumerate(told):
        best = surest.get((order, record, name))
        if name in known and (best is None or sure > best[0]):
            surest[order, record, name] = (sure, str(at))
    found = [
        ((row.order, row.record, name), cell["value"])
        for table in tables
        for row in table
        for name, cell in row.cells.items()
    ]
    assert sorted(found) == sorted((where, value) for where, (_, value) in surest.items())
    for table in tables:
        places = [(row.order, row.record) for row in table]
        assert places == sorted(set(places)) and all(row.cells for row in table)


# --- when a record was ----------------------------------------------------------------------------------------------


def test_a_record_is_of_the_day_it_tells_of_itself() -> None:
    (rows,) = put([seen(0, "cafe"), dated(0, "2018-04-03")])
    assert (rows[0].time, rows[0].day) == (datetime(2018, 4, 3, tzinfo=UTC), date(2018, 4, 3))
    (rows,) = put([seen(0, "cafe"), dated(0, None)])
    assert (rows[0].time, rows[0].day) == (NOON, NOON.date())
    (rows,) = put([seen(0, "cafe"), dated(0, "2018-13-41")])
    assert (rows[0].time, rows[0].day) == (NOON, NOON.date())


def test_the_rounds_own_day_keeps_its_time() -> None:
    (rows,) = put([seen(0, "cafe"), dated(0, "2024-05-08")])
    assert (rows[0].time, rows[0].day) == (NOON, NOON.date())


def test_the_clock_of_a_record_is_of_its_day() -> None:
    clock = seen(0, TIME, "07:30", kind="time")
    (rows,) = put([seen(0, "cafe"), dated(0, "2018-04-03"), clock], rounds=[round_(0, offset=120)])
    assert (rows[0].time, rows[0].day) == (datetime(2018, 4, 3, 5, 30, tzinfo=UTC), date(2018, 4, 3))


def test_the_surest_of_its_dates() -> None:
    (rows,) = put([seen(0, "cafe"), dated(0, "2018-04-03", confidence=0.5), dated(0, "2018-04-04", confidence=0.9)])
    assert rows[0].day == date(2018, 4, 4)


def test_the_date_of_a_picture_is_that_of_all_its_records() -> None:
    told = [
        dated(0, "2018-04-03", image=0, record=0), seen(0, "cafe", "a", image=0, record=0),
        seen(0, "cafe", "b", image=0, record=1), seen(0, "cafe", "c", image=0, record=2),
        seen(0, "cafe", "other picture", image=1, record=3), seen(0, "cafe", "text", record=4),
        seen(1, "cafe", "other round", image=0),
    ]  # fmt: skip
    (rows,) = put(told)
    days = {cell["value"]: row.day for row in rows for name, cell in row.cells.items() if name == "cafe"}
    told_day, said = date(2018, 4, 3), NOON.date()
    assert days == {"a": told_day, "b": told_day, "c": told_day, "other picture": said, "text": said, "other round": said}


def test_a_picture_of_two_days_tells_none_for_the_rest() -> None:
    told = [dated(0, f"2018-04-0{3 + record}", image=0, record=record) for record in range(2)]
    told.append(seen(0, "cafe", image=0, record=2))
    assert [row.day for row in put(told)[0]] == [date(2018, 4, 3), date(2018, 4, 4), NOON.date()]


def test_the_date_of_a_text_is_of_its_record_alone() -> None:
    told = [dated(0, "2018-04-03", record=0), seen(0, "cafe", record=0), seen(0, "cafe", record=1)]
    assert [row.day for row in put(told)[0]] == [date(2018, 4, 3), NOON.date()]


def test_a_date_that_is_no_date_of_the_record_is_a_value() -> None:
    due = "due date\tdate\t"
    told = [seen(0, due, "2018-04-03", kind="date")]
    (rows,) = put(told, Shape("bills", [("due date", [due])], 5))
    assert rows[0].day == NOON.date()


# --- calendars ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("utc", "offset", "day"),
    [
        ("2024-05-09T04:30", -300, "2024-05-08"),  # 23:30 at -05:00
        ("2024-05-08T23:30", 0, "2024-05-08"),
        ("2024-05-08T23:30", 480, "2024-05-09"),
        ("2024-05-08T23:30", None, "2024-05-08"),
        ("2024-12-31T18:30", 330, "2025-01-01"),
    ],
)
def test_a_day_is_one_of_the_writers_calendar(utc: str, offset: int | None, day: str) -> None:
    moment = datetime.fromisoformat(utc).replace(tzinfo=UTC)
    assert when_told(round_(0, moment, offset)) == (moment, date.fromisoformat(day))
    (rows,) = put([seen(0, "cafe"), dated(0, day)], rounds=[round_(0, moment, offset)])
    assert (rows[0].time, rows[0].day) == (moment, date.fromisoformat(day))


def test_unknown_times_are_null() -> None:
    assert when_told(round_(0, None, None, "unknown")) == (None, None)
    assert when_told(round_(0, NOON, 0, "unknown")) == (None, None)
    (rows,) = put([seen(0, "cafe")], rounds=[round_(0, None, None, "unknown")])
    assert (rows[0].time, rows[0].day) == (None, None)
    (rows,) = put([seen(0, "cafe"), dated(0, "2018-04-03")], rounds=[round_(0, None, None, "unknown")])
    assert rows[0].day == date(2018, 4, 3)


@pytest.mark.parametrize("day", ["0001-01-01", "9999-12-31"])
@pytest.mark.parametrize("offset", [-720, -300, 0, None, 330, 840])
@pytest.mark.parametrize("clock", [None, "00:00", "23:59:59"])
def test_the_first_and_the_last_day_there_is(day: str, offset: int | None, clock: str | None) -> None:
    time, found = at_day(round_(0, NOON, offset), day, clock)
    assert found == date.fromisoformat(day)
    assert time is None or time.tzinfo is UTC
    assert at_day(round_(0, None, None, "unknown"), day, clock)[1] == found


@pytest.mark.parametrize("moment", [datetime.min, datetime.max])
@pytest.mark.parametrize("offset", [-720, 0, 840])
def test_rounds_at_the_ends_of_time(moment: datetime, offset: int) -> None:
    assert when_told(round_(0, moment.replace(tzinfo=UTC), offset))[0] == moment.replace(tzinfo=UTC)
    assert put([seen(0, "cafe")], rounds=[round_(0, moment.replace(tzinfo=UTC), offset)])[0][0].day is not None


@settings(max_examples=80, deadline=None)
@given(st.dates(), st.times(), st.integers(-14 * 60, 14 * 60), st.none() | st.text(max_size=6))
def test_a_told_day_is_the_day_whatever_the_offset(day: date, clock: Any, offset: int, odd: str | None) -> None:
    text = odd if odd is not None else clock.strftime("%H:%M")
    time, found = at_day(round_(0, NOON, offset), day.isoformat(), text)
    assert found == day
    if time is not None:
        assert (time.replace(tzinfo=None) + timedelta(minutes=offset)).date() == day
