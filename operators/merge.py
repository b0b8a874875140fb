"""Merging what was read into what a bucket holds: identity, replacement, and each round's place in its user's history."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl
import pyarrow as pa

from operators.records import (
    CONTENT_HASH,
    IMAGES,
    ORDER,
    POSITION,
    PRECISION,
    ROUND,
    ROUNDS,
    SESSION,
    TENANT,
    TIME,
    UNIT,
    USER,
    USERS,
    digest_of,
    natural_key,
)

FILE_RANK, PART_RANK, LINE_RANK = "file_rank", "part_rank", "line_rank"
RANKS = [FILE_RANK, PART_RANK, LINE_RANK]

FRAGMENT = pa.schema(
    [
        *ROUNDS,
        pa.field(FILE_RANK, pa.int64(), nullable=False),
        pa.field(PART_RANK, pa.int64(), nullable=False),
        pa.field(LINE_RANK, pa.int64(), nullable=False),
    ]
)
"""Rounds as read, with the place they were read from: of two versions in one run the later place wins."""

IN_PARTS = "in_parts"

PIECES = pa.schema([*FRAGMENT, pa.field(IN_PARTS, pa.bool_(), nullable=False)])
"""``FRAGMENT`` rows before sessions are whole: ``in_parts`` where other files may hold more of the round's session."""

_IDENTITY = [TENANT, USER, SESSION, ROUND]


@dataclass(frozen=True)
class Merged:
    """A bucket's rounds after a merge (``ROUNDS``, sorted by tenant, user, order) and what the merge did, in rounds.

    ``moved`` counts those of the unchanged whose place in their session is another; ``superseded`` counts versions of
    rounds that the same run gave in a later version too.
    """

    rounds: pa.Table
    added: int
    replaced: int
    unchanged: int
    moved: int
    superseded: int


def merge_rounds(base: pa.Table, incoming: pa.Table) -> Merged:
    """Merge ``incoming`` (``FRAGMENT``) into ``base`` (``ROUNDS``).

    A round is the same round if tenant, user, session and round id are; the one read last wins, and one that says what
    the base already says leaves the base's row as it is but for its place. The result does not depend on the order of rows.
    """
    rows = pa.concat_tables([_as_fragment(base), incoming.cast(FRAGMENT)]).combine_chunks()
    keys = _keys(rows, len(base))
    chosen = _choose(keys)
    placed = _place(chosen)
    rounds = rows.select(ROUNDS.names).take(pa.array(placed["row"].to_numpy()))
    for name in (ORDER, POSITION):
        rounds = rounds.set_column(ROUNDS.get_field_index(name), ROUNDS.field(name), placed[name].to_arrow())
    fresh = chosen.filter(pl.col("seen"))
    replaced = fresh.filter(pl.col("in_base") & pl.col("changed")).height
    added = fresh.filter(~pl.col("in_base")).height
    return Merged(
        rounds=rounds.cast(ROUNDS),
        added=added,
        replaced=replaced,
        unchanged=fresh.height - added - replaced,
        moved=fresh.filter(~pl.col("changed") & pl.col("moved")).height,
        superseded=int(fresh["versions"].sum()) - fresh.height,
    )


def _as_fragment(base: pa.Table) -> pa.Table:
    before = pa.array([-1] * len(base), pa.int64())
    for name in RANKS:
        base = base.append_column(FRAGMENT.field(name), before)
    return base.cast(FRAGMENT)


def _keys(rows: pa.Table, base_rows: int) -> pl.DataFrame:
    names = [*_IDENTITY, POSITION, TIME, PRECISION, CONTENT_HASH, *RANKS]
    frame = pl.DataFrame(pl.from_arrow(rows.select(names)))
    return frame.with_row_index("row").with_columns(is_base=pl.col("row") < base_rows)


def _choose(keys: pl.DataFrame) -> pl.DataFrame:
    """One row per round: the base's where nothing changed, else the one read last (content breaks exact ties)."""
    from_base, from_run = pl.col("is_base"), ~pl.col("is_base")
    rounds = (
        keys.sort([*RANKS, CONTENT_HASH, POSITION])
        .group_by(_IDENTITY)
        .agg(
            last_row=pl.col("row").last(),
            last_hash=pl.col(CONTENT_HASH).last(),
            **{POSITION: pl.col(POSITION).last(), "base_position": pl.col(POSITION).filter(from_base).first()},
            base_row=pl.col("row").filter(from_base).first(),
            base_hash=pl.col(CONTENT_HASH).filter(from_base).first(),
            versions=pl.col(CONTENT_HASH).filter(from_run).n_unique(),
        )
        .with_columns(
            seen=pl.col("versions") > 0,
            in_base=pl.col("base_row").is_not_null(),
            moved=pl.col("base_position") != pl.col(POSITION),
            changed=pl.col("base_hash").is_null() | (pl.col("base_hash") != pl.col("last_hash")),
        )
        .with_columns(row=pl.when("changed").then("last_row").otherwise("base_row"))
    )
    return rounds.join(keys.select("row", TIME, PRECISION), on="row", how="left", validate="1:1")


