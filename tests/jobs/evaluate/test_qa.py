"""Answers to benchmark questions end to end, and what each kind of question is scored by."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from configs.settings import Settings
from jobs.evaluate.asker import Asked
from jobs.evaluate.qa import (
    QaOutcome,
    abstains,
    evaluate_qa,
    judged,
    left_out_of,
    prediction_of,
    scores_of,
)
from jobs.evaluate.qa_report import document, markdown, write_report
from jobs.evaluate.questions import Question, QuestionFile
from jobs.evaluate.rubric import Judge
from operators.ask.context import Context
from operators.ask.model.chat import Chat, Meter, Prompt
from operators.ask.model.endpoint import Endpoint
from operators.ask.steps import Answer, AnswerValue, Plan, Trace
from operators.errors import ModelUnavailable, UsageError
from operators.sources.files import SourceFile

Write = Callable[[str, Any], Path]

TRACE = Trace(Context((), (), ()), Plan(()), (), "rules")
FILE = QuestionFile(SourceFile("26.json", 1, "1", named=False), "locomo", (), frozenset())
QUESTION = Question("u", "When did it open?", frozenset({"r"}), "2", answer="7 May 2023")
OPTIONS = (("A", "red"), ("B", "green"))


def answer(kind: str, value: Any, text: str = "in other words", unit: str | None = None) -> Answer:
    return Answer(text, "answered", AnswerValue(kind, value, unit), (), TRACE)


UNKNOWN = Answer("Information not found", "not found", None, (), TRACE)


@pytest.mark.parametrize(
    ("question", "told", "prediction"),
    [
        ("When?", answer("date", "2023-05-07"), "7 May 2023"),
        ("Which date? Return in the format YYYY-MM-DD.", answer("date", "2023-05-07"), "2023-05-07"),
        ("Which days?", answer("dates", ["2023-05-07", "2023-05-08"]), "7 May 2023, 8 May 2023"),
        ("How many?", answer("number", 3.0), "3"),
        ("How long?", answer("number", 6.5, unit="h"), "6.5 h"),
        ("Did I?", answer("yes-no", "Yes"), "Yes"),
        ("How often?", answer("groups", [{"key": 1}]), "in other words"),
        ("What?", UNKNOWN, "Information not found"),
    ],
)
def test_predictions_are_as_short_as_references(question: str, told: Answer, prediction: str) -> None:
    assert prediction_of(replace(QUESTION, text=question), told) == prediction
    assert prediction_of(QUESTION, None) == ""


def test_each_kind_of_question_has_its_score() -> None:
    assert scores_of("locomo", QUESTION, UNKNOWN, "7 May 2023") == {"f1": 1.0, "bleu1": 1.0, "em": 1.0}
    unanswerable = replace(QUESTION, answer=None, left_out="not-answered")
    assert scores_of("locomo", unanswerable, UNKNOWN, "") == {"abstained": 1.0}
    assert scores_of("locomo", unanswerable, answer("text", "yesterday"), "yesterday") == {"abstained": 0.0}
    choice = replace(QUESTION, answer="B", options=OPTIONS)
    told = prediction_of(choice, answer("text", "It was green."))
    assert (told, scores_of("mem_gallery", choice, None, told)) == ("B", {"choice": 1.0})


def test_what_is_left_unanswered() -> None:
    assert abstains(UNKNOWN)
    assert abstains(answer("text", "x", "It is not mentioned."))
    assert not abstains(answer("text", "x", "on Monday"))
    assert not abstains(None)


def test_which_questions_count() -> None:
    assert left_out_of(QUESTION) is None
    assert left_out_of(replace(QUESTION, answer=None)) == "no-answer"
    assert left_out_of(replace(QUESTION, answer=None, left_out="not-answered")) is None
    assert left_out_of(replace(QUESTION, text="")) == "no-words"
    assert left_out_of(replace(QUESTION, left_out="no-evidence")) is None


class Scripted(Chat):
    """A model that gives these scores in turn; None: it is not there."""

    def __init__(self, *scores: float | None) -> None:
        super().__init__(Endpoint("http://localhost/v1", "scripted"))
        self.scores = list(scores)
        self.asked: list[tuple[Prompt, Meter]] = []

    def complete(self, prompt: Prompt, read: Callable[[Mapping[str, Any]], Any], meter: Meter) -> Any:
        self.asked.append((prompt, meter))
        score = self.scores.pop(0) if len(self.scores) > 1 else self.scores[0]
        if score is None:
            raise ModelUnavailable("nobody is there")
        return read({"reason": "", "score": score})


def outcome(question: Question = QUESTION, **scores: float) -> QaOutcome:
    return QaOutcome(FILE, question, Asked(UNKNOWN, None, 0.0), "seven", scores, (), left_out_of(question))


def test_only_open_questions_are_judged_and_no_score_is_made_up() -> None:
    rest = [outcome(choice=1.0), outcome(abstained=1.0), outcome(replace(QUESTION, answer=None))]
    found = judged([outcome(f1=0.0), *rest], Judge(Scripted(1.0), "", Meter()), lambda _: None)
    assert [one.scores.get("judge") for one in found] == [1.0, None, None, None]
    dead = judged([outcome(f1=0.0)] * 40, Judge(Scripted(None), "", Meter()), lambda _: None)
    assert not any("judge" in one.scores for one in dead)
    assert {(one.unjudged or "").split(":")[0] for one in dead} == {
        "ModelUnavailable",
        "the judge was not asked any more after failing several times in a row",
    }


def with_answers(documents: dict[str, Any]) -> dict[str, Any]:
    for number, raw in enumerate(documents["locomo.json"]["qa"]):
        if raw["category"] != 5:
            raw["answer"] = 2023 if number == 0 else "8 May 2023"
    for raw in documents["memeye.json"]["qas"]:
        raw |= {"options": ["yes", "no"], "answer": "B"}
    for raw in documents["haystacks.json"]:
        raw |= {"answer": "Sunday", "question_date": "2023/05/30 (Tue) 08:00"}
    return {name: documents[name] for name in ("locomo.json", "memeye.json", "haystacks.json")}


@pytest.mark.usefixtures("ray_cluster")
def test_questions_of_three_benchmarks(write: Write, benchmarks: dict[str, Any], settings: Settings, tmp_path: Path) -> None:
    for name, told in with_answers(benchmarks).items():
        write(name, told)
    judge = Judge(Scripted(0.5), "", Meter())
    found = evaluate_qa(str(tmp_path / "data"), settings, ["configured", "without-retrieval"], judge, lambda _: None)
    report = document(found)
    counts = {kind: figures["questions"] for kind, figures in report["overall"].items()}
    assert counts == {"open": 6 + 2, "judged": 6 + 2, "choice": 5, "unanswerable": 1 + 1}
    assert report["overall"]["judged"]["judge"] == 0.5
    assert report["by_benchmark"].keys() == {"locomo", "mem_gallery", "longmemeval"}
    assert report["judge"] == "scripted"
    assert report["unjudged"] == {}
    assert report["comparisons"][0]["overall"].keys() == {"f1", "bleu1", "em", "judge", "choice", "abstained"}
    assert report["configurations"]["without-retrieval"]["overall"]["unanswerable"]["abstained"] == 1.0
    assert {str(one.question.now)[:10] for one in found.outcomes["configured"] if one.file.benchmark == "longmemeval"} == {
        "2023-05-30"
    }
    write_report(found, report, tmp_path / "out")
    assert json.loads((tmp_path / "out" / "report.json").read_text(encoding="utf-8")) == report
    told = [json.loads(line) for line in (tmp_path / "out" / "predictions.jsonl").read_text(encoding="utf-8").splitlines()]
    by_id = {line["id"]: line for line in told}
    assert len(told) == 7 + 5 + 3
    assert by_id["locomo:0"]["reference"] == "2023"
    assert by_id["locomo:0"]["scores"].keys() == {"f1", "bleu1", "em", "judge"}
    assert by_id["memeye:0"]["reference"] == "B"
    assert "| unanswerable |" in markdown(report)


def test_questions_without_answers_are_said_before_any_work(
    write: Write, benchmarks: dict[str, Any], settings: Settings
) -> None:
    path = write("gallery.json", benchmarks["gallery.json"])
    with pytest.raises(UsageError, match="nothing to measure"):
        evaluate_qa(str(path), settings, [], None, lambda _: None)
