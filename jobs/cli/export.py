"""``export``: everything a user has, to take along or to build again."""

from __future__ import annotations

import sys
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from jobs.cli.options import AsOfOption, JsonOption, StoreOption, TenantOption, parse_as_of
from jobs.cli.output import note, print_facts, print_json, takes_unicode
from operators.errors import UsageError
from operators.records import DEFAULT_TENANT, require_scope


def register(app: typer.Typer) -> None:
    """Add this family's commands."""
    app.command()(export)


def export(
    store: StoreOption,
    user: Annotated[str | None, typer.Option("--user", metavar="U", help="Whose history is written. Required.")] = None,
    tenant: TenantOption = DEFAULT_TENANT,
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="DIR", help="Write history.jsonl and media/ here. [lines alone, to stdout]"),
    ] = None,
    as_of: AsOfOption = None,
    as_json: JsonOption = False,
) -> None:
    """Write everything a user has as JSON lines that backfill to the same content_digest.

    With --out, pictures are files beside the lines; without it, they stand in the lines as data: URLs.

    \b
    Examples:
      mnemosaic export --user mira --store ./memory --out ./mira
      mnemosaic export --user mira --store ./memory > mira.jsonl
    """
    tenant, user = require_scope(tenant, user)
    from jobs.export import export_to_folder, export_to_stream
    from operators.memory import open_store

    if as_json and out is None:
        raise UsageError("--json tells what was written, and stdout holds the lines: give --out too")
    memory = open_store(store).memory(tenant, as_of=parse_as_of(as_of))
    if out is None:
        exported = export_to_stream(memory, user, sys.stdout, in_ascii=not takes_unicode(sys.stdout))
    else:
        exported = export_to_folder(memory, user, out)
    if as_json:
        print_json(asdict(exported))
    elif out is not None:
        print_facts(list(asdict(exported).items()))
    if exported.rounds == 0:
        note(f"no rounds of user '{user}' in tenant '{tenant}'")
