"""EfficientNet-Lite0 on ONNX Runtime, packaged: pooled features of whole pictures, exactly the threads it is given."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import cached_property
from importlib.resources import files
from typing import Any

import numpy as np
import onnxruntime
from numpy.typing import NDArray

from operators.encode.image import EncodedPictures
from operators.encode.image_colours import HISTOGRAM_DIM, LAYOUT_DIM, histograms, layouts
from operators.encode.image_pixels import VERSION, Pixels, decode, encode_decoded, exposed, square
from operators.encode.text import resolve_numeric
from operators.errors import WeightsMismatch, WeightsMissing

MODEL = "efficientnet-lite0"
SHA256 = "0cb9f16a31bcf0bccca5a3623790048a13ea32d05173b1ab2446ab3391f8869d"
FEATURES, SIZE, BATCH = 1280, 224, 8
DIM = FEATURES + HISTOGRAM_DIM + LAYOUT_DIM
COLOURS, PLACES = 0.25, 0.15
"""Parts of a cosine that the colours have, and where they are; the features have the rest."""

_ASSET = "assets/efficientnet-lite0.onnx"


def fingerprint(numeric: str) -> dict[str, Any]:
    """The fingerprint of the encoder with these settings."""
    return {
        "kind": "efficientnet",
        "model": MODEL,
        "weights_sha256": SHA256,
        "pooling": f"root-mean,colours-{COLOURS},layout-{PLACES}",
        "size": SIZE,
        "numeric": resolve_numeric("efficientnet", numeric, ("fp32",)),
        "dim": DIM,
        "preprocessing": VERSION,
    }


class EfficientNetLite:
    """See ``ImageEncoder``. A feature is the square root of its mean over the picture: what is strong in one place does not
    drown the rest (Arandjelovic and Zisserman 2012, "Three things everyone should know to improve object retrieval").

    Colours stand beside the features, which alone take a green disc for a blue one.
    """

    def __init__(self, *, numeric: str, threads: int, max_pixels: int) -> None:
        self.fingerprint = fingerprint(numeric)
        self.dim = DIM
        self._threads = threads
        self._max_pixels = max_pixels

    @cached_property
    def _session(self) -> Any:
        """Made when the first picture is encoded."""
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = self._threads
        options.inter_op_num_threads = 1
        options.log_severity_level = 3
        # A thread that spins while it waits takes the CPU from whoever works beside it.
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        return onnxruntime.InferenceSession(_verified(), options, providers=["CPUExecutionProvider"])

    def encode(self, pictures: Sequence[bytes]) -> EncodedPictures:
        """See ``ImageEncoder``."""
        return encode_decoded(pictures, self._prepare, self._run, DIM, BATCH)

    def _prepare(self, data: bytes) -> Pixels:
        return exposed(square(decode(data, max_pixels=self._max_pixels, side=SIZE), SIZE))

    def _run(self, pixels: Pixels) -> NDArray[np.float32]:
        features: NDArray[np.float32] = self._session.run(["features"], {"pixels": pixels})[0]
        rooted = np.sqrt(features)
        rooted /= np.maximum(np.linalg.norm(rooted, axis=1, keepdims=True), np.finfo(np.float32).tiny)
        parts = ((1 - COLOURS - PLACES, rooted), (COLOURS, histograms(pixels)), (PLACES, layouts(pixels)))
        return np.concatenate([np.float32(weight**0.5) * rows for weight, rows in parts], axis=1)


def _verified() -> bytes:
    """The packaged model, its sha256 checked. WeightsMissing, WeightsMismatch."""
    asset = files("operators.encode").joinpath(_ASSET)
    if not asset.is_file():
        raise WeightsMissing(f"{_ASSET} of operators.encode is not installed: install mnemosaic again")
    data = asset.read_bytes()
    found = hashlib.sha256(data).hexdigest()
    if found != SHA256:
        raise WeightsMismatch(f"{_ASSET} has sha256 {found}, expected {SHA256}: install mnemosaic again")
    return data
