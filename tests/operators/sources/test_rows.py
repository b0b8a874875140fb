from __future__ import annotations

import json
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from operators.errors import SourceError, UsageError
from operators.sources.columns import KEYS, asked_columns, find_columns
from operators.sources.files import LocalFiles, SourceFile
from operators.sources.origin import Origin
from operators.sources.read import Parsed, ReadScope, SplitEnd, read_split, survey
from operators.sources.rows import Gathering, matches

ORIGIN = Origin(None, None, "stem")


def gather(
    rows: list[Any], origin: Origin = ORIGIN, chosen: Any = None, limit: int = 1 << 20
) -> tuple[list[Any], list[Any]]:
    """Sessions with their lines, and the rows that were refused with theirs."""
    refused = []
    with Gathering(origin, chosen, limit) as gathering:
        for line, row in enumerate(rows, start=1):
            try:
                gathering.add(line, row)
            except SourceError as error:
                refused.append((error.code, line))
        return list(gathering.sessions()), refused


def row(text: str, user: str = "ada", session: str = "S", **more: Any) -> dict[str, Any]:
    return {"user_id": user, "session_id": session, "text": text, **more}


@given(st.lists(st.tuples(st.sampled_from(["a", "b", "é/"]), st.sampled_from(["1", "2", "3"])), max_size=60))
def test_rows_in_any_order_are_grouped_as_by_a_dict(places: list[tuple[str, str]]) -> None:
    expected: dict[tuple[str, str], list[int]] = {}
    for line, place in enumerate(places, start=1):
        expected.setdefault(place, []).append(line)
    found, refused = gather([row(str(line), *place) for line, place in enumerate(places, start=1)])
    assert refused == []
    got = [
        (line, (one["user_id"], one["session_id"]), [int(said["content"]) for said in one["messages"]])
        for line, one in found
    ]
    assert got == [(lines[0], place, lines) for place, lines in expected.items()]


def test_more_rows_and_groups_than_wait_in_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    import operators.sources.rows as module

    monkeypatch.setattr(module, "_GROUPS_IN_MEMORY", 7)
    monkeypatch.setattr(module, "_BATCH", 10)
    count, users = 1003, 50
    found, _ = gather([row(str(n), user=f"u{n % users}") for n in range(count)])
    assert [one["user_id"] for _, one in found] == [f"u{n}" for n in range(users)]
    assert [[int(said["content"]) for said in one["messages"]] for _, one in found] == [
        list(range(user, count, users)) for user in range(users)
    ]


def test_every_column_has_its_place(tmp_path: Path, read: Callable[..., Any], dump: Callable[..., Path]) -> None:
    one = {
        "Conversation ID": "c1",
        "userId": 7,
        "body": "look",
        "sender_type": "customer",
        "Author": "Ann",
        "sent_at": "2024-05-08T10:00:00Z",
        "message_id": "m1",
        "image_url": "a.png",
        "caption": "a cake",
        "round": "r9",
        "internal_note": "kept nowhere",
    }
    got = read(dump(tmp_path / "t.jsonl", [one, {**one, "sender_type": "bot", "image_url": None, "caption": ""}]))
    assert got.errors == []
    (session,) = got.sessions
    assert (session.user_id, session.session_id) == ("7", "c1")
    (record,) = session.rounds
    first, second = record.messages
    assert (record.round_id, first.role, first.speaker, first.text, first.message_id) == ("r9", "other", "Ann", "look", "m1")
    assert first.time is not None and first.time.utc.hour == 10
    assert (second.role, second.text) == ("assistant", "look")
    assert [(i.message, i.reference, i.caption) for i in record.images] == [(0, "a.png", "a cake")]
    assert "kept nowhere" not in repr(session)


def test_rows_of_two_sessions_may_alternate(tmp_path: Path, read: Callable[..., Any]) -> None:
    path = tmp_path / "t.csv"
    lines = ["user_id,session_id,role,text"]
    for number in range(4):
        for name in "AB":
            lines.append(f"ada,{name},{'user' if number % 2 == 0 else 'assistant'},{name}{number}")
    path.write_text("\n".join(lines) + "\n")
    got = read(path)
    assert [(s.session_id, [[m.text for m in r.messages] for r in s.rounds]) for s in got.sessions] == [
        ("A", [["A0", "A1"], ["A2", "A3"]]),
        ("B", [["B0", "B1"], ["B2", "B3"]]),
    ]
    assert (got.lines, got.total_lines, got.survey.user_from) == ([2, 3], 9, "record")


def test_a_list_of_messages_is_one_session_of_the_files_user(tmp_path: Path, read: Callable[..., Any]) -> None:
    path = tmp_path / "ada.json"
    parts = [{"type": "text", "text": "see"}, {"type": "image_url", "image_url": {"url": "b.png"}}]
    calls = {"role": "assistant", "content": None, "tool_calls": [{"id": "c"}]}
    path.write_text(json.dumps([{"role": "user", "content": "hi"}, calls, {"role": "user", "content": parts}]))
    got = read(path)
    assert (got.survey.format, got.survey.user_from, got.errors) == ("rows", "file", [])
    (session,) = got.sessions
    assert (session.user_id, session.session_id) == ("ada", "ada")
    assert [r.metadata for r in session.rounds] == [{"unknown_parts": {"tool_calls": 1}}, {}]
    assert [i.reference for i in session.rounds[1].images] == ["b.png"]
    (asked,) = read(path, user="eve").sessions
    assert (asked.user_id, asked.session_id) == ("eve", "ada")


