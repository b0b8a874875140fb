from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st

from operators.sources.lines import lines_of

PIECES = st.lists(st.sampled_from([b"\n", b"\r\n", b"a", b"bb", "äß🎈".encode(), b" ", b"{}", b"x" * 9]), max_size=40)


def chunked(data: bytes, size: int) -> list[bytes]:
    return [data[start : start + size] for start in range(0, len(data), size)]


def expected_lines(data: bytes) -> list[bytes]:
    parts = data.split(b"\n")
    return parts if parts[-1] else parts[:-1]


def by_ranges(data: bytes, split: int, chunk: int, limit: int) -> list[bytes | None]:
    found: list[bytes | None] = []
    for start in range(0, len(data), split):
        end = min(start + split, len(data))
        if start == 0:
            found += lines_of(chunked(data, chunk), limit, within=end)
        else:
            found += lines_of(chunked(data[start - 1 :], chunk), limit, within=end - start + 1, midway=True)
    return found


@given(PIECES, st.integers(1, 30), st.integers(1, 12))
@example([b"a", b"\n", b"bb", b"\n"], 2, 1)
@example([b"\n", b"\n", b"\n"], 1, 1)
def test_ranges_give_the_lines_of_one_pass(pieces: list[bytes], split: int, chunk: int) -> None:
    data = b"".join(pieces)
    assert list(lines_of(chunked(data, chunk), 1000)) == expected_lines(data)
    assert by_ranges(data, split, chunk, 1000) == expected_lines(data)


@given(PIECES, st.integers(1, 30), st.integers(1, 12), st.integers(0, 8))
def test_a_line_over_the_limit_is_none_in_its_place(pieces: list[bytes], split: int, chunk: int, limit: int) -> None:
    data = b"".join(pieces)
    expected = [line if len(line) <= limit else None for line in expected_lines(data)]
    assert by_ranges(data, split, chunk, limit) == expected


def test_a_long_line_is_never_held_and_reading_stops_at_the_range_s_end() -> None:
    drawn = 0

    def chunks():  # type: ignore[no-untyped-def]
        nonlocal drawn
        for _ in range(1000):
            drawn += 1
            yield b"x" * 1000

    assert list(lines_of(chunks(), 10)) == [None]
    assert drawn == 1000
    drawn = 0
    assert list(lines_of(chunks(), 10, within=5000, midway=True)) == []
    assert drawn == 5
