"""Zip archives read as folders: ``/data/export.zip!/conversations.json`` is a file inside one."""

from __future__ import annotations

import io
import zipfile
import zlib
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from typing import IO, BinaryIO, cast

from operators.errors import SourceError
from operators.sources.files import LOOKED_AT, MOST_NAMES, Files, SourceFile
from operators.sources.origin import ARCHIVE

SUFFIX = ".zip"
_INSIDE = f"{SUFFIX}{ARCHIVE}/"
_MOST_MEMBERS = 1_000_000
_OPEN_AT_ONCE = 4
_BUFFER = 1 << 18
_BROKEN = (zipfile.BadZipFile, zlib.error, OSError, EOFError, RuntimeError, NotImplementedError, ValueError, SourceError)
"""What reading an archive raises that is cut off, encrypted, packed in an unknown way, or none."""


def is_inside(uri: str) -> bool:
    """True for the uri of a file inside an archive."""
    return _INSIDE in uri.lower()


def archive_of(uri: str) -> str | None:
    """The archive a file lies in; None for one that lies in none."""
    return _split(uri)[0] if is_inside(uri) else None


def is_archive(uri: str) -> bool:
    """True for a file that is to be read as a folder."""
    return uri.lower().endswith(SUFFIX)


def opened_up(sources: Iterable[SourceFile], files: Callable[[str], Files]) -> list[SourceFile]:
    """The sources with each archive's members in its place, sorted by uri.

    An archive that cannot be read, or that holds nothing to look at, stays itself, for the survey to say so.
    """
    found: list[SourceFile] = []
    for source in sources:
        members: list[SourceFile] = []
        if is_archive(source.uri):
            with suppress(SourceError):
                members = ArchiveFiles(files(source.uri)).members(source)
        found += members or [source]
    return sorted(found, key=lambda source: source.uri)


class ArchiveFiles:
    """``Files`` inside archives that lie in ``outer``. Archives inside archives stay closed."""

    def __init__(self, outer: Files) -> None:
        self._outer = outer
        self._opened: OrderedDict[str, _Archive] = OrderedDict()

    def members(self, archive: SourceFile) -> list[SourceFile]:
        """The files in it that a walk through a folder would look at, in the archive's order, unnamed.

        SourceError ``bad-zip`` where it is none, broken, encrypted, or of more than a million files.
        """
        opened = self._archive(archive.uri)
        base = f"{archive.uri}{ARCHIVE}/"
        return [
            SourceFile(base + info.filename, info.file_size, f"{archive.stamp}-{info.CRC:08x}", named=False)
            for info in opened.infos
            if _is_looked_at(info.filename)
        ]

    def find(self, pattern: str) -> Iterator[SourceFile]:
        """The one member of this name; archives are walked by ``members``."""
        archive, member = _split(pattern)
        for source in self._outer.find(archive):
            info = self._archive(archive).by_name.get(member)
            if info is not None:
                yield SourceFile(pattern, info.file_size, f"{source.stamp}-{info.CRC:08x}", named=True)

    def open(self, uri: str, start: int = 0) -> BinaryIO:
        """As ``Files.open``; what stands before ``start`` is unpacked and passed over."""
        archive, member = _split(uri)
        opened = self._archive(archive)
        info = opened.by_name.get(member)
        if info is None:
            raise SourceError(f"{uri!r} cannot be read: the archive holds no such file", code="unreadable", file=uri)
        try:
            stream = _Member(opened.zip.open(info))
            while start > 0 and (passed := stream.read(min(start, _BUFFER))):
                start -= len(passed)
        except _BROKEN as error:
            raise _bad(uri, error) from error
        return cast("BinaryIO", io.BufferedReader(stream, _BUFFER))

    def read(self, uri: str, max_bytes: int) -> bytes | None:
        """As ``Files.read``; None for what lies in no archive."""
        if not is_inside(uri):
            return None
        archive, member = _split(uri)
        opened = self._archive(archive)
        info = opened.by_name.get(member)
        if info is None or info.is_dir():
            return None
        try:
            with opened.zip.open(info) as stream:
                return stream.read(max_bytes)
        except _BROKEN as error:
            raise _bad(uri, error) from error

    def real(self, uri: str) -> str:
        """The uri itself: what an archive says is a link is not followed."""
        return uri

    def names(self, folder: str) -> list[str]:
        """As ``Files.names``; none for what lies in no archive."""
        if not is_inside(f"{folder}/"):
            return []
        archive, inner = _split(f"{folder.rstrip('/')}/")
        infos = self._archive(archive).infos
        inside = [info.filename for info in infos if info.filename.startswith(inner)]
        near = sorted(name for name in inside if name[len(inner) :].count("/") <= 1)
        return [f"{archive}{ARCHIVE}/{name}" for name in near[:MOST_NAMES]]

    def _archive(self, uri: str) -> _Archive:
        if uri not in self._opened:
            self._opened[uri] = _Archive(self._outer, uri)
            if len(self._opened) > _OPEN_AT_ONCE:
                self._opened.popitem(last=False)
        self._opened.move_to_end(uri)
        return self._opened[uri]


class _Archive:
    """An archive's table of contents, and the archive to read from."""

    def __init__(self, files: Files, uri: str) -> None:
        try:
            self.zip = zipfile.ZipFile(files.open(uri))
            infos = self.zip.infolist()
            if len(infos) > _MOST_MEMBERS:
                raise zipfile.BadZipFile("too many files")
        except _BROKEN as error:
            raise _bad(uri, error) from error
        self.infos = [info for info in infos if not info.is_dir() and not _is_odd(info.filename)]
        self.by_name = {info.filename: info for info in self.infos}


class _Member(io.RawIOBase):
    """A member's bytes; what cannot be unpacked is an OSError, as a file that cannot be read on."""

    def __init__(self, stream: IO[bytes]) -> None:
        super().__init__()
        self._stream = stream

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: object) -> int:
        view = memoryview(buffer)  # type: ignore[arg-type]
        try:
            data = self._stream.read(len(view))
        except (zipfile.BadZipFile, zlib.error, EOFError, ValueError) as error:
            raise OSError(None, "the archive is broken here") from error
        view[: len(data)] = data
        return len(data)

    def close(self) -> None:
        self._stream.close()
        super().close()


def _is_looked_at(name: str) -> bool:
    hidden = any(part.startswith((".", "__MACOSX")) for part in name.split("/"))
    return not hidden and name.lower().endswith(LOOKED_AT) and not is_archive(name)


def _is_odd(name: str) -> bool:
    """Names that point out of the archive, or that no uri can hold."""
    return name.startswith("/") or ".." in name.split("/") or "\\" in name or not name.isprintable()


def _split(uri: str) -> tuple[str, str]:
    at = uri.lower().index(_INSIDE) + len(SUFFIX)
    return uri[:at], uri[at + len(ARCHIVE) + 1 :]


def _bad(uri: str, error: Exception) -> SourceError:
    encrypted = isinstance(error, RuntimeError) and not isinstance(error, NotImplementedError)
    reason = "it is encrypted: unpack it first" if encrypted else f"it is broken or no zip ({type(error).__name__})"
    return SourceError(f"the archive cannot be read: {reason}", code="bad-zip", file=uri)
