"""A question's picture is found as a round's is: near its file, within limits, nowhere else."""

from __future__ import annotations

from pathlib import Path

import pytest
from PIL import Image

from jobs.evaluate.pictures import picture_of
from operators.sources.files import LocalFiles
from operators.sources.media import PictureLimits


@pytest.fixture
def holder(tmp_path: Path) -> Path:
    """``data/dialog/Maya.json``, whose picture is ``data/image/q.png``; another lies out of reach."""
    path = tmp_path / "data" / "dialog" / "Maya.json"
    for folder in (path.parent, path.parent.parent / "image"):
        folder.mkdir(parents=True)
    for place in (tmp_path / "data" / "image" / "q.png", tmp_path / "away.png"):
        Image.new("RGB", (8, 6), "red").save(place)
    (tmp_path / "data" / "image" / "broken.png").write_bytes(b"no picture")
    return path


def find(reference: str, holder: Path, limits: PictureLimits | None = None) -> bytes | None:
    return picture_of(reference, str(holder), LocalFiles(), limits or PictureLimits())


def test_a_picture_near_the_file(holder: Path) -> None:
    assert find("../image/q.png", holder) == (holder.parent.parent / "image" / "q.png").read_bytes()


@pytest.mark.parametrize("reference", ["../../away.png", "../image/gone.png", "../image/broken.png", "https://x.org/q.png"])
def test_what_is_out_of_reach_gone_or_broken_is_not_at_hand(holder: Path, reference: str) -> None:
    assert find(reference, holder) is None


def test_limits_hold(holder: Path) -> None:
    assert find("../image/q.png", holder, PictureLimits(max_bytes=10)) is None
    assert find("../image/q.png", holder, PictureLimits(max_pixels=47)) is None
