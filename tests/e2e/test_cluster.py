"""The same backfill on a cluster that runs already, by its address; nothing of it is left behind or stopped."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

HEAD = """
import sys
import ray
context = ray.init(address="local", num_cpus=2, include_dashboard=False, object_store_memory=128 << 20, log_to_driver=False)
print("ADDRESS", context.address_info["address"], flush=True)
sys.stdin.read()
"""


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """A Ray cluster in a process of its own; it ends when its standard input closes."""
    with subprocess.Popen([sys.executable, "-c", HEAD], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as head:
        assert head.stdout is not None
        told = next((line for line in head.stdout if line.startswith("ADDRESS")), "")
        yield told.split()[1]
        assert head.poll() is None, "the cluster was stopped by who used it"


def test_a_cluster_builds_the_same_store(cli: Any, sample: Any, sample_store: Path, address: str, tmp_path: Path) -> None:
    done = cli.backfill(sample.folder, store=tmp_path / "store", more=["--ray-address", address])
    assert {name: cli.status(tmp_path / "store")[name] for name in sample.counts} == sample.counts, str(done)
    assert cli.digest(tmp_path / "store") == cli.digest(sample_store)


def test_an_address_without_a_cluster_is_said(cli: Any, sample: Any, tmp_path: Path) -> None:
    done = cli.run("backfill", sample.folder, "--store", tmp_path / "store", "--ray-address", "127.0.0.1:9", limit=200)
    assert done.code != 0, str(done)
    assert "127.0.0.1:9" in done.err
    assert "Traceback" not in done.text
