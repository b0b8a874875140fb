"""Each kind of damage to a store is found and named, whatever else is damaged; a whole store gives no finding."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Callable
from dataclasses import asdict, replace
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from jobs.hierarchy import hierarchy_bucket
from jobs.induce import Embedder, Inducing, induce_bucket
from jobs.source import Source
from operators import records
from operators.encode.stub import Stub
from operators.errors import ObjectNotFound, StoreDenied, StoreError, StoreUnavailable
from operators.hierarchy.values import HierarchyValues
from operators.induce.induction import InduceValues
from operators.induce.schemas import Thresholds
from operators.merge import users_of
from operators.store.commit import create_store
from operators.store.local import LocalObjects
from operators.store.manifest import BucketFiles, Counts, DataFile, Snapshot, StoreSpec, add_digests
from operators.store.objects import ObjectStore
from operators.store.tables import write_table, write_vectors
from operators.store.verify import Checked, Finding, VerifyReport, verify

DIM, IMAGE_DIM, BUCKETS = 4, 2, 2
SPEC = StoreSpec(buckets=BUCKETS, encoder={"dim": DIM}, image_encoder={"dim": IMAGE_DIM})
START = datetime(2025, 1, 1, tzinfo=UTC)
USERS = ["ann-secret", "bob-secret", "cyd-secret", "dan-secret", "eve-secret", "fay-secret"]
ANALYTIC = ["observations", "counts", "tables", "schema_changes", "corrections"]
PARQUET = ["rounds", "units", "users", *ANALYTIC, "picture_texts", "picture_vectors", "hierarchy"]
DATASETS = [*PARQUET, "vectors", "table_rows"]
PICTURE = b"a picture that all share"
NAME = hashlib.sha256(PICTURE).hexdigest()
TEXTS = {
    records.CONTENT_KEY: records.picture_key(NAME),
    records.MEDIA: NAME,
    "width": 2,
    "height": 1,
    "turn": 0,
    "tilt": 0.0,
    "lines": [],
}

Row = dict[str, Any]

on_disk = pytest.mark.parametrize("objects", ["local"], indirect=True)


def rounds_of(user: str) -> list[Row]:
    told = [
        records.Round(
            session_id="s",
            round_id=f"r{n}",
            position=n,
            messages=(records.Message("user", user, f"hush-hush {n}"),),
            images=(records.Image(0, "p.png", media=NAME), records.Image(0, "unseen")),
            time=records.Instant(START + timedelta(hours=n), 0, "second"),
        )
        for n in range(3)
    ]
    return [{**row, records.ORDER: order} for order, row in enumerate(records.round_rows("t", user, told, "test"))]


def units_of(rounds: list[Row]) -> list[Row]:
    names = (records.TENANT, records.USER, records.SESSION, records.ROUND, records.ORDER)
    rest = {records.KIND: "txt", records.SPEAKER: "x", records.MESSAGE: 0, records.START: 0, records.END: 1}
    return [
        {**{name: row[name] for name in names}, **rest, records.UNIT: f"{row[records.ROUND]}/{span}"}
        for row in rounds
        for span in range(2)
    ]


def observations_of(rounds: list[Row]) -> list[Row]:
    """One a round; each but a user's first takes back the one before."""
    names = (records.TENANT, records.USER, records.SESSION, records.ROUND, records.ORDER)
    told: list[Row] = []
    for row in rounds:
        first, last = row[records.ORDER] == 0, row[records.ORDER] == 2
        told.append(
            {
                **{name: row[name] for name in names},
                records.OBSERVATION: row[records.ROUND],
                records.RECORD: 0,
                records.ATTRIBUTE: "sleep",
                records.VALUE: "7 h",
                records.KIND: "duration",
                records.SPEAKER: "user",
                records.MESSAGE: 0,
                records.EXTRACTOR: "rules-1",
                records.CONFIDENCE: 0.5,
                records.NAMED: True,
                records.CORRECTS: None if first else f"r{row[records.ORDER] - 1}",
                records.CORRECTED_BY: None if last else f"r{row[records.ORDER] + 1}",
            }
        )
    return told


