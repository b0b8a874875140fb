"""What rounds and units tell: the day as people write it, sessions, names, which rounds hold pictures, their vectors."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from dialogues import PICTURES, said, tables, told_of
from hypothesis import given, settings
from hypothesis import strategies as st

from operators.retrieve.told import date_words, pictures_of_units, told
from operators.units import embedding_texts

MAY = datetime(2023, 5, 8, 23, 30, tzinfo=UTC)


@pytest.mark.parametrize(
    ("time", "offset", "written"),
    [
        (MAY, None, "8 May 2023 Monday"),
        (MAY, 0, "8 May 2023 Monday"),
        (MAY, 60, "9 May 2023 Tuesday"),
        (MAY, -24 * 60, "7 May 2023 Sunday"),
        (datetime(2024, 1, 1, 0, 10, tzinfo=UTC), -11, "31 December 2023 Sunday"),
        (datetime(2024, 2, 29, tzinfo=UTC), None, "29 February 2024 Thursday"),
        (datetime.max.replace(tzinfo=UTC), 14 * 60, "31 December 9999 Friday"),
        (datetime.min.replace(tzinfo=UTC), -12 * 60, "1 January 1 Monday"),
        (None, None, ""),
        (None, 60, ""),
    ],
)
def test_a_day_is_written_by_its_writers_clock(time: datetime | None, offset: int | None, written: str) -> None:
    assert date_words(time, offset) == written


@given(st.datetimes(datetime(1971, 1, 2), datetime(2100, 1, 1)), st.integers(-14 * 60, 14 * 60))
def test_the_words_of_a_day_are_read_back_as_that_day(time: datetime, offset: int) -> None:
    local = (time + timedelta(minutes=offset)).date()
    assert datetime.strptime(date_words(time.replace(tzinfo=UTC), offset), "%d %B %Y %A").date() == local


HISTORY = [
    said("hello", session="B", speaker="Ana", time=MAY),
    said("", ("dog", None), session="A", speaker="Ben"),
    said("look", ("lake", "a lake"), ("gone", None), session="B", speaker="user"),
    said(session="C"),
]


def test_units_and_rounds_of_a_dialogue() -> None:
    found = told_of(HISTORY)
    assert found.rounds == 4
    assert found.orders.tolist() == [0, 1, 2, 2, 2]
    assert found.texts == ["Ana: hello", None, "look", "a lake", None]
    assert found.pictures.tolist() == [False, True, False, True, True]
    assert found.shown.tolist() == [False, True, True, False]
    assert found.dates == ["8 May 2023 Monday", "", "", ""]
    assert found.names == {"Ana", "Ben"}
    assert found.sessions[0] == found.sessions[2]
    assert len({int(number) for number in found.sessions}) == 3


def test_apart_every_unit_is_a_round() -> None:
    found, whole = told_of(HISTORY).apart(), told_of(HISTORY)
    assert found.rounds == 5
    assert found.orders.tolist() == [0, 1, 2, 3, 4]
    assert (found.texts, found.names) == (whole.texts, whole.names)
    assert found.shown.tolist() == found.pictures.tolist() == whole.pictures.tolist()
    assert found.dates == [whole.dates[order] for order in whole.orders]
    assert found.sessions.tolist() == [whole.sessions[order] for order in whole.orders]


def test_pictures_take_the_vector_of_their_name_and_those_without_are_left_out() -> None:
    _, units = tables(HISTORY)
    vectors = np.eye(len(PICTURES), dtype=np.float32)
    found = pictures_of_units(units, list(PICTURES), vectors)
    assert found.units.tolist() == [1, 3]
    assert found.vectors.tolist() == [vectors[PICTURES["dog"]].tolist(), vectors[PICTURES["lake"]].tolist()]


def test_without_vectors_there_are_no_pictures() -> None:
    for history in (HISTORY, [said("words alone")]):
        _, units = tables(history)
        found = pictures_of_units(units, [], np.zeros((0, 4), np.float32))
        assert (found.units.tolist(), found.vectors.shape) == ([], (0, 4))


@settings(deadline=None, max_examples=30)
@given(st.lists(st.sampled_from("ABC"), min_size=1, max_size=12))
def test_rounds_of_one_session_share_a_number_from_0(sessions: list[str]) -> None:
    rounds, units = tables([said("x", session=session) for session in sessions])
    found = told(rounds, units, embedding_texts(units).to_pylist()).sessions.tolist()
    assert set(found) == set(range(len(set(sessions))))
    assert len(set(zip(sessions, found, strict=True))) == len(set(sessions))
