"""Ingest: the pipeline's rate beside the encoder alone and beside one call of sentence-transformers, all in one run."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from configs.settings import Settings
from jobs.backfill import BackfillReport, BackfillRequest, backfill
from jobs.bench.alone import rate_alone
from jobs.bench.apart import apart
from jobs.bench.baseline import Checkpoint, call_per_batch, find_checkpoint, whole_call
from jobs.bench.conversations import folders, questions, write_sessions
from jobs.bench.encoders import Choice
from jobs.bench.figures import Spread
from jobs.bench.machine import cores
from jobs.bench.query import QueryTimes, query_times
from jobs.bench.rates import EncoderRates, PipelineRun, rates
from operators.encode.text import TextEncoder
from operators.records import DEFAULT_TENANT, USER
from operators.store.buckets import list_users, read_user
from operators.store.commit import pin
from operators.store.opening import open_objects
from operators.units import embedding_texts, units_of

Tell = Callable[[str], None]

_STUB = Choice("stub", "fp32")


@dataclass(frozen=True)
class Baseline:
    """One call of sentence-transformers with everything, in fp32; ``per_batch``: a call for each batch as it arrives."""

    model: str
    sha256: str | None
    whole: Spread
    per_batch: Spread | None


@dataclass(frozen=True)
class IngestFigures:
    """Rates in texts a second; ``texts`` distinct ones are what every rate is of. ``processes``: of the encoder alone."""

    texts: int
    mean_characters: float
    processes: int
    baseline: Baseline | None
    no_baseline: str | None
    encoders: list[EncoderRates]
    queries: list[QueryTimes]


def measure_ingest(
    data: Path,
    settings: Settings,
    chosen: Sequence[Choice],
    *,
    baseline_model: str | None,
    repeat: int,
    naive: bool,
    query_calls: int,
    tell: Tell,
) -> IngestFigures:
    """All figures, ``repeat`` times in turn (the naive baseline once), so that what disturbs one disturbs all."""
    sources = tuple(str(folder) for folder in folders(data).values())
    tell("warm-up: a backfill with the stub encoder")
    texts = gather_texts(sources, settings, chosen[0].load(1))
    checkpoint = find_checkpoint(baseline_model)
    whole: list[float] = []
    per_batch: list[float] = []
    alone: dict[Choice, list[float]] = {choice: [] for choice in chosen}
    runs: dict[Choice, list[PipelineRun]] = {choice: [] for choice in chosen}
    started: dict[Choice, list[PipelineRun]] = {choice: [] for choice in chosen}
    with tempfile.TemporaryDirectory() as folder:
        few = Path(folder) / "few.jsonl"
        write_sessions(few, sessions=4 * cores(), rounds=1, words=(8, 8), sessions_per_user=1)
        for number in range(repeat):
            said = f"run {number + 1} of {repeat}"
            if isinstance(checkpoint, Checkpoint):
                tell(f"{said}: one call of sentence-transformers")
                whole.append(len(texts) / apart(whole_call, checkpoint.model, texts))
                if naive and number == 0:
                    tell(f"{said}: sentence-transformers, a call a batch")
                    per_batch.append(len(texts) / apart(call_per_batch, checkpoint.model, texts))
            for choice in chosen:
                tell(f"{said}: {choice.name} alone")
                alone[choice].append(rate_alone(choice, texts, cores()))
                tell(f"{said}: {choice.name} in the pipeline")
                started[choice].append(run_pipeline((str(few),), choice.settings(settings)))
                runs[choice].append(run_pipeline(sources, choice.settings(settings)))
    return IngestFigures(
        texts=len(texts),
        mean_characters=float(np.mean([len(text) for text in texts])),
        processes=cores(),
        baseline=_baseline(checkpoint, whole, per_batch),
        no_baseline=checkpoint if isinstance(checkpoint, str) else None,
        encoders=[rates(choice.name, alone[choice], runs[choice], started[choice]) for choice in chosen],
        queries=_queries(data, chosen, texts, query_calls, tell),
    )


def _baseline(checkpoint: Checkpoint | str, whole: Sequence[float], per_batch: Sequence[float]) -> Baseline | None:
    if isinstance(checkpoint, str):
        return None
    return Baseline(checkpoint.model, checkpoint.sha256, Spread.of(whole), Spread.of(per_batch) if per_batch else None)


def _queries(data: Path, chosen: Sequence[Choice], texts: Sequence[str], calls: int, tell: Tell) -> list[QueryTimes]:
    if calls == 0:
        return []
    asked = [question.text for folder in folders(data).values() for question in questions(folder)]
    found = []
    for choice in chosen:
        tell(f"{choice.name}: single queries")
        found.append(query_times(choice, asked, texts, calls=calls, busy=cores()))
    return found


# --- the texts ------------------------------------------------------------------------------------------------------


def gather_texts(sources: Sequence[str], settings: Settings, encoder: TextEncoder) -> list[str]:
    """The distinct texts that a backfill of the sources encodes, user after user in the order they were said."""
    with tempfile.TemporaryDirectory() as store:
        _backfill(sources, store, _STUB.settings(settings))
        objects = open_objects(store)
        snapshot = pin(objects)
        found: dict[str, None] = {}
        for user in list_users(objects, snapshot, DEFAULT_TENANT)[USER].to_pylist():
            data = read_user(objects, snapshot, DEFAULT_TENANT, user)
            assert data is not None
            units = units_of(data.rounds, encoder.spans)
            found |= dict.fromkeys(text for text in embedding_texts(units).to_pylist() if text is not None)
    return list(found)


# --- the pipeline ---------------------------------------------------------------------------------------------------


def run_pipeline(sources: Sequence[str], settings: Settings) -> PipelineRun:
    """A backfill into a new store, which is removed again."""
    with tempfile.TemporaryDirectory() as store:
        report = _backfill(sources, store, settings)
    return PipelineRun(
        rounds=report.read,
        encoded=report.encoded,
        seconds=report.seconds,
        startup_seconds=report.startup_seconds,
        stage_seconds=dict(report.stage_seconds),
    )


def _backfill(sources: Sequence[str], store: str, settings: Settings) -> BackfillReport:
    request = BackfillRequest(sources=tuple(sources), store=store, tenant=DEFAULT_TENANT)
    return backfill(request, settings, lambda _: None)