def tables_of(objects: ObjectStore, home: str, rounds: pa.Table, users: pa.Table, observed: pa.Table) -> dict[str, DataFile]:
    """What a bucket's analytic memory is: one lone table a user."""
    source = Source(rounds, users, observed, records.CORRECTIONS.empty_table(), "rules-1")
    how = Inducing(InduceValues(Thresholds(support=1)))
    return induce_bucket(objects, home, source, None, how, Embedder(Stub), run_id="r")


def pictures_of(users: list[str]) -> pa.Table:
    """A vector of the one picture for each of the users."""
    one = {records.TENANT: "t", records.MEDIA: NAME, records.VECTOR: [0.0, 1.0]}
    return pa.Table.from_pylist([{**one, records.USER: user} for user in users], records.picture_vectors(IMAGE_DIM))


def levels_of(objects: ObjectStore, home: str, **tables: pa.Table) -> DataFile:
    """The bucket's hierarchy, of units whose vectors are all ones."""
    vectors = np.ones((len(tables["units"]), DIM), np.float16)
    return hierarchy_bucket(objects, home, tables, vectors, None, HierarchyValues())


def bucket_of_users(objects: ObjectStore, number: int) -> BucketFiles:
    mine = [user for user in USERS if records.bucket_of("t", user, BUCKETS) == number]
    rows = [row for user in mine for row in rounds_of(user)]
    rounds = pa.Table.from_pylist(rows, records.ROUNDS)
    units = pa.Table.from_pylist(units_of(rows), records.UNITS)
    users = users_of(rounds, units)
    observed = pa.Table.from_pylist(observations_of(rows), records.OBSERVATIONS)
    tables = {
        "rounds": (rounds, records.ROUNDS),
        "units": (units, records.UNITS),
        "users": (users, records.USERS),
        "observations": (observed, records.OBSERVATIONS),
        "picture_texts": (pa.Table.from_pylist([TEXTS], records.PICTURE_TEXTS), records.PICTURE_TEXTS),
    }
    home = f"runs/r/data/{number}"
    files = {name: write_table(objects, f"{home}/{name}.parquet", *made) for name, made in tables.items()}
    files["vectors"] = write_vectors(objects, f"{home}/vectors.npy", [np.ones((len(units), DIM), np.float16)], DIM)
    files |= tables_of(objects, home, rounds, users, observed)
    seen = pictures_of(mine)
    files["picture_vectors"] = write_table(objects, f"{home}/picture-vectors", seen, seen.schema)
    files["hierarchy"] = levels_of(objects, home, rounds=rounds, units=units, users=users, pictures=seen)
    return BucketFiles(
        revision=f"rev{number}",
        files=files,
        counts=Counts(users=len(mine), sessions=len(mine), rounds=len(rows), units=len(units), pictures=2 * len(rows)),
        digest=add_digests(users["digest"].to_pylist()),
    )


@pytest.fixture
def snapshot(objects: ObjectStore) -> Snapshot:
    """A whole store of two buckets, six users, one picture, a row in quarantine."""
    create_store(objects, SPEC)
    objects.put(records.media_key(NAME), PICTURE)
    row = {records.TENANT: "t", "file": "f", "code": "bad-json", "reason": "no JSON", records.ASKED: "{}"}
    quarantined = pa.Table.from_pylist([row], records.QUARANTINE)
    return Snapshot(
        version=1,
        parent=0,
        commit_id="c",
        run_id="r",
        committed_at=START,
        spec=SPEC,
        buckets={number: bucket_of_users(objects, number) for number in range(BUCKETS)},
        quarantine=write_table(objects, "runs/r/data/quarantine.parquet", quarantined, records.QUARANTINE),
    )


def look(objects: ObjectStore, snapshot: Snapshot, **changed: Any) -> VerifyReport:
    asked = {"recount": users_of, "threads": 3, "progress": lambda _done, _total: None, **changed}
    return verify(objects, snapshot, **asked)


