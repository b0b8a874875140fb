"""What an evaluation of answers found: ``report.json``, its tables in Markdown, what came of each question."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from jobs.evaluate.ablations import ASKING
from jobs.evaluate.asker import planners, tokens
from jobs.evaluate.figures import cell, comparisons_table, differences, group_of, rows_by, rows_of, span, table
from jobs.evaluate.lexical import BLEU, EM, F1
from jobs.evaluate.qa import ABSTAINED, CHOICE, JUDGED, QaEvaluation, QaOutcome
from jobs.evaluate.statistics import RESAMPLES, SEED, Floats

REPORT, TABLE, PREDICTIONS = "report.json", "report.md", "predictions.jsonl"

KINDS: Mapping[str, tuple[str, ...]] = {
    "open": (F1, BLEU, EM),
    "judged": (JUDGED,),
    "choice": (CHOICE,),
    "unanswerable": (ABSTAINED,),
}
"""Kinds of questions and their metrics, the one that intervals are shown of first. What is judged is open too."""

# --- figures --------------------------------------------------------------------------------------------------------


def document(evaluation: QaEvaluation) -> dict[str, Any]:
    """The report as plain JSON values; the figures of a group are by kind of question, of those that there are.

    ``overall``, ``by_category`` and ``by_benchmark`` are of the first configuration; ``configurations`` has them of each by
    its name, and ``comparisons`` the differences of each to the first.
    """
    names = list(evaluation.configurations)
    first = evaluation.outcomes[names[0]]
    found = {name: _figures(evaluation.outcomes[name]) for name in names}
    pictures = [one for one in first if one.question.picture is not None]
    return {
        "configuration": names[0],
        **found[names[0]],
        "left_out": dict(sorted(Counter(one.left_out for one in first if one.left_out).items())),
        "files": [{"name": one.source.uri.rsplit("/", 1)[-1], "benchmark": one.benchmark} for one in evaluation.files],
        "pictures": {"asked_about": len(pictures), "at_hand": sum(one.pictured for one in pictures)},
        "judge": evaluation.judge,
        "rounds": evaluation.rounds,
        "unread": evaluation.unread,
        "encoder": dict(evaluation.encoder),
        "statistics": {"resamples": RESAMPLES, "seed": SEED},
        "configurations": {
            name: {"settings": settings.model_dump(mode="json"), **found[name]}
            for name, settings in evaluation.configurations.items()
        },
        "comparisons": [_comparison(names[0], name, evaluation.outcomes) for name in names[1:]],
    }


def _figures(outcomes: Sequence[QaOutcome]) -> dict[str, Any]:
    def by(key: Callable[[QaOutcome], str]) -> dict[str, Any]:
        groups = {name: _kinds([outcomes[row] for row in rows]) for name, rows in rows_by(outcomes, key)}
        return {name: kinds for name, kinds in groups.items() if kinds}

    unjudged = Counter(one.unjudged.split(":")[0] for one in outcomes if one.unjudged)
    return {
        "overall": _kinds(outcomes),
        "by_category": by(_category),
        "by_benchmark": by(_benchmark),
        "unjudged": dict(sorted(unjudged.items())),
        "planners": planners([one.asked for one in outcomes]),
        "tokens": tokens([one.asked for one in outcomes]),
    }


def _kinds(outcomes: Sequence[QaOutcome]) -> dict[str, Any]:
    found = {}
    for kind, metrics in KINDS.items():
        values = _values([one for one in outcomes if metrics[0] in one.scores], metrics)
        if len(values):
            found[kind] = group_of(values, metrics, metrics[0])
    return found


def _values(outcomes: Sequence[QaOutcome], metrics: Sequence[str]) -> Floats:
    """Each question's metrics (questions, metrics)."""
    return np.array([[one.scores[metric] for metric in metrics] for one in outcomes], np.float64)


def _category(one: QaOutcome) -> str:
    return one.question.category


def _benchmark(one: QaOutcome) -> str:
    return one.file.benchmark


def _comparison(reference: str, name: str, outcomes: Mapping[str, Sequence[QaOutcome]]) -> dict[str, Any]:
    pairs = list(zip(outcomes[reference], outcomes[name], strict=True))
    by_benchmark = {
        group: _differences([pairs[row] for row in rows]) for group, rows in rows_by([one for one, _ in pairs], _benchmark)
    }
    return {
        "reference": reference,
        "configuration": name,
        "overall": _differences(pairs),
        "by_benchmark": {group: found for group, found in by_benchmark.items() if found},
    }


def _differences(pairs: Sequence[tuple[QaOutcome, QaOutcome]]) -> dict[str, Any]:
    """By metric, over the questions that have it under both configurations."""
    found: dict[str, Any] = {}
    for metrics in KINDS.values():
        told = [(one, other) for one, other in pairs if metrics[0] in one.scores and metrics[0] in other.scores]
        if told:
            values = _values([other for _, other in told], metrics) - _values([one for one, _ in told], metrics)
            found |= differences(values, metrics)
    return found


