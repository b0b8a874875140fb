"""Re-induction: counts read, schemas discovered and evolved, changed tables rewritten, one version committed.

With the scope ``user`` a bucket is a shard and a reducer in one: whose rounds are counted together lie in it together. With
the scope ``tenant`` counts are added over all buckets first, shard by shard, and every user's tables follow the schemas
that come of it.
"""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from configs.settings import Settings
from jobs.following import following, overtaken, pause
from jobs.induce import Embedder, Inducing, reinduce_bucket, shared_schemas
from jobs.schema_rows import as_shared, change_row, schema_row
from jobs.source import source_of
from jobs.stages import RESULTS, Resources, Stage, Work, cluster, through
from jobs.watch import Progress, Watch
from operators.encode.text import TextEncoder, encoder_of
from operators.errors import CommitConflict, UsageError
from operators.induce.counts import merge, pooled, told_by
from operators.induce.induction import Induced, induction
from operators.records import COUNTS, SCHEMA_CHANGES, TABLES, TENANT, USER, bucket_of, require_scope
from operators.store.buckets import list_users
from operators.store.commit import latest_version, load_snapshot, publish
from operators.store.manifest import (
    CHANGES_FILE,
    COUNTS_FILE,
    TABLES_FILE,
    BucketFiles,
    DataFile,
    Snapshot,
    bucket_from_dict,
    bucket_to_dict,
)
from operators.store.objects import ObjectStore
from operators.store.opening import open_objects
from operators.store.tables import read_table, write_table

_TRIED = 1.0
"""Seconds of work after which it is known how long the rest would take here."""

_RAY_STARTS = 12.0
"""Seconds that Ray and its workers take to start: what takes no longer is done here."""

_ORDERS_A_WORKER = 16
"""Orders that each worker gets of a stage, one after the other: more would be handed out longer than they are worked on."""

_MERGED_AT_ONCE = 16
"""Counts of so many shards are added by one task of a level of the reduction."""


@dataclass(frozen=True)
class ReinduceReport:
    """What a re-induction did. ``changes``: rows of ``records.SCHEMA_CHANGES``, by tenant and user."""

    version: int
    published: bool
    buckets: int
    tables: int
    changes: tuple[Mapping[str, Any], ...]
    seconds: float
    startup_seconds: float


def reinduce(
    store: str,
    settings: Settings,
    progress: Callable[[Progress], None],
    *,
    tenant: str | None = None,
    users: Sequence[str] | None = None,
    ray_address: str | None = None,
) -> ReinduceReport:
    """Re-induce a store's tables, of ``tenant`` or of ``users`` of it alone where named; publish a version if any changed.

    A commit that another writer overtakes is built again on the newer version: nothing of theirs is lost. ScopeError for
    users without tenant; UsageError for users who are not there; StoreUnavailable where every attempt was overtaken.
    """
    began = time.monotonic()
    objects = open_objects(store)
    base = load_snapshot(objects, latest_version(objects))
    only = _named(objects, base, tenant, users)
    with _Hands(settings, ray_address) as hands:
        job = _Job(objects, settings, Watch(progress), f"reinduce-{uuid.uuid4().hex[:16]}", only, hands)
        return job.work(began)


def _named(
    objects: ObjectStore, base: Snapshot, tenant: str | None, users: Sequence[str] | None
) -> set[tuple[str, str]] | None:
    """Whose tables are asked for; None for everybody's."""
    if users is None and tenant is None:
        return None
    asked = None if users is None else {require_scope(tenant, user) for user in users}
    known = {(str(tenant), user) for user in list_users(objects, base, tenant)[USER].to_pylist()}
    if missing := sorted(user for _, user in (asked or set()) - known):
        raise UsageError(f"tenant '{tenant}' has no user {', '.join(map(repr, missing[:3]))}: see `mnemosaic users`")
    return known if asked is None else asked


