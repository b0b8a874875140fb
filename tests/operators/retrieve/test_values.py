"""What a search is done with: nothing out of range, nothing asked for in vain."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from operators.errors import UsageError
from operators.retrieve.values import CASES, IMAGE, LANES, TEXT, SearchValues


def test_the_defaults_are_in_range() -> None:
    SearchValues().check()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        *(({name: value}, f"{name} must be a whole number of at least 1") for name in ("k", "pool", "aggregation_k")
          for value in (0, -1, 1.0, True, None, "3")),
        *(({name: value}, f"{name} must be a whole number of at least 0") for name in ("neighbours", "kappa", "image_rounds")
          for value in (-1, 0.5, False, "1")),
        ({"neighbours": None}, "neighbours must be a whole number"),
        ({"placement": "heap"}, "placement must be one of runs, tail, interleave, none"),
        ({"fusion": "sum"}, "fusion must be one of standardised, reciprocal-rank"),
        ({"items": "words"}, "items must be one of rounds, units"),
        ({"text": {}}, "text must give some signal a weight above 0"),
        ({"text": {"dense": 0.0}}, "text must give some signal a weight above 0"),
        ({"text": {"visual": 1.0}}, "the text lane has no signal 'visual'"),
        ({"image": {"dense": 1.0}}, "the image lane has no signal 'dense'"),
        *(({"text": {"dense": weight}}, "the weight of dense must be a number of at least 0")
          for weight in (-1.0, float("nan"), float("inf"), True, "1", None)),
        ({"context": 1e308}, "context must be a number of at least 0 and at most 1,000,000"),
        ({"image": {"visual": -0.5}}, "the weight of visual must be a number of at least 0"),
    ],
)  # fmt: skip
def test_what_is_out_of_range_says_its_name_and_what_is_allowed(change: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        replace(SearchValues(), **change).check()


@pytest.mark.parametrize(
    "change",
    [
        {"k": 1, "neighbours": 0, "kappa": 0, "pool": 1, "image_rounds": 0, "aggregation_k": 1},
        {"image_rounds": None},
        {"image": {}},
        {"text": {"bm25": 1}},
        {"text": {**TEXT, "dense": 0.0}, "image": dict.fromkeys(IMAGE, 0.0)},
    ],
)
def test_the_least_of_each_is_in_range(change: dict[str, Any]) -> None:
    replace(SearchValues(), **change).check()


def test_a_case_has_its_own_lanes_and_those_left_out_the_defaults() -> None:
    values = SearchValues(lanes={"text_to_image": {"text": 0.0, "image": 2.0}})
    assert values.lanes_of("text_to_image") == {"text": 0.0, "image": 2.0}
    assert all(values.lanes_of(case) == LANES[case] for case in CASES if case != "text_to_image")


def test_without_routing_both_lanes_count_alike_in_every_case() -> None:
    assert all(SearchValues(routing=False).lanes_of(case) == {"text": 1.0, "image": 1.0} for case in CASES)


@pytest.mark.parametrize(
    "change",
    [
        {"lanes": {"text_to_txt": {"text": 1.0, "image": 0.0}}}, {"lanes": {"text_to_text": {"text": -1.0, "image": 0.0}}},
        {"lanes": {"text_to_text": {"txt": 1.0}}}, {"lanes": {"text_to_text": {"text": 0.0, "image": 0.0}}},
        {"spread": -1.0}, {"context": float("nan")}, {"nameless": -3.0}, {"routing": "no"}, {"dates": 1},
    ],
)  # fmt: skip
def test_weights_lanes_and_switches_out_of_range_are_refused(change: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        SearchValues(**change).check()
