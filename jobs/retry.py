"""Reading again what is in quarantine, each file as it was read before."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from configs.settings import Settings
from jobs.backfill import BackfillReport, BackfillRequest, backfill
from jobs.sources import places, sources_of
from jobs.watch import Progress
from operators.errors import SourceError, StoreError
from operators.records import ASKED
from operators.sources.archives import archive_of
from operators.sources.files import Files, SourceFile
from operators.sources.read import is_in_parts, survey


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
            again = _request(request, json.loads(reading), there)
            again = replace(again, sources=tuple(sorted(_with_parts(there, again))))
            reports.append(backfill(again, settings, progress))
    return Retried(tuple(reports), tuple(sorted(gone)))


def _with_parts(uris: Sequence[str], request: BackfillRequest) -> set[str]:
    """The files, and those beside them in folder or archive that may hold more of the same sessions: read alone, a table
    is taken to tell its sessions whole."""
    files_for = places()

    def in_parts(source: SourceFile) -> bool:
        found = survey(source, files_for(source.uri), format=request.format, columns=request.columns)
        return found.user_from == "record" and any(is_in_parts(split) for split in found.splits)

    homes: dict[str, list[str]] = defaultdict(list)
    for uri in uris:
        homes[archive_of(uri) or uri.rpartition("/")[0] + "/"].append(uri)
    together = set(uris)
    for home, members in homes.items():
        beside = [source for source in sources_of([home]) if source.uri.rpartition("/")[0] == members[0].rpartition("/")[0]]
        if any(source.uri in members and in_parts(source) for source in beside):
            together |= {source.uri for source in beside if in_parts(source)}
    return together


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
