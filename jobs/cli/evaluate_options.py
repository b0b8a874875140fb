"""What the commands of ``evaluate`` share: where reports go, which configurations are compared."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from jobs.evaluate.ablations import ASKING
from operators.errors import UsageError

OutOption = Annotated[
    Path | None, typer.Option("--out", metavar="DIR", help="Write the report and what came of each question here.")
]
AskingOption = Annotated[
    list[str] | None,
    typer.Option(
        "--ablation", metavar="NAME,..", help=f"Asking as it changes: {', '.join(ASKING)}. May be repeated. [configured]"
    ),
]


def names_of(given: list[str] | None) -> list[str]:
    """The names in an option that takes several and may be repeated."""
    return [name.strip() for each in given or [] for name in each.split(",")]


def make_folder(out: Path) -> None:
    """Before any work is done, so that none is lost. UsageError where the report could not be written there."""
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"--out {out} is no folder that can be made: {error.strerror}") from error
    if not os.access(out, os.W_OK | os.X_OK):
        raise UsageError(f"--out {out} cannot be written to")
