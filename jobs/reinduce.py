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
from dataclasses import asdict, dataclass, field
from functools import partial
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from configs.settings import Settings
from jobs.following import following, overtaken, pause
from jobs.helpers import Make, beside
from jobs.induce import Embedder, Inducing, shared_schemas
from jobs.rebuild import counting, inducing
from jobs.schema_rows import as_shared, change_row, schema_row
from jobs.stages import RESULTS, Resources, Stage, Work, cluster, through, usable_cores
from jobs.watch import Progress, Watch
from operators.encode.text import encoder_of
from operators.errors import CommitConflict, UsageError
from operators.induce.counts import told_by
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

_TRIED = 0.5
"""Seconds of work after the first order by which it is known how long the rest would take here."""

_HELPER_STARTS = 1.5
"""Seconds that a helper takes to start."""

_ALONE = 3.0
"""Seconds of work that is done here before helpers would have made up for their start."""

_RAY_PAYS = 30.0
"""Seconds up to which work is left to helpers: Ray and its workers take a dozen to start."""

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
    """Who works: this process, soon helpers beside it, or, where they would take long, Ray, which stays till all is done."""

    def __init__(self, settings: Settings, address: str | None) -> None:
        super().__init__()
        self._ray, self._address = settings.ray, address or settings.ray.address
        self._cpus = 0
        self.startup = 0.0

    def through(self, name: str, make: Make, orders: Sequence[str]) -> Iterator[Any]:
        """The results of orders, a JSON document each, in no order. ``make``: makes what does one; ``name``: the stage's."""
        if self._cpus:
            yield from self._far(name, make, orders)
            return
        do, done, began, rest = make(), 0, 0.0, 0.0
        for done, order in enumerate(orders, start=1):
            yield do(json.loads(order))
            if done == 1:  # it also imports and makes what all need: that says nothing of the others
                began = time.monotonic()
                continue
            spent = time.monotonic() - began
            rest = spent / (done - 1) * (len(orders) - done)
            if spent > _TRIED and rest > _ALONE:
                break
        cores = self._ray.num_cpus or usable_cores()
        if rest / cores > _RAY_PAYS:
            yield from self._far(name, make, orders[done:])
        elif left := orders[done:]:
            yield from beside(make, left, min(cores - 1, int(rest / _HELPER_STARTS)))

    def _far(self, name: str, make: Make, orders: Sequence[str]) -> Iterator[Any]:
        if not orders:
            return
        self._start()
        together = -(-len(orders) // (self._cpus * _ORDERS_A_WORKER))
        tasks = [f"[{','.join(orders[at : at + together])}]" for at in range(0, len(orders), together)]
        workers = min(self._cpus, len(tasks))
        stage = Stage(name, partial(_of_orders, make), RESULTS, Resources(cpus=1), workers=workers, batch_rows=1)
        for results in through(stage, tasks):
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
        make = partial(counting, self.objects, self.run_id)
        while files:
            groups = [files[at : at + _MERGED_AT_ONCE] for at in range(0, len(files), _MERGED_AT_ONCE)]
            orders = [json.dumps([asdict(file) for file in group]) for group in groups]
            files = sorted(
                (DataFile(**raw) for raw in self.hands.through("count", make, orders)), key=lambda file: file.path
            )
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
        make = partial(inducing, self.objects, self.run_id, how, only, partial(encoder_of, base.spec.encoder))
        for at, result in enumerate(self.hands.through("induce", make, orders), start=1):
            self.built[result["of"], how.fingerprint] = result
            self.watch.tell(Progress("induce", at, len(orders), "buckets"))
        return [self.built[bucket.revision, how.fingerprint] for bucket in wanted.values()]


def _of_orders(make: Make) -> Work:
    """Work over tasks of several orders each: arrays of them as JSON, and of what became of them."""
    do = make()

    def all_of(batch: pa.Table) -> pa.Table:
        results = [json.dumps([do(order) for order in json.loads(task)]) for task in batch["task"].to_pylist()]
        return pa.table({"result": results}, schema=RESULTS)

    return all_of
