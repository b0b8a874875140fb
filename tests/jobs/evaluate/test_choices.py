"""Options of a question, and the letter that an answer means."""

from __future__ import annotations

from typing import Any

import pytest

from jobs.evaluate.choices import letter_of, options_of, shown

OPTIONS = (("A", "red"), ("B", "dark red"), ("C", "green"))


@pytest.mark.parametrize(
    ("raw", "question", "options"),
    [
        ({"options": {"A": "red", "b": "dark red", "C": "green"}}, "Which?", OPTIONS),
        ({"options": ["red", "B. dark red", "(C) green"]}, "Which?", OPTIONS),
        ({"choices": ["1", 2]}, "Which?", (("A", "1"), ("B", "2"))),
        ({}, "Which?\nA. red\nB. dark red\nC. green", OPTIONS),
        ({}, "Which? (A) red (B) dark red (C) green", OPTIONS),
        ({}, "Which? A) red B) dark red C) green", OPTIONS),
        ({}, "Did I meet A. Smith?", ()),
        ({"options": {"X": "red", "Y": "green"}}, "Which?", ()),
        ({"options": ["red"]}, "Which?", ()),
    ],
)
def test_options(raw: dict[str, Any], question: str, options: Any) -> None:
    assert options_of(raw, question) == options


@pytest.mark.parametrize(
    ("answer", "letter"),
    [
        ("B", "B"),
        ("b", "B"),
        ("(C)", "C"),
        ("C. green", "C"),
        ("The answer is B.", "B"),
        ("A dark red one", "B"),
        ("It was green.", "C"),
        ("dark red", "B"),
        ("red or green: dark red or green", None),
        ("red or green", None),
        ("D", None),
        ("Information not found", None),
        ("", None),
    ],
)
def test_letters(answer: str, letter: str | None) -> None:
    assert letter_of(answer, OPTIONS) == letter


def test_options_are_shown_once() -> None:
    assert shown("Which?", OPTIONS) == "Which?\nA. red\nB. dark red\nC. green"
    assert shown("Which? A. red B. green", OPTIONS) == "Which? A. red B. green"
    assert shown("Which?", ()) == "Which?"
