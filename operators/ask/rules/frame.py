"""What a question of tables asks, as rules understand it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from operators.ask.context import ShownTable
from operators.ask.rules.events import Event
from operators.ask.rules.filters import Named
from operators.ask.rules.times import Period

Operation = Literal[
    "avg", "sum", "count", "distinct", "median", "std", "trend", "max", "min", "rank", "latest", "first", "lookup",
    "compare", "change", "pick", "groups", "list", "exists", "share",
]  # fmt: skip


@dataclass(frozen=True)
class Side:
    """One side of a comparison: what it is called, and what makes it."""

    label: str
    period: Period | None = None
    event: Event | None = None
    named: Named | None = None


@dataclass(frozen=True)
class Frame:
    """What a question asks of a table. ``column``: whose values are reckoned; ``shown``: whose are told, if another's.

    ``when``: the answer is a day. ``where``: conditions on texts and numbers. ``periods`` and ``event``: of the days that
    count. ``by``: what is grouped by; ``mean``: the groups are averaged. ``counted``: what a count is of (``days``).
    ``place``: which of the records from the end (3: the third greatest).
    """

    operation: Operation
    table: ShownTable
    column: str | None = None
    shown: str | None = None
    when: bool = False
    where: tuple[str, ...] = ()
    periods: tuple[Period, ...] = ()
    event: Event | None = None
    sides: tuple[Side, ...] = ()
    by: str | None = None
    mean: bool = False
    n: int = 1
    largest: bool = True
    unit: str | None = None
    counted: str | None = None
    yes_no: bool = False
    difference: bool = False
    adds: bool = True
    place: int = 1
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Refused:
    """An analytic question that asks for what cannot be honoured."""

    why: str


def is_money(frame: Frame) -> bool:
    """Whether the column is one of amounts."""
    return any(each.kind == "money" for each in frame.table.columns if each.name == frame.column)
