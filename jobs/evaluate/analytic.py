"""Evaluate analytic: histories with exact questions in, what each configuration answers to each of them out.

read the folders > backfill into a temporary store, or open one > ask every question as at its time > judge.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

from configs.settings import AskingSettings, Settings
from jobs.asking import model_of
from jobs.evaluate.ablations import asking_configurations
from jobs.evaluate.asker import Asked, Asker, Request, cited_orders
from jobs.evaluate.histories import (
    FIELDS,
    HISTORIES,
    AnalyticQuestion,
    Histories,
    read_histories,
    read_wordings,
    told_in_words,
)
from jobs.evaluate.judging import Judged, judge
from jobs.evaluate.recall import Places, places_of
from jobs.evaluate.stores import backfill_apart, tenant_of
from jobs.watch import Progress
from operators.errors import UsageError
from operators.memory import Memory, open_store
from operators.records import DEFAULT_TENANT
from operators.sources.times import zone_of
from operators.store.commit import load_spec
from operators.store.opening import open_objects

Tell = Callable[[Progress], None]


@dataclass(frozen=True)
class AnalyticRequest:
    """What to evaluate. ``store``: one that holds the histories already, for ``tenant``; None: they are backfilled.

    ``fields``: receipts are told in words, from their given fields, in place of their pictures. ``wordings``: a file of the
    same questions in other words.
    """

    data: Path
    ablations: tuple[str, ...] = ()
    store: str | None = None
    tenant: str = DEFAULT_TENANT
    fields: bool = False
    wordings: Path | None = None


@dataclass(frozen=True)
class Cited:
    """What an answer cites, by round name: ``rounds`` that hold its values, ``strays`` of them that are no evidence.

    ``found``: how many of the ``wanted`` evidence rounds are cited.
    """

    rounds: tuple[str, ...]
    strays: tuple[str, ...]
    found: int
    wanted: int


@dataclass(frozen=True)
class Outcome:
    """A question, what came of it, and the judgement."""

    question: AnalyticQuestion
    asked: Asked
    judged: Judged
    cited: Cited


@dataclass(frozen=True)
class AnalyticEvaluation:
    """``outcomes``: by configuration, the questions in the order of the folders, then those in other words.

    ``unread``: parts of the histories that could not be read; ``rounds`` backfilled, 0 in a store that was there.
    """

    histories: tuple[Histories, ...]
    configurations: Mapping[str, AskingSettings]
    outcomes: Mapping[str, tuple[Outcome, ...]]
    encoder: Mapping[str, Any]
    rounds: int
    unread: int


def evaluate_analytic(request: AnalyticRequest, settings: Settings, progress: Tell) -> AnalyticEvaluation:
    """Ask every question under each configuration; without ``ablations`` under the configured settings alone.

    UsageError for an unknown ablation, or data or wordings that cannot be read.
    """
    model = model_of(settings)
    chosen = asking_configurations(settings.asking, request.ablations)
    histories = read_histories(request.data, zone_of(settings.sources.timezone))
    questions = [question for each in histories for question in each.questions]
    if request.wordings is not None:
        questions += read_wordings(request.wordings, histories)
    with _store(request, histories, settings, progress) as (store, tenants, rounds, unread):
        opened = open_store(store)
        memories = {each.name: opened.memory(tenant) for each, tenant in zip(histories, tenants, strict=True)}
        asked, total = count(1), len(questions) * len(chosen)

        def tell() -> None:
            progress(Progress("ask", next(asked), total, "questions"))

        outcomes = {
            name: tuple(_outcomes(Asker(settings, asking, model), memories, questions, tell))
            for name, asking in chosen.items()
        }
        encoder = load_spec(open_objects(store)).encoder
    return AnalyticEvaluation(tuple(histories), chosen, outcomes, encoder, rounds, unread)


# --- the store ------------------------------------------------------------------------------------------------------


@contextmanager
def _store(
    request: AnalyticRequest, histories: Sequence[Histories], settings: Settings, progress: Tell
) -> Iterator[tuple[str, list[str], int, int]]:
    """The store's address, the tenant of each folder, rounds backfilled, and how much could not be read."""
    if request.store is not None:
        if request.fields:
            raise UsageError("--fields tells receipts in words while they are backfilled; leave out --store")
        yield request.store, [request.tenant] * len(histories), 0, 0
        return
    with tempfile.TemporaryDirectory(prefix="mnemosaic-evaluate-") as temp:
        sources = [[str(_source(each, request.fields, Path(temp)))] for each in histories]
        store = str(Path(temp) / "store")
        rounds, unread = backfill_apart(sources, store, settings, progress)
        yield store, [tenant_of(number) for number in range(len(histories))], rounds, unread


def _source(histories: Histories, fields: bool, temp: Path) -> Path:
    """The folder's histories; told in words where that is asked for and there are fields."""
    if not fields or not (histories.folder / FIELDS).exists():
        return histories.folder / HISTORIES
    path = temp / "told" / histories.name / HISTORIES
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in told_in_words(histories.folder)), encoding="utf-8")
    return path


# --- the questions --------------------------------------------------------------------------------------------------


def _outcomes(
    asker: Asker, memories: Mapping[str, Memory], questions: Iterable[AnalyticQuestion], tell: Callable[[], None]
) -> Iterator[Outcome]:
    known: dict[tuple[str, str], Places] = {}
    for question in questions:
        memory, user = memories[question.data], (question.data, question.user_id)
        if user not in known:
            known[user] = places_of(memory.rounds(question.user_id).iter_rows(named=True))
        request = Request(question.user_id, question.text, now=question.as_of, until=question.as_of)
        asked = asker.ask(memory, request)
        yield Outcome(question, asked, judge(question.expected, asked.answer), cited(question.evidence, asked, known[user]))
        tell()


def cited(evidence: Sequence[str], asked: Asked, places: Places) -> Cited:
    """What an answer cites against the evidence; evidence that the history lacks is cited by nothing."""
    wanted = [places.rounds.get(name, frozenset()) for name in evidence]
    orders = dict(cited_orders(asked.answer))
    strays = tuple(name for order, name in orders.items() if not any(order in each for each in wanted))
    found = sum(not each.isdisjoint(orders) for each in wanted)
    return Cited(tuple(orders.values()), strays, found, len(wanted))
