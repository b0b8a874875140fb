"""Vectors of pictures without Ray: what is wanted, each encoded once, in their places, one row a user's distinct picture."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from PIL import Image as Pictures

from jobs.blocks import NEEDED, Wanted
from jobs.picture_vectors import encode_pictures, needed_vectors, write_picture_vectors
from jobs.stages import Resources
from operators.encode.image import EncodedPictures, ImageEncoder, load_image_encoder
from operators.records import MEDIA, ROUNDS, TENANT, USER, VECTOR, Image, Message, Round, media_key, round_rows
from operators.store.local import LocalObjects
from operators.store.manifest import PICTURE_VECTORS_FILE, BucketFiles, Counts
from operators.store.tables import read_table, write_table
from operators.store.verify_pictures import picture_vector_faults

RUN = "runs/r"


class Counting:
    """The stub, and the pictures it was given."""

    def __init__(self) -> None:
        self.inner: ImageEncoder = load_image_encoder("stub")
        self.dim, self.fingerprint = self.inner.dim, self.inner.fingerprint
        self.given: list[bytes] = []

    def encode(self, pictures: Sequence[bytes]) -> EncodedPictures:
        self.given += pictures
        return self.inner.encode(pictures)


def picture(objects: LocalObjects, colour: str | bytes) -> str:
    """Keep a picture of one colour, or these bytes, and say its name."""
    buffer = io.BytesIO()
    if isinstance(colour, str):
        Pictures.new("RGB", (8, 8), colour).save(buffer, "PNG")
    data = colour if isinstance(colour, bytes) else buffer.getvalue()
    name = hashlib.sha256(data).hexdigest()
    objects.put(media_key(name), data)
    return name


def rounds_of(**shown: list[list[str | None]]) -> pa.Table:
    """A table of rounds of users of one tenant: the pictures of each of a user's rounds, by name."""
    rows = []
    for user, told in sorted(shown.items()):
        for at, names in enumerate(told):
            images = tuple(Image(0, f"{number}.png", media=name) for number, name in enumerate(names))
            record = Round("S", f"r{at}", at, (Message("user", "user", "look"),), images)
            rows += [{**row, "order": at} for row in round_rows("t", user, [record], "f")]
    return pa.Table.from_pylist(rows, ROUNDS)


def encode(objects: LocalObjects, encoder: Counting, bucket: int, rounds: pa.Table, base: BucketFiles | None = None) -> int:
    """What a run does for one bucket; returns how many pictures were looked at."""
    wanted = needed_vectors(objects, RUN, bucket, rounds, base, encoder.dim)
    file = write_table(objects, f"{RUN}/needed/seen-{bucket}-{len(encoder.given)}.parquet", wanted, NEEDED)
    return encode_pictures(
        objects,
        RUN,
        [Wanted(bucket, file)],
        load_encoder=lambda: encoder,
        block_pictures=2,
        workers=1,
        resources=Resources(cpus=1),
        encoded=lambda _: None,
    )


def built(
    objects: LocalObjects,
    encoder: Counting,
    bucket: int,
    rounds: pa.Table,
    base: BucketFiles | None = None,
    prefix: str = RUN,
) -> tuple[BucketFiles, pa.Table]:
    key = f"{prefix}/data/{bucket}-{len(encoder.given)}/picture-vectors.parquet"
    file, undecoded = write_picture_vectors(objects, prefix, key, bucket, rounds, base, encoder.dim)
    files = BucketFiles("r", {PICTURE_VECTORS_FILE: file}, Counts(), "0", undecoded=undecoded)
    return files, read_table(objects, file)


@pytest.fixture
def objects(tmp_path: Path) -> LocalObjects:
    return LocalObjects(str(tmp_path))


