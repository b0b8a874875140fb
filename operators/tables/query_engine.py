"""What carries out a statement: a copy in memory of the columns that it reads, which can do nothing but be read."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import Any, Literal

import polars as pl
from sqlglot import exp

from operators.errors import QueryError, ToolError
from operators.records import TIME
from operators.tables.columns import CURRENCY, NUMERIC, PLAIN, RAW, currency_of, fold, text_of
from operators.tables.query_calls import Faults, register
from operators.tables.query_fits import FOLD, INSTANT
from operators.tables.query_functions import AGGREGATES, OVER_ROWS, SCALARS
from operators.tables.query_names import ROW, Held, Read
from operators.tables.query_trace import GATHER, Trace

GUARD, ISO = "guard", "instant"
_CALLS = frozenset({*AGGREGATES, *OVER_ROWS, *SCALARS, "like", GATHER, GUARD, ISO})

_STEPS = 1_000
"""Of SQLite's machine between two looks at the clock."""

_LIMITS = {
    sqlite3.SQLITE_LIMIT_LENGTH: 1_000_000,
    sqlite3.SQLITE_LIMIT_SQL_LENGTH: 200_000,
    sqlite3.SQLITE_LIMIT_COLUMN: 200,
    sqlite3.SQLITE_LIMIT_EXPR_DEPTH: 200,
    sqlite3.SQLITE_LIMIT_COMPOUND_SELECT: 20,
    sqlite3.SQLITE_LIMIT_VDBE_OP: 100_000,
    sqlite3.SQLITE_LIMIT_FUNCTION_ARG: 10,
    sqlite3.SQLITE_LIMIT_ATTACHED: 0,
    sqlite3.SQLITE_LIMIT_LIKE_PATTERN_LENGTH: 500,
    sqlite3.SQLITE_LIMIT_VARIABLE_NUMBER: 1_000,
    sqlite3.SQLITE_LIMIT_TRIGGER_DEPTH: 0,
    sqlite3.SQLITE_LIMIT_WORKER_THREADS: 0,
}
_HEAP = 512 * 2**20


