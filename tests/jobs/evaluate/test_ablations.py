"""Ablations change what they name and nothing else."""

from __future__ import annotations

import pytest

from configs.settings import RetrievalSettings
from jobs.evaluate.ablations import ABLATIONS, configurations
from operators.errors import UsageError


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
