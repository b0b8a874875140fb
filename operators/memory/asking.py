"""Asking one user's memory: what a planner is shown of it, and the question's way to an answer."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from numpy.typing import NDArray

from operators.ask.context import make_context
from operators.ask.execute import execute
from operators.ask.model.anchors import ModelAnchors
from operators.ask.model.chat import Meter
from operators.ask.model.fallback import Model, ask_model
from operators.ask.outcomes import Answered
from operators.ask.question import Picture, Question
from operators.ask.rules.answer import RulesAnswerer
from operators.ask.rules.meaning import Meaning
from operators.ask.rules.planner import RulesPlanner
from operators.ask.steps import Answer
from operators.ask.values import AskValues
from operators.encode.vocabulary import is_word
from operators.memory.known import Known
from operators.memory.tools import Reads, UserTools, record_of
from operators.memory.written import convert, read_quantity, read_value
from operators.records import IMAGES, ROUND
from operators.retrieve.anchors import Anchors, NoAnchors
from operators.retrieve.result import SearchResult
from operators.retrieve.values import SearchValues
from operators.retrieve.words import query_words
from operators.tables.columns import AT, DAY, Table, fold

if TYPE_CHECKING:
    from operators.memory.tenant import Memory


@dataclass(frozen=True)
class Asked:
    """A question with all that it is asked with; ``search``: how rounds are found; ``image``: bytes of its picture."""

    text: str
    search: SearchValues
    now: datetime | None = None
    until: datetime | None = None
    image: bytes | None = None
    caption: str | None = None


def ask(memory: Memory, user: str, asked: Asked, values: AskValues, model: Model | None) -> Answer:
    """The answer of one user's memory to a question; ``Memory.ask``."""
    known = memory.known(user)
    now = asked.now or datetime.now(UTC)
    picture, picture_vector = _picture(memory, user, asked, values.same_picture)
    question = Question(asked.text, now, known.offset_minutes, asked.until, picture)
    question.check()
    vector = memory.query_vector(question.text)
    context = make_context(
        question.text,
        vector,
        known.shown if values.analytic else (),
        known.table_vectors if values.analytic else known.table_vectors[:0],
        known.episodes if values.retrieval else (),
        known.episode_vectors if values.retrieval else known.episode_vectors[:0],
        query_words,
        values.tools,
        values.context,
    )
    vectors = _vectors(memory, {**known.names, question.text: vector})
    meaning = Meaning(vectors, fold, read_quantity, query_words, convert, is_word)
    rules = (RulesPlanner(meaning), RulesAnswerer(meaning))
    anchors = None if model is None else ModelAnchors(model.chat, Meter(), off=not model.anchors)
    asks = _Asks(memory, user, asked, vector, picture_vector, anchors or NoAnchors())
    tools = UserTools(_reads(asks, known, values, question.last_day), question.last_day)
    if model is None or anchors is None:
        return rules[1].answer(question, execute(question, context, rules[0], tools, values.limits))
    return ask_model(model, question, context, tools, values.limits, rules, read_quantity, anchors)


def _vectors(memory: Memory, held: Mapping[str, NDArray[np.float32]]) -> Callable[[Sequence[str]], NDArray[np.float32]]:
    """Makes vectors (n, dim) of texts, but of those that are held."""

    def vectors(texts: Sequence[str]) -> NDArray[np.float32]:
        missing = [text for text in dict.fromkeys(texts) if text not in held]
        made = dict(zip(missing, memory.text_vectors(missing), strict=True)) if missing else {}
        return np.stack([held[text] if text in held else made[text] for text in texts])

    return vectors


@dataclass(frozen=True)
class _Asks:
    """Whose memory is asked what. ``vector`` and ``picture``: of the question and its picture, where it has one."""

    memory: Memory
    user: str
    asked: Asked
    vector: NDArray[np.float32]
    picture: NDArray[np.float32] | None
    anchors: Anchors

    def vector_of(self, query: str) -> NDArray[np.float32] | None:
        """The vector of a query that is the question itself; of another it has still to be made."""
        return self.vector if query == self.asked.text else None

    def search(self, query: str, k: int) -> SearchResult:
        """The rounds that answer a query best, with the picture that comes with the question."""
        asked = self.asked
        return self.memory.search(
            self.user,
            query,
            k=k,
            values=asked.search,
            image=asked.image,
            caption=asked.caption,
            vector=self.vector_of(query),
            image_vector=self.picture,
            anchors=self.anchors,
        )


def _reads(asks: _Asks, known: Known, values: AskValues, until: date | None) -> Reads:
    """What the tools read; of tables without what is later than ``until``."""
    memory, user = asks.memory, asks.user

    def table(name: str) -> Table:
        return _up_to(known.tables[name] if name in known.tables else memory.table(user, name), until)

    return Reads(
        table,
        read_value,
        asks.search,
        lambda query, levels, k: memory.semantic_match(
            user, query, levels=levels, k=k, weight=values.weight, vector=asks.vector_of(query)
        ),
        lambda query, k: memory.event_locate(
            user, query, k=k, weight=values.weight, least=values.least, vector=asks.vector_of(query)
        ),
        (lambda sql: _queried({name: table(name) for name in known.tables}, sql)) if values.query else None,
    )


def _queried(tables: Mapping[str, Table], sql: str) -> Answered:
    """QUERY over the user's tables."""
    from operators.tables.query import query

    found = query(tables, sql)
    records = [
        record_of(row, [column.name for column in tables[name].meta.columns if column.name + AT in row], name)
        for name, frame in found.matched.items()
        for row in frame.iter_rows(named=True)
    ]
    return Answered(sql, found.columns, found.rows, tuple(records))


def _up_to(table: Table, day: date | None) -> Table:
    """The records up to a day, and those without one."""
    return table if day is None else Table(table.meta, table.frame.filter(pl.col(DAY).is_null() | (pl.col(DAY) <= day)))


def _picture(memory: Memory, user: str, asked: Asked, least: float) -> tuple[Picture | None, NDArray[np.float32] | None]:
    """The picture of a question, which stored one it is, if any is as like it as ``least`` (cosine), and its vector."""
    if asked.image is None:
        return (None if asked.caption is None else Picture(asked.caption)), None
    nearest = memory.nearest_picture(user, asked.image)
    if nearest is None:
        return Picture(asked.caption), None
    media, score, vector = nearest
    if score >= least:
        for row in memory.rounds(user).select(ROUND, IMAGES).iter_rows(named=True):
            for image in row[IMAGES]:
                if image["media"] == media:
                    return Picture(asked.caption, media, row[ROUND], image["caption"], score), vector
    return Picture(asked.caption), vector
