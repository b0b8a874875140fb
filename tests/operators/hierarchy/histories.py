"""Invented histories as tables: rounds, units and the stub's vectors."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from operators.encode.stub import Stub
from operators.records import ROUNDS, Image, Instant, Message, Round, round_rows
from operators.units import embedding_texts, units_of

STUB = Stub()
BEGINS = datetime(2026, 3, 2, 8, tzinfo=UTC)

Tables = tuple[pa.Table, pa.Table, NDArray[np.float32]]


def a_round(
    place: int,
    text: str,
    answer: str | None = None,
    *,
    session: str = "S",
    time: datetime | None = None,
    offset: int | None = 0,
    precision: Any = "minute",
    captions: Sequence[str | None] = (),
    speaker: str = "user",
) -> Round:
    """One round: what is said, what is answered, pictures by their captions (the first has the name ``aa..0``)."""
    said = [Message("user", speaker, text)]
    said += [] if answer is None else [Message("assistant", "assistant", answer)]
    images = [Image(0, f"{at}.png", media=f"{at:064x}", caption=caption) for at, caption in enumerate(captions)]
    instant = None if time is None else Instant(time, offset, precision)
    return Round(session, f"{session}:{place}", place, tuple(said), tuple(images), instant)


def minutes_apart(texts: Sequence[str], session: str = "S", begins: datetime = BEGINS) -> list[Round]:
    """Rounds of one session, one every five minutes."""
    return [a_round(at, text, session=session, time=begins + timedelta(minutes=5 * at)) for at, text in enumerate(texts)]


def tables_of(rounds: Sequence[Round], tenant: str = "t", user: str = "u") -> Tables:
    """Rounds and units of one user in the order given, and a vector (units, dim) a unit; zeros where nothing is said."""
    rows = [row | {"order": at} for at, row in enumerate(round_rows(tenant, user, rounds, "f"))]
    table = pa.Table.from_pylist(rows, ROUNDS)
    units = units_of(table, STUB.spans)
    return table, units, vectors_of(units)


def vectors_of(units: pa.Table) -> NDArray[np.float32]:
    """The stub's vectors of units."""
    seen = embedding_texts(units).to_pylist()
    told = np.array([text is not None for text in seen], np.float32).reshape(-1, 1)
    return STUB.encode([text or "" for text in seen]) * told
