"""The vision half of a SigLIP or SigLIP 2 checkpoint, by id or folder. Needs the ``torch`` extra.

Zhai et al. 2023, "Sigmoid Loss for Language Image Pre-Training"; Tschannen et al. 2025, "SigLIP 2". The picture's vector is
the output of the attention-pooling head, which is what the checkpoint compares with texts.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from operators.encode.checkpoints import checkpoint_folder, files_sha256, require_package
from operators.encode.image import EncodedPictures
from operators.encode.image_pixels import VERSION, Pixels, decode, encode_decoded, square
from operators.encode.text import resolve_numeric
from operators.errors import EncoderError

KIND = "siglip2"
MODES = ("fp32", "bf16")
BATCH = 16
_WEIGHTS = ("*.safetensors", "pytorch_model*.bin")
_CONFIGS = ("config.json", "preprocessor_config.json")
_TYPES = ("siglip", "siglip_vision_model")


@dataclass(frozen=True)
class _Shape:
    """What a checkpoint's files say: pixels of a side, numbers in a vector, and how pixels are reckoned with."""

    size: int
    dim: int
    resample: Image.Resampling = Image.Resampling.BILINEAR
    mean: tuple[float, ...] = (0.5, 0.5, 0.5)
    spread: tuple[float, ...] = (0.5, 0.5, 0.5)

    def scaled(self, pixels: Pixels) -> NDArray[np.float32]:
        """Pixels (n, size, size, 3) as the model takes them, (n, 3, size, size)."""
        mean, spread = np.array([self.mean, self.spread], np.float32)
        levels = (pixels.astype(np.float32) / 255 - mean) / spread
        return np.ascontiguousarray(levels.transpose(0, 3, 1, 2))


def fingerprint(model: str, numeric: str) -> dict[str, Any]:
    """The fingerprint of the encoder with these settings; hashes the model's files, loads nothing."""
    folder = checkpoint_folder(model, (*_WEIGHTS, *_CONFIGS))
    shape = _shape(folder, model)
    return {
        "kind": KIND,
        "model": model,
        "weights_sha256": files_sha256(folder, _WEIGHTS, model, KIND),
        "pooling": "files:" + files_sha256(folder, _CONFIGS, model, KIND)[:16],
        "size": shape.size,
        "numeric": resolve_numeric(KIND, numeric, MODES),
        "dim": shape.dim,
        "preprocessing": VERSION,
    }


def _shape(folder: Path, model: str) -> _Shape:
    """EncoderError where the files are not those of a SigLIP of fixed resolution."""
    config = _json(folder / "config.json")
    if config.get("model_type") not in _TYPES:
        raise EncoderError(
            f"{model!r} is of type {config.get('model_type')!r}: image encoder kind 'siglip2' takes checkpoints of type "
            f"{' or '.join(map(repr, _TYPES))} (SigLIP and SigLIP 2 of a fixed resolution, such as siglip2-base-patch16-384)"
        )
    vision = config.get("vision_config", config)
    size, dim = int(vision.get("image_size", 224)), int(vision.get("hidden_size", 768))
    made = _json(folder / "preprocessor_config.json")
    told = made.get("size", {})
    if told and (told.get("height"), told.get("width")) != (size, size):
        raise EncoderError(f"{model!r} sees {size} pixels and its preprocessor_config.json makes {told}")
    return _Shape(
        size,
        dim,
        Image.Resampling(made.get("resample", Image.Resampling.BILINEAR)),
        tuple(made.get("image_mean", (0.5, 0.5, 0.5))),
        tuple(made.get("image_std", (0.5, 0.5, 0.5))),
    )


def _json(path: Path) -> dict[str, Any]:
    try:
        found = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    except ValueError as error:
        raise EncoderError(f"{path} is not JSON") from error
    return found if isinstance(found, dict) else {}


@contextmanager
def _quiet() -> Iterator[None]:
    """Holds back what transformers writes to the terminal while it loads: that half of the checkpoint is not used."""
    from transformers.utils import logging

    before, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity(logging.CRITICAL)
    logging.disable_progress_bar()
    try:
        yield
    finally:
        logging.set_verbosity(before)
        if bars:
            logging.enable_progress_bar()


class SiglipEncoder:
    """See ``ImageEncoder``. Runs on the GPU where torch finds one, else with exactly ``threads`` threads."""

    def __init__(self, model: str, *, numeric: str, threads: int, max_pixels: int) -> None:
        self.fingerprint = fingerprint(model, numeric)
        self.dim: int = self.fingerprint["dim"]
        require_package("torch", "torch")
        require_package("transformers", "transformers")
        import torch
        from transformers import SiglipVisionModel

        folder = checkpoint_folder(model, (*_WEIGHTS, *_CONFIGS))
        torch.set_num_threads(threads)
        self._shape = _shape(folder, model)
        self._max_pixels = max_pixels
        self._device = "cuda" if torch.cuda.is_available() else "cpu"
        self._kind = torch.bfloat16 if self.fingerprint["numeric"] == "bf16" else torch.float32
        with _quiet():
            try:
                loaded, told = SiglipVisionModel.from_pretrained(str(folder), dtype=self._kind, output_loading_info=True)
            except Exception as error:  # readers of weights raise whatever broken files make them raise
                raise EncoderError(f"the weights of {model!r} cannot be loaded ({type(error).__name__})") from error
        if missing := sorted(told["missing_keys"]):
            raise EncoderError(f"{model!r} lacks {len(missing)} tensors of a SigLIP vision model, {missing[0]} first")
        self._model: Any = loaded.eval().to(self._device)

    def encode(self, pictures: Sequence[bytes]) -> EncodedPictures:
        """See ``ImageEncoder``."""
        return encode_decoded(pictures, self._prepare, self._run, self.dim, BATCH)

    def _prepare(self, data: bytes) -> Pixels:
        size = self._shape.size
        return square(decode(data, max_pixels=self._max_pixels, side=size), size, self._shape.resample)

    def _run(self, pixels: Pixels) -> NDArray[np.float32]:
        import torch

        with torch.inference_mode():
            values = torch.from_numpy(self._shape.scaled(pixels)).to(self._device, self._kind)
            rows: NDArray[np.float32] = self._model(pixel_values=values).pooler_output.float().cpu().numpy()
        return rows
