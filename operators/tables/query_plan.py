"""From a statement's tree to the one that the engine runs: its own names alone, and beside each row the records it is of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import cast

from sqlglot import exp

from operators.errors import ColumnNotFound, QueryError
from operators.tables.columns import Table
from operators.tables.query_fits import fitted
from operators.tables.query_functions import AGGREGATE, called, column_of, is_aggregate, require_number, same_unit
from operators.tables.query_names import COLUMN, ROW, Out, Read, Scope, Source
from operators.tables.query_trace import Core, Trace, here, is_constant, padded, parts_of_where, trace_of
from operators.tables.statement import TYPES
from operators.tables.stored import find_row

_NAMES = 60


@dataclass(frozen=True)
class Body:
    """A select or several joined by UNION: as written, and traced."""

    node: exp.Query
    outs: Sequence[Out]
    trace: Trace
    cores: Sequence[Core]

    @property
    def correlated(self) -> bool:
        """Whether it cannot be run by itself."""
        return any(core.correlated for core in self.cores)


@dataclass
class Plan:
    """What the engine runs: ``main``, after ``named`` (WITH); ``traces`` are run for their records alone.

    ``exact``: whether the records are those that went in, not more.
    """

    main: Body
    named: Sequence[tuple[str, exp.Query]]
    traces: Sequence[Trace]
    reads: Sequence[Read]
    cores: Sequence[Core]
    exact: bool


def make_plan(tree: exp.Query, tables: Mapping[str, Table]) -> Plan:
    """The plan of a statement over a user's tables. TableNotFound, ColumnNotFound, ColumnTypeError, ConditionError,
    QueryError."""
    maker = _Maker(tables)
    main = maker.body(tree, None)
    if not maker.reads:
        raise QueryError(f"the statement reads no table; tables: {', '.join(map(repr, tables)) or 'none'}")
    return Plan(main, maker.named, maker.traces, list(maker.reads.values()), maker.cores, maker.exact)


@dataclass
class _Maker:
    tables: Mapping[str, Table]
    named: list[tuple[str, exp.Query]] = field(default_factory=list)
    traces: list[Trace] = field(default_factory=list)
    reads: dict[str, Read] = field(default_factory=dict)
    cores: list[Core] = field(default_factory=list)
    exact: bool = True
    _with: list[dict[str, tuple[str, Body]]] = field(default_factory=list)
    _sources: int = 0

    # --- selects --------------------------------------------------------------------------------------------------

    def body(self, node: exp.Query, outer: Scope | None) -> Body:
        """A select, or several joined by UNION, with all that is inside."""
        self._with.append({})
        with_ = node.args.get("with_")
        for each in with_.expressions if with_ is not None else ():
            self._with[-1][each.alias.casefold()] = self._defined(self.body(_query_in(each), None))
        node.set("with_", None)
        found = (
            self._select(node, outer) if isinstance(node, exp.Select) else self._joined(cast(exp.SetOperation, node), outer)
        )
        self._with.pop()
        return found

    def _select(self, node: exp.Select, outer: Scope | None) -> Body:
        scope = Scope(self._sources_of(node), outer)
        for join in node.args.get("joins") or []:
            self._inside(join, "on", scope)
        shown = self._projections(node, scope)
        self._inside(node, "where", scope)
        if any(is_aggregate(each) for part in parts_of_where(node) for each in here(part)):
            raise QueryError("aggregates do not stand in WHERE: use HAVING")
        scope.aliases = {name.casefold(): each for name, each in shown if _is_written(each)}
        self._group(node, scope, [each for _, each in shown])
        self._inside(node, "having", scope)
        self._order(node, scope, shown)
        outs = [Out(name, column_of(each)) for name, each in shown]
        node.set("expressions", [exp.alias_(each, f"o{at}") for at, (_, each) in enumerate(shown)])
        _check_bare(node, scope)
        core = Core(node, scope.sources, scope.correlated)
        self.cores.append(core)
        traced, apart = trace_of(core)
        self.traces += apart
        self.exact &= not apart
        return Body(node, outs, traced, [core])

    def _joined(self, node: exp.SetOperation, outer: Scope | None) -> Body:
        left = self.body(_branch(node.this, second=False), outer)
        right = self.body(_branch(node.expression, second=True), outer)
        if len(left.outs) != len(right.outs):
            raise QueryError("selects joined by UNION, INTERSECT or EXCEPT give equally many columns")
        columns = [
            one.column if one.column and two.column and one.column.unit == two.column.unit else None
            for one, two in zip(left.outs, right.outs, strict=True)
        ]
        outs = [Out(out.name, column) for out, column in zip(left.outs, columns, strict=True)]
        node.set("this", left.node)
        node.set("expression", right.node)
        _order_by_outs(node, outs)
        cores = [*left.cores, *right.cores]
        if isinstance(node, exp.Union) and not node.args.get("distinct"):
            before = padded(left.trace, len(outs), len(right.trace.rows), first=False)
            after = padded(right.trace, len(outs), len(left.trace.rows), first=True)
            traced = node.copy()
            traced.set("this", before)
            traced.set("expression", after)
            return Body(node, outs, Trace(traced, [*left.trace.rows, *right.trace.rows]), cores)
        self.exact = False
        self.traces += [each.trace for each in (left, right) if not each.correlated]
        return Body(node, outs, Trace(node.copy(), ()), cores)

    # --- FROM -----------------------------------------------------------------------------------------------------

    def _sources_of(self, node: exp.Select) -> list[Source]:
        if node.args.get("from_") is None:
            return []
        holders = [node.args["from_"], *(node.args.get("joins") or [])]
        found = []
        for holder in holders:
            source, engine = self._source(holder.this)
            holder.set("this", engine)
            found.append(source)
        return found

    def _source(self, node: exp.Expr) -> tuple[Source, exp.Table]:
        self._sources += 1
        physical = f"s{self._sources}"
        if isinstance(node, exp.Subquery) and isinstance(node.unnest(), exp.Query):
            return _given(node.alias, physical, *self._defined(self.body(cast(exp.Query, node.unnest()), None)))
        if not isinstance(node, exp.Table) or not isinstance(node.this, exp.Identifier):
            raise QueryError("FROM and JOIN take the user's tables and subqueries, nothing else")
        name = node.name
        for level in reversed(self._with):
            if name.casefold() in level:
                return _given(node.alias or name, physical, *level[name.casefold()])
        found = str(find_row([{"table": each} for each in self.tables], name)["table"])
        read = self.reads.setdefault(found, Read(found, self.tables[found], f"t{len(self.reads)}"))
        return Source(node.alias or name, physical, read, (), ((ROW, read),)), _table(read.name, physical)

    def _defined(self, made: Body) -> tuple[str, Body]:
        """A select with the name that it has before the statement (WITH)."""
        self.named.append((f"w{len(self.named)}", made.trace.node))
        return self.named[-1][0], made

    # --- columns, groups, order -----------------------------------------------------------------------------------

    def _projections(self, node: exp.Select, scope: Scope) -> list[tuple[str, exp.Expr]]:
        shown: list[tuple[str, exp.Expr]] = []
        for each in node.expressions:
            if isinstance(each, exp.Star) or (isinstance(each, exp.Column) and isinstance(each.this, exp.Star)):
                shown += _starred(each, scope)
            elif isinstance(each, exp.Alias):
                made = self._expression(each.this, scope)
                made.meta["written"] = True
                shown.append((each.alias, made))
            else:
                name = _called(each) or f"column {len(shown) + 1}"
                shown.append((name, self._expression(each, scope)))
        if len(shown) > _NAMES:
            raise QueryError(f"a select gives at most {_NAMES} columns: name those that are needed")
        return shown

    def _group(self, node: exp.Select, scope: Scope, shown: Sequence[exp.Expr]) -> None:
        group = node.args.get("group")
        if group is None:
            return
        keys = [_at(each, shown) or self._expression(each, scope) for each in group.expressions]
        keys = [key for key in keys if not is_constant(key)]
        if not keys or any(is_aggregate(each) for key in keys for each in here(key)):
            raise QueryError("GROUP BY takes columns, and what is reckoned from the columns of one row")
        node.set("group", exp.Group(expressions=keys))

    def _order(self, node: exp.Select, scope: Scope, shown: Sequence[tuple[str, exp.Expr]]) -> None:
        order = node.args.get("order")
        if order is None:
            return
        for each in list(order.expressions):
            key = _at(each.this, [value for _, value in shown])
            if key is None and isinstance(each.this, exp.Column) and not each.this.table:
                alias = scope.aliases.get(each.this.name.casefold())
                key = None if alias is None else alias.copy()
            each.set("this", key if key is not None else self._expression(each.this, scope))
            if is_constant(each.this):
                order.expressions.remove(each)
        if not order.expressions:
            node.set("order", None)

    # --- expressions ----------------------------------------------------------------------------------------------

    def _inside(self, node: exp.Expr, key: str, scope: Scope) -> None:
        held = node.args.get(key)
        if held is not None:
            node.set(key, self._expression(held, scope))

    def _expression(self, node: exp.Expr, scope: Scope) -> exp.Expr:
        """A node in the engine's names, with the column that it has kind and unit of."""
        if isinstance(node, exp.Column):
            if isinstance(node.this, exp.Star):
                raise QueryError("* stands in the list of columns and in count(*) alone")
            return scope.column(node.name, node.table)
        if isinstance(node, exp.Subquery | exp.Exists):
            return self._inner(node, scope)
        for key, value in list(node.args.items()):
            if isinstance(value, exp.Expr):
                node.set(key, self._expression(value, scope))
            elif isinstance(value, list):
                parts = [self._expression(each, scope) if isinstance(each, exp.Expr) else each for each in value]
                node.set(key, parts)
        return _finished(node)

    def _inner(self, node: exp.Subquery | exp.Exists, scope: Scope) -> exp.Expr:
        inner = node.this.unnest() if isinstance(node.this, exp.Subquery) else node.this
        if not isinstance(inner, exp.Query):
            raise QueryError("EXISTS and parentheses take a select, nothing else, where a table is read")
        made = self.body(inner, scope)
        if isinstance(node, exp.Subquery) and len(made.outs) != 1:
            raise QueryError("a subquery in an expression gives one column")
        if not made.correlated:
            self.traces.append(made.trace)
        found = type(node)(this=made.node)
        found.meta[COLUMN] = made.outs[0].column if isinstance(node, exp.Subquery) else None
        return found


