"""``evaluate retrieval`` as a user runs it: what is printed where, what is written, how it ends."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from configs.settings import Settings
from jobs.cli.main import main

SAID = ("the bakery opened", "my bicycle was stolen", "we adopted a kitten", "the piano arrived")


@pytest.fixture
def data(tmp_path: Path) -> Path:
    turns: list[dict[str, Any]] = [
        {"speaker": ("Ana", "Ben")[index % 2], "dia_id": f"D1:{index + 1}", "text": text}
        for index, text in enumerate(text for text in SAID for _ in range(2))
    ]
    asked = [
        {"question": f"was it {said}?", "evidence": [f"D1:{2 * number + 1}"], "category": 1 + 4 * (number == 3)}
        for number, said in enumerate(SAID)
    ]
    path = tmp_path / "7.json"
    path.write_text(json.dumps({"speaker_a": "Ana", "speaker_b": "Ben", "session_1": turns, "qa": asked}), encoding="utf-8")
    return path


@pytest.fixture
def config(settings: Settings, tmp_path: Path) -> Path:
    path = tmp_path / "config.yaml"
    path.write_text(yaml.safe_dump(settings.model_dump(mode="json")), encoding="utf-8")
    return path


@pytest.mark.usefixtures("ray_cluster")
def test_report_on_stdout_and_in_the_folder(
    data: Path, config: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["evaluate", "retrieval", str(data), "--config", str(config), "--out", str(tmp_path / "out")]
    assert main([*command, "--ablation", "bm25, dense", "--ablation", "bm25", "--json"]) == 0
    captured = capsys.readouterr()
    report = json.loads(captured.out)
    assert report == json.loads((tmp_path / "out" / "report.json").read_text(encoding="utf-8"))
    assert list(report["configurations"]) == ["bm25", "dense"]
    assert report["overall"]["questions"] == 3
    assert report["overall"]["mrr"] == 1.0
    lines = [json.loads(line) for line in (tmp_path / "out" / "predictions.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [line["id"] for line in lines] == ["7:0", "7:1", "7:2", "7:3"]
    assert lines[1]["rounds"][0] == "D1:3+D1:4"
    assert "questions left out: not-answered 1" in captured.err
    assert "ask: 4 of 4 questions" in captured.err

    assert main(command) == 0
    captured = capsys.readouterr()
    assert captured.out.splitlines()[0].split()[:2] == ["configured", "questions"]
    assert captured.out.splitlines()[1].split()[:2] == ["all", "3"]


def test_what_cannot_be_done_is_said_at_once(data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["evaluate", "retrieval", str(data), "--ablation", "vanila"]) == 2
    assert capsys.readouterr().err.startswith("error: no ablation is called 'vanila'; there are configured, ")
    assert main(["evaluate", "retrieval", str(data), "--out", str(data)]) == 2
    assert "7.json is no folder" in capsys.readouterr().err
    other = tmp_path / "notes.json"
    other.write_text("{}", encoding="utf-8")
    assert main(["evaluate", "retrieval", str(other)]) == 2
    assert "notes.json is not a benchmark's file" in capsys.readouterr().err


def test_exact_questions_that_cannot_be_asked_are_said_at_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["evaluate", "analytic", str(tmp_path)]) == 2
    assert "holds no histories.jsonl" in capsys.readouterr().err
    assert main(["evaluate", "analytic", str(tmp_path), "--ablation", "dense"]) == 2
    assert "there are configured, without-analytic" in capsys.readouterr().err


def test_a_judge_needs_a_model_and_a_rubric(data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rubric = tmp_path / "rubric.txt"
    rubric.write_text("{question} {answer}", encoding="utf-8")
    assert main(["evaluate", "qa", str(data), "--judge", str(rubric)]) == 2
    assert "lacks {reference}" in capsys.readouterr().err
    rubric.write_text("{question} {answer} {reference}", encoding="utf-8")
    assert main(["evaluate", "qa", str(data), "--judge", str(rubric)]) == 2
    assert "set judge_model.kind to openai" in capsys.readouterr().err
    assert main(["evaluate", "qa", str(data), "--levels", "0,1"]) == 2
    assert "give --judge a rubric" in capsys.readouterr().err
