"""A picture as the question, through the command line: stored in a backfill, appended to, asked with a file."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image, ImageDraw, ImageEnhance

from operators.store.buckets import UserData, read_user
from operators.store.commit import pin
from operators.store.opening import open_objects

SHADES = {"dog": "#c08030", "beach": "#30a0e0", "cake": "#e060a0", "bike": "#208040"}


def draw(path: Path, name: str) -> Path:
    """A picture of one big shape whose place and colour its name decides."""
    digest = hashlib.sha256(name.encode()).digest()
    image = Image.new("RGB", (160, 120), (250, 245, 230))
    left, top = digest[0] % 70, digest[1] % 50
    ImageDraw.Draw(image).ellipse([left, top, left + 80, top + 60], fill=SHADES[name])
    ImageDraw.Draw(image).rectangle([digest[2] % 100, 90, digest[2] % 100 + 50, 115], fill="#404040")
    path.parent.mkdir(parents=True, exist_ok=True)
    image.save(path)
    return path


@dataclass(frozen=True)
class Shown:
    store: Path
    folder: Path
    config: Path

    def photo(self, name: str) -> Path:
        """An edited copy: smaller, darker, compressed."""
        path = self.folder.parent / f"{name}.jpg"
        image = Image.open(self.folder / f"{name}.png").convert("RGB").resize((100, 75))
        ImageEnhance.Brightness(image).enhance(0.9).save(path, "JPEG", quality=60)
        return path

    def data(self, user: str, store: Path | None = None) -> UserData:
        objects = open_objects(str(store or self.store))
        found = read_user(objects, pin(objects), "default", user)
        assert found is not None
        return found


def histories(make: Any, folder: Path, *names: str) -> None:
    """Rounds of pia that show these pictures without a word of what they are; noor shows the dog too."""
    pia = [(make.with_picture("Look at this one.", f"{name}.png"), "Nice.") for name in names]
    make.jsonl(folder / "pia.jsonl", [make.session("pia", "S1", pia)])
    make.jsonl(folder / "noor.jsonl", [make.session("noor", "S1", [(make.with_picture("Mine.", "dog.png"), "I see.")])])


@pytest.fixture(scope="module")
def shown(cli: Any, make: Any, tmp_path_factory: pytest.TempPathFactory) -> Shown:
    root = tmp_path_factory.mktemp("asked")
    for name in SHADES:
        draw(root / "src" / f"{name}.png", name)
    config = make.config(root / "config.yaml", {"image_encoder.kind": "efficientnet"})
    histories(make, root / "src", "dog", "beach")
    cli.backfill(root / "src", store=root / "store", config=config)
    histories(make, root / "src", *SHADES)
    done = cli.backfill(root / "src", store=root / "store", config=config)
    assert "2 seen now" in done.out, str(done)
    return Shown(root / "store", root / "src", config)


@pytest.mark.parametrize("name", SHADES)
def test_an_edited_copy_of_a_stored_picture_finds_its_round(cli: Any, shown: Shown, name: str) -> None:
    found = cli.read("search", "--image", shown.photo(name), "--user", "pia", "--store", shown.store)
    assert found["hits"][0]["order"] == list(SHADES).index(name)


def test_words_may_come_with_the_picture(cli: Any, shown: Shown) -> None:
    asked = ("what breed is this?", "--image", shown.photo("dog"), "--caption", "a brown dog", "--store", shown.store)
    found = cli.read("search", *asked, "--user", "pia")
    assert found["hits"][0]["order"] == 0
    theirs = cli.read("search", *asked, "--user", "noor")
    assert [hit["order"] for hit in theirs["hits"]] == [0]
    assert {hit["session_id"] for hit in theirs["hits"]} == {"S1"}


def test_appending_makes_what_a_rebuild_makes(cli: Any, shown: Shown) -> None:
    again = shown.store.parent / "again"
    cli.backfill(shown.folder, store=again, config=shown.config)
    for user in ("pia", "noor"):
        appended, rebuilt = shown.data(user), shown.data(user, again)
        assert appended.pictures == rebuilt.pictures
        assert np.array_equal(appended.picture_vectors, rebuilt.picture_vectors)
    assert len(shown.data("pia").pictures) == 4
    assert shown.data("noor").pictures == (hashlib.sha256((shown.folder / "dog.png").read_bytes()).hexdigest(),)
    assert cli.digest(shown.store) == cli.digest(again)
    assert cli.read("verify", "--store", shown.store)["whole"]


def test_a_file_that_is_no_picture_says_what_is_accepted(cli: Any, shown: Shown) -> None:
    folder = shown.store.parent
    (folder / "empty.png").write_bytes(b"")
    (folder / "text.png").write_text("no picture", encoding="utf-8")
    (folder / "cut.png").write_bytes((shown.folder / "dog.png").read_bytes()[:100])
    for name in ("gone.png", "empty.png", "text.png", "cut.png", "src"):
        done = cli.run("search", "what?", "--image", folder / name, "--user", "pia", "--store", shown.store)
        assert done.code == 2, str(done)
        assert "PNG, JPEG" in done.err and "bytes" in done.err, str(done)
        assert "Traceback" not in done.err


def test_another_image_encoder_is_refused(cli: Any, make: Any, shown: Shown) -> None:
    other = make.config(shown.store.parent / "other.yaml", {"image_encoder.kind": "none"})
    done = cli.run("backfill", shown.folder, "--store", shown.store, "--config", other)
    assert done.code == 1, str(done)
    assert "another image encoder" in done.err