class _Hands(ExitStack):
    """Who works: this process while that is sooner done than Ray starts, then Ray, which stays until all is done."""

    def __init__(self, settings: Settings, address: str | None) -> None:
        super().__init__()
        self._ray, self._address = settings.ray, address or settings.ray.address
        self._cpus = 0
        self.startup = 0.0

    def through(self, stage: Stage, orders: Sequence[str]) -> Iterator[Any]:
        """Work orders, a JSON document each, through a stage whose tasks are arrays of them: their results, in no order."""
        done = 0
        if not self._cpus:
            began = time.monotonic()
            for results in through(stage, [f"[{order}]" for order in orders], here=True):
                yield from results
                done += 1
                spent = time.monotonic() - began
                if spent > _TRIED and spent / done * (len(orders) - done) > _RAY_STARTS:
                    break
        if left := orders[done:]:
            self._start()
            together = -(-len(left) // (self._cpus * _ORDERS_A_WORKER))
            tasks = [f"[{','.join(left[at : at + together])}]" for at in range(0, len(left), together)]
            for results in through(replace(stage, workers=min(self._cpus, len(tasks))), tasks):
                yield from results

    def _start(self) -> None:
        if self._cpus:
            return
        began = time.monotonic()
        memory = self._ray.object_store_mb << 20
        self._cpus = self.enter_context(cluster(self._address, num_cpus=self._ray.num_cpus, object_store_bytes=memory))
        self.startup = time.monotonic() - began


@dataclass
class _Job:
    objects: ObjectStore
    settings: Settings
    watch: Watch
    run_id: str
    only: Collection[tuple[str, str]] | None
    hands: _Hands
    built: dict[tuple[str, str], dict[str, Any]] = field(default_factory=dict)
    """By a bucket's revision and how its tables were made: what an overtaken commit need not do again."""

    def chosen(self, snapshot: Snapshot) -> dict[int, BucketFiles]:
        """The buckets that the named users are in; all where none is named."""
        if self.only is None or self.settings.induce.scope == "tenant":
            return dict(snapshot.buckets)
        numbers = {bucket_of(*scope, snapshot.spec.buckets) for scope in self.only}
        return {number: bucket for number, bucket in snapshot.buckets.items() if number in numbers}

    def work(self, began: float) -> ReinduceReport:
        """Build on the newest version and commit, again where another commit was first."""
        for attempt in range(self.settings.commit.attempts):
            base = load_snapshot(self.objects, latest_version(self.objects))
            how, shared, changes = self._schemas(base)
            built = self.watch.timed("induce", partial(self._build, base, how))
            changes = [*changes, *(change for bucket in built for change in bucket["changes"])]
            worth = [bucket for bucket in built if bucket["tables"] or bucket["changes"] or self.only is None]
            files = {bucket["bucket"]: bucket_from_dict(bucket["files"]) for bucket in worth}
            if not files and shared == dict(base.shared):
                return self._report(base, False, [], [], began)
            snapshot = following(
                base,
                self.run_id,
                buckets={**base.buckets, **files},
                changes={"tables_changed": sum(bucket["tables"] for bucket in built)},
                shared=shared,
            )
            try:
                publish(self.objects, snapshot)
            except CommitConflict:
                pause(attempt)
                continue
            return self._report(snapshot, True, built, changes, began)
        raise overtaken(self.objects.uri, self.settings.commit.attempts)

    def _report(
        self,
        snapshot: Snapshot,
        published: bool,
        built: Sequence[Mapping[str, Any]],
        changes: Sequence[Mapping[str, Any]],
        began: float,
    ) -> ReinduceReport:
        tables = sum(bucket["tables"] for bucket in built)
        seconds = time.monotonic() - began
        return ReinduceReport(snapshot.version, published, len(built), tables, tuple(changes), seconds, self.hands.startup)

    # --- schemas that a tenant's users have in common ---

    def _schemas(self, base: Snapshot) -> tuple[Inducing, dict[str, DataFile], list[dict[str, Any]]]:
        values = self.settings.induce.values()
        if self.settings.induce.scope == "user":
            return Inducing(values), {}, []
        counts = self.watch.timed("count", partial(self._counted, base))
        before = shared_schemas(self.objects, base)
        embed = Embedder(partial(encoder_of, base.spec.encoder))
        shared: dict[str, Induced] = {}
        changes: list[dict[str, Any]] = []
        for tenant in sorted({*before, *counts[TENANT].to_pylist()}):
            theirs = told_by(counts.filter(pc.equal(counts[TENANT], tenant)), self.settings.induce.tenant_users)
            active = before[tenant].tables if tenant in before else ()
            made = induction(theirs, active, values, embed)
            shared[tenant] = as_shared(made.tables)
            changes += [change_row((tenant, ""), self.run_id, 0, change) for change in made.changes]
        return Inducing(values, False, shared), self._written(base, shared, changes), changes

    def _counted(self, base: Snapshot) -> pa.Table:
        """The counts of every tenant: those of the buckets added level by level, each task a few."""
        files = [bucket.files[COUNTS_FILE] for _, bucket in sorted(base.buckets.items())]
        stage = Stage("count", partial(_count_work, self.objects, self.run_id), RESULTS, Resources(cpus=1), batch_rows=1)
        while files:
            groups = [files[at : at + _MERGED_AT_ONCE] for at in range(0, len(files), _MERGED_AT_ONCE)]
            orders = [json.dumps([asdict(file) for file in group]) for group in groups]
            files = sorted((DataFile(**raw) for raw in self.hands.through(stage, orders)), key=lambda file: file.path)
            if len(files) == 1:
                return read_table(self.objects, files[0])
        return COUNTS.empty_table()

    def _written(
        self, base: Snapshot, shared: Mapping[str, Induced], changes: Sequence[Mapping[str, Any]]
    ) -> dict[str, DataFile]:
        rows = [schema_row((tenant, ""), schema) for tenant, made in sorted(shared.items()) for schema in made.tables]
        held = base.shared.get(TABLES_FILE)
        if held is not None and not changes and read_table(self.objects, held).to_pylist() == rows:
            return dict(base.shared)
        log = base.shared.get(CHANGES_FILE)
        told = [*(read_table(self.objects, log).to_pylist() if log is not None else ()), *changes]
        home = f"runs/{self.run_id}/data/shared-{uuid.uuid4().hex}"
        return {
            TABLES_FILE: write_table(self.objects, f"{home}-tables.parquet", pa.Table.from_pylist(rows, TABLES), TABLES),
            CHANGES_FILE: write_table(
                self.objects, f"{home}-changes.parquet", pa.Table.from_pylist(told, SCHEMA_CHANGES), SCHEMA_CHANGES
            ),
        }

    # --- buckets ---

    def _build(self, base: Snapshot, how: Inducing) -> list[dict[str, Any]]:
        wanted = {
            number: bucket
            for number, bucket in sorted(self.chosen(base).items())
            if self.only is not None or bucket.induction != how.fingerprint
        }
        orders = [
            json.dumps({"bucket": number, "files": bucket_to_dict(bucket)})
            for number, bucket in wanted.items()
            if (bucket.revision, how.fingerprint) not in self.built
        ]
        only = None if self.only is None else sorted(self.only)
        work = partial(_induce_work, self.objects, self.run_id, how, only, partial(encoder_of, base.spec.encoder))
        stage = Stage("induce", work, RESULTS, Resources(cpus=1), batch_rows=1)
        for at, result in enumerate(self.hands.through(stage, orders), start=1):
            self.built[result["of"], how.fingerprint] = result
            self.watch.tell(Progress("induce", at, len(orders), "buckets"))
        return [self.built[bucket.revision, how.fingerprint] for bucket in wanted.values()]


def _count_work(objects: ObjectStore, run_id: str) -> Work:
    def add(order: Any) -> dict[str, Any]:
        counts = merge(pooled(read_table(objects, DataFile(**raw))) for raw in order)
        key = f"runs/{run_id}/added/{uuid.uuid4().hex}.parquet"
        return asdict(write_table(objects, key, counts, COUNTS))

    return _of_orders(add)


def _induce_work(
    objects: ObjectStore,
    run_id: str,
    how: Inducing,
    only: Sequence[tuple[str, str]] | None,
    load_encoder: Callable[[], TextEncoder],
) -> Work:
    embed = Embedder(load_encoder)
    named = None if only is None else {(tenant, user) for tenant, user in only}

    def induce(order: Any) -> dict[str, Any]:
        return rebuilt(objects, run_id, order["bucket"], bucket_from_dict(order["files"]), how, embed, named)

    return _of_orders(induce)


def _of_orders(work: Callable[[Any], dict[str, Any]]) -> Work:
    """Tasks of several orders each: arrays of them as JSON, and of what became of them."""

    def all_of(batch: pa.Table) -> pa.Table:
        results = [json.dumps([work(order) for order in json.loads(task)]) for task in batch["task"].to_pylist()]
        return pa.table({"result": results}, schema=RESULTS)

    return all_of


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
