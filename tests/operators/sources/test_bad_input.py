"""What people bring is never clean: each oddity is quarantined with file, line and reason, or kept with the doubt noted."""

from __future__ import annotations

import base64
import json
import os
import stat
import struct
import sys
import time
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import BytesIO
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from PIL import Image

from configs.settings import Settings
from operators.encode.stub import Stub
from operators.errors import SourceError, UsageError
from operators.records import Session, bucket_of, round_rows, unit_id
from operators.sources.archives import ArchiveFiles
from operators.sources.files import LocalFiles, SourceFile
from operators.sources.media import FORMATS, PictureLimits, attach_pictures
from operators.sources.openai_jsonl import read as read_session
from operators.sources.origin import Origin
from operators.sources.read import Parsed, ReadScope, read_split, survey

Read = Callable[..., Any]


def local_file(path: Path) -> SourceFile:
    (source,) = LocalFiles().find(str(path))
    return source


def said(*contents: Any, user: str = "ann", session: str = "S", **more: Any) -> dict[str, Any]:
    messages = [{"role": "user", "content": content} for content in contents]
    return {"user_id": user, "session_id": session, "messages": messages, **more}


# --- text -------------------------------------------------------------------------------------------------------


def test_a_message_of_50_megabytes_is_kept_whole(tmp_path: Path, read: Read) -> None:
    path = tmp_path / "h.jsonl"
    text = "a long story. " * (50 * 1024 * 1024 // 14)
    path.write_text(json.dumps(said(text)) + "\n" + json.dumps(said("short", session="T")) + "\n")
    began = time.monotonic()
    outcome = read(path, limit=256 << 20)
    assert time.monotonic() - began < 60
    assert [len(session.rounds[0].messages[0].text) for session in outcome.sessions] == [len(text), 5]
    began = time.monotonic()
    spans = Stub().spans(text)
    assert time.monotonic() - began < 60
    assert (spans[0][0], spans[-1][1]) == (0, len(text))
    assert all(end == start for (_, end), (start, _) in pairwise(spans))
    assert read(path, limit=1 << 20).codes == [("line-too-long", 1)]
    assert path.stat().st_size < Settings().sources.max_line_bytes


@pytest.mark.parametrize(
    "part",
    [
        {"type": "video_url", "video_url": {"url": "x"}},
        {"type": "\ud800"},
        {"type": None},
        {"type": ["text"]},
        {"type": "image_url", "image_url": None},
        {},
    ],
)
def test_an_unknown_part_is_counted_and_its_message_kept(tmp_path: Path, read: Read, part: Any) -> None:
    path = tmp_path / "h.jsonl"
    path.write_text(json.dumps(said([{"type": "text", "text": "hello"}, part])))
    outcome = read(path)
    assert outcome.errors == []
    (record,) = outcome.sessions[0].rounds
    assert record.messages[0].text == "hello"
    assert sum(record.metadata["unknown_parts"].values()) == 1


@pytest.mark.parametrize(
    ("line", "code"),
    [
        (b'{"user_id": "a"', "bad-json"),
        (b"nonsense", "bad-json"),
        (b"{}{}", "bad-json"),
        (b'{"user_id": "\xff"}', "bad-utf8"),
        (b"\0\0\0", "bad-json"),
        (b"5", "wrong-type"),
        (b"[[]]", "wrong-type"),
        (b'{"user_id": {}, "messages": [{"role": "user", "content": "x"}]}', "wrong-type"),
        (b'{"user_id": "a", "messages": {"role": "user"}}', "wrong-type"),
        (b'{"user_id": "a", "messages": [{"role": 7, "content": "x"}]}', "wrong-type"),
        (b'{"user_id": "a", "messages": [{"role": "user", "content": 1.5}]}', "wrong-type"),
    ],
)
def test_one_odd_line_is_told_by_its_number_and_both_neighbours_are_read(
    tmp_path: Path, read: Read, line: bytes, code: str
) -> None:
    path = tmp_path / "h.jsonl"
    path.write_bytes(b"\n".join([json.dumps(said("a")).encode(), line, json.dumps(said("b", session="T")).encode()]))
    outcome = read(path)
    assert outcome.codes == [(code, 2)]
    assert outcome.lines == [1, 3]


def test_lone_surrogates_and_nul_are_replaced_in_text_and_refused_in_ids(tmp_path: Path, read: Read) -> None:
    path = tmp_path / "h.jsonl"
    lines = ['{"user_id": "ann", "session_id": "S", "messages": [{"role": "user", "content": "a\\ud800b\\u0000c"}]}']
    lines.append('{"user_id": "ann", "session_id": "\\ud800", "messages": [{"role": "user", "content": "x"}]}')
    path.write_text("\n".join(lines))
    outcome = read(path)
    assert [session.rounds[0].messages[0].text for session in outcome.sessions] == ["a\ufffdb\ufffdc"]
    assert outcome.codes == [("bad-id", 2)]


@pytest.mark.parametrize(
    "user", ["a/b/../c", "..", "\U0001f9d1\u200d\U0001f680", "x" * 4096, "a\nb", "%2F", "день 3", "CON"]
)
def test_any_name_of_a_user_keeps_its_own(user: str) -> None:
    (session,) = read_session(said("hi", user=user), Origin(None, None, "f"))
    assert isinstance(session, Session)
    assert session.user_id == user
    (row,) = round_rows("t", user, session.rounds, "f")
    assert row["user_id"] == user
    assert 0 <= bucket_of("t", user, 16) < 16
    assert unit_id(user, "r", "txt", 0, 0).count("/") == 2


def test_a_hundred_thousand_sessions_of_one_user(tmp_path: Path, read: Read) -> None:
    path = tmp_path / "h.jsonl"
    line = json.dumps(said("hi", session="NUMBER")) + "\n"
    path.write_text("".join(line.replace("NUMBER", str(number)) for number in range(100_000)))
    outcome = read(path)
    assert len({session.session_id for session in outcome.sessions}) == 100_000
    assert outcome.errors == []


# --- times ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("written", ["05/08/2024", "8.5.24", "24-05-08", "yesterday", True, [1], "2024-13-01", 1e40])
def test_a_time_that_could_mean_several_or_none_is_unknown_with_a_doubt(written: Any) -> None:
    (session,) = read_session(said("hi", timestamp=written), Origin(None, None, "f"))
    assert isinstance(session, Session)
    (record,) = session.rounds
    assert (record.time, record.metadata) == (None, {"doubts": {"bad-time": 1}})


def test_mixed_times_are_each_read_as_written() -> None:
    record = said("a", "b", "c", "d")
    for message, written in zip(
        record["messages"], ["2024-05-08T10:00:00+02:00", "2024-05-08T10:00", 1715176567, None], strict=True
    ):
        message["timestamp"] = written
        message["round"] = str(written)
    (session,) = read_session(record, Origin(None, ZoneInfo("Asia/Tokyo"), "f"))
    assert isinstance(session, Session)
    offsets = [one.time.offset_minutes if one.time else None for one in session.rounds]
    assert offsets == [120, 540, 540, None]


# --- pictures ---------------------------------------------------------------------------------------------------


def attached(data: bytes, limits: PictureLimits | None = None) -> tuple[Any, list[str]]:
    reference = "data:image/png;base64," + base64.b64encode(data).decode()
    (session,) = read_session(said([{"type": "image_url", "image_url": reference}]), Origin(None, None, "f"))
    assert isinstance(session, Session)
    (source,) = LocalFiles().find(__file__)
    done = attach_pictures(session, source, LocalFiles(), limits or PictureLimits(), lambda _, __: None)
    return done.session.rounds[0].images[0], [error.code for error in done.refused]


def drawn(kind: str, **options: Any) -> bytes:
    buffer = BytesIO()
    image = options.pop("image", Image.new("RGB", (6, 4), "red"))
    image.save(buffer, kind, **options)
    return buffer.getvalue()


def test_cmyk_animated_and_turned_pictures_are_kept() -> None:
    frames = [Image.new("RGB", (6, 4), colour) for colour in ("red", "blue")]
    exif = Image.Exif()
    exif[0x0112] = 6
    for data, size in (
        (drawn("JPEG", image=Image.new("CMYK", (6, 4))), (6, 4)),
        (drawn("GIF", image=frames[0], save_all=True, append_images=frames[1:]), (6, 4)),
        (drawn("PNG", image=frames[0], save_all=True, append_images=frames[1:]), (6, 4)),
        (drawn("JPEG", exif=exif), (4, 6)),
    ):
        image, refused = attached(data)
        assert refused == []
        assert (image.width, image.height) == size


def png_of(width: int, height: int) -> bytes:
    """A PNG that says it is that large and holds a few bytes."""

    def chunk(kind: bytes, body: bytes) -> bytes:
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    body = chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(bytes(1000))) + chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + body


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (png_of(30_000, 30_000), "picture-too-many-pixels"),
        (png_of(2_000_000_000, 2), "picture-too-many-pixels"),
        (png_of(50, 50), "picture-broken"),
        (drawn("PNG")[:-20], "picture-broken"),
        (drawn("JPEG", image=Image.effect_noise((64, 64), 90))[:400], "picture-broken"),
        (b"<svg xmlns='http://www.w3.org/2000/svg'><script>alert(1)</script></svg>", "picture-unknown"),
        (b"<?xml version='1.0'?><svg/>", "picture-unknown"),
        (b"%PDF-1.4", "picture-unknown"),
        (b"%!PS-Adobe-3.0 EPSF-3.0", "picture-unknown"),
        (b"", "picture-unknown"),
    ],
)
def test_a_picture_that_is_refused_leaves_its_round(data: bytes, code: str) -> None:
    began = time.monotonic()
    image, refused = attached(data)
    assert refused == [code]
    assert image.media is None
    assert time.monotonic() - began < 10


