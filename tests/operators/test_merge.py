"""Merging: identity, replacement and order, against a plain restatement and under every schedule."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import pairwise, permutations
from typing import Any

import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from operators.merge import FILE_RANK, FRAGMENT, LINE_RANK, PART_RANK, merge_rounds, users_of
from operators.records import ROUNDS, SOURCE, UNITS, Image, Instant, Message, Round, digest_of, natural_key, round_rows

START = datetime(2024, 3, 1, tzinfo=UTC)

SESSION_NAMES = st.sampled_from(["S1", "S2", "S10", "b/ c", "день-3", "01", "1"])


@st.composite
def rows(draw: st.DrawFn) -> dict[str, Any]:
    """One round somewhere in a small world, so that identities collide often."""
    hour = draw(st.none() | st.integers(0, 50))
    day = hour is not None and draw(st.booleans())
    time = None if hour is None else Instant(START + timedelta(hours=hour), None, "second")
    if day and hour is not None:
        time = Instant(START + timedelta(hours=hour // 24 * 24), None, "day")
    text = draw(st.sampled_from(["a", "b", "ü", ""]))
    position = draw(st.integers(0, 4))
    record = Round(
        session_id=draw(SESSION_NAMES),
        round_id=f"r{position}",
        position=position,
        messages=(Message("user", "user", text),),
        images=(Image(message=0, reference="p.png"),) if draw(st.booleans()) else (),
        time=time,
    )
    return round_rows(draw(st.sampled_from(["t", "tt"])), draw(st.sampled_from(["u", "v"])), [record], "file")[0]


def fragment(found: list[dict[str, Any]], first_line: int = 0) -> pa.Table:
    ranked = [row | {FILE_RANK: 0, PART_RANK: 0, LINE_RANK: first_line + i} for i, row in enumerate(found)]
    return pa.Table.from_pylist(ranked, FRAGMENT)


def identity(row: dict[str, Any]) -> tuple[str, str, str, str]:
    return row["tenant_id"], row["user_id"], row["session_id"], row["round_id"]


def restated(found: list[dict[str, Any]]) -> list[tuple[Any, ...]]:
    """What a merge of rows in reading order must hold: the last of each identity, in the order of the histories."""
    last = {identity(row): row for row in found}
    by_session: dict[tuple[str, ...], list[dict[str, Any]]] = {}
    for row in last.values():
        by_session.setdefault(identity(row)[:3], []).append(row)
    placed = []
    unknown = datetime.min.replace(tzinfo=UTC)
    for (tenant, user, session), members in by_session.items():
        times = [row["time"] for row in members if row["time"]]
        begins = min(times) if times else unknown
        told = exact = unknown
        for row in sorted(members, key=lambda row: (row["position"], natural_key(row["round_id"]), row["round_id"])):
            told = row["time"] or told
            if row["time"] and row["time_precision"] != "day":
                exact = told
            elif row["time"] and told <= exact < told + timedelta(days=1):
                told = exact
            place = (tenant, user, begins, natural_key(session), session, told, row["position"], row["round_id"])
            placed.append((place, row))
    placed.sort(key=lambda pair: pair[0])
    orders: dict[tuple[str, str], int] = {}
    result = []
    for _, row in placed:
        owner = identity(row)[:2]
        result.append((*identity(row), orders.setdefault(owner, 0), row["content_hash"]))
        orders[owner] += 1
    return result


def told(table: pa.Table) -> list[tuple[Any, ...]]:
    names = ["tenant_id", "user_id", "session_id", "round_id", "order", "content_hash"]
    return list(zip(*(table[name].to_pylist() for name in names), strict=True))


@settings(max_examples=150, deadline=None)
@given(st.lists(rows(), max_size=25), st.randoms(use_true_random=False))
def test_a_merge_is_the_last_of_each_round_in_order_whatever_the_order_of_rows(
    found: list[dict[str, Any]], random: Any
) -> None:
    table = fragment(found)
    shuffled = list(range(len(found)))
    random.shuffle(shuffled)
    merged = merge_rounds(ROUNDS.empty_table(), table.take(pa.array(shuffled, pa.int64())))
    assert told(merged.rounds) == restated(found)
    assert merged.rounds.schema.equals(ROUNDS)
    assert merged.added == len(merged.rounds)
    assert merged.replaced == merged.unchanged == 0


@settings(max_examples=150, deadline=None)
@given(st.lists(rows(), max_size=25), st.lists(st.integers(0, 25), max_size=4))
def test_appending_in_any_number_of_runs_gives_what_one_run_gives(found: list[dict[str, Any]], cuts: list[int]) -> None:
    whole = merge_rounds(ROUNDS.empty_table(), fragment(found)).rounds
    base = ROUNDS.empty_table()
    edges = [0, *sorted(min(cut, len(found)) for cut in cuts), len(found)]
    for begin, end in pairwise(edges):
        base = merge_rounds(base, fragment(found[begin:end])).rounds
    assert told(base) == told(whole)
    assert base.drop_columns([SOURCE]).equals(whole.drop_columns([SOURCE]))


@settings(max_examples=100, deadline=None)
@given(st.lists(rows(), max_size=15), st.lists(rows(), max_size=15))
def test_counts_say_what_happened_to_each_round(before: list[dict[str, Any]], after: list[dict[str, Any]]) -> None:
    base = merge_rounds(ROUNDS.empty_table(), fragment(before)).rounds
    merged = merge_rounds(base, fragment(after))
    held = {row[:4]: row[5] for row in told(base)}
    came = {identity(row): row["content_hash"] for row in after}
    assert merged.added == len(came.keys() - held.keys())
    assert merged.replaced == sum(held[key] != content for key, content in came.items() if key in held)
    assert merged.unchanged == len(came) - merged.added - merged.replaced
    versions = {(identity(row), row["content_hash"]) for row in after}
    assert merged.superseded == len(versions) - len(came)


def test_the_same_again_changes_no_row_not_even_its_source() -> None:
    record = Round("S1", "r1", 0, (Message("user", "user", "hello"),))
    base = merge_rounds(ROUNDS.empty_table(), fragment(round_rows("t", "u", [record], "first.jsonl"))).rounds
    again = merge_rounds(base, fragment(round_rows("t", "u", [record], "second.jsonl")))
    assert (again.added, again.replaced, again.unchanged) == (0, 0, 1)
    assert again.rounds.equals(base)


def test_users_say_where_their_rows_stand_and_what_they_hold() -> None:
    picture = Round("S1", "r2", 1, (Message("user", "user", "look"),), (Image(0, "a.png"), Image(0, "b.png")))
    found = [
        *round_rows("t", "zoe", [Round("S1", "r1", 0, (Message("user", "user", "hi"),)), picture], "f"),
        *round_rows("t", "adam", [Round("S9", "r1", 0, (Message("user", "user", "hi"),))], "f"),
    ]
    rounds = merge_rounds(ROUNDS.empty_table(), fragment(found)).rounds
    units = pa.Table.from_pylist(
        [
            {"tenant_id": "t", "user_id": user, "session_id": "S", "round_id": "r", "order": 0, "unit_id": unit}
            | {"kind": "txt", "speaker": "user", "message": 0, "start": 0, "end": 1}
            for user, unit in [("adam", "a"), ("zoe", "b"), ("zoe", "c")]
        ],
        UNITS,
    )
    adam, zoe = users_of(rounds, units).to_pylist()
    assert (adam["user_id"], adam["round_start"], adam["rounds"], adam["unit_start"], adam["units"]) == ("adam", 0, 1, 0, 1)
    assert (zoe["user_id"], zoe["round_start"], zoe["rounds"], zoe["unit_start"], zoe["units"]) == ("zoe", 1, 2, 1, 2)
    assert (zoe["pictures"], zoe["sessions"], zoe["first_time"]) == (2, 1, None)
    hashes = [row["content_hash"] for row in rounds.to_pylist() if row["user_id"] == "zoe"]
    assert zoe["digest"] == digest_of(["t", "zoe", "2", *hashes, "b", "c"])
    assert len(users_of(ROUNDS.empty_table(), UNITS.empty_table())) == 0


def test_a_round_that_says_the_same_at_another_place_takes_that_place() -> None:
    def log(*names: str) -> list[dict[str, Any]]:
        rounds = [Round("S", name, at, (Message("user", "user", name),)) for at, name in enumerate(names)]
        return round_rows("t", "u", rounds, "f")

    base = merge_rounds(ROUNDS.empty_table(), fragment(log("x7f", "a31"))).rounds
    merged = merge_rounds(base, fragment(log("zz9", "a31", "x7f")))
    assert (merged.added, merged.unchanged, merged.moved) == (1, 2, 1)
    assert merged.rounds["round_id"].to_pylist() == ["zz9", "a31", "x7f"]
    fresh = merge_rounds(ROUNDS.empty_table(), fragment(log("zz9", "a31", "x7f"))).rounds
    assert told(merged.rounds) == told(fresh)


def test_a_day_does_not_put_what_was_said_on_it_before_the_rounds_around_it() -> None:
    told_times = [
        Instant(START + timedelta(hours=9), None, "minute"),
        Instant(START, None, "day"),
        None,
        Instant(START + timedelta(hours=10), None, "minute"),
        Instant(START + timedelta(days=1), None, "day"),
    ]
    rounds = [Round("S", f"r{at}", at, (Message("user", "user", "x"),), time=time) for at, time in enumerate(told_times)]
    merged = merge_rounds(ROUNDS.empty_table(), fragment(round_rows("t", "u", rounds, "f")))
    assert merged.rounds["round_id"].to_pylist() == ["r0", "r1", "r2", "r3", "r4"]


def test_ties_in_the_place_of_reading_do_not_depend_on_the_order_of_rows() -> None:
    same = [
        Round("S", name, at, (Message("user", "user", "x"),)) for name, at in (("r1", 1), ("r1", 0), ("r2", 0), ("r2", 1))
    ]
    found = [row | {FILE_RANK: 0, PART_RANK: 0, LINE_RANK: 0} for row in round_rows("t", "u", same, "f")]
    results = {
        tuple(told(merge_rounds(ROUNDS.empty_table(), pa.Table.from_pylist(list(order), FRAGMENT)).rounds))
        for order in permutations(found)
    }
    assert len(results) == 1


def test_natural_names_sort_as_a_reader_sorts_them() -> None:
    names = ["D10", "D2", "D1:10", "D1:9", "a", "", "x2y10", "x2y9", "٣"]
    assert sorted(names, key=natural_key) == ["", "D1:9", "D1:10", "D2", "D10", "a", "x2y9", "x2y10", "٣"]
