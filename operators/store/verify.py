"""Is a snapshot whole: every file re-hashed, every reference followed, every bucket counted again."""

from __future__ import annotations

import hashlib
import io
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice
from typing import TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from operators.errors import NotAStore, ObjectNotFound, StoreCorrupt, StoreDenied, StoreError, StoreUnavailable
from operators.records import (
    CORRECTED_BY,
    CORRECTIONS,
    CORRECTS,
    COUNTS,
    HIERARCHY,
    MEDIA,
    OBSERVATION,
    OBSERVATIONS,
    ORDER,
    PICTURE_TEXTS,
    QUARANTINE,
    ROUND,
    ROUNDS,
    SCHEMA_CHANGES,
    SESSION,
    TABLES,
    TENANT,
    UNITS,
    USER,
    USERS,
    bucket_of,
    media_key,
    picture_vectors,
    pictures_of,
)
from operators.store.commit import SPEC_KEY, load_spec
from operators.store.manifest import (
    CHANGES_FILE,
    CORRECTIONS_FILE,
    COUNTS_FILE,
    HIERARCHY_FILE,
    OBSERVATIONS_FILE,
    PACK_FILE,
    PICTURE_TEXTS_FILE,
    PICTURE_VECTORS_FILE,
    ROUNDS_FILE,
    TABLES_FILE,
    UNITS_FILE,
    USERS_FILE,
    VECTORS_FILE,
    BucketFiles,
    Counts,
    DataFile,
    Snapshot,
    StoreSpec,
    add_digests,
)
from operators.store.objects import ObjectStore
from operators.store.tables import NPY_HEADER, read_packed, read_vectors
from operators.store.verify_hierarchy import hierarchy_faults
from operators.store.verify_pictures import picture_vector_faults

_PIECE = 8 << 20
_VECTORS_AT_ONCE = 16_384
_AT_WORK = 4
_SHA256 = re.compile(r"[0-9a-f]{64}")
_SCHEMAS = {
    ROUNDS_FILE: ROUNDS,
    UNITS_FILE: UNITS,
    USERS_FILE: USERS,
    OBSERVATIONS_FILE: OBSERVATIONS,
    PICTURE_TEXTS_FILE: PICTURE_TEXTS,
    COUNTS_FILE: COUNTS,
    TABLES_FILE: TABLES,
    CHANGES_FILE: SCHEMA_CHANGES,
    CORRECTIONS_FILE: CORRECTIONS,
    HIERARCHY_FILE: HIERARCHY,
}
_SHARED = {TABLES_FILE: TABLES, CHANGES_FILE: SCHEMA_CHANGES}
_DATASETS = (*_SCHEMAS, VECTORS_FILE, PACK_FILE, PICTURE_VECTORS_FILE)

T = TypeVar("T")

Recount = Callable[[pa.Table, pa.Table], pa.Table]
"""Rounds and units of a bucket to the ``records.USERS`` rows that they make."""


@dataclass(frozen=True)
class Finding:
    """One thing that is not as it should be: the object, a stable word for what is wrong, and both sides.

    Codes of files: ``missing``, ``size``, ``sha256``, ``unreadable``, ``columns``, ``rows``; of a bucket's content:
    ``order``, ``bucket``, ``units``, ``users``, ``counts``, ``digest``, ``vectors``, ``observations``, ``picture-texts``,
    ``picture-vectors``, ``counts``, ``tables``, ``hierarchy``;
    of pictures: ``picture-missing``, ``picture-sha256``, ``picture-name``; others: ``store``, ``manifest``. No text of a
    user and no name of one is in it.
    """

    key: str
    code: str
    expected: str
    found: str


@dataclass(frozen=True)
class _Look:
    """What a bucket was found to be, and the pictures (hex sha256) that its rounds name."""

    number: int
    bucket: BucketFiles
    findings: tuple[Finding, ...]
    pictures: frozenset[str]


