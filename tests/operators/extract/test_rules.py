from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from operators.extract.page import PictureText, TextLine
from operators.extract.rules import RulesExtractor, observe_round
from operators.records import OBSERVATIONS, ROUNDS, Image, Instant, Message, Role, Round, round_rows

NOON = Instant(datetime(2024, 5, 8, 12, tzinfo=UTC), 0, "minute")
SHOT = "ab" * 32
PICTURE = PictureText(
    400,
    300,
    (
        TextLine("Weight", (20, 20, 100, 40), 0.99),
        TextLine("72.4 kg", (20, 50, 120, 70), 0.99),
        TextLine("Steps", (220, 20, 280, 40), 0.99),
        TextLine("8,412", (220, 50, 290, 70), 0.99),
        TextLine("6 May 2024", (20, 250, 140, 270), 0.99),
    ),
)


def said(text: str, role: Role = "user", speaker: str | None = None) -> Message:
    return Message(role, speaker or role, text)


def table(*rounds: tuple[Message, ...], images: tuple[Image, ...] = (), time: Instant | None = NOON) -> pa.Table:
    made = [Round("s", f"r{at}", at, messages, images, time) for at, messages in enumerate(rounds)]
    rows = [{**row, "order": at} for at, row in enumerate(round_rows("t", "u", made, "test"))]
    return pa.Table.from_pylist(rows, ROUNDS)


def observed(rounds: pa.Table, pictures: dict[str, PictureText] | None = None) -> list[dict[str, Any]]:
    found = RulesExtractor().observe(rounds, pictures or {})
    assert found.schema.equals(OBSERVATIONS)
    return list(found.to_pylist())


def told(*messages: Message) -> list[tuple[str, str, float | None, str]]:
    return [(row["attribute"], row["value"], row["number"], row["speaker"]) for row in observed(table(messages))]


def test_an_observation_points_at_its_text() -> None:
    text = "Morning! I slept 6 h 12 min and paid $3.45 at Blue Bottle."
    rows = observed(table((said("hi there"), said(text))))
    assert [(row["attribute"], row["value"]) for row in rows] == [
        ("sleep", "6 h 12 min"), ("paid", "$3.45"), ("merchant", "Blue Bottle"),
    ]  # fmt: skip
    for row in rows:
        assert text[row["start"] : row["end"]] == row["value"]
        assert (row["message"], row["image"], row["media"], row["box"]) == (1, None, None, None)
        assert (row["tenant_id"], row["user_id"], row["session_id"], row["round_id"], row["order"]) == (
            "t",
            "u",
            "s",
            "r0",
            0,
        )
        assert row["named"] and row["corrects"] is None and row["corrected_by"] is None
    assert len({row["observation_id"] for row in rows}) == 3


def test_places_are_characters_of_the_text_as_it_stands() -> None:
    text = "\U0001f600\U0001f600 caf\u00e9 \u2014 weight: \uff17\uff12.\uff14\u00a0kg"
    (row,) = observed(table((said(text),)))
    assert row["value"] == text[row["start"] : row["end"]] == "\uff17\uff12.\uff14\u00a0kg"
    assert (row["number"], row["unit"]) == (72.4, "kg")


@pytest.mark.parametrize("role", ["assistant", "system", "tool"])
def test_what_is_repeated_to_the_user_counts_once(role: Role) -> None:
    assert told(said("I slept 6 h"), said("You slept 6 h. I slept 6 h. weight: 70 kg", role)) == [
        ("sleep", "6 h", 21600, "user")
    ]
    assert told(said("Sleep: 8 h\nSteps: 10,000", role)) == []


def test_an_assistant_with_a_name_is_still_an_assistant() -> None:
    assert told(said("I slept 6 h"), said("weight: 70 kg", "assistant", "assistant")) == [("sleep", "6 h", 21600, "user")]


def test_people_who_talk_by_name_all_tell() -> None:
    for role in ("assistant", "other"):
        assert told(said("I slept 6 h", "user", "Anna"), said("I slept 7 h", role, "Bob")) == [  # type: ignore[arg-type]
            ("sleep", "6 h", 21600, "Anna"),
            ("sleep", "7 h", 25200, "Bob"),
        ]


def test_a_later_message_of_the_round_corrects() -> None:
    rows = observed(table((said("I slept 6 h and walked 3 km"), said("Noted.", "assistant"), said("sorry, it was 7 h"))))
    assert sorted((row["attribute"], row["number"]) for row in rows) == [("sleep", 25200), ("walking distance", 3000)]
    assert {row["message"] for row in rows if row["attribute"] == "sleep"} == {2}
    assert {row["value"] for row in rows if row["attribute"] == "sleep"} == {"7 h"}


def test_in_a_group_each_corrects_themselves() -> None:
    found = told(
        said("I slept 6 h", "other", "Anna"), said("I slept 7 h", "other", "Bob"), said("sorry, it was 8 h", "other", "Anna")
    )
    assert sorted((number, speaker) for _, _, number, speaker in found) == [(25200, "Bob"), (28800, "Anna")]


