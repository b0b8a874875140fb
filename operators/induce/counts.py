"""Global counting: how often each set of names stands in a round, as weights that add in any order, whatever the sharding.

A transaction is the set of names of one round (AdaMM, Eq. 2). Support is read off the sets (Eq. 3): the state keeps each
distinct set once, with the rounds that have it; and, apart, each set of a record, with the rounds that hold such a record.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

import polars as pl
import pyarrow as pa
import pyarrow.compute as pc

from operators.induce.attributes import name_of
from operators.records import (
    ATTRIBUTE,
    CORRECTED_BY,
    CORRECTS,
    COUNTS,
    FROM_ROUND,
    KIND,
    MEASURE,
    OBSERVATION,
    OBSERVATIONS,
    ORDER,
    RECORD,
    RECORDS_LEVEL,
    ROUND,
    ROUNDS_LEVEL,
    SESSION,
    TENANT,
    USER,
    USERS_LEVEL,
)

_PLACE = (SESSION, ROUND, ORDER, RECORD)
_FEW = 2048
"""Observations that are counted one by one."""

_KEY = [TENANT, USER, "level", "names"]


def keys_of(observations: pa.Table) -> pa.Array:
    """The key of the name under which each observation counts."""
    if len(observations) <= _FEW:
        rows = list(zip(*(observations[name].to_pylist() for name in (ATTRIBUTE, KIND, MEASURE)), strict=True))
        known = {row: name_of(*row).key() for row in set(rows)}
        return pa.array([known[row] for row in rows], pa.string())
    frame = pl.DataFrame(pl.from_arrow(observations.select([ATTRIBUTE, KIND, MEASURE])))
    told = frame.unique()
    keys = [name_of(*row).key() for row in told.iter_rows()]
    named = frame.join(
        told.with_columns(pl.Series("key", keys, pl.String)),
        on=[ATTRIBUTE, KIND, MEASURE],
        how="left",
        nulls_equal=True,
        maintain_order="left",
    )
    return named["key"].to_arrow().cast(pa.string())


def count(observations: pa.Table, keys: pa.Array) -> pa.Table:
    """``records.COUNTS`` of whole rounds. ``observations``: live, each where it belongs (``live``); ``keys``: theirs."""
    if len(observations) <= _FEW:
        return _count_few(observations, keys)
    frame = pl.DataFrame(pl.from_arrow(observations.select([TENANT, USER, ORDER, RECORD]).append_column("names", keys)))
    rounds = _sets(frame, [TENANT, USER, ORDER], ROUNDS_LEVEL)
    records = _sets(frame, [TENANT, USER, ORDER, RECORD], RECORDS_LEVEL)
    return _added(pl.concat([rounds, records]))


def _count_few(observations: pa.Table, keys: pa.Array) -> pa.Table:
    """The same of so few that frames would take longer to make than to count."""
    rounds: dict[tuple[str, str, int], set[str]] = {}
    records: dict[tuple[str, str, int, int], set[str]] = {}
    places = zip(*(observations[name].to_pylist() for name in (TENANT, USER, ORDER, RECORD)), strict=True)
    for (tenant, user, order, record), key in zip(places, keys.to_pylist(), strict=True):
        rounds.setdefault((tenant, user, order), set()).add(key)
        records.setdefault((tenant, user, order, record), set()).add(key)
    in_rounds = ((*place[:2], ROUNDS_LEVEL, _names(names)) for place, names in rounds.items())
    # As in _sets, ten line items of one round are one round with line items.
    once = {(*place[:3], _names(names)) for place, names in records.items()}
    weights = Counter(in_rounds)
    weights.update((tenant, user, RECORDS_LEVEL, names) for tenant, user, _, names in once)
    rows = [dict(zip(COUNTS.names, (*place, weight), strict=True)) for place, weight in sorted(weights.items())]
    return pa.Table.from_pylist(rows, COUNTS)


def _names(keys: Iterable[str]) -> str:
    return "\n".join(sorted(keys))


def live(observations: pa.Table) -> pa.Table:
    """``records.OBSERVATIONS`` of whole users without what was taken back; what corrects stands where the corrected did.

    Its order, record, round and session are those of what it corrects; ``FROM_ROUND``, one more column, is then the round it
    is written in, and null for all others.
    """
    held = pc.and_(pc.is_null(observations[CORRECTED_BY]), pc.not_equal(observations[ATTRIBUTE], ""))
    if observations[CORRECTS].null_count == len(observations):
        return observations.append_column(FROM_ROUND, pa.nulls(len(observations), pa.string())).filter(held)
    columns = {name: observations[name].to_pylist() for name in (TENANT, USER, OBSERVATION, CORRECTS, *_PLACE)}
    owners = list(zip(columns[TENANT], columns[USER], strict=True))
    at = {(owner, told): row for row, (owner, told) in enumerate(zip(owners, columns[OBSERVATION], strict=True))}
    written: list[str | None] = [None] * len(observations)
    placed = {name: list(columns[name]) for name in _PLACE}
    for row, corrected in enumerate(columns[CORRECTS]):
        first, seen = row, {row}
        while corrected and (before := at.get((owners[row], corrected))) is not None and before not in seen:
            first, corrected = before, columns[CORRECTS][before]
            seen.add(before)
        if first != row:
            written[row] = columns[ROUND][row]
            for name in _PLACE:
                placed[name][row] = columns[name][first]
    for name in _PLACE:
        field = OBSERVATIONS.field(name)
        place = observations.schema.get_field_index(name)
        observations = observations.set_column(place, field, pa.array(placed[name], field.type))
    return observations.append_column(FROM_ROUND, pa.array(written, pa.string())).filter(held)


def _sets(named: pl.DataFrame, group: Sequence[str], level: str) -> pl.DataFrame:
    sets = named.group_by(group).agg(pl.col("names").unique().sort().str.join("\n"))
    once = sets.unique([TENANT, USER, ORDER, "names"])  # ten line items of one round are one round with line items
    return once.select(TENANT, USER, pl.lit(level).alias("level"), "names", pl.lit(1, pl.Int64).alias("weight"))


def merge(counts: Iterable[pa.Table]) -> pa.Table:
    """Counts of disjoint rounds added: associative and commutative, so that shards and appends come to one pass."""
    return _added(pl.concat([pl.DataFrame(pl.from_arrow(table)) for table in (COUNTS.empty_table(), *counts)]))


def pooled(counts: pa.Table) -> pa.Table:
    """Counts of tenants as if all their users were one (user ``""``), and how many users tell each name (level ``user``).

    What is pooled already stays: pooled counts of different users may be merged.
    """
    frame = pl.DataFrame(pl.from_arrow(counts))
    own = frame.filter(pl.col(USER) != "")
    told = own.filter(pl.col("level") == ROUNDS_LEVEL).select(TENANT, USER, pl.col("names").str.split("\n")).explode("names")
    users = told.unique().select(TENANT, pl.lit("").alias(USER), pl.lit(USERS_LEVEL).alias("level"), "names")
    users = users.with_columns(pl.lit(1, pl.Int64).alias("weight"))
    return _added(pl.concat([frame.with_columns(pl.lit("").alias(USER)), users]))


def told_by(counts: pa.Table, users: int) -> pa.Table:
    """Pooled counts of one tenant with the names alone that at least so many users tell: what is one's own stays theirs."""
    frame = pl.DataFrame(pl.from_arrow(counts))
    told = frame.filter((pl.col("level") == USERS_LEVEL) & (pl.col("weight") >= users))
    known = set(told["names"].to_list())
    rows = [
        (*row[:3], "\n".join(name for name in row[3].split("\n") if name in known), row[4])
        for row in frame.filter(pl.col("level") != USERS_LEVEL).select(COUNTS.names).iter_rows()
    ]
    kept = pl.DataFrame([row for row in rows if row[3]], schema=frame.select(COUNTS.names).schema, orient="row")
    return _added(kept)


def _added(frame: pl.DataFrame) -> pa.Table:
    added = frame.group_by(_KEY).agg(pl.col("weight").sum()).filter(pl.col("weight") != 0).sort(_KEY)
    return added.select(COUNTS.names).to_arrow().cast(COUNTS)
