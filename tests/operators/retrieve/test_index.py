"""One user's search against naive restatements over every unit; what each switch changes; odd users; many threads."""

from __future__ import annotations

import statistics
import threading
import time
from collections import defaultdict
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pytest
from dialogues import STUB, Said, changed, index_of, picture, said, told_of
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from operators.retrieve.fuse import Fused
from operators.retrieve.index import Probe, UserIndex, near
from operators.retrieve.lanes import Bm25
from operators.retrieve.route import Route, route
from operators.retrieve.told import Told
from operators.retrieve.values import IMAGE, TEXT, SearchValues
from operators.retrieve.words import words

MAY = datetime(2023, 5, 8, 12, 0, tzinfo=UTC)
PLAIN = SearchValues(spread=0.0, nameless=0.0, dates=False)
EQ5 = replace(PLAIN, fusion="reciprocal-rank", text={"dense": 1.0, "bm25": 1.0})
ANY = Route("text_to_text", counts=False, aggregates=False)


def probe(text: str, show: str | None = None) -> Probe:
    return Probe(text, STUB.encode([text])[0], None if show is None else picture(show))


def search(index: UserIndex, text: str, values: SearchValues, k: int = 12, *, show: str | None = None) -> list[Fused]:
    asked = route(text, picture=show is not None)
    image = Probe(picture=picture(show)) if show is not None else probe(text)
    return index.search({"text": probe(text), "image": image}, asked, values, k)


def orders(found: Sequence[Fused]) -> list[int]:
    return [hit.order for hit in found]


# --- exactness ------------------------------------------------------------------------------------------------------

WORDS = st.sampled_from(["ape", "bee", "cow", "doe", "elk", "fox"])
SENTENCE = st.lists(WORDS, min_size=1, max_size=6).map(" ".join)
UNIT = st.tuples(SENTENCE | st.none(), st.booleans())
ROUNDS = st.lists(st.lists(UNIT, max_size=3), min_size=1, max_size=9)


