"""Words of any language."""

from __future__ import annotations

import time
import unicodedata
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from operators.retrieve.words import _patterns, _plain_letters, _written, query_words, stem, words


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("The flight's at 7:30!", ["the", "flight", "s", "at", "7", "30"]),
        ("STRASSE straße", ["strass", "strass"]),
        ("\ufb01ne caf\u00e9 cafe\u0301", ["fine", "cafe", "cafe"]),
        ("我喜欢猫", ["我喜", "喜欢", "欢猫", "我", "喜", "欢", "猫"]),
        ("猫 cat猫", ["猫", "cat", "猫"]),
        ("สวัสดี", ["สว", "วั", "ัส", "สด", "ดี"]),
        ("हिन्दी में", ["हिन्दी", "में"]),
        ("한국어 문장", ["한국", "국어", "한", "국", "어", "문장", "문", "장"]),
        ("Привет, мир", ["привет", "мир"]),
        ("Ёлка ёлка", ["елка", "елка"]),
        (
            "\u0643\u064e\u062a\u064e\u0628\u064e \u0623\u062d\u0645\u062f",
            ["\u0643\u062a\u0628", "\u0627\u062d\u0645\u062f"],
        ),
        ("party \U0001f389\U0001f389!", ["parti", "\U0001f389", "\U0001f389"]),
        ("\U0001f44d\U0001f3fd \u2764\ufe0f", ["\U0001f44d", "\u2764"]),
        ("Ægir SØREN łódź", ["ægir", "soren", "lodz"]),
        ("", []),
        (" ?! ", []),
    ],
)
def test_words_of_many_scripts(text: str, found: list[str]) -> None:
    assert words(text) == found


@pytest.mark.parametrize(
    ("word", "stemmed"),
    [("ponies", "poni"), ("pony", "poni"), ("churches", "church"), ("painted", "paint"), ("running", "run"), ("as", "as"),
     ("glass", "glass"), ("4k", "4k"), ("2nd", "2nd"), ("søren", "søren"), ("猫", "猫")],
)  # fmt: skip
def test_english_endings_are_folded(word: str, stemmed: str) -> None:
    assert stem(word) == stemmed


def test_threads_stem_alike() -> None:
    def every() -> list[str]:
        return [stem(f"{word}{letter}ing") for word in ("walk", "paint", "sail") for letter in "abcdefghij"]

    with ThreadPoolExecutor(8) as pool:
        found = [made.result() for made in [pool.submit(every) for _ in range(32)]]
    assert all(one == every() for one in found)


def test_a_query_drops_function_words_unless_it_has_no_others() -> None:
    assert query_words("When did she see the giraffes?") == ["see", "giraff"]
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
    folded = unicodedata.normalize("NFKC", text).casefold()
    assert _written(text, singles=True) == spaced.findall(folded if folded.isascii() else folded.translate(_plain_letters()))


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("我的猫很可爱", "猫"),
        ("昨日は図書館で勉強しました", "図書館"),
        ("カタカナのメモ", "ﾒﾓ"),
        ("학교에서 친구를 만났어요", "학교"),
        ("집에 가고 싶다", "집"),
        ("เมื่อวานไปร้านกาแฟ", "กาแฟ"),
        ("ذهبتُ إلى المَدرسة أمسِ", "المدرسة"),
        ("קָנִיתִי סֵפֶר חָדָשׁ", "ספר"),
        ("मैंने कल दवाई ली", "दवाई"),
        ("நான் சென்னைக்கு போனேன்", "சென்னைக்கு"),
        ("Где мои ключи?", "КЛЮЧИ"),
        ("Πήγα στην Αθήνα", "αθηνα"),
        ("Der Fußweg nach Zürich", "FUSSWEG"),
        ("on a fêté ça 🎂 hier", "🎂"),
        ("mixed 東京 trip to Köln", "koln 東京"),
        ("\uff26\uff35\uff2c\uff2c \uff57\uff49\uff44\uff54\uff48", "full width"),
    ],
)
def test_a_word_of_a_text_finds_it_in_every_script(text: str, query: str) -> None:
    asked = query_words(query)
    assert asked
    assert set(asked) <= set(words(text))


def test_many_emoji_are_words_in_no_time() -> None:
    began = time.process_time()
    assert len(words("🍜🎂👍🏽🚲" * 25_000)) == 100_000
    assert time.process_time() - began < 2