# --- predictions ----------------------------------------------------------------------------------------------------


def predictions(evaluation: QaEvaluation, name: str) -> Iterator[dict[str, Any]]:
    """A line a question, those that do not count among them: ``id`` (file stem and position), ``category``, ``prediction``
    as it was compared, ``text`` and ``status`` of the answer, ``reference``, ``scores`` by metric, ``citations`` (names of
    rounds); ``unjudged`` or ``error``, where there is one; ``file``, where files of one stem would give two one id."""
    stems = Counter(file.stem for file in evaluation.files)
    for one in evaluation.outcomes[name]:
        answer, question = one.asked.answer, one.question
        line: dict[str, Any] = {"id": f"{one.file.stem}:{question.position}", "category": question.category}
        line |= {"prediction": one.prediction, "text": None if answer is None else answer.text}
        line |= {"status": None if answer is None else answer.status, "reference": question.answer}
        line |= {"scores": dict(one.scores), "citations": list(one.citations)}
        line |= {key: told for key, told in (("unjudged", one.unjudged), ("error", one.asked.error)) if told is not None}
        if stems[one.file.stem] > 1:
            line["file"] = "/".join(one.file.source.uri.rsplit("/", 2)[-2:])
        yield line


# --- Markdown -------------------------------------------------------------------------------------------------------


def markdown(report: Mapping[str, Any]) -> str:
    """The report for people."""
    benchmarks = ", ".join(f"{name} ({count})" for name, count in Counter(f["benchmark"] for f in report["files"]).items())
    told = f"Files by benchmark: {benchmarks}. Rounds: {report['rounds']:,}. Judge: {report['judge'] or 'none'}."
    parts = ["# Answers", told]
    for name, figures in report["configurations"].items():
        parts.append(f"## {cell(name)}")
        parts += [table(headings, rows) for headings, rows in tables_of(figures)]
    if report["comparisons"]:
        parts += [f"## Differences to {cell(report['configuration'])}", comparisons_table(report["comparisons"])]
    return "\n\n".join([*parts, "## How to read this", _legend(report)]) + "\n"


def tables_of(figures: Mapping[str, Any]) -> Iterator[tuple[list[str], list[list[str]]]]:
    """A configuration for people: headings and rows of a table for each kind of question there is."""
    for kind, metrics in KINDS.items():
        if kind not in figures["overall"]:
            continue
        rows = [_row(name, group[kind], metrics) for name, group in rows_of(figures) if kind in group]
        yield [kind, "questions", *metrics, f"95% of {metrics[0]}"], rows


def _row(name: str, group: Mapping[str, Any], metrics: Sequence[str]) -> list[str]:
    return [name, f"{group['questions']:,}", *(f"{group[each]:.3f}" for each in metrics), span(group["interval"])]


def _legend(report: Mapping[str, Any]) -> str:
    left_out = ", ".join(f"{code} {count:,}" for code, count in report["left_out"].items()) or "none"
    unjudged = sum(report["unjudged"].values())
    lines = [
        "open: questions with a reference in words, by f1 of Porter stems, bleu1 of words and em (exact match), each as the "
        "benchmark's own scorer takes words.",
        "judged: open questions that the judge scored by the rubric." + (f" Not judged: {unjudged:,}." if unjudged else ""),
        "choice: questions with options, by the letter. unanswerable: by whether the answer is that memory does not tell.",
        f"Intervals: bootstrap over questions, {RESAMPLES:,} resamples. p: two-sided paired sign-flip permutation test.",
        f"Questions left out: {left_out}.",
    ]
    if report["pictures"]["asked_about"]:
        pictures = report["pictures"]
        lines.append(f"Questions about a picture: {pictures['asked_about']:,}, {pictures['at_hand']:,} had it at hand.")
    if report["unread"]:
        lines.append(f"Parts of the files that could not be read: {report['unread']:,}.")
    return "\n".join(f"- {line}" for line in lines)


# --- files ----------------------------------------------------------------------------------------------------------


def write_report(evaluation: QaEvaluation, report: Mapping[str, Any], folder: Path) -> None:
    """All files of the report; of further configurations ``predictions-NAME.jsonl``. OSError where it cannot be written.

    Predictions of an earlier report in the folder go: beside this one they would seem to be of it.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for name in ASKING:
        (folder / f"predictions-{name}.jsonl").unlink(missing_ok=True)
    text = json.dumps(report, indent=2, ensure_ascii=False, allow_nan=False)
    (folder / REPORT).write_text(text + "\n", encoding="utf-8")
    (folder / TABLE).write_text(markdown(report), encoding="utf-8")
    for number, name in enumerate(evaluation.configurations):
        path = folder / (PREDICTIONS if number == 0 else f"predictions-{name}.jsonl")
        with path.open("w", encoding="utf-8") as file:
            for line in predictions(evaluation, name):
                file.write(json.dumps(line, ensure_ascii=False) + "\n")
