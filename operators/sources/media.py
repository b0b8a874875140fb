"""Pictures of a session: found, checked within limits, named by the sha256 of their bytes and handed on to be kept.

Nothing is fetched from a network. A picture that is refused leaves its round without it; its caption and its reference
stay. References reach into the folder of the file that holds them and that folder's parent, no further.
"""

from __future__ import annotations

import hashlib
import io
import warnings
from bisect import bisect_left
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice, takewhile

from PIL import Image as Pictures
from PIL import ImageFile, UnidentifiedImageError

from operators.errors import PictureError, SourceError
from operators.records import Image, Round, Session
from operators.sources.files import Files, SourceFile
from operators.sources.references import (
    answers,
    asset_of,
    candidates,
    inline_bytes,
    inline_label,
    is_inline,
    too_large,
    within_reach,
)

FORMATS = ("PNG", "JPEG", "WEBP", "GIF", "BMP", "TIFF", "AVIF")
"""Pillow's names of the picture formats that are read; formats that call other programs are not among them."""

_ORIENTATION = 0x0112
_SIDEWAYS = (5, 6, 7, 8)
_CACHED = 4096


@dataclass(frozen=True)
class PictureLimits:
    """The largest picture that is taken, in bytes of its file and in pixels (width times height)."""

    max_bytes: int = 32 << 20
    max_pixels: int = 64_000_000


@dataclass(frozen=True)
class Picture:
    """What is known of a checked picture; width and height in pixels as it is to be seen (EXIF orientation applied)."""

    media: str
    format: str
    width: int
    height: int


@dataclass(frozen=True)
class Attached:
    """The session with its pictures named, one error for each that was refused, and how many were not at hand."""

    session: Session
    refused: list[PictureError]
    missing: int


class PictureCache:
    """Outcomes by uri and by content (never bytes), so that a picture is decoded once however often it is shown."""

    def __init__(self) -> None:
        self._known: OrderedDict[str, Picture | PictureError | None] = OrderedDict()
        self._names: dict[str, list[tuple[str, str]]] = {}

    def names(self, folder: str, look: Callable[[], list[tuple[str, str]]]) -> list[tuple[str, str]]:
        """Name and uri of the files in and below a folder, sorted, looked up once."""
        if folder not in self._names:
            self._names[folder] = sorted(look())
        return self._names[folder]

    def get(self, key: str, find: Callable[[], Picture | PictureError | None]) -> Picture | PictureError | None:
        """The outcome under ``key``, found where it is not known yet."""
        if key not in self._known:
            self._known[key] = find()
            if len(self._known) > _CACHED:
                self._known.popitem(last=False)
        return self._known[key]


def attach_pictures(
    session: Session,
    file: SourceFile,
    files: Files,
    limits: PictureLimits,
    keep: Callable[[str, bytes], None],
    *,
    cache: PictureCache | None = None,
    line: int | None = None,
) -> Attached:
    """Resolve every picture reference of the session, which ``file`` holds at ``line``.

    ``keep(sha256 hex, bytes)`` is called with the original bytes of each accepted picture before it is named; pass one
    ``cache`` for all sessions of a split, so that it is called once a picture. ``data:`` references are shortened to
    their type and sha256. What is not at hand (http, out of reach, no such file, no reference) is missing, and no error.
    """
    finder = _Finder(file.uri, files, limits, keep, PictureCache() if cache is None else cache)
    refused: list[PictureError] = []
    missing = 0
    rounds: list[Round] = []
    for record in session.rounds:
        images = []
        for image in record.images:
            outcome = finder.find(image.reference)
            if isinstance(outcome, PictureError):
                refused.append(_at(outcome, file.uri, line, record.round_id))
            missing += outcome is None
            images.append(_named(image, outcome))
        rounds.append(replace(record, images=tuple(images)))
    return Attached(replace(session, rounds=tuple(rounds)), refused, missing)


