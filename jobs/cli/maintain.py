"""``gc``: remove what no kept snapshot names."""

from __future__ import annotations

from dataclasses import asdict
from datetime import timedelta
from typing import Annotated

import typer

from configs.settings import load_settings
from jobs.cli.options import ConfigOption, JsonOption, StoreOption
from jobs.cli.output import print_facts, print_json


def register(app: typer.Typer) -> None:
    """Add this family's commands."""
    app.command()(gc)


def gc(
    store: StoreOption,
    keep: Annotated[
        int | None, typer.Option("--keep", min=1, metavar="N", help="Newest versions to keep. [settings: 10]")
    ] = None,
    grace_hours: Annotated[
        float | None,
        typer.Option("--grace-hours", min=0, max=1_000_000, metavar="H", help="Spare younger files. [settings: 24]"),
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Count, remove nothing.")] = False,
    config: ConfigOption = None,
    as_json: JsonOption = False,
) -> None:
    """Remove old versions and the files only they name.

    Files younger than the grace period stay, so that a backfill in flight loses nothing, and so does a version for that long
    after another took its place, for those who read it. Make the period longer than your longest backfill.

    \b
    Examples:
      mnemosaic gc --store ./memory --dry-run
      mnemosaic gc --store ./memory --keep 3
    """
    from operators.store.commit import load_spec
    from operators.store.opening import open_objects
    from operators.store.retain import collect_garbage, store_time

    objects = open_objects(store)
    load_spec(objects)
    retain = load_settings(config).retain
    report = collect_garbage(
        objects,
        keep=retain.keep if keep is None else keep,
        grace=timedelta(hours=retain.grace_hours if grace_hours is None else grace_hours),
        now=store_time(objects),
        dry_run=dry_run,
    )
    facts = {**asdict(report), "dry_run": dry_run}
    if as_json:
        print_json(facts)
    else:
        print_facts([(name, _plain(value)) for name, value in facts.items()])


def _plain(value: object) -> str | int | float | None:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, str | int | float) or value is None:
        return value
    if isinstance(value, list | tuple):
        return ", ".join(str(item) for item in value) or "-"
    return str(value)
