"""From addresses to stores."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest

from operators.errors import UsageError
from operators.store.local import LocalObjects
from operators.store.opening import open_objects
from operators.store.s3 import S3Objects


def test_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    for uri, folder in [
        ("store", tmp_path / "store"),
        ("./a b", tmp_path / "a b"),
        ("~/store", tmp_path / "home/store"),
        (str(tmp_path / "x"), tmp_path / "x"),
        (f"file://{tmp_path}/a%20b", tmp_path / "a b"),
        (f"file://localhost{tmp_path}/ü", tmp_path / "ü"),
    ]:
        objects = open_objects(uri)
        assert isinstance(objects, LocalObjects)
        assert objects.root == folder
        assert objects.uri == str(folder)
    assert list(tmp_path.iterdir()) == []


def test_a_relative_folder_stays_where_it_was_meant(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    objects = open_objects("store")
    objects.put("k", b"x")
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    assert pickle.loads(pickle.dumps(objects)).get("k") == b"x"


def test_buckets() -> None:
    objects = open_objects("s3://bucket/some/prefix/")
    assert isinstance(objects, S3Objects)
    assert objects.uri == pickle.loads(pickle.dumps(objects)).uri == "s3://bucket/some/prefix"


NO_ADDRESSES = ["", "  ", "gs://bucket/x", "http://host/x", "S3://bucket", "s3://", "file://host/x", "file:relative"]


@pytest.mark.parametrize("uri", [*NO_ADDRESSES, "file:///a?b", "~nobody-here/x"])
def test_addresses_that_are_none(uri: str) -> None:
    with pytest.raises(UsageError):
        open_objects(uri)


def test_a_file_is_no_store(tmp_path: Path) -> None:
    (tmp_path / "f").write_text("x")
    with pytest.raises(UsageError, match="is a file"):
        open_objects(str(tmp_path / "f"))
