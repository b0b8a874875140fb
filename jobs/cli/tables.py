"""``attributes``, ``tables``, ``table``: what recurs in a user's rounds, as tables."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any

import typer

from configs.settings import load_settings
from jobs.cli.options import AsOfOption, ConfigOption, JsonOption, StoreOption, TenantOption, parse_as_of
from jobs.cli.output import note, one_line, print_json, print_table, printable
from operators.errors import UsageError
from operators.records import DEFAULT_TENANT, require_scope

if TYPE_CHECKING:
    from operators.memory import Memory
    from operators.tables.tools import Rows

_WIDTH = 48

UserOption = Annotated[str | None, typer.Option("--user", metavar="U", help="Whose tables. Required.")]
WhereOption = Annotated[
    list[str] | None,
    typer.Option("--where", metavar="COND", help="Only records for which this holds; may be given several times."),
]
TableArgument = Annotated[str, typer.Argument(metavar="NAME", help="The table, as `mnemosaic tables` calls it.")]


def register(app: typer.Typer) -> None:
    """Add this family's commands."""
    for command in (attributes, tables, table):
        app.command()(command)


def open_memory(store: str, tenant: str, user: str | None, as_of: str | None) -> tuple[Memory, str]:
    """One tenant's memory and whose of it is asked for; ScopeError without user."""
    tenant, user = require_scope(tenant, user)
    from operators.memory import open_store

    return open_store(store).memory(tenant, as_of=parse_as_of(as_of)), user


