"""What a worker of a re-induction does: counts of several shards added, and a bucket's tables made anew."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Collection, Sequence
from dataclasses import asdict, replace
from typing import Any

import pyarrow as pa

from jobs.induce import Embedder, Inducing, reinduce_bucket
from jobs.source import source_of
from operators.encode.text import TextEncoder
from operators.induce.counts import merge, pooled
from operators.records import COUNTS
from operators.store.manifest import BucketFiles, DataFile, bucket_from_dict, bucket_to_dict
from operators.store.objects import ObjectStore
from operators.store.tables import read_table, write_table

Doing = Callable[[Any], dict[str, Any]]
"""Does an order, which is what JSON gives, and says what became of it, which JSON takes."""


def counting(objects: ObjectStore, run_id: str) -> Doing:
    """Adds the counts of files (``DataFile`` as dicts) for whole tenants; says which file holds the sum."""

    def add(order: Any) -> dict[str, Any]:
        counts = merge(pooled(read_table(objects, DataFile(**raw))) for raw in order)
        key = f"runs/{run_id}/added/{uuid.uuid4().hex}.parquet"
        return asdict(write_table(objects, key, counts, COUNTS))

    return add


def inducing(
    objects: ObjectStore,
    run_id: str,
    how: Inducing,
    only: Sequence[tuple[str, str]] | None,
    load_encoder: Callable[[], TextEncoder],
) -> Doing:
    """Makes the tables of a bucket (its number, its ``files`` as a dict) anew, as ``rebuilt`` does."""
    embed = Embedder(load_encoder)
    named = None if only is None else {(tenant, user) for tenant, user in only}

    def induce(order: Any) -> dict[str, Any]:
        return rebuilt(objects, run_id, order["bucket"], bucket_from_dict(order["files"]), how, embed, named)

    return induce


def rebuilt(
    objects: ObjectStore,
    run_id: str,
    number: int,
    bucket: BucketFiles,
    how: Inducing,
    embed: Embedder,
    only: Collection[tuple[str, str]] | None,
    corrections: pa.Table | None = None,
) -> dict[str, Any]:
    """A bucket with its tables made anew: its files, how many tables are others than before, and what changed of schemas."""
    revision = uuid.uuid4().hex
    home = f"runs/{run_id}/data/{number:05d}-{revision}"
    source = source_of(objects, bucket, corrections)
    made = reinduce_bucket(objects, home, source, bucket, how, embed, run_id=run_id, only=only)
    # Where only some users' tables were made so, all are looked at when all are asked for; a correction changes no schema.
    made_so = how.fingerprint if only is None or how.fingerprint == bucket.induction else "mixed"
    made_so = bucket.induction if how.as_held else made_so
    files = replace(bucket, revision=revision, files={**bucket.files, **made.files}, induction=made_so)
    return {
        "bucket": number,
        "of": bucket.revision,
        "files": bucket_to_dict(files),
        "tables": made.tables,
        "changes": made.changes,
    }
