"""Any sentence-transformers model, by id or folder. Needs the ``torch`` extra; imported only where it is asked for."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from operators.encode.checkpoints import checkpoint_folder, files_sha256, require_package
from operators.encode.spans import encodable, split_spans
from operators.encode.text import resolve_numeric, resolve_window
from operators.errors import EncoderError

KIND = "sentence-transformers"
MODES = ("fp32", "bf16")
BATCH = 16
_WEIGHTS = ("*.safetensors", "pytorch_model*.bin")
_SHAPE = ("modules.json", "sentence_bert_config.json", "*_Pooling/config.json", "*_Dense/config.json")
_UNBOUNDED = 1 << 20


def fingerprint(model: str, window: int | None, numeric: str) -> dict[str, Any]:
    """The fingerprint of the encoder with these settings; hashes the model's files, loads nothing.

    ``weights_sha256`` is over the weight files, ``pooling`` names the files that say how their output becomes a vector.
    ``window`` is None where the model's own is taken: the files fix it.
    """
    folder = _folder(model)
    return {
        "kind": KIND,
        "model": model,
        "weights_sha256": files_sha256(folder, _WEIGHTS, model, KIND),
        "pooling": "files:" + files_sha256(folder, _SHAPE, model, KIND)[:16],
        "window": None if window is None else resolve_window(KIND, window, _UNBOUNDED, window),
        "numeric": resolve_numeric(KIND, numeric, MODES),
        "dim": _dim(folder, model),
    }


def _dim(folder: Path, model: str) -> int:
    """Numbers in a vector, as the files of the last module that shapes it say. EncoderError where none does."""
    modules = json.loads((folder / "modules.json").read_text(encoding="utf-8"))
    for module in reversed(modules):
        kind = module["type"].rpartition(".")[2]
        if kind in ("Dense", "Pooling"):
            config = json.loads((folder / module["path"] / "config.json").read_text(encoding="utf-8"))
            return int(config["out_features"]) if kind == "Dense" else _pooled(config)
    raise EncoderError(f"{model!r} has neither a pooling nor a dense module: the width of its vectors is not known")


def _pooled(config: dict[str, Any]) -> int:
    """Width of pooled vectors; several ways of pooling are concatenated. Older files have a switch for each way."""
    width = int(config.get("embedding_dimension") or config["word_embedding_dimension"])
    ways = config.get("pooling_mode", "mean")
    switched = sum(value is True for name, value in config.items() if name.startswith("pooling_mode_"))
    return width * max(1, switched if "pooling_mode" not in config else 1 if isinstance(ways, str) else len(ways))


def _folder(model: str) -> Path:
    if not Path(model).is_dir():
        _require_extra()
    return checkpoint_folder(model)


def _require_extra() -> None:
    require_package("sentence_transformers", "sentence-transformers")


class SentenceTransformersEncoder:
    """See ``TextEncoder``. ``bf16`` is fast where the CPU (AVX-512 bf16, AMX) or GPU multiplies it, slow elsewhere."""

    def __init__(self, model: str, *, window: int | None, numeric: str, threads: int) -> None:
        _require_extra()
        import torch
        from sentence_transformers import SentenceTransformer

        self.fingerprint = fingerprint(model, window, numeric)
        torch.set_num_threads(threads)
        kind = torch.bfloat16 if self.fingerprint["numeric"] == "bf16" else torch.float32
        self._model: Any = SentenceTransformer(str(_folder(model)), model_kwargs={"dtype": kind})
        if window is not None:
            self._model.max_seq_length = window
        self.window = int(self._model.max_seq_length or 0)
        self.dim: int = self.fingerprint["dim"]
        if (found := self._model.encode([""], convert_to_numpy=True).shape[1]) != self.dim:
            raise EncoderError(f"{model!r} makes vectors of {found} numbers, its files say {self.dim}")
        self._tokenizer: Any = self._model.tokenizer
        if not getattr(self._tokenizer, "is_fast", False) or self.window < 8:
            raise EncoderError(f"{model!r} has no fast tokenizer or no window: texts could not be cut to what it sees")
        self._room = self.window - self._tokenizer.num_special_tokens_to_add()

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """See ``TextEncoder``. The library sorts by length itself."""
        if not texts:
            return np.empty((0, self.dim), np.float32)
        clean = [encodable(text) for text in texts]
        vectors = self._model.encode(
            clean, batch_size=BATCH, normalize_embeddings=False, convert_to_tensor=True, show_progress_bar=False
        )
        plain: NDArray[np.float32] = vectors.float().cpu().numpy()
        norms = np.maximum(np.linalg.norm(plain, axis=1, keepdims=True), np.finfo(np.float32).tiny)
        return cast(NDArray[np.float32], plain / norms)

    def spans(self, text: str) -> list[tuple[int, int]]:
        """See ``TextEncoder``."""
        return split_spans(encodable(text), self._token_ends, self._room)

    def _token_ends(self, text: str) -> list[tuple[int, int]]:
        found = self._tokenizer(text, add_special_tokens=False, return_offsets_mapping=True, truncation=False, verbose=False)
        return cast(list[tuple[int, int]], found["offset_mapping"])
