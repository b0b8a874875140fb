"""Writes the two weightless ONNX graphs under assets/. Needs the ``onnx`` package, which nothing else here does.

    python -m operators.encode.graph

Inputs ``ids`` (texts, tokens) int32 and ``lengths`` (texts,) int32; output ``vectors`` (texts, 384) float32, the mean
of the token vectors scaled to unit length. The weights are declared as external and handed to the session at load.

``int8`` quantises the activations of each token by that token's own largest value (8 bits) before every matrix product but
those of ``EXACT``, so that a text's vector does not depend on which texts share its batch, as it would with ONNX Runtime's
dynamic quantisation, whose scale is taken over the whole batch. The scale is symmetric but behind GELU, whose values end at
-0.17: there nearly all of the 8 bits are left to what is positive.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from onnx import TensorProto, helper, numpy_helper

from operators.encode.weights import DIM, EXACT, HEADS, HIDDEN, LAYERS, Numeric

FUSED = "com.microsoft"
EPSILON = 1e-12
WORDS, POSITIONS = 30522, 512
GELU_ZERO, GELU_LEAST = 24, 0.17
"""The quantised value that stands for 0 behind GELU, and how far below 0 its values go."""


class _Graph:
    """Nodes and initializers as they are added; each node is named after its one output."""

    def __init__(self) -> None:
        self.nodes: list[Any] = []
        self.tensors: list[Any] = []

    def node(self, op: str, inputs: list[str], output: str, domain: str = "", **attributes: Any) -> str:
        self.nodes.append(helper.make_node(op, inputs, [output], name=output, domain=domain, **attributes))
        return output

    def constant(self, name: str, value: Any) -> str:
        self.tensors.append(numpy_helper.from_array(np.asarray(value), name))
        return name

    def weight(self, name: str, shape: tuple[int, ...], kind: int = TensorProto.FLOAT) -> str:
        """A tensor whose data the loader supplies under this name."""
        tensor = TensorProto(name=name, dims=shape, data_type=kind, data_location=TensorProto.EXTERNAL)
        tensor.external_data.add(key="location", value="weights")
        self.tensors.append(tensor)
        return name


def build(numeric: Numeric) -> Any:
    """The ONNX model (``onnx.ModelProto``) of one numeric mode."""
    graph = _Graph()
    tokens = _embed(graph)
    layer = _layer_int8 if numeric == "int8" else _layer_fp32
    if numeric == "int8":
        _declare_int8(graph)
        tokens = graph.node("Reshape", [tokens, "rows"], "flat")
    for number in range(LAYERS):
        tokens = layer(graph, number, tokens)
    if numeric == "int8":
        tokens = graph.node("Reshape", [tokens, "batched"], "last")
    _pool(graph, tokens)
    inputs = [
        helper.make_tensor_value_info("ids", TensorProto.INT32, ["texts", "tokens"]),
        helper.make_tensor_value_info("lengths", TensorProto.INT32, ["texts"]),
    ]
    output = helper.make_tensor_value_info("vectors", TensorProto.FLOAT, ["texts", DIM])
    body = helper.make_graph(graph.nodes, f"all-MiniLM-L6-v2 {numeric}", inputs, [output], graph.tensors)
    model = helper.make_model(body, opset_imports=[helper.make_opsetid("", 18), helper.make_opsetid(FUSED, 1)])
    model.ir_version = 9
    model.producer_name = model.producer_version = ""
    return model


def _embed(graph: _Graph) -> str:
    graph.weight("words", (WORDS, DIM), TensorProto.INT8)
    graph.weight("words.scale", (WORDS, 1))
    graph.weight("positions", (POSITIONS, DIM))
    graph.constant("zero", np.array([0], np.int64))
    graph.constant("one", np.array([1], np.int64))
    graph.node("Gather", ["words", "ids"], "ids.int8")
    graph.node("Cast", ["ids.int8"], "ids.float", to=TensorProto.FLOAT)
    graph.node("Gather", ["words.scale", "ids"], "ids.scale")
    graph.node("Mul", ["ids.float", "ids.scale"], "ids.word")
    graph.node("Shape", ["ids"], "width", start=1, end=2)
    graph.node("Slice", ["positions", "zero", "width"], "ids.position")
    graph.node("Add", ["ids.word", "ids.position"], "ids.sum")
    norm = [graph.weight("norm.gain", (DIM,)), graph.weight("norm.bias", (DIM,))]
    return graph.node("LayerNormalization", ["ids.sum", *norm], "embedded", axis=-1, epsilon=EPSILON)


def _layer_fp32(graph: _Graph, layer: int, tokens: str) -> str:
    qkv = [graph.weight(f"qkv.{layer}.weight", (DIM, 3 * DIM)), graph.weight(f"qkv.{layer}.bias", (3 * DIM,))]
    attended = graph.node("Attention", [tokens, *qkv, "lengths"], f"attended.{layer}", FUSED, num_heads=HEADS)

    def product(name: str, inputs: str, shape: tuple[int, int]) -> str:
        return graph.node("MatMul", [inputs, graph.weight(f"{name}.{layer}.weight", shape)], f"{name}.{layer}.product")

    mixed = _skip(graph, "attention", layer, product("attention", attended, (DIM, DIM)), tokens)
    inner = _gelu(graph, layer, product("inner", mixed, (DIM, HIDDEN)))
    return _skip(graph, "outer", layer, product("outer", inner, (HIDDEN, DIM)), mixed)


def _layer_int8(graph: _Graph, layer: int, tokens: str) -> str:
    joint = _product(graph, f"qkv.{layer}", tokens, (DIM, 3 * DIM))
    graph.node("Reshape", [joint, "batched"], f"qkv.{layer}.batched")
    parts = [f"{part}.{layer}" for part in ("query", "key", "value")]
    graph.nodes.append(
        helper.make_node("Split", [f"qkv.{layer}.batched"], parts, name=f"qkv.{layer}.split", axis=-1, num_outputs=3)
    )
    bias = graph.weight(f"qkv.{layer}.bias", (3 * DIM,))
    graph.node("MultiHeadAttention", [*parts, bias, "lengths"], f"attended.{layer}", FUSED, num_heads=HEADS)
    attended = graph.node("Reshape", [f"attended.{layer}", "rows"], f"attended.{layer}.flat")
    product = _product(graph, f"attention.{layer}", attended, (DIM, DIM))
    mixed = _skip(graph, "attention", layer, product, tokens)
    product = _product(graph, f"inner.{layer}", mixed, (DIM, HIDDEN))
    inner = _gelu(graph, layer, product)
    product = _product_int8(graph, f"outer.{layer}", _quantise_gelu(graph, inner), (HIDDEN, DIM), "gelu zero")
    return _skip(graph, "outer", layer, product, mixed)


def _declare_int8(graph: _Graph) -> None:
    graph.constant("middle", np.array(128, np.uint8))
    graph.constant("unscaled", np.array(1, np.float32))
    graph.constant("step", np.array(1 / 127, np.float32))
    graph.constant("least", np.array(1e-8, np.float32))
    graph.constant("last axis", np.array([-1], np.int64))
    graph.constant("rows", np.array([-1, DIM], np.int64))
    graph.node("Shape", ["ids"], "shape")
    graph.node("Concat", ["shape", "last axis"], "batched", axis=0)
    graph.node("ReduceProd", ["shape"], "tokens", keepdims=1)
    middle = helper.make_tensor("middle", TensorProto.UINT8, [1], [128])
    graph.node("ConstantOfShape", ["tokens"], "middles", value=middle)
    graph.constant("gelu zero", np.array(GELU_ZERO, np.uint8))
    graph.constant("gelu step", np.array(1 / (255 - GELU_ZERO), np.float32))
    graph.constant("gelu least", np.array(GELU_LEAST / GELU_ZERO, np.float32))
    zero = helper.make_tensor("gelu zero", TensorProto.UINT8, [1], [GELU_ZERO])
    graph.node("ConstantOfShape", ["tokens"], "gelu zeros", value=zero)


def _quantise(graph: _Graph, rows: str) -> tuple[str, str]:
    """Rows (tokens, n) as uint8 around 128 and the float scale of each row (tokens, 1)."""
    graph.node("Abs", [rows], f"{rows}.abs")
    graph.node("ReduceMax", [f"{rows}.abs", "last axis"], f"{rows}.max", keepdims=1)
    graph.node("Mul", [f"{rows}.max", "step"], f"{rows}.step")
    scale = graph.node("Max", [f"{rows}.step", "least"], f"{rows}.scale")
    graph.node("Reshape", [scale, "last axis"], f"{rows}.scales")
    quantised = graph.node("QuantizeLinear", [rows, f"{rows}.scales", "middles"], f"{rows}.int8", axis=0)
    return quantised, scale


def _quantise_gelu(graph: _Graph, rows: str) -> tuple[str, str]:
    """The same around ``GELU_ZERO``: wide enough for the least value that GELU has, the rest for the positive ones."""
    graph.node("ReduceMax", [rows, "last axis"], f"{rows}.max", keepdims=1)
    graph.node("Mul", [f"{rows}.max", "gelu step"], f"{rows}.step")
    scale = graph.node("Max", [f"{rows}.step", "gelu least"], f"{rows}.scale")
    graph.node("Reshape", [scale, "last axis"], f"{rows}.scales")
    quantised = graph.node("QuantizeLinear", [rows, f"{rows}.scales", "gelu zeros"], f"{rows}.int8", axis=0)
    return quantised, scale


def _product(graph: _Graph, name: str, rows: str, shape: tuple[int, int]) -> str:
    """Rows (tokens, n) times a matrix, in int8 unless the product is among ``EXACT``."""
    if name in EXACT:
        return graph.node("MatMul", [rows, graph.weight(f"{name}.weight", shape)], f"{name}.product")
    return _product_int8(graph, name, _quantise(graph, rows), shape, "middle")


def _product_int8(graph: _Graph, name: str, rows: tuple[str, str], shape: tuple[int, int], zero: str) -> str:
    quantised, scale = rows
    weight = graph.weight(f"{name}.weight", shape, TensorProto.INT8)
    columns = graph.weight(f"{name}.scale", (shape[1],))
    inputs = [quantised, weight, "unscaled", columns, zero]
    graph.node("MatMulIntegerToFloat", inputs, f"{name}.integer", FUSED)
    return graph.node("Mul", [f"{name}.integer", scale], f"{name}.product")


def _skip(graph: _Graph, name: str, layer: int, product: str, residual: str) -> str:
    norm = [graph.weight(f"{name}.{layer}.norm.{part}", (DIM,)) for part in ("gain", "bias")]
    bias = graph.weight(f"{name}.{layer}.bias", (DIM,))
    inputs = [product, residual, *norm, bias]
    return graph.node("SkipLayerNormalization", inputs, f"{name}.{layer}.out", FUSED, epsilon=EPSILON)


def _gelu(graph: _Graph, layer: int, product: str) -> str:
    return graph.node("BiasGelu", [product, graph.weight(f"inner.{layer}.bias", (HIDDEN,))], f"inner.{layer}.gelu", FUSED)


def _pool(graph: _Graph, tokens: str) -> None:
    """Sum over each text's own tokens, then unit length: the same direction as their mean."""
    graph.constant("from", np.array(0, np.int32))
    graph.constant("by", np.array(1, np.int32))
    graph.node("Squeeze", ["width"], "width.scalar")
    graph.node("Cast", ["width.scalar"], "width.int32", to=TensorProto.INT32)
    graph.node("Range", ["from", "width.int32", "by"], "places")
    graph.node("Unsqueeze", ["lengths", "one"], "lengths.column")
    graph.node("Less", ["places", "lengths.column"], "real")
    graph.node("Cast", ["real"], "real.float", to=TensorProto.FLOAT)
    graph.node("Unsqueeze", ["real.float", "one"], "real.row")
    graph.node("MatMul", ["real.row", tokens], "sum.row")
    graph.node("Squeeze", ["sum.row", "one"], "sum")
    graph.node("LpNormalization", ["sum"], "vectors", axis=1, p=2)


def write(folder: Path) -> None:
    """Write both graphs, each a few kilobytes."""
    modes: tuple[Numeric, ...] = ("fp32", "int8")
    for numeric in modes:
        model = build(numeric)
        (folder / f"minilm-{numeric}.onnx").write_bytes(model.SerializeToString(deterministic=True))


if __name__ == "__main__":
    write(Path(__file__).parent / "assets")
