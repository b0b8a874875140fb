"""The tools over tables: look up, filter, rank, compute, compare; from Python, or as a typed call that a planner writes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import polars as pl
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from operators.errors import ColumnTypeError, ToolError
from operators.records import ORDER, RECORD, TIME
from operators.tables.aggregate import Operation
from operators.tables.asked import require_one_currency
from operators.tables.columns import (
    NUMERIC,
    PLAIN,
    Column,
    Read,
    Table,
    currency_of,
    is_beside,
    names_of,
    parts_of,
    resolve,
    text_of,
)
from operators.tables.compute import Compared, Computed, compare, compute
from operators.tables.conditions import All, Where
from operators.tables.where import parse_all

_CHRONOLOGICAL = (TIME, ORDER, RECORD)
_UNIT = "\x00unit"


@dataclass(frozen=True)
class Rows:
    """Records of a table. ``rows``: ``PLAIN``, and of each of ``columns`` its values, raw texts, pointers, currencies.

    ``total``: how many matched, before any limit.
    """

    table: str
    columns: tuple[str, ...]
    rows: pl.DataFrame
    total: int

    @property
    def empty(self) -> bool:
        """Whether nothing matched."""
        return self.total == 0


def lookup(table: Table, where: Where, columns: Sequence[str] | None = None) -> Rows:
    """The values of ``columns`` (None: all) in the records that match: in order of time, without records that have none.

    ColumnNotFound.
    """
    shown = _columns(table, columns)
    there = pl.any_horizontal([_there(column) for column in shown]) if shown else pl.lit(True)
    return _rows(table, shown, pl.all_horizontal(where.to_expr(), there), None)


def filter_rows(
    table: Table, where: Where | None, *, columns: Sequence[str] | None = None, limit: int | None = None
) -> Rows:
    """The records that match, in order of time (those without one last), at most ``limit``. ColumnNotFound, ToolError."""
    _require_positive("limit", limit)
    return _rows(table, _columns(table, columns), pl.lit(True) if where is None else where.to_expr(), limit)


def rank(
    table: Table,
    column: str,
    *,
    n: int = 1,
    descending: bool = True,
    where: Where | None = None,
    columns: Sequence[str] | None = None,
) -> Rows:
    """The ``n`` records with the greatest (or least) values of a column; of equals the earlier first, without nulls.

    ``total`` counts the records that have a value. ColumnNotFound; ColumnTypeError where the column has no order; MixedUnits
    where what matches is of several currencies; ToolError.
    """
    _require_positive("n", n)
    by = resolve(table.meta, column)
    kinds = NUMERIC | {"date", "time"}
    if by.kind not in kinds:
        fitting = names_of(each for each in (*table.meta.columns, *PLAIN.values()) if each.kind in kinds)
        raise ColumnTypeError(f"{by.name!r} is a {by.kind} column and is not ranked; columns that would do: {fitting}")
    shown = list(dict.fromkeys([by, *_columns(table, columns)]))
    wanted = _there(by) if where is None else pl.all_horizontal(where.to_expr(), _there(by))
    order = [by.name, *(name for name in _CHRONOLOGICAL if name != by.name)]
    found = _found(table, shown, wanted, by).sort(
        order, descending=[descending] + [False] * (len(order) - 1), nulls_last=True, maintain_order=True
    )
    if by.kind == "money":
        require_one_currency(by, found[_UNIT].unique())
    return Rows(table.meta.name, tuple(each.name for each in shown), found.drop(_UNIT).head(n), found.height)


def _columns(table: Table, names: Sequence[str] | None) -> list[Column]:
    if names is None:
        return list(table.meta.columns)
    return list(dict.fromkeys(resolve(table.meta, name) for name in names))


def _there(column: Column) -> pl.Expr:
    """Whether a record has a value in the column; NaN and infinities are none."""
    if column.kind == "text":
        return text_of(column).is_not_null()
    value = pl.col(column.name)
    there = value.is_not_null()
    return there & value.is_finite() if column.kind in NUMERIC and not is_beside(column) else there


def _rows(table: Table, shown: Sequence[Column], wanted: pl.Expr, limit: int | None) -> Rows:
    found = _found(table, shown, wanted).drop(_UNIT).sort(_CHRONOLOGICAL, nulls_last=True, maintain_order=True)
    total = found.height
    return Rows(
        table.meta.name, tuple(column.name for column in shown), found if limit is None else found.head(limit), total
    )


def _found(table: Table, shown: Sequence[Column], wanted: pl.Expr, ranked: Column | None = None) -> pl.DataFrame:
    names = dict.fromkeys(part for column in (*PLAIN.values(), *shown) for part in parts_of(column))
    money = ranked is not None and ranked.kind == "money"
    unit = currency_of(ranked.name) if ranked is not None and money else pl.lit(None, pl.String)
    return table.frame.lazy().with_columns(unit.alias(_UNIT)).filter(wanted).select(*names, _UNIT).collect()


def _require_positive(name: str, value: int | None) -> None:
    if value is not None and value < 1:
        raise ToolError(f"{name} must be 1 or more")


# --- calls ------------------------------------------------------------------------------------------------------


class _Call(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)
    table: str
    where: list[str] = Field(default_factory=list)
    """Conditions (see ``parse_where``), all of which must hold."""


class LookupCall(_Call):
    """``lookup`` as data."""

    tool: Literal["lookup"] = "lookup"
    columns: list[str] | None = None


class FilterCall(_Call):
    """``filter_rows`` as data."""

    tool: Literal["filter"] = "filter"
    columns: list[str] | None = None
    limit: int | None = Field(default=None, ge=1)


class Comparison(BaseModel):
    """The conditions of both sides of a comparison, each besides those of the call."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    first: list[str] = Field(min_length=1)
    second: list[str] = Field(min_length=1)


