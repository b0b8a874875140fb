"""Evidence recall and the questions it is measured with."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

from jobs.evaluate import (
    Question,
    evidence_places,
    evidence_recall,
    locomo_questions,
    mem_gallery_questions,
)
from operators.errors import SourceError
from operators.retrieve.result import Hit, SearchResult

PLACES = {"r0": 0, "m0": 0, "r1": 1, "r5": 5}


def search(user: str, query: str) -> SearchResult:
    """Finds rounds 0 and 4, with 5 as a neighbour, whatever is asked."""
    hits = [Hit(rank, 1 / rank, "s", f"r{order}", order, None, [], [], {}) for rank, order in enumerate((0, 4), start=1)]
    return SearchResult(1, "t", user, query, hits, [[0], [4, 5]], pl.DataFrame())


def ask(*evidence: str) -> Question:
    return Question("u", "where?", frozenset(evidence), "1")


def test_recall_is_the_mean_share_of_evidence_rounds() -> None:
    found = evidence_recall(search, [ask("r0", "m0"), ask("r0", "r1"), ask("r5"), ask("gone")], lambda _: PLACES)
    assert found.questions == 3
    assert found.at_k == pytest.approx((1 + 0.5 + 0) / 3)
    assert found.with_neighbours == pytest.approx((1 + 0.5 + 1) / 3)


def test_no_questions_have_no_recall() -> None:
    assert evidence_recall(search, [], lambda _: PLACES).questions == 0


def test_places_are_by_round_and_by_message() -> None:
    rows = [{"round_id": "r0", "order": 0, "messages": [{"message_id": "m0"}, {"message_id": None}]}]
    assert evidence_places(rows) == {"r0": 0, "m0": 0}


def test_mem_gallery_questions_have_clues(tmp_path: Path) -> None:
    path = tmp_path / "life.json"
    raw = [{"question": "q1", "clue": ["D1:1", "D1:2"], "point": "VS"}, {"question": "q2", "clue": [], "point": "AR"}]
    path.write_text(json.dumps({"human-annotated QAs": raw}), encoding="utf-8")
    assert mem_gallery_questions(path) == [Question("life", "q1", frozenset({"D1:1", "D1:2"}), "VS")]


def test_points_and_clues_may_be_nested_or_missing(tmp_path: Path) -> None:
    path = tmp_path / "life.json"
    raw = [{"question": "q1", "clue": [["D1:1"], ["D2:1"]], "point": [["X1"], ["Y2"]]}, {"question": "q2", "clue": [[]]}]
    path.write_text(json.dumps({"human-annotated QAs": raw}), encoding="utf-8")
    assert mem_gallery_questions(path) == [Question("life", "q1", frozenset({"D1:1", "D2:1"}), "X1+Y2")]


def test_locomo_questions_leave_out_the_adversarial_and_the_unfounded(tmp_path: Path) -> None:
    path = tmp_path / "7.json"
    raw = [
        {"question": "q1", "evidence": ["D8:6; D9:17", "D"], "category": 1},
        {"question": "q2", "evidence": ["D1:1"], "category": 5},
        {"question": "q3", "evidence": [], "category": 2},
    ]
    path.write_text(json.dumps({"qa": raw}), encoding="utf-8")
    assert locomo_questions(path) == [Question("7", "q1", frozenset({"D8:6", "D9:17"}), "1")]


@pytest.mark.parametrize("text", ["{", "[]", "{}"])
def test_a_file_without_questions_is_said(tmp_path: Path, text: str) -> None:
    path = tmp_path / "x.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(SourceError, match=r"x\.json"):
        locomo_questions(path)
