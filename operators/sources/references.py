"""What a picture's reference points at: bytes inside it, a file near the one that holds it, or nothing within reach."""

from __future__ import annotations

import base64
import binascii
import hashlib
import posixpath
import re
from collections.abc import Iterator
from urllib.parse import unquote, unquote_to_bytes

from operators.errors import PictureError
from operators.sources.files import Files

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://")
_ROOTED = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*://[^/]*)?(/.*)?", re.DOTALL)
_TYPE = re.compile(r"[A-Za-z0-9.+-]+/[A-Za-z0-9.+-]+")
_LABEL = re.compile(r"data:[A-Za-z0-9.+/-]*;sha256=[0-9a-f]{64}")
_ASSET = re.compile(r"(?:file-service|sediment)://(?:[^/#]*[/#])?(file[-_][A-Za-z0-9]{4,256})(?:[#?].*)?", re.DOTALL)
_BASE64_NOISE = re.compile(r"[\s=]+")


def is_inline(reference: str) -> bool:
    """True for a ``data:`` URL; False for the label of one, whose bytes are gone."""
    return reference[:5].lower() == "data:" and not is_label(reference)


def is_label(reference: str) -> bool:
    """True for what ``inline_label`` makes."""
    return _LABEL.fullmatch(reference) is not None


def asset_of(reference: str) -> str | None:
    """The id in ``file-service://file-..`` or ``sediment://file_..``, with which a file of the export begins; else None."""
    found = _ASSET.fullmatch(reference)
    return found[1] if found else None


def answers(name: str, asset: str) -> bool:
    """True for the name of a file that is the asset's: its id, then nothing or what no id goes on with."""
    return name.startswith(asset) and not name[len(asset) :][:1].isalnum()


def inline_bytes(reference: str, max_bytes: int) -> bytes:
    """The bytes of a ``data:`` URL. PictureError ``picture-too-large`` before they are decoded, or ``picture-broken``."""
    header, comma, body = reference[5:].partition(",")
    if not comma:
        raise PictureError("the data: URL has no comma", code="picture-broken")
    packed = header.lower().rstrip().endswith(";base64")
    if len(body) * (3 if packed else 1) > max_bytes * (4 if packed else 3) + 64:
        raise too_large(max_bytes)
    if not packed:
        return unquote_to_bytes(body)
    plain = _BASE64_NOISE.sub("", unquote(body) if "%" in body else body).translate({0x2D: "+", 0x5F: "/"})
    try:
        return base64.b64decode(plain + "=" * (-len(plain) % 4), validate=True)
    except (binascii.Error, ValueError) as error:
        raise PictureError("the data: URL is not base64", code="picture-broken") from error


def inline_label(reference: str) -> str:
    """A ``data:`` URL without its bytes: its media type and the sha256 of its text, to be kept as reference."""
    header = reference[5:].partition(",")[0]
    media_type = header.split(";")[0].strip().lower()
    digest = hashlib.sha256(reference.encode("utf-8")).hexdigest()
    return f"data:{media_type if _TYPE.fullmatch(media_type) else ''};sha256={digest}"


def candidates(reference: str, holder: str) -> Iterator[str]:
    """Uris that a reference in the file ``holder`` may mean, likeliest first; none where it lies elsewhere (http, ..)."""
    if is_label(reference):
        return
    folder = posixpath.dirname(holder)
    scheme = _SCHEME.match(reference)
    if scheme and scheme[1].lower() == "file" and "://" not in holder:
        reference = unquote(reference[len("file://") :])
    elif reference.startswith("//") or (scheme and not _same_store(reference, holder)):
        return
    yield _normalised(folder, reference)
    if "%" in reference and (plain := unquote(reference)) != reference:
        yield _normalised(folder, plain)


def within_reach(uri: str, holder: str, files: Files) -> bool:
    """True where ``uri``, links resolved, lies in the folder of ``holder`` or in that folder's parent (not ``/``)."""
    folder = posixpath.dirname(holder)
    parent = posixpath.dirname(folder)
    roots = [folder, *([parent] if _has_name(parent) else [])]
    target = files.real(uri)
    return any(target.startswith(files.real(root).rstrip("/") + "/") for root in roots)


def too_large(max_bytes: int) -> PictureError:
    """The refusal of a picture of too many bytes."""
    return PictureError(f"the picture has more than {max_bytes} bytes", code="picture-too-large")


def _same_store(reference: str, holder: str) -> bool:
    store = _ROOTED.match(holder)
    return bool(store and store[1] and reference.startswith(store[1] + "/"))


def _normalised(folder: str, reference: str) -> str:
    base, path = _split_root(folder)
    inside = bool(base) and reference.startswith(base + "/")
    path = reference[len(base) :] if inside else posixpath.join(path or "/", reference)
    return base + posixpath.normpath("/" + path.lstrip("/"))


def _split_root(uri: str) -> tuple[str, str]:
    found = _ROOTED.fullmatch(uri)
    return ("", uri) if found is None else (found[1] or "", found[2] or "")


def _has_name(folder: str) -> bool:
    """False for ``/``, whose reach would be the machine, and for what lies above a bucket."""
    base, path = _split_root(folder)
    return bool(base) or (path.startswith("/") and bool(path.strip("/")))
