"""The main job: histories in, one published snapshot out.

find sources > survey > read into fragments > merge per bucket > encode the texts and pictures that are missing > read
pictures > observe and finish buckets > commit.
"""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

import pyarrow as pa

from configs.settings import Settings, config_fingerprint
from jobs.read import ReadDone, ReadOrder, ReadValues, read_splits, rejected_rows
from jobs.run import Run, RunPlan, digest_of_sources, finish, take_up
from jobs.settle import Settler, Tally
from jobs.sources import sources_of
from jobs.stages import RESULTS, Resources, Stage, Work, cluster, through
from jobs.survey import Surveyed, piece_bytes, read_orders, survey_sources
from jobs.watch import Progress, Watch
from operators.encode.image import image_fingerprint
from operators.encode.text import text_fingerprint
from operators.records import ASKED, DEFAULT_TENANT, QUARANTINE, ROUND, TENANT, require_scope
from operators.sources.archives import archive_of
from operators.sources.files import SourceFile
from operators.store.commit import create_store, latest_version
from operators.store.manifest import Snapshot, StoreSpec
from operators.store.objects import ObjectStore
from operators.store.opening import open_objects

_BUCKET_SOURCE_BYTES = 4 << 20
_FEW_BYTES = 4 << 20
"""Bytes of sources that are read sooner than Ray starts a worker for them."""

_FEWEST_BUCKETS, _MOST_BUCKETS = 16, 4096


@dataclass(frozen=True)
class BackfillRequest:
    """What to read, into which store, for whom. ``columns``: which column is which, of one message a row."""

    sources: tuple[str, ...]
    store: str
    tenant: str
    user: str | None = None
    timezone: str | None = None
    format: str = "auto"
    ray_address: str | None = None
    columns: Mapping[str, str] | None = None

    def clock(self, settings: Settings) -> str | None:
        """The zone of times without offset: as asked, else as set."""
        return self.timezone or settings.sources.timezone

    def reading(self, settings: Settings) -> dict[str, Any]:
        """How the sources are read, as it is noted beside what cannot be (``records.QUARANTINE``, asked)."""
        return {
            "format": self.format,
            "user": self.user,
            "timezone": self.clock(settings),
            "columns": dict(self.columns) if self.columns else None,
        }


@dataclass(frozen=True)
class BackfillReport:
    """What a backfill did. Totals are of the snapshot it ended with; the rest is of this run, in rounds where unsaid."""

    version: int
    users: int
    sessions: int
    rounds: int
    units: int
    pictures: int
    content_digest: str
    read: int
    added: int
    replaced: int
    unchanged: int
    superseded: int
    quarantined: int
    ignored_files: tuple[str, ...]
    identical_files: tuple[str, ...]
    missing_pictures: int
    doubts: Mapping[str, int]
    unread_columns: tuple[str, ...]
    encoded: int
    found: int
    observations: int
    tables: int
    pictures_read: int
    pictures_encoded: int
    picture_vectors: int
    undecoded: int
    seconds: float
    startup_seconds: float
    stage_seconds: Mapping[str, float]
    published: bool

    @property
    def rounds_per_second(self) -> float:
        """Rounds read per second of work, start-up told apart."""
        return self.read / max(self.seconds - self.startup_seconds, 1e-9)