@dataclass
class Checked:
    """What was looked at already and found, so that versions that share buckets, files and pictures are not read twice."""

    buckets: dict[tuple[int, str], _Look] = field(default_factory=dict)
    files: dict[DataFile, tuple[Finding, ...]] = field(default_factory=dict)
    pictures: dict[str, tuple[Finding, ...]] = field(default_factory=dict)

    def holds(self, number: int, bucket: BucketFiles) -> bool:
        """Whether this very bucket was looked at: a manifest that was changed by hand may reuse a revision."""
        look = self.buckets.get((number, bucket.revision))
        return look is not None and look.bucket == bucket

    def looks(self, snapshot: Snapshot) -> list[_Look]:
        """What the snapshot's buckets were found to be, once each of them was looked at."""
        return [self.buckets[number, bucket.revision] for number, bucket in sorted(snapshot.buckets.items())]


@dataclass(frozen=True)
class VerifyReport:
    """Files, bytes and pictures: what was read for this version beyond what was checked before. Findings: all of its."""

    version: int
    files: int
    bytes: int
    pictures: int
    findings: tuple[Finding, ...]


def verify(
    objects: ObjectStore,
    snapshot: Snapshot,
    *,
    recount: Recount,
    threads: int,
    progress: Callable[[int, int], None],
    checked: Checked | None = None,
) -> VerifyReport:
    """Look at everything that the snapshot names. ``progress`` is told the files done and their number.

    One damage never hides another, but the content of a file whose bytes are wrong is not judged. Holds one bucket's tables
    a thread. StoreDenied, StoreUnavailable and StoreFormatError pass through.
    """
    checked = checked or Checked()
    buckets = [item for item in sorted(snapshot.buckets.items()) if not checked.holds(*item)]
    alone = {snapshot.quarantine: QUARANTINE} if snapshot.quarantine else {}
    alone |= {file: _SHARED[name] for name, file in snapshot.shared.items() if name in _SHARED}
    others = [file for file in alone if file not in checked.files]
    files = [file for _, bucket in buckets for file in bucket.files.values()] + others
    done = 0
    with ThreadPoolExecutor(threads) as pool:
        looks = (partial(_bucket, objects, snapshot.spec, number, bucket, recount) for number, bucket in buckets)
        for look in _in_order(pool, looks, threads):
            checked.buckets[look.number, look.bucket.revision] = look
            done += len(look.bucket.files)
            progress(done, len(files))
        for file in others:
            checked.files[file] = tuple(_alone(objects, file, alone[file]))
            done += 1
            progress(done, len(files))
        looked = checked.looks(snapshot)
        pictures = {name for look in looked for name in look.pictures}
        fresh = sorted(pictures - checked.pictures.keys())
        seen = _in_order(pool, (partial(_picture, objects, name) for name in fresh), threads)
        checked.pictures.update(zip(fresh, seen, strict=True))
    findings = (*_store(objects, snapshot.spec), *_all_of(snapshot, looked, pictures, checked))
    return VerifyReport(snapshot.version, done, sum(file.bytes for file in files), len(fresh), findings)


def _all_of(snapshot: Snapshot, looks: Sequence[_Look], pictures: Iterable[str], checked: Checked) -> Iterator[Finding]:
    for look in looks:
        yield from look.findings
    for file in (*((snapshot.quarantine,) if snapshot.quarantine else ()), *snapshot.shared.values()):
        yield from checked.files.get(file, ())
    for name in sorted(pictures):
        yield from checked.pictures[name]


def _in_order(pool: ThreadPoolExecutor, works: Iterable[Callable[[], T]], threads: int) -> Iterator[T]:
    """Results in order, a bounded number of works begun at a time; an error leaves undone what has not begun."""
    left = iter(works)
    begun = [pool.submit(work) for work in islice(left, threads + _AT_WORK)]
    try:
        while begun:
            yield begun.pop(0).result()
            begun += [pool.submit(work) for work in islice(left, 1)]
    finally:
        for future in begun:
            future.cancel()


# --- bytes ----------------------------------------------------------------------------------------------------------


