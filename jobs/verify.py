"""Verifying versions of a store, each file and picture once, whatever versions share."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from jobs.watch import Progress
from operators.merge import users_of
from operators.store.commit import load_snapshot
from operators.store.objects import ObjectStore
from operators.store.verify import Checked, VerifyReport, verify


def verify_versions(
    objects: ObjectStore, versions: Sequence[int], *, threads: int, progress: Callable[[Progress], None]
) -> list[VerifyReport]:
    """A report a version, in the order given; a file that several share is looked at with the first."""
    checked = Checked()

    def tell(done: int, total: int) -> None:
        progress(Progress("verify", done, total, "files"))

    return [
        verify(
            objects,
            load_snapshot(objects, version),
            recount=users_of,
            checked=checked,
            threads=threads,
            progress=tell,
        )
        for version in versions
    ]
