"""Observing buckets without Ray: what is kept, what is extracted anew, and pictures that are read once."""

from __future__ import annotations

import io
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from jobs.blocks import NEEDED, Wanted, blocks_for
from jobs.encode import PICTURE_TEXT, read_pictures
from jobs.observe import needed_pictures, observe_bucket
from jobs.stages import Resources
from operators.errors import ExtractorError
from operators.extract.extraction import Extraction
from operators.extract.page import PictureText, TextLine
from operators.extract.rules import RulesExtractor
from operators.extract.texts import picture_rows, picture_texts
from operators.merge import FRAGMENT, RANKS, merge_rounds
from operators.records import ROUNDS, Image, Instant, Message, Round, media_key, picture_key, round_rows
from operators.store.local import LocalObjects
from operators.store.manifest import BucketFiles, Counts
from operators.store.tables import read_table, write_table

START = datetime(2024, 5, 1, 20, tzinfo=UTC)
DAY = "a" * 64
TEXTS = {DAY: PictureText(300, 200, (TextLine("Steps", (10, 10, 80, 40), 0.9), TextLine("8,412", (10, 45, 90, 80), 0.9)))}
HERE = Extraction()


def said(user: str, first: int, *texts: str) -> pa.Table:
    """Rounds of one session; one that says ``shows`` has the picture too."""
    rounds = [
        Round(
            "S1",
            f"r{first + at}",
            first + at,
            (Message("user", "user", text), Message("assistant", "assistant", f"You said: {text}")),
            (Image(0, "day.png", media=DAY),) if "shows" in text else (),
            Instant(START + timedelta(days=first + at), 0, "second"),
        )
        for at, text in enumerate(texts)
    ]
    rows = [row | dict.fromkeys(RANKS, at) for at, row in enumerate(round_rows("t", user, rounds, "f"))]
    return pa.Table.from_pylist(rows, FRAGMENT)


def block(objects: LocalObjects, home: str, texts: dict[str, PictureText | str]) -> None:
    buffer = io.BytesIO()
    pq.write_table(picture_rows(list(texts.items())), buffer)
    objects.put(f"runs/r/{PICTURE_TEXT}/{home}/{len(texts)}.parquet", buffer.getvalue())


def observed(
    objects: LocalObjects, home: str, rounds: pa.Table, base: BucketFiles | None, how: Extraction = HERE
) -> BucketFiles:
    files = observe_bucket(objects, "runs/r", f"runs/r/data/{home}", 3, rounds, base, how)
    files["rounds"] = write_table(objects, f"runs/r/data/{home}/rounds.parquet", rounds, ROUNDS)
    return BucketFiles(home, files, Counts(), "0", how.fingerprint)


def rows(objects: LocalObjects, bucket: BucketFiles) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = read_table(objects, bucket.files["observations"]).to_pylist()
    return found


@pytest.fixture
def objects(tmp_path: Path) -> LocalObjects:
    made = LocalObjects(str(tmp_path))
    block(made, "00003", TEXTS)
    return made


def test_an_append_extracts_what_is_new_and_comes_to_the_same(
    objects: LocalObjects, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = said("ann", 0, "Slept 6 h.", "It shows my steps.", "weight: 72,5 kg")
    more = said("ann", 3, "Sorry, the weight was 1.234 kg.", "bought on: 3/4/2024", "paid on: 25/4/2024")
    other = said("bob", 0, "weight: 1.234 kg")
    whole = merge_rounds(ROUNDS.empty_table(), pa.concat_tables([first, more, other])).rounds
    at_once = observed(objects, "whole", whole, None)

    begun = observed(objects, "begun", merge_rounds(ROUNDS.empty_table(), pa.concat_tables([first, other])).rounds, None)
    extracted: list[int] = []
    observe = RulesExtractor.observe

    def counting(self: RulesExtractor, rounds: pa.Table, pictures: Any) -> pa.Table:
        extracted.append(len(rounds))
        return observe(self, rounds, pictures)

    monkeypatch.setattr(RulesExtractor, "observe", counting)
    grown = observed(objects, "grown", merge_rounds(read_table(objects, begun.files["rounds"]), more).rounds, begun)
    assert extracted == [3]
    assert rows(objects, grown) == rows(objects, at_once)
    told = {(row["user_id"], row["attribute"]): row for row in rows(objects, grown)}
    assert told["ann", "Steps"]["media"] == DAY
    assert told["ann", "bought on"]["parsed"] == "2024-04-03"
    assert (told["ann", "weight"]["number"], told["bob", "weight"]["number"]) == (1234.0, 1.234)
    assert not [row for row in rows(objects, grown) if "You said" in row["value"] or row["message"]]


def test_another_extractor_or_reader_begins_anew(objects: LocalObjects) -> None:
    rounds = merge_rounds(ROUNDS.empty_table(), said("ann", 0, "It shows my steps.")).rounds
    begun = observed(objects, "begun", rounds, None)
    assert needed_pictures(objects, "runs/next", 3, rounds, begun, HERE).num_rows == 0
    smaller = Extraction(max_side=640)
    assert needed_pictures(objects, "runs/next", 3, rounds, begun, smaller)["text"].to_pylist() == [DAY]
    assert needed_pictures(objects, "runs/next", 3, rounds, begun, Extraction(ocr="none")).num_rows == 0
    nothing = observe_bucket(objects, "runs/next", "runs/next/data/3", 3, rounds, begun, Extraction(kind="none"))
    assert nothing["observations"].rows == 0


class Reader:
    """Reads what stands in the bytes."""

    fingerprint = "stub"
    read_so_far: list[bytes]

    def __init__(self) -> None:
        self.read_so_far = []

    def read(self, data: bytes) -> PictureText:
        self.read_so_far.append(data)
        if data == b"broken":
            raise ExtractorError("no picture")
        return PictureText(9, 9, (TextLine(data.decode(), (0, 0, 9, 9), 1.0),))


def test_a_picture_that_two_buckets_show_is_read_once_and_an_odd_one_stops_nothing(tmp_path: Path) -> None:
    objects, reader = LocalObjects(str(tmp_path)), Reader()
    pictures = {"2" * 64: b"broken", "3" * 64: b"both"}
    for name, data in pictures.items():
        objects.put(media_key(name), data)

    def wanted(bucket: int, *names: str) -> Wanted:
        keys = pa.array(map(picture_key, names), pa.binary(16))
        table = pa.table({"content_key": keys, "text": list(names)}, schema=NEEDED)
        return Wanted(bucket, write_table(objects, f"runs/r/needed/{bucket}.parquet", table, NEEDED))

    seen: list[int] = []
    done = read_pictures(
        objects,
        "runs/r",
        [wanted(1, "1" * 64, "3" * 64), wanted(2, "2" * 64, "3" * 64)],
        load_reader=lambda: reader,
        block_pictures=2,
        workers=1,
        resources=Resources(cpus=1),
        read=seen.append,
    )
    assert done == sum(seen) == 3
    assert sorted(reader.read_so_far) == [b"both", b"broken"]
    table = pa.concat_tables(block for bucket in (1, 2) for block in blocks_for(objects, "runs/r", PICTURE_TEXT, bucket))
    faults = dict(zip(table["media"].to_pylist(), table["fault"].to_pylist(), strict=True))
    assert faults == {"1" * 64: "picture-missing", "2" * 64: "picture-broken", "3" * 64: None}
    assert set(picture_texts(table)) == {"3" * 64}
