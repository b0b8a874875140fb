"""all-MiniLM-L6-v2 on ONNX Runtime, without torch: packaged weights, our graphs, exactly the threads it is given."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from importlib.resources import files
from typing import Any, cast

import numpy as np
import onnxruntime
from numpy.typing import NDArray
from tokenizers import Tokenizer
from tokenizers.models import WordPiece
from tokenizers.normalizers import BertNormalizer
from tokenizers.pre_tokenizers import BertPreTokenizer
from tokenizers.processors import BertProcessing

from operators.encode.spans import encodable, split_spans
from operators.encode.text import resolve_numeric, resolve_window
from operators.encode.weights import DIM, SHA256, Numeric, graph_weights, read_verified, weights_path

MODEL = "sentence-transformers/all-MiniLM-L6-v2"
MODES: tuple[Numeric, ...] = ("fp32", "int8")
WINDOW, MOST_WINDOW = 256, 512
MARKS = 2
"""[CLS] and [SEP] count towards the window."""

BATCH_TEXTS, BATCH_TOKENS = 16, 1024
"""Bounds of one batch. Small ones stay in the CPU's caches: measured, batches of 64 and more were slower."""


def fingerprint(window: int | None, numeric: str) -> dict[str, Any]:
    """The fingerprint of the encoder with these settings."""
    return {
        "kind": "minilm",
        "model": MODEL,
        "weights_sha256": SHA256,
        "pooling": "mean",
        "window": resolve_window("minilm", window, MOST_WINDOW, WINDOW),
        "numeric": resolve_numeric("minilm", numeric, MODES),
        "dim": DIM,
    }


class MiniLM:
    """See ``TextEncoder``. ``fp32`` multiplies the packaged int8 weights out at load; ``int8`` computes with them."""

    def __init__(self, *, window: int | None, numeric: str, threads: int) -> None:
        self.fingerprint = fingerprint(window, numeric)
        self.dim = DIM
        self.window: int = self.fingerprint["window"]
        self._threads = threads
        self._whole = bert_tokenizer()
        self._cut = bert_tokenizer()
        self._cut.enable_truncation(self.window)

    @cached_property
    def _session(self) -> Any:
        """Made when the first text is encoded: who only cuts texts into spans needs no weights."""
        return _session(cast(Numeric, self.fingerprint["numeric"]), self._threads)

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """See ``TextEncoder``. Sorts by length and batches by itself."""
        # One call a text: the tokenizer's batch call would start a thread per CPU of the machine.
        ids = [self._cut.encode(encodable(text)).ids for text in texts]
        vectors = np.empty((len(ids), DIM), np.float32)
        for batch in batches([len(one) for one in ids]):
            vectors[batch] = self._run([ids[i] for i in batch])
        return vectors

    def spans(self, text: str) -> list[tuple[int, int]]:
        """See ``TextEncoder``."""
        room = self.window - MARKS
        if text.isascii() and len(text) <= room:  # an ASCII character makes at most one token
            return [(0, len(text))] if text.strip() else []
        return split_spans(encodable(text), self._token_ends, room)

    def _token_ends(self, text: str) -> list[tuple[int, int]]:
        return self._whole.encode(text, add_special_tokens=False).offsets

    def _run(self, ids: list[list[int]]) -> NDArray[np.float32]:
        lengths = np.array([len(one) for one in ids], np.int32)
        padded = np.zeros((len(ids), int(lengths.max())), np.int32)
        for row, one in enumerate(ids):
            padded[row, : len(one)] = one
        return cast(NDArray[np.float32], self._session.run(["vectors"], {"ids": padded, "lengths": lengths})[0])


def batches(lengths: Sequence[int], texts: int = BATCH_TEXTS, tokens: int = BATCH_TOKENS) -> Iterator[list[int]]:
    """Index lists that together hold every index once, longest first, each within both bounds or a single text."""
    order = sorted(range(len(lengths)), key=lambda i: -lengths[i])
    at = 0
    while at < len(order):
        size = max(1, min(texts, tokens // lengths[order[at]]))
        yield order[at : at + size]
        at += size


def bert_tokenizer() -> Tokenizer:
    """The model's tokenizer (lower case, accents stripped, WordPiece), without truncation or padding."""
    lines = files("operators.encode").joinpath("assets/vocab.txt").read_text(encoding="utf-8").split("\n")
    vocabulary = {token: number for number, token in enumerate(lines) if token}
    tokenizer = Tokenizer(WordPiece(vocabulary, unk_token="[UNK]"))
    tokenizer.normalizer = BertNormalizer()
    tokenizer.pre_tokenizer = BertPreTokenizer()
    tokenizer.post_processor = BertProcessing(("[SEP]", vocabulary["[SEP]"]), ("[CLS]", vocabulary["[CLS]"]))
    return tokenizer


def _session(numeric: Numeric, threads: int) -> Any:
    weights = graph_weights(read_verified(weights_path()), numeric)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    # A thread that spins while it waits takes the CPU from whoever works beside it.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    values = [onnxruntime.OrtValue.ortvalue_from_numpy(np.ascontiguousarray(array)) for array in weights.values()]
    options.add_external_initializers(list(weights), values)
    graph = files("operators.encode").joinpath(f"assets/minilm-{numeric}.onnx").read_bytes()
    return onnxruntime.InferenceSession(graph, options, providers=["CPUExecutionProvider"])
