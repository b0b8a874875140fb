from __future__ import annotations

import base64
import hashlib
import io
import zlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from PIL import Image as Pictures

from operators.errors import PictureError
from operators.records import Image, Message, Round, Session
from operators.sources.files import LocalFiles, SourceFile
from operators.sources.media import Attached, PictureCache, PictureLimits, attach_pictures, check_picture
from operators.sources.references import candidates, within_reach


def picture(kind: str = "PNG", size: tuple[int, int] = (24, 16), orientation: int | None = None, shade: int = 90) -> bytes:
    image = Pictures.new("RGB", size, (shade, 120, 200))
    exif = Pictures.Exif()
    if orientation:
        exif[0x0112] = orientation
    buffer = io.BytesIO()
    image.save(buffer, kind, exif=exif) if orientation else image.save(buffer, kind)
    return buffer.getvalue()


@dataclass
class Place:
    """A history file in a folder, its pictures, and what was kept."""

    folder: Path
    kept: dict[str, bytes] = field(default_factory=dict)
    keeps: int = 0

    def put(self, name: str, data: bytes) -> Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        return path

    def keep(self, sha: str, data: bytes) -> None:
        self.kept[sha] = data
        self.keeps += 1

    def attach(self, *references: str, limits: PictureLimits | None = None, cache: PictureCache | None = None) -> Attached:
        images = tuple(Image(0, reference, caption="words") for reference in references)
        session = Session("u", "S", (Round("S", "r", 0, (Message("user", "user", "hi"),), images),))
        holder = SourceFile(str(self.folder / "h.jsonl"), 1, "0", named=True)
        return attach_pictures(session, holder, LocalFiles(), limits or PictureLimits(), self.keep, cache=cache, line=7)


@pytest.fixture
def place(tmp_path: Path) -> Place:
    folder = tmp_path / "outer" / "inner" / "data"
    folder.mkdir(parents=True)
    return Place(folder)


def image_of(attached: Attached) -> Image:
    (record,) = attached.session.rounds
    (image,) = record.images
    return image


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "WEBP", "GIF", "BMP", "TIFF"])
def test_a_picture_is_named_measured_and_kept_as_it_is(place: Place, kind: str) -> None:
    data = picture(kind)
    place.put("images/a b ä.img", data)
    attached = place.attach("images/a b ä.img")
    image = image_of(attached)
    sha = hashlib.sha256(data).hexdigest()
    assert (image.media, image.format, image.width, image.height) == (sha, kind, 24, 16)
    assert (image.reference, image.caption) == ("images/a b ä.img", "words")
    assert place.kept == {sha: data}
    assert (attached.refused, attached.missing) == ([], 0)


@pytest.mark.parametrize("orientation", range(1, 9))
def test_the_size_is_that_of_the_picture_as_it_is_seen(place: Place, orientation: int) -> None:
    place.put("a.jpg", picture("JPEG", orientation=orientation))
    image = image_of(place.attach("a.jpg"))
    assert (image.width, image.height) == ((16, 24) if orientation > 4 else (24, 16))


def chunk(kind: bytes, data: bytes) -> bytes:
    return len(data).to_bytes(4, "big") + kind + data + zlib.crc32(kind + data).to_bytes(4, "big")


def png_header(width: int, height: int) -> bytes:
    header = width.to_bytes(4, "big") + height.to_bytes(4, "big") + b"\x08\x02\x00\x00\x00"
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(b"")) + chunk(b"IEND", b"")


def flipped(data: bytes) -> bytes:
    at = data.index(b"IDAT") + 8
    return data[:at] + bytes([data[at] ^ 0xFF]) + data[at + 1 :]


