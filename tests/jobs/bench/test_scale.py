"""The scale benchmark in small, by the command; what an interruption leaves behind."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from configs.settings import Settings
from jobs.bench.scale import ScaleFigures, ScaleRun, measure_scale
from jobs.bench.usage import Peaks
from jobs.cli.bench_tables import print_scale
from jobs.cli.main import main
from operators.errors import MnemosaicError

CONFIG = "store: {buckets: 2}\nray: {num_cpus: 1, object_store_mb: 80}\n"


@pytest.fixture
def config(tmp_path: Path) -> Path:
    path = tmp_path / "settings.yaml"
    path.write_text(CONFIG, encoding="utf-8")
    return path


def test_a_small_scale_run(tmp_path: Path, config: Path, capsys: pytest.CaptureFixture[str]) -> None:
    temp, figures = tmp_path / "temp", tmp_path / "figures.json"
    temp.mkdir()
    words = ["bench", "scale", "--sessions", "12", "--rounds", "2", "--temp", str(temp)]
    assert main([*words, "--config", str(config), "--json", str(figures)]) == 0
    document = json.loads(figures.read_text(encoding="utf-8"))
    (run,) = document["runs"]
    assert (run["sessions"], run["users"], run["rounds"]) == (12, 2, 24)
    assert run["rounds_per_second"] > 0
    assert run["seconds"] > run["startup_seconds"] > 0
    assert {"read", "merge", "encode", "finish"} <= set(run["stage_seconds"])
    peaks = run["peaks"]
    assert 20 < peaks["driver_own"] <= peaks["driver_resident"]
    assert peaks["most_workers"] >= 1
    assert 20 < peaks["worker_own"] <= peaks["workers_own"]
    assert (document["time"], document["linear"]) == (None, None)
    assert document["machine"]["cores"] >= 1
    assert "one size" in capsys.readouterr().out
    assert list(temp.iterdir()) == []


def test_an_interrupted_run_leaves_nothing(tmp_path: Path, config: Path) -> None:
    command = [sys.executable, "-m", "jobs.cli.main", "bench", "scale", "--sessions", "500000", "--rounds", "1"]
    temp = tmp_path / "temp"
    temp.mkdir()
    with subprocess.Popen(
        [*command, "--temp", str(temp), "--config", str(config)],
        start_new_session=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as process:
        deadline = time.monotonic() + 240
        while not list(temp.glob("*/histories.jsonl")) and time.monotonic() < deadline:
            time.sleep(0.05)
        os.kill(process.pid, signal.SIGTERM)
        assert process.wait(240) != 0
    assert list(temp.iterdir()) == []


def test_a_failing_backfill_is_told(tmp_path: Path) -> None:
    settings = Settings()
    settings = settings.model_copy(update={"ray": settings.ray.model_copy(update={"num_cpus": 0})})  # it refuses these
    with pytest.raises(MnemosaicError, match="the backfill under measurement failed"):
        measure_scale([1], 1, settings, temp=tmp_path, tell=lambda _: None)
    assert list(tmp_path.iterdir()) == []


def scale_run(rounds: int, seconds: float, driver: float, worker: float) -> ScaleRun:
    return ScaleRun(
        sessions=rounds // 10,
        users=1,
        rounds=rounds,
        source_bytes=1,
        store_bytes=1,
        seconds=seconds + 5,
        startup_seconds=5,
        stage_seconds={"read": seconds},
        rounds_per_second=rounds / seconds,
        peaks=Peaks(driver_own=driver, worker_own=worker),
        watching_seconds=0,
    )


@pytest.mark.parametrize(
    ("figures", "linear", "flat"),
    [((1.0, 0.0, 0.05), "yes", "yes"), ((1.2, 0.0, 0.0), "NO", "yes"), ((0.9, 0.0, 0.3), "yes", "NO")],
)
def test_the_verdict(
    figures: tuple[float, float, float], linear: str, flat: str, capsys: pytest.CaptureFixture[str]
) -> None:
    print_scale(ScaleFigures([scale_run(100, 1, 1, 1), scale_run(1000, 9, 1, 1)], *figures))
    told = dict(line.split()[:2] for line in capsys.readouterr().out.splitlines()[-2:])
    assert told == {"linear": linear, "flat": flat}
