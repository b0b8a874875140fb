"""The encoder's own best rate: no pipeline, no Ray, nothing but the model and the texts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from jobs.bench.apart import together
from jobs.bench.encoders import Choice

_WARM_UP = 16


def rate_alone(choice: Choice, texts: Sequence[str], processes: int) -> float:
    """Texts a second in so many processes of one thread each, which share them evenly and have loaded the model before."""
    by_length = sorted(texts, key=len, reverse=True)
    shares = [(choice, by_length[number::processes]) for number in range(processes)]
    return len(texts) / together(_encode_share, shares)


def _encode_share(choice: Choice, texts: Sequence[str]) -> Callable[[], object]:
    encoder = choice.load(1)
    encoder.encode(list(texts[:_WARM_UP]))
    return partial(encoder.encode, texts)
