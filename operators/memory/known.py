"""What a planner may be shown of one user: tables and episodes as text, with their vectors."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime

import numpy as np
import polars as pl
from numpy.typing import NDArray

from operators.ask.context import MOST_VALUES, ShownColumn, ShownEpisode, ShownTable
from operators.hierarchy.nodes import Node
from operators.tables.columns import DAY, Column, Table, currency_of, is_beside, text_of


@dataclass(frozen=True)
class Known:
    """What a planner may be shown of one user at one version, made when first asked for."""

    tables: Mapping[str, Table]
    shown: tuple[ShownTable, ...]
    table_vectors: NDArray[np.float32]
    episodes: tuple[ShownEpisode, ...]
    episode_vectors: NDArray[np.float32]
    offset_minutes: int
    names: Mapping[str, NDArray[np.float32]]
    """Vectors (dim,) of the columns' names, which rules compare with questions."""


def known_of(
    tables: Sequence[Table], episodes: Sequence[Node], encode: Callable[[Sequence[str]], NDArray[np.float32]], offset: int
) -> Known:
    """From a user's tables and episodes; ``encode`` makes unit vectors (n, dim) of texts."""
    shown = tuple(shown_table(table) for table in tables)
    told = tuple(
        ShownEpisode(each.node, each.name, each.description, len(each.rounds), each.first_day, each.last_day)
        for each in episodes
    )
    names = list(dict.fromkeys(column.spaced for table in shown for column in table.columns))
    vectors = encode([*(each.text for each in shown), *(each.text for each in told), *names] or [""])
    of_tables, of_episodes, of_names, _ = np.split(vectors, np.cumsum([len(shown), len(told), len(names)]))
    held = {table.meta.name: table for table in tables}
    return Known(held, shown, of_tables, told, of_episodes, offset, dict(zip(names, of_names, strict=True)))


def shown_table(table: Table) -> ShownTable:
    """What a planner is shown of a table."""
    first, last, days = _first_and_last(table)
    columns = tuple(_shown_column(table, column) for column in table.meta.columns)
    return ShownTable(table.meta.name, table.meta.description, columns, table.frame.height, first, last, days)


def _shown_column(table: Table, column: Column) -> ShownColumn:
    frame = table.frame
    values: tuple[str, ...] = ()
    currencies: tuple[str, ...] = ()
    if column.kind == "text":
        counted = frame.select(text_of(column).alias("v")).drop_nulls()["v"].value_counts(sort=True, name="n")
        values = tuple(counted.sort(["n", "v"], descending=[True, False])["v"].head(MOST_VALUES).to_list())
    elif column.kind == "money" and not is_beside(column):
        units = frame.filter(pl.col(column.name).is_not_null()).select(currency_of(column.name).alias("u"))["u"]
        currencies = tuple(sorted(units.drop_nulls().unique().to_list()))
    filled = (
        frame[column.name].count() if column.kind != "text" else sum(map(bool, frame.select(text_of(column)).to_series()))
    )
    told = (column.name, column.kind, column.unit, column.aliases, table.meta.samples.get(column.name, ()))
    return ShownColumn(*told, values, currencies, filled)


def _first_and_last(table: Table) -> tuple[date | None, date | None, int]:
    """The first and the last day of a table's records (None: no day is known), and how many different ones there are."""
    days = table.frame[DAY].drop_nulls()
    first, last = days.min(), days.max()
    assert not isinstance(first, datetime) and not isinstance(last, datetime)
    return (first if isinstance(first, date) else None, last if isinstance(last, date) else None, days.n_unique())
