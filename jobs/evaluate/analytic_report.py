"""What an evaluation of exact questions found: ``report.json``, tables in Markdown, each question's answer."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from jobs.evaluate.ablations import ASKING
from jobs.evaluate.analytic import AnalyticEvaluation, Outcome
from jobs.evaluate.asker import planners, tokens
from jobs.evaluate.figures import cell, comparisons_table, differences, group_of, rows_by, rows_of, span, table
from jobs.evaluate.statistics import RESAMPLES, SEED, Floats

REPORT, TABLE, PREDICTIONS, WORDINGS = "report.json", "report.md", "predictions.jsonl", "predictions-wordings.jsonl"

METRICS = ("exact",)

# --- figures --------------------------------------------------------------------------------------------------------


def document(evaluation: AnalyticEvaluation) -> dict[str, Any]:
    """The report as plain JSON values.

    ``overall``, ``by_operation``, ``by_data``, ``citations``, ``wordings``, ``misses`` are of the first configuration;
    ``configurations`` has them of each by its name, but the misses, and ``comparisons`` the differences to the first.
    """
    names = list(evaluation.configurations)
    first = evaluation.outcomes[names[0]]
    found = {name: _figures(evaluation.outcomes[name]) for name in names}
    return {
        "configuration": names[0],
        **found[names[0]],
        "data": [{"name": each.name, "questions": len(each.questions)} for each in evaluation.histories],
        "rounds": evaluation.rounds,
        "unread": evaluation.unread,
        "encoder": dict(evaluation.encoder),
        "statistics": {"resamples": RESAMPLES, "seed": SEED, "interval": "exact"},
        "configurations": {
            name: {"settings": settings.model_dump(mode="json"), **found[name]}
            for name, settings in evaluation.configurations.items()
        },
        "comparisons": [_comparison(names[0], name, evaluation.outcomes) for name in names[1:]],
        "misses": [_miss(one) for one in first if not one.judged.right],
    }


def _figures(outcomes: Sequence[Outcome]) -> dict[str, Any]:
    asked = [one for one in outcomes if not one.question.reworded]
    reworded = [one for one in outcomes if one.question.reworded]
    return {
        **_exact(asked),
        "citations": _citations(asked),
        "wordings": {**_exact(reworded)["overall"], **_exact(reworded)} if reworded else None,
        "milliseconds": _milliseconds(outcomes),
        "planners": planners([one.asked for one in outcomes]),
        "tokens": tokens([one.asked for one in outcomes]),
    }


def _exact(outcomes: Sequence[Outcome]) -> dict[str, Any]:
    values = _values(outcomes)

    def by(key: Callable[[Outcome], str]) -> dict[str, Any]:
        return {name: group_of(values[rows], METRICS, "exact") for name, rows in rows_by(outcomes, key)}

    return {"overall": group_of(values, METRICS, "exact"), "by_operation": by(_operation), "by_data": by(_data)}


def _values(outcomes: Sequence[Outcome]) -> Floats:
    return np.array([[one.judged.right] for one in outcomes], np.float64)


def _operation(one: Outcome) -> str:
    return one.question.operation


def _data(one: Outcome) -> str:
    return one.question.data


def _citations(outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """``recall``: mean share of a question's evidence rounds that are cited; ``precision``: mean share of the rounds cited
    that are evidence, of answers that cite any. ``of_right``: the same of right answers, with the rounds they cite.
    """
    right = [one for one in outcomes if one.judged.right]
    cited = sum(len(one.cited.rounds) for one in right)
    strays = sum(len(one.cited.strays) for one in right)
    return {**_cited_well(outcomes), "of_right": {**_cited_well(right), "rounds": cited, "strays": strays}}


def _cited_well(outcomes: Sequence[Outcome]) -> dict[str, Any]:
    found = [one.cited.found / one.cited.wanted for one in outcomes if one.cited.wanted]
    kept = [1 - len(one.cited.strays) / len(one.cited.rounds) for one in outcomes if one.cited.rounds]
    return {"recall": _mean(found), "precision": _mean(kept), "answers": len(outcomes), "citing": len(kept)}


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None


def _milliseconds(outcomes: Sequence[Outcome]) -> dict[str, float]:
    taken = 1000 * np.array([one.asked.seconds for one in outcomes])
    return {"p50": round(float(np.percentile(taken, 50)), 1), "p95": round(float(np.percentile(taken, 95)), 1)}


def _comparison(reference: str, name: str, outcomes: Mapping[str, Sequence[Outcome]]) -> dict[str, Any]:
    base, other = ([one for one in outcomes[each] if not one.question.reworded] for each in (reference, name))
    told = _values(other) - _values(base)
    by_data = {group: differences(told[rows], METRICS) for group, rows in rows_by(base, _data)}
    return {
        "reference": reference,
        "configuration": name,
        "overall": differences(told, METRICS),
        "by_data": by_data,
    }


def _miss(one: Outcome) -> dict[str, Any]:
    """A question that was not answered as expected, with all that led to the answer."""
    expected, answer = one.question.expected, one.asked.answer
    told = {"type": expected.kind, "value": expected.value, "unit": expected.unit, "tolerance": expected.tolerance}
    return {
        "question_id": one.question.question_id,
        "data": one.question.data,
        "operation": one.question.operation,
        "question": one.question.text,
        "reworded": one.question.reworded,
        "expected": told,
        "why": one.asked.error or one.judged.why,
        "found": None if answer is None else answer.to_dict(explain=True),
    }


# --- predictions ----------------------------------------------------------------------------------------------------


def predictions(outcomes: Sequence[Outcome], *, reworded: bool = False) -> Iterator[dict[str, Any]]:
    """A line a question: ``question_id``, ``answer`` (number, ISO date, list of dates or choice; None where it is none of
    the type that is expected), ``unit``, ``citations`` (names of the rounds that hold the values), ``exact``.

    ``data``, the folder, where two folders share an id; ``question`` where it is in other words.
    """
    ids = Counter(each for each, _ in {(one.question.question_id, one.question.data) for one in outcomes})
    for one in outcomes:
        if one.question.reworded is not reworded:
            continue
        line: dict[str, Any] = {"question_id": one.question.question_id}
        if ids[one.question.question_id] > 1:
            line["data"] = one.question.data
        if reworded:
            line["question"] = one.question.text
        told = {"answer": one.judged.value, "unit": one.judged.unit, "citations": list(one.cited.rounds)}
        yield {**line, **told, "exact": one.judged.right}


# --- Markdown -------------------------------------------------------------------------------------------------------


def markdown(report: Mapping[str, Any]) -> str:
    """The report for people."""
    data = ", ".join(f"{each['name']} ({each['questions']})" for each in report["data"])
    parts = ["# Exact answers", f"Questions: {data}. Encoder: {report['encoder'].get('kind', '?')}."]
    for name, figures in report["configurations"].items():
        parts += [f"## {cell(name)}", table(HEADINGS, list(figure_rows(figures))), citations_told(figures["citations"])]
    if report["comparisons"]:
        told = comparisons_table(report["comparisons"], "by_data")
        parts += [f"## Differences to {cell(report['configuration'])}", told]
    if report["misses"]:
        headings = ["question", "operation", "asked", "expected", "answered"]
        parts += ["## Not as expected", table(headings, list(miss_rows(report)), words=len(headings))]
    return "\n\n".join([*parts, "## How to read this", _legend(report)]) + "\n"


HEADINGS = ("questions of", "questions", "exact", "95%", "reworded", "exact, reworded", "95%, reworded")


def figure_rows(figures: Mapping[str, Any]) -> Iterator[list[str]]:
    """A configuration for people, a row a group; the columns of questions in other words are empty where there are none."""
    wordings = figures["wordings"] or {}
    reworded = dict(rows_of(wordings, "by_data", "by_operation")) if wordings else {}
    for name, group in rows_of(figures, "by_data", "by_operation"):
        other = reworded.get(name)
        told = (
            ["", "", ""] if other is None else [f"{other['questions']:,}", f"{other['exact']:.3f}", span(other["interval"])]
        )
        yield [name, f"{group['questions']:,}", f"{group['exact']:.3f}", span(group["interval"]), *told]


def citations_told(citations: Mapping[str, Any]) -> str:
    """How well answers cite, in a sentence."""
    right = citations["of_right"]
    return (
        f"Citations: {_share(citations['recall'])} of the evidence is cited, {_share(citations['precision'])} of what is "
        f"cited is evidence; of right answers {_share(right['recall'])} and {_share(right['precision'])} "
        f"({right['strays']:,} of {right['rounds']:,} rounds cited are none)."
    )


def _share(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"


def miss_rows(report: Mapping[str, Any]) -> Iterator[list[str]]:
    """Questions that were not answered as expected, for people: id, operation, words, what was expected, what was told."""
    for each in report["misses"]:
        expected = _told(each["expected"]["value"])
        yield [each["question_id"], each["operation"], each["question"], expected, _answered(each)]


def _told(value: Any) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def _answered(miss: Mapping[str, Any]) -> str:
    return str(miss["why"]) if miss["found"] is None else f"{miss['found']['answer']} ({miss['why']})"


def _legend(report: Mapping[str, Any]) -> str:
    unread = f"\n- Parts of the histories that could not be read: {report['unread']:,}." if report["unread"] else ""
    taken = report["milliseconds"]
    return (
        "- exact: share of questions whose answer is the one expected: a number within the question's tolerance, in its "
        "unit or one that converts to it; a date; dates in their order; a choice.\n"
        "- reworded: the same questions in other words, judged by the same answers.\n"
        f"- Intervals: bootstrap over questions, {RESAMPLES:,} resamples. p: two-sided paired sign-flip permutation test.\n"
        f"- A question took {taken['p50']:.0f} ms (p50), {taken['p95']:.0f} ms (p95); the first to a user reads that user's "
        f"data.{unread}"
    )


# --- files ----------------------------------------------------------------------------------------------------------


def write_report(evaluation: AnalyticEvaluation, report: Mapping[str, Any], folder: Path) -> None:
    """All files of the report; of further configurations ``predictions-NAME.jsonl``. OSError where it cannot be written.

    Predictions of an earlier report in the folder go: beside this one they would seem to be of it.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for name in (WORDINGS, *(f"predictions-{each}.jsonl" for each in ASKING)):
        (folder / name).unlink(missing_ok=True)
    text = json.dumps(report, indent=2, ensure_ascii=False, allow_nan=False)
    (folder / REPORT).write_text(text + "\n", encoding="utf-8")
    (folder / TABLE).write_text(markdown(report), encoding="utf-8")
    for number, (name, outcomes) in enumerate(evaluation.outcomes.items()):
        _write(folder / (PREDICTIONS if number == 0 else f"predictions-{name}.jsonl"), predictions(outcomes))
        if number == 0 and report["wordings"] is not None:
            _write(folder / WORDINGS, predictions(outcomes, reworded=True))


def _write(path: Path, lines: Iterator[dict[str, Any]]) -> None:
    with path.open("w", encoding="utf-8") as file:
        for line in lines:
            file.write(json.dumps(line, ensure_ascii=False) + "\n")
