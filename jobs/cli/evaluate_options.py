"""What the commands of ``evaluate`` share: where reports go, which configurations are compared."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any, TypeVar

import typer

from jobs.cli.output import counted, note, print_json, print_table
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


Found = TypeVar("Found")


def report_of(
    found: Found,
    document: Callable[[Found], dict[str, Any]],
    write: Callable[[Found, dict[str, Any], Path], None],
    show: Callable[[Mapping[str, Any]], None],
    out: Path | None,
    as_json: bool,
) -> None:
    """What an evaluation found, as its report: written to ``out``, shown or printed as JSON, then notes on it."""
    report = document(found)
    if out is not None:
        write(found, report, out)
    if as_json:
        print_json(report)
    else:
        show(report)
    if report.get("left_out"):
        note(f"questions left out: {counted(report['left_out'])}")
    if report.get("unjudged"):
        note(f"answers that the judge gave no score: {counted(report['unjudged'])}")
    if report["unread"]:
        note(f"{report['unread']:,} parts of the files could not be read; `mnemosaic inspect` says why")
    if out is not None:
        note(f"the report is in {out}")


def print_comparisons(report: Mapping[str, Any], wholes: str = "by_benchmark") -> None:
    """A table of the differences from the first configuration, where there are others."""
    from jobs.evaluate.figures import difference_rows

    if report["comparisons"]:
        rows = [row for one in report["comparisons"] for row in difference_rows(one, wholes)]
        print_table([f"against {report['configuration']}", "questions of", "metric", "difference", "95%", "p"], rows)
