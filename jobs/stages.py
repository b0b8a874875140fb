"""The one adapter between operators and Ray: a stage says what it needs and what it yields, the adapter does the rest."""

from __future__ import annotations

import contextlib
import json
import logging
import os
import signal
import socket
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import ray
from ray.data import ActorPoolStrategy, DataContext, Dataset

from operators.errors import ClusterError, MnemosaicError

_CONNECT_SECONDS = 10.0
_FEWEST_BLOCKS, _BLOCKS_A_CPU = 512, 8

Work = Callable[[pa.Table], pa.Table]

TASKS = pa.schema([pa.field("task", pa.string(), nullable=False)])
"""Work orders: one JSON document a row."""

RESULTS = pa.schema([pa.field("result", pa.string(), nullable=False)])
"""What became of them: one JSON document a row."""


@dataclass(frozen=True)
class Resources:
    """What Ray must set aside for one worker of a stage. ``memory`` in bytes, None where it is small."""

    cpus: float
    gpus: float = 0.0
    memory: int | None = None


@dataclass(frozen=True)
class Stage:
    """One step over Arrow tables. ``make`` is called once per worker and returns the work, which stays pure.

    ``workers`` asks for a pool of that many actors that keep what ``make`` loaded; None means plain tasks.
    ``batch_rows`` is the number of rows per call, None for whatever block arrives.
    """

    name: str
    make: Callable[[], Work]
    output: pa.Schema
    resources: Resources
    workers: int | None = None
    batch_rows: int | None = None


class _FromWorker(Exception):
    """Carries a typed error through Ray Data, which rewrites the words of what it sees."""

    def __init__(self, error: object) -> None:
        super().__init__(str(error))
        self.error = error


class StageWork:
    """A stage's work, made when it is first called; refuses a table of another schema than the stage declares."""

    def __init__(self, stage: Stage) -> None:
        self._stage = stage
        self._work: Work | None = None

    def __call__(self, batch: pa.Table) -> pa.Table:
        """Apply the work to one batch."""
        if self._work is None:
            self._work = self._stage.make()
        made = self._work(batch)
        if not made.schema.equals(self._stage.output):
            raise TypeError(f"stage {self._stage.name} declared {self._stage.output} and made {made.schema}")
        return made


class _Worker(StageWork):
    """The same as Ray Data calls it."""

    def __call__(self, batch: pa.Table) -> pa.Table:
        try:
            return super().__call__(batch)
        except MnemosaicError as error:
            raise _FromWorker(error) from error


def apply(dataset: Dataset, stage: Stage) -> Dataset:
    """The dataset with one more stage, lazily."""
    options: dict[str, Any] = {"num_cpus": stage.resources.cpus}
    if stage.resources.gpus:
        options["num_gpus"] = stage.resources.gpus
    if stage.resources.memory:
        options["memory"] = stage.resources.memory
    common = {"batch_format": "pyarrow", "batch_size": stage.batch_rows, "zero_copy_batch": True, **options}
    if stage.workers is None:
        return dataset.map_batches(_once(stage), **common)
    pool = ActorPoolStrategy(size=stage.workers)
    return dataset.map_batches(_Worker, fn_constructor_args=(stage,), compute=pool, **common)


def _once(stage: Stage) -> Work:
    def work(batch: pa.Table) -> pa.Table:
        return _Worker(stage)(batch)

    work.__name__ = stage.name
    return work


