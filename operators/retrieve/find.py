"""One search: what each lane searches with, by the query's route; the rounds found, and how they are shown."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from operators.errors import UsageError
from operators.retrieve.anchors import MOST_KEYWORDS, Anchors
from operators.retrieve.assemble import place
from operators.retrieve.fuse import Fused
from operators.retrieve.index import Probe, UserIndex
from operators.retrieve.lanes import Floats, unit_length
from operators.retrieve.route import Route, route
from operators.retrieve.values import Lane, SearchValues
from operators.retrieve.words import is_function_word

Encode = Callable[[Sequence[str]], Floats]
"""Texts to unit vectors (n, dim)."""

_POSSESSIVE = re.compile(r"['\u2019]s$")


@dataclass(frozen=True)
class Query:
    """``text`` is blank for a picture alone. ``vector`` (dim,): the text's, where it is at hand. ``image``: the bytes of the
    picture that comes with it, ``picture`` (image dim,) their vector, ``caption`` what it shows."""

    text: str
    vector: Floats | None = None
    image: bytes | None = None
    picture: Floats | None = None
    caption: str | None = None

    @property
    def pictured(self) -> bool:
        """Whether a picture, or what one shows, comes with it."""
        return self.picture is not None or self.caption is not None

    def check(self) -> None:
        """UsageError where there is nothing to look for."""
        if not isinstance(self.text, str) or not (self.text.strip() or self.pictured):
            raise UsageError("the query is blank: say what to look for, or give a picture")
        if self.caption is not None and not (isinstance(self.caption, str) and self.caption.strip()):
            raise UsageError("the caption is blank: say what the picture shows, or leave it out")


@dataclass(frozen=True)
class Finding:
    """``hits``: best first. ``runs``: their orders and those of their neighbours, as they are shown."""

    route: Route
    hits: list[Fused]
    runs: list[list[int]]


def find(index: UserIndex, query: Query, encode: Encode, anchors: Anchors, values: SearchValues) -> Finding:
    """Search one user's rounds. UsageError for a blank query."""
    query.check()
    asked = route(query.text, picture=query.pictured)
    probes = _probes(index, query, asked, encode, anchors, values)
    scattered = values.aggregation and asked.aggregates
    shown = replace(values, neighbours=0) if scattered else values
    found = index.search(probes, asked, shown, values.aggregation_k if scattered else values.k)
    first: dict[int, Fused] = {}
    for hit in found:  # of units, several may be of one round
        first.setdefault(hit.order, hit)
    hits = list(first.values())
    kept, runs = place([hit.order for hit in hits], shown.neighbours, index.told.rounds, values.placement)
    shown_orders = set(kept)
    return Finding(asked, [hit for hit in hits if hit.order in shown_orders], runs)


def nameless(query: str, names: frozenset[str]) -> str | None:
    """The query's words without those of grammar and of the speakers it names; None where it names none or has no others.

    A speaker's name stands in every other unit of a dialogue of two, and would draw the vector to all of them.
    """
    parts = {part for name in names for part in name.split()}
    folded = {part.casefold() for part in parts if not is_function_word(part.casefold())}
    left: list[str] = []
    named = False
    for at, written in enumerate(query.split()):
        word = _POSSESSIVE.sub("", _bare(written))
        # A name that is also a word of grammar (Will, May) is one where it is written like one.
        if word.casefold() in folded or (at > 0 and word in parts):
            named = True
        elif word and not is_function_word(word.casefold()):
            left.append(word)
    return " ".join(left) if named and left else None


def _bare(word: str) -> str:
    """Without punctuation and symbols around it; vowel signs, which end words of many scripts, stay."""
    kept = [at for at, letter in enumerate(word) if unicodedata.category(letter)[0] in "LMN"]
    return word[kept[0] : kept[-1] + 1] if kept else ""


def _probes(
    index: UserIndex, query: Query, asked: Route, encode: Encode, anchors: Anchors, values: SearchValues
) -> dict[Lane, Probe]:
    said = query.text.strip()
    text, caption = said, query.caption
    if asked.case == "picture_to_text":
        text = " ".join([text, *list(anchors.keywords(text, query.image, caption))[:MOST_KEYWORDS]]).strip()
    if caption and not _captions_count(index, asked, values):
        text, caption = f"{text} {caption}".strip(), None
    if asked.case == "text_to_image" and not asked.counts:
        caption = anchors.caption(text)
    vectors = _vectors(text, query.vector if text == said else None, caption, index.told.names, encode, values)
    words = Probe(text, vectors.get(text))
    if caption:
        return {"text": words, "image": Probe(caption, vectors.get(caption), query.picture)}
    return {"text": words, "image": Probe(picture=query.picture) if query.pictured else words}


def _captions_count(index: UserIndex, asked: Route, values: SearchValues) -> bool:
    """Whether what the query's picture shows can be compared with what stored pictures show; else it is text to look for."""
    signals = values.image.get("caption-dense", 0.0) > 0 or values.image.get("caption-bm25", 0.0) > 0
    return signals and index.captioned and values.lanes_of(asked.case).get("image", 0.0) > 0


def _vectors(
    text: str, given: Floats | None, caption: str | None, names: frozenset[str], encode: Encode, values: SearchValues
) -> dict[str, Floats]:
    """The vectors (dim,) of the text, its part without names added, and of the caption; ``given``: the text's own."""
    if not _needs_vectors(values):
        return {}
    bare = nameless(text, names) if values.nameless > 0 else None
    wanted = list(dict.fromkeys(each for each in (text if given is None else None, bare, caption) if each))
    vectors = dict(zip(wanted, encode(wanted), strict=True)) if wanted else {}
    whole = given if given is not None else vectors.get(text)
    if whole is not None and bare:
        whole = unit_length((unit_length(whole[None]) + np.float32(values.nameless) * vectors[bare])[0][None])[0]
    return vectors if whole is None else {**vectors, text: whole}


def _needs_vectors(values: SearchValues) -> bool:
    dense = [weight for name, weight in values.text.items() if name.startswith("dense")]
    return any(weight > 0 for weight in (*dense, values.image.get("caption-dense", 0.0)))
