"""A picture as the query: rounds that show it or its like, one user's alone, beside words where there are some."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from PIL import Image as Pictures
from PIL import ImageDraw

from operators.encode.image import image_fingerprint, load_image_encoder
from operators.encode.stub import Stub
from operators.errors import FingerprintMismatch, UsageError
from operators.memory import Memory, open_store
from operators.merge import users_of
from operators.records import (
    HIERARCHY,
    ROUNDS,
    UNITS,
    USERS,
    Image,
    Message,
    Round,
    media_key,
    picture_vectors,
    round_rows,
)
from operators.retrieve.values import TEXT, SearchValues
from operators.store.commit import create_store, publish
from operators.store.manifest import BucketFiles, Counts, Snapshot, StoreSpec
from operators.store.opening import open_objects
from operators.store.tables import write_table, write_vectors
from operators.units import embedding_texts, units_of

Told = Mapping[str, Sequence[tuple[str, Sequence[str]]]]
"""By user: what each round says, and the names of the pictures it shows."""

IMAGES = load_image_encoder("stub")


def drawn(name: str, brighter: float = 1.0) -> bytes:
    """A picture that its name alone decides."""
    digest = hashlib.sha256(name.encode()).digest()
    image = Pictures.new("RGB", (64, 48), tuple(digest[:3]))
    for at in range(3, 27, 6):
        left, top = digest[at] % 50, digest[at + 1] % 40
        box = (left, top, left + 14, top + 10)
        ImageDraw.Draw(image).rectangle(box, fill=tuple(int(value * brighter) for value in digest[at + 2 : at + 5]))
    buffer = io.BytesIO()
    image.save(buffer, "JPEG", quality=90 if brighter == 1.0 else 60)
    return buffer.getvalue()


def media(name: str) -> str:
    return hashlib.sha256(drawn(name)).hexdigest()


def commit(uri: str, told: Told, kind: str = "stub") -> None:
    """A store of one bucket that holds these rounds and, but for those named ``odd``, their pictures' vectors."""
    objects = open_objects(uri)
    spec = create_store(objects, StoreSpec(1, Stub().fingerprint, image_fingerprint(kind)))
    rows: list[dict[str, Any]] = []
    seen: set[tuple[str, str]] = set()
    for user, rounds in sorted(told.items()):
        for order, (text, names) in enumerate(rounds):
            shown = tuple(Image(0, "x", media=media(name)) for name in names)
            made = Round("s", f"r{order}", order, (Message("user", "user", text),), shown)
            rows += [row | {"order": order} for row in round_rows("t", user, [made], "f")]
            seen |= {(user, name) for name in names if name != "odd"}
            for name in names:
                objects.put(media_key(media(name)), drawn(name))
    rounds_table = pa.Table.from_pylist(rows, ROUNDS)
    units = units_of(rounds_table, Stub().spans)
    texts = embedding_texts(units).to_pylist()
    vectors = Stub().encode([text or "" for text in texts]) * np.array([[text is not None] for text in texts])
    pictures = [
        {"tenant_id": "t", "user_id": user, "media": media(name), "vector": IMAGES.encode([drawn(name)]).vectors[0].tolist()}
        for user, name in seen
    ]
    pictures.sort(key=lambda row: (row["user_id"], row["media"]))
    dim = spec.image_encoder["dim"]
    seen_schema = picture_vectors(dim)
    tables = {
        "rounds": (rounds_table, ROUNDS),
        "units": (units, UNITS),
        "users": (users_of(rounds_table, units), USERS),
        "hierarchy": (HIERARCHY.empty_table(), HIERARCHY),
        "picture_vectors": (pa.Table.from_pylist(pictures if dim else [], seen_schema), seen_schema),
    }
    files = {name: write_table(objects, f"d/{name}.parquet", *made) for name, made in tables.items()}
    files["vectors"] = write_vectors(objects, "d/vectors.npy", [vectors], Stub().dim)
    bucket = BucketFiles("rev", files, Counts(rounds=len(rows)), "00")
    publish(objects, Snapshot(1, 0, "c", "r", datetime(2025, 1, 1, tzinfo=UTC), spec, buckets={0: bucket}))


TOLD: Told = {
    "mira": [
        ("we walked the dog", ["dog"]),
        ("a chart of my sleep", ["chart", "dog"]),
        ("nothing to see", []),
        ("the garden in spring", ["garden"]),
        ("a picture nobody can open", ["odd"]),
    ],
    "noor": [("noor has the same dog", ["dog"]), ("and a cat", ["cat"])],
}


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    commit(str(tmp_path / "store"), TOLD)
    return open_store(str(tmp_path / "store")).memory("t")


def orders(memory: Memory, user: str, query: str, **asked: Any) -> list[int]:
    return [hit.order for hit in memory.search(user, query, **asked).hits]


