"""Measuring in processes of their own, so that nothing one measurement leaves behind slows the next."""

from __future__ import annotations

import multiprocessing
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from functools import partial
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from typing import Any, TypeVar

from operators.errors import MnemosaicError

T = TypeVar("T")

_PATIENCE = 300.0
"""Seconds that prepared processes wait for the slowest of them."""
_FAREWELL = 30.0
"""Seconds that a process has to end by itself."""


def apart(work: Callable[..., T], *values: Any) -> T:
    """``work(*values)`` in a fresh process; an error there is raised here."""
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=context) as pool:
        return pool.submit(work, *values).result()


def together(prepare: Callable[..., Callable[[], object]], shares: Sequence[Sequence[Any]]) -> float:
    """Seconds from the common start of all processes to the end of the last.

    One process a share: each calls ``prepare(*share)``, waits for the others, then calls what that returned.
    """
    context = multiprocessing.get_context("spawn")
    barrier = context.Barrier(len(shares))
    with _crew([partial(_share, prepare, share, barrier) for share in shares]) as pipes:
        spans: list[tuple[float, float]] = [_answer(pipe) for pipe in pipes]
    return max(end for _, end in spans) - min(start for start, _ in spans)


@contextmanager
def beside(prepare: Callable[..., Callable[[], object]], shares: Sequence[Sequence[Any]]) -> Iterator[None]:
    """For the time of the block, one process a share repeats what ``prepare(*share)`` returned, without a pause."""
    stop = multiprocessing.get_context("spawn").Event()
    with _crew([partial(_repeat, prepare, share, stop) for share in shares]) as pipes:
        for pipe in pipes:
            _answer(pipe)
        try:
            yield
        finally:
            stop.set()


def _share(prepare: Callable[..., Callable[[], object]], share: Sequence[Any], barrier: Any, pipe: Connection) -> None:
    try:
        work = prepare(*share)
        barrier.wait(_PATIENCE)
        began = time.monotonic()  # one clock for all processes
        work()
        pipe.send(((began, time.monotonic()), None))
    except Exception as error:
        barrier.abort()
        pipe.send((None, f"{type(error).__name__}: {error}"))


def _repeat(prepare: Callable[..., Callable[[], object]], share: Sequence[Any], stop: Any, pipe: Connection) -> None:
    try:
        work = prepare(*share)
        work()
        pipe.send((None, None))
    except Exception as error:
        pipe.send((None, f"{type(error).__name__}: {error}"))
        return
    while not stop.is_set():
        work()


@contextmanager
def _crew(tasks: Sequence[Callable[[Connection], None]]) -> Iterator[list[Connection]]:
    """Processes that each get the far end of a pipe. They are expected to end with the block, and made to when it fails."""
    context = multiprocessing.get_context("spawn")
    crew: list[BaseProcess] = []
    pipes: list[Connection] = []
    try:
        for task in tasks:
            near, far = context.Pipe(duplex=False)
            crew.append(context.Process(target=task, args=(far,), daemon=True))
            crew[-1].start()
            far.close()
            pipes.append(near)
        yield pipes
        for process in crew:
            process.join(_FAREWELL)
    finally:
        for process in crew:
            process.terminate()
            process.join()


def _answer(pipe: Connection) -> Any:
    try:
        answer, fault = pipe.recv()
    except EOFError:
        raise MnemosaicError("a measuring process ended without an answer: is there enough memory?") from None
    if fault is not None:
        raise MnemosaicError(f"a measuring process failed: {fault}")
    return answer
