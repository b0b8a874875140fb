"""From fragments to the files of a bucket: merge what was read, say which texts want vectors, put the vectors in place."""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from jobs.blocks import NEEDED, blocks_for
from jobs.encode import VECTORS
from jobs.hierarchy import hierarchy_bucket
from jobs.induce import Embedder, Inducing, induce_bucket
from jobs.observe import needed_pictures, observe_bucket
from jobs.picture_vectors import needed_vectors, write_picture_vectors
from jobs.source import Source, held_corrections
from operators.extract.extraction import Extraction
from operators.hierarchy.values import HierarchyValues
from operators.merge import FRAGMENT, IN_PARTS, PIECES, RANKS, Merged, merge_rounds, users_of
from operators.records import (
    CONTENT_KEY,
    ROUND,
    ROUNDS,
    SESSION,
    SOURCE,
    TENANT,
    UNITS,
    USER,
    USERS,
    Round,
    round_of_row,
    round_rows,
)
from operators.sources.rejoin import rejoined
from operators.store.manifest import (
    HIERARCHY_FILE,
    OBSERVATIONS_FILE,
    PICTURE_VECTORS_FILE,
    ROUNDS_FILE,
    UNITS_FILE,
    USERS_FILE,
    VECTORS_FILE,
    BucketFiles,
    Counts,
    DataFile,
    add_digests,
    bucket_from_dict,
    bucket_to_dict,
)
from operators.store.objects import ObjectStore
from operators.store.tables import read_table, read_table_verified, read_vectors, write_table, write_vectors
from operators.units import embedding_texts, units_of

_VECTOR_ROWS = 65_536


@dataclass(frozen=True)
class Draft:
    """A merged bucket that still lacks its vectors. ``base`` is the revision it was merged into, None for none.

    What is yet to be done for it (``NEEDED``): ``needed`` texts to be encoded, ``pictures`` to be read, ``seen`` pictures to
    be encoded.
    """

    bucket: int
    base: str | None
    revision: str
    rounds: DataFile
    units: DataFile
    users: DataFile
    needed: DataFile
    pictures: DataFile
    seen: DataFile
    counts: Counts
    digest: str
    added: int
    replaced: int
    unchanged: int
    superseded: int
    found: int

    @classmethod
    def from_dict(cls, raw: Mapping[str, Any]) -> Draft:
        """The inverse of ``asdict``, as JSON gives it back."""
        files = {name: DataFile(**raw[name]) for name in ("rounds", "units", "users", "needed", "pictures", "seen")}
        return cls(**{**raw, **files, "counts": Counts(**raw["counts"])})


@dataclass(frozen=True)
class MergeOrder:
    """Merge one bucket: where its new rounds stand (fragment key, row groups) and what it holds now."""

    bucket: int
    pieces: tuple[tuple[str, tuple[int, ...]], ...]
    base: BucketFiles | None

    def to_json(self) -> str:
        """The order as one JSON document."""
        base = bucket_to_dict(self.base) if self.base else None
        return json.dumps({"bucket": self.bucket, "pieces": self.pieces, "base": base})

    @classmethod
    def from_json(cls, text: str) -> MergeOrder:
        """The inverse of ``to_json``."""
        raw = json.loads(text)
        pieces = tuple((key, tuple(groups)) for key, groups in raw["pieces"])
        return cls(raw["bucket"], pieces, bucket_from_dict(raw["base"]) if raw["base"] else None)


@dataclass(frozen=True)
class MergeOutcome:
    """What a merge found. ``draft`` is None where the bucket stays as it is."""

    bucket: int
    unchanged: int
    superseded: int
    draft: Draft | None

    def to_json(self) -> str:
        """The outcome as one JSON document."""
        return json.dumps(asdict(self))

    @classmethod
    def from_dict(cls, raw: Mapping[str, Any]) -> MergeOutcome:
        """The inverse of ``asdict``, as JSON gives it back."""
        return cls(**{**raw, "draft": Draft.from_dict(raw["draft"]) if raw["draft"] else None})


