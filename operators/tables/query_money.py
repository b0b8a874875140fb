"""Amounts of several currencies are never reckoned as one: which a statement looks at, and what it may do then."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import cast

import polars as pl
from sqlglot import exp

from operators.errors import MixedUnits
from operators.tables.columns import Column, currency_of
from operators.tables.query_engine import GUARD, Engine
from operators.tables.query_functions import AGGREGATE, AGGREGATES, column_of
from operators.tables.query_names import AMOUNT, Out, Source
from operators.tables.query_plan import Plan
from operators.tables.query_trace import Core, Trace, here, without_parts

_COMPARED = (exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE)
_JOINING = (exp.And, exp.Or, exp.Not, exp.Paren)
_GUARDED = frozenset({"sum", "avg", "min", "max", "median", "stddev"})
_ONE_AMOUNT = frozenset({"abs", "round", "ceil", "floor"})
_MOST = 50
"""Currencies that are looked at; two are too many already."""


@dataclass(frozen=True)
class Money:
    """The currency of all amounts of a statement (None: not known, or several), the main select, and what it gives."""

    currency: str | None
    main: Trace
    more: Sequence[Out] = ()


def one_currency(plan: Plan, engine: Engine) -> Money:
    """See that nothing is reckoned from amounts of several currencies. MixedUnits, saying what to do, where it would be.

    Where several are looked at, the main select alone may look at them, each aggregate is guarded (by group, as the engine
    forms them), and the currency is given beside each amount.
    """
    used = [(core, each) for core in plan.cores for each in here(core.node) if _is_amount(each)]
    sources = {each.physical: each for core in plan.cores for each in core.sources}
    found = {unit for _, amount in used for unit in _whole(sources[_table(amount)], amount)}
    if len(found) > 1:
        found = {unit for core, amount in used for unit in _looked_at(core, sources[_table(amount)], amount, engine)}
    if len(found) <= 1:
        return Money(next(iter(found), None), plan.main.trace)
    main = plan.main.trace.node
    if not isinstance(main, exp.Select) or any(core is not plan.main.cores[0] for core, _ in used):
        raise _mixed(found)
    return _guarded(plan, found)


def _is_amount(node: exp.Expr) -> bool:
    """Whether a node is an amount that something is made of: not one that is counted or compared with a number."""
    if node.meta.get(AMOUNT) is None:
        return False
    child, parent = node, node.parent
    while isinstance(parent, exp.Paren):
        child, parent = parent, parent.parent
    if isinstance(parent, exp.Is):
        return False
    if isinstance(parent, exp.Anonymous):
        return parent.name != "count"
    if isinstance(parent, _COMPARED):
        return not isinstance(parent.expression if parent.this is child else parent.this, exp.Literal)
    if isinstance(parent, exp.Between) and parent.this is child:
        return not all(isinstance(parent.args[end], exp.Literal) for end in ("low", "high"))
    if isinstance(parent, exp.In) and parent.this is child:
        return not parent.expressions or not all(isinstance(each, exp.Literal) for each in parent.expressions)
    return True


def _currency(amount: exp.Expr) -> exp.Column:
    return cast(exp.Column, amount.meta[AMOUNT])


def _table(amount: exp.Expr) -> str:
    return cast(exp.Column, amount).table


def _whole(source: Source, amount: exp.Expr) -> set[str | None]:
    """The currencies of the whole column."""
    read, column = source.read, column_of(amount)
    assert read is not None and column is not None
    units = read.table.frame.select(pl.when(pl.col(column.name).is_not_null()).then(currency_of(column.name).fill_null("")))
    return {unit or None for unit in units.to_series().drop_nulls().unique()}


def _looked_at(core: Core, source: Source, amount: exp.Expr, engine: Engine) -> set[str | None]:
    """The currencies of a column in the records that the select's conditions let pass, or more."""
    if source not in core.sources:  # of a select around it
        return _distinct(_from(source), amount, engine)

    joins = core.node.args.get("joins") or []
    if not core.correlated and not any(map(_carries, joins)):
        return _distinct(without_parts(core.node, _carries), amount, engine)

    def looks_elsewhere(part: exp.Expr) -> bool:
        elsewhere = any(each.table != source.physical for each in part.find_all(exp.Column))
        return elsewhere or part.find(exp.Query, exp.Exists) is not None or _carries(part)

    alone = _from(source)
    alone.set("where", without_parts(core.node, looks_elsewhere).args.get("where"))
    return _distinct(alone, amount, engine)


def _from(source: Source) -> exp.Select:
    assert source.read is not None
    return exp.select().from_(f"{source.read.name} AS {source.physical}")


def _distinct(node: exp.Select, amount: exp.Expr, engine: Engine) -> set[str | None]:
    there = exp.Not(this=exp.Paren(this=exp.Is(this=amount.copy(), expression=exp.Null())))
    asked = node.select(_currency(amount).copy(), append=False, copy=False).distinct(copy=False).where(there, copy=False)
    return {row[0] for row in engine.rows(asked, _MOST)}


# --- several ----------------------------------------------------------------------------------------------------------


