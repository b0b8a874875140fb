"""Evaluate retrieval: benchmark files in, what each configuration returns for each of their questions out.

find files > read their questions > backfill into a temporary store > encode all questions at once > search > score.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any

from configs.settings import RetrievalSettings, Settings
from jobs.bench.machine import cores
from jobs.evaluate.ablations import configurations
from jobs.evaluate.pictures import picture_of
from jobs.evaluate.questions import Question, QuestionFile, read_questions
from jobs.evaluate.recall import Evidence, Places, Returned, places_of, returned, scores
from jobs.evaluate.remembering import Remembering
from jobs.evaluate.stores import apart, backfill_apart, tenant_of, without_tables
from jobs.sources import places, sources_of
from jobs.watch import Progress
from operators.encode.text import encoder_of
from operators.errors import UsageError
from operators.memory import Memory, open_store
from operators.retrieve.result import SearchResult
from operators.retrieve.values import SearchValues
from operators.sources.files import SourceFile
from operators.sources.media import PictureLimits
from operators.store.commit import load_spec
from operators.store.opening import open_objects

Tell = Callable[[Progress], None]


@dataclass(frozen=True)
class Answer:
    """What one configuration returned for a question: names of the first 12 rounds, best first, and of those with their
    neighbours in time order. ``scores``: its ``METRICS``, None where the question does not count."""

    rounds: tuple[str, ...]
    with_neighbours: tuple[str, ...]
    scores: tuple[float, ...] | None


@dataclass(frozen=True)
class Asked:
    """A question of a file and its answers by configuration. ``left_out``: why it does not count. ``pictured``: it was
    asked with its picture."""

    file: QuestionFile
    question: Question
    answers: Mapping[str, Answer]
    left_out: str | None
    pictured: bool = False


@dataclass(frozen=True)
class Evaluation:
    """All questions in the order of the files, and what they were asked of.

    ``unread``: parts of the files that the backfill put into quarantine. ``encoder``: its fingerprint.
    """

    files: tuple[QuestionFile, ...]
    configurations: Mapping[str, RetrievalSettings]
    asked: tuple[Asked, ...]
    encoder: Mapping[str, Any]
    rounds: int
    unread: int


def evaluate_retrieval(data: str, settings: Settings, ablations: Sequence[str], progress: Tell) -> Evaluation:
    """Ask every question of the file, or of all files of the folder, under each configuration.

    Without ``ablations`` the configured settings alone. UsageError for an unknown ablation, a file that is none of the
    benchmarks' or holds no questions, or where no question counts; SourceError for a broken file.
    """
    chosen = configurations(settings.retrieval, ablations)
    files = read_all(sources_of([data]), settings, progress)
    if all(question.left_out for file in files for question in file.questions):
        raise UsageError(f"no question in {data} names what answers it; there is nothing to measure")
    with tempfile.TemporaryDirectory(prefix="mnemosaic-evaluate-") as store:
        groups = apart(files)
        uris = [[file.source.uri for file in group] for group in groups]
        rounds, unread = backfill_apart(uris, store, without_tables(settings), progress)
        spec = load_spec(open_objects(store))
        encoder = Remembering(encoder_of(spec.encoder, threads=cores()))
        texts = sorted({text for file in files for one in file.questions for text in (one.text, one.caption) if text})
        encoder.learn(texts, lambda done: progress(Progress("encode questions", done, len(texts), "questions")))
        opened = open_store(store, encoder=encoder)
        memories = {file.source.uri: opened.memory(tenant_of(n)) for n, group in enumerate(groups) for file in group}
        limits = PictureLimits(settings.pictures.max_bytes, settings.pictures.max_pixels)
        asker = _Asker(chosen, limits if spec.image_encoder.get("dim", 0) else None)
        asked = tuple(asker.ask_all(memories, files, progress))
    if all(one.left_out for one in asked):
        raise UsageError(f"no question in {data} names a round that is in its conversation; there is nothing to measure")
    return Evaluation(tuple(files), chosen, asked, encoder.fingerprint, rounds, unread)


def read_all(sources: Sequence[SourceFile], settings: Settings, progress: Tell) -> list[QuestionFile]:
    """The questions of all files. As ``read_questions``."""
    files: list[QuestionFile] = []
    for source in sources:
        files.append(read_questions(source, settings.sources))
        progress(Progress("read questions", len(files), len(sources), "files"))
    return files


# --- the questions --------------------------------------------------------------------------------------------------


def find(memory: Memory, question: Question, image: bytes | None, values: SearchValues) -> SearchResult:
    """The product's search for a question with these values. ``image``: its picture, where the file has it; what it shows
    is asked with where the file tells it."""
    return memory.search(question.user_id, question.text, values=values, image=image, caption=question.caption)


@dataclass(frozen=True)
class _Asker:
    """Asks questions under each configuration. ``limits``: of their pictures, None where the
    store holds no vectors of pictures to compare them with."""

    chosen: Mapping[str, RetrievalSettings]
    limits: PictureLimits | None

    def ask_all(self, files: Mapping[str, Memory], asked: Sequence[QuestionFile], progress: Tell) -> Iterator[Asked]:
        """Every question of the files in their order; ``files``: which memory holds a file's conversations, by uri."""
        total = sum(len(file.questions) for file in asked)
        done = count(1)
        for file in asked:
            memory, reach = files[file.source.uri], places()(file.source.uri)
            known: dict[str, Places] = {}
            for question in file.questions:
                if question.user_id not in known:
                    known[question.user_id] = places_of(memory.rounds(question.user_id).iter_rows(named=True))
                image = None
                if question.picture is not None and self.limits is not None:
                    image = picture_of(question.picture, file.source.uri, reach, self.limits)
                yield self._ask(file, question, memory, known[question.user_id], image)
                progress(Progress("ask", next(done), total, "questions"))

    def _ask(self, file: QuestionFile, question: Question, memory: Memory, known: Places, image: bytes | None) -> Asked:
        wanted = known.wanted(question)
        left_out = question.left_out or (None if wanted else "unknown-evidence")
        answers = {}
        for name, retrieval in self.chosen.items():
            result = Returned((), ())
            if question.text or image is not None or question.caption:
                found = find(memory, question, image, retrieval.values())
                result = returned(found, retrieval.neighbours)
            answers[name] = _answer(result, known, wanted if left_out is None else frozenset())
        return Asked(file, question, answers, left_out, pictured=image is not None)


def _answer(result: Returned, known: Places, wanted: frozenset[Evidence]) -> Answer:
    return Answer(
        tuple(known.names[order] for order in result.first),
        tuple(known.names[order] for order in result.around),
        scores(wanted, result) if wanted else None,
    )
