"""The planning context: what is shown of memory, ranked by meaning and words."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from shown import ACTIVITY, RECEIPTS, TOOLS, WEIGHT

from operators.ask.context import Context, ShownEpisode, make_context, relevance, token_similarity
from operators.ask.values import ContextValues
from operators.retrieve.words import query_words

TABLES = (ACTIVITY, RECEIPTS, WEIGHT)
EPISODES = (
    ShownEpisode("e1", "trip", "A trip to the sea with Anna.", 3),
    ShownEpisode("e2", "surgery", "The knee surgery went well.", 2),
)
WORDS = st.lists(st.sampled_from(["a", "b", "c", "d", "e"]))


def made(query: str, values: ContextValues, tools: tuple[str, ...] = TOOLS) -> Context:
    tables, episodes = np.eye(5, dtype=np.float32)[:3], np.eye(5, dtype=np.float32)[3:]
    return make_context(
        query, np.eye(5, dtype=np.float32)[2], TABLES, tables, EPISODES, episodes, query_words, tools, values
    )


def test_the_score_is_the_paper_s() -> None:
    assert relevance(0.8, 0.5, 0.25) == pytest.approx(0.25 * 0.8 + 0.75 * 0.5)


def test_the_nearest_in_meaning_comes_first_where_only_meaning_counts() -> None:
    assert made("steps", ContextValues(weight=1.0)).tables[0] is WEIGHT


def test_the_one_that_says_the_words_comes_first_where_only_words_count() -> None:
    shown = made("how many steps and how much sleep?", ContextValues(weight=0.0))
    assert shown.tables[0] is ACTIVITY
    assert shown.scores[0] > shown.scores[1]
    assert made("the knee surgery", ContextValues(weight=0.0)).episodes[0] is EPISODES[1]


def test_only_so_many_are_shown_and_without_a_bound_all() -> None:
    few = made("steps", ContextValues(tables=1, episodes=1))
    assert (len(few.tables), len(few.episodes), len(few.scores)) == (1, 1, 2)
    every = made("steps", ContextValues(tables=None, episodes=None))
    assert (len(every.tables), len(every.episodes)) == (3, 2)


def test_tools_of_tables_need_tables() -> None:
    none = np.zeros((0, 5), np.float32)
    shown = make_context(
        "q", np.eye(5, dtype=np.float32)[0], (), none, (), none, query_words, (*TOOLS, "query"), ContextValues()
    )
    assert shown.tools == ("semantic_match", "event_locate")
    assert not shown.tables


def test_a_table_tells_name_description_columns_and_samples() -> None:
    text = RECEIPTS.text
    for told in ("receipts", "20 records of date, merchant, total", "merchant", "CORNER BAKERY", "12.50 EUR"):
        assert told in text


@given(WORDS, WORDS)
def test_the_words_in_common_are_a_share(query: list[str], text: list[str]) -> None:
    share = token_similarity(query, text)
    assert 0.0 <= share <= 1.0
    assert (share == 1.0) == (bool(query) and set(query) <= set(text))
