"""Records: whether one table holds all that a user logged or posted, and which values of it are wrong."""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

from configs.settings import Settings
from jobs.backfill import BackfillRequest, backfill
from jobs.bench.extract import Share
from jobs.evaluate.histories import FIELDS, HISTORIES, QUESTIONS, records_of, told_in_words
from operators.errors import UsageError
from operators.memory import Memory, open_store
from operators.records import DEFAULT_TENANT, IMAGES, MESSAGES, ROUND, SESSION
from operators.tables.columns import TableMeta
from operators.tables.rows import when_told
from operators.tables.tools import Rows, read_call

WEARABLES, RECEIPTS = "wearables", "receipts"
LOGGED = ("sleep", "steps", "calories", "distance")
PRINTED = ("merchant", "date", "total")

Tell = Callable[[str], None]


@dataclass(frozen=True)
class Fault:
    """A value of a round that the table does not hold as it was told; ``row``: one missing or too many."""

    round_id: str
    field: str
    expected: str
    found: str


@dataclass(frozen=True)
class UserFigures:
    """Whether one table (``table``) holds all of what a user recorded, and in how many rounds all of it is right."""

    user_id: str
    kind: str
    table: str | None
    tables: int
    rounds: Share
    faults: tuple[Fault, ...]


@dataclass(frozen=True)
class RecordsFigures:
    """``rounds``: by kind of data, in how many of them all is right."""

    rounds: dict[str, Share]
    users: tuple[UserFigures, ...]


def measure_records(data: Path, settings: Settings, *, store: str | None, fields: bool, tell: Tell) -> RecordsFigures:
    """Look at every user's tables below ``data``.

    ``store``: one that holds the histories already; else they are backfilled. ``fields``: receipts tell what
    ``fields.jsonl`` says in words, and their pictures are not read. UsageError where there are no such data.
    """
    folders = {name: data / name for name in (WEARABLES, RECEIPTS) if (data / name / HISTORIES).exists()}
    if not folders:
        raise UsageError(f"{data} holds neither {WEARABLES}/ nor {RECEIPTS}/ with a {HISTORIES}")
    users: list[UserFigures] = []
    with tempfile.TemporaryDirectory() as temp:
        for kind, memory in _memories(folders, settings, store, fields, Path(temp), tell).items():
            tell(f"{kind}: the tables")
            users += _wearers(memory, folders[kind]) if kind == WEARABLES else _shoppers(memory, folders[kind])
    shares = {kind: [user.rounds for user in users if user.kind == kind] for kind in folders}
    rounds = {kind: Share(sum(s.right for s in found), sum(s.of for s in found)) for kind, found in shares.items()}
    return RecordsFigures(rounds, tuple(users))


# --- the stores -----------------------------------------------------------------------------------------------------


def _memories(
    folders: Mapping[str, Path], settings: Settings, store: str | None, fields: bool, temp: Path, tell: Tell
) -> dict[str, Memory]:
    """A memory for each kind of data: of the store there is, of a new one for what that does not hold."""
    fresh = [kind for kind in folders if store is None or (fields and kind == RECEIPTS)]
    sources = [str(folders[kind] / HISTORIES) for kind in fresh if not (fields and kind == RECEIPTS)]
    if fields and RECEIPTS in folders:
        told = temp / "receipts.jsonl"
        told.write_text("".join(json.dumps(row) + "\n" for row in told_in_words(folders[RECEIPTS])), encoding="utf-8")
        sources.append(str(told))
    if sources:
        tell("backfill")
        backfill(BackfillRequest(tuple(sources), str(temp / "store"), DEFAULT_TENANT), settings, lambda _: None)
    uris = {kind: str(temp / "store") if kind in fresh else str(store) for kind in folders}
    return {kind: open_store(uri).memory(DEFAULT_TENANT) for kind, uri in uris.items()}


# --- which column is meant ------------------------------------------------------------------------------------------

