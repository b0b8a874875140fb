"""Any sentence-transformers model, tried on a tiny one made here. Runs where the torch extra is installed."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path

import numpy as np
import pytest

from operators.encode.text import load_text_encoder, text_fingerprint
from operators.errors import EncoderError, WeightsMissing

needs_torch = pytest.mark.skipif(
    importlib.util.find_spec("sentence_transformers") is None, reason="needs the torch extra: pip install 'mnemosaic[torch]'"
)
TEXTS = ["a short text", "", "the same words again and again " * 20, "\ud800 odd"]


def tiny_model(folder: Path, seed: int = 0) -> Path:
    """A random BERT of two small layers with mean pooling, saved as sentence-transformers saves it."""
    import torch
    from sentence_transformers import SentenceTransformer, models
    from transformers import BertConfig, BertModel, BertTokenizerFast

    torch.manual_seed(seed)
    raw = folder / "raw"
    raw.mkdir(parents=True)
    letters = [chr(code) for code in range(97, 123)]
    vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *letters, *(f"##{letter}" for letter in letters)]
    (raw / "vocab.txt").write_text("\n".join(vocabulary), encoding="utf-8")
    BertTokenizerFast(vocab=str(raw / "vocab.txt")).save_pretrained(raw)
    shape = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 64}
    BertModel(BertConfig(vocab_size=len(vocabulary), max_position_embeddings=128, **shape)).save_pretrained(raw)
    words = models.Transformer(str(raw), max_seq_length=48)
    SentenceTransformer(modules=[words, models.Pooling(32)], device="cpu").save(str(folder / "model"))
    return folder / "model"


@needs_torch
def test_a_model_encodes_cuts_and_is_told_apart(tmp_path: Path) -> None:
    folder = tiny_model(tmp_path / "one")
    encoder = load_text_encoder("sentence-transformers", model=str(folder), threads=1)
    assert (encoder.dim, encoder.window) == (32, 48)
    vectors = encoder.encode(TEXTS)
    assert vectors.shape == (len(TEXTS), 32)
    assert vectors.dtype == np.float32
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)
    assert np.allclose(np.concatenate([encoder.encode([text]) for text in TEXTS]), vectors, atol=1e-5)
    spans = encoder.spans(TEXTS[2])
    assert "".join(TEXTS[2][start:end] for start, end in spans) == TEXTS[2]
    assert len(spans) > 1
    assert encoder.fingerprint == text_fingerprint("sentence-transformers", model=str(folder))
    assert encoder.fingerprint["dim"] == 32


@needs_torch
def test_other_weights_have_another_fingerprint(tmp_path: Path) -> None:
    one, two = (text_fingerprint("sentence-transformers", model=str(tiny_model(tmp_path / str(n), n))) for n in (1, 2))
    assert one["weights_sha256"] != two["weights_sha256"]
    assert one["pooling"] == two["pooling"]


@needs_torch
def test_a_narrower_window_and_bf16_are_taken(tmp_path: Path) -> None:
    folder = str(tiny_model(tmp_path))
    plain = load_text_encoder("sentence-transformers", model=folder)
    narrow = load_text_encoder("sentence-transformers", model=folder, window=16, numeric="bf16")
    assert narrow.window == 16
    assert len(narrow.spans(TEXTS[2])) > len(plain.spans(TEXTS[2]))
    assert (narrow.encode(TEXTS[:1]) * plain.encode(TEXTS[:1])).sum() > 0.98


@pytest.mark.parametrize(
    ("modules", "dim"),
    [
        ({"1_Pooling": ("Pooling", {"word_embedding_dimension": 8, "pooling_mode_mean_tokens": True})}, 8),
        (
            {
                "1_Pooling": (
                    "Pooling",
                    {"word_embedding_dimension": 8, "pooling_mode_mean_tokens": True, "pooling_mode_max_tokens": True},
                )
            },
            16,
        ),
        ({"1_Pooling": ("Pooling", {"embedding_dimension": 8, "pooling_mode": "cls"})}, 8),
        ({"1_Pooling": ("Pooling", {"embedding_dimension": 8, "pooling_mode": ["cls", "mean"]})}, 16),
        ({"1_Pooling": ("Pooling", {"embedding_dimension": 8}), "2_Dense": ("Dense", {"out_features": 5})}, 5),
    ],
)
def test_the_width_is_read_from_the_files(tmp_path: Path, modules: dict[str, tuple[str, object]], dim: int) -> None:
    named = [{"path": path, "type": f"sentence_transformers.models.{kind}"} for path, (kind, _) in modules.items()]
    (tmp_path / "modules.json").write_text(json.dumps([{"path": "", "type": "x.Transformer"}, *named]), encoding="utf-8")
    (tmp_path / "model.safetensors").write_bytes(b"")
    for path, (_, config) in modules.items():
        (tmp_path / path).mkdir()
        (tmp_path / path / "config.json").write_text(json.dumps(config), encoding="utf-8")
    assert text_fingerprint("sentence-transformers", model=str(tmp_path))["dim"] == dim


def test_a_model_that_does_not_say_its_width_is_refused(tmp_path: Path) -> None:
    (tmp_path / "modules.json").write_text('[{"path": "", "type": "x.Transformer"}]', encoding="utf-8")
    (tmp_path / "model.safetensors").write_bytes(b"")
    with pytest.raises(EncoderError, match="neither a pooling nor a dense module"):
        text_fingerprint("sentence-transformers", model=str(tmp_path))


def test_a_folder_without_weights_is_refused(tmp_path: Path) -> None:
    with pytest.raises(WeightsMissing, match="no sentence-transformers model"):
        text_fingerprint("sentence-transformers", model=str(tmp_path))


@pytest.mark.skipif(importlib.util.find_spec("sentence_transformers") is not None, reason="the torch extra is installed")
def test_without_the_extra_the_error_names_it() -> None:
    with pytest.raises(WeightsMissing, match=r"mnemosaic\[torch\]"):
        load_text_encoder("sentence-transformers", model="some/model")
