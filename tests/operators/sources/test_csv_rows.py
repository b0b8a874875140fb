from __future__ import annotations

import csv
import gzip
import io
import tempfile
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from operators.errors import SourceError
from operators.sources.csv_rows import TableReader, header_of
from operators.sources.fields import reject
from operators.sources.files import LocalFiles, SourceFile
from operators.sources.read import ReadScope, SplitEnd, read_split, survey

HEAD = b"user,text\n"


def table(data: bytes, limit: int = 1000, step: int = 7) -> tuple[list[Any], list[Any], int]:
    """Rows with their lines, refused ones with theirs, and how many lines there were."""
    reader = TableReader([data[at : at + step] for at in range(0, len(data), step)], limit)
    found = list(reader)
    rows = [(line, tuple(row.values())) for line, row in found if not isinstance(row, SourceError)]
    return rows, [(row.code, line) for line, row in found if isinstance(row, SourceError)], reader.lines


def met(path: Path) -> SourceFile:
    return SourceFile(str(path), path.stat().st_size, "0", named=False)


CELL = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\r"), max_size=20)


@given(
    st.lists(st.tuples(CELL.filter(str.strip), CELL), max_size=20), st.sampled_from(",;\t|"), st.sampled_from(["\n", "\r\n"])
)
def test_what_is_written_is_read(rows: list[tuple[str, str]], mark: str, end: str) -> None:
    text = io.StringIO()
    writer = csv.writer(text, delimiter=mark, lineterminator=end)
    writer.writerows([("user", "text"), *rows])
    found, refused, lines = table(text.getvalue().encode())
    assert refused == []
    assert [cells for _, cells in found] == rows
    assert lines == text.getvalue().count("\n")


