"""Ablations change what they name and nothing else."""

from __future__ import annotations

import numpy as np
import pytest

from configs.settings import RetrievalSettings
from jobs.evaluate.ablations import ABLATIONS, configurations
from operators.encode.stub import Stub
from operators.errors import UsageError
from operators.retrieve.anchors import NoAnchors
from operators.retrieve.find import Finding, Query, find
from operators.retrieve.index import UserIndex
from operators.retrieve.told import Pictures, Told
from operators.retrieve.values import CASES, SearchValues


def test_no_name_is_the_settings_as_they_are() -> None:
    retrieval = RetrievalSettings(k=7)
    assert configurations(retrieval, []) == {"configured": retrieval}


def test_the_rest_of_the_settings_stays() -> None:
    found = configurations(RetrievalSettings(k=7, neighbours=2), ["bm25", "no-neighbours", "bm25"])
    assert list(found) == ["bm25", "no-neighbours"]
    assert (found["bm25"].text, found["bm25"].k, found["bm25"].neighbours) == ({"bm25": 1.0}, 7, 2)
    assert found["no-neighbours"].neighbours == 0


@pytest.mark.parametrize("name", sorted(ABLATIONS))
def test_every_ablation_is_settings(name: str) -> None:
    changed = configurations(RetrievalSettings(k=7, neighbours=3, pool=11), [name])[name]
    assert (changed == RetrievalSettings(k=7, neighbours=3, pool=11)) == (name == "configured")


def test_an_unknown_name_is_told_what_there_is() -> None:
    with pytest.raises(UsageError, match=r"'vanila'; there are configured, dense"):
        configurations(RetrievalSettings(), ["dense", "vanila"])


# --- each asks the same small history -------------------------------------------------------------------------------

STUB = Stub()
TEXTS = (
    "Ana: the ferry was late",
    "a brown terrier",
    "it was cold",
    "the tax form",
    "Ben: he barks",
    None,
    "calm water",
    "noon",
)
SHOWN = (1, 5, 6)
"""Units, each a round, that are pictures: the first and last with captions."""


def index() -> UserIndex:
    count, pictures = len(TEXTS), np.isin(np.arange(len(TEXTS)), SHOWN)
    days = [f"{day} May 2023 Monday" for day in range(count)]
    told = Told(np.arange(count), TEXTS, pictures, np.arange(count) // 3, days, pictures, frozenset({"Ana", "Ben"}))
    seen = np.array([text is not None for text in TEXTS], np.float32)[:, None]
    vectors = STUB.encode([text or "" for text in TEXTS]) * seen
    return UserIndex(told, vectors, Pictures(np.array(SHOWN), np.eye(3, 4, dtype=np.float32)))


INDEX = index()
QUERIES = {
    "text_to_text": Query("how many times did Ana see the late ferry on 2 May?"),
    "text_to_image": Query("which picture shows the tax form?"),
    "picture_to_text": Query("what is it?", picture=np.eye(4, dtype=np.float32)[1], caption="calm water"),
    "picture_to_image": Query("which picture is like this?", picture=np.eye(4, dtype=np.float32)[1]),
}


def asked(values: SearchValues) -> dict[str, Finding]:
    return {case: find(INDEX, query, STUB.encode, NoAnchors(), values) for case, query in QUERIES.items()}


@pytest.mark.parametrize("name", sorted(ABLATIONS))
def test_every_ablation_answers_every_case(name: str) -> None:
    retrieval = configurations(RetrievalSettings(k=3), [name])[name]
    values = retrieval.values()
    values.check()
    found = asked(values)
    assert tuple(found) == CASES
    assert {case: finding.route.case for case, finding in found.items()} == {case: case for case in CASES}
    assert found["text_to_text"].hits, name
    for finding in found.values():
        hits = [hit.order for hit in finding.hits]
        assert len(hits) == len(set(hits)) <= (30 if name == "aggregation" else 3)
        assert set(hits) <= {order for run in finding.runs for order in run} <= set(range(len(TEXTS)))
        named = {signal for hit in finding.hits for signal in hit.signals}
        assert named <= {signal for signal, weight in (*values.text.items(), *values.image.items()) if weight > 0}


@pytest.mark.parametrize(
    ("name", "changed"),
    [
        ("no-routing", set(CASES)),
        ("no-image-rounds", {"text_to_image"}),
        ("image-rounds-0", {"text_to_image"}),
        ("text-to-image-text", {"text_to_image"}),
        ("picture-to-text-no-text", {"picture_to_text"}),
        ("picture-to-text-equal", {"picture_to_text"}),
        ("picture-to-image-text", {"picture_to_image"}),
        ("no-nameless", {"text_to_text"}),
        ("aggregation", {"text_to_text"}),
        ("no-neighbours", set(CASES)),
        ("tail", set(CASES)),
    ],
)
def test_an_ablation_changes_its_cases_alone(name: str, changed: set[str]) -> None:
    """Each case is told by its own query, so nothing but what is ablated can differ."""
    retrieval = RetrievalSettings(k=3)
    before, after = asked(retrieval.values()), asked(configurations(retrieval, [name])[name].values())
    assert {case for case in CASES if before[case] != after[case]} == changed
