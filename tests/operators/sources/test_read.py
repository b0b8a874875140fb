from __future__ import annotations

import gzip
import json
import random
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
import zstandard
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from operators.errors import SourceError, UsageError
from operators.sources.files import LocalFiles, SourceFile
from operators.sources.read import ReadScope, read_split, sniff, survey

LOCOMO = {
    "speaker_a": "A",
    "speaker_b": "B",
    "session_1": [{"speaker": "A", "dia_id": "D1:1", "text": "hi"}, {"speaker": "B", "dia_id": "D1:2", "text": "oh"}],
}
GALLERY = {
    "multi_session_dialogues": [{"session_id": "D1", "dialogues": [{"round": "D1:1", "user": "a", "assistant": "b"}]}]
}
NO_HISTORY = {"question_id": "q", "user_id": "u", "answer": {"messages": [{"role": "user"}]}}


def met(path: Path) -> SourceFile:
    return SourceFile(str(path), path.stat().st_size, "0", named=False)


# --- sniffing ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("indent", [None, 2])
@pytest.mark.parametrize("cut", [190, 250, 10_000])
def test_formats_are_told_by_content(session: Callable[..., Any], indent: int | None, cut: int) -> None:
    def head(value: Any) -> bytes:
        return json.dumps(value, indent=indent).encode()[:cut]

    assert sniff(head(session())) == "jsonl"
    assert sniff(head([session(), session(2)])) == "jsonl"
    assert sniff(head(GALLERY)) == "mem_gallery"
    assert sniff(head(LOCOMO)) == "locomo"
    assert sniff(head([{"qa": [1], "conversation": LOCOMO}])) == "locomo"
    assert sniff(head(NO_HISTORY)) is None
    assert sniff(b"PAR1....") == "parquet"


@pytest.mark.parametrize(
    "head", [b"", b"   ", b"\x00\x01", b"hello", b"<html>", b"{", b'{"a": 1}', b"[1, 2", b"5\n6\n", b"\xff" * 99]
)
def test_what_is_no_history_has_no_format(head: bytes) -> None:
    assert sniff(head) is None


def test_a_broken_first_line_hides_nothing(session: Callable[..., Any]) -> None:
    good = json.dumps(session()).encode() + b"\n"
    for bad in (
        b"garbage\n",
        b'{"user_id": "a", "mess\n',
        b'{"a": 1}}\n',
        b'{"messages": [\n',
        b"\xff\xfe\n",
        b"[1]\n",
        b"\n\n",
    ):
        assert sniff(bad + good + good) == "jsonl", bad


@given(st.binary(max_size=200))
def test_sniffing_never_fails(head: bytes) -> None:
    sniff(head)


# --- lines ------------------------------------------------------------------------------------------------------


def test_lines_good_and_bad(tmp_path: Path, read: Callable[..., Any], session: Callable[..., Any]) -> None:
    lines = [
        b"\xef\xbb\xbf" + json.dumps(session(1)).encode(),
        b'{"user_id": "secret',
        b"",
        json.dumps(session(2)).encode() + b"\r",
        b"[1]",
        b'{"user_id": "\xff"}',
        b"x" * 2000,
        json.dumps({"session_id": "n", "messages": [{"role": "user", "content": "secret"}]}).encode(),
        b"[" * 100_0,
        b'{"user_id": "u", "messages": [], "n": ' + b"9" * 1500 + b"}",
        json.dumps(session(3)).encode(),
    ]
    path = tmp_path / "mixed.jsonl"
    path.write_bytes(b"\n".join(lines))
    expected = [
        ("bad-json", 2), ("wrong-type", 5), ("bad-utf8", 6), ("line-too-long", 7), ("no-user", 8), ("bad-json", 9),
        ("line-too-long", 10),
    ]  # fmt: skip
    for split_bytes in (1 << 20, 777, 100, 7):
        got = read(path, limit=1200, split_bytes=split_bytes)
        assert got.codes == expected
        assert [s.session_id for s in got.sessions] == ["S1", "S2", "S3"]
        assert got.lines == [1, 4, 11]
        assert got.total_lines == 11
        assert not any("secret" in str(error) for error in got.errors)


def test_deep_nesting_and_long_numbers_are_bad_json(
    tmp_path: Path, read: Callable[..., Any], session: Callable[..., Any]
) -> None:
    path = tmp_path / "odd.jsonl"
    path.write_text(f"{json.dumps(session())}\n{'[' * 200_000}\n{'9' * 5000}\n")
    assert read(path).codes == [("bad-json", 2), ("bad-json", 3)]


