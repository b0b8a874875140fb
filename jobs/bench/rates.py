"""From the seconds of pipeline runs to rates, with what starting costs told apart."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from jobs.bench.figures import Spread

ENCODE = "encode"


@dataclass(frozen=True)
class PipelineRun:
    """One backfill: rounds read, texts encoded, seconds. ``startup_seconds`` pass before the first stage."""

    rounds: int
    encoded: int
    seconds: float
    startup_seconds: float
    stage_seconds: dict[str, float]

    @property
    def work_seconds(self) -> float:
        """All but the start-up."""
        return self.seconds - self.startup_seconds


@dataclass(frozen=True)
class EncoderRates:
    """One encoder's texts a second, alone and in the pipeline.

    ``stage`` is over the encode stage's seconds, ``work`` over all seconds but the start-up of Ray. Both hold what every
    stage spends on starting its workers, however little there is to do; ``started`` runs of a handful of rounds show how
    much that is, and ``stage_running`` and ``work_running`` leave it out (None where it is the greater part).
    """

    encoder: str
    alone: Spread
    stage: Spread
    work: Spread
    stage_running: float | None
    work_running: float | None
    runs: list[PipelineRun]
    started: list[PipelineRun]


def rates(encoder: str, alone: Sequence[float], runs: Sequence[PipelineRun], started: Sequence[PipelineRun]) -> EncoderRates:
    """The rates of runs; ``started``: as many runs with next to nothing to do."""
    encoded = float(np.median([run.encoded for run in runs]))
    return EncoderRates(
        encoder=encoder,
        alone=Spread.of(alone),
        stage=Spread.of([run.encoded / run.stage_seconds[ENCODE] for run in runs]),
        work=Spread.of([run.encoded / run.work_seconds for run in runs]),
        stage_running=_running(encoded, *([run.stage_seconds[ENCODE] for run in some] for some in (runs, started))),
        work_running=_running(encoded, *([run.work_seconds for run in some] for some in (runs, started))),
        runs=list(runs),
        started=list(started),
    )


def _running(encoded: float, whole: Sequence[float], starting: Sequence[float]) -> float | None:
    seconds = float(np.median(whole) - np.median(starting))
    return encoded / seconds if seconds > np.median(starting) else None


def stage_medians(runs: Sequence[PipelineRun]) -> dict[str, float]:
    """Median seconds of the start-up, of every stage in its order, and of what is between them."""
    parts: dict[str, list[float]] = {"start-up": [run.startup_seconds for run in runs]}
    for name in dict.fromkeys(name for run in runs for name in run.stage_seconds):
        parts[name] = [run.stage_seconds.get(name, 0.0) for run in runs]
    parts["between stages"] = [run.work_seconds - sum(run.stage_seconds.values()) for run in runs]
    return {name: float(np.median(values)) for name, values in parts.items()}
