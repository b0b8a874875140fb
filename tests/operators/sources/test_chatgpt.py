"""ChatGPT's export: the graph, what is shown of it, and the files its pictures point at."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable
from contextlib import suppress
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from operators.errors import SourceError
from operators.records import Session
from operators.sources.archives import ArchiveFiles
from operators.sources.chatgpt import matches, read
from operators.sources.files import Files, LocalFiles
from operators.sources.media import PictureLimits, attach_pictures
from operators.sources.origin import Origin, owner_of
from operators.sources.read import Parsed, ReadScope, read_split, survey

ORIGIN = Origin(None, None, "conversations", owner="ada")


def node(role: str, *parts: Any, parent: str | None = None, **more: Any) -> dict[str, Any]:
    kind = more.pop("kind", "text")
    message = {"id": more.pop("id", None), "author": {"role": role}, "content": {"content_type": kind, "parts": list(parts)}}
    return {"message": message | more, "parent": parent, "children": []}


def conversation(nodes: dict[str, Any], current: str | None, **more: Any) -> dict[str, Any]:
    return {
        "conversation_id": "C",
        "title": "bike",
        "create_time": 1715176567.5,
        "mapping": nodes,
        "current_node": current,
        **more,
    }


SIMPLE = {
    "root": {"id": "root", "message": None, "parent": None, "children": ["q"]},
    "q": node("user", "which tyre?", parent="root", id="q", create_time=1715176570.25),
    "a1": node("assistant", "the wide one", parent="q", id="a1"),
    "a2": node("assistant", "the narrow one", parent="q", id="a2"),
    "q2": node("user", "thanks", parent="a2", id="q2", create_time=1715176600),
}


def one(record: Any, origin: Origin = ORIGIN) -> Session:
    (session,) = read(record, origin)
    assert isinstance(session, Session)
    return session


def texts(session: Session) -> list[list[str]]:
    return [[message.text for message in record.messages] for record in session.rounds]


def test_the_branch_on_screen_is_the_conversation_and_the_others_are_counted() -> None:
    session = one(conversation(SIMPLE, "q2"))
    assert (session.user_id, session.session_id) == ("ada", "C")
    assert texts(session) == [["which tyre?", "the narrow one"], ["thanks"]]
    assert [record.round_id for record in session.rounds] == ["q", "q2"]
    assert session.rounds[0].metadata == {"session": {"title": "bike", "branch_messages": 1}}
    assert session.rounds[0].time is not None
    assert session.rounds[0].time.utc.isoformat() == "2024-05-08T13:56:10.250000+00:00"


@pytest.mark.parametrize("current", [None, "gone"])
def test_without_a_current_node_the_newest_leaf_is_taken_and_the_doubt_told(current: str | None) -> None:
    session = one(conversation(SIMPLE, current))
    assert texts(session) == [["which tyre?", "the narrow one"], ["thanks"]]
    assert session.rounds[0].metadata["doubts"] == {"no-current-node": 1}


def test_a_cycle_and_a_missing_parent_end_the_walk() -> None:
    cycle = {"a": node("user", "x", parent="b", id="a"), "b": node("assistant", "y", parent="a", id="b")}
    assert texts(one(conversation(cycle, "b"))) == [["x", "y"]]
    orphan = {"a": node("user", "x", parent="nowhere", id="a")}
    assert texts(one(conversation(orphan, "a"))) == [["x"]]
    assert one(conversation(orphan, "a", title=5)).rounds[0].metadata == {"doubts": {"broken-branch": 1}}


def test_what_is_hidden_is_left_out_and_reasoning_is_counted() -> None:
    nodes = {
        "s": node("system", "", parent=None),
        "h": node("system", "secret orders", parent="s", metadata={"is_visually_hidden_from_conversation": True}),
        "q": node("user", "how long?", parent="h", id="q"),
        "t": node("assistant", parent="q", kind="thoughts"),
        "c": node("assistant", "print(1)", parent="t", recipient="python"),
        "o": {
            "message": {
                "author": {"role": "tool", "name": "python"},
                "content": {"content_type": "execution_output", "text": "1"},
            },
            "parent": "c",
        },
        "w": node("assistant", "old", parent="o", weight=0),
        "a": node("assistant", "one", parent="w", id="a"),
    }
    (record,) = one(conversation(nodes, "a")).rounds
    assert [(m.role, m.speaker, m.text) for m in record.messages] == [
        ("user", "user", "how long?"),
        ("tool", "python", "1"),
        ("assistant", "assistant", "one"),
    ]
    assert record.metadata["unknown_parts"] == {"thoughts": 1, "text": 1}


def test_pictures_and_other_parts() -> None:
    pointer = {"content_type": "image_asset_pointer", "asset_pointer": "file-service://file-Ab12"}
    heard = {"content_type": "audio_transcription", "text": "and this?"}
    nodes = {"q": node("user", pointer, heard, {"content_type": "video"}, "see", kind="multimodal_text", id="q")}
    (record,) = one(conversation(nodes, "q")).rounds
    assert record.messages[0].text == "and this?\nsee"
    assert [image.reference for image in record.images] == ["file-service://file-Ab12"]
    assert record.metadata["unknown_parts"] == {"video": 1}


def test_a_bad_message_is_an_error_and_the_rest_goes_in() -> None:
    nodes = {
        "q": node("user", "hello", id="q"),
        "x": {"message": {"author": "secret", "content": {}}, "parent": "q"},
        "a": node("assistant", "hi", parent="x", id="a"),
    }
    error, session = read(conversation(nodes, "a"), ORIGIN)
    assert isinstance(error, SourceError)
    assert (error.code, error.round_id) == ("wrong-type", "q")
    assert "secret" not in str(error)
    assert isinstance(session, Session)
    assert texts(session) == [["hello", "hi"]]


@pytest.mark.parametrize(
    ("record", "code"),
    [
        (conversation({}, None), "no-messages"),
        (conversation({"s": node("system", "")}, "s"), "no-messages"),
        ({"mapping": SIMPLE, "current_node": "q2"}, "wrong-type"),
        (conversation({"q": "secret"}, "q"), "wrong-type"),
    ],
)
def test_what_cannot_be_read_is_one_typed_error(record: Any, code: str) -> None:
    with pytest.raises(SourceError) as caught:
        list(read(record, ORIGIN))
    assert caught.value.code == code
    assert "secret" not in str(caught.value)


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=5)
    | st.sampled_from(["a", "b", "text", "user"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["message", "parent", "author", "content", "parts", "content_type", "role", "x"]), inner
        )
    ),
    max_leaves=12,
)


@given(st.dictionaries(st.sampled_from(["a", "b", "c"]), JSON), JSON, JSON)
def test_anything_in_the_graph_gives_sessions_or_typed_errors(nodes: dict[str, Any], current: Any, title: Any) -> None:
    record = conversation(nodes, current, title=title)
    matches(record)
    with suppress(SourceError):
        assert all(isinstance(item, Session | SourceError) for item in read(record, ORIGIN))


def png(colour: str) -> bytes:
    buffer = BytesIO()
    Image.new("RGB", (4, 4), colour).save(buffer, "PNG")
    return buffer.getvalue()


def export() -> dict[str, bytes]:
    pointers = ("file-service://file-Ab12", "sediment://file_0000cd", "file-service://file-Ab")
    parts = [{"content_type": "image_asset_pointer", "asset_pointer": pointer} for pointer in pointers]
    nodes = {"q": node("user", *parts, kind="multimodal_text", id="q")}
    return {
        "conversations-000.json": json.dumps([conversation(nodes, "q")]).encode(),
        "conversations-001.json": json.dumps([conversation(SIMPLE, "q2", conversation_id="D")]).encode(),
        "user.json": b'{"id": "user-1", "email": "x"}',
        "chat.html": b"<html>",
        "file-Ab12-photo.png": png("red"),
        "dalle-generations/file_0000cd-sanitized.png": png("blue"),
    }


def as_folder(tmp_path: Path) -> tuple[list[Any], Files]:
    for name, data in export().items():
        path = tmp_path / "ada" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    files = LocalFiles()
    return list(files.find(str(tmp_path / "ada"))), files


def as_archive(tmp_path: Path) -> tuple[list[Any], Files]:
    with zipfile.ZipFile(tmp_path / "ada.zip", "w") as archive:
        for name, data in export().items():
            archive.writestr(name, data)
    (source,) = LocalFiles().find(str(tmp_path / "ada.zip"))
    files = ArchiveFiles(LocalFiles())
    return files.members(source), files


@pytest.mark.parametrize("packed", [as_folder, as_archive])
def test_an_export_in_parts_is_one_users_and_its_pictures_are_found(
    tmp_path: Path, packed: Callable[[Path], tuple[list[Any], Files]]
) -> None:
    sources, files = packed(tmp_path)
    surveys = {source.uri.rpartition("/")[2]: survey(source, files) for source in sources}
    assert surveys["user.json"].verdict == "ignored"
    kept: dict[str, bytes] = {}
    sessions = []
    for name in ("conversations-000.json", "conversations-001.json"):
        assert surveys[name].format == "chatgpt"
        assert surveys[name].user_from == "export"
        for split in surveys[name].splits:
            for item in read_split(split, files, ReadScope(None, None, 1 << 20)):
                if isinstance(item, Parsed):
                    sessions.append(
                        attach_pictures(item.session, split.file, files, PictureLimits(), kept.__setitem__).session
                    )
    assert {session.user_id for session in sessions} == {"ada"}
    assert [image.media is not None for image in sessions[0].rounds[0].images] == [True, True, False]
    assert sorted(kept.values()) == sorted([png("red"), png("blue")])


@pytest.mark.parametrize(
    ("uri", "owner"),
    [
        ("/d/ada.zip!/conversations.json", "ada"),
        ("/d/ada/conversations-012.json", "ada"),
        ("s3://b/ada/conversations.json.gz", "ada"),
        ("/d/ada.json", "ada"),
        ("/conversations.json", "conversations"),
    ],
)
def test_an_export_goes_by_the_name_of_what_holds_it(uri: str, owner: str) -> None:
    assert owner_of(uri) == owner
