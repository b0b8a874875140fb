"""Scale: the same backfill at several sizes, with the stub encoder; is it linear in time and flat in memory?"""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any

import yaml

from configs.settings import Settings
from jobs.bench.conversations import write_sessions
from jobs.bench.encoders import Choice
from jobs.bench.figures import growth
from jobs.bench.usage import Peaks, watching
from operators.errors import MnemosaicError, UsageError

WORDS = (15, 25)
"""Mean words of a user's and of an assistant's message."""
SESSIONS_PER_USER = 10
LINEAR, FLAT = 1.05, 0.10
"""Time is called linear if it grows with at most this power of the size, memory flat if with at most that one."""

_DISK_PER_ROUND = 4096
"""Bytes of disk that source and store together may take for a round (seen: under half of it)."""
_SAMPLE_SECONDS, _PATIENCE = 0.5, 30.0

Tell = Callable[[str], None]
GoOn = Callable[[], None]
"""Raises KeyboardInterrupt once the benchmark was told to stop."""


@dataclass(frozen=True)
class ScaleRun:
    """One size: what went in, how long it took, the most memory. ``bytes`` in the source and, at the end, in the store."""

    sessions: int
    users: int
    rounds: int
    source_bytes: int
    store_bytes: int
    seconds: float
    startup_seconds: float
    stage_seconds: dict[str, float]
    rounds_per_second: float
    peaks: Peaks
    watching_seconds: float

    @property
    def work_seconds(self) -> float:
        """All but the start-up."""
        return self.seconds - self.startup_seconds


@dataclass(frozen=True)
class ScaleFigures:
    """The runs, and the powers of the size with which they grow from the smallest to the largest; None with one size.

    ``time``: of all seconds but the start-up. ``driver`` and ``worker``: of what they allocated.
    """

    runs: list[ScaleRun]
    time: float | None
    driver: float | None
    worker: float | None

    @property
    def is_linear(self) -> bool | None:
        """None where one size says nothing."""
        return None if self.time is None else self.time <= LINEAR

    @property
    def is_flat(self) -> bool | None:
        """Both the driver and the largest worker."""
        return None if self.driver is None or self.worker is None else max(self.driver, self.worker) <= FLAT


def measure_scale(
    sessions: Sequence[int], rounds: int, settings: Settings, *, temp: Path | None, tell: Tell
) -> ScaleFigures:
    """One size after the other; what each wrote is removed before the next begins, also when interrupted."""
    runs = []
    for count in sessions:
        with _stopped_by_term() as go_on, tempfile.TemporaryDirectory(prefix="mnemosaic-scale-", dir=temp) as folder:
            _require_room(Path(folder), count * rounds)
            runs.append(_run(Path(folder), count, rounds, settings, tell, go_on))
    sizes = [run.rounds for run in runs]
    if len(set(sizes)) < 2:
        return ScaleFigures(runs, None, None, None)
    return ScaleFigures(
        runs,
        time=growth(sizes, [run.work_seconds for run in runs]),
        driver=growth(sizes, [run.peaks.driver_own for run in runs]),
        worker=growth(sizes, [run.peaks.worker_own for run in runs]),
    )


def _require_room(folder: Path, rounds: int) -> None:
    free, needed = shutil.disk_usage(folder).free, rounds * _DISK_PER_ROUND
    if free < needed:
        raise UsageError(f"{rounds:,} rounds may take {needed >> 20:,} MiB of disk, {free >> 20:,} are free: see --temp")


def _run(folder: Path, sessions: int, rounds: int, settings: Settings, tell: Tell, go_on: GoOn) -> ScaleRun:
    source, store, config = folder / "histories.jsonl", folder / "store", folder / "settings.yaml"
    tell(f"{sessions:,} sessions: writing them")
    source_bytes = write_sessions(
        source, sessions=sessions, rounds=rounds, words=WORDS, sessions_per_user=SESSIONS_PER_USER, each=go_on
    )
    config.write_text(yaml.safe_dump(Choice("stub", "fp32").settings(settings).model_dump(mode="json")), encoding="utf-8")
    tell(f"{sessions:,} sessions: backfill of {source_bytes / 2**20:,.0f} MiB")
    arguments = ["--config", str(config), "--store", str(store), str(source)]
    report, peaks, watched = watched_command(folder, "backfill", arguments, go_on)
    if report["rounds"] != sessions * rounds or report["quarantined"]:
        raise MnemosaicError(f"{sessions * rounds:,} rounds went in and {report['rounds']:,} came out")
    return ScaleRun(
        sessions=report["sessions"],
        users=report["users"],
        rounds=report["rounds"],
        source_bytes=source_bytes,
        store_bytes=sum(path.stat().st_size for path in store.rglob("*") if path.is_file()),
        seconds=report["seconds"],
        startup_seconds=report["startup_seconds"],
        stage_seconds=report["stage_seconds"],
        rounds_per_second=report["rounds_per_second"],
        peaks=peaks,
        watching_seconds=watched,
    )


def watched_command(
    folder: Path, command: str, arguments: Sequence[str], go_on: GoOn = lambda: None
) -> tuple[dict[str, Any], Peaks, float]:
    """A command in a process of its own, watched; its report, the memory it and Ray took, what watching cost.

    What it says lies in ``folder``. MnemosaicError, with its last words, where it fails.
    """
    words = [sys.executable, "-m", "jobs.cli.main", command, "--json", *arguments]
    said, told = folder / "report.json", folder / "notes.txt"
    with (
        said.open("wb") as out,
        told.open("wb") as notes,
        _child(words, out, notes) as child,
        watching(child.pid, _SAMPLE_SECONDS) as seen,
    ):
        while child.poll() is None:  # not wait(): a signal that another thread takes would not end it
            time.sleep(0.1)
            go_on()
    if child.returncode != 0:
        last = told.read_text(encoding="utf-8", errors="replace").strip().splitlines()[-5:]
        raise MnemosaicError(f"the {command} under measurement failed:\n" + "\n".join(last))
    return json.loads(said.read_text(encoding="utf-8")), seen.peaks, seen.busy_seconds


@contextmanager
def _child(command: Sequence[str], out: Any, notes: Any) -> Iterator[subprocess.Popen[bytes]]:
    """A process that does not outlive the block: asked to stop, so that Ray stops too, then made to."""
    child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=notes, start_new_session=True)
    try:
        yield child
    finally:
        for stop in (signal.SIGTERM, signal.SIGKILL):
            if child.poll() is not None:
                break
            child.send_signal(stop)
            _wait(child)


def _wait(child: subprocess.Popen[bytes]) -> None:
    ends = time.monotonic() + _PATIENCE
    while child.poll() is None and time.monotonic() < ends:
        time.sleep(0.1)


@contextmanager
def _stopped_by_term() -> Iterator[GoOn]:
    """SIGTERM ends the block as Ctrl-C does, so that what it made is removed.

    What the handler raises is lost where it strikes inside NumPy (seen once in some sixty tries), so the block also asks.
    """
    stopped = False

    def stop(number: int, frame: FrameType | None) -> None:
        nonlocal stopped
        stopped = True
        signal.default_int_handler(number, frame)

    def go_on() -> None:
        if stopped:
            raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield go_on
    finally:
        signal.signal(signal.SIGTERM, before)
