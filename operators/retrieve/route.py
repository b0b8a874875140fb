"""Which case a query is, by its wording alone: no model is asked (V-Mem, section 3.3, Appendix B)."""

from __future__ import annotations

import re
from dataclasses import dataclass

from operators.retrieve.values import Case

_PICTURES = (
    r"(?:images?|pictures?|photos?|photographs?|pics?|screenshots?|snapshots?|selfies?)\b"
    r"(?!\s+(?:frames?|regions?|albums?|books?|quality|editing|editors?|processing|recognition|generation|shop|studio|shoot)\b)"
)
_GRAMMAR = (
    r"(?!(?:in|on|of|from|at|to|with|about|by|for|is|are|was|were|be|do|does|did|has|have|had|can|could|will|would|should|"
    r"the|this|that|these|those|it|out|what|how|who|when|where|why|whether|if|and|or|i|you|we|he|she|they|made|took|got|"
    r"sent|gave|shot|came|went|makes?|takes?|gets?)\b)"
)
"""Not a word that would make the picture a place where something is, or a thing that something is done to: "what is the name
in the picture" asks for a name, "what made the picture special" for a fact."""
_OF_A_KIND = rf"(?:{_GRAMMAR}(?:[\w-]*[^\Ws]|[\w-]*ss)\s+){{0,3}}"
"""Words that tell the kind; one that ends in s is a verb ("which museum displays pictures") or somebody's."""
_COUNTED = rf"(?:{_GRAMMAR}[\w'\u2019-]+\s+){{0,4}}"
_OF_THEM = r"(?:(?:ones?\s+)?of\s+)?(?:(?:the|these|those|all|my|our|your|his|her|their)\s+)*"

_ASKS_WHICH = re.compile(
    rf"\b(?:(?:which\s+{_OF_THEM}|what\s+){_OF_A_KIND}|how\s+many\s+{_OF_THEM}{_COUNTED}){_PICTURES}", re.I
)
_ASKS_AMONG = re.compile(rf"\b(?:among|of|from)\s+{_OF_THEM}{_COUNTED}{_PICTURES}.{{0,80}}\bwhich(?:\s+ones?)?\b", re.I)
_ASKS_FOR = re.compile(
    r"(?:^|[.!?;:]\s+)(?:(?:please|kindly|can|could|would|will|you|help|me|now|hi|hey|hello|ok|okay|and|also|then|just)[\s,!]+)*"
    r"(?:search|look|find|retrieve|locate|show|fetch|send|give|get|pull\s+up|bring\s+up|list)\s+"
    r"(?:(?:me|us|for|up|again|back|all|any|some|every|the|that|those|my|our|your|a|an)\s+)*"
    rf"{_COUNTED}{_PICTURES}",
    re.I,
)
_COUNTS = re.compile(r"\bhow\s+many\b", re.I)
_ENUMERATES = re.compile(
    r"^\W*(?:(?:please|can|could|would|you|now|and)[\s,]+)*(?:list|enumerate|name\s+(?:all|every|the))\b"
    r"|\bin\s+(?:what|which)\s+ways\b|\bwhat\s+are\s+all\b",
    re.I,
)
_SET_OF_ITEMS = re.compile(
    r"^\W*(?:what|which)\s+(?:(?:kinds?|types?|sorts?)\s+of\s+)?(?:[\w'\u2019-]+\s+){0,2}"
    r"[a-z]+(?<!ss)(?<!us)(?<!is)(?<!does)(?<!was)(?<!has)(?<=s)\s+(?:has|have|had|do|does|did|are|were)\b",
    re.I,
)


@dataclass(frozen=True)
class Route:
    """``case``: modality of the query, then of what it asks for. ``counts``: it counts pictures, so no single caption
    describes what it seeks. ``aggregates``: its evidence is scattered over many rounds."""

    case: Case
    counts: bool
    aggregates: bool


def route(query: str, *, picture: bool) -> Route:
    """The route of a query; ``picture``: whether a picture, or what one shows, comes with it."""
    image = asks_for_picture(query)
    counts = image and _COUNTS.search(query) is not None
    if picture:
        return Route("picture_to_image" if image else "picture_to_text", counts, aggregates(query))
    return Route("text_to_image" if image else "text_to_text", counts, aggregates(query))


def asks_for_picture(query: str) -> bool:
    """True where what is asked for is which pictures, or how many: the rule is narrow on purpose."""
    return any(pattern.search(query) for pattern in (_ASKS_WHICH, _ASKS_AMONG, _ASKS_FOR))


def aggregates(query: str) -> bool:
    """True for a question that counts, enumerates or asks for a set of things."""
    return any(pattern.search(query) for pattern in (_COUNTS, _ENUMERATES, _SET_OF_ITEMS))
