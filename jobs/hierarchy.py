"""A bucket's hierarchies: every user's topics, episodes and events, made anew where what they are made of has changed."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from jobs.held import Scope, runs_of
from operators.hierarchy.build import Pictures, hierarchy_of
from operators.hierarchy.values import HierarchyValues
from operators.records import HIERARCHY, MEDIA, TENANT, USER, VECTOR, digest_of
from operators.store.manifest import HIERARCHY_FILE, BucketFiles, DataFile
from operators.store.objects import ObjectStore
from operators.store.tables import read_table, vector_rows, write_table


def hierarchy_bucket(
    objects: ObjectStore,
    home: str,
    tables: Mapping[str, pa.Table],
    vectors: NDArray[np.float16],
    base: BucketFiles | None,
    values: HierarchyValues,
) -> DataFile:
    """Write the bucket's ``records.HIERARCHY``.

    ``tables``: its ``rounds``, ``units``, ``users`` and, as ``pictures``, ``records.picture_vectors``; ``vectors``
    (units, dim). What the base holds of a user stays where it is made of the same.
    """
    held = _by_user(read_table(objects, base.files[HIERARCHY_FILE]).cast(HIERARCHY)) if base else {}
    seen = {scope: _pictures(rows) for scope, rows in _by_user(tables["pictures"]).items()}
    parts = [HIERARCHY.empty_table()]
    for user in tables["users"].to_pylist():
        scope = (user[TENANT], user[USER])
        pictures = seen.get(scope, {})
        made_of = f"{values.fingerprint}-{digest_of([user['digest'], *sorted(pictures)])}"
        before = held.get(scope)
        if before is not None and before["made_of"][0].as_py() == made_of:
            parts.append(before)
            continue
        units = slice(user["unit_start"], user["unit_start"] + user["units"])
        rounds = tables["rounds"].slice(user["round_start"], user["rounds"])
        said = tables["units"].slice(user["unit_start"], user["units"])
        # A copy begins where the machine likes arrays to begin: sums come out the same whoever stands before the user.
        parts.append(hierarchy_of(rounds, said, vectors[units].copy(), values, made_of=made_of, pictures=pictures))
    return write_table(objects, f"{home}/hierarchy.parquet", pa.concat_tables(parts).combine_chunks(), HIERARCHY)


def _by_user(table: pa.Table) -> dict[Scope, pa.Table]:
    """Each user's rows of a table that is sorted by tenant and user."""
    return {scope: table.slice(begin, rows) for scope, begin, rows in runs_of(table)}


def _pictures(rows: pa.Table) -> Pictures:
    return dict(zip(rows[MEDIA].to_pylist(), vector_rows(rows[VECTOR]), strict=True))
