"""One user's hierarchy: every round an event, what each level tells of itself, odd histories."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from histories import BEGINS, STUB, a_round, minutes_apart, tables_of
from hypothesis import given, settings
from hypothesis import strategies as st

from operators.hierarchy.build import hierarchy_of
from operators.hierarchy.values import HierarchyValues
from operators.records import HIERARCHY, ROUNDS, UNITS, Round
from operators.store.verify_hierarchy import hierarchy_faults

VALUES = HierarchyValues()
CAT = ["my cat Pixel purrs", "the cat Pixel sleeps", "Pixel the cat ate fish", "the vet says my cat Pixel is well"]
RUN = ["I ran ten kilometres", "the marathon training run", "ran intervals for the marathon", "the marathon run is done"]


def built(rounds: Sequence[Round], values: HierarchyValues = VALUES, **more: Any) -> list[dict[str, Any]]:
    table, units, vectors = tables_of(rounds)
    made = hierarchy_of(table, units, vectors, values, made_of="m", **more)
    assert made.schema.equals(HIERARCHY)
    assert list(hierarchy_faults(table, made, STUB.dim)) == []
    rows: list[dict[str, Any]] = made.to_pylist()
    return rows


def at(rows: Sequence[Mapping[str, Any]], level: str) -> list[Mapping[str, Any]]:
    return [row for row in rows if row["level"] == level]


def two_days() -> list[Round]:
    first = minutes_apart(CAT, session="A")
    second = minutes_apart(RUN, session="B", begins=BEGINS + timedelta(days=1))
    third = [a_round(9, "the cat Pixel is at the vet", session="C", time=BEGINS + timedelta(days=2), offset=540)]
    return first + second + third


def test_an_empty_history_has_no_hierarchy() -> None:
    made = hierarchy_of(ROUNDS.empty_table(), UNITS.empty_table(), np.zeros((0, 64)), VALUES, made_of="m")
    assert made.equals(HIERARCHY.empty_table())


def test_one_round_is_an_event_an_episode_and_a_topic() -> None:
    rows = built([a_round(0, "I adopted a cat. It purrs.", time=BEGINS)])
    assert [row["level"] for row in rows] == ["topic", "episode", "event"]
    assert [row["node"] for row in rows] == ["topic/S/S:0", "episode/S/S:0", "event/S/S:0"]
    assert [row["parent"] for row in rows] == [None, "topic/S/S:0", "episode/S/S:0"]
    assert {row["description"] for row in rows} == {"I adopted a cat. It purrs."}
    assert rows[0]["name"] == "adopted, cat, purrs" and rows[2]["name"] == ""
    assert (rows[0]["vector"] is not None, rows[2]["vector"]) == (True, None)


def test_related_episodes_are_a_topic_and_others_are_not() -> None:
    rows = built(two_days())
    assert [(row["first_order"], row["last_order"]) for row in at(rows, "episode")] == [(0, 3), (4, 7), (8, 8)]
    topics = at(rows, "topic")
    assert [(row["first_order"], row["last_order"], row["rounds"]) for row in topics] == [(0, 8, 5), (4, 7, 4)]
    assert {"Pixel", "cat"} <= set(topics[0]["name"].split(", ")) and "marathon" in topics[1]["name"]
    assert [row["parent"] for row in at(rows, "episode")] == [topics[0]["node"], topics[1]["node"], topics[0]["node"]]


def test_spans_have_the_first_and_the_last_time_with_their_offsets() -> None:
    topic = at(built(two_days()), "topic")[0]
    assert (topic["first_time"], topic["first_offset_minutes"]) == (BEGINS, 0)
    assert (topic["last_time"], topic["last_offset_minutes"]) == (BEGINS + timedelta(days=2), 540)


def test_unknown_times_are_told_as_such_and_part_nothing() -> None:
    rows = built([a_round(place, text) for place, text in enumerate(CAT)])
    assert [row["last_order"] for row in at(rows, "episode")] == [3]
    assert {row["first_time"] for row in rows} == {row["last_time"] for row in rows} == {None}
    mixed = [a_round(0, CAT[0]), a_round(1, CAT[1], time=BEGINS), a_round(2, CAT[2])]
    assert at(built(mixed), "episode")[0]["first_time"] == BEGINS


def test_the_vector_of_a_level_is_the_unit_length_mean_of_those_below() -> None:
    rounds, units, vectors = tables_of(minutes_apart(CAT))
    made = hierarchy_of(rounds, units, vectors, VALUES, made_of="m").to_pylist()
    mean = vectors.sum(axis=0) / np.linalg.norm(vectors.sum(axis=0))
    np.testing.assert_allclose(np.array(made[1]["vector"], np.float32), mean, atol=2e-3)
    np.testing.assert_allclose(np.array(made[0]["vector"], np.float32), mean, atol=2e-3)


def test_pictures_are_counted_and_their_vectors_averaged() -> None:
    pictures = {f"{0:064x}": np.array([3.0, 0.0]), f"{1:064x}": np.array([0.0, 2.0])}
    rounds = [a_round(0, "look", captions=[None, None], time=BEGINS), a_round(1, "and now", time=BEGINS)]
    rows = built(rounds, pictures=pictures)
    assert [row["pictures"] for row in rows] == [2, 2, 2, 0]
    np.testing.assert_allclose(rows[1]["image_vector"], [0.7071, 0.7071], atol=1e-3)
    assert [row["image_vector"] is None for row in rows] == [False, False, True, True]
    assert {row["image_vector"] for row in built(rounds)} == {None}


def test_rounds_of_pictures_alone_are_told_by_their_captions_or_not_at_all() -> None:
    rows = built([a_round(0, "", captions=["a grey cat on a sofa"]), a_round(1, "", captions=[None])])
    assert at(rows, "episode")[0]["description"] == "a grey cat on a sofa"
    assert [row["description"] for row in at(rows, "event")] == ["a grey cat on a sofa", ""]
    nothing = built([a_round(0, "", captions=[None])])
    assert {(row["description"], row["name"]) for row in nothing} == {("", "")}
    assert {row["vector"] for row in nothing} == {None}


def test_a_description_is_no_longer_than_asked_and_says_who_speaks() -> None:
    long = "The " + "very " * 200 + "long walk."
    rows = built([a_round(0, long, speaker="Ann", time=BEGINS)], replace(VALUES, characters=50))
    assert all(len(row["description"]) <= 50 and row["description"].startswith("Ann: The very") for row in rows)
    assert rows[0]["description"].endswith("\u2026")
    assert "Ann" not in rows[0]["name"]


def test_the_words_of_a_person_tell_more_than_the_answer() -> None:
    rows = built([a_round(0, "My violin recital is in May.", "Violins need humidity. Rosin helps. Strings break.")])
    assert "violin" in rows[0]["name"] and "Rosin" not in rows[0]["name"]
    assert rows[0]["description"].startswith("My violin recital is in May.")


def test_a_model_may_word_levels_and_what_it_leaves_blank_is_made_here() -> None:
    asked: list[tuple[str, Sequence[str]]] = []

    def describe(level: str, texts: Sequence[str]) -> tuple[str, str]:
        asked.append((level, texts))
        return ("", " The user has a cat. ") if level == "episode" else ("Cats", " ")

    rows = built(minutes_apart(CAT), describe=describe)
    assert [level for level, _ in asked] == ["event"] * 4 + ["episode", "topic"]
    assert asked[4][1] == CAT
    assert rows[0]["name"] == "Cats" and "Pixel" in rows[0]["description"]
    assert rows[1]["description"] == "The user has a cat." and "Pixel" in rows[1]["name"]


def test_tables_that_do_not_belong_together_are_refused() -> None:
    rounds, units, vectors = tables_of(minutes_apart(CAT))
    with pytest.raises(ValueError, match="do not align"):
        hierarchy_of(rounds, units, vectors[1:], VALUES, made_of="m")
    with pytest.raises(ValueError, match="counted from 0"):
        hierarchy_of(rounds.slice(1), units, vectors, VALUES, made_of="m")


def test_what_was_said_later_changes_no_event_and_no_closed_episode() -> None:
    whole, before = built(two_days()), built(two_days()[:4])
    for level in ("event", "episode"):
        told = [{**row, "vector": None, "parent": None} for row in at(whole, level)]
        assert told[: len(at(before, level))] == [{**row, "vector": None, "parent": None} for row in at(before, level)]


texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=60)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(texts, st.none() | texts, st.lists(st.none() | texts, max_size=2), st.booleans()), max_size=12))
def test_any_unicode_has_a_hierarchy(rounds: list[Any]) -> None:
    made = [
        a_round(place, said, answer, session=f"S/{place // 4}", captions=captions, time=BEGINS if timed else None)
        for place, (said, answer, captions, timed) in enumerate(rounds)
    ]
    if made:
        rows = built(made)
        assert len(at(rows, "event")) == len(made)
        assert rows == built(made), "the same rounds make the same hierarchy"


def test_five_thousand_rounds_take_seconds() -> None:
    rng = np.random.default_rng(7)
    words = [f"w{number}" for number in range(3000)]
    subjects = [rng.choice(words, 60) for _ in range(80)]
    rounds = [
        a_round(
            place,
            " ".join(rng.choice(subjects[place // 7 % 80], 18)) + ".",
            " ".join(rng.choice(words, 40)) + ".",
            session=f"S{place // 20}",
            time=BEGINS + timedelta(hours=place),
        )
        for place in range(5000)
    ]
    table, units, vectors = tables_of(rounds)
    began = time.monotonic()
    made = hierarchy_of(table, units, vectors, VALUES, made_of="m")
    assert time.monotonic() - began < 40
    assert pa.compute.sum(pa.compute.equal(made["level"], "event")).as_py() == 5000