def merge_bucket(
    objects: ObjectStore,
    prefix: str,
    order: MergeOrder,
    spans: Callable[[str], Sequence[tuple[int, int]]],
    extraction: Extraction,
    image_dim: int = 0,
) -> MergeOutcome:
    """Merge a bucket's new rounds into what it holds and write its rounds, units and users below ``prefix``.

    ``image_dim``: numbers in a picture's vector, 0 where pictures get none.
    """
    base = read_table_verified(objects, order.base.files[ROUNDS_FILE]) if order.base else ROUNDS.empty_table()
    held = len(base)
    base, incoming = join_parts(base, read_pieces(objects, order.pieces))
    merged = merge_rounds(base, incoming)
    if merged.added == merged.replaced == merged.moved == 0 and len(base) == held:
        return MergeOutcome(order.bucket, merged.unchanged, merged.superseded, None)
    draft = _draft(objects, prefix, order, merged, spans, extraction, image_dim)
    return MergeOutcome(order.bucket, merged.unchanged, merged.superseded, draft)


def _draft(
    objects: ObjectStore,
    prefix: str,
    order: MergeOrder,
    merged: Merged,
    spans: Callable[[str], Sequence[tuple[int, int]]],
    extraction: Extraction,
    image_dim: int,
) -> Draft:
    units = units_of(merged.rounds, spans)
    users = users_of(merged.rounds, units)
    wanted = _distinct_texts(units)
    held = _held_keys(objects, prefix, order.bucket, order.base)
    needed = wanted.filter(pc.invert(pc.is_in(wanted[CONTENT_KEY], value_set=held)))
    needed = needed.take(pc.sort_indices(pc.binary_length(needed["text"]), sort_keys=[("", "descending")]))
    pictures = needed_pictures(objects, prefix, order.bucket, merged.rounds, order.base, extraction)
    seen = needed_vectors(objects, prefix, order.bucket, merged.rounds, order.base, image_dim)
    revision = uuid.uuid4().hex
    home = f"{prefix}/data/{order.bucket:05d}-{revision}"
    return Draft(
        bucket=order.bucket,
        base=order.base.revision if order.base else None,
        revision=revision,
        rounds=write_table(objects, f"{home}/rounds.parquet", merged.rounds, ROUNDS),
        units=write_table(objects, f"{home}/units.parquet", units, UNITS),
        users=write_table(objects, f"{home}/users.parquet", users, USERS),
        needed=write_table(objects, f"{prefix}/needed/{order.bucket:05d}-{revision}.parquet", needed, NEEDED),
        pictures=write_table(objects, f"{prefix}/needed/pictures-{order.bucket:05d}-{revision}.parquet", pictures, NEEDED),
        seen=write_table(objects, f"{prefix}/needed/seen-{order.bucket:05d}-{revision}.parquet", seen, NEEDED),
        counts=_counts(users),
        digest=add_digests(users["digest"].to_pylist()),
        added=merged.added,
        replaced=merged.replaced,
        unchanged=merged.unchanged,
        superseded=merged.superseded,
        found=len(wanted) - len(needed),
    )


def _distinct_texts(units: pa.Table) -> pa.Table:
    texts = embedding_texts(units)
    table = pa.table({CONTENT_KEY: units[CONTENT_KEY], "text": texts}).filter(pc.is_valid(units[CONTENT_KEY]))
    keys = table[CONTENT_KEY].combine_chunks()
    first = pc.index_in(keys, value_set=keys.unique())
    at = np.unique(first.to_numpy(zero_copy_only=False), return_index=True)[1] if len(keys) else np.empty(0, np.int64)
    return table.take(pa.array(at)).cast(NEEDED)


def _counts(users: pa.Table) -> Counts:
    names = ("sessions", "rounds", "units", "pictures")
    return Counts(users=len(users), **{name: pc.sum(users[name]).as_py() or 0 for name in names})


def read_pieces(objects: ObjectStore, pieces: Iterable[tuple[str, Sequence[int]]]) -> pa.Table:
    """The ``PIECES`` of one bucket: the named row groups of the named fragments."""
    tables = [PIECES.empty_table()]
    for key, groups in pieces:
        with objects.open(key) as handle:
            tables.append(pq.ParquetFile(handle).read_row_groups(list(groups)).cast(PIECES))
    return pa.concat_tables(tables).combine_chunks()


