from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from operators.extract.rules import RulesExtractor
from operators.extract.settle import settled
from operators.records import OBSERVATIONS, ROUNDS, Instant, Message, Round, round_rows

FIRST = datetime(2024, 5, 8, 12, tzinfo=UTC)


def rounds_of(
    user: str, texts: Sequence[str], session: str = "s", first: datetime = FIRST, speaker: str = "user"
) -> pa.Table:
    """A round each, a minute apart."""
    made = [
        Round(
            session, f"r{at}", at, (Message("user", speaker, text),), (), Instant(first + timedelta(minutes=at), 0, "minute")
        )
        for at, text in enumerate(texts)
    ]
    rows = [{**row, "order": at} for at, row in enumerate(round_rows("t", user, made, "test"))]
    return pa.Table.from_pylist(rows, ROUNDS)


def observe(rounds: pa.Table) -> pa.Table:
    return RulesExtractor().observe(rounds, {})


def known(*rounds: pa.Table) -> list[dict[str, Any]]:
    together = pa.concat_tables(rounds)
    found = settled(observe(together), together)
    assert found.schema.equals(OBSERVATIONS)
    return list(found.to_pylist())


def days(user: str, *texts: str) -> list[tuple[str | None, str | None]]:
    return [(row["parsed"], row["doubt"]) for row in known(rounds_of(user, texts)) if row["kind"] == "date"]


def numbers(*texts: str) -> list[tuple[float, str | None]]:
    return [(row["number"], row["doubt"]) for row in known(rounds_of("u", texts))]


def test_the_order_of_day_and_month_is_told_by_the_users_other_dates() -> None:
    assert days("u", "bought on: 3/4/2018", "bought on: 13/4/2018") == [("2018-04-03", None), ("2018-04-13", None)]
    assert days("u", "bought on: 3/4/2018", "bought on: 4/13/2018") == [("2018-03-04", None), ("2018-04-13", None)]


@pytest.mark.parametrize("texts", [["3/4/2018"], ["3/4/2018", "4/5/2018"], ["3/4/2018", "13/4/2018", "4/13/2018"]])
def test_without_evidence_or_with_both_the_doubt_stays(texts: list[str]) -> None:
    assert days("u", *(f"bought on: {text}" for text in texts))[0] == (None, "day-or-month")


def test_the_day_of_the_message_is_evidence_too() -> None:
    assert days("u", "bought on: 7/5/2024", "bought on: 3/4/2018") == [("2024-05-07", None), ("2018-04-03", None)]
    assert days("u", "bought on: 5/7/2024", "bought on: 3/4/2018") == [("2024-05-07", None), ("2018-03-04", None)]


def test_the_decimal_separator_is_told_by_the_users_other_numbers() -> None:
    assert numbers("weight: 1.234 kg", "rent: 950,50 \u20ac") == [(1234, None), (950.5, None)]
    assert numbers("weight: 1.234 kg", "rent: $950.50") == [(1.234, None), (950.5, None)]
    assert numbers("distance: 5,250 km", "rent: 950,50 \u20ac") == [(5250, None), (950.5, None)]
    assert numbers("steps: 8,412", "weight: 72.4 kg") == [(8412, None), (72.4, None)]


def test_a_number_that_no_other_decides_keeps_its_doubt() -> None:
    ((number, doubt),) = numbers("weight: 1.234 kg")
    assert (number, doubt is None) == (1.234, False)
    assert numbers("weight: 1.234 kg", "rent: 950,50 \u20ac", "fee: 12.50 \u20ac")[0][1] is not None


def test_raw_text_stays_as_it_was() -> None:
    rows = known(rounds_of("u", ["weight: 1.234 kg", "rent: 950,50 \u20ac", "bought on: 3/4/2018", "seen on: 13/4/2018"]))
    assert [row["value"] for row in rows] == ["1.234 kg", "950,50 \u20ac", "3/4/2018", "13/4/2018"]


def test_users_do_not_decide_for_each_other() -> None:
    anna = rounds_of("anna", ["bought on: 3/4/2018", "weight: 1.234 kg", "I slept 6 h"])
    bob = rounds_of("bob", ["sorry, it was 7 h", "bought on: 4/13/2018", "rent: 950,50 \u20ac"])
    both = known(anna, bob)
    assert [row for row in both if row["user_id"] == "anna"] == known(anna)
    assert [row for row in both if row["user_id"] == "bob"] == known(bob)


def links(*rounds: pa.Table) -> list[tuple[str, str, str | None, str | None]]:
    return [(row["attribute"], row["value"], row["corrects"], row["corrected_by"]) for row in known(*rounds)]


def test_a_correction_rounds_later_names_what_it_takes_back() -> None:
    assert links(rounds_of("u", ["I slept 6 h", "the weather is fine", "sorry, it was 7 h"])) == [
        ("sleep", "6 h", None, "s/r2/obs0"),
        ("sleep", "7 h", "s/r0/obs0", None),
    ]


