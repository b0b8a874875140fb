"""Memory of processes and what is below them."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

from jobs.bench.usage import Peaks, Usage, descendants, usage_of, watching

MIB = 1 << 20
TAKES_MEMORY = "import time; held = bytearray(b'x' * (200 << 20)); print('ready', flush=True); time.sleep(60)"


@contextmanager
def child(code: str) -> Iterator[subprocess.Popen[str]]:
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        try:
            yield process
        finally:
            process.kill()


def test_what_a_child_allocates_is_seen() -> None:
    with child(TAKES_MEMORY) as process:
        assert process.pid in descendants(os.getpid())
        found = usage_of(process.pid)
        assert found is not None
        assert found.resident >= found.own >= 200 * MIB
        with watching(process.pid, 0.01) as seen:
            time.sleep(0.2)
    assert 200 <= seen.peaks.driver_own < 300
    assert seen.peaks.samples > 1
    assert usage_of(process.pid) is None


def test_peaks_are_the_most_of_one_moment() -> None:
    peaks = Peaks()
    peaks.add([("driver", Usage(5 * MIB, 3 * MIB, 0)), ("worker", Usage(9 * MIB, 4 * MIB, MIB)), ("worker", Usage(2, 1, 0))])
    peaks.add([("worker", Usage(7 * MIB, 5 * MIB, 2 * MIB)), ("raylet", Usage(8 * MIB, MIB, 6 * MIB))])
    assert (peaks.driver_resident, peaks.driver_own) == (5, 3)
    assert (peaks.worker_resident, peaks.worker_own) == (9, 5)
    assert 9 < peaks.workers_resident < 9.1
    assert (peaks.raylet_own, peaks.object_store) == (1, 6)
    assert (peaks.most_workers, peaks.samples) == (2, 2)
