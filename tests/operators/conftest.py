"""The invented histories of ``diaries.py``, which tests import by name, and a store of them."""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from operators.memory import Memory

_spec = importlib.util.spec_from_file_location("diaries", Path(__file__).with_name("diaries.py"))
assert _spec is not None and _spec.loader is not None
sys.modules["diaries"] = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(sys.modules["diaries"])


@pytest.fixture(scope="session")
def diaries_store(ray_cluster: str, tmp_path_factory: pytest.TempPathFactory) -> str:
    """A store of nora, otto, petra and mallory, made once by a backfill with the packaged encoder."""
    import diaries

    from configs.settings import parse_settings
    from jobs.backfill import BackfillRequest, backfill

    assert ray_cluster
    root = tmp_path_factory.mktemp("diaries")
    source = root / "all.jsonl"
    lines = (json.dumps(each, ensure_ascii=False) + "\n" for each in diaries.all_sessions())
    source.write_text("".join(lines), encoding="utf-8")
    settings = parse_settings(
        {
            "store": {"buckets": 2},
            "image_encoder": {"kind": "none"},
            "extract": {"ocr": "none"},
            "ray": {"num_cpus": 2, "object_store_mb": 128, "encode_actors": 1},
        },
        origin="tests",
    )
    backfill(BackfillRequest((str(source),), str(root / "store"), "default"), settings, lambda _: None)
    return str(root / "store")


@pytest.fixture(scope="session")
def diaries_memory(diaries_store: str) -> Memory:
    """The memory of that store."""
    from operators.memory import open_store

    return open_store(diaries_store).memory()