def tasks(documents: Sequence[str]) -> Dataset:
    """Work orders as a dataset, one block each so that each is scheduled alone; neighbours together where they are many.

    Ray's driver holds some 40 KiB a block: without a bound it would grow with the history.
    """
    most = max(_FEWEST_BLOCKS, int(_BLOCKS_A_CPU * ray.cluster_resources().get("CPU", 1)))  # type: ignore[no-untyped-call]
    together = -(-len(documents) // most) or 1
    starts = range(0, len(documents), together)
    return ray.data.from_arrow([pa.table({"task": documents[at : at + together]}, schema=TASKS) for at in starts])


def stream(dataset: Dataset) -> Iterator[dict[str, Any]]:
    """The dataset's rows as they come. A typed error raised in a worker is raised here as itself."""
    try:
        yield from dataset.iter_rows()
    except Exception as error:
        found = _typed_cause(error)
        if found is None or found is error:
            raise
        raise found from error


def through(stage: Stage, documents: Sequence[str], *, here: bool = False) -> Iterator[dict[str, Any]]:
    """Work orders through one stage: the result documents as they come, in no order.

    ``here``: in this process, one after the other, without Ray: for what takes less time than a worker takes to start.
    """
    if here:
        work = StageWork(stage)
        for document in documents:
            for result in work(pa.table({"task": [document]}, schema=TASKS))["result"].to_pylist():
                yield json.loads(result)
    elif documents:
        for row in stream(apply(tasks(documents), stage)):
            yield json.loads(row["result"])


def _typed_cause(error: BaseException | None) -> MnemosaicError | None:
    seen: set[int] = set()
    pending: list[object] = [error]
    while pending:
        current = pending.pop()
        if not isinstance(current, BaseException) or id(current) in seen:
            continue
        seen.add(id(current))
        if isinstance(current, MnemosaicError) and type(current).__module__ == MnemosaicError.__module__:
            return current
        pending += [getattr(current, "error", None), getattr(current, "cause", None), current.__cause__, current.__context__]
    return None


@contextlib.contextmanager
def cluster(address: str | None, *, num_cpus: int | None, object_store_bytes: int) -> Iterator[int]:
    """Ray for the time of a job; yields the CPUs there are for heavy work.

    Without an address a local cluster is started and stopped again; one that the process has already joined is used
    and left running. The local cluster has one logical CPU more than the machine, which the light stages share.
    """
    joined = ray.is_initialized()
    cores = num_cpus or usable_cores()
    if not joined:
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
        if address is None:
            local = {"num_cpus": cores + 1, "object_store_memory": object_store_bytes, "include_dashboard": False}
            _start({"address": "local", **local}, tries=2)
        else:
            _require_listener(address)
            _start({"address": address}, tries=1)
    context = DataContext.get_current()
    context.enable_progress_bars = False
    context.execution_options.preserve_order = False
    # Wrapped in one of Ray's own, a worker's error would lose its type on the way: causes are not sent along.
    context.raise_original_map_exception = True
    logging.getLogger("ray.data").setLevel(logging.CRITICAL)  # errors are raised
    try:
        available = int(ray.cluster_resources().get("CPU", 1))  # type: ignore[no-untyped-call]
        yield cores if address is None and not joined else max(1, available - 1)
    finally:
        if not joined:
            ray.shutdown()


def _require_listener(address: str) -> None:
    """ClusterError where nothing listens at ``host:port``: Ray itself would wait for it for many minutes."""
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if not host or not port.isdigit():
        return
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout=_CONNECT_SECONDS).close()
    except (OSError, OverflowError) as error:
        raise ClusterError(
            f"no Ray cluster answers at {address}: {error}; check the address (`ray status` on its head node) and network"
        ) from error


def _start(options: dict[str, Any], tries: int) -> None:
    """Join or start Ray. A local start that took too long, as on a machine with much else to do, is tried again."""
    # Ray's C++ side writes advice of its own to the terminal; what goes wrong in our work is raised, not logged.
    os.environ.setdefault("RAY_BACKEND_LOG_LEVEL", "fatal")
    while True:
        tries -= 1
        try:
            with _without_ray_greeting(), _own_sigterm():
                ray.init(**options, log_to_driver=False, logging_level=logging.ERROR)
            return
        except Exception as error:
            ray.shutdown()
            if tries == 0:
                raise ClusterError(
                    f"Ray at address {options['address']!r} could not be started or joined: {error}\n"
                    "A local Ray needs free memory and CPU and /dev/shm; a cluster must run the same Ray and Python."
                ) from error


@contextlib.contextmanager
def _own_sigterm() -> Iterator[None]:
    """Puts back the process's handler of SIGTERM: Ray installs one that dumps its stack and ends without cleaning up."""
    before = signal.getsignal(signal.SIGTERM)
    try:
        yield
    finally:
        if before is not None and threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGTERM, before)


@contextlib.contextmanager
def _without_ray_greeting() -> Iterator[None]:
    """Holds back what Ray writes straight to file descriptor 2 while it starts; shown after all if it fails."""
    sys.stderr.flush()
    with tempfile.TemporaryFile() as held:
        kept = os.dup(2)
        os.dup2(held.fileno(), 2)
        try:
            yield
        except BaseException:
            held.seek(0)
            os.write(kept, held.read())
            raise
        finally:
            os.dup2(kept, 2)
            os.close(kept)


def usable_cores() -> int:
    """The cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