def check_picture(data: bytes, limits: PictureLimits) -> Picture:
    """The picture in these bytes, decoded once in full.

    PictureError: ``picture-too-large`` (bytes), ``picture-too-many-pixels`` (before a pixel is decoded),
    ``picture-unknown`` (not a picture of FORMATS), ``picture-broken``.
    """
    if len(data) > limits.max_bytes:
        raise too_large(limits.max_bytes)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            with Pictures.open(io.BytesIO(data), formats=FORMATS) as opened:
                _bound(opened, limits)
                opened.verify()
            with Pictures.open(io.BytesIO(data), formats=FORMATS) as opened:
                opened.load()
                return _described(opened, hashlib.sha256(data).hexdigest())
        except PictureError:
            raise
        except UnidentifiedImageError as error:
            raise _unknown(data) from error
        except Pictures.DecompressionBombError as error:
            raise _too_many_pixels(limits) from error
        except Exception as error:  # decoders raise whatever broken bytes make them raise
            raise PictureError(f"the picture is broken ({type(error).__name__})", code="picture-broken") from error


@dataclass(frozen=True)
class _Finder:
    file: str
    files: Files
    limits: PictureLimits
    keep: Callable[[str, bytes], None]
    cache: PictureCache

    def find(self, reference: str) -> Picture | PictureError | None:
        """The picture, why it is refused, or None where it is not at hand."""
        if not reference:
            return None
        if is_inline(reference):
            return self.cache.get(inline_label(reference), partial(self._inline, reference))
        asset = asset_of(reference)
        for uri in candidates(reference, self.file) if asset is None else self._assets(asset):
            if (outcome := self.cache.get(uri, partial(self._at, uri))) is not None:
                return outcome
        return None

    def _assets(self, asset: str) -> list[str]:
        """Files of the export that the asset's id names, those beside its conversations first."""
        folder = self.file.rpartition("/")[0]
        names = self.cache.names(folder, lambda: [(uri.rpartition("/")[2], uri) for uri in self.files.names(folder)])
        begin = bisect_left(names, (asset, ""))
        found = takewhile(lambda pair: pair[0].startswith(asset), islice(names, begin, None))
        return sorted((uri for name, uri in found if answers(name, asset)), key=lambda uri: (uri.count("/"), uri))

    def _inline(self, reference: str) -> Picture | PictureError:
        try:
            data = inline_bytes(reference, self.limits.max_bytes)
        except PictureError as error:
            return error
        return self._checked(data)

    def _at(self, uri: str) -> Picture | PictureError | None:
        try:
            if not within_reach(uri, self.file, self.files):
                return None
            data = self.files.read(uri, self.limits.max_bytes + 1)
        except SourceError as error:
            return PictureError("the picture cannot be read", code=f"picture-{error.code}")
        return None if data is None else self._checked(data)

    def _checked(self, data: bytes) -> Picture | PictureError:
        try:
            picture = check_picture(data, self.limits)
        except PictureError as error:
            return error
        self.keep(picture.media, data)
        return picture


def _named(image: Image, outcome: Picture | PictureError | None) -> Image:
    if is_inline(image.reference):
        image = replace(image, reference=inline_label(image.reference))
    if not isinstance(outcome, Picture):
        return image
    return replace(image, media=outcome.media, format=outcome.format, width=outcome.width, height=outcome.height)


def _at(error: PictureError, file: str, line: int | None, round_id: str) -> PictureError:
    return PictureError(str(error), code=error.code, file=file, line=line, round_id=round_id)


def _bound(opened: ImageFile.ImageFile, limits: PictureLimits) -> None:
    width, height = opened.size
    if width * height > limits.max_pixels:
        raise _too_many_pixels(limits)


def _described(opened: ImageFile.ImageFile, media: str) -> Picture:
    width, height = opened.size
    if _orientation(opened) in _SIDEWAYS:
        width, height = height, width
    kind = "JPEG" if opened.format == "MPO" else opened.format  # a JPEG with further frames
    return Picture(media, str(kind), width, height)


def _orientation(opened: ImageFile.ImageFile) -> int:
    try:
        return int(opened.getexif().get(_ORIENTATION, 1))
    except Exception:  # a broken EXIF block says nothing about how to turn a picture that is whole
        return 1


def _unknown(data: bytes) -> PictureError:
    head = data[:512].lstrip().lower()
    svg = head.startswith((b"<svg", b"<?xml", b"<!doctype svg"))
    found = "SVG" if svg else "something else"
    return PictureError(f"expected a picture ({', '.join(FORMATS)}), found {found}", code="picture-unknown")


def _too_many_pixels(limits: PictureLimits) -> PictureError:
    return PictureError(f"the picture has more than {limits.max_pixels} pixels", code="picture-too-many-pixels")
