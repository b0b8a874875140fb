"""One message a row: tables (CSV, TSV), Parquet, JSON lines or a JSON list of message objects.

- Which column says what is found by common names or mapped (``columns``). What stands in other columns is kept nowhere.
- Rows are grouped into sessions by user and session, in whatever order they stand; within a session they keep the order of
  the file. The groups wait in a temporary file of SQLite's, so that memory holds one session, whatever the file's size.
- Without a column for the session a user has one, named by the file's stem. Without one for the user the stem is the user;
  or --user is, and then session ids get the stem as prefix, so that session 1 of two files stays two sessions.
- The role is the role column's word; without one it is ``user``, unless the speaker's is a known role (``assistant``). A
  session that holds one side only (a group chat) has rounds of two consecutive messages, where no column names them.
- A session whose rows lie in several files of a run is joined by ``rejoin``, once its bucket has them together.
- A row that has neither text nor a picture, or cannot be read, is an error with its line. The others close ranks.

A group becomes a record of our JSONL and is read as one.
"""

from __future__ import annotations

import base64
import math
import pickle
import re
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache
from typing import Any

from operators.errors import SourceError, UsageError
from operators.sources.columns import BESIDE, find_columns, is_readable
from operators.sources.fields import identifier, label, mapping, one_or_many, reject, text_of, wrong_type
from operators.sources.origin import Origin, user_of_record
from operators.sources.parts import CALLS, role_of
from operators.sources.rounds import by_pairs, one_sided, positional_id

NAME = "rows"

_BATCH = 1000
_GROUPS_IN_MEMORY = 100_000
_LAYOUTS_IN_MEMORY = 1000
_CACHE_KIB = 32 << 10
_PLAIN = (str, int, type(None))
_CLOCK = re.compile(r"\d{1,2}:\d{2}\b")


def matches(record: Any, chosen: Mapping[str, str] | None = None) -> bool:
    """True for an object that says something, and who said it, or when or where."""
    if not isinstance(record, dict):
        return False
    found = find_columns(tuple(record), chosen) if chosen else _common_columns(tuple(record))
    if not is_readable(found):
        return False
    said = record[found["text"]]
    return isinstance(said, str) or (isinstance(said, list) and all(isinstance(part, str | dict) for part in said))


@lru_cache(_LAYOUTS_IN_MEMORY)
def _common_columns(names: tuple[str, ...]) -> Mapping[str, str]:
    return find_columns(names, None)


class Gathering:
    """Messages that wait for the rest of their sessions. A context manager: leaving it removes the temporary file.

    ``limit``: bytes that one session may hold.
    """

    def __init__(self, origin: Origin, chosen: Mapping[str, str] | None, limit: int) -> None:
        self._origin = origin
        self._chosen = chosen
        self._limit = limit
        self._layouts: dict[tuple[str, ...], dict[str, str]] = {}
        self._numbers: dict[tuple[str | int | None, str | int | None, bool], int] = {}
        self._waiting: list[tuple[int, int, bytes]] = []
        self._count = 0

    def __enter__(self) -> Gathering:
        with _disk():
            self._base = sqlite3.connect("", isolation_level=None)
            for line in (
                f"PRAGMA cache_size = -{_CACHE_KIB}",
                "PRAGMA journal_mode = OFF",
                "CREATE TABLE groups (user TEXT, session TEXT, number INTEGER, PRIMARY KEY (user, session)) WITHOUT ROWID",
                "CREATE TABLE messages (grp INTEGER, line INTEGER, message BLOB)",
                "BEGIN",
            ):
                self._base.execute(line)
        return self

    def __exit__(self, *_: object) -> None:
        self._base.close()

    def add(self, line: int, value: Any) -> None:
        """The row on this line. SourceError where it cannot be read."""
        row = mapping(value, "the row")
        names = tuple(row)
        found = self._layouts.get(names)
        if found is None:
            if len(self._layouts) >= _LAYOUTS_IN_MEMORY:
                self._layouts.clear()
            found = self._layouts[names] = find_columns(names, self._chosen)
        cells = {key: cell for key, column in found.items() if (cell := _filled(row[column])) is not None}
        message = _message(cells, row)
        packed = pickle.dumps(message, pickle.HIGHEST_PROTOCOL)
        if len(packed) > self._limit:
            raise reject("too-long", f"the row is longer than {self._limit} bytes")
        self._waiting.append((self._number(cells, "user" in found), line, packed))
        if len(self._waiting) >= _BATCH:
            self._write()

    def _number(self, cells: Mapping[str, Any], has_user_column: bool) -> int:
        """The number of the row's session, remembered by its cells as they stand."""
        user, session = cells.get("user"), cells.get("session")
        plain = type(user) in _PLAIN and type(session) in _PLAIN
        number = self._numbers.get((user, session, has_user_column)) if plain else None
        if number is None:
            number = self._group(*self._place(cells, has_user_column))
            if len(self._numbers) >= _GROUPS_IN_MEMORY:
                self._numbers.clear()
            if plain:
                self._numbers[user, session, has_user_column] = number
        return number

    def _place(self, cells: Mapping[str, Any], has_user_column: bool) -> tuple[str, str]:
        origin = self._origin
        named = identifier(_whole(cells.get("user")), "the user")
        session = identifier(_whole(cells.get("session")), "the session")
        if named is not None:
            return user_of_record(named, origin), session or origin.stem
        if origin.user is not None:
            return origin.user, origin.stem if session is None else f"{origin.stem}/{session}"
        if has_user_column:
            raise reject("no-user", "the row names no user: fill its column in, map another, or say whose it is with --user")
        return origin.stem, session or origin.stem

    def _group(self, user: str, session: str) -> int:
        with _disk():
            row = self._base.execute("SELECT number FROM groups WHERE user = ? AND session = ?", (user, session)).fetchone()
            if row is not None:
                return int(row[0])
            self._base.execute("INSERT INTO groups VALUES (?, ?, ?)", (user, session, self._count))
        self._count += 1
        return self._count - 1

    def _write(self) -> None:
        with _disk():
            self._base.executemany("INSERT INTO messages VALUES (?, ?, ?)", self._waiting)
        self._waiting.clear()

    def sessions(self) -> Iterator[tuple[int, dict[str, Any] | SourceError]]:
        """Each session as a record of our JSONL with the line of its first row, in the order of those lines.

        A SourceError ``too-long`` in place of one that holds more than may be.
        """
        self._write()
        names = self._selected("SELECT number, user, session FROM groups ORDER BY number")
        rows = self._selected("SELECT grp, line, message FROM messages ORDER BY grp, rowid")
        row = next(rows, None)
        for number, user, session in names:
            first = row[1] if row is not None else 0
            size = 0
            messages: list[dict[str, Any]] = []
            while row is not None and row[0] == number:
                size += len(row[2])
                if size <= self._limit:
                    messages.append(pickle.loads(row[2]))
                row = next(rows, None)
            if size > self._limit:
                reason = (
                    f"the session holds more than {self._limit} bytes; map a column that cuts it up: --map session=COLUMN"
                )
                yield first, reject("too-long", reason)
            else:
                yield first, _record(user, session, messages)

    def _selected(self, query: str) -> Iterator[tuple[Any, ...]]:
        with _disk():
            yield from self._base.execute(query)


