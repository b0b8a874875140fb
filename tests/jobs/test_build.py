"""Building buckets without Ray: what is merged, what still wants a vector, and vectors in their places."""

from __future__ import annotations

import io
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from configs.settings import Settings
from jobs.blocks import shared_keys, write_shared
from jobs.build import MergeOrder, MergeOutcome, _VectorPool, finish_bucket, join_parts, merge_bucket
from jobs.encode import VECTORS, vector_block
from jobs.induce import Embedder, Inducing
from operators.encode.text import load_text_encoder
from operators.extract.extraction import Extraction
from operators.hierarchy.values import HierarchyValues
from operators.merge import FILE_RANK, IN_PARTS, LINE_RANK, PART_RANK, PIECES, merge_rounds
from operators.records import ROUNDS, Image, Instant, Message, Role, Round, Session, content_key, round_of_row, round_rows
from operators.sources.rounds import Group, Turn, by_pairs, groups_by_roles, make_session, one_sided, positional_id
from operators.store.local import LocalObjects
from operators.store.tables import read_table, read_vectors
from operators.units import embedding_texts

ENCODER = load_text_encoder("stub")
UNREAD = Extraction(ocr="none")
INDUCING = Inducing(Settings().induce.values())
LEVELS = HierarchyValues()


def fragment(objects: LocalObjects, key: str, user: str, texts: list[str]) -> tuple[str, tuple[int, ...]]:
    rounds = [
        Round("S1", f"r{number}", number, (Message("user", "user", text),), (Image(0, f"{number}.png"),))
        for number, text in enumerate(texts)
    ]
    place = {FILE_RANK: 0, PART_RANK: 0, IN_PARTS: False}
    ranked = [row | place | {LINE_RANK: line} for line, row in enumerate(round_rows("t", user, rounds, "f"))]
    buffer = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(ranked, PIECES), buffer)
    objects.put(key, buffer.getvalue())
    return key, (0,)


def encode_block(objects: LocalObjects, prefix: str, home: str, texts: list[str]) -> None:
    buffer = io.BytesIO()
    keys = pa.array([content_key(text) for text in texts], pa.binary(16))
    pq.write_table(vector_block(keys, ENCODER.encode(texts)), buffer)
    objects.put(f"{prefix}/vectors/{home}/{len(texts)}.parquet", buffer.getvalue())


def merge(objects: LocalObjects, order: MergeOrder) -> MergeOutcome:
    document = merge_bucket(objects, "runs/r", order, ENCODER.spans, UNREAD)
    assert MergeOrder.from_json(order.to_json()) == order
    return document


def test_a_bucket_is_built_appended_to_and_left_alone(tmp_path: Path) -> None:
    objects = LocalObjects(str(tmp_path))
    piece = fragment(objects, "f/1.parquet", "ann", ["one two", "three", "one two"])
    draft = merge(objects, MergeOrder(7, (piece,), None)).draft
    assert draft is not None
    assert (draft.added, draft.needed.rows, draft.counts.units, draft.counts.pictures) == (3, 2, 6, 3)
    assert read_table(objects, draft.needed)["text"].to_pylist() == ["one two", "three"]
    with pytest.raises(RuntimeError, match="3 units have no vector"):
        finish_bucket(objects, "runs/r", draft, None, ENCODER.dim, UNREAD, INDUCING, Embedder(lambda: ENCODER), LEVELS)
    encode_block(objects, "runs/r", "00007", ["one two"])
    encode_block(objects, "runs/r", "shared", ["three", "of another bucket"])
    built = finish_bucket(objects, "runs/r", draft, None, ENCODER.dim, UNREAD, INDUCING, Embedder(lambda: ENCODER), LEVELS)
    units = read_table(objects, built.files["units"])
    vectors = read_vectors(objects, built.files["vectors"], 0, len(units))
    for text, vector in zip(embedding_texts(units).to_pylist(), vectors, strict=True):
        expected = np.zeros(ENCODER.dim) if text is None else ENCODER.encode([text])[0]
        np.testing.assert_allclose(vector, expected, atol=2e-3)

    again = merge(objects, MergeOrder(7, (piece,), built))
    assert (again.draft, again.unchanged) == (None, 3)
    more = merge(objects, MergeOrder(7, (fragment(objects, "f/2.parquet", "bob", ["three", "new"]),), built)).draft
    assert more is not None
    assert (more.base, more.needed.rows, more.found) == (built.revision, 1, 3 - 1)
    encode_block(objects, "runs/r", "00007", ["new", "x", "y"])
    grown = finish_bucket(objects, "runs/r", more, built, ENCODER.dim, UNREAD, INDUCING, Embedder(lambda: ENCODER), LEVELS)
    assert grown.counts.users == 2 and grown.digest != built.digest


