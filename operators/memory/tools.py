"""The tools of asking over one user's tables, rounds and hierarchy, and what they find as asking's outcomes."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any, Literal, TypeVar

import polars as pl
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from operators.ask.outcomes import (
    Answered,
    Cell,
    Citation,
    Comparison,
    Computation,
    GroupValue,
    Interval,
    Intervals,
    Outcome,
    Passage,
    Passages,
    Record,
    Records,
    Said,
    Shown,
)
from operators.ask.steps import ToolName
from operators.errors import ToolError
from operators.hierarchy.find import Located, Match
from operators.records import (
    IMAGES,
    MESSAGES,
    OFFSET,
    ORDER,
    RECORD,
    ROUND,
    SESSION,
    TIME,
    local_day,
)
from operators.retrieve.result import SearchResult
from operators.tables.columns import AT, CURRENCY, DAY, RAW, Read, Table, is_beside, resolve
from operators.tables.compute import Compared, Computed
from operators.tables.conditions import columns_of
from operators.tables.tools import Call, Rows, read_call, run
from operators.tables.where import parse_all

Level = Literal["round", "topic", "episode", "event"]
_TABLE_TOOLS = ("lookup", "filter", "compute", "rank")


class SemanticMatchCall(BaseModel):
    """SEMANTICMATCH as data: the rounds that answer a query best, or the episodes or topics that are about it."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    query: str = Field(min_length=1)
    k: int = Field(default=10, ge=1)
    level: Level = "round"


class EventLocateCall(BaseModel):
    """EVENTLOCATE as data: when what a query tells was."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    query: str = Field(min_length=1)
    k: int = Field(default=1, ge=1)


class QueryCall(BaseModel):
    """QUERY as data: one statement that reads."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    sql: str = Field(min_length=1)


@dataclass(frozen=True)
class Reads:
    """What the tools read one user's memory with. ``query``: None where QUERY is switched off."""

    table: Callable[[str], Table]
    read: Read
    search: Callable[[str, int], SearchResult]
    match: Callable[[str, Sequence[str], int], list[Match]]
    locate: Callable[[str, int], list[Located]]
    query: Callable[[str], Answered] | None = None


class UserTools:
    """``ask.steps.Tools`` on one user's memory. ``last_day``: rounds and events that are later are not there yet; of tables
    ``reads`` gives none."""

    def __init__(self, reads: Reads, last_day: date | None) -> None:
        self._reads = reads
        self._last_day = last_day

    def run(self, tool: ToolName, arguments: Mapping[str, Any], units: int) -> tuple[Outcome, int]:
        """What is found, and the units of evidence that it is: a retrieved round is one, so is the result of a tool.

        ToolError (UsageError) for arguments that do not fit.
        """
        if tool in _TABLE_TOOLS:
            return self._on_tables(tool, arguments), 1
        if tool == "semantic_match":
            found = self._match(_checked(SemanticMatchCall, arguments), units)
            return found, max(1, len(found.passages))
        if tool == "event_locate":
            return self._locate(_checked(EventLocateCall, arguments)), 1
        if self._reads.query is None:
            raise ToolError("the tool query is switched off (settings: asking.query)")
        return self._reads.query(_checked(QueryCall, arguments).sql), 1

    def _on_tables(self, tool: str, arguments: Mapping[str, Any]) -> Outcome:
        # Only what is told travels: models write null for what they leave out.
        told = {name: value for name, value in arguments.items() if value is not None}
        call = read_call({**told, "tool": tool})
        table = self._reads.table(call.table)
        found = run(call, lambda _: table, self._reads.read)
        name = table.meta.name
        if isinstance(found, Rows):
            return Records(name, found.columns, _records(found.rows, found.columns, name), found.total)
        if isinstance(found, Compared):
            first, second = (self._computation(each, call, table) for each in (found.first, found.second))
            return Comparison(first, second, found.difference, found.ratio)
        return self._computation(found, call, table)

    def _computation(self, found: Computed, call: Call, table: Table) -> Computation:
        """With the values that went in, or, where records were counted, those that were looked at."""
        if found.column is not None and not is_beside(resolve(table.meta, found.column)):
            shown = [found.column]
        else:
            looked = columns_of(parse_all(call.where, table.meta, self._reads.read))
            shown = [column for column in looked if not column.endswith(CURRENCY) and column != DAY]
        groups = tuple(GroupValue(each.key, each.value, each.n, each.unit) for each in found.groups)
        records = _records(found.matched, shown, table.meta.name)
        told = (table.meta.name, found.operation, found.column, found.unit, found.value, found.n, found.by)
        return Computation(*told, groups, records)

    def _match(self, call: SemanticMatchCall, units: int) -> Passages:
        k = min(call.k, units)
        if call.level != "round":
            return _nodes(call.query, self._reads.match(call.query, [call.level], k))
        # What is later than the question may be asked of must not take the places of what is not.
        found = self._reads.search(call.query, k if self._last_day is None else 4 * k)
        return _passages(found, k, self._last_day)

    def _locate(self, call: EventLocateCall) -> Intervals:
        found = [_interval(each) for each in self._reads.locate(call.query, call.k)]
        kept = [each for each in found if self._last_day is None or (each.first_day or self._last_day) <= self._last_day]
        return Intervals(call.query, tuple(kept))


