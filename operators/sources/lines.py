"""Lines of a byte stream, or of one range of it, without ever holding one that is too long."""

from __future__ import annotations

from collections.abc import Iterable, Iterator


def lines_of(
    chunks: Iterable[bytes], limit: int, *, within: int | None = None, midway: bool = False
) -> Iterator[bytes | None]:
    """Each line without its newline; None in place of one longer than ``limit`` bytes.

    Only lines whose first byte lies before offset ``within`` are given (all, where it is None). ``midway``: the stream
    begins inside a line, or on the newline before one; what stands up to the first newline is another range's and is
    passed over. Lines end at a line feed; the last one may lack it.
    """
    parts: list[bytes] = []
    held = offset = position = 0
    passing = midway
    for chunk in chunks:
        begin = 0
        while (stop := chunk.find(b"\n", begin)) >= 0:
            if not passing:
                yield _joined(parts, held + stop - begin, chunk[begin:stop], limit)
            begin = stop + 1
            offset = position + begin
            parts, held, passing = [], 0, False
            if within is not None and offset >= within:
                return
        position += len(chunk)
        held += len(chunk) - begin
        if passing and within is not None and position >= within:
            return
        if held <= limit and not passing:
            parts.append(chunk[begin:])
        else:
            parts.clear()
    if held and not passing:
        yield _joined(parts, held, b"", limit)


def _joined(parts: list[bytes], length: int, last: bytes, limit: int) -> bytes | None:
    return b"".join([*parts, last]) if length <= limit else None
