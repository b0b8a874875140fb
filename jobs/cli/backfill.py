"""``backfill``: chat histories in, one published snapshot out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from configs.settings import load_settings
from jobs.cli.options import ConfigOption, JsonOption, StoreOption
from jobs.cli.output import counted, note, print_facts, print_json, rate, unread_note
from jobs.cli.progress import live_progress
from jobs.cli.reading import (
    ColumnsOption,
    FormatOption,
    OwnerOption,
    RayAddressOption,
    SourcesArgument,
    TimezoneOption,
    check_reading,
)
from operators.records import DEFAULT_TENANT

if TYPE_CHECKING:
    from jobs.backfill import BackfillReport

STRICT_EXIT = 3


def register(app: typer.Typer) -> None:
    """Add this family's commands."""
    app.command()(backfill)


def backfill(
    sources: SourcesArgument,
    store: StoreOption,
    tenant: Annotated[str, typer.Option("--tenant", metavar="T", help="Tenant the users belong to.")] = DEFAULT_TENANT,
    user: OwnerOption = None,
    timezone: TimezoneOption = None,
    columns: ColumnsOption = None,
    config: ConfigOption = None,
    source_format: FormatOption = "auto",
    strict: Annotated[
        bool, typer.Option("--strict", help=f"Exit with {STRICT_EXIT} if anything was quarantined (the rest is published).")
    ] = False,
    ray_address: RayAddressOption = None,
    as_json: JsonOption = False,
) -> None:
    """Read chat histories and publish the next version.

    The store is made if it is not there. Running it again adds only what is new; after a crash or an interruption, the
    same command takes up where it stopped. Readers see the old version until the new one is whole.

    Formats are told by content: our JSONL, Parquet, tables of messages (CSV, TSV ..), exports of ChatGPT and Claude, logs of
    OpenAI's and Anthropic's APIs, ShareGPT, LoCoMo, LongMemEval, Mem-Gallery; gz, zst and zip too. What cannot be read is
    quarantined with file, line and reason, and the rest goes in.

    \b
    Examples:
      mnemosaic backfill chats.jsonl --store ./memory
      mnemosaic backfill exports/ 'more/*.jsonl.gz' --store s3://team/memory --tenant acme
      mnemosaic backfill tickets.csv --map text=body,user=customer,time=sent --store ./memory
    """
    chosen = check_reading(source_format, timezone, columns)
    settings = load_settings(config)
    from jobs.backfill import BackfillRequest
    from jobs.backfill import backfill as run_backfill

    request = BackfillRequest(
        sources=tuple(sources),
        store=store,
        tenant=tenant,
        user=user,
        timezone=timezone if timezone is not None else settings.sources.timezone,
        format=source_format,
        ray_address=ray_address if ray_address is not None else settings.ray.address,
        columns=chosen,
    )
    with live_progress() as progress:
        report = run_backfill(request, settings, progress)
    if as_json:
        print_json({**asdict(report), "rounds_per_second": report.rounds_per_second})
    else:
        print_facts(summary(report))
    print_notes(report, store)
    if strict and report.quarantined:
        raise typer.Exit(STRICT_EXIT)


def summary(report: BackfillReport) -> list[tuple[str, str | int | float | None]]:
    """The closing lines: what the store holds now, what this run did, how fast it was."""
    published = "" if report.published else " (nothing new: no version was published)"
    changes = f"{report.added:,} added, {report.replaced:,} replaced, {report.unchanged:,} already there"
    return [
        ("version", f"{report.version}{published}"),
        ("users", report.users),
        ("sessions", report.sessions),
        ("rounds", f"{report.rounds:,} ({changes})"),
        ("units", report.units),
        ("texts", f"{report.encoded:,} encoded now, {report.found:,} found done"),
        ("pictures", f"{report.pictures:,} ({report.pictures_read:,} read now, {report.pictures_encoded:,} seen now)"),
        ("observations", report.observations),
        ("tables", report.tables),
        ("quarantined", report.quarantined),
        ("seconds", f"{report.seconds:.1f} ({report.startup_seconds:.1f} of them start-up)"),
        ("rounds/s", rate(report.rounds_per_second)),
    ]


def print_notes(report: BackfillReport, store: str) -> None:
    if report.quarantined:
        note(f"{report.quarantined:,} could not be read; see why: mnemosaic quarantine --store {store}")
    if report.replaced:
        note(f"{report.replaced:,} rounds had changed in the source and replace what was stored")
    if report.missing_pictures:
        note(f"{report.missing_pictures:,} pictures are not at hand; their rounds went in with reference and caption")
    if report.undecoded:
        note(
            f"{report.undecoded:,} pictures cannot be decoded and have no vector; they are found by caption and words alone"
        )
    if report.doubts:
        note(f"kept with a doubt: {counted(report.doubts)}")
    if report.unread_columns:
        note(unread_note(report.unread_columns))
    if report.superseded:
        note(f"{report.superseded:,} rounds stand in these sources in several versions; the last one was taken")
    for name in _some(report.identical_files):
        note(f"read once, a copy of another file: {name}")
    for name in _some(report.ignored_files):
        note(f"ignored, not a known format: {name}")


def _some(names: Sequence[str]) -> list[str]:
    """The first ten, and how many more there are."""
    more = len(names) - 10
    return [*names[:10], *([f"and {more:,} more"] if more > 0 else [])]