def join_parts(base: pa.Table, pieces: pa.Table) -> tuple[pa.Table, pa.Table]:
    """``base`` (``ROUNDS``) and ``pieces`` as ``FRAGMENT`` rows, after sessions that several files tell were made one.

    That is each session with rows of a table among the pieces and rows of another file, among the pieces or in the base: of
    the base what files tell that were not read again. A round of the base that is no round any more is left out of it.
    """
    incoming = pieces.select(FRAGMENT.names)
    parted = set(_scopes(pieces.filter(pieces[IN_PARTS])))
    if not parted:
        return base, incoming
    rows: dict[tuple[str, ...], list[tuple[int, int]]] = {}
    for which, table in enumerate((base, incoming)):
        for at, scope in enumerate(_scopes(table)):
            if scope in parted:
                rows.setdefault(scope, []).append((which, at))
    before, fresh = base[SOURCE].to_pylist(), incoming[SOURCE].to_pylist()
    gone: list[int] = []
    replaced: list[int] = []
    joined: list[pa.Table] = []
    for scope, places in rows.items():
        read = {fresh[at] for which, at in places if which}
        held = [at for which, at in places if not which]
        kept = [at for at in held if not read.issuperset(before[at].split("\n"))]
        if len(read | {before[at] for at in kept}) < 2:
            continue
        told = [at for which, at in places if which]
        parts: dict[str, dict[str, Round]] = {}
        for row in [
            *base.take(pa.array(kept, pa.int64())).to_pylist(),
            *incoming.take(told).sort_by([(r, "ascending") for r in RANKS]).to_pylist(),
        ]:
            parts.setdefault(row[SOURCE], {})[row[ROUND]] = round_of_row(row)
        made = rejoined(scope[1], scope[2], {source: list(rounds.values()) for source, rounds in parts.items()})
        last = incoming.take([told[-1]]).select(RANKS).to_pylist()[0]
        found = [row | last for record, source in made for row in round_rows(scope[0], scope[1], [record], source)]
        joined.append(pa.Table.from_pylist(found, FRAGMENT))
        names = {record.round_id for record, _ in made}
        gone += [at for at in held if base[ROUND][at].as_py() not in names]
        replaced += told
    return _without(base, gone), pa.concat_tables([_without(incoming, replaced), *joined])


def _scopes(table: pa.Table) -> Iterator[tuple[str, ...]]:
    return zip(*(table[name].to_pylist() for name in (TENANT, USER, SESSION)), strict=True)


def _without(table: pa.Table, rows: Sequence[int]) -> pa.Table:
    return table.filter(pa.array(~np.isin(np.arange(len(table)), rows))) if rows else table


def _held_keys(objects: ObjectStore, prefix: str, bucket: int, base: BucketFiles | None) -> pa.Array:
    """Content keys whose vectors are at hand: in the base, or encoded by this run for the bucket or for all."""
    found = [pa.array([], pa.binary(16))]
    if base:
        found += read_table(objects, base.files[UNITS_FILE], columns=[CONTENT_KEY])[CONTENT_KEY].chunks
    for block in blocks_for(objects, prefix, VECTORS, bucket, [CONTENT_KEY]):
        found += block[CONTENT_KEY].chunks
    return pa.concat_arrays([array.cast(pa.binary(16)) for array in found]).unique().drop_null()


def finish_bucket(
    objects: ObjectStore,
    prefix: str,
    draft: Draft,
    base: BucketFiles | None,
    dim: int,
    extraction: Extraction,
    inducing: Inducing,
    embed: Embedder,
    hierarchy: HierarchyValues,
    image_dim: int = 0,
) -> BucketFiles:
    """Write the draft's vectors, row i for unit i, its observations, tables and hierarchy; say what it holds.

    ``image_dim``: numbers in a picture's vector, 0 where pictures get none.
    """
    home = draft.rounds.path.removesuffix("/rounds.parquet")
    rounds = read_table(objects, draft.rounds)
    observed = observe_bucket(objects, prefix, home, draft.bucket, rounds, base, extraction)
    files = {ROUNDS_FILE: draft.rounds, UNITS_FILE: draft.units, USERS_FILE: draft.users, **observed}
    source = Source(
        rounds,
        read_table(objects, draft.users),
        read_table(objects, observed[OBSERVATIONS_FILE]),
        held_corrections(objects, base),
        extraction.fingerprint,
    )
    files |= induce_bucket(objects, home, source, base, inducing, embed, run_id=prefix.rpartition("/")[2])
    files[VECTORS_FILE] = _write_vectors(objects, prefix, f"{home}/vectors.npy", draft, base, dim)
    files[PICTURE_VECTORS_FILE], undecoded = write_picture_vectors(
        objects, prefix, f"{home}/picture-vectors.parquet", draft.bucket, rounds, base, image_dim
    )
    files[HIERARCHY_FILE] = _hierarchy(objects, home, files, base, hierarchy)
    made_so = (extraction.fingerprint, inducing.fingerprint)
    return BucketFiles(draft.revision, files, draft.counts, draft.digest, *made_so, undecoded)


