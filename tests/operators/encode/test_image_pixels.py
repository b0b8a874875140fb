"""Decoding pictures for encoders: as they are to be seen."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from operators.encode.image_pixels import decode, square
from operators.errors import PictureError

LEFT_RED = Image.new("RGB", (64, 32), "blue")
LEFT_RED.paste("red", (0, 0, 32, 32))


def encoded(image: Image.Image, kind: str = "PNG", **options: Any) -> bytes:
    buffer = io.BytesIO()
    image.save(buffer, kind, **options)
    return buffer.getvalue()


def seen(data: bytes, side: int = 16) -> np.ndarray:
    return np.asarray(decode(data, max_pixels=10_000_000, side=side))


def test_the_orientation_of_the_camera_is_applied() -> None:
    exif = Image.Exif()
    exif[0x0112] = 6  # to be turned a quarter clockwise
    pixels = seen(encoded(LEFT_RED, exif=exif))
    assert pixels.shape == (64, 32, 3)
    assert pixels[5, 16].tolist() == [255, 0, 0]
    assert pixels[60, 16].tolist() == [0, 0, 255]


def test_a_broken_exif_block_turns_nothing() -> None:
    assert seen(encoded(LEFT_RED, "JPEG", exif=b"Exif\0\0MM\0\x2a\0\0\xff\xff")).shape == (32, 64, 3)


@pytest.mark.parametrize("mode", ["RGBA", "LA", "P"])
def test_transparent_parts_are_white(mode: str) -> None:
    image = Image.new("RGBA", (8, 8), (0, 0, 0, 0)).convert(mode)
    options = {"transparency": 0} if mode == "P" else {}
    assert (seen(encoded(image, **options)) == 255).all()


@pytest.mark.parametrize("mode", ["1", "L", "P", "RGB", "CMYK"])
def test_all_modes_become_rgb(mode: str) -> None:
    pixels = seen(encoded(LEFT_RED.convert(mode), "TIFF"))
    assert pixels.shape == (32, 64, 3)
    assert pixels.dtype == np.uint8


def test_sixteen_bits_of_grey_keep_their_levels() -> None:
    levels = np.linspace(0, 65535, 64).astype(np.uint16).reshape(1, -1).repeat(8, axis=0)
    pixels = seen(encoded(Image.fromarray(levels)))
    assert np.abs(pixels[0, :, 0].astype(int) - np.linspace(0, 255, 64)).max() <= 1


def test_floats_go_from_their_least_to_their_most_and_nan_is_black() -> None:
    levels = np.linspace(-2, 6, 32, dtype=np.float32).reshape(1, -1).repeat(8, axis=0)
    levels[0, 5] = np.nan
    pixels = seen(encoded(Image.fromarray(levels), "TIFF"))
    assert (pixels[1, 0, 0], pixels[1, -1, 0], pixels[0, 5, 0]) == (0, 255, 0)


def test_an_animation_gives_its_first_frame() -> None:
    frames = [Image.new("RGB", (8, 8), colour) for colour in ("red", "blue")]
    pixels = seen(encoded(frames[0], "GIF", save_all=True, append_images=frames[1:]))
    assert pixels[0, 0].tolist() == [255, 0, 0] or pixels[0, 0, 0] > 250


def test_a_large_jpeg_is_decoded_at_a_part_of_its_size_and_never_too_small() -> None:
    data = encoded(LEFT_RED.resize((3200, 1600)), "JPEG")
    height, width, _ = seen(data, side=100).shape
    assert (width, height) < (3200, 1600)
    assert min(width, height) >= 200


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"", "picture-unknown"),
        (b"%PDF-1.4", "picture-unknown"),
        (b"<svg xmlns='x'/>", "picture-unknown"),
        (encoded(LEFT_RED)[:70], "picture-broken"),
        (encoded(Image.new("L", (4000, 4000))), "picture-too-many-pixels"),
    ],
)
def test_what_is_no_picture_says_why(data: bytes, code: str) -> None:
    with pytest.raises(PictureError) as caught:
        decode(data, max_pixels=10_000_000, side=16)
    assert caught.value.code == code


@settings(deadline=None, max_examples=60)
@given(st.binary(max_size=200), st.sampled_from(["PNG", "JPEG", "GIF", "BMP", "TIFF", "WEBP"]), st.integers(0, 400))
def test_any_bytes_are_a_picture_or_a_picture_error(noise: bytes, kind: str, at: int) -> None:
    whole = encoded(LEFT_RED, kind)
    data = whole[:at] + noise + whole[at + len(noise) :]
    try:
        pixels = square(decode(data, max_pixels=10_000_000, side=16), 16)
    except PictureError as error:
        assert error.code in ("picture-unknown", "picture-broken", "picture-too-many-pixels")
    else:
        assert pixels.shape == (16, 16, 3)
