"""What a table is: its columns, their kinds and units, and how a column is found by the name that a person gives it."""

from __future__ import annotations

import difflib
import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

import polars as pl

from operators.errors import ColumnNotFound
from operators.records import ORDER, RECORD, ROUND, SESSION, TIME

ColumnKind = Literal["number", "duration", "money", "percent", "ratio", "date", "time", "bool", "text"]

DAY = "day"
RAW, AT, CURRENCY = ".raw", ".at", ".unit"
"""What follows a column's name in the names of the columns beside it: text as written, pointer, currency."""

NUMERIC: frozenset[ColumnKind] = frozenset({"number", "duration", "money", "percent", "ratio"})

_NEAR = 3
_SHOWN_NAME = 60


@dataclass(frozen=True)
class Column:
    """One attribute of a table. ``unit``: what its numbers are counted in (``s``, ``m``, ``kg``, ``%``, ``/10`` ..), if any.

    Money has no unit here: the currency stands beside each value.
    """

    name: str
    kind: ColumnKind
    unit: str | None = None
    aliases: tuple[str, ...] = ()


@dataclass(frozen=True)
class TableMeta:
    """What a planner sees of a table. ``samples``: some values as written, by column; ``rows``: how many records it has."""

    name: str
    description: str
    columns: tuple[Column, ...]
    rows: int
    samples: Mapping[str, tuple[str, ...]]


@dataclass(frozen=True)
class Table:
    """A table of one user's records, one row a record.

    ``frame``: the columns of ``PLAIN`` and for every column ``c`` of ``meta`` its values (``c``: Float64 in the base unit,
    Date, Boolean, or String for times of day and texts), ``c.raw`` (String, as written), ``c.at`` (Struct, where it stands)
    and, for money, ``c.unit`` (currency, null where unknown). What a record lacks is null.
    """

    meta: TableMeta
    frame: pl.DataFrame


@dataclass(frozen=True)
class Value:
    """A value as someone writes it in a condition, read.

    ``number``: in the base unit ``unit`` (for money the currency, None where not said). ``text``: a date (``2016-04-20``), a
    time of day (``07:30``), ``true`` or ``false``, or a text.
    """

    kind: str
    number: float | None = None
    unit: str | None = None
    text: str | None = None


Read = Callable[[str], Value | None]
"""Reads a value that a person wrote; None where it is none."""

PLAIN: Mapping[str, Column] = {
    column.name: column
    for column in (
        Column(ORDER, "number"),
        Column(TIME, "date"),
        Column(DAY, "date"),
        Column(SESSION, "text"),
        Column(ROUND, "text"),
        Column(RECORD, "number"),
    )
}
"""What every table has, by name. ``time`` is an instant (UTC), ``day`` the same on the writer's calendar.

No column of a table may be named as one of these, nor end with ``.raw``, ``.at`` or ``.unit``.
"""


def fold(text: str) -> str:
    """A text for comparing: NFKC, without case, whitespace collapsed; accents stay."""
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    return " ".join(folded.split())


def resolve(meta: TableMeta, name: str) -> Column:
    """The column that ``name`` means: its name, its name but for case, spaces and underscores, or an alias likewise.

    ``<money column>.unit`` is its currency, a text. ColumnNotFound, naming what is near and what there is, where none or
    several are meant.
    """
    if not name.endswith(CURRENCY):
        return _find(meta, name)
    money = _find(meta, name.removesuffix(CURRENCY))
    if money.kind == "money":
        return Column(money.name + CURRENCY, "text")
    have = names_of(column for column in meta.columns if column.kind == "money")
    raise ColumnNotFound(f"{money.name!r} holds no money and has no currency; columns of money: {have}")


def names_of(columns: Iterable[Column]) -> str:
    """Names for a message; says so where there are none."""
    return ", ".join(repr(column.name) for column in columns) or "none"


def is_beside(column: Column) -> bool:
    """Whether it is one of ``PLAIN`` or a currency: a column with neither raw text nor pointer."""
    return column.name in PLAIN or column.name.endswith(CURRENCY)


def parts_of(column: Column) -> list[str]:
    """The columns of the frame that hold the column: its values, and what stands beside them."""
    if is_beside(column):
        return [column.name]
    beside = [RAW, AT, CURRENCY] if column.kind == "money" else [RAW, AT]
    return [column.name, *(column.name + each for each in beside)]


def text_of(column: Column) -> pl.Expr:
    """A text column as written (String); the currency of a money column."""
    if column.name in PLAIN:
        return pl.col(column.name)
    if is_beside(column):
        return currency_of(column.name.removesuffix(CURRENCY))
    return pl.coalesce(column.name + RAW, column.name)


def currency_of(money: str) -> pl.Expr:
    """The currency of each value of a money column (String); must be evaluated on the whole table.

    Where the whole column knows one currency, what has none is taken to be in it; where it knows more, unknown stays null.
    """
    unit = pl.col(money + CURRENCY)
    known = unit.drop_nulls()
    return unit.fill_null(pl.when(known.n_unique() == 1).then(known.first()))


def _find(meta: TableMeta, name: str) -> Column:
    key = loosely(name)
    tiers = (
        [column for column in meta.columns if column.name == name],
        [PLAIN[name]] if name in PLAIN else [],
        [column for column in meta.columns if loosely(column.name) == key],
        [column for column in PLAIN.values() if loosely(column.name) == key],
        [column for column in meta.columns if key in {loosely(alias) for alias in column.aliases}],
    )
    found: list[Column] = next((tier for tier in tiers if tier), [])
    if len(found) == 1:
        return found[0]
    raise ColumnNotFound(_not_found(meta, name, found))


def loosely(name: str) -> str:
    """A name for finding what it means but for case, spaces and underscores."""
    return re.sub(r"[\s_]+", "", fold(name))


def _not_found(meta: TableMeta, name: str, several: list[Column]) -> str:
    shown = name if len(name) <= _SHOWN_NAME else name[:_SHOWN_NAME] + ".."
    if several:
        return f"{shown!r} may be any of {names_of(several)} of table {meta.name!r}: write the name as it stands here"
    names = {loosely(each): column for column in meta.columns for each in (column.name, *column.aliases)}
    close = difflib.get_close_matches(loosely(shown), names, _NEAR, 0.5)
    near = dict.fromkeys(names[each].name for each in close)
    hint = f"; near: {', '.join(map(repr, near))}" if near else ""
    return f"table {meta.name!r} has no column {shown!r}{hint}; columns: {names_of([*meta.columns, *PLAIN.values()])}"