def _guarded(plan: Plan, found: set[str | None]) -> Money:
    main = cast(exp.Select, plan.main.trace.node.copy())
    outs = len(plan.main.outs)
    if any(map(_carries, _before_groups(main))):
        raise _mixed(found)
    order = main.args.get("order")
    if order is not None and main.args.get("limit") is not None and _carries(order):
        raise _mixed(found)
    if main.args.get("distinct") or (main.args.get("group") and _carries(main.args["group"])):
        raise _mixed(found)
    looked = [*main.expressions[:outs], *(part for part in (order, main.args.get("having")) if part is not None)]
    for part in looked:
        _check(part, found)
    told, more = _beside(plan, main)
    for part in looked:
        for each in [each for each in here(part) if _is_reckoned(each) and _carries(each)]:
            _guard(each)
    for at, node in enumerate(told):
        main.append("expressions", exp.alias_(node, f"u{at}"))
    return Money(None, Trace(main, plan.main.trace.rows), more)


def _before_groups(main: exp.Select) -> Iterator[exp.Expr]:
    yield from main.args.get("joins") or []
    if main.args.get("where") is not None:
        yield main.args["where"]


def _carries(node: exp.Expr) -> bool:
    return any(_is_amount(each) for each in here(node))


def _is_reckoned(node: exp.Expr) -> bool:
    """Whether a node makes one value of many rows: an aggregate, of groups or of a window."""
    return (
        isinstance(node, exp.Anonymous) and node.name in AGGREGATES and AGGREGATE in node.meta and len(node.expressions) == 1
    )


def _check(part: exp.Expr, found: set[str | None]) -> None:
    """MixedUnits where two amounts meet, or where one goes into what cannot be guarded."""
    for node in here(part):
        if not _carries(node) or isinstance(node, exp.Column | exp.Order | exp.Having):
            continue
        carrying = sum(map(_carries, node.iter_expressions()))
        if carrying > 1 and not isinstance(node, _JOINING):
            raise _mixed(found)
        allowed = _GUARDED if _is_reckoned(node) else _ONE_AMOUNT
        if isinstance(node, exp.Anonymous) and node.name not in allowed:
            raise _mixed(found)
        if isinstance(node, exp.Window) and not _carries(node.this):
            raise _mixed(found)


def _beside(plan: Plan, main: exp.Select) -> tuple[list[exp.Expr], list[Out]]:
    """The currency of each amount that is given and has it not beside it already, and what these are called."""
    outs = plan.main.outs
    shown = [each.this for each in main.expressions[: len(outs)]]
    told, more = [], []
    for out, node in zip(outs, shown, strict=True):
        amount = next((each for each in here(node) if _is_amount(each)), None)
        if amount is None or _currency(amount) in shown:
            continue
        reckoned = next((each for each in here(node) if _is_reckoned(each) and _carries(each)), None)
        told.append(_currency(amount).copy() if reckoned is None else _extreme(reckoned, "max"))
        more.append(Out(f"{out.name}_currency", Column(f"{out.name}_currency", "text")))
    return told, more


def _whole_call(node: exp.Expr) -> exp.Expr:
    """An aggregate with its FILTER and OVER."""
    found = node
    for kind in (exp.Filter, exp.Window):
        if isinstance(found.parent, kind) and found.parent.this is found:
            found = found.parent
    return found


def _extreme(node: exp.Expr, which: str, unknown: str | None = None) -> exp.Expr:
    """The first or the last currency of what an aggregate is reckoned from, in the same groups."""
    amount = next(each for each in here(node) if _is_amount(each))
    value = node.expressions[0]
    value = value.expressions[0] if isinstance(value, exp.Distinct) else value
    there = exp.Not(this=exp.Paren(this=exp.Is(this=exp.Paren(this=value.copy()), expression=exp.Null())))
    unit = _currency(amount).copy() if unknown is None else _or(_currency(amount), unknown)
    call = exp.Anonymous(this=which, expressions=[exp.Case(ifs=[exp.If(this=there, true=unit)])])
    node.meta["here"] = True
    held = _whole_call(node).copy()
    node.meta.pop("here")
    place = next(each for each in held.walk() if each.meta.get("here"))
    if place is held:
        return call
    place.replace(call)
    return held


def _guard(node: exp.Expr) -> None:
    whole = _whole_call(node)
    ends = [_extreme(node, which, "amounts of unknown currency") for which in ("min", "max")]
    name = column_of(next(each for each in here(node) if _is_amount(each)))
    assert name is not None
    whole.replace(exp.Anonymous(this=GUARD, expressions=[whole.copy(), *ends, exp.Literal.string(name.name)]))


def _or(node: exp.Expr, text: str) -> exp.Expr:
    return exp.Anonymous(this="coalesce", expressions=[node.copy(), exp.Literal.string(text)])


def _mixed(found: set[str | None]) -> MixedUnits:
    named = ", ".join(sorted(each for each in found if each is not None))
    unknown = " and amounts of unknown currency" if None in found else ""
    return MixedUnits(
        f"the statement looks at {named}{unknown}: they are not reckoned as one; keep to one by a condition on "
        "<column>_currency in the WHERE of each select, or group by it in a statement of one select"
    )