def found(objects: ObjectStore, snapshot: Snapshot) -> list[tuple[str, str]]:
    return [(finding.code, finding.key) for finding in look(objects, snapshot).findings]


def codes(objects: ObjectStore, snapshot: Snapshot) -> list[str]:
    return [code for code, _ in found(objects, snapshot)]


def test_a_whole_store_gives_no_finding(objects: ObjectStore, snapshot: Snapshot) -> None:
    told: list[tuple[int, int]] = []
    report = look(objects, snapshot, progress=lambda done, total: told.append((done, total)))
    size = sum(file.bytes for file in snapshot.files())
    assert report == VerifyReport(version=1, files=27, bytes=size, pictures=1, findings=())
    assert told == [(13, 27), (26, 27), (27, 27)]


def test_an_empty_store_and_an_empty_bucket_are_whole(objects: ObjectStore, snapshot: Snapshot) -> None:
    assert codes(objects, replace(snapshot, buckets={}, quarantine=None)) == []
    home = "runs/r/data/empty"
    schemas = {
        "rounds": records.ROUNDS,
        "units": records.UNITS,
        "users": records.USERS,
        "observations": records.OBSERVATIONS,
        "picture_texts": records.PICTURE_TEXTS,
        "picture_vectors": records.picture_vectors(IMAGE_DIM),
        "hierarchy": records.HIERARCHY,
    }
    files = {name: write_table(objects, f"{home}/{name}", schema.empty_table(), schema) for name, schema in schemas.items()}
    files["vectors"] = write_vectors(objects, f"{home}/vectors.npy", [], DIM)
    nothing = (schemas[name].empty_table() for name in ("rounds", "users", "observations"))
    files |= tables_of(objects, home, *nothing)
    empty = BucketFiles("empty", files, Counts(), add_digests([]))
    assert codes(objects, replace(snapshot, buckets={0: empty})) == []


# --- bytes ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", DATASETS)
@pytest.mark.parametrize("code", ["missing", "size", "sha256"])
def test_damaged_bytes_are_named_and_their_content_is_not_judged(
    objects: ObjectStore, snapshot: Snapshot, name: str, code: str
) -> None:
    file = snapshot.buckets[0].files[name]
    damage(objects, file.path, code)
    assert found(objects, snapshot) == [(code, file.path)]


