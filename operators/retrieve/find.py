"""One search: what each lane searches with, by the query's route; the rounds found, and how they are shown."""

from __future__ import annotations

import re
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

_WORD = re.compile(r"[\w'\u2019-]+")
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
        if self.caption is not None and not self.caption.strip():
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
    return Finding(asked, [hit for hit in hits if hit.order in set(kept)], runs)


def nameless(query: str, names: frozenset[str]) -> str | None:
    """The query's words without those of grammar and of the speakers it names; None where it names none or has no others.

    A speaker's name stands in every other unit of a dialogue of two, and would draw the vector to all of them.
    """
    parts = {part.casefold() for name in names for part in _WORD.findall(name)}
    written = _WORD.findall(query)
    bare = [_POSSESSIVE.sub("", word).casefold() for word in written]
    if not parts.intersection(bare):
        return None
    left = [word for word, plain in zip(written, bare, strict=True) if plain not in parts and not is_function_word(plain)]
    return " ".join(left) or None


def _probes(
    index: UserIndex, query: Query, asked: Route, encode: Encode, anchors: Anchors, values: SearchValues
) -> dict[Lane, Probe]:
    text, caption = query.text.strip(), query.caption
    if asked.case == "picture_to_text":
        text = " ".join([text, *list(anchors.keywords(text, query.image, caption))[:MOST_KEYWORDS]]).strip()
    elif asked.case == "text_to_image" and not asked.counts:
        caption = anchors.caption(text)
    if caption and not index.captioned:
        text, caption = f"{text} {caption}".strip(), None
    given = query.vector if text == query.text.strip() else None
    if not _needs_vectors(values):
        return {"text": Probe(text), "image": Probe(caption or ("" if query.pictured else text), picture=query.picture)}
    bare = nameless(text, index.told.names) if given is None and values.nameless > 0 else None
    wanted = [each for each in (text if given is None else None, bare, caption) if each]
    vectors = dict(zip(wanted, encode(wanted), strict=True)) if wanted else {}
    whole = given if given is not None else vectors.get(text)
    if whole is not None and bare:
        whole = unit_length((whole + np.float32(values.nameless) * vectors[bare])[None])[0]
    words = Probe(text, whole)
    if caption:
        return {"text": words, "image": Probe(caption, vectors[caption], query.picture)}
    return {"text": words, "image": Probe(picture=query.picture) if query.pictured else words}


def _needs_vectors(values: SearchValues) -> bool:
    dense = [weight for name, weight in values.text.items() if name.startswith("dense")]
    return any(weight > 0 for weight in (*dense, values.image.get("caption-dense", 0.0)))