class Engine:
    """A database of one statement's tables, in memory, for the thread that opens it.

    Three walls stand here, whatever the statement is: SQLite asks before every table, column and function that a statement
    names and is told no for all but the copy's; what it may hold is bounded (a value 1 MB, and all of SQLite in this
    process 512 MB: SQLite knows no smaller scope); and it stops ``seconds`` after the copy is made.
    """

    def __init__(self, reads: Sequence[Read], named: Sequence[tuple[str, exp.Query]], seconds: float) -> None:
        self._named, self._seconds = named, seconds
        self._spellings: dict[str, str] = {}
        self._groups: list[frozenset[int]] = []
        self._faults = Faults()
        self._base = sqlite3.connect(":memory:", isolation_level=None)
        try:
            self._base.execute(f"PRAGMA hard_heap_limit = {_HEAP}")
            self._base.execute("PRAGMA temp_store = MEMORY")
            for read in reads:
                self._load(read)
            register(self._base, self._faults, self._groups)
            self._close_off(read.name for read in reads)
        except (sqlite3.Error, MemoryError) as error:
            self._base.close()
            raise self._refusal(error) from None
        except BaseException:
            self._base.close()
            raise

    def __enter__(self) -> Engine:
        return self

    def __exit__(self, *_: object) -> None:
        self._base.close()

    def rows(self, node: exp.Expr, limit: int) -> list[tuple[Any, ...]]:
        """The first rows of a select, ``limit`` at most.

        QueryError where it takes too long, grows too large or cannot be carried out; what a function of ours refuses it with
        (MixedUnits).
        """
        values: dict[tuple[str, bool], str] = {}
        named = [f"{name} AS ({self._written(query, values)})" for name, query in self._named]
        text = (f"WITH {', '.join(named)} " if named else "") + self._written(node, values)
        bound = {name: self._spelled(value) if folds else value for (value, folds), name in values.items()}
        try:
            return self._base.execute(text, bound).fetchmany(limit)
        except (sqlite3.Error, MemoryError) as error:
            raise self._refusal(error) from None

    def traced(self, trace: Trace) -> Iterator[tuple[Read, set[int]]]:
        """The records of the rows of a select, by table."""
        held = [exp.Anonymous(this=GATHER, expressions=[exp.column(f"h{at}")]) for at in range(len(trace.rows))]
        if held:
            found = self.rows(exp.select(*held).from_(trace.node.subquery("q")), 1)
            yield from zip(trace.rows, (self.records([group]) for group in found[0]), strict=True)

    def records(self, held: Iterable[int | None]) -> set[int]:
        """Rows of a table's frame, of what stands in a column of records: rows, and (below 0) groups of such."""
        left, seen = [each for each in held if each is not None], set[int]()
        while left:
            each = left.pop()
            if each in seen:
                continue
            seen.add(each)
            if each < 0:
                left += self._groups[-1 - each]
        return {each for each in seen if each >= 0}

    # --- the copy -------------------------------------------------------------------------------------------------

    def _load(self, read: Read) -> None:
        frame = read.table.frame.select([_expression(held).alias(name) for name, held in read.columns.items()])
        columns = [frame[name].to_list() for name in read.columns]
        for at, held in enumerate(read.columns.values()):
            if held.shown.kind == "text" and held.beside != RAW:
                spelled = {text: text if text is None else self._spelled(text) for text in dict.fromkeys(columns[at])}
                columns[at] = [spelled[text] for text in columns[at]]
        names = [f"{ROW} INTEGER PRIMARY KEY", *read.columns]
        self._base.execute(f"CREATE TABLE {read.name} ({', '.join(names)})")
        self._base.execute("BEGIN")
        marks = ", ".join("?" * len(names))
        rows = zip(range(read.table.frame.height), *columns, strict=True)
        self._base.executemany(f"INSERT INTO {read.name} VALUES ({marks})", rows)
        self._base.execute("COMMIT")

    def _spelled(self, text: str) -> str:
        """The first spelling of a text of the tables: texts that differ in case or whitespace alone are held as one."""
        return self._spellings.setdefault(fold(text), text)

    def _close_off(self, tables: Iterable[str]) -> None:
        for what, most in _LIMITS.items():
            self._base.setlimit(what, most)
        names = frozenset({*tables, *(name for name, _ in self._named), "q", ""})
        self._base.set_authorizer(partial(_allowed, names))
        end = time.monotonic() + self._seconds
        self._base.set_progress_handler(lambda: time.monotonic() > end, _STEPS)

    # --- statements -----------------------------------------------------------------------------------------------

    def _written(self, node: exp.Expr, values: dict[tuple[str, bool], str]) -> str:
        """A select as text: of the engine's own names, numbers, and places for texts, which are bound."""
        held = node.copy()
        for each in list(held.find_all(exp.Literal)):
            if each.is_string:
                name = values.setdefault((each.name, bool(each.meta.get(FOLD))), f"p{len(values)}")
                each.replace(exp.Placeholder(this=name))
        return held.sql(dialect="sqlite", comments=False)

    def _refusal(self, error: BaseException) -> ToolError:
        if self._faults.first is not None:
            return self._faults.first
        if "interrupted" in str(error):
            return QueryError(
                f"the statement took longer than {self._seconds:g} s: join on equal columns, and read fewer records by WHERE"
            )
        if isinstance(error, MemoryError) or "too big" in str(error):
            return QueryError("the statement makes more than it may hold: read fewer records by WHERE")
        # Its names are the engine's own: nothing of the statement is in it.
        return QueryError(f"the statement cannot be carried out as SQLite ({error})")


def _expression(held: Held) -> pl.Expr:
    """A column as the engine holds it: numbers, 0 and 1, days and times as texts."""
    column, kind = held.column, held.column.kind
    if held.beside == RAW:
        return pl.col(column.name + RAW)
    if held.beside == CURRENCY:
        return currency_of(column.name)
    value = pl.col(column.name)
    if kind == "text":
        return text_of(column)
    if column.name == TIME:
        return value.dt.strftime(INSTANT)
    if kind == "date":
        return value.dt.strftime("%Y-%m-%d")
    if kind == "bool":
        return value.cast(pl.Int8)
    if kind == "time":
        return pl.when(value.str.len_chars() == len("07:30")).then(value + ":00").otherwise(value)
    return pl.when(value.is_finite()).then(value) if kind in NUMERIC and column.name not in PLAIN else value


def _allowed(
    tables: frozenset[str], action: int, first: str | None, second: str | None, _: str | None, __: str | None
) -> Literal[0, 1]:
    """SQLite's question before it does anything."""
    if action == sqlite3.SQLITE_SELECT:
        return sqlite3.SQLITE_OK
    if action == sqlite3.SQLITE_READ and first in tables:
        return sqlite3.SQLITE_OK
    if action == sqlite3.SQLITE_FUNCTION and (second or "").casefold() in _CALLS:
        return sqlite3.SQLITE_OK
    return sqlite3.SQLITE_DENY
