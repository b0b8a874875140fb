"""A run as it is written down: its plan, its done-markers, and how a later process picks it up."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from operators.errors import ObjectNotFound, StoreCorrupt
from operators.sources.files import SourceFile
from operators.store.objects import ObjectStore

LAYOUT = 3
"""Of a run's working files (fragments, blocks, markers): a release that lays them out otherwise begins a run of its own."""


@dataclass(frozen=True)
class RunPlan:
    """What a run is about. Two invocations with equal plans are the same work, and the later one goes on with it.

    ``sources``: their digest (``digest_of_sources``), for there may be millions.
    """

    sources: str
    format: str
    tenant: str
    user: str | None
    timezone: str | None
    config: str
    buckets: int
    encoder: str
    extraction: str = "none"
    columns: tuple[tuple[str, str], ...] = ()
    layout: int = LAYOUT

    @property
    def key(self) -> str:
        """16 hex digits naming the plan."""
        document = json.dumps(asdict(self), sort_keys=True, ensure_ascii=False)
        return hashlib.sha256(document.encode("utf-8", "surrogatepass")).hexdigest()[:16]


@dataclass(frozen=True)
class Run:
    """One attempt at a plan: where its files stand in the store, and the newest version when it began."""

    objects: ObjectStore
    run_id: str
    base_version: int

    def key(self, *parts: str) -> str:
        """A key below the run's own prefix."""
        return "/".join(("runs", self.run_id, *parts))

    def mark(self, document: Mapping[str, Any], *parts: str) -> None:
        """Write a marker: its presence says that all it names is in place."""
        self.objects.put(self.key(*parts), json.dumps(document, ensure_ascii=False).encode("utf-8"))

    def marked(self, *parts: str) -> dict[str, Any] | None:
        """The marker's document, or None where the work is not done."""
        return _read_json(self.objects, self.key(*parts))

    def markers(self, *parts: str) -> dict[str, dict[str, Any]]:
        """All markers below a part of the run, by name without ``.json``."""
        prefix = self.key(*parts) + "/"
        found: dict[str, dict[str, Any]] = {}
        for info in self.objects.list(prefix):
            document = _read_json(self.objects, info.key)
            if document is not None:
                found[info.key.removeprefix(prefix).removesuffix(".json")] = document
        return found


def digest_of_sources(sources: Iterable[SourceFile]) -> str:
    """Hex digest of which files there are, in their order, and of the stamps that change when they do."""
    digest = hashlib.sha256()
    for source in sources:
        line = json.dumps([source.uri, source.size, source.stamp], ensure_ascii=False)
        digest.update(line.encode("utf-8", "surrogatepass") + b"\n")
    return digest.hexdigest()


def take_up(objects: ObjectStore, plan: RunPlan, newest_version: int) -> Run:
    """The unfinished run of this plan, or a new one. Finished runs are not repeated: a new attempt gets a new id."""
    attempts = sorted(
        {info.key.split("/")[1] for info in objects.list(f"runs/{plan.key}-") if info.key.endswith("/plan.json")}
    )
    if attempts:
        last = attempts[-1]
        document = _read_json(objects, f"runs/{last}/plan.json")
        if document is not None and _read_json(objects, f"runs/{last}/finished.json") is None:
            run = Run(objects, last, int(document["base_version"]))
            run.mark(document, "plan.json")  # a young object tells gc that the old ones are at work again
            return run
    number = int(attempts[-1].rpartition("-")[2]) + 1 if attempts else 1
    run = Run(objects, f"{plan.key}-{number:06d}", newest_version)
    run.mark({"base_version": newest_version, "plan": asdict(plan)}, "plan.json")
    return run


def finish(run: Run, version: int) -> None:
    """Mark the run as done: ``version`` is the snapshot that holds its work."""
    run.mark({"version": version}, "finished.json")


def parts_of(total: Sequence[int], target: int) -> list[list[int]]:
    """Indexes of ``total`` grouped, in order, so that each group's sum first reaches ``target`` at its last member."""
    groups: list[list[int]] = []
    current: list[int] = []
    size = 0
    for index, amount in enumerate(total):
        current.append(index)
        size += amount
        if size >= target:
            groups.append(current)
            current, size = [], 0
    return [*groups, current] if current else groups


def _read_json(objects: ObjectStore, key: str) -> dict[str, Any] | None:
    try:
        data = objects.get(key)
    except ObjectNotFound:
        return None
    try:
        document = json.loads(data)
    except ValueError as error:
        home = "/".join(key.split("/")[:2])
        raise StoreCorrupt(f"{key} is not JSON: {error}; delete everything below {home}/ and run again") from error
    if not isinstance(document, dict):
        raise StoreCorrupt(f"{key} is not a JSON object")
    return document
