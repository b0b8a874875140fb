"""What the names in a statement of SQL mean: tables, their columns, and what subqueries give."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from sqlglot import exp

from operators.errors import ColumnNotFound, QueryError
from operators.records import ORDER, RECORD, ROUND, SESSION, TIME
from operators.tables.columns import CURRENCY, DAY, RAW, Column, Table, loosely, names_of, resolve

ROW = "r"
"""The column of each table in the engine that numbers the rows of its frame."""

COLUMN, AMOUNT = "column", "amount"
"""Under which a node tells the column that it has kind and unit of, and an amount the node of its currency."""

_SHORT = {"session": SESSION, "round": ROUND}
_SHOWN_NAME = 60


@dataclass(frozen=True)
class Held:
    """A column of the engine's copy of a table: a column's values, its texts as written (``.raw``) or its currencies."""

    column: Column
    beside: str = ""

    @property
    def shown(self) -> Column:
        """The column with the kind and unit of what is held."""
        return Column(self.column.name + self.beside, "text") if self.beside else self.column


@dataclass
class Read:
    """A table that a statement reads, its name in the engine, and which of it: ``columns`` by their names there."""

    called: str
    table: Table
    name: str
    columns: dict[str, Held] = field(default_factory=dict)

    def take(self, held: Held) -> str:
        """The name in the engine of a column of the table."""
        for name, known in self.columns.items():
            if known == held:
                return name
        self.columns[f"c{len(self.columns)}"] = held
        return f"c{len(self.columns) - 1}"


@dataclass(frozen=True)
class Out:
    """What a select gives in one column: its name, and the column whose kind and unit it has, where one is known."""

    name: str
    column: Column | None


@dataclass(frozen=True)
class Source:
    """What stands in a FROM: a table that is read (``read``), or what another select gives (``outs``).

    ``rows``: the names in the engine of the columns that tell which records its rows are made of, with their tables.
    """

    name: str
    physical: str
    read: Read | None
    outs: Sequence[Out]
    rows: Sequence[tuple[str, Read]]

    def column(self, name: str) -> exp.Column | None:
        """The node of the column called so; None where there is none. ColumnNotFound where several are meant."""
        if self.read is None:
            return self._out(name)
        held = _held(self.read.table, name)
        return None if held is None else self.node(held)

    def node(self, held: Held) -> exp.Column:
        """The node of a column of the table."""
        assert self.read is not None
        found = exp.column(self.read.take(held), table=self.physical)
        found.meta[COLUMN] = held.shown
        if held.column.kind == "money" and not held.beside:
            found.meta[AMOUNT] = exp.column(self.read.take(Held(held.column, CURRENCY)), table=self.physical)
        return found

    def out(self, at: int) -> exp.Column:
        """The node of what a select gives in its column ``at``."""
        found = exp.column(f"o{at}", table=self.physical)
        found.meta[COLUMN] = self.outs[at].column
        return found

    def all(self) -> list[tuple[str, exp.Column]]:
        """Names and nodes of what ``*`` stands for: of a table its day and columns, with the currencies of money."""
        if self.read is None:
            return [(out.name, self.out(at)) for at, out in enumerate(self.outs)]
        held = [_held(self.read.table, DAY)]
        for column in self.read.table.meta.columns:
            held += [Held(column)] + ([Held(column, CURRENCY)] if column.kind == "money" else [])
        return [(_sql_name(each), self.node(each)) for each in held if each is not None]

    def _out(self, name: str) -> exp.Column | None:
        for told in (str, loosely):
            found = [at for at, out in enumerate(self.outs) if told(out.name) == told(name)]
            if len(found) == 1:
                return self.out(found[0])
            if found:
                raise ColumnNotFound(f"{name[:_SHOWN_NAME]!r} may be several columns of {self.name[:_SHOWN_NAME]!r}")
        return None

    def missing(self, name: str) -> ColumnNotFound:
        """The error that there is no column of this name."""
        if self.read is not None:
            try:
                resolve(self.read.table.meta, name)
            except ColumnNotFound as error:
                return error
        have = names_of(Column(out.name, "text") for out in self.outs)
        return ColumnNotFound(f"{self.name[:_SHOWN_NAME]!r} has no column {name[:_SHOWN_NAME]!r}; columns: {have}")


def _sql_name(held: Held) -> str:
    return held.column.name + held.beside.replace(".unit", "_currency")


def _held(table: Table, name: str) -> Held | None:
    """The column of a table that a name means: see ``resolve``; ``<col>_raw`` its texts, ``<col>_currency`` currencies."""
    for asked in dict.fromkeys((name, _SHORT.get(name.casefold(), name))):
        try:
            return _of(table, resolve(table.meta, asked))
        except ColumnNotFound as error:
            if "may be any of" in str(error):
                raise
    for ends, beside in ((("_currency", "_unit"), CURRENCY), (("_raw", RAW), RAW)):
        stem = next((name[: -len(end)] for end in ends if name.casefold().endswith(end)), None)
        held = None if stem is None else _held(table, stem)
        if held is None or held.beside or held.column.name in (ORDER, TIME, DAY, SESSION, ROUND, RECORD):
            continue
        if beside == RAW or held.column.kind == "money":
            return Held(held.column, beside)
    return None


def _of(table: Table, column: Column) -> Held:
    if not column.name.endswith(CURRENCY):
        return Held(column)
    money = column.name.removesuffix(CURRENCY)
    return Held(next(each for each in table.meta.columns if each.name == money), CURRENCY)


@dataclass
class Scope:
    """The names that may stand in one select; ``outer``: those of the select around it. ``aliases``: what its columns are
    called. ``correlated``: whether it names what stands in one around it."""

    sources: Sequence[Source]
    outer: Scope | None = None
    aliases: Mapping[str, exp.Expr] = field(default_factory=dict)
    correlated: bool = False

    def column(self, name: str, source: str) -> exp.Expr:
        """What a name means. ColumnNotFound, naming what there is; QueryError where the source is none."""
        found = self._find(name, source)
        if found is not None:
            return found
        if not source:
            at = next((each for each in self.sources if each.read is not None), None) or next(iter(self.sources), None)
            raise ColumnNotFound("there is no table to have columns") if at is None else at.missing(name)
        named = self._named(source)
        if named is not None:
            raise named.missing(name)
        have = ", ".join(repr(each.name[:_SHOWN_NAME]) for each in self.sources)
        raise QueryError(f"no table of this select is called {source[:_SHOWN_NAME]!r}; there are: {have or 'none'}")

    def _find(self, name: str, source: str, aliases: bool = True) -> exp.Expr | None:
        here = [each for each in self.sources if not source or loosely(each.name) == loosely(source)]
        found = [node for node in (each.column(name) for each in here) if node is not None]
        if len(found) > 1:
            several = ", ".join(repr(each.name[:_SHOWN_NAME]) for each in here if each.column(name) is not None)
            raise ColumnNotFound(f"{name[:_SHOWN_NAME]!r} may be a column of any of {several}: write <table>.<column>")
        if found:
            return found[0]
        if aliases and not source and name.casefold() in self.aliases:
            return self.aliases[name.casefold()].copy()
        outside = None if self.outer is None else self.outer._find(name, source, aliases=False)
        self.correlated |= outside is not None
        return outside

    def _named(self, source: str) -> Source | None:
        here = next((each for each in self.sources if loosely(each.name) == loosely(source)), None)
        return here if here is not None or self.outer is None else self.outer._named(source)
