"""What a search returns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

import polars as pl

from operators.records import (
    IMAGES,
    MESSAGES,
    METADATA,
    OFFSET,
    ORDER,
    PRECISION,
    ROUND,
    SESSION,
    TIME,
    isoformat,
)
from operators.retrieve.fuse import Fused, Standing

RANK, SCORE = "rank", "score"
_SHOWN = (SESSION, ROUND, ORDER, TIME, OFFSET, PRECISION, MESSAGES, IMAGES, METADATA)


@dataclass(frozen=True)
class Hit:
    """A round that was found by itself: rank from 1, fused score, and where it stands under each signal."""

    rank: int
    score: float
    session_id: str
    round_id: str
    order: int
    time: datetime | None
    messages: list[dict[str, Any]]
    images: list[dict[str, Any]]
    signals: Mapping[str, Standing]


@dataclass(frozen=True)
class SearchResult:
    """The answer to one search of one user's history at one version.

    ``case``: how it was routed (``retrieve.values.Case``). ``hits``: best first.
    ``runs``: the orders of the hits and their neighbours as time-ordered stretches. ``rounds``: all
    rounds of the runs in order (``records.ROUNDS`` columns with ``rank`` and ``score``, null for neighbours).
    """

    version: int
    tenant_id: str
    user_id: str
    query: str
    case: str
    hits: list[Hit]
    runs: list[list[int]]
    rounds: pl.DataFrame

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values. Each round stands once, in its run; hits refer to it by ``order``."""
        rows = {row[ORDER]: row for row in self.rounds.iter_rows(named=True)}
        return {
            "version": self.version,
            "tenant_id": self.tenant_id,
            "user_id": self.user_id,
            "query": self.query,
            "case": self.case,
            "hits": [_hit_json(hit) for hit in self.hits],
            "runs": [[_round_json(rows[order]) for order in run] for run in self.runs],
        }


def make_result(
    version: int,
    scope: tuple[str, str],
    query: str,
    case: str,
    rounds: pl.DataFrame,
    found: Sequence[Fused],
    runs: list[list[int]],
) -> SearchResult:
    """The result of a search; ``rounds`` (``records.ROUNDS``) holds at least the rounds of the runs."""
    wanted = pl.Series(ORDER, [order for run in runs for order in run], pl.Int64)
    places = {hit.order: (rank, hit.score) for rank, hit in enumerate(found, start=1)}
    shown = rounds.filter(pl.col(ORDER).is_in(wanted.implode())).sort(ORDER)
    orders = shown[ORDER].to_list()
    shown = shown.with_columns(
        pl.Series(RANK, [places.get(order, (None, None))[0] for order in orders], pl.Int64),
        pl.Series(SCORE, [places.get(order, (None, None))[1] for order in orders], pl.Float64),
    )
    hits = list(_hits(shown, found))
    return SearchResult(version, *scope, query=query, case=case, hits=hits, runs=runs, rounds=shown)


def _hits(rounds: pl.DataFrame, found: Sequence[Fused]) -> Iterator[Hit]:
    rows = {row[ORDER]: row for row in rounds.filter(pl.col(RANK).is_not_null()).iter_rows(named=True)}
    for rank, hit in enumerate(found, start=1):
        row = rows[hit.order]
        shown = {name: row[name] for name in (SESSION, ROUND, ORDER, TIME, MESSAGES, IMAGES)}
        yield Hit(rank=rank, score=hit.score, signals=hit.signals, **shown)


def _hit_json(hit: Hit) -> dict[str, Any]:
    signals = {name: asdict(standing) for name, standing in hit.signals.items()}
    named = {SESSION: hit.session_id, ROUND: hit.round_id, ORDER: hit.order}
    return {RANK: hit.rank, SCORE: hit.score, **named, TIME: isoformat(hit.time), "signals": signals}


def _round_json(row: Mapping[str, Any]) -> dict[str, Any]:
    return {RANK: row[RANK], SCORE: row[SCORE], **{name: _plain(row[name]) for name in _SHOWN}}


def _plain(value: Any) -> Any:
    if isinstance(value, datetime):
        return isoformat(value)
    if isinstance(value, dict):
        return {key: _plain(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_plain(inner) for inner in value]
    return value
