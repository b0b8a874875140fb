"""Descriptions and names without a model: the sentences and words that tell a level best."""

from __future__ import annotations

import heapq
import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from operators.hierarchy.terms import Sentence

Describe = Callable[[str, Sequence[str]], tuple[str, str]]
"""A model's words: given a level (``topic``, ``episode``, ``event``) and what was said in it, in order, a name and a
description. What it leaves blank is made here."""

_FLOOR = 0.1
"""What a sentence far from its level still weighs beside one in its midst: texts without vectors are told too."""

_ANSWER = 0.6
"""What an assistant's sentence weighs beside a person's."""


@dataclass(frozen=True)
class Said:
    """A sentence of a round: who said it (empty where nobody has a name) and its unit's cosine with the level (-1 to 1).

    ``answers``: it is an assistant's, whose words tell less of a user's history than their own.
    """

    sentence: Sentence
    speaker: str
    nearness: float
    answers: bool


class Terms:
    """In how many rounds each word stands; counts of disjoint rounds add."""

    def __init__(self) -> None:
        self.rounds = 0
        self.counts: Counter[str] = Counter()

    def add(self, words: Iterable[str], rounds: int = 1) -> None:
        """Count words of a round, each once."""
        self.rounds += rounds
        self.counts.update(words)

    def merge(self, other: Terms) -> None:
        """Add what another counted."""
        self.rounds += other.rounds
        self.counts.update(other.counts)


def weights(inside: Terms, everywhere: Terms) -> dict[str, float]:
    """How well each word of a level tells it from the user's other rounds (``everywhere`` holds the level's own too).

    The square root of the rounds that say it, times how much more often the level's rounds do than others, in logarithms.
    """
    others = everywhere.rounds - inside.rounds
    found: dict[str, float] = {}
    for word, count in inside.counts.items():
        within = count / inside.rounds
        without = (everywhere.counts[word] - count + 0.5) / (others + 1)
        found[word] = math.sqrt(count) * math.log1p(within / without) * (0.5 if word[0].isdigit() else 1.0)
    return found


def name_of(tellings: Mapping[str, float], said: Iterable[Sentence], most: int) -> str:
    """The most telling words of a level, as most often written, the best first; empty without any. Numbers name nothing."""
    chosen = _best_words(tellings, most)
    forms: dict[str, Counter[str]] = {word: Counter() for word in chosen}
    for sentence in said:
        if not sentence.keys.isdisjoint(forms):
            for key, form in sentence.words:
                if key in forms:
                    forms[key][form] += 1
    return ", ".join(min(forms[word].items(), key=lambda form: (-form[1], form[0].swapcase()))[0] for word in chosen)


def _best_words(tellings: Mapping[str, float], most: int) -> list[str]:
    ranked = sorted((word for word in tellings if not word[0].isdigit()), key=lambda word: (-tellings[word], word))
    chosen: list[str] = []
    for word in ranked:
        if len(chosen) == most:
            break
        if not any(word in other or other in word for other in chosen):  # cat, cats; 公園, 園の
            chosen.append(word)
    return chosen


def described(said: Sequence[Said], tellings: Mapping[str, float], sentences: int, characters: int) -> str:
    """The most telling sentences, in the order they were said, of at most ``characters``; empty where nothing was said.

    A sentence weighs what its words tell that no sentence chosen before told, against its length, times how near its unit is
    to the level.
    """
    told: set[str] = set()
    chosen: list[tuple[int, Said]] = []
    room = characters
    # What a sentence is worth only falls while others are chosen, so the best is the first whose worth is up to date.
    heap = [(-_worth(each, tellings, told), place, 0) for place, each in enumerate(said)]
    heapq.heapify(heap)
    while heap and len(chosen) < sentences and room > 0:
        worth, place, known = heapq.heappop(heap)
        best = said[place]
        if known < len(chosen):
            heapq.heappush(heap, (-_worth(best, tellings, told), place, len(chosen)))
            continue
        if chosen and (worth == 0 or len(best.sentence.text) > room):
            break
        chosen.append((place, best))
        told |= best.sentence.keys
        room -= len(best.sentence.text) + len(best.speaker) + 3
    return _cut(" ".join(_shown(chosen)), characters)


def _worth(each: Said, tellings: Mapping[str, float], told: set[str]) -> float:
    words = each.sentence.words
    new = sum(tellings.get(key, 0.0) for key in each.sentence.keys - told)
    return new / math.sqrt(len(words) + 4) * max(each.nearness, _FLOOR) * (_ANSWER if each.answers else 1.0)


def _shown(chosen: list[tuple[int, Said]]) -> Iterator[str]:
    """The sentences in order, each speaker named where they begin."""
    before = ""
    for _, each in sorted(chosen, key=lambda item: item[0]):
        named = f"{each.speaker}: " if each.speaker and each.speaker != before else ""
        before = each.speaker
        yield named + each.sentence.text


def _cut(text: str, characters: int) -> str:
    """At most so many characters, cut between words where there are some; a cut is marked with an ellipsis."""
    if len(text) <= characters:
        return text
    short = text[: characters - 1]
    space = short.rfind(" ", characters // 2)
    return (short[:space] if space > 0 else short).rstrip(" ,;:-") + "\u2026"
