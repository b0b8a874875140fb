"""Is a bucket's hierarchy one of its rounds: every round an event, episodes without gaps, topics over episodes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from operators.records import EPISODE, EVENT, ROUND, SESSION, TENANT, TOPIC, USER, node_id

_COLUMNS = [TENANT, USER, "level", "node", "parent", "first_order", "last_order", "rounds"]

Scope = tuple[str, str]
Fault = tuple[str, str]
"""What is expected, and what was found."""


def hierarchy_faults(rounds: pa.Table, hierarchy: pa.Table, dim: int | None) -> Iterator[Fault]:
    """What is wrong with ``records.HIERARCHY`` of a bucket of ``records.ROUNDS`` whose texts' vectors have ``dim`` numbers.

    Of each kind of fault the first user's is told, by the number of the row that it begins with.
    """
    seen: set[str] = set()
    starts, told = _by_user(hierarchy.select(_COLUMNS))
    for scope, places in _by_user(rounds.select([TENANT, USER, SESSION, ROUND]))[1].items():
        for expected in _of_user(places, told.get(scope, [])):
            if expected not in seen:
                seen.add(expected)
                yield expected, f"others from row {starts[scope]}" if scope in starts else "no rows of a user"
    for name in ("vector", "image_vector"):
        yield from _vectors(hierarchy[name].combine_chunks(), name, dim if name == "vector" else None)


def _by_user(table: pa.Table) -> tuple[dict[Scope, int], dict[Scope, list[dict[str, Any]]]]:
    """The row at which each user begins, and each user's rows."""
    starts: dict[Scope, int] = {}
    found: dict[Scope, list[dict[str, Any]]] = {}
    for at, row in enumerate(table.to_pylist()):
        scope = (row[TENANT], row[USER])
        starts.setdefault(scope, at)
        found.setdefault(scope, []).append(row)
    return starts, found


def _of_user(rounds: Sequence[Mapping[str, Any]], rows: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """What should be so and is not."""
    topics, episodes, events = ([row for row in rows if row["level"] == level] for level in (TOPIC, EPISODE, EVENT))
    if [*topics, *episodes, *events] != list(rows):
        yield "topics before episodes before events"
    due = [(node_id(EVENT, row[SESSION], row[ROUND]), at, at, 1) for at, row in enumerate(rounds)]
    if [(row["node"], row["first_order"], row["last_order"], row["rounds"]) for row in events] != due:
        yield "an event for each round, in order"
    firsts = [row["first_order"] for row in episodes]
    if firsts != [0, *(row["last_order"] + 1 for row in episodes)][: len(episodes)] or not episodes:
        yield "episodes that follow each other from the first round on"
    elif episodes[-1]["last_order"] != len(rounds) - 1 or any(
        row["rounds"] != row["last_order"] - row["first_order"] + 1 for row in episodes
    ):
        yield "episodes that hold all rounds"
    spans = {row["node"]: range(row["first_order"], row["last_order"] + 1) for row in episodes}
    if len(spans) != len(episodes) or any(row["first_order"] not in spans.get(row["parent"], ()) for row in events):
        yield "events in the episodes that they name"
    below: dict[str | None, int] = {}
    for row in episodes:
        below[row["parent"]] = below.get(row["parent"], 0) + row["rounds"]
    if below != {row["node"]: row["rounds"] for row in topics} or len(below) != len(topics):
        yield "topics of the episodes that name them"


def _vectors(vectors: pa.Array, name: str, dim: int | None) -> Iterator[Fault]:
    known = vectors.drop_null()
    numbers = known.flatten().to_numpy(zero_copy_only=False)
    if not np.isfinite(numbers).all():
        yield f"finite numbers in each {name}", "others"
    lengths = np.unique(known.value_lengths().to_numpy(zero_copy_only=False)).tolist()
    wanted = lengths[:1] if dim is None else [dim]
    if lengths and lengths != wanted:
        yield f"a {name} of {wanted[0]} numbers", f"of {', '.join(map(str, lengths))}"
