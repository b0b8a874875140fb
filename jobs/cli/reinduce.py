"""``correct`` and ``reinduce``: what changes a store's tables."""

from __future__ import annotations

import getpass
from dataclasses import asdict
from typing import Annotated

import typer

from configs.settings import load_settings
from jobs.cli.options import ConfigOption, JsonOption, StoreOption, TenantOption
from jobs.cli.output import print_facts, print_json
from jobs.cli.progress import live_progress
from jobs.cli.reading import RayAddressOption
from jobs.cli.tables import TableArgument, UserOption, print_changes
from operators.errors import UsageError
from operators.records import DEFAULT_TENANT, require_scope


def register(app: typer.Typer) -> None:
    """Add this family's commands."""
    for command in (correct, reinduce):
        app.command()(command)


def correct(
    name: TableArgument,
    column: Annotated[str, typer.Argument(help="The column of the cell.")],
    round_id: Annotated[
        str, typer.Argument(metavar="ROUND", help="The round of the record, as `mnemosaic table` shows it.")
    ],
    store: StoreOption,
    value: Annotated[
        str | None, typer.Argument(help="What the cell holds; leave out with --empty.", show_default=False)
    ] = None,
    user: UserOption = None,
    tenant: TenantOption = DEFAULT_TENANT,
    record: Annotated[
        int, typer.Option("--record", min=0, max=2**31 - 1, metavar="N", help="Which of the round's records.")
    ] = 0,
    session: Annotated[str | None, typer.Option("--session", metavar="S", help="Where several have such a round.")] = None,
    by: Annotated[str | None, typer.Option("--by", metavar="WHO", help="Who says so. [default: your login]")] = None,
    empty: Annotated[bool, typer.Option("--empty", help="The cell holds nothing.")] = False,
    undo: Annotated[bool, typer.Option("--undo", help="Take back what was said: the cell holds what was observed.")] = False,
    config: ConfigOption = None,
    as_json: JsonOption = False,
) -> None:
    """Set a cell of a table right. It stays so, whatever is induced or extracted anew, and tells who said so and when.

    \b
    Examples:
      mnemosaic correct receipts total S3:1 "RM 25.40" --user mira --store ./memory
    """
    if empty + undo + (value is not None) != 1:
        raise UsageError("give the value that the cell holds, or --empty, or --undo")
    tenant, user = require_scope(tenant, user)
    from jobs.correct import CorrectRequest
    from jobs.correct import correct as run

    who = by if by is not None else getpass.getuser()
    request = CorrectRequest(store, tenant, user, name, column, round_id, value, who, record, session, undo)
    done = run(request, load_settings(config))
    if as_json:
        print_json(asdict(done))
        return
    print_facts([("version", done.version), ("before", done.before), ("now", done.value)])


def reinduce(
    store: StoreOption,
    users: Annotated[
        list[str] | None, typer.Option("--users", metavar="U", help="Only of this user; may be given several times.")
    ] = None,
    tenant: Annotated[
        str | None, typer.Option("--tenant", metavar="T", help="Only of this tenant. [all; default with --users]")
    ] = None,
    config: ConfigOption = None,
    ray_address: RayAddressOption = None,
    as_json: JsonOption = False,
) -> None:
    """Discover tables and let them grow by what is counted now; rewrite those that change, and publish.

    A backfill does so for the users it touches. This does it for all, after the settings changed, or on a schedule where
    induce.in_backfill is off or schemas are a tenant's. It may run beside a backfill.

    \b
    Examples:
      mnemosaic reinduce --store ./memory
      mnemosaic reinduce --store ./memory --users mira --users tomas
    """
    settings = load_settings(config)
    from jobs.reinduce import reinduce as run

    with live_progress() as progress:
        whose = DEFAULT_TENANT if users and tenant is None else tenant
        report = run(store, settings, progress, tenant=whose, users=users or None, ray_address=ray_address)
    if as_json:
        print_json(asdict(report))
        return
    published = "" if report.published else " (nothing new: no version was published)"
    print_facts(
        [
            ("version", f"{report.version}{published}"),
            ("buckets", report.buckets),
            ("tables changed", report.tables),
            ("seconds", f"{report.seconds:.1f}"),
        ]
    )
    if report.changes:
        print_changes(report.changes, False)
