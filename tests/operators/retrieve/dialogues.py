"""Invented dialogues as tables and as an index: the stub's vectors for texts, a direction of its own for each picture."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from operators.encode.stub import Stub
from operators.records import ROUNDS, Image, Instant, Message, Round, round_rows
from operators.retrieve.index import UserIndex
from operators.retrieve.told import Told, pictures_of_units, told
from operators.units import embedding_texts, units_of

STUB = Stub()
PICTURES: Mapping[str, int] = {"dog": 0, "lake": 1, "cake": 2, "boat": 3}
"""The pictures that have vectors, and the axis along which each lies."""


@dataclass(frozen=True)
class Said:
    """One round: what is said, the pictures it shows with their captions, and where it stands."""

    text: str = ""
    pictures: tuple[tuple[str, str | None], ...] = ()
    session: str = "S0"
    speaker: str = "user"
    time: datetime | None = None
    offset: int | None = None


def said(text: str = "", *pictures: tuple[str, str | None], **where: Any) -> Said:
    return Said(text, pictures, **where)


def tables(history: Sequence[Said]) -> tuple[pa.Table, pa.Table]:
    """The rounds and units of one user."""
    made = [
        Round(
            session_id=one.session,
            round_id=f"r{order}",
            position=order,
            messages=(Message("user", one.speaker, one.text),),
            images=tuple(Image(0, f"{name}.png", media=name, caption=caption) for name, caption in one.pictures),
            time=None if one.time is None else Instant(one.time, one.offset, "second"),
        )
        for order, one in enumerate(history)
    ]
    rows = [row | {"order": order} for order, row in enumerate(round_rows("t", "u", made, "f"))]
    rounds = pa.Table.from_pylist(rows, ROUNDS)
    return rounds, units_of(rounds, STUB.spans)


def vectors_of(texts: Sequence[str | None]) -> NDArray[np.float32]:
    """The stub's vector of each text, zeros where there is none."""
    seen = np.array([text is not None for text in texts], np.float32)
    return STUB.encode([text or "" for text in texts]) * seen[:, None]


def told_of(history: Sequence[Said]) -> Told:
    rounds, units = tables(history)
    return told(rounds, units, embedding_texts(units).to_pylist())


def index_of(history: Sequence[Said]) -> UserIndex:
    """The index that ``memory`` makes of such a user."""
    rounds, units = tables(history)
    texts = embedding_texts(units).to_pylist()
    pictures = pictures_of_units(units, list(PICTURES), np.eye(len(PICTURES), dtype=np.float32))
    return UserIndex(told(rounds, units, texts), vectors_of(texts), pictures)


def picture(name: str, near: str | None = None) -> NDArray[np.float32]:
    """A vector of unit length: the picture's, leaning towards another's where one is named."""
    vector = np.zeros(len(PICTURES), np.float32)
    vector[PICTURES[name]] = 1.0
    if near is not None:
        vector[PICTURES[near]] = 0.3
    return vector / np.float32(np.linalg.norm(vector))


def changed(history: Sequence[Said], order: int, **what: Any) -> list[Said]:
    """The history with one round told otherwise."""
    return [replace(one, **what) if place == order else one for place, one in enumerate(history)]
