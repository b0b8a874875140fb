"""The page on observations is true: what it says is observed is, and nothing else."""

from __future__ import annotations

import re
from datetime import date
from pathlib import Path

import pytest

from operators.extract.folding import folded
from operators.extract.text import observe_text
from operators.extract.values import Style, parse_value

PAGE = (Path(__file__).resolve().parents[1] / "OBSERVATIONS.md").read_text(encoding="utf-8")
SAID = re.findall(r"^\| `([^`]+)` \| (`.*|nothing) \|$", PAGE, re.MULTILINE)
WRITTEN = re.findall(r"^\| (`[^|]+) \| [^|]+ \| `([a-z-]+)` \|$", PAGE, re.MULTILINE)
STYLE = Style(said=date(2024, 5, 9))


def told(text: str) -> list[str]:
    """The findings of a text in the words of the page."""
    found = []
    for finding in observe_text(text, STYLE):
        parsed = finding.parsed
        number = None if parsed.number is None else f"{parsed.number:g} {parsed.unit or ''}".strip()
        number = number if parsed.number is None or parsed.number < 1e5 else str(parsed.number)
        meant = number if parsed.kind != "date" else parsed.text
        said = ", ".join(filter(None, (meant, parsed.doubt)))
        found.append(f"`{finding.attribute}` = `{text[finding.start : finding.end]}`" + (f" ({said})" if said else ""))
    return found


@pytest.mark.parametrize(("text", "observed"), SAID)
def test_what_is_said_is_observed_so(text: str, observed: str) -> None:
    assert ", ".join(told(text)) == ("" if observed == "nothing" else observed)


@pytest.mark.parametrize(
    ("written", "doubt"), [(text, doubt) for cell, doubt in WRITTEN for text in re.findall("`([^`]+)`", cell)]
)
def test_a_doubt_is_noted(written: str, doubt: str) -> None:
    if doubt == "no-day":
        (finding,) = [each for each in observe_text(f"{written} I slept 7 h", Style()) if each.attribute == "date"]
        assert finding.parsed.doubt == doubt
        return
    parsed = parse_value(folded(written))
    assert parsed is not None
    assert parsed.doubt == doubt


def test_the_tables_are_not_empty() -> None:
    assert len(SAID) > 20
    assert {doubt for _, doubt in WRITTEN} >= {"approximate", "range", "day-or-month", "no-year", "no-day"}
