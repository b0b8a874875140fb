"""Whatever is damaged in a store is found and named; what is whole is said to be."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable
from dataclasses import asdict, replace
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from PIL import Image

from configs.settings import parse_settings
from jobs.backfill import BackfillRequest, backfill
from jobs.cli.main import main
from jobs.verify import verify_versions
from operators.store.commit import load_snapshot, snapshot_key
from operators.store.manifest import DataFile, Snapshot, snapshot_to_json
from operators.store.objects import ObjectStore
from operators.store.opening import open_objects
from operators.store.verify import Finding

SETTINGS = parse_settings(
    {
        "store": {"buckets": 2},
        "encoder": {"kind": "stub"},
        "ray": {"num_cpus": 2, "object_store_mb": 128, "encode_actors": 1},
    },
    origin="tests",
)


def picture(colour: str) -> bytes:
    buffer = BytesIO()
    Image.new("RGB", (2, 2), colour).save(buffer, "PNG")
    return buffer.getvalue()


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Path:
    """Two versions of a store: six users, a picture, something in quarantine."""
    request.getfixturevalue("ray_cluster")
    home = tmp_path_factory.mktemp("verify")
    (home / "p.png").write_bytes(picture("red"))
    for name, number in (("a.jsonl", 1), ("b.jsonl", 2)):
        lines = ["{broken"]
        for user in range(6):
            content = [{"type": "text", "text": f"hello {number} {user}"}, {"type": "image_url", "image_url": "p.png"}]
            message = {"role": "user", "content": content}
            lines.append(json.dumps({"user_id": f"u{user}", "session_id": f"S{number}", "messages": [message]}))
        (home / name).write_text("\n".join(lines))
        backfill(BackfillRequest((str(home / name),), str(home / "store"), "default"), SETTINGS, lambda _: None)
    return home / "store"


@pytest.fixture
def store(built: Path, tmp_path: Path) -> Path:
    shutil.copytree(built, tmp_path / "store")
    return tmp_path / "store"


def found(store: Path, *versions: int) -> list[Finding]:
    reports = verify_versions(open_objects(str(store)), versions or (2,), threads=3, progress=lambda _: None)
    return [finding for report in reports for finding in report.findings]


def codes(store: Path, *versions: int) -> list[str]:
    return [finding.code for finding in found(store, *versions)]


def newest(store: Path) -> tuple[ObjectStore, Snapshot]:
    objects = open_objects(str(store))
    return objects, load_snapshot(objects, 2)


def path_of(store: Path, name: str, bucket: int = 0) -> Path:
    return store / newest(store)[1].buckets[bucket].files[name].path


def test_a_whole_store_gives_no_finding_and_shared_files_are_read_once(store: Path) -> None:
    reports = verify_versions(open_objects(str(store)), [1, 2], threads=2, progress=lambda _: None)
    assert [report.findings for report in reports] == [(), ()]
    assert [report.files for report in reports] == [27, 27]  # two buckets of thirteen, and the quarantine
    assert [report.pictures for report in reports] == [1, 0]
    again = verify_versions(open_objects(str(store)), [2, 2], threads=2, progress=lambda _: None)
    assert [report.files for report in again] == [27, 0]


@pytest.mark.parametrize("name", ["rounds", "units", "users", "vectors"])
def test_bytes_that_changed_are_found(store: Path, name: str) -> None:
    path = path_of(store, name)
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
    (finding,) = found(store)
    assert (finding.code, finding.key) == ("sha256", str(path.relative_to(store)))


@pytest.mark.parametrize("name", ["rounds", "units", "users", "vectors"])
def test_two_damages_are_both_found(store: Path, name: str) -> None:
    path_of(store, name).unlink()
    cut = path_of(store, "rounds", bucket=1)
    cut.write_bytes(cut.read_bytes()[:-5])
    assert codes(store) == ["missing", "size"]


def test_pictures_that_are_gone_or_changed(store: Path) -> None:
    name = hashlib.sha256(picture("red")).hexdigest()
    path = store / "media" / "sha256" / name[:2] / name
    path.write_bytes(b"other")
    assert codes(store) == ["picture-sha256"]
    path.unlink()
    assert codes(store, 1, 2) == ["picture-missing"] * 2  # read once, told of each version that it damages


def test_the_quarantine_is_looked_at_too(store: Path) -> None:
    quarantine = newest(store)[1].quarantine
    assert quarantine is not None
    (store / quarantine.path).unlink()
    assert codes(store) == ["missing"]


def rewritten(store: Path, name: str, change: Callable[[Any], Any]) -> None:
    """Another content of a file of bucket 0, with a manifest that says so: only its meaning is wrong."""
    objects, snapshot = newest(store)
    bucket = snapshot.buckets[0]
    file = bucket.files[name]
    buffer = BytesIO()
    if name == "vectors":
        np.save(buffer, change(np.load(store / file.path)))
        rows = file.rows
    else:
        table = change(pq.read_table(store / file.path))
        pq.write_table(table, buffer)
        rows = table.num_rows
    data = buffer.getvalue()
    (store / file.path).write_bytes(data)
    changed = replace(file, bytes=len(data), sha256=hashlib.sha256(data).hexdigest(), rows=rows)
    publish(store, objects, with_file(snapshot, name, changed))


def with_file(snapshot: Snapshot, name: str, file: DataFile) -> Snapshot:
    bucket = snapshot.buckets[0]
    changed = replace(bucket, files={**bucket.files, name: file})
    return replace(snapshot, buckets={**snapshot.buckets, 0: changed})


def publish(store: Path, objects: ObjectStore, snapshot: Snapshot) -> None:
    (store / snapshot_key(2)).write_bytes(snapshot_to_json(snapshot))
    assert load_snapshot(objects, 2) == snapshot


def with_column(table: pa.Table, name: str, values: list[Any]) -> pa.Table:
    at = table.schema.get_field_index(name)
    return table.set_column(at, table.schema.field(name), pa.array(values, table.schema.field(name).type))


def test_users_that_do_not_tell_what_the_rounds_make(store: Path) -> None:
    rewritten(store, "users", lambda table: with_column(table, "unit_start", [7] * len(table)))
    assert codes(store) == ["users"]
    rewritten(store, "users", lambda table: table.slice(1))
    assert codes(store) == ["users", "counts", "digest"]


def test_rounds_out_of_order_or_of_others(store: Path) -> None:
    rewritten(store, "rounds", lambda table: with_column(table, "order", [0] * len(table)))
    assert codes(store) == ["order"]
    rewritten(store, "rounds", lambda table: with_column(table, "user_id", ["u-elsewhere-9"] * len(table)))
    assert set(codes(store)) >= {"users"}


def test_a_user_of_another_bucket(store: Path) -> None:
    objects, snapshot = newest(store)
    swapped = {0: snapshot.buckets[1], 1: snapshot.buckets[0]}
    publish(store, objects, replace(snapshot, buckets=swapped))
    assert set(codes(store)) == {"bucket"}


def test_vectors_that_are_too_few_or_no_numbers(store: Path) -> None:
    rewritten(store, "vectors", lambda vectors: np.where(np.arange(len(vectors))[:, None] == 1, np.float16("nan"), vectors))
    assert codes(store) == ["vectors"]
    objects, snapshot = newest(store)
    bucket = snapshot.buckets[0]
    short = replace(bucket.files["vectors"], rows=bucket.files["vectors"].rows - 1)
    publish(store, objects, with_file(snapshot, "vectors", short))
    assert codes(store) == ["rows", "vectors"]


def test_counts_of_a_manifest_that_lies(store: Path) -> None:
    objects, snapshot = newest(store)
    lying = replace(snapshot.buckets[1], counts=replace(snapshot.buckets[1].counts, rounds=999), digest="00")
    publish(store, objects, replace(snapshot, buckets={**snapshot.buckets, 1: lying}))
    assert codes(store) == ["counts", "digest"]


def test_the_command_says_whole_or_damaged(store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["verify", "--store", str(store), "--all", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["whole"] is True
    path_of(store, "units").unlink()
    assert main(["verify", "--store", str(store)]) == 1
    said = capsys.readouterr()
    assert ": missing: expected" in said.out
    assert "--as-of" in said.err
    assert main(["verify", "--store", str(store), "--as-of", "1"]) == 0
    assert main(["verify", "--store", str(store), "--as-of", "1", "--all"]) == 2


def test_a_damaged_manifest_keeps_no_other_version_from_being_looked_at(store: Path) -> None:
    (store / snapshot_key(1)).write_bytes(b"{")
    reports = verify_versions(open_objects(str(store)), [1, 2], threads=2, progress=lambda _: None)
    assert [[finding.code for finding in report.findings] for report in reports] == [["manifest"], []]


def test_findings_name_no_user(store: Path) -> None:
    rewritten(store, "rounds", lambda table: with_column(table, "order", [5] * len(table)))
    assert not any("u1" in json.dumps(asdict(finding)).replace(finding.key, "") for finding in found(store))