@contextmanager
def _disk() -> Iterator[None]:
    try:
        yield
    except sqlite3.DatabaseError as error:
        reason = "the disk for temporary files is full or cannot be written"
        raise UsageError(f"{reason} ({error}): free space, or set TMPDIR to a folder that has some") from error


def _record(user: str, session: str, messages: list[dict[str, Any]]) -> dict[str, Any]:
    alike = one_sided([role_of(message["role"]) for message in messages])
    if alike and not any("round" in message for message in messages):
        for position, pair in enumerate(by_pairs(len(messages))):
            messages[pair[0]]["round"] = positional_id(session, position)
    return {"user_id": user, "session_id": session, "messages": messages}


def _filled(cell: Any) -> Any:
    """The cell, None where it is blank or no number."""
    if isinstance(cell, str):
        return cell if cell.strip() else None
    return None if isinstance(cell, float) and math.isnan(cell) else cell


def _whole(cell: Any) -> Any:
    """The cell; a whole number where a column with gaps has made a fraction of it."""
    return int(cell) if isinstance(cell, float) and cell.is_integer() else cell


def _message(cells: Mapping[str, Any], row: Mapping[str, Any]) -> dict[str, Any]:
    speaker = text_of(_worded(cells.get("speaker")), "the speaker").strip()
    content = _content(cells)
    calls = {key: row[key] for key in CALLS if row.get(key)}
    if content is None and not calls:
        raise reject("no-messages", "the row has neither text nor a picture")
    message: dict[str, Any] = {"role": _role(cells, speaker), "content": content, **calls}
    if speaker:
        message["name"] = speaker
    if "time" in cells:
        message["timestamp"] = _time(cells["time"], row)
    for key in ("id", "round"):
        if key in cells and (name := label(_whole(cells[key]), f"the {key}")) is not None:
            message[key] = name
    return message


def _worded(cell: Any) -> Any:
    whole = _whole(cell)
    return str(whole) if isinstance(whole, int) and not isinstance(whole, bool) else whole


def _role(cells: Mapping[str, Any], speaker: str) -> str:
    written = text_of(_worded(cells.get("role")), "the role").strip()
    if written:
        return written
    return speaker if speaker and role_of(speaker) != "other" else "user"


def _time(cell: Any, row: Mapping[str, Any]) -> Any:
    """The cell; a clock's time with the day beside it, where that stands in a column ``date``."""
    if isinstance(cell, str) and _CLOCK.match(cell.strip()):
        day = next((row[name] for name in BESIDE if name in row), None)
        if isinstance(day, str) and day is not cell:
            return f"{day.strip()} {cell.strip()}"
    return cell


def _content(cells: Mapping[str, Any]) -> Any:
    said = cells.get("text")
    if said is not None and not isinstance(said, str | list):
        raise wrong_type("the text", "text or a list of parts", said)
    pictures = [_picture(cell, None) for cell in one_or_many(cells.get("image"))]
    caption = text_of(cells.get("caption"), "the caption")
    if caption:
        pictures = [{**picture, "caption": caption} for picture in pictures] or [_picture("", caption)]
    if not pictures:
        return said or None
    words = said if isinstance(said, list) else [] if said is None else [{"type": "text", "text": said}]
    return [*words, *pictures]


def _picture(cell: Any, caption: str | None) -> dict[str, Any]:
    """A picture part of an address, of bytes, or of an object that has one of these (as datasets in Parquet do)."""
    if isinstance(cell, dict):
        cell = next((cell[key] for key in ("bytes", "url", "path") if cell.get(key)), None)
    if isinstance(cell, bytes):
        cell = "data:;base64," + base64.b64encode(cell).decode("ascii")
    if not isinstance(cell, str):
        raise wrong_type("the picture", "an address", cell)
    return {"type": "image_url", "image_url": cell, "caption": caption}
