"""Helpers beside this file, which its tests import by name."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

_spec = importlib.util.spec_from_file_location("shown", Path(__file__).with_name("shown.py"))
assert _spec is not None and _spec.loader is not None
sys.modules["shown"] = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(sys.modules["shown"])
