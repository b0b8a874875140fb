"""What a user's rounds and units tell, as the lanes see it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from operators.records import IMAGES, KIND, MEDIA, OFFSET, ORDER, SESSION, SPEAKER, TIME, local_day

_MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December",
)  # fmt: skip
_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_ROLES = frozenset({"user", "assistant", "system", "tool", "other", ""})


@dataclass(frozen=True)
class Told:
    """Units (units,): the round of each, what its encoder sees (None for nothing), whether it is a picture. Rounds
    (rounds,): the number of each one's session and the words of its date. ``shown``: which rounds hold pictures (rounds,).
    ``names``: speakers who have a name."""

    orders: NDArray[np.int64]
    texts: Sequence[str | None]
    pictures: NDArray[np.bool_]
    sessions: NDArray[np.int64]
    dates: Sequence[str]
    shown: NDArray[np.bool_]
    names: frozenset[str]

    @property
    def rounds(self) -> int:
        """How many rounds there are; orders count from 0."""
        return len(self.sessions)

    def apart(self) -> Told:
        """Every unit as a round of its own."""
        orders = self.orders
        dates = [self.dates[order] for order in orders.tolist()]
        own = np.arange(len(orders))
        return Told(own, self.texts, self.pictures, self.sessions[orders], dates, self.pictures, self.names)


def told(rounds: pa.Table, units: pa.Table, texts: Sequence[str | None]) -> Told:
    """From one user's ``records.ROUNDS`` and ``records.UNITS``, in order, and what the text encoder sees of each unit."""
    sessions = pc.dictionary_encode(rounds[SESSION]).combine_chunks()
    indices = sessions.indices if isinstance(sessions, pa.DictionaryArray) else sessions.chunk(0).indices
    names = set(pc.unique(units[SPEAKER]).to_pylist()) - _ROLES
    return Told(
        orders=units[ORDER].to_numpy().astype(np.int64),
        texts=texts,
        pictures=pc.equal(units[KIND], "img").to_numpy().astype(np.bool_),
        sessions=indices.to_numpy(zero_copy_only=False).astype(np.int64),
        dates=[date_words(*when) for when in zip(rounds[TIME].to_pylist(), rounds[OFFSET].to_pylist(), strict=True)],
        shown=pc.greater(pc.list_value_length(rounds[IMAGES]), 0).to_numpy().astype(np.bool_),
        names=frozenset(names),
    )


def date_words(time: datetime | None, offset_minutes: int | None) -> str:
    """A round's day as people write it, by its writer's clock: ``8 May 2023 Monday``; blank where it is not known."""
    if time is None:
        return ""
    local = local_day(time, offset_minutes)
    return f"{local.day} {_MONTHS[local.month - 1]} {local.year} {_DAYS[local.weekday()]}"


@dataclass(frozen=True)
class Pictures:
    """The pictures that have vectors: the place (n,) of each one's unit, and its vector (n, image dim) of unit length."""

    units: NDArray[np.int64]
    vectors: NDArray[np.float32]


def pictures_of_units(units: pa.Table, media: Sequence[str], vectors: NDArray[np.float32]) -> Pictures:
    """From ``records.UNITS`` in order and a unit vector (pictures, image dim) for each of ``media``."""
    rows = pc.fill_null(pc.index_in(units[MEDIA], value_set=pa.array(media, pa.string())), -1).to_numpy().astype(np.int64)
    places = np.flatnonzero(rows >= 0)
    return Pictures(places, vectors[rows[places]])
