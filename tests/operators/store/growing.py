"""Stores that grow by runs, for the tests of collection, and what it means that one is whole."""

from __future__ import annotations

import hashlib
import json
import uuid
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

import pyarrow as pa

from operators import records
from operators.store.commit import latest_version, load_snapshot, pin, publish, versions
from operators.store.manifest import BucketFiles, Counts, DataFile, Snapshot, StoreSpec
from operators.store.objects import ObjectStore
from operators.store.tables import read_table, read_whole, write_table

SPEC = StoreSpec(buckets=3, encoder={"m": 1})


def picture(number: int) -> tuple[str, str]:
    """(sha256, key) of a picture."""
    name = hashlib.sha256(f"picture {number}".encode()).hexdigest()
    return name, f"media/sha256/{name[:2]}/{name}"


def write_rounds(objects: ObjectStore, key: str, pictures: list[int]) -> DataFile:
    images = (*(records.Image(0, "r", media=picture(number)[0]) for number in pictures), records.Image(0, "unseen"))
    told = records.Round("s", "r0", 0, (records.Message("user", "u", "hello"),), images=images)
    table = pa.Table.from_pylist(records.round_rows("t", "u", [told], "test"), records.ROUNDS)
    return write_table(objects, key, table, records.ROUNDS)


@dataclass
class Run:
    """A writer: every step puts a picture, a fragment, a bucket's data and a marker."""

    objects: ObjectStore
    name: str = field(default_factory=lambda: uuid.uuid4().hex[:8])
    done: dict[int, BucketFiles] = field(default_factory=dict)

    def __post_init__(self) -> None:
        base = latest_version(self.objects)
        self.objects.put(f"runs/{self.name}/plan.json", json.dumps({"base_version": base}).encode())

    def work(self, bucket: int, number: int) -> None:
        revision = uuid.uuid4().hex[:8]
        self.objects.put(picture(number)[1], f"picture {number}".encode())
        self.objects.put(f"runs/{self.name}/fragments/{revision}.parquet", b"fragment")
        file = write_rounds(self.objects, f"runs/{self.name}/data/{bucket}-{revision}/rounds.parquet", [number])
        self.objects.put(f"runs/{self.name}/buckets/{bucket}.json", b"{}")
        self.done[bucket] = BucketFiles(revision, {"rounds": file}, Counts(), "0")

    def commit(self) -> Snapshot:
        base = pin(self.objects)
        snapshot = replace(
            base,
            version=base.version + 1,
            parent=base.version,
            commit_id=uuid.uuid4().hex,
            run_id=self.name,
            committed_at=datetime.now(UTC),
            buckets={**base.buckets, **self.done},
        )
        publish(self.objects, snapshot)
        return snapshot


def grown(store: ObjectStore, count: int) -> list[Snapshot]:
    """That many runs, each replacing bucket 0 with a picture of its own, the first also filling bucket 1."""
    committed = []
    for number in range(count):
        run = Run(store)
        run.work(0, number)
        if number == 0:
            run.work(1, 100)
        committed.append(run.commit())
    return committed


def require_whole(objects: ObjectStore) -> None:
    """Every manifest that is there has all its files, whole, and all the pictures that they name."""
    for version in versions(objects):
        for file in load_snapshot(objects, version).files():
            read_whole(objects, file)
            for images in read_table(objects, file, columns=["images"]).column("images").to_pylist():
                for image in images:
                    if image["media"]:
                        objects.head(f"media/sha256/{image['media'][:2]}/{image['media']}")
