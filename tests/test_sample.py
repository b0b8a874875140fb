"""The shipped sample: made by its generator, large and varied enough, and consistent in its numbers."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

USERS = ("aiko", "mira", "tomas")


def sessions(folder: Path, user: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / f"{user}.jsonl").read_text(encoding="utf-8").splitlines()]


def parts(message: dict[str, Any]) -> list[dict[str, Any]]:
    content = message["content"]
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def text_of(message: dict[str, Any]) -> str:
    return " ".join(part["text"] for part in parts(message) if part["type"] == "text")


def pictures(folder: Path) -> set[str]:
    told = (sessions(folder, user) for user in USERS)
    messages = (message for found in told for session in found for message in session["messages"])
    return {part["image_url"]["url"] for message in messages for part in parts(message) if part["type"] == "image_url"}


def test_the_generator_makes_what_is_shipped(repo: Path, sample_histories: Path, tmp_path: Path) -> None:
    made = tmp_path / "made"
    subprocess.run([sys.executable, repo / "sample" / "make_sample.py", made], check=True, timeout=120)
    shipped = sorted(path.relative_to(sample_histories) for path in sample_histories.rglob("*") if path.is_file())
    assert sorted(path.relative_to(made) for path in made.rglob("*") if path.is_file()) == shipped
    for user in USERS:
        assert (made / f"{user}.jsonl").read_bytes() == (sample_histories / f"{user}.jsonl").read_bytes()


@pytest.mark.parametrize("user", USERS)
def test_each_user_has_months_of_sessions(sample_histories: Path, user: str) -> None:
    found = sessions(sample_histories, user)
    assert len(found) >= 25
    assert len({session["session_id"] for session in found}) == len(found)
    assert {session["user_id"] for session in found} == {user}
    times = [datetime.fromisoformat(message["timestamp"]) for session in found for message in session["messages"]]
    assert max(times) - min(times) > timedelta(days=120)
    starts = [datetime.fromisoformat(session["messages"][0]["timestamp"]) for session in found]
    assert starts == sorted(starts)


def test_every_picture_is_there_once_and_opens(sample_histories: Path) -> None:
    named = pictures(sample_histories)
    assert {f"pictures/{path.name}" for path in (sample_histories / "pictures").iterdir()} == named
    for name in named:
        with Image.open(sample_histories / name) as image:
            image.load()
            assert image.format in ("PNG", "JPEG")


def test_the_sample_stays_small(sample_histories: Path) -> None:
    assert sum(path.stat().st_size for path in sample_histories.rglob("*") if path.is_file()) < 1_500_000


def test_receipts_add_up(sample_histories: Path) -> None:
    seen = 0
    for session in sessions(sample_histories, "tomas"):
        told = re.fullmatch(r"Groceries at .+ today: (.+)\. Total (\d+\.\d\d) euros\.", text_of(session["messages"][0]))
        if told:
            cents = [int(price.replace(".", "")) for price in re.findall(r" (\d+\.\d\d)(?:,|$)", told[1])]
            assert sum(cents) == int(told[2].replace(".", ""))
            seen += 1
    assert seen >= 10


def test_sleep_differences_are_right(sample_histories: Path) -> None:
    logged = [session for session in sessions(sample_histories, "mira") if session["session_id"].endswith("-log")]
    before: int | None = None
    compared = 0
    for session in logged:
        told = re.match(r"Slept (\d+)h (\d\d)m", text_of(session["messages"][0]))
        minutes = int(told[1]) * 60 + int(told[2]) if told else None
        said = re.search(r"That is (\d+) minutes (more|less)", text_of(session["messages"][1]))
        if said and minutes is not None and before is not None:
            assert minutes - before == int(said[1]) * (1 if said[2] == "more" else -1)
            compared += 1
        before = minutes
    assert compared >= 15
