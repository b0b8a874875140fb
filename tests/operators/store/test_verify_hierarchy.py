"""Whatever is wrong with a hierarchy is told; of a whole one nothing is."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from operators.encode.stub import Stub
from operators.hierarchy.build import hierarchy_of
from operators.hierarchy.values import HierarchyValues
from operators.records import HIERARCHY, ROUNDS, Instant, Message, Round, round_rows
from operators.store.verify_hierarchy import hierarchy_faults
from operators.units import embedding_texts, units_of

STUB = Stub()
Rows = list[dict[str, Any]]


@pytest.fixture(scope="module")
def whole() -> tuple[pa.Table, pa.Table]:
    """Two users' rounds and hierarchies."""
    rounds, made = [ROUNDS.empty_table()], [HIERARCHY.empty_table()]
    for user in ("ann", "bob"):
        told = [
            Round(f"S{at // 3}", f"r{at}", at % 3, (Message("user", "user", f"{user} said {at // 3} {at}"),),
                  time=Instant(datetime(2026, 1, 1, tzinfo=UTC) + timedelta(days=at // 3), 0, "day"))
            for at in range(7)
        ]  # fmt: skip
        rows = [row | {"order": at} for at, row in enumerate(round_rows("t", user, told, "f"))]
        rounds.append(pa.Table.from_pylist(rows, ROUNDS))
        units = units_of(rounds[-1], STUB.spans)
        vectors = STUB.encode(embedding_texts(units).to_pylist())
        made.append(hierarchy_of(rounds[-1], units, vectors, HierarchyValues(), made_of=user))
    return pa.concat_tables(rounds), pa.concat_tables(made)


def test_a_whole_one_has_no_faults(whole: tuple[pa.Table, pa.Table]) -> None:
    assert len(whole[1].filter(pa.compute.equal(whole[1]["level"], "episode"))) > 4
    assert list(hierarchy_faults(*whole, STUB.dim)) == []
    assert list(hierarchy_faults(ROUNDS.empty_table(), HIERARCHY.empty_table(), STUB.dim)) == []


def of(rows: Rows, level: str, at: int = 0) -> dict[str, Any]:
    return [row for row in rows if row["level"] == level][at]


def lose(level: str) -> Callable[[Rows], None]:
    return lambda rows: rows.remove(of(rows, level, 1))


@pytest.mark.parametrize(
    ("damage", "expected"),
    [
        (lambda rows: rows.clear(), "an event for each round"),
        (lose("event"), "an event for each round"),
        (lose("episode"), "episodes that"),
        (lambda rows: of(rows, "episode", 2).update(last_order=99), "episodes that hold all rounds"),
        (lambda rows: of(rows, "episode", 1).update(first_order=1), "episodes that follow each other"),
        (lambda rows: of(rows, "event", 6).update(parent=of(rows, "episode")["node"]), "events in the episodes"),
        (lambda rows: of(rows, "episode").update(parent="topic/none"), "topics of the episodes"),
        (lambda rows: of(rows, "topic").update(rounds=50), "topics of the episodes"),
        (lambda rows: rows.insert(0, rows.pop(6)), "topics before episodes"),
        (lambda rows: of(rows, "event").update(node="event/S0/r9"), "an event for each round"),
        (lambda rows: of(rows, "topic").update(vector=[1.0, 2.0]), "a vector of 64 numbers"),
        (lambda rows: of(rows, "topic").update(vector=[float("nan")] * 64), "finite numbers in each vector"),
        (lambda rows: of(rows, "topic").update(image_vector=[float("inf")]), "finite numbers in each image_vector"),
    ],
)
def test_damage_is_told(whole: tuple[pa.Table, pa.Table], damage: Callable[[Rows], Any], expected: str) -> None:
    rounds, made = whole
    rows = made.to_pylist()
    ann = [row for row in rows if row["user_id"] == "ann"]
    damage(ann)
    for row in ann:
        for name in ("vector", "image_vector"):
            row[name] = None if row[name] is None else np.array(row[name], np.float16)
    bob = made.filter(pa.compute.equal(made["user_id"], "bob"))
    damaged = pa.concat_tables([pa.Table.from_pylist(ann, HIERARCHY), bob])
    found = list(hierarchy_faults(rounds, damaged, STUB.dim))
    assert any(expected in fault for fault, _ in found), found
