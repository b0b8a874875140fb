"""Where sources are read from: the machine's files, or a bucket behind the store's own S3 client."""

from __future__ import annotations

import fnmatch
import io
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import BinaryIO, cast

from operators.errors import ObjectNotFound, SourceError, UsageError
from operators.sources.archives import ArchiveFiles, is_inside, opened_up
from operators.sources.files import LOOKED_AT, MOST_NAMES, Files, LocalFiles, SourceFile, find_sources
from operators.store.objects import ObjectInfo, ObjectStore
from operators.store.opening import open_objects

_BUFFER = 8 << 20
_GONE = "the object is not there any more"


def sources_of(patterns: Sequence[str]) -> list[SourceFile]:
    """All files that the patterns name, archives opened up, each once, sorted by uri. UsageError where one names none."""
    files_for = places()
    return opened_up(find_sources(patterns, files_for), files_for)


def places() -> Callable[[str], Files]:
    """Gives the reader for a source or a pattern: ``s3://bucket/..`` or local, or inside an archive that lies in either.

    Each reader is one for as long as the function is kept: making a client of a bucket, or reading an archive's table of
    contents, takes longer than reading a small file.
    """
    outer: tuple[Files, Files] = (LocalFiles(), S3Files())
    inside = tuple(map(ArchiveFiles, outer))

    def files_for(uri: str) -> Files:
        remote = uri.startswith("s3://")
        return inside[remote] if is_inside(uri) else outer[remote]

    return files_for


class S3Files:
    """``Files`` over S3: a pattern is an object, a prefix (read like a folder), or a glob below its fixed part."""

    def __init__(self) -> None:
        self._buckets: dict[str, ObjectStore] = {}

    def find(self, pattern: str) -> Iterator[SourceFile]:
        """Objects of the pattern; those met below a prefix only where their names look like sources."""
        bucket, path = _split(pattern)
        objects = self._bucket(bucket)
        if any(mark in path for mark in "*?["):
            fixed = path[: min(path.index(mark) for mark in "*?[" if mark in path)]
            for info in objects.list(fixed):
                if fnmatch.fnmatchcase(info.key, path):
                    yield _source(bucket, info, named=False)
            return
        if path and not path.endswith("/"):
            try:
                yield _source(bucket, objects.head(path), named=True)
                return
            except ObjectNotFound:
                path += "/"
        for info in objects.list(path):
            inside = info.key.removeprefix(path)
            if inside.lower().endswith(LOOKED_AT) and not any(part.startswith(".") for part in inside.split("/")):
                yield _source(bucket, info, named=False)

    def open(self, uri: str, start: int = 0) -> BinaryIO:
        """The object from byte ``start``, buffered. SourceError ``unreadable`` where it is gone."""
        bucket, key = _split(uri)
        objects = self._bucket(bucket)
        try:
            raw = _RangedReader(objects, key, objects.head(key).size)
        except ObjectNotFound as error:
            raise SourceError(f"{uri!r} cannot be read: {_GONE}", code="unreadable", file=uri) from error
        raw.seek(start)
        return cast("BinaryIO", io.BufferedReader(raw, _BUFFER))

    def read(self, uri: str, max_bytes: int) -> bytes | None:
        """The object's bytes, at most the first ``max_bytes``; None where there is none."""
        bucket, key = _split(uri)
        try:
            return self._bucket(bucket).get(key, length=max_bytes)
        except ObjectNotFound:
            return None

    def real(self, uri: str) -> str:
        """The uri itself: objects are no links."""
        return uri

    def names(self, folder: str) -> list[str]:
        """Objects below the prefix, at most one folder down."""
        bucket, prefix = _split(f"{folder.rstrip('/')}/")
        near = (info.key for info in self._bucket(bucket).list(prefix) if info.key[len(prefix) :].count("/") <= 1)
        return sorted(f"s3://{bucket}/{key}" for key in islice(near, MOST_NAMES))

    def _bucket(self, name: str) -> ObjectStore:
        if name not in self._buckets:
            self._buckets[name] = open_objects(f"s3://{name}")
        return self._buckets[name]


class _RangedReader(io.RawIOBase):
    """An object as a seekable raw stream; each read is one ranged get."""

    def __init__(self, objects: ObjectStore, key: str, size: int) -> None:
        super().__init__()
        self._objects = objects
        self._key = key
        self._size = size
        self._at = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        start = {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self._size}[whence]
        self._at = max(0, start + offset)
        return self._at

    def tell(self) -> int:
        return self._at

    def readinto(self, buffer: object) -> int:
        view = memoryview(buffer)  # type: ignore[arg-type]
        length = min(len(view), self._size - self._at)
        if length <= 0:
            return 0
        try:
            data = self._objects.get(self._key, start=self._at, length=length)
        except ObjectNotFound as error:  # of one file, as on a disk; what else a store answers ends the run
            raise OSError(None, _GONE) from error
        view[: len(data)] = data
        self._at += len(data)
        return len(data)


def _split(uri: str) -> tuple[str, str]:
    bucket, _, key = uri.removeprefix("s3://").partition("/")
    if not bucket:
        raise UsageError(f"{uri}: an S3 source needs a bucket, as in s3://bucket/prefix")
    return bucket, key


def _source(bucket: str, info: ObjectInfo, *, named: bool) -> SourceFile:
    return SourceFile(uri=f"s3://{bucket}/{info.key}", size=info.size, stamp=info.etag, named=named)
