"""Encoding in bulk: texts that want vectors stream through a pool of encoders into blocks that later buckets pick up."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from functools import cache, partial
from itertools import accumulate

import pyarrow as pa
import pyarrow.compute as pc

from jobs.build import NEEDED, SHARED, Draft, shared_keys, vector_block
from jobs.stages import RESULTS, Resources, Stage, Work, through
from operators.encode.text import TextEncoder
from operators.records import CONTENT_KEY
from operators.store.manifest import DataFile
from operators.store.objects import ObjectStore
from operators.store.tables import iter_table, read_table, write_table

_SHARED_LIMIT = 50_000
"""Most texts that are encoded once for several buckets: every bucket looks through them. Beyond it, once per bucket."""

_LOOKED_THROUGH = 1_000_000
"""Most texts among which those are looked for: what the driver holds at that time is bounded, however long the history."""

_BLOCKS_A_WORKER = 16
"""At least so many blocks for each worker, where there are texts enough: the last to finish is waited for by all."""

_SMALLEST_BLOCK = 64

_MOST_BLOCKS = 20_000
"""Beyond so many, blocks grow: the driver holds an order for each."""


def encode_drafts(
    objects: ObjectStore,
    prefix: str,
    drafts: Sequence[Draft],
    *,
    load_encoder: Callable[[], TextEncoder],
    dim: int,
    block_units: int,
    workers: int,
    resources: Resources,
    encoded: Callable[[int], None],
) -> int:
    """Encode what the drafts need and write it in blocks below ``prefix``; returns the number of texts encoded.

    A text that several buckets need is encoded once. A block holds ``block_units`` texts, fewer where the workers would
    share the work unevenly, more where there would be too many. ``encoded`` is told the size of each block as it is written.
    """
    shared = write_shared(objects, prefix, drafts)
    wanted = sum(draft.needed.rows for draft in drafts)
    block = min(block_units, max(_SMALLEST_BLOCK, wanted // (workers * _BLOCKS_A_WORKER)))
    block = max(block, wanted // _MOST_BLOCKS)
    orders = list(_orders(drafts, shared, block))
    if not orders:
        return 0
    work = partial(_encode_work, objects, prefix, load_encoder, dim)
    stage = Stage("encode", work, RESULTS, resources, workers=min(workers, len(orders)), batch_rows=1)
    total = 0
    for row in through(stage, orders):
        encoded(row["units"])
        total += row["units"]
    return total


def _encode_work(objects: ObjectStore, prefix: str, load_encoder: Callable[[], TextEncoder], dim: int) -> Work:
    """Reads the texts of an order, encodes them and writes their vectors: an order that is done is done for good.

    The three are one stage: Ray joins stages that follow each other and then bundles orders until their few rows fill a
    batch of the last one, so that one worker would get them all.
    """
    encoder = load_encoder()
    left_out = cache(partial(_keys_of, objects))

    def encode(task: str) -> str:
        order = json.loads(task)
        table = read_table(objects, DataFile(**order["file"]), start=order["start"], count=order["count"])
        if order["leave_out"]:
            table = table.filter(pc.invert(pc.is_in(table[CONTENT_KEY], value_set=left_out(DataFile(**order["leave_out"])))))
        vectors = encoder.encode(table["text"].to_pylist())
        if vectors.shape != (len(table), dim):
            raise RuntimeError(f"the encoder made {vectors.shape} of {len(table)} texts")
        if len(table):
            block = vector_block(table[CONTENT_KEY].combine_chunks(), vectors)
            name = hashlib.sha256(b"".join(block[CONTENT_KEY].to_pylist())).hexdigest()[:32]
            write_table(objects, f"{prefix}/vectors/{order['home']}/{name}.parquet", block, block.schema)
        return json.dumps({"units": len(table)})

    def work(batch: pa.Table) -> pa.Table:
        return pa.table({"result": [encode(task) for task in batch["task"].to_pylist()]}, schema=RESULTS)

    return work


def _keys_of(objects: ObjectStore, file: DataFile) -> pa.Array:
    return read_table(objects, file, columns=[CONTENT_KEY])[CONTENT_KEY].combine_chunks()


def write_shared(objects: ObjectStore, prefix: str, drafts: Sequence[Draft]) -> DataFile | None:
    """The texts that more than one draft needs, each once; None where there are none.

    Looks through as many drafts as there is room for: a text that many need stands in several of those too.
    """
    ends = accumulate(draft.needed.rows for draft in drafts)
    looked = [draft for draft, end in zip(drafts, ends, strict=True) if draft.needed.rows and end <= _LOOKED_THROUGH]
    if len(looked) < 2:
        return None
    keys = shared_keys(partial(_keys_needed, objects, looked), _SHARED_LIMIT)
    if len(keys) == 0:
        return None
    texts = NEEDED.empty_table()
    for draft in looked:
        for rows in iter_table(objects, draft.needed):
            wanted = rows.filter(pc.is_in(rows[CONTENT_KEY], value_set=keys))
            fresh = pc.invert(pc.is_in(wanted[CONTENT_KEY], value_set=texts[CONTENT_KEY].combine_chunks()))
            texts = pa.concat_tables([texts, wanted.filter(fresh)])
        if len(texts) == len(keys):
            break
    texts = texts.take(pc.sort_indices(pc.binary_length(texts["text"]), sort_keys=[("", "descending")]))
    name = hashlib.sha256(b"".join(sorted(keys.to_pylist()))).hexdigest()[:32]
    return write_table(objects, f"{prefix}/needed/{SHARED}-{name}.parquet", texts.combine_chunks(), NEEDED)


def _keys_needed(objects: ObjectStore, drafts: Sequence[Draft]) -> Iterator[pa.Array]:
    for draft in drafts:
        yield _keys_of(objects, draft.needed)


def _orders(drafts: Sequence[Draft], shared: DataFile | None, block_units: int) -> Iterator[str]:
    """Blocks of long texts before those of short ones (files hold the longest first): the last ones are soon done."""
    homes = [(f"{draft.bucket:05d}", draft.needed, shared) for draft in drafts]
    if shared is not None:
        homes.insert(0, (SHARED, shared, None))
    most = max((file.rows for _, file, _ in homes), default=0)
    for start in range(0, most, block_units):
        for home, file, leave_out in homes:
            if start >= file.rows:
                continue
            yield json.dumps(
                {
                    "home": home,
                    "file": file.__dict__,
                    "start": start,
                    "count": min(block_units, file.rows - start),
                    "leave_out": leave_out.__dict__ if leave_out else None,
                }
            )
