"""Episodes: cut by silence, by change of subject, by size; and by what came before alone."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from operators.hierarchy.episodes import episode_starts
from operators.hierarchy.values import HierarchyValues
from operators.hierarchy.vectors import unit_length

VALUES = HierarchyValues(gap_minutes=60, least_rounds=2, most_rounds=6)
CAT, TAX, NOTHING = [1.0, 0.1, 0.0], [0.0, 0.1, 1.0], [0.0, 0.0, 0.0]


def starts(vectors: list[list[float]], sessions: str, minutes: list[float], values: HierarchyValues = VALUES) -> list[int]:
    return episode_starts(unit_length(np.array(vectors).reshape(-1, 3)), list(sessions), np.array(minutes, float), values)


def test_an_empty_history_has_none_and_one_round_is_one() -> None:
    assert starts([], "", []) == []
    assert starts([NOTHING], "S", [np.nan]) == [0]


def test_silence_ends_an_episode_whatever_is_said() -> None:
    assert starts([CAT] * 4, "SSSS", [0, 60, 121, 122]) == [0, 2]


def test_another_subject_opens_one_once_the_episode_is_long_enough() -> None:
    assert starts([CAT, CAT, TAX, TAX], "SSSS", [0, 1, 2, 3]) == [0, 2]
    assert starts([CAT, TAX, TAX, CAT], "SSSS", [0, 1, 2, 3]) == [0]
    assert starts([CAT, TAX, TAX], "SSS", [0, 1, 2], replace(VALUES, least_rounds=1)) == [0, 1]


def test_another_session_goes_on_only_with_what_is_much_alike() -> None:
    assert starts([CAT, CAT, CAT], "SST", [0, 1, 2]) == [0]
    assert starts([CAT, TAX], "ST", [0, 1]) == [0, 1]
    near = [0.6, 0.0, 0.8]
    assert starts([CAT, CAT, near], "SSS", [0, 1, 2], replace(VALUES, coherence_across=0.9)) == [0]
    assert starts([CAT, CAT, near], "SST", [0, 1, 2], replace(VALUES, coherence_across=0.9)) == [0, 2]


def test_what_is_not_known_of_a_round_is_no_reason_to_part_it_from_its_session() -> None:
    unknown = float("nan")
    assert starts([CAT, NOTHING, CAT], "SSS", [0, unknown, 1]) == [0]
    assert starts([CAT, NOTHING], "ST", [0, unknown]) == [0, 1]
    assert starts([CAT, CAT, CAT], "SSS", [0, unknown, 500]) == [0, 2], "the gap is to the last time that is known"
    assert starts([CAT, CAT], "SS", [unknown, 500]) == [0]


def test_time_that_runs_back_is_no_gap() -> None:
    assert starts([CAT, CAT, CAT], "SST", [500, 501, 0]) == [0]


def test_an_episode_has_a_largest_size() -> None:
    assert starts([CAT] * 13, "S" * 13, list(range(13))) == [0, 6, 12]


def test_a_subject_that_all_of_a_history_has_parts_nothing() -> None:
    same = [[1.0, 1.0, 0.2 * (at % 3)] for at in range(60)]
    assert len(starts(same, "S" * 60, list(range(60)), replace(VALUES, most_rounds=99))) == 1


rounds_of_any_kind = st.lists(
    st.tuples(
        st.sampled_from([CAT, TAX, NOTHING, [0.5, 0.5, 0.5], [-1.0, 0.0, 0.2]]),
        st.sampled_from("ST"),
        st.integers(0, 200) | st.just(float("nan")),
    ),
    max_size=40,
)


@settings(max_examples=150, deadline=None)
@given(rounds_of_any_kind, st.integers(0, 40))
def test_a_round_more_keeps_what_was_cut_before(rounds: list[Any], cut: int) -> None:
    def of(part: list[Any]) -> list[int]:
        return starts([row[0] for row in part], "".join(row[1] for row in part), [float(row[2]) for row in part])

    whole, before = of(rounds), of(rounds[:cut])
    assert before == [place for place in whole if place < len(rounds[:cut])]
    assert all(0 < after - place <= VALUES.most_rounds for place, after in pairwise(whole))


@pytest.mark.parametrize("gap", [1, 60])
def test_the_gap_is_a_value(gap: int) -> None:
    assert starts([CAT, CAT], "SS", [0, 30], replace(VALUES, gap_minutes=gap)) == ([0, 1] if gap < 30 else [0])
