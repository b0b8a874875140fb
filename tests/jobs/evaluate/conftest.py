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


# --- histories with exact questions -----------------------------------------------------------------------------------

HOURS = (7.0, 6.5, 8.0, 5.5, 7.5, 6.0, 9.0, 7.25)
STEPS = (8_000, 12_000, 9_500, 10_400, 4_000, 11_000, 7_000, 10_000)
BOUGHT = (("OAK & PINE CAFE", "12.50"), ("RIVER BOOKS", "40.00"), ("OAK & PINE CAFE", "8.75"), ("ZENITH MART", "99.90"))


def turn(user: str, number: int, text: Any, day: str) -> dict[str, Any]:
    """A session of one round, whose name evidence gives."""
    messages = [
        {"role": "user", "content": text, "timestamp": f"{day}T20:00:00", "round": f"S{number}:1"},
        {"role": "assistant", "content": "Saved.", "timestamp": f"{day}T20:00:00", "round": f"S{number}:1"},
    ]
    return {"user_id": user, "session_id": f"S{number}", "messages": messages}


def exact(
    user: str, number: int, operation: str, text: str, kind: str, value: Any, unit: str | None, *rounds: int
) -> dict[str, Any]:
    """A question whose answer is held by the rounds of these sessions."""
    answer: dict[str, Any] = {"type": kind, "value": value} | ({"tolerance": 0.005} if kind == "number" else {})
    if kind == "choice":
        answer["options"] = ["before", "after"]
    return {
        "question_id": f"{user}-q{number}",
        "user_id": user,
        "operation": operation,
        "question": text,
        "answer": answer,
        "unit": unit,
        "as_of": "2024-06-01T12:00:00",
        "evidence": [f"S{each}:1" for each in rounds],
    }


def write_lines(path: Path, rows: list[dict[str, Any]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


@pytest.fixture
def lines() -> Callable[[Path, list[dict[str, Any]]], None]:
    """Writes records as lines of JSON."""
    return write_lines


@pytest.fixture
def diary(tmp_path: Path) -> Path:
    """Eight days of ann; on the fourth she moved. The last question has a wrong answer on purpose."""
    folder = tmp_path / "exact" / "diary"
    history = [
        turn("ann", at, f"Slept {hours} h. Walked {steps:,} steps.", f"2024-05-{at:02d}")
        for at, (hours, steps) in enumerate(zip(HOURS, STEPS, strict=True), start=1)
    ]
    history.append(turn("ann", 9, "I moved into the new flat today.", "2024-05-04"))
    days = range(1, 9)
    questions: list[tuple[Any, ...]] = [
        ("avg", "What is my average sleep in hours over all days?", "number", sum(HOURS) / 8, "hours", *days),
        ("max", "What is the highest number of steps I logged?", "number", 12_000, "steps", 2),
        ("argmax", "On which date did I log the most steps?", "date", "2024-05-02", None, 2),
        ("sum", "How many steps did I walk from May 2 to May 4, 2024?", "number", 31_900, "steps", 2, 3, 4),
        ("count", "On how many days did I log more than 10,000 steps?", "number", 3, "days", 2, 4, 6),
        ("compare", "Did I walk more steps per day on average before or after the day I moved into the new flat?",
         "choice", "before", None, 1, 2, 3, 5, 6, 7, 8),
        ("rank", "Which three dates had the most steps, highest first?",
         "dates", ["2024-05-02", "2024-05-06", "2024-05-04"], None, 2, 6, 4),
        ("lookup", "How many steps did I walk on May 3, 2024?", "number", 9_500, "steps", 3),
        ("wrong", "What is my lowest number of steps?", "number", 1, "steps", 5),
    ]  # fmt: skip
    write_lines(folder / "histories.jsonl", history)
    write_lines(folder / "questions.jsonl", [exact("ann", at, *each) for at, each in enumerate(questions, start=1)])
    return folder


@pytest.fixture
def till(tmp_path: Path) -> Path:
    """Four receipts of bea, whose pictures are not there but whose fields are given."""
    folder = tmp_path / "exact" / "till"
    picture = [{"type": "text", "text": "A receipt."}, {"type": "image_url", "image_url": {"url": "images/none.jpg"}}]
    fields = [
        {"user_id": "bea", "round": f"S{at}:1", "merchant": name, "date": f"2024-05-{at:02d}", "total": float(total)}
        for at, (name, total) in enumerate(BOUGHT, start=1)
    ]
    questions: list[tuple[Any, ...]] = [
        ("sum", "How much have I spent in total according to my receipts?", "number", 161.15, "MYR", 1, 2, 3, 4),
        ("sum-filter", "How much did I spend in total at OAK & PINE CAFE?", "number", 21.25, "MYR", 1, 3),
    ]
    write_lines(folder / "histories.jsonl", [turn("bea", at, picture, f"2024-05-{at + 1:02d}") for at in range(1, 5)])
    write_lines(folder / "fields.jsonl", fields)
    write_lines(folder / "questions.jsonl", [exact("bea", at, *each) for at, each in enumerate(questions, start=1)])
    return folder