# --- parts ------------------------------------------------------------------------------------------------------------


def _given(name: str, physical: str, engine: str, made: Body) -> tuple[Source, exp.Table]:
    """A source that is a select."""
    rows = [(f"h{at}", read) for at, read in enumerate(made.trace.rows)]
    return Source(name, physical, None, made.outs, rows), _table(engine, physical)


def _finished(node: exp.Expr) -> exp.Expr:
    """A node whose parts are in the engine's names: checked against the columns in it, with its kind and unit."""
    if isinstance(node, exp.Anonymous):
        return called(node)
    fitted(node)
    if isinstance(node, exp.ILike):
        return exp.Like(**node.args)
    if isinstance(node, exp.Cast):
        return exp.Cast(this=node.this, to=exp.DataType.build(TYPES[node.to.this]))
    if isinstance(node, exp.Window):
        inner = node.this.this if isinstance(node.this, exp.Filter) else node.this
        inner.meta[AGGREGATE] = False
    if isinstance(node, exp.Add | exp.Sub | exp.Mul | exp.Div | exp.Mod | exp.Neg):
        for each in node.iter_expressions():
            require_number(cast(exp.Expr, each), "arithmetic")
    if isinstance(node, exp.Div):
        return exp.Div(this=exp.Cast(this=node.this, to=exp.DataType.build("DOUBLE")), expression=node.expression)
    if isinstance(node, exp.Add | exp.Sub):
        node.meta[COLUMN] = same_unit([node.this, node.expression])
    elif isinstance(node, exp.Paren | exp.Neg | exp.Window | exp.Filter):
        node.meta[COLUMN] = column_of(node.this)
    return node


