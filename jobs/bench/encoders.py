"""Which encoders a benchmark measures: a kind, a numeric mode, for sentence-transformers a model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from configs.settings import Settings
from operators.encode import minilm, transformers
from operators.encode.text import TextEncoder, load_text_encoder
from operators.errors import UsageError

MODES = {"minilm": minilm.MODES, "sentence-transformers": transformers.MODES, "stub": ("fp32",)}


@dataclass(frozen=True)
class Choice:
    """One encoder to measure."""

    kind: str
    numeric: str
    model: str | None = None

    @property
    def name(self) -> str:
        """For people."""
        return f"{self.kind} {self.numeric}"

    def load(self, threads: int) -> TextEncoder:
        """The encoder, with exactly so many threads."""
        return load_text_encoder(self.kind, model=self.model, numeric=self.numeric, threads=threads)

    def settings(self, base: Settings) -> Settings:
        """The settings with this encoder in place of theirs."""
        values = {"kind": self.kind, "numeric": self.numeric, "model": self.model, "window": None}
        return base.model_copy(update={"encoder": base.encoder.model_copy(update=values)})


def choices(kinds: Sequence[str], numeric: str | None, model: str | None) -> list[Choice]:
    """Every numeric mode of each kind, or ``numeric`` alone where a kind has it.

    UsageError for an unknown kind, a mode that none of them has, or sentence-transformers without a model.
    """
    found: list[Choice] = []
    for kind in kinds:
        if kind not in MODES:
            raise UsageError(f"--encoder {kind!r} is not one of {', '.join(MODES)}")
        if kind == "sentence-transformers" and model is None:
            raise UsageError("--encoder sentence-transformers needs --baseline-model: a folder or an id")
        own = model if kind == "sentence-transformers" else None
        found += [Choice(kind, mode, own) for mode in MODES[kind] if numeric in (None, mode)]
    if not found:
        raise UsageError(f"--numeric {numeric!r} is no mode of {', '.join(kinds)}")
    return found
