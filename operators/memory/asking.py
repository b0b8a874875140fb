"""Asking one user's memory: what a planner is shown of it, and the question's way to an answer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from operators.ask.context import (
    make_context,
)
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
from operators.memory.known import Known, read_quantity
from operators.memory.opened import read_value
from operators.memory.tools import Reads, UserTools, record_of
from operators.records import IMAGES, ROUND
from operators.retrieve.anchors import Anchors, NoAnchors
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
    picture = _picture(memory, user, asked, values.same_picture)
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
    meaning = Meaning(_remembered(memory, known), fold, read_quantity, query_words, is_word)
    rules = (RulesPlanner(meaning), RulesAnswerer(meaning))
    anchors = None if model is None else ModelAnchors(model.chat, Meter(), off=not model.anchors)
    reads = _reads(memory, user, known, asked, values, question.last_day, anchors or NoAnchors())
    tools = UserTools(reads, question.last_day)
    if model is None or anchors is None:
        return rules[1].answer(question, execute(question, context, rules[0], tools, values.limits))
    return ask_model(model, question, context, tools, values.limits, rules, read_quantity, anchors)


def _remembered(memory: Memory, known: Known) -> Callable[[Sequence[str]], NDArray[np.float32]]:
    def vectors(texts: Sequence[str]) -> NDArray[np.float32]:
        missing = [text for text in dict.fromkeys(texts) if text not in known.meanings]
        if missing:
            known.meanings.update(zip(missing, memory.text_vectors(missing), strict=True))
        return np.stack([known.meanings[text] for text in texts])

    return vectors


def _reads(
    memory: Memory, user: str, known: Known, asked: Asked, values: AskValues, until: date | None, anchors: Anchors
) -> Reads:
    def table(name: str) -> Table:
        return known.tables[name] if name in known.tables else memory.table(user, name)

    def search(query: str, k: int) -> Any:
        return memory.search(
            user, query, k=k, values=asked.search, image=asked.image, caption=asked.caption, anchors=anchors
        )

    return Reads(
        table,
        read_value,
        search,
        lambda query, levels, k: memory.semantic_match(user, query, levels=levels, k=k, weight=values.weight),
        lambda query, k: memory.event_locate(user, query, k=k, weight=values.weight, least=values.least),
        (lambda sql: _queried(known, sql, until)) if values.query else None,
    )


def _queried(known: Known, sql: str, until: date | None) -> Answered:
    """QUERY over the user's tables, without what is later than ``until``."""
    from operators.tables.query import query

    tables = known.tables if until is None else {name: _up_to(table, until) for name, table in known.tables.items()}
    found = query(tables, sql)
    records = [
        record_of(row, [column for column in (c.name for c in tables[name].meta.columns) if column + AT in row], name)
        for name, frame in found.matched.items()
        for row in frame.iter_rows(named=True)
    ]
    return Answered(sql, found.columns, found.rows, tuple(records))


def _up_to(table: Table, day: date) -> Table:
    return Table(table.meta, table.frame.filter(pl.col(DAY).is_null() | (pl.col(DAY) <= day)))


def _picture(memory: Memory, user: str, asked: Asked, least: float) -> Picture | None:
    """The picture of a question, and which stored one it is, if any is as like it as ``least`` (cosine)."""
    if asked.image is None:
        return None if asked.caption is None else Picture(asked.caption)
    nearest = memory.nearest_picture(user, asked.image)
    if nearest is None or nearest[1] < least:
        return Picture(asked.caption)
    media, score = nearest
    for row in memory.rounds(user).select(ROUND, IMAGES).iter_rows(named=True):
        for image in row[IMAGES]:
            if image["media"] == media:
                return Picture(asked.caption, media, row[ROUND], image["caption"], score)
    return Picture(asked.caption)
