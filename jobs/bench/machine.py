"""What a figure was measured on."""

from __future__ import annotations

import os
import platform
import subprocess
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

PACKAGES = (
    "ray",
    "polars",
    "pyarrow",
    "numpy",
    "onnxruntime",
    "tokenizers",
    "bm25s",
    "rapidocr",
    "torch",
    "sentence-transformers",
    "transformers",
)
_TELLING_FLAGS = ("avx2", "avx512f", "avx512_vnni", "avx512_bf16", "avx_vnni", "amx_int8", "amx_bf16")
"""CPU features that decide how fast a model's numeric modes are."""


@dataclass(frozen=True)
class Machine:
    """``cores``: CPUs this process may use. ``load``: mean of running processes over the last minute, at the start.

    ``commit`` is None outside a git checkout, ``changed`` True where the checkout differs from it.
    """

    cpu: str
    cpu_features: tuple[str, ...]
    cores: int
    ram_gib: float
    system: str
    python: str
    packages: dict[str, str]
    commit: str | None
    changed: bool
    load: float


def machine() -> Machine:
    """This machine, now."""
    described = _cpu_description()
    flags = described.get("flags", "").split()
    commit = _git("rev-parse", "--short=12", "HEAD")
    return Machine(
        cpu=described.get("model name") or platform.processor() or platform.machine(),
        cpu_features=tuple(flag for flag in _TELLING_FLAGS if flag in flags),
        cores=cores(),
        ram_gib=round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30, 1),
        system=f"{platform.system()} {platform.release()}",
        python=platform.python_version(),
        packages={name: found for name in PACKAGES if (found := _version(name))},
        commit=commit,
        changed=bool(commit and _git("status", "--porcelain")),
        load=os.getloadavg()[0],
    )


def cores() -> int:
    """CPUs that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _cpu_description() -> dict[str, str]:
    """The lines of Linux's description of the first CPU; empty on other systems."""
    path = Path("/proc/cpuinfo")
    if not path.exists():
        return {}
    first = path.read_text(encoding="utf-8").split("\n\n")[0]
    pairs = (line.partition(":") for line in first.splitlines())
    return {name.strip(): value.strip() for name, _, value in pairs}


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _git(*words: str) -> str | None:
    """What git says of the checkout that this file stands in; None without git or checkout."""
    command = ["git", "-C", str(Path(__file__).parent), *words]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        return None
    return done.stdout.strip() if done.returncode == 0 else None
