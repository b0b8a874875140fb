"""Where sources lie: one small interface, and its implementation over local folders."""

from __future__ import annotations

import glob
import os
import stat
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import BinaryIO, Protocol

from operators.errors import SourceError, UsageError

_TABLE_SUFFIXES = (".csv", ".tsv")
_SUFFIXES = (".json", ".jsonl", ".ndjson", ".parquet", *_TABLE_SUFFIXES)
_PACKED = ("", ".gz", ".zst")
TABLES = tuple(suffix + packed for suffix in _TABLE_SUFFIXES for packed in _PACKED)
"""Endings of the files that are expected to be tables."""
LOOKED_AT = (*(suffix + packed for suffix in _SUFFIXES for packed in _PACKED), ".zip")
"""Endings of the files that a walk through a folder looks at."""


MOST_NAMES = 1_000_000
"""How many files of a folder are looked through for one whose name begins as a reference says."""


@dataclass(frozen=True, slots=True)
class SourceFile:
    """One file: its absolute uri, size in bytes, a stamp that changes when it does (mtime in ns, or etag).

    ``named``: it was given by name, not met in a folder or matched by a glob.
    """

    uri: str
    size: int
    stamp: str
    named: bool


class Files(Protocol):
    """What the sources room needs of a file system or an object store."""

    def find(self, pattern: str) -> Iterator[SourceFile]:
        """The file of this name, the files under this folder, or those a glob matches; nothing where there is none."""

    def open(self, uri: str, start: int = 0) -> BinaryIO:
        """The file's bytes from ``start``, buffered (a read is short at the end only); the caller closes. SourceError."""

    def read(self, uri: str, max_bytes: int) -> bytes | None:
        """The first ``max_bytes`` bytes of the file; None where there is no such file. SourceError ``unreadable``."""

    def real(self, uri: str) -> str:
        """The uri with symbolic links resolved; the uri itself where there are none."""

    def names(self, folder: str) -> list[str]:
        """Uris of the files in a folder and in the folders in it, sorted; at most MOST_NAMES of them. SourceError."""


class LocalFiles:
    """Files on this machine. Their uris are absolute, normalised paths; ``file://`` is understood."""

    def find(self, pattern: str) -> Iterator[SourceFile]:
        """As ``Files.find``: folders are walked to the bottom, hidden names skipped, ``**`` matches folders too.

        What a walk meets and nobody can read (a dangling link, a pipe, a folder without permission, a name that is not
        UTF-8) is found too, for the survey to say so. UsageError for a folder given by name that cannot be looked into.
        """
        path = _absolute(pattern.removeprefix("file://"))
        if path.is_dir():
            yield from _walk(path)
        elif path.is_file():
            yield _source(path, named=True)
        elif path.exists():
            raise UsageError(f"{pattern!r} is a device or a pipe, no regular file: copy what it gives into one")
        elif glob.has_magic(str(path)):
            for match in sorted(glob.iglob(str(path), recursive=True)):  # noqa: PTH207 - Path.glob takes no absolute pattern
                yield from self._matched(_absolute(match))

    def _matched(self, path: Path) -> Iterator[SourceFile]:
        if path.is_dir():
            yield from _walk(path)
        elif path.is_file():
            yield _source(path, named=False)

    def open(self, uri: str, start: int = 0) -> BinaryIO:
        """As ``Files.open``; a pipe or a device, which could keep a reader waiting for ever, is unreadable."""
        try:
            if not stat.S_ISREG(Path(uri).stat().st_mode):
                raise OSError(None, "not a regular file")
            stream = Path(uri).open("rb")  # noqa: SIM115 - the caller closes it
            stream.seek(start)
        except (OSError, ValueError) as error:
            raise _unreadable(uri, error) from error
        return stream

    def read(self, uri: str, max_bytes: int) -> bytes | None:
        """As ``Files.read``; anything but a regular file is no file."""
        try:
            if not stat.S_ISREG(Path(uri).stat().st_mode):
                return None
            with Path(uri).open("rb") as stream:
                return stream.read(max_bytes)
        except (FileNotFoundError, NotADirectoryError, ValueError):
            return None
        except OSError as error:
            raise _unreadable(uri, error) from error

    def real(self, uri: str) -> str:
        """As ``Files.real``."""
        try:
            return os.path.realpath(uri)
        except (OSError, ValueError) as error:
            raise _unreadable(uri, error) from error

    def names(self, folder: str) -> list[str]:
        """As ``Files.names``."""
        found: list[str] = []
        try:
            for parent, folders, names in os.walk(folder):
                found += [str(Path(parent, name)) for name in names]
                if parent != folder or len(found) >= MOST_NAMES:
                    folders.clear()
        except (OSError, ValueError) as error:
            raise _unreadable(folder, error) from error
        return sorted(found)[:MOST_NAMES]


def find_sources(patterns: Iterable[str], files: Callable[[str], Files]) -> list[SourceFile]:
    """All files that the patterns name, each once, sorted by uri.

    ``files`` gives the Files for a pattern. UsageError where a pattern matches nothing: a typo must not pass as an
    empty backfill.
    """
    found: dict[str, SourceFile] = {}
    for pattern in patterns:
        matched = list(files(pattern).find(pattern))
        if not matched:
            raise UsageError(
                f"{pattern!r} matches no file; in folders only {', '.join(_SUFFIXES)} (also with .gz or .zst) and .zip are "
                "looked at"
            )
        for file in matched:
            before = found.get(file.uri)
            found[file.uri] = replace(file, named=file.named or (before is not None and before.named))
    return [found[uri] for uri in sorted(found)]


def _absolute(name: str) -> Path:
    try:
        return Path(os.path.abspath(name))  # noqa: PTH100 - a link stays the name it was given by
    except FileNotFoundError:
        raise UsageError(f"{name!r}: the folder that this is relative to is gone; give the whole path") from None


def _walk(folder: Path) -> Iterator[SourceFile]:
    refused: list[OSError] = []
    for parent, folders, names in os.walk(folder, onerror=refused.append):
        if "store.json" in names and "snapshots" in folders:  # one of our stores holds no sources
            folders[:] = []
            continue
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            if not name.startswith(".") and name.lower().endswith(LOOKED_AT):
                yield _source(Path(parent, name), named=False)
    for error in refused:
        if error.filename == str(folder):
            reason = f"{error.strerror}; leave it out or allow reading it"
            raise UsageError(f"cannot look into the folder {error.filename}: {reason}") from error
        yield _source(Path(error.filename), named=False)


def _source(path: Path, *, named: bool) -> SourceFile:
    """The file as it is now. What is no file, or cannot be looked at, has no bytes: its survey says why."""
    uri = str(path)
    try:
        uri.encode("utf-8")
    except UnicodeEncodeError as error:
        if named:
            raise UsageError(f"the name of {uri!r} is not UTF-8; rename the file") from error
        # Nothing may lie under its escaped name: the file is quarantined as unreadable, the others of its folder go in.
        uri = os.fsencode(path).decode("utf-8", "backslashreplace")
        while os.path.lexists(uri):
            uri += "?"
    try:
        found = path.stat()
    except OSError:
        return SourceFile(uri, 0, "0", named)
    return SourceFile(uri, found.st_size if stat.S_ISREG(found.st_mode) else 0, str(found.st_mtime_ns), named)


def _unreadable(uri: str, error: Exception) -> SourceError:
    reason = error.strerror if isinstance(error, OSError) and error.strerror else "not a usable name"
    return SourceError(f"{uri!r} cannot be read: {reason}", code="unreadable", file=uri)
