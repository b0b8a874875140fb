"""The survey step: which sources there are, what format each has, and how they are cut into read tasks."""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

import pyarrow as pa

from jobs.read import ReadOrder
from jobs.run import parts_of
from jobs.sources import files_for
from jobs.stages import RESULTS, Resources, Stage, Work, through
from operators.errors import ObjectNotFound, SourceError
from operators.sources.files import SourceFile
from operators.sources.origin import stem_of
from operators.sources.read import Split, survey
from operators.sources.sniff import FORMATS

_FILES_PER_TASK = 64
_FEWEST_TASKS = 16
_SMALLEST_PIECE = 256 << 10


@dataclass(frozen=True)
class Surveyed:
    """What the survey found: the splits of each readable file by its rank, and what will not be read and why."""

    splits: dict[int, tuple[Split, ...]]
    formats: dict[int, str]
    ignored: tuple[tuple[str, str], ...]
    rejected: tuple[SourceError, ...]
    copies: tuple[str, ...]


def copies_of(sources: Sequence[SourceFile]) -> dict[int, int]:
    """For each source that is byte for byte a copy of an earlier one, both by rank. Only equal sizes are compared."""
    by_size: dict[int, list[int]] = defaultdict(list)
    for rank, source in enumerate(sources):
        by_size[source.size].append(rank)
    copies: dict[int, int] = {}
    for ranks in by_size.values():
        if len(ranks) > 1 and sources[ranks[0]].size > 0:
            seen: dict[str, int] = {}
            for rank in ranks:
                digest = _digest(sources[rank])
                if digest is not None and seen.setdefault(digest, rank) != rank:
                    copies[rank] = seen[digest]
    return copies


def _digest(source: SourceFile) -> str | None:
    """Hex sha256 of the file; None where it cannot be read, of which the survey will tell."""
    digest = hashlib.sha256()
    try:
        with files_for(source.uri).open(source.uri) as handle:
            while chunk := handle.read(1 << 20):
                digest.update(chunk)
    except (SourceError, OSError, ObjectNotFound):
        return None
    return digest.hexdigest()


def piece_bytes(sources: Sequence[SourceFile], split_bytes: int) -> int:
    """How many bytes one read task takes: ``split_bytes``, less where there would be too few tasks to share the work.

    It depends on the sources alone, so that a run that is taken up again finds the tasks it had.
    """
    fair = sum(source.size for source in sources) // _FEWEST_TASKS
    return min(split_bytes, max(fair, _SMALLEST_PIECE))


def survey_sources(sources: Sequence[SourceFile], *, format: str, user: str | None, split_bytes: int) -> Surveyed:
    """Sniff every source, in parallel, and plan its splits.

    Files whose format names no user take their stem as user; two different files of one stem would become one user in
    silence, so all of them are rejected unless ``user`` is given.
    """
    splits: dict[int, tuple[Split, ...]] = {}
    formats: dict[int, str] = {}
    ignored: list[tuple[str, str]] = []
    rejected: list[SourceError] = []
    for result in _survey_results(sources, format, split_bytes):
        rank, file = result["rank"], sources[result["rank"]]
        if result["verdict"] == "rejected":
            rejected.append(SourceError(result["reason"], code=result["code"], file=file.uri))
        elif result["verdict"] == "ignored":
            ignored.append((file.uri, result["reason"]))
        elif result["format"] is not None:
            formats[rank] = result["format"]
            splits[rank] = tuple(Split(**{**split, "file": file}) for split in result["splits"])
    copies = _same_history(sources, formats, user)
    for rank in copies:
        del splits[rank], formats[rank]
    if user is None:
        for rank, error in _ambiguous(sources, formats):
            rejected.append(error)
            del splits[rank], formats[rank]
    rejected.sort(key=lambda error: error.file or "")
    copied = tuple(sources[rank].uri for rank in sorted(copies))
    return Surveyed(splits, formats, tuple(sorted(ignored)), tuple(rejected), copied)


def _same_history(sources: Sequence[SourceFile], formats: Mapping[int, str], user: str | None) -> list[int]:
    """Readable copies that tell the same history of the same user: where the file's name is the user, names count too."""
    nameless = _nameless() if user is None else set()
    return [
        rank
        for rank, first in copies_of(sources).items()
        if rank in formats
        and first in formats
        and (formats[rank] not in nameless or stem_of(sources[rank].uri) == stem_of(sources[first].uri))
    ]


def _nameless() -> set[str]:
    return {form.name for form in FORMATS if not form.names_user}


def _ambiguous(sources: Sequence[SourceFile], formats: dict[int, str]) -> list[tuple[int, SourceError]]:
    nameless = _nameless()
    by_stem: dict[str, list[int]] = defaultdict(list)
    for rank, name in formats.items():
        if name in nameless:
            by_stem[stem_of(sources[rank].uri)].append(rank)
    reason = "several files of this name would all become one user; rename them, or pass --user for each"
    return [
        (rank, SourceError(reason, code="ambiguous-user", file=sources[rank].uri))
        for ranks in by_stem.values()
        if len(ranks) > 1
        for rank in ranks
    ]


def _survey_results(sources: Sequence[SourceFile], format: str, split_bytes: int) -> list[dict[str, Any]]:
    groups = parts_of([1] * len(sources), _FILES_PER_TASK)
    orders = [json.dumps([[rank, asdict(sources[rank])] for rank in group]) for group in groups]
    work = partial(_survey_work, format, split_bytes)
    return list(through(Stage("survey", work, RESULTS, Resources(cpus=1), batch_rows=1), orders))


def _survey_work(format: str, split_bytes: int) -> Work:
    def work(batch: pa.Table) -> pa.Table:
        files = [(rank, SourceFile(**raw)) for task in batch["task"].to_pylist() for rank, raw in json.loads(task)]
        results = [json.dumps(_survey_one(rank, file, format, split_bytes)) for rank, file in files]
        return pa.table({"result": results}, schema=RESULTS)

    return work


def _survey_one(rank: int, file: SourceFile, format: str, split_bytes: int) -> dict[str, Any]:
    found = survey(file, files_for(file.uri), format=format, split_bytes=split_bytes)
    return {
        "rank": rank,
        "verdict": found.verdict,
        "format": found.format,
        "reason": found.reason,
        "code": found.error.code if found.error else None,
        "splits": [asdict(split) for split in found.splits],
    }


def read_orders(surveyed: Surveyed, split_bytes: int) -> list[ReadOrder]:
    """The splits grouped into read tasks of about ``split_bytes`` each, in the order of the sources."""
    ranked = [(rank, split) for rank in sorted(surveyed.splits) for split in surveyed.splits[rank]]
    sizes = [_bytes_of(split, len(surveyed.splits[rank])) for rank, split in ranked]
    return [
        ReadOrder(number, tuple(ranked[index] for index in group), sum(sizes[index] for index in group))
        for number, group in enumerate(parts_of(sizes, split_bytes))
    ]


def _bytes_of(split: Split, splits: int) -> int:
    """About how much there is to read: a Parquet split counts row groups, not bytes."""
    return max(1, split.file.size // splits)
