"""The read step: splits of source files become fragments, sorted by bucket, and quarantine rows; pictures are kept."""

from __future__ import annotations

import io
import json
import uuid
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from jobs.sources import places
from operators.errors import ObjectNotFound, SourceError
from operators.merge import FILE_RANK, IN_PARTS, LINE_RANK, PART_RANK, PIECES
from operators.records import ASKED, METADATA, QUARANTINE, ROUND, TENANT, bucket_of, media_key, round_rows
from operators.sources.files import SourceFile
from operators.sources.media import PictureCache, PictureLimits, attach_pictures
from operators.sources.read import Parsed, ReadScope, Split, SplitEnd, is_in_parts, read_split
from operators.sources.rounds import doubts_of
from operators.store.objects import ObjectStore

REJECTED = pa.schema([*QUARANTINE, pa.field(FILE_RANK, pa.int64()), pa.field(PART_RANK, pa.int64())])
"""Quarantine rows as a read task leaves them: ``line`` counts within the split until the whole file is known."""

_FRAGMENT_BYTES = 64 << 20
_REJECTED_ROWS = 50_000
_REFRESH_MEDIA_AFTER = timedelta(minutes=5)


@dataclass(frozen=True)
class ReadValues:
    """What reading needs to know besides the splits."""

    tenant: str
    user: str | None
    timezone: str | None
    buckets: int
    max_line_bytes: int
    max_picture_bytes: int
    max_picture_pixels: int
    fragment_rounds: int
    columns: Mapping[str, str] | None = None
    asked: str = "{}"


@dataclass(frozen=True)
class ReadOrder:
    """Read these splits as one task, each with the rank of its file among the run's sources; ``size`` in bytes, about."""

    number: int
    splits: tuple[tuple[int, Split], ...]
    size: int

    def to_json(self) -> str:
        """The order as one JSON document."""
        splits = [[rank, asdict(split)] for rank, split in self.splits]
        return json.dumps({"number": self.number, "splits": splits, "size": self.size})

    @classmethod
    def from_json(cls, text: str) -> ReadOrder:
        """The inverse of ``to_json``."""
        raw = json.loads(text)
        splits = tuple((rank, Split(**{**split, "file": SourceFile(**split["file"])})) for rank, split in raw["splits"])
        return cls(raw["number"], splits, raw["size"])


@dataclass
class ReadDone:
    """What a read task left in the store and what it saw; JSON in its done-marker."""

    number: int
    fragments: list[dict[str, Any]] = field(default_factory=list)
    rejected: list[str] = field(default_factory=list)
    rejected_rows: int = 0
    sessions: int = 0
    rounds: int = 0
    missing_pictures: int = 0
    doubts: dict[str, int] = field(default_factory=dict)
    lines: list[tuple[int, int, int]] = field(default_factory=list)

    @classmethod
    def from_dict(cls, raw: Mapping[str, Any]) -> ReadDone:
        """The inverse of ``asdict``, as JSON gives it back."""
        return cls(**{**raw, "lines": [(a, b, c) for a, b, c in raw["lines"]]})


def read_splits(objects: ObjectStore, prefix: str, order: ReadOrder, values: ReadValues) -> ReadDone:
    """Read an order's splits into fragments and quarantine rows below ``prefix``."""
    done = ReadDone(order.number)
    fragments = _FragmentWriter(objects, f"{prefix}/fragments/{order.number:06d}", values, done)
    rejected = _RejectedWriter(objects, f"{prefix}/rejected/{order.number:06d}", values, done)
    keeper = MediaKeeper(objects)
    limits = PictureLimits(max_bytes=values.max_picture_bytes, max_pixels=values.max_picture_pixels)
    scope = ReadScope(values.user, values.timezone, values.max_line_bytes, values.columns)
    doubts: Counter[str] = Counter()
    files_for = places()
    for rank, split in order.splits:
        files, cache = files_for(split.file.uri), PictureCache()
        for item in read_split(split, files, scope):
            if isinstance(item, SplitEnd):
                done.lines.append((rank, split.index, item.lines))
            elif isinstance(item, SourceError):
                rejected.add(rank, split, item.line, item)
            else:
                attached = attach_pictures(item.session, split.file, files, limits, keeper.keep, cache=cache, line=item.line)
                done.missing_pictures += attached.missing
                for refused in attached.refused:
                    rejected.add(rank, split, item.line, refused)
                for record in attached.session.rounds:
                    doubts.update(doubts_of(record))
                fragments.add(rank, split, Parsed(attached.session, item.line))
    fragments.flush()
    rejected.flush()
    done.doubts = dict(doubts)
    return done


