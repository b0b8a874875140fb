"""Configurations of retrieval by name: what each changes of the settings it is run with."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from configs.settings import RetrievalSettings
from operators.errors import UsageError

CONFIGURED = "configured"
"""The settings as they are."""

ABLATIONS: Mapping[str, Mapping[str, Any]] = {
    CONFIGURED: {},
    "dense": {"signals": ["dense"]},
    "bm25": {"signals": ["bm25"]},
    "uniform-rrf": {"signals": ["dense", "bm25"], "kappa": 60, "pool": 20},
    "no-neighbours": {"neighbours": 0},
}
"""What each name changes of the ``retrieval`` section."""


def configurations(retrieval: RetrievalSettings, names: Sequence[str]) -> dict[str, RetrievalSettings]:
    """The settings of each name in its order, each once; those configured where there is no name.

    UsageError, listing what there is, for an unknown name.
    """
    unknown = [name for name in names if name not in ABLATIONS]
    if unknown:
        raise UsageError(f"no ablation is called {unknown[0]!r}; there are {', '.join(ABLATIONS)}")
    return {name: _changed(retrieval, ABLATIONS[name]) for name in names or (CONFIGURED,)}


def _changed(retrieval: RetrievalSettings, changes: Mapping[str, Any]) -> RetrievalSettings:
    values = _merged(retrieval.model_dump(mode="json"), changes)
    return RetrievalSettings.model_validate_json(json.dumps(values), strict=True)


def _merged(values: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """``values`` with the changes; sections within are merged, not replaced."""
    merged = dict(values)
    for key, value in changes.items():
        inner = merged.get(key)
        merged[key] = _merged(inner, value) if isinstance(inner, dict) and isinstance(value, Mapping) else value
    return merged
