"""Answers in the conversation's own words: the sentence that answers, the picture asked for, or that nothing does."""

from __future__ import annotations

from dataclasses import replace

from shown import MEANING, question

from operators.ask.outcomes import Passage, Passages, Said, Shown
from operators.ask.question import Picture
from operators.ask.rules import extract


def passage(round_id: str, *texts: str, picture: str | None = None) -> Passage:
    shown = () if picture is None else (Shown("m" + round_id, picture, None, 0),)
    return Passage("round", "s", round_id, 0, None, None, 1.0, tuple(Said("user", text) for text in texts), shown)


def found(*passages: Passage) -> Passages:
    return Passages("q", "text_to_text", passages)


FISH = passage("r1", "We fed the cat. The cat Pixel eats fish only. Is that fine?", "Fine.")
TREE = passage("r2", "The apple tree was planted in March.", picture="tree.png")


def test_the_sentence_that_says_most_of_the_question_with_its_place() -> None:
    said = extract.answer(question("What food does the cat Pixel eat, fish?"), found(TREE, FISH), MEANING)
    assert said is not None
    assert said.text == "The cat Pixel eats fish only."
    (cited,) = said.citations
    assert FISH.messages[cited.message or 0].text[cited.start : cited.end] == said.text


def test_where_nothing_is_near_enough_there_is_no_answer() -> None:
    assert extract.answer(question("Who won the election?"), found(FISH, TREE), MEANING) is None


def test_which_picture_is_answered_by_its_name() -> None:
    said = extract.answer(question("Which picture shows the tree?"), found(FISH, TREE), MEANING)
    assert said is not None
    assert said.text == "tree.png"
    assert said.citations[0].media == "mr2"


def test_what_was_mentioned_is_so_where_one_round_says_all_of_it() -> None:
    yes = extract.answer(question("Did I mention an apple tree?"), found(FISH, TREE), MEANING)
    no = extract.answer(question("Did I mention a pear tree?"), found(FISH, TREE), MEANING)
    assert yes is not None and yes.text == "Yes" and yes.citations[0].round_id == "r2"
    assert no is not None and no.text == "Not mentioned" and no.status == "not found"


def test_a_question_with_a_stored_picture_is_answered_from_its_round() -> None:
    asked = replace(question("What about this one?"), picture=Picture(None, "mr2", "r2", None, 0.97))
    said = extract.answer(asked, found(FISH, TREE), MEANING)
    assert said is not None
    assert said.text == "The apple tree was planted in March."
