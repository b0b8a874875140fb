"""Invented histories: the same for the same values, varied within."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from jobs.bench.conversations import folders, questions, vocabulary, write_sessions
from operators.errors import UsageError


def write(path: Path, sessions: int) -> list[str]:
    size = write_sessions(path, sessions=sessions, rounds=3, words=(6, 12), sessions_per_user=2)
    text = path.read_text(encoding="utf-8")
    assert size == len(text.encode())
    return text.splitlines()


def test_sessions_are_written_alike_and_differ(tmp_path: Path) -> None:
    lines = write(tmp_path / "a.jsonl", 5)
    assert lines == write(tmp_path / "b.jsonl", 5)
    assert lines == write(tmp_path / "c.jsonl", 6)[:5]
    sessions = [json.loads(line) for line in lines]
    assert [session["user_id"] for session in sessions] == [f"user-{n:06d}" for n in (0, 0, 1, 1, 2)]
    said = [message["content"] for session in sessions for message in session["messages"]]
    assert len(set(said)) == len(said) == 5 * 3 * 2
    assert all(3 <= len(text.split()) <= 18 for text in said)


def test_words_are_many() -> None:
    assert len(set(vocabulary())) == len(vocabulary()) == 6_000


def test_the_shared_folders_and_their_questions(conversations: Path) -> None:
    found = folders(conversations)
    assert [len(questions(folder)) for folder in found.values()] == [5, 5]


def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    (tmp_path / "locomo").mkdir()
    with pytest.raises(UsageError, match="holds no mem_gallery folder"):
        folders(tmp_path)
