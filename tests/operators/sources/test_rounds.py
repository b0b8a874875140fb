from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from operators.errors import SourceError
from operators.records import Image, Message, Session
from operators.sources.rounds import Group, Turn, by_names, by_pairs, by_roles, make_session

ROLES = st.lists(st.sampled_from(["user", "assistant", "system", "tool", "other"]), max_size=30)


def turn(text: str, role: str = "user", images: int = 0) -> Turn:
    return Turn(Message(role, role, text), tuple(Image(0, f"{n}.png") for n in range(images)))  # type: ignore[arg-type]


@given(ROLES)
def test_roles_lose_no_message_and_keep_the_order(roles: list[str]) -> None:
    groups = by_roles(roles)  # type: ignore[arg-type]
    assert [index for group in groups for index in group] == list(range(len(roles)))
    assert all(group for group in groups)


@given(ROLES)
def test_every_round_but_a_lone_first_one_has_its_question_first(roles: list[str]) -> None:
    groups = by_roles(roles)  # type: ignore[arg-type]
    for group in groups[1:]:
        assert roles[group[0]] == "user"
    for group in groups:
        asked = [roles[index] for index in group]
        while asked and asked[0] != "user":
            asked.pop(0)
        while asked and asked[0] == "user":
            asked.pop(0)
        assert "user" not in asked


@given(st.lists(st.none() | st.sampled_from(["a", "b", "ç🎈"]), min_size=1, max_size=30).filter(any))
def test_names_lose_no_message_and_keep_the_order_within_a_round(names: list[str | None]) -> None:
    groups = by_names(names)
    assert sorted(index for _, group in groups for index in group) == list(range(len(names)))
    assert all(group == sorted(group) for _, group in groups)
    assert len({name for name, _ in groups}) == len(groups)
    for name, group in groups:
        assert all(names[index] in (None, name) for index in group)


@given(st.integers(0, 50))
def test_pairs_lose_no_turn(count: int) -> None:
    groups = by_pairs(count)
    assert [index for group in groups for index in group] == list(range(count))
    assert all(len(group) == 2 for group in groups[:-1])


@pytest.mark.parametrize(
    ("roles", "expected"),
    [
        ("uaua", [[0, 1], [2, 3]]),
        ("suaua", [[0, 1, 2], [3, 4]]),
        ("auau", [[0, 1, 2], [3]]),
        ("aa", [[0, 1]]),
        ("uuatau", [[0, 1, 2, 3, 4], [5]]),
        ("uasu", [[0, 1, 2], [3]]),
        ("", []),
    ],
)
def test_rounds_by_roles(roles: str, expected: list[list[int]]) -> None:
    names = {"u": "user", "a": "assistant", "s": "system", "t": "tool"}
    assert by_roles([names[role] for role in roles]) == expected  # type: ignore[misc]


def test_rounds_by_names() -> None:
    assert by_names([None, "b", None, "a", "b"]) == [("b", [0, 1, 2, 4]), ("a", [3])]
    with pytest.raises(ValueError, match="no message"):
        by_names([None])


def test_pictures_point_at_their_message() -> None:
    groups = [Group("r", (turn("a"), turn("", images=2), turn("b", images=1)))]
    (session,) = make_session("u", "s", groups, None, {})
    assert isinstance(session, Session)
    assert [image.message for image in session.rounds[0].images] == [1, 1, 2]


def test_a_round_that_cannot_go_in_is_named_and_the_others_keep_their_places() -> None:
    groups = [Group("a", (turn(" "), turn("\n"))), Group("b", (turn("hi"),)), Group("b", (turn("again"),))]
    *errors, session = make_session("u", "s", groups, None, {})
    assert [(error.code, error.round_id) for error in errors if isinstance(error, SourceError)] == [
        ("no-messages", "a"),
        ("duplicate-round", "b"),
    ]
    assert isinstance(session, Session)
    assert [(record.round_id, record.position) for record in session.rounds] == [("b", 1)]


def test_an_empty_message_stays_beside_one_that_says_something() -> None:
    (session,) = make_session("u", "s", [Group("a", (turn(""), turn("hi")))], None, {})
    assert isinstance(session, Session)
    assert [message.text for message in session.rounds[0].messages] == ["", "hi"]


def test_a_session_without_any_word_is_refused() -> None:
    with pytest.raises(SourceError) as caught:
        list(make_session("u", "s", [Group("a", (turn(""),))], None, {}))
    assert caught.value.code == "no-messages"
