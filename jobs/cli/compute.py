"""``compute`` and ``rank``: answers over all of a user's records."""

from __future__ import annotations

from dataclasses import asdict
from datetime import date
from typing import TYPE_CHECKING, Annotated, Any

import typer

from jobs.cli.options import AsOfOption, JsonOption, StoreOption, TenantOption
from jobs.cli.output import note, print_facts, print_json, printable, told_duration
from jobs.cli.plot import print_bars
from jobs.cli.tables import TableArgument, UserOption, WhereOption, open_memory, print_rows, rows_of, text_of
from operators.errors import UsageError
from operators.records import DEFAULT_TENANT

if TYPE_CHECKING:
    from operators.tables.compute import Compared, Computed


def register(app: typer.Typer) -> None:
    """Add this family's commands."""
    for command in (compute, rank):
        app.command()(command)


def rank(
    name: TableArgument,
    column: Annotated[str, typer.Argument(help="What records are ranked by.")],
    store: StoreOption,
    user: UserOption = None,
    tenant: TenantOption = DEFAULT_TENANT,
    where: WhereOption = None,
    top: Annotated[int, typer.Option("--top", min=1, metavar="N", help="So many records.")] = 1,
    least: Annotated[bool, typer.Option("--least", help="The least first instead of the greatest.")] = False,
    as_of: AsOfOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show the records with the greatest, or least, values of a column.

    \b
    Examples:
      mnemosaic rank activity steps --top 3 --user mira --store ./memory
    """
    memory, user = open_memory(store, tenant, user, as_of)
    call = {"tool": "rank", "table": name, "column": column, "n": top, "descending": not least, "where": where or []}
    print_rows(rows_of(memory, user, call), as_json)


def compute(
    name: TableArgument,
    operation: Annotated[
        str,
        typer.Argument(help="count, sum, avg, min, max, median, std, first, last, distinct or trend."),
    ],
    store: StoreOption,
    column: Annotated[str | None, typer.Argument(help="Of which column; count needs none.", show_default=False)] = None,
    user: UserOption = None,
    tenant: TenantOption = DEFAULT_TENANT,
    where: WhereOption = None,
    by: Annotated[
        str | None, typer.Option("--by", metavar="G", help="For each day, week, month, year, or value of a column.")
    ] = None,
    unit: Annotated[str | None, typer.Option("--unit", metavar="U", help="Unit of the result: h, km, lb ..")] = None,
    against: Annotated[
        list[str] | None,
        typer.Option("--against", metavar="COND", help="Compare the records of --where with those of this."),
    ] = None,
    as_of: AsOfOption = None,
    as_json: JsonOption = False,
) -> None:
    """Reckon with all of a user's records, not with a few that were found.

    \b
    Examples:
      mnemosaic compute activity avg sleep --user mira --store ./memory --unit h
      mnemosaic compute activity avg sleep --user mira --store ./memory --where "time >= 2016-04-20" --by week
      mnemosaic compute receipts sum total --user mira --store ./memory --where "merchant = 'Blue Bottle'"
      mnemosaic compute activity avg steps --user mira --store ./memory --where "time < 2016-05" --against "time >= 2016-05"
    """
    memory, user = open_memory(store, tenant, user, as_of)
    from operators.tables.compute import Compared
    from operators.tables.tools import Rows, read_call

    call: dict[str, Any] = {"tool": "compute", "table": name, "operation": operation, "column": column, "unit": unit}
    if against:
        if not where:
            raise UsageError("--against compares with the records of --where: give both")
        call |= {"compare": {"first": where, "second": against}, "by": by}
    else:
        call |= {"where": where or [], "by": by}
    found = memory.run(user, read_call(call))
    assert not isinstance(found, Rows)
    if as_json:
        print_json(_computed(found) if not isinstance(found, Compared) else _compared(found))
    elif isinstance(found, Compared):
        _print_compared(found)
    else:
        _print_computed(found)


def _computed(found: Computed) -> dict[str, Any]:
    provenance = [name for name in ("order", "session_id", "round_id", "record") if name in found.matched.columns]
    return {
        "operation": found.operation,
        "column": found.column,
        "value": found.value,
        "unit": found.unit,
        "n": found.n,
        "empty": found.empty,
        "groups": [asdict(group) for group in found.groups],
        "records": found.matched.select(provenance).to_dicts(),
    }


def _compared(found: Compared) -> dict[str, Any]:
    return {
        "first": _computed(found.first),
        "second": _computed(found.second),
        "difference": found.difference,
        "ratio": found.ratio,
    }


def _print_computed(found: Computed) -> None:
    if found.groups:
        missing = "no day" if found.by in ("day", "week", "month", "year") else "none"
        numbers = [
            (missing if group.key is None else text_of(group.key) or "", group.value, group.unit, group.n)
            for group in found.groups
        ]
        print_bars([(key, value, shown(value, unit), n) for key, value, unit, n in numbers], found.by or "")
    elif found.empty:
        print("no records" if found.value is None else f"{found.value} (no records)")
    else:
        print(shown(found.value, found.unit) or "not defined")
    note(f"{found.operation} of {found.n:,} value{'' if found.n == 1 else 's'}")


def _print_compared(found: Compared) -> None:
    facts = [(side, _of(each)) for side, each in (("first", found.first), ("second", found.second))]
    difference = None if found.difference is None else shown(found.difference, found.first.unit)
    ratio = None if found.ratio is None else f"{found.ratio:.4g}"
    print_facts([*facts, ("difference", difference), ("ratio", ratio)])


def _of(found: Computed) -> str:
    return "no records" if found.empty else f"{shown(found.value, found.unit)} (of {found.n:,})"


def shown(value: Any, unit: str | None) -> str:
    """A result for people: ``6 h 24 min (23,040 s)``, ``5,200 m``, ``2024-05-08``."""
    if value is None or isinstance(value, str | bool | date):
        return printable(text_of(value) or "")
    text = f"{value:,.10g}" if value == round(value) else f"{value:,.2f}" if abs(value) >= 1 else f"{value:.4g}"
    told = f"{text}{unit if unit and unit.startswith('/') else f' {unit or str()}'}".strip()
    return f"{told_duration(value)} ({told})" if unit == "s" else told
