"""The marked blocks of README.md, then of ASKING.md, are run beside the sample; marked outputs are what they print."""

from __future__ import annotations

import doctest
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

REPO = Path(__file__).resolve().parents[1]
README = (REPO / "README.md").read_text(encoding="utf-8")
ASKING = (REPO / "ASKING.md").read_text(encoding="utf-8")
BLOCK = re.compile(r"^<!-- (?P<mark>run|output) -->\n```(?P<language>\w+)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Block:
    """A block to run and the output shown for it, if any."""

    language: str
    text: str
    shown: str | None


def blocks() -> list[Block]:
    found: list[Block] = []
    for match in BLOCK.finditer(README + ASKING):
        if match["mark"] == "run":
            found.append(Block(match["language"], match["text"], None))
        else:
            found[-1] = Block(found[-1].language, found[-1].text, match["text"])
    return found


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A working folder that looks like the repository's root to the commands."""
    folder = tmp_path_factory.mktemp("readme")
    (folder / "sample").symlink_to(REPO / "sample")
    yield folder


def run(block: Block, place: Path) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}", "NO_COLOR": "1"}
    command = {"bash": ["bash", "-euo", "pipefail", "-c"], "python": [sys.executable, "-c"]}[block.language]
    return subprocess.run(
        [*command, block.text],
        cwd=place,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )


@pytest.mark.timeout(1800)  # every block of the page, of which a backfill with pictures takes minutes on a busy machine
def test_marked_blocks_run_and_print_what_is_shown(place: Path) -> None:
    found = blocks()
    assert len(found) >= 4
    checker = doctest.OutputChecker()
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    for block in found:
        done = run(block, place)
        assert done.returncode == 0, f"{block.text}\n{done.stdout}\n{done.stderr}"
        assert done.stdout.strip(), f"printed nothing:\n{block.text}"
        if block.shown is not None:
            assert checker.check_output(block.shown, done.stdout, flags), f"shown:\n{block.shown}\nprinted:\n{done.stdout}"


def test_every_mark_stands_before_a_block() -> None:
    assert len(BLOCK.findall(README)) == len(re.findall(r"^<!-- (?:run|output) -->$", README, re.MULTILINE))


@pytest.mark.parametrize("target", sorted(set(re.findall(r"\]\((?!https?:)([^)#]+)\)", README))))
def test_links_lead_somewhere(target: str) -> None:
    assert (REPO / target).exists()
