"""Looking before a backfill, exporting after it, and reading again what was in quarantine."""

from __future__ import annotations

import base64
import io
import json
import zipfile
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from configs.settings import Settings
from jobs.backfill import BackfillReport, BackfillRequest, backfill
from jobs.export import export_to_folder, export_to_stream
from jobs.look import FileFound, Values, look, total
from jobs.retry import retry
from jobs.sources import sources_of
from operators.errors import StoreCorrupt, UsageError
from operators.memory import open_store
from operators.records import QUARANTINE
from operators.sources.media import PictureLimits
from operators.store.commit import pin
from operators.store.opening import open_objects
from operators.store.tables import read_table

pytestmark = pytest.mark.usefixtures("ray_cluster")


def png(colour: str) -> bytes:
    buffer = BytesIO()
    Image.new("RGB", (5, 3), colour).save(buffer, "PNG")
    return buffer.getvalue()


def record(user: str, name: str, *texts: Any, **more: Any) -> dict[str, Any]:
    messages = [{"role": "user" if at % 2 == 0 else "assistant", "content": text} for at, text in enumerate(texts)]
    return {"user_id": user, "session_id": name, "messages": messages, **more}


def write(path: Path, *records: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = [line if isinstance(line, str) else json.dumps(line, ensure_ascii=False) for line in records]
    path.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
    return path


def run(store: Path, settings: Settings, *sources: Path, **given: Any) -> BackfillReport:
    request = BackfillRequest(tuple(map(str, sources)), str(store), "default")
    return backfill(replace(request, **given), settings, lambda _: None)


def history(tmp_path: Path) -> Path:
    """What an export must not lose: offsets, precisions, ids, speakers, pictures at hand and not, doubts, odd text."""
    (tmp_path / "pics").mkdir()
    (tmp_path / "pics" / "red.png").write_bytes(png("red"))
    inline = "data:image/png;base64," + base64.b64encode(png("blue")).decode()
    parts = [
        {"type": "text", "text": "смотри \u2028 \U0001f389 a\tb"},
        {"type": "image_url", "image_url": "pics/red.png", "caption": "a red one", "image_id": "I1"},
        {"type": "image_url", "image_url": inline},
        {"type": "image_url", "image_url": "https://example.org/gone.png"},
        {"type": "image_url", "image_url": "data:image/png;base64,AAAA"},
        {"type": "input_audio"},
    ]
    one = record("ann/a\u00e9", "S 1", parts, "nice", "and?", "so", metadata={"n": [1, None]})
    one["messages"][0] |= {"timestamp": "2024-05-08T10:00:00.25+02:00", "id": "m1", "name": "Ann"}
    one["messages"][2] |= {"timestamp": "yesterday"}
    two = record("ann/a\u00e9", "S2", "later", "yes", timestamp="2024-05-09")
    return write(tmp_path / "h.jsonl", one, two, record("bob", "S2", "mine", "ok"))


@pytest.mark.parametrize("to_folder", [True, False])
def test_an_export_backfills_to_the_same_digest(tmp_path: Path, settings: Settings, to_folder: bool) -> None:
    source, user = history(tmp_path), "ann/a\u00e9"
    run(tmp_path / "store", settings, source, timezone="Asia/Tokyo")
    memory = open_store(str(tmp_path / "store")).memory("default")
    if to_folder:
        exported = export_to_folder(memory, user, tmp_path / "out")
        again = tmp_path / "out"
    else:
        again = tmp_path / "lines.jsonl"
        with again.open("w", encoding="utf-8") as stream:
            exported = export_to_stream(memory, user, stream)
    assert (exported.sessions, exported.rounds, exported.pictures) == (2, 3, 2)
    report = run(tmp_path / "second", settings, again)
    assert (report.users, report.quarantined, report.version) == (1, 0, 1)
    theirs = open_store(str(tmp_path / "second")).memory("default")
    digests = {row["user_id"]: row["digest"] for row in memory.users().to_dicts()}
    assert {row["user_id"]: row["digest"] for row in theirs.users().to_dicts()} == {user: digests[user]}


def test_an_export_of_another_user_holds_nothing_of_this_one(tmp_path: Path, settings: Settings) -> None:
    run(tmp_path / "store", settings, history(tmp_path))
    memory = open_store(str(tmp_path / "store")).memory("default")
    out = io.StringIO()
    export_to_stream(memory, "bob", out)
    assert "mine" in out.getvalue()
    assert "later" not in out.getvalue()
    pictures = memory.rounds("ann/a\u00e9")["images"].explode().struct.field("media").drop_nulls().to_list()
    assert memory.picture("ann/a\u00e9", pictures[0]) in (png("red"), png("blue"))
    assert memory.picture("bob", pictures[0]) is None
    assert export_to_stream(memory, "nobody", io.StringIO()).rounds == 0


def test_an_export_goes_into_an_empty_folder_whole_or_not_at_all(tmp_path: Path, settings: Settings) -> None:
    run(tmp_path / "store", settings, history(tmp_path))
    memory = open_store(str(tmp_path / "store")).memory("default")
    with pytest.raises(UsageError, match="not empty"):
        export_to_folder(memory, "bob", tmp_path)
    (victim,) = list((tmp_path / "store" / "media").rglob("*"))[-1:]
    victim.write_bytes(b"spoiled")
    with pytest.raises(StoreCorrupt, match="verify"):
        export_to_folder(memory, "ann/a\u00e9", tmp_path / "out")
    assert not (tmp_path / "out").exists()
    assert not list(tmp_path.glob(".out-*"))


# --- inspect ----------------------------------------------------------------------------------------------------

VALUES = Values("auto", None, None, None, 1 << 20, PictureLimits(), 1 << 20)


def looked(*patterns: Path, values: Values = VALUES) -> dict[str, FileFound]:
    found = look(sources_of([str(pattern) for pattern in patterns]), values, lambda _: None)
    return {Path(file.uri).name: file for file in found}


def test_a_look_says_what_a_backfill_would_do(tmp_path: Path, settings: Settings) -> None:
    folder = tmp_path / "in"
    source = history(tmp_path)
    write(folder / "a.jsonl", *source.read_text(encoding="utf-8").strip().split("\n"), "{broken", record("cy", "S", "x"))
    write(folder / "b.jsonl", *source.read_text(encoding="utf-8").strip().split("\n"), "{broken", record("cy", "S", "x"))
    write(folder / "notes.json", {"colour": "red"})
    write(folder / "empty.jsonl")
    with zipfile.ZipFile(folder / "chat.zip", "w") as archive:
        archive.writestr("c.jsonl", json.dumps(record("dee", "S", "zipped", timestamp="2023-01-01T00:00Z")))
    found = looked(folder)
    assert {name: file.verdict for name, file in found.items()} == {
        "a.jsonl": "read",
        "b.jsonl": "copy",
        "notes.json": "ignored",
        "empty.jsonl": "ignored",
        "c.jsonl": "read",
    }
    everything = total(list(found.values()))
    report = run(tmp_path / "store", settings, folder)
    assert (len(everything.users), everything.sessions, everything.rounds) == (report.users, report.sessions, report.read)
    assert everything.pictures == report.pictures
    assert sum(everything.quarantined.values()) == report.quarantined
    assert everything.quarantined == {"bad-json": 1, "picture-unknown": 1}
    assert everything.doubts == {**report.doubts, "missing-picture": report.missing_pictures}
    assert (everything.doubts["bad-time"], everything.doubts["no-time"], everything.doubts["unknown-part"]) == (1, 2, 1)
    assert everything.first_time is not None
    assert everything.first_time.isoformat() == "2023-01-01T00:00:00+00:00"
    assert list(tmp_path.rglob("store.json")) == [tmp_path / "store" / "store.json"]


# --- quarantine -------------------------------------------------------------------------------------------------


def rows(store: Path) -> list[dict[str, Any]]:
    objects = open_objects(str(store))
    snapshot = pin(objects)
    return (
        [] if snapshot.quarantine is None else read_table(objects, snapshot.quarantine).select(QUARANTINE.names).to_pylist()
    )


def test_what_was_mended_leaves_the_quarantine_read_as_it_was_read_before(tmp_path: Path, settings: Settings) -> None:
    store, bad = tmp_path / "store", tmp_path / "bad.jsonl"
    nameless = {"session_id": "S", "messages": [{"role": "user", "content": "hi", "timestamp": "2024-05-08T10:00"}]}
    write(bad, nameless, "{broken")
    write(tmp_path / "gone.jsonl", "{broken")
    (tmp_path / "z.zip").write_bytes(b"PK\x03\x04 cut off")
    run(store, settings, bad, user="ann", timezone="Asia/Tokyo")
    run(store, settings, tmp_path / "gone.jsonl", tmp_path / "z.zip")
    assert sorted(row["code"] for row in rows(store)) == ["bad-json", "bad-json", "bad-zip"]

    write(bad, nameless, {**nameless, "session_id": "T"})
    (tmp_path / "gone.jsonl").unlink()
    with zipfile.ZipFile(tmp_path / "z.zip", "w") as archive:
        archive.writestr("z.jsonl", json.dumps(record("zed", "S", "zipped")))
    done = retry(rows(store), BackfillRequest((), str(store), "default"), settings, lambda _: None)
    assert done.gone == (str(tmp_path / "gone.jsonl"),)
    assert sum(report.added for report in done.reports) == 2
    assert [(row["file"], row["code"]) for row in rows(store)] == [(str(tmp_path / "gone.jsonl"), "bad-json")]
    memory = open_store(str(store)).memory("default")
    assert memory.users()["user_id"].to_list() == ["ann", "zed"]
    assert set(memory.rounds("ann")["time_offset_minutes"].to_list()) == {540}


def test_what_is_given_with_a_retry_goes_before_what_was_asked(tmp_path: Path, settings: Settings) -> None:
    store = tmp_path / "store"
    run(store, settings, write(tmp_path / "a.jsonl", {"session_id": "S", "messages": [{"role": "user", "content": "hi"}]}))
    assert [row["code"] for row in rows(store)] == ["no-user"]
    retry(rows(store), BackfillRequest((), str(store), "default", user="ann"), settings, lambda _: None)
    assert rows(store) == []
    assert open_store(str(store)).memory("default").users()["user_id"].to_list() == ["ann"]


def test_columns_that_are_not_kept_are_named(tmp_path: Path, settings: Settings) -> None:
    path = tmp_path / "tickets.csv"
    path.write_text("customer,who,body,sent_at,date\nada,agent,Hello,10:00,2024-03-01\n", encoding="utf-8")
    mapped = {"text": "body", "user": "customer", "time": "sent_at"}
    found = look(sources_of([str(path)]), replace(VALUES, columns=mapped), lambda _: None)
    assert found[0].unread == ("who",)
    assert run(tmp_path / "store", settings, path, columns=mapped).unread_columns == ("who",)
    assert run(tmp_path / "store", settings, path, columns={**mapped, "role": "who"}).unread_columns == ()


def test_backfill_and_look_count_the_same_doubts(tmp_path: Path, settings: Settings) -> None:
    told = [
        {"role": "user", "content": "a", "timestamp": "when?", "round": "1"},
        {"role": "user", "content": "b", "round": "2"},
    ]
    told.append({"role": "user", "content": "c", "timestamp": "2024-03-01T10:00:00", "round": "3"})
    path = write(tmp_path / "a.jsonl", {"user_id": "ada", "session_id": "S", "messages": told})
    expected = {"bad-time": 1, "no-time": 1, "no-offset": 1}
    assert dict(total(look(sources_of([str(path)]), VALUES, lambda _: None)).doubts) == expected
    assert run(tmp_path / "store", settings, path).doubts == expected


def test_an_export_of_nobody_writes_nothing(tmp_path: Path, settings: Settings) -> None:
    run(tmp_path / "store", settings, write(tmp_path / "a.jsonl", record("ada", "S", "hello")))
    memory = open_store(str(tmp_path / "store")).memory("default")
    assert export_to_folder(memory, "nobody", tmp_path / "out").rounds == 0
    assert not (tmp_path / "out").exists()


def message(minute: int, session: str = "S", text: str | None = None) -> dict[str, Any]:
    role = "user" if minute % 2 else "assistant"
    time = f"2024-03-01T10:{minute:02d}:00Z"
    return {"user_id": "ada", "session_id": session, "role": role, "text": text or f"{role} {minute}", "time": time}


def test_a_table_in_several_files_is_as_one_and_is_read_again_as_one(tmp_path: Path, settings: Settings) -> None:
    said = [message(minute) for minute in range(1, 12)] + [message(20, "other")]
    write(tmp_path / "one" / "all.jsonl", *said)
    parts = tmp_path / "parts"
    write(parts / "part-0.jsonl", *said[:5])
    broken = write(parts / "part-1.jsonl", said[5], "{not json", *said[7:])
    whole = run(tmp_path / "whole", settings, tmp_path / "one")
    report = run(tmp_path / "store", settings, parts)
    assert (report.sessions, report.quarantined, report.superseded) == (2, 1, 0)
    write(broken, *said[5:])
    found = rows(tmp_path / "store")
    again = retry(found, BackfillRequest((), str(tmp_path / "store"), "default"), settings, lambda _: None).reports[0]
    assert (again.quarantined, again.content_digest) == (0, whole.content_digest)
    assert run(tmp_path / "store", settings, parts).unchanged == whole.rounds


def test_files_of_a_table_may_come_one_by_one_and_in_any_order(tmp_path: Path, settings: Settings) -> None:
    said = [message(minute) for minute in range(1, 12)]
    one = write(tmp_path / "one.jsonl", *said)
    first, second = write(tmp_path / "part-0.jsonl", *said[:5]), write(tmp_path / "part-1.jsonl", *said[4:])
    whole = run(tmp_path / "whole", settings, one)
    for order in ((first, second), (second, first)):
        store = tmp_path / f"store-{order[0].stem}"
        for part in order:
            report = run(store, settings, part)
        assert report.content_digest == whole.content_digest
        assert run(store, settings, second).content_digest == whole.content_digest


def test_a_session_that_a_table_cuts_otherwise_leaves_no_old_rounds(tmp_path: Path, settings: Settings) -> None:
    said = [message(minute, text=f"said {minute}") for minute in range(1, 9, 2)]  # one side alone: rounds are pairs
    run(tmp_path / "store", settings, write(tmp_path / "a.jsonl", *said))
    report = run(tmp_path / "store", settings, write(tmp_path / "b.jsonl", message(10, text="the answer")))
    (round_,) = open_store(str(tmp_path / "store")).memory("default").rounds("ada").to_dicts()
    assert report.rounds == 1
    assert [told["text"] for told in round_["messages"]] == [f"said {minute}" for minute in range(1, 9, 2)] + ["the answer"]
