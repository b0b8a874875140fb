"""``evaluate retrieval``: how much of the evidence a search returns."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

import typer

from configs.settings import load_settings
from jobs.cli.evaluate_options import OutOption, make_folder, names_of, print_comparisons, report_of
from jobs.cli.options import ConfigOption, JsonOption
from jobs.cli.output import print_table
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
    report_of(found, document, write_report, print_report, out, as_json)


def print_report(report: Mapping[str, Any]) -> None:
    """A table a configuration, and one of the differences."""
    from jobs.evaluate.figures import rows_of, span
    from jobs.evaluate.recall import METRICS

    for name, figures in report["configurations"].items():
        rows = [
            [group, found["questions"], *(f"{found[metric]:.3f}" for metric in METRICS), span(found["interval"])]
            for group, found in rows_of(figures)
        ]
        print_table([name, "questions", *METRICS, "95% of recall@12"], rows)
        print()
    print_comparisons(report)
