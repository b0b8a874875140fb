"""The one interface to image encoders, and which encoder a setting or a stored fingerprint names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from operators.encode.text import AUTO, require_same
from operators.errors import FingerprintMismatch, SettingsError

KINDS = ("efficientnet", "siglip2", "stub", "none")
"""``efficientnet``: the packaged EfficientNet-Lite0 on ONNX Runtime. ``siglip2``: the vision half of any SigLIP checkpoint,
by id or folder, with the ``torch`` extra. ``stub``: colours and their places without a model, for tests. ``none``: pictures
get no vectors."""

FORMATS = ("PNG", "JPEG", "WEBP", "GIF", "BMP", "TIFF", "AVIF")
"""Pillow's names of the picture formats that are read."""

MAX_PIXELS = 100_000_000
"""Most pixels of a picture that is decoded, unless an encoder is told otherwise."""


@dataclass(frozen=True)
class EncodedPictures:
    """Vectors (n, dim), float32, unit length, row i for picture i; zeros where ``faults[i]`` says what is wrong with it.

    Faults are the codes of ``PictureError``: ``picture-unknown``, ``picture-broken``, ``picture-too-many-pixels``.
    """

    vectors: NDArray[np.float32]
    faults: tuple[str | None, ...]


class ImageEncoder(Protocol):
    """Pictures to unit vectors."""

    @property
    def dim(self) -> int:
        """Numbers in a vector."""
        ...

    @property
    def fingerprint(self) -> Mapping[str, Any]:
        """What decides the vectors, as plain JSON values: kind, model, weights_sha256, pooling, size (pixels), numeric, dim,
        preprocessing (its version)."""
        ...

    def encode(self, pictures: Sequence[bytes]) -> EncodedPictures:
        """Vectors of encoded pictures (PNG, JPEG ..). One that cannot be decoded never fails the others."""
        ...


def load_image_encoder(
    kind: str = "efficientnet",
    *,
    model: str | None = None,
    numeric: str = AUTO,
    threads: int = 1,
    max_pixels: int = MAX_PIXELS,
) -> ImageEncoder:
    """The encoder of this kind, using exactly ``threads`` threads; pictures beyond ``max_pixels`` are not decoded.

    ``model``: id or folder, for siglip2 alone. ``numeric``: ``auto`` or a mode of the kind. SettingsError for values that
    the kind does not know, and for ``none``; WeightsMissing, WeightsMismatch.
    """
    _check(kind, model)
    if threads < 1:
        raise SettingsError(f"an encoder needs at least one thread, not {threads}")
    if kind == "none":
        raise SettingsError("image encoder kind 'none' makes no vectors")
    if kind == "efficientnet":
        from operators.encode.image_efficientnet import EfficientNetLite

        return EfficientNetLite(numeric=numeric, threads=threads, max_pixels=max_pixels)
    if kind == "stub":
        from operators.encode.image_stub import ImageStub

        return ImageStub(numeric=numeric, max_pixels=max_pixels)
    from operators.encode.image_siglip import SiglipEncoder

    return SiglipEncoder(str(model), numeric=numeric, threads=threads, max_pixels=max_pixels)


def image_fingerprint(kind: str, *, model: str | None = None, numeric: str = AUTO) -> dict[str, Any]:
    """The fingerprint that ``load_image_encoder`` with these values would have, without loading the model.

    That of ``none`` is ``{"kind": "none", "dim": 0}``.
    """
    _check(kind, model)
    if kind == "none":
        return {"kind": "none", "dim": 0}
    if kind == "efficientnet":
        from operators.encode import image_efficientnet

        return image_efficientnet.fingerprint(numeric)
    if kind == "stub":
        from operators.encode import image_stub

        return image_stub.fingerprint(numeric)
    from operators.encode import image_siglip

    return image_siglip.fingerprint(str(model), numeric)


def image_encoder_of(
    fingerprint: Mapping[str, Any], *, threads: int = 1, max_pixels: int = MAX_PIXELS
) -> ImageEncoder | None:
    """The encoder that made a store's picture vectors, None where it has none.

    FingerprintMismatch where this machine would make others.
    """
    try:
        kind = fingerprint["kind"]
        if kind == "none":
            return None
        model = fingerprint["model"] if kind == "siglip2" else None
        numeric = fingerprint["numeric"]
    except KeyError as error:
        raise FingerprintMismatch(f"the store's image encoder does not name its {error.args[0]}") from None
    encoder = load_image_encoder(kind, model=model, numeric=numeric, threads=threads, max_pixels=max_pixels)
    require_same(fingerprint, encoder.fingerprint)
    return encoder


def _check(kind: str, model: str | None) -> None:
    if kind not in KINDS:
        raise SettingsError(f"image encoder kind {kind!r} is not one of {', '.join(KINDS)}")
    if kind == "siglip2" and not model:
        raise SettingsError("image encoder kind 'siglip2' needs a model: an id or a folder")
    if kind != "siglip2" and model is not None:
        raise SettingsError(f"image encoder kind {kind!r} takes no model (found {model!r}): use kind 'siglip2'")
