"""The readers' benchmark: every sample is read as its format, and the figures are those of what was read."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from configs.settings import Settings
from jobs.bench.figures import Spread
from jobs.bench.readers import SAMPLES, ReaderFigures, ReaderRate, _read, measure_readers
from jobs.cli.bench_tables import print_readers
from operators.sources.files import LocalFiles
from operators.sources.read import FORMAT_NAMES, survey

READABLE = {name: write for name, (form, write) in SAMPLES.items() if form in FORMAT_NAMES}


@pytest.mark.parametrize("name", READABLE)
def test_a_sample_is_read_whole_as_its_format(name: str, tmp_path: Path) -> None:
    write: Callable[[Path, int], Path] = READABLE[name]
    path = write(tmp_path, 20_000)
    (source,) = LocalFiles().find(str(path))
    assert survey(source, LocalFiles()).format == SAMPLES[name][0]
    rounds = _read(path)
    assert rounds % 10 == 0 and rounds >= 30


def test_every_reader_is_measured(settings: Settings, tmp_path: Path) -> None:
    told: list[str] = []
    found = measure_readers(settings, size=10_000, repeat=2, temp=tmp_path, tell=told.append)
    assert [reader.reader for reader in found.readers] == list(READABLE)
    assert all(reader.rates.runs == 2 and reader.rates.least > 0 for reader in found.readers)
    assert found.encoder == "stub fp32"
    assert list(tmp_path.iterdir()) == []
    assert "run 2 of 2" in told


def test_the_table_says_who_is_too_slow(capsys: pytest.CaptureFixture[str]) -> None:
    fast = ReaderRate("quick", 2_000_000, 50, Spread.of([9.0]), Spread.of([3000.0]))
    slow = ReaderRate("slow", 2_000_000, 50, Spread.of([1.0]), Spread.of([1900.0]))
    print_readers(ReaderFigures("stub", Spread.of([100.0]), [fast, slow], ["odd"]))
    said = capsys.readouterr()
    lines = [" ".join(line.split()) for line in said.out.splitlines()]
    assert "quick 2.0 50 9.0 3,000 3,000 to 3,000 30.0" in lines
    assert "at least 20x all but slow" in lines
    assert said.err == "not measured: odd\n"


def test_the_command_writes_its_figures(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from jobs.cli.main import main

    figures = ReaderFigures("stub", Spread.of([1.0]), [], [])
    monkeypatch.setattr("jobs.bench.readers.measure_readers", lambda *_, **__: figures)
    path = tmp_path / "figures.json"
    assert main(["bench", "readers", "--json", str(path)]) == 0
    document = json.loads(path.read_text(encoding="utf-8"))
    assert (document["benchmark"], document["encoder"]) == ("readers", "stub")
