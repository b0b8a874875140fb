"""The pictures that questions are asked about, found as pictures of rounds are."""

from __future__ import annotations

from operators.errors import PictureError
from operators.sources.files import Files
from operators.sources.media import PictureLimits, check_picture
from operators.sources.references import candidates, within_reach


def picture_of(reference: str, holder: str, files: Files, limits: PictureLimits) -> bytes | None:
    """The picture that a question in the file ``holder`` refers to; None where it is not at hand or refused.

    Nothing is fetched from a network, and nothing outside the file's folder and that folder's parent is looked at.
    """
    for uri in candidates(reference, holder):
        data = files.read(uri, limits.max_bytes + 1) if within_reach(uri, holder, files) else None
        if data is not None:
            return data if _taken(data, limits) else None
    return None


def _taken(data: bytes, limits: PictureLimits) -> bool:
    try:
        check_picture(data, limits)
    except PictureError:
        return False
    return True