def test_a_correction_of_a_correction() -> None:
    assert links(rounds_of("u", ["I slept 6 h", "sorry, it was 7 h", "sorry, it was 8 h"])) == [
        ("sleep", "6 h", None, "s/r1/obs0"),
        ("sleep", "7 h", "s/r0/obs0", "s/r2/obs0"),
        ("sleep", "8 h", "s/r1/obs0", None),
    ]


def test_a_correction_is_of_the_last_of_its_kind() -> None:
    texts = ["I slept 6 h and weigh 72 kg", "I walked 3 km", "sorry, it was 71 kg"]
    assert ("weight", "71 kg", "s/r0/obs1", None) in links(rounds_of("u", texts))
    assert links(rounds_of("u", ["I weigh 72 kg", "sorry, it was 7 h"]))[1] == ("", "7 h", "", None)


def test_a_correction_that_names_its_attribute() -> None:
    texts = ["I slept 6 h", "my screen was on for 3 h", "correction: my sleep was 7 h"]
    assert links(rounds_of("u", texts))[-1] == ("sleep", "7 h", "s/r0/obs0", None)


def test_a_correction_stays_in_its_session_and_after_what_it_corrects() -> None:
    before = rounds_of("u", ["I slept 6 h"], "s1")
    assert links(before, rounds_of("u", ["sorry, it was 7 h"], "s2"))[1] == ("", "7 h", "", None)
    assert links(rounds_of("u", ["sorry, it was 7 h", "I slept 6 h"])) == [
        ("", "7 h", "", None),
        ("sleep", "6 h", None, None),
    ]


def test_in_a_group_each_corrects_themselves() -> None:
    parts = [("Anna", "I slept 6 h"), ("Bob", "I slept 7 h"), ("Anna", "sorry, it was 8 h")]
    made = [
        Round("s", f"r{at}", at, (Message("other", name, text),), (), Instant(FIRST, 0, "minute"))
        for at, (name, text) in enumerate(parts)
    ]
    rows = [{**row, "order": at} for at, row in enumerate(round_rows("t", "u", made, "test"))]
    assert links(pa.Table.from_pylist(rows, ROUNDS)) == [
        ("sleep", "6 h", None, "s/r2/obs0"),
        ("sleep", "7 h", None, None),
        ("sleep", "8 h", "s/r0/obs0", None),
    ]


def test_no_observations() -> None:
    rounds = rounds_of("u", ["hello"])
    assert settled(observe(rounds), rounds).equals(OBSERVATIONS.empty_table())


@pytest.mark.parametrize("moment", [datetime.min, datetime.max - timedelta(minutes=5)])
def test_rounds_at_the_ends_of_time(moment: datetime) -> None:
    assert known(rounds_of("u", ["bought on: 3/4/2018", "sorry, it was 7 h"], first=moment.replace(tzinfo=UTC)))


TEXTS = st.sampled_from(
    [
        "I slept 6 h", "sorry, it was 7 h", "sorry, it was 71 kg", "I weigh 72 kg", "correction: my sleep was 8 h", "hello",
        "bought on: 3/4/2018", "bought on: 13/4/2018", "bought on: 4/13/2018", "bought on: 7/5/2024", "weight: 1.234 kg",
        "rent: 950,50 \u20ac", "rent: $950.50", "steps: 8,412", "| when | paid |\n|---|---|\n| 3/4/2018 | 1.250 \u20ac |",
    ]
)  # fmt: skip


def sorted_rows(parts: Sequence[pa.Table]) -> pa.Table:
    rows = [row for part in parts for row in part.to_pylist()]
    rows.sort(key=lambda row: (row["user_id"], row["order"], int(row["observation_id"].rsplit("obs")[-1])))
    return pa.Table.from_pylist(rows, OBSERVATIONS)


@settings(max_examples=150, deadline=None)
@given(st.lists(TEXTS, min_size=1, max_size=8), st.lists(TEXTS, max_size=3), st.data())
def test_settling_in_any_order_of_merges_is_settling_at_once(
    mine: list[str], others: list[str], data: st.DataObject
) -> None:
    rounds = pa.concat_tables([rounds_of("a", mine), rounds_of("b", others)])
    at_once = settled(observe(rounds), rounds)
    assert settled(at_once, rounds).equals(at_once)
    order = data.draw(st.permutations(range(len(rounds))))
    cuts = data.draw(st.lists(st.integers(0, len(order)), max_size=3).map(sorted))
    state, seen = OBSERVATIONS.empty_table(), ROUNDS.empty_table()
    for first, last in zip([0, *cuts], [*cuts, len(order)], strict=True):
        part = pa.concat_tables([ROUNDS.empty_table(), *(rounds.slice(at, 1) for at in order[first:last])])
        seen = pa.concat_tables([seen, part])
        state = settled(sorted_rows([state, observe(part)]), seen)
    assert state.to_pylist() == at_once.to_pylist()
