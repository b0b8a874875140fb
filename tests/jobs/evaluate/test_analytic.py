"""Exact questions end to end: histories through the product's backfill and asking, judged, with what is cited."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from configs.settings import Settings
from jobs.backfill import BackfillRequest, backfill
from jobs.evaluate.analytic import AnalyticEvaluation, AnalyticRequest, Outcome, cited, evaluate_analytic
from jobs.evaluate.analytic_report import document, markdown, predictions, write_report
from jobs.evaluate.asker import Asked
from jobs.evaluate.recall import places_of
from operators.ask.context import Context
from operators.ask.outcomes import Citation
from operators.ask.steps import Answer, Plan, Trace
from operators.errors import UsageError

Lines = Callable[[Path, list[dict[str, Any]]], None]

SHARED = Path(__file__).resolve().parents[4] / "shared" / "data"

TRACE = Trace(Context((), (), ()), Plan(()), (), "rules")


def asked(*citations: Citation) -> Asked:
    return Asked(Answer("it is", "answered", None, citations, TRACE), None, 0.001)


def test_citations_count_by_round_and_those_of_events_not_at_all() -> None:
    rows = [
        {"round_id": f"S{at}:1", "session_id": f"S{at}", "order": at, "messages": [{"message_id": f"m{at}"}]}
        for at in range(4)
    ]
    places = places_of(rows)
    told = asked(
        Citation("S1", "S1:1", 1, column="a"),
        Citation("S1", "S1:1", 1, column="b"),
        Citation("S3", "S3:1", 3),
        Citation("S0", "S0:1", 0, role="event"),
    )
    found = cited(["S1:1", "m2", "S9:9"], told, places)
    assert (found.rounds, found.strays, found.found, found.wanted) == (("S1:1", "S3:1"), ("S3:1",), 1, 3)
    assert cited(["S1:1"], Asked(None, "UsageError: no", 0.0), places).rounds == ()


def by_id(outcomes: tuple[Outcome, ...]) -> dict[str, Outcome]:
    return {one.question.question_id: one for one in outcomes if not one.question.reworded}


@pytest.mark.usefixtures("ray_cluster", "till")
def test_questions_of_two_folders_and_other_words(diary: Path, settings: Settings, tmp_path: Path, lines: Lines) -> None:
    words = tmp_path / "words.jsonl"
    lines(words, [{"question_id": "ann-q1", "question": "What was my average sleep in minutes over all days?"}])
    names = ("configured", "without-analytic")
    request = AnalyticRequest(diary.parent, names, fields=True, wordings=words)
    found = evaluate_analytic(request, settings, lambda _: None)
    report = document(found)
    assert [(miss["question_id"], miss["why"]) for miss in report["misses"]] == [("ann-q9", "another number")]
    assert report["overall"]["questions"] == 11
    assert report["overall"]["exact"] == pytest.approx(10 / 11)
    assert report["by_operation"]["wrong"]["exact"] == 0.0
    assert report["by_data"]["till"]["exact"] == 1.0
    assert (report["wordings"]["questions"], report["wordings"]["exact"]) == (1, 1.0)
    assert report["citations"]["of_right"]["precision"] == report["citations"]["of_right"]["recall"] == 1.0
    assert report["comparisons"][0]["overall"]["exact"]["difference"] < -0.5
    assert report["misses"][0]["found"]["trace"]["steps"][0]["tool"] == "rank"
    assert report["planners"] == {"rules": 12}
    assert by_id(found.outcomes["configured"])["ann-q3"].cited.rounds == ("S2:1",)
    reworded = list(predictions(found.outcomes["configured"], reworded=True))
    assert reworded[0]["answer"] == pytest.approx(7.09375)
    assert reworded[0]["unit"] == "hours"
    _write_and_read(found, report, tmp_path / "out")


def _write_and_read(found: AnalyticEvaluation, report: dict[str, Any], out: Path) -> None:
    out.mkdir()
    (out / "predictions-without-context.jsonl").write_text("of an earlier report")
    write_report(found, report, out)
    assert json.loads((out / "report.json").read_text(encoding="utf-8")) == report
    told = [json.loads(line) for line in (out / "predictions.jsonl").read_text(encoding="utf-8").splitlines()]
    assert len(told) == 11
    assert told[2] == {"question_id": "ann-q3", "answer": "2024-05-02", "unit": None, "citations": ["S2:1"], "exact": True}
    names = ["predictions-without-analytic.jsonl", "predictions-wordings.jsonl", "predictions.jsonl"]
    assert sorted(path.name for path in out.glob("*.jsonl")) == names
    text = markdown(report)
    assert "| ann-q9 | wrong |" in text
    assert "## Differences to configured" in text


@pytest.mark.usefixtures("ray_cluster")
def test_a_store_that_holds_the_histories(diary: Path, settings: Settings, tmp_path: Path) -> None:
    store = str(tmp_path / "store")
    backfill(BackfillRequest((str(diary / "histories.jsonl"),), store, "own"), settings, lambda _: None)
    found = evaluate_analytic(AnalyticRequest(diary, store=store, tenant="own"), settings, lambda _: None)
    assert document(found)["overall"]["exact"] == pytest.approx(8 / 9)
    nobody = evaluate_analytic(AnalyticRequest(diary, store=store, tenant="other"), settings, lambda _: None)
    assert document(nobody)["overall"]["exact"] == 0.0


def test_what_cannot_be_is_said_before_any_work(diary: Path, settings: Settings) -> None:
    with pytest.raises(UsageError, match="without-everything"):
        evaluate_analytic(AnalyticRequest(diary, ("without-everything",)), settings, lambda _: None)
    with pytest.raises(UsageError, match="leave out --store"):
        evaluate_analytic(AnalyticRequest(diary, store="somewhere", fields=True), settings, lambda _: None)


@pytest.mark.usefixtures("ray_cluster")
@pytest.mark.skipif(not SHARED.is_dir(), reason="../shared/data is not here")
def test_shared_receipts_told_in_words(settings: Settings) -> None:
    found = evaluate_analytic(AnalyticRequest(SHARED / "receipts", fields=True), settings, lambda _: None)
    assert document(found)["overall"]["exact"] >= 0.95