def _check_bare(node: exp.Select, scope: Scope) -> None:
    """QueryError where a column stands beside aggregates that the groups do not tell the value of."""
    group = node.args.get("group")
    grouped = group is not None or any(is_aggregate(each) for each in here(node))
    if not grouped and not node.args.get("distinct"):
        return
    keys = [] if group is None else list(group.expressions)
    if not grouped:
        keys = [each.this for each in node.expressions]
    own = {each.physical for each in scope.sources}
    parts = [*node.expressions, *(node.args.get(key) for key in ("having", "order"))]
    left = [part for part in parts if part is not None]
    while left:
        each = left.pop()
        if each in keys or is_aggregate(each.this if isinstance(each, exp.Filter) else each):
            continue
        if isinstance(each, exp.Column) and each.table in own:
            column = column_of(each)
            name = "a column" if column is None else repr(column.name)
            raise QueryError(
                f"{name} stands beside what is reckoned of groups, and is none of what is grouped by: group by it, or "
                "take the record by ORDER BY .. LIMIT 1"
            )
        left += each.iter_expressions()


def _starred(node: exp.Expr, scope: Scope) -> list[tuple[str, exp.Expr]]:
    named = node.args.get("table")
    sources = [each for each in scope.sources if named is None or each.name.casefold() == named.name.casefold()]
    if not sources:
        raise ColumnNotFound("* stands for the columns of no table: name one of FROM")
    return [each for source in sources for each in source.all()]


