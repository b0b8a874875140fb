"""What an evaluation found: ``report.json``, its tables in Markdown, a plot, and each question's rounds."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from jobs.evaluate.ablations import ABLATIONS
from jobs.evaluate.figures import cell, comparisons_table, differences, group_of, rows_by, rows_of, span, table
from jobs.evaluate.recall import METRICS
from jobs.evaluate.run import Asked, Evaluation
from jobs.evaluate.statistics import RESAMPLES, SEED, Floats

HEADLINE = "recall@12"
"""The metric whose interval is a group's ``interval``; those of all are its ``intervals``."""

REPORT, TABLE, PLOT, PREDICTIONS = "report.json", "report.md", "recall.png", "predictions.jsonl"

_HEADINGS = ("R@5", "R@12", "R@12 ±n", "hit@12", "MRR")


# --- figures --------------------------------------------------------------------------------------------------------


def document(evaluation: Evaluation) -> dict[str, Any]:
    """The report as plain JSON values.

    ``overall``, ``by_category`` and ``by_benchmark`` are of the first configuration; ``configurations`` has them of each by
    its name, with its settings, and ``comparisons`` the differences of each to the first.
    """
    names = list(evaluation.configurations)
    counted = [one for one in evaluation.asked if one.left_out is None]
    values = {name: _values(counted, name) for name in names}
    found = {name: _figures(counted, values[name]) for name in names}
    return {
        "configuration": names[0],
        **found[names[0]],
        "left_out": dict(sorted(Counter(one.left_out for one in evaluation.asked if one.left_out).items())),
        "files": [{"name": _name(one.source.uri), "benchmark": one.benchmark} for one in evaluation.files],
        "pictures": {
            "asked_about": sum(one.question.picture is not None for one in evaluation.asked),
            "at_hand": sum(one.pictured for one in evaluation.asked),
        },
        "rounds": evaluation.rounds,
        "unread": evaluation.unread,
        "encoder": dict(evaluation.encoder),
        "statistics": {"resamples": RESAMPLES, "seed": SEED, "interval": HEADLINE},
        "configurations": {
            name: {"settings": settings.model_dump(mode="json"), **found[name]}
            for name, settings in evaluation.configurations.items()
        },
        "comparisons": [_comparison(names[0], name, counted, values) for name in names[1:]],
    }


def _values(counted: Sequence[Asked], name: str) -> Floats:
    """Each question's metrics (questions, metrics) under a configuration."""
    return np.array([one.answers[name].scores for one in counted], np.float64)


def _figures(counted: Sequence[Asked], values: Floats) -> dict[str, Any]:
    def by(key: Callable[[Asked], str]) -> dict[str, Any]:
        return {name: group_of(values[rows], METRICS, HEADLINE) for name, rows in rows_by(counted, key)}

    overall = group_of(values, METRICS, HEADLINE)
    return {"overall": overall, "by_category": by(_category), "by_benchmark": by(_benchmark)}


def _category(one: Asked) -> str:
    return one.question.category


def _benchmark(one: Asked) -> str:
    return one.file.benchmark


def _comparison(reference: str, name: str, counted: Sequence[Asked], values: Mapping[str, Floats]) -> dict[str, Any]:
    told = values[name] - values[reference]
    by_benchmark = {group: differences(told[rows], METRICS) for group, rows in rows_by(counted, _benchmark)}
    return {
        "reference": reference,
        "configuration": name,
        "overall": differences(told, METRICS),
        "by_benchmark": by_benchmark,
    }


# --- predictions ----------------------------------------------------------------------------------------------------


def predictions(evaluation: Evaluation, name: str) -> Iterator[dict[str, Any]]:
    """A line a question, those that do not count among them: ``id`` (file stem and position), ``rounds``,
    ``with_neighbours``; and ``file``, where files of one stem would give two questions one id."""
    stems = Counter(file.stem for file in evaluation.files)
    for one in evaluation.asked:
        answer = one.answers[name]
        line = {"id": f"{one.file.stem}:{one.question.position}", "rounds": list(answer.rounds)}
        line["with_neighbours"] = list(answer.with_neighbours)
        if stems[one.file.stem] > 1:
            line["file"] = "/".join(one.file.source.uri.rsplit("/", 2)[-2:])
        yield line


# --- Markdown -------------------------------------------------------------------------------------------------------


def markdown(report: Mapping[str, Any]) -> str:
    """The report for people."""
    benchmarks = ", ".join(f"{name} ({count})" for name, count in Counter(f["benchmark"] for f in report["files"]).items())
    parts = [
        "# Evidence recall",
        f"Files by benchmark: {benchmarks}. Rounds: {report['rounds']:,}. Encoder: {report['encoder'].get('kind', '?')}.",
    ]
    for name, figures in report["configurations"].items():
        parts += [f"## {cell(name)}", _figures_table(figures)]
    if report["comparisons"]:
        parts += [f"## Differences to {cell(report['configuration'])}", comparisons_table(report["comparisons"])]
    parts += [f"![Recall by category]({PLOT})", "## How to read this", _legend(report)]
    return "\n\n".join(parts) + "\n"


def _figures_table(figures: Mapping[str, Any]) -> str:
    rows = []
    for name, group in rows_of(figures):
        told = [f"{group[metric]:.3f}" for metric in METRICS]
        rows.append([name, f"{group['questions']:,}", *told, span(group["interval"])])
    return table(["questions of", "questions", *_HEADINGS, "95% interval of R@12"], rows)


def _legend(report: Mapping[str, Any]) -> str:
    left_out = ", ".join(f"{code} {count:,}" for code, count in report["left_out"].items()) or "none"
    pictures = report["pictures"]
    shown = f"\n- Questions about a picture: {pictures['asked_about']:,}, of which {pictures['at_hand']:,} had it at hand."
    unread = f"\n- Parts of the files that could not be read: {report['unread']:,}." if report["unread"] else ""
    return (
        "- R@5, R@12: mean share of a question's evidence rounds among the first 5, 12 rounds; ±n: with the neighbours of "
        "the first 12.\n"
        "- hit@12: share of questions with any evidence among the first 12; MRR: mean of 1 / rank of the first, 0 beyond.\n"
        f"- Intervals: bootstrap over questions, {RESAMPLES:,} resamples. p: two-sided paired sign-flip permutation test.\n"
        f"- Questions left out: {left_out}." + (shown if pictures["asked_about"] else "") + unread
    )


def _name(uri: str) -> str:
    return uri.rsplit("/", 1)[-1]


# --- files ----------------------------------------------------------------------------------------------------------


def write_report(evaluation: Evaluation, report: Mapping[str, Any], folder: Path) -> None:
    """All files of the report; of further configurations ``predictions-NAME.jsonl``. OSError where it cannot be written.

    Predictions of an earlier report in the folder go: beside this one they would seem to be of it.
    """
    from jobs.evaluate.plot import draw

    folder.mkdir(parents=True, exist_ok=True)
    for name in ABLATIONS:
        (folder / f"predictions-{name}.jsonl").unlink(missing_ok=True)
    text = json.dumps(report, indent=2, ensure_ascii=False, allow_nan=False)
    (folder / REPORT).write_text(text + "\n", encoding="utf-8")
    (folder / TABLE).write_text(markdown(report), encoding="utf-8")
    draw(report, folder / PLOT)
    for number, name in enumerate(evaluation.configurations):
        path = folder / (PREDICTIONS if number == 0 else f"predictions-{name}.jsonl")
        with path.open("w", encoding="utf-8") as file:
            for line in predictions(evaluation, name):
                file.write(json.dumps(line, ensure_ascii=False) + "\n")
