"""Observations through the command line: found in words and pictures, kept, appended to, corrected, and one user's only."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from PIL import Image, ImageDraw, ImageFont

DAY = "2024-05-{:02d}T20:00:00Z"


def dashboard(path: Path, day: str, **values: str) -> Path:
    """A picture of labels, each above its value."""
    image = Image.new("RGB", (420, 90 + 90 * len(values)), "white")
    pen = ImageDraw.Draw(image)
    pen.text((20, 15), day, "black", ImageFont.load_default(22))
    for row, (label, value) in enumerate(values.items()):
        pen.text((20, 80 + 90 * row), label, "gray", ImageFont.load_default(20))
        pen.text((20, 108 + 90 * row), value, "black", ImageFont.load_default(30))
    path.parent.mkdir(parents=True, exist_ok=True)
    image.save(path)
    return path


@pytest.fixture(scope="module")
def observed(cli: Any, make: Any, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path, Path]:
    """A store of two users' first rounds; the folder it was made from, and the settings."""
    root = tmp_path_factory.mktemp("observed")
    config = make.config(root / "config.yaml", {"extract.ocr": "rapidocr"})
    dashboard(root / "src" / "day.png", "Tue, 7 May 2024", Sleep="6h 27m", Steps="13,162", Distance="8.5 km")
    ann = [
        ("Slept 6 h 12 min and walked 9,120 steps.", "You slept 6 h 12 min."),
        (make.with_picture("My dashboard.", "day.png"), "Saved."),
        ("Sorry, it was 7 h.", "Corrected."),
        ("I want to sleep 9 hours tomorrow.", "Good plan."),
    ]
    make.jsonl(root / "src" / "ann.jsonl", [make.session("ann", "S1", ann[:2])])
    make.jsonl(root / "src" / "bob.jsonl", [make.session("bob", "S1", [("weight: 72,4 kg", "ok"), ("steps: 8.412", "ok")])])
    cli.backfill(root / "src", store=root / "store", config=config)
    make.jsonl(root / "src" / "ann.jsonl", [make.session("ann", "S1", ann)])
    return root / "store", root / "src", config


def told(cli: Any, store: Path, user: str, *more: str) -> list[dict[str, Any]]:
    rows = cli.read("observations", "--user", user, "--store", store, *more)["observations"]
    assert isinstance(rows, list)
    return rows


def test_words_and_pictures_and_an_append_that_corrects(cli: Any, observed: tuple[Path, Path, Path]) -> None:
    store, source, config = observed
    first = told(cli, store, "ann")
    said = [(row["attribute"], row["value"], row["number"]) for row in first]
    assert said[:2] == [("sleep", "6 h 12 min", 22320.0), ("steps", "9,120 steps", 9120.0)]
    pictured = {row["attribute"]: row for row in first if row["image"] is not None}
    assert {name: row["number"] for name, row in pictured.items() if name != "date"} == {
        "Sleep": 23220.0,
        "Steps": 13162.0,
        "Distance": 8500.0,
    }
    assert pictured["date"]["parsed"] == "2024-05-07"
    left, top, right, bottom = pictured["Steps"]["box"]
    assert 0 <= left < 60 < right < 250
    assert 180 < top < 230 < bottom < 260

    again = cli.backfill(source, store=store, config=config)
    assert "0 read now" in again.text, str(again)
    kept = told(cli, store, "ann")
    (corrected,) = [row for row in told(cli, store, "ann", "--corrected") if row["corrected_by"]]
    assert (corrected["attribute"], corrected["value"]) == ("Sleep", "6h 27m")
    assert [row["value"] for row in kept if row["attribute"].lower() == "sleep"] == ["6 h 12 min", "7 h"]
    assert not [row for row in kept if "9 hours" in row["value"]]
    assert cli.run("verify", "--store", store).code == 0


def test_what_is_built_at_once_is_what_was_appended(cli: Any, observed: tuple[Path, Path, Path], tmp_path: Path) -> None:
    store, source, config = observed
    cli.backfill(source, store=store, config=config)
    cli.backfill(source, store=tmp_path / "whole", config=config)
    assert told(cli, tmp_path / "whole", "ann", "--corrected") == told(cli, store, "ann", "--corrected")
    assert told(cli, tmp_path / "whole", "bob") == told(cli, store, "bob")


def test_a_users_style_is_their_own_and_users_do_not_mix(cli: Any, observed: tuple[Path, Path, Path]) -> None:
    store = observed[0]
    rows = told(cli, store, "bob")
    assert [(row["attribute"], row["number"], row["doubt"]) for row in rows] == [
        ("weight", 72.4, None),
        ("steps", 8412.0, None),
    ]
    assert {row["user_id"] for row in told(cli, store, "ann")} == {"ann"}
    assert told(cli, store, "nobody") == []


def test_one_round_and_one_picture(cli: Any, observed: tuple[Path, Path, Path]) -> None:
    store, source, _ = observed
    (round_id,) = {row["round_id"] for row in told(cli, store, "ann") if row["value"] == "9,120 steps"}
    assert {row["round_id"] for row in told(cli, store, "ann", "--round", round_id)} == {round_id}
    rows = cli.read("observations", "--picture", source / "day.png")["observations"]
    assert [row["attribute"] for row in rows] == ["date", "Sleep", "Steps", "Distance"]


@pytest.mark.parametrize(
    "words",
    [
        ("observations",),
        ("observations", "--store", "s"),
        ("observations", "--store", "s", "--user", " "),
        ("observations", "--picture", "nowhere.png"),
        ("observations", "--picture", "x.png", "--user", "ann"),
    ],
    ids=" ".join,
)
def test_what_cannot_be_asked_is_refused(cli: Any, words: tuple[str, ...]) -> None:
    done = cli.run(*words)
    assert done.code == 2, str(done)
    assert done.err.startswith("error: ") and "--debug" not in done.err
