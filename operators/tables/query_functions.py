"""The functions that a statement of SQL may call, and what each takes and gives."""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence

from sqlglot import exp

from operators.errors import ColumnTypeError, ConditionError, QueryError
from operators.tables.columns import NUMERIC, Column
from operators.tables.query_names import COLUMN

AGGREGATE = "aggregate"
"""Under which a call tells that it makes one value of many rows."""

AGGREGATES = {"count": (1, 1), "sum": (1, 1), "avg": (1, 1), "min": (1, 1), "max": (1, 1)}
AGGREGATES |= {"median": (1, 1), "stddev": (1, 1), "group_concat": (1, 2)}
OVER_ROWS = {"row_number": (0, 0), "rank": (0, 0), "dense_rank": (0, 0), "ntile": (1, 1), "lag": (1, 3), "lead": (1, 3)}
OVER_ROWS |= {"first_value": (1, 1), "last_value": (1, 1)}
RANKS = frozenset({"row_number", "rank", "dense_rank"})
"""What tells of a record its place alone."""

DATES = {"date": (1, 5), "datetime": (1, 5), "julianday": (1, 5), "strftime": (2, 6)}
SCALARS = {"abs": (1, 1), "round": (1, 2), "ceil": (1, 1), "floor": (1, 1), "sqrt": (1, 1), "power": (2, 2), "min": (2, 8)}
SCALARS |= {"max": (2, 8), "coalesce": (2, 8), "ifnull": (2, 2), "nullif": (2, 2), "iif": (3, 3), "length": (1, 1)}
SCALARS |= {"lower": (1, 1), "upper": (1, 1), "trim": (1, 2), "ltrim": (1, 2), "rtrim": (1, 2), "substr": (2, 3)}
SCALARS |= {"instr": (2, 2), "replace": (3, 3), **DATES}

_ALSO = {"substring": "substr", "pow": "power", "ceiling": "ceil", "if": "iif", "stddev_samp": "stddev", "std": "stddev"}
_OF_NUMBERS = frozenset({"sum", "avg", "median", "stddev", "abs", "round", "ceil", "floor", "sqrt", "power"})
_KEEPS_UNIT = frozenset({"min", "max", "lag", "lead", "first_value", "last_value", "coalesce", "ifnull"})
_NUMBERS_KEEP_UNIT = frozenset({"sum", "avg", "median", "stddev", "abs", "round", "ceil", "floor"})
_ALL = tuple(sorted({*AGGREGATES, *OVER_ROWS, *SCALARS}))

_ISO = re.compile(r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d{1,6})?)?Z?)?")
_SHIFT = re.compile(
    r"[+-]?\d{1,6}(?:\.\d{1,3})? (?:day|month|year|hour|minute|second)s?|start of (?:day|month|year)|weekday [0-6]"
)
_FORMAT = re.compile(r"(?:%[dfHjmMSwWYs]|[ :/.T-])*")


def called(node: exp.Anonymous) -> exp.Anonymous:
    """A call, its arguments in the engine's names, as the engine is asked it; with the unit of what it gives.

    QueryError for a function that is not allowed or takes other arguments, ColumnTypeError for a column that it does not
    take, ConditionError for a text that is no day, shift or format.
    """
    written = node.name.casefold()
    name = _ALSO.get(written, written)
    arguments = [each for part in node.expressions for each in (part.expressions if _is_distinct(part) else [part])]
    aggregate = name in AGGREGATES and not (name in ("min", "max") and len(arguments) > 1)
    bounds = AGGREGATES[name] if aggregate else OVER_ROWS.get(name) or SCALARS.get(name)
    if bounds is None:
        near = difflib.get_close_matches(written[:40], _ALL, 2, 0.6)
        hint = f"near: {', '.join(near)}; " if near else ""
        raise QueryError(f"a function of the statement is not allowed; {hint}functions: {', '.join(_ALL)}")
    if not bounds[0] <= len(arguments) <= bounds[1]:
        raise QueryError(f"{name} takes {bounds[0]} to {bounds[1]} arguments")
    if any(map(_is_distinct, node.expressions)) and not aggregate:
        raise QueryError("DISTINCT stands in aggregates alone, such as count(DISTINCT ..)")
    if any(isinstance(each, exp.Star) for each in arguments) and name != "count":
        raise QueryError(f"{name} takes no *")
    if name in _OF_NUMBERS:
        for each in arguments:
            require_number(each, name)
    node.set("this", name)
    if name in DATES:
        _date(node, name)
    node.meta[AGGREGATE] = aggregate
    node.meta[COLUMN] = _unit(name, arguments)
    return node


