"""Conversations of the two shared benchmarks' shapes, a few rounds each."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

DAYS = ("the bakery opened", "my bicycle was stolen", "we adopted a kitten", "the piano arrived", "snow fell on the harbour")


@pytest.fixture
def conversations(tmp_path: Path) -> Path:
    """A folder with ``mem_gallery`` and ``locomo``: one user and five rounds in each, a question to every round."""
    rounds = [
        {"round": f"D1:{number}", "user": f"Today {said}.", "assistant": f"Noted, item {number}.", "image_caption": []}
        for number, said in enumerate(DAYS, start=1)
    ]
    gallery = {
        "character_profile": {"name": "Maya"},
        "multi_session_dialogues": [{"session_id": "D1", "date": "2024-06-24", "dialogues": rounds}],
        "human-annotated QAs": [
            {"question": f"when was it that {said}?", "clue": [f"D1:{number}"], "point": "FR"}
            for number, said in enumerate(DAYS, start=1)
        ],
    }
    turns = [
        {"speaker": ("Ana", "Ben")[index % 2], "dia_id": f"D1:{index + 1}", "text": f"{said}, turn {index}"}
        for index, said in enumerate(said for said in DAYS for _ in range(2))
    ]
    locomo = {
        "speaker_a": "Ana",
        "speaker_b": "Ben",
        "session_1_date_time": "1:56 pm on 8 May, 2023",
        "session_1": turns,
        "qa": [
            {"question": f"when was it that {said}?", "evidence": [f"D1:{2 * number + 1}"], "category": 1}
            for number, said in enumerate(DAYS)
        ],
    }
    for name, stem, document in (("mem_gallery", "Maya", gallery), ("locomo", "7", locomo)):
        path = tmp_path / "data" / name / f"{stem}.json"
        path.parent.mkdir(parents=True)
        path.write_text(json.dumps(document), encoding="utf-8")
    return tmp_path / "data"
