"""Tables as planners see them, for tests: days of activity, receipts with their line items, weighings."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, date, datetime

import numpy as np
from numpy.typing import NDArray

from operators.ask.context import Context, ShownColumn, ShownTable
from operators.ask.question import Question
from operators.ask.rules.meaning import Meaning
from operators.memory.written import convert, read_quantity
from operators.retrieve.words import query_words
from operators.tables.columns import fold

TOOLS = ("lookup", "filter", "compute", "rank", "semantic_match", "event_locate")

ACTIVITY = ShownTable(
    "activity",
    "60 records of sleep, steps, calories, distance",
    (
        ShownColumn("sleep", "duration", "s", ("time asleep",), ("7h 5m", "6h 40m"), filled=60),
        ShownColumn("steps", "number", "steps", ("step count",), ("10,544", "8,001 steps"), filled=60),
        ShownColumn("calories", "number", "kcal", (), ("1,985 kcal",), filled=60),
        ShownColumn("distance", "number", "m", (), ("8.5 km", "7.1 km"), filled=40),
    ),
    60,
    date(2026, 2, 1),
    date(2026, 4, 10),
    60,
)
RECEIPTS = ShownTable(
    "receipts",
    "20 records of date, merchant, total",
    (
        ShownColumn("date", "date", None, (), ("03/02/2026",), filled=20),
        ShownColumn(
            "merchant",
            "text",
            None,
            (),
            ("CORNER BAKERY", "NIGHT OWL BOOKS"),
            ("CORNER BAKERY", "NIGHT OWL BOOKS", "O'Malley's Pub", "CORNER BAKERV"),
            filled=20,
        ),
        ShownColumn("total", "money", None, (), ("12.50 EUR",), (), ("EUR",), filled=20),
        ShownColumn("tax", "money", None, (), ("1.20 EUR",), (), ("EUR",), filled=12),
    ),
    20,
    date(2026, 2, 3),
    date(2026, 4, 9),
    20,
)
LINE_ITEMS = ShownTable(
    "line_items",
    "70 records of amount, item",
    (
        ShownColumn("amount", "money", None, (), ("3.10",), (), ("EUR",), filled=70),
        ShownColumn("item", "text", None, (), ("RYE BREAD",), ("RYE BREAD", "GREEN TEA"), filled=70),
    ),
    70,
    date(2026, 2, 3),
    date(2026, 4, 9),
    20,
)
WEIGHT = ShownTable(
    "weight",
    "9 records of weight",
    (ShownColumn("weight", "number", "kg", (), ("71.5 kg", "70 kg"), filled=9),),
    9,
    date(2026, 2, 1),
    date(2026, 4, 5),
    9,
)
NOW = datetime(2026, 4, 10, 21, 0, tzinfo=UTC)


def no_vectors(texts: Sequence[str]) -> NDArray[np.float32]:
    """Texts that have nothing in common: what words and units tell must do."""
    return np.eye(len(texts), dtype=np.float32)


MEANING = Meaning(no_vectors, fold, read_quantity, query_words, convert)


def context(*tables: ShownTable) -> Context:
    """What a planner is shown, with all tools."""
    return Context(tables, (), TOOLS)


def question(text: str) -> Question:
    """Asked on the evening of 10 April 2026."""
    return Question(text, NOW)
