"""Whether a bucket's vectors of pictures are what its rounds and its encoder say they are."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from operators.records import IMAGES, MEDIA, TENANT, USER, VECTOR
from operators.store.tables import vector_rows

_AT_ONCE = 4096
_LENGTH = (0.98, 1.02)
"""Between which a vector of unit length lies once its numbers are float16."""


def picture_vector_faults(rounds: pa.Table, rows: pa.Table) -> Iterator[tuple[str, str]]:
    """Expected and found: rows sorted, each a picture of that user's rounds and each once, vectors of unit length."""
    told = list(zip(*(rows[name].to_pylist() for name in (TENANT, USER, MEDIA)), strict=True))
    if odd := [row for row in range(1, len(told)) if told[row] <= told[row - 1]]:
        yield "pictures sorted by tenant, user and name, each once", f"another order from row {odd[0]}"
    known = _pictures(rounds)
    if strays := [row for row, picture in enumerate(told) if picture not in known]:
        yield "pictures of the user's own rounds", f"others, row {strays[0]} first"
    for start in range(0, len(rows), _AT_ONCE):
        lengths = np.linalg.norm(vector_rows(rows[VECTOR].slice(start, _AT_ONCE)).astype(np.float32), axis=1)
        if not (unit := (lengths >= _LENGTH[0]) & (lengths <= _LENGTH[1])).all():
            yield "vectors of unit length", f"another in row {start + int(np.argmin(unit))}"
            return


def _pictures(rounds: pa.Table) -> set[tuple[str, str, str]]:
    images = rounds[IMAGES].combine_chunks()
    owners = pc.list_parent_indices(images)
    media = pc.struct_field(pc.list_flatten(images), MEDIA)
    scopes = (rounds[name].take(owners).to_pylist() for name in (TENANT, USER))
    return {(tenant, user, name) for tenant, user, name in zip(*scopes, media.to_pylist(), strict=True) if name is not None}
