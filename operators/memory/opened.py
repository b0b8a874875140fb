"""What of a store is opened and kept at hand: users, least recently used first out, and the encoders of queries."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from functools import cached_property

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from operators.encode.queries import ImageQueries, TextQueries
from operators.errors import UsageError
from operators.extract.dates import dates_in
from operators.extract.folding import folded
from operators.hierarchy.find import Reading, UserHierarchy
from operators.memory.known import Known
from operators.records import pictures_of
from operators.retrieve.index import UserIndex
from operators.retrieve.lanes import unit_length
from operators.retrieve.told import pictures_of_units, told
from operators.retrieve.words import query_words, words
from operators.store.buckets import UserData
from operators.units import embedding_texts


@dataclass(frozen=True)
class Encoders:
    """What makes vectors of queries: of their words, of their pictures."""

    texts: TextQueries
    images: ImageQueries


class Opened:
    """One user's data; its index is built when first searched."""

    def __init__(self, data: UserData) -> None:
        self.data = data
        self.lock = threading.RLock()  # what a planner is shown of a user is made of the hierarchy
        self._index: UserIndex | None = None
        self._hierarchy: UserHierarchy | None = None
        self._known: Known | None = None

    def known(self, made: Callable[[], Known]) -> Known:
        """What a planner may be shown of the user, made when first asked for."""
        with self.lock:
            if self._known is None:
                self._known = made()
            return self._known

    def hierarchy(self, rows: Callable[[], pa.Table]) -> UserHierarchy:
        """The user's hierarchy, read (``records.HIERARCHY``) when first asked for."""
        with self.lock:
            if self._hierarchy is None:
                data = self.data
                self._hierarchy = UserHierarchy(rows(), data.rounds, data.units, data.vectors, _READING)
            return self._hierarchy

    def check_vector(self, vector: NDArray[np.float32] | None) -> None:
        """UsageError for a query vector that the store's cannot be compared with."""
        dim = self.data.vectors.shape[1]
        if vector is not None and vector.shape != (dim,):
            raise UsageError(f"the query's vector has shape {vector.shape}, the store's have ({dim},)")
        if vector is not None and not np.isfinite(vector).all():
            raise UsageError("the query's vector holds numbers that are not finite")

    @property
    def index(self) -> UserIndex:
        with self.lock:
            if self._index is None:
                data = self.data
                pictures = pictures_of_units(data.units, data.pictures, unit_length(data.picture_vectors))
                texts = embedding_texts(data.units).to_pylist()
                self._index = UserIndex(told(data.rounds, data.units, texts), data.vectors, pictures)
            return self._index

    @cached_property
    def pictures(self) -> frozenset[str]:
        """The names of all pictures that the user's rounds hold."""
        return frozenset(pictures_of(self.data.rounds).to_pylist())

    @property
    def nbytes(self) -> int:
        """Counted as if the index and the hierarchy were built: BM25 takes about as much as the text and so do the words of
        the hierarchy, the vectors twice their float16 and those of events once more."""
        vectors = 4 * self.data.vectors.nbytes + 3 * self.data.picture_vectors.nbytes
        return int(3 * self.data.units.nbytes + self.data.rounds.nbytes + vectors)


class Users:
    """Opened users, the least recently used dropped first. A bucket's revision names its content, so nothing goes stale."""

    def __init__(self, most_bytes: int) -> None:
        self._most = most_bytes
        self._held: OrderedDict[tuple[str, str, str], Opened] = OrderedDict()
        self._bytes = 0
        self._lock = threading.Lock()

    def get(self, key: tuple[str, str, str]) -> Opened | None:
        """The user at a bucket's revision (revision, tenant, user), if it is held."""
        with self._lock:
            if key in self._held:
                self._held.move_to_end(key)
            return self._held.get(key)

    def put(self, key: tuple[str, str, str], opened: Opened) -> Opened:
        """Keep it; the one that another thread kept meanwhile stands."""
        with self._lock:
            if key in self._held:
                return self._held[key]
            self._held[key] = opened
            self._bytes += opened.nbytes
            while self._bytes > self._most and self._held:
                self._bytes -= self._held.popitem(last=False)[1].nbytes
        return opened


def _written_dates(text: str, said: date) -> list[tuple[int, date]]:
    """The dates written in a text that was said on a day; one whose day and month may be the other way round is none."""
    return [(found.start, day) for found in dates_in(folded(text)) if (day := found.on(None, said)[0]) is not None]


_READING = Reading(words, query_words, _written_dates)
