"""Bytes of a file in chunks, unpacked where they are packed. Memory stays bounded whatever the file says about itself."""

from __future__ import annotations

import zlib
from collections.abc import Generator, Iterable, Iterator
from contextlib import closing
from itertools import chain
from typing import Literal

import zstandard

from operators.errors import SourceError
from operators.sources.fields import reject
from operators.sources.files import Files

Packing = Literal["gzip", "zstd"]

CHUNK = 1 << 18
_STEP = 1 << 9
"""Packed bytes unpacked at a time: it bounds what they can become (zstd: 128 blocks of 128 KiB) and what a fault spoils."""


def packing_of(head: bytes) -> Packing | None:
    """How the bytes are packed, told by their first four."""
    if head[:2] == b"\x1f\x8b":
        return "gzip"
    if head[:4] == b"\x28\xb5\x2f\xfd" or (head[1:4] == b"\x2a\x4d\x18" and 0x50 <= head[0] <= 0x5F):
        return "zstd"
    return None


def raw_chunks(files: Files, uri: str, start: int = 0) -> Generator[bytes, None, None]:
    """The file's bytes as they lie, from ``start``. SourceError ``unreadable``."""
    with closing(files.open(uri, start)) as stream:
        while True:
            try:
                chunk = stream.read(CHUNK)
            except OSError as error:
                raise reject("unreadable", f"the file cannot be read on: {error.strerror}") from error
            if not chunk:
                return
            yield chunk


def unpacked_chunks(files: Files, uri: str) -> Iterator[bytes]:
    """The whole file's bytes, unpacked. SourceError ``truncated`` or ``corrupt`` after all that could be unpacked."""
    with closing(raw_chunks(files, uri)) as chunks:
        first = next(chunks, b"")
        yield from unpack(chain([first], chunks), packing_of(first))


def unpack(chunks: Iterable[bytes], packing: Packing | None) -> Iterator[bytes]:
    """Unpacked bytes of all members or frames. SourceError ``truncated`` or ``corrupt`` after all that could be unpacked."""
    if packing is None:
        yield from chunks
        return
    try:
        yield from (_gunzip if packing == "gzip" else _unzstd)(chunks)
    except (zlib.error, zstandard.ZstdError) as error:
        raise reject("corrupt", f"the {packing} data is broken from here on: pack the file again") from error


def _steps(chunks: Iterable[bytes]) -> Iterator[bytes]:
    for chunk in chunks:
        for start in range(0, len(chunk), _STEP):
            yield chunk[start : start + _STEP]


def _gunzip(chunks: Iterable[bytes]) -> Iterator[bytes]:
    engine = zlib.decompressobj(31)
    for step in _steps(chunks):
        data = step
        while data:
            if engine.eof:
                data = data.lstrip(b"\0")
                if not data:
                    break
                engine = zlib.decompressobj(31)
            yield engine.decompress(data)
            data = engine.unused_data
    if not engine.eof:
        raise _truncated("gzip")


def _unzstd(chunks: Iterable[bytes]) -> Iterator[bytes]:
    engine = zstandard.ZstdDecompressor().decompressobj()
    for step in _steps(chunks):
        data = step
        while data:
            if engine.eof:
                engine = zstandard.ZstdDecompressor().decompressobj()
            yield engine.decompress(data)
            data = engine.unused_data if engine.eof else b""
    if not engine.eof:
        raise _truncated("zstd")


def _truncated(packing: Packing) -> SourceError:
    return reject("truncated", f"the {packing} data ends too early: what came before it was read, the rest is missing")
