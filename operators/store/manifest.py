"""Snapshots as written: one JSON manifest names every file of every dataset of every bucket."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, fields
from datetime import datetime
from typing import Any

from operators.errors import StoreCorrupt, StoreFormatError

FORMAT = 5
"""Version of the store's layout that this release writes and reads.

Whatever is added to ``store.json`` or to a manifest raises it: a release that dropped, or passed over, what it does not
know would commit snapshots that lack it. So unknown keys are refused, not carried along.
"""

ROUNDS_FILE, UNITS_FILE, USERS_FILE, VECTORS_FILE = "rounds", "units", "users", "vectors"
OBSERVATIONS_FILE, PICTURE_TEXTS_FILE = "observations", "picture_texts"
PICTURE_VECTORS_FILE = "picture_vectors"
COUNTS_FILE, TABLES_FILE, PACK_FILE = "counts", "tables", "table_rows"
CHANGES_FILE, CORRECTIONS_FILE = "schema_changes", "corrections"
HIERARCHY_FILE = "hierarchy"
"""Datasets of a bucket (keys of ``BucketFiles.files``)."""


NO_IMAGE_ENCODER: Mapping[str, Any] = {"kind": "none", "dim": 0}
"""The fingerprint of the image encoder of a store that holds no vectors of pictures."""


@dataclass(frozen=True)
class StoreSpec:
    """What a store fixes when it is created: its layout and the encoders of texts and pictures whose vectors it holds."""

    buckets: int
    encoder: Mapping[str, Any]
    image_encoder: Mapping[str, Any] = field(default_factory=lambda: dict(NO_IMAGE_ENCODER))
    format: int = FORMAT


@dataclass(frozen=True)
class DataFile:
    """One immutable file: key below the store's root, size in bytes, sha256 (hex) of its bytes, rows."""

    path: str
    bytes: int
    sha256: str
    rows: int


@dataclass(frozen=True)
class Counts:
    """How much there is; counts of disjoint buckets add."""

    users: int = 0
    sessions: int = 0
    rounds: int = 0
    units: int = 0
    pictures: int = 0

    def __add__(self, other: Counts) -> Counts:
        return Counts(**{name: value + getattr(other, name) for name, value in asdict(self).items()})


@dataclass(frozen=True)
class BucketFiles:
    """One bucket of one snapshot: a file per dataset, its counts and the digest of its logical content.

    ``revision`` is unique to the write that made it: two snapshots hold the same bucket exactly if it is equal.
    ``undecoded``: distinct pictures of its users that have no vector, for they cannot be decoded.
    ``extraction`` names the extractor and the reader of pictures that its observations were made with, ``induction`` how its
    tables were made of them.
    """

    revision: str
    files: Mapping[str, DataFile]
    counts: Counts
    digest: str
    extraction: str = "none"
    induction: str = "none"
    undecoded: int = 0


