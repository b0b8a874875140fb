"""Memory of a process and all its descendants while it runs, from Linux's /proc."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from operators.errors import UsageError

Kind = Literal["driver", "worker", "raylet", "other"]

_PROC = Path("/proc")
_AMOUNTS = ("VmRSS", "RssAnon", "RssShmem")
_MIB = 1 << 20


@dataclass(frozen=True)
class Usage:
    """Bytes of one process that are resident: all, its own (what it allocated), and shared memory (Ray's object store).

    The rest are pages of files, libraries above all, which processes share and the system can take back.
    """

    resident: int
    own: int
    shared: int


@dataclass
class Peaks:
    """Most MiB seen at one moment. ``workers_*`` are sums over Ray's workers, ``worker_*`` of the largest alone.

    ``*_resident`` is what ``top`` shows: pages of libraries and of the object store count in every process that touched
    them. ``*_own`` is what the process allocated. ``object_store`` is the shared memory of the process that has most.
    """

    driver_resident: float = 0.0
    driver_own: float = 0.0
    worker_resident: float = 0.0
    worker_own: float = 0.0
    workers_resident: float = 0.0
    workers_own: float = 0.0
    raylet_own: float = 0.0
    other_own: float = 0.0
    object_store: float = 0.0
    most_workers: int = 0
    samples: int = 0

    def add(self, found: list[tuple[Kind, Usage]]) -> None:
        """Take one moment into account."""
        by_kind: dict[str, list[Usage]] = {"driver": [], "worker": [], "raylet": [], "other": []}
        for kind, usage in found:
            by_kind[kind].append(usage)
        for kind in ("driver", "worker"):
            self._raise(f"{kind}_resident", max((usage.resident for usage in by_kind[kind]), default=0))
            self._raise(f"{kind}_own", max((usage.own for usage in by_kind[kind]), default=0))
        self._raise("workers_resident", sum(usage.resident for usage in by_kind["worker"]))
        self._raise("workers_own", sum(usage.own for usage in by_kind["worker"]))
        self._raise("raylet_own", sum(usage.own for usage in by_kind["raylet"]))
        self._raise("other_own", sum(usage.own for usage in by_kind["other"]))
        self._raise("object_store", max((usage.shared for _, usage in found), default=0))
        self.most_workers = max(self.most_workers, len(by_kind["worker"]))
        self.samples += 1

    def _raise(self, name: str, amount: int) -> None:
        setattr(self, name, max(getattr(self, name), amount / _MIB))


@dataclass
class Watching:
    """What a sampler has seen so far; ``busy_seconds`` is the CPU time that looking took."""

    peaks: Peaks = field(default_factory=Peaks)
    busy_seconds: float = 0.0


@contextmanager
def watching(pid: int, every: float) -> Iterator[Watching]:
    """Look at a process and its descendants every so many seconds, for the time of the block."""
    if usage_of(os.getpid()) is None:
        raise UsageError("memory is read from /proc/<pid>/status, which only Linux has")
    seen = Watching()
    stop = threading.Event()

    def look() -> None:
        while not stop.is_set():
            seen.peaks.add(_tree(pid))
            seen.busy_seconds = time.thread_time()
            stop.wait(every)

    thread = threading.Thread(target=look, daemon=True)
    thread.start()
    try:
        yield seen
    finally:
        stop.set()
        thread.join()


def _tree(pid: int) -> list[tuple[Kind, Usage]]:
    found: list[tuple[Kind, Usage]] = []
    for one in [pid, *descendants(pid)]:
        usage = usage_of(one)
        if usage is not None:
            found.append(("driver" if one == pid else _kind(one), usage))
    return found


def descendants(pid: int) -> list[int]:
    """The processes below one, at this moment."""
    children: dict[int, list[int]] = {}
    for path in _PROC.glob("[0-9]*/stat"):
        text = _read(path)
        if text:
            children.setdefault(int(text.rpartition(")")[2].split()[1]), []).append(int(path.parent.name))
    found: list[int] = []
    pending = [pid]
    while pending:
        below = children.get(pending.pop(), [])
        found += below
        pending += below
    return found


def usage_of(pid: int) -> Usage | None:
    """Memory of a process; None where it has ended."""
    lines = (_read(_PROC / str(pid) / "status") or "").splitlines()
    amounts = {name: value.split() for name, _, value in (line.partition(":") for line in lines)}
    if not all(name in amounts for name in _AMOUNTS):  # it has ended, and its parent has not noticed yet
        return None
    resident, own, shared = (int(amounts[name][0]) * 1024 for name in _AMOUNTS)
    return Usage(resident, own, shared)


def _kind(pid: int) -> Kind:
    words = (_read(_PROC / str(pid) / "cmdline") or "").split("\0")
    if words[0].startswith("ray::") or any(word.endswith("default_worker.py") for word in words):
        return "worker"
    return "raylet" if Path(words[0]).name == "raylet" else "other"


def _read(path: Path) -> str | None:
    """None where the process has ended, also between opening and reading."""
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except (FileNotFoundError, ProcessLookupError, PermissionError):
        return None