@pytest.mark.parametrize("mark", [",", ";", "\t", "|"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_dialects_and_encodings(tmp_path: Path, read: Callable[..., Any], mark: str, encoding: str) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(
        f'user{mark}text{mark}time\r\nañn{mark}"said{mark} ""héllo""\r\n你好"{mark}2024-05-08\r\n'.encode(encoding)
    )
    got = read(path)
    assert (got.survey.format, got.errors, got.lines, got.total_lines) == ("rows", [], [2], 3)
    (session,) = got.sessions
    assert session.user_id == "añn"
    assert session.rounds[0].messages[0].text == f'said{mark} "héllo"\r\n你好'


def test_excel_may_say_what_stands_between_cells() -> None:
    rows, refused, _ = table(b"sep=;\r\nuser;text\r\nann;hello, you\r\n")
    assert (rows, refused) == ([(3, ("ann", "hello, you"))], [])


def test_lines_are_those_of_the_file() -> None:
    data = b'\nuser,text\nann,"two\nlines"\n\nbob,x,y\ncy,last'
    assert table(data) == ([(3, ("ann", "two\nlines")), (7, ("cy", "last"))], [("wrong-fields", 6)], 7)


def test_a_quote_that_is_never_closed_costs_its_line() -> None:
    data = HEAD + b'ann,"secret\nbob,hello\ncy,hello\n'
    assert table(data) == ([(3, ("bob", "hello")), (4, ("cy", "hello"))], [("open-quote", 2)], 4)
    many = HEAD + b'ann,"open\n' + b"bob,hello\n" * 500
    rows, refused, lines = table(many, limit=200)
    assert (len(rows), rows[0][0], refused, lines) == (500, 3, [("open-quote", 2)], 502)


def test_a_line_that_is_too_long_is_passed_over() -> None:
    data = HEAD + b"ann," + b"x" * 5000 + b"\nbob,ok\ncy," + b"y" * 5000
    assert table(data, limit=100) == ([(3, ("bob", "ok"))], [("line-too-long", 2), ("line-too-long", 4)], 4)


def test_a_long_line_inside_a_quote_is_one_too() -> None:
    data = HEAD + b'ann,"open\n' + b"x" * 5000 + b'\nbob,ok"\ncy,ok\n'
    rows, refused, lines = table(data, limit=100)
    assert refused[:2] == [("open-quote", 2), ("line-too-long", 3)]
    assert rows[-1] == (5, ("cy", "ok"))
    assert lines == 5


def test_memory_is_that_of_a_record_whatever_the_file() -> None:
    def chunks() -> Iterator[bytes]:
        yield HEAD + b'ann,"open '
        for _ in range(300):
            yield b"x" * 100_000
            yield b"\nbob,ok\n"

    tracemalloc.start()
    rows = [row for _, row in TableReader(chunks(), 200_000) if not isinstance(row, SourceError)]
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(rows) >= 299
    assert peak < 8 << 20


def test_long_messages_are_no_fault() -> None:
    rows, refused, _ = table(HEAD + b"ann," + b"x" * 300_000 + b"\n", limit=1 << 20, step=1 << 16)
    assert (len(rows[0][1][1]), refused) == (300_000, [])


def test_bytes_that_are_no_text_cost_their_row() -> None:
    data = HEAD + b"ann,\xff\nbob,ok\n"
    assert table(data) == ([(3, ("bob", "ok"))], [("bad-utf8", 2)], 3)


def test_a_stream_that_breaks_gives_all_that_stood_before() -> None:
    def chunks() -> Iterator[bytes]:
        yield HEAD + b"ann,hello\nbob,he"
        raise reject("corrupt", "broken")

    found = []
    with pytest.raises(SourceError, match="broken"):
        for line, row in TableReader(chunks(), 100):
            found.append((line, row))
    assert found[0] == (2, {"user": "ann", "text": "hello"})


def test_columns_of_one_name_are_told_apart() -> None:
    header = header_of(b"user,text,text\n", complete=True)
    assert header is not None
    assert header.names == ("user", "text", "text (2)")


@pytest.mark.parametrize("head", [b"", b"\n\n", b"one\n", b",,\n", b"\xff,\xfe\n", b'user,"text\n' + b"x" * 100])
def test_no_header(head: bytes) -> None:
    found = header_of(head, complete=False)
    assert found is None


# --- as files -------------------------------------------------------------------------------------------------------


def test_packed_tables(tmp_path: Path, read: Callable[..., Any]) -> None:
    path = tmp_path / "ann.tsv.gz"
    path.write_bytes(gzip.compress(b"role\tcontent\nuser\thi\nassistant\thello\n"))
    (session,) = read(path).sessions
    assert (session.user_id, [m.role for m in session.rounds[0].messages]) == ("ann", ["user", "assistant"])


def test_a_table_that_is_no_history(tmp_path: Path, read: Callable[..., Any]) -> None:
    path = tmp_path / "prices.csv"
    path.write_text("item,price,what a customer said of it\ncake,5,secret\n")
    got = read(path)
    assert got.codes == [("wrong-columns", None)]
    assert "found item, price, 1 more" in str(got.errors[0])
    assert survey(met(path), LocalFiles()).verdict == "ignored"
    assert read(path, format="rows").codes == [("wrong-columns", None)]


def test_a_first_line_that_somebody_said_is_not_shown(tmp_path: Path, read: Callable[..., Any]) -> None:
    path = tmp_path / "bare.csv"
    path.write_text('2024-05-08 10:00,"my secret, dear"\n')
    (error,) = read(path).errors
    assert error.code == "wrong-columns"
    assert "secret" not in str(error)


def test_tables_are_looked_for_in_folders(tmp_path: Path) -> None:
    for name in ("a.csv", "b.TSV", "c.csv.gz", "d.txt"):
        (tmp_path / name).write_text("user,text\nu,x\n")
    assert [Path(file.uri).name for file in LocalFiles().find(str(tmp_path))] == ["a.csv", "b.TSV", "c.csv.gz"]


def test_a_table_is_no_other_format(tmp_path: Path, read: Callable[..., Any]) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(HEAD + b"ann,hi\n")
    assert read(path, format="jsonl").codes == [("wrong-format", None)]
    assert len(read(path, format="rows").sessions) == 1


@given(
    st.binary(max_size=300), st.sampled_from([b"", HEAD, b"user;text;time\n", b"\xff\xfeu\x00,\x00t\x00\n\x00", b"sep=\t\n"])
)
@example(b'a,"', HEAD)
@example(b'"a\r"b\n"', HEAD)
def test_any_bytes_are_read_or_refused(data: bytes, head: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "t.csv"
        path.write_bytes(head + data)
        files = LocalFiles()
        for split in survey(met(path), files, format="rows").splits:
            *items, end = read_split(split, files, ReadScope(None, None, 100))
            assert isinstance(end, SplitEnd)
            assert not any(isinstance(item, SplitEnd) for item in items)


@given(st.binary(max_size=200), st.integers(1, 60))
def test_every_line_is_counted_and_every_row_stands_on_one(data: bytes, limit: int) -> None:
    rows, refused, lines = table(HEAD + data, limit=max(limit, 10), step=64)
    assert all(2 <= line <= lines for line, _ in rows)
    assert all(1 <= line <= lines for _, line in refused)
    assert len({line for line, _ in rows}) == len(rows)


def test_quotes_that_make_no_sense_are_text_and_swallow_nobody_elses_row() -> None:
    data = HEAD + b'ann,"open\nbob,"hi"\ncy,"he said "no" to me"\ndee,"a","b\neve,"x" y, z\nflo,ok\n'
    rows, refused, lines = table(data)
    assert rows == [
        (2, ("ann", '"open')),
        (3, ("bob", "hi")),
        (4, ("cy", '"he said "no" to me"')),
        (7, ("flo", "ok")),
    ]
    assert [line for _, line in refused] == [5, 6]
    assert lines == 7
