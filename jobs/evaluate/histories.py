"""Histories with questions whose answers are exact: folders of ``histories.jsonl`` and ``questions.jsonl``.

A line of ``questions.jsonl``: ``question_id``, ``user_id``, ``operation``, ``question``, ``answer`` (``type``: number, date,
dates or choice; ``value``; ``tolerance``, absolute; ``options``), ``unit``, ``as_of``, ``evidence`` (names of rounds).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from operators.errors import SourceError, UsageError
from operators.sources.times import parse_time

HISTORIES, QUESTIONS, FIELDS = "histories.jsonl", "questions.jsonl", "fields.jsonl"

KINDS = ("number", "date", "dates", "choice")


@dataclass(frozen=True)
class Expected:
    """The answer to a question. ``value``: number, ISO date, list of ISO dates or one of ``options``; ``tolerance``:
    absolute, in the question's unit."""

    kind: str
    value: Any
    tolerance: float = 0.0
    options: tuple[str, ...] = ()
    unit: str | None = None


@dataclass(frozen=True)
class AnalyticQuestion:
    """A question to one user's history. ``as_of``: the moment it is asked at (UTC); ``evidence``: names of the rounds that
    hold the values. ``data``: the folder it is of. ``reworded``: it is asked in other words than the data's."""

    question_id: str
    user_id: str
    operation: str
    text: str
    expected: Expected
    as_of: datetime | None
    evidence: tuple[str, ...]
    data: str
    reworded: bool = False


@dataclass(frozen=True)
class Histories:
    """A folder: ``name``, where it is, and its questions in the file's order."""

    name: str
    folder: Path
    questions: tuple[AnalyticQuestion, ...]


def read_histories(data: Path, zone: ZoneInfo | None) -> list[Histories]:
    """The folder, or each folder in it that holds histories and questions, by name.

    ``zone``: of times without offset (None: UTC). UsageError, naming file and line, for what is none or cannot be read.
    """
    found = [
        folder for folder in (data, *_folders(data)) if (folder / HISTORIES).is_file() and (folder / QUESTIONS).is_file()
    ]
    if not found:
        raise UsageError(f"{data} holds no {HISTORIES} with {QUESTIONS}, nor does a folder in it")
    read = [_read(folder, zone) for folder in (found[:1] if found[0] == data else found)]
    if not any(each.questions for each in read):
        raise UsageError(f"no {QUESTIONS} of {data} holds a question")
    return read


def _folders(data: Path) -> list[Path]:
    return sorted(path for path in data.iterdir() if path.is_dir()) if data.is_dir() else []


def _read(folder: Path, zone: ZoneInfo | None) -> Histories:
    path = folder / QUESTIONS
    name = folder.resolve().name
    return Histories(name, folder, tuple(_question(name, raw, zone, where) for where, raw in _lines(path)))


def _question(data: str, raw: Mapping[str, Any], zone: ZoneInfo | None, where: str) -> AnalyticQuestion:
    try:
        answer = raw["answer"]
        told = Expected(
            str(answer["type"]),
            answer["value"],
            float(answer.get("tolerance") or 0.0),
            tuple(map(str, answer.get("options") or ())),
            raw.get("unit"),
        )
        names = (str(raw["question_id"]), str(raw["user_id"]), str(raw["operation"]), str(raw["question"]))
        evidence = tuple(map(str, raw.get("evidence") or ()))
        as_of = moment(raw["as_of"], zone) if raw.get("as_of") else None
    except KeyError as error:
        raise UsageError(f"{where}: a question lacks {error.args[0]!r}") from error
    except (TypeError, ValueError, AttributeError, SourceError) as error:
        raise UsageError(f"{where}: a field of the question is not what it must be") from error
    if told.kind not in KINDS:
        raise UsageError(f"{where}: answers are of type {', '.join(KINDS)}")
    return AnalyticQuestion(*names, told, as_of, evidence, data)


def moment(text: object, zone: ZoneInfo | None) -> datetime:
    """A time of the data in UTC; a bare day is its last second. SourceError for what is none."""
    found = parse_time(text, zone)
    return found.utc + timedelta(days=1, seconds=-1) if found.precision == "day" else found.utc


def read_wordings(path: Path, histories: Sequence[Histories]) -> list[AnalyticQuestion]:
    """Questions in other words: lines of ``question_id`` and ``question``, judged by the answer of the one they reword.

    UsageError, naming file and line, for one that rewords no question, or one of several folders' alike.
    """
    known: dict[str, list[AnalyticQuestion]] = {}
    for each in histories:
        for question in each.questions:
            known.setdefault(question.question_id, []).append(question)
    found = []
    for where, raw in _lines(path):
        originals = known.get(str(raw.get("question_id")), [])
        text = raw.get("question")
        if len(originals) != 1:
            raise UsageError(f"{where}: the question_id is that of {'no' if not originals else 'more than one'} question")
        if not isinstance(text, str) or not text.strip():
            raise UsageError(f"{where}: there is no question")
        found.append(replace(originals[0], text=text, reworded=True))
    if not found:
        raise UsageError(f"{path} holds no question")
    return found


def _lines(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """The records of a file of JSON lines, each with where it stands. UsageError for a line that is none."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path} cannot be read: {getattr(error, 'strerror', None) or 'it is no UTF-8'}") from error
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip():
            continue
        try:
            raw = json.loads(line)
        except ValueError as error:
            raise UsageError(f"{path}, line {number}: this is no JSON") from error
        if not isinstance(raw, dict):
            raise UsageError(f"{path}, line {number}: this is no object")
        yield f"{path}, line {number}", raw


def records_of(path: Path) -> list[dict[str, Any]]:
    """The records of a file of JSON lines; none where there is no file. UsageError as ``read_histories``."""
    return [raw for _, raw in _lines(path)] if path.exists() else []


def told_in_words(folder: Path) -> Iterator[dict[str, Any]]:
    """The receipts' histories with each receipt's fields as text in place of its picture, everything else equal."""
    known = {(row["user_id"], row["round"]): row for row in records_of(folder / FIELDS)}
    for session in records_of(folder / HISTORIES):
        messages = []
        for message in session["messages"]:
            row = known.get((session["user_id"], message.get("round")))
            if row is not None and message["role"] == "user":
                text = f"merchant: {row['merchant']}\ndate: {row['date']}\ntotal: RM {float(row['total']):.2f}"
                message = {**message, "content": text}
            messages.append(message)
        yield {**session, "messages": messages}