def _hashed(objects: ObjectStore, key: str, wanted: str, missing: str) -> tuple[int, str] | Finding:
    """Size and sha256 of an object, read piece by piece; where it cannot be, a finding (code ``missing`` if gone)."""
    digest, size = hashlib.sha256(), 0
    try:
        while piece := objects.get(key, start=size, length=_PIECE):
            digest.update(piece)
            size += len(piece)
    except ObjectNotFound:
        return Finding(key, missing, wanted, "nothing")
    except (StoreDenied, StoreUnavailable):
        raise
    except StoreError as error:  # a bad sector is damage like any other
        return Finding(key, "unreadable", wanted, str(error))
    return size, digest.hexdigest()


def _bytes(objects: ObjectStore, file: DataFile) -> list[Finding]:
    found = _hashed(objects, file.path, f"{file.bytes} bytes", "missing")
    if isinstance(found, Finding):
        return [found]
    if found[0] != file.bytes:
        return [Finding(file.path, "size", f"{file.bytes} bytes", f"{found[0]} bytes")]
    return [] if found[1] == file.sha256 else [Finding(file.path, "sha256", file.sha256, found[1])]


def _picture(objects: ObjectStore, name: str) -> tuple[Finding, ...]:
    found = _hashed(objects, media_key(name), "a picture that rounds name", "picture-missing")
    if isinstance(found, Finding):
        return (found,)
    return () if found[1] == name else (Finding(media_key(name), "picture-sha256", name, found[1]),)


def _store(objects: ObjectStore, spec: StoreSpec) -> list[Finding]:
    """``store.json`` says what the manifest says of the store."""
    try:
        found = load_spec(objects)
    except NotAStore:
        return [Finding(SPEC_KEY, "missing", "the store's description", "nothing")]
    except StoreCorrupt:
        return [Finding(SPEC_KEY, "unreadable", "the store's description", "something else")]
    return [] if found == spec else [Finding(SPEC_KEY, "store", "buckets and encoders as in the manifest", "others")]


# --- one bucket -----------------------------------------------------------------------------------------------------


def _bucket(objects: ObjectStore, spec: StoreSpec, number: int, bucket: BucketFiles, recount: Recount) -> _Look:
    findings: list[Finding] = []
    tables: dict[str, pa.Table] = {}
    pictures: set[str] = set()
    schemas = {**_SCHEMAS, PICTURE_VECTORS_FILE: picture_vectors(spec.image_encoder.get("dim", 0))}
    # What is judged by other datasets comes behind them: vectors by name, the pack by this.
    for name in sorted({*_DATASETS, *bucket.files}, key=lambda name: (name == PACK_FILE, name)):
        file = bucket.files.get(name)
        if file is None:
            findings.append(Finding(f"bucket {number}", "missing", f"a {name} file", "none in the manifest"))
        elif broken := _bytes(objects, file):
            findings += broken
        elif name in schemas:
            findings += _table(objects, file, schemas[name], partial(tables.__setitem__, name))
        elif name == VECTORS_FILE:
            units = len(tables[UNITS_FILE]) if UNITS_FILE in tables else None
            findings += _judged(file, _vectors(objects, file, units, spec.encoder.get("dim")))
        elif name == PACK_FILE and TABLES_FILE in tables:
            findings += _judged(file, _packed(objects, file, tables[TABLES_FILE]))
    for file_name, check in _checks(spec, number, bucket, tables, recount, pictures):
        findings += _judged(bucket.files[file_name], check)
    return _Look(number, bucket, tuple(findings), frozenset(pictures))


