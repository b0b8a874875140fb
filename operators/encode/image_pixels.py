"""Encoded pictures to pixels, as they are to be seen, and to the rows that encoders give."""

from __future__ import annotations

import io
import warnings
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageOps, UnidentifiedImageError

from operators.encode.image import FORMATS, EncodedPictures
from operators.errors import PictureError

VERSION = 1
"""Of what is done to a picture before a model sees it; raised whenever that changes."""

Pixels = NDArray[np.uint8]

_LUMA = np.array([0.299, 0.587, 0.114], np.float32)
_DARKEST = 64
_ENOUGH = 2
"""Times the pixels wanted that are decoded at least, where a decoder can leave some out."""


def decode(data: bytes, *, max_pixels: int, side: int) -> Image.Image:
    """The picture in RGB: turned as its EXIF orientation says, transparent parts white, of an animation the first frame.

    A JPEG much larger than ``side`` pixels is decoded at a part of its size. PictureError, with its code, for bytes that are
    no picture, a broken one, or one of more than ``max_pixels`` pixels, which is refused before a pixel is decoded.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            with Image.open(io.BytesIO(data), formats=FORMATS) as opened:
                width, height = opened.size
                if width * height > max_pixels:
                    raise _too_many(max_pixels)
                least = _ENOUGH * side / min(width, height)
                opened.draft(None, (round(width * least), round(height * least)))
                opened.load()
                return _rgb(_upright(opened))
        except PictureError:
            raise
        except UnidentifiedImageError as error:
            raise PictureError(f"expected a picture ({', '.join(FORMATS)})", code="picture-unknown") from error
        except Image.DecompressionBombError as error:
            raise _too_many(max_pixels) from error
        except Exception as error:  # decoders raise whatever broken bytes make them raise
            raise PictureError(f"the picture is broken ({type(error).__name__})", code="picture-broken") from error


def _too_many(limit: int) -> PictureError:
    return PictureError(f"the picture has more than {limit} pixels", code="picture-too-many-pixels")


def _upright(image: Image.Image) -> Image.Image:
    try:
        return ImageOps.exif_transpose(image)
    except Exception:  # a broken EXIF block says nothing about how to turn a picture that is whole
        return image


def _rgb(image: Image.Image) -> Image.Image:
    if image.mode[0] in "IF":  # 16 or 32 bits of grey, which Pillow would cut off at 255
        image = _grey(np.asarray(image, np.float64), (0.0, 65535.0) if image.mode.startswith("I;16") else None)
    if image.mode in ("RGBA", "LA", "PA", "La", "RGBa") or "transparency" in image.info:
        image = image.convert("RGBA")
        image = Image.alpha_composite(Image.new("RGBA", image.size, "white"), image)
    return image.convert("RGB")


def _grey(levels: NDArray[np.float64], bounds: tuple[float, float] | None) -> Image.Image:
    """Levels (height, width) as 8 bits: from the lower bound, black, to the upper one; without bounds from least to most."""
    known = levels[np.isfinite(levels)]
    low, high = bounds or ((float(known.min()), float(known.max())) if known.size else (0.0, 1.0))
    scaled = (np.nan_to_num(levels, nan=low) - low) * (255 / ((high - low) or 1.0))
    return Image.fromarray(scaled.clip(0, 255).astype(np.uint8))


def square(image: Image.Image, side: int, resample: Image.Resampling = Image.Resampling.BICUBIC) -> Pixels:
    """The whole picture squeezed into (side, side, 3): nothing is cut off, whatever its shape."""
    return np.asarray(image.resize((side, side), resample, reducing_gap=2.0))


def exposed(pixels: Pixels) -> Pixels:
    """The picture (height, width, 3) brightened until its brightest hundredth is white, at most fourfold.

    A copy that was darkened comes out as its original does; of one that was brightened only what was cut off is lost.
    """
    light = np.percentile(pixels @ _LUMA, 99)
    return (pixels * np.float32(255 / max(light, _DARKEST))).clip(0, 255).astype(np.uint8)


def encode_decoded(
    pictures: Sequence[bytes],
    prepare: Callable[[bytes], Pixels],
    run: Callable[[Pixels], NDArray[np.float32]],
    dim: int,
    batch: int,
) -> EncodedPictures:
    """Each picture prepared, and the rows (n, dim) that ``run`` gives for those that can be decoded, ``batch`` at a time."""
    vectors = np.zeros((len(pictures), dim), np.float32)
    faults: list[str | None] = [None] * len(pictures)
    waiting: list[tuple[int, Pixels]] = []

    def flush() -> None:
        if waiting:
            rows = run(np.stack([pixels for _, pixels in waiting])).astype(np.float32)
            norms = np.linalg.norm(rows, axis=1, keepdims=True)
            vectors[[at for at, _ in waiting]] = rows / np.maximum(norms, np.finfo(np.float32).tiny)
            waiting.clear()

    for at, data in enumerate(pictures):
        try:
            waiting.append((at, prepare(data)))
        except PictureError as error:
            faults[at] = error.code
        if len(waiting) == batch:
            flush()
    flush()
    return EncodedPictures(vectors, tuple(faults))
