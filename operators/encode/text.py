"""The one interface to text encoders, and which encoder a setting or a stored fingerprint names."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from operators.errors import FingerprintMismatch, SettingsError

KINDS = ("minilm", "sentence-transformers", "stub")
"""``minilm``: the packaged all-MiniLM-L6-v2 on ONNX Runtime. ``sentence-transformers``: any model id or folder, with the
``torch`` extra. ``stub``: hashed words without a model, for tests and for measuring everything else."""

AUTO = "auto"


class TextEncoder(Protocol):
    """Texts to unit vectors; texts longer than the window are to be cut by ``spans`` first."""

    @property
    def dim(self) -> int:
        """Numbers in a vector."""
        ...

    @property
    def window(self) -> int:
        """Tokens the model sees of a text, its own marks included."""
        ...

    @property
    def fingerprint(self) -> Mapping[str, Any]:
        """What decides the vectors: plain JSON values (kind, model, weights_sha256, pooling, window, numeric, dim)."""
        ...

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Vectors (texts, dim), float32, unit length, row i for text i. Takes any string; sees what the window holds."""
        ...

    def spans(self, text: str) -> list[tuple[int, int]]:
        """Consecutive character ranges that cover the text, each within the window; none for a blank text."""
        ...


def load_text_encoder(
    kind: str = "minilm",
    *,
    model: str | None = None,
    window: int | None = None,
    numeric: str = AUTO,
    threads: int = 1,
) -> TextEncoder:
    """The encoder of this kind, using exactly ``threads`` threads.

    ``model``: id or folder, for sentence-transformers alone. ``window``: tokens, None for the model's own. ``numeric``:
    ``auto`` or a mode of the kind. SettingsError for values the kind does not know; WeightsMissing, WeightsMismatch.
    """
    _check(kind, model)
    if threads < 1:
        raise SettingsError(f"an encoder needs at least one thread, not {threads}")
    if kind == "minilm":
        from operators.encode.minilm import MiniLM

        return MiniLM(window=window, numeric=numeric, threads=threads)
    if kind == "stub":
        from operators.encode.stub import Stub

        return Stub(window=window, numeric=numeric)
    from operators.encode.transformers import SentenceTransformersEncoder

    return SentenceTransformersEncoder(str(model), window=window, numeric=numeric, threads=threads)


def text_fingerprint(
    kind: str, *, model: str | None = None, window: int | None = None, numeric: str = AUTO
) -> dict[str, Any]:
    """The fingerprint that ``load_text_encoder`` with these values would have, without loading the model."""
    _check(kind, model)
    if kind == "minilm":
        from operators.encode import minilm

        return minilm.fingerprint(window, numeric)
    if kind == "stub":
        from operators.encode import stub

        return stub.fingerprint(window, numeric)
    from operators.encode import transformers

    return transformers.fingerprint(str(model), window, numeric)


def encoder_of(fingerprint: Mapping[str, Any], *, threads: int = 1) -> TextEncoder:
    """The encoder that made a store's vectors. FingerprintMismatch where this machine would make others."""
    try:
        kind = fingerprint["kind"]
        model = fingerprint["model"] if kind == "sentence-transformers" else None
        values = {"model": model, "window": fingerprint["window"], "numeric": fingerprint["numeric"]}
    except KeyError as error:
        raise FingerprintMismatch(f"the store's encoder does not name its {error.args[0]}: {_shown(fingerprint)}") from None
    encoder = load_text_encoder(kind, **values, threads=threads)
    require_same(fingerprint, encoder.fingerprint)
    return encoder


def require_same(stored: Mapping[str, Any], found: Mapping[str, Any]) -> None:
    """FingerprintMismatch, with both in its message, unless the two fingerprints are equal."""
    if _shown(stored) != _shown(found):
        raise FingerprintMismatch(
            "vectors of the store's encoder and of this one cannot be compared.\n"
            f"  the store's: {_shown(stored)}\n  this one:    {_shown(found)}\nUse the store's encoder."
        )


def _shown(fingerprint: Mapping[str, Any]) -> str:
    return json.dumps(dict(fingerprint), sort_keys=True)


def _check(kind: str, model: str | None) -> None:
    if kind not in KINDS:
        raise SettingsError(f"encoder kind {kind!r} is not one of {', '.join(KINDS)}")
    if kind == "sentence-transformers" and not model:
        raise SettingsError("encoder kind 'sentence-transformers' needs a model: an id or a folder")
    if kind != "sentence-transformers" and model is not None:
        raise SettingsError(f"encoder kind {kind!r} takes no model (found {model!r}): use kind 'sentence-transformers'")


def resolve_numeric(kind: str, numeric: str, modes: Sequence[str]) -> str:
    """The mode meant: the first of ``modes`` for ``auto``. SettingsError for one the kind does not have."""
    if numeric == AUTO:
        return modes[0]
    if numeric not in modes:
        raise SettingsError(f"encoder kind {kind!r} has no numeric mode {numeric!r}: {AUTO}, {', '.join(modes)}")
    return numeric


def resolve_window(kind: str, window: int | None, most: int, default: int) -> int:
    """The window in tokens. SettingsError where it leaves no room for text or exceeds what the model can see."""
    if window is None:
        return default
    if not 8 <= window <= most:
        raise SettingsError(f"encoder kind {kind!r} sees 8 to {most} tokens, not {window}")
    return window
