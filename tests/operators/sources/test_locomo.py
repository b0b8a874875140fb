from __future__ import annotations

import copy
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from operators.errors import SourceError
from operators.records import Session
from operators.sources.locomo import matches, read
from operators.sources.origin import Origin


def conversation() -> dict[str, Any]:
    return {
        "speaker_a": "Ana",
        "speaker_b": "Ben",
        "session_2_date_time": "12:09 am on 13 September, 2023",
        "session_2": [{"speaker": "Ben", "dia_id": "D2:1", "text": "late"}],
        "session_10": [{"speaker": "Cy", "dia_id": "D10:1", "text": "untimed"}],
        "session_1_date_time": "1:56 pm on 8 May, 2023",
        "session_1": [
            {"speaker": "Ben", "dia_id": "D1:1", "text": "one"},
            {"speaker": "Ana", "dia_id": "D1:2", "text": "two", "img_url": ["http://x/a.jpg"], "blip_caption": "a kettle"},
            {"speaker": "Ben", "dia_id": "D1:3", "text": "three", "blip_caption": "a pot"},
        ],
        "session_3": [],
        "session_4_date_time": "1:56 pm on 9 May, 2023",
        "session_1_observation": {"Ana": []},
        "events_session_1": {},
        "qa": [{"question": "?"}],
    }


def sessions(record: Any, **origin: Any) -> list[Session]:
    found = list(read(record, Origin(**{"user": None, "zone": None, "stem": "26", **origin})))
    assert all(isinstance(item, Session) for item in found)
    return found  # type: ignore[return-value]


@pytest.mark.parametrize("wrapped", [False, True])
def test_sessions_rounds_and_turns(wrapped: bool) -> None:
    record = {"sample_id": "conv-26", "conversation": conversation(), "qa": []} if wrapped else conversation()
    found = sessions(record, zone=ZoneInfo("America/New_York"))
    assert [(s.user_id, s.session_id) for s in found] == [("26", "session_1"), ("26", "session_2"), ("26", "session_10")]
    first, second = found[0].rounds
    assert [r.round_id for r in found[0].rounds] == ["session_1:1", "session_1:2"]
    assert [(m.message_id, m.role, m.speaker, m.text) for m in first.messages] == [
        ("D1:1", "assistant", "Ben", "one"),
        ("D1:2", "user", "Ana", "two"),
    ]
    assert [m.message_id for m in second.messages] == ["D1:3"]
    assert [(i.message, i.reference, i.caption) for i in first.images] == [(1, "http://x/a.jpg", "a kettle")]
    assert [(i.message, i.reference, i.caption) for i in second.images] == [(0, "", "a pot")]
    assert first.time is not None
    assert (first.time.utc.isoformat(), first.time.offset_minutes) == ("2023-05-08T17:56:00+00:00", -240)
    assert first.time.precision == "minute"
    assert found[2].rounds[0].time is None
    assert found[2].rounds[0].messages[0].role == "other"


def test_whose_it_is() -> None:
    wrapped = {"sample_id": "conv-26", "conversation": conversation()}

    def named(record: Any, **origin: Any) -> tuple[str, str, str]:
        first = sessions(record, **origin)[0]
        return first.user_id, first.session_id, first.rounds[0].round_id

    assert named(wrapped) == ("26", "session_1", "session_1:1")
    assert named(wrapped, part=2) == ("conv-26", "session_1", "session_1:1")
    assert named(conversation(), part=2) == ("26-2", "session_1", "session_1:1")
    assert named(wrapped, user="eve") == ("eve", "26/session_1", "26/session_1:1")
    assert named(wrapped, user="eve", part=1) == ("eve", "26/conv-26/session_1", "26/conv-26/session_1:1")


def test_speakers_that_the_file_does_not_name_are_taken_as_they_come() -> None:
    record = conversation()
    del record["speaker_a"], record["speaker_b"]
    first = sessions(record)[0].rounds[0]
    assert [m.role for m in first.messages] == ["user", "assistant"]


def test_a_bad_session_is_an_error_and_the_others_go_in() -> None:
    record = conversation()
    record["session_1_date_time"] = "once upon a time"
    record["session_2"] = "secret"
    found = list(read(record, Origin(None, None, "26")))
    assert [(i.code, str(i)[:9]) for i in found if isinstance(i, SourceError)] == [
        ("wrong-type", "session_2"),
    ]
    sessions = {item.session_id: item for item in found if isinstance(item, Session)}
    assert sorted(sessions) == ["session_1", "session_10"]
    assert sessions["session_1"].rounds[0].time is None
    assert sessions["session_1"].rounds[0].metadata == {"doubts": {"bad-time": 1}}
    assert not any("secret" in str(i) or "once" in str(i) for i in found if isinstance(i, SourceError))


@pytest.mark.parametrize("turn", [{}, {"speaker": ""}, {"speaker": 3, "text": "x"}, "x", {"speaker": "Ana", "text": []}])
def test_a_bad_turn_is_a_typed_error(turn: Any) -> None:
    found = list(read({"speaker_a": "Ana", "speaker_b": "Ben", "session_1": [turn]}, Origin(None, None, "26")))
    assert [type(item) for item in found] == [SourceError]


def test_a_bad_turn_leaves_the_others_in_their_rounds() -> None:
    turns = [{"speaker": "Ana", "text": text} for text in "abcd"]
    turns[1] = {"speaker": 3, "text": "secret"}  # type: ignore[dict-item]
    error, session = read({"speaker_a": "Ana", "speaker_b": "Ben", "session_1": turns}, Origin(None, None, "26"))
    assert isinstance(error, SourceError)
    assert error.round_id == "session_1:1"
    assert isinstance(session, Session)
    assert [[message.text for message in record.messages] for record in session.rounds] == [["a"], ["c", "d"]]


@pytest.mark.parametrize("record", [{}, {"conversation": []}, {"conversation": {}}, 3, {"speaker_a": "A", "speaker_b": "B"}])
def test_no_conversation_is_a_typed_error_and_no_match(record: Any) -> None:
    assert not matches(record)
    with pytest.raises(SourceError):
        list(read(record, Origin(None, None, "26")))


def test_matches() -> None:
    assert matches(conversation())
    assert matches({"qa": [], "conversation": conversation()})
    assert not matches({"session_1": [1], "speaker_a": "A", "speaker_b": "B"})
    assert not matches({"session_1": []})
    grown = copy.deepcopy(conversation())
    del grown["speaker_a"]
    assert matches(grown)