@pytest.mark.parametrize("kind", ["BMP", "GIF"])
def test_a_header_that_says_too_much_is_refused_in_other_formats_too(kind: str) -> None:
    data = bytearray(drawn(kind))
    at, form = (18, "<ii") if kind == "BMP" else (6, "<HH")
    struct.pack_into(form, data, at, 30_000, 30_000)
    _, refused = attached(bytes(data))
    assert refused == ["picture-too-many-pixels"]


def test_deep_nesting_is_refused_in_time_that_grows_with_the_bytes(tmp_path: Path) -> None:
    path = tmp_path / "deep.jsonl"
    path.write_text('{"user_id": "d", "session_id": "s", "messages": ' + "[" * 200_000 + "]" * 200_000 + "}\n")
    began = time.monotonic()
    (source,) = LocalFiles().find(str(path))
    found = survey(source, LocalFiles())
    assert time.monotonic() - began < 20
    assert found.error is not None
    assert "nesting" in str(found.error)


def test_no_program_that_draws_or_runs_what_a_file_says_is_among_the_formats() -> None:
    assert not {"EPS", "WMF", "PDF", "PSD", "SVG", "FPX", "MIC", "IM"} & set(FORMATS)
    assert not {"cairosvg", "svglib", "wand", "cairo"} & set(sys.modules)