def _called(node: exp.Expr) -> str | None:
    """What a column without an alias is called: as the column, or the function and the column, that it is."""
    if isinstance(node, exp.Column):
        return node.name
    if isinstance(node, exp.Anonymous) and [type(each) for each in node.expressions] in ([exp.Column], [exp.Star]):
        return f"{node.name.casefold()}({node.expressions[0].name})"
    return None


def _query_in(node: exp.Expr) -> exp.Query:
    inner = node.this.unnest()
    if not isinstance(inner, exp.Query):
        raise QueryError("WITH takes selects")
    return inner


def _branch(node: exp.Expr, second: bool) -> exp.Query:
    inner = node.unnest()
    if not isinstance(inner, exp.Query) or (second and isinstance(inner, exp.SetOperation)):
        raise QueryError("UNION, INTERSECT and EXCEPT are carried out from left to right: put what comes first in WITH")
    if any(inner.args.get(key) for key in ("order", "limit", "offset")):
        raise QueryError("a select joined by UNION, INTERSECT or EXCEPT has no ORDER BY or LIMIT of its own: put it in WITH")
    return inner


def _order_by_outs(node: exp.SetOperation, outs: Sequence[Out]) -> None:
    order = node.args.get("order")
    for each in order.expressions if order is not None else ():
        names = [out.name.casefold() for out in outs]
        at = _ordinal(each.this, len(outs))
        if at is None and isinstance(each.this, exp.Column) and each.this.name.casefold() in names:
            at = names.index(each.this.name.casefold())
        if at is None:
            raise QueryError("ORDER BY after UNION, INTERSECT or EXCEPT takes the names of columns that are given")
        each.set("this", exp.Literal.number(at + 1))


def _ordinal(node: exp.Expr, most: int) -> int | None:
    if not isinstance(node, exp.Literal) or node.is_string or not node.is_int:
        return None
    if not 1 <= int(node.name) <= most:
        raise QueryError(f"GROUP BY and ORDER BY name columns by numbers from 1 to {most}")
    return int(node.name) - 1


def _at(node: exp.Expr, shown: Sequence[exp.Expr]) -> exp.Expr | None:
    place = _ordinal(node, len(shown))
    return None if place is None else shown[place].copy()


def _is_written(node: exp.Expr) -> bool:
    return bool(node.meta.get("written"))


def _table(name: str, alias: str) -> exp.Table:
    return exp.Table(this=exp.to_identifier(name), alias=exp.TableAlias(this=exp.to_identifier(alias)))
