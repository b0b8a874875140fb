"""What people bring is never clean: each oddity is quarantined with file, line and reason, or kept with the doubt noted."""

from __future__ import annotations

import base64
import json
import os
import struct
import time
import zlib
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from operators.errors import SourceError
from operators.records import Session, bucket_of, round_hash, round_rows, unit_id
from operators.sources.files import LocalFiles
from operators.sources.media import PictureLimits, attach_pictures
from operators.sources.openai_jsonl import read as read_session
from operators.sources.origin import Origin
from operators.sources.read import FORMAT_NAMES, Parsed, ReadScope, SplitEnd, read_split, survey

Read = Callable[..., Any]


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
    assert read(path, limit=1 << 20).codes == [("line-too-long", 1)]


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
    }


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


# --- anything ---------------------------------------------------------------------------------------------------

KEYS = st.sampled_from(
    ["user_id", "session_id", "messages", "role", "content", "timestamp", "text", "type", "session_1", "speaker", "mapping"]
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS | st.text(max_size=3), inner, max_size=4),
    max_leaves=20,
)


def read_all(path: Path, data: bytes, format: str) -> list[str]:
    """What came of each record, and nothing but what may come."""
    path.write_bytes(data)
    files = LocalFiles()
    (source,) = files.find(str(path))
    found = survey(source, files, format=format)
    came = [] if found.error is None else [found.error.code]
    for split in found.splits:
        items = list(read_split(split, files, ReadScope("ann", None, 1 << 20)))
        assert isinstance(items[-1], SplitEnd)
        for item in items[:-1]:
            assert isinstance(item, Parsed | SourceError)
            if isinstance(item, SourceError):
                assert item.file == source.uri
                came.append(item.code)
            else:
                came += [round_hash(record) for record in item.session.rounds]
                round_rows("t", item.session.user_id, item.session.rounds, "f")
    return came


@settings(max_examples=150)
@given(st.lists(JSON, max_size=4), st.booleans(), st.sampled_from(["auto", *FORMAT_NAMES]))
def test_any_json_is_read_or_refused_and_the_same_twice(
    tmp_path_factory: pytest.TempPathFactory, values: list[Any], lines: bool, format: str
) -> None:
    path = tmp_path_factory.getbasetemp() / "any.json"
    text = "\n".join(json.dumps(value) for value in values) if lines else json.dumps(values)
    came = read_all(path, text.encode(), format)
    assert read_all(path, text.encode(), format) == came
    if format == "jsonl" and lines and text.strip():
        assert len(came) >= 1


@settings(max_examples=150)
@given(st.binary(max_size=300), st.sampled_from(["auto", *FORMAT_NAMES]))
def test_any_bytes_are_read_or_refused(tmp_path_factory: pytest.TempPathFactory, data: bytes, format: str) -> None:
    read_all(tmp_path_factory.getbasetemp() / "any.bin", data, format)