def _place(chosen: pl.DataFrame) -> pl.DataFrame:
    """Rounds in the order of each user's history, with that order.

    Sessions stand by their first time, unknown times first, then by name; within a session a round without a time
    takes the time of the round before it, and so does one that tells no more than the day on which that was: its day
    begins before all that was said on it.
    """
    names = [SESSION, ROUND]
    keyed = chosen.with_columns(_natural_keys(chosen, name).alias(f"{name}_key") for name in names)
    sessions = [TENANT, USER, SESSION]
    in_session = keyed.sort([*sessions, POSITION, f"{ROUND}_key", ROUND])
    timed = in_session.with_columns(
        session_time=pl.col(TIME).min().over(sessions),
        before=pl.when(pl.col(PRECISION) != "day").then(TIME).forward_fill().over(sessions),
    ).with_columns(
        told_time=pl.when(
            (pl.col(PRECISION) == "day")
            & pl.col("before").is_between(TIME, pl.col(TIME) + pl.duration(days=1), closed="left")
        )
        .then("before")
        .otherwise(TIME)
        .forward_fill()
        .over(sessions)
    )
    ordered = timed.sort(
        [TENANT, USER, "session_time", f"{SESSION}_key", SESSION, "told_time", POSITION, f"{ROUND}_key", ROUND],
        nulls_last=False,
    )
    return ordered.with_columns(pl.int_range(pl.len(), dtype=pl.Int64).over([TENANT, USER]).alias(ORDER))


def _natural_keys(frame: pl.DataFrame, name: str) -> pl.Series:
    distinct = frame[name].unique()
    return frame[name].replace_strict(distinct, pl.Series([natural_key(text) for text in distinct], dtype=pl.String))


def users_of(rounds: pa.Table, units: pa.Table) -> pa.Table:
    """The ``USERS`` rows of a bucket's ``ROUNDS`` and ``UNITS`` (both sorted by tenant, user, order).

    A user's digest covers its rounds' content in order and its units' ids: nothing of files, vectors or run.
    """
    if len(rounds) == 0:
        return USERS.empty_table()
    scalars = [TENANT, USER, SESSION, TIME, CONTENT_HASH]
    frame = pl.DataFrame(pl.from_arrow(rounds.select(scalars)))
    pictures = pl.Series(rounds[IMAGES].combine_chunks().value_lengths())
    by_user = (
        frame.with_row_index("at")
        .with_columns(pictures=pictures)
        .group_by([TENANT, USER], maintain_order=True)
        .agg(
            round_start=pl.col("at").first().cast(pl.Int64),
            rounds=pl.len().cast(pl.Int64),
            sessions=pl.col(SESSION).n_unique().cast(pl.Int64),
            pictures=pl.col("pictures").sum().cast(pl.Int64),
            first_time=pl.col(TIME).min(),
            last_time=pl.col(TIME).max(),
            said=pl.col(CONTENT_HASH),
        )
    )
    unit_frame = pl.DataFrame(pl.from_arrow(units.select([TENANT, USER, UNIT])))
    unit_counts = unit_frame.group_by([TENANT, USER]).agg(units=pl.len().cast(pl.Int64), unit_ids=pl.col(UNIT))
    joined = by_user.join(unit_counts, on=[TENANT, USER], how="left", maintain_order="left").with_columns(
        pl.col("units").fill_null(0), pl.col("unit_ids").fill_null([])
    )
    digests = [
        digest_of([tenant, user, str(len(said)), *said, *ids])
        for tenant, user, said, ids in joined.select(TENANT, USER, "said", "unit_ids").iter_rows()
    ]
    table = joined.with_columns(
        unit_start=pl.col("units").cum_sum().shift(1, fill_value=0), digest=pl.Series(digests)
    ).select(USERS.names)
    return table.to_arrow().cast(USERS)