def damage(objects: ObjectStore, key: str, code: str) -> None:
    data = bytearray(objects.get(key))
    data[len(data) // 2] ^= 1
    if code == "missing":
        objects.delete(key)
    else:
        objects.put(key, bytes(data) if code == "sha256" else bytes(data[:-3]))


def test_damages_do_not_hide_each_other(objects: ObjectStore, snapshot: Snapshot) -> None:
    first, second = snapshot.buckets[0].files, snapshot.buckets[1].files
    damage(objects, first["rounds"].path, "missing")
    damage(objects, first["vectors"].path, "sha256")
    damage(objects, second["units"].path, "size")
    damage(objects, records.media_key(NAME), "sha256")
    assert snapshot.quarantine is not None
    damage(objects, snapshot.quarantine.path, "sha256")
    assert found(objects, snapshot) == [
        ("missing", first["rounds"].path),
        ("sha256", first["vectors"].path),
        ("size", second["units"].path),
        ("sha256", snapshot.quarantine.path),
        ("picture-sha256", records.media_key(NAME)),
    ]


def test_a_picture_that_is_gone(objects: ObjectStore, snapshot: Snapshot) -> None:
    objects.delete(records.media_key(NAME))
    assert found(objects, snapshot) == [("picture-missing", records.media_key(NAME))]


def test_a_bucket_that_lacks_a_dataset(objects: ObjectStore, snapshot: Snapshot) -> None:
    bucket = snapshot.buckets[1]
    files = {name: file for name, file in bucket.files.items() if name != "vectors"}
    assert found(objects, replace(snapshot, buckets={1: replace(bucket, files=files)})) == [("missing", "bucket 1")]


@pytest.mark.parametrize("name", ["rounds", "units", "users", "vectors", "quarantine"])
def test_a_manifest_that_tells_other_rows(objects: ObjectStore, snapshot: Snapshot, name: str) -> None:
    if name == "quarantine":
        assert snapshot.quarantine is not None
        assert codes(objects, replace(snapshot, quarantine=replace(snapshot.quarantine, rows=7))) == ["rows"]
        return
    file = snapshot.buckets[0].files[name]
    assert found(objects, with_file(snapshot, name, replace(file, rows=file.rows + 1))) == [("rows", file.path)]


def test_store_json_that_is_gone_or_tells_something_else(objects: ObjectStore, snapshot: Snapshot) -> None:
    other = replace(snapshot.spec, encoder={"dim": DIM, "model": "another"})
    assert found(objects, replace(snapshot, spec=other)) == [("store", "store.json")]
    objects.put("store.json", b"{")
    assert found(objects, snapshot) == [("unreadable", "store.json")]
    objects.delete("store.json")
    assert found(objects, snapshot) == [("missing", "store.json")]


# --- content: only the meaning is wrong -----------------------------------------------------------------------------


def with_file(snapshot: Snapshot, name: str, file: DataFile) -> Snapshot:
    bucket = snapshot.buckets[0]
    return replace(snapshot, buckets={**snapshot.buckets, 0: replace(bucket, files={**bucket.files, name: file})})


def rewritten(objects: ObjectStore, snapshot: Snapshot, name: str, change: Callable[[Any], Any]) -> Snapshot:
    """The snapshot with another content of a file of bucket 0, of which its manifest tells the truth."""
    file = snapshot.buckets[0].files[name]
    data, buffer = objects.get(file.path), io.BytesIO()
    if name == "vectors":
        made = change(np.load(io.BytesIO(data)))
        np.save(buffer, made)
    else:
        made = change(pq.read_table(pa.BufferReader(data)))
        pq.write_table(made, buffer)
    return raw(objects, snapshot, name, buffer.getvalue(), len(made))


def raw(objects: ObjectStore, snapshot: Snapshot, name: str, data: bytes, rows: int) -> Snapshot:
    key = f"runs/r/data/changed-{name}"
    objects.put(key, data)
    return with_file(snapshot, name, DataFile(key, len(data), hashlib.sha256(data).hexdigest(), rows))


def setting(name: str, value: Callable[[int, Any], Any]) -> Callable[[pa.Table], pa.Table]:
    """Changes a column: ``value`` is given row and old value."""

    def change(table: pa.Table) -> pa.Table:
        at = table.schema.get_field_index(name)
        values = [value(row, old) for row, old in enumerate(table[name].to_pylist())]
        return table.set_column(at, table.schema.field(name), pa.array(values, table.schema.field(name).type))

    return change


def swapped(table: pa.Table) -> pa.Table:
    """The first three rows behind the next three: a user's history behind the next one's, or a round's units."""
    return table.take([3, 4, 5, 0, 1, 2, *range(6, len(table))])


USERS_COLUMNS = {
    "round_start": lambda row, old: old + (row == 1),
    "rounds": lambda row, old: old + (row == 0) - (row == 1),
    "unit_start": lambda row, old: old + (row == 1),
    "first_time": lambda row, old: None if row == 0 else old,
}


@on_disk
@pytest.mark.parametrize("column", USERS_COLUMNS)
def test_users_that_are_not_what_rounds_and_units_make(objects: ObjectStore, snapshot: Snapshot, column: str) -> None:
    changed = rewritten(objects, snapshot, "users", setting(column, USERS_COLUMNS[column]))
    (finding,) = look(objects, changed).findings
    assert (finding.code, finding.key) == ("users", "runs/r/data/changed-users")
    assert finding.expected.startswith(column)


@on_disk
def test_a_user_too_few(objects: ObjectStore, snapshot: Snapshot) -> None:
    assert codes(objects, rewritten(objects, snapshot, "users", lambda table: table.slice(1))) == [
        "users",
        "counts",
        "digest",
    ]


CONTENT = [
    ("tables", setting("start", lambda _row, old: old + 1), {"tables"}),
    ("tables", setting("rows", lambda _row, old: old + 1), {"tables"}),
    ("tables", lambda table: table.slice(1), {"tables"}),
    ("tables", setting(records.USER, lambda row, old: old if row else "a-stranger"), {"tables"}),
    ("counts", setting(records.USER, lambda row, old: old if row else "a-stranger"), {"counts"}),
    ("rounds", setting(records.ORDER, lambda row, old: old + (row == 1)), {"order"}),
    ("rounds", swapped, {"order", "units", "users", "observations"}),
    ("rounds", setting(records.CONTENT_HASH, lambda row, old: "x" if row == 0 else old), {"users"}),
    (
        "rounds",
        lambda table: table.slice(3),
        {"units", "users", "observations", "counts", "tables", "schema_changes", "picture-vectors", "hierarchy"},
    ),
    ("units", setting(records.ORDER, lambda row, old: old + (row == 3)), {"units"}),
    ("units", setting(records.ROUND, lambda row, old: "r9" if row == 3 else old), {"units"}),
    ("units", swapped, {"units", "users"}),
    ("units", lambda table: table.slice(0, len(table) - 1), {"users", "vectors"}),
    ("vectors", lambda made: made[:-1], {"vectors"}),
    ("vectors", lambda made: np.where(np.arange(len(made))[:, None] == 2, np.float16("inf"), made), {"vectors"}),
    ("vectors", lambda made: made[:, :-1], {"vectors"}),
    ("vectors", lambda made: made.astype(np.float32), {"unreadable"}),
    ("units", lambda table: table.drop_columns([records.TEXT]), {"columns"}),
    ("observations", setting(records.ORDER, lambda row, old: old + (row == 1)), {"observations"}),
    ("observations", setting(records.ROUND, lambda row, old: "r9" if row == 1 else old), {"observations"}),
    ("observations", setting(records.OBSERVATION, lambda row, old: "r0" if row == 1 else old), {"observations"}),
    ("observations", setting(records.CORRECTED_BY, lambda row, old: "r9" if row == 0 else old), {"observations"}),
    ("observations", lambda table: table.drop_columns([records.BOX]), {"columns"}),
    ("picture_texts", lambda table: pa.concat_tables([table, table]), {"picture-texts"}),
    ("picture_texts", setting(records.MEDIA, lambda _row, _old: "0" * 64), {"picture-texts"}),
    ("picture_vectors", setting(records.MEDIA, lambda _row, _old: "0" * 64), {"picture-vectors"}),
    ("picture_vectors", setting(records.VECTOR, lambda row, old: [0.5, 0.5] if row else old), {"picture-vectors"}),
    ("picture_vectors", lambda table: pa.concat_tables([table, table]), {"picture-vectors"}),
    ("picture_vectors", lambda table: table.drop_columns([records.VECTOR]), {"columns"}),
]


@on_disk
@pytest.mark.parametrize(("name", "change", "expected"), CONTENT)
def test_content_that_does_not_fit(
    objects: ObjectStore, snapshot: Snapshot, name: str, change: Callable[[Any], Any], expected: set[str]
) -> None:
    assert set(codes(objects, rewritten(objects, snapshot, name, change))) == expected


@pytest.mark.parametrize("name", DATASETS)
def test_bytes_that_are_no_table_and_no_vectors(objects: ObjectStore, snapshot: Snapshot, name: str) -> None:
    for data in (b"", b"PAR1 no Parquet PAR1", b"\x93NUMPY\x01\x00\xff\xff{'descr'"):
        changed = raw(objects, snapshot, name, data, snapshot.buckets[0].files[name].rows)
        assert found(objects, changed) == [("unreadable", f"runs/r/data/changed-{name}")]


@on_disk
def test_users_of_another_bucket_are_one_finding_a_bucket(objects: ObjectStore, snapshot: Snapshot) -> None:
    crossed = replace(snapshot, buckets={0: snapshot.buckets[1], 1: snapshot.buckets[0]})
    assert found(objects, crossed) == [("bucket", crossed.buckets[number].files["rounds"].path) for number in (0, 1)]


@on_disk
def test_counts_and_digest_of_a_manifest_that_lies(objects: ObjectStore, snapshot: Snapshot) -> None:
    bucket = snapshot.buckets[0]
    lying = replace(bucket, counts=replace(bucket.counts, sessions=99), digest="00")
    assert codes(objects, replace(snapshot, buckets={**snapshot.buckets, 0: lying})) == ["counts", "digest"]


@on_disk
def test_a_picture_name_that_leads_nowhere(objects: ObjectStore, snapshot: Snapshot) -> None:
    def renamed(_row: int, images: list[Row]) -> list[Row]:
        return [{**image, "media": "../../etc/passwd" if image["media"] else None} for image in images]

    changed = rewritten(objects, snapshot, "rounds", setting(records.IMAGES, renamed))
    assert found(objects, changed) == [
        ("picture-name", "runs/r/data/changed-rounds"),
        ("picture-texts", "runs/r/data/0/picture_texts.parquet"),
        ("picture-vectors", "runs/r/data/0/picture-vectors"),
    ]


@on_disk
def test_no_finding_names_a_user_or_what_one_said(objects: ObjectStore, snapshot: Snapshot) -> None:
    for name, change, _ in CONTENT:
        for finding in look(objects, rewritten(objects, snapshot, name, change)).findings:
            assert not any(word in str(asdict(finding)) for word in ("secret", "hush", "r0", "r1"))


# --- several versions -----------------------------------------------------------------------------------------------


def test_what_versions_share_is_read_once_and_told_of_each(objects: ObjectStore, snapshot: Snapshot) -> None:
    damage(objects, snapshot.buckets[0].files["units"].path, "sha256")
    damage(objects, records.media_key(NAME), "missing")
    checked = Checked()
    first = look(objects, snapshot, checked=checked)
    second = look(objects, replace(snapshot, version=2), checked=checked)
    assert [finding.code for finding in first.findings] == ["sha256", "picture-missing"]
    assert second == replace(first, version=2, files=0, bytes=0, pictures=0)


def test_buckets_of_one_revision_are_each_looked_at(objects: ObjectStore, snapshot: Snapshot) -> None:
    same = {number: replace(bucket, revision="same") for number, bucket in snapshot.buckets.items()}
    damage(objects, same[0].files["units"].path, "sha256")
    assert found(objects, replace(snapshot, buckets=same)) == [("sha256", same[0].files["units"].path)]


def test_a_revision_with_other_files_is_another_bucket(objects: ObjectStore, snapshot: Snapshot) -> None:
    checked = Checked()
    assert look(objects, snapshot, checked=checked).findings == ()
    gone = replace(snapshot.buckets[0].files["users"], path="runs/r/data/gone")
    (finding,) = look(objects, with_file(snapshot, "users", gone), checked=checked).findings
    assert finding == Finding("runs/r/data/gone", "missing", f"{gone.bytes} bytes", "nothing")


# --- a store that does not answer -----------------------------------------------------------------------------------


class Failing(LocalObjects):
    """A folder in which reading the vectors fails."""

    error: Exception

    def get(self, key: str, *, start: int = 0, length: int | None = None) -> bytes:
        if key.endswith(".npy"):
            raise self.error
        return super().get(key, start=start, length=length)


@on_disk
@pytest.mark.parametrize("error", [StoreDenied("not yours"), StoreUnavailable("no answer")])
def test_refusal_and_silence_are_no_damage(objects: LocalObjects, snapshot: Snapshot, error: StoreError) -> None:
    failing = Failing(objects.root)
    failing.error = error
    with pytest.raises(type(error)):
        look(failing, snapshot)


@on_disk
@pytest.mark.parametrize(
    ("error", "code"), [(StoreError("bad sector"), "unreadable"), (ObjectNotFound("", key=""), "missing")]
)
def test_a_disk_that_cannot_read_a_file_is_damage(
    objects: LocalObjects, snapshot: Snapshot, error: StoreError, code: str
) -> None:
    failing = Failing(objects.root)
    failing.error = error
    assert codes(failing, snapshot) == [code, code]