@pytest.mark.parametrize(
    "reference",
    [
        "../../secret.png", "..%2f..%2fsecret.png", "%2e%2e/%2e%2e/secret.png", "x/../../../secret.png", "/etc/hostname",
        "file:///etc/hostname", "file://{far}", "{far}", "link.png", "a%00.png", "%ff.png", "..\\..\\secret.png",
    ],
)  # fmt: skip
def test_a_reference_out_of_reach_is_missing_when_read_through_the_door(tmp_path: Path, read: Read, reference: str) -> None:
    folder = tmp_path / "one" / "two" / "three"
    folder.mkdir(parents=True)
    far = tmp_path / "one" / "secret.png"
    far.write_bytes(drawn("PNG"))
    (folder / "link.png").symlink_to(far)
    part = {"type": "image_url", "image_url": {"url": reference.format(far=far)}}
    path = folder / "h.jsonl"
    path.write_text(json.dumps(said(["look", part])))
    (session,) = read(path).sessions
    kept: dict[str, bytes] = {}
    done = attach_pictures(session, local_file(path), LocalFiles(), PictureLimits(), kept.__setitem__)
    assert kept == {}
    assert done.missing + len(done.refused) == 1
    assert done.session.rounds[0].images[0].media is None


def test_a_link_inside_an_archive_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "secret.png").write_bytes(drawn("PNG"))
    link = zipfile.ZipInfo("link.png")
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    part = {"type": "image_url", "image_url": "link.png"}
    with zipfile.ZipFile(tmp_path / "x.zip", "w") as archive:
        archive.writestr("h.jsonl", json.dumps(said([part])))
        archive.writestr(link, "../secret.png")
    files = ArchiveFiles(LocalFiles())
    (source,) = files.members(local_file(tmp_path / "x.zip"))
    (split,) = survey(source, files).splits
    parsed, _ = read_split(split, files, ReadScope(None, None, 1 << 20))
    assert isinstance(parsed, Parsed)
    done = attach_pictures(parsed.session, source, files, PictureLimits(), lambda _, __: pytest.fail("kept"))
    assert [error.code for error in done.refused] == ["picture-unknown"]


# --- files ------------------------------------------------------------------------------------------------------