def backfill(request: BackfillRequest, settings: Settings, progress: Callable[[Progress], None]) -> BackfillReport:
    """Read the sources into the store and publish one new version, or none where nothing is new.

    Raises UsageError for what cannot be done as asked, FingerprintMismatch for a store of another encoder, StoreError
    where the store fails. What cannot be read is quarantined, never raised.
    """
    began = time.monotonic()
    require_scope(request.tenant, DEFAULT_TENANT if request.user is None else request.user)
    objects = open_objects(request.store)
    sources = outside(objects.uri, sources_of(request.sources))
    spec = create_store(objects, _spec(settings, sources))
    address = request.ray_address or settings.ray.address
    with cluster(
        address, num_cpus=settings.ray.num_cpus, object_store_bytes=settings.ray.object_store_mb << 20
    ) as heavy_cpus:
        watch = Watch(progress)
        job = _Job(request, settings, objects, spec, heavy_cpus, watch)
        startup = time.monotonic() - began
        outcome = job.work(sources)
    snapshot = outcome.snapshot
    counts = snapshot.counts
    return BackfillReport(
        version=snapshot.version,
        **asdict(counts),
        content_digest=snapshot.content_digest,
        read=outcome.read,
        added=outcome.tally.added,
        replaced=outcome.tally.replaced,
        unchanged=outcome.tally.unchanged,
        superseded=outcome.tally.superseded,
        quarantined=outcome.quarantined,
        ignored_files=outcome.ignored,
        identical_files=outcome.copies,
        missing_pictures=outcome.missing_pictures,
        doubts=outcome.doubts,
        unread_columns=outcome.unread_columns,
        encoded=outcome.tally.encoded,
        found=outcome.tally.found,
        observations=snapshot.observations,
        tables=snapshot.tables,
        pictures_read=outcome.tally.read,
        pictures_encoded=outcome.tally.seen,
        picture_vectors=snapshot.picture_vectors,
        undecoded=snapshot.undecoded,
        seconds=time.monotonic() - began,
        startup_seconds=startup,
        stage_seconds=dict(watch.seconds),
        published=outcome.published,
    )


def _spec(settings: Settings, sources: Sequence[SourceFile]) -> StoreSpec:
    texts, images = settings.encoder, settings.image_encoder
    buckets = settings.store.buckets
    return StoreSpec(
        buckets=auto_buckets(sources) if buckets == "auto" else buckets,
        encoder=text_fingerprint(texts.kind, model=texts.model, window=texts.window, numeric=texts.numeric),
        image_encoder=image_fingerprint(images.kind, model=images.model, numeric=images.numeric),
    )


def outside(store_uri: str, sources: Sequence[SourceFile]) -> list[SourceFile]:
    """The sources that do not lie in the store itself, as they do where a store stands in the folder that is read."""
    inside = store_uri.rstrip("/") + "/"
    return [source for source in sources if not source.uri.startswith(inside)]


def auto_buckets(sources: Sequence[SourceFile]) -> int:
    """Buckets for a new store: a power of two, so that one holds about 4 MiB of the first sources' text."""
    total = sum(source.size for source in sources)
    buckets = _FEWEST_BUCKETS
    while buckets < _MOST_BUCKETS and total > buckets * _BUCKET_SOURCE_BYTES:
        buckets *= 2
    return buckets


@dataclass(frozen=True)
class _Outcome:
    snapshot: Snapshot
    read: int
    quarantined: int
    ignored: tuple[str, ...]
    copies: tuple[str, ...]
    missing_pictures: int
    doubts: Mapping[str, int]
    unread_columns: tuple[str, ...]
    tally: Tally
    published: bool


