"""Any SigLIP checkpoint, tried on a tiny random one made here. Runs where the torch extra is installed."""

from __future__ import annotations

import importlib.util
import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from operators.encode.image import image_encoder_of, image_fingerprint, load_image_encoder
from operators.errors import EncoderError, WeightsMissing

needs_torch = pytest.mark.skipif(
    importlib.util.find_spec("transformers") is None or importlib.util.find_spec("torch") is None,
    reason="needs the torch extra: pip install 'mnemosaic[torch]'",
)
SIDE, DIM = 32, 48


def tiny_checkpoint(folder: Path, seed: int = 0) -> Path:
    """A random SigLIP of two small layers a half, saved as transformers saves it, with its preprocessor's file."""
    import torch
    from transformers import SiglipConfig, SiglipModel

    torch.manual_seed(seed)
    common = {"hidden_size": DIM, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 2}
    words = {**common, "vocab_size": 64, "bos_token_id": 1, "eos_token_id": 2}
    config = SiglipConfig(vision_config={**common, "image_size": SIDE, "patch_size": 8}, text_config=words)
    SiglipModel(config).save_pretrained(folder)
    made = {"size": {"height": SIDE, "width": SIDE}, "resample": 2, "image_mean": [0.5] * 3, "image_std": [0.5] * 3}
    (folder / "preprocessor_config.json").write_text(json.dumps(made), encoding="utf-8")
    return folder


def picture(colour: str, size: tuple[int, int] = (70, 50)) -> bytes:
    buffer = io.BytesIO()
    Image.new("RGB", size, colour).save(buffer, "PNG")
    return buffer.getvalue()


@needs_torch
def test_a_checkpoint_encodes_as_its_own_model_does(tmp_path: Path) -> None:
    import torch
    from transformers import SiglipModel

    folder = tiny_checkpoint(tmp_path / "one")
    encoder = load_image_encoder("siglip2", model=str(folder))
    made = encoder.encode([picture("red"), b"odd", picture("blue")])
    assert made.vectors.shape == (3, DIM)
    assert made.faults == (None, "picture-unknown", None)
    assert np.allclose(np.linalg.norm(made.vectors, axis=1), [1, 0, 1], atol=1e-5)
    values = torch.tensor([[1.0, -1, -1], [-1, -1, 1]]).reshape(2, 3, 1, 1).expand(2, 3, SIDE, SIDE)
    with torch.inference_mode():
        found: Any = SiglipModel.from_pretrained(folder).eval().get_image_features(pixel_values=values)
    expected = getattr(found, "pooler_output", found).numpy()
    expected /= np.linalg.norm(expected, axis=1, keepdims=True)
    assert np.allclose(made.vectors[[0, 2]], expected, atol=1e-4)


@needs_torch
def test_the_fingerprint_is_known_without_loading_and_tells_weights_apart(tmp_path: Path) -> None:
    one, two = (image_fingerprint("siglip2", model=str(tiny_checkpoint(tmp_path / str(seed), seed))) for seed in (1, 2))
    assert one["weights_sha256"] != two["weights_sha256"]
    assert (one["dim"], one["size"], one["pooling"]) == (DIM, SIDE, two["pooling"])
    encoder = image_encoder_of(one)
    assert encoder is not None and encoder.fingerprint == one


@needs_torch
def test_bf16_is_near(tmp_path: Path) -> None:
    folder = str(tiny_checkpoint(tmp_path))
    exact, short = (
        load_image_encoder("siglip2", model=folder, numeric=mode).encode([picture("red")]) for mode in ("fp32", "bf16")
    )
    assert float((exact.vectors * short.vectors).sum()) > 0.99


@needs_torch
def test_a_checkpoint_that_lacks_tensors_is_refused(tmp_path: Path) -> None:
    from safetensors.numpy import load_file, save_file

    folder = tiny_checkpoint(tmp_path)
    weights = load_file(folder / "model.safetensors")
    kept = {name: tensor for name, tensor in weights.items() if "vision_model.head" not in name}
    save_file(kept, folder / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(EncoderError, match="tensors of a SigLIP vision model"):
        load_image_encoder("siglip2", model=str(folder))
    (folder / "model.safetensors").write_bytes(b"odd")
    with pytest.raises(EncoderError, match="cannot be loaded"):
        load_image_encoder("siglip2", model=str(folder))


def test_a_checkpoint_of_another_kind_is_refused(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text('{"model_type": "siglip2"}', encoding="utf-8")
    with pytest.raises(EncoderError, match="fixed resolution"):
        image_fingerprint("siglip2", model=str(tmp_path))
    (tmp_path / "config.json").write_text('{"model_type"', encoding="utf-8")
    with pytest.raises(EncoderError, match="is not JSON"):
        image_fingerprint("siglip2", model=str(tmp_path))


def test_a_preprocessor_of_another_size_is_refused(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text('{"model_type": "siglip", "vision_config": {"image_size": 32}}', encoding="utf-8")
    (tmp_path / "preprocessor_config.json").write_text('{"size": {"height": 64, "width": 64}}', encoding="utf-8")
    with pytest.raises(EncoderError, match="sees 32 pixels"):
        image_fingerprint("siglip2", model=str(tmp_path))


def test_a_folder_without_weights_is_refused(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text('{"model_type": "siglip"}', encoding="utf-8")
    with pytest.raises(WeightsMissing, match="no siglip2 model"):
        image_fingerprint("siglip2", model=str(tmp_path))


@pytest.mark.skipif(importlib.util.find_spec("torch") is not None, reason="the torch extra is installed")
def test_without_the_extra_the_error_names_it(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text('{"model_type": "siglip"}', encoding="utf-8")
    (tmp_path / "model.safetensors").write_bytes(b"")
    with pytest.raises(WeightsMissing, match=r"mnemosaic\[torch\]"):
        load_image_encoder("siglip2", model=str(tmp_path))
