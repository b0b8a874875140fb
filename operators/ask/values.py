"""How questions are asked: plain values that the settings are handed down as."""

from __future__ import annotations

from dataclasses import dataclass

MOST_STEPS = 3
"""Of a plan (AdaMM, section 4.1)."""

ANALYTIC = ("lookup", "filter", "compute", "rank")
RETRIEVAL = ("semantic_match", "event_locate")
"""The tools of either memory (AdaMM, Table 1); ``query`` is one of ours."""


@dataclass(frozen=True)
class ContextValues:
    """``weight``: lambda of AdaMM's Eq. 9, of the cosine beside the words. ``tables`` and ``episodes``: most that are shown;
    None: all there are (the ablation "without context")."""

    weight: float = 0.5
    tables: int | None = 3
    episodes: int | None = 5


@dataclass(frozen=True)
class Limits:
    """``steps`` of a plan; ``units`` of evidence that they share (AdaMM, section 4.1): a retrieved round or the result of
    a tool is one. ``progressive``: whether a step sees what was found before it; else all arguments are made at once."""

    steps: int = MOST_STEPS
    units: int = 10
    progressive: bool = True


@dataclass(frozen=True)
class AskValues:
    """How questions are asked. ``analytic`` and ``retrieval``: whether the tools of either memory may be used; ``query``:
    whether QUERY may; ``context`` and ``limits``: of the planning context and the plan."""

    context: ContextValues = ContextValues()
    limits: Limits = Limits()
    analytic: bool = True
    retrieval: bool = True
    query: bool = False
    weight: float = 0.5
    """Of the cosine in SEMANTICMATCH and EVENTLOCATE over the hierarchy."""
    least: float = 0.4
    """Score from which an event is the one that is asked for."""
    same_picture: float = 0.9
    """Cosine from which a question's picture is taken for a stored one."""

    @property
    def tools(self) -> tuple[str, ...]:
        """The tools that may be used."""
        return (
            *(ANALYTIC if self.analytic else ()),
            *(("query",) if self.analytic and self.query else ()),
            *(RETRIEVAL if self.retrieval else ()),
        )
