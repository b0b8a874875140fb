"""What people bring: exports of assistants, logs, tables, archives. One backfill reads them all; an export of all that was
read builds the same store again."""

from __future__ import annotations

import json
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from PIL import Image


def _chatgpt(folder: Path) -> None:
    pointer = {"content_type": "image_asset_pointer", "asset_pointer": "file-service://file-Kite01"}
    nodes = {
        "q": {
            "parent": None,
            "message": {
                "id": "q",
                "author": {"role": "user"},
                "create_time": 1715176570,
                "content": {"content_type": "multimodal_text", "parts": [pointer, "my kite tore in the storm"]},
            },
        },
        "a": {
            "parent": "q",
            "message": {
                "id": "a",
                "author": {"role": "assistant"},
                "content": {"content_type": "text", "parts": ["Patch it with ripstop."]},
            },
        },
        "b": {
            "parent": "q",
            "message": {
                "id": "b",
                "author": {"role": "assistant"},
                "content": {"content_type": "text", "parts": ["Throw it away."]},
            },
        },
    }
    Image.new("RGB", (8, 6), "teal").save(folder / "kite.png")
    with zipfile.ZipFile(folder / "ann.zip", "w") as archive:
        conversation = {"conversation_id": "kite", "title": "kite", "mapping": nodes, "current_node": "a"}
        archive.writestr("conversations-000.json", json.dumps([conversation]))
        archive.writestr("user.json", json.dumps({"id": "user-x"}))
        archive.write(folder / "kite.png", "file-Kite01-torn.png")
    (folder / "kite.png").unlink()


def _claude(folder: Path) -> None:
    (folder / "ben").mkdir()
    messages = [
        {"uuid": "m1", "sender": "human", "text": "which yeast for rye?", "created_at": "2026-01-02T03:04:05Z"},
        {"uuid": "m2", "sender": "assistant", "text": "A sourdough starter.", "created_at": "2026-01-02T03:04:09Z"},
    ]
    conversation = {"uuid": "rye", "name": "rye", "chat_messages": messages}
    (folder / "ben" / "conversations.json").write_text(json.dumps([conversation]))


RECORDS: dict[str, list[Any]] = {
    "sharegpt.json": [{"id": "sg", "user": "cy", "conversations": [{"from": "human", "value": "name a heron"}]}],
    "responses.jsonl": [
        {
            "object": "response",
            "id": "r1",
            "user": "dee",
            "input": "is the canal frozen?",
            "output": [{"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Not yet."}]}],
        }
    ],
    "anthropic.jsonl": [
        {
            "request": {
                "model": "claude-x",
                "metadata": {"user_id": "eve"},
                "messages": [{"role": "user", "content": "prune the quince?"}],
            },
            "response": {"type": "message", "role": "assistant", "content": [{"type": "text", "text": "In February."}]},
        }
    ],
    "longmemeval.json": [
        {
            "question_id": "fay",
            "question": "secret question",
            "haystack_dates": "['2023/05/20 (Sat) 02:21']",
            "haystack_session_ids": ["s1"],
            "haystack_sessions": [[{"role": "user", "content": "I bought a tuba", "has_answer": True}]],
        }
    ],
}


@dataclass(frozen=True)
class Brought:
    folder: Path
    store: Path
    done: Any


@pytest.fixture(scope="module")
def brought(tmp_path_factory: pytest.TempPathFactory, cli: Any) -> Brought:
    home = tmp_path_factory.mktemp("brought")
    folder = home / "in"
    folder.mkdir()
    _chatgpt(folder)
    _claude(folder)
    for name, records in RECORDS.items():
        lines = name.endswith("jsonl")
        text = "".join(json.dumps(record) + "\n" for record in records) if lines else json.dumps(records)
        (folder / name).write_text(text)
    (folder / "desk.csv").write_text(
        "who,thread,body,sent\ngus,t1,the drawer sticks,2026-02-03 10:00\nhal,t2,other thread,2026-02-03 10:01\n"
        'gus,t1,"wax it, then\nsand it",2026-02-03 10:02\nida,t3\n'
    )
    store = home / "store"
    mapped = ("--map", "user=who,session=thread,text=body,time=sent")
    return Brought(folder, store, cli.backfill(folder, store=store, more=mapped))