@dataclass
class _Job:
    """One backfill at work: the values every step shares, and the steps in order."""

    request: BackfillRequest
    settings: Settings
    objects: ObjectStore
    spec: StoreSpec
    heavy_cpus: int
    watch: Watch

    def work(self, sources: Sequence[SourceFile]) -> _Outcome:
        """All steps, from survey to commit."""
        run = take_up(self.objects, self._plan(sources), latest_version(self.objects))
        piece = piece_bytes(sources, self.settings.sources.split_bytes)
        surveyed = self.watch.timed(
            "survey",
            lambda: survey_sources(
                sources,
                format=self.request.format,
                user=self.request.user,
                split_bytes=piece,
                columns=self.request.columns,
            ),
        )
        done = self.watch.timed("read", lambda: self._read(run, read_orders(surveyed, piece)))
        fresh = _quarantine_rows(self.objects, self.request.tenant, self._asked, surveyed, done)
        tally = Tally()
        settler = Settler(run, self.settings, self.spec, self.request.tenant, self.heavy_cpus, self.watch, tally)
        snapshot, published = settler.settle(done, fresh, read_again(sources))
        finish(run, snapshot.version)
        return _Outcome(
            snapshot=snapshot,
            read=sum(task.rounds for task in done),
            quarantined=len(fresh),
            ignored=tuple(uri for uri, _ in surveyed.ignored),
            copies=surveyed.copies,
            missing_pictures=sum(task.missing_pictures for task in done),
            doubts=sum((Counter(task.doubts) for task in done), Counter()),
            unread_columns=tuple(sorted({name for names in surveyed.unread.values() for name in names})),
            tally=tally,
            published=published,
        )

    def _plan(self, sources: Sequence[SourceFile]) -> RunPlan:
        return RunPlan(
            sources=digest_of_sources(sources),
            format=self.request.format,
            tenant=self.request.tenant,
            user=self.request.user,
            timezone=self.request.clock(self.settings),
            config=config_fingerprint(self.settings),
            buckets=self.spec.buckets,
            encoder=json.dumps([dict(self.spec.encoder), dict(self.spec.image_encoder)], sort_keys=True),
            extraction=self.settings.extract.chosen().fingerprint,
            columns=tuple(sorted((self.request.columns or {}).items())),
        )

    # --- read ---

    def _read(self, run: Run, orders: Sequence[ReadOrder]) -> list[ReadDone]:
        sizes = {order.number: order.size for order in orders}
        marked = {int(name): ReadDone.from_dict(raw) for name, raw in run.markers("read").items()}
        done = [marked[order.number] for order in orders if order.number in marked]
        left = [order for order in orders if order.number not in marked]
        self._tell_read(done, sizes)
        stage = Stage("read", partial(_read_work, run, self._read_values()), RESULTS, Resources(cpus=1), batch_rows=1)
        few = sum(order.size for order in left) <= _FEW_BYTES
        for row in through(stage, [order.to_json() for order in left], here=few):
            done.append(ReadDone.from_dict(row))
            self._tell_read(done, sizes)
        return sorted(done, key=lambda task: task.number)

    def _tell_read(self, done: Sequence[ReadDone], sizes: Mapping[int, int]) -> None:
        """Rounds so far, of as many as there will be if the rest of the bytes is like those read."""
        rounds = sum(task.rounds for task in done)
        read, total = sum(sizes[task.number] for task in done), sum(sizes.values())
        self.watch.tell(Progress("read", rounds, rounds * total // read if read and rounds else None, "rounds"))

    def _read_values(self) -> ReadValues:
        return ReadValues(
            tenant=self.request.tenant,
            user=self.request.user,
            timezone=self.request.clock(self.settings),
            buckets=self.spec.buckets,
            max_line_bytes=self.settings.sources.max_line_bytes,
            max_picture_bytes=self.settings.pictures.max_bytes,
            max_picture_pixels=self.settings.pictures.max_pixels,
            fragment_rounds=self.settings.sources.fragment_rounds,
            columns=self.request.columns,
            asked=self._asked,
        )

    @property
    def _asked(self) -> str:
        return json.dumps(self.request.reading(self.settings), sort_keys=True, ensure_ascii=False)


def read_again(sources: Sequence[SourceFile]) -> set[str]:
    """Uris of which this run says the last word: the files, and the archives they were found in."""
    return {uri for source in sources for uri in (source.uri, archive_of(source.uri)) if uri is not None}


def _quarantine_rows(
    objects: ObjectStore, tenant: str, asked: str, surveyed: Surveyed, done: Sequence[ReadDone]
) -> pa.Table:
    """Everything this run refused: whole files at the survey, lines and pictures while reading."""
    same = {TENANT: tenant, ROUND: None, ASKED: asked}
    files = [
        {**same, "file": error.file, "line": error.line, "code": error.code, "reason": str(error)}
        for error in surveyed.rejected
    ]
    return pa.concat_tables([pa.Table.from_pylist(files, QUARANTINE), rejected_rows(objects, list(done))])


def _read_work(run: Run, values: ReadValues) -> Work:
    def work(batch: pa.Table) -> pa.Table:
        results: list[str] = []
        for task in batch["task"].to_pylist():
            order = ReadOrder.from_json(task)
            document = asdict(read_splits(run.objects, run.key(), order, values))
            run.mark(document, "read", f"{order.number:06d}.json")
            results.append(json.dumps(document, ensure_ascii=False))
        return pa.table({"result": results}, schema=RESULTS)

    return work