def test_a_group_chat_keeps_its_speakers(tmp_path: Path, read: Callable[..., Any], dump: Callable[..., Path]) -> None:
    said = [{"sender": name, "message": f"{name} says"} for name in ("Ann", "Bob", "Cy", "Ann", "Dee")]
    (session,) = read(dump(tmp_path / "club.jsonl", said)).sessions
    assert (session.user_id, session.session_id) == ("club", "club")
    assert [[m.speaker for m in r.messages] for r in session.rounds] == [["Ann", "Bob"], ["Cy", "Ann"], ["Dee"]]
    assert [r.round_id for r in session.rounds] == ["club:1", "club:2", "club:3"]
    assert {m.role for r in session.rounds for m in r.messages} == {"user"}


def test_a_speaker_that_is_a_role_is_one(tmp_path: Path, read: Callable[..., Any], dump: Callable[..., Path]) -> None:
    said = [{"speaker": name, "text": "x"} for name in ("Ann", "Assistant", "Ann", "Assistant")]
    (session,) = read(dump(tmp_path / "t.jsonl", said)).sessions
    assert [[m.role for m in r.messages] for r in session.rounds] == [["user", "assistant"]] * 2


def test_author_id_is_the_user_where_nothing_else_says_who_speaks() -> None:
    assert find_columns(("author_id", "body", "thread_id"), None)["user"] == "author_id"
    assert "user" not in find_columns(("AuthorID", "Author", "Content"), None)
    assert find_columns(("AuthorID", "Author", "Content"), {"user": "AuthorID"})["user"] == "AuthorID"


def test_what_cannot_be_read_is_refused_with_its_line(
    tmp_path: Path, read: Callable[..., Any], dump: Callable[..., Path]
) -> None:
    rows = [
        row("good"),
        row("  "),
        row("x", user=""),
        {**row("x"), "text": {"secret": 1}},
        {**row("x"), "user_id": ["secret"]},
        {**row("x"), "image": 5},
        "secret",
        row("good too", time="secret"),
    ]
    got = read(dump(tmp_path / "t.jsonl", rows))
    expected = ["no-messages", "no-user", "wrong-type", "wrong-type", "wrong-type", "wrong-type"]
    assert got.codes == [(code, line) for line, code in enumerate(expected, start=2)]
    assert not any("secret" in str(error) for error in got.errors)
    (session,) = got.sessions
    assert [m.text for r in session.rounds for m in r.messages] == ["good", "good too"]
    assert session.rounds[0].metadata == {"doubts": {"bad-time": 1}}


def test_another_user_than_the_one_asked_for_is_refused() -> None:
    found, refused = gather([row("x"), row("y", user="bob"), {"text": "z", "session_id": "S"}], Origin("ada", None, "stem"))
    assert refused == [("other-user", 2)]
    assert [(one["user_id"], one["session_id"]) for _, one in found] == [("ada", "S"), ("ada", "stem/S")]


def test_a_session_that_is_too_long_is_refused_and_the_others_go_in() -> None:
    found, _ = gather([row("a"), *(row("x" * 100, session="long") for _ in range(20)), row("b")], limit=1000)
    assert [(line, getattr(one, "code", None)) for line, one in found] == [(1, None), (2, "too-long")]
    assert len(found[0][1]["messages"]) == 2


def test_a_full_disk_is_told() -> None:
    with Gathering(ORIGIN, None, 1 << 30) as gathering:
        gathering._base.execute("PRAGMA max_page_count = 20")
        with pytest.raises(UsageError, match="TMPDIR"):
            for line in range(5000):
                gathering.add(line, row("x" * 1000))


def test_a_day_beside_a_clock(tmp_path: Path, read: Callable[..., Any]) -> None:
    path = tmp_path / "t.csv"
    path.write_text("date;time;name;message\n2024-05-08;10:30;Ann;hi\n")
    (session,) = read(path).sessions
    assert session.rounds[0].time is not None
    assert session.rounds[0].time.utc.isoformat() == "2024-05-08T10:30:00+00:00"


# --- a mapping ------------------------------------------------------------------------------------------------------


def test_columns_are_mapped(tmp_path: Path, read: Callable[..., Any]) -> None:
    path = tmp_path / "t.csv"
    path.write_text("who,said,text\nann,hello,not this\n")
    got = read(path, columns={"text": "said", "user": "who"})
    assert [(s.user_id, s.rounds[0].messages[0].text) for s in got.sessions] == [("ann", "hello")]


