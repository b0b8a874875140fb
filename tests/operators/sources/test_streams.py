from __future__ import annotations

import gzip
import random
import tracemalloc
from pathlib import Path

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from operators.errors import SourceError
from operators.sources.files import LocalFiles
from operators.sources.streams import packing_of, raw_chunks, unpack, unpacked_chunks

TEXT = random.Random(5).randbytes(400_000).hex().encode()


def packed(name: str, data: bytes) -> bytes:
    return gzip.compress(data) if name == "gzip" else zstandard.ZstdCompressor(write_checksum=True).compress(data)


def chunked(data: bytes, size: int) -> list[bytes]:
    return [data[start : start + size] for start in range(0, len(data), size)]


def taken(data: bytes, name: str, size: int = 999) -> tuple[bytes, SourceError | None]:
    parts: list[bytes] = []
    try:
        for part in unpack(chunked(data, size), name):  # type: ignore[arg-type]
            parts.append(part)
    except SourceError as error:
        return b"".join(parts), error
    return b"".join(parts), None


@pytest.mark.parametrize("name", ["gzip", "zstd"])
@given(st.lists(st.binary(max_size=300), min_size=1, max_size=4), st.integers(1, 50))
def test_members_and_frames_are_joined(name: str, parts: list[bytes], size: int) -> None:
    whole = b"".join(packed(name, part) for part in parts)
    assert taken(whole, name, size) == (b"".join(parts), None)
    assert packing_of(whole) == name


def test_highly_packed_data_come_out_whole_in_bounded_memory() -> None:
    for name in ("gzip", "zstd"):
        data = packed(name, bytes(200 << 20))
        tracemalloc.start()
        total = sum(len(part) for part in unpack([data], name))  # type: ignore[arg-type]
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert total == 200 << 20
        assert peak < 64 << 20


@pytest.mark.parametrize("name", ["gzip", "zstd"])
def test_a_truncated_file_gives_what_was_readable_then_says_so(name: str) -> None:
    data = packed(name, TEXT)
    got, error = taken(data[: len(data) // 2], name)
    assert error is not None
    assert error.code == "truncated"
    assert TEXT.startswith(got)
    assert len(got) > 1000


@pytest.mark.parametrize("name", ["gzip", "zstd"])
def test_a_broken_file_gives_what_was_readable_then_says_so(name: str) -> None:
    data = bytearray(packed(name, TEXT))
    data[len(data) // 2 : len(data) // 2 + 50] = bytes(50)
    got, error = taken(bytes(data), name)
    assert len(got) > len(TEXT) // 3
    assert error is not None
    assert error.code in ("corrupt", "truncated")


def test_padding_after_a_gzip_member_is_no_fault() -> None:
    assert taken(gzip.compress(b"hello") + bytes(100), "gzip") == (b"hello", None)


def test_a_skippable_frame_is_skipped() -> None:
    frame = b"\x50\x2a\x4d\x18\x04\x00\x00\x00abcd" + packed("zstd", b"hello")
    assert packing_of(frame) == "zstd"
    assert taken(frame, "zstd", 3) == (b"hello", None)


def test_plain_data_pass_through(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"plain text")
    assert b"".join(unpacked_chunks(LocalFiles(), str(path))) == b"plain text"
    assert b"".join(raw_chunks(LocalFiles(), str(path), 6)) == b"text"


def test_a_file_that_is_gone_is_unreadable(tmp_path: Path) -> None:
    with pytest.raises(SourceError) as caught:
        next(raw_chunks(LocalFiles(), str(tmp_path / "gone")))
    assert caught.value.code == "unreadable"
    assert "gone" in str(caught.value)
