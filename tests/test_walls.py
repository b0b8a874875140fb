"""The import walls: who may import whom, read from the source of every module."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

REPO = Path(__file__).resolve().parents[1]
PACKAGES = ("operators", "jobs", "serve", "configs")
COMMON = ("operators.records", "operators.errors")
"""What everything in operators may import."""


def modules() -> Iterator[tuple[str, bool, str]]:
    """Name, whether it is a package, and source of every module of the product."""
    for package in PACKAGES:
        for path in sorted((REPO / package).rglob("*.py")):
            parts = path.relative_to(REPO).with_suffix("").parts
            is_package = parts[-1] == "__init__"
            yield ".".join(parts[:-1] if is_package else parts), is_package, path.read_text(encoding="utf-8")


def imports(module: str, is_package: bool, source: str) -> set[str]:
    """Every name a module imports, absolute: relative imports resolved, ``from a import b`` as ``a`` and ``a.b``."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = _absolute(module, is_package, node)
            found |= {base} | {f"{base}.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Constant):
            name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            if name in ("import_module", "__import__"):
                found.add(str(node.args[0].value))
    return found


def _absolute(module: str, is_package: bool, node: ast.ImportFrom) -> str:
    if node.level == 0:
        return node.module or ""
    parts = module.split(".")
    up = node.level - 1 if is_package else node.level
    base = parts[: len(parts) - up]
    return ".".join([*base, *([node.module] if node.module else [])])


def inside(name: str, *roots: str) -> bool:
    """True where ``name`` is one of ``roots`` or stands below one."""
    return any(name == root or name.startswith(f"{root}.") for root in roots)


def violations(module: str, is_package: bool, source: str) -> list[str]:
    """The walls that a module breaks, each with the import that breaks it."""
    broken = []
    for name in sorted(imports(module, is_package, source)):
        for wall, breaks in WALLS.items():
            if breaks(module, name):
                broken.append(f"{module} imports {name}: {wall}")
    return broken


def _room(module: str) -> str:
    return ".".join(module.split(".")[:2])


def _crosses_rooms(module: str, name: str) -> bool:
    if not inside(module, "operators") or inside(module, "operators.memory") or not name.startswith("operators."):
        return False
    return not inside(name, _room(module), *COMMON)


WALLS = {
    "Ray lives in jobs and serve": lambda module, name: inside(name, "ray") and not inside(module, "jobs", "serve"),
    "boto3 lives in operators/store/s3.py": lambda module, name: (
        inside(name, "boto3", "botocore") and module != "operators.store.s3"
    ),
    "operators import no jobs, serve or configs": lambda module, name: (
        inside(module, "operators") and inside(name, "jobs", "serve", "configs")
    ),
    "configs import no jobs or serve": lambda module, name: inside(module, "configs") and inside(name, "jobs", "serve"),
    "rooms of operators exchange tables, not imports": _crosses_rooms,
    "jobs do not import serve (the command line may)": lambda module, name: (
        inside(module, "jobs") and not inside(module, "jobs.cli") and inside(name, "serve")
    ),
    "serve does not import jobs": lambda module, name: inside(module, "serve") and inside(name, "jobs"),
    "tests stay outside": lambda _, name: inside(name, "tests", "sample"),
}


@pytest.mark.parametrize(("module", "is_package", "source"), [pytest.param(*found, id=found[0]) for found in modules()])
def test_walls_hold(module: str, is_package: bool, source: str) -> None:
    assert violations(module, is_package, source) == []


@pytest.mark.parametrize(
    ("module", "is_package", "source"),
    [
        ("operators.merge", False, "import ray"),
        ("operators.merge", False, "import ray.data as anything"),
        ("operators.merge", False, "def late():\n    from ray.data import Dataset"),
        ("operators.merge", False, "import importlib\nimportlib.import_module('ray')"),
        ("operators.store.local", False, "import boto3"),
        ("operators.store", True, "from botocore.config import Config"),
        ("jobs.sources", False, "import boto3.session"),
        ("operators.sources.read", False, "from configs.settings import Settings"),
        ("operators.sources.read", False, "import jobs.stages"),
        ("operators.sources.read", False, "from operators.store.objects import ObjectStore"),
        ("operators.sources.read", False, "from operators import store"),
        ("operators.sources.read", False, "from ..encode import text"),
        ("operators.sources.read", False, "from .. import encode"),
        ("operators.sources", True, "from ..retrieve.fuse import fuse"),
        ("operators.records", False, "from operators.memory import open_store"),
        ("configs.settings", False, "import serve.app"),
        ("jobs.backfill", False, "from serve import app"),
        ("serve.app", False, "from jobs.stages import cluster"),
        ("jobs.backfill", False, "from tests import conftest"),
    ],
)
def test_a_planted_violation_is_caught(module: str, is_package: bool, source: str) -> None:
    assert violations(module, is_package, source) != []


@pytest.mark.parametrize(
    ("module", "is_package", "source"),
    [
        ("operators.sources.read", False, "from operators.records import Round\nfrom . import times\nfrom .fields import x"),
        ("operators.sources", True, "from .read import survey"),
        ("operators.memory", False, "from operators.store.objects import ObjectStore\nfrom operators.retrieve import fuse"),
        ("operators.store.s3", False, "import boto3\nfrom botocore.config import Config"),
        ("jobs.cli.serve", False, "import ray\nfrom serve.app import app\nfrom configs.settings import Settings"),
        ("serve.app", False, "from ray import serve as ray_serve\nfrom operators.memory import open_store"),
        ("operators.merge", False, "import rayleigh\nimport raytracer.ray"),
    ],
)
def test_what_is_allowed_passes(module: str, is_package: bool, source: str) -> None:
    assert violations(module, is_package, source) == []


def test_every_package_is_looked_at() -> None:
    seen = {module.split(".")[0] for module, _, _ in modules()}
    assert {"operators", "jobs", "configs"} <= seen
