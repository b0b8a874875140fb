"""What records must be: names, bounds and currencies as the tools' conditions."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from operators.ask.rules import cues
from operators.ask.rules.apart import Parts, merchant_of
from operators.ask.rules.columns import NUMERIC, Target, targets
from operators.ask.rules.filters import Bound, Named
from operators.ask.rules.frame import Frame
from operators.ask.rules.meaning import Meaning


def in_currency(parts: Parts, asked: cues.Asked, frame: Frame, target: Target, meaning: Meaning) -> tuple[Frame, bool]:
    """The frame kept to the currency that a question names, and whether amounts of several are left."""
    if target.column.kind != "money":
        return frame, False
    words = re.findall(r"\b[a-z]{2,}\b(?: francs)?|[$\u20ac\u00a3\u00a5]", parts.reading.left)
    named = [
        unit.unit for word in (*asked.units, *words) if (unit := meaning.unit(word)) is not None and unit.kind == "money"
    ]
    named += ["CHF"] if "swiss francs" in parts.reading.left else []
    known = target.column.currencies
    if not named or (len(known) == 1 and named[0] in known):
        bounded = any(bound.noun and meaning.unit(bound.noun.split()[0]) for bound in parts.bounds)
        return frame, len(known) > 1 and not bounded
    where = f"{quoted(target.column.name + '.unit')} = {quoted(str(named[0]))}"
    return replace(frame, where=(*frame.where, where)), False


def by_currency(frame: Frame) -> Frame:
    """Amounts of several currencies are never added or compared: each currency is told by itself."""
    how = {"rank": "max" if frame.largest else "min"}.get(frame.operation, frame.operation)
    if how not in ("sum", "avg", "median", "max", "min", "std") or frame.when or frame.shown or frame.place > 1:
        return frame
    return replace(frame, operation="groups", by=f"{frame.column}.unit", counted=how)


def conditions_of(parts: Parts, target: Target, meaning: Meaning, asked: cues.Asked) -> tuple[str, ...] | None:
    """What records must fulfil, as the tools' conditions; None where a bound is of a column that the table lacks."""
    where = [is_in(column, found) for table, column, found in parts.named if table.name == target.table.name]
    if not where and (asked.money or target.column.kind == "money"):
        merchant = merchant_of(target.table)
        if merchant is not None and parts.unknown is not None:
            where.append(f"{quoted(merchant)} contains {quoted(parts.unknown)}")
    for bound in parts.bounds:
        column = _bounded(bound, target, meaning)
        if column is None:
            return None
        where.append(_bound_text(bound, column, target, meaning))
    return tuple(where)


def is_in(column: str, found: Sequence[Named]) -> str:
    """That a text column has one of the values named, as a condition."""
    values = dict.fromkeys(value for each in found for value in each.values)
    return f"{quoted(column)} in ({', '.join(map(quoted, values))})"


def _bounded(bound: Bound, target: Target, meaning: Meaning) -> str | None:
    """The column that a bound is of: that of its unit or noun, else the target."""
    table = target.table
    if bound.noun is None:
        return target.column.name
    found = targets(bound.noun, [table], meaning, kinds=NUMERIC)
    if found and found[0].score >= 0.3:
        same = [each for each in found if each.score >= found[0].score - 1e-9]
        return next((e.column.name for e in same if e.column.name == target.column.name), same[0].column.name)
    unit = meaning.unit(bound.noun.split()[0])
    if unit is not None and unit.unit != target.column.unit:
        of_unit = [column.name for column in table.columns if column.unit == unit.unit]
        return of_unit[0] if of_unit else target.column.name if target.column.kind == "money" else None
    return target.column.name


_OPPOSITE = {">": "<=", ">=": "<", "<": ">=", "<=": ">", "=": "!="}


def _bound_text(bound: Bound, column: str, target: Target, meaning: Meaning) -> str:
    unit = ""
    held = next(each for each in target.table.columns if each.name == column)
    if bound.noun is not None:
        word = bound.noun.split()[0]
        found = meaning.unit(word)
        if found is not None and (found.unit == held.unit or found.kind == "money" == held.kind):
            unit = f" {word}"
    if not unit and held.kind == "duration" and not re.search(r"[a-z]", bound.values[-1]):
        unit = " h"
    values = [f"'{value}{unit}'" for value in bound.values]
    if bound.negated and bound.op in _OPPOSITE:
        return f"{quoted(column)} {_OPPOSITE[bound.op]} {values[0]}"
    if bound.op == "between":
        return f"{quoted(column)} between {values[0]} and {values[1]}"
    return f"{quoted(column)} {bound.op} {values[0]}"


def quoted(text: str) -> str:
    """A name or a value as conditions quote it."""
    return "'" + text.replace("'", "''") + "'"
