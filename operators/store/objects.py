"""The one small interface to object storage, and what its writers may rely on."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import pyarrow as pa


@dataclass(frozen=True)
class ObjectInfo:
    """One stored object: key relative to the store's root, bytes, etag, time of its last write (UTC)."""

    key: str
    size: int
    etag: str
    modified: datetime


class ObjectStore(ABC):
    """A flat space of keys (``a/b/c``) under one root.

    A put is atomic and durable when it returns: readers see the old object or the new one, never a part. Keys are
    relative, without leading slash, empty parts, ``.`` or ``..`` (ValueError). Missing objects raise ObjectNotFound,
    refused access StoreDenied, a store that does not answer StoreUnavailable; no call retries for ever.
    """

    uri: str
    """The root as the user would write it: a folder, or ``s3://bucket/prefix``."""

    @abstractmethod
    def get(self, key: str, *, start: int = 0, length: int | None = None) -> bytes:
        """The object's bytes, or ``length`` of them from ``start`` (fewer where the object ends)."""

    @abstractmethod
    def get_with_etag(self, key: str) -> tuple[bytes, str]:
        """The whole object and the etag that put_if_match takes."""

    @abstractmethod
    def head(self, key: str) -> ObjectInfo:
        """What is known of the object without reading it."""

    @abstractmethod
    def put(self, key: str, data: bytes) -> str:
        """Write or replace; returns the etag."""

    @abstractmethod
    def put_file(self, key: str, path: Path) -> str:
        """Write or replace from a local file, in parts where it is large; returns the etag. The file stays."""

    @abstractmethod
    def put_if_absent(self, key: str, data: bytes) -> str:
        """Write where nothing is; AlreadyExists if the key is taken.

        Of racing writers exactly one returns. When the answer to a write is lost, the key is re-read: our bytes mean
        it landed, others' that it lost, nothing that it may be tried again; if it cannot be re-read, OutcomeUnknown.
        """

    @abstractmethod
    def put_if_match(self, key: str, data: bytes, etag: str) -> str:
        """Replace the object that was read under ``etag``; ETagMismatch if it changed or is gone. Lost answers: as above."""

    @abstractmethod
    def list(self, prefix: str) -> Iterator[ObjectInfo]:
        """Objects whose key begins with ``prefix``, in key order, streaming."""

    @abstractmethod
    def delete(self, key: str) -> None:
        """Remove the object; removing a missing one is no error."""

    @abstractmethod
    def open(self, key: str) -> pa.NativeFile:
        """Random access for Parquet and arrays: reads fetch ranges, not the object."""

    def sweep(self, before: datetime) -> int:  # noqa: ARG002
        """Remove what writers killed before ``before`` left unfinished (never visible as objects); how many there were."""
        return 0


RESERVED = ".mnemosaic"
"""First part of a path under which a backend keeps its own working files; no key may begin with it."""

MAX_KEY_BYTES, MAX_PART_BYTES = 1024, 255

_CONTROL = re.compile(r"[\x00-\x1f\x7f]")


def check_key(key: str) -> str:
    """The key itself, or ValueError: any Unicode but control characters, at most 1024 bytes (255 a part) of UTF-8."""
    if not key:
        raise ValueError("a key may not be empty")
    _check_text(key)
    parts = key.split("/")
    if any(part in ("", ".", "..") for part in parts):
        raise ValueError(f"key {key!r}: no leading, trailing or double slash, no '.' and '..'")
    if parts[0] == RESERVED:
        raise ValueError(f"key {key!r}: keys under {RESERVED}/ are the store's own")
    if any(len(part.encode()) > MAX_PART_BYTES for part in parts):
        raise ValueError(f"key {key!r}: a part is longer than {MAX_PART_BYTES} bytes")
    return key


def check_prefix(prefix: str) -> str:
    """The prefix itself, or ValueError where no key can begin with it."""
    _check_text(prefix)
    *folders, _ = prefix.split("/")
    if any(part in ("", ".", "..") for part in folders):
        raise ValueError(f"prefix {prefix!r}: no leading or double slash, no '.' and '..'")
    return prefix


def check_range(start: int, length: int | None) -> None:
    """ValueError unless both count forward."""
    if start < 0 or (length is not None and length < 0):
        raise ValueError(f"start {start} and length {length} must not be negative")


def _check_text(text: str) -> None:
    try:
        size = len(text.encode("utf-8"))
    except UnicodeEncodeError as error:
        raise ValueError(f"key {text!r} is not Unicode text: {error.reason}") from None
    if size > MAX_KEY_BYTES:
        raise ValueError(f"key {text[:40]!r}..: {size} bytes, at most {MAX_KEY_BYTES}")
    if _CONTROL.search(text):
        raise ValueError(f"key {text!r} holds control characters")
