"""Work keyed by content, in blocks that later buckets pick up: done once for all that want it, and for good once written."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, partial
from itertools import accumulate

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from jobs.stages import RESULTS, Resources, Stage, Work, through
from operators.records import CONTENT_KEY
from operators.store.manifest import DataFile
from operators.store.objects import ObjectStore
from operators.store.tables import iter_table, read_table, write_table

SHARED = "shared"
"""Where a run keeps what several of its buckets want."""

NEEDED = pa.schema([pa.field(CONTENT_KEY, pa.binary(16), nullable=False), pa.field("text", pa.string(), nullable=False)])
"""What wants work: each thing once, what takes long first, so that blocks are even inside and the last ones are quick."""

_SHARED_LIMIT = 50_000
"""Most things that are done once for several buckets: every bucket looks through them. Beyond it, once per bucket."""

_LOOKED_THROUGH = 1_000_000
"""Most things among which those are looked for: what the driver holds at that time is bounded, however long the history."""

_BLOCKS_A_WORKER = 16
"""At least so many blocks for each worker, where there is enough: the last to finish is waited for by all."""

_MOST_BLOCKS = 20_000
"""Beyond so many, blocks grow: the driver holds an order for each."""

Do = Callable[[pa.Table], pa.Table]
"""``NEEDED`` rows to a block of what was made of them: a row each, with its content key."""


@dataclass(frozen=True)
class Wanted:
    """What one bucket wants done, as ``NEEDED`` rows in a file."""

    bucket: int
    file: DataFile


@dataclass(frozen=True)
class Sizes:
    """Rows of a block: at most so many, unless there would be too many blocks, and at least so many."""

    most: int
    least: int


def do_in_blocks(
    objects: ObjectStore,
    prefix: str,
    part: str,
    wanted: Sequence[Wanted],
    *,
    make: Callable[[], Do],
    sizes: Sizes,
    workers: int,
    resources: Resources,
    done: Callable[[int], None],
    few: int = 0,
) -> int:
    """Do what is wanted and write it in blocks below ``prefix``/``part``; returns the number of things done.

    A thing that several buckets want is done once. ``done`` is told the size of each block as it is written. Up to ``few``
    things are done in this process.
    """
    shared = write_shared(objects, prefix, part, [each.file for each in wanted])
    rows = sum(each.file.rows for each in wanted)
    size = max(min(sizes.most, max(sizes.least, rows // (workers * _BLOCKS_A_WORKER))), rows // _MOST_BLOCKS)
    orders = list(_orders(wanted, shared, size))
    if not orders:
        return 0
    work = partial(_work, objects, prefix, part, make)
    stage = Stage(part, work, RESULTS, resources, workers=min(workers, len(orders)), batch_rows=1)
    total = 0
    for row in through(stage, orders, here=rows <= few):
        done(row["done"])
        total += row["done"]
    return total


def _work(objects: ObjectStore, prefix: str, part: str, make: Callable[[], Do]) -> Work:
    """Reads the things of an order, does them and writes the block: an order that is done is done for good.

    The three are one stage: Ray joins stages that follow each other and then bundles orders until their few rows fill a
    batch of the last one, so that one worker would get them all.
    """
    do = make()
    left_out = cache(partial(_keys_of, objects))

    def work_on(task: str) -> str:
        order = json.loads(task)
        table = read_table(objects, DataFile(**order["file"]), start=order["start"], count=order["count"])
        if order["leave_out"]:
            table = table.filter(pc.invert(pc.is_in(table[CONTENT_KEY], value_set=left_out(DataFile(**order["leave_out"])))))
        if len(table):
            block = do(table)
            if len(block) != len(table):
                raise RuntimeError(f"{part}: {len(block)} rows were made of {len(table)}")
            name = hashlib.sha256(b"".join(block[CONTENT_KEY].to_pylist())).hexdigest()[:32]
            write_table(objects, f"{prefix}/{part}/{order['home']}/{name}.parquet", block, block.schema)
        return json.dumps({"done": len(table)})

    def work(batch: pa.Table) -> pa.Table:
        return pa.table({"result": [work_on(task) for task in batch["task"].to_pylist()]}, schema=RESULTS)

    return work


def blocks_for(
    objects: ObjectStore, prefix: str, part: str, bucket: int, columns: Sequence[str] | None = None
) -> Iterator[pa.Table]:
    """What this run's blocks hold for a bucket, its own ones and then the shared ones; each is whole."""
    for home in (f"{bucket:05d}", SHARED):
        for info in objects.list(f"{prefix}/{part}/{home}/"):
            with objects.open(info.key) as handle:
                yield pq.ParquetFile(handle).read(columns=columns)