def _checks(
    spec: StoreSpec, number: int, bucket: BucketFiles, tables: Mapping[str, pa.Table], recount: Recount, pictures: set[str]
) -> Iterator[tuple[str, Iterator[Finding]]]:
    """What can be judged by the tables at hand: the dataset that it is about, and its findings, yet to be made."""
    rounds, units, users = (tables.get(name) for name in (ROUNDS_FILE, UNITS_FILE, USERS_FILE))
    if rounds is not None:
        path = bucket.files[ROUNDS_FILE].path
        yield ROUNDS_FILE, _places(rounds, path, number, spec.buckets)
        yield ROUNDS_FILE, _names(rounds, path, pictures)
    if rounds is not None and units is not None:
        yield UNITS_FILE, _of_rounds(rounds, units, bucket.files[UNITS_FILE].path, "units")
    if rounds is not None and units is not None and users is not None:
        yield USERS_FILE, _users(users, partial(recount, rounds, units), bucket.files[USERS_FILE].path)
    if users is not None:
        yield USERS_FILE, _totals(users, bucket, bucket.files[USERS_FILE].path)
    observations, texts = (tables.get(name) for name in (OBSERVATIONS_FILE, PICTURE_TEXTS_FILE))
    if rounds is not None and observations is not None:
        file = bucket.files[OBSERVATIONS_FILE]
        yield OBSERVATIONS_FILE, _of_rounds(rounds, observations, file.path, "observations")
        yield OBSERVATIONS_FILE, _corrections(observations, file.path)
    for name in (TABLES_FILE, COUNTS_FILE, CHANGES_FILE, CORRECTIONS_FILE, HIERARCHY_FILE):
        if rounds is not None and name in tables:
            yield name, _of_users(rounds, tables[name], bucket.files[name].path, name)
    if rounds is not None and HIERARCHY_FILE in tables:
        yield HIERARCHY_FILE, _hierarchy(rounds, tables[HIERARCHY_FILE], bucket.files[HIERARCHY_FILE], spec)
    if rounds is not None and texts is not None:
        yield PICTURE_TEXTS_FILE, _read_pictures(rounds, texts, bucket.files[PICTURE_TEXTS_FILE].path)
    if rounds is not None and PICTURE_VECTORS_FILE in tables:
        yield PICTURE_VECTORS_FILE, _seen_pictures(rounds, tables[PICTURE_VECTORS_FILE], bucket.files[PICTURE_VECTORS_FILE])


def _judged(file: DataFile, check: Iterable[Finding]) -> list[Finding]:
    """What the check finds; that it could not be made is a finding too."""
    findings: list[Finding] = []
    try:
        findings.extend(check)
    except (StoreCorrupt, ObjectNotFound, ValueError, pa.ArrowException) as error:
        findings.append(Finding(file.path, "unreadable", "content that can be judged", type(error).__name__))
    return findings


def _table(objects: ObjectStore, file: DataFile, schema: pa.Schema, keep: Callable[[pa.Table], None]) -> list[Finding]:
    """Whether the file is Parquet of that schema and as many rows as the manifest says; ``keep`` is given its table."""
    try:
        with objects.open(file.path) as source, pq.ParquetFile(source, pre_buffer=True) as parquet:
            table = parquet.read()
    except (ObjectNotFound, StoreCorrupt, pa.ArrowException, OSError) as error:
        return [Finding(file.path, "unreadable", "Parquet", type(error).__name__)]
    if not table.schema.equals(schema):
        return [Finding(file.path, "columns", "the columns of this release's tables", "others")]
    keep(table)
    return [] if len(table) == file.rows else [Finding(file.path, "rows", f"{file.rows} rows", f"{len(table)} rows")]


def _alone(objects: ObjectStore, file: DataFile, schema: pa.Schema) -> list[Finding]:
    return _bytes(objects, file) or _table(objects, file, schema, lambda _: None)


# --- what a bucket's tables say -------------------------------------------------------------------------------------


def _scopes(table: pa.Table) -> list[tuple[str, str]]:
    return list(zip(table[TENANT].to_pylist(), table[USER].to_pylist(), strict=True))


def _due(scopes: Sequence[tuple[str, str]]) -> list[int]:
    """The order that each row should bear: counted from 0 for each user."""
    due: list[int] = []
    for row, scope in enumerate(scopes):
        due.append(due[-1] + 1 if row and scopes[row - 1] == scope else 0)
    return due


