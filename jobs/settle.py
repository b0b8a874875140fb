"""From what was read to a published snapshot: build touched buckets on the newest version, commit, rebase if overtaken."""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

import pyarrow as pa

from configs.settings import Settings, config_fingerprint
from jobs.blocks import Wanted
from jobs.build import Draft, MergeOrder, MergeOutcome, finish_bucket, merge_bucket
from jobs.encode import encode_texts, read_pictures
from jobs.following import following, overtaken, pause
from jobs.induce import Embedder, Inducing, shared_schemas
from jobs.picture_vectors import encode_pictures
from jobs.read import ReadDone, merge_quarantine
from jobs.run import Run
from jobs.stages import RESULTS, Resources, Stage, Work, through
from jobs.watch import Progress, Watch
from operators.encode.image import load_image_encoder
from operators.encode.text import TextEncoder, load_text_encoder
from operators.errors import CommitConflict, StoreError
from operators.extract.extraction import Extraction
from operators.extract.ocr import PictureReader
from operators.hierarchy.values import HierarchyValues
from operators.records import QUARANTINE
from operators.store.commit import latest_version, load_snapshot, publish
from operators.store.manifest import BucketFiles, DataFile, Snapshot, StoreSpec, bucket_from_dict, bucket_to_dict
from operators.store.tables import read_table_verified, write_table

Pieces = tuple[tuple[str, tuple[int, ...]], ...]
"""Where a bucket's new rounds stand: fragment keys and the row groups in them."""

_FEW_ROUNDS = 5_000
"""Rounds that are merged and finished sooner than Ray starts a worker for them."""


@dataclass
class Tally:
    """What building did, in rounds; ``encoded`` and ``found`` in texts: encoded now, or found done; ``read`` and ``seen`` in
    pictures: their text read, their vector made."""

    added: int = 0
    replaced: int = 0
    unchanged: int = 0
    superseded: int = 0
    encoded: int = 0
    found: int = 0
    read: int = 0
    seen: int = 0


@dataclass(frozen=True)
class _Built:
    """A bucket as it stands on one base revision; ``files`` is None where what was read changes nothing."""

    base: str | None
    files: BucketFiles | None
    added: int = 0
    replaced: int = 0
    unchanged: int = 0
    superseded: int = 0


