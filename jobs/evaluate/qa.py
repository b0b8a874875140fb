"""Evaluate qa: benchmark files in, what each configuration answers to each of their questions out, scored.

find files > read their questions > backfill into a temporary store > ask > compare with the references > judge.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from datetime import date, datetime
from itertools import count
from typing import Any, Literal

from configs.settings import AskingSettings, Settings
from jobs.asking import model_of
from jobs.bench.machine import cores
from jobs.evaluate.ablations import asking_configurations
from jobs.evaluate.asker import Asked, Asker, Request, cited_orders
from jobs.evaluate.choices import letter_of, shown
from jobs.evaluate.lexical import lexical_scores
from jobs.evaluate.pictures import picture_of
from jobs.evaluate.questions import Question, QuestionFile
from jobs.evaluate.recall import places_of
from jobs.evaluate.remembering import Remembering
from jobs.evaluate.rubric import Judge
from jobs.evaluate.run import Tell, read_all
from jobs.evaluate.stores import apart, backfill_apart, tenant_of
from jobs.sources import places, sources_of
from jobs.watch import Progress
from operators.ask.steps import Answer
from operators.encode.text import encoder_of
from operators.errors import ModelError, UsageError
from operators.memory import Memory, open_store
from operators.records import TIME
from operators.sources.media import PictureLimits
from operators.store.commit import load_spec
from operators.store.opening import open_objects

CHOICE, ABSTAINED, JUDGED = "choice", "abstained", "judge"

LeftOut = Literal["no-answer", "no-words"]
"""Why a question counts for nothing: there is no reference, or it asks nothing."""

_ABSTAINS = re.compile(r"no information available|not mentioned|information not found", re.IGNORECASE)
_ISO_WANTED = re.compile(r"YYYY-MM-DD", re.IGNORECASE)
_JUDGES_AT_ONCE = 8
_MOST_FAILURES = 10
"""Judgements that fail in a row, after which no more are asked for."""


@dataclass(frozen=True)
class QaOutcome:
    """What came of a question. ``prediction``: the answer as it is compared; ``scores``: by metric, none where it does not
    count; ``citations``: names of rounds; ``unjudged``: why the judge gave no score."""

    file: QuestionFile
    question: Question
    asked: Asked
    prediction: str
    scores: Mapping[str, float]
    citations: tuple[str, ...]
    left_out: LeftOut | None
    pictured: bool = False
    unjudged: str | None = None


@dataclass(frozen=True)
class QaEvaluation:
    """``outcomes``: by configuration, all questions in the order of the files. ``judge``: the model that judged, if any."""

    files: tuple[QuestionFile, ...]
    configurations: Mapping[str, AskingSettings]
    outcomes: Mapping[str, tuple[QaOutcome, ...]]
    encoder: Mapping[str, Any]
    rounds: int
    unread: int
    judge: str | None


def evaluate_qa(
    data: str, settings: Settings, ablations: Sequence[str], judge: Judge | None, progress: Tell
) -> QaEvaluation:
    """Ask every question of the file, or of all files of the folder, under each configuration.

    UsageError for an unknown ablation, a file that is none of the benchmarks' or holds no questions, or where no question
    counts; SourceError for a broken file.
    """
    model = model_of(settings)
    chosen = asking_configurations(settings.asking, ablations)
    files = read_all(sources_of([data]), settings, progress)
    if all(left_out_of(question) for file in files for question in file.questions):
        raise UsageError(f"no question in {data} has an answer to compare with; there is nothing to measure")
    with tempfile.TemporaryDirectory(prefix="mnemosaic-evaluate-") as store:
        groups = apart(files)
        rounds, unread = backfill_apart([[file.source.uri for file in group] for group in groups], store, settings, progress)
        spec = load_spec(open_objects(store))
        encoder = Remembering(encoder_of(spec.encoder, threads=cores()))
        opened = open_store(store, encoder=encoder)
        memories = {file.source.uri: opened.memory(tenant_of(n)) for n, group in enumerate(groups) for file in group}
        limits = PictureLimits(settings.pictures.max_bytes, settings.pictures.max_pixels)
        asker = _FilesAsker(memories, limits if spec.image_encoder.get("dim", 0) else None, progress)
        total, done = len(chosen) * sum(len(file.questions) for file in files), count(1)
        outcomes = {
            name: tuple(asker.ask_all(Asker(settings, asking, model), files, total, done)) for name, asking in chosen.items()
        }
    if judge is not None:
        outcomes = {name: judged(found, judge, progress) for name, found in outcomes.items()}
    judging = None if judge is None else judge.chat.endpoint.model
    return QaEvaluation(tuple(files), chosen, outcomes, encoder.fingerprint, rounds, unread, judging)


# --- the questions --------------------------------------------------------------------------------------------------


def left_out_of(question: Question) -> LeftOut | None:
    """Why a question does not count. One that is there to be left unanswered needs no reference."""
    if not question.text:
        return "no-words"
    return None if question.answer is not None or question.left_out == "not-answered" else "no-answer"


@dataclass(frozen=True)
class _FilesAsker:
    """``memories``: which memory holds a file's conversations, by uri. ``limits``: of pictures that are asked about."""

    memories: Mapping[str, Memory]
    limits: PictureLimits | None
    progress: Tell

    def ask_all(self, asker: Asker, files: Sequence[QuestionFile], total: int, done: Iterator[int]) -> Iterator[QaOutcome]:
        for file in files:
            memory, reach = self.memories[file.source.uri], places()(file.source.uri)
            known: dict[str, tuple[Mapping[int, str], datetime | None]] = {}
            for question in file.questions:
                if question.user_id not in known:
                    rows = memory.rounds(question.user_id)
                    known[question.user_id] = places_of(rows.iter_rows(named=True)).names, rows[TIME].max()  # type: ignore[assignment]
                image = None
                if question.picture is not None and self.limits is not None:
                    image = picture_of(question.picture, file.source.uri, reach, self.limits)
                yield self._ask(asker, file, question, memory, image, *known[question.user_id])
                self.progress(Progress("ask", next(done), total, "questions"))

    def _ask(
        self,
        asker: Asker,
        file: QuestionFile,
        question: Question,
        memory: Memory,
        image: bytes | None,
        names: Mapping[int, str],
        last: datetime | None,
    ) -> QaOutcome:
        left_out = left_out_of(question)
        if left_out is not None:
            return QaOutcome(file, question, Asked(None, None, 0.0), "", {}, (), left_out)
        text = shown(question.text, question.options)
        # Where a file does not say when its questions are asked, it is when its conversation ends.
        request = Request(question.user_id, text, question.now or last, image=image, caption=question.caption)
        asked = asker.ask(memory, request)
        prediction = prediction_of(question, asked.answer)
        cited = tuple(names.get(order, name) for order, name in cited_orders(asked.answer))
        told = scores_of(file.benchmark, question, asked.answer, prediction)
        return QaOutcome(file, question, asked, prediction, told, cited, None, image is not None)