USERS = ["ann", "ben", "cy", "dee", "eve", "fay", "gus", "hal"]


def test_each_user_has_what_was_theirs(cli: Any, reads: Any, brought: Brought) -> None:
    assert sorted(reads.users(cli.read("users", "--store", brought.store))) == USERS
    status = cli.status(brought.store)
    assert (status["sessions"], status["rounds"], status["pictures"], status["quarantined"]) == (8, 8, 1, 1)
    (row,) = reads.rows(cli.read("quarantine", "--store", brought.store))
    assert (row["code"], row["line"]) == ("wrong-fields", 6)


@pytest.mark.parametrize(
    ("user", "query", "words"),
    [
        ("ann", "kite", "Patch it with ripstop"),
        ("ben", "yeast", "sourdough"),
        ("cy", "heron", "name a heron"),
        ("dee", "canal", "Not yet"),
        ("eve", "quince", "In February"),
        ("fay", "tuba", "I bought a tuba"),
        ("gus", "drawer", "sand it"),
    ],
)
def test_each_finds_their_own(cli: Any, reads: Any, brought: Brought, user: str, query: str, words: str) -> None:
    (found,) = reads.hits(cli.read("search", query, "--user", user, "--store", brought.store))
    said = reads.text(found)
    assert words in said
    assert "Throw it away" not in said
    assert "secret question" not in said
    assert "has_answer" not in said


def test_inspect_told_it_beforehand_and_wrote_nothing(cli: Any, brought: Brought) -> None:
    before = sorted(path for path in brought.folder.parent.rglob("*"))
    told = cli.read("inspect", brought.folder, "--map", "user=who,session=thread,text=body,time=sent")
    assert sorted(path for path in brought.folder.parent.rglob("*")) == before
    status = cli.status(brought.store)
    assert {name: told[name] for name in ("users", "sessions", "rounds", "pictures")} == {
        name: status[name] for name in ("users", "sessions", "rounds", "pictures")
    }
    assert told["quarantined"] == {"wrong-fields": 1}
    formats = {Path(file["file"]).name: file["format"] for file in told["files"] if file["verdict"] == "read"}
    assert formats == {
        "conversations-000.json": "chatgpt",
        "conversations.json": "claude",
        "sharegpt.json": "sharegpt",
        "responses.jsonl": "responses",
        "anthropic.jsonl": "anthropic",
        "longmemeval.json": "longmemeval",
        "desk.csv": "rows",
    }
    assert told["first_time"].startswith("2023-05-20T02:21")
    assert told["last_time"].startswith("2026-02-03T10:0")


def test_what_is_exported_builds_the_same_store_again_and_both_are_whole(cli: Any, brought: Brought, tmp_path: Path) -> None:
    for user in USERS:
        if user == "gus":  # one to a pipe, the others into folders
            lines = cli.ok("export", "--user", user, "--store", brought.store).out
            (tmp_path / "out").mkdir(exist_ok=True)
            (tmp_path / "out" / "gus.jsonl").write_text(lines, encoding="utf-8")
        else:
            cli.ok("export", "--user", user, "--store", brought.store, "--out", tmp_path / "out" / user)
    cli.backfill(tmp_path / "out", store=tmp_path / "again")
    assert cli.digest(tmp_path / "again") == cli.digest(brought.store)
    for store in (brought.store, tmp_path / "again"):
        assert cli.run("verify", "--store", store).code == 0


def test_an_export_without_a_user_is_refused(cli: Any, brought: Brought) -> None:
    done = cli.run("export", "--store", brought.store)
    assert (done.code, done.out) == (2, "")
    assert "--user" in done.err
