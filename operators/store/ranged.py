"""Random access over an object of which ranges can be fetched, with the read-ahead that Parquet likes."""

from __future__ import annotations

import io
from collections import OrderedDict
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

Fetch = Callable[[int, int], bytes]
"""(start, length) to exactly those bytes."""

TAIL = 128 * 1024
"""Bytes of the end that are fetched first: a Parquet footer is nearly always inside."""

READ_AHEAD = 256 * 1024
_KEPT = 8


class RangedFile(io.RawIOBase):
    """A read-only file of ``size`` bytes. Small reads come from windows of ``READ_AHEAD`` bytes, large ones go through.

    ``tail`` holds the last bytes where they are at hand already.
    """

    def __init__(self, fetch: Fetch, size: int, tail: bytes = b"") -> None:
        super().__init__()
        self._fetch = fetch
        self._size = size
        self._position = 0
        self._tail_start = size - len(tail)
        self._tail = tail
        self._windows: OrderedDict[int, bytes] = OrderedDict()

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def size(self) -> int:
        return self._size

    def tell(self) -> int:
        return self._position

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        base = {io.SEEK_SET: 0, io.SEEK_CUR: self._position, io.SEEK_END: self._size}[whence]
        if base + offset < 0:
            raise ValueError(f"seek to {base + offset}: before the object's beginning")
        self._position = base + offset
        return self._position

    def read(self, size: int | None = -1) -> bytes:
        left = max(0, self._size - self._position)
        wanted = left if size is None or size < 0 else min(size, left)
        data = self._bytes_at(self._position, wanted) if wanted else b""
        self._position += len(data)
        return data

    def readall(self) -> bytes:
        return self.read(-1)

    def readinto(self, buffer: WriteableBuffer) -> int:
        view = memoryview(buffer).cast("B")
        data = self.read(len(view))
        view[: len(data)] = data
        return len(data)

    def _bytes_at(self, start: int, length: int) -> bytes:
        if start >= self._tail_start:
            return self._tail[start - self._tail_start :][:length]
        for begins, window in self._windows.items():
            if begins <= start and start + length <= begins + len(window):
                self._windows.move_to_end(begins)
                return window[start - begins :][:length]
        if length >= READ_AHEAD:
            return self._fetch(start, length)
        self._windows[start] = self._fetch(start, min(READ_AHEAD, self._size - start))
        if len(self._windows) > _KEPT:
            self._windows.popitem(last=False)
        return self._windows[start][:length]
