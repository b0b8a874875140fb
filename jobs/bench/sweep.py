"""The sweep: which thresholds of induction find the tables that are there, and the fewest where there are none."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import product

import polars as pl
import pyarrow as pa

from configs.settings import Settings
from jobs.bench.records import LOGGED, PRINTED, pick
from jobs.induce import Embedder
from operators.encode.text import encoder_of
from operators.induce.induction import InduceValues, TableSchema, induction
from operators.induce.schemas import Thresholds
from operators.records import TENANT, USER
from operators.store.commit import latest_version, load_snapshot
from operators.store.manifest import COUNTS_FILE
from operators.store.opening import open_objects
from operators.store.tables import read_table

SUPPORTS = (2, 3, 4, 5)
ALL_CONFIDENCES = (0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
EXT_CONFIDENCES = (0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8)

_REQUIRED = ("sleep", "steps", "calories")

Tell = Callable[[str], None]


@dataclass(frozen=True)
class Setting:
    """One point of the grid, and what it makes.

    ``wearers`` and ``shoppers``: users with one table of all they record. ``tables`` and ``columns``: of the store of
    records, a user. ``talk``: the tables of the store of talks, each its user and columns; None without one.
    """

    thresholds: Thresholds
    wearers: int
    shoppers: int
    tables: float
    columns: float
    talk: tuple[str, ...] | None

    @property
    def noise(self) -> int | None:
        """How many tables talks make."""
        return None if self.talk is None else len(self.talk)

    @property
    def found(self) -> int:
        """Users whose structure is found."""
        return self.wearers + self.shoppers


@dataclass(frozen=True)
class SweepFigures:
    """The grid. ``best``: all structure, then the least noise, then the middle of those that are equal (``plateau``).

    ``now``: the thresholds that are set.
    """

    wearers: int
    shoppers: int
    grid: tuple[Setting, ...]
    plateau: tuple[Thresholds, ...]
    best: Setting
    now: Setting


@dataclass(frozen=True)
class _User:
    """A user's counts, and what each of ``LOGGED`` or ``PRINTED`` that a table of theirs should hold together."""

    name: str
    counts: pa.Table
    wears: tuple[str, ...]
    shops: bool


def measure_sweep(store: str, chat: str | None, settings: Settings, *, tell: Tell) -> SweepFigures:
    """Induce every user of ``store`` (records) and ``chat`` (talks) anew under each setting, in memory."""
    values = settings.induce.values()
    users, embed = _users(store, values)
    talkers, embed_talk = _users(chat, values) if chat is not None else ([], None)
    tell(f"{len(users)} users of records, {len(talkers)} of talks")

    def at(thresholds: Thresholds) -> Setting:
        told = replace(values, thresholds=thresholds)
        made = [(user, induction(user.counts, (), told, embed).tables) for user in users]
        talk = tuple(
            f"{user.name}: {', '.join(column.name for column in table.columns)}"
            for user in talkers
            for table in induction(user.counts, (), told, embed_talk).tables
        )
        return _setting(thresholds, made, None if chat is None else talk)

    grid: list[Setting] = []
    for support in SUPPORTS:
        tell(f"support {support}")
        pairs = product(ALL_CONFIDENCES, EXT_CONFIDENCES)
        grid += [at(Thresholds(support, whole, part)) for whole, part in pairs if part <= whole]
    best, plateau = best_of(grid)
    wearers, shoppers = sum(bool(user.wears) for user in users), sum(user.shops for user in users)
    return SweepFigures(wearers, shoppers, tuple(grid), tuple(plateau), best, at(values.thresholds))


def _users(store: str, values: InduceValues) -> tuple[list[_User], Embedder]:
    """The users of a store's newest version and their counts; all by what is observed now, whatever tables there are."""
    objects = open_objects(store)
    snapshot = load_snapshot(objects, latest_version(objects))
    embed = Embedder(partial(encoder_of, snapshot.spec.encoder))
    found: list[_User] = []
    for _, bucket in sorted(snapshot.buckets.items()):
        counts = pl.DataFrame(pl.from_arrow(read_table(objects, bucket.files[COUNTS_FILE])))
        for (tenant, user), rows in sorted(counts.group_by([TENANT, USER], maintain_order=True)):
            name = f"{tenant}/{user}"
            attributes = induction(rows.to_arrow(), (), values, embed).attributes
            columns = [(each.name, each.kind) for attribute in attributes for each in attribute.names]
            given = tuple(what for what in LOGGED if pick(columns, what))
            wears = given if set(_REQUIRED) <= set(given) else ()
            shops = not wears and all(pick(columns, what) for what in PRINTED)
            found.append(_User(name, rows.to_arrow(), wears, shops))
    return sorted(found, key=lambda each: each.name), embed


def _setting(
    thresholds: Thresholds, made: Sequence[tuple[_User, Sequence[TableSchema]]], talk: tuple[str, ...] | None
) -> Setting:
    wearers = sum(bool(user.wears) and holds(tables, user.wears) for user, tables in made)
    shoppers = sum(user.shops and holds(tables, PRINTED) for user, tables in made)
    tables = sum(len(each) for _, each in made)
    columns = sum(len(table.columns) for _, each in made for table in each)
    of = max(1, len(made))
    return Setting(thresholds, wearers, shoppers, tables / of, columns / of, talk)


def holds(tables: Sequence[TableSchema], whats: Sequence[str]) -> bool:
    """Whether one of the tables has a column for each of them."""
    columns = [[(column.name, column.kind) for column in table.columns] for table in tables]
    return any(all(pick(each, what) for what in whats) for each in columns)


def best_of(grid: Sequence[Setting]) -> tuple[Setting, list[Thresholds]]:
    """The setting of all structure and the least noise that is surest to stay so, and all that are as good.

    Of those that are equal the one with the most equals next to it on the grid, then the nearest to their middle.
    """
    equal = [each for each in grid if _worth(each) == max(map(_worth, grid))]
    places = [_place(each.thresholds) for each in equal]
    middle = [sum(axis) / len(places) for axis in zip(*places, strict=True)]

    def inner(each: Setting) -> tuple[int, float, tuple[int, ...]]:
        at = _place(each.thresholds)
        beside = sum(max(abs(a - b) for a, b in zip(at, other, strict=True)) == 1 for other in places)
        return -beside, sum((a - b) ** 2 for a, b in zip(at, middle, strict=True)), at

    return min(equal, key=inner), [each.thresholds for each in equal]


def _worth(setting: Setting) -> tuple[int, float]:
    """Structure, then few tables: those of talks, and where there are no talks those of records."""
    return setting.found, -(setting.tables if setting.noise is None else setting.noise)


def _place(thresholds: Thresholds) -> tuple[int, int, int]:
    return (
        SUPPORTS.index(thresholds.support),
        ALL_CONFIDENCES.index(thresholds.all_confidence),
        EXT_CONFIDENCES.index(thresholds.ext_confidence),
    )
