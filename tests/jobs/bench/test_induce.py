"""The benchmark of counting and induction, in small, by the command."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from jobs.cli.main import main


def test_counting_inducing_and_appending(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    temp, figures = tmp_path / "temp", tmp_path / "figures.json"
    temp.mkdir()
    config = tmp_path / "settings.yaml"
    config.write_text("encoder: {kind: stub}\n", encoding="utf-8")
    words = ["bench", "mine", "--users", "60", "--rounds", "12", "--buckets", "3", "--append", "0.1", "--temp", str(temp)]
    assert main([*words, "--config", str(config), "--json", str(figures)]) == 0
    found = json.loads(figures.read_text(encoding="utf-8"))["induce"]
    assert (found["users"], found["rounds"], found["appended_rounds"]) == (60, 720, 72)
    assert found["observations"] > 720
    assert found["tables"] >= 60
    assert found["count_rounds_per_second"] > 0
    assert 0 < found["append_seconds"] < found["full_seconds"] * 2
    assert "induced" in capsys.readouterr().out
    assert list(temp.iterdir()) == []


def test_there_must_be_something_to_measure(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "mine"]) == 2
    assert "--itemsets" in capsys.readouterr().err