@dataclass
class Settler:
    """Builds and commits one run's work."""

    run: Run
    settings: Settings
    spec: StoreSpec
    tenant: str
    heavy_cpus: int
    watch: Watch
    tally: Tally

    @property
    def extraction(self) -> Extraction:
        """How observations are made."""
        return self.settings.extract.chosen()

    @property
    def image_dim(self) -> int:
        """Numbers in a picture's vector, 0 where pictures get none."""
        return int(self.spec.image_encoder["dim"])

    def settle(self, done: Sequence[ReadDone], fresh: pa.Table, read_files: set[str]) -> tuple[Snapshot, bool]:
        """The snapshot that holds the run's work, and whether this call published it (False: nothing was new).

        Raises StoreUnavailable if other writers' commits overtake every attempt, OutcomeUnknown if a commit's answer
        was lost and its manifest could not be re-read.
        """
        pieces = _pieces_by_bucket(done)
        read = sum(task.rounds for task in done)
        built: dict[int, _Built] = {}
        for attempt in range(self.settings.commit.attempts):
            base = load_snapshot(self.run.objects, latest_version(self.run.objects))
            stale = [bucket for bucket in pieces if bucket not in built or built[bucket].base != _revision(base, bucket)]
            held = sum(base.buckets[bucket].counts.rounds for bucket in stale if bucket in base.buckets)
            self._build({bucket: pieces[bucket] for bucket in sorted(stale)}, base, built, read + held <= _FEW_ROUNDS)
            quarantine = self._quarantine(base, fresh, read_files)
            self._add_up(built)
            changed = {bucket: part.files for bucket, part in built.items() if part.files is not None}
            if not changed and quarantine == base.quarantine and base.version > 0:
                return base, False
            snapshot = self._next(base, changed, quarantine)
            self._require_files(changed)
            try:
                self.watch.timed("commit", partial(publish, self.run.objects, snapshot))
            except CommitConflict:
                pause(attempt)
                continue
            return snapshot, True
        raise overtaken(self.run.objects.uri, self.settings.commit.attempts, ", what is built is kept")

    def _add_up(self, built: Mapping[int, _Built]) -> None:
        for name in ("added", "replaced", "unchanged", "superseded"):
            setattr(self.tally, name, sum(getattr(part, name) for part in built.values()))

    def _require_files(self, changed: Mapping[int, BucketFiles]) -> None:
        """StoreError where a file about to be named is gone: a ``gc`` with too short a grace took it for rubbish."""
        there = {info.key for info in self.run.objects.list(self.run.key("data") + "/")}
        gone = [file.path for bucket in changed.values() for file in bucket.files.values() if file.path not in there]
        if gone:
            raise StoreError(
                f"{len(gone)} files of this run are gone from {self.run.objects.uri}, {gone[0]} first: a gc with too "
                f"short a grace removed them. Nothing was published. Delete everything below {self.run.key()}/ and run again"
            )

    def _next(self, base: Snapshot, changed: Mapping[int, BucketFiles], quarantine: DataFile | None) -> Snapshot:
        return following(
            base,
            self.run.run_id,
            spec=self.spec,
            config_fingerprint=config_fingerprint(self.settings),
            buckets={**base.buckets, **changed},
            quarantine=quarantine,
            changes={"added": self.tally.added, "replaced": self.tally.replaced, "unchanged": self.tally.unchanged},
        )

    def _build(self, pieces: Mapping[int, Pieces], base: Snapshot, built: dict[int, _Built], here: bool) -> None:
        """Bring the named buckets up to the base plus what was read; what an earlier process finished is taken over."""
        marked = {int(name): raw for name, raw in self.run.markers("buckets").items()} if pieces else {}
        first = not built  # a rebase finds done what this very run encoded
        left: list[MergeOrder] = []
        for bucket, parts in pieces.items():
            marker = marked.get(bucket)
            if marker and marker["base"] == _revision(base, bucket):
                built[bucket] = _from_marker(marker)
                self.tally.found += marker["texts"]
            else:
                left.append(MergeOrder(bucket, parts, base.buckets.get(bucket)))
        drafts: list[Draft] = []
        for outcome in self.watch.timed("merge", lambda: self._merge(left, here)):
            if outcome.draft is None:
                said = {"unchanged": outcome.unchanged, "superseded": outcome.superseded}
                built[outcome.bucket] = _Built(_revision(base, outcome.bucket), None, **said)
            else:
                drafts.append(outcome.draft)
        self.watch.timed("encode", lambda: self._encode(drafts, first))
        self.watch.timed("see", lambda: self._encode_pictures(drafts))
        self.watch.timed("pictures", lambda: self._read_pictures(drafts))
        built.update(self.watch.timed("finish", lambda: self._finish(drafts, base, here)))

    def _merge(self, orders: Sequence[MergeOrder], here: bool) -> list[MergeOutcome]:
        stage = Stage(
            "merge",
            partial(_merge_work, self.run, self._loader(1), self.extraction, self.image_dim),
            RESULTS,
            Resources(cpus=1),
            batch_rows=1,
        )
        outcomes: list[MergeOutcome] = []
        for row in through(stage, [order.to_json() for order in orders], here=here):
            outcomes.append(MergeOutcome.from_dict(row))
            self.watch.tell(Progress("merge", len(outcomes), len(orders), "buckets"))
        return outcomes

    def _encode(self, drafts: Sequence[Draft], first: bool) -> None:
        total = sum(draft.needed.rows for draft in drafts)
        if first:
            self.tally.found += sum(draft.found for draft in drafts)
        ray = self.settings.ray
        self.tally.encoded += encode_texts(
            self.run.objects,
            self.run.key(),
            [Wanted(draft.bucket, draft.needed) for draft in drafts],
            load_encoder=self._loader(ray.encode_cpus),
            dim=int(self.spec.encoder["dim"]),
            block_units=self.settings.encoder.block_units,
            workers=ray.encode_actors or max(1, self.heavy_cpus // ray.encode_cpus),
            resources=Resources(cpus=ray.encode_cpus, gpus=ray.encode_gpus),
            encoded=self._counter("encode", total, "texts"),
        )

    def _encode_pictures(self, drafts: Sequence[Draft]) -> None:
        wanted = [Wanted(draft.bucket, draft.seen) for draft in drafts if draft.seen.rows]
        if not wanted:
            return
        total = sum(each.file.rows for each in wanted)
        ray, encoder = self.settings.ray, self.settings.image_encoder
        self.tally.seen += encode_pictures(
            self.run.objects,
            self.run.key(),
            wanted,
            load_encoder=partial(
                load_image_encoder,
                encoder.kind,
                model=encoder.model,
                numeric=encoder.numeric,
                threads=ray.image_cpus,
                max_pixels=self.settings.pictures.max_pixels,
            ),
            block_pictures=encoder.block_pictures,
            workers=ray.image_actors or max(1, self.heavy_cpus // ray.image_cpus),
            resources=Resources(cpus=ray.image_cpus, gpus=ray.image_gpus),
            encoded=self._counter("see", total, "pictures"),
        )

    def _read_pictures(self, drafts: Sequence[Draft]) -> None:
        wanted = [Wanted(draft.bucket, draft.pictures) for draft in drafts if draft.pictures.rows]
        if not wanted:
            return
        total = sum(each.file.rows for each in wanted)
        ray = self.settings.ray
        self.tally.read += read_pictures(
            self.run.objects,
            self.run.key(),
            wanted,
            load_reader=partial(_load_reader, self.extraction, ray.picture_cpus),
            block_pictures=self.settings.extract.block_pictures,
            workers=ray.picture_actors or max(1, self.heavy_cpus // ray.picture_cpus),
            resources=Resources(cpus=ray.picture_cpus),
            read=self._counter("pictures", total, "pictures"),
        )

    def _counter(self, stage: str, total: int, unit: str) -> Callable[[int], None]:
        """Adds up what a stage has done, told block by block, and passes it on."""
        done = 0

        def count(more: int) -> None:
            nonlocal done
            done += more
            self.watch.tell(Progress(stage, done, total, unit))

        return count

    def _finish(self, drafts: Sequence[Draft], base: Snapshot, here: bool) -> dict[int, _Built]:
        orders = [json.dumps({"draft": asdict(d), "base": _bucket_json(base.buckets.get(d.bucket))}) for d in drafts]
        work = partial(
            _finish_work,
            self.run,
            int(self.spec.encoder["dim"]),
            self.extraction,
            self._inducing(base),
            self._loader(1),
            self.settings.hierarchy.values(),
            self.image_dim,
        )
        stage = Stage("finish", work, RESULTS, Resources(cpus=1), batch_rows=1)
        finished: dict[int, _Built] = {}
        for marker in through(stage, orders, here=here):
            finished[marker["bucket"]] = _from_marker(marker)
            self.watch.tell(Progress("finish", len(finished), len(drafts), "buckets"))
        return finished

    def _quarantine(self, base: Snapshot, fresh: pa.Table, read_files: set[str]) -> DataFile | None:
        before = read_table_verified(self.run.objects, base.quarantine) if base.quarantine else QUARANTINE.empty_table()
        after = merge_quarantine(before, fresh, self.tenant, read_files)
        if after.equals(before):
            return base.quarantine
        if len(after) == 0:
            return None
        key = self.run.key("data", f"quarantine-{uuid.uuid4().hex}.parquet")
        return write_table(self.run.objects, key, after, QUARANTINE)

    def _inducing(self, base: Snapshot) -> Inducing:
        """How tables are made while buckets are built: a tenant's own schemas change at re-induction alone."""
        induce = self.settings.induce
        if induce.scope == "tenant":
            return Inducing(induce.values(), False, shared_schemas(self.run.objects, base))
        return Inducing(induce.values(), induce.in_backfill)

    def _loader(self, threads: int) -> Callable[[], TextEncoder]:
        encoder = self.settings.encoder
        return partial(
            load_text_encoder,
            encoder.kind,
            model=encoder.model,
            window=encoder.window,
            numeric=encoder.numeric,
            threads=threads,
        )


def _load_reader(extraction: Extraction, threads: int) -> PictureReader:
    reader = extraction.reader(threads)
    if reader is None:
        raise RuntimeError("pictures are wanted read where none are to be")
    return reader


def _pieces_by_bucket(done: Sequence[ReadDone]) -> dict[int, Pieces]:
    pieces: dict[int, list[tuple[str, tuple[int, ...]]]] = {}
    for task in done:
        for fragment in task.fragments:
            for bucket, groups in fragment["groups"].items():
                pieces.setdefault(int(bucket), []).append((fragment["key"], tuple(groups)))
    return {bucket: tuple(parts) for bucket, parts in pieces.items()}


def _revision(snapshot: Snapshot, bucket: int) -> str | None:
    held = snapshot.buckets.get(bucket)
    return held.revision if held else None


def _bucket_json(bucket: BucketFiles | None) -> dict[str, Any] | None:
    return bucket_to_dict(bucket) if bucket else None


def _from_marker(marker: Mapping[str, Any]) -> _Built:
    said = {name: marker[name] for name in ("added", "replaced", "unchanged", "superseded")}
    return _Built(marker["base"], bucket_from_dict(marker["files"]), **said)


def _merge_work(run: Run, load_encoder: Callable[[], TextEncoder], extraction: Extraction, image_dim: int) -> Work:
    encoder = load_encoder()
    merge = partial(merge_bucket, run.objects, run.key(), spans=encoder.spans, extraction=extraction, image_dim=image_dim)

    def work(batch: pa.Table) -> pa.Table:
        orders = [MergeOrder.from_json(task) for task in batch["task"].to_pylist()]
        outcomes = [merge(order).to_json() for order in orders]
        return pa.table({"result": outcomes}, schema=RESULTS)

    return work


def _finish_work(
    run: Run,
    dim: int,
    extraction: Extraction,
    inducing: Inducing,
    load_encoder: Callable[[], TextEncoder],
    hierarchy: HierarchyValues,
    image_dim: int,
) -> Work:
    """Finishes buckets and writes each one's done-marker, which names its files and what merging it did."""
    embed = Embedder(load_encoder)

    def finish(task: str) -> str:
        order = json.loads(task)
        draft = Draft.from_dict(order["draft"])
        base = bucket_from_dict(order["base"]) if order["base"] else None
        files = finish_bucket(run.objects, run.key(), draft, base, dim, extraction, inducing, embed, hierarchy, image_dim)
        marker = {
            "bucket": draft.bucket,
            "base": draft.base,
            "files": bucket_to_dict(files),
            "texts": draft.needed.rows + draft.found,
            "added": draft.added,
            "replaced": draft.replaced,
            "unchanged": draft.unchanged,
            "superseded": draft.superseded,
        }
        run.mark(marker, "buckets", f"{draft.bucket:05d}.json")
        return json.dumps(marker)

    def work(batch: pa.Table) -> pa.Table:
        return pa.table({"result": [finish(task) for task in batch["task"].to_pylist()]}, schema=RESULTS)

    return work
