"""The report's contract: its figures, its files, their names."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from configs.settings import RetrievalSettings
from jobs.evaluate.questions import Question, QuestionFile
from jobs.evaluate.recall import METRICS
from jobs.evaluate.report import document, markdown, predictions, write_report
from jobs.evaluate.run import Answer, Asked, Evaluation
from operators.sources.files import SourceFile

FIGURES = {"questions", "recall@5", "recall@12", "recall@12+n", "hit@12", "mrr", "interval"}


def file_of(uri: str, benchmark: str = "locomo") -> QuestionFile:
    return QuestionFile(SourceFile(uri, 1, "1", named=False), benchmark, (), frozenset())


def asked(file: QuestionFile, position: int, category: str, *recalls: float | None) -> Asked:
    question = Question("u", "where?", frozenset({"r"}), category, position)
    answers = {
        name: Answer(("D1:1+D1:2",), ("D1:1+D1:2", "D1:3+D1:4"), None if recall is None else (0.0, recall, 1.0, 1.0, 0.5))
        for name, recall in zip(("configured", "dense"), recalls, strict=False)
    }
    return Asked(file, question, answers, "not-answered" if recalls[0] is None else None)


def evaluation(*files: QuestionFile, names: tuple[str, ...] = ("configured", "dense")) -> Evaluation:
    found = tuple(
        one
        for file in files
        for one in (
            asked(file, 0, "10", 1.0, 0.5),
            asked(file, 1, "2", 0.5, 0.5),
            asked(file, 2, "5", None, None),
            asked(file, 3, "2", 0.0, 0.25),
        )
    )
    return Evaluation(files, {name: RetrievalSettings() for name in names}, found, {"kind": "stub"}, 40, 0)


def test_figures_of_all_and_of_each_category() -> None:
    report = document(evaluation(file_of("/somewhere/26.json"), names=("configured",)))
    assert report["overall"].keys() >= FIGURES
    assert report["overall"]["questions"] == 3
    assert report["overall"]["recall@12"] == pytest.approx(0.5)
    assert report["overall"]["mrr"] == pytest.approx(0.5)
    low, high = report["overall"]["interval"]
    assert 0 <= low <= 0.5 <= high <= 1
    assert report["overall"]["intervals"].keys() == set(METRICS)
    assert list(report["by_category"]) == ["2", "10"]
    assert report["by_category"]["2"]["questions"] == 2
    assert report["by_category"]["2"]["recall@12"] == pytest.approx(0.25)
    assert report["left_out"] == {"not-answered": 1}
    assert report["comparisons"] == []
    assert "somewhere" not in json.dumps(report)


def test_configurations_are_compared_with_the_first() -> None:
    report = document(evaluation(file_of("26.json")))
    assert report["configuration"] == "configured"
    assert report["overall"] == report["configurations"]["configured"]["overall"]
    [compared] = report["comparisons"]
    assert (compared["reference"], compared["configuration"]) == ("configured", "dense")
    found = compared["overall"]["recall@12"]
    assert found["difference"] == pytest.approx(-0.25 / 3)
    assert found["interval"][0] <= found["difference"] <= found["interval"][1]
    assert found["p"] == 1.0  # of the patterns of -1/2 and 1/4, all are as far from 0
    assert compared["overall"]["mrr"]["p"] == 1.0
    assert compared["by_benchmark"].keys() == {"locomo"}


def test_a_line_a_question() -> None:
    lines = list(predictions(evaluation(file_of("a/26.json.gz")), "dense"))
    assert [line["id"] for line in lines] == ["26:0", "26:1", "26:2", "26:3"]
    assert all(line.keys() == {"id", "rounds", "with_neighbours"} for line in lines)
    assert lines[0]["rounds"] == ["D1:1+D1:2"]
    assert lines[0]["with_neighbours"] == ["D1:1+D1:2", "D1:3+D1:4"]


def test_files_of_one_stem_are_told_apart() -> None:
    lines = list(predictions(evaluation(file_of("/x/a/26.json"), file_of("/x/b/26.json"), file_of("/x/7.json")), "dense"))
    assert [line.get("file") for line in lines] == ["a/26.json"] * 4 + ["b/26.json"] * 4 + [None] * 4


def test_the_table_and_the_differences() -> None:
    page = markdown(document(evaluation(file_of("26.json"), file_of("m.json", "mem_gallery"))))
    assert "| all | 6 | 0.000 | 0.500 | 1.000 | 1.000 | 0.500 |" in page
    assert "| mem_gallery | 3 |" in page
    assert "| dense | all | recall@12 | -0.083 |" in page
    assert "| dense | mem_gallery | recall@12 | -0.083 |" in page
    assert "not-answered 2" in page
    widths = {line.count("|") for line in page.splitlines() if line.startswith(("| all", "| questions of"))}
    assert widths == {9}


def test_what_a_category_is_called_cannot_break_the_table() -> None:
    file = file_of("26.json")
    odd = Evaluation((file,), {"configured": RetrievalSettings()}, (asked(file, 0, "a|b\nc", 1.0),), {"kind": "stub"}, 4, 0)
    assert "| a\\|b c | 1 |" in markdown(document(odd))


def test_the_folder(tmp_path: Path) -> None:
    found = evaluation(file_of("26.json"))
    report = document(found)
    folder = tmp_path / "new" / "report"
    write_report(found, report, folder)
    assert sorted(path.name for path in folder.iterdir()) == [
        "predictions-dense.jsonl",
        "predictions.jsonl",
        "recall.png",
        "report.json",
        "report.md",
    ]
    loaded: dict[str, Any] = json.loads((folder / "report.json").read_text(encoding="utf-8"))
    assert loaded == report
    lines = [json.loads(line) for line in (folder / "predictions.jsonl").read_text(encoding="utf-8").splitlines()]
    assert lines == list(predictions(found, "configured"))
    assert "](recall.png)" in (folder / "report.md").read_text(encoding="utf-8")
    with Image.open(folder / "recall.png") as picture:
        assert len(picture.convert("RGB").getcolors(1 << 24) or []) > 10
