"""A scripted OpenAI-compatible server on 127.0.0.1, and what is asked of models in these tests."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

_spec = importlib.util.spec_from_file_location("scripted", Path(__file__).with_name("scripted.py"))
assert _spec is not None and _spec.loader is not None
scripted = importlib.util.module_from_spec(_spec)
sys.modules["scripted"] = scripted
_spec.loader.exec_module(scripted)


@pytest.fixture
def server() -> Iterator[object]:
    """A server without replies: a test gives it some."""
    started = scripted.Server()
    yield started
    started.close()
