"""From counts to tables: what tables keep as they change, and that every change is told."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from operators.induce.attributes import Name, name_of
from operators.induce.counts import RECORDS_LEVEL, ROUNDS_LEVEL, merge
from operators.induce.induction import (
    Induced,
    InduceValues,
    SchemaChange,
    TableColumn,
    TableSchema,
    as_they_are,
    attributes_of,
    induction,
    sets_of,
    table_name,
)
from operators.induce.schemas import Thresholds
from operators.records import COUNTS

VALUES = InduceValues(Thresholds(3, 0.5, 0.5))

NAMES = {
    "sleep": name_of("sleep", "duration", "s"),
    "asleep": name_of("time asleep", "duration", "s"),
    "nap": name_of("nap", "duration", "s"),
    "siesta": name_of("siesta", "duration", "s"),
    "steps": name_of("steps", "number", "steps"),
    "calories": name_of("calories", "number", "kcal"),
    "weight": name_of("weight", "number", "kg"),
    "bare weight": name_of("weight", "number", None),
    "mood": name_of("mood", "ratio", "/10"),
    "cafe": name_of("cafe", "text", None),
    "total": name_of("total", "money", "EUR"),
    "date": name_of("date", "date", None),
    "merchant": name_of("merchant", "text", None),
}

Record = frozenset[Name]


def rounds(told: Mapping[str, int], records: Mapping[str, Sequence[str]] | None = None) -> pa.Table:
    """Counts of rounds: names, joined by ``+``, and how many rounds have them; each round one record, or ``records``."""
    found: Counter[tuple[str, str]] = Counter()
    for text, weight in told.items():
        found[ROUNDS_LEVEL, _keys(text)] += weight
        for record in (records or {}).get(text, [text]):
            found[RECORDS_LEVEL, _keys(record)] += weight
    rows = [
        {"tenant_id": "t", "user_id": "u", "level": level, "names": names, "weight": weight}
        for (level, names), weight in sorted(found.items())
    ]
    return pa.Table.from_pylist(rows, COUNTS)


def _keys(text: str) -> str:
    return "\n".join(sorted(NAMES[each].key() for each in text.split("+")))


def columns(induced: Induced) -> dict[str, list[str]]:
    return {table.name: [column.name for column in table.columns] for table in induced.tables}


def told(induced: Induced) -> list[tuple[str, str, tuple[str, ...]]]:
    return [(each.change, each.table, each.added) for each in induced.changes]


def column(name: str, *names: str, kind: str = "number", unit: str | None = None) -> TableColumn:
    return TableColumn(name, kind, unit, tuple(NAMES[each] for each in names))


def settled(counts: pa.Table, values: InduceValues = VALUES) -> tuple[TableSchema, ...]:
    return induction(counts, (), values).tables


# --- discovery and evolution ----------------------------------------------------------------------------------------


def test_a_new_table_and_what_is_told_of_it() -> None:
    found = induction(rounds({"sleep+steps": 3, "sleep": 1}), (), VALUES)
    assert columns(found) == {"activity": ["sleep", "steps"]}
    (table,) = found.tables
    assert (table.support, table.all_confidence) == (3, 3 / 4)
    assert table.columns[0] == column("sleep", "sleep", kind="duration", unit="s")
    assert table.columns[1] == column("steps", "steps", unit="steps")
    (change,) = found.changes
    assert (change.change, change.table, change.columns, change.added) == (
        "discovered", "activity", ("sleep", "steps"), ("sleep", "steps"),
    )  # fmt: skip
    assert (change.support, change.all_confidence, change.ext_confidence) == (3, 3 / 4, None)
    assert change.why


def test_spellings_are_one_column_and_a_round_with_two_of_them_counts_once() -> None:
    found = induction(rounds({"sleep+asleep": 2, "asleep": 1}), (), VALUES)
    (table,) = found.tables
    assert [each.name for each in table.columns] == ["sleep"] and table.support == 3
    assert set(table.columns[0].names) == {NAMES["sleep"], NAMES["asleep"]}


def test_a_lone_recurring_attribute_is_a_table_of_one_column() -> None:
    found = induction(rounds({"sleep+steps": 3, "weight": 3, "mood": 2}), (), VALUES)
    assert sorted(columns(found).values()) == [["sleep", "steps"], ["weight"]]


def test_what_recurs_too_seldom_is_found_when_an_append_lifts_it() -> None:
    before = rounds({"sleep+steps": 2})
    assert induction(before, (), VALUES).tables == ()
    assert induction(before, (), VALUES).changes == ()
    lifted = merge([before, rounds({"sleep+steps": 1})])
    assert columns(induction(lifted, (), VALUES)) == {"activity": ["sleep", "steps"]}


def test_a_date_alone_makes_no_table() -> None:
    assert induction(rounds({"date": 9}), (), VALUES).tables == ()
    assert columns(induction(rounds({"date+total": 9}), (), VALUES)) == {"receipts": ["date", "total"]}
    assert [*columns(induction(rounds({"cafe": 9}), (), VALUES))] == ["cafe"]


def test_an_evolved_table_keeps_its_name_and_appends_columns() -> None:
    first = settled(rounds({"weight+mood": 3}))
    assert [(table.name, [each.name for each in table.columns]) for table in first] == [("mood_weight", ["mood", "weight"])]
    grown = merge([rounds({"weight+mood": 3}), rounds({"weight+mood+sleep+cafe": 4})])
    found = induction(grown, first, VALUES)
    assert columns(found) == {"mood_weight": ["mood", "weight", "cafe", "sleep"]}
    assert found.tables[0].columns[:2] == first[0].columns
    (change,) = found.changes
    assert (change.change, change.table, change.added) == ("evolved", "mood_weight", ("cafe", "sleep"))
    assert (change.support, change.ext_confidence) == (4, 4 / 7)


def test_two_steps_of_one_table_are_told_one_by_one() -> None:
    found = induction(rounds({"weight+mood+cafe": 4, "weight+mood": 1, "cafe": 20}), (), VALUES)
    steps = [(each.change, each.columns, each.added) for each in found.changes if each.table == "mood_weight"]
    assert steps == [
        ("discovered", ("mood", "weight"), ("mood", "weight")),
        ("evolved", ("mood", "weight", "cafe"), ("cafe",)),
    ]
    assert columns(found) == {"mood_weight": ["mood", "weight", "cafe"], "cafe": ["cafe"]}


@pytest.mark.parametrize("counts", [{"sleep+steps": 3}, {"sleep+steps+mood": 4, "weight": 5, "cafe+weight": 2}])
def test_nothing_new_changes_nothing(counts: dict[str, int]) -> None:
    first = induction(rounds(counts), (), VALUES)
    again = induction(rounds(counts), first.tables, VALUES)
    assert again.tables == first.tables and again.changes == ()
    assert as_they_are(rounds(counts), first.tables, VALUES) == again


SETS = st.dictionaries(
    st.lists(st.sampled_from(sorted(NAMES)), min_size=1, max_size=4, unique=True).map("+".join),
    st.integers(1, 6),
    max_size=8,
)


@settings(max_examples=40, deadline=None)
@given(SETS, SETS)
def test_every_change_of_a_table_is_told(before: dict[str, int], after: dict[str, int]) -> None:
    first = induction(rounds(before), (), VALUES)
    found = induction(merge([rounds(before), rounds(after)]), first.tables, VALUES)
    now = {table.name: table for table in found.tables}
    assert len(now) == len(found.tables)
    for table in found.tables:
        names = [each.name for each in table.columns]
        assert names and len(set(names)) == len(names)
    changed = {(each.change, each.table) for each in found.changes}
    for old in first.tables:
        if old.name not in now:
            assert ("dropped", old.name) in changed
            continue
        held = [each.name for each in now[old.name].columns]
        kept = [each for each in old.columns if each.name in held]
        if len(kept) < len(old.columns):
            assert changed & {("narrowed", old.name), ("merged", old.name)}
        assert held[: len(kept)] == [each.name for each in kept], "columns keep their order, new ones come behind"
        if len(held) > len(kept):
            assert ("evolved", old.name) in changed
        by_name = {each.name: each for each in now[old.name].columns}
        for each in kept:
            if (each.kind, each.unit) != (by_name[each.name].kind, by_name[each.name].unit):
                assert ("retyped", old.name) in changed
    for name in now.keys() - {old.name for old in first.tables}:
        assert ("discovered", name) in changed


@settings(max_examples=40, deadline=None)
@given(SETS)
def test_a_second_induction_changes_nothing(counts: dict[str, int]) -> None:
    first = induction(rounds(counts), (), VALUES)
    again = induction(rounds(counts), first.tables, VALUES)
    assert again.changes == () and again.tables == first.tables


@settings(max_examples=40, deadline=None)
@given(SETS, st.data())
def test_counts_in_another_order_make_the_same_tables(counts: dict[str, int], data: st.DataObject) -> None:
    table = rounds(counts)
    shuffled = table.take(data.draw(st.permutations(range(len(table)))) or pa.array([], pa.int64()))
    assert induction(shuffled, (), VALUES) == induction(table, (), VALUES)


# --- what is lost or becomes something else -------------------------------------------------------------------------


def test_a_table_whose_attributes_are_gone_is_dropped_and_that_is_told() -> None:
    first = settled(rounds({"sleep+steps": 3}))
    found = induction(rounds({"cafe": 1}), first, VALUES)
    assert found.tables == () and told(found) == [("dropped", "activity", ("sleep", "steps"))]


def test_a_column_whose_attribute_is_gone_is_told() -> None:
    first = settled(rounds({"sleep+steps": 3}))
    found = induction(rounds({"steps": 5}), first, VALUES)
    assert columns(found) == {"activity": ["steps"]}
    assert told(found) == [("narrowed", "activity", ("sleep",))]
    assert found.changes[0].columns == ("steps",)


def test_a_table_with_too_few_rounds_stays() -> None:
    first = settled(rounds({"sleep+steps": 3}))
    found = induction(rounds({"sleep": 1, "steps": 1}), first, VALUES)
    assert columns(found) == {"activity": ["sleep", "steps"]} and found.changes == ()
    assert (found.tables[0].support, found.tables[0].all_confidence) == (0, 0.0)


def test_columns_that_are_one_attribute_now_are_merged_and_that_is_told() -> None:
    counts = rounds({"nap+siesta": 4})
    first = settled(counts)
    assert [each.name for each in first[0].columns] == ["nap", "siesta"]
    found = induction(counts, first, InduceValues(VALUES.thresholds, {"siesta": "nap"}))
    assert columns(found) == {"nap_siesta": ["nap"]}
    assert told(found) == [("merged", "nap_siesta", ("siesta",))]
    assert set(found.tables[0].columns[0].names) == {NAMES["nap"], NAMES["siesta"]}


def test_names_that_the_encoder_joins_are_one_column() -> None:
    def embed(texts: Sequence[str]) -> NDArray[np.float32]:
        return np.array([[1, 0] if text in ("nap", "siesta") else [0, 1] for text in texts], np.float32)

    counts = rounds({"nap+steps": 2, "siesta+steps": 2})
    assert columns(induction(counts, (), VALUES)) == {"steps": ["steps"]}
    found = induction(counts, (), VALUES, embed)
    assert [*columns(found).values()] == [["nap", "steps"]]
    assert {each.label for each in attributes_of(counts, VALUES, embed)} == {"nap", "steps"}
    # Two that one record tells are two things.
    both = rounds({"nap+steps": 2, "siesta+steps": 2, "nap+siesta": 1})
    assert {each.label for each in attributes_of(both, VALUES, embed)} == {"nap", "siesta", "steps"}


def test_a_column_that_gets_a_unit_is_told() -> None:
    before = rounds({"bare weight+mood": 3})
    first = settled(before)
    found = induction(merge([before, rounds({"weight+mood": 1})]), first, VALUES)
    assert columns(found) == {"mood_weight": ["mood", "weight"]}
    assert told(found) == [("retyped", "mood_weight", ())]
    assert found.changes[0].columns == ("weight",)
    assert found.tables[0].columns[1] == TableColumn("weight", "number", "kg", (NAMES["bare weight"], NAMES["weight"]))


def test_tables_that_come_to_the_same_attributes_are_one_and_that_is_told() -> None:
    first = (
        TableSchema("rest", (column("nap", "nap", kind="duration", unit="s"),)),
        TableSchema("other", (column("siesta", "siesta", kind="duration", unit="s"),)),
    )
    counts = rounds({"nap": 3, "siesta": 3})
    assert columns(induction(counts, first, VALUES)) == {"rest": ["nap"], "other": ["siesta"]}
    found = induction(counts, first, InduceValues(VALUES.thresholds, {"siesta": "nap"}))
    assert columns(found) == {"rest": ["nap"]}
    assert told(found) == [("dropped", "other", ("siesta",))]


def test_names_that_a_column_took_before_stay_its() -> None:
    first = settled(rounds({"sleep+steps": 2, "asleep+steps": 2}))
    found = induction(rounds({"sleep+steps": 3}), first, VALUES)
    assert set(found.tables[0].columns[0].names) == {NAMES["sleep"], NAMES["asleep"]}
    assert found.changes == ()


def test_a_lost_column_is_told_whatever_was_merged_elsewhere() -> None:
    first = (
        TableSchema(
            "one", (column("nap", "nap", kind="duration", unit="s"), column("x", "siesta", kind="duration", unit="s"))
        ),
        TableSchema("two", (column("x", "cafe", kind="text"), column("steps", "steps", unit="steps"))),
    )
    found = induction(rounds({"nap": 3, "siesta": 3, "steps": 3}), first, InduceValues(VALUES.thresholds, {"siesta": "nap"}))
    assert columns(found) == {"one": ["nap"], "two": ["steps"]}
    assert told(found) == [("merged", "one", ("x",)), ("narrowed", "two", ("x",))]


def test_a_column_stays_the_attribute_that_it_is_called() -> None:
    counts = rounds({"sleep+steps": 3, "asleep+steps": 3})
    parted = InduceValues(VALUES.thresholds, {"time asleep": "nap"})
    found = induction(counts, settled(counts), parted)
    (sleep,) = (each for table in found.tables for each in table.columns if each.name == "sleep")
    assert sleep.names == (NAMES["sleep"],)


def test_names_that_leave_a_column_are_told() -> None:
    counts = rounds({"sleep+steps": 3, "asleep+steps": 3})
    parted = InduceValues(VALUES.thresholds, {"time asleep": "a nap"})
    found = as_they_are(counts, settled(counts), parted)
    held = {name for table in found.tables for each in table.columns for name in each.names}
    assert held >= {NAMES["sleep"], NAMES["asleep"]} or found.changes


def test_without_evolving_tables_take_the_names_that_are_theirs_and_nothing_else() -> None:
    first = settled(rounds({"sleep+steps": 3}))
    more = rounds({"sleep+steps+mood": 9, "asleep": 4, "weight": 9})
    found = as_they_are(more, first, VALUES)
    assert columns(found) == {"activity": ["sleep", "steps"]} and found.changes == ()
    assert set(found.tables[0].columns[0].names) == {NAMES["sleep"], NAMES["asleep"]}
    assert as_they_are(more, (), VALUES).tables == ()
    assert told(as_they_are(rounds({"steps": 3}), first, VALUES)) == [("narrowed", "activity", ("sleep",))]


# --- names of tables ------------------------------------------------------------------------------------------------


def test_tables_have_names_of_their_own() -> None:
    active = (TableSchema("weight", (column("cafe", "cafe", kind="text"),)),)
    found = induction(rounds({"cafe": 3, "weight": 3}), active, VALUES)
    assert columns(found) == {"weight": ["cafe"], "weight_2": ["weight"]}


def test_a_table_is_called_as_such_tables_are() -> None:
    assert table_name(["merchant", "total", "tip"]) == "receipts"
    assert table_name(["item", "amount"]) == "line_items"
    assert table_name(["total"]) == "total"
    assert table_name(["a", "b", "c", "d"]) == "a_b_c"


# --- receipts -------------------------------------------------------------------------------------------------------


def test_a_round_of_several_records_makes_tables_of_what_shares_them() -> None:
    told = "merchant+total+date+cafe+mood"
    counts = rounds({told: 4}, {told: ["merchant+total+date", "cafe+mood"]})
    assert sorted(columns(induction(counts, (), VALUES)).values()) == [["cafe", "mood"], ["date", "merchant", "total"]]


def test_what_too_many_patterns_asked_for_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    from operators.errors import MiningBudget
    from operators.induce import schemas

    whole = schemas.mine_maximal

    def few(*args: Any, min_support: int, **how: Any) -> Any:
        if min_support < 6:
            raise MiningBudget("too many")
        return whole(*args, min_support=min_support, **how)

    monkeypatch.setattr(schemas, "mine_few", lambda *_, **__: None)
    monkeypatch.setattr(schemas, "mine_maximal", few)
    found = induction(rounds({"sleep+steps": 9, "weight": 4}), (), VALUES)
    assert columns(found) == {"activity": ["sleep", "steps"]}
    changes: Iterable[SchemaChange] = found.changes
    assert [(each.change, each.table, each.support) for each in changes if each.change == "threshold"] == [
        ("threshold", "", 6)
    ]


def test_the_sets_of_counts() -> None:
    in_rounds, in_records = sets_of(rounds({"sleep+steps": 2}, {"sleep+steps": ["sleep", "steps"]}))
    assert in_rounds == [((NAMES["sleep"], NAMES["steps"]), 2)]
    assert in_records == [((NAMES["sleep"],), 2), ((NAMES["steps"],), 2)]
