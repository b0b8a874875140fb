"""The same journey against an S3 server: source and store both ``s3://``."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import boto3
import pytest

from operators.memory import open_store

BUCKET = "mnemosaic-e2e"


@dataclass(frozen=True)
class Server:
    cli: Any
    client: Any
    store: str
    done: Any


@pytest.fixture(scope="module")
def server(cli: Any, sample: Any, s3_server: str) -> Server:
    """The sample uploaded to a bucket of its own, and one backfill from there into the same bucket."""
    client = boto3.session.Session().client("s3", endpoint_url=s3_server)
    client.create_bucket(Bucket=BUCKET)
    for path in sorted(sample.folder.rglob("*")):
        if path.is_file():
            client.upload_file(str(path), BUCKET, f"src/{path.relative_to(sample.folder).as_posix()}")
    there = cli.with_env(
        {name: value for name, value in os.environ.items() if name.startswith("AWS_") or "proxy" in name.lower()}
    )
    store = f"s3://{BUCKET}/deep/store"
    return Server(there, client, store, there.backfill(f"s3://{BUCKET}/src/", store=store))


def test_counts_and_digest_are_those_of_the_disk(server: Server, cli: Any, sample: Any, sample_store: Path) -> None:
    status = server.cli.status(server.store)
    assert {name: status[name] for name in sample.counts} == sample.counts, str(server.done)
    assert status["content_digest"] == cli.digest(sample_store)


def test_search_users_and_show_read_it(server: Server, reads: Any) -> None:
    hits = reads.hits(server.cli.read("search", "saxophone3", "--user", "ada", "--store", server.store))
    assert max(hits, key=lambda record: record["score"])["round_id"] == "S2:3"
    assert sorted(reads.users(server.cli.read("users", "--store", server.store))) == ["ada", "bo"]
    assert len(reads.rounds(server.cli.read("show", "ada", "S2", "--store", server.store))) == 4
    assert reads.rounds(server.cli.read("search", "saxophone3", "--user", "nobody", "--store", server.store)) == []


def test_pictures_came_along(server: Server, sample: Any, reads: Any) -> None:
    (record,) = reads.rounds(server.cli.read("show", "ada", "S3", "--store", server.store))
    key = record["images"][0]["media"]
    kept = server.client.get_object(Bucket=BUCKET, Key=f"deep/store/media/sha256/{key[:2]}/{key}")["Body"].read()
    assert kept == (sample.folder / "images" / "p2.png").read_bytes()


def test_python_reads_it(server: Server) -> None:
    assert open_store(server.store).memory("default").rounds("bo").height == 7


def test_the_same_source_again_adds_nothing(server: Server, reads: Any) -> None:
    before = server.cli.status(server.store)
    again = server.cli.backfill(f"s3://{BUCKET}/src/histories.jsonl", store=server.store)
    after = server.cli.status(server.store)
    assert after["content_digest"] == before["content_digest"]
    assert after["rounds"] == before["rounds"]
    assert reads.number(again, "encoded") == 0


def test_nothing_is_written_outside_the_stores_prefix(server: Server) -> None:
    keys = [item["Key"] for item in server.client.list_objects_v2(Bucket=BUCKET)["Contents"]]
    assert all(key.startswith(("src/", "deep/store/")) for key in keys)
    assert len([key for key in keys if key.startswith("src/")]) == 4


def test_a_bucket_that_is_not_there_is_said_and_not_waited_for(server: Server, sample: Any) -> None:
    for words in (
        ("status", "--store", "s3://not-there-at-all/store"),
        ("backfill", sample.folder, "--store", "s3://not-there-at-all/store"),
        ("backfill", "s3://not-there-at-all/src/", "--store", server.store),
    ):
        done = server.cli.run(*words, limit=90)
        assert done.code != 0, str(done)
        assert "not-there-at-all" in done.err
        assert "Traceback" not in done.text
