"""What a memory tells of its users' hierarchies, whatever it reads them from."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from datetime import date

from operators.errors import UsageError
from operators.hierarchy.find import Located, Match, UserHierarchy, check_match
from operators.hierarchy.nodes import Node
from operators.hierarchy.values import LEAST, WEIGHT
from operators.hierarchy.vectors import Floats
from operators.records import LEVELS


class HierarchyReads(ABC):
    """Reads of one tenant's users' hierarchies; each names a user, and one who is not known has nothing."""

    @abstractmethod
    def hierarchy(self, user: str) -> UserHierarchy | None:
        """The user's hierarchy, None for a user who is not known. ScopeError without user."""

    @abstractmethod
    def query_vector(self, query: str) -> Floats:
        """The vector (dim,) of a query, by the encoder of the store's texts."""

    def topics(self, user: str) -> list[Node]:
        """What the user's history is about: topics with their episodes and events, in the order in which they came up."""
        found = self.hierarchy(user)
        return [] if found is None else found.topics

    def timeline(self, user: str, first: date | None = None, last: date | None = None) -> list[Node]:
        """The user's episodes with their events, in order: those that have a day from ``first`` to ``last``, both inclusive.

        Episodes without any time are left out where a day is asked for. UsageError where ``last`` is before ``first``.
        """
        if first is not None and last is not None and last < first:
            raise UsageError(f"a timeline from {first} to {last} has no days: the second is before the first")
        found = self.hierarchy(user)
        episodes = [] if found is None else found.episodes
        if first is None and last is None:
            return episodes
        since, until = first or date.min, last or date.max
        return [
            each
            for each in episodes
            if each.first_day and each.last_day and each.first_day <= until and since <= each.last_day
        ]

    def semantic_match(
        self,
        user: str,
        query: str,
        *,
        levels: Sequence[str] = LEVELS,
        k: int = 12,
        weight: float = WEIGHT,
        vector: Floats | None = None,
    ) -> list[Match]:
        """SEMANTICMATCH (AdaMM, Table 1): the ``k`` topics, episodes and events that fit a query best, the best first.

        ``weight``: of the cosine, beside the words (``UserHierarchy.match``). ``vector`` (dim,): the query's, where it is at
        hand. ScopeError without user; UsageError for a blank query or a value out of range.
        """
        check_match(query, levels=levels, k=k, weight=weight)
        found = self.hierarchy(user)
        if found is None:
            return []
        vector = self.query_vector(query) if vector is None else vector
        return found.match(query, vector, levels=levels, k=k, weight=weight)

    def event_locate(
        self,
        user: str,
        query: str,
        *,
        k: int = 1,
        weight: float = WEIGHT,
        least: float = LEAST,
        vector: Floats | None = None,
    ) -> list[Located]:
        """EVENTLOCATE (AdaMM, Table 1): when what a query tells was ("when I went to the hospital"), the most likely first.

        At most ``k`` intervals, one an episode. Nothing rather than a guess where no event scores ``least``. Errors as in
        ``semantic_match``.
        """
        check_match(query, k=k, weight=weight, least=least)
        found = self.hierarchy(user)
        if found is None:
            return []
        vector = self.query_vector(query) if vector is None else vector
        return found.locate(query, vector, k=k, weight=weight, least=least)
