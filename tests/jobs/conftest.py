"""Small sources and settings for the jobs."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from configs.settings import Settings, parse_settings


@pytest.fixture
def settings() -> Settings:
    """The stub encoder, few buckets, small pieces: a handful of rounds crosses every boundary."""
    return parse_settings(
        {
            "store": {"buckets": 3},
            "sources": {"split_bytes": 2048, "fragment_rounds": 9},
            "encoder": {"kind": "stub", "block_units": 32},
            "ray": {"num_cpus": 2, "object_store_mb": 128, "encode_actors": 1},
        },
        origin="tests",
    )


@pytest.fixture
def write_sessions(tmp_path: Path) -> Callable[..., Path]:
    """Writes sessions as a JSONL file and returns its path."""

    def write(name: str, sessions: list[dict[str, Any]]) -> Path:
        path = tmp_path / name
        path.write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in sessions), encoding="utf-8")
        return path

    return write
