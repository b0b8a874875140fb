"""Opening a store for reading, at its newest version or an older one."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

import polars as pl

from operators.encode.image import ImageEncoder
from operators.encode.queries import ImageQueries, TextQueries
from operators.encode.text import TextEncoder, require_same
from operators.errors import ScopeError
from operators.memory.opened import Encoders, Users
from operators.memory.tenant import Memory
from operators.records import DEFAULT_TENANT, require_scope
from operators.store.commit import load_spec, pin, versions
from operators.store.manifest import Snapshot
from operators.store.objects import ObjectStore
from operators.store.opening import open_objects
from operators.tables.columns import TableMeta
from operators.tables.compute import Compared, Computed
from operators.tables.tools import Rows, read_call

CACHE_BYTES = 512 * 1024 * 1024
"""Most bytes of opened users that one store keeps at hand, unless ``open_store`` is told otherwise."""

AsOf = int | datetime | None


def open_store(
    uri: str,
    *,
    encoder: TextEncoder | None = None,
    image_encoder: ImageEncoder | None = None,
    threads: int = 1,
    cache_bytes: int = CACHE_BYTES,
) -> Store:
    """The store at a folder or ``s3://bucket/prefix``, for reading. NotAStore where there is none.

    ``encoder`` of queries and ``image_encoder`` of their pictures: by default those that the store names are loaded when a
    search first needs them, with ``threads`` threads. FingerprintMismatch if one did not make the store's vectors.
    """
    objects = open_objects(uri)
    spec = load_spec(objects)
    if encoder is not None:
        require_same(spec.encoder, encoder.fingerprint)
    if image_encoder is not None:
        require_same(spec.image_encoder, image_encoder.fingerprint)
    encoders = Encoders(
        TextQueries(spec.encoder, encoder, threads), ImageQueries(spec.image_encoder, image_encoder, threads)
    )
    return Store(objects, encoders, Users(cache_bytes))


class Store:
    """A store opened for reading; safe to share between threads."""

    def __init__(self, objects: ObjectStore, encoders: Encoders, users: Users) -> None:
        self._objects = objects
        self._encoders = encoders
        self._users = users

    @property
    def uri(self) -> str:
        """Where it is."""
        return self._objects.uri

    def versions(self) -> list[int]:
        """The versions that are kept, ascending."""
        return versions(self._objects)

    def pin(self, as_of: AsOf = None) -> Snapshot:
        """The newest snapshot, or that of a version, or the newest at an aware time. SnapshotNotFound."""
        return pin(self._objects, as_of)

    def memory(self, tenant: str = DEFAULT_TENANT, as_of: AsOf = None) -> Memory:
        """One tenant's memory at one version; it stays there whatever is committed later. ScopeError without tenant."""
        if not isinstance(tenant, str) or not tenant.strip():
            raise ScopeError("a memory is of one tenant: pass --tenant (tenant= in Python)")
        return Memory(self._objects, self.pin(as_of), tenant, self._encoders, self._users)

    def user(self, user: str, tenant: str = DEFAULT_TENANT, as_of: AsOf = None) -> UserMemory:
        """One user's memory at one version. ScopeError without tenant or user."""
        return UserMemory(self.memory(tenant, as_of), require_scope(tenant, user)[1])


class UserMemory:
    """One user's memory at one version, for a notebook: ``store.user("mira").table("activity")``."""

    def __init__(self, memory: Memory, user: str) -> None:
        self._memory = memory
        self._user = user

    def tables(self) -> list[TableMeta]:
        """What tables there are, sorted by name."""
        return self._memory.tables(self._user)

    def table(self, name: str) -> pl.DataFrame:
        """The rows of a table; each column has its values as written (``.raw``) and where they stand (``.at``) beside it."""
        return self._memory.table(self._user, name).frame

    def compute(self, table: str, operation: str, column: str | None = None, **options: Any) -> Computed | Compared:
        """``compute("activity", "avg", "sleep", where=["time >= 2016-04-20"], by="week", unit="h")`` (``ComputeCall``)."""
        found = self.run({"tool": "compute", "table": table, "operation": operation, "column": column, **options})
        assert not isinstance(found, Rows)
        return found

    def run(self, call: Mapping[str, Any]) -> Rows | Computed | Compared:
        """A tool on these tables, as data (``tables.tools``). ToolError, saying what is allowed, for what does not fit."""
        return self._memory.run(self._user, read_call(call))
