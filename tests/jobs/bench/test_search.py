"""The search benchmark in small, and the store it searches."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from configs.settings import RetrievalSettings
from jobs.bench.search import Plain, make_queries, measure_many_users, measure_one_user
from jobs.bench.search_store import DIM, build_store, user_name
from operators.memory import open_store
from operators.retrieve.values import SearchValues
from operators.store.buckets import read_user
from operators.store.commit import pin
from operators.store.opening import open_objects

RETRIEVAL = RetrievalSettings()


def test_one_user(tmp_path: Path) -> None:
    found = measure_one_user(20, 5, RETRIEVAL, temp=tmp_path, tell=lambda _: None)
    assert (found.rounds, found.units) == (20, 40)
    for way in (found.search, found.index, found.plain):
        assert way.calls == 5
        assert 0 < way.p50 <= way.p99
    assert list(tmp_path.iterdir()) == []


def test_many_users(tmp_path: Path) -> None:
    found = measure_many_users(6, 12, 4, RETRIEVAL, temp=tmp_path, tell=lambda _: None)
    assert (found.cold.calls, found.cached.calls, found.opening.calls, found.warm.calls) == (4, 4, 4, 4)
    assert min(found.cold.p50, found.cached.p50, found.warm.p50, found.opening.p50) > 0
    assert found.store_bytes > 6 * 12 * 2 * DIM * 2
    assert list(tmp_path.iterdir()) == []


def test_the_store_is_one_that_search_reads(tmp_path: Path) -> None:
    build_store(str(tmp_path), users=3, rounds=15, processes=1)
    memory = open_store(str(tmp_path)).memory()
    assert memory.users()["rounds"].to_list() == [15, 15, 15]
    objects = open_objects(str(tmp_path))
    data = read_user(objects, pin(objects), "default", user_name(1))
    assert data is not None
    dense = SearchValues(text={"dense": 1.0})
    found = memory.search(user_name(1), "anything", vector=data.vectors[14].astype(np.float32), values=dense, k=1)
    assert [hit.order for hit in found.hits] == [7]


def test_the_plain_way_finds_the_same_best() -> None:
    vectors = np.eye(3, 4, dtype=np.float16)
    plain = Plain(["red boats sail", "green trees grow", None], vectors)
    best, found = plain.search("trees", np.array([0.1, 0, 1, 0], np.float32), 2)
    assert best.tolist() == [2, 0]
    assert found[0][0] == 1


def test_queries_repeat() -> None:
    first, second = make_queries(3), make_queries(3)
    assert [text for text, _ in first] == [text for text, _ in second]
    assert all(np.isclose(np.linalg.norm(vector), 1) for _, vector in first)
