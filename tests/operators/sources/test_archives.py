"""Zip archives as folders of sources."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from operators.errors import SourceError
from operators.sources.archives import ArchiveFiles, opened_up
from operators.sources.files import LocalFiles, SourceFile, find_sources
from operators.sources.media import PictureLimits, attach_pictures
from operators.sources.read import Parsed, ReadScope, read_split, survey

LOCAL = LocalFiles()
Session = Callable[..., dict[str, Any]]


def zipped(path: Path, members: dict[str, bytes | str], **options: Any) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, **options) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return path


def found(*patterns: Path) -> list[SourceFile]:
    return opened_up(find_sources([str(pattern) for pattern in patterns], lambda _: LOCAL), lambda _: LOCAL)


def line(record: dict[str, Any]) -> str:
    return json.dumps(record) + "\n"


def picture() -> bytes:
    buffer = BytesIO()
    Image.new("RGB", (3, 2), "red").save(buffer, "PNG")
    return buffer.getvalue()


def test_an_archive_is_read_as_the_folder_it_packs(tmp_path: Path, session: Session) -> None:
    members = {
        "a/one.jsonl": line(session(1)),
        "two.jsonl": line(session(2)),
        "chat.html": "<html>",
        ".hidden.json": "{}",
        "__MACOSX/a/one.jsonl": "x",
        "inner.zip": b"PK",
    }
    archive = zipped(tmp_path / "x.zip", members)
    sources = found(archive)
    assert [source.uri for source in sources] == [f"{archive}!/a/one.jsonl", f"{archive}!/two.jsonl"]
    assert not any(source.named for source in sources)
    files = ArchiveFiles(LOCAL)
    names = []
    for source in sources:
        looked = survey(source, files)
        assert looked.format == "jsonl"
        for split in looked.splits:
            items = list(read_split(split, files, ReadScope(None, None, 1 << 20)))
            names += [item.session.session_id for item in items if isinstance(item, Parsed)]
    assert names == ["S1", "S2"]


def test_a_stamp_changes_with_its_members_content(tmp_path: Path) -> None:
    before = found(zipped(tmp_path / "x.zip", {"a.json": "[1]"}))[0].stamp
    after = found(zipped(tmp_path / "x.zip", {"a.json": "[2]"}))[0].stamp
    assert before != after


def test_ranges_of_a_member_are_read_from_their_start(tmp_path: Path) -> None:
    archive = zipped(tmp_path / "x.zip", {"a.jsonl": "0123456789"})
    with ArchiveFiles(LOCAL).open(f"{archive}!/a.jsonl", 7) as stream:
        assert stream.read() == b"789"


def test_pictures_beside_a_member_are_found_and_none_outside_the_archive(tmp_path: Path, session: Session) -> None:
    (tmp_path / "outside.png").write_bytes(picture())
    parts = [{"type": "image_url", "image_url": name} for name in ("pics/in.png", "../outside.png", "pics/none.png")]
    record = session(1)
    record["messages"][0]["content"] = parts
    archive = zipped(tmp_path / "x.zip", {"chats/a.jsonl": line(record), "chats/pics/in.png": picture()})
    (source,) = found(archive)
    files, kept = ArchiveFiles(LOCAL), {}
    (split,) = survey(source, files).splits
    (parsed,) = [item for item in read_split(split, files, ReadScope(None, None, 1 << 20)) if isinstance(item, Parsed)]
    attached = attach_pictures(parsed.session, source, files, PictureLimits(), kept.__setitem__)
    assert [image.media is not None for image in attached.session.rounds[0].images] == [True, False, False]
    assert attached.missing == 2
    assert list(kept.values()) == [picture()]


def _encrypted(path: Path) -> Path:
    zipped(path, {"a.jsonl": "{}"})
    data = bytearray(path.read_bytes())
    for magic, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        data[data.index(magic) + offset] |= 1
    path.write_bytes(data)
    return path


def test_broken_archives_are_rejected_with_a_reason(tmp_path: Path) -> None:
    (tmp_path / "no.zip").write_bytes(b"nothing of the kind")
    whole = zipped(tmp_path / "whole.zip", {"a.jsonl": "x" * 9999}).read_bytes()
    (tmp_path / "cut.zip").write_bytes(whole[: len(whole) // 2])
    (tmp_path / "whole.zip").unlink()
    for source in found(tmp_path):
        looked = survey(source, LOCAL)
        assert looked.verdict == "rejected"
        assert looked.error is not None
        assert looked.error.code == "bad-zip"


def test_an_encrypted_member_is_rejected(tmp_path: Path) -> None:
    (source,) = found(_encrypted(tmp_path / "x.zip"))
    looked = survey(source, ArchiveFiles(LOCAL))
    assert looked.error is not None
    assert (looked.error.code, "encrypted" in str(looked.error)) == ("bad-zip", True)


def test_a_member_that_breaks_off_is_quarantined_after_what_could_be_read(tmp_path: Path, session: Session) -> None:
    import random

    noise = random.Random(1)
    lines = [line(session(number, note=noise.randbytes(300).hex())) for number in range(2000)]
    archive = zipped(tmp_path / "x.zip", {"a.jsonl": "".join(lines)})
    data = bytearray(archive.read_bytes())
    data[len(data) // 2 : len(data) // 2 + 64] = bytes(64)
    archive.write_bytes(data)
    (source,) = found(archive)
    files = ArchiveFiles(LOCAL)
    (split,) = survey(source, files).splits
    items = list(read_split(split, files, ReadScope(None, None, 1 << 20)))
    assert sum(isinstance(item, Parsed) for item in items) > 100
    assert any(isinstance(item, SourceError) for item in items)


@pytest.mark.parametrize("name", ["../up.json", "/root.json", "a/../../b.json", "a\\b.json", "new\nline.json"])
def test_names_that_point_elsewhere_are_no_members(tmp_path: Path, name: str) -> None:
    archive = zipped(tmp_path / "x.zip", {name: "{}", "fine.json": "{}"})
    assert [source.uri for source in found(archive)] == [f"{archive}!/fine.json"]


def test_an_archive_without_histories_says_so_where_it_was_named(tmp_path: Path) -> None:
    archive = zipped(tmp_path / "x.zip", {"photo.png": picture()})
    (named,) = found(archive)
    assert survey(named, LOCAL).verdict == "rejected"
    (met,) = found(tmp_path)
    assert survey(met, LOCAL).verdict == "ignored"
