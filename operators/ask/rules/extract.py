"""Answers in the conversation's own words: the sentence of the rounds found that says most of what is asked."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from operators.ask.outcomes import Citation, Passage, Passages
from operators.ask.question import Question
from operators.ask.rules.meaning import Meaning
from operators.ask.steps import AnswerValue, Status

_SENTENCE = re.compile(r"[^.!?\n]+(?:[.!?](?!\s|$)[^.!?\n]*)*[.!?]?")
_ROUNDS = 4
_SENTENCES = 12
_LONGEST = 400
_LEAST = 0.35
"""What a sentence must reach (cosine and part of the question's words, half each) to be an answer."""
_WHICH_PICTURE = re.compile(r"\b(?:which|what) (?:image|photo|picture|pic|screenshot)s?\b", re.IGNORECASE)
_MENTIONED = re.compile(
    r"^\W*(?:did|has|have|do|does) (?:i|we|you|he|she|they|[A-Z]\w+)(?: \w+)? (?:ever )?"
    r"(?:mention(?:ed)?|say|talk(?:ed)?|discuss(?:ed)?|tell|told)\b"
    r"(?: (?:about|of|that|any(?: specific)?|you))*(?P<what>.*)",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Extract:
    """What rounds say to a question, or that they do not."""

    text: str
    status: Status
    value: AnswerValue | None
    citations: tuple[Citation, ...]


@dataclass(frozen=True)
class _Sentence:
    text: str
    message: int
    start: int
    passage: Passage
    place: int


def answer(question: Question, found: Passages, meaning: Meaning) -> Extract | None:
    """The sentence that answers best, or the picture that is asked for; None where none is near enough."""
    if _WHICH_PICTURE.search(question.text):
        shown = next(((each, each.pictures[0]) for each in (*found.passages, *found.around) if each.pictures), None)
        if shown is not None:
            passage, picture = shown
            cited = Citation(
                passage.session_id, passage.round_id, passage.order, "picture", media=picture.media, day=passage.day
            )
            return Extract(picture.name, "answered", AnswerValue("text", picture.name), (cited,))
    mentioned = _MENTIONED.search(question.text)
    if mentioned is not None and mentioned["what"].strip(" ?.!"):
        return _mentioned(mentioned["what"], found, meaning)
    of_picture = _of_picture(question, found)
    if of_picture:
        # The picture is the one of this round, so what the round says is about it, in whatever words it is asked.
        return _best(question, of_picture, meaning, 0.0)
    return _best(question, found.passages[:_ROUNDS], meaning, _LEAST)


def _of_picture(question: Question, found: Passages) -> list[Passage]:
    """The round that shows the picture of the question, where it was found."""
    picture = question.picture
    if picture is None or picture.round_id is None:
        return []
    return [each for each in (*found.passages, *found.around) if each.round_id == picture.round_id][:1]


def _mentioned(what: str, found: Passages, meaning: Meaning) -> Extract:
    wanted = set(meaning.words(what))
    for passage in found.passages:
        said = {word for message in passage.messages for word in meaning.words(message.text)}
        said |= {word for picture in passage.pictures for word in meaning.words(picture.caption or "")}
        if wanted and wanted <= said:
            return Extract("Yes", "answered", AnswerValue("yes-no", "yes"), (passage.citation,))
    return Extract("Not mentioned", "not found", AnswerValue("text", "Not mentioned"), ())


def _best(question: Question, passages: Sequence[Passage], meaning: Meaning, least: float) -> Extract | None:
    wanted = set(meaning.words(question.text))
    sentences = [(each, _overlap(wanted, each, meaning)) for each in _sentences(passages)]
    sentences.sort(key=lambda pair: (-(pair[1] - 0.05 * pair[0].place), pair[0].place))
    chosen = sentences[:_SENTENCES]
    if not chosen:
        return None
    cosines = meaning.alike(question.text, [each.text for each, _ in chosen])
    scored = [
        (0.5 * cosine + 0.5 * overlap - 0.02 * each.place, cosine, overlap, each)
        for cosine, (each, overlap) in zip(cosines, chosen, strict=True)
    ]
    score, _, _, best = max(scored, key=lambda each: each[0])
    if score < least:
        return None
    passage = best.passage
    end = best.start + len(best.text)
    cited = Citation(
        passage.session_id, passage.round_id, passage.order, "span", message=best.message, start=best.start, end=end,
        text=best.text, day=passage.day,
    )  # fmt: skip
    return Extract(best.text, "answered", AnswerValue("text", best.text), (cited,))


def _overlap(wanted: set[str], sentence: _Sentence, meaning: Meaning) -> float:
    return len(wanted & set(meaning.words(sentence.text))) / len(wanted) if wanted else 0.0


def _sentences(passages: Sequence[Passage]) -> Iterator[_Sentence]:
    for place, passage in enumerate(passages):
        for message, said in enumerate(passage.messages):
            for found in _SENTENCE.finditer(said.text):
                text = found[0].strip()
                if len(text) > 2 and not text.endswith("?"):
                    start = found.start() + found[0].index(text)
                    yield _Sentence(text[:_LONGEST], message, start, passage, place)
