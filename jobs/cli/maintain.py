"""``verify`` and ``gc``: is the store whole, and away with what no kept snapshot names."""

from __future__ import annotations

from dataclasses import asdict
from datetime import timedelta
from typing import TYPE_CHECKING, Annotated

import typer

from configs.settings import load_settings
from jobs.cli.options import AsOfOption, ConfigOption, JsonOption, StoreOption, parse_as_of
from jobs.cli.output import note, print_facts, print_json
from jobs.cli.progress import live_progress
from operators.errors import UsageError

if TYPE_CHECKING:
    from operators.store.verify import Finding, VerifyReport


def register(app: typer.Typer) -> None:
    """Add this family's commands."""
    app.command()(verify)
    app.command()(gc)


def verify(
    store: StoreOption,
    as_of: AsOfOption = None,
    every: Annotated[bool, typer.Option("--all", help="Every version that is kept.")] = False,
    threads: Annotated[int, typer.Option("--threads", min=1, max=64, metavar="N", help="Files read at a time.")] = 4,
    as_json: JsonOption = False,
) -> None:
    """Re-hash every file of a version and follow every reference.

    Checked: size, sha256 and rows of each file, that each picture is there and is what its name says, that users, counts,
    digests and vectors are what the rounds and units make. Exit code 1 where something is damaged.

    \b
    Examples:
      mnemosaic verify --store ./memory
      mnemosaic verify --store s3://team/memory --all --json
    """
    from jobs.verify import verify_versions
    from operators.store.commit import latest_version, pin, versions
    from operators.store.opening import open_objects

    if every and as_of is not None:
        raise UsageError("--all looks at every version: leave --as-of out")
    objects = open_objects(store)
    kept = versions(objects) if every else []
    wanted = kept or [latest_version(objects) if as_of is None else pin(objects, parse_as_of(as_of)).version]
    with live_progress() as progress:
        reports = verify_versions(objects, wanted, threads=threads, progress=progress)
    findings = _distinct(reports)
    if as_json:
        print_json({"whole": not findings, "versions": [asdict(report) for report in reports]})
    else:
        _print_reports(reports)
    if findings:
        note(
            "damaged: read a version that is whole (--all finds them, --as-of reads them), build the store again from its "
            "sources, or restore these objects from a copy; `mnemosaic export` takes out what is whole"
        )
        raise typer.Exit(1)


def _distinct(reports: list[VerifyReport]) -> list[Finding]:
    """Findings in order, once each, in however many versions they are."""
    return list(dict.fromkeys(finding for report in reports for finding in report.findings))


def _print_reports(reports: list[VerifyReport]) -> None:
    findings = _distinct(reports)
    for finding in findings:
        print(f"{finding.key}: {finding.code}: expected {finding.expected}, found {finding.found}")
    print_facts(
        [
            ("versions", ", ".join(str(report.version) for report in reports)),
            ("whole", ", ".join(str(report.version) for report in reports if not report.findings) or "-"),
            ("files", sum(report.files for report in reports)),
            ("bytes", sum(report.bytes for report in reports)),
            ("pictures", sum(report.pictures for report in reports)),
            ("damaged", len(findings)),
        ]
    )


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
