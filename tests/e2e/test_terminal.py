"""The command line as a tool: help that helps, exit codes, plain refusals, a progress bar on a terminal."""

from __future__ import annotations

import os
import pty
import select
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

COMMANDS = ("backfill", "search", "status", "users", "show", "quarantine", "gc", "bench")
REPO = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("command", COMMANDS)
def test_help_of_every_command(cli: Any, command: str) -> None:
    done = cli.ok(command, "--help")
    assert "usage" in done.out.lower()
    assert command in done.out


def test_help_lists_the_commands_with_a_word_on_each(cli: Any) -> None:
    out = cli.ok("--help").out
    for command in COMMANDS:
        (line,) = [line for line in out.splitlines() if line.strip(" │|").startswith(f"{command} ")]
        assert len(line.strip(" │|").split()) > 3, line


def test_backfill_help_names_every_option(cli: Any) -> None:
    out = cli.ok("backfill", "--help").out
    for option in ("--store", "--tenant", "--user", "--timezone", "--config", "--format", "--strict", "--ray-address"):
        assert option in out


def test_search_help_names_every_option(cli: Any) -> None:
    out = cli.ok("search", "--help").out
    for option in ("--user", "--store", "--tenant", "--k", "--as-of", "--json"):
        assert option in out


@pytest.mark.parametrize(
    "words",
    [
        ("nonsense",),
        ("backfill",),
        ("backfill", "x.jsonl"),
        ("status",),
        ("search", "--user", "ada", "--store", "somewhere"),
        ("search", "x", "--user", "ada"),
        ("status", "--store", "somewhere", "--nonsense"),
    ],
    ids=" ".join,
)
def test_a_wrong_command_line_ends_with_2(cli: Any, words: tuple[str, ...]) -> None:
    done = cli.run(*words)
    assert done.code == 2, str(done)
    assert "Traceback" not in done.text
    assert done.err.strip()


@pytest.mark.parametrize("k", ["0", "-3", "many"])
def test_a_senseless_k_is_refused(cli: Any, sample_store: Path, k: str) -> None:
    done = cli.run("search", "walrus1", "--user", "bo", "--store", sample_store, f"--k={k}")
    assert done.code == 2, str(done)


def test_an_unknown_setting_is_refused_by_name(cli: Any, sample: Any, tmp_path: Path) -> None:
    config = tmp_path / "c.yaml"
    config.write_text("encoder:\n  kind: stub\n  colour: blue\n")
    done = cli.run("backfill", sample.folder, "--store", tmp_path / "store", "--config", config)
    assert done.code == 2, str(done)
    assert "colour" in done.err
    assert str(config) in done.err
    assert not (tmp_path / "store").exists()


def test_the_installed_script_is_the_same_tool(cli: Any) -> None:
    script = Path(sys.executable).with_name("mnemosaic")
    if not script.exists():
        pytest.skip("the package's script is not installed beside this Python")
    out = subprocess.run([script, "--help"], capture_output=True, text=True, env=cli.env, check=True, timeout=60).stdout
    assert all(command in out for command in COMMANDS)


def test_a_search_is_quick_to_start(cli: Any, sample_store: Path) -> None:
    """Reading starts no cluster: the whole command takes seconds, even on a busy machine."""
    start = time.monotonic()
    cli.ok("search", "walrus1", "--user", "bo", "--store", sample_store)
    assert time.monotonic() - start < 15


def test_a_terminal_gets_a_progress_bar(cli: Any, sample: Any, tmp_path: Path) -> None:
    """On a pseudo-terminal the line is redrawn in place and tells the rate."""
    words = ["backfill", sample.folder, "--store", tmp_path / "store", "--config", REPO / "configs" / "test.yaml"]
    leader, follower = pty.openpty()
    env = {**cli.env, "TERM": "xterm-256color"}
    env.pop("NO_COLOR")
    process = subprocess.Popen(
        [sys.executable, "-m", "jobs.cli.main", *map(str, words)],
        cwd=REPO,
        env=env,
        stdin=follower,
        stdout=follower,
        stderr=follower,
    )
    os.close(follower)
    seen = _drain(leader, process, 120)
    assert process.wait(30) == 0, seen
    assert "rounds/s" in seen
    assert "\x1b[" in seen or "\r" in seen.replace("\r\n", "")


def _drain(leader: int, process: subprocess.Popen[bytes], seconds: float) -> str:
    data = b""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        ready, _, _ = select.select([leader], [], [], 0.2)
        if not ready:
            if process.poll() is not None:
                break
            continue
        try:
            chunk = os.read(leader, 65536)
        except OSError:
            break
        if not chunk:
            break
        data += chunk
    os.close(leader)
    return data.decode("utf-8", "replace")
