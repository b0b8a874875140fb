"""Pictures: kept once by content, missing ones no fault, broken ones told, and nothing read outside the source's folder."""

from __future__ import annotations

import base64
import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from operators.memory import open_store


@dataclass(frozen=True)
class Shown:
    store: Path
    folder: Path
    secret: Path
    done: Any

    def image(self, round_id: str) -> dict[str, Any]:
        frame = open_store(str(self.store)).memory("default").rounds("pia").filter(pl.col("round_id") == round_id)
        (images,) = frame["images"].to_list()
        (image,) = images
        return image


@pytest.fixture(scope="module")
def shown(cli: Any, make: Any, tmp_path_factory: pytest.TempPathFactory) -> Shown:
    root = tmp_path_factory.mktemp("pictures")
    folder = root / "inner" / "src"
    secret = make.picture(root / "secret.png", 200)
    good = make.picture(folder / "images" / "good.png", 5)
    make.picture(folder / "images" / "same.png", 5)
    make.picture(folder / "with space é.png", 6)
    cut = make.picture(folder / "images" / "cut.png", 7)
    cut.write_bytes(cut.read_bytes()[:40])
    (folder / "images" / "text.png").write_text("this is no picture")
    inline = make.picture(root / "inline.png", 9)
    references = {
        "good": "images/good.png",
        "same": "images/same.png",
        "space": "with space é.png",
        "missing": "images/missing.png",
        "cut": "images/cut.png",
        "text": "images/text.png",
        "parent": "../../secret.png",
        "sly": "images/../../../secret.png",
        "absolute": str(secret),
        "file-url": secret.as_uri(),
        "remote": "https://example.invalid/a.png",
        "inline": "data:image/png;base64," + base64.b64encode(inline.read_bytes()).decode(),
    }
    assert good.read_bytes() == (folder / "images" / "same.png").read_bytes()
    messages = []
    for name, reference in references.items():
        messages += make.exchange(
            make.with_picture(f"Here is {name}", reference), f"I see {name}", "2024-03-01T10:00:00Z", name
        )
    make.jsonl(folder / "h.jsonl", [{"user_id": "pia", "session_id": "S1", "messages": messages}])
    return Shown(root / "store", folder, secret, cli.backfill(folder / "h.jsonl", store=root / "store"))


def test_every_round_is_in_whatever_its_picture(shown: Shown) -> None:
    frame = open_store(str(shown.store)).memory("default").rounds("pia")
    assert frame.height == 12
    assert frame["images"].list.len().to_list() == [1] * 12


def test_a_picture_is_kept_by_content_and_measured(shown: Shown) -> None:
    good, same, space = (shown.image(name) for name in ("good", "same", "space"))
    assert good["media"] == hashlib.sha256((shown.folder / "images" / "good.png").read_bytes()).hexdigest()
    assert good["media"] == same["media"] != space["media"]
    assert (good["format"].lower(), good["width"], good["height"]) == ("png", 24, 16)


def test_a_missing_picture_is_no_quarantine(shown: Shown, cli: Any, reads: Any) -> None:
    assert shown.image("missing")["media"] is None
    rows = reads.rows(cli.read("quarantine", "--store", shown.store))
    assert "missing" not in reads.text(rows)
    assert sorted(row["round_id"] for row in rows) == ["cut", "text"]


def test_a_broken_picture_is_reported_and_left_out(shown: Shown, cli: Any, reads: Any) -> None:
    for name in ("cut", "text"):
        assert shown.image(name)["media"] is None
    for row in reads.rows(cli.read("quarantine", "--store", shown.store)):
        assert row["file"].endswith("h.jsonl") or row["file"].endswith(".png")
        assert row["reason"].strip()


@pytest.mark.parametrize("name", ["parent", "sly", "absolute", "file-url", "remote"])
def test_a_reference_that_leaves_the_folder_is_not_read(shown: Shown, name: str) -> None:
    assert shown.image(name)["media"] is None
    kept = {path.name for path in (shown.store / "media").rglob("*") if path.is_file()}
    assert hashlib.sha256(shown.secret.read_bytes()).hexdigest() not in kept


def test_an_inline_picture_is_kept_as_a_picture_not_as_text(shown: Shown) -> None:
    image = shown.image("inline")
    assert image["media"] == hashlib.sha256((shown.secret.parent / "inline.png").read_bytes()).hexdigest()
    assert len(image["reference"]) < 200
