"""What the product imports is what pyproject.toml declares, and the lock pins it."""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

REPO = Path(__file__).resolve().parents[1]
PACKAGES = ("operators", "jobs", "serve", "configs")
PROJECT = tomllib.loads((REPO / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def canonical(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def names(requirements: list[str]) -> set[str]:
    found = (re.match(r"[A-Za-z0-9._-]+", requirement) for requirement in requirements)
    return {canonical(match[0]) for match in found if match}


def imported() -> dict[str, str]:
    """Top-level names of other people's packages, and a module that imports each."""
    found: dict[str, str] = {}
    for package in PACKAGES:
        for path in (REPO / package).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                modules = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
                if isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
                    modules = [node.module]
                for module in modules:
                    found[module.split(".")[0]] = str(path.relative_to(REPO))
    return {name: path for name, path in found.items() if name not in {*sys.stdlib_module_names, *PACKAGES}}


def test_every_import_is_declared() -> None:
    declared = names(PROJECT["dependencies"])
    for extra in PROJECT["optional-dependencies"].values():
        declared |= names(extra)
    # boto3 brings botocore, and its exceptions are botocore's; _typeshed is the type checker's own.
    known = packages_distributions() | {"botocore": ["boto3"], "_typeshed": ["boto3"]}
    strays = {
        name: path
        for name, path in imported().items()
        if not {canonical(distribution) for distribution in known.get(name, [name])} & declared
    }
    assert strays == {}


def locked() -> dict[str, list[str]]:
    pins: dict[str, list[str]] = {}
    for line in (REPO / "requirements.lock").read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            name, _, version = line.partition("==")
            assert version, f"not a pin: {line}"
            pins.setdefault(canonical(name), []).append(version.split(";")[0].strip())
    return pins


@pytest.mark.parametrize("group", ["dependencies", "test", "dev"])
def test_the_lock_pins_what_is_declared(group: str) -> None:
    wanted = PROJECT["dependencies"] if group == "dependencies" else PROJECT["optional-dependencies"][group]
    assert names(wanted) - {"mnemosaic"} <= set(locked())


def test_the_lock_is_light_and_names_no_place() -> None:
    assert not {"torch", "transformers", "vllm", "faiss-gpu"} & set(locked())
    text = (REPO / "requirements.lock").read_text(encoding="utf-8")
    assert not re.search(r"://|file:|--(find-links|index-url|extra-index-url|trusted-host)|\s@\s", text)
