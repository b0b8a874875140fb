"""The read step without Ray: nothing a source holds stops the rest, and the later record wins."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from jobs.build import join_parts, read_pieces
from jobs.read import MediaKeeper, ReadDone, ReadOrder, ReadValues, merge_quarantine, read_splits, rejected_rows
from jobs.survey import _survey_one, copies_of, digest_of_file
from operators.merge import merge_rounds
from operators.records import QUARANTINE, ROUNDS, media_key
from operators.sources.files import LocalFiles, SourceFile
from operators.sources.read import survey
from operators.store.local import LocalObjects

VALUES = ReadValues(
    tenant="t",
    user=None,
    timezone=None,
    buckets=1,
    max_line_bytes=1 << 24,
    max_picture_bytes=1 << 20,
    max_picture_pixels=1 << 20,
    fragment_rounds=1000,
)
GOOD = {"user_id": "ann", "session_id": "S", "messages": [{"role": "user", "content": "hello"}]}


def source(path: Path) -> SourceFile:
    return next(iter(LocalFiles().find(str(path))))


def read(objects: LocalObjects, *paths: Path) -> ReadDone:
    splits = [
        (rank, split)
        for rank, path in enumerate(paths)
        for split in survey(source(path), LocalFiles(), split_bytes=64).splits
    ]
    return read_splits(objects, "runs/r", ReadOrder(0, tuple(splits), 1), VALUES)


def rounds_of(objects: LocalObjects, done: ReadDone) -> pa.Table:
    pieces = [(fragment["key"], fragment["groups"]["0"]) for fragment in done.fragments]
    return merge_rounds(*join_parts(ROUNDS.empty_table(), read_pieces(objects, pieces))).rounds


def parquet(times: Any) -> bytes:
    messages = [[{"role": "user", "content": "hello"}]] * len(times)
    buffer = io.BytesIO()
    names = [f"S{number}" for number in range(len(times))]
    table = pa.table({"user_id": ["u"] * len(times), "session_id": names, "messages": messages, "timestamp": times})
    pq.write_table(table, buffer)
    return buffer.getvalue()


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("locomo.json", b'{"session_1": [{"speaker": "A", "text": "hi"}], "session_2": 5}'),
        ("number.json", b'{"session_1": [{"speaker": "A", "text": "hi"}], "session_' + b"1" * 5000 + b'": []}'),
        ("deep.jsonl", json.dumps(GOOD)[:-1].encode() + b', "metadata": ' + b"[" * 900 + b"]" * 900 + b"}\n"),
        ("times.parquet", parquet(pa.array([0, 10**18], pa.timestamp("us")))),
        ("dates.parquet", parquet(pa.array([0, 2**31 - 1], pa.date32()))),
    ],
)
def test_a_record_nobody_foresaw_is_set_aside_and_the_rest_goes_in(tmp_path: Path, name: str, data: bytes) -> None:
    objects = LocalObjects(str(tmp_path / "store"))
    bad, good = tmp_path / name, tmp_path / "good.jsonl"
    bad.write_bytes(data)
    good.write_text(json.dumps(GOOD) + "\n")
    done = read(objects, bad, good)
    assert "ann" in rounds_of(objects, done)["user_id"].to_pylist()
    for row in rejected_rows(objects, [done]).to_pylist():
        assert row["file"] == str(bad) and "hello" not in row["reason"]


def test_a_file_that_breaks_the_survey_is_rejected_and_one_that_cannot_be_read_is_no_copy(tmp_path: Path) -> None:
    twice = io.BytesIO()
    messages = pa.array([[{"role": "user", "content": "hello"}]])
    pq.write_table(pa.table([pa.array(["u"]), messages, messages], names=["user_id", "messages", "messages"]), twice)
    path = tmp_path / "twice.parquet"
    path.write_bytes(twice.getvalue())
    assert _survey_one(0, source(path), LocalFiles(), "auto", 1 << 20)["verdict"] in ("rejected", "read")
    for name in ("a.jsonl", "b.jsonl"):
        (tmp_path / name).write_text("same")
    found = [source(tmp_path / "a.jsonl"), source(tmp_path / "b.jsonl")]
    assert copies_of({rank: digest_of_file(file, LocalFiles()) for rank, file in enumerate(found)}) == {1: 0}
    (tmp_path / "b.jsonl").unlink()
    assert copies_of({rank: digest_of_file(file, LocalFiles()) for rank, file in enumerate(found)}) == {}


@pytest.mark.parametrize("order", [("old", "new"), ("new", "old"), ("1", "2"), ("2", "1")])
def test_of_two_versions_the_later_wins_wherever_they_stand(tmp_path: Path, order: tuple[str, str]) -> None:
    objects = LocalObjects(str(tmp_path / "store"))
    sessions = [{**GOOD, "messages": [{"role": "user", "content": text}]} for text in order]
    one_line, lines = tmp_path / "list.json", tmp_path / "lines.jsonl"
    one_line.write_text(json.dumps(sessions))
    lines.write_text("".join(json.dumps(line) + "\n" for line in sessions))
    for path in (one_line, lines):
        texts = [row[0]["text"] for row in rounds_of(objects, read(objects, path))["messages"].to_pylist()]
        assert texts == [order[1]]


def test_lines_in_quarantine_count_from_the_start_of_the_file_whatever_the_splits(tmp_path: Path) -> None:
    objects = LocalObjects(str(tmp_path / "store"))
    path = tmp_path / "a.jsonl"
    lines = [json.dumps({**GOOD, "session_id": f"S{number}"}) for number in range(30)]
    for number in (0, 11, 29):
        lines[number] = "{broken"
    path.write_text("\n".join(lines) + "\n")
    rows = rejected_rows(objects, [read(objects, path)]).to_pylist()
    assert [row["line"] for row in rows] == [1, 12, 30]


def test_quarantine_keeps_what_was_not_read_again_and_each_row_once() -> None:
    def rows(*places: tuple[str, str, int]) -> pa.Table:
        found = [
            {"tenant_id": tenant, "file": file, "line": line, "round_id": None, "code": "c", "reason": "r", "asked": "{}"}
            for tenant, file, line in places
        ]
        return pa.Table.from_pylist(found, QUARANTINE)

    base = rows(("t", "a", 1), ("t", "b", 2), ("other", "a", 3))
    after = merge_quarantine(base, rows(("t", "a", 9), ("t", "a", 9)), "t", {"a"})
    assert [(row["tenant_id"], row["file"], row["line"]) for row in after.to_pylist()] == [
        ("other", "a", 3),
        ("t", "a", 9),
        ("t", "b", 2),
    ]
    assert merge_quarantine(after, rows(("t", "a", 9)), "t", {"a"}).equals(after)


def test_a_picture_is_written_once_and_again_when_it_has_stood_long(tmp_path: Path) -> None:
    import os

    objects = LocalObjects(str(tmp_path / "store"))
    sha = "ab" * 32
    MediaKeeper(objects).keep(sha, b"picture")
    first = objects.head(media_key(sha)).modified
    MediaKeeper(objects).keep(sha, b"picture")
    assert objects.head(media_key(sha)).modified == first
    path = tmp_path / "store" / media_key(sha)
    old = first.timestamp() - 3600
    os.utime(path, (old, old))
    MediaKeeper(objects).keep(sha, b"picture")
    assert objects.head(media_key(sha)).modified.timestamp() > old + 1000


def test_the_store_in_the_folder_that_is_read_is_no_source(tmp_path: Path) -> None:
    from jobs.backfill import outside

    (tmp_path / "mem" / "snapshots").mkdir(parents=True)
    (tmp_path / "mem" / "store.json").write_text("{}")
    (tmp_path / "mem" / "runs.jsonl").write_text("{}")
    (tmp_path / "a.jsonl").write_text("{}")
    assert [file.uri for file in LocalFiles().find(str(tmp_path))] == [str(tmp_path / "a.jsonl")]
    found = [source(tmp_path / "a.jsonl"), source(tmp_path / "mem" / "runs.jsonl")]
    assert outside(str(tmp_path / "mem"), found) == found[:1]
