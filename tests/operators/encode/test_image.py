"""Image encoders: which one a setting or a fingerprint names, unit rows, pictures that cannot be decoded."""

from __future__ import annotations

import io
import subprocess
import sys
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image, ImageDraw

from operators.encode import image_efficientnet
from operators.encode.image import (
    EncodedPictures,
    ImageEncoder,
    image_encoder_of,
    image_fingerprint,
    load_image_encoder,
)
from operators.errors import FingerprintMismatch, SettingsError, WeightsMismatch, WeightsMissing


def png(image: Image.Image, kind: str = "PNG", **options: Any) -> bytes:
    buffer = io.BytesIO()
    image.save(buffer, kind, **options)
    return buffer.getvalue()


def drawn(number: int, size: tuple[int, int] = (96, 64)) -> Image.Image:
    image = Image.new("RGB", size, (40 * number % 256, 200 - 30 * number % 200, 90))
    ImageDraw.Draw(image).ellipse([10, 8 + number, 60, 50], fill=(250, 10 * number % 256, 30))
    return image


@pytest.fixture(scope="module", params=["efficientnet", "stub"])
def encoder(request: Any) -> ImageEncoder:
    return load_image_encoder(request.param)


def test_vectors_are_float32_of_unit_length_and_stand_alone(encoder: ImageEncoder) -> None:
    pictures = [png(drawn(number, (96 + 40 * number, 64))) for number in range(11)]
    made = encoder.encode(pictures)
    assert made.vectors.shape == (11, encoder.dim)
    assert made.vectors.dtype == np.float32
    assert made.faults == (None,) * 11
    assert np.allclose(np.linalg.norm(made.vectors, axis=1), 1, atol=1e-5)
    alone = np.concatenate([encoder.encode([picture]).vectors for picture in pictures])
    assert np.abs(alone - made.vectors).max() < 2e-3


def test_what_cannot_be_decoded_has_a_zero_row_and_its_reason_and_fails_no_other(encoder: ImageEncoder) -> None:
    good = png(drawn(1))
    made = encoder.encode([b"", good, b"no picture at all", good[: len(good) // 2], b"<svg/>", png(drawn(2))])
    assert made.faults == ("picture-unknown", None, "picture-unknown", "picture-broken", "picture-unknown", None)
    lengths = np.linalg.norm(made.vectors, axis=1)
    assert np.allclose(lengths, [0, 1, 0, 0, 0, 1], atol=1e-5)
    assert np.allclose(made.vectors[1], encoder.encode([good]).vectors[0], atol=2e-3)


def test_no_pictures_give_no_vectors(encoder: ImageEncoder) -> None:
    made = encoder.encode([])
    assert isinstance(made, EncodedPictures)
    assert made.vectors.shape == (0, encoder.dim)


def test_a_picture_of_one_colour_and_one_of_one_pixel_have_vectors(encoder: ImageEncoder) -> None:
    plain = [png(Image.new("RGB", (50, 50), colour)) for colour in ("black", "white", "#808080")]
    thin = [png(Image.new("RGB", size, "red")) for size in ((1, 1), (1, 4000), (4000, 1))]
    made = encoder.encode([*plain, *thin])
    assert made.faults == (None,) * 6
    assert np.allclose(np.linalg.norm(made.vectors, axis=1), 1, atol=1e-5)


def test_more_pixels_than_allowed_are_not_decoded() -> None:
    encoder = load_image_encoder("stub", max_pixels=1000)
    assert encoder.encode([png(Image.new("L", (40, 26))), png(Image.new("L", (40, 25)))]).faults == (
        "picture-too-many-pixels",
        None,
    )


@pytest.mark.parametrize("kind", ["efficientnet", "stub"])
def test_the_fingerprint_is_known_without_loading_and_leads_back(kind: str) -> None:
    fingerprint = image_fingerprint(kind)
    assert load_image_encoder(kind).fingerprint == fingerprint
    found = image_encoder_of(fingerprint)
    assert found is not None and found.dim == fingerprint["dim"]


def test_none_has_a_fingerprint_and_no_encoder() -> None:
    assert image_fingerprint("none") == {"kind": "none", "dim": 0}
    assert image_encoder_of(image_fingerprint("none")) is None
    with pytest.raises(SettingsError, match="makes no vectors"):
        load_image_encoder("none")


@pytest.mark.parametrize("changed", [{"weights_sha256": "0" * 64}, {"dim": 3}, {"preprocessing": 99}])
def test_an_encoder_that_would_make_other_vectors_is_refused(changed: dict[str, object]) -> None:
    with pytest.raises(FingerprintMismatch):
        image_encoder_of(image_fingerprint("efficientnet") | changed)


def test_a_fingerprint_without_a_kind_is_refused() -> None:
    with pytest.raises(FingerprintMismatch, match="kind"):
        image_encoder_of({})


@pytest.mark.parametrize(
    ("kind", "values"),
    [
        ("clip", {}),
        ("siglip2", {}),
        ("efficientnet", {"model": "x"}),
        ("efficientnet", {"numeric": "int4"}),
        ("efficientnet", {"threads": 0}),
    ],
)
def test_unknown_settings_are_refused(kind: str, values: dict[str, Any]) -> None:
    with pytest.raises(SettingsError):
        load_image_encoder(kind, **values)


def test_other_weights_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(image_efficientnet, "SHA256", "0" * 64)
    with pytest.raises(WeightsMismatch, match="0000"):
        load_image_encoder("efficientnet").encode([png(drawn(1))])
    monkeypatch.setattr(image_efficientnet, "_ASSET", "assets/not-there.onnx")
    with pytest.raises(WeightsMissing, match="not-there"):
        load_image_encoder("efficientnet").encode([png(drawn(1))])


def test_the_packaged_model_is_small() -> None:
    assert len(files("operators.encode").joinpath("assets/efficientnet-lite0.onnx").read_bytes()) < 15_000_000


def test_torch_and_onnx_are_not_needed(tmp_path: Path) -> None:
    path = tmp_path / "a.png"
    path.write_bytes(png(drawn(1)))
    code = (
        "import sys; from operators.encode.image import load_image_encoder;"
        "load_image_encoder().encode([open(sys.argv[1], 'rb').read()]);"
        "assert not {'torch', 'onnx', 'transformers'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code, str(path)], check=True)
