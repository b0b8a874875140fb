"""Sentences and words of any script."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from operators.hierarchy.terms import sentences_of


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("I ran 3.5 km!! Dr. Smith saw me. ok", ["I ran 3.5 km!!", "Dr. Smith saw me.", "ok"]),
        ('He said "No." Then\n\nhe  left', ['He said "No."', "Then", "he left"]),
        ("今日は病院に行った。骨折だった\uff01", ["今日は病院に行った。", "骨折だった\uff01"]),
        ("मैं अस्पताल गया। ठीक हूँ।", ["मैं अस्पताल गया।", "ठीक हूँ।"]),
        (" \n\t", []),
        ("", []),
    ],
)
def test_sentences(text: str, sentences: list[str]) -> None:
    assert [sentence.text for sentence in sentences_of(text)] == sentences


@pytest.mark.parametrize(
    ("text", "keys"),
    [
        ("Mira's cats don't like the half-marathon", {"mira", "cats", "half-marathon"}),
        ("東京駅前の喫茶店でコーヒー", {"東京駅前", "喫茶店", "コーヒー"}),
        ("डॉक्टर", {"डॉक्टर"}),
        ("어제 병원에 갔어요", {"어제", "병원에", "갔어요"}),
        ("\uff28\uff4f\uff53\uff50\uff49tal and CAFÉ", {"hospital", "café"}),
        ("a 1 . 👍", set()),
        ("我昨天去医院看医生了", {"医院", "医生", "昨天", "我昨", "天去", "去医", "院看", "看医", "生了"}),
    ],
)
def test_words(text: str, keys: set[str]) -> None:
    assert {key for sentence in sentences_of(text) for key in sentence.keys} == keys


@given(st.text(max_size=300))
def test_nothing_but_white_space_is_lost(text: str) -> None:
    assert "".join(sentence.text for sentence in sentences_of(text)).replace(" ", "") == "".join(text.split())
