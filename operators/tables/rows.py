"""Rows of a user's tables: observations where they belong, a row a record, the best-covered table where several fit."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta, timezone
from typing import Any

from operators.records import (
    CONFIDENCE,
    IMAGE,
    KIND,
    OFFSET,
    ORDER,
    PARSED,
    PRECISION,
    RECORD,
    ROUND,
    SESSION,
    TIME,
    VALUE,
    local_day,
)

KEY = "key"
"""Beside the columns of ``records.OBSERVATIONS``: the name under which an observation counts."""

Record = tuple[int, int]
"""A round's order and which of its records."""

Row = Mapping[str, Any]


@dataclass(frozen=True)
class Shape:
    """A table as rows are made for it: its columns in order, each with the keys of the names it takes."""

    name: str
    columns: Sequence[tuple[str, Sequence[str]]]
    support: int


@dataclass
class Placed:
    """A record of one table: the observation in each of its columns, and when it was."""

    order: int
    record: int
    session_id: str
    round_id: str
    time: datetime | None
    day: date | None
    cells: dict[str, Row] = field(default_factory=dict)


def place(
    observations: Sequence[Row], rounds: Sequence[Row], shapes: Sequence[Shape], date_keys: Collection[str]
) -> list[list[Placed]]:
    """The rows of each table, by order and record.

    ``observations``: one user's, live, with ``KEY``; ``rounds``: order, session, round, time; ``date_keys``: the
    keys that tell the day of a record. An attribute that several tables have goes, in each record, to the one that the
    record covers best: by the share of its columns, then by their number, then by support, then by name.
    """
    by_record: dict[Record, list[Row]] = {}
    for row in observations:
        by_record.setdefault((row[ORDER], row[RECORD]), []).append(row)
    takers: dict[str, list[tuple[int, str]]] = {}
    for at, shape in enumerate(shapes):
        for column, keys in shape.columns:
            for key in keys:
                takers.setdefault(key, []).append((at, column))
    told = {row[ORDER]: row for row in rounds}
    pictured = _picture_days(observations, date_keys)
    tables: list[list[Placed]] = [[] for _ in shapes]
    for record in sorted(by_record):
        rows = by_record[record]
        cells = _cells(rows, takers, shapes)
        if not any(cells):
            continue
        round_ = told[record[0]]
        moment, day = _when(rows, round_, date_keys, pictured)
        for at, found in enumerate(cells):
            if any(cell[VALUE] is not None for cell in found.values()):  # a person may have emptied them all
                tables[at].append(Placed(*record, round_[SESSION], round_[ROUND], moment, day, found))
    return tables


def _cells(
    rows: Sequence[Row], takers: Mapping[str, Sequence[tuple[int, str]]], shapes: Sequence[Shape]
) -> list[dict[str, Row]]:
    """For each table, the record's observation in each column; of several in one the surest, then the first."""
    held: list[set[str]] = [set() for _ in shapes]
    for row in rows:
        for at, column in takers.get(row[KEY], ()):
            held[at].add(column)

    def fit(at: int) -> tuple[float, int, int, str]:
        shape = shapes[at]
        return -len(held[at]) / len(shape.columns), -len(held[at]), -shape.support, shape.name

    cells: list[dict[str, Row]] = [{} for _ in shapes]
    for row in rows:
        fitting = takers.get(row[KEY], ())
        if not fitting:
            continue
        at, column = fitting[0] if len(fitting) == 1 else min(fitting, key=lambda each: fit(each[0]))
        before = cells[at].get(column)
        if before is None or row[CONFIDENCE] > before[CONFIDENCE]:
            cells[at][column] = row
    return cells


# --- when a record was ----------------------------------------------------------------------------------------------


def _picture_days(observations: Iterable[Row], date_keys: Collection[str]) -> dict[tuple[int, int], set[str]]:
    """The days that a picture (round's order, place among its pictures) tells of itself."""
    found: dict[tuple[int, int], set[str]] = {}
    for row in observations:
        if row[IMAGE] is not None and row[KEY] in date_keys and row[PARSED]:
            found.setdefault((row[ORDER], row[IMAGE]), set()).add(row[PARSED])
    return found


def _when(
    rows: Sequence[Row], round_: Row, date_keys: Collection[str], pictured: Mapping[tuple[int, int], set[str]]
) -> tuple[datetime | None, date | None]:
    """When the record was (UTC), and its day on the writer's calendar: as it tells itself, else when it was told.

    A line of a receipt is of the receipt's day: what a picture tells of itself once holds for all in it.
    """
    own = [row for row in rows if row[KEY] in date_keys and row[PARSED]]
    told = max(own, key=lambda row: float(row[CONFIDENCE]))[PARSED] if own else _of_picture(rows, pictured)
    clock = next((row[PARSED] for row in rows if row[KIND] == "time" and row[KEY].split("\t")[0] == "time"), None)
    return at_day(round_, told, clock)


def at_day(round_: Row, told: str | None, clock: str | None) -> tuple[datetime | None, date | None]:
    """The time of a day and a clock that a record tells of itself; the round's own where it tells no other day."""
    said, said_day = when_told(round_)
    day = day_of(told)
    if day is None or day == said_day:
        return said, said_day
    try:
        local = datetime.combine(day, _clock(clock) or time(), timezone(timedelta(minutes=round_[OFFSET] or 0)))
        return local.astimezone(UTC), day
    except (OverflowError, ValueError):  # the first or last day there is, on a clock that puts it outside
        return None, day


def when_told(round_: Row) -> tuple[datetime | None, date | None]:
    """When a round was (UTC), and its day on its writer's calendar; None where that is not known."""
    said: datetime | None = round_[TIME]
    if said is None or round_[PRECISION] == "unknown":
        return None, None
    return said, local_day(said, round_[OFFSET])


def _of_picture(rows: Sequence[Row], pictured: Mapping[tuple[int, int], set[str]]) -> str | None:
    days = {day for row in rows if row[IMAGE] is not None for day in pictured.get((row[ORDER], row[IMAGE]), ())}
    return days.pop() if len(days) == 1 else None


def day_of(text: str | None) -> date | None:
    """The day that a text in ISO 8601 names; None where it names none."""
    try:
        return date.fromisoformat(text) if text else None
    except ValueError:
        return None


def _clock(text: str | None) -> time | None:
    try:
        return time.fromisoformat(text) if text else None
    except ValueError:
        return None
