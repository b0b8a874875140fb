from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from operators.sources.files import LocalFiles, SourceFile
from operators.sources.read import survey

PART = pa.struct([("type", pa.string()), ("text", pa.string()), ("image_url", pa.struct([("url", pa.string())]))])


def message_type(content: pa.DataType, time: pa.DataType) -> pa.DataType:
    return pa.list_(pa.struct([("role", pa.string()), ("content", content), ("timestamp", time)]))


def table(count: int, content: Any = "hello", kind: pa.DataType | None = None, time: Any = None, **more: Any) -> pa.Table:
    messages = [{"role": "user", "content": content, "timestamp": time}, {"role": "assistant", "content": content}]
    rows = [{"user_id": f"u{n % 3}", "session_id": f"S{n}", "messages": messages, **more} for n in range(count)]
    kind = kind or message_type(pa.string(), pa.string())
    known = {"user_id": pa.string(), "session_id": pa.string(), "messages": kind}
    return pa.Table.from_pylist(rows, pa.schema([*known.items(), *((name, pa.string()) for name in more)]))


def test_rows_are_sessions_whatever_the_splits(tmp_path: Path, read: Callable[..., Any]) -> None:
    path = tmp_path / "t.parquet"
    pq.write_table(table(100, time="2024-05-08T10:00:00Z", other="x"), path, row_group_size=7)
    whole, parts = read(path), read(path, split_bytes=1)
    assert len(whole.survey.splits) == 1
    assert len(parts.survey.splits) == 15
    assert whole.errors == parts.errors == []
    assert whole.sessions == parts.sessions
    assert [s.session_id for s in whole.sessions] == [f"S{n}" for n in range(100)]
    assert whole.lines == parts.lines == list(range(1, 101))
    assert whole.total_lines == parts.total_lines == 100
    first = whole.sessions[0].rounds[0]
    assert (len(first.messages), first.time.precision) == (2, "second")


def test_messages_as_json_text(tmp_path: Path, read: Callable[..., Any]) -> None:
    messages = json.dumps([{"role": "user", "content": "hi"}])
    rows = {
        "user_id": pa.array([1, 2, 3]),
        "messages": ["not json secret", messages, "5"],
        "metadata": [None, '{"a": 1}', None],
    }
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table(rows), path)
    got = read(path)
    assert [(s.user_id, s.rounds[0].metadata) for s in got.sessions] == [("2", {"session": {"a": 1}})]
    assert got.codes == [("bad-json", 1), ("wrong-type", 3)]
    assert "secret" not in str(got.errors[0])


@pytest.mark.parametrize(
    "time", [pa.timestamp("ns"), pa.timestamp("us", tz="UTC"), pa.timestamp("ms", tz="Asia/Tokyo"), pa.date32()]
)
def test_arrow_times(tmp_path: Path, read: Callable[..., Any], time: pa.DataType) -> None:
    moment = datetime(2024, 5, 8, 10, tzinfo=UTC if getattr(time, "tz", None) else None)
    path = tmp_path / "t.parquet"
    pq.write_table(
        table(1, kind=message_type(pa.string(), time), time=moment.date() if pa.types.is_date(time) else moment), path
    )
    found = read(path).sessions[0].rounds[0].time
    expected = ("day", 0) if pa.types.is_date(time) else ("second", 10)
    assert (found.precision, found.utc.hour) == expected
    assert found.offset_minutes == (540 if getattr(time, "tz", None) == "Asia/Tokyo" else None)


def test_parts_as_structs(tmp_path: Path, read: Callable[..., Any]) -> None:
    parts = [{"type": "text", "text": "look"}, {"type": "image_url", "image_url": {"url": "a.png"}}]
    path = tmp_path / "t.parquet"
    pq.write_table(table(1, content=parts, kind=message_type(pa.list_(PART), pa.string())), path)
    (record,) = read(path).sessions[0].rounds
    assert [m.text for m in record.messages] == ["look", "look"]
    assert [i.reference for i in record.images] == ["a.png", "a.png"]


@pytest.mark.parametrize(
    "columns",
    [
        {"user": ["u"], "said": ["hi"]},
        {"text": ["hi"], "price": [5]},
        {"user_id": ["u"], "messages": [5]},
        {"user_id": ["u"], "messages": [["a"]]},
    ],
)
def test_wrong_columns_show_both_sides(tmp_path: Path, read: Callable[..., Any], columns: dict[str, Any]) -> None:
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table(columns), path)
    got = read(path)
    assert got.codes == [("wrong-columns", None)]
    assert "expected" in str(got.errors[0])
    assert all(name in str(got.errors[0]) for name in columns)
    assert survey(SourceFile(str(path), 1, "0", named=False), LocalFiles()).verdict == "ignored"


def test_rows_without_a_user(tmp_path: Path, read: Callable[..., Any]) -> None:
    path = tmp_path / "t.parquet"
    pq.write_table(table(2).drop_columns(["user_id"]), path)
    assert read(path).codes == [("no-user", 1), ("no-user", 2)]
    assert len(read(path, user="eve").sessions) == 2


def test_a_broken_file_is_rejected(tmp_path: Path, read: Callable[..., Any]) -> None:
    path = tmp_path / "t.parquet"
    pq.write_table(table(500), path)
    data = path.read_bytes()
    path.write_bytes(data[:-200])
    assert read(path).codes == [("bad-parquet", None)]
    path.write_bytes(b"PAR1" + b"junk" * 20 + b"PAR1")
    assert read(path).codes == [("bad-parquet", None)]


def test_a_broken_page_is_an_error_in_its_place(tmp_path: Path, read: Callable[..., Any]) -> None:
    path = tmp_path / "t.parquet"
    pq.write_table(table(100), path, compression="zstd", row_group_size=10)
    data = bytearray(path.read_bytes())
    start = pq.ParquetFile(path).metadata.row_group(5).column(2).data_page_offset
    data[start : start + 60] = bytes(60)
    path.write_bytes(bytes(data))
    got = read(path)
    assert got.codes == [("bad-parquet", 51)]
    assert got.lines == [*range(1, 51), *range(61, 101)]
    assert got.total_lines == 100


def test_an_empty_table(tmp_path: Path, read: Callable[..., Any]) -> None:
    path = tmp_path / "t.parquet"
    pq.write_table(table(0), path)
    got = read(path)
    assert (got.sessions, got.errors, got.survey.verdict) == ([], [], "read")


def test_packed_parquet(tmp_path: Path, read: Callable[..., Any]) -> None:
    plain = tmp_path / "t.parquet"
    pq.write_table(table(5), plain)
    path = tmp_path / "t.parquet.gz"
    path.write_bytes(gzip.compress(plain.read_bytes()))
    assert len(read(path).sessions) == 5
