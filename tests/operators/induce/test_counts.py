"""Counting rounds: sums that do not know how the rounds were split, and what corrections do to them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from operators.induce import counts
from operators.induce.attributes import name_of
from operators.induce.counts import FROM_ROUND, RECORDS_LEVEL, ROUNDS_LEVEL, count, keys_of, live, merge, pooled
from operators.records import COUNTS, OBSERVATIONS

KINDS = (("sleep", "duration", "s"), ("Sleep", "duration", "s"), ("steps", "number", None), ("steps", "number", "steps"),
         ("total", "money", "EUR"), ("Total", "money", "MYR"), ("cafe", "text", None))  # fmt: skip


def row(order: int, number: int, attribute: str, kind: str = "text", unit: str | None = None, **more: Any) -> dict[str, Any]:
    """An observation: the ``number``-th of round ``order``."""
    return {
        "tenant_id": "t", "user_id": "u", "session_id": "s", "round_id": f"r{order}", "order": order,
        "observation_id": f"s/r{order}/obs{number}", "record": 0, "attribute": attribute, "value": "x", "kind": kind,
        "number": None, "unit": unit, "parsed": None, "doubt": None, "speaker": "user", "message": 0, "start": None,
        "end": None, "image": None, "media": None, "box": None, "extractor": "rules", "confidence": 1.0, "named": True,
        "corrects": None, "corrected_by": None, **more,
    }  # fmt: skip


def table(rows: Iterable[dict[str, Any]]) -> pa.Table:
    ordered = sorted(rows, key=lambda row: (row["tenant_id"], row["user_id"], row["order"], row["record"]))
    return pa.Table.from_pylist(ordered, OBSERVATIONS)


def counted(rows: Iterable[dict[str, Any]]) -> pa.Table:
    held = live(table(rows))
    return count(held, keys_of(held))


def weights(counts: pa.Table, level: str = ROUNDS_LEVEL) -> dict[frozenset[str], int]:
    """The sets of a level, each as the names in its keys."""
    rows = [row for row in counts.to_pylist() if row["level"] == level]
    return {frozenset(key.split("\t")[0] for key in row["names"].split("\n")): row["weight"] for row in rows}


OBSERVED = st.tuples(st.integers(0, 2), st.sampled_from(KINDS))
ROUND = st.tuples(st.sampled_from(["t", "other"]), st.sampled_from(["anna", "bob"]), st.lists(OBSERVED, max_size=6))
ROUNDS = st.lists(ROUND, max_size=14)


def rows_of(order: int, round_: tuple[str, str, list[tuple[int, tuple[str, str, str | None]]]]) -> list[dict[str, Any]]:
    tenant, user, told = round_
    return [row(order, at, *named, record=record, tenant_id=tenant, user_id=user) for at, (record, named) in enumerate(told)]


@settings(max_examples=30, deadline=None)
@given(ROUNDS)
def test_a_transaction_is_the_set_of_names_of_one_round(rounds: list[Any]) -> None:
    naive: Counter[tuple[str, str, str, str]] = Counter()
    for tenant, user, told in rounds:
        of_round = {name_of(*named).key() for _, named in told}
        for names in [of_round] if of_round else []:
            naive[tenant, user, ROUNDS_LEVEL, "\n".join(sorted(names))] += 1
        records = {record for record, _ in told}
        sets = {frozenset(name_of(*named).key() for place, named in told if place == record) for record in records}
        for names in sets:
            naive[tenant, user, RECORDS_LEVEL, "\n".join(sorted(names))] += 1
    found = counted(each for order, round_ in enumerate(rounds) for each in rows_of(order, round_))
    assert found.schema.equals(COUNTS)
    assert [tuple(row.values()) for row in found.to_pylist()] == sorted((*key, value) for key, value in naive.items())


@settings(max_examples=30, deadline=None)
@given(ROUNDS)
def test_few_and_many_are_counted_alike(rounds: list[Any]) -> None:
    rows = [each for order, round_ in enumerate(rounds) for each in rows_of(order, round_)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(counts, "_FEW", -1)
        many = counted(rows), keys_of(table(rows))
    few = counted(rows), keys_of(table(rows))
    assert few[0].equals(many[0])
    assert few[1].equals(many[1])


@settings(max_examples=25, deadline=None)
@given(ROUNDS, st.data())
def test_any_split_order_and_schedule_comes_to_one_pass(rounds: list[Any], data: st.DataObject) -> None:
    at_once = counted(each for order, round_ in enumerate(rounds) for each in rows_of(order, round_))
    shards = data.draw(st.lists(st.integers(0, 2), min_size=len(rounds), max_size=len(rounds)))
    parts = [
        counted(each for order, round_ in enumerate(rounds) if shards[order] == shard for each in rows_of(order, round_))
        for shard in range(3)
    ]
    parts = data.draw(st.permutations(parts))
    cut = data.draw(st.integers(0, 3))
    assert merge(parts).equals(at_once)
    assert merge([merge(parts[:cut]), merge(parts[cut:])]).equals(at_once)
    state = COUNTS.empty_table()
    for part in parts:
        state = merge([part, state])
    assert state.equals(at_once)


@settings(max_examples=25, deadline=None)
@given(ROUNDS, st.integers(0, 14))
def test_negative_weights_take_rounds_back(rounds: list[Any], kept: int) -> None:
    def part(first: int, last: int | None) -> pa.Table:
        numbered = list(enumerate(rounds))[first:last]
        return counted(each for order, round_ in numbered for each in rows_of(order, round_))

    gone = part(kept, None)
    place = gone.schema.get_field_index("weight")
    negative = gone.set_column(
        place, COUNTS.field("weight"), pa.array([-each for each in gone["weight"].to_pylist()], pa.int64())
    )
    assert merge([part(0, None), negative]).equals(part(0, kept))
    assert len(merge([gone, negative])) == 0


def test_rounds_without_observations_and_no_observations_at_all() -> None:
    assert counted([]).equals(COUNTS.empty_table())
    assert merge([]).equals(COUNTS.empty_table())
    assert pooled(COUNTS.empty_table()).equals(COUNTS.empty_table())


def test_the_tenant_scope_pools_its_users_and_no_other_tenants() -> None:
    rows = [
        row(order, 0, "sleep", tenant_id=tenant, user_id=user)
        for order, (tenant, user) in enumerate([("t", "anna"), ("t", "bob"), ("t", "bob"), ("other", "bob")])
    ]
    found = pooled(counted(rows)).to_pylist()
    told = [(each["tenant_id"], each["user_id"], each["weight"]) for each in found if each["level"] == ROUNDS_LEVEL]
    assert told == [("other", "", 1), ("t", "", 3)]


def test_several_records_of_a_round_count_as_one_round() -> None:
    rows = [
        row(0, 0, "item", record=0),
        row(0, 1, "amount", record=0),
        row(0, 2, "item", record=1),
        row(0, 3, "total", record=2),
    ]
    assert weights(counted(rows)) == {frozenset({"item", "amount", "total"}): 1}
    assert weights(counted(rows), RECORDS_LEVEL) == {
        frozenset({"item", "amount"}): 1,
        frozenset({"item"}): 1,
        frozenset({"total"}): 1,
    }


def test_spellings_of_a_name_are_one_and_units_are_told_apart() -> None:
    rows = [
        row(0, 0, "Sleep-Time", "duration", "s"),
        row(1, 0, "sleep time", "duration", "s"),
        row(2, 0, "sleep time", "text"),
    ]
    assert [each["weight"] for each in counted(rows).to_pylist() if each["level"] == ROUNDS_LEVEL] == [2, 1]


# --- what is taken back ---------------------------------------------------------------------------------------------


def placed(held: pa.Table) -> list[tuple[str, str, str, int, int, str | None]]:
    names = ("observation_id", "session_id", "round_id", "order", "record", FROM_ROUND)
    return [tuple(each[name] for name in names) for each in held.to_pylist()]  # type: ignore[misc]


def test_what_was_corrected_does_not_count() -> None:
    rows = [
        row(0, 0, "sleep", corrected_by="s/r2/obs0"),
        row(0, 1, "steps"),
        row(2, 0, "sleep", corrects="s/r0/obs0"),
        row(2, 1, "weight"),
    ]
    assert weights(counted(rows)) == {frozenset({"sleep", "steps"}): 1, frozenset({"weight"}): 1}


def test_what_corrects_stands_where_the_corrected_stood() -> None:
    rows = [
        row(0, 0, "sleep", record=3, session_id="first", corrected_by="s/r2/obs0"),
        row(2, 0, "sleep", corrects="s/r0/obs0"),
        row(2, 1, "weight"),
    ]
    assert placed(live(table(rows))) == [
        ("s/r2/obs0", "first", "r0", 0, 3, "r2"),
        ("s/r2/obs1", "s", "r2", 2, 0, None),
    ]


def test_a_correction_of_a_correction_stands_in_the_first_round() -> None:
    rows = [
        row(0, 0, "sleep", corrected_by="s/r1/obs0"),
        row(1, 0, "sleep", corrects="s/r0/obs0", corrected_by="s/r2/obs0"),
        row(2, 0, "sleep", corrects="s/r1/obs0"),
    ]
    assert placed(live(table(rows))) == [("s/r2/obs0", "s", "r0", 0, 0, "r2")]


def test_what_corrects_something_that_is_gone_stays_in_its_round() -> None:
    rows = [row(1, 0, "sleep", corrects="s/r0/obs0"), row(2, 0, "steps", corrects="")]
    assert placed(live(table(rows))) == [("s/r1/obs0", "s", "r1", 1, 0, None), ("s/r2/obs0", "s", "r2", 2, 0, None)]


def test_a_correction_without_an_attribute_is_no_attribute() -> None:
    assert len(live(table([row(0, 0, "", corrects="")]))) == 0
    assert len(live(table([row(0, 0, "")]))) == 0


def test_users_with_the_same_ids_do_not_correct_each_other() -> None:
    rows = [
        row(0, 0, "sleep", user_id="anna"),
        row(0, 0, "sleep", user_id="bob", corrected_by="s/r1/obs0"),
        row(1, 0, "sleep", user_id="bob", corrects="s/r0/obs0"),
    ]
    found = [(each["user_id"], each["round_id"], each[FROM_ROUND]) for each in live(table(rows)).to_pylist()]
    assert found == [("anna", "r0", None), ("bob", "r0", "r1")]


def test_corrections_in_a_circle_come_to_an_end() -> None:
    rows = [row(0, 0, "sleep", corrects="s/r1/obs0"), row(1, 0, "sleep", corrects="s/r0/obs0")]
    assert len(live(table(rows))) == 2


@settings(max_examples=30, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(["sleep", "steps"]), st.integers(-1, 6)), max_size=8))
def test_the_counts_of_corrected_rounds_are_those_of_rounds_told_right_at_once(told: Sequence[tuple[str, int]]) -> None:
    """Each round tells an attribute, or sets right what an earlier round tells."""
    rows: list[dict[str, Any]] = []
    right: dict[int, str] = {}
    stands: dict[int, int] = {}
    for order, (attribute, before) in enumerate(told):
        corrects = before if 0 <= before < order and rows[before]["corrected_by"] is None else None
        if corrects is not None:
            rows[corrects]["corrected_by"] = f"s/r{order}/obs0"
            rows.append(row(order, 0, attribute, corrects=f"s/r{corrects}/obs0"))
        else:
            rows.append(row(order, 0, attribute))
        stands[order] = stands[corrects] if corrects is not None else order
        right[stands[order]] = attribute
    assert counted(rows).equals(counted(row(order, 0, attribute) for order, attribute in right.items()))


def test_a_round_of_many_records_counts_once() -> None:
    items = [(record, ("item", "text", None)) for record in range(5)]
    found = counted(rows_of(0, ("t", "anna", items)))
    assert [(row["level"], row["weight"]) for row in found.to_pylist()] == [(RECORDS_LEVEL, 1), (ROUNDS_LEVEL, 1)]
