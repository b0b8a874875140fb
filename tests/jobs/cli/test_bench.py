"""``mnemosaic bench``: tables on stdout, figures in a file, mistakes told as such."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from jobs.bench.figures import Latency, Spread
from jobs.bench.ingest import Baseline, IngestFigures
from jobs.bench.query import QueryTimes
from jobs.bench.rates import PipelineRun, rates
from jobs.bench.recall import RecallRow
from jobs.cli.bench_tables import print_ingest, print_recall
from jobs.cli.main import main


def lines_of(capsys: pytest.CaptureFixture[str]) -> list[str]:
    return [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]


def ingest_figures(baseline: Baseline | None, reason: str | None) -> IngestFigures:
    full = PipelineRun(500, 1000, 14.0, 4.0, {"read": 1.0, "encode": 5.0})
    few = PipelineRun(8, 16, 7.0, 4.0, {"read": 1.0, "encode": 1.0})
    encoder = rates("minilm int8", [250.0], [full], [few])
    query = QueryTimes("minilm int8", 2, Latency(3.0, 4.0, 9), Latency(5.0, 9.5, 9))
    return IngestFigures(1000, 150.0, 2, baseline, reason, [encoder], [query])


def test_ingest_shows_ratios_to_the_baseline(capsys: pytest.CaptureFixture[str]) -> None:
    print_ingest(ingest_figures(Baseline("m", None, Spread.of([100.0]), None), None))
    lines = lines_of(capsys)
    assert "SentenceTransformer.encode, all texts, batch 64, fp32 100 100 to 100 1.00 -" in lines
    assert "pipeline: encode stage 200 200 to 200 2.00 80%" in lines
    assert "pipeline: encode stage without starting it 250 2.50 100%" in lines
    assert "minilm int8 3.00 4.00 5.00 9.50" in lines


def test_ingest_without_a_baseline_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    print_ingest(ingest_figures(None, "torch is not here"))
    said = capsys.readouterr()
    assert "SentenceTransformer" not in said.out
    assert said.err == "the baseline was not run: torch is not here\n"


def test_recall_compares_with_the_first_encoder(capsys: pytest.CaptureFixture[str]) -> None:
    both = ("dense", "bm25")
    print_recall([RecallRow("b", "fp32", both, 9, 9, 0.7, 0.8), RecallRow("b", "int8", both, 9, 8, 0.695, 0.8)], 12, 1)
    lines = lines_of(capsys)
    assert lines[0] == "benchmark encoder signals questions R@12 points from fp32 R@12+-1"
    assert lines[2] == "b int8 dense + bm25 8 0.6950 -0.50 0.8000"


def test_search_prints_and_writes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "figures.json"
    words = ["bench", "search", "--one", "12", "--users", "2", "--rounds", "5", "--queries", "3", "--json", str(path)]
    assert main(words) == 0
    out = capsys.readouterr().out
    assert "one user, 12 rounds, 24 units" in out
    assert "cores, RAM" in out
    document = json.loads(path.read_text(encoding="utf-8"))
    assert document["benchmark"] == "search"
    assert document["one_user"]["units"] == 24
    assert document["machine"]["packages"]["numpy"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["scale", "--sessions", "20,x"], "is not a list of numbers"),
        (["recall", "--data", ".", "--numeric", "fp8"], "no mode of minilm"),
        (["recall", "--data", "nowhere", "--encoder", "stub"], "holds no mem_gallery and no locomo folder"),
    ],
)
def test_mistakes_end_with_2(words: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", *words]) == 2
    assert message in capsys.readouterr().err