def _keys_of(objects: ObjectStore, file: DataFile) -> pa.Array:
    return read_table(objects, file, columns=[CONTENT_KEY])[CONTENT_KEY].combine_chunks()


def write_shared(objects: ObjectStore, prefix: str, part: str, files: Sequence[DataFile]) -> DataFile | None:
    """The things that more than one file wants, each once; None where there are none.

    Looks through as many files as there is room for: a thing that many need stands in several of those too.
    """
    ends = accumulate(file.rows for file in files)
    looked = [file for file, end in zip(files, ends, strict=True) if file.rows and end <= _LOOKED_THROUGH]
    if len(looked) < 2:
        return None
    keys = shared_keys(partial(_keys_needed, objects, looked), _SHARED_LIMIT)
    if len(keys) == 0:
        return None
    things = NEEDED.empty_table()
    for file in looked:
        for rows in iter_table(objects, file):
            wanted = rows.filter(pc.is_in(rows[CONTENT_KEY], value_set=keys))
            fresh = pc.invert(pc.is_in(wanted[CONTENT_KEY], value_set=things[CONTENT_KEY].combine_chunks()))
            things = pa.concat_tables([things, wanted.filter(fresh)])
        if len(things) == len(keys):
            break
    things = things.take(pc.sort_indices(pc.binary_length(things["text"]), sort_keys=[("", "descending")]))
    name = hashlib.sha256(b"".join(sorted(keys.to_pylist()))).hexdigest()[:32]
    return write_table(objects, f"{prefix}/needed/{part}-{SHARED}-{name}.parquet", things.combine_chunks(), NEEDED)


def _keys_needed(objects: ObjectStore, files: Sequence[DataFile]) -> Iterator[pa.Array]:
    for file in files:
        yield _keys_of(objects, file)


def _orders(wanted: Sequence[Wanted], shared: DataFile | None, rows: int) -> Iterator[str]:
    """Blocks of what takes long before the others (files hold that first): the last ones are soon done."""
    homes = [(f"{each.bucket:05d}", each.file, shared) for each in wanted]
    if shared is not None:
        homes.insert(0, (SHARED, shared, None))
    most = max((file.rows for _, file, _ in homes), default=0)
    for start in range(0, most, rows):
        for home, file, leave_out in homes:
            if start >= file.rows:
                continue
            yield json.dumps(
                {
                    "home": home,
                    "file": file.__dict__,
                    "start": start,
                    "count": min(rows, file.rows - start),
                    "leave_out": leave_out.__dict__ if leave_out else None,
                }
            )


def shared_keys(read: Callable[[], Iterable[pa.Array]], limit: int) -> pa.Array:
    """Content keys that stand in more than one of the arrays (each holds a key once): at most ``limit``, the most wanted.

    ``read`` is called twice. The first time keys are told apart by eight of their sixteen bytes, so that no more than that
    is held of each; keys are hashes, and one that shares those bytes with another costs a place at most.
    """
    heads = np.concatenate([np.empty(0, np.uint64), *map(_heads, read())])
    heads.sort()
    often, counts = np.unique(heads[1:][heads[1:] == heads[:-1]], return_counts=True)
    wanted = often[np.argsort(-counts, kind="stable")][:limit]
    del heads
    once = again = pa.array([], pa.binary(16))
    for keys in read() if len(wanted) else ():
        found = keys.filter(pa.array(np.isin(_heads(keys), wanted)))
        again = pa.concat_arrays([again, found.filter(pc.is_in(found, value_set=once))]).unique()
        once = pa.concat_arrays([once, found]).unique()
    return again[:limit]


def _heads(keys: pa.Array) -> np.ndarray:
    words = np.frombuffer(keys.buffers()[1] or b"", np.uint64).reshape(-1, 2)
    return words[keys.offset : keys.offset + len(keys), 0]
