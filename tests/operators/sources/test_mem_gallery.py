from __future__ import annotations

from typing import Any

import pytest

from operators.errors import SourceError
from operators.records import Session
from operators.sources.mem_gallery import matches, read
from operators.sources.origin import Origin

ORIGIN = Origin(None, None, "Baking")


def dialog(*rounds: Any, **session: Any) -> dict[str, Any]:
    whole = {"session_id": "D1", "date": "2024-06-24", "dialogues": list(rounds), **session}
    return {"character_profile": {"name": "Maya"}, "multi_session_dialogues": [whole], "human-annotated QAs": []}


def only(record: Any, origin: Origin = ORIGIN) -> Session:
    (found,) = read(record, origin)
    assert isinstance(found, Session)
    return found


def test_a_round_with_pictures() -> None:
    session = only(
        dialog(
            {
                "round": "D1:1",
                "user": "look",
                "assistant": "nice",
                "image_id": ["I1", "I2"],
                "input_image": ["../image/a.jpg"],
                "image_caption": ["a cake", "a pie", "a roll"],
            }
        )
    )
    assert (session.user_id, session.session_id) == ("Baking", "D1")
    (record,) = session.rounds
    assert [(m.role, m.speaker, m.text) for m in record.messages] == [
        ("user", "Maya", "look"),
        ("assistant", "assistant", "nice"),
    ]
    assert [(i.message, i.image_id, i.reference, i.caption) for i in record.images] == [
        (0, "I1", "../image/a.jpg", "a cake"),
        (0, "I2", "", "a pie"),
        (0, None, "", "a roll"),
    ]
    assert record.time is not None
    assert (record.time.utc.isoformat(), record.time.precision) == ("2024-06-24T00:00:00+00:00", "day")


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        ({"round": "r", "user": "hi"}, [("user", "hi")]),
        ({"round": "r", "assistant": "hi"}, [("assistant", "hi")]),
        ({"round": "r", "user": "", "assistant": "hi"}, [("user", ""), ("assistant", "hi")]),
        ({"round": "r", "user": None, "assistant": "hi", "input_image": "a.jpg"}, [("user", ""), ("assistant", "hi")]),
    ],
)
def test_a_side_may_be_missing_or_empty(found: Any, expected: Any) -> None:
    record = only(dialog(found)).rounds[0]
    assert [(m.role, m.text) for m in record.messages] == expected
    assert all(image.message == 0 for image in record.images)


def test_whose_it_is() -> None:
    record = dialog({"round": "D1:1", "user": "hi"})
    assert only(record, Origin(None, None, "Baking", 2)).user_id == "Baking-2"
    asked = only(record, Origin("eve", None, "Baking"))
    assert (asked.user_id, asked.session_id, asked.rounds[0].round_id) == ("eve", "Baking/D1", "D1:1")


def test_what_a_file_leaves_out_is_named_by_position() -> None:
    session = only({"multi_session_dialogues": [{"dialogues": [{"user": "a"}, {"user": "b"}]}]})
    assert session.session_id == "session_1"
    assert [r.round_id for r in session.rounds] == ["session_1:1", "session_1:2"]
    assert session.rounds[0].messages[0].speaker == "user"
    assert session.rounds[0].time is None


def test_a_bad_session_is_an_error_and_the_others_go_in() -> None:
    good, bad = dialog({"user": "hi"}), dialog({"user": ["secret"]}, session_id="D2")
    late = dialog({"user": "hi"}, session_id="D3", date="secret")
    record = {"multi_session_dialogues": [x["multi_session_dialogues"][0] for x in (bad, good, late)] + [7]}
    found = list(read(record, ORIGIN))
    assert [i.code for i in found if isinstance(i, SourceError)] == ["wrong-type", "wrong-type"]
    sessions = [i for i in found if isinstance(i, Session)]
    assert [i.session_id for i in sessions] == ["D1", "D3"]
    assert [i.rounds[0].metadata for i in sessions] == [{}, {"doubts": {"bad-time": 1}}]
    assert not any("secret" in str(i) for i in found if isinstance(i, SourceError))


def test_a_round_id_twice_is_an_error() -> None:
    error, session = read(dialog({"round": "a", "user": "x"}, {"round": "a", "user": "y"}), ORIGIN)
    assert isinstance(error, SourceError)
    assert (error.code, error.round_id) == ("duplicate-round", "a")
    assert isinstance(session, Session)


@pytest.mark.parametrize("record", [{}, {"multi_session_dialogues": []}, {"multi_session_dialogues": 3}, []])
def test_no_dialog_is_a_typed_error(record: Any) -> None:
    with pytest.raises(SourceError):
        list(read(record, ORIGIN))