def _places(rounds: pa.Table, key: str, number: int, buckets: int) -> Iterator[Finding]:
    """Rows sorted by tenant and user, who belong here, each history counted from 0; of each fault the first row is told."""
    scopes = _scopes(rounds)
    due, told = _due(scopes), rounds[ORDER].to_pylist()
    if unsorted := [row for row in range(1, len(scopes)) if scopes[row] < scopes[row - 1]]:
        yield Finding(key, "order", "rows sorted by tenant and user", f"another order from {_at(unsorted)}")
    if wrong := [row for row in range(len(scopes)) if due[row] != told[row]]:
        yield Finding(key, "order", f"order {due[wrong[0]]} in row {wrong[0]}", f"order {told[wrong[0]]} in {_at(wrong)}")
    if strays := [row for row in range(len(scopes)) if due[row] == 0 and bucket_of(*scopes[row], buckets) != number]:
        theirs = bucket_of(*scopes[strays[0]], buckets)
        yield Finding(key, "bucket", f"users of bucket {number}", f"one of bucket {theirs} from {_at(strays)}")


def _at(rows: Sequence[int]) -> str:
    return f"row {rows[0]}" + (f" and {len(rows) - 1} more" if len(rows) > 1 else "")


def _names(rounds: pa.Table, key: str, pictures: set[str]) -> Iterator[Finding]:
    """Gathers the pictures that rounds name; a name that is no sha256 leads to no object."""
    names = pictures_of(rounds).to_pylist()
    pictures.update(name for name in names if _SHA256.fullmatch(name))
    if odd := sum(not _SHA256.fullmatch(name) for name in names):
        yield Finding(key, "picture-name", "a sha256", f"{odd} names that are none")


def _of_rounds(rounds: pa.Table, rows: pa.Table, key: str, what: str) -> Iterator[Finding]:
    """Every row is of a round that is here, with that round's order, and rows stand as their rounds do."""
    identity = (TENANT, USER, SESSION, ROUND)
    known = zip(*(rounds[name].to_pylist() for name in identity), _due(_scopes(rounds)), strict=True)
    at = next(known, None)
    for row, place in enumerate(zip(*(rows[name].to_pylist() for name in (*identity, ORDER)), strict=True)):
        while at is not None and at != place:
            at = next(known, None)
        if at is None:
            yield Finding(key, what, f"{what} of the bucket's rounds, in their order", f"another from row {row}")
            return


def _corrections(observations: pa.Table, key: str) -> Iterator[Finding]:
    """What is corrected is corrected by an observation of the same user that says so."""
    scopes = _scopes(observations)
    ids, corrects, by = (observations[name].to_pylist() for name in (OBSERVATION, CORRECTS, CORRECTED_BY))
    said = {(scope, name): other for scope, name, other in zip(scopes, ids, corrects, strict=True)}
    if len(said) != len(ids):
        yield Finding(key, "observations", "ids that are one row's each", f"{len(ids) - len(said)} that are not")
    pairs = zip(scopes, ids, by, strict=True)
    if odd := [row for row, (scope, name, other) in enumerate(pairs) if other and said.get((scope, other)) != name]:
        yield Finding(key, "observations", "corrections that name what they correct", f"others in {_at(odd)}")


def _of_users(rounds: pa.Table, rows: pa.Table, key: str, what: str) -> Iterator[Finding]:
    """Rows stand as users do, and none is of a user who has no rounds here."""
    known, scopes = set(_scopes(rounds)), _scopes(rows)
    if odd := [row for row, scope in enumerate(scopes) if scope not in known or (row and scopes[row - 1] > scope)]:
        yield Finding(key, what, f"{what} of the bucket's users, in their order", f"others in {_at(odd)}")


def _hierarchy(rounds: pa.Table, rows: pa.Table, file: DataFile, spec: StoreSpec) -> Iterator[Finding]:
    for expected, found in hierarchy_faults(rounds, rows, spec.encoder.get("dim")):
        yield Finding(file.path, "hierarchy", expected, found)


def _packed(objects: ObjectStore, file: DataFile, tables: pa.Table) -> Iterator[Finding]:
    """Every table's rows stand where its metadata says, behind each other, as many as it says."""
    end = 0
    for row in tables.select(["start", "bytes", "rows"]).to_pylist():
        if row["start"] != end:
            yield Finding(file.path, "tables", f"a table at byte {end}", f"one at {row['start']}")
            return
        end += row["bytes"]
        found = len(read_packed(objects, file, row["start"], row["bytes"]))
        if found != row["rows"]:
            yield Finding(file.path, "tables", f"{row['rows']} rows", f"{found} rows")
    if end != file.bytes:
        yield Finding(file.path, "tables", f"{file.bytes} bytes of tables", f"{end} bytes")


