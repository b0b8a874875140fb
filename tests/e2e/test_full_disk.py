"""A disk that fills up in the middle of a backfill: it stops clearly, commits nothing, and goes on once there is room."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

SCRIPT = """
disk="$1"; shift
mount -t tmpfs -o size=2m tmpfs "$disk" || exit 99
run() { "$@" --store "$disk/store"; }
backfill() { run "$python" -m jobs.cli.main backfill "$source" --config "$config"; }
python="$1" source="$2" config="$3" out="$4"
backfill > "$out/first.txt" 2>&1; echo $? > "$out/first.code"
ls "$disk/store/snapshots" > "$out/first.snapshots" 2>/dev/null
find "$disk/store" -path '*.mnemosaic/tmp/*' -type f > "$out/first.working"
mount -o remount,size=200m "$disk" || exit 99
backfill > "$out/second.txt" 2>&1; echo $? > "$out/second.code"
run "$python" -m jobs.cli.main status --json > "$out/status.json"
"""


def sessions(make: Any) -> list[dict[str, Any]]:
    """Some 5 MB of text that does not pack well."""
    dice = random.Random(7)

    def text() -> str:
        return " ".join(f"{dice.getrandbits(40):x}" for _ in range(60))

    return [make.session(f"user{number % 9}", f"S{number}", [(text(), text()) for _ in range(10)]) for number in range(400)]


def test_a_disk_that_fills_up_stops_the_run_and_loses_nothing(make: Any, cli: Any, tmp_path: Path) -> None:
    source = make.jsonl(tmp_path / "source.jsonl", sessions(make))
    config = make.config(tmp_path / "config.yaml", {"store.buckets": 4})
    disk, out = tmp_path / "disk", tmp_path / "out"
    disk.mkdir()
    out.mkdir()
    program = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", SCRIPT, "sh", str(disk), sys.executable]
    done = subprocess.run(
        [*program, str(source), str(config), str(out)],
        cwd=Path(__file__).resolve().parents[2],
        env=cli.env,
        capture_output=True,
        text=True,
        timeout=400,
    )
    if "unshare:" in done.stderr or "mount:" in done.stderr:
        pytest.skip(f"no file system may be mounted here: {done.stderr.strip()}")

    def told(name: str) -> str:
        return (out / name).read_text(encoding="utf-8").strip()

    assert told("first.code") == "1", told("first.txt")
    assert "is full" in told("first.txt") and "Traceback" not in told("first.txt")
    assert told("first.snapshots") == told("first.working") == ""
    assert told("second.code") == "0", told("second.txt")
    cli.backfill(source, store=tmp_path / "whole", config=config)
    status = json.loads(told("status.json"))
    assert (status["version"], status["quarantined"]) == (1, 0)
    assert status["content_digest"] == cli.digest(tmp_path / "whole")
