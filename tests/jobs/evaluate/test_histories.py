"""Folders of histories with exact questions: what is read, what is refused, and receipts told in words."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from jobs.evaluate.histories import read_histories, read_wordings, told_in_words
from operators.errors import UsageError

Lines = Callable[[Path, list[dict[str, Any]]], None]


def test_a_folder_and_a_folder_of_folders(diary: Path, till: Path) -> None:
    (one,) = read_histories(diary, None)
    assert (one.name, one.questions[0].operation, one.questions[0].data) == ("diary", "avg", "diary")
    assert [each.name for each in read_histories(diary.parent, None)] == ["diary", "till"]
    assert till.parent == diary.parent


def test_times_without_offset_are_of_the_zone(diary: Path) -> None:
    assert read_histories(diary, None)[0].questions[0].as_of == datetime(2024, 6, 1, 12, tzinfo=UTC)
    assert read_histories(diary, ZoneInfo("Asia/Tokyo"))[0].questions[0].as_of == datetime(2024, 6, 1, 3, tzinfo=UTC)


def test_a_bare_day_is_its_end(diary: Path, lines: Lines) -> None:
    path = diary / "questions.jsonl"
    raw = json.loads(path.read_text().splitlines()[0])
    lines(path, [raw | {"as_of": "2024-06-01"}, raw | {"as_of": None}])
    first, second = read_histories(diary, None)[0].questions
    assert (first.as_of, second.as_of) == (datetime(2024, 6, 1, 23, 59, 59, tzinfo=UTC), None)


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"answer": None}, "line 2: a field"),
        ({"answer": {"type": "colour", "value": 1}}, "line 2: answers are of type"),
        ({"answer": {"type": "number"}}, "line 2: a question lacks 'value'"),
        ({"as_of": "yesterday"}, "line 2: a field"),
    ],
)
def test_a_question_that_is_none_is_named_without_its_words(diary: Path, lines: Lines, changes: Any, told: str) -> None:
    path = diary / "questions.jsonl"
    raw = json.loads(path.read_text().splitlines()[0])
    lines(path, [raw, raw | changes])
    with pytest.raises(UsageError, match=told) as caught:
        read_histories(diary, None)
    assert raw["question"] not in str(caught.value)


def test_what_holds_no_questions_is_refused(diary: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="holds no"):
        read_histories(tmp_path / "nowhere", None)
    (diary / "questions.jsonl").write_text("\n")
    with pytest.raises(UsageError, match="holds a question"):
        read_histories(diary, None)
    (diary / "questions.jsonl").write_text("{\n")
    with pytest.raises(UsageError, match="line 1: this is no JSON"):
        read_histories(diary, None)


def test_wordings_stand_for_their_question(diary: Path, tmp_path: Path, lines: Lines) -> None:
    histories = read_histories(diary, None)
    path = tmp_path / "words.jsonl"
    lines(path, [{"question_id": "ann-q1", "question": "sleep, on average?"}] * 2)
    first, _ = read_wordings(path, histories)
    assert (first.text, first.reworded, first.expected) == ("sleep, on average?", True, histories[0].questions[0].expected)
    for broken, told in (
        ({"question_id": "ann-q99", "question": "what?"}, "of no question"),
        ({"question_id": "ann-q1", "question": " "}, "no question"),
    ):
        lines(path, [broken])
        with pytest.raises(UsageError, match=told):
            read_wordings(path, histories)
    with pytest.raises(UsageError, match="more than one"):
        lines(path, [{"question_id": "ann-q1", "question": "sleep?"}])
        read_wordings(path, [*histories, *histories])


def test_fields_stand_in_for_pictures(till: Path) -> None:
    (first, *_) = told_in_words(till)
    assert first["messages"][0]["content"] == "merchant: OAK & PINE CAFE\ndate: 2024-05-01\ntotal: RM 12.50"
    assert first["messages"][1]["content"] == "Saved."
