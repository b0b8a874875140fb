"""The store that an evaluation makes for itself: what would be taken for one another's is kept apart."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from configs.settings import Settings
from jobs.backfill import BackfillRequest, backfill
from jobs.evaluate.questions import QuestionFile
from jobs.stages import cluster
from jobs.watch import Progress


def apart(files: Sequence[QuestionFile]) -> list[list[QuestionFile]]:
    """The files in as few groups as keep two files that share a name apart; each group becomes a tenant of its own."""
    groups: list[tuple[set[str], list[QuestionFile]]] = []
    for file in files:
        names, group = next((one for one in groups if one[0].isdisjoint(file.names)), (None, []))
        if names is None:
            groups.append((set(file.names), [file]))
        else:
            names.update(file.names)
            group.append(file)
    return [group for _, group in groups]


def tenant_of(number: int) -> str:
    """Whose the sources of a group are; groups are counted from 0."""
    return f"evaluate-{number + 1}"


def without_tables(settings: Settings) -> Settings:
    """For evaluations that search rounds alone: no observations and no tables are made."""
    extract = settings.extract.model_copy(update={"kind": "none", "ocr": "none"})
    induce = settings.induce.model_copy(update={"in_backfill": False})
    return settings.model_copy(update={"extract": extract, "induce": induce})


def backfill_apart(
    groups: Sequence[Sequence[str]], store: str, settings: Settings, progress: Callable[[Progress], None]
) -> tuple[int, int]:
    """Backfill each group of sources for its tenant: rounds in all, and how much could not be read."""
    ray, read, unread = settings.ray, 0, 0
    with cluster(ray.address, num_cpus=ray.num_cpus, object_store_bytes=ray.object_store_mb << 20):
        for number, group in enumerate(groups):
            report = backfill(BackfillRequest(tuple(group), store, tenant_of(number)), settings, progress)
            read, unread = read + report.read, unread + report.quarantined
    return read, unread
