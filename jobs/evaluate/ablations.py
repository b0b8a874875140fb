"""Configurations of retrieval and of asking by name: what each changes of the settings it is run with."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from configs.settings import AskingSettings, RetrievalSettings, Section
from operators.errors import UsageError
from operators.retrieve.values import LANES, TEXT

CONFIGURED = "configured"
"""The settings as they are."""

Settings = TypeVar("Settings", bound=Section)

_PAPER: Mapping[str, Any] = {
    "fusion": "reciprocal-rank",
    "text": {"dense": 1.0, "bm25": 1.0},
    "image": {"visual": 1.0, "caption-dense": 1.0, "caption-bm25": 1.0},
    "lanes": {
        "text_to_text": {"text": 1.0, "image": 0.0},
        "text_to_image": {"text": 1.0, "image": 1.0},
        "picture_to_text": {"text": 1.0, "image": 1.0},
        "picture_to_image": {"text": 0.0, "image": 1.0},
    },
    "dates": False,
    "nameless": 0.0,
    "spread": 0.0,
}
"""V-Mem as published, without a model's anchors."""

_BARE: Mapping[str, Any] = {"items": "units", "placement": "none", "neighbours": 0, "image_rounds": None}
_ONE = {"fusion": "reciprocal-rank", "routing": False, "dates": False, "nameless": 0.0, "spread": 0.0, "image": {}}


def _text_without(*names: str) -> dict[str, Any]:
    return {"text": {name: weight for name, weight in TEXT.items() if name not in names}}


def _lanes(case: str, text: float, image: float) -> dict[str, Any]:
    every = {name: dict(weights) for name, weights in LANES.items()}
    return {"lanes": {**every, case: {"text": text, "image": image}}}


ABLATIONS: Mapping[str, Mapping[str, Any]] = {
    CONFIGURED: {},
    "dense": {**_ONE, "text": {"dense": 1.0}},
    "bm25": {**_ONE, "text": {"bm25": 1.0}},
    "uniform-rrf": {**_ONE, "text": {"dense": 1.0, "bm25": 1.0}},
    "vanilla": {**_PAPER, **_BARE, "routing": False},
    "vanilla+routing": {**_PAPER, **_BARE},
    "vanilla+routing+rounds": _PAPER,
    "no-routing": {"routing": False},
    "reciprocal-rank": {"fusion": "reciprocal-rank", "spread": 0.0},
    "equal-weights": {"text": dict.fromkeys(TEXT, 1.0)},
    "units": {**_BARE, "image_rounds": 1},
    "no-context": _text_without("dense-context", "bm25-context"),
    "no-session": _text_without("dense-session", "bm25-session"),
    "no-context-no-session": {"text": {"dense": 2.0, "bm25-round": 1.0}},
    "no-dense": _text_without("dense", "dense-context", "dense-session"),
    "no-bm25": _text_without("bm25-round", "bm25-context", "bm25-session"),
    "unit-bm25": {"text": {**{name: weight for name, weight in TEXT.items() if name != "bm25-round"}, "bm25": 1.0}},
    "no-dates": {"dates": False},
    "no-nameless": {"nameless": 0.0},
    "no-spread": {"spread": 0.0},
    "spread-2": {"spread": 2.0},
    "no-folding": {"fold_captions": False},
    "no-image-rounds": {"image_rounds": None},
    "image-rounds-0": {"image_rounds": 0},
    "image-rounds-2": {"image_rounds": 2},
    "text-to-image-text": _lanes("text_to_image", 1.0, 0.0),
    "picture-to-text-no-text": _lanes("picture_to_text", 0.0, 1.0),
    "picture-to-text-equal": _lanes("picture_to_text", 1.0, 1.0),
    "picture-to-image-text": _lanes("picture_to_image", 1.0, 1.0),
    "no-neighbours": {"neighbours": 0},
    "tail": {"placement": "tail"},
    "interleave": {"placement": "interleave"},
    "aggregation": {"aggregation": True},
}
"""What each name changes of the ``retrieval`` section; a mapping within is replaced whole."""


ASKING: Mapping[str, Mapping[str, Any]] = {
    CONFIGURED: {},
    "without-analytic": {"analytic": False},
    "without-retrieval": {"retrieval": False},
    "without-context": {"tables": None, "episodes": None},
    "without-progressive": {"progressive": False},
}
"""What each name changes of the ``asking`` section (AdaMM's ablations). Without context a planner is shown all there is."""


def configurations(retrieval: RetrievalSettings, names: Sequence[str]) -> dict[str, RetrievalSettings]:
    """The settings of each name in its order, each once; those configured where there is no name.

    UsageError, listing what there is, for an unknown name.
    """
    return _configurations(retrieval, ABLATIONS, names)


def asking_configurations(asking: AskingSettings, names: Sequence[str]) -> dict[str, AskingSettings]:
    """As ``configurations``, of asking."""
    return _configurations(asking, ASKING, names)


def _configurations(
    section: Settings, ablations: Mapping[str, Mapping[str, Any]], names: Sequence[str]
) -> dict[str, Settings]:
    unknown = [name for name in names if name not in ablations]
    if unknown:
        raise UsageError(f"no ablation is called {unknown[0]!r}; there are {', '.join(ablations)}")
    return {name: _changed(section, ablations[name]) for name in names or (CONFIGURED,)}


def _changed(section: Settings, changes: Mapping[str, Any]) -> Settings:
    values = {**section.model_dump(mode="json"), **changes}
    return type(section).model_validate_json(json.dumps(values), strict=True)