@dataclass(frozen=True)
class Snapshot:
    """One version of a store. Version 0 is the empty store that no manifest describes.

    ``shared``: datasets that are no bucket's, by name: the schemas of tenants whose users have theirs in common.
    """

    version: int
    parent: int
    commit_id: str
    run_id: str
    committed_at: datetime
    spec: StoreSpec
    config_fingerprint: str = ""
    buckets: Mapping[int, BucketFiles] = field(default_factory=dict)
    quarantine: DataFile | None = None
    changes: Mapping[str, int] = field(default_factory=dict)
    shared: Mapping[str, DataFile] = field(default_factory=dict)

    @property
    def counts(self) -> Counts:
        """Totals over all buckets and tenants."""
        return sum((bucket.counts for bucket in self.buckets.values()), Counts())

    @property
    def observations(self) -> int:
        """Rows of observations, those that were corrected later too."""
        held = (bucket.files.get(OBSERVATIONS_FILE) for bucket in self.buckets.values())
        return sum(file.rows for file in held if file is not None)

    @property
    def picture_vectors(self) -> int:
        """Vectors of pictures: one each distinct picture of a user that can be decoded."""
        held = (bucket.files.get(PICTURE_VECTORS_FILE) for bucket in self.buckets.values())
        return sum(file.rows for file in held if file is not None)

    @property
    def undecoded(self) -> int:
        """Distinct pictures of users that have no vector, for they cannot be decoded."""
        return sum(bucket.undecoded for bucket in self.buckets.values())

    @property
    def tables(self) -> int:
        """Tables of all users."""
        held = (bucket.files.get(TABLES_FILE) for bucket in self.buckets.values())
        return sum(file.rows for file in held if file is not None)

    @property
    def quarantined(self) -> int:
        """Rows in quarantine."""
        return self.quarantine.rows if self.quarantine else 0

    @property
    def content_digest(self) -> str:
        """Digest of the logical content, whatever its bucketing and the order of work."""
        return add_digests(bucket.digest for bucket in self.buckets.values())

    def files(self) -> Iterable[DataFile]:
        """Every data file the snapshot names."""
        for bucket in self.buckets.values():
            yield from bucket.files.values()
        if self.quarantine:
            yield self.quarantine
        yield from self.shared.values()


_MODULUS = 1 << 256


def add_digests(digests: Iterable[str]) -> str:
    """Sum of hex digests modulo 2**256: independent of order and grouping, so disjoint parts add."""
    return f"{sum(int(digest, 16) for digest in digests) % _MODULUS:064x}"


# --- JSON -------------------------------------------------------------------------------------------------------


def spec_to_json(spec: StoreSpec) -> bytes:
    """``store.json``."""
    return _dump(_plain(spec))


def _plain(spec: StoreSpec) -> dict[str, Any]:
    encoders = {"encoder": dict(spec.encoder), "image_encoder": dict(spec.image_encoder)}
    return {"format": spec.format, "buckets": spec.buckets, **encoders}


def spec_from_json(data: bytes, *, key: str) -> StoreSpec:
    """The spec in ``store.json``; StoreCorrupt or StoreFormatError, naming the key."""
    raw = _load(data, key)
    _require_format(raw, key)
    return _spec(raw, key)


def snapshot_to_json(snapshot: Snapshot) -> bytes:
    """The manifest of a snapshot."""
    return _dump(
        {
            "format": snapshot.spec.format,
            "version": snapshot.version,
            "parent": snapshot.parent,
            "commit_id": snapshot.commit_id,
            "run_id": snapshot.run_id,
            "committed_at": snapshot.committed_at.isoformat(),
            "spec": _plain(snapshot.spec),
            "config_fingerprint": snapshot.config_fingerprint,
            "buckets": {
                str(number): {
                    "revision": bucket.revision,
                    "files": {name: asdict(file) for name, file in bucket.files.items()},
                    "counts": asdict(bucket.counts),
                    "digest": bucket.digest,
                    "extraction": bucket.extraction,
                    "induction": bucket.induction,
                    "undecoded": bucket.undecoded,
                }
                for number, bucket in sorted(snapshot.buckets.items())
            },
            "quarantine": asdict(snapshot.quarantine) if snapshot.quarantine else None,
            "changes": dict(snapshot.changes),
            "shared": {name: asdict(file) for name, file in sorted(snapshot.shared.items())},
        }
    )


