"""Watching a job: how far each stage is, and how long it took."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeVar

T = TypeVar("T")


@dataclass(frozen=True)
class Progress:
    """How far a stage is; ``total`` is None where it is not known."""

    stage: str
    done: int
    total: int | None
    unit: str


@dataclass
class Watch:
    """Passes progress on and adds up the seconds of each stage."""

    tell: Callable[[Progress], None]
    seconds: dict[str, float] = field(default_factory=dict)

    def timed(self, stage: str, work: Callable[[], T]) -> T:
        """Do the work and count its seconds to the stage."""
        began = time.monotonic()
        try:
            return work()
        finally:
            self.seconds[stage] = self.seconds.get(stage, 0.0) + time.monotonic() - began