def _hierarchy(
    objects: ObjectStore, home: str, files: Mapping[str, DataFile], base: BucketFiles | None, values: HierarchyValues
) -> DataFile:
    names = {"rounds": ROUNDS_FILE, "units": UNITS_FILE, "users": USERS_FILE, "pictures": PICTURE_VECTORS_FILE}
    tables = {name: read_table(objects, files[file]) for name, file in names.items()}
    vectors = read_vectors(objects, files[VECTORS_FILE], 0, files[VECTORS_FILE].rows)
    return hierarchy_bucket(objects, home, tables, vectors, base, values)


def _write_vectors(
    objects: ObjectStore, prefix: str, key: str, draft: Draft, base: BucketFiles | None, dim: int
) -> DataFile:
    keys = read_table(objects, draft.units, columns=[CONTENT_KEY])[CONTENT_KEY].combine_chunks()
    pool = _VectorPool(dim)
    for block in blocks_for(objects, prefix, VECTORS, draft.bucket):
        pool.add_block(block, keys)
    if base:
        base_keys = read_table(objects, base.files[UNITS_FILE], columns=[CONTENT_KEY])[CONTENT_KEY].combine_chunks()
        pool.add(base_keys, read_vectors(objects, base.files[VECTORS_FILE], 0, base.files[VECTORS_FILE].rows))
    vectors = write_vectors(objects, key, pool.rows(keys), dim)
    if vectors.rows != len(keys):
        raise RuntimeError(f"{key}: {vectors.rows} vectors for {len(keys)} units")
    return vectors


class _VectorPool:
    """Vectors by content key, from several sources; where a key is in several the first wins."""

    def __init__(self, dim: int) -> None:
        self._dim = dim
        self._keys: list[pa.Array] = []
        self._vectors: list[np.ndarray] = []

    def add_block(self, block: pa.Table, wanted: pa.Array) -> None:
        """Add those rows of an encoded block that are wanted."""
        block = block.filter(pc.is_in(block[CONTENT_KEY], value_set=wanted))
        flat = block["vector"].combine_chunks().flatten().to_numpy(zero_copy_only=False)
        self.add(block[CONTENT_KEY].combine_chunks(), flat.reshape(-1, self._dim))

    def add(self, keys: pa.Array, vectors: np.ndarray) -> None:
        """Add vectors, row i for key i; rows without key are passed over."""
        self._keys.append(keys.cast(pa.binary(16)))
        self._vectors.append(vectors)

    def rows(self, wanted: pa.Array) -> Iterator[np.ndarray]:
        """Float16 rows for the wanted keys, in parts; zeros for null keys. A key that no source holds is an error."""
        keys = pa.concat_arrays(self._keys) if self._keys else pa.array([], pa.binary(16))
        vectors = np.concatenate(self._vectors) if self._vectors else np.zeros((0, self._dim), np.float16)
        for start in range(0, len(wanted), _VECTOR_ROWS):
            part = wanted.slice(start, _VECTOR_ROWS)
            at = pc.index_in(part, value_set=keys, skip_nulls=True)
            missing = pc.and_(pc.is_valid(part), pc.is_null(at))
            if pc.any(missing).as_py():
                raise RuntimeError(f"{pc.sum(missing).as_py()} units have no vector")
            filled = np.asarray(pc.fill_null(at, -1))
            rows = np.zeros((len(part), self._dim), np.float16)
            known = filled >= 0
            rows[known] = vectors[filled[known]]
            yield rows
