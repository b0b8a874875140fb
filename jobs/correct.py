"""A person's word on a cell: kept beside the observations, so that it outlives whatever is induced or extracted anew."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from typing import Any

import polars as pl
import pyarrow as pa

from configs.settings import Settings
from jobs.following import following, overtaken, pause
from jobs.induce import Embedder, Inducing
from jobs.rebuild import rebuilt
from jobs.source import held_corrections
from operators.encode.text import encoder_of
from operators.errors import CommitConflict, ToolError, UsageError
from operators.memory import Memory, open_store
from operators.memory import read_value as read
from operators.records import (
    CORRECTIONS,
    KIND,
    MEASURE,
    NUMBER,
    PARSED,
    RECORD,
    ROUND,
    SESSION,
    TENANT,
    USER,
    VALUE,
    bucket_of,
    require_scope,
)
from operators.store.commit import latest_version, load_snapshot, publish
from operators.store.manifest import Snapshot, bucket_from_dict
from operators.store.objects import ObjectStore
from operators.store.opening import open_objects
from operators.tables.columns import PLAIN, Column, Value, resolve
from operators.tables.fits import check_value, encodable, read_value


@dataclass(frozen=True)
class CorrectRequest:
    """Which cell holds what: ``value`` None empties it. ``by``: who says so. ``session`` where a round's id needs it.

    ``undo``: what was said of the cell is taken back; it holds what was observed.
    """

    store: str
    tenant: str
    user: str
    table: str
    column: str
    round_id: str
    value: str | None
    by: str
    record: int = 0
    session: str | None = None
    undo: bool = False


@dataclass(frozen=True)
class Corrected:
    """What was set right, in which version; ``before``: what the cell held, as written."""

    version: int
    table: str
    column: str
    round_id: str
    record: int
    before: str | None
    value: str | None


def correct(request: CorrectRequest, settings: Settings) -> Corrected:
    """Set a cell of a user's table right, for good, and publish a version that says so.

    TableNotFound, ColumnNotFound; UsageError for a round that the user does not have and a name that is blank; ToolError for
    a value of another kind than the column's; StoreUnavailable where every attempt was overtaken.
    """
    tenant, user = require_scope(request.tenant, request.user)
    if not request.by.strip():
        raise UsageError("a correction names who makes it: pass --by")
    for text in (request.by, request.value or ""):
        if not encodable(text):
            raise UsageError("a correction is of valid Unicode: a byte or half a character in it is none")
    objects, store = open_objects(request.store), open_store(request.store)
    for attempt in range(settings.commit.attempts):
        base = load_snapshot(objects, latest_version(objects))
        row, before, table = _row(store.memory(tenant, as_of=base.version), request)
        snapshot = _next(objects, settings, base, (tenant, user), row, request.undo)
        try:
            publish(objects, snapshot)
        except CommitConflict:
            pause(attempt)
            continue
        return Corrected(snapshot.version, table, row["column"], row[ROUND], row[RECORD], before, request.value)
    raise overtaken(objects.uri, settings.commit.attempts)


def _row(memory: Memory, request: CorrectRequest) -> tuple[dict[str, Any], str | None, str]:
    """The correction as a row of ``records.CORRECTIONS``, what the cell holds, and the table's name."""
    table = memory.table(request.user, request.table)
    column = resolve(table.meta, request.column)
    if column.name in PLAIN or column.name not in {each.name for each in table.meta.columns}:
        raise ToolError(f"{column.name!r} tells where a record stands and is not corrected")
    session, round_id = _round(memory.rounds(request.user), request)
    value = None if request.value is None else _value(column, request.value)
    _require_record(memory, request, session, round_id)
    cell = table.frame.filter(
        (pl.col(SESSION) == session) & (pl.col(ROUND) == round_id) & (pl.col(RECORD) == request.record)
    )
    told: dict[str, Any] = {
        TENANT: request.tenant,
        USER: request.user,
        SESSION: session,
        ROUND: round_id,
        RECORD: request.record,
        "table": table.meta.name,
        "column": column.name,
        "names": _names(column),
        VALUE: request.value,
        KIND: column.kind,
        NUMBER: value.number if value else None,
        MEASURE: value.unit if value else None,
        PARSED: value.text if value else None,
        "by": request.by,
        "at": datetime.now(UTC),
    }
    before = cell[f"{column.name}.raw"][0] if len(cell) else None
    held = memory.table_corrections(request.user).to_arrow() if request.undo else None
    if held is not None and len(_without(held, told)) == len(held):
        raise UsageError("nobody has corrected this cell: there is nothing to take back")
    return told, before, table.meta.name


