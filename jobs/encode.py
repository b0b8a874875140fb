"""Encoding in bulk: texts that want vectors stream through a pool of encoders into blocks that later buckets pick up."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from jobs.build import NEEDED, SHARED, Draft, shared_keys, vector_block
from jobs.stages import RESULTS, Resources, Stage, Work, apply, stream, tasks
from operators.encode.text import TextEncoder
from operators.records import CONTENT_KEY
from operators.store.manifest import DataFile
from operators.store.objects import ObjectStore
from operators.store.tables import read_table, write_table

HOME = "home"

TEXTS = pa.schema([pa.field(HOME, pa.string(), nullable=False), *NEEDED])
"""Texts on their way to an encoder; ``home`` is the bucket they belong to, or the place of the shared ones."""

_LIGHT = Resources(cpus=1)

_SHARED_LIMIT = 250_000
"""Most texts that are encoded once for several buckets: every bucket looks through them. Beyond it, once per bucket."""

_KEYS_AT_ONCE = 4_000_000


def encoded_texts(dim: int) -> pa.Schema:
    """Schema of encoded texts: home, content key, float16 vector of ``dim`` numbers."""
    return pa.schema([TEXTS.field(HOME), *vector_block(pa.array([], pa.binary(16)), np.zeros((0, dim))).schema])


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

    A text that several buckets need is encoded once. ``encoded`` is told the size of each block as it is written.
    """
    shared = write_shared(objects, prefix, drafts)
    orders = list(_orders(drafts, shared, block_units))
    if not orders:
        return 0
    dataset = tasks(orders)
    dataset = apply(dataset, Stage("read_texts", lambda: _ReadTexts(objects), TEXTS, _LIGHT, batch_rows=1))
    encode = Stage("encode", lambda: _Encode(load_encoder()), encoded_texts(dim), resources, workers, block_units)
    dataset = apply(dataset, encode)
    dataset = apply(dataset, Stage("keep_vectors", lambda: _KeepVectors(objects, prefix), RESULTS, _LIGHT))
    total = 0
    for row in stream(dataset):
        units = int(json.loads(row["result"])["units"])
        encoded(units)
        total += units
    return total


def write_shared(objects: ObjectStore, prefix: str, drafts: Sequence[Draft]) -> DataFile | None:
    """The texts that more than one draft needs, each once; None where there are none."""
    needing = [draft for draft in drafts if draft.needed.rows]
    if len(needing) < 2:
        return None
    parts = 1 + sum(draft.needed.rows for draft in needing) // _KEYS_AT_ONCE
    limit = _SHARED_LIMIT // parts
    found = [shared_keys(_key_tables(objects, needing, part, parts), limit) for part in range(parts)]
    keys = pa.concat_arrays(found)
    if len(keys) == 0:
        return None
    texts = NEEDED.empty_table()
    for draft in needing:
        missing = keys.filter(pc.invert(pc.is_in(keys, value_set=texts[CONTENT_KEY].combine_chunks())))
        if len(missing):
            table = read_table(objects, draft.needed)
            texts = pa.concat_tables([texts, table.filter(pc.is_in(table[CONTENT_KEY], value_set=missing))])
    texts = texts.take(pc.sort_indices(pc.binary_length(texts["text"]), sort_keys=[("", "descending")]))
    name = hashlib.sha256(b"".join(sorted(keys.to_pylist()))).hexdigest()[:32]
    return write_table(objects, f"{prefix}/needed/{SHARED}-{name}.parquet", texts.combine_chunks(), NEEDED)


def _key_tables(objects: ObjectStore, drafts: Sequence[Draft], part: int, parts: int) -> Iterator[pa.Table]:
    for draft in drafts:
        table = read_table(objects, draft.needed, columns=[CONTENT_KEY])
        if parts > 1:
            first = np.array([key[0] for key in table[CONTENT_KEY].to_pylist()], np.int64)
            table = table.filter(pa.array(first * parts // 256 == part))
        yield table


def _orders(drafts: Sequence[Draft], shared: DataFile | None, block_units: int) -> Iterator[str]:
    homes = [(f"{draft.bucket:05d}", draft.needed, shared) for draft in drafts]
    if shared is not None:
        homes.insert(0, (SHARED, shared, None))
    for home, file, leave_out in homes:
        for start in range(0, file.rows, block_units):
            yield json.dumps(
                {
                    "home": home,
                    "file": file.__dict__,
                    "start": start,
                    "count": min(block_units, file.rows - start),
                    "leave_out": leave_out.__dict__ if leave_out else None,
                }
            )


class _ReadTexts:
    """Orders to texts: a slice of a needed file, without those that are encoded for all."""

    def __init__(self, objects: ObjectStore) -> None:
        self._objects = objects

    def __call__(self, batch: pa.Table) -> pa.Table:
        return pa.concat_tables([self._read(json.loads(task)) for task in batch["task"].to_pylist()])

    def _read(self, order: dict[str, object]) -> pa.Table:
        file = DataFile(**order["file"])  # type: ignore[arg-type]
        start, count = order["start"], order["count"]
        table = read_table(self._objects, file, start=start, count=count)  # type: ignore[arg-type]
        if order["leave_out"]:
            leave_out = DataFile(**order["leave_out"])  # type: ignore[arg-type]
            shared = read_table(self._objects, leave_out, columns=[CONTENT_KEY])[CONTENT_KEY].combine_chunks()
            table = table.filter(pc.invert(pc.is_in(table[CONTENT_KEY], value_set=shared)))
        home = pa.array([order["home"]] * len(table), pa.string())
        return table.add_column(0, TEXTS.field(HOME), home).cast(TEXTS)


class _Encode:
    """Texts to vectors."""

    def __init__(self, encoder: TextEncoder) -> None:
        self._encoder = encoder

    def __call__(self, batch: pa.Table) -> pa.Table:
        vectors = self._encoder.encode(batch["text"].to_pylist())
        if vectors.shape != (len(batch), self._encoder.dim):
            raise RuntimeError(f"the encoder made {vectors.shape} of {len(batch)} texts")
        block = vector_block(batch[CONTENT_KEY].combine_chunks(), vectors)
        return block.add_column(0, TEXTS.field(HOME), batch[HOME].combine_chunks())


class _KeepVectors:
    """Vectors to blocks in the store, one object per home, named by its content keys."""

    def __init__(self, objects: ObjectStore, prefix: str) -> None:
        self._objects = objects
        self._prefix = prefix

    def __call__(self, batch: pa.Table) -> pa.Table:
        for home in batch[HOME].unique().to_pylist():
            block = batch.filter(pc.equal(batch[HOME], home)).drop_columns([HOME]).combine_chunks()
            name = hashlib.sha256(b"".join(block[CONTENT_KEY].to_pylist())).hexdigest()[:32]
            write_table(self._objects, f"{self._prefix}/vectors/{home}/{name}.parquet", block, block.schema)
        return pa.table({"result": [json.dumps({"units": len(batch)})]}, schema=RESULTS)


def encode_work(load_encoder: Callable[[], TextEncoder]) -> Work:
    """The encode stage's work alone, for measuring the encoder without the pipeline."""
    return _Encode(load_encoder())
