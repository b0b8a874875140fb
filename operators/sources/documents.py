"""JSON values one by one from a stream that holds a document: the elements of a top-level list, or the one value.

A value is decoded from a growing window of text, so that a list of any length is read in the memory of its largest
element. Growth doubles, so that the work stays linear.
"""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Iterable, Iterator
from typing import Any

from operators.errors import SourceError
from operators.sources.fields import reject

_DECODER = json.JSONDecoder()
_SPACE = " \t\r\n"
_FIRST_WINDOW = 1 << 16
_UNDECODED = re.compile("[\udc80-\udcff]")
"""What bytes that are not UTF-8 become while decoding; no text can hold these otherwise."""


def values_of(chunks: Iterable[bytes], limit: int) -> Iterator[tuple[int, Any]]:
    """Each value with the line (from 1) on which it begins; a SourceError ``bad-utf8`` in place of one that is not UTF-8.

    SourceError ``bad-json``, or ``too-long`` for a value of more than ``limit`` characters; none can be
    read after it. Errors of the stream come through, after all values that stood before them.
    """
    window = _Window(chunks)
    if window.peek() != "[":
        yield window.line, window.value(limit)
        _expect_end(window)
        return
    window.step()
    if window.peek() == "]":
        window.step()
        _expect_end(window)
        return
    while True:
        window.peek()
        yield window.line, window.value(limit)
        mark = window.peek()
        window.step()
        if mark == "]":
            _expect_end(window)
            return
        if mark != ",":
            raise reject("bad-json", f"line {window.line}: a comma or the end of the list is missing")


def _expect_end(window: _Window) -> None:
    if window.peek() != "":
        raise reject("bad-json", f"line {window.line}: something follows the end of the document")


class _Window:
    """Text decoded so far and not yet used."""

    def __init__(self, chunks: Iterable[bytes]) -> None:
        self._chunks = iter(chunks)
        self._decoder = codecs.getincrementaldecoder("utf-8-sig")("surrogateescape")
        self._text = ""
        self._at = 0
        self._ended = False
        self._broken: SourceError | None = None
        self.line = 1

    def peek(self) -> str:
        """The next character that is no white space; ``""`` at the end."""
        while True:
            while self._at < len(self._text) and self._text[self._at] in _SPACE:
                self.line += self._text[self._at] == "\n"
                self._at += 1
            if self._at < len(self._text) or self._ended:
                return self._text[self._at : self._at + 1]
            self._fill(1)

    def step(self) -> None:
        """Past one character."""
        self._at += 1

    def value(self, limit: int) -> Any:
        """The value that begins here."""
        want = _FIRST_WINDOW
        while True:
            try:
                found, end = _DECODER.raw_decode(self._text, self._at)
                if end < len(self._text) or self._ended or isinstance(found, dict | list | str):
                    return self._taken(found, end)
            except RecursionError as error:
                raise reject("bad-json", f"line {self.line}: the value is nested too deeply") from error
            except json.JSONDecodeError as error:
                if self._ended:
                    line = self.line + self._text.count("\n", self._at, error.pos)
                    raise reject("bad-json", f"line {line}: {error.msg}") from error
            except ValueError as error:
                raise reject("bad-json", f"line {self.line}: a number is too long") from error
            if len(self._text) - self._at > limit:
                raise reject("too-long", f"the value that begins on line {self.line} is longer than {limit} characters")
            self._fill(want)
            want *= 2

    def _fill(self, count: int) -> None:
        """At least ``count`` more characters, where there are."""
        parts = [self._text[self._at :]]
        self._at = 0
        got = 0
        if self._broken is not None:
            raise self._broken
        while got < count and not self._ended:
            try:
                chunk = next(self._chunks, None)
            except SourceError as error:  # raised once all text before it is used
                self._broken = error
                break
            self._ended = chunk is None
            parts.append(self._decoder.decode(chunk or b"", final=chunk is None))
            got += len(parts[-1])
        self._text = "".join(parts)

    def _taken(self, found: Any, end: int) -> Any:
        line, begin = self.line, self._at
        self.line += self._text.count("\n", begin, end)
        self._at = end
        if _UNDECODED.search(self._text, begin, end):
            return reject("bad-utf8", f"the value that begins on line {line} is not UTF-8")
        return found
