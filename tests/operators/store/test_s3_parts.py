"""Large files go up in parts: whole or not at all, and no parts stay behind."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import boto3
import pytest

from operators.errors import StoreDenied
from operators.store.s3 import S3Objects

PART = 5 << 20


def large(tmp_path: Path) -> Path:
    path = tmp_path / "large"
    path.write_bytes(b"a" * PART + b"b" * PART + b"c" * 17)
    return path


def test_large_files_go_up_in_parts(direct: S3Objects, tmp_path: Path) -> None:
    objects = S3Objects(direct.uri, part_bytes=PART)
    etag = objects.put_file("big", large(tmp_path))
    assert etag.strip('"').endswith("-3")
    assert direct.head("big").etag == etag
    assert direct.get("big") == large(tmp_path).read_bytes()


@pytest.mark.parametrize(
    ("step", "action"), [("uploads", "lose"), ("partNumber=2", "drop"), ("uploadId=", "lose"), ("uploadId=", "503 SlowDown")]
)
def test_parts_survive_lost_answers(direct: S3Objects, lossy: Any, tmp_path: Path, step: str, action: str) -> None:
    left = [action]

    def script(method: str, path: str) -> str:
        completing = step != "uploadId=" or method == "POST"
        return left.pop() if left and method in ("PUT", "POST") and step in path and completing else "pass"

    lossy.script = script
    S3Objects(direct.uri, tries=3, part_bytes=PART).put_file("big", large(tmp_path))
    assert not left
    assert direct.get("big") == large(tmp_path).read_bytes()


def uploads_of(direct: S3Objects, s3_server: str) -> list[str]:
    bucket, _, root = direct.uri.removeprefix("s3://").partition("/")
    client = boto3.session.Session().client("s3", endpoint_url=s3_server)
    return [found["Key"] for found in client.list_multipart_uploads(Bucket=bucket, Prefix=root).get("Uploads", [])]


def test_a_failed_upload_is_aborted(direct: S3Objects, lossy: Any, tmp_path: Path, s3_server: str) -> None:
    lossy.script = lambda _, path: "403 AccessDenied" if "partNumber=3" in path else "pass"
    with pytest.raises(StoreDenied):
        S3Objects(direct.uri, part_bytes=PART).put_file("big", large(tmp_path))
    assert uploads_of(direct, s3_server) == []
    assert [info.key for info in direct.list("")] == ["ready"]


def test_sweep_aborts_uploads_that_were_left(direct: S3Objects, s3_server: str) -> None:
    bucket, _, root = direct.uri.removeprefix("s3://").partition("/")
    client = boto3.session.Session().client("s3", endpoint_url=s3_server)
    client.create_multipart_upload(Bucket=bucket, Key=f"{root}/left")
    client.create_multipart_upload(Bucket=bucket, Key=f"{root}x/beside")
    now = datetime.now(UTC)
    assert direct.sweep(now + timedelta(hours=1)) == 1
    assert uploads_of(direct, s3_server) == [f"{root}x/beside"]
