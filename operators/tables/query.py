"""QUERY: one statement of SQL that reads a user's tables, for what no other tool expresses."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from operators.errors import QueryError
from operators.tables.columns import NUMERIC, PLAIN, Column, Table, parts_of
from operators.tables.query_engine import Engine
from operators.tables.query_money import one_currency
from operators.tables.query_names import Out, Read
from operators.tables.query_plan import make_plan
from operators.tables.statement import parse

Cell = float | int | str | bool | None


@dataclass(frozen=True)
class QueryLimits:
    """What a statement may cost. ``rows``: that it gives, more are left out; ``seconds``: that it runs."""

    rows: int = 1_000
    seconds: float = 2.0

    def __post_init__(self) -> None:
        if self.rows < 1 or not 0 < self.seconds < 3_600:
            raise QueryError("the limits of QUERY are 1 row or more, and more than 0 seconds")


@dataclass(frozen=True)
class Queried:
    """What a statement gives.

    ``rows``: numbers in the base units of their columns, days as ``2016-04-20``, instants as ``2016-04-20 07:30:00`` (UTC),
    times of day as ``07:30:00``. ``units``: of each column, None where it has none or it is not known: known is that of a
    column, of its sum, mean, median, least, greatest and rounded value, and of a difference of equal units. ``tables``: that
    are read. ``matched``: by table, the rows of its frame that went in (``PLAIN`` and the columns that the statement names).
    ``exact``: whether these are the records that went in; otherwise some may be among them that a correlated subquery, a
    window, INTERSECT, EXCEPT, or UNION left out. ``truncated``: whether there were more rows than are given.
    """

    columns: tuple[str, ...]
    units: tuple[str | None, ...]
    rows: tuple[tuple[Cell, ...], ...]
    tables: tuple[str, ...]
    matched: Mapping[str, pl.DataFrame]
    exact: bool
    truncated: bool

    @property
    def empty(self) -> bool:
        """Whether no record went in, or nothing came out: a count of no records is 0, and no answer."""
        nothing = all(cell is None for row in self.rows for cell in row)
        return nothing or all(frame.is_empty() for frame in self.matched.values())


def query(tables: Mapping[str, Table], sql: str, limits: QueryLimits | None = None) -> Queried:
    """Carry out one statement over a user's tables, by their names: SELECT in SQLite's dialect, and nothing else.

    A table or column is called as everywhere, but for case, spaces and underscores (``"sleep duration"`` or
    ``sleep_duration``); ``<col>_raw`` is its text as written, ``<col>_currency`` the currency of money. Texts are compared
    without regard to case, and given in the first spelling of those that are one. ``/`` is never the division of whole
    numbers. ``sum``, ``avg``, ``median`` and ``stddev`` are COMPUTE's. Of no records counts are 0, and all else null.

    TableNotFound; ColumnNotFound; ColumnTypeError; ConditionError; MixedUnits where amounts of several currencies would be
    reckoned as one; QueryError for what is not allowed or costs more than ``limits``. Safe in several threads at once.
    """
    limits = limits or QueryLimits()
    plan = make_plan(parse(sql), tables)
    outs, records = list(plan.main.outs), {read.name: set[int]() for read in plan.reads}
    with Engine(plan.reads, plan.named, limits.seconds) as engine:
        money = one_currency(plan, engine)
        found = engine.rows(money.main.node, limits.rows + 1)
        kept = found[: limits.rows]
        for at, read in enumerate(money.main.rows, start=len(outs)):
            records[read.name] |= engine.records(row[at] for row in kept)
        for trace in plan.traces:
            for read, more in engine.traced(trace):
                records[read.name] |= more
    after = len(outs) + len(money.main.rows)
    shown = (*outs, *money.more)
    return Queried(
        tuple(out.name for out in shown),
        tuple(_unit(out.column, money.currency) for out in shown),
        tuple(_cells((*row[: len(outs)], *row[after:]), shown) for row in kept),
        tuple(read.called for read in plan.reads),
        {read.called: _matched(read, records[read.name]) for read in plan.reads},
        plan.exact,
        len(found) > limits.rows,
    )


def _unit(column: Column | None, currency: str | None) -> str | None:
    if column is None or column.kind not in NUMERIC:
        return None
    return currency if column.kind == "money" else column.unit


def _cells(row: Sequence[Cell], outs: Sequence[Out]) -> tuple[Cell, ...]:
    """The cells of a row; what is yes or no is told so, and what is no finite number is none."""
    return tuple(_cell(cell, out.column) for cell, out in zip(row, outs, strict=True))


def _cell(cell: Cell, column: Column | None) -> Cell:
    if isinstance(cell, float) and not math.isfinite(cell):
        return None
    return bool(cell) if cell is not None and column is not None and column.kind == "bool" else cell


def _matched(read: Read, rows: set[int]) -> pl.DataFrame:
    columns = [*PLAIN.values(), *(held.column for held in read.columns.values())]
    names = dict.fromkeys(part for column in columns for part in parts_of(column))
    return read.table.frame[sorted(rows)].select(*names)
