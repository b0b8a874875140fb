"""Invented files of every benchmark, a few rounds each, whose evidence a search for the question's own words finds."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

SAID = ("the bakery opened", "my bicycle was stolen", "we adopted a kitten", "the piano arrived", "snow covered the harbour")


def locomo(said: tuple[str, ...] = SAID, session: str = "D1") -> dict[str, Any]:
    """A round for each thing said, and a question to each; one is adversarial, one has no evidence."""
    turns = [
        {"speaker": ("Ana", "Ben")[index % 2], "dia_id": f"{session}:{index + 1}", "text": text if index % 2 == 0 else "Oh?"}
        for index, text in enumerate(text for text in said for _ in range(2))
    ]
    asked: list[dict[str, Any]] = [
        {"question": f"when was it that {text}?", "evidence": [f"{session}:{2 * number + 1}"], "category": 1 + number % 2}
        for number, text in enumerate(said)
    ]
    asked.insert(1, {"question": "who stole the moon?", "evidence": [f"{session}:1"], "category": 5})
    asked.insert(3, {"question": "and what else?", "evidence": [], "category": 2})
    return {
        "speaker_a": "Ana",
        "speaker_b": "Ben",
        f"session_{session[1:]}_date_time": "1:56 pm on 8 May, 2023",
        f"session_{session[1:]}": turns,
        "qa": asked,
    }


def wrapped(sample: str, document: dict[str, Any]) -> dict[str, Any]:
    """The same conversation as LoCoMo publishes it."""
    conversation = {key: value for key, value in document.items() if key != "qa"}
    return {"sample_id": sample, "conversation": conversation, "qa": document["qa"]}


def gallery() -> dict[str, Any]:
    """Rounds with captions; the last question has a picture."""
    rounds = [
        {"round": f"D1:{number}", "user": f"Today {said}.", "assistant": "Noted.", "image_caption": [f"picture {number}"]}
        for number, said in enumerate(SAID, start=1)
    ]
    asked: list[dict[str, Any]] = [
        {"question": f"when was it that {said}?", "clue": [f"D1:{number}"], "point": "FR"}
        for number, said in enumerate(SAID, start=1)
    ]
    asked[-1] |= {"question_image": "../image/Maya/Q1.jpg", "image_caption": "a white harbour", "point": "TTL"}
    return {
        "multi_session_dialogues": [{"session_id": "D1", "date": "2024-06-24", "dialogues": rounds}],
        "human-annotated QAs": asked,
    }


def meme_eye() -> dict[str, Any]:
    """MemEye's own dialogs: turns in place of rounds, points and clues in lists of lists."""
    turns = [
        {"turn_id": f"T{number}", "speaker": ("user", "assistant")[number % 2], "text": f"{text}, turn {number}"}
        for number, text in enumerate(text for text in SAID for _ in range(2))
    ]
    asked = [
        {"question": f"when was it that {said}?", "clue": [[f"T{2 * number}"]], "point": [["X1"], ["Y2"]]}
        for number, said in enumerate(SAID)
    ]
    return {"sessions": [{"session_id": "S1", "turns": turns}], "qas": asked}


def haystack(question_id: str = "q1", *, marked: bool = True) -> dict[str, Any]:
    """A session of one round for each thing said; the bicycle's is the evidence."""
    sessions: list[list[dict[str, Any]]] = [
        [{"role": "user", "content": f"Today {said}."}, {"role": "assistant", "content": "Noted."}] for said in SAID
    ]
    if marked:
        sessions[1][0]["has_answer"] = True
    return {
        "question_id": question_id,
        "question_type": "single-session-user",
        "question": "when was it that my bicycle was stolen?",
        "haystack_sessions": sessions,
        "haystack_session_ids": [f"s{number}" for number in range(len(sessions))],
        "haystack_dates": [f"2023/05/{20 + number} (Sat) 02:21" for number in range(len(sessions))],
        "answer_session_ids": ["s1"],
    }


Write = Callable[[str, Any], Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Writes a JSON document below ``data`` and returns its path."""

    def put(name: str, document: Any) -> Path:
        path = tmp_path / "data" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(document), encoding="utf-8")
        return path

    return put


@pytest.fixture
def benchmarks() -> dict[str, Any]:
    """A document of each benchmark, by the name of its file."""
    return {
        "locomo.json": locomo(),
        "wrapped.json": [wrapped("conv-1", locomo()), wrapped("conv-2", locomo(SAID[:2], "D3"))],
        "gallery.json": gallery(),
        "memeye.json": meme_eye(),
        "haystacks.json": [haystack("q1"), haystack("q2", marked=False), haystack("q3_abs")],
    }
