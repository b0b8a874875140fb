"""The reading door over a real store on disk."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pytest

from jobs.export import export_to_folder
from operators.encode.stub import Stub
from operators.encode.text import text_fingerprint
from operators.errors import FingerprintMismatch, NotAStore, ScopeError, SnapshotNotFound, UsageError
from operators.memory import open_store
from operators.merge import users_of
from operators.records import ROUNDS, UNITS, USERS, Image, Instant, Message, Round, bucket_of, round_rows
from operators.retrieve.values import SearchValues
from operators.store import buckets
from operators.store.commit import create_store, pin, publish
from operators.store.manifest import BucketFiles, Counts, Snapshot, StoreSpec
from operators.store.opening import open_objects
from operators.store.tables import write_table, write_vectors
from operators.units import embedding_texts, units_of

Texts = Mapping[tuple[str, str], Sequence[str]]
START = datetime(2024, 5, 1, tzinfo=UTC)
LEXICAL = SearchValues(text={"bm25": 1.0})
DENSE = SearchValues(text={"dense": 1.0})
FIRST: Texts = {
    ("default", "mira"): ["the violin recital", "tomatoes on the balcony", "a flight to Lisbon", "rent again", "a kitten"],
    ("default", "noor"): ["the violin of noor"],
    ("other", "mira"): ["the violin of another tenant"],
}


def make_rounds(texts: Sequence[str]) -> list[Round]:
    return [
        Round(
            session_id=f"S{at // 3}",
            round_id=f"r{at}",
            position=at % 3,
            messages=(Message("user", "user", text), Message("assistant", "assistant", "I see.")),
            images=(Image(message=0, reference="x.png"),) if at == 1 else (),
            time=Instant(START + timedelta(days=at), 60, "second"),
        )
        for at, text in enumerate(texts)
    ]


def commit(uri: str, histories: Texts, buckets: int = 2) -> Snapshot:
    """Publish a snapshot that holds exactly these histories."""
    objects = open_objects(uri)
    spec = create_store(objects, StoreSpec(buckets=buckets, encoder=text_fingerprint("stub")))
    base = pin(objects)
    version = base.version + 1
    held = {
        number: write_bucket(objects, f"runs/r{version}/data/{number}", mine)
        for number in range(buckets)
        if (mine := {scope: texts for scope, texts in histories.items() if bucket_of(*scope, buckets) == number})
    }
    when = START + timedelta(days=version)
    snapshot = Snapshot(version, base.version, f"c{version}", f"r{version}", when, spec, buckets=held)
    publish(objects, snapshot)
    return snapshot


def write_bucket(objects: Any, prefix: str, histories: Texts) -> BucketFiles:
    stub, rows = Stub(), []
    for (tenant, user), texts in sorted(histories.items()):
        mine = round_rows(tenant, user, make_rounds(texts), "test")
        rows += [row | {"order": order} for order, row in enumerate(mine)]
    rounds = pa.Table.from_pylist(rows, schema=ROUNDS)
    units = units_of(rounds, stub.spans)
    seen = embedding_texts(units).to_pylist()
    vectors = stub.encode([text or "" for text in seen]) * np.array([[text is not None] for text in seen])
    files = {
        "rounds": write_table(objects, f"{prefix}/rounds.parquet", rounds, ROUNDS),
        "units": write_table(objects, f"{prefix}/units.parquet", units, UNITS),
        "users": write_table(objects, f"{prefix}/users.parquet", users_of(rounds, units), USERS),
        "vectors": write_vectors(objects, f"{prefix}/vectors.npy", [vectors], stub.dim),
    }
    return BucketFiles(revision=prefix, files=files, counts=Counts(rounds=len(rounds)), digest="00")


@pytest.fixture
def uri(tmp_path: Path) -> str:
    commit(str(tmp_path / "store"), FIRST)
    return str(tmp_path / "store")


def test_frames_hold_one_users_rows(uri: str) -> None:
    memory = open_store(uri).memory()
    assert memory.users()["user_id"].to_list() == ["mira", "noor"]
    assert memory.rounds("mira")["order"].to_list() == [0, 1, 2, 3, 4]
    assert memory.units("mira").height == 11
    sessions = memory.sessions("mira")
    assert sessions["session_id"].to_list() == ["S0", "S1"]
    assert sessions["rounds"].to_list() == [3, 2]
    assert sessions["pictures"].to_list() == [1, 0]
    assert sessions["first_time"].to_list() == [START, START + timedelta(days=3)]


@pytest.mark.parametrize(
    "user",
    [
        "a/b/../c",
        "..",
        "/etc/passwd",
        "%2F",
        "\U0001f9d1\u200d\U0001f680",
        "a\nb",
        "день 3",
        "x" * 4096,
        "\U0001f408" * 1024,
    ],
    ids=["slashes", "parent", "absolute", "escaped", "emoji", "line end", "cyrillic", "4 KB", "4 KB of emoji"],
)
def test_any_name_of_a_user_is_read_shown_searched_and_exported(tmp_path: Path, user: str) -> None:
    place = tmp_path / "store"
    commit(str(place), {("default", user): ["the violin recital", "tomatoes"], ("default", "other"): ["a violin too"]})
    memory = open_store(str(place)).memory()
    assert user in memory.users()["user_id"].to_list()
    assert memory.rounds(user)["user_id"].to_list() == [user, user]
    assert memory.sessions(user)["rounds"].to_list() == [2]
    assert memory.search(user, "violin", k=1, neighbours=0).rounds["user_id"].to_list() == [user]
    done = export_to_folder(memory, user, tmp_path / "out")
    assert done.rounds == 2
    (line,) = (tmp_path / "out" / "history.jsonl").read_text(encoding="utf-8").split("\n")[:-1]
    assert json.loads(line)["user_id"] == user
    assert {path.name for path in tmp_path.iterdir()} == {"store", "out"}


def test_an_unknown_user_is_empty_everywhere(uri: str) -> None:
    memory = open_store(uri).memory()
    for frame, known in (
        ("rounds", memory.rounds("mira")),
        ("units", memory.units("mira")),
        ("sessions", memory.sessions("mira")),
    ):
        found = getattr(memory, frame)("nobody")
        assert (found.height, found.schema) == (0, known.schema)
    result = memory.search("nobody", "violin")
    assert (result.hits, result.runs, result.rounds.height) == ([], [], 0)
    assert result.to_dict()["hits"] == []
    assert open_store(uri).memory("nowhere").users().height == 0


@pytest.mark.parametrize(
    ("tenant", "user"), [("", "mira"), (None, "mira"), ("default", ""), ("default", None), ("default", " ")]
)
def test_reads_fail_closed(uri: str, tenant: Any, user: Any) -> None:
    for read in ("rounds", "units", "sessions"):
        with pytest.raises(ScopeError):
            getattr(open_store(uri).memory(tenant), read)(user)
    with pytest.raises(ScopeError):
        open_store(uri).memory(tenant).search(user, "violin")


def test_search_finds_ranks_and_adds_neighbours(uri: str) -> None:
    result = open_store(uri).memory().search("mira", "violin recital", k=1)
    (hit,) = result.hits
    assert (hit.rank, hit.session_id, hit.round_id, hit.order, hit.time) == (1, "S0", "r0", 0, START)
    assert hit.messages[0]["text"] == "the violin recital"
    assert set(hit.signals) == set(SearchValues().text)
    assert {hit.signals[name].rank for name in ("dense", "bm25-round")} == {1}
    assert (result.case, result.runs) == ("text_to_text", [[0, 1]])
    assert result.rounds["score"].to_list() == [hit.score, None]
    assert result.rounds["rank"].to_list() == [1, None]


def test_reciprocal_ranks_are_summed(uri: str) -> None:
    values = SearchValues(fusion="reciprocal-rank", text={"dense": 1.0, "bm25": 1.0})
    (hit,) = open_store(uri).memory().search("mira", "violin recital", k=1, values=values).hits
    assert set(hit.signals) == {"dense", "bm25"}
    assert hit.score == pytest.approx(2 / 61)


def test_search_stays_with_its_tenant_and_user(uri: str) -> None:
    store = open_store(uri)
    for tenant, user in FIRST:
        result = store.memory(tenant).search(user, "violin", k=50, neighbours=9)
        assert set(result.rounds["tenant_id"]) == {tenant}
        assert set(result.rounds["user_id"]) == {user}
        assert {message[0]["text"] for message in result.rounds["messages"]} == set(FIRST[tenant, user])


def test_to_dict_is_json_and_holds_each_round_once(uri: str) -> None:
    result = open_store(uri).memory().search("mira", "tomatoes kitten", k=2, values=LEXICAL)
    assert result.to_dict()["case"] == result.case == "text_to_text"
    told = json.loads(json.dumps(result.to_dict()))
    assert [hit["order"] for hit in told["hits"]] == [hit.order for hit in result.hits]
    rounds = [record for run in told["runs"] for record in run]
    assert [record["order"] for record in rounds] == result.rounds["order"].to_list()
    assert rounds[0]["time"] == "2024-05-01T00:00:00Z"
    assert {record["round_id"] for record in rounds if record["score"] is not None} == {"r1", "r4"}


def test_signals_can_be_switched_off_and_a_vector_given(uri: str) -> None:
    memory = open_store(uri).memory()
    lexical = memory.search("mira", "Lisbon", values=LEXICAL)
    assert [(hit.order, set(hit.signals)) for hit in lexical.hits] == [(2, {"bm25"})]
    vector = Stub().encode(["a kitten"])[0]
    given = memory.search("mira", "no such word", values=DENSE, vector=vector, k=1)
    assert given.hits[0].order == 4
    with pytest.raises(UsageError, match="shape"):
        memory.search("mira", "x", vector=vector[:3])
    with pytest.raises(UsageError, match="not finite"):
        memory.search("mira", "x", vector=vector * np.float32(np.nan))


def test_a_picture_without_caption_is_never_found_by_itself(uri: str) -> None:
    hits = open_store(uri).memory().search("mira", "unrelated", k=50, values=DENSE).hits
    assert len(hits) == 5
    assert all(hit.signals["dense"].score != 0 for hit in hits)


@pytest.mark.parametrize(
    "asked",
    [
        *({"query": query} for query in ("", " \n", None)),
        *({"k": 0}, {"k": True}, {"k": 1.5}, {"neighbours": -1}, {"caption": " "}),
        *({"values": SearchValues(**asked)} for asked in ({"k": 0}, {"kappa": -1}, {"pool": 0}, {"placement": "heap"})),
        *({"values": SearchValues(text=text)} for text in ({}, {"dense": 0.0}, {"visual": 1.0}, {"dense": float("nan")})),
    ],
)
def test_what_cannot_be_done_is_refused(uri: str, asked: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        open_store(uri).memory().search("mira", **({"query": "x"} | asked))


def test_a_memory_stays_at_its_version(uri: str) -> None:
    store = open_store(uri)
    before = store.memory()
    commit(uri, {("default", "mira"): ["only a zebra now"]})
    assert store.versions() == [1, 2]
    assert before.search("mira", "violin", values=LEXICAL).version == 1
    assert before.rounds("mira").height == 5
    assert store.memory().rounds("mira").height == 1
    assert store.memory().search("mira", "violin", values=LEXICAL).hits == []
    assert store.memory(as_of=1).search("mira", "violin", values=LEXICAL).hits[0].order == 0
    assert store.pin().version == 2
    with pytest.raises(SnapshotNotFound):
        store.memory(as_of=7)


def test_opened_users_are_kept_within_bytes(uri: str, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []
    real = buckets.read_user

    def counted(*asked: Any) -> Any:
        read.append(asked[-1])
        return real(*asked)

    monkeypatch.setattr("operators.memory.tenant.read_user", counted)
    roomy, tight = open_store(uri), open_store(uri, cache_bytes=1)
    for store in (roomy, tight):
        for _ in range(3):
            assert store.memory().rounds("mira").height == 5
    assert read == ["mira"] * 4


def test_another_encoder_is_refused(uri: str) -> None:
    with pytest.raises(FingerprintMismatch):
        open_store(uri, encoder=Stub(window=32))
    assert open_store(uri, encoder=Stub()).memory().search("mira", "violin").hits


def test_no_store_is_said_when_opened(tmp_path: Path) -> None:
    with pytest.raises(NotAStore):
        open_store(str(tmp_path / "none"))


def test_frames_are_polars(uri: str) -> None:
    memory = open_store(uri).memory()
    assert all(
        isinstance(frame, pl.DataFrame)
        for frame in (memory.users(), memory.rounds("mira"), memory.search("mira", "x").rounds)
    )
