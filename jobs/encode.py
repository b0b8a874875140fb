"""What is done once for each text and each picture: encoding, and reading the text of pictures; by many workers."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pyarrow as pa

from jobs.blocks import Do, Sizes, Wanted, do_in_blocks
from jobs.stages import Resources
from operators.encode.text import TextEncoder
from operators.errors import ExtractorError, ObjectNotFound
from operators.extract.ocr import PictureReader
from operators.extract.page import PictureText
from operators.extract.texts import picture_rows
from operators.records import CONTENT_KEY, media_key, vectors_by_key
from operators.store.objects import ObjectStore
from operators.store.tables import vector_column

VECTORS, PICTURE_TEXT = "vectors", "picture-texts"
"""Parts of a run: where the blocks of each stand."""

_SMALLEST_BLOCK = 64
_FEW_PICTURES = 4
"""Pictures that are read sooner than Ray starts a worker for them."""


def encode_texts(
    objects: ObjectStore,
    prefix: str,
    wanted: Sequence[Wanted],
    *,
    load_encoder: Callable[[], TextEncoder],
    dim: int,
    block_units: int,
    workers: int,
    resources: Resources,
    encoded: Callable[[int], None],
) -> int:
    """Encode the texts that are wanted (``blocks.NEEDED``); returns how many were."""

    def make() -> Do:
        encoder = load_encoder()

        def encode(table: pa.Table) -> pa.Table:
            vectors = encoder.encode(table["text"].to_pylist())
            if vectors.shape != (len(table), dim):
                raise RuntimeError(f"the encoder made {vectors.shape} of {len(table)} texts")
            return vector_block(table[CONTENT_KEY].combine_chunks(), vectors)

        return encode

    return do_in_blocks(
        objects,
        prefix,
        VECTORS,
        wanted,
        make=make,
        sizes=Sizes(block_units, _SMALLEST_BLOCK),
        workers=workers,
        resources=resources,
        done=encoded,
    )


def vector_block(keys: pa.Array, vectors: np.ndarray) -> pa.Table:
    """Content keys and their vectors as a table of ``vectors_by_key``."""
    columns = {CONTENT_KEY: keys.cast(pa.binary(16)), "vector": vector_column(vectors)}
    return pa.table(columns, schema=vectors_by_key(vectors.shape[1]))


def read_pictures(
    objects: ObjectStore,
    prefix: str,
    wanted: Sequence[Wanted],
    *,
    load_reader: Callable[[], PictureReader],
    block_pictures: int,
    workers: int,
    resources: Resources,
    read: Callable[[int], None],
) -> int:
    """Read the text of the pictures that are wanted (``blocks.NEEDED``, their names as its texts); returns how many."""

    def make() -> Do:
        reader = load_reader()

        def texts(table: pa.Table) -> pa.Table:
            return picture_rows([(name, _read_one(objects, reader, name)) for name in table["text"].to_pylist()])

        return texts

    return do_in_blocks(
        objects,
        prefix,
        PICTURE_TEXT,
        wanted,
        make=make,
        sizes=Sizes(block_pictures, 1),
        workers=workers,
        resources=resources,
        done=read,
        few=_FEW_PICTURES,
    )


def _read_one(objects: ObjectStore, reader: PictureReader, name: str) -> PictureText | str:
    """What stands in the picture, or why it cannot be read: one odd picture never stops the others."""
    try:
        return reader.read(objects.get(media_key(name)))
    except ObjectNotFound:
        return "picture-missing"
    except ExtractorError:
        return "picture-broken"
