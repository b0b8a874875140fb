"""Reading again what is in quarantine, each file as it was read before."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from configs.settings import Settings
from jobs.backfill import BackfillReport, BackfillRequest, backfill
from jobs.sources import places
from jobs.watch import Progress
from operators.errors import SourceError, StoreError
from operators.records import ASKED
from operators.sources.files import Files


@dataclass(frozen=True)
class Retried:
    """What reading again did: a report for each way of reading, and the files that are no longer there."""

    reports: tuple[BackfillReport, ...]
    gone: tuple[str, ...]


def retry(
    rows: Sequence[Mapping[str, Any]],
    request: BackfillRequest,
    settings: Settings,
    progress: Callable[[Progress], None],
) -> Retried:
    """Backfill the files of quarantine rows (``records.QUARANTINE``) again.

    What ``request`` says of user, timezone, format and columns goes before what was asked when the file was read; its
    sources are not used. Rows of files that are gone stay in quarantine.
    """
    files_for = places()
    asked: dict[str, set[str]] = defaultdict(set)
    for row in rows:
        asked[row[ASKED]].add(row["file"])
    gone: set[str] = set()
    reports: list[BackfillReport] = []
    for reading, files in sorted(asked.items()):
        there = sorted(file for file in files if _is_there(file, files_for(file)))
        gone |= files - set(there)
        if there:
            reports.append(backfill(_request(request, json.loads(reading), there), settings, progress))
    return Retried(tuple(reports), tuple(sorted(gone)))


def _request(given: BackfillRequest, before: Mapping[str, Any], files: Sequence[str]) -> BackfillRequest:
    return BackfillRequest(
        sources=tuple(files),
        store=given.store,
        tenant=given.tenant,
        user=given.user if given.user is not None else before.get("user"),
        timezone=given.timezone if given.timezone is not None else before.get("timezone"),
        format=given.format if given.format != "auto" else before.get("format", "auto"),
        ray_address=given.ray_address,
        columns=given.columns if given.columns is not None else before.get("columns"),
    )


def _is_there(uri: str, files: Files) -> bool:
    try:
        return any(source.uri == uri for source in files.find(uri))
    except (SourceError, StoreError, OSError):
        return False