BROKEN = [
    (picture("PNG")[:-30], "picture-broken"),
    (picture("JPEG", (300, 300))[:700], "picture-broken"),
    (picture("GIF", (300, 300))[:60], "picture-broken"),
    (flipped(picture("PNG")), "picture-broken"),
    (b"", "picture-unknown"),
    (b"no picture at all", "picture-unknown"),
    (b'<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg"/>', "picture-unknown"),
    (b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 10 10\n", "picture-unknown"),
    (b"\x89PNG\r\n\x1a\n", "picture-"),
    (png_header(10_000, 10_000), "picture-too-many-pixels"),
    (png_header(2**31 - 1, 2**31 - 1), "picture-"),
    (picture("PNG") + bytes(40 << 20), "picture-too-large"),
]


@pytest.mark.parametrize(("data", "code"), BROKEN, ids=range(len(BROKEN)))
def test_a_refused_picture_leaves_its_round_and_caption(place: Place, data: bytes, code: str) -> None:
    place.put("a.png", data)
    attached = place.attach("a.png")
    (error,) = attached.refused
    assert isinstance(error, PictureError)
    assert error.code.startswith(code)
    assert (error.file, error.line, error.round_id) == (str(place.folder / "h.jsonl"), 7, "r")
    image = image_of(attached)
    assert (image.media, image.width, image.caption, image.reference) == (None, None, "words", "a.png")
    assert place.kept == {}
    assert attached.missing == 0


def test_bombs_are_refused_before_they_are_decoded(monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*_: Any) -> None:
        raise AssertionError("decoded")

    monkeypatch.setattr("PIL.ImageFile.ImageFile.load", never)
    with pytest.raises(PictureError, match="more than 100 pixels"):
        check_picture(picture(size=(11, 10)), PictureLimits(max_pixels=100))
    with pytest.raises(PictureError, match="more than 50 bytes"):
        check_picture(picture(), PictureLimits(max_bytes=50))


@pytest.mark.parametrize(
    "reference",
    [
        "https://example.invalid/a.png",
        "http://localhost:1/a.png", "//host/a.png", "ftp://x/a.png", "s3://bucket/a.png", "",
        "images/gone.png", "images", ".", "..", "a.png/b", "bad\ufffdname", "x" * 9000, "file-abc123",
        "%2e%2e/%2e%2e/secret.png",
        "../../secret.png", "images/../../../secret.png", "/etc/hostname", "link.png", "linked/secret.png", "~/a.png",
    ],
)  # fmt: skip
def test_what_is_not_at_hand_or_out_of_reach_is_missing(place: Place, reference: str) -> None:
    secret = place.folder.parent.parent / "secret.png"
    secret.write_bytes(picture())
    (place.folder / "link.png").symlink_to(secret)
    (place.folder / "linked").symlink_to(secret.parent)
    (place.folder / "images").mkdir()
    attached = place.attach(reference)
    assert image_of(attached).media is None
    assert place.kept == {}
    assert attached.missing + len(attached.refused) == 1
    if len(reference) < 9000:
        assert attached.missing == 1


def test_absolute_references_and_file_urls_reach_no_further(place: Place) -> None:
    near, far = place.put("a.png", picture()), place.folder.parent.parent / "secret.png"
    far.write_bytes(picture(shade=3))
    assert [image.media is not None for image in place.attach(str(near), near.as_uri()).session.rounds[0].images] == [
        True,
        True,
    ]
    assert [image.media for image in place.attach(str(far), far.as_uri()).session.rounds[0].images] == [None, None]


def test_the_folder_and_its_parent_are_within_reach(place: Place) -> None:
    place.put("../image/a.png", picture())
    place.put("deep/er/a.png", picture())
    place.put("with%20percent.png", picture(shade=1))
    place.put("with space.png", picture(shade=2))
    (place.folder / "inside.png").symlink_to(place.folder / "deep" / "er" / "a.png")
    references = [
        "../image/a.png",
        "./deep/er/a.png",
        "deep/../deep/er/a.png",
        "inside.png",
        "with%20percent.png",
        "with%20space.png",
    ]
    attached = place.attach(*references)
    assert (attached.refused, attached.missing) == ([], 0)
    assert (
        place.attach("with%20percent.png").session.rounds[0].images[0].media == hashlib.sha256(picture(shade=1)).hexdigest()
    )


def test_a_folder_that_is_itself_a_link_works(place: Place, tmp_path: Path) -> None:
    place.put("images/a.png", picture())
    place.put("../image/b.png", picture(shade=7))
    (tmp_path / "link").symlink_to(place.folder.parent)
    linked = Place(tmp_path / "link" / "data")
    assert linked.attach("images/a.png", "../image/b.png").missing == 0


def inline(data: bytes, header: str = "image/png;base64") -> str:
    return f"data:{header},{base64.b64encode(data).decode()}"


def test_inline_pictures_are_kept_and_their_references_shortened(place: Place) -> None:
    data = picture(size=(400, 300))
    sha = hashlib.sha256(data).hexdigest()
    urlsafe = "DATA:IMAGE/PNG;BASE64," + base64.urlsafe_b64encode(data).decode().rstrip("=")
    spaced = "data:;base64," + base64.encodebytes(data).decode()
    percent = "data:image/png," + "".join(f"%{byte:02x}" for byte in data)
    for reference in (inline(data), urlsafe, spaced, percent):
        image = image_of(place.attach(reference))
        assert (image.media, image.width, image.height) == (sha, 400, 300)
        assert image.reference.startswith(("data:image/png;sha256=", "data:;sha256="))
        assert len(image.reference) < 120
    assert place.kept == {sha: data}


@pytest.mark.parametrize(
    ("reference", "code"),
    [
        ("data:image/png;base64", "picture-broken"),
        ("data:image/png;base64,!!!!", "picture-broken"),
        ("data:image/png;base64,", "picture-unknown"),
        (inline(b"nothing"), "picture-unknown"),
        (inline(bytes(2000)), "picture-too-large"),
    ],
)
def test_bad_inline_pictures_are_refused_and_shortened_too(place: Place, reference: str, code: str) -> None:
    attached = place.attach(reference, limits=PictureLimits(max_bytes=1000))
    assert [error.code for error in attached.refused] == [code]
    assert "sha256=" in image_of(attached).reference


def test_a_picture_is_read_decoded_and_kept_once(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    decoded = []
    monkeypatch.setattr(
        "operators.sources.media.check_picture", lambda data, limits: decoded.append(1) or check_picture(data, limits)
    )
    place.put("a.png", picture())
    place.put("bad.png", b"junk")
    cache = PictureCache()
    for _ in range(3):
        attached = place.attach("a.png", "./a.png", "bad.png", inline(picture(shade=1)), "gone.png", cache=cache)
        assert (len(attached.refused), attached.missing) == (1, 1)
    assert (len(decoded), place.keeps) == (3, 2)


def test_a_failing_store_is_not_a_broken_picture(place: Place) -> None:
    place.put("a.png", picture())

    def fail(_sha: str, _data: bytes) -> None:
        raise ConnectionError("store is gone")

    place.keep = fail  # type: ignore[method-assign]
    with pytest.raises(ConnectionError):
        place.attach("a.png")


@pytest.mark.parametrize(
    ("reference", "holder", "uri", "reached"),
    [
        ("a.png", "s3://b/x/h.jsonl", "s3://b/x/a.png", True),
        ("../image/a.png", "s3://b/x/y/h.jsonl", "s3://b/x/image/a.png", True),
        ("../image/a.png", "s3://b/x/h.jsonl", "s3://b/image/a.png", True),
        ("../../a.png", "s3://b/x/y/z/h.jsonl", "s3://b/x/a.png", False),
        ("../../../../a.png", "s3://b/x/h.jsonl", "s3://b/a.png", True),
        ("s3://b/x/a.png", "s3://b/x/h.jsonl", "s3://b/x/a.png", True),
        ("a.png", "s3://b/h.jsonl", "s3://b/a.png", True),
        ("../etc/a.png", "/data/h.jsonl", "/etc/a.png", False),
        ("a.png", "/data/h.jsonl", "/data/a.png", True),
    ],
)
def test_reach(reference: str, holder: str, uri: str, reached: bool) -> None:
    class NoLinks(LocalFiles):
        def real(self, uri: str) -> str:
            return uri

    assert next(candidates(reference, holder)) == uri
    assert within_reach(uri, holder, NoLinks()) is reached


def test_another_bucket_is_never_read() -> None:
    assert list(candidates("s3://other/a.png", "s3://b/x/h.jsonl")) == []
    assert list(candidates("s3://b2/a.png", "s3://b/x/h.jsonl")) == []
