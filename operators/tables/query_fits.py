"""Whether what a statement compares with a column fits it: numbers in its base unit, days and times as they are held."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime

from sqlglot import exp

from operators.errors import ConditionError
from operators.records import TIME
from operators.tables.columns import NUMERIC, RAW, Column
from operators.tables.query_functions import column_of

FOLD = "fold"
"""Under which a text tells that it is compared as texts of tables are: without regard to case and width of whitespace."""

INSTANT = "%Y-%m-%d %H:%M:%S"
"""How instants are held, in UTC; as SQLite's ``datetime`` writes them."""

_COMPARED = (exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE, exp.Is)
_DAY = re.compile(r"\d{4}(?:-\d\d(?:-\d\d)?)?")
_CLOCK = re.compile(r"[0-2]\d:[0-5]\d(?::[0-5]\d)?")


def fitted(node: exp.Expr) -> None:
    """Put the texts that a comparison compares with a column as the column holds its values.

    ConditionError, saying what to write, where one does not fit.
    """
    if isinstance(node, _COMPARED):
        pairs = [(node.this, node.expression), (node.expression, node.this)]
    elif isinstance(node, exp.In):
        pairs = [(node.this, each) for each in node.expressions]
    elif isinstance(node, exp.Between):
        pairs = [(node.this, node.args["low"]), (node.this, node.args["high"])]
    else:
        return
    for one, other in pairs:
        column = column_of(one)
        if column is not None and isinstance(other, exp.Literal):
            _fit(column, other, whole=isinstance(one, exp.Column))


def _fit(column: Column, literal: exp.Literal, whole: bool) -> None:
    if column.kind in NUMERIC or column.kind == "bool":
        if literal.is_string:
            raise _misfit(column)
    elif not literal.is_string:
        raise _misfit(column)
    elif column.kind == "text":
        literal.meta[FOLD] = whole and not column.name.endswith(RAW)
    elif column.kind == "time":
        if not _CLOCK.fullmatch(literal.name):
            raise _misfit(column)
        literal.set("this", f"{literal.name}:00" if len(literal.name) == len("07:30") else literal.name)
    else:
        literal.set("this", _day(column, literal.name))


def _day(column: Column, text: str) -> str:
    if _DAY.fullmatch(text):
        try:
            date.fromisoformat(text + "2000-01-01"[len(text) :])
        except ValueError:
            raise _misfit(column) from None
        return text
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise _misfit(column) from None
    if column.name != TIME:
        raise _misfit(column)
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC).strftime(INSTANT)


def _misfit(column: Column) -> ConditionError:
    instant = " or an instant such as '2016-04-20 07:30:00' (UTC)" if column.name == TIME else ""
    told = {
        "date": f"a day, '2016-04-20'{instant}",
        "time": "a time of day, '07:30:00'",
        "bool": "TRUE or FALSE",
        "text": "a text",
    }.get(column.kind, f"a number{f' of {column.unit}' if column.unit else ''}, without quotes")
    return ConditionError(f"{column.name!r} is a {column.kind} column: compare it with {told}")
