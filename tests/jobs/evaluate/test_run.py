"""Evaluation end to end: every benchmark through the product's backfill and search; files of one name stay apart."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from configs.settings import ImageEncoderSettings, Settings
from jobs.evaluate.questions import QuestionFile
from jobs.evaluate.report import predictions
from jobs.evaluate.run import evaluate_retrieval
from jobs.evaluate.stores import apart
from jobs.watch import Progress
from operators.errors import UsageError
from operators.sources.files import SourceFile

Write = Callable[[str, Any], Path]


def named(uri: str, *names: str) -> QuestionFile:
    return QuestionFile(SourceFile(uri, 1, "1", named=False), "locomo", (), frozenset(names))


def test_files_that_share_a_name_are_apart() -> None:
    files = [named("a", "x", "y"), named("b", "y"), named("c", "z"), named("d", "y", "z"), named("e", "w")]
    assert [[file.source.uri for file in group] for group in apart(files)] == [["a", "c", "e"], ["b"], ["d"]]


@pytest.mark.usefixtures("ray_cluster")
def test_every_benchmark_and_two_files_of_one_name(
    write: Write, benchmarks: dict[str, Any], settings: Settings, tmp_path: Path
) -> None:
    for name, document in benchmarks.items():
        write(name, document)
    other = {**benchmarks["locomo.json"], "qa": [{"question": "the bakery opened", "evidence": ["D1:9"], "category": 3}]}
    write("elsewhere/locomo.json", other)
    picture = tmp_path / "image" / "Maya" / "Q1.jpg"
    picture.parent.mkdir(parents=True)
    Image.new("RGB", (40, 30), "white").save(picture)
    told: list[Progress] = []
    with_pictures = settings.model_copy(update={"image_encoder": ImageEncoderSettings(kind="stub")})
    found = evaluate_retrieval(str(tmp_path / "data"), with_pictures, ["configured", "bm25"], told.append)
    lines = {(line["id"], line.get("file")): line for line in predictions(found, "bm25")}
    assert len(lines) == len(found.asked) == 7 + 11 + 5 + 5 + 3 + 1
    assert lines["locomo:0", "data/locomo.json"]["rounds"][0] == "D1:1+D1:2"
    assert lines["locomo:0", "elsewhere/locomo.json"]["rounds"][0] == "D1:1+D1:2"
    assert lines["wrapped:7", None]["rounds"][0] == "D3:1+D3:2"
    assert set(lines["wrapped:7", None]["with_neighbours"]) == {"D3:1+D3:2", "D3:3+D3:4"}
    assert lines["gallery:2", None]["rounds"][0] == "D1:3"
    assert lines["memeye:1", None]["rounds"][0] == "T2+T3"
    assert lines["haystacks:0", None]["rounds"][0] == "s1:1"
    first = {
        (one.file.stem, one.question.position): one for one in found.asked if one.file.source.uri.count("elsewhere") == 0
    }
    assert first["haystacks", 1].answers["bm25"].scores == (1.0, 1.0, 1.0, 1.0, 1.0)
    for one in found.asked:
        scores = one.answers["bm25"].scores
        assert (scores is None) == (one.left_out is not None)
        if scores is not None and one.question.category != "3":
            assert scores[-1] == 1.0, one.question
    assert [one.question.caption for one in found.asked if one.pictured] == ["a white harbour"]
    assert told[-1] == Progress("ask", 32, 32, "questions")
    assert (found.unread, found.encoder["kind"]) == (0, "stub")


def test_nothing_to_measure_is_said_before_any_work(write: Write, benchmarks: dict[str, Any], settings: Settings) -> None:
    document = benchmarks["locomo.json"]
    document["qa"] = [document["qa"][1]]
    with pytest.raises(UsageError, match="nothing to measure"):
        evaluate_retrieval(str(write("26.json", document)), settings, [], lambda _: None)


def test_data_that_is_not_there_is_named(settings: Settings, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="nowhere"):
        evaluate_retrieval(str(tmp_path / "nowhere"), settings, [], lambda _: None)
