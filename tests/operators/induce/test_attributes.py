"""Which names are one attribute: what meets, what stays apart, and that nothing but the names decides."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from operators.induce.attributes import (
    RESERVED,
    Attribute,
    Name,
    canonical,
    column_name,
    dimension_of,
    name_of,
    name_of_key,
)
from operators.induce.names import core_words, normal_name
from operators.tables.columns import PLAIN

KINDS = (
    ("duration", "s"), ("money", "EUR"), ("money", "MYR"), ("percent", "%"), ("ratio", "/10"), ("date", None),
    ("time", None), ("bool", None), ("text", None), ("number", None), ("number", "m"), ("number", "kg"), ("number", "kcal"),
    ("number", "steps"), ("number", "bpm"), ("number", "mmHg"),
)  # fmt: skip
WORDS = (
    "time", "asleep", "sleep", "duration", "deep", "total", "distance", "steps", "step", "count", "calories", "burned",
    "eaten", "weight", "body", "record", "order", "day", "date", "rate", "heart", "睡眠時間", "शब्द", "😴",
)  # fmt: skip
NAMES = st.builds(
    lambda text, kind: name_of(text, *kind),
    st.lists(st.sampled_from(WORDS), min_size=1, max_size=3).map(" ".join) | st.text(min_size=1, max_size=6),
    st.sampled_from(KINDS),
).filter(lambda name: name.name != "")
MANY = st.lists(NAMES, max_size=14)

SLEEP = [name_of(text, "duration", "s") for text in ("Time asleep", "sleep duration", "Sleep", "sleep-time", "timeAsleep")]


def sorted_into(names: Sequence[Name], **how: Any) -> dict[str, set[Name]]:
    return {each.label: set(each.names) for each in canonical(names, **how)}


def meaning(vectors: Mapping[str, Sequence[float]]) -> Any:
    """An encoder that knows some texts; all others are at right angles to everything."""

    def embed(texts: Sequence[str]) -> NDArray[np.float32]:
        found = np.zeros((len(texts), 400), np.float32)
        for row, text in enumerate(texts):
            if text in vectors:
                found[row, : len(vectors[text])] = vectors[text]
            else:
                found[row, 10 + sum(map(ord, text)) % 390] = 1
        return found

    return embed


def alike(*texts: str) -> Any:
    return meaning(dict.fromkeys(texts, (1.0, 0.0)))


# --- names ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text", ["time asleep", "Time-Asleep", "timeAsleep", "TIME  ASLEEP:", "\uff54ime_asleep", "(time) asleep"]
)
def test_case_punctuation_and_width_are_no_part_of_a_name(text: str) -> None:
    assert normal_name(text) == "time asleep"


@given(st.text(min_size=1).filter(str.strip))
def test_a_name_is_never_lost(text: str) -> None:
    normal = normal_name(text)
    assert normal and len(normal) <= 80 and "\t" not in normal and "\n" not in normal
    for dimension in ("s", "m", "number", "text", "money", "kg"):
        assert core_words(normal, dimension)


def test_names_of_every_script_stay_and_stay_apart() -> None:
    texts = [
        "睡眠時間",
        "睡眠",
        "Schlaf",
        "Schlafdauer",
        "शब्द",
        "शब्",
        "نوم",
        "сон",
        "😴",
        "🏃",
        "%",
        "№ 5",
        "café",
        "cafe",
        "수면",
    ]
    normal = [normal_name(text) for text in texts]
    assert "" not in normal and len(set(normal)) == len(texts)
    assert len(canonical(name_of(text, "duration", "s") for text in texts)) == len(texts)


def test_pictographs_with_a_variation_selector_stay_apart() -> None:
    texts = ["\u2764\ufe0f", "\u26a1\ufe0f", "\U0001f3c3\u200d\u2642\ufe0f"]
    assert len({normal_name(text) for text in texts}) == len(texts)


def test_a_name_of_dots_has_a_column() -> None:
    assert column_name(normal_name("..."))


def test_the_owner_of_a_measure_says_nothing_of_it() -> None:
    assert len(canonical([name_of("today's steps", "number", "steps"), name_of("steps", "number", "steps")])) == 1


@given(NAMES)
def test_a_key_names_its_name(name: Name) -> None:
    assert name_of_key(name.key()) == name


def test_a_currency_is_no_part_of_a_name() -> None:
    assert name_of("Total", "money", "MYR") == name_of("total", "money", "EUR") == name_of("total", "money", None)
    assert name_of("Total", "number", "kg") != name_of("total", "number", None)


# --- what is one, what is not ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "one",
    [
        SLEEP,
        [
            name_of("steps", "number", "steps"),
            name_of("step count", "number", "steps"),
            name_of("Total Steps", "number", None),
        ],
        [name_of("steps", "number", None), name_of("step count", "number", None)],
        [
            name_of("total", "money", "EUR"),
            name_of("grand total", "money", "MYR"),
            name_of("Amount due, total", "money", None),
        ],
        [
            name_of("calories", "number", "kcal"),
            name_of("calories burned", "number", "kcal"),
            name_of("kcal", "number", None),
        ],
        [name_of("weight", "number", "kg"), name_of("body weight", "number", "kg"), name_of("wt", "number", None)],
        [name_of("distance", "number", "m"), name_of("total distance", "number", "m"), name_of("km", "number", None)],
        [name_of("battery", "percent", "%"), name_of("Battery level", "percent", "%"), name_of("battery", "number", "%")],
    ],
)
def test_one_attribute(one: list[Name]) -> None:
    assert len(canonical(one)) == 1, sorted_into(one)


@pytest.mark.parametrize(
    "two",
    [
        [name_of("total", "money", "EUR"), name_of("total distance", "number", "m")],
        [name_of("total", "money", "EUR"), name_of("total", "number", "kg")],
        [name_of("total", "number", "m"), name_of("total", "number", "kg")],
        [name_of("blood pressure systolic", "number", "mmHg"), name_of("blood pressure diastolic", "number", "mmHg")],
        [name_of("systolic", "number", None), name_of("diastolic", "number", None)],
        [name_of("deep sleep", "duration", "s"), name_of("sleep", "duration", "s")],
        [name_of("calories burned", "number", "kcal"), name_of("calories eaten", "number", "kcal")],
        [name_of("sleep", "duration", "s"), name_of("sleep", "percent", "%")],
        [name_of("sleep", "duration", "s"), name_of("sleep", "text", None)],
        [name_of("max heart rate", "number", "bpm"), name_of("min heart rate", "number", "bpm")],
        [name_of("resting heart rate", "number", "bpm"), name_of("heart rate", "number", "bpm")],
        [name_of("睡眠時間", "duration", "s"), name_of("Schlaf", "duration", "s")],
    ],
)
def test_two_attributes(two: list[Name]) -> None:
    assert len(canonical(two)) == 2, sorted_into(two)


def test_what_an_attribute_is() -> None:
    (sleep,) = canonical(SLEEP)
    assert (sleep.label, sleep.kind, sleep.unit, sleep.names) == ("sleep", "duration", "s", tuple(sorted(set(SLEEP))))
    (total,) = canonical([name_of("total", "money", "EUR")])
    assert (total.kind, total.unit) == ("money", None)
    (weight,) = canonical([name_of("weight", "number", "kg")])
    assert (weight.kind, weight.unit) == ("number", "kg")
    (steps,) = canonical([name_of("flights", "number", None)])
    assert (steps.kind, steps.unit) == ("number", None)


def test_bare_numbers_join_the_one_unit_that_their_words_have() -> None:
    bare, kilos, pounds = (
        name_of("weight", "number", None),
        name_of("weight", "number", "kg"),
        name_of("weight", "percent", "%"),
    )
    assert sorted_into([bare, kilos]) == {"weight": {bare, kilos}}
    assert {frozenset(names) for names in sorted_into([bare, kilos, pounds]).values()} == {
        frozenset({bare}),
        frozenset({kilos}),
        frozenset({pounds}),
    }
    told = name_of("weight", "text", None)
    assert {frozenset(names) for names in sorted_into([bare, told]).values()} == {frozenset({bare}), frozenset({told})}


def test_a_date_dates_its_record_if_it_is_called_so() -> None:
    def dates(text: str, kind: str = "date") -> bool:
        (found,) = canonical([name_of(text, kind, None)])
        return found.dates_record

    assert dates("Date") and dates("receipt date") and dates("Invoice-Date")
    assert not dates("due date") and not dates("birthday") and not dates("date", "text")


def test_what_the_settings_call_date_dates_its_record() -> None:
    (bought,) = canonical([name_of("bought", "date", None)], overrides={"bought": "date"})
    assert bought.label == "date" and bought.dates_record


# --- columns --------------------------------------------------------------------------------------------------------


def test_no_attribute_is_called_as_a_column_that_every_table_has() -> None:
    assert {*PLAIN, "week", "month", "year"} == RESERVED
    texts = ["Order", "time", "day", "Record", "session_id", "Session ID", "round-id", "roundId"]
    labels = [each.label for text in texts for each in canonical([name_of(text, "text", None)])]
    assert not RESERVED & set(labels) and all(labels)


def test_labels_that_would_be_equal_tell_what_they_measure() -> None:
    names = [name_of("total", "money", None), name_of("total", "number", "kg"), name_of("total", "text", None)]
    assert len(sorted_into(names)) == 3
    assert "total" in sorted_into(names)
    assert {each.kind for each in canonical(names)} == {"money", "number", "text"}


@settings(max_examples=50, deadline=None)
@given(MANY)
def test_each_name_is_in_one_attribute_and_each_label_is_one_column(names: list[Name]) -> None:
    found = canonical(names)
    assert sorted(name for each in found for name in each.names) == sorted(set(names))
    labels = [each.label for each in found]
    assert labels == sorted(set(labels)) and not RESERVED & set(labels)
    assert not any(label.endswith((".raw", ".at", ".unit")) for label in labels)
    for each in found:
        dimensions = {dimension_of(name) for name in each.names} - {"number"}
        assert len(dimensions) <= 1, "only bare numbers join another dimension"


# --- nothing but the names decides ----------------------------------------------------------------------------------

OVERRIDES = st.dictionaries(
    st.sampled_from(["deep sleep", "time asleep", "zzz", "total"]), st.sampled_from(["sleep", "nap"])
)


@settings(max_examples=50, deadline=None)
@given(MANY, OVERRIDES, st.lists(st.lists(NAMES, max_size=3), max_size=3), st.booleans(), st.data())
def test_the_order_of_names_decides_nothing(
    names: list[Name], overrides: dict[str, str], together: list[list[Name]], encoded: bool, data: st.DataObject
) -> None:
    def of(names: Sequence[Name], overrides: dict[str, str], together: Sequence[Sequence[Name]]) -> tuple[Attribute, ...]:
        embed = alike("sleep", "weight", "heart", "睡眠時間") if encoded else None
        return canonical(names, overrides=overrides, embed=embed, together=together)

    told = dict(data.draw(st.permutations(list(overrides.items()))))
    shuffled = data.draw(st.permutations([*names, *names[:3]]))
    apart = data.draw(st.permutations([data.draw(st.permutations(each)) for each in together]))
    assert of(shuffled, told, apart) == of(names, overrides, together)


@settings(max_examples=50, deadline=None)
@given(MANY, NAMES)
def test_a_name_that_comes_later_parts_no_measured_names(names: list[Name], more: Name) -> None:
    def sets(names: list[Name]) -> set[frozenset[Name]]:
        return {frozenset(name for name in each.names if dimension_of(name) != "number") for each in canonical(names)}

    after = sets([*names, more])
    assert all(any(before <= now for now in after) for before in sets(names))


# --- the settings win -----------------------------------------------------------------------------------------------


def test_overrides_join() -> None:
    zzz, deep, sleep = (name_of(text, "duration", "s") for text in ("zzz", "Deep Sleep", "sleep"))
    assert sorted_into([zzz, deep, sleep], overrides={"ZZZ": "Sleep", "deep-sleep": "sleep"}) == {
        "sleep": {zzz, deep, sleep}
    }
    # What the settings call it is its name, even where nothing observed is called so.
    assert sorted_into([zzz, deep], overrides={"zzz": "slumber", "deep sleep": "slumber"}) == {"slumber": {zzz, deep}}


def test_overrides_part() -> None:
    asleep, sleep = name_of("time asleep", "duration", "s"), name_of("sleep", "duration", "s")
    assert sorted_into([asleep, sleep], overrides={"time asleep": "nap"}) == {"nap": {asleep}, "sleep": {sleep}}


def test_overrides_part_whatever_the_encoder_says() -> None:
    asleep, sleep = name_of("time asleep", "duration", "s"), name_of("sleep", "duration", "s")
    found = sorted_into([asleep, sleep], overrides={"time asleep": "nap"}, embed=alike("nap", "sleep"))
    assert found == {"nap": {asleep}, "sleep": {sleep}}


def test_a_bare_number_goes_where_the_settings_say() -> None:
    bare, kilos = name_of("scale", "number", None), name_of("weight", "number", "kg")
    assert sorted_into([bare, kilos], overrides={"scale": "weight"}) == {"weight": {bare, kilos}}


# --- meaning --------------------------------------------------------------------------------------------------------

NAP, SIESTA, REST = (name_of(text, "duration", "s") for text in ("nap", "siesta", "rest"))


def test_names_alike_in_meaning_are_one() -> None:
    assert len(canonical([NAP, SIESTA])) == 2
    assert sorted_into([NAP, SIESTA], embed=alike("nap", "siesta")) == {"nap": {NAP, SIESTA}}
    assert len(canonical([NAP, SIESTA], embed=alike("nap"))) == 2


def test_how_alike_is_a_threshold() -> None:
    embed = meaning({"nap": (1.0, 0.0), "siesta": (0.8, 0.6)})
    assert len(canonical([NAP, SIESTA], embed=embed, alike_at=0.8)) == 1
    assert len(canonical([NAP, SIESTA], embed=embed, alike_at=0.81)) == 2


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (NAP, name_of("siesta", "number", "m")),
        (NAP, name_of("siesta", "text", None)),
        (name_of("nap", "text", None), name_of("siesta", "text", None)),
        (name_of("nap", "number", None), name_of("siesta", "number", None)),
        (name_of("nap", "money", "EUR"), name_of("siesta", "money", "EUR")),
        (name_of("nap", "date", None), name_of("siesta", "date", None)),
    ],
)
def test_meaning_joins_only_what_is_measured_in_one_unit(first: Name, second: Name) -> None:
    assert len(canonical([first, second], embed=alike("nap", "siesta"))) == 2


def test_meaning_joins_no_names_that_share_a_word() -> None:
    deep, light = name_of("deep sleep", "duration", "s"), name_of("light sleep", "duration", "s")
    assert len(canonical([deep, light], embed=alike("deep sleep", "light sleep"))) == 2


def test_meaning_joins_no_names_that_stand_in_one_record() -> None:
    embed = alike("nap", "siesta", "rest")
    assert len(canonical([NAP, SIESTA], embed=embed, together=[{NAP}, {SIESTA}, {NAP, REST}])) == 1
    assert len(canonical([NAP, SIESTA], embed=embed, together=[{NAP, SIESTA}])) == 2
    # Where one of a lot must not join another, none is joined: which two would be arbitrary.
    assert len(canonical([NAP, SIESTA, REST], embed=embed, together=[{NAP, SIESTA}])) == 3
    assert len(canonical([NAP, SIESTA, REST], embed=embed)) == 1


def test_one_record_keeps_apart_all_the_names_of_the_attributes_it_has() -> None:
    siestas = name_of("Siesta-Time", "duration", "s")
    assert len(canonical([NAP, SIESTA, siestas], embed=alike("nap", "siesta"), together=[{NAP, siestas}])) == 2


def test_an_encoder_is_asked_for_nothing_that_may_not_join() -> None:
    def never(_: Sequence[str]) -> NDArray[np.float32]:
        raise AssertionError("nothing may join")

    names = [name_of("deep sleep", "duration", "s"), name_of("sleep", "duration", "s"), name_of("cafe", "text", None)]
    assert len(canonical(names, embed=never)) == 3
    assert canonical([], embed=never) == ()
