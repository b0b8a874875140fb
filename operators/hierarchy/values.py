"""The numbers that shape a hierarchy."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass

HIERARCHY_VERSION = 1
"""Raised whenever the same rounds and numbers would make another hierarchy: what was made before is then made anew."""

WEIGHT, LEAST = 0.5, 0.4
"""Lambda of AdaMM's Eq. 9, and the score from which an event is the one that is asked for.

The 156 questions about time of the shared LoCoMo conversations chose them: .5 finds an event that answers first for 68% (the
cosine alone for 25%, .3 for 64%); of the events that answer 95% score .4, of the best ones for questions to another
conversation 11%.
"""


@dataclass(frozen=True)
class HierarchyValues:
    """How episodes are cut, topics joined and levels described.

    ``gap_minutes``: a longer silence ends an episode. ``coherence``: cosine with its episode, beyond the background, that
    a round of the same session needs; ``coherence_across``: one of another session. An episode takes every round of its
    session until it has ``least_rounds``, and none once it has ``most_rounds``. ``topic_similarity``: mean cosine, beyond
    the background, from which episodes are one topic. ``block_episodes``: episodes that are compared each with each.
    ``sentences``, ``characters``: most of a description. ``name_words``: most words of a name.
    """

    gap_minutes: int = 720
    coherence: float = 0.2
    coherence_across: float = 0.35
    least_rounds: int = 3
    most_rounds: int = 40
    topic_similarity: float = 0.25
    block_episodes: int = 2048
    sentences: int = 3
    characters: int = 280
    name_words: int = 3

    @property
    def fingerprint(self) -> str:
        """16 hex digits naming all that shapes a hierarchy beside what was said."""
        told = {"version": HIERARCHY_VERSION, **asdict(self)}
        return hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()[:16]