def test_the_assistant_corrects_nothing() -> None:
    assert told(said("I slept 6 h"), said("Sorry, it was 7 h", "assistant")) == [("sleep", "6 h", 21600, "user")]


def test_each_message_has_records_of_its_own() -> None:
    rows = observed(table((said("Mon: slept 6 h\nTue: slept 7 h"), said("Wed: slept 8 h"))))
    days = [(row["record"], row["parsed"]) for row in rows if row["attribute"] == "date"]
    assert days == [(0, "2024-05-06"), (1, "2024-05-07"), (2, "2024-05-08")]


def test_days_are_of_the_writers_clock() -> None:
    late = Instant(datetime(2024, 5, 8, 23, 30, tzinfo=UTC), 120, "minute")  # half past one on the 9th there
    rows = observed(table((said("yesterday I slept 6 h"),), time=late))
    assert [row["parsed"] for row in rows if row["attribute"] == "date"] == ["2024-05-08"]
    unknown = observed(table((said("yesterday I slept 6 h"),), time=None))
    assert [(row["parsed"], row["doubt"]) for row in unknown if row["attribute"] == "date"] == [(None, "no-day")]


@pytest.mark.parametrize("moment", [datetime.min, datetime.max])
@pytest.mark.parametrize("text", ["yesterday I slept 6 h", "Sunday: slept 6 h", "born: Feb 29", "seen on: 3/4/2018"])
def test_rounds_at_the_ends_of_time(moment: datetime, text: str) -> None:
    observed(table((said(text),), time=Instant(moment.replace(tzinfo=UTC), 0, "second")))


def picture_of(message: int, media: str | None = SHOT) -> Image:
    return Image(message, "shot.png", media=media, format="png", width=400, height=300)


def test_a_picture_tells_with_its_message() -> None:
    rows = observed(table((said("I slept 6 h"), said("look")), images=(picture_of(1),)), {SHOT: PICTURE})
    spoken, shown = rows[:1], rows[1:]
    assert [(row["attribute"], row["value"], row["image"]) for row in spoken] == [("sleep", "6 h", None)]
    assert {(row["attribute"].lower(), row["value"]) for row in shown} == {
        ("weight", "72.4 kg"), ("steps", "8,412"), ("date", "6 May 2024"),
    }  # fmt: skip
    for row in shown:
        assert (row["message"], row["image"], row["media"]) == (1, 0, SHOT)
        assert row["start"] is None and row["end"] is None
        left, top, right, bottom = row["box"]
        assert 0 <= left < right <= PICTURE.width and 0 <= top < bottom <= PICTURE.height
        assert row["record"] != spoken[0]["record"]
    (day,) = [row["parsed"] for row in shown if row["attribute"] == "date"]
    assert day == "2024-05-06"


def test_a_picture_sent_without_a_word_is_read() -> None:
    rows = observed(table((said(""),), images=(picture_of(0),)), {SHOT: PICTURE})
    assert {row["value"] for row in rows} >= {"72.4 kg", "8,412"}


def test_pictures_that_are_not_at_hand_or_hold_nothing() -> None:
    rounds = table((said("look"),), images=(picture_of(0), picture_of(0, None)))
    assert observed(rounds) == []
    assert observed(rounds, {SHOT: PictureText(400, 300, ())}) == []


def test_rounds_keep_their_order_and_are_each_by_themselves() -> None:
    rounds = table((said("I slept 6 h"),), (said("nothing"),), (said("I slept 7 h"),))
    rows = observed(rounds)
    assert [(row["round_id"], row["number"]) for row in rows] == [("r0", 21600), ("r2", 25200)]
    apart = [row for told in rounds.to_pylist() for row in observe_round(told, {})]
    assert [row["observation_id"] for row in apart] == [row["observation_id"] for row in rows]


def test_no_rounds() -> None:
    assert observed(table()) == []


PIECES = [
    "I slept",
    "6 h",
    "sorry, it was",
    "7 h",
    "weight:",
    "72 kg",
    "\n",
    ". ",
    "not",
    "| a | b |",
    "|---|---|",
    "yesterday",
]
TEXTS = st.lists(st.sampled_from(PIECES) | st.text(max_size=3), max_size=10).map(" ".join)
ROLES = st.sampled_from(["user", "assistant", "other", "system", "tool"])


@settings(max_examples=100, deadline=None)
@given(st.lists(st.builds(Message, ROLES, st.sampled_from(["user", "Anna", "assistant"]), TEXTS), max_size=4))
def test_any_round(messages: list[Message]) -> None:
    rounds = table(tuple(messages))
    rows = observed(rounds)
    assert rows == observed(rounds)
    for row in rows:
        assert messages[row["message"]].text[row["start"] : row["end"]] == row["value"] != ""
        assert messages[row["message"]].speaker == row["speaker"]
        assert row["attribute"] or row["corrects"] == ""
    assert len({row["observation_id"] for row in rows}) == len(rows)
