from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from operators.errors import SourceError
from operators.sources.documents import values_of

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**12), 10**12) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)


def chunked(data: bytes, size: int) -> list[bytes]:
    return [data[start : start + size] for start in range(0, len(data), size)]


def values(data: bytes, size: int = 7, limit: int = 1 << 20) -> tuple[list[Any], str | None]:
    found = []
    try:
        for _, value in values_of(chunked(data, size), limit):
            found.append(value.code if isinstance(value, SourceError) else value)
    except SourceError as error:
        return found, error.code
    return found, None


@given(st.lists(JSON, max_size=6), st.integers(1, 40), st.sampled_from([None, 1]))
def test_a_list_gives_its_elements_whatever_the_chunks(items: list[Any], size: int, indent: int | None) -> None:
    for ascii_only in (True, False):
        data = json.dumps(items, indent=indent, ensure_ascii=ascii_only).encode("utf-8", "surrogatepass")
        try:
            data.decode("utf-8")
        except UnicodeDecodeError:
            continue
        assert values(data, size) == (items, None)


@given(JSON.filter(lambda value: not isinstance(value, list)), st.integers(1, 40))
def test_one_value_is_itself(value: Any, size: int) -> None:
    assert values(json.dumps(value).encode(), size) == ([value], None)


def test_lines_are_those_on_which_values_begin() -> None:
    data = b'\xef\xbb\xbf\n[\n {"a":\n 1},\n\n {"b": 2}, 3]\n'
    assert list(values_of([data], 1000)) == [(3, {"a": 1}), (6, {"b": 2}), (6, 3)]


@pytest.mark.parametrize(
    ("data", "read", "code"),
    [
        (b"[1, 2, {]", [1, 2], "bad-json"),
        (b"[1 2]", [1], "bad-json"),
        (b"[1, 2", [1, 2], "bad-json"),
        (b"[1] x", [1], "bad-json"),
        (b'{"a": 1} {"a": 2}', [{"a": 1}], "bad-json"),
        (b'[1, "\xff", "\xc3\xa4", "\\udcff"]', [1, "bad-utf8", "\u00e4", "\udcff"], None),
        (b'{"a": "\xff"}', ["bad-utf8"], None),
        (b"", [], "bad-json"),
        (b'["' + b"[" * 10 + b'", ' + b"[" * 100_000, ["[" * 10], "bad-json"),
        (b"[" + b"9" * 5000 + b"]", [], "bad-json"),
    ],
)
def test_what_stands_before_a_fault_is_read(data: bytes, read: list[Any], code: str) -> None:
    assert values(data) == (read, code)


def test_a_value_over_the_limit_is_refused_without_reading_on() -> None:
    def chunks() -> Iterator[bytes]:
        yield b'[1, "'
        for _ in range(10_000):
            yield b"x" * 10_000

    drawn = chunks()
    with pytest.raises(SourceError) as caught:
        list(values_of(drawn, 100_000))
    assert caught.value.code == "too-long"
    assert sum(1 for _ in drawn) > 9_000


def test_an_error_of_the_stream_comes_after_the_values_before_it() -> None:
    def chunks() -> Iterator[bytes]:
        yield b'[{"a": 1}, {"b": '
        raise SourceError("cut", code="truncated")

    found = []
    with pytest.raises(SourceError, match="cut"):
        for _, value in values_of(chunks(), 1000):
            found.append(value)
    assert found == [{"a": 1}]
