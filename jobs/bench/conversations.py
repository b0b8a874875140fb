"""What the benchmarks read: the shared conversations, and invented ones of any size."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from jobs.evaluate.questions import Question, answered
from operators.errors import UsageError

FOLDERS = ("mem_gallery", "locomo")
"""The folders of the shared conversations."""

_VOCABULARY, _SEED = 6_000, 20_260_131
_BEGINS = datetime(2024, 1, 1, 8, tzinfo=UTC)


def folders(data: Path) -> dict[str, Path]:
    """The shared conversations below a folder, by name; UsageError where one is missing."""
    found = {name: data / name for name in FOLDERS}
    missing = [name for name, folder in found.items() if not folder.is_dir()]
    if missing:
        raise UsageError(f"--data {data} holds no {' and no '.join(missing)} folder")
    return found


def questions(folder: Path) -> list[Question]:
    """All questions of one of the shared folders that name their evidence."""
    return [question for path in sorted(folder.glob("*.json")) for question in answered(path)]


# --- invented ones --------------------------------------------------------------------------------------------------


@cache
def vocabulary() -> tuple[str, ...]:
    """Invented words of two to four syllables, always the same."""
    rng = np.random.default_rng(_SEED)
    syllables = [consonant + vowel for consonant in "bcdfghklmnprstvwz" for vowel in "aeiou"]
    found: dict[str, None] = {}
    while len(found) < _VOCABULARY:
        picked = rng.integers(0, len(syllables), rng.integers(2, 5))
        found.setdefault("".join(syllables[i] for i in picked))
    return tuple(found)


@cache
def _cumulative() -> NDArray[np.float64]:
    """Zipf's law over the vocabulary, as words of real texts roughly follow."""
    weights = 1.0 / (10 + np.arange(_VOCABULARY))
    return np.asarray(np.cumsum(weights) / weights.sum())


def texts(rng: np.random.Generator, words: Sequence[int]) -> list[str]:
    """A text for each number of words, give or take a half."""
    wanted = np.asarray(words)
    counts = rng.integers(np.maximum(wanted // 2, 1), wanted + wanted // 2 + 1)
    drawn = np.searchsorted(_cumulative(), rng.random(int(counts.sum())), side="right")
    known = vocabulary()
    picked = [known[i] for i in np.minimum(drawn, _VOCABULARY - 1)]
    ends = np.cumsum(counts).tolist()
    return [" ".join(picked[end - count : end]) + "." for count, end in zip(counts.tolist(), ends, strict=True)]


def write_sessions(
    path: Path,
    *,
    sessions: int,
    rounds: int,
    words: Sequence[int],
    sessions_per_user: int,
    seed: int = _SEED,
    each: Callable[[], None] = lambda: None,
) -> int:
    """Write sessions of our JSONL, one in memory at a time; returns the file's bytes. The same values make the same file.

    ``words``: of the user's and of the assistant's message, on average. ``each`` is called before every session.
    """
    with path.open("w", encoding="utf-8") as file:
        for line in _lines(sessions, rounds, words, sessions_per_user, seed):
            each()
            file.write(line)
    return path.stat().st_size


def _lines(sessions: int, rounds: int, words: Sequence[int], sessions_per_user: int, seed: int) -> Iterator[str]:
    for number in range(sessions):
        said = texts(np.random.default_rng([seed, number]), list(words) * rounds)
        user, place = divmod(number, sessions_per_user)
        began = _BEGINS + timedelta(days=place, minutes=user % 600)
        messages = [
            {
                "role": "user" if index % 2 == 0 else "assistant",
                "content": text,
                "timestamp": (began + timedelta(seconds=30 * index)).isoformat(),
            }
            for index, text in enumerate(said)
        ]
        session = {"user_id": f"user-{user:06d}", "session_id": f"s{place:04d}", "messages": messages}
        yield json.dumps(session) + "\n"
