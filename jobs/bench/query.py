"""How long one query takes to encode, on an idle machine and beside others that use all of it."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from jobs.bench.apart import apart, beside
from jobs.bench.encoders import Choice
from jobs.bench.figures import Latency, seconds_of
from operators.encode.text import TextEncoder

PAUSE = 0.02
"""Seconds between two queries: a reader asks now and then, it does not compete for the CPU without end."""

_WARM_UP, _BLOCK = 10, 64


@dataclass(frozen=True)
class QueryTimes:
    """Milliseconds of ``encode([query])`` with one thread; ``beside``: while ``busy`` processes encode without a pause."""

    encoder: str
    busy: int
    alone: Latency
    beside: Latency


def query_times(choice: Choice, queries: Sequence[str], texts: Sequence[str], *, calls: int, busy: int) -> QueryTimes:
    """Measured in a process of its own, ``calls`` queries each way; ``texts`` are what the others encode."""
    alone = apart(_times, choice, queries, calls)
    with beside(_encode_on, [(choice, texts[number::busy]) for number in range(busy)]):
        crowded = apart(_times, choice, queries, calls)
    return QueryTimes(choice.name, busy, Latency.of(alone), Latency.of(crowded))


def _times(choice: Choice, queries: Sequence[str], calls: int) -> list[float]:
    encoder = choice.load(1)
    for query in queries[:_WARM_UP]:
        encoder.encode([query])
    found = []
    for call in range(calls):
        time.sleep(PAUSE)
        found.append(seconds_of(partial(encoder.encode, [queries[call % len(queries)]])))
    return found


def _encode_on(choice: Choice, texts: Sequence[str]) -> Callable[[], None]:
    """Encodes a block of the texts at each call, over and over."""
    encoder = choice.load(1)
    blocks = [list(texts[start : start + _BLOCK]) for start in range(0, len(texts), _BLOCK)]
    return partial(_next_block, encoder, blocks)


def _next_block(encoder: TextEncoder, blocks: list[list[str]]) -> None:
    encoder.encode(blocks[0])
    blocks.append(blocks.pop(0))
