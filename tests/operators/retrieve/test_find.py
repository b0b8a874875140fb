"""What each lane searches with, by the case of the query; anchors; what of it comes back (V-Mem, section 3.3)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pytest
from dialogues import STUB, Said, index_of, picture, said

from operators.errors import UsageError
from operators.retrieve.anchors import Anchors, NoAnchors
from operators.retrieve.find import Finding, Query, find, nameless
from operators.retrieve.fuse import Fused
from operators.retrieve.index import UserIndex
from operators.retrieve.lanes import Floats, unit_length
from operators.retrieve.values import IMAGE, TEXT, SearchValues

HISTORY = [
    said("the ferry was late", speaker="Ana"),
    said("look at this", ("lake", "calm water below a mountain"), speaker="Ben"),
    said("it was cold", speaker="Ana"),
    said("we ate at noon", speaker="Ben"),
    said("he barks at the ferry", ("dog", "a brown terrier"), speaker="Ana"),
    said("nothing else", speaker="Ben"),
    said("my sister baked", ("cake", "a cake with candles"), session="S1", speaker="Ana"),
    said("the tax form is due", session="S1", speaker="Ben"),
    said("the terrier is ill", session="S1", speaker="Ana"),
]
INDEX = index_of(HISTORY)
DEFAULT, NONE = SearchValues(), NoAnchors()
TEXT_ALONE, IMAGE_ALONE = set(TEXT), set(IMAGE)
BOTH = {"text": 1.0, "image": 1.0}
ONE = SearchValues(text={"bm25": 1.0}, neighbours=0, spread=0.0, nameless=0.0)
"""A round is found by the words it has, and nothing else."""


@dataclass
class Fake:
    """Anchors as a model would give them; ``asked``: what for."""

    title: str | None = None
    found: Sequence[str] = ()
    asked: list[tuple[object, ...]] = field(default_factory=list)

    def caption(self, query: str) -> str | None:
        self.asked.append(("caption", query))
        return self.title

    def keywords(self, query: str, picture: bytes | None, caption: str | None) -> Sequence[str]:
        self.asked.append(("keywords", query, picture, caption))
        return self.found


def ask(
    text: str = "",
    values: SearchValues = DEFAULT,
    *,
    anchors: Anchors = NONE,
    index: UserIndex = INDEX,
    show: str | None = None,
    **given: object,
) -> Finding:
    query = Query(text, picture=None if show is None else picture(show), **given)  # type: ignore[arg-type]
    return find(index, query, STUB.encode, anchors, values)


def orders(finding: Finding) -> list[int]:
    return [hit.order for hit in finding.hits]


def signals(finding: Finding) -> set[str]:
    return {name for hit in finding.hits for name in hit.signals}


# --- cases ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "show", "case", "taking_part"),
    [
        ("when was the ferry late?", None, "text_to_text", TEXT_ALONE),
        ("which picture shows the terrier?", None, "text_to_image", TEXT_ALONE | {"caption-dense", "caption-bm25"}),
        ("what breed is the terrier?", "dog", "picture_to_text", TEXT_ALONE | {"visual"}),
        ("which picture shows the same terrier?", "dog", "picture_to_image", {"visual"}),
        ("", "dog", "picture_to_text", {"visual"}),
    ],
)
def test_the_case_picks_the_lanes(text: str, show: str | None, case: str, taking_part: set[str]) -> None:
    found = ask(text, show=show)
    assert found.route.case == case
    assert signals(found) == taking_part


def test_without_routing_both_lanes_answer_everything() -> None:
    values = SearchValues(routing=False)
    for text in ("when was the terrier ill?", "which picture shows the terrier?"):
        assert signals(ask(text, values)) == TEXT_ALONE | {"caption-dense", "caption-bm25"}
    for text in ("what breed is the terrier?", "which picture shows the same terrier?"):
        assert signals(ask(text, values, show="dog")) == TEXT_ALONE | {"visual"}


def test_a_lane_with_a_weight_takes_part_where_it_had_none() -> None:
    lanes = {"text_to_image": BOTH}
    found = ask("which picture shows the terrier?", SearchValues(lanes=lanes))
    assert signals(found) == TEXT_ALONE | {"caption-dense", "caption-bm25"}
    other = ask("when was the ferry late?", SearchValues(lanes=lanes))
    assert signals(other) == TEXT_ALONE


def test_a_caption_beside_the_query_picture_joins_the_image_lane() -> None:
    found = ask("which pictures are like this?", show="lake", caption="a brown terrier")
    assert found.route.case == "picture_to_image"
    assert signals(found) == IMAGE_ALONE
    assert {hit.order for hit in found.hits[:2]} == {1, 4}
    off = replace(SearchValues(), image={"visual": 1.0})
    assert signals(ask("which pictures are like this?", off, show="lake", caption="a brown terrier")) == {"visual"}


def test_a_caption_is_asked_with_where_there_is_no_picture() -> None:
    found = ask("", caption="candles on a cake")
    assert found.route.case == "picture_to_text"
    assert orders(found)[0] == 6
    assert signals(found) == {"caption-dense", "caption-bm25"}


def test_a_caption_alone_finds_words_where_no_picture_has_a_caption() -> None:
    bare = index_of([replace(one, pictures=tuple((name, None) for name, _ in one.pictures)) for one in HISTORY])
    found = ask("", index=bare, caption="a terrier that is ill")
    assert orders(found)[0] == 8
    assert signals(found) <= TEXT_ALONE


def test_a_caption_beside_a_picture_finds_words_where_no_picture_has_a_caption() -> None:
    bare = index_of([replace(one, pictures=tuple((name, None) for name, _ in one.pictures)) for one in HISTORY])
    values = replace(ONE, lanes={"picture_to_text": BOTH})
    found = ask("", values, index=bare, show="boat", caption="the tax form")
    assert {hit.order for hit in found.hits if "bm25" in hit.signals} == {7}
    assert "visual" in signals(found)


def test_a_picture_without_caption_is_found_by_its_picture() -> None:
    bare = index_of([said("good morning"), said("", ("lake", None)), said("see", ("boat", None)), said("good night")])
    for text in ("", "which picture is this?", "what is it?"):
        found = ask(text, index=bare, show="boat")
        assert orders(found)[0] == 2
        assert found.hits[0].signals["visual"].rank == 1
        assert found.hits[0].signals["visual"].score == pytest.approx(1.0, abs=1e-6)


def test_nothing_to_look_for_is_refused() -> None:
    for query in (Query(""), Query(" \n"), Query("x", caption=" "), Query("", caption="")):
        with pytest.raises(UsageError, match="is blank"):
            find(INDEX, query, STUB.encode, NoAnchors(), SearchValues())


# --- image rounds ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("reach", "kept"), [(0, [1, 4, 6]), (1, [0, 1, 2, 3, 4, 5, 6, 7]), (2, list(range(9))), (None, list(range(9)))]
)
def test_where_a_picture_is_asked_for_rounds_far_from_one_go(reach: int | None, kept: list[int]) -> None:
    values = SearchValues(k=50, image_rounds=reach)
    assert sorted(orders(ask("which picture shows the ferry?", values))) == kept
    assert sorted(orders(ask("when did the ferry leave?", values))) == list(range(9))
    assert sorted(orders(ask("what is on the ferry?", values, show="dog"))) == list(range(9))
    assert sorted(orders(ask("which picture shows the ferry?", replace(values, routing=False)))) == list(range(9))


def test_all_rounds_stay_where_none_found_is_near_a_picture() -> None:
    values = replace(ONE, image_rounds=0, lanes={"text_to_image": {"text": 1.0, "image": 0.0}})
    assert orders(ask("which picture shows the tax form?", values)) == [7]
    assert orders(ask("which picture shows the tax form and the candles?", values)) == [6]
    unseen = index_of([said("the tax form is due"), said("the ferry")])
    assert orders(ask("which picture shows the tax form?", values, index=unseen)) == [0]


def test_a_picture_for_pictures_is_answered_by_rounds_that_hold_one() -> None:
    with_text = SearchValues(k=50, lanes={"picture_to_image": BOTH})
    found = ask("which picture shows the ferry?", with_text, show="dog")
    assert signals(found) == TEXT_ALONE | {"visual"}
    assert sorted(orders(found)) == [1, 4, 6]


def test_the_filter_counts_before_the_k_best_are_taken() -> None:
    values = replace(ONE, k=1, image_rounds=0)
    assert orders(ask("which picture shows the late ferry?", values)) == [4]
    assert orders(ask("when was the late ferry?", values)) == [0]


# --- anchors --------------------------------------------------------------------------------------------------------


def test_a_hypothetical_caption_is_the_image_lanes_and_the_query_stays_the_texts() -> None:
    values = replace(ONE, image={"caption-bm25": 1.0}, lanes={"text_to_image": BOTH}, image_rounds=0)
    anchors = Fake(title="candles")
    found = ask("which picture shows the ferry?", values, anchors=anchors)
    assert anchors.asked == [("caption", "which picture shows the ferry?")]
    by = {name: {hit.order for hit in found.hits if name in hit.signals} for name in ("bm25", "caption-bm25")}
    assert by == {"bm25": {4}, "caption-bm25": {6}}  # 0 says ferry too, away from any picture


@pytest.mark.parametrize("text", ["how many pictures show the terrier?", "when was the ferry late?"])
def test_counting_queries_and_those_for_text_have_no_hypothetical_caption(text: str) -> None:
    anchors = Fake(title="candles")
    values = SearchValues(lanes={"text_to_image": BOTH})
    assert ask(text, values, anchors=anchors) == ask(text, values)
    assert anchors.asked == []


def test_at_most_eight_keywords_of_the_picture_follow_the_query() -> None:
    words = ["candles", "b2", "b3", "b4", "b5", "b6", "b7", "mountain", "barks"]
    anchors = Fake(found=words)
    found = ask("what is this?", ONE, anchors=anchors, show="boat", image=b"bytes", caption="a boat")
    assert anchors.asked == [("keywords", "what is this?", b"bytes", "a boat")]
    assert {hit.order for hit in found.hits if "bm25" in hit.signals} == {1, 6}
    told_all = ask("what is this? candles mountain", ONE, show="boat")
    assert {hit.order for hit in told_all.hits if "bm25" in hit.signals} == {1, 6}


def test_keywords_are_in_the_querys_vector_even_where_one_was_at_hand() -> None:
    values = SearchValues(text={"dense": 1.0}, nameless=0.0)
    anchors = Fake(found=["brown", "terrier"])
    vector = STUB.encode(["what is this?"])[0]
    found, spelled = (
        ask("what is this?", values, anchors=anchors, show="boat", vector=vector),
        ask("what is this? brown terrier", values, show="boat"),
    )
    assert found.hits == spelled.hits


def test_a_picture_for_pictures_is_its_own_anchor() -> None:
    anchors = Fake(title="candles", found=["candles"])
    text = "which pictures are like this?"
    assert ask(text, anchors=anchors, show="lake") == ask(text, show="lake")
    assert anchors.asked == []


def test_what_a_model_cannot_make_changes_nothing() -> None:
    lanes = SearchValues(lanes={"text_to_image": BOTH})
    text = "which picture shows the terrier?"
    assert ask(text, lanes, anchors=Fake()) == ask(text, lanes, anchors=NoAnchors())
    assert ask("what is this?", anchors=Fake(), show="dog") == ask("what is this?", show="dog")


# --- names ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("query", "left"),
    [
        ("When did Ana see the ferry?", "see ferry"),
        ("What is ANA's terrier called?", "terrier called"),
        ("Did Ben\u2019s sister bake?", "sister bake"),
        ("Has Ana met Ben?", "met"),
        ("Who is Ana?", None),
        ("When did Anna see the ferry?", None),
        ("when was the ferry late?", None),
        ("Does Mary-Jane's dog bark?", "dog bark"),
        ("what did Li buy?", "buy"),
    ],
)
def test_names_of_speakers_and_grammar_are_left_out(query: str, left: str | None) -> None:
    assert nameless(query, frozenset({"Ana", "Ben", "Mary-Jane", "Li Wei"})) == left


def test_the_nameless_query_is_added_to_the_vector() -> None:
    text, values = "when did Ana see the ferry?", SearchValues(text={"dense": 1.0}, nameless=0.5)
    whole, bare = STUB.encode([text, "see ferry"])
    both: Floats = unit_length((whole + 0.5 * bare)[None])[0]
    cosines = {order: hit.signals["dense"].score for hit in ask(text, values).hits for order in [hit.order]}
    expected = ask(text, replace(values, nameless=0.0), vector=both)
    assert cosines == pytest.approx({hit.order: hit.signals["dense"].score for hit in expected.hits})
    off = {hit.order: hit.signals["dense"].score for hit in ask(text, replace(values, nameless=0.0)).hits}
    assert cosines != pytest.approx(off)


def test_a_query_that_names_nobody_is_encoded_once() -> None:
    encoded: list[str] = []

    def encode(texts: Sequence[str]) -> Floats:
        encoded.extend(texts)
        return STUB.encode(texts)

    for text in ("when was the ferry late?", "when did Ana see it?"):
        find(INDEX, Query(text), encode, NoAnchors(), SearchValues())
    assert encoded == ["when was the ferry late?", "when did Ana see it?", "see"]


@pytest.mark.parametrize("values", [SearchValues(text={"bm25-round": 1.0}, image={"visual": 1.0, "caption-bm25": 1.0})])
def test_no_vector_is_made_that_no_signal_needs(values: SearchValues) -> None:
    def encode(texts: Sequence[str]) -> Floats:
        raise AssertionError(texts)

    for query in (Query("when did Ana leave?"), Query("what is it?", picture=picture("dog"), caption="a brown terrier")):
        assert find(INDEX, query, encode, NoAnchors(), values).hits


# --- what comes back ------------------------------------------------------------------------------------------------


def test_aggregating_questions_get_more_rounds_without_neighbours_where_that_is_on() -> None:
    values = SearchValues(k=2, aggregation_k=5, aggregation=True)
    many = ask("how many times did we take the ferry?", values)
    assert len(many.hits) == 5
    assert many.runs == [run for run in many.runs if set(run) <= set(orders(many))]
    assert sorted(order for run in many.runs for order in run) == sorted(orders(many))
    off = ask("how many times did we take the ferry?", replace(values, aggregation=False))
    assert len(off.hits) == 2
    assert any(order not in orders(off) for run in off.runs for order in run)
    assert len(ask("when was the ferry late?", values).hits) == 2


@pytest.mark.parametrize("placement", ["runs", "tail", "none", "interleave"])
def test_neighbours_never_count_against_k_but_where_interleaved(placement: str) -> None:
    values = replace(ONE, k=2, neighbours=1, placement=placement)
    found = ask("ferry terrier", values)
    shown = [order for run in found.runs for order in run]
    assert len(shown) == len(set(shown))
    if placement == "interleave":
        assert len(shown) == 2
        assert set(orders(found)) == set(shown) & {4, 0, 8}
        return
    assert len(found.hits) == 2
    around = {order + step for order in orders(found) for step in (-1, 0, 1)} & set(range(9))
    assert set(shown) == (set(orders(found)) if placement == "none" else around)
    assert shown[:2] == orders(found) if placement == "tail" else shown == sorted(shown)


def test_units_rank_by_themselves_and_a_round_comes_back_once() -> None:
    history: list[Said] = [said("ferry"), said("ferry ferry harbour", ("lake", "ferry")), said("harbour")]
    values = replace(ONE, items="units", k=3, pool=3)
    found = ask("ferry", values, index=index_of(history))
    assert sorted(orders(found)) == [0, 1]
    assert len(ask("ferry", replace(values, k=2), index=index_of(history)).hits) in (1, 2)


def test_the_vector_at_hand_is_used() -> None:
    vector = STUB.encode(["he barks at the ferry"])[0]
    values = SearchValues(text={"dense": 1.0})
    found = ask("no such word", values, vector=vector)
    assert orders(found)[0] == 4
    plain = ask("he barks at the ferry", values)
    assert [hit.order for hit in plain.hits] == orders(found)
    assert np.allclose([hit.score for hit in plain.hits], [hit.score for hit in found.hits])


# --- what once went wrong -------------------------------------------------------------------------------------------

DENSE = SearchValues(text={"dense": 1.0}, image={}, spread=0.0)


def hits(history: list[Said], text: str, values: SearchValues, anchors: Anchors | None = None, **given: Any) -> list[Fused]:
    return find(index_of(history), Query(text, **given), STUB.encode, anchors or NoAnchors(), values).hits


@pytest.mark.parametrize("values", [SearchValues(spread=0.0), DENSE, replace(DENSE, fusion="reciprocal-rank")])
def test_equal_rounds_tie_whatever_the_last_bits_of_their_cosines(values: SearchValues) -> None:
    assert [hit.order for hit in hits([said("ok")] * 3, "thanks a lot", values)] == [0, 1, 2]


def test_a_word_that_one_unit_alone_has_counts() -> None:
    history = [said("the ferry was late"), said("a terrier"), said("it was cold")]
    words = replace(DENSE, text={"dense": 1.0, "bm25": 5.0})
    plain, found = (hits(history, "terrier barks", values) for values in (DENSE, words))
    assert found[0].order == 1
    assert found[0].score > plain[0].score + 1


def test_a_caption_that_one_picture_alone_has_counts() -> None:
    history = [said("x", ("dog", "a brown terrier")), said("y", ("lake", "calm water")), said("z", ("cake", "candles"))]
    lanes = {"picture_to_text": {"text": 0.0, "image": 1.0}}
    values = SearchValues(lanes=lanes, image={"caption-bm25": 5.0, "visual": 1.0})  # type: ignore[arg-type]
    assert hits(history, "", values, caption="terrier", picture=picture("lake"))[0].order == 0


def test_a_hypothetical_caption_is_never_the_text_lanes() -> None:
    values = SearchValues(text={"bm25": 1.0}, image_rounds=None)
    history = [said("candles"), said("the ferry", ("lake", None))]
    found = hits(history, "which picture shows the ferry?", values, Fake(title="candles"))
    assert [hit.order for hit in found] == [1]


def test_a_caption_is_text_where_the_image_lane_has_no_caption_signals() -> None:
    history = [said("x", ("dog", "a brown terrier")), said("y")]
    assert hits(history, "", SearchValues(image={}), caption="terrier")[0].order == 0


@pytest.mark.parametrize(
    ("query", "names", "left"),
    [
        ("मीरा ने कल दवाई ली", {"मीरा"}, "ने कल दवाई ली"),
        ("when will the ferry leave?", {"Will"}, None),
        ("when did Will take the ferry?", {"Will"}, "take ferry"),
        ("What is Ana's dog?", {"Ana Costa"}, "dog"),
        ("who is Ana?", {"Ana"}, None),
    ],
)
def test_the_query_without_names(query: str, names: set[str], left: str | None) -> None:
    assert nameless(query, frozenset(names)) == left


def test_a_vector_at_hand_finds_as_the_query_does() -> None:
    history = [said("the ferry was late", speaker="Ana"), said("a terrier", speaker="Ben")]
    query = "when did Ana see the ferry?"
    alone, given = hits(history, query, DENSE), hits(history, query, DENSE, vector=STUB.encode([query])[0])
    assert [hit.score for hit in alone] == pytest.approx([hit.score for hit in given])


def test_a_lane_that_routing_turned_off_stays_off() -> None:
    history = [said("x", ("dog", "a brown terrier")), said("y", ("lake", "calm water"))]
    assert hits(history, "zzz", SearchValues(text={"bm25-round": 1.0})) == []
