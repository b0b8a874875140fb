"""Manifests as written: a round trip keeps all, another format says what to do, an unknown key is never lost in silence."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from operators.errors import StoreCorrupt, StoreFormatError
from operators.store.commit import SPEC_KEY, create_store, load_spec, pin, publish, snapshot_key
from operators.store.local import LocalObjects
from operators.store.manifest import (
    FORMAT,
    BucketFiles,
    Counts,
    DataFile,
    Snapshot,
    StoreSpec,
    snapshot_from_json,
    snapshot_to_json,
)

SPEC = StoreSpec(buckets=2, encoder={"model": "m", "dim": 4})
FILE = DataFile("runs/r/data/0/rounds.parquet", 7, "ab" * 32, 3)
SNAPSHOT = Snapshot(
    version=1,
    parent=0,
    commit_id="c",
    run_id="r",
    committed_at=datetime(2025, 3, 1, tzinfo=UTC),
    spec=SPEC,
    config_fingerprint="f",
    buckets={1: BucketFiles("rev", {"rounds": FILE}, Counts(1, 2, 3, 4, 5), "0" * 64)},
    quarantine=DataFile("runs/r/data/q.parquet", 1, "cd" * 32, 1),
    changes={"added": 3},
)


@pytest.fixture
def store(tmp_path: Path) -> LocalObjects:
    objects = LocalObjects(tmp_path / "store")
    create_store(objects, SPEC)
    publish(objects, SNAPSHOT)
    return objects


def change(objects: LocalObjects, key: str, edit: Callable[[dict[str, Any]], object]) -> None:
    raw = json.loads(objects.get(key))
    edit(raw)
    objects.put(key, json.dumps(raw).encode())


def test_a_snapshot_comes_back_as_it_was() -> None:
    assert snapshot_from_json(snapshot_to_json(SNAPSHOT), key="k") == SNAPSHOT


READS: list[tuple[str, Callable[[LocalObjects], Any]]] = [(SPEC_KEY, load_spec), (snapshot_key(1), pin)]


@pytest.mark.parametrize(("key", "read"), READS)
@pytest.mark.parametrize(
    ("found", "advice"),
    [(FORMAT + 1, "newer than this release.*upgrade mnemosaic"), (99, "upgrade mnemosaic")]
    + [(number, "older than this release.*build the store again from its sources.*the release that wrote it")
       for number in range(FORMAT)],
)  # fmt: skip
def test_another_format_says_what_to_do(
    store: LocalObjects, key: str, read: Callable[[LocalObjects], Any], found: int, advice: str
) -> None:
    change(store, key, lambda raw: raw.update(format=found))
    with pytest.raises(StoreFormatError, match=f"{key}: store format {found} is {advice}" if found != 99 else advice):
        read(store)


@pytest.mark.parametrize(("key", "read"), READS)
def test_a_newer_format_is_told_whatever_else_it_looks_like(
    store: LocalObjects, key: str, read: Callable[[LocalObjects], Any]
) -> None:
    store.put(key, json.dumps({"format": FORMAT + 1, "everything": "moved"}).encode())
    with pytest.raises(StoreFormatError, match="upgrade"):
        read(store)


@pytest.mark.parametrize(("key", "read"), READS)
@pytest.mark.parametrize("found", [None, "2", True, 2.0, [2]])
def test_no_format_is_damage(store: LocalObjects, key: str, read: Callable[[LocalObjects], Any], found: Any) -> None:
    change(store, key, lambda raw: raw.update(format=found))
    with pytest.raises(StoreCorrupt, match=key):
        read(store)


PLACES: dict[str, Callable[[dict[str, Any]], object]] = {
    "snapshot": lambda raw: raw.update(tables={}),
    "spec": lambda raw: raw["spec"].update(tables={}),
    "bucket": lambda raw: raw["buckets"]["1"].update(tables={}),
    "counts": lambda raw: raw["buckets"]["1"]["counts"].update(tables=1),
    "file": lambda raw: raw["buckets"]["1"]["files"]["rounds"].update(tables=1),
    "quarantine": lambda raw: raw["quarantine"].update(tables=1),
}


@pytest.mark.parametrize("place", PLACES)
def test_an_unknown_key_is_refused_not_dropped(store: LocalObjects, place: str) -> None:
    change(store, snapshot_key(1), PLACES[place])
    with pytest.raises(StoreFormatError, match=r"0001\.json holds 'tables'.*upgrade mnemosaic"):
        pin(store)


def test_an_unknown_key_of_the_store_is_refused(store: LocalObjects) -> None:
    change(store, SPEC_KEY, lambda raw: raw.update(region="x"))
    with pytest.raises(StoreFormatError, match="'region'"):
        load_spec(store)


def test_datasets_of_any_name_and_all_of_the_encoder_survive_a_rebase(store: LocalObjects) -> None:
    """What is open by design, the names of datasets and the encoder's own keys, is carried from version to version."""
    change(store, snapshot_key(1), lambda raw: raw["buckets"]["1"]["files"].update(index=raw["quarantine"]))
    change(store, snapshot_key(1), lambda raw: raw["spec"]["encoder"].update(pooling="mean"))
    again = snapshot_from_json(snapshot_to_json(pin(store)), key="k")
    assert again.buckets[1].files["index"] == SNAPSHOT.quarantine
    assert again.spec.encoder["pooling"] == "mean"
