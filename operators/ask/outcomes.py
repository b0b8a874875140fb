"""What tools find, in types that planners, answers and pages share; every outcome names the rounds that it stands on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import date, datetime
from typing import Any, Literal

from operators.records import isoformat

Scalar = float | int | str | bool | date | datetime


@dataclass(frozen=True)
class Citation:
    """A place in a user's history that an answer stands on.

    ``kind``: a ``span`` of a message (``message``, ``start``, ``end``), a place in a ``picture`` (``media``, ``box`` as x0,
    y0, x1, y1 in pixels, where known), or the whole ``round``. ``table``, ``record``, ``column``: of the value that stands
    there, if it is one of a table's. ``text``: what stands there, as written. ``role``: whether what is told stands there
    (``value``), or when it was (``event``).
    """

    session_id: str
    round_id: str
    order: int
    kind: Literal["span", "picture", "round"] = "round"
    message: int | None = None
    start: int | None = None
    end: int | None = None
    media: str | None = None
    box: tuple[float, ...] | None = None
    table: str | None = None
    record: int | None = None
    column: str | None = None
    text: str | None = None
    day: date | None = None
    role: Literal["value", "event"] = "value"

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values, without what is not known."""
        return {name: plain(value) for name, value in asdict(self).items() if value is not None}


@dataclass(frozen=True)
class Cell:
    """One value of a record. ``value``: in the column's base unit; ``unit``: the currency of money, else the base unit;
    ``raw``: as written; ``at``: where (of kind ``round`` where only the round is known)."""

    value: Scalar | None
    unit: str | None
    raw: str | None
    at: Citation


@dataclass(frozen=True)
class Record:
    """One record of a table and those of its values that were asked for or looked at."""

    session_id: str
    round_id: str
    order: int
    record: int
    day: date | None
    time: datetime | None
    cells: Mapping[str, Cell]

    def citations(self) -> tuple[Citation, ...]:
        """Where its values stand; the round where it has none."""
        found = tuple(cell.at for cell in self.cells.values() if cell.value is not None)
        return found or (Citation(self.session_id, self.round_id, self.order, record=self.record, day=self.day),)

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values."""
        cells = {
            name: {"value": plain(cell.value), "unit": cell.unit, "raw": cell.raw}
            for name, cell in self.cells.items()
            if cell.value is not None
        }
        return {"round_id": self.round_id, "day": plain(self.day), "time": plain(self.time), **cells}


@dataclass(frozen=True)
class Records:
    """What LOOKUP, FILTER, RANK and QUERY find. ``total``: how many matched, before any limit."""

    table: str
    columns: tuple[str, ...]
    records: tuple[Record, ...]
    total: int

    @property
    def empty(self) -> bool:
        """Whether nothing matched."""
        return not self.records

    def citations(self) -> tuple[Citation, ...]:
        """Where the values of its records stand."""
        return tuple(each for record in self.records for each in record.citations())

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values."""
        shown = [record.to_dict() for record in self.records]
        return {"table": self.table, "columns": list(self.columns), "total": self.total, "records": shown}


@dataclass(frozen=True)
class GroupValue:
    """The aggregate of the records that share a key (None: that have none)."""

    key: str | date | bool | None
    value: Scalar | None
    n: int
    unit: str | None


@dataclass(frozen=True)
class Computation:
    """What COMPUTE finds. ``n``: values that went in; ``value`` None where they do not define one.

    ``records``: those that went in.
    """

    table: str
    operation: str
    column: str | None
    unit: str | None
    value: Scalar | None
    n: int
    by: str | None
    groups: tuple[GroupValue, ...]
    records: tuple[Record, ...]

    @property
    def empty(self) -> bool:
        """Whether no record, or none with a value, was there to reckon with."""
        return self.n == 0

    def citations(self) -> tuple[Citation, ...]:
        """Where the values stand that went in."""
        return tuple(each for record in self.records for each in record.citations())

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values; the records by the names of their rounds."""
        told = {"table": self.table, "operation": self.operation, "column": self.column, "value": plain(self.value)}
        groups = [{"key": plain(g.key), "value": plain(g.value), "n": g.n, "unit": g.unit} for g in self.groups]
        rounds = list(dict.fromkeys(record.round_id for record in self.records))
        return {**told, "unit": self.unit, "n": self.n, "by": self.by, "groups": groups, "rounds": rounds}


@dataclass(frozen=True)
class Comparison:
    """What COMPUTE finds of two sides. ``difference``: second - first; ``ratio``: second / first."""

    first: Computation
    second: Computation
    difference: float | None
    ratio: float | None

    @property
    def empty(self) -> bool:
        """Whether either side has nothing to reckon with: then there is nothing to compare."""
        return self.first.empty or self.second.empty

    def citations(self) -> tuple[Citation, ...]:
        """Of both sides."""
        return self.first.citations() + self.second.citations()

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values."""
        sides = {"first": self.first.to_dict(), "second": self.second.to_dict()}
        return {**sides, "difference": self.difference, "ratio": self.ratio}


