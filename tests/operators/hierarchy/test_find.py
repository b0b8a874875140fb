"""SEMANTICMATCH and EVENTLOCATE on invented histories."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta
from typing import Any

import numpy as np
import pytest
from histories import BEGINS, a_round, tables_of

from operators.encode.text import load_text_encoder
from operators.errors import UsageError
from operators.extract.dates import dates_in
from operators.hierarchy.build import hierarchy_of
from operators.hierarchy.find import Located, Reading, UserHierarchy
from operators.hierarchy.values import HierarchyValues
from operators.records import Round
from operators.retrieve.words import query_words, words
from operators.units import embedding_texts

MINILM = load_text_encoder("minilm")


def written(text: str, said: date) -> list[tuple[int, date]]:
    return [(found.start, day) for found in dates_in(text) if (day := found.on(None, said)[0]) is not None]


def opened(rounds: Sequence[Round], user: str = "u") -> UserHierarchy:
    table, units, _ = tables_of(rounds, user=user)
    seen = embedding_texts(units).to_pylist()
    vectors = MINILM.encode([text or "" for text in seen]) * np.array([[text is not None] for text in seen], np.float32)
    made = hierarchy_of(table, units, vectors, HierarchyValues(), made_of="m")
    return UserHierarchy(made, table, units, vectors.astype(np.float16), Reading(words, query_words, written))


def day(number: int, hour: int = 9) -> datetime:
    return datetime(2026, 3, number, hour, tzinfo=UTC)


STORY = [
    a_round(0, "I planted basil and tomatoes on the balcony.", "Water them in the evening.", session="A", time=day(2)),
    a_round(1, "The tomatoes have flowers already!", "Shake them a little.", session="A", time=day(2, 10)),
    a_round(2, "Just back from the hospital, they put a cast on my wrist.", "Oh no!", session="B", time=day(5), offset=600),
    a_round(3, "The doctor wants to see me again in two weeks.", "Noted.", session="B", time=day(5, 10), offset=600),
    a_round(4, "Yesterday I visited my grandmother in Porto.", "How is she?", session="C", time=day(9)),
    a_round(5, "Our flight to Oslo leaves on 2 April 2026 at seven.", "Safe travels!", session="D", time=day(12)),
    a_round(6, "I finally sold my old car.", "How much for?", session="E", time=day(16), precision="day"),
    a_round(7, "Did the recital go well?", "You told me the violin recital went well.", session="F"),
]


@pytest.fixture(scope="module")
def story() -> UserHierarchy:
    return opened(STORY)


def located(story: UserHierarchy, query: str, **more: Any) -> list[Located]:
    return story.locate(query, MINILM.encode([query])[0], **more)


@pytest.mark.parametrize(
    ("query", "order", "first", "last"),
    [
        ("when I went to the hospital", 2, "2026-03-05", "2026-03-05"),
        ("when did they put a cast on my wrist?", 2, "2026-03-05", "2026-03-05"),
        ("the day I was in hospital for my wrist", 2, "2026-03-05", "2026-03-05"),
        ("when did I visit my grandmother?", 4, "2026-03-08", "2026-03-08"),
        ("visiting grandmother in Porto", 4, "2026-03-08", "2026-03-08"),
        ("when does the flight to Oslo leave?", 5, "2026-04-02", "2026-04-02"),
        ("when did I sell my car?", 6, "2026-03-16", "2026-03-16"),
        ("when did I plant the basil?", 0, "2026-03-02", "2026-03-02"),
    ],
)
def test_events_are_located_however_they_are_asked_for(
    story: UserHierarchy, query: str, order: int, first: str, last: str
) -> None:
    found = located(story, query)[0]
    assert found.rounds[0].order == found.event.rounds[0].order == order
    assert (str(found.first_day), str(found.last_day)) == (first, last)
    assert 0.4 <= found.confidence <= 1 and found.event in found.episode.children


def test_an_interval_is_utc_and_the_writers_day(story: UserHierarchy) -> None:
    hospital = located(story, "when I went to the hospital")[0]
    assert (hospital.start, hospital.end, hospital.precision, hospital.told) == (day(5), day(5), "minute", False)
    porto = located(story, "when did I visit my grandmother?")[0]
    assert porto.told and porto.start == datetime(2026, 3, 8, tzinfo=UTC)
    assert porto.end is not None and porto.end - porto.start == timedelta(days=1, microseconds=-1)
    late = opened([a_round(0, "I broke my arm today.", time=datetime(2026, 3, 1, 20, tzinfo=UTC), offset=540)])
    arm = located(late, "when I broke my arm")[0]
    assert (arm.first_day, arm.start) == (date(2026, 3, 2), datetime(2026, 3, 1, 15, tzinfo=UTC))


def test_an_event_without_a_time_is_found_and_said_to_have_none(story: UserHierarchy) -> None:
    found = located(story, "the violin recital")[0]
    assert (found.start, found.first_day, found.precision) == (None, None, "unknown")
    assert found.to_dict()["start"] is None


@pytest.mark.parametrize(
    "query", ["when did I climb Mount Everest?", "when was the divorce?", "when I bought a submarine", "our dog's birthday"]
)
def test_what_nobody_told_is_not_located(story: UserHierarchy, query: str) -> None:
    assert located(story, query, k=5) == []


def test_each_interval_is_of_another_episode(story: UserHierarchy) -> None:
    found = located(story, "the tomatoes", k=9, least=0.0)
    assert len({each.episode.node for each in found}) == len(found) == len(story.episodes)
    assert [each.confidence for each in found] == sorted((each.confidence for each in found), reverse=True)


def test_a_match_ranks_all_levels_or_those_asked_for(story: UserHierarchy) -> None:
    query = "growing tomatoes"
    vector = MINILM.encode([query])[0]
    found = story.match(query, vector, k=5)
    assert {"tomatoes" in each.node.description for each in found[:3]} == {True}
    assert {each.node.level for each in found[:4]} >= {"topic", "episode", "event"}
    assert [each.score for each in found] == sorted((each.score for each in found), reverse=True)
    episodes = story.match(query, vector, k=99, levels=["episode"])
    assert {each.node.level for each in episodes} == {"episode"} and len(episodes) == len(story.episodes)


@pytest.mark.parametrize(
    "wrong",
    [{"query": " "}, {"k": 0}, {"k": True}, {"weight": 1.5}, {"levels": ["week"]}, {"levels": "topic"}, {"levels": []}],
)
def test_what_cannot_be_asked_is_refused(story: UserHierarchy, wrong: dict[str, Any]) -> None:
    asked: dict[str, Any] = {"query": "tomatoes", "vector": MINILM.encode(["tomatoes"])[0], **wrong}
    with pytest.raises(UsageError):
        story.match(asked.pop("query"), asked.pop("vector"), **asked)


def test_a_vector_of_another_encoder_is_refused(story: UserHierarchy) -> None:
    with pytest.raises(UsageError, match="shape"):
        story.match("tomatoes", np.ones(3, np.float32))


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_a_vector_without_direction_locates_nothing_and_is_refused(story: UserHierarchy, value: float) -> None:
    with pytest.raises(UsageError, match="not finite"):
        story.locate("the hospital", np.full(384, value, np.float32))


def test_a_history_that_says_nothing_can_be_asked() -> None:
    silent = opened([a_round(0, "", captions=[None], time=BEGINS)])
    assert located(silent, "when I went to the hospital") == []
    assert [each.score for each in silent.match("hospital", MINILM.encode(["hospital"])[0])] == [0, 0, 0]


def test_words_of_a_speaker_count() -> None:
    talk = [
        a_round(0, "I baked a cake.", speaker="Ann", time=day(1)),
        a_round(1, "I baked a cake.", speaker="Bo", time=day(2)),
        a_round(2, "It rained.", speaker="Bo", time=day(3)),
    ]
    assert located(opened(talk), "when did Bo bake a cake?")[0].first_day == date(2026, 3, 2)
