from __future__ import annotations

from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from operators.errors import SourceError
from operators.records import Session
from operators.sources.openai_jsonl import matches, read
from operators.sources.origin import Origin

ORIGIN = Origin(None, None, "file")


def one(record: Any, origin: Origin = ORIGIN) -> Session:
    (found,) = read(record, origin)
    assert isinstance(found, Session)
    return found


def refused(record: Any, origin: Origin = ORIGIN) -> SourceError:
    with pytest.raises(SourceError) as caught:
        list(read(record, origin))
    return caught.value


def said(*messages: Any, **more: Any) -> dict[str, Any]:
    return {"user_id": "u", "session_id": "S", "messages": list(messages), **more}


HI = {"role": "user", "content": "hi"}
OH = {"role": "assistant", "content": "oh"}


def test_a_session_in_full() -> None:
    record = said(
        {"role": "system", "content": "be kind"},
        {**HI, "name": "Ada", "id": "m1", "timestamp": "2024-05-08T10:00:00+02:00"},
        {"role": "tool", "content": "42", "timestamp": 1715176567},
        OH,
        {"role": "Human", "content": "bye"},
        metadata={"topic": "t\0", "n": [1]},
    )
    session = one(record)
    assert (session.user_id, session.session_id) == ("u", "S")
    first, second = session.rounds
    assert [record.round_id for record in session.rounds] == ["S:1", "S:2"]
    assert [(m.role, m.speaker, m.text) for m in first.messages] == [
        ("system", "system", "be kind"),
        ("user", "Ada", "hi"),
        ("tool", "tool", "42"),
        ("assistant", "assistant", "oh"),
    ]
    assert first.messages[1].message_id == "m1"
    assert first.time == first.messages[1].time
    assert first.time is not None
    assert first.time.offset_minutes == 120
    assert (second.messages[0].role, second.messages[0].speaker, second.position) == ("user", "Human", 1)
    assert second.time is None
    assert first.metadata == {"session": {"topic": "t\ufffd", "n": [1]}}
    assert second.metadata == {}


def test_rounds_named_by_the_source() -> None:
    session = one(said({**HI, "round": "b"}, {**HI, "round": 1}, OH, {**OH, "round": "b"}))
    assert [(r.round_id, len(r.messages)) for r in session.rounds] == [("b", 2), ("1", 2)]


def test_parts() -> None:
    content = [
        {"type": "text", "text": "look"},
        "and",
        {"type": "image_url", "image_url": {"url": "a.png"}, "caption": "a cat", "image_id": 7},
        {"type": "image_url", "image_url": "b.png"},
        {"type": "input_text", "text": "here"},
        {"type": "input_image", "image_url": "data:image/png;base64,AA=="},
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AA=="}},
        {"type": "image", "source": {"type": "url", "url": "c.png"}},
        {"type": "input_audio", "input_audio": {}},
        {"type": "input_audio"},
        {"type": None},
        {"type": "input_image", "file_id": "f"},
    ]
    session = one(said({"role": "user", "content": content}, {**OH, "content": None, "tool_calls": [{}, {}]}))
    (record,) = session.rounds
    assert record.messages[0].text == "look\nand\nhere"
    assert [image.reference for image in record.images] == [
        "a.png",
        "b.png",
        "data:image/png;base64,AA==",
        "data:image/png;base64,AA==",
        "c.png",
    ]
    assert (record.images[0].caption, record.images[0].image_id) == ("a cat", "7")
    assert record.metadata["unknown_parts"] == {"input_audio": 2, "null": 1, "input_image": 1, "tool_calls": 2}


@pytest.mark.parametrize("key", ["timestamp", "created_at", "time", "date"])
def test_time_of_message_or_session(key: str) -> None:
    zone = ZoneInfo("Asia/Tokyo")
    on_message = one(said({**HI, key: "2024-05-08T10:00"}, OH), Origin(None, zone, "f")).rounds[0]
    on_session = one(said(HI, OH, **{key: "2024-05-08"}), Origin(None, zone, "f")).rounds[0]
    assert on_message.time is not None and on_message.messages[1].time is None
    assert (on_message.time.precision, on_message.time.offset_minutes) == ("minute", 540)
    assert on_session.time is not None and on_session.messages[0].time is None
    assert on_session.time.precision == "day"


