"""``evaluate``: how good the answers are, on questions whose answers or evidence are known."""

from __future__ import annotations

import typer

from jobs.cli.evaluate_analytic import analytic
from jobs.cli.evaluate_qa import qa
from jobs.cli.evaluate_retrieval import retrieval


def register(app: typer.Typer) -> None:
    """Add this family's commands."""
    evaluate = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="Measure answers against benchmarks.")
    evaluate.command()(retrieval)
    evaluate.command()(analytic)
    evaluate.command()(qa)
    app.add_typer(evaluate, name="evaluate")