TEXTS = st.lists(st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=6).filter(str.strip), max_size=8)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(TEXTS, st.integers(3, 400), st.sampled_from(["\n", "\r\n", "\n\n", "\n \n"]), st.booleans())
def test_splitting_changes_nothing(
    tmp_path: Path, read: Callable[..., Any], texts: list[str], split_bytes: int, end: str, last: bool
) -> None:
    records = [{"user_id": text.replace("\0", "0"), "messages": [{"role": "user", "content": text}]} for text in texts]
    path = tmp_path / "h.jsonl"
    body = end.join(json.dumps(record, ensure_ascii=False) for record in records) + (end if last and records else "")
    path.write_bytes(body.encode())
    whole, parts = read(path), read(path, split_bytes=split_bytes)
    assert parts.sessions == whole.sessions
    assert len(whole.sessions) == len(texts)
    assert (parts.lines, parts.total_lines) == (whole.lines, whole.total_lines)
    assert parts.errors == whole.errors == []


def test_a_very_long_line_is_read_and_one_too_long_is_passed_over(tmp_path: Path, read: Callable[..., Any]) -> None:
    path = tmp_path / "long.jsonl"
    with path.open("w") as stream:
        for size in (50 << 20, 60 << 20, 10):
            record = {"user_id": "u", "session_id": str(size), "messages": [{"role": "user", "content": "x" * size}]}
            stream.write(json.dumps(record) + "\n")
    got = read(path, limit=55 << 20, split_bytes=32 << 20)
    assert [s.session_id for s in got.sessions] == [str(50 << 20), "10"]
    assert got.codes == [("line-too-long", 2)]
    assert got.lines == [1, 3]


# --- documents --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("indent", [None, 1])
def test_documents_and_lists_of_them(
    tmp_path: Path, read: Callable[..., Any], session: Callable[..., Any], indent: int | None
) -> None:
    def users(value: Any, **options: Any) -> list[tuple[str, str]]:
        path = tmp_path / "twenty six.json"
        path.write_text(json.dumps(value, indent=indent))
        got = read(path, **options)
        assert got.errors == []
        return [(s.user_id, s.session_id) for s in got.sessions]

    sample = {"qa": ["x" * 300_000], "conversation": LOCOMO, "sample_id": "conv-1"}
    assert users(LOCOMO) == [("twenty six", "session_1")]
    assert users(sample) == users([sample]) == [("twenty six", "session_1")]
    assert users([sample, {**sample, "sample_id": "conv-2"}]) == [("conv-1", "session_1"), ("conv-2", "session_1")]
    assert users([LOCOMO, LOCOMO], user="eve") == [("eve", f"twenty six/{n}/session_1") for n in (1, 2)]
    assert users(GALLERY) == [("twenty six", "D1")]
    assert users([GALLERY, GALLERY]) == [("twenty six-1", "D1"), ("twenty six-2", "D1")]
    assert users(session()) == [("ada", "S1")]
    assert users([session(1), session(2)]) == [("ada", "S1"), ("ada", "S2")]


def test_one_conversation_a_line(tmp_path: Path, read: Callable[..., Any], dump: Callable[..., Path]) -> None:
    path = dump(tmp_path / "many.jsonl", [{"sample_id": f"c{n}", "conversation": LOCOMO} for n in range(3)])
    got = read(path, split_bytes=10)
    assert [s.user_id for s in got.sessions] == ["c0", "c1", "c2"]
    assert got.lines == [1, 2, 3]


def test_a_list_is_read_up_to_its_fault(tmp_path: Path, read: Callable[..., Any], session: Callable[..., Any]) -> None:
    path = tmp_path / "list.json"
    text = json.dumps([session(1), session(2), {**session(3), "messages": 5}, session(4)], indent=1)
    path.write_text(text[: text.rindex("content")])
    got = read(path)
    assert [s.session_id for s in got.sessions] == ["S1", "S2"]
    assert [code for code, _ in got.codes] == ["wrong-type", "bad-json"]


# --- packed -----------------------------------------------------------------------------------------------------


def pack(name: str, data: bytes) -> bytes:
    return gzip.compress(data) if name == "gz" else zstandard.ZstdCompressor().compress(data)


@pytest.mark.parametrize("name", ["gz", "zst"])
def test_packed_files(tmp_path: Path, read: Callable[..., Any], session: Callable[..., Any], name: str) -> None:
    lines = "".join(json.dumps(session(n)) + "\n" for n in range(20)).encode()
    for file, data, count in (
        (f"a.jsonl.{name}", lines, 20),
        ("no suffix", lines, 20),
        (f"26.json.{name}", json.dumps(LOCOMO).encode(), 1),
    ):
        path = tmp_path / file
        path.write_bytes(pack(name, data))
        got = read(path, split_bytes=64)
        assert len(got.survey.splits) == 1
        assert (len(got.sessions), got.errors) == (count, [])
    assert got.sessions[0].user_id == "26"


@pytest.mark.parametrize("name", ["gz", "zst"])
@pytest.mark.parametrize("share", [0.3, 0.6, 0.99])
def test_a_truncated_packed_file_gives_what_was_readable(
    tmp_path: Path, read: Callable[..., Any], session: Callable[..., Any], name: str, share: float
) -> None:
    noise = random.Random(1)
    records = [session(n, filler=noise.randbytes(300).hex()) for n in range(3000)]
    data = pack(name, "".join(json.dumps(record) + "\n" for record in records).encode())
    path = tmp_path / f"cut.jsonl.{name}"
    path.write_bytes(data[: int(len(data) * share)])
    got = read(path)
    assert [s.session_id for s in got.sessions] == [f"S{n}" for n in range(len(got.sessions))]
    assert 3000 > len(got.sessions) > 3000 * (share - 0.2)
    assert [code for code, _ in got.codes] == ["truncated"]
    assert got.codes[0][1] == len(got.sessions) + 1


