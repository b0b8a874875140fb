"""A bucket's vectors of pictures: what is at hand of an earlier version is kept, the rest is encoded once a picture."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from jobs.blocks import NEEDED, Do, Sizes, Wanted, blocks_for, do_in_blocks
from jobs.stages import Resources
from operators.encode.image import ImageEncoder
from operators.errors import ObjectNotFound
from operators.records import (
    CONTENT_KEY,
    IMAGES,
    MEDIA,
    TENANT,
    USER,
    VECTOR,
    media_key,
    picture_key,
    picture_vectors,
    pictures_by_key,
    pictures_of,
)
from operators.store.manifest import PICTURE_VECTORS_FILE, BucketFiles, DataFile
from operators.store.objects import ObjectStore
from operators.store.tables import PICTURES_GROUP, iter_table, read_table, vector_column, vector_rows, write_table

PICTURE_VECTORS = "picture-vectors"
"""Part of a run: where the blocks stand."""

_FEW_PICTURES = 48
"""Pictures that are encoded sooner than Ray starts a worker for them."""

_SMALLEST_BLOCK = 16


def needed_vectors(
    objects: ObjectStore, prefix: str, bucket: int, rounds: pa.Table, base: BucketFiles | None, dim: int
) -> pa.Table:
    """The pictures of ``rounds`` whose vector is not at hand, as ``NEEDED`` rows; none where pictures get none (``dim`` 0).

    One that this run could not decode is not asked for again.
    """
    if dim == 0:
        return NEEDED.empty_table()
    names = sorted(pictures_of(rounds).to_pylist())
    wanted = pa.table({CONTENT_KEY: pa.array(map(picture_key, names), pa.binary(16)), "text": names}, schema=NEEDED)
    keys = [
        block[CONTENT_KEY].cast(pa.binary(16))
        for block in blocks_for(objects, prefix, PICTURE_VECTORS, bucket, [CONTENT_KEY])
    ]
    held = pa.chunked_array([chunk for key in keys for chunk in key.chunks], pa.binary(16))
    wanted = wanted.filter(pc.invert(pc.is_in(wanted[CONTENT_KEY], value_set=held.combine_chunks())))
    if base is None or len(wanted) == 0:
        return wanted
    before = read_table(objects, base.files[PICTURE_VECTORS_FILE], columns=[MEDIA])[MEDIA].combine_chunks()
    return wanted.filter(pc.invert(pc.is_in(wanted["text"], value_set=before)))


def encode_pictures(
    objects: ObjectStore,
    prefix: str,
    wanted: Sequence[Wanted],
    *,
    load_encoder: Callable[[], ImageEncoder],
    block_pictures: int,
    workers: int,
    resources: Resources,
    encoded: Callable[[int], None],
) -> int:
    """Encode the pictures that are wanted (``blocks.NEEDED``, their names as its texts); returns how many were looked at."""

    def make() -> Do:
        encoder = load_encoder()
        return lambda table: _block(objects, encoder, table)

    return do_in_blocks(
        objects,
        prefix,
        PICTURE_VECTORS,
        wanted,
        make=make,
        sizes=Sizes(block_pictures, min(_SMALLEST_BLOCK, block_pictures)),
        workers=workers,
        resources=resources,
        done=encoded,
        few=_FEW_PICTURES,
    )


def _block(objects: ObjectStore, encoder: ImageEncoder, table: pa.Table) -> pa.Table:
    """``pictures_by_key`` of the pictures named: one that is gone or odd never stops the others."""
    there = [_bytes(objects, name) for name in table["text"].to_pylist()]
    made = encoder.encode([data for data in there if data is not None])
    vectors = np.zeros((len(there), encoder.dim), np.float16)
    vectors[[at for at, data in enumerate(there) if data is not None]] = made.vectors
    faults = iter(made.faults)
    told = ["picture-missing" if data is None else next(faults) for data in there]
    columns = [table[CONTENT_KEY].combine_chunks(), vector_column(vectors), pa.array(told, pa.string())]
    return pa.table(columns, schema=pictures_by_key(encoder.dim))


def _bytes(objects: ObjectStore, name: str) -> bytes | None:
    try:
        return objects.get(media_key(name))
    except ObjectNotFound:
        return None


def write_picture_vectors(
    objects: ObjectStore, prefix: str, key: str, bucket: int, rounds: pa.Table, base: BucketFiles | None, dim: int
) -> tuple[DataFile, int]:
    """Write the bucket's ``records.picture_vectors`` under ``key``; the file, and how many pictures have none."""
    schema = picture_vectors(dim)
    if dim == 0:
        return write_table(objects, key, schema.empty_table(), schema), 0
    wanted = _distinct(rounds)
    names = pa.array(sorted(set(wanted[MEDIA].to_pylist())), pa.string())
    keys = pa.array([picture_key(name) for name in names.to_pylist()], pa.binary(16))
    vectors = np.zeros((len(names), dim), np.float16)
    known = np.zeros(len(names), np.bool_)
    for at, rows in _held(objects, prefix, bucket, base, names, keys):
        vectors[at], known[at] = rows, True
    place = pc.index_in(wanted[MEDIA], value_set=names).to_numpy()
    has = known[place] if len(place) else np.zeros(0, np.bool_)
    rows = wanted.filter(pa.array(has))
    table = pa.table([*rows.columns, vector_column(vectors[place[has]])], schema=schema)
    return write_table(objects, key, table, schema, row_group=PICTURES_GROUP), int(len(has) - has.sum())


def _distinct(rounds: pa.Table) -> pa.Table:
    """Tenant, user and name of each distinct picture of each user, sorted."""
    counts = pc.list_value_length(rounds[IMAGES].combine_chunks()).to_numpy(zero_copy_only=False).astype(np.int64)
    owners = pa.array(np.repeat(np.arange(len(rounds)), counts))
    scopes = rounds.select([TENANT, USER]).take(owners)
    media = pc.struct_field(pc.list_flatten(rounds[IMAGES]), MEDIA)
    rows = scopes.append_column(MEDIA, media).filter(pc.is_valid(media))
    order = [(name, "ascending") for name in (TENANT, USER, MEDIA)]
    return rows.group_by([TENANT, USER, MEDIA], use_threads=False).aggregate([]).sort_by(order)


def _held(
    objects: ObjectStore, prefix: str, bucket: int, base: BucketFiles | None, names: pa.Array, keys: pa.Array
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Vectors at hand, in parts: places among ``names`` (whose keys are ``keys``) and the rows (n, dim) for them."""
    for block in blocks_for(objects, prefix, PICTURE_VECTORS, bucket):
        block = block.filter(pc.is_null(block["fault"]))
        yield _placed(pc.index_in(block[CONTENT_KEY].cast(pa.binary(16)), value_set=keys), block[VECTOR])
    if base is not None:
        for part in iter_table(objects, base.files[PICTURE_VECTORS_FILE], columns=[MEDIA, VECTOR]):
            yield _placed(pc.index_in(part[MEDIA], value_set=names), part[VECTOR])


def _placed(places: pa.ChunkedArray, vectors: pa.ChunkedArray) -> tuple[np.ndarray, np.ndarray]:
    at = np.asarray(pc.fill_null(places, -1))
    rows = vector_rows(vectors)
    return at[at >= 0], rows[at >= 0]
