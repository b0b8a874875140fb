"""``verify``: what it prints, what it exits with, and which versions it finds whole."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pyarrow as pa
import pytest

from jobs.cli.main import main
from operators import records
from operators.store.commit import create_store, publish, snapshot_key
from operators.store.local import LocalObjects
from operators.store.manifest import DataFile, Snapshot, StoreSpec
from operators.store.tables import write_table

SPEC = StoreSpec(buckets=1, encoder={"dim": 4})


def quarantine_key(number: int) -> str:
    return f"runs/r/data/quarantine-{number}.parquet"


def quarantined(objects: LocalObjects, number: int) -> DataFile:
    row = {records.TENANT: "t", "file": "f", "code": "bad-json", "reason": "no JSON", records.ASKED: str(number)}
    table = pa.Table.from_pylist([row], records.QUARANTINE)
    return write_table(objects, quarantine_key(number), table, records.QUARANTINE)


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """Three versions; the first two share their one file."""
    objects = LocalObjects(tmp_path / "store")
    create_store(objects, SPEC)
    shared, other = quarantined(objects, 1), quarantined(objects, 3)
    for version, file in ((1, shared), (2, shared), (3, other)):
        publish(objects, Snapshot(version, version - 1, f"c{version}", "r", datetime.now(UTC), SPEC, quarantine=file))
    return tmp_path / "store"


def facts(said: str) -> dict[str, str]:
    """The table of facts that ends what is printed."""
    return {line.split()[0]: line.split(maxsplit=1)[1].strip() for line in said.splitlines()[-6:]}


def test_a_whole_store_is_zero(store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["verify", "--store", str(store), "--all"]) == 0
    said = facts(capsys.readouterr().out)
    assert (said["versions"], said["whole"], said["files"], said["damaged"]) == ("1, 2, 3", "1, 2, 3", "2", "0")


def test_damage_is_one_a_line_and_says_what_to_do(store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (store / quarantine_key(1)).unlink()
    assert main(["verify", "--store", str(store), "--all"]) == 1
    said = capsys.readouterr()
    lines = [line for line in said.out.splitlines() if line.startswith(quarantine_key(1))]
    assert len(lines) == 1
    assert lines[0].startswith(f"{quarantine_key(1)}: missing: expected ")
    assert facts(said.out)["whole"] == "3"
    assert all(word in said.err for word in ("--as-of", "sources", "export"))


def test_a_version_is_judged_by_itself(store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (store / quarantine_key(1)).unlink()
    assert main(["verify", "--store", str(store)]) == 0
    assert main(["verify", "--store", str(store), "--as-of", "2"]) == 1
    capsys.readouterr()
    assert main(["verify", "--store", str(store), "--all", "--json"]) == 1
    said = json.loads(capsys.readouterr().out)
    assert said["whole"] is False
    assert [[each["code"] for each in version["findings"]] for version in said["versions"]] == [["missing"], ["missing"], []]


@pytest.mark.parametrize("version", [1, 3])
def test_a_manifest_that_cannot_be_read_is_a_finding(store: Path, version: int, capsys: pytest.CaptureFixture[str]) -> None:
    (store / snapshot_key(version)).write_bytes(b"{")
    assert main(["verify", "--store", str(store), "--all"]) == 1
    said = capsys.readouterr().out
    assert f"{snapshot_key(version)}: manifest: " in said
    assert facts(said)["whole"] == ", ".join(str(each) for each in (1, 2, 3) if each != version)
    assert main(["verify", "--store", str(store)]) == (1 if version == 3 else 0)


def test_an_empty_store_is_whole_and_no_store_is_an_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    create_store(LocalObjects(tmp_path / "empty"), SPEC)
    assert main(["verify", "--store", str(tmp_path / "empty"), "--all"]) == 0
    assert main(["verify", "--store", str(tmp_path / "nothing"), "--all"]) == 2
    assert "no Mnemosaic store" in capsys.readouterr().err


def test_all_versions_and_one_of_them_are_not_asked_together(store: Path) -> None:
    assert main(["verify", "--store", str(store), "--all", "--as-of", "1"]) == 2