class _FragmentWriter:
    """Collects rounds and writes a fragment whenever there are enough: one Parquet file, one row group per bucket."""

    def __init__(self, objects: ObjectStore, stem: str, values: ReadValues, done: ReadDone) -> None:
        self._objects = objects
        self._stem = stem
        self._values = values
        self._done = done
        self._rows: dict[int, list[dict[str, Any]]] = {}
        self._count = 0
        self._bytes = 0

    def add(self, rank: int, split: Split, parsed: Parsed) -> None:
        """One session's rounds."""
        session = parsed.session
        bucket = bucket_of(self._values.tenant, session.user_id, self._values.buckets)
        rows = round_rows(self._values.tenant, session.user_id, session.rounds, split.file.uri)
        place = {FILE_RANK: rank, PART_RANK: split.index, LINE_RANK: self._done.sessions, IN_PARTS: is_in_parts(split)}
        self._rows.setdefault(bucket, []).extend(row | place for row in rows)
        self._done.sessions += 1
        self._count += len(rows)
        self._bytes += sum(len(message.text) for record in session.rounds for message in record.messages)
        self._bytes += sum(len(row[METADATA]) for row in rows)
        if self._count >= self._values.fragment_rounds or self._bytes >= _FRAGMENT_BYTES:
            self.flush()

    def flush(self) -> None:
        """Write what has been collected."""
        if self._count == 0:
            return
        buffer = io.BytesIO()
        groups: dict[str, list[int]] = {}
        with pq.ParquetWriter(buffer, PIECES, compression="zstd") as writer:
            for number, (bucket, rows) in enumerate(sorted(self._rows.items())):
                writer.write_table(pa.Table.from_pylist(rows, PIECES), row_group_size=len(rows))
                groups[str(bucket)] = [number]
        key = f"{self._stem}-{uuid.uuid4().hex}.parquet"
        self._objects.put(key, buffer.getvalue())
        self._done.fragments.append({"key": key, "groups": groups})
        self._done.rounds += self._count
        self._rows, self._count, self._bytes = {}, 0, 0


class _RejectedWriter:
    """Collects quarantine rows and writes them in files of bounded size."""

    def __init__(self, objects: ObjectStore, stem: str, values: ReadValues, done: ReadDone) -> None:
        self._objects = objects
        self._stem = stem
        self._values = values
        self._done = done
        self._rows: list[dict[str, Any]] = []

    def add(self, rank: int, split: Split, line: int | None, error: SourceError) -> None:
        """One refused line, file or picture."""
        self._rows.append(
            {
                TENANT: self._values.tenant,
                "file": split.file.uri,
                "line": error.line if error.line is not None else line,
                ROUND: error.round_id,
                "code": error.code,
                "reason": str(error),
                ASKED: self._values.asked,
                FILE_RANK: rank,
                PART_RANK: split.index,
            }
        )
        if len(self._rows) >= _REJECTED_ROWS:
            self.flush()

    def flush(self) -> None:
        """Write what has been collected."""
        if not self._rows:
            return
        buffer = io.BytesIO()
        pq.write_table(pa.Table.from_pylist(self._rows, REJECTED), buffer, compression="zstd")
        key = f"{self._stem}-{uuid.uuid4().hex}.parquet"
        self._objects.put(key, buffer.getvalue())
        self._done.rejected.append(key)
        self._done.rejected_rows += len(self._rows)
        self._rows = []


class MediaKeeper:
    """Puts pictures under their hash, once; one that has stood long is written again, so that ``gc`` sees it as young."""

    def __init__(self, objects: ObjectStore) -> None:
        self._objects = objects
        self._kept: set[str] = set()

    def keep(self, sha256: str, data: bytes) -> None:
        """Keep the picture's bytes."""
        if sha256 in self._kept:
            return
        key = media_key(sha256)
        if not self._young(key):
            self._objects.put(key, data)
        self._kept.add(sha256)

    def _young(self, key: str) -> bool:
        try:
            modified = self._objects.head(key).modified
        except ObjectNotFound:
            return False
        return datetime.now(UTC) - modified < _REFRESH_MEDIA_AFTER


def rejected_rows(objects: ObjectStore, done: list[ReadDone]) -> pa.Table:
    """The ``QUARANTINE`` rows of a finished read step, with lines counted from the start of each file."""
    before = _lines_before(done)
    tables = [QUARANTINE.empty_table()]
    for key in (key for task in done for key in task.rejected):
        with objects.open(key) as handle:
            table = pq.ParquetFile(handle).read().cast(REJECTED)
        offsets = [before.get(place, 0) for place in _places(table)]
        lines = pc.add(table["line"], pa.array(offsets, pa.int64()))
        at = table.schema.get_field_index("line")
        tables.append(table.set_column(at, QUARANTINE.field("line"), lines).select(QUARANTINE.names).cast(QUARANTINE))
    return pa.concat_tables(tables).sort_by([("file", "ascending"), ("line", "ascending"), ("code", "ascending")])


def _places(table: pa.Table) -> Iterator[tuple[int, int]]:
    return zip(table[FILE_RANK].to_pylist(), table[PART_RANK].to_pylist(), strict=True)


def _lines_before(done: list[ReadDone]) -> dict[tuple[int, int], int]:
    """For each part of each file, the lines of the parts before it."""
    total: dict[int, int] = {}
    before: dict[tuple[int, int], int] = {}
    for rank, part, lines in sorted(place for task in done for place in task.lines):
        before[rank, part] = total.get(rank, 0)
        total[rank] = before[rank, part] + lines
    return before


def merge_quarantine(base: pa.Table, fresh: pa.Table, tenant: str, read_files: set[str]) -> pa.Table:
    """Quarantine after a run: what the run read again speaks for itself, the rest stays; sorted, each row once."""
    again = pc.and_(
        pc.equal(base[TENANT], tenant), pc.is_in(base["file"], value_set=pa.array(sorted(read_files), pa.string()))
    )
    kept = base.filter(pc.invert(again))
    joined = pa.concat_tables([kept, fresh]).combine_chunks()
    unique = joined.group_by(QUARANTINE.names, use_threads=False).aggregate([]).select(QUARANTINE.names).cast(QUARANTINE)
    return unique.sort_by([(TENANT, "ascending"), ("file", "ascending"), ("line", "ascending"), ("code", "ascending")])
