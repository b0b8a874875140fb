"""The questions of public benchmarks, read from the files that hold their conversations.

LoCoMo (flat, wrapped, several conversations a file), Mem-Gallery and MemEye (``human-annotated QAs`` beside the dialog) and
LongMemEval, told by content with the readers of the product. Of each question: whose history it is asked of, and what of
that history answers it.

``answer`` is the reference in all of them; ``options`` (or options that a question's words list) make it a choice.

- LoCoMo: ``evidence`` names turns. Category 5 asks for what the conversation does not tell.
- Mem-Gallery, MemEye: ``clue`` names rounds (turns, in MemEye's own dialogs). ``question_image`` with its ``image_caption``
  is the picture that is asked about.
- LongMemEval: the rounds with turns marked ``has_answer``; where none is marked, the sessions of ``answer_session_ids``,
  each found with any of its rounds. Questions whose id ends in ``_abs`` ask for what the history does not tell.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import chain
from pathlib import Path
from typing import Any, Literal
from zoneinfo import ZoneInfo

from configs.settings import SourceSettings
from jobs.evaluate.choices import Options, letter_of, options_of
from jobs.sources import places
from operators.errors import SourceError, UsageError
from operators.records import Session
from operators.sources import locomo, longmemeval, mem_gallery
from operators.sources.fields import mapping, one_or_many, sequence, text_of
from operators.sources.files import Files, SourceFile
from operators.sources.items import Record, items_of
from operators.sources.origin import Origin, placed, stem_of
from operators.sources.parts import content_of
from operators.sources.read import Survey, survey
from operators.sources.sniff import FORMATS
from operators.sources.times import parse_time, zone_of

ADVERSARIAL = 5
"""LoCoMo's category of questions that the conversation does not answer."""

LeftOut = Literal["no-evidence", "not-answered", "no-words"]
"""Why a question counts for nothing: it names nothing that answers it, is there to be left unanswered, or asks nothing."""

_GALLERY_KEYS = ("human-annotated QAs", "human_annotated_qas", "qas")
_TURN = re.compile(r"D:?(\d+):(\d+)", re.ASCII)


@dataclass(frozen=True)
class Question:
    """A question to one user's history.

    ``evidence``: ids of the rounds that answer it, or of messages in them; of sessions, where ``by_session``. ``position``:
    in the file's list, from 0. ``picture``: the file's reference to the picture asked about, ``caption``: what that shows.
    ``answer``: the reference, of a choice among ``options`` its letter; ``now``: when it is asked (UTC), where that is told.
    """

    user_id: str
    text: str
    evidence: frozenset[str]
    category: str
    position: int = 0
    by_session: bool = False
    picture: str | None = None
    caption: str | None = None
    left_out: LeftOut | None = None
    answer: str | None = None
    options: Options = ()
    now: datetime | None = None


@dataclass(frozen=True)
class QuestionFile:
    """A file of conversations with its questions in the file's order.

    ``names``: the names by which a backfill would take its conversations for another file's, its users' first of all.
    """

    source: SourceFile
    benchmark: str
    questions: tuple[Question, ...]
    names: frozenset[str]

    @property
    def stem(self) -> str:
        """The file's name without folder and endings."""
        return stem_of(self.source.uri)


@dataclass(frozen=True)
class _Told:
    """One record of a file as the product reads it: whose it is, and its sessions."""

    value: dict[str, Any]
    user: str
    sessions: Sequence[Session]
    zone: ZoneInfo | None


def read_questions(source: SourceFile, settings: SourceSettings) -> QuestionFile:
    """The questions of one file.

    UsageError, naming the file, where it is none of these benchmarks or holds no questions; SourceError where it is broken,
    or one of its questions is not as it must be.
    """
    files = places()(source.uri)
    found = survey(source, files)
    if found.error is not None and found.error.code not in ("unknown-format", "not-json"):
        raise _named(found.error, source.uri, None)
    if found.format not in _READERS:
        told = "empty" if found.verdict == "read" and found.format is None else found.format or "no conversation"
        raise UsageError(f"{source.uri} is not a benchmark's file ({', '.join(_READERS)}) but {told}; take it out of DATA")
    questions: list[Question] = []
    names: set[str] = set() if found.user_from == "record" else {stem_of(source.uri)}
    for user, asked in _records(found, files, settings):
        names.add(user)
        questions += [replace(one, position=number) for number, one in enumerate(asked, start=len(questions))]
    if not questions:
        raise UsageError(f"{source.uri} holds conversations but no questions; take it out of DATA")
    return QuestionFile(source, found.format, tuple(questions), frozenset(names))


def answered(path: Path) -> list[Question]:
    """The questions of a local file that name what answers them. As ``read_questions``."""
    stat = path.stat()
    source = SourceFile(str(path.resolve()), stat.st_size, str(stat.st_mtime_ns), named=True)
    return [question for question in read_questions(source, SourceSettings()).questions if question.left_out is None]


# --- records ------------------------------------------------------------------------------------------------------


def _records(found: Survey, files: Files, settings: SourceSettings) -> Iterator[tuple[str, list[Question]]]:
    """Whose history each record of the file is, and its questions; the first that cannot be read raises its SourceError."""
    uri = found.file.uri
    form = next(form for form in FORMATS if form.name == found.format)
    origin = Origin(None, zone_of(settings.timezone), stem_of(uri))
    for record in _numbered(_values(found, files, settings.max_line_bytes)):
        try:
            told = list(form.read(record.value, replace(origin, part=record.part)))
            sessions = [session for session in told if isinstance(session, Session)]
            if not sessions:
                raise next(fault for fault in told if isinstance(fault, SourceError))
            user = sessions[0].user_id
            yield user, list(_READERS[form.name](_Told(record.value, user, sessions, origin.zone)))
        except SourceError as error:
            raise _named(error, uri, record.line) from error


