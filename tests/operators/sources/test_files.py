from __future__ import annotations

import os
from pathlib import Path

import pytest

from operators.errors import SourceError, UsageError
from operators.sources.files import LocalFiles, SourceFile, find_sources
from operators.store.opening import open_objects

FILES = LocalFiles()


def sources(*patterns: object) -> list[SourceFile]:
    return find_sources([str(pattern) for pattern in patterns], lambda _: FILES)


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    for name in ("a.jsonl", "b.JSON.gz", "notes.txt", "x.png", ".hidden.json", "deep/c.ndjson.zst", "deep/d.parquet"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("x")
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "e.json").write_text("x")
    return tmp_path


def names(found: list[SourceFile], root: Path) -> list[str]:
    return [str(Path(file.uri).relative_to(root)) for file in found]


def test_a_folder_is_walked_for_what_may_be_a_history(tree: Path) -> None:
    found = sources(tree)
    assert names(found, tree) == ["a.jsonl", "b.JSON.gz", "deep/c.ndjson.zst", "deep/d.parquet"]
    assert not any(file.named for file in found)


def test_a_file_given_by_name_is_taken_whatever_its_name(tree: Path) -> None:
    (found,) = sources(tree / "deep" / ".." / "notes.txt")
    stamp = (tree / "notes.txt").stat()
    assert found == SourceFile(str(tree / "notes.txt"), 1, str(stamp.st_mtime_ns), True)


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("*.txt", ["notes.txt"]),
        ("**/*.parquet", ["deep/d.parquet"]),
        ("**/*.jsonl", ["a.jsonl"]),
        ("d*", ["deep/c.ndjson.zst", "deep/d.parquet"]),
        ("[ab].*", ["a.jsonl", "b.JSON.gz"]),
    ],
)
def test_globs(tree: Path, pattern: str, expected: list[str]) -> None:
    found = sources(f"{tree}/{pattern}")
    assert names(found, tree) == expected
    assert not any(file.named for file in found)


def test_each_file_comes_once_sorted_and_named_if_it_was_ever_named(tree: Path) -> None:
    for patterns in ((tree, tree / "a.jsonl"), (tree / "a.jsonl", tree), (f"{tree}/*.jsonl", tree / "a.jsonl", tree)):
        found = sources(*patterns)
        assert [file.uri for file in found] == sorted({file.uri for file in found})
        assert [file.named for file in found] == [True, False, False, False]


@pytest.mark.parametrize("pattern", ["nothing.json", "*.nothing", "images", "missing/**"])
def test_a_pattern_that_matches_nothing_is_a_usage_error(tree: Path, pattern: str) -> None:
    (tree / "images").mkdir()
    (tree / "images" / "p.png").write_text("x")
    with pytest.raises(UsageError, match="matches no file"):
        sources(tree / "a.jsonl", tree / pattern)


def test_a_name_with_glob_signs_is_itself_where_there_is_such_a_file(tree: Path) -> None:
    (tree / "[ab].jsonl").write_text("x")
    assert names(sources(tree / "[ab].jsonl"), tree) == ["[ab].jsonl"]


def test_relative_names_and_file_uris_are_the_same_file(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tree)
    assert len(sources("a.jsonl", "./deep/../a.jsonl", f"file://{tree}/a.jsonl")) == 1


def test_links_to_folders_are_not_followed_in_a_walk(tree: Path) -> None:
    (tree / "deep" / "loop").symlink_to(tree)
    assert len(sources(tree)) == 4


def test_a_name_that_is_not_utf8_is_unreadable_and_hides_no_other(tmp_path: Path) -> None:
    odd = Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xff.json"))
    try:
        odd.write_text("x")
    except OSError:
        pytest.skip("this file system takes UTF-8 names only")
    (tmp_path / "fine.json").write_text("x")
    found = sources(tmp_path)
    assert [file.uri.rpartition("/")[2] for file in found] == ["\\xff.json", "fine.json"]
    with pytest.raises(SourceError, match="cannot be read"):
        FILES.open(found[0].uri)
    with pytest.raises(UsageError, match="not UTF-8"):
        sources(odd)


def test_open_and_read(tree: Path) -> None:
    path = tree / "a.jsonl"
    path.write_bytes(b"0123456789")
    with FILES.open(str(path), 4) as stream:
        assert stream.read() == b"456789"
    assert FILES.read(str(path), 3) == b"012"
    assert FILES.read(str(path), 100) == b"0123456789"
    assert FILES.read(str(tree), 3) is None
    assert FILES.read(str(tree / "gone"), 3) is None
    assert FILES.read(str(path / "below"), 3) is None
    assert FILES.read("\0", 3) is None
    with pytest.raises(SourceError) as caught:
        FILES.open(str(tree / "gone"))
    assert (caught.value.code, caught.value.file) == ("unreadable", str(tree / "gone"))


def test_a_name_that_is_too_long_is_unreadable(tree: Path) -> None:
    with pytest.raises(SourceError) as caught:
        FILES.read(str(tree / ("x" * 5000)), 3)
    assert caught.value.code == "unreadable"


def test_a_device_named_outright_is_said_to_be_one() -> None:
    with pytest.raises(UsageError, match="a device or a pipe"):
        list(LocalFiles().find("/dev/null"))


def test_a_working_folder_that_is_gone_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    with pytest.raises(UsageError, match="give the whole path"):
        list(LocalFiles().find("x.jsonl"))
    with pytest.raises(UsageError, match="give the whole path"):
        open_objects("store")
