"""Which records each row of a select is made of: columns beside it that the engine fills, or selects of their own."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from sqlglot import exp

from operators.tables.query_functions import RANKS, is_aggregate
from operators.tables.query_names import Read, Source

GATHER = "gather"
"""The engine's aggregate of records: what it gives names all that it was given."""


@dataclass(frozen=True)
class Trace:
    """A select that gives, in its last columns, the records that each of its rows is made of: one column a table in
    ``rows``."""

    node: exp.Query
    rows: Sequence[Read]


@dataclass(frozen=True)
class Core:
    """One select without those inside it, its names resolved. ``correlated``: it cannot be run by itself."""

    node: exp.Select
    sources: Sequence[Source]
    correlated: bool


def here(node: exp.Expr) -> Iterator[exp.Expr]:
    """A select's own nodes: not those of selects inside it."""
    return node.walk(prune=lambda each: isinstance(each, exp.Query) and each is not node)


def parts_of_where(core: exp.Select) -> list[exp.Expr]:
    """The conditions all of which a select's WHERE asks for."""
    where = core.args.get("where")
    return [] if where is None else list(where.this.flatten() if isinstance(where.this, exp.And) else [where.this])


def without_parts(core: exp.Select, drop: Callable[[exp.Expr], bool]) -> exp.Select:
    """FROM, JOIN and WHERE of a select, without the conditions of WHERE that are to be dropped."""
    kept = [part.copy() for part in parts_of_where(core) if not drop(part)]
    found = exp.Select(from_=core.args["from_"].copy(), joins=[each.copy() for each in core.args.get("joins") or []])
    return found.where(*kept, copy=False) if kept else found


def is_constant(node: exp.Expr) -> bool:
    """Whether a node is the same in every row."""
    return node.find(exp.Column, exp.Anonymous, exp.Query, exp.Exists) is None


def trace_of(core: Core) -> tuple[Trace, list[Trace]]:
    """The select with the records of each row beside it.

    Where these cannot stand beside it, it is as it was, and further traces give all records that it may have looked at.
    """
    rows = [(exp.column(name, table=each.physical), read) for each in core.sources for name, read in each.rows]
    node = core.node.copy()
    nodes = list(here(node))
    aggregates = [each for each in nodes if is_aggregate(each)]
    grouped = bool(aggregates) or node.args.get("group") is not None
    distinct = bool(node.args.get("distinct"))
    keys = [each.this.copy() for each in node.expressions if not is_constant(each.this)]
    if core.correlated:
        return Trace(node, ()), [_alone(core, each) for each in core.sources if each.rows]
    windows = [each for each in nodes if isinstance(each, exp.Window)]
    ranked = all(each.this.name in RANKS for each in windows) and not grouped and not distinct
    if rows and ((windows and not ranked) or (distinct and (grouped or not keys))):
        return Trace(node, ()), [_gathered(without_parts(core.node, lambda _: False), rows, None)]
    if distinct and rows:
        node.set("distinct", None)
        node.set("group", exp.Group(expressions=keys))
    elif not grouped:
        for at, (column, _) in enumerate(rows):
            node.append("expressions", exp.alias_(column, f"h{at}"))
        return Trace(node, [read for _, read in rows]), []
    return _gathered(node, rows, _went_in(aggregates)), []


def _gathered(node: exp.Select, rows: Sequence[tuple[exp.Column, Read]], when: exp.Expr | None) -> Trace:
    """A select of groups with the records of each beside it; ``when``: which of them."""
    for at, (column, _) in enumerate(rows):
        held = column if when is None else exp.Case(ifs=[exp.If(this=when.copy(), true=column)])
        node.append("expressions", exp.alias_(exp.Anonymous(this=GATHER, expressions=[held]), f"h{at}"))
    return Trace(node, [read for _, read in rows])


def _alone(core: Core, source: Source) -> Trace:
    """The records of one source that those conditions let pass which look at nothing else."""

    def looks_elsewhere(part: exp.Expr) -> bool:
        columns = part.find_all(exp.Column)
        return any(each.table != source.physical for each in columns) or part.find(exp.Query, exp.Exists) is not None

    left = {each.this.alias: each.this for each in [core.node.args["from_"], *(core.node.args.get("joins") or [])]}
    found = without_parts(core.node, looks_elsewhere)
    found.set("from_", exp.From(this=left[source.physical].copy()))
    found.set("joins", None)
    return _gathered(found, [(exp.column(name, table=source.physical), read) for name, read in source.rows], None)


def _went_in(aggregates: Sequence[exp.Expr]) -> exp.Expr | None:
    """The condition that a row gives a value to one of the aggregates; None: every row does."""
    ways = []
    for each in aggregates:
        arguments = [part for held in each.expressions for part in (held.expressions or [held])]
        if not arguments or isinstance(each.expressions[0], exp.Star) or each.find(exp.Query) is not None:
            return None
        first = each.expressions[0]
        value = first.expressions[0] if isinstance(first, exp.Distinct) else first
        way: exp.Expr = exp.Not(this=exp.Paren(this=exp.Is(this=exp.Paren(this=value.copy()), expression=exp.Null())))
        if isinstance(each.parent, exp.Filter):
            way = exp.and_(way, each.parent.expression.this.copy())
        ways.append(way)
    return exp.or_(*ways) if ways else None


def padded(trace: Trace, outs: int, more: int, *, first: bool) -> exp.Query:
    """A branch of UNION ALL with columns of no records for those of the other, before or after its own."""
    node = trace.node.copy()
    for each in [node] if isinstance(node, exp.Select) else _leaves(node):
        at = outs if first else len(each.expressions)
        held = [part.this if isinstance(part, exp.Alias) else part for part in each.expressions]
        held[at:at] = [exp.Null() for _ in range(more)]
        names = [f"o{place}" if place < outs else f"h{place - outs}" for place in range(len(held))]
        each.set("expressions", [exp.alias_(part, name) for part, name in zip(held, names, strict=True)])
    return node


def _leaves(node: exp.Query) -> list[exp.Select]:
    if isinstance(node, exp.Select):
        return [node]
    return [leaf for each in (node.this, node.expression) for leaf in _leaves(each)]