class ComputeCall(_Call):
    """``compute`` as data, or ``compare`` where ``compare`` is given."""

    tool: Literal["compute"] = "compute"
    operation: Operation
    column: str | None = None
    by: str | None = None
    unit: str | None = None
    compare: Comparison | None = None


class RankCall(_Call):
    """``rank`` as data."""

    tool: Literal["rank"] = "rank"
    column: str
    n: int = Field(default=1, ge=1)
    descending: bool = True
    columns: list[str] | None = None


Call = LookupCall | FilterCall | ComputeCall | RankCall

_CALLS: TypeAdapter[Call] = TypeAdapter(Annotated[Call, Field(discriminator="tool")])


def read_call(data: Any) -> Call:
    """A call from plain JSON values, ``tool`` being ``lookup``, ``filter``, ``compute`` or ``rank``.

    ToolError, saying what is allowed, where it is none.
    """
    try:
        return _CALLS.validate_python(data)
    except ValidationError as error:
        raise ToolError("; ".join(_fault(dict(fault)) for fault in error.errors(include_url=False))) from None


def run(call: Call, tables: Callable[[str], Table], read: Read) -> Rows | Computed | Compared:
    """Carry out a call. ``tables`` gives a table by its name (or raises TableNotFound), ``read`` reads written values.

    ToolError, saying what is possible, where the call does not fit its table.
    """
    table = tables(call.table)
    where = parse_all(call.where, table.meta, read)
    if isinstance(call, LookupCall):
        return lookup(table, where, call.columns)
    if isinstance(call, FilterCall):
        return filter_rows(table, where, columns=call.columns, limit=call.limit)
    if isinstance(call, RankCall):
        shown = call.columns
        return rank(table, call.column, n=call.n, descending=call.descending, where=where, columns=shown)
    if call.compare is None:
        return compute(table, call.operation, call.column, where=where, by=call.by, unit=call.unit, read=read)
    if call.by is not None:
        raise ToolError("compare and by do not go together: leave one out")
    first, second = (All((where, parse_all(texts, table.meta, read))) for texts in (call.compare.first, call.compare.second))
    return compare(table, call.operation, call.column, first, second, unit=call.unit, read=read)


_FIELDS = {model.model_fields["tool"].default: model for model in (LookupCall, FilterCall, ComputeCall, RankCall)}


def _fault(fault: dict[str, Any]) -> str:
    """One fault of a call, without what was written there."""
    place = [str(part) for part in fault["loc"]]
    tool = _FIELDS.get(place[0]) if place else None
    if fault["type"] == "extra_forbidden":
        model = Comparison if "compare" in place[:-1] else tool
        allowed = "" if model is None else f"; allowed are: {', '.join(model.model_fields)}"
        return f"{'.'.join(place[:-1])}: an unknown argument{allowed}"
    if fault["type"] in ("union_tag_invalid", "union_tag_not_found"):
        return f"tool: must be one of: {', '.join(_FIELDS)}"
    return f"{'.'.join(place) or 'call'}: {fault['msg']}"