@pytest.mark.parametrize(
    ("record", "code", "words"),
    [
        (5, "wrong-type", "a session must be an object, not a number"),
        ([HI], "wrong-type", "a list"),
        ({"session_id": "S", "messages": [HI]}, "no-user", "--user"),
        (said(), "no-messages", "no messages"),
        ({"user_id": "u"}, "no-messages", "no messages"),
        (said(user_id=None), "no-user", "--user"),
        (said(HI, user_id=True), "wrong-type", "true or false"),
        (said(HI, user_id=1.5), "wrong-type", "user_id"),
        (said(HI, user_id=" "), "bad-id", "user_id is empty"),
        (said(HI, user_id="a\0"), "bad-id", "NUL"),
        (said(HI, session_id="\ud800"), "bad-id", "session_id"),
        (said(HI, session_id=""), "bad-id", "session_id"),
        ({"user_id": "u", "messages": "secret"}, "wrong-type", "messages must be a list"),
        (said({"content": "secret"}), "wrong-type", "message 1: role"),
        (said({"role": 3, "content": "secret"}), "wrong-type", "role"),
        (said({"role": "user", "content": 42}), "wrong-type", "content must be text, not a number"),
        (said({"role": "user", "content": {"text": "secret"}}), "wrong-type", "content"),
        (said({"role": "user", "content": [{"type": "text", "text": 5}]}), "wrong-type", "a text part"),
        (said({"role": "user", "content": [[]]}), "wrong-type", "part of content"),
        (said({**HI, "round": []}), "wrong-type", "round"),
        (said({**HI, "id": "a\0"}), "bad-id", "id holds a NUL"),
        (said({"role": "user", "content": " "}, {"role": "assistant", "content": None}), "no-messages", "no message"),
    ],
)
def test_a_bad_record_is_one_typed_error_without_its_text(record: Any, code: str, words: str) -> None:
    error = refused(record)
    assert error.code == code
    assert words in str(error)
    assert "secret" not in str(error)


@pytest.mark.parametrize(
    ("bad", "code", "words"),
    [
        ("secret", "wrong-type", "message 2: the message must be an object, not text"),
        ({"role": "assistant", "content": 5}, "wrong-type", "message 2: content must be text, not a number"),
        ({"role": "assistant", "content": "secret", "id": []}, "wrong-type", "message 2: id"),
    ],
)
def test_a_bad_message_keeps_its_place_and_its_session(bad: Any, code: str, words: str) -> None:
    error, session = read(said(HI, bad, {"role": "user", "content": "more"}, OH), ORIGIN)
    assert isinstance(error, SourceError)
    assert (error.code, error.round_id) == (code, "S:1")
    assert words in str(error)
    assert "secret" not in str(error)
    assert isinstance(session, Session)
    assert [[message.text for message in record.messages] for record in session.rounds] == [["hi"], ["more", "oh"]]
    assert [record.round_id for record in session.rounds] == ["S:1", "S:2"]


def test_a_round_of_bad_messages_alone_is_left_out_and_the_others_keep_their_names() -> None:
    error, session = read(said({"role": "user", "content": 5}, {"role": "assistant"}, HI, OH), ORIGIN)
    assert isinstance(error, SourceError)
    assert isinstance(session, Session)
    assert [(record.round_id, record.position) for record in session.rounds] == [("S:2", 1)]


def test_a_time_that_is_not_understood_is_unknown_and_a_doubt() -> None:
    first, second = one(said({**HI, "timestamp": "secret day"}, OH, HI, timestamp="last week")).rounds
    assert first.time is None
    assert first.metadata == {"doubts": {"bad-time": 2}}
    assert second.metadata == {}


def test_a_blank_id_or_time_is_none() -> None:
    (record,) = one(said({**HI, "id": "", "timestamp": "", "round": " "})).rounds
    assert (record.round_id, record.messages[0].message_id, record.time, record.metadata) == ("S:1", None, None, {})


def test_request_logs_name_their_user_otherwise() -> None:
    messages = [HI, OH]
    assert one({"model": "m", "user": "ann", "messages": messages}).user_id == "ann"
    assert one({"metadata": {"user_id": "bob"}, "messages": messages}).user_id == "bob"


