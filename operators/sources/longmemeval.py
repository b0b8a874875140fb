"""LongMemEval: a question with the sessions in which its answer is to be found, one history a question.

``{"question_id", "haystack_sessions": [[{"role", "content", "has_answer"}, ..], ..], "haystack_session_ids": [..],
"haystack_dates": [..]}``

- Sessions are read as our JSONL's. ``has_answer``, the question and its answer are no history and are kept nowhere.
- Ids and dates stand beside the sessions, as lists or as a list's text (JSON, or as Python prints it). Where one is missing
  the session is named by its number (``session_3``), or has no time. An id that comes again gets a number (``a``, ``a-2``).
- The user is the ``question_id``. Where --user names one, session ids get the question's id as prefix.
"""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator, Sequence
from typing import Any

from operators.errors import SourceError
from operators.records import Session
from operators.sources import openai_jsonl
from operators.sources.fields import identifier, label, mapping, reject, sequence, wrong_type
from operators.sources.origin import Origin

NAME = "longmemeval"

_LIST_TEXT = 1 << 18
"""Characters of a list's text, at most: ten thousand dates."""


def matches(record: Any) -> bool:
    """True for an object with a list of ``haystack_sessions``."""
    return isinstance(record, dict) and isinstance(record.get("haystack_sessions"), list)


def read(record: Any, origin: Origin) -> Iterator[Session | SourceError]:
    """The sessions of one haystack in their order; a session that cannot be read is an error in its place."""
    whole = mapping(record, "a question")
    question = identifier(whole.get("question_id"), "question_id")
    if question is None:
        raise reject("no-user", "the record has no question_id, which names whose history it is")
    user, prefix = (question, "") if origin.user is None else (origin.user, f"{question}/")
    sessions = sequence(whole.get("haystack_sessions"), "haystack_sessions")
    if not sessions:
        raise reject("no-messages", "haystack_sessions is empty")
    ids: list[Any] = []
    dates: list[Any] = []
    for key, values in (("haystack_session_ids", ids), ("haystack_dates", dates)):
        try:
            values += _listed(whole.get(key), key)
        except SourceError as error:
            yield error
    names = _names(ids, len(sessions))
    for number, found in enumerate(sessions):
        if found is None or found == []:
            continue
        try:
            messages = [_message(raw) for raw in sequence(found, "the session")]
            date = dates[number] if number < len(dates) else None
            one = {"user_id": user, "session_id": prefix + names[number], "messages": messages, "timestamp": date}
            yield from openai_jsonl.read(one, origin)
        except SourceError as error:
            yield SourceError(f"session {number + 1}: {error}", code=error.code, round_id=error.round_id)


def _message(raw: Any) -> Any:
    return {"role": raw.get("role"), "content": raw.get("content")} if isinstance(raw, dict) else raw


def _names(ids: Sequence[Any], count: int) -> list[str]:
    """A name for each session, no two alike: its id, which the first of several keeps, or its number's name."""
    given = [_name(ids[number]) if number < len(ids) else None for number in range(count)]
    taken = {name for name in given if name is not None}
    names: list[str] = []
    kept: set[str] = set()
    for number, name in enumerate(given, start=1):
        wanted = free = name if name is not None else f"session_{number}"
        again = 2
        while free in kept or (free in taken and free != name):
            free = f"{wanted}-{again}"
            again += 1
        kept.add(free)
        names.append(free)
    return names


def _name(value: Any) -> str | None:
    try:
        return label(value, "the session id")
    except SourceError:
        return None


def _listed(value: Any, what: str) -> list[Any]:
    """A list, or the list that a text shows. SourceError ``wrong-type``."""
    if not isinstance(value, str):
        return sequence(value, what)
    found: Any = None
    if len(value) <= _LIST_TEXT:
        try:
            found = json.loads(value)
        except (ValueError, RecursionError):
            found = _literal(value)
    if not isinstance(found, list):
        raise wrong_type(what, "a list, or a list's text", value)
    return found


def _literal(text: str) -> Any:
    try:
        return ast.literal_eval(text.strip())
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
        return None
