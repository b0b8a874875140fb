"""``evaluate qa``: how good answers to benchmark questions are, by their words and by a judge."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from configs.settings import Settings, load_settings
from jobs.cli.evaluate_options import AskingOption, OutOption, make_folder, names_of, print_comparisons, report_of
from jobs.cli.options import ConfigOption, JsonOption
from jobs.cli.output import print_table
from jobs.cli.progress import live_progress
from jobs.evaluate.ablations import asking_configurations
from operators.errors import UsageError

if TYPE_CHECKING:
    from jobs.evaluate.rubric import Judge


def qa(
    data: Annotated[str, typer.Argument(metavar="DATA", help="A benchmark's file, or a folder of such files.")],
    judge: Annotated[
        Path | None,
        typer.Option(
            "--judge",
            metavar="FILE",
            help="The benchmark's rubric, with {question}, {answer} and {reference} where they are to stand; judge_model of "
            "the settings judges by it. [no judge]",
        ),
    ] = None,
    levels: Annotated[
        str | None,
        typer.Option(
            "--levels", metavar="N,..", help="Scores that the judge's are rounded to, e.g. 0,0.5,1 for Mem-Gallery's rubric."
        ),
    ] = None,
    ablation: AskingOption = None,
    config: ConfigOption = None,
    out: OutOption = None,
    as_json: JsonOption = False,
) -> None:
    """How good the answers to a benchmark's questions are.

    Reads LoCoMo, Mem-Gallery, MemEye and LongMemEval files, backfills them into a temporary store and asks their questions.
    Open questions are scored by token F1, BLEU-1 and exact match, and by a judge where there is one; questions with options
    by the letter; those that the conversation does not answer by whether they are left unanswered.

    \b
    Examples:
      mnemosaic evaluate qa locomo10.json
      mnemosaic evaluate qa data/ --judge rubric.txt --config judged.yaml --out report
    """
    settings = load_settings(config)
    names = names_of(ablation)
    asking_configurations(settings.asking, names)
    judging = _judge(judge, levels, settings)
    if out is not None:
        make_folder(out)
    from jobs.evaluate.qa import evaluate_qa
    from jobs.evaluate.qa_report import document, write_report

    with live_progress() as progress:
        found = evaluate_qa(data, settings, names, judging, progress)
    report_of(found, document, write_report, print_report, out, as_json)


def _judge(rubric: Path | None, levels: str | None, settings: Settings) -> Judge | None:
    """Who judges, tried on one answer before any work is done. UsageError where there is no model; ModelError."""
    if rubric is None:
        if levels is not None:
            raise UsageError("--levels are of a judge's scores: give --judge a rubric")
        return None
    from jobs.evaluate.rubric import Judge, read_rubric
    from operators.ask.model.chat import Chat, Meter

    text = read_rubric(rubric)
    endpoint = settings.judge_model.endpoint(os.environ)
    if endpoint is None:
        raise UsageError(
            "there is no model to judge: set judge_model.kind to openai, and its base_url, model and key_env, in a file for "
            "--config; without --judge answers are scored by their words"
        )
    found = Judge(Chat(endpoint), text, Meter(), _levels(levels))
    found.score("How many days has a week?", "seven", "7")
    return found


def _levels(text: str | None) -> tuple[float, ...]:
    try:
        found = tuple(sorted(float(part) for part in (text or "").split(",") if part.strip()))
    except ValueError as error:
        raise UsageError(f"--levels {text!r} is not a list of numbers such as 0,0.5,1") from error
    if not all(0 <= level <= 1 for level in found):
        raise UsageError(f"--levels {text!r}: scores are from 0 to 1")
    return found


def print_report(report: Mapping[str, Any]) -> None:
    """A table for each configuration and kind of question, and one of the differences."""
    from jobs.evaluate.qa_report import tables_of

    for name, figures in report["configurations"].items():
        for headings, rows in tables_of(figures):
            print_table([f"{name}: {headings[0]}", *headings[1:]], rows)
            print()
    print_comparisons(report)
