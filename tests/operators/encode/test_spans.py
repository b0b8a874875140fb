"""Cutting long texts."""

from __future__ import annotations

import re

from hypothesis import given, settings
from hypothesis import strategies as st

from operators.encode.spans import encodable, split_spans


def characters(text: str) -> list[tuple[int, int]]:
    return [(at, at + 1) for at, character in enumerate(text) if not character.isspace()]


def words(text: str) -> list[tuple[int, int]]:
    return [found.span() for found in re.finditer(r"\S+", text)]


@settings(deadline=None)
@given(st.text(alphabet=st.characters(exclude_categories=()), max_size=200), st.integers(1, 40))
def test_spans_cover_the_text_within_the_limit(text: str, limit: int) -> None:
    for tokens in (characters, words):
        spans = split_spans(text, tokens, limit)
        assert "".join(text[start:end] for start, end in spans) == (text if text.strip() else "")
        assert all(start < end for start, end in spans)
        assert all(len(tokens(text[start:end])) <= limit for start, end in spans)


def test_a_cut_prefers_the_end_of_a_sentence_then_a_word() -> None:
    assert split_spans("aa bb cc. dd ee ff gg", words, 4) == [(0, 10), (10, 21)]
    assert split_spans("abcd efgh", characters, 6) == [(0, 5), (5, 9)]


def test_several_tokens_of_one_character_end() -> None:
    def many(text: str) -> list[tuple[int, int]]:
        return [(at, at + 1) for at in range(len(text)) for _ in range(3)]

    assert split_spans("abc", many, 3) == [(0, 1), (1, 2), (2, 3)]


def test_a_tokenizer_is_given_a_bounded_stretch_at_a_time() -> None:
    longest = 0

    def measured(text: str) -> list[tuple[int, int]]:
        nonlocal longest
        longest = max(longest, len(text))
        return words(text)

    for text in ("word " * 60_000, "x" * 300_000, "a line\n" * 50_000):
        spans = split_spans(text, measured, 200)
        assert "".join(text[start:end] for start, end in spans) == text
    assert longest <= 1 << 16


@settings(deadline=None)
@given(st.text(alphabet=st.characters(exclude_categories=())))
def test_encodable_keeps_offsets(text: str) -> None:
    clean = encodable(text)
    assert len(clean) == len(text)
    assert clean.encode("utf-8").decode("utf-8") == clean