def _values(found: Survey, files: Files, limit: int) -> Iterator[Record]:
    for item in chain.from_iterable(items_of(split, files, limit) for split in found.splits):
        if isinstance(item, SourceError):
            raise _named(item, found.file.uri, item.line)
        if isinstance(item, Record):
            yield item


def _numbered(records: Iterator[Record]) -> Iterator[Record]:
    """Records with their number among the file's conversations, where there are several."""
    first = next(records, None)
    if first is None:
        return
    second = next(records, None)
    if second is None:
        yield first
        return
    for part, record in enumerate(chain([first, second], records), start=1):
        yield replace(record, part=part)


def _named(error: SourceError, uri: str, line: int | None) -> SourceError:
    where = uri if line is None else f"{uri}, line {line}"
    return placed(SourceError(f"{where}: {error}", code=error.code, round_id=error.round_id), uri, line)


# --- the benchmarks -----------------------------------------------------------------------------------------------


def _locomo(told: _Told) -> Iterator[Question]:
    for raw in _listed(told.value, "qa"):
        evidence = frozenset(_turns(one_or_many(raw.get("evidence"))))
        adversarial = str(raw.get("category")) == str(ADVERSARIAL)
        yield _question(told, raw, raw.get("category"), evidence, not_answered=adversarial)


def _turns(evidence: Sequence[object]) -> Iterator[str]:
    """Turn ids; the files also write several in one string (``D8:6; D9:17``), and an id as ``D:11:26`` or ``D30:05``."""
    for written in evidence:
        for session, turn in _TURN.findall(str(written)):
            yield f"D{int(session)}:{int(turn)}"


def _gallery(told: _Told) -> Iterator[Question]:
    key = next((key for key in _GALLERY_KEYS if key in told.value), _GALLERY_KEYS[0])
    for raw in _listed(told.value, key):
        found = _question(told, raw, "+".join(_words(raw.get("point"))), frozenset(_words(raw.get("clue"))))
        picture, caption = (next(_words(raw.get(key)), None) for key in ("question_image", "image_caption"))
        yield replace(found, picture=picture, caption=caption)


def _words(value: object) -> Iterator[str]:
    """The words of a word, or of lists of words however nested (MemEye's points: ``[["X1"], ["Y2"]]``)."""
    if isinstance(value, list):
        for item in value:
            yield from _words(item)
    elif value is not None:
        yield str(value)


def _longmemeval(told: _Told) -> Iterator[Question]:
    raw = told.value
    rounds = frozenset(_marked_rounds(raw, told.sessions))
    sessions = frozenset(_words(raw.get("answer_session_ids")))
    unanswered = str(raw.get("question_id")).endswith("_abs")
    found = _question(told, raw, raw.get("question_type"), rounds or sessions, not_answered=unanswered)
    asked_at = raw.get("question_date")
    yield replace(found, by_session=not rounds, now=None if asked_at is None else parse_time(asked_at, told.zone).utc)


def _marked_rounds(raw: dict[str, Any], sessions: Sequence[Session]) -> Iterator[str]:
    """Ids of the rounds that hold a turn marked ``has_answer``.

    The reader keeps the order of turns and may leave some out, so messages are found by going through both at once.
    """
    messages = [(message.text, found.round_id) for one in sessions for found in one.rounds for message in found.messages]
    at = 0
    for turn in chain.from_iterable(one_or_many(session) for session in one_or_many(raw.get("haystack_sessions"))):
        if at == len(messages) or not isinstance(turn, dict) or _said(turn) != messages[at][0]:
            continue
        if turn.get("has_answer") is True:
            yield messages[at][1]
        at += 1


def _said(turn: dict[str, Any]) -> str | None:
    """The turn's text; None where it cannot be read, of which the backfill tells."""
    try:
        return content_of(turn.get("content")).text
    except SourceError:
        return None


def _listed(value: dict[str, Any], key: str) -> list[dict[str, Any]]:
    return [mapping(raw, f"a question of {key}") for raw in sequence(value.get(key), key)]


def _question(
    told: _Told, raw: dict[str, Any], category: object, evidence: frozenset[str], *, not_answered: bool = False
) -> Question:
    text = text_of(raw.get("question"), "question").strip()
    left_out: LeftOut | None = None if evidence else "no-evidence"
    if not_answered or not text:
        left_out = "not-answered" if not_answered else "no-words"
    named = str(category) if category not in (None, "") else "uncategorised"
    options = options_of(raw, text)
    answer = _answer(raw.get("answer"), options)
    options = options if answer in dict(options) else ()
    return Question(told.user, text, evidence, named, left_out=left_out, answer=answer, options=options)


def _answer(value: object, options: Options) -> str | None:
    """The reference as text: a list's parts with commas between, of a choice its letter; None where there is none."""
    text = ", ".join(_words(value)).strip()
    return (letter_of(text, options) or text if options else text) or None


_READERS: dict[str, Callable[[_Told], Iterator[Question]]] = {
    locomo.NAME: _locomo,
    mem_gallery.NAME: _gallery,
    longmemeval.NAME: _longmemeval,
}
"""Who reads the questions, by the name of the product's format."""
