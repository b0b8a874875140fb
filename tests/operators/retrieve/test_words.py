"""Words of any language."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from operators.retrieve.words import _patterns, _written, query_words, singular, words


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("The flight's at 7:30!", ["the", "flight", "s", "at", "7", "30"]),
        ("STRASSE straße", ["strasse", "strasse"]),
        ("\ufb01ne caf\u00e9 cafe\u0301", ["fine", "caf\u00e9", "caf\u00e9"]),
        ("我喜欢猫", ["我喜", "喜欢", "欢猫"]),
        ("猫 cat猫", ["猫", "cat", "猫"]),
        ("สวัสดี", ["สว", "วั", "ัส", "สด", "ดี"]),
        ("हिन्दी में", ["हिन्दी", "में"]),
        ("한국어 문장", ["한국어", "문장"]),
        ("Привет, мир", ["привет", "мир"]),
        ("", []),
        (" ?! ", []),
    ],
)
def test_words_of_many_scripts(text: str, found: list[str]) -> None:
    assert words(text) == found


@pytest.mark.parametrize(
    ("word", "stem"),
    [("ponies", "pony"), ("churches", "churche"), ("cats", "cat"), ("glass", "glass"), ("bus", "bus"), ("as", "as")],
)
def test_plurals_fold_as_in_harmans_table(word: str, stem: str) -> None:
    assert singular(word) == stem


def test_a_query_drops_function_words_unless_it_has_no_others() -> None:
    assert query_words("When did she see the giraffes?") == ["see", "giraffe"]
    assert query_words("who are you") == ["who", "are", "you"]


@settings(deadline=None)
@given(st.text())
def test_any_text_has_words_without_spaces(text: str) -> None:
    assert all(word and not any(character.isspace() for character in word) for word in words(text))


@given(
    st.text(st.characters(max_codepoint=0x2FF) | st.sampled_from("\u2019\u201c\u2013\u2026 \uff46\u00bd\ufb01"), max_size=40)
)
def test_plain_text_has_the_same_words_on_the_short_way(text: str) -> None:
    spaced, _ = _patterns()
    assert _written(text) == spaced.findall(unicodedata.normalize("NFKC", text).casefold())
