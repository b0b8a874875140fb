"""Whatever a file holds: sessions and typed errors come out, one at least for each record, and the same ones twice."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from operators.errors import SourceError
from operators.records import round_hash, round_rows
from operators.sources.files import LocalFiles
from operators.sources.read import FORMAT_NAMES, Parsed, ReadScope, SplitEnd, read_split, survey

KEYS = [
    "user_id", "session_id", "messages", "role", "content", "timestamp", "text", "type", "session_1",
    "session_1_date_time", "speaker", "mapping", "current_node", "conversation_id", "chat_messages", "sender",
    "conversations", "from", "value", "haystack_sessions", "haystack_dates", "haystack_session_ids",
    "multi_session_dialogues", "dialogues", "user", "assistant", "round", "rounds", "input", "output", "request",
    "response", "conversation", "dia_id", "model", "parts", "message", "author", "children", "parent", "image_url",
    "url", "metadata", "id", "uuid", "name", "point", "format",
]  # fmt: skip
WORDS = ["user", "assistant", "human", "gpt", "text", "2024-05-08", "image_url", "n", "root", "https://x/a.png", "mnemosaic"]
SCALARS = (
    st.none() | st.booleans() | st.integers() | st.floats() | st.sampled_from(WORDS)
    | st.text(st.characters(), max_size=6)
)  # fmt: skip
JSON = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(KEYS) | st.text(max_size=3), inner, max_size=5)
    ),
    max_leaves=25,
)
MESSAGE = st.fixed_dictionaries({}, optional=dict.fromkeys(("role", "content", "timestamp", "round", "id", "from"), JSON))
NEARLY = st.fixed_dictionaries({"messages": st.lists(MESSAGE | JSON, max_size=3)}, optional={"user_id": JSON, "date": JSON})
RECORDS = st.lists(JSON | NEARLY, max_size=4)
FORCED = st.sampled_from(["auto", *FORMAT_NAMES])

HEADS = [
    b"{",
    b"[",
    b"\xef\xbb\xbf",
    b"PK\x03\x04",
    b"PAR1",
    b"\x1f\x8b\x08",
    b"\x28\xb5\x2f\xfd",
    b"role,text\n",
    b'{"messages": [',
]

Came = tuple[int | None, str, str]


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("fuzz") / "any.json"


def came_of(path: Path, data: bytes, format: str) -> tuple[list[Came], int]:
    """What came, each with its line, and how many lines were counted; nothing but what may come."""
    path.write_bytes(data)
    files = LocalFiles()
    (source,) = files.find(str(path))
    found = survey(source, files, format=format)
    assert (found.error is not None) == (found.verdict == "rejected")
    came: list[Came] = [] if found.error is None else [(None, "rejected", found.error.code)]
    lines = 0
    for split in found.splits:
        *items, end = read_split(split, files, ReadScope("ann", None, 1 << 20))
        assert isinstance(end, SplitEnd)
        lines += end.lines
        for item in items:
            assert isinstance(item, Parsed | SourceError)
            if isinstance(item, SourceError):
                assert item.file == source.uri
                came.append((item.line, "error", item.code))
            else:
                assert item.session.user_id == "ann"
                assert item.session.rounds
                json.dumps(round_rows("t", "ann", item.session.rounds, "f"), default=str).encode("utf-8")
                came += [(item.line, "round", round_hash(record)) for record in item.session.rounds]
    return came, lines


@settings(max_examples=200)
@given(RECORDS, FORCED)
def test_each_line_is_read_or_refused(path: Path, values: list[Any], format: str) -> None:
    data = "".join(json.dumps(value) + "\n" for value in values).encode()
    came, lines = came_of(path, data, format)
    assert came_of(path, data, format) == (came, lines)
    if any(kind == "rejected" for _, kind, _ in came) or not values:
        assert len(came) <= 1
    elif isinstance(values[0], list):  # a document, of no records where the list is empty
        assert came or values == [[]]
    elif format in LINES:
        assert lines == len(values)
        assert {line for line, _, _ in came} == set(range(1, len(values) + 1))
    else:
        assert came


LINES = ("jsonl", "mnemosaic", "anthropic", "responses", "longmemeval")
"""Formats of one record a line; messages of others are gathered from several lines."""


@settings(max_examples=200)
@given(RECORDS, FORCED, st.booleans())
def test_each_element_of_a_document_is_read_or_refused(path: Path, values: list[Any], format: str, spread: bool) -> None:
    data = ("[" + (",\n" if spread else ", ").join(json.dumps(value) for value in values) + "]").encode()
    came, lines = came_of(path, data, format)
    assert came_of(path, data, format) == (came, lines)
    if any(kind == "rejected" for _, kind, _ in came):
        assert len(came) == 1
    elif values and lines == len(values) > 1 and format in DOCUMENTS:
        assert {line for line, _, _ in came} == set(range(1, len(values) + 1))
    else:
        assert came or not values


DOCUMENTS = ("chatgpt", "claude", "sharegpt", "locomo", "mem_gallery")


@settings(max_examples=200)
@given(
    st.binary(max_size=300) | st.sampled_from(HEADS).flatmap(lambda head: st.binary(max_size=60).map(head.__add__)), FORCED
)
def test_any_bytes_are_read_or_refused(path: Path, data: bytes, format: str) -> None:
    assert came_of(path, data, format) == came_of(path, data, format)
