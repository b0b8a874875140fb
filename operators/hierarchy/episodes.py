"""Episodes: stretches of rounds that are adjacent in time and coherent (AdaMM, section 3.4).

Whether a round joins the episode before it or opens the next is decided by what came before it alone. So a history that
grows at its end keeps its episodes, but that the last may go on, and appending makes what building at once makes.

Coherence is judged against a background: how near any two rounds of a user are depends on the user (a mean cosine of .05
where one asks an assistant about everything, .53 where two friends name each other in every line), so the mean of all rounds
before is taken off. Its first ``_SHY`` rounds' worth are zeros, for one round is no background.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from operators.hierarchy.values import HierarchyValues
from operators.hierarchy.vectors import Floats

_SHY = 20
_FAINT = 0.2
"""A round nearer to the background than this says nothing by which it could be told from it."""


def episode_starts(
    vectors: Floats, sessions: Sequence[str], minutes: NDArray[np.float64], values: HierarchyValues
) -> list[int]:
    """The rounds (places from 0) that open an episode, ascending; the first round does.

    ``vectors`` (rounds, dim): unit length, zeros where nothing is known of a round. ``minutes`` (rounds,): when each was,
    NaN where unknown. A round whose time or content is not known joins those of its session.
    """
    starts: list[int] = []
    before = np.zeros(vectors.shape[1], np.float64)
    current: _Episode | None = None
    for place, (vector, session, minute) in enumerate(zip(vectors, sessions, minutes.tolist(), strict=True)):
        background = before / (place + _SHY)
        if current is None or not current.takes(vector, session, minute, background, values):
            starts.append(place)
            current = _Episode(vectors.shape[1])
        current.add(vector, session, minute)
        before += vector
    return starts


class _Episode:
    """The episode that is still open."""

    def __init__(self, dim: int) -> None:
        self._sum = np.zeros(dim, np.float64)
        self._last = np.zeros(dim, np.float64)
        self._known = 0
        self._session = ""
        self._latest = np.nan
        self._rounds = 0

    def takes(
        self, vector: Floats, session: str, minute: float, background: NDArray[np.float64], values: HierarchyValues
    ) -> bool:
        """Whether a round goes on with this episode. An unknown time is no evidence of a gap, and time never runs back."""
        if self._rounds >= values.most_rounds or minute - self._latest > values.gap_minutes:
            return False
        same = session == self._session
        told = _told(vector, background) if vector.any() else None
        if told is None or not self._known or (same and self._rounds < values.least_rounds):
            return same
        return self._coherence(told, background) >= (values.coherence if same else values.coherence_across)

    def _coherence(self, told: NDArray[np.float64], background: NDArray[np.float64]) -> float:
        """Cosine with the episode or, where it is nearer, with its last round: talk moves on step by step."""
        others = (_told(self._sum / self._known, background), _told(self._last, background))
        return max((float(told @ other) for other in others if other is not None), default=1.0)

    def add(self, vector: Floats, session: str, minute: float) -> None:
        """Take a round in."""
        self._rounds += 1
        self._session = session
        if not np.isnan(minute):
            self._latest = minute if np.isnan(self._latest) else max(self._latest, minute)
        if vector.any():
            self._sum += vector
            self._last = vector.astype(np.float64)
            self._known += 1


def _told(vector: NDArray[np.floating], background: NDArray[np.float64]) -> NDArray[np.float64] | None:
    """What a vector says beyond the background, unit length; None where that is next to nothing."""
    beyond: NDArray[np.float64] = vector - background
    norm = float(np.linalg.norm(beyond))
    return None if norm < _FAINT else beyond / norm
