"""All shared public data read without a rejection, counted against plain JSON."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from operators.sources.files import LocalFiles, SourceFile, find_sources
from operators.sources.media import PictureCache, PictureLimits, attach_pictures
from operators.sources.read import survey

DATA = Path(__file__).resolve().parents[4] / "shared" / "data"

pytestmark = pytest.mark.skipif(not DATA.is_dir(), reason="../shared/data is not here")


def files_in(folder: str, pattern: str) -> list[Path]:
    found = sorted((DATA / folder).glob(pattern))
    assert found
    return found


def counted(got: Any) -> tuple[int, int, int, int]:
    rounds = [record for session in got.sessions for record in session.rounds]
    messages = sum(len(record.messages) for record in rounds)
    return len(got.sessions), len(rounds), messages, sum(len(record.images) for record in rounds)


def test_locomo(read: Callable[..., Any]) -> None:
    for path in files_in("locomo", "*.json"):
        raw = json.loads(path.read_text())
        sessions = [value for key, value in raw.items() if key.removeprefix("session_").isdigit()]
        turns = [turn for session in sessions for turn in session]
        pictures = sum(max(len(turn.get("img_url", [])), "blip_caption" in turn) for turn in turns)
        expected = (len(sessions), sum((len(session) + 1) // 2 for session in sessions), len(turns), pictures)
        got = read(path)
        assert got.errors == []
        assert counted(got) == expected
        assert {session.user_id for session in got.sessions} == {path.stem}
        said = sorted((m.message_id, m.text, m.speaker) for s in got.sessions for r in s.rounds for m in r.messages)
        assert said == sorted((turn["dia_id"], turn["text"], turn["speaker"]) for turn in turns)
        assert all(record.time is not None for session in got.sessions for record in session.rounds)
        evidence = {name for question in raw["qa"] for name in question["evidence"] if name in {t["dia_id"] for t in turns}}
        assert evidence <= {message_id for message_id, _, _ in said}


def test_mem_gallery(read: Callable[..., Any]) -> None:
    for path in files_in("mem_gallery", "*.json"):
        raw = json.loads(path.read_text())["multi_session_dialogues"]
        rounds = [record for session in raw for record in session["dialogues"]]
        expected = (len(raw), len(rounds), 2 * len(rounds), sum(len(r.get("input_image", [])) for r in rounds))
        got = read(path)
        assert got.errors == []
        assert counted(got) == expected
        assert [r.round_id for s in got.sessions for r in s.rounds] == [r["round"] for r in rounds]
        texts = [m.text for s in got.sessions for r in s.rounds for m in r.messages]
        assert texts == [text for r in rounds for text in (r["user"], r["assistant"])]
        assert {r.time.precision for s in got.sessions for r in s.rounds} == {"day"}


@pytest.mark.parametrize("folder", ["wearables", "receipts"])
def test_chats_with_pictures(read: Callable[..., Any], folder: str) -> None:
    path = DATA / folder / "histories.jsonl"
    raw = [json.loads(line) for line in path.read_text().splitlines()]
    messages = [(record["user_id"], message) for record in raw for message in record["messages"]]
    pictures = sum(isinstance(message["content"], list) for _, message in messages)
    rounds = {(user, message["round"]) for user, message in messages}
    got = read(path, split_bytes=5000)
    assert got.errors == []
    assert counted(got) == (len(raw), len(rounds), len(messages), pictures)
    assert {(s.user_id, r.round_id) for s in got.sessions for r in s.rounds} == rounds
    kept: dict[str, bytes] = {}
    cache, holder = PictureCache(), SourceFile(str(path), path.stat().st_size, "0", named=True)
    for session in got.sessions:
        attached = attach_pictures(session, holder, LocalFiles(), PictureLimits(), kept.__setitem__, cache=cache)
        assert (attached.refused, attached.missing) == ([], 0)
    contents = {image.read_bytes() for image in (path.parent / "images").iterdir()}
    assert set(kept.values()) <= contents


def test_what_lies_beside_the_histories_is_ignored() -> None:
    files = LocalFiles()
    surveys = [survey(file, files) for file in find_sources([str(DATA)], lambda _: files)]
    verdicts: dict[str, set[str]] = {}
    for seen in surveys:
        verdicts.setdefault(seen.verdict, set()).add(Path(seen.file.uri).name)
    assert verdicts.keys() == {"read", "ignored"}
    assert verdicts["ignored"] == {"fields.jsonl", "questions.jsonl"}
