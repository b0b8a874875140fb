"""A bucket's observations: what is at hand of an earlier version is kept, the rest is extracted, doubts settled over all."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl
import pyarrow as pa
import pyarrow.compute as pc

from jobs.blocks import NEEDED, blocks_for
from jobs.encode import PICTURE_TEXT
from operators.extract.extraction import Extraction
from operators.extract.settle import settled
from operators.extract.texts import picture_texts
from operators.records import (
    CONTENT_HASH,
    CONTENT_KEY,
    MEDIA,
    OBSERVATIONS,
    ORDER,
    PICTURE_TEXTS,
    ROUND,
    SESSION,
    TENANT,
    USER,
    picture_key,
    pictures_of,
)
from operators.store.manifest import OBSERVATIONS_FILE, PICTURE_TEXTS_FILE, ROUNDS_FILE, BucketFiles, DataFile
from operators.store.objects import ObjectStore
from operators.store.tables import read_table, write_table

_IDENTITY = [TENANT, USER, SESSION, ROUND]


def needed_pictures(
    objects: ObjectStore, prefix: str, bucket: int, rounds: pa.Table, base: BucketFiles | None, extraction: Extraction
) -> pa.Table:
    """The pictures of ``rounds`` whose text is not at hand, as ``NEEDED`` rows; none where pictures are not read."""
    if extraction.reads == "none":
        return NEEDED.empty_table()
    names = sorted(pictures_of(rounds).to_pylist())
    wanted = pa.table({CONTENT_KEY: pa.array(map(picture_key, names), pa.binary(16)), "text": names}, schema=NEEDED)
    held = _held(objects, prefix, bucket, base, extraction, [CONTENT_KEY])[CONTENT_KEY].combine_chunks()
    return wanted.filter(pc.invert(pc.is_in(wanted[CONTENT_KEY], value_set=held)))


def _held(
    objects: ObjectStore,
    prefix: str,
    bucket: int,
    base: BucketFiles | None,
    extraction: Extraction,
    columns: Sequence[str] = PICTURE_TEXTS.names,
) -> pa.Table:
    """``PICTURE_TEXTS`` at hand: of the version built upon, read by the same reader, and of this run's blocks."""
    schema = pa.schema([PICTURE_TEXTS.field(name) for name in columns])
    tables = [schema.empty_table()]
    if base is not None and base.extraction.endswith(f"+{extraction.reads}"):
        tables.append(read_table(objects, base.files[PICTURE_TEXTS_FILE], columns=columns))
    tables += [block.cast(schema) for block in blocks_for(objects, prefix, PICTURE_TEXT, bucket, columns)]
    return pa.concat_tables(tables).combine_chunks()


def observe_bucket(
    objects: ObjectStore,
    prefix: str,
    home: str,
    bucket: int,
    rounds: pa.Table,
    base: BucketFiles | None,
    extraction: Extraction,
) -> dict[str, DataFile]:
    """Write the bucket's observations and picture texts below ``home`` and say where.

    Rounds that the version built upon holds unchanged, extracted alike, keep what was found in them.
    """
    texts = _texts_of(rounds, _held(objects, prefix, bucket, base, extraction))
    observations = _observed(objects, rounds, texts, base, extraction)
    return {
        PICTURE_TEXTS_FILE: write_table(objects, f"{home}/picture-texts.parquet", texts, PICTURE_TEXTS),
        OBSERVATIONS_FILE: write_table(objects, f"{home}/observations.parquet", observations, OBSERVATIONS),
    }


def _texts_of(rounds: pa.Table, held: pa.Table) -> pa.Table:
    """Of the texts at hand those of the bucket's own pictures, each once, by name."""
    held = held.filter(pc.is_in(held[MEDIA], value_set=pictures_of(rounds)))
    names = held[MEDIA].to_pylist()
    first = {name: row for row, name in reversed(list(enumerate(names)))}
    return held.take(pa.array([first[name] for name in sorted(first)], pa.int64())).combine_chunks()


def _observed(
    objects: ObjectStore, rounds: pa.Table, texts: pa.Table, base: BucketFiles | None, extraction: Extraction
) -> pa.Table:
    extractor = extraction.extractor()
    if extractor is None or len(rounds) == 0:
        return OBSERVATIONS.empty_table()
    kept, fresh = _unchanged(objects, rounds, base, extraction)
    found = extractor.observe(rounds.take(pa.array(fresh, pa.int64())), picture_texts(texts))
    both = pa.concat_tables([kept, found]).combine_chunks()
    frame = pl.DataFrame(pl.from_arrow(both.select([TENANT, USER, ORDER]))).with_row_index("row")
    rows = frame.sort([TENANT, USER, ORDER, "row"])["row"].to_list()
    return settled(both.take(pa.array(rows, pa.int64())), rounds).combine_chunks()


def _unchanged(
    objects: ObjectStore, rounds: pa.Table, base: BucketFiles | None, extraction: Extraction
) -> tuple[pa.Table, Sequence[int]]:
    """The base's observations of rounds that say what they said, where those stand now; and the rows of all others."""
    if base is None or base.extraction != extraction.fingerprint:
        return OBSERVATIONS.empty_table(), range(len(rounds))
    identity = [*_IDENTITY, CONTENT_HASH]
    now = pl.DataFrame(pl.from_arrow(rounds.select([*identity, ORDER]))).with_row_index("at")
    before = pl.DataFrame(pl.from_arrow(read_table(objects, base.files[ROUNDS_FILE], columns=identity)))
    same = now.join(before, on=identity, how="semi")
    fresh = now.join(before, on=identity, how="anti", maintain_order="left")["at"].to_list()
    held = read_table(objects, base.files[OBSERVATIONS_FILE])
    frame = pl.DataFrame(pl.from_arrow(held.select(_IDENTITY))).with_row_index("row")
    placed = frame.join(same.select([*_IDENTITY, ORDER]), on=_IDENTITY, how="inner", maintain_order="left")
    kept = held.take(pa.array(placed["row"].to_list(), pa.int64()))
    order = OBSERVATIONS.get_field_index(ORDER)
    kept = kept.set_column(order, OBSERVATIONS.field(ORDER), pa.array(placed[ORDER].to_list(), pa.int64()))
    return kept, fresh