def test_each_users_distinct_pictures_have_a_row_and_each_picture_is_encoded_once(objects: LocalObjects) -> None:
    red, blue, green = (picture(objects, colour) for colour in ("red", "blue", "green"))
    rounds = rounds_of(ann=[[red, blue], [], [red, None]], bob=[[green, red]])
    encoder = Counting()
    assert encode(objects, encoder, 0, rounds) == 3
    assert len(encoder.given) == 3
    files, table = built(objects, encoder, 0, rounds)
    rows = list(zip(*(table[name].to_pylist() for name in (TENANT, USER, MEDIA)), strict=True))
    assert rows == sorted([("t", "ann", red), ("t", "ann", blue), ("t", "bob", green), ("t", "bob", red)])
    assert files.undecoded == 0
    assert list(picture_vector_faults(rounds, table)) == []
    for name, vector in zip(table[MEDIA].to_pylist(), table[VECTOR].to_pylist(), strict=True):
        expected = encoder.inner.encode([objects.get(media_key(name))]).vectors[0]
        np.testing.assert_allclose(np.array(vector, np.float32), expected, atol=1e-3)


def test_what_the_version_built_upon_holds_is_carried_over_and_appended_equals_rebuilt(objects: LocalObjects) -> None:
    red, blue, green = (picture(objects, colour) for colour in ("red", "blue", "green"))
    before, after = rounds_of(ann=[[red]]), rounds_of(ann=[[red], [blue]], bob=[[green]])
    encoder = Counting()
    encode(objects, encoder, 0, before)
    base, _ = built(objects, encoder, 0, before)
    encoder.given.clear()
    other = "runs/other"  # a later run: the blocks of the first are not its own
    wanted = needed_vectors(objects, other, 0, after, base, encoder.dim)
    assert sorted(wanted["text"].to_pylist()) == sorted([blue, green])
    assert encode(objects, encoder, 0, after) == 2
    _, appended = built(objects, encoder, 0, after, base)
    _, rebuilt = built(objects, encoder, 0, after)
    assert appended.equals(rebuilt)
    shrunk = rounds_of(bob=[[green]])
    assert built(objects, encoder, 0, shrunk, base)[1][MEDIA].to_pylist() == [green]


def test_a_picture_that_cannot_be_decoded_has_no_row_is_counted_and_not_tried_twice(objects: LocalObjects) -> None:
    red, odd = picture(objects, "red"), picture(objects, b"no picture")
    gone = hashlib.sha256(b"gone").hexdigest()
    rounds = rounds_of(ann=[[odd, red, gone]], bob=[[odd]])
    encoder = Counting()
    assert encode(objects, encoder, 0, rounds) == 3
    files, table = built(objects, encoder, 0, rounds)
    assert table[MEDIA].to_pylist() == [red]
    assert files.undecoded == 3
    assert encode(objects, encoder, 0, rounds) == 0


def test_a_picture_that_two_buckets_show_is_encoded_once(objects: LocalObjects) -> None:
    red, blue = picture(objects, "red"), picture(objects, "blue")
    one, two = rounds_of(ann=[[red]]), rounds_of(bob=[[red, blue]])
    encoder = Counting()
    wanted = []
    for bucket, rounds in enumerate((one, two)):
        table = needed_vectors(objects, RUN, bucket, rounds, None, encoder.dim)
        wanted.append(Wanted(bucket, write_table(objects, f"{RUN}/needed/seen-{bucket}.parquet", table, NEEDED)))
    values = {"block_pictures": 4, "workers": 1, "resources": Resources(cpus=1), "encoded": lambda _: None}
    assert encode_pictures(objects, RUN, wanted, load_encoder=lambda: encoder, **values) == 2
    assert [built(objects, encoder, bucket, rounds)[1].num_rows for bucket, rounds in enumerate((one, two))] == [1, 2]


def test_where_pictures_get_no_vectors_nothing_is_wanted_and_the_file_is_empty(objects: LocalObjects) -> None:
    rounds = rounds_of(ann=[[picture(objects, "red")]])
    assert needed_vectors(objects, RUN, 0, rounds, None, 0).num_rows == 0
    file, undecoded = write_picture_vectors(objects, RUN, "k.parquet", 0, rounds, None, 0)
    assert (file.rows, undecoded) == (0, 0)


def test_rounds_without_pictures_make_an_empty_file(objects: LocalObjects) -> None:
    encoder = Counting()
    rounds = rounds_of(ann=[[], [None]])
    assert encode(objects, encoder, 0, rounds) == 0
    assert built(objects, encoder, 0, rounds)[1].num_rows == 0
    assert built(objects, encoder, 1, ROUNDS.empty_table())[1].num_rows == 0