def _require_record(memory: Memory, request: CorrectRequest, session: str, round_id: str) -> None:
    """UsageError for a record that the round does not have; every round has a first one."""
    here = (pl.col(SESSION) == session) & (pl.col(ROUND) == round_id) & (pl.col(RECORD) == request.record)
    tables = (memory.table(request.user, each.name).frame for each in memory.tables(request.user))
    if request.record != 0 and not any(len(frame.filter(here)) for frame in tables):
        raise UsageError(f"the round has no record {request.record}: `mnemosaic table` shows the records of its rows")


def _names(column: Column) -> list[str]:
    return sorted({column.name, *column.aliases})


def _round(rounds: pl.DataFrame, request: CorrectRequest) -> tuple[str, str]:
    found = rounds.filter(pl.col(ROUND) == request.round_id)
    if request.session is not None:
        found = found.filter(pl.col(SESSION) == request.session)
    if len(found) == 1:
        return found[SESSION][0], found[ROUND][0]
    if len(found) == 0:
        raise UsageError("the user has no such round: `mnemosaic table` shows the rounds of its rows")
    raise UsageError(f"{len(found)} sessions of the user have a round of that id: name one with --session")


def _value(column: Column, text: str) -> Value:
    """The value as the column takes it; ConditionError, saying what to write, where it is of another kind or unit."""
    value = read_value(column, text, read)
    check_value(column, value)
    if column.kind in ("number", "percent") and value.unit is None:
        return replace(value, kind=column.kind, unit=column.unit)
    if column.kind == "ratio" and value.kind != "ratio":
        return replace(value, kind="ratio", unit=column.unit)
    return replace(value, kind=column.kind)


def _next(
    objects: ObjectStore, settings: Settings, base: Snapshot, scope: tuple[str, str], row: Mapping[str, Any], undo: bool
) -> Snapshot:
    number = bucket_of(*scope, base.spec.buckets)
    bucket = base.buckets[number]
    said = [] if undo else [pa.Table.from_pylist([dict(row)], CORRECTIONS)]
    corrections = pa.concat_tables([_without(held_corrections(objects, bucket), row), *said])
    run_id = f"correct-{uuid.uuid4().hex[:16]}"
    # The tables' own schemas, whatever the settings of this call are: a correction is of a cell, and of nothing else.
    how = Inducing(settings.induce.values(), as_held=True)
    embed = Embedder(partial(encoder_of, base.spec.encoder))
    made = rebuilt(objects, run_id, number, bucket, how, embed, {scope}, corrections)
    return following(
        base,
        run_id,
        buckets={**base.buckets, number: bucket_from_dict(made["files"])},
        changes={"cells_corrected": 1},
    )


def _without(held: pa.Table, row: Mapping[str, Any]) -> pa.Table:
    """What was said before, but for the same cell: the last word stands."""
    cell = [row[name] for name in _CELL]
    rows: Sequence[tuple[Any, ...]] = list(zip(*(held[name].to_pylist() for name in _CELL), strict=True))
    return held.filter(pa.array([list(each) != cell for each in rows], pa.bool_()))


_CELL = (TENANT, USER, SESSION, ROUND, RECORD, "column")