def told_units(rounds: list[list[tuple[str | None, bool]]], sessions: int = 3) -> Told:
    """Random units, whatever a store may hold: rounds without any, units without text, pictures with and without."""
    units = [(order, text, shown) for order, round_units in enumerate(rounds) for text, shown in round_units]
    shown = {order for order, _, is_picture in units if is_picture}
    return Told(
        orders=np.array([order for order, *_ in units], np.int64),
        texts=[text for _, text, _ in units],
        pictures=np.array([is_picture for *_, is_picture in units], np.bool_),
        sessions=np.array([order // sessions for order in range(len(rounds))], np.int64),
        dates=[""] * len(rounds),
        shown=np.array([order in shown for order in range(len(rounds))], np.bool_),
        names=frozenset(),
    )


QUERY = np.random.default_rng(1).standard_normal(16).astype(np.float32)


def vectors_over(told: Told) -> NDArray[np.float32]:
    """A direction for every unit that has text, no two alike: equal texts would make ties that rounding decides."""
    vectors = np.random.default_rng(2).standard_normal((len(told.texts), 16)).astype(np.float32)
    vectors[[text is None for text in told.texts]] = 0
    return vectors


def search_units(told: Told, text: str, values: SearchValues, k: int) -> list[Fused]:
    return UserIndex(told, vectors_over(told)).search({"text": Probe(text, QUERY)}, ANY, values, k)


def best_of_rounds(told: Told, scores: Sequence[float | None]) -> dict[int, float]:
    """Eq. 5: S(r) is the highest score of the round's units; None is no score."""
    best: dict[int, float] = {}
    for order, score in zip(told.orders.tolist(), scores, strict=True):
        if score is not None:
            best[order] = max(score, best.get(order, -9.0))
    return best


def naive_signals(told: Told, query: str) -> list[dict[int, float]]:
    """S(r) under the cosine, and under BM25, where a unit that shares no word has nothing to say."""
    rows = vectors_over(told).astype(np.float64)
    length = float(np.linalg.norm(QUERY))
    dense = [float(row @ QUERY) / float(np.linalg.norm(row)) / length if row.any() else None for row in rows]
    seen = [words(text) for text in told.texts if text is not None]
    lexical = iter(Bm25(seen).scores(query).tolist())  # itself held against the formula in test_lanes.py
    sparse = [None if text is None else next(lexical) or None for text in told.texts]
    return [best_of_rounds(told, dense), best_of_rounds(told, sparse)]


@settings(deadline=None, max_examples=80)
@given(ROUNDS, SENTENCE, st.integers(0, 80), st.integers(1, 9), st.integers(1, 12))
def test_the_papers_fusion_is_equation_5(
    rounds: list[list[tuple[str | None, bool]]], query: str, kappa: int, pool: int, k: int
) -> None:
    told, naive = told_units(rounds), defaultdict[int, float](float)
    for found in naive_signals(told, query):
        ranking = sorted(found, key=lambda order: (-found[order], order))
        for rank, order in enumerate(ranking[: max(pool, k)], start=1):
            naive[order] += 1 / (kappa + rank)
    expected = sorted(naive.items(), key=lambda item: (-round(item[1], 9), item[0]))[:k]
    hits = search_units(told, query, replace(EQ5, kappa=kappa, pool=pool), k)
    assert {hit.order: hit.score for hit in hits} == pytest.approx({hit.order: naive[hit.order] for hit in hits})
    assert [hit.score for hit in hits] == pytest.approx([score for _, score in expected])


@settings(deadline=None, max_examples=60)
@given(ROUNDS, SENTENCE)
def test_dense_is_exact(rounds: list[list[tuple[str | None, bool]]], query: str) -> None:
    told = told_units(rounds)
    exact, _ = naive_signals(told, query)
    hits = search_units(told, query, replace(PLAIN, text={"dense": 1.0}), 50)
    assert {hit.order: hit.signals["dense"].score for hit in hits} == pytest.approx(exact, abs=1e-5)
    assert orders(hits) == sorted(exact, key=lambda order: -exact[order])
    assert [hit.signals["dense"].rank for hit in hits] == list(range(1, len(exact) + 1))


@settings(deadline=None, max_examples=60)
@given(ROUNDS, SENTENCE)
def test_standardised_is_the_sum_of_deviations(rounds: list[list[tuple[str | None, bool]]], query: str) -> None:
    told, total = told_units(rounds), [0.0] * len(rounds)
    dense, _ = naive_signals(told, query)
    whole = [
        words(" ".join(t for o, t in zip(told.orders, told.texts, strict=True) if o == at and t))
        for at in range(len(rounds))
    ]
    lexical = Bm25(whole).scores(query).tolist()
    nothing_seen = min(dense.values(), default=0.0)
    for weight, scores in ((2.0, [dense.get(order, nothing_seen) for order in range(len(rounds))]), (0.5, lexical)):
        spread = statistics.pstdev(scores)
        if spread > 1e-6:
            total = [
                one + weight * (score - statistics.fmean(scores)) / spread for one, score in zip(total, scores, strict=True)
            ]
    hits = search_units(told, query, replace(PLAIN, text={"dense": 2.0, "bm25-round": 0.5}), 50)
    assert set(orders(hits)) == {order for order, text in zip(told.orders.tolist(), told.texts, strict=True) if text}
    assert {hit.order: hit.score for hit in hits} == pytest.approx({hit.order: total[hit.order] for hit in hits}, abs=1e-3)


def test_dense_finds_what_brute_force_finds_among_many() -> None:
    rng = np.random.default_rng(7)
    vectors = rng.standard_normal((3000, 32)).astype(np.float16)
    told = told_units([[("x", False)] * 2 for _ in range(1500)])
    index = UserIndex(told, vectors)
    values = replace(PLAIN, text={"dense": 1.0})
    rows = vectors.astype(np.float64)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    for query in rng.standard_normal((20, 32)).astype(np.float32):
        hits = index.search({"text": Probe("", query)}, ANY, values, 12)
        best = (rows @ (query / np.linalg.norm(query))).reshape(1500, 2).max(1)
        assert orders(hits) == np.argsort(-best, kind="stable")[:12].tolist()


@settings(deadline=None)
@given(st.lists(st.booleans(), max_size=12), st.integers(0, 14))
def test_near_is_within_reach_of_one_that_holds(held: list[bool], reach: int) -> None:
    naive = [any(shown and abs(place - at) <= reach for place, shown in enumerate(held)) for at in range(len(held))]
    assert near(np.array(held, np.bool_), reach).tolist() == naive


# --- switches -------------------------------------------------------------------------------------------------------

HISTORY = [
    said("the ferry was late", time=MAY),
    said("see", ("lake", "calm water below a mountain"), time=MAY + timedelta(days=1)),
    said("it was cold", time=MAY + timedelta(days=2)),
    said("we ate at noon", session="S1", time=MAY + timedelta(days=3)),
    said("he barks", ("dog", "a brown terrier"), session="S1", time=MAY + timedelta(days=4)),
    said("nothing else", session="S1"),
]


def values_of(**change: Any) -> SearchValues:
    return replace(PLAIN, **({"neighbours": 0, "image": {}} | change))


def test_captions_are_text_or_not() -> None:
    index = index_of(HISTORY)
    for signal in ("bm25", "bm25-round"):
        lexical = values_of(text={signal: 1.0})
        assert orders(search(index, "terrier", lexical)) == [4]
        assert orders(search(index, "terrier", replace(lexical, fold_captions=False))) == []
        apart, folded = (search(index, "barks", replace(lexical, fold_captions=fold)) for fold in (False, True))
        assert orders(apart) == orders(folded) == [4]
    dense = values_of(text={"dense": 1.0})
    vector = "a brown terrier"
    assert search(index, vector, dense)[0].signals["dense"].score == pytest.approx(1.0, abs=1e-3)
    assert search(index, vector, replace(dense, fold_captions=False))[0].signals["dense"].score < 0.9


def test_folding_leaves_the_image_lane_as_it_is() -> None:
    index = index_of(HISTORY)
    values = values_of(image=IMAGE, lanes={"text_to_image": {"text": 0.0, "image": 1.0}})
    folded, apart = (
        search(index, "which picture shows the terrier?", replace(values, fold_captions=fold)) for fold in (True, False)
    )
    assert folded == apart != []


def test_dates_are_words_of_their_rounds_or_not() -> None:
    index = index_of(HISTORY)
    on = values_of(text={"bm25-round": 1.0}, dates=True)
    assert orders(search(index, "9 May", on))[0] == 1
    assert orders(search(index, "Friday", on)) == [4]
    assert search(index, "9 May", replace(on, dates=False)) == []
    for untouched in ("dense", "dense-context", "dense-session", "bm25", "bm25-session"):
        other = values_of(text={untouched: 1.0})
        assert search(index, "ferry on 9 May", other) == search(index, "ferry on 9 May", replace(other, dates=True))


def test_context_is_of_neighbours_and_of_the_context_signals_alone() -> None:
    index = index_of(HISTORY)
    lexical = values_of(text={"bm25-context": 1.0})
    assert sorted(orders(search(index, "ferry", lexical))) == [0, 1]
    assert orders(search(index, "ferry", replace(lexical, context=0.0))) == [0]
    dense = values_of(text={"dense-context": 1.0})
    assert search(index, "he barks", dense) != search(index, "he barks", replace(dense, context=0.2))
    for untouched in ("dense", "dense-session", "bm25", "bm25-round", "bm25-session"):
        other = values_of(text={untouched: 1.0})
        assert search(index, "the ferry", other) == search(index, "the ferry", replace(other, context=0.0))


def test_session_signals_are_of_the_whole_session() -> None:
    index = index_of(HISTORY)
    found = search(index, "ferry", values_of(text={"bm25-session": 1.0}))
    assert orders(found) == [0, 1, 2]
    assert len({hit.signals["bm25-session"].score for hit in found}) == 1
    again = index_of(changed(HISTORY, 5, session="S0"))  # a session that goes on later is one session
    assert sorted(orders(search(again, "ferry", values_of(text={"bm25-session": 1.0})))) == [0, 1, 2, 5]


def test_spread_moves_the_second_choice_away_and_never_the_first() -> None:
    history = [said(text) for text in ("ferry ferry", "ferry ferry pie", "x", "x", "x", "x", "ferry pie pie pie")]
    index = index_of(history)
    values = replace(PLAIN, text={"bm25": 1.0}, neighbours=1)
    assert orders(search(index, "ferry", values))[:2] == [0, 1]
    spread = replace(values, spread=5.0)
    assert orders(search(index, "ferry", spread))[:2] == [0, 6]
    assert set(orders(search(index, "ferry", spread))) == {0, 1, 6}
    for off in (replace(spread, neighbours=0), replace(spread, placement="none")):
        assert orders(search(index, "ferry", off))[:2] == [0, 1]


def test_scores_fall_from_hit_to_hit_whatever_is_switched() -> None:
    index = index_of(HISTORY)
    for values in (SearchValues(), EQ5, replace(SearchValues(), items="units"), replace(SearchValues(), spread=3.0)):
        scores = [hit.score for hit in search(index, "the ferry and a brown terrier", values)]
        assert scores == sorted(scores, reverse=True)
        assert len(scores) > 1


def test_units_rank_by_themselves() -> None:
    history = [said("ferry harbour", ("lake", "a ferry")), said("ferry"), said("harbour")]
    index = index_of(history)
    values = values_of(text={"bm25": 1.0}, items="units")
    found = search(index, "ferry", values, 9)
    assert sorted(orders(found)) == [0, 0, 1]
    assert [hit.signals["bm25"].rank for hit in found] == [1, 2, 3]
    both = search(index, "ferry harbour", values_of(text={"bm25": 1.0}), 9)
    assert orders(both)[0] == 0
    assert search(index, "ferry harbour", values, 9)[0].order == 0
    scores = {hit.score for hit in search(index, "ferry harbour", values, 9)}
    assert len(scores) > 1


def test_weights_of_nothing_leave_a_signal_out() -> None:
    index = index_of(HISTORY)
    without = {name: weight for name, weight in TEXT.items() if name != "dense-session"}
    left_out, of_nothing, counted = (
        search(index, "ferry", replace(PLAIN, text=text)) for text in (without, {**without, "dense-session": 0.0}, TEXT)
    )
    assert left_out == of_nothing != counted
    assert {name for hit in of_nothing for name in hit.signals} == set(without)


def test_weights_of_signals_and_lanes_multiply() -> None:
    index = index_of(HISTORY)
    whole, parts = (
        replace(PLAIN, text={"dense": text}, image={"visual": image}, lanes={"picture_to_text": lanes})
        for text, image, lanes in ((2.0, 3.0, {"text": 1.0, "image": 1.0}), (4.0, 1.0, {"text": 0.5, "image": 3.0}))
    )
    assert search(index, "he barks", whole, show="dog") == search(index, "he barks", parts, show="dog")


# --- odd users ------------------------------------------------------------------------------------------------------


def test_equal_rounds_come_in_their_order() -> None:
    index = index_of([said("the same words", session=str(order // 4)) for order in range(40)])
    for values in (EQ5, replace(PLAIN, text={"dense": 1.0}), replace(PLAIN, text={"bm25-round": 1.0})):
        assert orders(search(index, "same words", replace(values, pool=50))) == list(range(12))


@pytest.mark.parametrize("values", [SearchValues(), EQ5, replace(SearchValues(), items="units")])
@pytest.mark.parametrize(
    "history",
    [
        [said("only the ferry")],
        [said("", ("lake", None))],
        [said("", ("lake", "a ferry on the water"))],
        [said()],
        [said(), said(" \n")],
        [said("", ("gone", None)), said("", ("gone", None))],
        [said("the ferry"), said("", ("lake", None)), said()],
    ],
    ids=["one round", "a picture", "a caption", "nothing", "blanks", "no vectors", "all of it"],
)
@pytest.mark.parametrize(
    ("text", "show"),
    [
        *((text, show) for text in ("when was the ferry?", "which picture shows the ferry?") for show in (None, "lake")),
        ("", "lake"),
    ],
)
def test_a_user_with_next_to_nothing(history: list[Said], values: SearchValues, show: str | None, text: str) -> None:
    index = index_of(history)
    found = index.search(
        {"text": probe(text) if text else Probe(), "image": probe(text, show)},
        route(text, picture=show is not None),
        values,
        12,
    )
    assert len(found) <= len(history) * 2
    assert all(np.isfinite(hit.score) and 0 <= hit.order < len(history) for hit in found)
    said_so = {order for order, one in enumerate(history) if "ferry" in str(one)}
    if text and show is None and said_so:
        assert orders(found)[0] in said_so


def test_rounds_without_times_have_no_words_of_dates() -> None:
    index = index_of([replace(one, time=None) for one in HISTORY])
    values = values_of(text={"bm25-round": 1.0}, dates=True)
    assert search(index, "May 2023 Monday", values) == []
    assert orders(search(index, "ferry", values)) == [0]


def test_what_does_not_align_is_refused() -> None:
    with pytest.raises(ValueError, match="do not align"):
        UserIndex(told_of(HISTORY), np.zeros((3, 4), np.float16))


def test_nothing_asked_finds_nothing() -> None:
    assert index_of(HISTORY).search({}, ANY, SearchValues(), 12) == []


# --- many rounds, many threads --------------------------------------------------------------------------------------


def grown(rounds: int) -> UserIndex:
    rng = np.random.default_rng(rounds)
    names = [f"w{number}" for number in range(2000)]
    units = [[(" ".join(rng.choice(names, 20)), False)] * 2 for _ in range(rounds)]
    told = told_units(units, sessions=20)
    return UserIndex(told, rng.standard_normal((2 * rounds, 64)).astype(np.float16))


def test_five_thousand_rounds_are_searched_in_no_time_once_warm() -> None:
    index = grown(5000)
    query = Probe("w1 w20 w300 w7", np.ones(64, np.float32))
    took = []
    for _ in range(7):
        began = time.perf_counter()
        found = index.search({"text": query, "image": query}, ANY, SearchValues(), 12)
        took.append(time.perf_counter() - began)
        assert len(found) == 12
    assert min(took[1:]) < 0.25


def test_threads_that_search_first_at_once_find_the_same() -> None:
    asked = [
        (text, values)
        for text in ("the ferry", "a brown terrier", "9 May")
        for values in (SearchValues(), EQ5, replace(SearchValues(), fold_captions=False, items="units"))
    ]
    alone = [search(index_of(HISTORY), text, values) for text, values in asked]
    for _ in range(5):
        shared, start = index_of(HISTORY), threading.Barrier(len(asked))

        def one(number: int, shared: UserIndex = shared, start: threading.Barrier = start) -> list[Fused]:
            start.wait()
            return search(shared, *asked[number])

        with ThreadPoolExecutor(len(asked)) as pool:
            assert list(pool.map(one, range(len(asked)))) == alone
