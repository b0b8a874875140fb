"""What a bucket's tables are made of, as it is at hand or is read when wanted."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from functools import partial

import pyarrow as pa

from jobs.held import TELLING, Held, Ranges, Scope
from operators.records import (
    BOX,
    OBSERVATIONS,
    OFFSET,
    ORDER,
    PRECISION,
    ROUND,
    ROUNDS,
    SESSION,
    TENANT,
    TIME,
    USER,
)
from operators.store.manifest import CORRECTIONS_FILE, OBSERVATIONS_FILE, ROUNDS_FILE, USERS_FILE, BucketFiles
from operators.store.objects import ObjectStore
from operators.store.tables import read_near, read_table

ROUND_COLUMNS = [ORDER, SESSION, ROUND, TIME, OFFSET, PRECISION]
"""What tables tell of a round."""

_OBSERVED = [TENANT, USER, *TELLING, BOX]


@dataclass(frozen=True)
class Source:
    """What a bucket's tables are made of: its rounds, users and observations, and what people set right.

    ``rounds`` and ``observations`` may be what reads those of some users, and of others beside them. Of users whose digest
    is the one that their tables were made of nothing is asked then: an extraction finds the same in the same rounds, and
    where it finds anything else tables are made beside the observations, which were at hand.
    """

    rounds: pa.Table | Callable[[Collection[Scope]], pa.Table]
    users: pa.Table
    observations: pa.Table | Callable[[Collection[Scope]], pa.Table]
    corrections: pa.Table
    extraction: str

    def rounds_of(self, scopes: Collection[Scope]) -> pa.Table:
        """The rounds of some users."""
        if not scopes:
            return ROUNDS.empty_table()
        return Ranges(self.rounds if isinstance(self.rounds, pa.Table) else self.rounds(scopes)).of_all(scopes)

    def observations_of(self, scopes: Collection[Scope]) -> pa.Table:
        """The observations of some users."""
        if isinstance(self.observations, pa.Table):
            return Ranges(self.observations).of_all(scopes)
        if not scopes:
            return OBSERVATIONS.empty_table().select(_OBSERVED)
        return Ranges(self.observations(scopes)).of_all(scopes)


def of_known_rounds(source: Source) -> pa.Table:
    """The corrections of rounds that are here: with a round goes what was said of it."""
    corrections = source.corrections
    if len(corrections) == 0:
        return corrections
    identity = [TENANT, USER, SESSION, ROUND]
    rounds = source.rounds_of(set(zip(*(corrections[name].to_pylist() for name in (TENANT, USER)), strict=True)))
    known = set(zip(*(rounds[name].to_pylist() for name in identity), strict=True))
    rows = zip(*(corrections[name].to_pylist() for name in identity), strict=True)
    kept = corrections.filter(pa.array([row in known for row in rows], pa.bool_()))
    return kept.sort_by([(TENANT, "ascending"), (USER, "ascending"), ("at", "ascending")]).combine_chunks()


def held_corrections(objects: ObjectStore, base: BucketFiles | None) -> pa.Table:
    """What people set right in the bucket as it was."""
    return Held(objects, base).table(CORRECTIONS_FILE)


def source_of(objects: ObjectStore, bucket: BucketFiles, corrections: pa.Table | None = None) -> Source:
    """What the tables of a finished bucket are made of; other ``corrections`` than it holds where they are given."""
    near = partial(read_near, objects, by=(TENANT, USER))
    rounds = partial(near, bucket.files[ROUNDS_FILE], columns=[TENANT, USER, *ROUND_COLUMNS])
    observed = partial(near, bucket.files[OBSERVATIONS_FILE], columns=_OBSERVED)
    users = read_table(objects, bucket.files[USERS_FILE], columns=[TENANT, USER, "digest"])
    held = held_corrections(objects, bucket) if corrections is None else corrections
    return Source(rounds, users, observed, held, bucket.extraction)
