"""How sources are read: the options that ``backfill``, ``inspect`` and ``quarantine --retry`` share, and their check."""

from __future__ import annotations

from typing import Annotated

import typer

from configs.settings import is_timezone
from operators.errors import UsageError
from operators.sources.columns import asked_columns
from operators.sources.read import FORMAT_NAMES

FORMATS = ("auto", *FORMAT_NAMES)

SourcesArgument = Annotated[list[str], typer.Argument(metavar="SOURCE", help="Files, folders, globs or s3:// addresses.")]
OwnerOption = Annotated[
    str | None,
    typer.Option("--user", metavar="U", help="User of sources that name none (else the file's name without ending)."),
]
TimezoneOption = Annotated[
    str | None,
    typer.Option("--timezone", metavar="Z", help="Clock of times without offset, e.g. Europe/Lisbon. [settings: UTC]"),
]
ColumnsOption = Annotated[
    str | None,
    typer.Option(
        "--map",
        metavar="KEY=COLUMN,..",
        help="Which column of a table is which, e.g. text=body,time=created_at. [columns of common names]",
    ),
]
FormatOption = Annotated[
    str, typer.Option("--format", metavar="NAME", help=f"One of {', '.join(FORMATS)}; auto looks at the content.")
]
RayAddressOption = Annotated[
    str | None, typer.Option("--ray-address", metavar="A", help="Run on this Ray cluster. [settings: a local one]")
]


def check_reading(source_format: str, timezone: str | None, columns: str | None) -> dict[str, str] | None:
    """The columns asked for; UsageError where one of the three cannot be what it is."""
    if source_format not in FORMATS:
        raise UsageError(f"--format {source_format!r} is not known; one of {', '.join(FORMATS)}")
    if timezone is not None and not is_timezone(timezone):
        raise UsageError(f"--timezone {timezone!r} is not known; give an IANA name such as Europe/Lisbon")
    return None if columns is None else asked_columns(columns)