def _read_pictures(rounds: pa.Table, texts: pa.Table, key: str) -> Iterator[Finding]:
    """Texts are of the bucket's own pictures, each once."""
    known, told = set(pictures_of(rounds).to_pylist()), texts[MEDIA].to_pylist()
    if strays := [row for row, name in enumerate(told) if name not in known or told.index(name) != row]:
        yield Finding(key, "picture-texts", "texts of the bucket's pictures, each once", f"others in {_at(strays)}")


def _seen_pictures(rounds: pa.Table, rows: pa.Table, file: DataFile) -> Iterator[Finding]:
    for expected, found in picture_vector_faults(rounds, rows):
        yield Finding(file.path, "picture-vectors", expected, found)


def _users(told: pa.Table, recount: Callable[[], pa.Table], key: str) -> Iterator[Finding]:
    counted = recount()
    if len(told) != len(counted):
        yield Finding(key, "users", f"{len(counted)} users, by rounds and units", f"{len(told)} users")
        return
    for name in counted.column_names:
        pairs = zip(told[name].to_pylist(), counted[name].to_pylist(), strict=True)
        if other := [row for row, (ours, theirs) in enumerate(pairs) if ours != theirs]:
            yield Finding(key, "users", f"{name} as counted from rounds and units", f"another in {_at(other)}")


def _totals(users: pa.Table, bucket: BucketFiles, key: str) -> Iterator[Finding]:
    columns = ("sessions", "rounds", "units", "pictures")
    counted = Counts(users=len(users), **{name: pc.sum(users[name]).as_py() or 0 for name in columns})
    if counted != bucket.counts:
        yield Finding(key, "counts", str(counted), str(bucket.counts))
    if (digest := add_digests(users["digest"].to_pylist())) != bucket.digest:
        yield Finding(key, "digest", digest, bucket.digest)


# --- vectors --------------------------------------------------------------------------------------------------------


def _vectors(objects: ObjectStore, file: DataFile, units: int | None, dim: int | None) -> Iterator[Finding]:
    """As many vectors as the manifest and the units (None: unknown) say, as wide as the encoder's, of finite numbers."""
    rows, width = _shape(objects, file)
    if rows != file.rows:
        yield Finding(file.path, "rows", f"{file.rows} rows", f"{rows} rows")
    if units is not None and rows != units:
        yield Finding(file.path, "vectors", f"{units} vectors, one a unit", f"{rows} vectors")
    if width != dim:
        yield Finding(file.path, "vectors", f"vectors of {dim} numbers", f"of {width}")
    real = replace(file, rows=rows)
    for start in range(0, rows, _VECTORS_AT_ONCE):
        block = read_vectors(objects, real, start, min(_VECTORS_AT_ONCE, rows - start))
        if not (finite := np.isfinite(block).all(axis=1)).all():
            yield Finding(file.path, "vectors", "finite numbers", f"others in row {start + int(np.argmin(finite))}")
            return


def _shape(objects: ObjectStore, file: DataFile) -> tuple[int, int]:
    """Vectors and numbers a vector, by the file's header; StoreCorrupt or ValueError where it is not what stores hold."""
    header = io.BytesIO(objects.get(file.path, start=0, length=NPY_HEADER))
    np.lib.format.read_magic(header)
    shape, by_columns, dtype = np.lib.format.read_array_header_1_0(header)
    if len(shape) != 2 or by_columns or dtype != np.dtype("<f2"):
        raise StoreCorrupt(f"{file.path} holds {dtype} of shape {shape}, expected rows of float16")
    if file.bytes != NPY_HEADER + shape[0] * shape[1] * 2:
        raise StoreCorrupt(f"{file.path}: {file.bytes} bytes are not {shape[0]} vectors of {shape[1]} numbers")
    return shape[0], shape[1]
