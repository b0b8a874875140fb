"""Search with the query's vector given: one user beside plain NumPy and bm25s, and users of a large store, cold and warm."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import bm25s
import numpy as np
from numpy.typing import NDArray

from configs.settings import RetrievalSettings
from jobs.bench.conversations import texts
from jobs.bench.figures import Latency, seconds_of
from jobs.bench.machine import cores
from jobs.bench.search_store import DIM, build_store, user_name
from operators.memory import Memory, open_store
from operators.records import DEFAULT_TENANT
from operators.retrieve.anchors import NoAnchors
from operators.retrieve.find import Query as Asked
from operators.retrieve.find import find
from operators.retrieve.index import UserIndex
from operators.retrieve.told import told
from operators.store.buckets import UserData, read_user
from operators.store.commit import pin
from operators.store.opening import open_objects
from operators.units import embedding_texts

QUERY_WORDS = 8
COLD_USERS, WARM_USERS = 100, 32
"""Most users that are searched for the first time, and that the warm searches go round."""

Query = tuple[str, NDArray[np.float32]]
Tell = Callable[[str], None]


@dataclass(frozen=True)
class OneUser:
    """One user of so many rounds and units, the same queries each way in turn.

    ``search``: ``Memory.search``, rounds with neighbours as its result. ``index``: its ranking and fusion alone.
    ``plain``: a NumPy product with every vector and a bm25s retrieval, the best of each, neither fused nor looked up.
    """

    rounds: int
    units: int
    search: Latency
    index: Latency
    plain: Latency


@dataclass(frozen=True)
class ManyUsers:
    """A store of so many users with so many rounds each.

    ``opening``: a store opened and its newest version pinned. ``cold``: the first search of a user by a reader that has read
    nothing yet, the files out of the system's cache as far as it lets go of them; ``cached``: the same with the files in it.
    ``warm``: a user searched before.
    """

    users: int
    rounds: int
    store_bytes: int
    build_seconds: float
    opening: Latency
    cold: Latency
    cached: Latency
    warm: Latency


# --- one user -------------------------------------------------------------------------------------------------------


def measure_one_user(rounds: int, queries: int, retrieval: RetrievalSettings, *, temp: Path | None, tell: Tell) -> OneUser:
    """Write a store of one user and search it."""
    with tempfile.TemporaryDirectory(prefix="mnemosaic-search-", dir=temp) as store:
        tell(f"one user of {rounds:,} rounds")
        build_store(store, users=1, rounds=rounds, processes=1)
        memory = open_store(store).memory(DEFAULT_TENANT)
        objects = open_objects(store)
        data = read_user(objects, pin(objects), DEFAULT_TENANT, user_name(0))
        assert data is not None
        return _one_user(memory, data, queries, retrieval)


def _one_user(memory: Memory, data: UserData, queries: int, retrieval: RetrievalSettings) -> OneUser:
    seen = embedding_texts(data.units).to_pylist()
    index = UserIndex(told(data.rounds, data.units, seen), data.vectors)
    plain = Plain(seen, data.vectors)
    values = retrieval.values()
    ways: dict[str, Callable[[Query], object]] = {
        "search": partial(search, memory, user_name(0), retrieval),
        "index": lambda query: find(index, Asked(query[0], query[1]), _no_encoder, NoAnchors(), values),
        "plain": lambda query: plain.search(query[0], query[1], retrieval.pool),
    }
    times: dict[str, list[float]] = {name: [] for name in ways}
    asked = make_queries(queries)
    for way in ways.values():
        way(asked[0])
    for query in asked:
        for name, way in ways.items():
            times[name].append(seconds_of(partial(way, query)))
    found = {name: Latency.of(values) for name, values in times.items()}
    return OneUser(len(data.rounds), len(data.units), found["search"], found["index"], found["plain"])


def _no_encoder(texts: Sequence[str]) -> NDArray[np.float32]:
    raise AssertionError(f"{len(texts)} texts were to be encoded, though the query's vector is at hand")


def search(memory: Memory, user: str, retrieval: RetrievalSettings, query: Query) -> object:
    """The product's search with the settings given."""
    return memory.search(
        user,
        query[0],
        values=retrieval.values(),
        vector=query[1],
    )