def prediction_of(question: Question, answer: Answer | None) -> str:
    """The answer as short as references are: its value where that is one, else its words; of a choice the letter."""
    if answer is None:
        return ""
    text = _short(question.text, answer)
    return (letter_of(text, question.options) or text) if question.options else text


def _short(question: str, answer: Answer) -> str:
    told = answer.value
    if told is None or told.value is None:
        return answer.text
    if told.kind in ("date", "dates"):
        days = told.value if isinstance(told.value, list | tuple) else [told.value]
        return ", ".join(_day(str(day), iso=_ISO_WANTED.search(question) is not None) for day in days)
    if told.kind == "number" and isinstance(told.value, int | float):
        return f"{told.value:.12g} {told.unit or ''}".strip()
    return str(told.value) if told.kind in ("choice", "yes-no", "text") else answer.text


def _day(text: str, *, iso: bool) -> str:
    """A day as LoCoMo's references write it (7 May 2023), unless the question asks for another form."""
    if iso or not re.fullmatch(r"\d{4}-\d{2}-\d{2}", text):
        return text
    day = date.fromisoformat(text)
    return f"{day.day} {day:%B %Y}"


def scores_of(benchmark: str, question: Question, answer: Answer | None, prediction: str) -> dict[str, float]:
    """The scores of a question by its kind: whether what has no answer is left unanswered, whether the option is right, or
    how alike the words are."""
    if question.left_out == "not-answered":
        return {ABSTAINED: float(abstains(answer))}
    assert question.answer is not None
    if question.options:
        return {CHOICE: float(prediction == question.answer)}
    return lexical_scores(benchmark, question.category, prediction, question.answer)


def abstains(answer: Answer | None) -> bool:
    """Whether an answer says that memory does not tell; LoCoMo's scorer looks for words that say so."""
    return answer is not None and (answer.status != "answered" or _ABSTAINS.search(answer.text) is not None)


# --- the judge ------------------------------------------------------------------------------------------------------


def judged(outcomes: Sequence[QaOutcome], judge: Judge, progress: Tell) -> tuple[QaOutcome, ...]:
    """The outcomes with the judge's scores of open questions; one that is not given is told, never made up.

    After several failures in a row the judge is not asked any more.
    """
    bench = _Bench(judge)
    found: list[QaOutcome] = []
    with ThreadPoolExecutor(_JUDGES_AT_ONCE) as pool:
        for one in pool.map(bench.judge, outcomes):
            found.append(one)
            progress(Progress("judge", len(found), len(outcomes), "answers"))
    return tuple(found)


@dataclass
class _Bench:
    judge_: Judge
    failures: int = 0

    def judge(self, one: QaOutcome) -> QaOutcome:
        question = one.question
        if question.answer is None or one.left_out is not None or CHOICE in one.scores or ABSTAINED in one.scores:
            return one
        if self.failures >= _MOST_FAILURES:
            return replace(one, unjudged="the judge was not asked any more after failing several times in a row")
        try:
            score = self.judge_.score(question.text, one.prediction, question.answer)
        except ModelError as error:
            self.failures += 1
            return replace(one, unjudged=f"{type(error).__name__}: {error}")
        self.failures = 0
        return replace(one, scores={**one.scores, JUDGED: score})
