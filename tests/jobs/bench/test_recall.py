"""Recall through the product's search on conversations whose answers are plain."""

from __future__ import annotations

from pathlib import Path

import pytest

from configs.settings import Settings
from jobs.bench.encoders import Choice
from jobs.bench.recall import SIGNALS, measure_recall


@pytest.mark.usefixtures("ray_cluster")
def test_recall_by_benchmark_and_signal(conversations: Path, settings: Settings) -> None:
    one = settings.model_copy(update={"retrieval": settings.retrieval.model_copy(update={"k": 1})})
    rows = measure_recall(conversations, one, [Choice("stub", "fp32")], tell=lambda _: None)
    assert [(row.benchmark, row.signals) for row in rows] == [
        (name, signals) for name in ("mem_gallery", "locomo") for signals in SIGNALS
    ]
    for row in rows:
        assert row.asked == row.questions == 5
        assert 0 < row.at_k <= row.with_neighbours <= 1
    assert [row.at_k for row in rows if row.signals == ("bm25",)] == [1.0, 1.0]