@pytest.mark.parametrize("name", ["t.csv", "t.jsonl", "t.parquet"])
def test_a_mapped_column_that_is_missing_shows_both_sides(
    tmp_path: Path, read: Callable[..., Any], dump: Callable[..., Path], name: str
) -> None:
    path = tmp_path / name
    if name == "t.csv":
        path.write_text("user,text\nann,hello secret\n")
    elif name == "t.jsonl":
        dump(path, [{"user": "ann", "text": "hello secret"}])
    else:
        pq.write_table(pa.table({"user": ["ann"], "text": ["hello secret"]}), path)
    got = read(path, columns={"time": "sent"})
    assert got.codes == [("wrong-columns", None)]
    assert "mapped columns sent" in str(got.errors[0]) and "found user, text" in str(got.errors[0])
    assert "secret" not in str(got.errors[0])


def test_a_mapping_is_read_from_its_text() -> None:
    assert asked_columns("text=body, time=created at,user=a=b") == {"text": "body", "time": "created at", "user": "a=b"}


@pytest.mark.parametrize("text", ["", "text", "text=", "texts=body", "text=a,text=b", "text=a,,"])
def test_a_mapping_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(UsageError) as caught:
        asked_columns(text)
    assert text == "text=a,text=b" or all(key in str(caught.value) for key in KEYS)


def test_an_unknown_key_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("user,text\nann,hello\n")
    with pytest.raises(UsageError, match="'body'"):
        survey(SourceFile(str(path), 1, "0", named=True), LocalFiles(), columns={"body": "text"})


# --- what is one message a row --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("record", "expected"),
    [
        ({"text": "x", "user": "u"}, True),
        ({"role": "user", "content": [{"type": "text", "text": "x"}]}, True),
        ({"id": 5, "text": "a document of a corpus"}, False),
        ({"user": "u", "text": 5}, False),
        ({"role": "user", "content": [5]}, False),
        ({"prompt": "x", "response": "y"}, False),
        ([], False),
        ("x", False),
    ],
)
def test_matches(record: Any, expected: bool) -> None:
    assert matches(record) is expected


def test_parquet_with_one_message_a_row(tmp_path: Path, read: Callable[..., Any]) -> None:
    path = tmp_path / "t.parquet"
    table = {
        "user_id": pa.array([1.0, 2.0, None, 1.0]),
        "conversation_id": ["a", "a", "b", "a"],
        "content": ["one", "two", "three", "four"],
        "created_at": pa.array([0, 1, 2, 3], pa.timestamp("s", tz="UTC")),
        "image": pa.array([None, {"bytes": b"png", "path": "x"}, None, None]),
        "vector": [[0.5] * 4] * 4,
    }
    pq.write_table(pa.table(table), path, row_group_size=2)
    got = read(path, split_bytes=1)
    assert (got.survey.format, len(got.survey.splits), got.total_lines) == ("rows", 1, 4)
    assert got.codes == [("no-user", 3)]
    assert [(s.user_id, s.session_id, [m.text for r in s.rounds for m in r.messages]) for s in got.sessions] == [
        ("1", "a", ["one", "four"]),
        ("2", "a", ["two"]),
    ]
    assert got.lines == [1, 2]
    assert got.sessions[1].rounds[0].images[0].reference == "data:;base64,cG5n"
    assert got.sessions[0].rounds[0].time is not None


def test_parquet_may_be_asked_for_by_either_name(tmp_path: Path, read: Callable[..., Any]) -> None:
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({"user": ["u"], "text": ["x"]}), path)
    assert len(read(path, format="rows").sessions) == len(read(path, format="parquet").sessions) == 1
    assert read(path, format="jsonl").codes == [("wrong-format", None)]


# --- anything -------------------------------------------------------------------------------------------------------

ANY_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(), max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=6,
)
NAMES = ("user_id", "session_id", "round", "text", "role", "name", "timestamp", "id", "image", "caption", "tool_calls", "x")


@given(st.lists(st.dictionaries(st.sampled_from(NAMES), ANY_JSON) | ANY_JSON, max_size=8))
def test_any_json_is_read_or_refused(rows: list[Any]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "t.json"
        path.write_text(json.dumps(rows))
        files = LocalFiles()
        source = SourceFile(str(path), path.stat().st_size, "0", named=True)
        for split in survey(source, files, format="rows").splits:
            *items, end = read_split(split, files, ReadScope(None, None, 1 << 20))
            assert isinstance(end, SplitEnd)
            assert all(isinstance(item, Parsed) or item.line is not None for item in items)


def test_what_nests_too_deep_to_be_kept_costs_its_row(
    tmp_path: Path, read: Callable[..., Any], dump: Callable[..., Path]
) -> None:
    deep: Any = "secret"
    for _ in range(900):
        deep = [deep]
    got = read(dump(tmp_path / "t.jsonl", [row("a"), row("b", tool_calls=deep), row("c", image=deep), row("d")]))
    texts = [m.text for s in got.sessions for r in s.rounds for m in r.messages]
    assert len(texts) + len(got.errors) == 4
    assert {"a", "d"} <= set(texts)