# --- verdicts ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("data", [b"", b"\n \n", gzip.compress(b""), b"\xef\xbb\xbf"])
def test_an_empty_file_is_read_and_holds_nothing(tmp_path: Path, read: Callable[..., Any], data: bytes) -> None:
    path = tmp_path / "empty.jsonl"
    path.write_bytes(data)
    got = read(path)
    assert (got.survey.verdict, got.survey.splits, got.errors) == ("read", (), [])


def test_no_history_is_quarantined_if_named_and_ignored_if_met(
    tmp_path: Path, read: Callable[..., Any], dump: Callable[..., Path]
) -> None:
    path = dump(tmp_path / "questions.jsonl", [NO_HISTORY] * 3)
    got = read(path)
    assert (got.survey.verdict, got.codes) == ("rejected", [("unknown-format", None)])
    assert got.errors[0].file == str(path)
    seen = survey(met(path), LocalFiles())
    assert (seen.verdict, seen.splits, seen.error) == ("ignored", (), None)
    assert seen.reason is not None and "no history" in seen.reason


@pytest.mark.parametrize(
    "data", [b"\x00\xff" * 500, b"<html></html>", b"\xff\xfe{\x00", b"name,price\nada,5\n", b"\x1f\x8bjunk"]
)
def test_junk_is_quarantined_even_if_met(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "junk.json"
    path.write_bytes(data)
    seen = survey(met(path), LocalFiles())
    assert seen.verdict == "rejected"
    assert seen.error is not None and seen.error.code in ("not-json", "corrupt", "truncated", "bad-json")


def test_a_broken_document_is_told_by_its_line(tmp_path: Path, read: Callable[..., Any]) -> None:
    path = tmp_path / "26.json"
    path.write_text(json.dumps(LOCOMO, indent=1).replace('"hi"', "secret"))
    (error,) = read(path).errors
    assert error.code == "bad-json"
    assert "line 8" in str(error)
    assert "secret" not in str(error)


def test_what_a_glob_met_and_nobody_would_look_at_is_ignored(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("dear diary")
    assert survey(met(path), LocalFiles()).verdict == "ignored"


def test_a_format_may_be_forced(
    tmp_path: Path, read: Callable[..., Any], session: Callable[..., Any], dump: Callable[..., Path]
) -> None:
    path = dump(tmp_path / "h.jsonl", [session()])
    assert len(read(path, format="jsonl").sessions) == 1
    assert read(path, format="locomo").codes == [("no-messages", 1)]
    assert read(path, format="parquet").codes == [("wrong-format", None)]
    odd = dump(tmp_path / "odd.jsonl", [{"user_id": "u", "text": "no messages"}])
    assert read(odd, format="jsonl").codes == [("no-messages", 1)]
    with pytest.raises(UsageError, match="unknown format 'csv'; one of auto, anthropic, "):
        survey(met(path), LocalFiles(), format="csv")


def test_a_file_that_vanishes_is_an_error_not_an_end(
    tmp_path: Path, dump: Callable[..., Path], session: Callable[..., Any]
) -> None:
    path = dump(tmp_path / "h.jsonl", [session()])
    files = LocalFiles()
    (split,) = survey(met(path), files).splits
    path.unlink()
    error, _ = read_split(split, files, ReadScope(None, None, 1000))
    assert isinstance(error, SourceError)
    assert (error.code, error.file) == ("unreadable", str(path))
    gone = survey(split.file, files)
    assert gone.verdict == "rejected"


def test_an_unknown_zone_is_a_usage_error(
    tmp_path: Path, read: Callable[..., Any], dump: Callable[..., Path], session: Callable[..., Any]
) -> None:
    with pytest.raises(UsageError, match="unknown time zone"):
        read(dump(tmp_path / "h.jsonl", [session()]), timezone="Mars/Olympus")


def test_another_user_than_the_one_asked_for_is_refused(
    tmp_path: Path, read: Callable[..., Any], dump: Callable[..., Path], session: Callable[..., Any]
) -> None:
    got = read(dump(tmp_path / "h.jsonl", [session(1), session(2, user="bob"), session(3, user=None)]), user="ada")
    assert [s.session_id for s in got.sessions] == ["S1", "S3"]
    assert got.codes == [("other-user", 2)]


def test_a_split_is_plain_values(tmp_path: Path, dump: Callable[..., Path], session: Callable[..., Any]) -> None:
    (split,) = survey(met(dump(tmp_path / "h.jsonl", [session()])), LocalFiles()).splits
    raw = json.loads(json.dumps(asdict(split)))
    assert type(split)(**{**raw, "file": SourceFile(**raw["file"])}) == split
