"""Sessions whose messages lie in several files are what one file of all the messages would have told."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from operators.records import Round, Session
from operators.sources import openai_jsonl
from operators.sources.origin import Origin
from operators.sources.rejoin import rejoined
from operators.sources.rows import Gathering

ORIGIN = Origin(None, None, "stem")


def told(rows: list[dict[str, Any]]) -> tuple[Round, ...]:
    """The rounds that one file with these rows tells."""
    with Gathering(ORIGIN, None, 1 << 20) as gathering:
        for line, row in enumerate(rows, start=1):
            gathering.add(line, {"user_id": "ada", "session_id": "S", **row})
        ((_, record),) = gathering.sessions()
    (session,) = openai_jsonl.read(record, ORIGIN)
    assert isinstance(session, Session)
    return session.rounds


def row(minute: int | None, role: str = "user", text: str | None = None, **more: Any) -> dict[str, Any]:
    time = {} if minute is None else {"time": f"2024-03-01T10:{minute:02d}:00Z"}
    return {"role": role, "text": text or f"{role} {minute}", **time, **more}


def together(*parts: list[dict[str, Any]]) -> tuple[Round, ...]:
    found = {f"part-{number}.csv": told(part) for number, part in enumerate(parts) if part}
    return tuple(record for record, _ in rejoined("ada", "S", found))


def said(rounds: tuple[Round, ...]) -> list[str]:
    return [message.text for record in rounds for message in record.messages]


ROLES = st.lists(st.sampled_from(["user", "assistant", "system"]), min_size=2, max_size=20)


@given(ROLES, st.data())
def test_however_timed_messages_are_dealt_out_the_session_is_the_same(roles: list[str], data: st.DataObject) -> None:
    rows = [row(minute, role) for minute, role in enumerate(roles)]
    parts: list[list[dict[str, Any]]] = [[], [], []]
    for one in rows:
        parts[data.draw(st.integers(0, 2))].append(one)
    assert together(*data.draw(st.permutations(parts))) == told(rows)


@given(ROLES, st.data())
def test_untimed_messages_follow_file_after_file(roles: list[str], data: st.DataObject) -> None:
    rows = [row(None, role, f"{role} {number}") for number, role in enumerate(roles)]
    cut = data.draw(st.integers(1, len(rows) - 1))
    assert together(rows[:cut], rows[cut:]) == told(rows)


@given(ROLES, st.data())
def test_an_untimed_file_that_begins_with_the_others_is_the_session_grown(roles: list[str], data: st.DataObject) -> None:
    rows = [row(None, role, "the same words") for role in roles]
    cut = data.draw(st.integers(1, len(rows)))
    if cut >= 4:
        assert together(rows[:cut], rows) == told(rows) == together(rows, rows[:cut])
    else:  # so little may be how every day begins
        assert together(rows[:cut], rows) == told([*rows[:cut], *rows])


def test_a_message_that_two_files_tell_is_one() -> None:
    first, second, third = row(1), row(2, "assistant"), row(3)
    assert together([first, second], [second, third]) == told([first, second, third])
    twice = [row(1, text="ok"), row(1, text="ok")]
    assert together([*twice, second], [*twice, third]) == told([*twice, second, third])
    elsewhere = {**first, "time": "2024-03-01T11:01:00+01:00"}
    assert together([first, second], [elsewhere, third]) == told([first, second, third])


def test_what_may_be_another_message_is_kept() -> None:
    day = {"time": "2024-03-01"}
    assert said(together([{**row(None, text="ok"), **day}], [{**row(None, text="ok"), **day}])) == ["ok", "ok"]
    assert said(together([row(None, text="gm")], [row(None, text="gm"), row(None, text="hello")])) == ["gm", "gm", "hello"]
    monday, tuesday = row(1, text="mon", id="1"), row(2, text="tue", id="1")
    assert said(together([monday], [tuesday])) == ["mon", "tue"]
    assert said(together([row(None, text="mon", id="1")], [row(None, text="tue", id="1")])) == ["mon", "tue"]


def test_a_message_without_time_stands_with_the_one_before_it_in_its_file() -> None:
    users = [row(1), {**row(None, text="?"), "time": "n/a"}, row(5)]
    answers = [row(2, "assistant"), row(6, "assistant")]
    assert said(together(users, answers)) == ["user 1", "?", "assistant 2", "user 5", "assistant 6"]


def test_files_stand_in_their_natural_order() -> None:
    parts = {f"chat-{number}.csv": told([row(None, text=str(number))]) for number in (10, 2, 1)}
    assert said(tuple(record for record, _ in rejoined("ada", "S", parts))) == ["1", "2", "10"]


def test_a_round_names_every_file_that_it_is_from() -> None:
    parts = {"a.csv": told([row(1), row(3)]), "b.csv": told([row(2, "assistant"), row(5)])}
    assert [source for _, source in rejoined("ada", "S", parts)] == ["a.csv\nb.csv", "a.csv\nb.csv"]


def test_rounds_without_names_beside_rounds_with_names_stay_as_they_were_cut() -> None:
    rounds = together([row(1), row(2, "assistant")], [row(3), row(4, "assistant")], [row(5, round="x")])
    assert [[message.text for message in record.messages] for record in rounds] == [
        ["user 1", "assistant 2"],
        ["user 3", "assistant 4"],
        ["user 5"],
    ]
    assert len({record.round_id for record in rounds}) == 3


def test_rounds_with_names_are_joined_by_name() -> None:
    rounds = together(
        [row(1, round="a"), row(3, round="b")], [row(2, "assistant", round="a"), row(4, "assistant", round="b")]
    )
    assert [(record.round_id, [message.text for message in record.messages]) for record in rounds] == [
        ("a", ["user 1", "assistant 2"]),
        ("b", ["user 3", "assistant 4"]),
    ]


def test_a_group_chat_is_cut_into_pairs_anew() -> None:
    rows = [row(minute, "user", speaker=name) for minute, name in enumerate(["Ann", "Bob", "Cid"] * 3)]
    assert together(rows[:3], rows[3:]) == told(rows)


def test_doubts_and_pictures_stay_with_their_messages() -> None:
    rows = [
        row(1, image="a.png"),
        row(2, "assistant"),
        {**row(None), "text": "late", "time": "when?"},
        row(4, image="b.png"),
    ]
    rounds = together(rows[:1], rows[1:])
    assert [(record.messages, record.images) for record in rounds] == [(one.messages, one.images) for one in told(rows)]
    # A doubt is known of a round, not of a message: it stays with the round that has the first of them.
    assert sum(record.metadata.get("doubts", {}).get("bad-time", 0) for record in rounds) == 1
    assert [image.reference for record in rounds for image in record.images] == ["a.png", "b.png"]
