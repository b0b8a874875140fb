"""``evaluate retrieval``: how much of the evidence a search returns."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from configs.settings import load_settings
from jobs.cli.evaluate_options import OutOption, make_folder, names_of
from jobs.cli.options import ConfigOption, JsonOption
from jobs.cli.output import counted, note, print_json, print_table
from jobs.cli.progress import live_progress
from jobs.evaluate.ablations import ABLATIONS, configurations


def retrieval(
    data: Annotated[str, typer.Argument(metavar="DATA", help="A benchmark's file, or a folder of such files.")],
    config: ConfigOption = None,
    ablation: Annotated[
        list[str] | None,
        typer.Option(
            "--ablation",
            metavar="NAME,..",
            help=f"Retrieval as it changes: {', '.join(ABLATIONS)}. May be repeated. [configured]",
        ),
    ] = None,
    out: OutOption = None,
    as_json: JsonOption = False,
) -> None:
    """How much of the evidence for a benchmark's questions a search returns.

    Reads LoCoMo, Mem-Gallery, MemEye and LongMemEval files, each a history of its own, backfills them into a temporary
    store and asks their questions. Recall is over the first 12 rounds, whatever is returned. Of several ablations the first
    is what the others are compared with; `configured` are the settings as they are.

    \b
    Examples:
      mnemosaic evaluate retrieval locomo10.json
      mnemosaic evaluate retrieval data/ --ablation configured,dense,bm25 --out report
    """
    settings = load_settings(config)
    names = names_of(ablation)
    configurations(settings.retrieval, names)
    if out is not None:
        make_folder(out)
    from jobs.evaluate.report import document, write_report
    from jobs.evaluate.run import evaluate_retrieval

    with live_progress() as progress:
        found = evaluate_retrieval(data, settings, names, progress)
    report = document(found)
    if out is not None:
        write_report(found, report, out)
    if as_json:
        print_json(report)
    else:
        print_report(report)
    print_notes(report, out)


def print_report(report: Mapping[str, Any]) -> None:
    """A table a configuration, and one of the differences."""
    from jobs.evaluate.figures import difference_rows, rows_of, span
    from jobs.evaluate.recall import METRICS

    for name, figures in report["configurations"].items():
        rows = [
            [group, found["questions"], *(f"{found[metric]:.3f}" for metric in METRICS), span(found["interval"])]
            for group, found in rows_of(figures)
        ]
        print_table([name, "questions", *METRICS, "95% of recall@12"], rows)
        print()
    if report["comparisons"]:
        rows = [row for one in report["comparisons"] for row in difference_rows(one)]
        print_table([f"against {report['configuration']}", "questions of", "metric", "difference", "95%", "p"], rows)


def print_notes(report: Mapping[str, Any], out: Path | None) -> None:
    """What was left out, and where the report lies."""
    if report["left_out"]:
        note(f"questions left out: {counted(report['left_out'])}")
    if report["unread"]:
        note(f"{report['unread']:,} parts of the files could not be read; `mnemosaic inspect` says why")
    if out is not None:
        note(f"the report is in {out}")
