"""Processes beside this one that take a share of its work: for what is too much for one core, and done before Ray starts.

A helper is a fresh interpreter that imports what its work needs and no more, so it is at work within two seconds. It never
sees the main module of the program that started it.
"""

from __future__ import annotations

import json
import pickle
import signal
import subprocess
import sys
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from multiprocessing.connection import Connection, Pipe, wait
from typing import Any, Self

from operators.errors import MnemosaicError

Make = Callable[[], Callable[[Any], Any]]
"""Makes what does an order; it is pickled by its name and its arguments."""

_BEGIN = "import sys; sys.path[:] = sys.argv[2:]; from jobs.helpers import serve; serve(int(sys.argv[1]))"

_AHEAD = 2
"""Orders that a helper holds: while it does one the next is there, however busy the process that gives them is."""

_PATIENCE = 10.0
"""Seconds that a helper has to end when it is no longer wanted."""


def beside(make: Make, orders: Sequence[str], helpers: int) -> Iterator[Any]:
    """The results of orders, JSON documents, in no order: done by this process and so many helpers.

    What a helper that ended did not finish is done here. A typed error raised in one is raised here as itself.
    """
    left = deque(orders)
    told = pickle.dumps(make)
    do = make()
    with ExitStack() as stack:
        others = [stack.enter_context(Helper(told)) for _ in range(helpers)]
        while left or any(other.held for other in others):
            for other in others:
                other.take(left)
            if left:
                yield do(json.loads(left.popleft()))
            yield from _arrived(others, left)


def _arrived(helpers: Sequence[Helper], left: deque[str]) -> Iterator[Any]:
    """What helpers have ready; waited for where nothing else is left to do."""
    busy = {helper.pipe: helper for helper in helpers if helper.held}
    for pipe in wait(list(busy), timeout=0 if left or not busy else None):
        helper = busy[pipe]  # type: ignore[index]
        try:
            result = helper.pipe.recv()
        except (EOFError, ConnectionError):
            left.extend(helper.give_up())
            continue
        helper.held.popleft()
        if isinstance(result, MnemosaicError):
            raise result
        yield result


class Helper:
    """One of them, given what it is to make. ``held``: the orders it has whose results have not come, in order."""

    def __init__(self, make: bytes) -> None:
        self.held: deque[str] = deque()
        self.pipe, there = Pipe()
        with there:
            end = there.fileno()
            words = [sys.executable, "-c", _BEGIN, str(end), *sys.path]
            quiet = subprocess.DEVNULL
            self._process = subprocess.Popen(words, pass_fds=[end], stdin=quiet, stdout=quiet)
        self._alive = self._sent(make)

    def __enter__(self) -> Self:
        return self

    def take(self, orders: deque[str]) -> None:
        """Take the next orders where it holds few."""
        while orders and len(self.held) < _AHEAD and self._alive:
            self._alive = self._sent(orders[0].encode())
            if self._alive:
                self.held.append(orders.popleft())

    def give_up(self) -> list[str]:
        """Nothing more is given to it; what it held and did not do."""
        self._alive = False
        held = list(self.held)
        self.held.clear()
        return held

    def _sent(self, told: bytes) -> bool:
        try:
            self.pipe.send_bytes(told)
        except ConnectionError:
            return False
        return True

    def __exit__(self, *_: object) -> None:
        self.pipe.close()
        if self.held:
            self._process.terminate()
        try:
            self._process.wait(_PATIENCE)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


def serve(descriptor: int) -> None:
    """A helper's life: what it is to do, then order after order, until the other end is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the process that gives the orders: it ends this one
    with Connection(descriptor) as pipe:
        try:
            do = pickle.loads(pipe.recv_bytes())()
            while True:
                pipe.send(do(json.loads(pipe.recv_bytes())))
        except (EOFError, ConnectionError):
            return
        except MnemosaicError as error:
            pipe.send(error)
