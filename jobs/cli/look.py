"""``inspect``: what a backfill would read, before it does."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import typer

from configs.settings import load_settings
from jobs.cli.options import ConfigOption, JsonOption
from jobs.cli.output import counted, note, print_facts, print_json, print_table, printable, unread_note
from jobs.cli.progress import live_progress
from jobs.cli.reading import ColumnsOption, FormatOption, OwnerOption, SourcesArgument, TimezoneOption, check_reading
from operators.records import isoformat

if TYPE_CHECKING:
    from jobs.look import FileFound, Found

_SHOWN = 200


def register(app: typer.Typer) -> None:
    """Add this family's commands."""
    app.command()(inspect)


def inspect(
    sources: SourcesArgument,
    user: OwnerOption = None,
    timezone: TimezoneOption = None,
    columns: ColumnsOption = None,
    config: ConfigOption = None,
    source_format: FormatOption = "auto",
    as_json: JsonOption = False,
) -> None:
    """Say what a backfill would read, and write nothing.

    For each file: its format, users, sessions, rounds, first and last time, what would be quarantined, and doubts: rounds
    without a time (no-time) or whose time has no offset (no-offset), pictures that are not at hand (missing-picture),
    parts of messages that are not kept (unknown-part), times that are not understood (bad-time).

    \b
    Examples:
      mnemosaic inspect exports/
      mnemosaic inspect chat.csv --map text=body,time=sent
    """
    mapped = check_reading(source_format, timezone, columns)
    settings = load_settings(config)
    from jobs.look import Values, look, total
    from jobs.sources import sources_of
    from operators.sources.media import PictureLimits

    values = Values(
        format=source_format,
        user=user,
        timezone=timezone if timezone is not None else settings.sources.timezone,
        columns=mapped,
        max_line_bytes=settings.sources.max_line_bytes,
        limits=PictureLimits(settings.pictures.max_bytes, settings.pictures.max_pixels),
        split_bytes=settings.sources.split_bytes,
    )
    with live_progress() as progress:
        looked = look(sources_of(sources), values, progress)
    everything = total(looked)
    if as_json:
        print_json({"files": [_file_json(file) for file in looked], **_json(everything)})
        return
    _print_files(looked)
    print()
    print_facts(_facts(everything))


def _print_files(looked: Sequence[FileFound]) -> None:
    rows = [
        [
            printable(file.uri),
            file.format or file.verdict,
            str(len(file.found.users)),
            str(file.found.sessions),
            str(file.found.rounds),
            _day(file.found.first_time),
            _day(file.found.last_time),
            counted(file.found.quarantined),
            counted(file.found.doubts),
        ]
        for file in looked[:_SHOWN]
    ]
    headings = ("file", "format", "users", "sessions", "rounds", "first", "last", "quarantined", "doubts")
    print_table(headings, rows)
    for file in looked[:_SHOWN]:
        if file.reason:
            note(f"{file.verdict}: {printable(file.uri)}: {file.reason}")
    if unread := sorted({name for file in looked for name in file.unread}):
        note(unread_note(unread))
    if len(looked) > _SHOWN:
        note(f"and {len(looked) - _SHOWN:,} files more, which --json names")


def _facts(found: Found) -> list[tuple[str, str | int | float | None]]:
    return [
        ("users", len(found.users)),
        ("sessions", found.sessions),
        ("rounds", found.rounds),
        ("pictures", found.pictures),
        ("first (UTC)", isoformat(found.first_time)),
        ("last (UTC)", isoformat(found.last_time)),
        ("quarantined", counted(found.quarantined)),
        ("doubts", counted(found.doubts)),
    ]


def _json(found: Found) -> dict[str, Any]:
    return {
        "users": len(found.users),
        "sessions": found.sessions,
        "rounds": found.rounds,
        "pictures": found.pictures,
        "first_time": isoformat(found.first_time),
        "last_time": isoformat(found.last_time),
        "quarantined": dict(sorted(found.quarantined.items())),
        "doubts": dict(sorted(found.doubts.items())),
    }


def _file_json(file: FileFound) -> dict[str, Any]:
    return {
        "file": file.uri,
        "format": file.format,
        "verdict": file.verdict,
        "reason": file.reason,
        "unread_columns": list(file.unread),
        **_json(file.found),
    }


def _day(time: Any) -> str:
    return "" if time is None else time.date().isoformat()