def test_pictures_in_lists_of_lists() -> None:
    found = {
        "round": "r",
        "user": "look",
        "input_image": [["a.jpg", "b.jpg"], "c.jpg"],
        "image_caption": [["a cake"], ["a pie"]],
        "image_id": "I1",
    }
    (record,) = only(dialog(found)).rounds
    assert [(i.reference, i.caption, i.image_id) for i in record.images] == [
        ("a.jpg", "a cake", "I1"),
        ("b.jpg", "a pie", None),
        ("c.jpg", None, None),
    ]


def test_a_round_may_have_its_own_time() -> None:
    session = only(
        dialog({"user": "a", "timestamp": "2024-06-25T10:00:00Z"}, {"user": "b", "timestamp": "?"}, {"user": "c"})
    )
    assert [r.time.utc.isoformat() for r in session.rounds if r.time] == [
        "2024-06-25T10:00:00+00:00",
        "2024-06-24T00:00:00+00:00",
        "2024-06-24T00:00:00+00:00",
    ]
    assert [r.metadata for r in session.rounds] == [{}, {"doubts": {"bad-time": 1}}, {}]


def turn(speaker: str, text: str = "hi", **more: Any) -> dict[str, Any]:
    return {"speaker": speaker, "text": text, **more}


def test_turns_of_a_user_and_an_assistant() -> None:
    pictures = [{"image_id": "I1", "path": "a.jpg", "caption": "a cake"}, {"file": "b.jpg"}, "c.jpg"]
    turns = [
        turn("user", "look", images=pictures, turn_id="T1", timestamp="2024-06-25T10:00:00Z"),
        turn("assistant", "nice", turn_id="T2"),
        turn("user", "more", turn_id=3),
    ]
    record = {
        "character_profile": {"name": "Maya"},
        "sessions": [{"session_id": "S1", "date": "2024-06-24", "turns": turns}],
    }
    assert matches(record)
    session = only(record)
    assert [[(m.role, m.speaker, m.message_id) for m in r.messages] for r in session.rounds] == [
        [("user", "Maya", "T1"), ("assistant", "assistant", "T2")],
        [("user", "Maya", "3")],
    ]
    assert [r.round_id for r in session.rounds] == ["S1:1", "S1:2"]
    assert [(i.message, i.image_id, i.reference, i.caption) for i in session.rounds[0].images] == [
        (0, "I1", "a.jpg", "a cake"),
        (0, None, "b.jpg", None),
        (0, None, "c.jpg", None),
    ]
    assert session.rounds[0].time is not None and session.rounds[0].time.precision == "second"


def test_turns_of_three_people() -> None:
    session = only({"sessions": [{"turns": [turn("Ann"), turn("Bob"), turn("Cy"), turn("Ann")]}]})
    assert [[(m.role, m.speaker) for m in r.messages] for r in session.rounds] == [
        [("user", "Ann"), ("assistant", "Bob")],
        [("other", "Cy"), ("user", "Ann")],
    ]


@pytest.mark.parametrize("bad", [[{"text": "x"}], ["x"], 5, [turn("A", images=[5])], [turn("A", text=["secret"])]])
def test_bad_turns_are_an_error_and_the_others_go_in(bad: Any) -> None:
    found = list(read({"sessions": [{"turns": bad}, {"turns": [turn("Ann")]}]}, ORIGIN))
    assert [i.code for i in found if isinstance(i, SourceError)] == ["wrong-type"]
    assert [i.session_id for i in found if isinstance(i, Session)] == ["session_2"]


@pytest.mark.parametrize("bad", [7, turn("Ann", images=[5]), turn("Ann", text=["secret"]), {"text": "who?"}])
def test_a_bad_turn_keeps_its_place_and_loses_no_other(bad: Any) -> None:
    found = list(read({"sessions": [{"turns": [turn("Ann", "1"), turn("Bob", "2"), bad, turn("Ann", "4")]}]}, ORIGIN))
    assert [(i.code, i.round_id) for i in found if isinstance(i, SourceError)] == [("wrong-type", "session_1:2")]
    (session,) = [i for i in found if isinstance(i, Session)]
    assert [[message.text for message in record.messages] for record in session.rounds] == [["1", "2"], ["4"]]


def test_matches() -> None:
    assert matches(dialog())
    assert not matches({"sessions": [{"turns": [{"role": "user"}]}]})
    assert not matches({"sessions": 5})
    assert not matches({"multi_session_dialogues": {}})
    assert not matches([])