@dataclass(frozen=True)
class Shown:
    """A picture of a round that was found. ``name``: as the history calls it."""

    media: str | None
    name: str
    caption: str | None
    message: int = 0


@dataclass(frozen=True)
class Said:
    """A message of a round that was found."""

    speaker: str
    text: str


@dataclass(frozen=True)
class Passage:
    """A round that SEMANTICMATCH found, or one beside it (``score`` None), or an episode or topic told in a few words."""

    level: str
    session_id: str
    round_id: str
    order: int
    day: date | None
    time: datetime | None
    score: float | None
    messages: tuple[Said, ...]
    pictures: tuple[Shown, ...] = ()

    @property
    def citation(self) -> Citation:
        """The round as a whole."""
        return Citation(self.session_id, self.round_id, self.order, day=self.day)

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values."""
        told = [{"speaker": each.speaker, "text": each.text} for each in self.messages]
        shown = [{"name": each.name, "caption": each.caption} for each in self.pictures]
        place = {"level": self.level, "session_id": self.session_id, "round_id": self.round_id, "day": plain(self.day)}
        return {**place, "score": self.score, "messages": told, "pictures": shown}


@dataclass(frozen=True)
class Passages:
    """What SEMANTICMATCH finds: ``passages`` best first, ``around`` the rounds beside them. ``case``: how it was routed."""

    query: str
    case: str
    passages: tuple[Passage, ...]
    around: tuple[Passage, ...] = ()

    @property
    def empty(self) -> bool:
        """Whether nothing was found."""
        return not self.passages

    def citations(self) -> tuple[Citation, ...]:
        """The rounds that were found."""
        return tuple(each.citation for each in self.passages)

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values."""
        found = [each.to_dict() for each in self.passages]
        return {"query": self.query, "case": self.case, "passages": found, "around": [e.to_dict() for e in self.around]}


@dataclass(frozen=True)
class Interval:
    """When something was, on the writer's days (None: not known). ``text``: what tells it, in its rounds' words."""

    confidence: float
    first_day: date | None
    last_day: date | None
    told: bool
    text: str
    rounds: tuple[Citation, ...]


@dataclass(frozen=True)
class Intervals:
    """What EVENTLOCATE finds, the most likely first."""

    query: str
    intervals: tuple[Interval, ...]

    @property
    def empty(self) -> bool:
        """Whether nothing was located."""
        return not self.intervals

    def citations(self) -> tuple[Citation, ...]:
        """The rounds that tell the most likely one."""
        return self.intervals[0].rounds[:1] if self.intervals else ()

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values."""
        found = [
            {
                "confidence": each.confidence,
                "first_day": plain(each.first_day),
                "last_day": plain(each.last_day),
                "told": each.told,
                "text": each.text,
                "rounds": [place.round_id for place in each.rounds],
            }
            for each in self.intervals
        ]
        return {"query": self.query, "intervals": found}


@dataclass(frozen=True)
class Answered:
    """What QUERY finds: the rows of its one statement, and the records that they were made of."""

    sql: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Scalar | None, ...], ...]
    records: tuple[Record, ...] = field(default=())

    @property
    def empty(self) -> bool:
        """Whether it gave no row, or nothing but nulls."""
        return all(value is None for row in self.rows for value in row)

    def citations(self) -> tuple[Citation, ...]:
        """Where the values of the records stand that it was made of."""
        return tuple(each for record in self.records for each in record.citations())

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values."""
        rows = [[plain(value) for value in row] for row in self.rows]
        return {"sql": self.sql, "columns": list(self.columns), "rows": rows}


Outcome = Records | Computation | Comparison | Passages | Intervals | Answered


def number_told(value: float) -> str:
    """A number for people: grouped by thousands, to three decimals at most."""
    return f"{value:,.3f}".rstrip("0").rstrip(".")


def plain(value: Any) -> Any:
    """A value as JSON has it."""
    if isinstance(value, datetime):
        return isoformat(value)
    if isinstance(value, date):
        return value.isoformat()
    return list(value) if isinstance(value, tuple) else value
