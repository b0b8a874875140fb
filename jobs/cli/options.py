"""Options that several commands share, and how their values are read."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from operators.errors import ScopeError, UsageError

StoreOption = Annotated[str, typer.Option("--store", metavar="URI", help="The store: a folder or s3://bucket/prefix.")]


def _named(tenant: str) -> str:
    if not tenant.strip():
        raise ScopeError("a read needs a tenant: --tenant is blank")
    return tenant


TenantOption = Annotated[str, typer.Option("--tenant", metavar="T", callback=_named, help="Tenant that is read.")]
ConfigOption = Annotated[
    Path | None, typer.Option("--config", metavar="FILE", help="Settings (YAML) instead of the packaged defaults.")
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]
AsOfOption = Annotated[
    str | None,
    typer.Option(
        "--as-of",
        metavar="VERSION|TIME",
        help="Read an earlier snapshot: its version, or the newest one at a time (2026-05-01T12:00; UTC unless it says).",
    ),
]


def parse_as_of(text: str | None, option: str = "--as-of") -> int | datetime | None:
    """A version number, a time with zone (UTC where the text has none), or None for the newest; UsageError otherwise."""
    if text is None:
        return None
    if text.isascii() and text.isdigit():
        return int(text)
    return read_time(text, f"{option} {text!r} is neither a version (7) nor a time (2026-05-01, 2026-05-01T12:00+02:00)")


def read_time(text: str, otherwise: str) -> datetime:
    """A time with its zone, UTC where the text has none; UsageError, saying ``otherwise``, for what is none."""
    try:
        time = datetime.fromisoformat(text)
    except ValueError as error:
        raise UsageError(otherwise) from error
    return time if time.tzinfo else time.replace(tzinfo=UTC)