def _is_distinct(node: exp.Expr) -> bool:
    return isinstance(node, exp.Distinct)


def is_aggregate(node: exp.Expr) -> bool:
    """Whether a node makes one value of many rows (no window function)."""
    return isinstance(node, exp.Anonymous) and bool(node.meta.get(AGGREGATE))


def column_of(node: exp.Expr | None) -> Column | None:
    """The column whose kind and unit a node's value has, where one is known."""
    found = None if node is None else node.meta.get(COLUMN)
    return found if isinstance(found, Column) else None


def require_number(node: exp.Expr, what: str) -> None:
    """ColumnTypeError where a node is a text, a day or a time."""
    column = column_of(node)
    if column is not None and column.kind not in NUMERIC and column.kind != "bool":
        hint = "; days are counted as julianday(a) - julianday(b)" if column.kind == "date" else ""
        raise ColumnTypeError(f"{column.name!r} is a {column.kind} column and has no {what}{hint}")


def same_unit(nodes: Sequence[exp.Expr]) -> Column | None:
    """The column of values that all have one kind and unit; None where they have not."""
    columns = [column_of(each) for each in nodes if not isinstance(each, exp.Null)]
    first = columns[0] if columns else None
    if first is None or any(each is None or (each.kind, each.unit) != (first.kind, first.unit) for each in columns):
        return None
    return first


def _unit(name: str, arguments: Sequence[exp.Expr]) -> Column | None:
    if name in ("lag", "lead", "first_value", "last_value"):
        return column_of(arguments[0])
    if name in _NUMBERS_KEEP_UNIT:
        found = column_of(arguments[0])
        return found if found is not None and found.kind in NUMERIC else None
    if name in ("coalesce", "ifnull"):
        return same_unit([each for each in arguments if not isinstance(each, exp.Literal)])
    return same_unit(arguments) if name in _KEEPS_UNIT else None


def _date(node: exp.Anonymous, name: str) -> None:
    """Days and instants alone go in, so that the clock never does (``now``)."""
    first, *shifts = node.expressions[1:] if name == "strftime" else node.expressions
    if name == "strftime" and not _is_text(node.expressions[0], _FORMAT):
        raise ConditionError("strftime: the format is a text of %Y %m %d %H %M %S %j %w %W and - : / . T between them")
    if isinstance(first, exp.Literal) and not _is_text(first, _ISO):
        raise ConditionError(f"{name} takes a column of dates or a day such as '2016-04-20'; there is no 'now'")
    column = column_of(first)
    if column is not None and column.kind != "date":
        raise ColumnTypeError(f"{column.name!r} is a {column.kind} column; {name} takes a column of dates")
    if not all(_is_text(each, _SHIFT) for each in shifts):
        raise ConditionError(f"{name}: a shift is written as '-7 days', '+1 month', 'start of month' or 'weekday 0'")
    if not isinstance(first, exp.Literal):
        first.replace(exp.Anonymous(this="instant", expressions=[first.copy()]))


def _is_text(node: exp.Expr, pattern: re.Pattern[str]) -> bool:
    return isinstance(node, exp.Literal) and node.is_string and pattern.fullmatch(node.name) is not None
