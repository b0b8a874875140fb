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
    assert [i.code for i in found if isinstance(i, SourceError)] == ["wrong-type", "bad-time", "wrong-type"]
    assert [i.session_id for i in found if isinstance(i, Session)] == ["D1"]
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


def test_matches() -> None:
    assert matches(dialog())
    assert not matches({"multi_session_dialogues": {}})
    assert not matches([])