_NAMED: Mapping[str, re.Pattern[str]] = {
    "distance": re.compile(r"distance|\bkm\b|kilomet|\bmiles?\b|how far", re.IGNORECASE),
    "sleep": re.compile(r"sleep|slept", re.IGNORECASE),
    "calories": re.compile(r"calories|kcal|energy|\bburn", re.IGNORECASE),
    "steps": re.compile(r"steps?(?![a-z])|\bwalk", re.IGNORECASE),
    "merchant": re.compile(r"merchant|vendor|seller|\bshop\b|\bstore\b", re.IGNORECASE),
    "total": re.compile(r"total|spen[dt]|\bpa(?:y|id)|receipts?|expensive|cost|amount|purchase", re.IGNORECASE),
    "date": re.compile(r"date", re.IGNORECASE),
}
_KINDS: Mapping[str, tuple[str, ...]] = {
    "sleep": ("duration", "number"),
    "steps": ("number",),
    "calories": ("number",),
    "distance": ("number",),
    "merchant": ("text",),
    "total": ("money", "number"),
    "date": ("date",),
}
_ASKED = ("distance", "sleep", "calories", "steps", "total")
"""What a question may be about, what is named more plainly first: in "calories in total" it is calories."""


def pick(columns: Iterable[tuple[str, str]], what: str) -> str | None:
    """Which of the columns (name and kind) holds ``what``: the one called so, else the first that is named like it."""
    fitting = [name for name, kind in columns if kind in _KINDS[what]]
    return what if what in fitting else next((name for name in fitting if _NAMED[what].search(name)), None)


def columns_of(meta: TableMeta) -> list[tuple[str, str]]:
    """Name and kind of each column."""
    return [(column.name, column.kind) for column in meta.columns]


# --- one user's tables ----------------------------------------------------------------------------------------------

_HOURS = r"(?P<hours>\d+(?:\.\d+)?)\s*h(?:ours?)?(?:\s*(?P<minutes>\d+)\s*m)?"
_TOLD: Mapping[str, re.Pattern[str]] = {
    "sleep": re.compile(rf"\b(?:slept|sleep)\W*{_HOURS}", re.IGNORECASE),
    "steps": re.compile(r"(?P<a>\d[\d,]*)\s*steps\b|\bsteps\W*(?P<b>\d[\d,]*)", re.IGNORECASE),
    "calories": re.compile(r"(?P<a>\d[\d,]*)\s*kcal\b|\bcalories\W*(?P<b>\d[\d,]*)", re.IGNORECASE),
    "distance": re.compile(r"\bdistance\W*(?P<a>\d+(?:\.\d+)?)\s*km|(?P<b>\d+(?:\.\d+)?)\s*km\b", re.IGNORECASE),
}


def told_of_day(text: str) -> dict[str, float]:
    """What a text logs, in hours, steps, kcal and km, by patterns of this benchmark's own."""
    found: dict[str, float] = {}
    for what, pattern in _TOLD.items():
        match = pattern.search(text)
        if match and what == "sleep":
            found[what] = float(match["hours"]) + float(match["minutes"] or 0) / 60
        elif match:
            found[what] = float((match["a"] or match["b"]).replace(",", ""))
    return found


def _wearers(memory: Memory, folder: Path) -> Iterator[UserFigures]:
    """Each wearer's days: values told in words must be there as told; of a picture each must be there, and those that a
    question about one round tells must be right.
    """
    questions = records_of(folder / QUESTIONS)
    for user in dict.fromkeys(row["user_id"] for row in records_of(folder / HISTORIES)):
        asked = [question for question in questions if question["user_id"] == user]
        distant = {name for question in asked if question["operation"] == "sum-partial" for name in question["evidence"]}
        wanted: dict[str, tuple[date | None, dict[str, Any]]] = {}
        for row in memory.rounds(user).to_dicts():
            told: dict[str, Any] = dict(told_of_day(" ".join(each["text"] for each in row[MESSAGES])))
            if row[IMAGES]:
                told = {what: None for what in LOGGED if what != "distance" or not distant or row[ROUND] in distant}
                told.update(_known_of(row[ROUND], asked))
            if len(told) > 1:
                wanted[row[ROUND]] = (when_told(row)[1], told)
        yield _judged(memory, user, WEARABLES, LOGGED, wanted)


