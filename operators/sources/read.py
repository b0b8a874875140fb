"""The door of the room: what is in a file, how it is split, and the sessions of a split."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, replace
from itertools import chain
from typing import Literal

from operators.errors import SourceError, UsageError
from operators.records import Session
from operators.sources import parquet, rows
from operators.sources.archives import ArchiveFiles, is_archive
from operators.sources.columns import check_columns, check_keys, find_columns, is_readable, unread_columns, wrong_columns
from operators.sources.fields import reject
from operators.sources.files import LOOKED_AT, TABLES, Files, SourceFile
from operators.sources.items import Item, Record, Split, SplitEnd, items_of, open_parquet
from operators.sources.origin import Origin, owner_of, placed, stem_of
from operators.sources.sniff import FORMATS, Container, Format, Look, look, sniff
from operators.sources.streams import packing_of, raw_chunks, unpack
from operators.sources.times import zone_of

__all__ = [
    "FORMAT_NAMES",
    "Parsed",
    "ReadScope",
    "Split",
    "SplitEnd",
    "Survey",
    "is_in_parts",
    "read_split",
    "sniff",
    "survey",
]

FORMAT_NAMES = tuple(sorted(form.name for form in FORMATS))
"""What ``format`` may be, besides ``auto``."""

_BY_NAME = {form.name: form for form in FORMATS}
_HEADS = (1 << 18, 1 << 22, 1 << 26)
"""How much of a file is looked at to tell its format, step by step while the answer is open."""

_ANSWERS = {
    "unknown-format": f"valid, but no history in a format this release reads ({', '.join(FORMAT_NAMES)})",
    "not-json": "neither JSON, JSON lines, Parquet nor a table of messages",
}


@dataclass(frozen=True)
class Survey:
    """What was found in a file. ``verdict``:

    ``read``: it has ``splits`` (none where the file is empty); ``ignored``: it was met in a folder and is no history, as
    ``reason`` says; ``rejected``: it goes to quarantine with ``error``. ``user_from``: what names its users, as ``Format``
    says; ``file`` for rows without a column for the user. ``unread``: columns of rows that are kept nowhere.
    """

    file: SourceFile
    format: str | None
    splits: tuple[Split, ...]
    verdict: Literal["read", "ignored", "rejected"]
    reason: str | None = None
    error: SourceError | None = None
    user_from: Literal["record", "file", "export"] | None = None
    unread: tuple[str, ...] = ()


@dataclass(frozen=True)
class ReadScope:
    """What is known beforehand: the user (``--user``), the IANA zone of wall times, the longest JSON record in bytes,
    and the columns that were mapped (``--map``; by ``columns.KEYS``)."""

    user: str | None
    timezone: str | None
    max_line_bytes: int
    columns: Mapping[str, str] | None = None


@dataclass(frozen=True)
class Parsed:
    """A session and the line (row, for Parquet) on which it begins, from 1 within its split."""

    session: Session
    line: int


def survey(
    file: SourceFile,
    files: Files,
    format: str = "auto",
    split_bytes: int = 64 << 20,
    columns: Mapping[str, str] | None = None,
) -> Survey:
    """What is in the file and how it is split. ``format`` names one of FORMAT_NAMES, or ``auto``: by content.

    Only plain JSON lines (ranges of ``split_bytes``) and Parquet (groups of row groups) have more than one split, and none
    of one message a row, whose columns may be given (``columns``, by ``columns.KEYS``).
    UsageError on an unknown format or key; what is wrong with the file is in the Survey.
    """
    check_keys(columns or {})
    if format != "auto" and format not in _BY_NAME:
        raise UsageError(f"unknown format {format!r}; one of auto, {', '.join(FORMAT_NAMES)}")
    try:
        found, packed, empty = _look_into(file, files, columns)
        if empty:
            return Survey(file, None, (), "read")
        name = _name_of(found, format)
        if name == rows.NAME:
            check_columns(found.columns, columns)
        if name is None:
            return _no_history(file, found, columns)
        container = found.container or ("lines" if _BY_NAME[name].user_from == "record" else "document")
        splits = _splits(file, files, name, container, packed, split_bytes)
    except SourceError as error:
        return _refused(file, error)
    except UsageError:
        raise
    except (ValueError, KeyError, TypeError, OverflowError, RecursionError, OSError) as error:
        return _refused(file, _unforeseen(error))
    if name != rows.NAME:
        return Survey(file, name, tuple(splits), "read", user_from=_BY_NAME[name].user_from)
    named = "user" in find_columns(found.columns, columns)
    unread = unread_columns(found.columns, columns)
    return Survey(file, name, tuple(splits), "read", user_from="record" if named else "file", unread=unread)


def read_split(split: Split, files: Files, scope: ReadScope) -> Iterator[Parsed | SourceError | SplitEnd]:
    """The sessions of a split, an error in place of each that cannot be read, and SplitEnd.

    Lines are counted from 1 within the split. Memory is bounded by the longest record, at most ``max_line_bytes``.
    UsageError on an unknown time zone, or where there is no room for temporary files; errors of a store that is not there
    pass through.
    """
    uri = split.file.uri
    form = _BY_NAME[split.format]
    origin = Origin(scope.user, zone_of(scope.timezone), stem_of(uri), owner=owner_of(uri))
    items = items_of(split, files, scope.max_line_bytes, scope.columns)
    if form.gathers:
        items = _gathered(items, rows.Gathering(origin, scope.columns, scope.max_line_bytes), uri)
    for item in _counted(items) if form.user_from == "file" else items:
        if isinstance(item, SplitEnd):
            yield item
        elif isinstance(item, SourceError):
            yield placed(item, uri, None)
        else:
            yield from _sessions(form, item, replace(origin, part=item.part), uri)


def is_in_parts(split: Split) -> bool:
    """Whether the split's sessions may have messages in other files too, as a table's have: ``rejoin`` joins them."""
    return _BY_NAME[split.format].gathers


def _sessions(form: Format, record: Record, origin: Origin, file: str) -> Iterator[Parsed | SourceError]:
    try:
        for item in form.read(record.value, origin):
            yield Parsed(item, record.line) if isinstance(item, Session) else placed(item, file, record.line)
    except SourceError as error:
        yield placed(error, file, record.line)
    except Exception as error:
        # A record that a format module did not foresee is one quarantined record, never the end of everyone's backfill.
        yield placed(_unforeseen(error), file, record.line)


def _unforeseen(error: Exception) -> SourceError:
    return reject("unreadable-record", f"the record has a shape that could not be read ({type(error).__name__})")


def _gathered(items: Iterator[Item], gathering: rows.Gathering, uri: str) -> Iterator[Item]:
    """Records of messages become records of sessions, after the errors of messages."""
    end: SplitEnd | None = None
    with gathering:
        for item in items:
            if isinstance(item, SplitEnd):
                end = item
            elif isinstance(item, SourceError):
                yield item
            else:
                try:
                    gathering.add(item.line, item.value)
                except SourceError as error:
                    yield placed(error, uri, item.line)
                except UsageError:
                    raise
                except Exception as error:  # as in _sessions
                    yield placed(_unforeseen(error), uri, item.line)
        for line, found in gathering.sessions():
            yield placed(found, uri, line) if isinstance(found, SourceError) else Record(line, found)
    if end is not None:
        yield end


def _counted(items: Iterator[Item]) -> Iterator[Item]:
    """The same items, records numbered from 1 where there are several."""
    first: Record | None = None
    count = 0
    for item in items:
        if not isinstance(item, Record):
            if first is not None and isinstance(item, SplitEnd):
                yield first
            yield item
            continue
        count += 1
        if count == 1:
            first = item
            continue
        if first is not None:
            yield replace(first, part=1)
            first = None
        yield replace(item, part=count)


# --- survey -----------------------------------------------------------------------------------------------------


def _name_of(found: Look, format: str) -> str | None:
    """The format by which the file is read. SourceError ``wrong-format`` where the one asked for cannot be."""
    if format == "auto":
        return found.format
    if found.container == "parquet":
        if format not in (parquet.NAME, rows.NAME):
            raise reject("wrong-format", f"expected {format}, found Parquet")
        return found.format if format == parquet.NAME else format
    if format == parquet.NAME:
        raise reject("wrong-format", "expected Parquet, found something else")
    if found.container == "table" and format != rows.NAME:
        raise reject("wrong-format", f"expected {format}, found a table")
    return format


def _look_into(file: SourceFile, files: Files, chosen: Mapping[str, str] | None) -> tuple[Look, bool, bool]:
    """What the head tells, whether the file is packed, whether it is empty."""
    if is_archive(file.uri) and not ArchiveFiles(files).members(file):
        raise reject("unknown-format", f"the archive holds no {', '.join(LOOKED_AT)}")
    for size in _HEADS:
        head, packed, complete = _head(files, file.uri, size)
        if complete and not head.strip(b" \t\r\n\xef\xbb\xbf"):
            return Look(None, None), packed, True
        found = look(head, complete=complete, chosen=chosen)
        if found.settled or complete:
            break
    if found.container == "parquet":
        found = _look_at_columns(file, files, packed, chosen)
    return found, packed, False


def _look_at_columns(file: SourceFile, files: Files, packed: bool, chosen: Mapping[str, str] | None) -> Look:
    """What Parquet holds: sessions, where it has ``messages``, else one message a row or nothing known."""
    with open_parquet(file, files, packed) as stream:
        names = parquet.columns_of(stream)
    readable = rows.NAME if is_readable(find_columns(names, chosen)) else None
    return Look("parquet", parquet.NAME if "messages" in names else readable, columns=names)


def _head(files: Files, uri: str, size: int) -> tuple[bytes, bool, bool]:
    """The first ``size`` unpacked bytes, whether they were packed, whether that is all. Broken data end the head."""
    parts: list[bytes] = []
    held = 0
    with closing(raw_chunks(files, uri)) as chunks:
        first = next(chunks, b"")
        packing = packing_of(first)
        try:
            for part in unpack(chain([first], chunks), packing):
                parts.append(part)
                held += len(part)
                if held > size:
                    return b"".join(parts)[:size], packing is not None, False
        except SourceError as error:
            if packing is None or not held:
                raise error
    return b"".join(parts), packing is not None, True


def _splits(file: SourceFile, files: Files, name: str, container: Container, packed: bool, split_bytes: int) -> list[Split]:
    if container == "parquet":
        with open_parquet(file, files, packed) as stream:
            gathers = _BY_NAME[name].gathers
            ranges = [(0, parquet.row_groups(stream))] if gathers else parquet.row_group_ranges(stream, split_bytes)
    elif container == "lines" and not packed and _BY_NAME[name].user_from == "record" and not _BY_NAME[name].gathers:
        starts = range(0, file.size, split_bytes)
        ranges = [(start, min(start + split_bytes, file.size)) for start in starts]
    else:
        ranges = [(0, file.size)]
    return [Split(file, name, index, start, end, container, packed) for index, (start, end) in enumerate(ranges)]


def _no_history(file: SourceFile, found: Look, chosen: Mapping[str, str] | None) -> Survey:
    if found.fault is not None:
        return _refused(file, reject("bad-json", found.fault))
    table = found.container == "parquet" or (found.container is None and file.uri.lower().endswith(TABLES))
    if found.columns and (chosen or table):
        try:
            check_columns(found.columns, chosen)
        except SourceError as error:
            return _refused(file, error)
        return _refused(file, wrong_columns("expected user, session, role, speaker or time beside the text", found.columns))
    code = "unknown-format" if found.container else "not-json"
    return _refused(file, reject(code, _ANSWERS[code]))


def _refused(file: SourceFile, error: SourceError) -> Survey:
    foreign = error.code in ("unknown-format", "wrong-columns")
    unasked = error.code == "not-json" and not file.uri.lower().endswith(LOOKED_AT)
    if not file.named and (foreign or unasked):
        return Survey(file, None, (), "ignored", reason=str(error))
    return Survey(file, None, (), "rejected", reason=str(error), error=placed(error, file.uri, None))
