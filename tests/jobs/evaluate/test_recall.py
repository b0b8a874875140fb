"""Evidence recall: what counts of a result, and each metric on results whose answer is plain."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobs.evaluate.questions import Question
from jobs.evaluate.recall import METRICS, Returned, evidence_recall, places_of, returned, scores
from operators.retrieve.assemble import runs_of
from operators.retrieve.result import Hit, SearchResult

ROWS = [
    {"round_id": f"r{order}", "session_id": f"s{order // 2}", "order": order, "messages": [{"message_id": f"m{order}"}]}
    for order in (0, 1, 5)
]


def result(orders: Sequence[int], runs: list[list[int]]) -> SearchResult:
    hits = [Hit(rank, 1 / rank, "s", f"r{order}", order, None, [], [], {}) for rank, order in enumerate(orders, start=1)]
    return SearchResult(1, "t", "u", "where?", "text_to_text", hits, runs, pl.DataFrame())


def rounds(*orders: int) -> frozenset[frozenset[int]]:
    return frozenset(frozenset({order}) for order in orders)


def ask(*evidence: str, by_session: bool = False) -> Question:
    return Question("u", "where?", frozenset(evidence), "1", by_session=by_session)


# --- what counts ----------------------------------------------------------------------------------------------------


def test_neighbours_of_the_first_twelve_count() -> None:
    found = returned(result([8, 2], [[1, 2, 3], [7, 8, 9]]), 1)
    assert found == Returned((8, 2), (1, 2, 3, 7, 8, 9))


def test_later_hits_and_what_stands_around_them_do_not() -> None:
    orders = [10 * number for number in range(15)]
    found = returned(result(orders, runs_of(orders, 1, 1000)), 1)
    assert found.first == tuple(orders[:12])
    assert found.around == tuple(sorted(order + step for order in orders[:12] for step in (-1, 0, 1) if order + step >= 0))


def test_what_the_route_did_not_return_does_not_count() -> None:
    assert returned(result([4, 7, 8], [[4], [7, 8]]), 1).around == (4, 7, 8)
    assert returned(result([4, 7, 8], [[4], [7, 8]]), 0).around == (4, 7, 8)


@given(st.lists(st.integers(0, 40), unique=True, max_size=30), st.integers(0, 3))
def test_the_set_is_within_the_first_twelve_and_their_neighbours(orders: list[int], neighbours: int) -> None:
    found = returned(result(orders, runs_of(orders, neighbours, 41)), neighbours)
    near = {order + step for order in orders[:12] for step in range(-neighbours, neighbours + 1)} & set(range(41))
    assert set(found.around) == near
    assert list(found.around) == sorted(found.around)


# --- metrics --------------------------------------------------------------------------------------------------------


def test_metrics_of_one_question() -> None:
    found = Returned(tuple(range(100, 112)), tuple(range(99, 113)))
    assert dict(zip(METRICS, scores(rounds(102, 111, 112, 7), found), strict=True)) == {
        "recall@5": 0.25,
        "recall@12": 0.5,
        "recall@12+n": 0.75,
        "hit@12": 1.0,
        "mrr": pytest.approx(1 / 3),
    }


def test_nothing_found_scores_nothing() -> None:
    assert scores(rounds(1), Returned((), ())) == (0.0,) * 5
    assert scores(rounds(1), Returned((2,), (1, 2))) == (0.0, 0.0, 1.0, 0.0, 0.0)


def test_a_session_is_found_with_any_of_its_rounds() -> None:
    wanted = frozenset({frozenset({1, 2, 3}), frozenset({8, 9})})
    assert scores(wanted, Returned((3, 2), (1, 2, 3))) == (0.5, 0.5, 0.5, 1.0, 1.0)


# --- where it stands ------------------------------------------------------------------------------------------------


def test_evidence_is_by_round_by_message_and_by_session() -> None:
    places = places_of(ROWS)
    assert places.wanted(ask("r0", "m0", "r5", "gone")) == rounds(0, 5)
    assert places.wanted(ask("s0", "s2", by_session=True)) == {frozenset({0, 1}), frozenset({5})}
    assert places.wanted(ask("s0")) == frozenset()


def test_rounds_are_named_by_their_messages_or_by_themselves() -> None:
    rows = [
        {"round_id": "a", "session_id": "s", "order": 0, "messages": [{"message_id": "D1:1"}, {"message_id": "D1:2"}]},
        {"round_id": "b", "session_id": "s", "order": 1, "messages": [{"message_id": "D1:3"}, {"message_id": None}]},
        {"round_id": "c", "session_id": "s", "order": 2, "messages": []},
    ]
    assert places_of(rows).names == {0: "D1:1+D1:2", 1: "b", 2: "c"}


# --- one pair of figures --------------------------------------------------------------------------------------------


def test_recall_is_the_mean_share_of_evidence_rounds() -> None:
    asked = [ask("r0", "m0"), ask("r0", "r1"), ask("r5"), ask("gone")]
    found = evidence_recall(lambda *_: result([0, 4], [[0], [4, 5]]), asked, lambda _: ROWS)
    assert found.questions == 3
    assert found.at_k == pytest.approx((1 + 0.5 + 0) / 3)
    assert found.with_neighbours == pytest.approx((1 + 0.5 + 1) / 3)


def test_no_questions_have_no_recall() -> None:
    assert evidence_recall(lambda *_: result([], []), [], lambda _: ROWS).questions == 0
