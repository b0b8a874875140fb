"""The survey step: which sources there are, what format each has, and how they are cut into read tasks."""

from __future__ import annotations

import hashlib
import json
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

import pyarrow as pa

from jobs.read import ReadOrder
from jobs.run import parts_of
from jobs.sources import places
from jobs.stages import RESULTS, Resources, Stage, Work, through
from operators.errors import ObjectNotFound, SourceError
from operators.sources.files import Files, SourceFile
from operators.sources.origin import owner_of, stem_of
from operators.sources.read import Split, survey

_FILES_PER_TASK = 64
_FEWEST_TASKS = 16
_SMALLEST_PIECE = 256 << 10


@dataclass(frozen=True)
class Surveyed:
    """What the survey found: the splits of each readable file by its rank, and what will not be read and why.

    ``unread``: columns of tables that are kept nowhere, by the rank of the file.
    """

    splits: dict[int, tuple[Split, ...]]
    formats: dict[int, str]
    ignored: tuple[tuple[str, str], ...]
    rejected: tuple[SourceError, ...]
    copies: tuple[str, ...]
    unread: dict[int, tuple[str, ...]]


def copies_of(digests: Mapping[int, str | None]) -> dict[int, int]:
    """For each source that is byte for byte a copy of an earlier one, both by rank; ``digests`` by rank."""
    copies: dict[int, int] = {}
    seen: dict[str, int] = {}
    for rank, digest in sorted(digests.items()):
        if digest is not None and seen.setdefault(digest, rank) != rank:
            copies[rank] = seen[digest]
    return copies


def _of_one_size(sources: Sequence[SourceFile]) -> set[int]:
    """Ranks of the sources that could be copies of others."""
    counts = Counter(source.size for source in sources)
    return {rank for rank, source in enumerate(sources) if source.size > 0 and counts[source.size] > 1}


def digest_of_file(source: SourceFile, files: Files) -> str | None:
    """Hex sha256 of the file; None where it cannot be read, of which the survey will tell."""
    digest = hashlib.sha256()
    try:
        with files.open(source.uri) as handle:
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


def survey_sources(
    sources: Sequence[SourceFile],
    *,
    format: str,
    user: str | None,
    split_bytes: int,
    columns: Mapping[str, str] | None = None,
    here: bool = False,
) -> Surveyed:
    """Sniff every source, in parallel, and plan its splits. ``columns``: what was mapped, of one message a row. ``here``: in
    this process, without Ray.

    Files whose format names no user take their stem as user; two different files of one stem would become one user in
    silence, so all of them are rejected unless ``user`` is given.
    """
    splits: dict[int, tuple[Split, ...]] = {}
    formats: dict[int, str] = {}
    ignored: list[tuple[str, str]] = []
    rejected: list[SourceError] = []
    user_from: dict[int, str] = {}
    digests: dict[int, str | None] = {}
    unread: dict[int, tuple[str, ...]] = {}
    for result in _survey_results(sources, format, split_bytes, columns, here):
        rank, file = result["rank"], sources[result["rank"]]
        if result["verdict"] == "rejected":
            rejected.append(SourceError(result["reason"], code=result["code"], file=file.uri))
        elif result["verdict"] == "ignored":
            ignored.append((file.uri, result["reason"]))
        elif result["format"] is not None:
            formats[rank], user_from[rank], digests[rank] = result["format"], result["user_from"], result["digest"]
            unread[rank] = tuple(result["unread"])
            splits[rank] = tuple(Split(**{**split, "file": file}) for split in result["splits"])
    copies = _same_history(sources, copies_of(digests), user_from, user)
    for rank in copies:
        del splits[rank], formats[rank], user_from[rank]
    if user is None:
        for rank, error in _ambiguous(sources, user_from):
            rejected.append(error)
            del splits[rank], formats[rank]
    rejected.sort(key=lambda error: error.file or "")
    copied = tuple(sources[rank].uri for rank in sorted(copies))
    kept_nowhere = {rank: names for rank, names in unread.items() if names and rank in splits}
    return Surveyed(splits, formats, tuple(sorted(ignored)), tuple(rejected), copied, kept_nowhere)


def _same_history(
    sources: Sequence[SourceFile], copies: Mapping[int, int], user_from: Mapping[int, str], user: str | None
) -> list[int]:
    """Readable copies that tell the same history of the same user: where the file's name is the user, names count too."""
    return [
        rank
        for rank, first in copies.items()
        if rank in user_from
        and first in user_from
        and (
            user is not None or _name_given(sources[rank], user_from[rank]) == _name_given(sources[first], user_from[first])
        )
    ]


def _name_given(source: SourceFile, user_from: str) -> str | None:
    """The user that the file's place gives its conversations; None where they name their own."""
    if user_from == "record":
        return None
    return owner_of(source.uri) if user_from == "export" else stem_of(source.uri)


def _ambiguous(sources: Sequence[SourceFile], user_from: Mapping[int, str]) -> list[tuple[int, SourceError]]:
    """Files whose place gives them a name that files elsewhere get too. The files of one export belong together."""
    places: dict[str, dict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
    for rank, named_by in user_from.items():
        uri = sources[rank].uri
        if (given := _name_given(sources[rank], named_by)) is not None:
            places[given][uri.rpartition("/")[0] if named_by == "export" else uri].append(rank)
    reason = "several files of this name would all become one user; rename them, or pass --user for each"
    return [
        (rank, SourceError(reason, code="ambiguous-user", file=sources[rank].uri))
        for at in places.values()
        if len(at) > 1
        for ranks in at.values()
        for rank in ranks
    ]


def _survey_results(
    sources: Sequence[SourceFile], format: str, split_bytes: int, columns: Mapping[str, str] | None, here: bool
) -> list[dict[str, Any]]:
    groups = parts_of([1] * len(sources), _FILES_PER_TASK)
    twins = _of_one_size(sources)
    orders = [json.dumps([[rank, asdict(sources[rank]), rank in twins] for rank in group]) for group in groups]
    work = partial(_survey_work, format, split_bytes, columns)
    # Workers take seconds to start, a look at the beginning of a file milliseconds.
    here = here or len(orders) == 1
    return list(through(Stage("survey", work, RESULTS, Resources(cpus=1), batch_rows=1), orders, here=here))


def _survey_work(format: str, split_bytes: int, columns: Mapping[str, str] | None) -> Work:
    files_for = places()

    def work(batch: pa.Table) -> pa.Table:
        results = []
        for rank, raw, twin in (order for task in batch["task"].to_pylist() for order in json.loads(task)):
            file = SourceFile(**raw)
            files = files_for(file.uri)
            found = _survey_one(rank, file, files, format, split_bytes, columns)
            results.append(json.dumps({**found, "digest": digest_of_file(file, files) if twin else None}))
        return pa.table({"result": results}, schema=RESULTS)

    return work


def _survey_one(
    rank: int, file: SourceFile, files: Files, format: str, split_bytes: int, columns: Mapping[str, str] | None = None
) -> dict[str, Any]:
    found = survey(file, files, format=format, split_bytes=split_bytes, columns=columns)
    return {
        "rank": rank,
        "verdict": found.verdict,
        "format": found.format,
        "user_from": found.user_from,
        "reason": found.reason,
        "code": found.error.code if found.error else None,
        "splits": [asdict(split) for split in found.splits],
        "unread": found.unread,
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
