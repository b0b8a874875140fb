"""Verifying versions of a store, each file and picture once, whatever versions share."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from jobs.watch import Progress
from operators.errors import StoreCorrupt
from operators.merge import users_of
from operators.store.commit import load_snapshot, snapshot_key
from operators.store.objects import ObjectStore
from operators.store.verify import Checked, Finding, VerifyReport, verify


def verify_versions(
    objects: ObjectStore, versions: Sequence[int], *, threads: int, progress: Callable[[Progress], None]
) -> list[VerifyReport]:
    """A report a version, in the order given.

    What several share is read with the first, and what is found of it stands in the report of each. A manifest that is
    damaged is a finding (``manifest``) and does not keep the other versions from being looked at.
    """
    checked = Checked()

    def tell(done: int, total: int) -> None:
        progress(Progress("verify", done, total, "files"))

    def report(version: int) -> VerifyReport:
        try:
            snapshot = load_snapshot(objects, version)
        except StoreCorrupt:
            damage = Finding(snapshot_key(version), "manifest", f"the manifest of version {version}", "something else")
            return VerifyReport(version, 0, 0, 0, (damage,))
        return verify(objects, snapshot, recount=users_of, checked=checked, threads=threads, progress=tell)

    return [report(version) for version in versions]
