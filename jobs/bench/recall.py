"""Evidence recall of the product's own search on the shared conversations."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from configs.settings import RetrievalSettings, Settings
from jobs.backfill import BackfillRequest, backfill
from jobs.bench.conversations import folders, questions
from jobs.bench.encoders import Choice
from jobs.bench.machine import cores
from jobs.evaluate.questions import Question
from jobs.evaluate.recall import Recall, evidence_recall
from operators.memory import Memory, open_store
from operators.records import DEFAULT_TENANT
from operators.retrieve.result import SearchResult

SIGNALS: tuple[tuple[str, ...], ...] = (("bm25",), ("dense",), ("dense", "bm25"))

Tell = Callable[[str], None]


@dataclass(frozen=True)
class RecallRow:
    """One benchmark, one encoder, one set of signals; ``asked`` questions, of which ``questions`` have known evidence."""

    benchmark: str
    encoder: str
    signals: tuple[str, ...]
    asked: int
    questions: int
    at_k: float
    with_neighbours: float


def measure_recall(data: Path, settings: Settings, chosen: Sequence[Choice], *, tell: Tell) -> list[RecallRow]:
    """Backfill the conversations with each encoder and ask every question, with the ``retrieval`` settings but signals."""
    found = folders(data)
    rows: list[RecallRow] = []
    for choice in chosen:
        with tempfile.TemporaryDirectory() as store:
            tell(f"{choice.name}: backfill")
            request = BackfillRequest(tuple(str(folder) for folder in found.values()), store, DEFAULT_TENANT)
            backfill(request, choice.settings(settings), lambda _: None)
            memory = open_store(store).memory(DEFAULT_TENANT)
            for name, folder in found.items():
                tell(f"{choice.name}: the questions of {name}")
                rows += _of_benchmark(name, choice, memory, questions(folder), settings.retrieval)
    return rows


def _of_benchmark(
    name: str, choice: Choice, memory: Memory, asked: Sequence[Question], retrieval: RetrievalSettings
) -> list[RecallRow]:
    texts = list(dict.fromkeys(question.text for question in asked))
    vectors = dict(zip(texts, choice.load(cores()).encode(texts), strict=True))
    rows = []
    for signals in SIGNALS:
        recall = _recall(memory, asked, vectors, signals, retrieval)
        said = (recall.questions, recall.at_k, recall.with_neighbours)
        rows.append(RecallRow(name, choice.name, signals, len(asked), *said))
    return rows


def _recall(
    memory: Memory,
    asked: Sequence[Question],
    vectors: dict[str, NDArray[np.float32]],
    signals: tuple[str, ...],
    retrieval: RetrievalSettings,
) -> Recall:
    # The encoders are compared, so nothing but their signals takes part: V-Mem's, fused uniformly.
    one = {"fusion": "reciprocal-rank", "routing": False, "dates": False, "nameless": 0.0, "spread": 0.0, "image": {}}
    text = dict.fromkeys(signals, 1.0)
    values = RetrievalSettings.model_validate({**retrieval.model_dump(), **one, "text": text}).values()

    def search(user: str, query: str) -> SearchResult:
        return memory.search(
            user,
            query,
            values=values,
            vector=vectors[query],
        )

    return evidence_recall(search, asked, lambda user: memory.rounds(user).iter_rows(named=True))
