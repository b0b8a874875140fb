"""The committed graphs are what the committed script writes."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

import pytest

pytest.importorskip("onnx", reason="the graphs are rebuilt only where onnx is installed (extra dev)")


def test_the_graphs_are_what_the_script_writes(tmp_path: Path) -> None:
    from operators.encode.graph import write

    write(tmp_path)
    for name in ("minilm-fp32.onnx", "minilm-int8.onnx"):
        assert (tmp_path / name).read_bytes() == files("operators.encode").joinpath(f"assets/{name}").read_bytes()
