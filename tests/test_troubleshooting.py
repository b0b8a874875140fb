"""The troubleshooting page says what the product says: each text in it stands in the source, and each code in it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

REPO = Path(__file__).resolve().parents[1]
PAGE = (REPO / "TROUBLESHOOTING.md").read_text(encoding="utf-8")
SOURCE = "\n".join(
    path.read_text(encoding="utf-8")
    for root in ("operators", "jobs", "configs")
    for path in sorted((REPO / root).rglob("*.py"))
) + (REPO / "Makefile").read_text(encoding="utf-8")
SAID = re.sub(r'"\s*\n\s*f?"', "", SOURCE)
"""The source with texts that go over several lines in one piece."""


def rows(section: str) -> list[str]:
    """What the first column of a section's tables names."""
    found: list[str] = []
    for part in re.split(r"^## ", PAGE, flags=re.MULTILINE)[1:]:
        if part.startswith(section):
            found += re.findall(r"^\| `([^`]+)` \|", part, flags=re.MULTILINE)
    assert found, section
    return found


@pytest.mark.parametrize("text", [text for section in ("Setting up", "Asking", "The store") for text in rows(section)])
def test_each_message_is_one_that_is_said(text: str) -> None:
    for piece in filter(None, (piece.strip() for piece in text.split(".."))):
        assert piece in SAID, piece


def test_every_code_of_the_quarantine_is_explained_and_none_besides() -> None:
    codes = set(re.findall(r'reject\(\s*"([a-z0-9-]+)"', SOURCE)) | set(re.findall(r'\bcode="([a-z0-9-]+)"', SOURCE))
    codes |= {f"picture-{code}" for code in re.findall(r'code="(unreadable)"', SOURCE)} | {"not-json", "other-user"}
    assert set(rows("Quarantine")) == codes - {"no-questions"}  # of the benchmark's own reading


def test_every_doubt_is_explained() -> None:
    told = set(rows("Doubts"))
    assert {"bad-time", "no-current-node"} <= told
    look = (REPO / "jobs" / "look.py").read_text(encoding="utf-8")
    assert told >= set(re.findall(r'"((?:no|missing|unknown)-[a-z]+)"', look))