def test_odd_things_in_a_folder_hide_nothing(tmp_path: Path) -> None:
    (tmp_path / "fine.jsonl").write_text(json.dumps(said("hi")))
    (tmp_path / "binary.json").write_bytes(os.urandom(5000))
    (tmp_path / "empty.json").touch()
    (tmp_path / "dangling.json").symlink_to(tmp_path / "nowhere")
    os.mkfifo(tmp_path / "pipe.json")
    (tmp_path / "folder.json").mkdir()
    files = LocalFiles()
    surveys = {Path(source.uri).name: survey(source, files) for source in files.find(str(tmp_path))}
    assert {name: (found.verdict, len(found.splits)) for name, found in surveys.items()} == {
        "fine.jsonl": ("read", 1),
        "binary.json": ("rejected", 0),
        "empty.json": ("read", 0),
        "dangling.json": ("rejected", 0),
        "pipe.json": ("rejected", 0),
    }
    assert surveys["pipe.json"].reason == f"{str(tmp_path / 'pipe.json')!r} cannot be read: not a regular file"
    assert {surveys[name].error.code for name in ("dangling.json", "pipe.json")} == {"unreadable"}


@pytest.mark.parametrize("mode", [0o000, 0o400], ids=["closed", "names only"])
def test_a_folder_without_permission_is_told_and_the_others_are_read(mode: int) -> None:
    with TemporaryDirectory() as made, _as_nobody(Path(made)) as folder:
        (folder / "fine.jsonl").write_text(json.dumps(said("hi")))
        (folder / "shut").mkdir()
        (folder / "shut" / "a.jsonl").write_text(json.dumps(said("hi")))
        (folder / "shut").chmod(mode)
        files = LocalFiles()
        try:
            surveys = [survey(source, files) for source in files.find(str(folder))]
            told = {Path(found.file.uri).name: (found.verdict, found.error and found.error.code) for found in surveys}
            shut = "a.jsonl" if mode else "shut"
            assert told == {"fine.jsonl": ("read", None), shut: ("rejected", "unreadable")}
            if not mode:
                with pytest.raises(UsageError, match="cannot look into the folder"):
                    list(files.find(str(folder / "shut")))
        finally:
            (folder / "shut").chmod(0o700)


@contextmanager
def _as_nobody(folder: Path) -> Iterator[Path]:
    """The folder, for the time of the block that of a user whom permissions bind, which root is not."""
    if os.geteuid() != 0:
        yield folder
        return
    nobody = 65534
    os.chown(folder, nobody, -1)
    os.seteuid(nobody)
    try:
        yield folder
    finally:
        os.seteuid(0)


def test_an_escaped_name_is_never_that_of_another_file(tmp_path: Path) -> None:
    odd = Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xff.json"))
    try:
        odd.touch()
    except OSError:
        pytest.skip("this file system takes UTF-8 names only")
    (tmp_path / "\\xff.json").write_text(json.dumps(said("hi")))
    files = LocalFiles()
    surveys = {Path(source.uri).name: survey(source, files) for source in files.find(str(tmp_path))}
    assert {name: found.verdict for name, found in surveys.items()} == {"\\xff.json": "read", "\\xff.json?": "rejected"}


def test_a_file_that_vanishes_while_a_folder_is_walked_is_told(tmp_path: Path) -> None:
    for name in ("a.jsonl", "b.jsonl"):
        (tmp_path / name).write_text(json.dumps(said("hi", session=name)))
    files = LocalFiles()
    walk = files.find(str(tmp_path))
    first = next(walk)
    (tmp_path / "a.jsonl").unlink()
    (tmp_path / "b.jsonl").unlink()
    surveys = [survey(source, files) for source in (first, *walk)]
    assert [found.error.code for found in surveys if found.error] == ["unreadable", "unreadable"]


def test_a_file_that_grows_or_shrinks_after_it_was_looked_at(tmp_path: Path) -> None:
    path = tmp_path / "h.jsonl"
    whole = "".join(json.dumps(said("hi", session=f"S{number}")) + "\n" for number in range(10))
    path.write_text(whole)
    files = LocalFiles()
    (source,) = files.find(str(path))
    (split,) = survey(source, files).splits
    path.write_text(whole + json.dumps(said("late", session="L")))
    items = list(read_split(split, files, ReadScope(None, None, 1 << 20)))
    assert sum(isinstance(item, Parsed) for item in items) == 10
    path.write_text(whole[:-30])
    items = list(read_split(split, files, ReadScope(None, None, 1 << 20)))
    assert sum(isinstance(item, Parsed) for item in items) == 9
    assert [item.code for item in items if isinstance(item, SourceError)] == ["bad-json"]
