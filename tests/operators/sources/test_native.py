"""The export's own lines: what is written is read back as it was."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from operators.errors import SourceError
from operators.records import (
    Image,
    Instant,
    Message,
    Role,
    Round,
    Session,
    TimePrecision,
    round_hash,
    round_of_row,
    round_rows,
)
from operators.sources.fields import clean
from operators.sources.native import line_of, matches, read
from operators.sources.origin import Origin

ORIGIN = Origin(None, None, "history")
TEXT = st.text(max_size=20).map(clean)
NAMES = st.text(min_size=1, max_size=8).map(clean).filter(str.strip).filter(lambda name: "\0" not in name)
INSTANTS = st.none() | st.builds(
    Instant,
    st.datetimes(datetime(2, 1, 1), datetime(9998, 1, 1), timezones=st.just(UTC)),
    st.none() | st.integers(-1439, 1439),
    st.sampled_from(get_args(TimePrecision)),
)
MESSAGES = st.builds(Message, st.sampled_from(get_args(Role)), TEXT, TEXT, st.none() | NAMES, INSTANTS)
IMAGES = st.builds(
    Image, message=st.just(0), reference=TEXT, image_id=st.none() | NAMES, caption=st.none() | TEXT.filter(bool)
)
ROUNDS = st.builds(
    Round,
    st.just("S"),
    NAMES,
    st.integers(0, 99),
    st.lists(MESSAGES, min_size=1, max_size=3).map(tuple),
    st.lists(IMAGES, max_size=2).map(tuple),
    INSTANTS,
    st.dictionaries(TEXT, st.integers() | TEXT | st.lists(st.booleans()), max_size=2),
)


def back(line: Any) -> Session:
    (session,) = read(json.loads(json.dumps(line)), ORIGIN)
    assert isinstance(session, Session)
    return session


@given(ROUNDS)
def test_a_round_comes_back_as_it_was(record: Round) -> None:
    session = back(line_of("u", "S", [record], {}))
    assert (session.user_id, session.session_id) == ("u", "S")
    assert session.rounds == (record,)
    assert round_hash(session.rounds[0]) == round_hash(record)


@given(ROUNDS)
def test_a_row_holds_all_of_a_round(record: Round) -> None:
    (row,) = round_rows("t", "u", [record], "f")
    assert round_of_row(row) == record


def test_pictures_at_hand_are_named_by_their_file() -> None:
    image = Image(message=0, reference="holiday.png", media="a" * 64)
    record = Round("S", "r", 0, (Message("user", "user", "hi"),), (image,))
    line = line_of("u", "S", [record], {"a" * 64: "media/a.png"})
    assert back(line).rounds[0].images[0].reference == "media/a.png"
    assert line["rounds"][0]["images"][0]["reference"] == "holiday.png"


GOOD: dict[str, Any] = line_of(
    "u",
    "S",
    [Round("S", "r", 0, (Message("user", "user", "secret", time=Instant(datetime(2024, 1, 1, tzinfo=UTC), 0, "day")),))],
    {},
)


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"mnemosaic": 2}, "unknown-version"),
        ({"session_id": None}, "wrong-type"),
        ({"user_id": None}, "no-user"),
        ({"rounds": []}, "no-messages"),
        ({"rounds": "secret"}, "wrong-type"),
    ],
)
def test_a_bad_line_is_one_typed_error(change: dict[str, Any], code: str) -> None:
    with pytest.raises(SourceError) as caught:
        list(read(GOOD | change, ORIGIN))
    assert caught.value.code == code
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    "change",
    [
        {"round_id": None},
        {"position": -1},
        {"position": True},
        {"messages": [{"role": "boss", "text": "secret"}]},
        {"messages": ["secret"]},
        {"time": "secret"},
        {"time": {"utc": "secret", "precision": "day"}},
        {"time": {"utc": "2024-01-01T00:00:00", "precision": "day"}},
        {"time": {"utc": "2024-01-01T00:00:00Z", "precision": "secret"}},
        {"time": {"utc": "2024-01-01T00:00:00Z", "precision": "day", "offset_minutes": 1440}},
        {"images": [{"message": 9}]},
        {"metadata": "secret"},
    ],
)
def test_a_bad_round_leaves_the_others(change: dict[str, Any]) -> None:
    line = GOOD | {"rounds": [GOOD["rounds"][0] | change, GOOD["rounds"][0] | {"round_id": "fine"}]}
    error, session = read(line, ORIGIN)
    assert isinstance(error, SourceError)
    assert "secret" not in str(error)
    assert isinstance(session, Session)
    assert [record.round_id for record in session.rounds] == ["fine"]


def test_only_lines_of_an_export_match() -> None:
    assert matches(GOOD)
    assert not matches({"messages": []})
    assert not matches({"mnemosaic": 1})


def test_far_times_keep_their_offset() -> None:
    late = Instant(datetime(9999, 12, 31, 23, 59, tzinfo=UTC) - timedelta(minutes=1), -300, "minute")
    record = Round("S", "r", 0, (Message("user", "user", "x", time=late),), time=late)
    assert back(line_of("u", "S", [record], {})).rounds == (record,)
