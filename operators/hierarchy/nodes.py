"""A user's hierarchy as a tree of nodes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

import pyarrow as pa

from operators.records import EPISODE, EVENT, ORDER, ROUND, SESSION, TOPIC, isoformat, local_day

_COLUMNS = [
    "level", "node", "parent", "name", "description", "first_order", "last_order", "pictures",
    "first_time", "first_offset_minutes", "last_time", "last_offset_minutes",
]  # fmt: skip


@dataclass(frozen=True)
class RoundRef:
    """A round: its session, its id, its place in the history."""

    session_id: str
    round_id: str
    order: int


@dataclass(frozen=True)
class Node:
    """A topic with its episodes, an episode with its events, or an event, which is a round.

    ``rounds``: all that it is made of, in order. Times are UTC, days those of the writer's clock; None where no round of it
    has a time. An event has no name.
    """

    level: str
    node: str
    parent: str | None
    name: str
    description: str
    rounds: tuple[RoundRef, ...]
    pictures: int
    first_time: datetime | None
    last_time: datetime | None
    first_day: date | None
    last_day: date | None
    children: tuple[Node, ...]

    def to_dict(self, depth: int = 0) -> dict[str, Any]:
        """Plain JSON values, with ``depth`` levels of what is below."""
        found = {
            "level": self.level,
            "id": self.node,
            "name": self.name,
            "description": self.description,
            "first_time": isoformat(self.first_time),
            "last_time": isoformat(self.last_time),
            "first_day": None if self.first_day is None else self.first_day.isoformat(),
            "last_day": None if self.last_day is None else self.last_day.isoformat(),
            "pictures": self.pictures,
            "rounds": [{SESSION: each.session_id, ROUND: each.round_id, ORDER: each.order} for each in self.rounds],
        }
        if depth:
            found["children"] = [child.to_dict(depth - 1) for child in self.children]
        return found


def tree_of(hierarchy: pa.Table, rounds: pa.Table) -> tuple[list[Node], list[Node], list[Node]]:
    """Topics, episodes and events of one user, in the order of their rows (``records.HIERARCHY``, ``records.ROUNDS``)."""
    by_level: dict[str, list[dict[str, Any]]] = {TOPIC: [], EPISODE: [], EVENT: []}
    for row in hierarchy.select(_COLUMNS).to_pylist():
        by_level[row["level"]].append(row)
    names = zip(rounds[SESSION].to_pylist(), rounds[ROUND].to_pylist(), rounds[ORDER].to_pylist(), strict=True)
    refs = [RoundRef(*name) for name in names]
    events = [_node(row, [refs[row["first_order"]]], ()) for row in by_level[EVENT]]
    episodes = [
        _node(row, refs[row["first_order"] : row["last_order"] + 1], events[row["first_order"] : row["last_order"] + 1])
        for row in by_level[EPISODE]
    ]
    below: dict[str | None, list[Node]] = {}
    for episode in episodes:
        below.setdefault(episode.parent, []).append(episode)
    topics = [
        _node(row, [ref for episode in below[row["node"]] for ref in episode.rounds], below[row["node"]])
        for row in by_level[TOPIC]
    ]
    return topics, episodes, events


def _node(row: Mapping[str, Any], rounds: Sequence[RoundRef], children: Sequence[Node]) -> Node:
    return Node(
        level=row["level"],
        node=row["node"],
        parent=row["parent"],
        name=row["name"],
        description=row["description"],
        rounds=tuple(rounds),
        pictures=row["pictures"],
        first_time=row["first_time"],
        last_time=row["last_time"],
        first_day=_day(row["first_time"], row["first_offset_minutes"]),
        last_day=_day(row["last_time"], row["last_offset_minutes"]),
        children=tuple(children),
    )


def _day(time: datetime | None, offset_minutes: int | None) -> date | None:
    return None if time is None else local_day(time, offset_minutes)
