"""Token F1, BLEU-1 and exact match as the benchmarks' scorers reckon them."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobs.evaluate.lexical import bleu_1, gallery_words, lexical_scores, locomo_words, parts_f1, token_f1

WORDS = st.lists(st.sampled_from(["cat", "cats", "mat", "sat", "on", "tea", "7"]), max_size=8)


def test_what_is_compared_of_a_text() -> None:
    assert locomo_words("The well-known cat, and a dog: 3.5 km!") == ["wellknown", "cat", "dog", "35", "km"]
    assert gallery_words("The well-known cat, and a dog: 3.5 km!") == ["well", "known", "cat", "dog", "3.5", "km"]
    assert gallery_words("D1:IMG_002.") == ["d1", "img_002"]


def test_scores_by_hand() -> None:
    found = lexical_scores("mem_gallery", "FR", "She baked lemon cookies.", "Lemon cookie")
    assert found == {"f1": pytest.approx(2 * 2 / (4 + 2)), "bleu1": pytest.approx(1 / 4), "em": 0.0}
    short = lexical_scores("mem_gallery", "FR", "lemon", "lemon cookies today")
    assert short["bleu1"] == pytest.approx(math.exp(1 - 3 / 1))
    assert lexical_scores("mem_gallery", "AR", "Not mentioned", "Not mentioned.")["em"] == 1.0


def test_locomos_own_ways() -> None:
    assert lexical_scores("locomo", "2", "May 7, 2023", "7 May 2023")["em"] == 1.0
    assert lexical_scores("locomo", "3", "likely no", "Likely no; she never said so")["f1"] == 1.0
    assert parts_f1("swimming, reading", "reading, painting, swimming") == pytest.approx(2 / 3)
    assert lexical_scores("locomo", "1", "swimming, reading", "reading, painting, swimming")["f1"] == pytest.approx(2 / 3)


@given(said=WORDS, wanted=WORDS)
def test_scores_are_shares_and_f1_has_no_sides(said: list[str], wanted: list[str]) -> None:
    assert 0 <= bleu_1(said, wanted) <= 1
    assert 0 <= token_f1(said, wanted) <= 1
    assert token_f1(said, wanted) == token_f1(wanted, said)
    assert (bleu_1(said, wanted) == 0) == set(said).isdisjoint(wanted)


@given(words=WORDS.filter(bool))
def test_the_same_words_in_any_order_are_all_right(words: list[str]) -> None:
    assert token_f1(words, words[::-1]) == 1.0
    assert bleu_1(words, words[::-1]) == 1.0


@given(said=st.text(max_size=30), wanted=st.text(max_size=30), benchmark=st.sampled_from(["locomo", "mem_gallery"]))
def test_any_text_can_be_scored(said: str, wanted: str, benchmark: str) -> None:
    for category in ("1", "3", "FR"):
        assert all(0 <= score <= 1 for score in lexical_scores(benchmark, category, said, wanted).values())
    assert lexical_scores(benchmark, "2", said, said)["em"] == 1.0
