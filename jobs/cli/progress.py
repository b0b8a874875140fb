"""How far a job is: a bar with rate and time left on a terminal, a plain line every few seconds elsewhere. On stderr."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TextIO

from rich.console import Console
from rich.progress import BarColumn, ProgressColumn, SpinnerColumn, Task, TaskID, TextColumn, TimeRemainingColumn
from rich.progress import Progress as RichProgress
from rich.text import Text

from jobs.cli.output import rate

if TYPE_CHECKING:
    from jobs.watch import Progress

EVERY_SECONDS = 5.0
"""Least time between two plain lines of one stage."""


class _Rate(ProgressColumn):
    """Units per second since the stage began."""

    def render(self, task: Task) -> Text:
        speed = task.finished_speed or task.speed
        return Text("" if speed is None else f"{rate(speed)} {task.fields['unit']}/s")


class Bars:
    """One bar a stage; one whose total is unknown moves to and fro until the next stage begins."""

    def __init__(self, bars: RichProgress) -> None:
        self._bars = bars
        self._tasks: dict[str, TaskID] = {}

    def __call__(self, step: Progress) -> None:
        task = self._tasks.get(step.stage)
        if task is None:
            self._end_unbounded()
            task = self._tasks[step.stage] = self._bars.add_task(step.stage, total=step.total, unit=step.unit)
        self._bars.update(task, completed=step.done, total=step.total)

    def _end_unbounded(self) -> None:
        for task in self._bars.tasks:
            if task.total is None:
                self._bars.update(task.id, total=task.completed)


class Lines:
    """Plain lines: the first word of a stage, one every few seconds, and its end."""

    def __init__(self, out: TextIO, clock: Callable[[], float]) -> None:
        self._out = out
        self._clock = clock
        self._began: dict[str, float] = {}
        self._told: dict[str, float] = {}
        self._ended: set[str] = set()

    def __call__(self, step: Progress) -> None:
        now = self._clock()
        began = self._began.setdefault(step.stage, now)
        if step.stage in self._ended:
            return
        if step.total is not None and step.done >= step.total:
            self._ended.add(step.stage)
        elif now - self._told.get(step.stage, -EVERY_SECONDS) < EVERY_SECONDS:
            return
        self._told[step.stage] = now
        print(plain_line(step, now - began), file=self._out, flush=True)


def plain_line(step: Progress, seconds: float) -> str:
    """``encode: 1,200 of 4,800 units, 310 units/s, 0:12 left``."""
    total = "" if step.total is None else f" of {step.total:,}"
    parts = [f"{step.stage}: {step.done:,}{total} {step.unit}"]
    if step.done and seconds >= 1:
        speed = step.done / seconds
        parts.append(f"{rate(speed)} {step.unit}/s")
        if step.total is not None and step.done < step.total:
            parts.append(f"{_duration((step.total - step.done) / speed)} left")
    return ", ".join(parts)


@contextmanager
def live_progress() -> Iterator[Callable[[Progress], None]]:
    """A sink for a job's progress, for as long as the job runs."""
    if not sys.stderr.isatty():
        yield Lines(sys.stderr, time.monotonic)
        return
    columns = (
        SpinnerColumn(),
        TextColumn("{task.description:<8}"),
        BarColumn(),
        TextColumn("{task.completed:,.0f} {task.fields[unit]}"),
        _Rate(),
        TimeRemainingColumn(),
    )
    with RichProgress(*columns, console=Console(file=sys.stderr)) as bars:
        yield Bars(bars)


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"