def attributes(
    store: StoreOption,
    user: UserOption = None,
    tenant: TenantOption = DEFAULT_TENANT,
    as_of: AsOfOption = None,
    config: ConfigOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show which names in a user's rounds are one attribute, and why.

    The settings join or part names that this gets wrong: induce.attributes, a name and the one it stands for.

    \b
    Examples:
      mnemosaic attributes --user mira --store ./memory
    """
    memory, user = open_memory(store, tenant, user, as_of)
    found = memory.attributes(user, load_settings(config).induce.values())
    if as_json:
        told = [{**asdict(each), "names": [list(name) for name in each.names]} for each in found]
        print_json({"attributes": told})
        return
    rows = [
        (each.label, each.kind, each.unit or "", ", ".join(dict.fromkeys(name.name for name in each.names)), each.why)
        for each in found
    ]
    print_table(("attribute", "kind", "unit", "names", "why"), rows)
    if not found:
        note(f"nothing observed of user '{user}' in tenant '{tenant}'")


def tables(
    store: StoreOption,
    user: UserOption = None,
    tenant: TenantOption = DEFAULT_TENANT,
    changes: Annotated[bool, typer.Option("--changes", help="How the tables came to be what they are, and why.")] = False,
    as_of: AsOfOption = None,
    as_json: JsonOption = False,
) -> None:
    """List a user's tables: what recurs in their rounds, record by record.

    \b
    Examples:
      mnemosaic tables --user mira --store ./memory
      mnemosaic tables --user mira --store ./memory --changes
    """
    memory, user = open_memory(store, tenant, user, as_of)
    if changes:
        print_changes(memory.schema_changes(user).to_dicts(), as_json)
        return
    found = memory.tables(user)
    if as_json:
        print_json({"tables": [asdict(each) for each in found]})
        return
    for each in found:
        print(f"{printable(each.name)}: {printable(each.description)}")
        rows = [
            (column.name, column.kind, column.unit or "", one_line("; ".join(each.samples[column.name]), _WIDTH))
            for column in each.columns
        ]
        print_table(("  column", "kind", "unit", "for example"), [(f"  {row[0]}", *row[1:]) for row in rows])
        print()
    if not found:
        note(f"no tables of user '{user}' in tenant '{tenant}': too little recurs in their rounds, or they have none")


def print_changes(changes: Sequence[Mapping[str, Any]], as_json: bool) -> None:
    """Print rows of ``records.SCHEMA_CHANGES``."""
    if as_json:
        print_json({"changes": list(changes)})
        return
    headings = ("change", "table", "columns", "support", "all-conf", "ext-conf", "why")
    print_table(headings, [_change(each) for each in changes])


def _change(row: Mapping[str, Any]) -> list[str | int | float | None]:
    columns = ", ".join(f"+{name}" for name in row["added"]) if row["change"] == "evolved" else ", ".join(row["added"])
    figures = [None if row[name] is None else f"{row[name]:.2f}" for name in ("all_confidence", "ext_confidence")]
    return [row["change"], row["table"], columns, row["support"], *figures, row["why"]]


def table(
    name: TableArgument,
    store: StoreOption,
    user: UserOption = None,
    tenant: TenantOption = DEFAULT_TENANT,
    where: WhereOption = None,
    columns: Annotated[
        list[str] | None, typer.Option("--column", metavar="C", help="Only this column; may be given several times.")
    ] = None,
    limit: Annotated[int | None, typer.Option("--limit", min=1, metavar="N", help="At most so many records.")] = None,
    as_csv: Annotated[bool, typer.Option("--csv", help="Print CSV: values, texts as written, currencies.")] = False,
    as_parquet: Annotated[bool, typer.Option("--parquet", help="Write Parquet to stdout: everything.")] = False,
    as_of: AsOfOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show the records of one of a user's tables, each with the round it is from.

    \b
    Examples:
      mnemosaic table activity --user mira --store ./memory
      mnemosaic table receipts --user mira --store ./memory --where "total > 20" --csv > receipts.csv
    """
    if as_csv + as_parquet + as_json > 1:
        raise UsageError("--csv, --parquet and --json exclude each other")
    if as_parquet and sys.stdout.isatty():
        raise UsageError("Parquet is not for a terminal: send it to a file (> table.parquet)")
    memory, user = open_memory(store, tenant, user, as_of)
    call = {"tool": "filter", "table": name, "where": where or [], "columns": columns or None, "limit": limit}
    found = rows_of(memory, user, call)
    if as_csv:
        text = found.rows.drop([each for each in found.rows.columns if each.endswith(".at")]).write_csv()
        sys.stdout.write(printable(text) if sys.stdout.isatty() else text)
    elif as_parquet:
        found.rows.write_parquet(sys.stdout.buffer)
    else:
        print_rows(found, as_json)


def rows_of(memory: Memory, user: str, call: dict[str, Any]) -> Rows:
    """The records that a call of a tool finds."""
    from operators.tables.tools import Rows, read_call

    found = memory.run(user, read_call(call))
    assert isinstance(found, Rows)
    return found


def print_rows(found: Rows, as_json: bool) -> None:
    """Print records, each with its day and round."""
    if as_json:
        print_json({"table": found.table, "total": found.total, "rows": [_document(row) for row in found.rows.to_dicts()]})
        return
    rows = found.rows.to_dicts()
    headings = ("day", "round", "record", *found.columns)
    shown = [
        (text_of(row["day"]), row["round_id"], str(row["record"]), *(_cell(row, column) for column in found.columns))
        for row in rows
    ]
    print_table(headings, shown)
    if not rows:
        note("no records")
    elif len(rows) < found.total:
        note(f"{len(rows):,} of {found.total:,} records")


def _document(row: dict[str, Any]) -> dict[str, Any]:
    """A record as JSON: pointers as objects."""
    return {name: json.loads(value) if value and name.endswith(".at") else value for name, value in row.items()}


def _cell(row: dict[str, Any], column: str) -> str | None:
    raw = row.get(f"{column}.raw", row.get(column))
    return None if raw is None else one_line(text_of(raw) or "", _WIDTH)


def text_of(value: Any) -> str | None:
    """A value as it is shown; None for nothing."""
    if isinstance(value, datetime):
        return value.strftime("%Y-%m-%d %H:%M")
    return None if value is None else str(value)