def test_the_user_asked_for() -> None:
    assert one({"session_id": "S", "messages": [HI]}, Origin("u", None, "f")).user_id == "u"
    assert one(said(HI), Origin("u", None, "f")).session_id == "S"
    assert refused(said(HI), Origin("other", None, "f")).code == "other-user"
    assert one(said(HI, user_id=12)).user_id == "12"


def test_text_that_cannot_be_stored_is_mended() -> None:
    message = one(said({"role": "us\0er", "content": "a\0b\ud800c", "name": "\udfffN"})).rounds[0].messages[0]
    assert (message.text, message.speaker, message.role) == ("a\ufffdb\ufffdc", "\ufffdN", "other")


def test_an_empty_round_is_named_and_the_rest_goes_in() -> None:
    error, session = read(
        said({"role": "user", "content": ""}, HI | {"round": "x"}, {**HI, "content": "", "round": "y"}), ORIGIN
    )
    assert isinstance(error, SourceError)
    assert (error.code, error.round_id) == ("no-messages", "y")
    assert isinstance(session, Session)
    assert [r.round_id for r in session.rounds] == ["x"]


def test_a_session_without_id_keeps_it_when_it_grows_and_two_are_two() -> None:
    def id_of(*messages: Any, **more: Any) -> str:
        return one({"user_id": "u", "messages": list(messages), **more}).session_id

    timed = {**HI, "timestamp": "2024-05-08T10:00"}
    assert id_of(timed) == id_of(timed, OH, HI)
    assert id_of(timed) != id_of({**timed, "timestamp": "2024-05-08T10:01"})
    assert id_of(HI, OH) != id_of(HI, {**OH, "content": "ah"})
    assert id_of(HI, OH, date="2024-05-08") != id_of(HI, HI, date="2024-05-08")
    assert id_of(HI, OH) == id_of(HI, OH)


@given(
    st.lists(
        st.tuples(st.sampled_from(["user", "assistant", "system", "x"]), st.text(min_size=1).filter(str.strip)), min_size=1
    )
)
def test_no_message_is_lost(messages: list[tuple[str, str]]) -> None:
    session = one(said(*({"role": role, "content": text} for role, text in messages)))
    texts = [message.text for record in session.rounds for message in record.messages]
    assert texts == [text.replace("\0", "\ufffd") for _, text in messages]
    assert [record.position for record in session.rounds] == list(range(len(session.rounds)))


@given(st.text(min_size=1).filter(lambda name: name.strip() and "\0" not in name))
def test_ids_stay_as_they_stand(name: str) -> None:
    session = one(said({**HI, "round": name, "id": name}, user_id=name, session_id=name))
    record = session.rounds[0]
    assert {session.user_id, session.session_id, record.session_id, record.round_id} == {name}
    assert record.messages[0].message_id == name


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: (
        st.lists(inner) | st.dictionaries(st.sampled_from(["role", "content", "type", "text", "round", "time"]), inner)
    ),
    max_leaves=10,
)


@given(JSON, JSON, JSON)
def test_whatever_comes_in_a_session_or_a_typed_error_comes_out(messages: Any, user: Any, session_id: Any) -> None:
    for found in (messages, [messages], [{"role": "user", "content": messages, "time": user}]):
        record = {"user_id": user, "session_id": session_id, "messages": found}
        matches(record)
        try:
            items = list(read(record, ORIGIN))
        except SourceError:
            continue
        assert isinstance(items[-1], Session)


@pytest.mark.parametrize(
    ("record", "expected"),
    [
        (said(HI), True),
        (said(), True),
        ({"messages": [HI]}, True),
        ({"messages": []}, False),
        ({"messages": ["a"]}, False),
        ({"messages": {"hello": "world"}}, False),
        ({"user_id": "u", "question": "q"}, False),
        (None, False),
    ],
)
def test_matches(record: Any, expected: bool) -> None:
    assert matches(record) is expected


def test_what_is_no_number_is_null_in_metadata() -> None:
    odd = {"a": float("nan"), "b": [1.5, -float("inf")]}
    session = one({"user_id": "u", "session_id": "S", "metadata": odd, "messages": [{"role": "user", "content": "hi"}]})
    assert session.rounds[0].metadata == {"session": {"a": None, "b": [1.5, None]}}
