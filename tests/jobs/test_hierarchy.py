"""A bucket's hierarchies: however a history came in, what is stored is what one build of all of it stores."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jobs import hierarchy as module
from jobs.hierarchy import hierarchy_bucket
from operators.encode.stub import Stub
from operators.hierarchy.values import HierarchyValues
from operators.merge import FILE_RANK, FRAGMENT, LINE_RANK, PART_RANK, merge_rounds, users_of
from operators.records import (
    MEDIA,
    ROUNDS,
    TENANT,
    USER,
    VECTOR,
    Image,
    Instant,
    Message,
    Round,
    picture_vectors,
    round_rows,
)
from operators.store.local import LocalObjects
from operators.store.manifest import HIERARCHY_FILE, BucketFiles, Counts
from operators.store.tables import read_table
from operators.store.verify_hierarchy import hierarchy_faults
from operators.units import embedding_texts, units_of

STUB = Stub()
VALUES = HierarchyValues(gap_minutes=90, least_rounds=2, most_rounds=5)
SUBJECTS = ["the cat Pixel and the vet", "the marathon run and its training", "rent and the tax return", ""]
PICTURE = "ab" * 32
BEGINS = datetime(2026, 1, 5, tzinfo=UTC)

Said = tuple[str, Round]


class Store:
    """A bucket that grows, as a run merges, encodes and finishes it."""

    def __init__(self, folder: str) -> None:
        self.objects = LocalObjects(folder)
        self.rounds = ROUNDS.empty_table()
        self.base: BucketFiles | None = None
        self.version = 0
        self.seen = True

    def pictures(self) -> pa.Table:
        """A vector for each picture of each user, once known."""
        schema = picture_vectors(2)
        if not self.seen:
            return schema.empty_table()
        scopes = sorted({(row["tenant_id"], row["user_id"]) for row in self.rounds.to_pylist() if row["images"]})
        rows = [{TENANT: t, USER: u, MEDIA: PICTURE, VECTOR: np.array([0.6, 0.8], np.float16)} for t, u in scopes]
        return pa.Table.from_pylist(rows, schema)

    def append(self, said: Sequence[Said], values: HierarchyValues = VALUES) -> pa.Table:
        place = {FILE_RANK: self.version, PART_RANK: 0, LINE_RANK: 0}
        rows = [row | place for user, each in said for row in round_rows("t", user, [each], f"f{self.version}")]
        self.rounds = merge_rounds(self.rounds, pa.Table.from_pylist(rows, FRAGMENT)).rounds
        units = units_of(self.rounds, STUB.spans)
        tables = {"rounds": self.rounds, "units": units, "users": users_of(self.rounds, units)}
        tables["pictures"] = self.pictures()
        seen = embedding_texts(units).to_pylist()
        told = np.array([text is not None for text in seen], np.float32).reshape(-1, 1)
        vectors = (STUB.encode([text or "" for text in seen]) * told).astype(np.float16)
        self.version += 1
        file = hierarchy_bucket(self.objects, f"v{self.version}", tables, vectors, self.base, values)
        self.base = BucketFiles(str(self.version), {HIERARCHY_FILE: file}, Counts(), "00")
        made = read_table(self.objects, file)
        assert list(hierarchy_faults(self.rounds, made, STUB.dim)) == []
        return made


def said_in(session: int, place: int, minute: int | None, subject: int, picture: bool) -> Round:
    time = None if minute is None else Instant(BEGINS + timedelta(minutes=minute), 60, "minute")
    message = Message("user", "user", f"{SUBJECTS[subject]} {place if subject < 3 else ''}".strip())
    images = (Image(0, "p.png", media=PICTURE, caption="a picture" if subject else None),) if picture else ()
    return Round(f"S{session}", f"r{place}", place, (message,), images, time)


histories = st.lists(
    st.tuples(
        st.sampled_from(["ann", "bob"]),
        st.builds(
            said_in,
            st.integers(0, 3),
            st.integers(0, 9),
            st.none() | st.integers(0, 600),
            st.integers(0, 3),
            st.booleans(),
        ),
    ),
    unique_by=lambda each: (each[0], each[1].session_id, each[1].round_id),
    max_size=24,
)


@settings(max_examples=60, deadline=None)
@given(histories, st.lists(st.integers(0, 24), max_size=4))
def test_any_split_into_appends_is_the_same_as_one_build(history: list[Said], cuts: list[int]) -> None:
    """In any order: rounds that come late stand in the middle of what was there."""
    borders = [0, *sorted(min(cut, len(history)) for cut in cuts), len(history)]
    with tempfile.TemporaryDirectory() as one, tempfile.TemporaryDirectory() as other:
        grown = Store(one)
        for start, end in pairwise(borders):
            last = grown.append(history[start:end])
        assert last.equals(Store(other).append(history))


def test_a_late_round_changes_what_comes_after_it(tmp_path: Path) -> None:
    history = [("ann", said_in(0, place, place, place // 3, False)) for place in range(9)]
    store = Store(str(tmp_path / "a"))
    store.append(history[:4] + history[5:])
    late = store.append(history[4:5])
    assert late.equals(Store(str(tmp_path / "b")).append(history))


def test_only_the_users_whose_rounds_changed_are_made_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[str] = []

    def spied(rounds: pa.Table, *rest: Any, **more: Any) -> pa.Table:
        made.append(rounds["user_id"][0].as_py())
        return build(rounds, *rest, **more)

    build = module.hierarchy_of
    monkeypatch.setattr(module, "hierarchy_of", spied)
    store = Store(str(tmp_path))
    first = store.append([("ann", said_in(0, 0, 0, 0, False)), ("bob", said_in(0, 0, 0, 1, False))])
    second = store.append([("bob", said_in(0, 1, 1, 1, False))])
    assert made == ["ann", "bob", "bob"]
    ann = pa.compute.equal(second["user_id"], "ann")
    assert second.filter(ann).equals(first.filter(pa.compute.equal(first["user_id"], "ann")))
    store.append([], HierarchyValues(gap_minutes=1))
    assert made[3:] == ["ann", "bob"], "with other numbers all are"


def test_no_row_of_one_user_tells_of_another(tmp_path: Path) -> None:
    history = [(user, said_in(0, place, place, place % 2, False)) for user in ("ann", "bob") for place in range(4)]
    history[5] = ("bob", Round("S0", "r1", 1, (Message("user", "user", "the secret of bob"),)))
    made = Store(str(tmp_path)).append(history)
    ann = made.filter(pa.compute.equal(made["user_id"], "ann")).to_pylist()
    alone = Store(str(tmp_path / "alone")).append(history[:4]).to_pylist()
    assert ann == alone and not any("secret" in str(row) for row in ann)


def test_pictures_that_are_seen_later_have_their_vector_then(tmp_path: Path) -> None:
    store = Store(str(tmp_path))
    store.seen = False
    blind = store.append([("ann", said_in(0, 0, 0, 0, True)), ("bob", said_in(0, 0, 0, 0, False))])
    assert blind["image_vector"].null_count == len(blind)
    store.seen = True
    seen = store.append([]).to_pylist()
    assert [(row["user_id"], row["level"]) for row in seen if row["image_vector"]] == [("ann", "topic"), ("ann", "episode")]
    np.testing.assert_allclose(seen[0]["image_vector"], [0.6, 0.8], atol=1e-3)
