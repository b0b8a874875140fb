"""What a lane searches with instead of the query: text that stands closer to the evidence (V-Mem, section 3.3)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

MOST_KEYWORDS = 8
"""V-Mem, table 5: image keywords per query."""


class Anchors(Protocol):
    """Makes anchors, by a model. What it cannot make it leaves out, and the query itself is searched with."""

    def caption(self, query: str) -> str | None:
        """The caption that the one picture which is asked for would have."""
        ...

    def keywords(self, query: str, picture: bytes | None, caption: str | None) -> Sequence[str]:
        """What the rounds that answer would name of the query's picture."""
        ...


class NoAnchors:
    """Without a model there are none."""

    def caption(self, query: str) -> str | None:  # noqa: ARG002
        """None."""
        return None

    def keywords(self, query: str, picture: bytes | None, caption: str | None) -> Sequence[str]:  # noqa: ARG002
        """None."""
        return ()