_C = TypeVar("_C", bound=BaseModel)


def _checked(kind: type[_C], arguments: Mapping[str, Any]) -> _C:
    told = {name: value for name, value in arguments.items() if value is not None}
    try:
        return kind.model_validate(told)
    except ValidationError as error:
        faults = [f"{'.'.join(map(str, each['loc'])) or 'arguments'}: {each['msg']}" for each in error.errors()]
        raise ToolError(f"{'; '.join(faults)}; allowed are: {', '.join(kind.model_fields)}") from None


# --- tables ---------------------------------------------------------------------------------------------------------


def _records(rows: pl.DataFrame, columns: Sequence[str], table: str) -> tuple[Record, ...]:
    shown = [column for column in columns if column + AT in rows.columns]
    return tuple(record_of(row, shown, table) for row in rows.iter_rows(named=True))


def record_of(row: Mapping[str, Any], columns: Sequence[str], table: str) -> Record:
    """A row of a table's frame with its values in ``columns``."""
    place = (row[SESSION], row[ROUND], row[ORDER])
    cells = {column: _cell(row, column, table) for column in columns}
    return Record(*place, row[RECORD], row[DAY], row[TIME], cells)


def _cell(row: Mapping[str, Any], column: str, table: str) -> Cell:
    raw = row[column + RAW]
    at: dict[str, Any] = json.loads(row[column + AT]) if row[column + AT] else {}
    told: dict[str, Any] = {"message": at.get("message"), "table": table, "record": row[RECORD], "column": column}
    told |= {"text": raw, "day": row[DAY]}
    kind: Literal["span", "picture", "round"] = "round"
    if at.get("media") is not None or at.get("image") is not None:
        kind = "picture"
        box = at.get("box")
        told |= {"media": at.get("media"), "box": None if box is None else tuple(box)}
    elif at.get("start") is not None:
        kind = "span"
        told |= {"start": at["start"], "end": at["end"]}
    place = Citation(row[SESSION], row[ROUND], row[ORDER], kind, **told)
    value = row[column]
    return Cell(value if value is not None else raw, row.get(column + CURRENCY), raw, place)


# --- rounds and hierarchy -------------------------------------------------------------------------------------------


def _passages(found: SearchResult, k: int, last_day: date | None) -> Passages:
    rows = {row[ORDER]: row for row in found.rounds.iter_rows(named=True)}
    days = {order: _day(row) for order, row in rows.items()}
    allowed = {order for order, day in days.items() if last_day is None or day is None or day <= last_day}
    hits = [hit for hit in found.hits if hit.order in allowed][:k]
    best = tuple(_passage(rows[hit.order], hit.score) for hit in hits)
    chosen = {hit.order for hit in hits}
    beside = {order + step for order in chosen for step in (-1, 1)} & set(rows) & allowed - chosen
    around = tuple(_passage(rows[order], None) for order in sorted(beside))
    return Passages(found.query, found.case, best, around)


def _day(row: Mapping[str, Any]) -> date | None:
    return None if row[TIME] is None else local_day(row[TIME], row[OFFSET])


def _passage(row: Mapping[str, Any], score: float | None) -> Passage:
    said = tuple(Said(each["speaker"], each["text"]) for each in row[MESSAGES])
    pictures = tuple(
        Shown(each["media"], each["image_id"] or each["reference"], each["caption"], each["message"]) for each in row[IMAGES]
    )
    return Passage("round", row[SESSION], row[ROUND], row[ORDER], _day(row), row[TIME], score, said, pictures)


def _nodes(query: str, found: Sequence[Match]) -> Passages:
    passages = [
        Passage(
            each.node.level,
            each.node.rounds[0].session_id,
            each.node.rounds[0].round_id,
            each.node.rounds[0].order,
            each.node.first_day,
            each.node.first_time,
            each.score,
            (Said("", each.node.description or each.node.name),),
        )
        for each in found
    ]
    return Passages(query, "hierarchy", tuple(passages))


def _interval(located: Located) -> Interval:
    day = located.first_day
    told = located.rounds or located.event.rounds
    rounds = tuple(Citation(each.session_id, each.round_id, each.order, day=day, role="event") for each in told)
    return Interval(located.confidence, located.first_day, located.last_day, located.told, located.event.description, rounds)
