"""Questions in the words of people who had not seen the rules: each is read as what it asks.

``wordings.jsonl``: three sets, each by another writer. The first two were read while the rules were made, the third was not.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, date, datetime
from pathlib import Path

import pytest
from shown import ACTIVITY, LINE_ITEMS, MEANING, RECEIPTS, context

from operators.ask.question import Question
from operators.ask.rules.frame import Frame
from operators.ask.rules.understand import understand
from operators.encode.vocabulary import is_word

LINES = [json.loads(line) for line in Path(__file__).with_name("wordings.jsonl").read_text("utf-8").splitlines()]
BAKERY = "RIVERSIDE BAKERY SDN BHD"
FIRST, LAST = date(2016, 4, 12), date(2016, 5, 11)
NOW = datetime(2016, 5, 11, 22, 0, tzinfo=UTC)
DAYS = context(replace(ACTIVITY, first_day=FIRST, last_day=LAST, rows=30, days=30))
MERCHANT = replace(RECEIPTS.columns[1], values=(BAKERY, "NIGHT OWL BOOKS"), samples=(BAKERY,))
RINGGIT = tuple(replace(each, currencies=("MYR",)) for each in RECEIPTS.columns[2:])
SHOPS = context(replace(RECEIPTS, columns=(RECEIPTS.columns[0], MERCHANT, *RINGGIT)), LINE_ITEMS)


def spans(frame: Frame) -> list[tuple[date | None, date | None]]:
    return [(each.first, each.last) for each in frame.periods]


def of_bakery(frame: Frame) -> bool:
    return any(BAKERY in each for each in frame.where)


def plain(frame: Frame) -> bool:
    """Over all records: nothing is left out."""
    return not (frame.where or frame.periods or frame.event)


IS: dict[tuple[str, str], Callable[[Frame], bool]] = {
    ("days", "avg"): lambda f: (f.operation, f.column) == ("avg", "sleep") and plain(f),
    ("days", "max"): lambda f: (f.operation, f.column, f.when) == ("max", "steps", False) and plain(f),
    ("days", "argmax"): lambda f: (f.operation, f.column, f.when) == ("max", "steps", True) and plain(f),
    ("days", "argmin"): lambda f: (f.operation, f.column, f.when) == ("min", "sleep", True) and plain(f),
    ("days", "sum"): lambda f: (
        (f.operation, f.column) == ("sum", "calories") and spans(f) == [(date(2016, 4, 21), date(2016, 4, 26))]
    ),
    ("days", "count"): lambda f: f.operation in ("distinct", "count") and any("10000" in each for each in f.where),
    ("days", "avg-after-event"): lambda f: (
        (f.operation, f.column) == ("avg", "sleep")
        and f.event is not None
        and f.event.relation == "after"
        and "dentist" in f.event.phrase.lower()
    ),
    ("days", "compare"): lambda f: (
        (f.operation, f.column) == ("compare", "steps")
        and {side.label for side in f.sides} == {"before", "after"}
        and all(side.event is not None and "dentist" in side.event.phrase.lower() for side in f.sides)
    ),
    ("days", "lookup"): lambda f: (
        f.operation in ("lookup", "sum") and f.column == "steps" and spans(f) == [(date(2016, 4, 17), date(2016, 4, 17))]
    ),
    ("days", "latest"): lambda f: (f.operation, f.column, f.when) == ("latest", "calories", False),
    ("days", "rank"): lambda f: (f.operation, f.column, f.n, f.when) == ("rank", "steps", 3, True),
    ("days", "sum-partial"): lambda f: (f.operation, f.column) == ("sum", "distance"),
    ("receipts", "sum"): lambda f: (f.operation, f.column) == ("sum", "total") and plain(f),
    ("receipts", "sum-filter"): lambda f: (f.operation, f.column) == ("sum", "total") and of_bakery(f),
    ("receipts", "count-filter"): lambda f: f.operation == "count" and of_bakery(f),
    ("receipts", "max"): lambda f: (f.operation, f.column, f.when) == ("max", "total", False) and plain(f),
    ("receipts", "argmax"): lambda f: (f.operation, f.column, f.when) == ("max", "total", True) and plain(f),
    ("receipts", "avg"): lambda f: (f.operation, f.column) == ("avg", "total") and plain(f),
}


def read_right(line: dict[str, str]) -> bool:
    shown = DAYS if line["of"] == "days" else SHOPS
    frame = understand(Question(line["question"], NOW), shown, replace(MEANING, is_word=is_word))
    return isinstance(frame, Frame) and IS[line["of"], line["operation"]](frame)


@pytest.mark.parametrize(("name", "least"), [("first", 0.98), ("second", 0.95), ("third", 0.9)])
def test_wordings_are_read_right(name: str, least: float) -> None:
    lines = [line for line in LINES if line["set"] == name]
    wrong = [f"{line['operation']}: {line['question']}" for line in lines if not read_right(line)]
    assert len(wrong) <= (1 - least) * len(lines), "\n".join(wrong)


@pytest.mark.parametrize("kind", sorted(IS))
def test_each_kind_of_question_has_its_wordings(kind: tuple[str, str]) -> None:
    lines = [line for line in LINES if (line["of"], line["operation"]) == kind]
    assert len(lines) >= 40
    assert sum(map(read_right, lines)) >= 0.85 * len(lines)