def _known_of(round_id: str, questions: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str, float]]:
    """What questions about this round alone tell of it."""
    for question in questions:
        what = next((what for what in _ASKED if _NAMED[what].search(question["question"])), None)
        single = question["evidence"] == [round_id] and question["answer"]["type"] == "number"
        if what in LOGGED and single and question["operation"] in ("lookup", "max", "min", "latest"):
            yield what, question["answer"]["value"]


def _shoppers(memory: Memory, folder: Path) -> Iterator[UserFigures]:
    known = records_of(folder / FIELDS)
    for user in dict.fromkeys(row["user_id"] for row in records_of(folder / HISTORIES)):
        wanted: dict[str, tuple[date | None, dict[str, Any]]] = {
            row["round"]: (date.fromisoformat(row["date"]), {what: row[what] for what in PRINTED})
            for row in known
            if row["user_id"] == user
        }
        yield _judged(memory, user, RECEIPTS, PRINTED, wanted)


def _judged(
    memory: Memory,
    user: str,
    kind: str,
    whats: Sequence[str],
    wanted: Mapping[str, tuple[date | None, Mapping[str, Any]]],
) -> UserFigures:
    """The table that holds the most of ``whats`` against what each round (with its day) told."""
    tables = memory.tables(user)
    given = [what for what in whats if any(what in told for _, told in wanted.values())]
    picked = {meta.name: {what: name for what in given if (name := pick(columns_of(meta), what))} for meta in tables}
    if not picked:
        missing = tuple(Fault(name, "row", "a row", "no table") for name in wanted)
        return UserFigures(user, kind, None, 0, Share(0, len(wanted)), missing)
    longest = {meta.name: meta.rows for meta in tables}
    best = min(picked, key=lambda name: (-len(picked[name]), -longest[name], name))
    found = memory.run(user, read_call({"tool": "filter", "table": best}))
    assert isinstance(found, Rows)
    rows: dict[str, list[dict[str, Any]]] = {}
    for row in found.rows.to_dicts():
        rows.setdefault(row[ROUND], []).append(row)
    units = {column.name: column.unit for meta in tables if meta.name == best for column in meta.columns}
    faults: list[Fault] = []
    for name, (day, told) in wanted.items():
        faults += _faults(name, day, told, rows.pop(name, []), picked[best], units)
    right = len(wanted) - len({fault.round_id for fault in faults})
    for name, more in rows.items():
        faults.append(Fault(name, "row", "none", f"{len(more)} of session {more[0][SESSION]}"))
    whole = best if len(picked[best]) == len(given) else None
    return UserFigures(user, kind, whole, len(tables), Share(right, len(wanted)), tuple(faults))


def _faults(
    round_id: str,
    day: date | None,
    told: Mapping[str, Any],
    rows: Sequence[Mapping[str, Any]],
    picked: Mapping[str, str],
    units: Mapping[str, str | None],
) -> Iterator[Fault]:
    if len(rows) != 1:
        yield Fault(round_id, "row", "one", str(len(rows)))
        if not rows:
            return
    row = rows[0]
    if row["day"] != day:
        yield Fault(round_id, "day", str(day), str(row["day"]))
    for what, value in told.items():
        held = row.get(picked.get(what, ""))
        if held is None or not _same(what, value, held, units.get(picked[what])):
            yield Fault(round_id, what, "a value" if value is None else str(value), str(held))


_IN_ASKED = {"s": 3600.0, "m": 1000.0}


def _same(what: str, told: Any, held: Any, unit: str | None) -> bool:
    """Whether a cell holds what was told (None: anything); names are compared without case and spaces."""
    if told is None:
        return True
    if what == "merchant":
        return "".join(str(told).casefold().split()) == "".join(str(held).casefold().split())
    if what == "date":
        return str(held) == str(told)
    scale = _IN_ASKED.get(unit or "", 1.0)
    # A picture rounds hours to a minute, and distances to ten metres.
    return abs(float(held) / scale - float(told)) <= (0.0051 if what in ("sleep", "distance", "total") else 1e-6)