def snapshot_from_json(data: bytes, *, key: str) -> Snapshot:
    """The snapshot a manifest describes; StoreCorrupt or StoreFormatError, naming the key."""
    raw = _load(data, key)
    _require_format(raw, key)
    try:
        _require_known(raw, {"format", *(each.name for each in fields(Snapshot))}, key)
        return Snapshot(
            version=raw["version"],
            parent=raw["parent"],
            commit_id=raw["commit_id"],
            run_id=raw["run_id"],
            committed_at=_aware(datetime.fromisoformat(raw["committed_at"])),
            spec=_spec(raw["spec"], key),
            config_fingerprint=raw["config_fingerprint"],
            buckets={int(number): bucket_from_dict(bucket, key=key) for number, bucket in raw["buckets"].items()},
            quarantine=_data_file(raw["quarantine"], key) if raw["quarantine"] else None,
            changes=raw["changes"],
            shared={name: _data_file(file, key) for name, file in raw["shared"].items()},
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise StoreCorrupt(f"{key} is not a manifest this release understands: {error!r}") from error


def bucket_to_dict(bucket: BucketFiles) -> dict[str, Any]:
    """A bucket as plain JSON values (done-markers hold it)."""
    files = {name: dict(vars(file)) for name, file in bucket.files.items()}
    return {**vars(bucket), "files": files, "counts": dict(vars(bucket.counts))}


def bucket_from_dict(raw: Mapping[str, Any], *, key: str = "a done-marker") -> BucketFiles:
    """The inverse of ``bucket_to_dict``; StoreFormatError, naming ``key``, for what this release does not know."""
    _require_known(raw, {each.name for each in fields(BucketFiles)}, key)
    _require_known(raw["counts"], {each.name for each in fields(Counts)}, key)
    return BucketFiles(
        revision=raw["revision"],
        files={name: _data_file(file, key) for name, file in raw["files"].items()},
        counts=Counts(**raw["counts"]),
        digest=raw["digest"],
        extraction=raw["extraction"],
        induction=raw["induction"],
        undecoded=raw["undecoded"],
    )


def _data_file(raw: Mapping[str, Any], key: str) -> DataFile:
    _require_known(raw, {each.name for each in fields(DataFile)}, key)
    return DataFile(**raw)


def _spec(raw: Any, key: str) -> StoreSpec:
    try:
        _require_known(raw, {each.name for each in fields(StoreSpec)}, key)
        spec = StoreSpec(int(raw["buckets"]), dict(raw["encoder"]), dict(raw["image_encoder"]), raw["format"])
    except (KeyError, TypeError, ValueError) as error:
        raise StoreCorrupt(f"{key} is not a store description: {error!r}") from error
    if spec.buckets < 1:
        raise StoreCorrupt(f"{key} names {spec.buckets} buckets; there is at least one")
    return spec


def _require_format(raw: Mapping[str, Any], key: str) -> None:
    """StoreFormatError, with what to do, unless the format is ours; StoreCorrupt where none is told."""
    found = raw.get("format")
    if isinstance(found, bool) or not isinstance(found, int):
        raise StoreCorrupt(f"{key} tells no store format (a whole number under 'format'): restore it from a copy")
    if found > FORMAT:
        raise StoreFormatError(
            f"{key}: store format {found} is newer than this release, which reads {FORMAT}: upgrade mnemosaic"
        )
    if found < FORMAT:
        raise StoreFormatError(
            f"{key}: store format {found} is older than this release, which reads {FORMAT} and cannot read it: build the "
            "store again from its sources (mnemosaic backfill, at a new address), or use the release that wrote it"
        )


def _require_known(raw: Mapping[str, Any], known: set[str], key: str) -> None:
    if unknown := sorted(set(raw) - known):
        named = ", ".join(map(repr, unknown))
        raise StoreFormatError(f"{key} holds {named}, which this release does not know and would lose: upgrade mnemosaic")


def _aware(moment: datetime) -> datetime:
    if moment.tzinfo is None:
        raise ValueError("committed_at has no zone")
    return moment


def _dump(raw: Mapping[str, Any]) -> bytes:
    return json.dumps(raw, indent=1, sort_keys=True, ensure_ascii=False).encode("utf-8")


def _load(data: bytes, key: str) -> dict[str, Any]:
    try:
        raw = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise StoreCorrupt(f"{key} is not JSON: {error}") from error
    if not isinstance(raw, dict):
        raise StoreCorrupt(f"{key} is not a JSON object")
    return raw