@pytest.mark.parametrize(("name", "order"), [("garden", 3), ("chart", 1)])
def test_a_stored_picture_and_an_edited_copy_of_it_are_found(memory: Memory, name: str, order: int) -> None:
    for data in (drawn(name), drawn(name, brighter=0.95)):
        found = memory.search("mira", "", image=data)
        assert found.hits[0].order == order
        assert found.hits[0].signals["visual"].rank == 1
        assert found.hits[0].signals["visual"].score > 0.98


def test_every_round_that_shows_the_picture_is_found_the_earlier_first(memory: Memory) -> None:
    assert orders(memory, "mira", "", image=drawn("dog"))[:2] == [0, 1]


def test_rounds_are_one_users_even_of_a_picture_that_two_have(memory: Memory) -> None:
    assert orders(memory, "noor", "", image=drawn("dog"))[0] == 0
    found = memory.search("noor", "", image=drawn("garden"))
    assert {hit.order for hit in found.hits} == {0, 1}
    assert max(hit.signals["visual"].score for hit in found.hits) < 0.98
    assert orders(memory, "stranger", "", image=drawn("dog")) == []


def test_a_picture_that_has_no_vector_is_found_by_words_alone(memory: Memory) -> None:
    assert 4 not in orders(memory, "mira", "", image=drawn("odd"))
    assert 4 in orders(memory, "mira", "a picture nobody can open", image=drawn("odd"), k=3)


def test_words_and_picture_are_fused_and_a_caption_may_say_what_it_shows(memory: Memory) -> None:
    found = memory.search("mira", "walked", image=drawn("dog"))
    assert found.hits[0].order == 0
    assert (found.case, set(found.hits[0].signals)) == ("picture_to_text", {*TEXT, "visual"})
    named = memory.search("mira", "", image=drawn("unseen"), caption="garden spring")
    garden = next(hit for hit in named.hits if hit.order == 3)
    assert (named.case, set(garden.signals)) == ("picture_to_text", {*TEXT, "visual"})
    assert garden.signals["bm25-round"].rank == garden.signals["dense"].rank == 1


def test_what_a_picture_shows_is_looked_for_without_the_picture(memory: Memory) -> None:
    found = memory.search("mira", "", caption="garden in spring")
    assert (found.case, found.hits[0].order) == ("picture_to_text", 3)
    assert set(found.hits[0].signals) == set(TEXT)
    assert {hit.order for hit in memory.search("noor", "", caption="garden in spring").hits} <= {0, 1}


def test_pictures_like_a_picture_are_told_by_the_picture_alone(memory: Memory) -> None:
    found = memory.search("mira", "which pictures of a walk in the garden are like this one?", image=drawn("chart"))
    assert (found.case, found.hits[0].order) == ("picture_to_image", 1)
    assert {name for hit in found.hits for name in hit.signals} == {"visual"}
    assert {hit.order for hit in found.hits} == {0, 1, 3}
    asked = memory.search("mira", "which picture shows the garden?", k=1, values=SearchValues(text={"bm25": 1.0}))
    assert (asked.case, [hit.order for hit in asked.hits]) == ("text_to_image", [3])


def test_a_vector_at_hand_does_for_the_picture(memory: Memory) -> None:
    vector = IMAGES.encode([drawn("garden")]).vectors[0]
    by_vector, by_bytes = (
        memory.search("mira", "", **asked) for asked in ({"image_vector": vector}, {"image": drawn("garden")})
    )
    assert [(hit.order, hit.score) for hit in by_vector.hits] == [(hit.order, hit.score) for hit in by_bytes.hits]


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"image": b""}, "picture-unknown"),
        ({"image": b"no picture"}, "PNG, JPEG"),
        ({"image": drawn("dog")[:200]}, "picture-broken"),
        ({"image_vector": np.ones(3, np.float32)}, r"shape \(3,\)"),
        ({"image_vector": np.full(49, np.nan, np.float32)}, "not finite"),
        ({}, "the query is blank"),
    ],
)
def test_what_cannot_be_asked_says_what_can(memory: Memory, asked: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        memory.search("mira", "", **asked)


def test_a_store_without_vectors_of_pictures_says_so(tmp_path: Path) -> None:
    commit(str(tmp_path / "none"), TOLD, "none")
    memory = open_store(str(tmp_path / "none")).memory("t")
    assert orders(memory, "mira", "garden")[0] == 3
    with pytest.raises(UsageError, match="holds no vectors of pictures"):
        memory.search("mira", "garden", image=drawn("garden"))


def test_an_encoder_of_other_vectors_is_refused(tmp_path: Path) -> None:
    commit(str(tmp_path / "store"), TOLD)
    open_store(str(tmp_path / "store"), image_encoder=IMAGES)
    with pytest.raises(FingerprintMismatch):
        open_store(str(tmp_path / "store"), image_encoder=load_image_encoder("efficientnet"))