def test_texts_of_several_drafts_are_gathered_once(tmp_path: Path) -> None:
    objects = LocalObjects(str(tmp_path))
    drafts = []
    for bucket, texts in enumerate([["a", "b"], ["b", "c"], ["c", "b", "d"], ["e"]]):
        piece = fragment(objects, f"f/{bucket}.parquet", f"u{bucket}", texts)
        draft = merge(objects, MergeOrder(bucket, (piece,), None)).draft
        assert draft is not None
        drafts.append(draft)
    shared = write_shared(objects, "runs/r", VECTORS, [draft.needed for draft in drafts])
    assert shared is not None
    assert sorted(read_table(objects, shared)["text"].to_pylist()) == ["b", "c"]
    assert write_shared(objects, "runs/r", VECTORS, [draft.needed for draft in drafts[3:]]) is None
    assert write_shared(objects, "runs/r", VECTORS, [drafts[0].needed, drafts[3].needed]) is None


@settings(max_examples=60, deadline=None)
@given(st.lists(st.lists(st.integers(0, 9).map(lambda n: content_key(str(n))), unique=True), max_size=5), st.integers(0, 5))
def test_shared_keys_are_those_that_stand_in_two_arrays(tables: list[list[bytes]], limit: int) -> None:
    found = shared_keys(lambda: (pa.array(keys, pa.binary(16)) for keys in tables), limit).to_pylist()
    counts: dict[bytes, int] = {}
    for key in (key for keys in tables for key in keys):
        counts[key] = counts.get(key, 0) + 1
    often = {key for key, count in counts.items() if count > 1}
    assert len(found) == min(limit, len(often)) and set(found) <= often
    if found:
        assert max(counts.values()) in [counts[key] for key in found]


def test_keys_of_one_beginning_are_not_taken_for_one() -> None:
    one, other, shared = b"8 bytes.and one.", b"8 bytes.another.", b"8 bytes.and both"
    arrays = [pa.array([b"x" * 16, one, shared, b"y" * 16], pa.binary(16))[1:3], pa.array([other, shared], pa.binary(16))]
    assert shared_keys(lambda: arrays, 9).to_pylist() == [shared]


@settings(max_examples=60, deadline=None)
@given(st.lists(st.none() | st.integers(0, 6), max_size=30), st.randoms(use_true_random=False))
def test_pooled_vectors_land_at_their_keys_whatever_source_holds_them(wanted: list[int | None], random: Any) -> None:
    def key(number: int) -> bytes:
        return bytes([number] * 16)

    pool = _VectorPool(2)
    numbers = list(range(7))
    for _ in range(3):
        random.shuffle(numbers)
        rows = np.array([[number, -number] for number in numbers], np.float16)
        pool.add(pa.array([key(number) for number in numbers], pa.binary(16)), rows)
    parts = list(pool.rows(pa.array([None if n is None else key(n) for n in wanted], pa.binary(16))))
    rows = np.concatenate(parts) if parts else np.zeros((0, 2))
    assert rows.tolist() == [[0, 0] if n is None else [n, -n] for n in wanted]


def pieces_of(rounds: tuple[Round, ...], source: str, user: str = "u") -> pa.Table:
    place = {FILE_RANK: 0, PART_RANK: 0, LINE_RANK: 0, IN_PARTS: True}
    return pa.Table.from_pylist([row | place for row in round_rows("t", user, rounds, source)], PIECES)


def cut(said: list[int]) -> tuple[Round, ...]:
    """The rounds of one table's rows: message n at second n, odd ones the user's."""
    roles: list[Role] = ["user" if at % 2 else "assistant" for at in said]
    times = [Instant(datetime(2024, 3, 1, tzinfo=UTC) + timedelta(seconds=at), 0, "second") for at in said]
    turns = [Turn(Message(role, role, f"said {time.utc}", time=time)) for role, time in zip(roles, times, strict=True)]
    groups = groups_by_roles("S", turns)
    if one_sided(roles):
        pairs = [tuple(turns[at] for at in pair) for pair in by_pairs(len(turns))]
        groups = [Group(positional_id("S", number), pair) for number, pair in enumerate(pairs)]
    return next(item.rounds for item in make_session("u", "S", groups, None, {}) if isinstance(item, Session))


@settings(max_examples=100, deadline=None)
@given(st.lists(st.integers(0, 3), min_size=2, max_size=16), st.data())
def test_a_session_is_the_same_in_whatever_order_its_files_come(homes: list[int], data: st.DataObject) -> None:
    """However its messages are dealt to files, read one by one, some twice: the store ends as after one file of them all."""
    dealt = {f"part-{home}.csv": [at for at, other in enumerate(homes, 1) if other == home] for home in set(homes)}
    base = pa.Table.from_pylist(round_rows("t", "v", cut([1, 2]), "part-0.csv"), ROUNDS)
    for name in data.draw(st.permutations([*dealt, *data.draw(st.lists(st.sampled_from(sorted(dealt)), max_size=2))])):
        kept, incoming = join_parts(base, pieces_of(cut(dealt[name]), name))
        base = merge_rounds(kept, incoming).rounds
    of_user = base.filter(pc.equal(base["user_id"], "u")).sort_by("position")
    assert [round_of_row(row) for row in of_user.to_pylist()] == list(cut([*range(1, len(homes) + 1)]))
    assert base.filter(pc.equal(base["user_id"], "v"))["source"].to_pylist() == ["part-0.csv"]
