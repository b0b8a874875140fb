"""Rounds to units: every span of text and every picture by itself, and what the text encoder sees of each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from operators.records import (
    CAPTION,
    CONTENT_KEY,
    END,
    IMAGES,
    KIND,
    MEDIA,
    MESSAGE,
    MESSAGES,
    ORDER,
    ROUND,
    SESSION,
    SPEAKER,
    START,
    TENANT,
    TEXT,
    UNIT,
    UNITS,
    USER,
    content_key,
    unit_id,
)

Spans = Callable[[str], Sequence[tuple[int, int]]]

_ROUNDS_AT_ONCE = 4096
_ROLES = pa.array(["user", "assistant", "system", "tool", "other", ""])
_SCOPE = [TENANT, USER, SESSION, ROUND, ORDER]


def units_of(rounds: pa.Table, spans: Spans) -> pa.Table:
    """The units (``records.UNITS``) of rounds (``records.ROUNDS``), in their order.

    Of a round first the texts, message by message, one unit for each range that ``spans`` gives; then its pictures. A blank
    text gives none.
    """
    starts = range(0, len(rounds), _ROUNDS_AT_ONCE)
    parts = [_part(rounds.slice(start, _ROUNDS_AT_ONCE).combine_chunks(), spans) for start in starts]
    return pa.concat_tables([UNITS.empty_table(), *parts]).combine_chunks()


def embedding_texts(units: pa.Table) -> pa.Array:
    """What the text encoder and BM25 see of each unit: a string, null where there is nothing to see.

    A text, or a picture's caption, after the name of a speaker who has one: questions ask for people by name.
    """
    body = pc.utf8_trim_whitespace(pc.coalesce(units[TEXT], units[CAPTION]))
    named = pc.invert(pc.is_in(units[SPEAKER], value_set=_ROLES))
    seen = pc.if_else(named, pc.binary_join_element_wise(units[SPEAKER], body, ": "), body)
    seen = pc.if_else(pc.equal(body, ""), pa.scalar(None, pa.string()), seen)
    return seen.combine_chunks() if isinstance(seen, pa.ChunkedArray) else seen


def _part(rounds: pa.Table, spans: Spans) -> pa.Table:
    of_text, texts = _texts(rounds, spans)
    of_image, images = _images(rounds)
    owners = np.concatenate([of_text, of_image])
    order = np.argsort(owners, kind="stable")
    joined = pa.concat_tables([texts, images]).take(pa.array(order))
    scope = rounds.select(_SCOPE).take(pa.array(owners[order]))
    columns = {name: scope[name] for name in _SCOPE} | {name: joined[name] for name in joined.column_names}
    columns[UNIT] = pa.array(_ids(columns), pa.string())
    seen = embedding_texts(pa.table(columns)).to_pylist()
    keys = [None if text is None else content_key(text) for text in seen]
    columns[CONTENT_KEY] = pa.array(keys, pa.binary(16))
    return pa.table([columns[name] for name in UNITS.names], schema=UNITS)


def _ids(columns: dict[str, Any]) -> list[str]:
    names = (SESSION, ROUND, KIND, "index", "span")
    return [unit_id(*values) for values in zip(*(columns[name].to_pylist() for name in names), strict=True)]


def _texts(rounds: pa.Table, spans: Spans) -> tuple[NDArray[np.int64], pa.Table]:
    owners, places, messages = _flat(rounds[MESSAGES])
    at, number, start, end, text = [], [], [], [], []
    for row, whole in enumerate(pc.struct_field(messages, "text").to_pylist()):
        for span, (first, last) in enumerate(spans(whole)):
            at.append(row)
            number.append(span)
            start.append(first)
            end.append(last)
            text.append(whole[first:last])
    rows = np.array(at, np.int64)
    count = len(rows)
    columns = {
        KIND: pa.repeat("txt", count),
        SPEAKER: pc.struct_field(messages, "speaker").take(pa.array(rows)),
        TEXT: pa.array(text, pa.string()),
        CAPTION: pa.nulls(count, pa.string()),
        MEDIA: pa.nulls(count, pa.string()),
        MESSAGE: pa.array(places[rows].astype(np.int32)),
        START: pa.array(start, pa.int32()),
        END: pa.array(end, pa.int32()),
        "index": pa.array(places[rows]),
        "span": pa.array(number, pa.int64()),
    }
    return owners[rows], pa.table(columns)


def _images(rounds: pa.Table) -> tuple[NDArray[np.int64], pa.Table]:
    owners, places, images = _flat(rounds[IMAGES])
    count = len(owners)
    zero = pa.array(np.zeros(count, np.int32))
    message = pc.struct_field(images, "message")
    columns = {
        KIND: pa.repeat("img", count),
        SPEAKER: _speakers(rounds, owners, message),
        TEXT: pa.nulls(count, pa.string()),
        CAPTION: pc.struct_field(images, "caption"),
        MEDIA: pc.struct_field(images, "media"),
        MESSAGE: message,
        START: zero,
        END: zero,
        "index": pa.array(places),
        "span": pa.array(np.zeros(count, np.int64)),
    }
    return owners, pa.table(columns)


def _speakers(rounds: pa.Table, owners: NDArray[np.int64], message: pa.Array) -> pa.Array:
    """Who sent each picture: the speaker of its message; nobody where it names none."""
    first, counts, messages = _lists(rounds[MESSAGES])
    wanted = message.to_numpy(zero_copy_only=False).astype(np.int64)
    known = (wanted >= 0) & (wanted < counts[owners])
    at = pa.array(np.where(known, first[owners] + wanted, 0), mask=~known)
    return pc.fill_null(pc.struct_field(messages, "speaker").take(at), "")


def _flat(column: pa.ChunkedArray) -> tuple[NDArray[np.int64], NDArray[np.int64], pa.Array]:
    """For each item of a list column: its row, its place in the row's list, the item."""
    first, counts, items = _lists(column)
    rows = np.repeat(np.arange(len(counts)), counts)
    return rows, np.arange(len(rows)) - first[rows], items


def _lists(column: pa.ChunkedArray) -> tuple[NDArray[np.int64], NDArray[np.int64], pa.Array]:
    """Where each list starts in the flattened items, how long it is, the items."""
    lists = column.combine_chunks()
    counts = pc.list_value_length(lists).to_numpy(zero_copy_only=False).astype(np.int64)
    return np.cumsum(counts) - counts, counts, pc.list_flatten(lists)
