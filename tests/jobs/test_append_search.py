"""A history that came in two backfills is searched as if it had come in one."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from configs.settings import ImageEncoderSettings, Settings, parse_settings
from jobs.backfill import BackfillRequest, backfill
from operators.memory import Memory, open_store

pytestmark = pytest.mark.usefixtures("ray_cluster")

WriteSessions = Callable[..., Path]
SAID = ("the ferry was late", "we adopted a kitten", "the tax form is due", "snow on the harbour", "a cake for Ana", "noon")
ASKED = ("when was the ferry late?", "what is the kitten called?", "who had a cake?", "which photo shows the harbour?")
CHANGES: list[dict[str, Any]] = [
    {},
    {"fusion": "reciprocal-rank", "text": {"dense": 1.0, "bm25": 1.0}, "spread": 0.0},
    {"items": "units"},
    {"routing": False},
    {"fold_captions": False, "dates": False},
]


def session(user: str, number: int) -> dict[str, Any]:
    """Two sessions of the same name would be one; each has a day of its own."""
    messages = [
        {
            "role": role,
            "content": f"{text}, {number}" if role == "user" else "I see.",
            "timestamp": f"2024-05-{number:02d}T10:00:00Z",
        }
        for text in SAID[number % 2 :]
        for role in ("user", "assistant")
    ]
    return {"user_id": user, "session_id": f"S{number}", "messages": messages}


def filled(store: Path, settings: Settings, *sources: Path) -> Memory:
    for source in sources:
        backfill(BackfillRequest((str(source),), str(store), "default"), settings, lambda _: None)
    return open_store(str(store)).memory()


def test_one_backfill_or_two(tmp_path: Path, settings: Settings, write_sessions: WriteSessions) -> None:
    lean = settings.model_copy(update={"image_encoder": ImageEncoderSettings(kind="none")})
    sessions = [session(user, number) for user in ("mira", "noor") for number in (1, 2, 3)]
    first, second = sessions[:2] + sessions[3:4], sessions[2:3] + sessions[4:]
    early, late, whole = (
        write_sessions(f"{name}.jsonl", told) for name, told in (("early", first), ("late", second), ("whole", sessions))
    )
    appended, rebuilt = filled(tmp_path / "two", lean, early, late), filled(tmp_path / "one", lean, whole)
    assert (appended.snapshot.version, rebuilt.snapshot.version) == (2, 1)
    for change in CHANGES:
        values = parse_settings({"retrieval": change}, origin="tests").retrieval.values()
        for user in ("mira", "noor"):
            for query in ASKED:
                one, two = (memory.search(user, query, values=values) for memory in (rebuilt, appended))
                assert [(hit.session_id, hit.round_id, hit.order) for hit in one.hits] == [
                    (hit.session_id, hit.round_id, hit.order) for hit in two.hits
                ]
                assert np.allclose([hit.score for hit in one.hits], [hit.score for hit in two.hits], atol=1e-3)
                assert (one.runs, one.case) == (two.runs, two.case)
                assert len(one.hits) > 0