class Plain:
    """What one would write by hand for one user: exact cosine by a matrix product, and bm25s."""

    def __init__(self, texts: list[str | None], vectors: NDArray[np.float16]) -> None:
        self._vectors = vectors.astype(np.float32)
        self._bm25: Any = bm25s.BM25()
        self._bm25.index(bm25s.tokenize([text or "" for text in texts], show_progress=False), show_progress=False)

    def search(self, query: str, vector: NDArray[np.float32], count: int) -> tuple[NDArray[np.int64], Any]:
        """The best units of each signal, best first."""
        count = min(count, len(self._vectors))
        scores = self._vectors @ vector
        best = np.argpartition(-scores, count - 1)[:count]
        words = bm25s.tokenize([query], show_progress=False)
        found, _ = self._bm25.retrieve(words, k=count, show_progress=False)
        return best[np.argsort(-scores[best])], found


def make_queries(count: int) -> list[Query]:
    """Invented questions with random vectors of unit length, always the same."""
    rng = np.random.default_rng([count, DIM])
    vectors = rng.standard_normal((count, DIM), dtype=np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return list(zip(texts(rng, [QUERY_WORDS] * count), vectors, strict=True))


# --- many users -----------------------------------------------------------------------------------------------------


def measure_many_users(
    users: int, rounds: int, queries: int, retrieval: RetrievalSettings, *, temp: Path | None, tell: Tell
) -> ManyUsers:
    """Write a store of many users and search it; ``queries`` warm searches, a cold one a user."""
    with tempfile.TemporaryDirectory(prefix="mnemosaic-search-", dir=temp) as store:
        tell(f"writing a store of {users:,} users with {rounds:,} rounds each")
        build = seconds_of(lambda: build_store(store, users=users, rounds=rounds, processes=cores()))
        tell(f"searching a store of {users:,} users with {rounds:,} rounds each")
        asked = make_queries(queries)
        picked = np.random.default_rng(users).permutation(users).tolist()
        drop_from_cache(Path(store))
        opening, cold = _first_searches(store, picked[:COLD_USERS], asked, retrieval)
        _, cached = _first_searches(store, picked[:COLD_USERS], asked, retrieval)
        return ManyUsers(
            users=users,
            rounds=rounds,
            store_bytes=sum(path.stat().st_size for path in _files(Path(store))),
            build_seconds=build,
            opening=Latency.of(opening),
            cold=Latency.of(cold),
            cached=Latency.of(cached),
            warm=Latency.of(_warm_searches(store, picked[:WARM_USERS], asked, retrieval)),
        )


def _first_searches(
    store: str, users: list[int], asked: list[Query], retrieval: RetrievalSettings
) -> tuple[list[float], list[float]]:
    """Seconds of opening, and of the first search, by a reader that is new for each user."""
    opening, first = [], []
    for number, query in zip(users, asked, strict=False):
        began = time.perf_counter()
        memory = open_store(store).memory(DEFAULT_TENANT)
        opening.append(time.perf_counter() - began)
        first.append(seconds_of(partial(search, memory, user_name(number), retrieval, query)))
    return opening, first


def _warm_searches(store: str, users: list[int], asked: list[Query], retrieval: RetrievalSettings) -> list[float]:
    memory = open_store(store).memory(DEFAULT_TENANT)
    for number in users:
        search(memory, user_name(number), retrieval, asked[0])
    names = [user_name(users[place % len(users)]) for place in range(len(asked))]
    return [seconds_of(partial(search, memory, name, retrieval, query)) for name, query in zip(names, asked, strict=True)]


def drop_from_cache(folder: Path) -> None:
    """Ask the system to forget the files' pages, where it can be asked; what it does is its own affair."""
    if not hasattr(os, "posix_fadvise"):
        return
    for path in _files(folder):
        with path.open("rb") as file:
            os.fsync(file.fileno())
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def _files(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]
