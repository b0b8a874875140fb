"""What the rules find before it becomes an observation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from operators.extract.values import Parsed


@dataclass(frozen=True)
class Finding:
    """An attribute with its value. ``start`` and ``end``: where the value stands, as character offsets into the text.

    ``attribute`` is empty where only a correction is told (``sorry, it was 7 h``). ``record`` counts from 0 in its text.
    ``corrects``: it takes back what was said before.
    """

    attribute: str
    start: int
    end: int
    parsed: Parsed
    confidence: float
    record: int = 0
    corrects: bool = False


LOOKED_BACK = 50
"""Findings of a message or a round that a correction looks back."""


def takes_back(later: Finding, earlier: Finding) -> bool:
    """Whether a correction can be of a finding: of the same attribute or, where it names none, of the same kind and unit."""
    if later.attribute:
        return later.attribute.casefold() == earlier.attribute.casefold()
    return later.parsed.kind == earlier.parsed.kind and later.parsed.unit in (None, earlier.parsed.unit)


def in_records(findings: Sequence[Finding]) -> list[Finding]:
    """The findings of one stretch of text with their records: an attribute that comes again begins a new one."""
    record = 0
    seen: set[str] = set()
    placed = []
    for finding in findings:
        name = finding.attribute.casefold()
        if name in seen:
            record, seen = record + 1, set()
        seen.add(name)
        placed.append(replace(finding, record=record))
    return placed


def shifted(findings: Sequence[Finding], first: int) -> list[Finding]:
    """The same findings with records counted from ``first``."""
    return [replace(finding, record=finding.record + first) for finding in findings]


def records_of(findings: Sequence[Finding]) -> int:
    """How many records there are, if they are counted from 0."""
    return max((finding.record for finding in findings), default=-1) + 1
