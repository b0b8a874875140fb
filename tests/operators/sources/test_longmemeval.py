from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from operators.errors import SourceError
from operators.records import Session
from operators.sources.longmemeval import _names, matches, read
from operators.sources.origin import Origin

ORIGIN = Origin(None, None, "longmemeval_s")
DATES = ["2023/05/20 (Sat) 02:21", "2023/05/21 (Sun) 10:00"]


def turns(text: str = "hi") -> list[dict[str, Any]]:
    return [
        {"role": "user", "content": text, "has_answer": True},
        {"role": "assistant", "content": f"you said {text}", "has_answer": False},
    ]


def haystack(*sessions: Any, **more: Any) -> dict[str, Any]:
    return {
        "question_id": "q1",
        "question": "secret question",
        "answer": "secret answer",
        "haystack_sessions": list(sessions),
        **more,
    }


def both(record: Any, origin: Origin = ORIGIN) -> tuple[list[Session], list[SourceError]]:
    found = list(read(record, origin))
    return [i for i in found if isinstance(i, Session)], [i for i in found if isinstance(i, SourceError)]


@pytest.mark.parametrize("dates", [DATES, repr(DATES), json.dumps(DATES), f" {DATES!r} "])
def test_dates_as_a_list_or_as_its_text(dates: Any) -> None:
    sessions, errors = both(haystack(turns("a"), turns("b"), haystack_session_ids=["s1", "s2"], haystack_dates=dates))
    assert errors == []
    assert [(s.user_id, s.session_id, s.rounds[0].round_id) for s in sessions] == [
        ("q1", "s1", "s1:1"),
        ("q1", "s2", "s2:1"),
    ]
    assert [s.rounds[0].time.utc.isoformat() for s in sessions if s.rounds[0].time] == [
        "2023-05-20T02:21:00+00:00",
        "2023-05-21T10:00:00+00:00",
    ]


def test_what_is_no_history_is_kept_nowhere() -> None:
    sessions, _ = both(haystack(turns()))
    assert "has_answer" not in repr(sessions)
    assert "secret" not in repr(sessions)


def test_ids_and_dates_may_be_missing_or_short() -> None:
    sessions, errors = both(haystack(turns(), [], turns(), haystack_session_ids=["a"], haystack_dates=DATES[:1]))
    assert errors == []
    assert [(s.session_id, s.rounds[0].time is None) for s in sessions] == [("a", False), ("session_3", True)]


def test_an_id_that_comes_again_is_kept_apart() -> None:
    sessions, _ = both(haystack(turns(), turns(), turns(), turns(), haystack_session_ids=["a", "a", "a-2", "a"]))
    assert [s.session_id for s in sessions] == ["a", "a-3", "a-2", "a-4"]


@given(
    st.lists(st.sampled_from(["a", "a-2", "a-3", "session_1", "session_2", None, "", 7, 1.5]), max_size=12),
    st.integers(0, 15),
)
def test_no_two_sessions_have_one_name(ids: list[Any], count: int) -> None:
    names = _names(ids, count)
    assert len(names) == len(set(names)) == count
    for number, name in enumerate(ids[:count]):
        if isinstance(name, str) and name and name not in ids[:number]:
            assert names[number] == name


@pytest.mark.parametrize("dates", ["[secret", "(" * 100_000, "['x']" * 100_000, "{'secret': 1}", 5, "__import__('os')"])
def test_dates_that_are_no_list_are_an_error_and_the_sessions_go_in(dates: Any) -> None:
    sessions, errors = both(haystack(turns(), haystack_dates=dates))
    assert [s.rounds[0].time for s in sessions] == [None]
    assert [e.code for e in errors] == ["wrong-type"]
    assert "secret" not in str(errors[0])


def test_a_bad_session_is_an_error_and_the_others_go_in() -> None:
    bad_turn = [*turns("x"), "secret"]
    record = haystack("secret", turns("a"), [{"role": "user", "content": 5}], bad_turn, haystack_dates=["secret"] * 4)
    sessions, errors = both(record)
    assert [s.session_id for s in sessions] == ["session_2", "session_4"]
    assert [e.code for e in errors] == ["wrong-type"] * 3
    assert str(errors[0]).startswith("session 1: ")
    assert not any("secret" in str(e) for e in errors)
    assert sessions[0].rounds[0].metadata == {"doubts": {"bad-time": 1}}


def test_whose_it_is() -> None:
    sessions, _ = both(haystack(turns(), haystack_session_ids=["s"]), Origin("eve", None, "file"))
    assert [(s.user_id, s.session_id) for s in sessions] == [("eve", "q1/s")]


@pytest.mark.parametrize("record", [{}, haystack(), haystack(turns(), question_id=None), haystack(turns(), question_id=[])])
def test_what_cannot_be_read_is_a_typed_error(record: Any) -> None:
    with pytest.raises(SourceError):
        list(read(record, ORIGIN))


def test_a_file_of_questions(tmp_path: Path, read: Callable[..., Any]) -> None:
    path = tmp_path / "longmemeval_s.json"
    path.write_text(json.dumps([haystack(turns(), question_id=f"q{n}") for n in range(3)]))
    got = read(path)
    assert (got.survey.format, got.errors) == ("longmemeval", [])
    assert [s.user_id for s in got.sessions] == ["q0", "q1", "q2"]


def test_matches() -> None:
    assert matches(haystack())
    assert not matches({"haystack_sessions": {}})
    assert not matches([])
