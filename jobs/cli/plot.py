"""A bar for each group of a result, in the terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rich.bar import Bar
from rich.table import Table
from rich.text import Text

from jobs.cli.output import cell, console

_BAR = 30


def print_bars(groups: Sequence[tuple[str, Any, str, int]], heading: str) -> None:
    """One line a group: its key, its value as told, how many values went in, and a bar from zero. Stdout."""
    numbers = [value if isinstance(value, int | float) and not isinstance(value, bool) else None for _, value, *_ in groups]
    known = [number for number in numbers if number is not None]
    low, high = min([0.0, *known]), max([0.0, *known])
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    table.add_column(Text(heading))
    table.add_column(Text("value"), justify="right")
    table.add_column(Text("of"), justify="right")
    if high > low:
        table.add_column("")
    for (key, _, told, n), number in zip(groups, numbers, strict=True):
        row: list[Any] = [Text(cell(key)), Text(cell(told)), Text(f"{n:,}")]
        if high > low:
            begin, end = sorted((0.0 - low, (number if number is not None else 0.0) - low))
            row.append(Bar(high - low, begin, end, width=_BAR))
        table.add_row(*row)
    console().print(table)
