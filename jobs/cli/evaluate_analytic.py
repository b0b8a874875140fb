"""``evaluate analytic``: how many exact questions are answered exactly."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from configs.settings import load_settings
from jobs.cli.evaluate_options import AskingOption, OutOption, make_folder, names_of, print_comparisons, report_of
from jobs.cli.options import ConfigOption, JsonOption, TenantOption
from jobs.cli.output import print_table
from jobs.cli.progress import live_progress
from jobs.evaluate.ablations import asking_configurations
from operators.records import DEFAULT_TENANT


def analytic(
    data: Annotated[
        Path,
        typer.Argument(
            metavar="DATA", help="A folder with histories.jsonl and questions.jsonl, or a folder of such folders."
        ),
    ],
    store: Annotated[
        str | None, typer.Option("--store", metavar="URI", help="A store that holds the histories. [a temporary one]")
    ] = None,
    tenant: TenantOption = DEFAULT_TENANT,
    fields: Annotated[
        bool,
        typer.Option(
            "--fields", help="Where there is a fields.jsonl, rounds tell their given fields in words, in place of pictures."
        ),
    ] = False,
    wordings: Annotated[
        Path | None,
        typer.Option(
            "--wordings",
            metavar="FILE",
            help="Ask the questions in other words too: lines of question_id and question.",
        ),
    ] = None,
    ablation: AskingOption = None,
    config: ConfigOption = None,
    out: OutOption = None,
    as_json: JsonOption = False,
) -> None:
    """How many questions with an exact answer are answered exactly, and whether citations hold.

    Backfills the histories into a temporary store and asks every question as at its own time. A number counts within the
    question's tolerance, in its unit or one that converts to it; dates and choices must be the same. Of several ablations
    the first is what the others are compared with; `configured` are the settings as they are.

    \b
    Examples:
      mnemosaic evaluate analytic wearables/
      mnemosaic evaluate analytic data/ --ablation configured,without-progressive --out report
    """
    settings = load_settings(config)
    names = names_of(ablation)
    asking_configurations(settings.asking, names)
    if out is not None:
        make_folder(out)
    from jobs.evaluate.analytic import AnalyticRequest, evaluate_analytic
    from jobs.evaluate.analytic_report import document, write_report

    request = AnalyticRequest(data, tuple(names), store, tenant, fields, wordings)
    with live_progress() as progress:
        found = evaluate_analytic(request, settings, progress)
    report_of(found, document, write_report, print_report, out, as_json)


def print_report(report: Mapping[str, Any]) -> None:
    """A table a configuration, one of the differences, and one of the questions that were not answered as expected."""
    from jobs.evaluate.analytic_report import HEADINGS, citations_told, figure_rows, miss_rows

    for name, figures in report["configurations"].items():
        shown = len(HEADINGS) if figures["wordings"] else 4
        print_table([name, *HEADINGS[1:shown]], [row[:shown] for row in figure_rows(figures)])
        print(f"{citations_told(figures['citations'])}\n")
    print_comparisons(report, "by_data")
    if report["comparisons"]:
        print()
    if report["misses"]:
        print_table(["not as expected", "operation", "asked", "expected", "answered"], list(miss_rows(report)))
