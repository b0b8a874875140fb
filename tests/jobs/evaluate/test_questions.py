"""Questions are read from every benchmark's files, with what answers them and why some do not count."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from configs.settings import SourceSettings
from jobs.evaluate.questions import Question, QuestionFile, answered, read_questions
from jobs.sources import sources_of
from operators.errors import SourceError, UsageError

Write = Callable[[str, Any], Path]


def read(path: Path) -> QuestionFile:
    return read_questions(sources_of([str(path)])[0], SourceSettings())


def turns(*texts: str, session: str = "D1") -> list[dict[str, str]]:
    return [{"speaker": "AB"[n % 2], "dia_id": f"{session}:{n + 1}", "text": text} for n, text in enumerate(texts)]


def locomo_of(*questions: dict[str, Any]) -> dict[str, Any]:
    return {"speaker_a": "A", "speaker_b": "B", "session_1": turns("hello", "hi"), "qa": list(questions)}


def test_locomo(write: Write, benchmarks: dict[str, Any]) -> None:
    found = read(write("26.json", benchmarks["locomo.json"]))
    assert (found.stem, found.benchmark, found.names) == ("26", "locomo", {"26"})
    assert [question.position for question in found.questions] == list(range(7))
    assert found.questions[0] == Question("26", "when was it that the bakery opened?", frozenset({"D1:1"}), "1")
    assert [question.left_out for question in found.questions] == [None, "not-answered", None, "no-evidence", *[None] * 3]


def test_positions_go_on_over_the_conversations_of_a_file(write: Write, benchmarks: dict[str, Any]) -> None:
    found = read(write("all.json", benchmarks["wrapped.json"]))
    assert found.names == {"all", "conv-1", "conv-2"}
    assert [(one.user_id, one.position) for one in found.questions] == [
        *(("conv-1", n) for n in range(7)),
        *(("conv-2", n) for n in range(7, 11)),
    ]
    assert found.questions[7].evidence == {"D3:1"}


def test_a_list_of_one_conversation_is_the_files_user(write: Write, benchmarks: dict[str, Any]) -> None:
    assert {one.user_id for one in read(write("one.json", benchmarks["wrapped.json"][:1])).questions} == {"one"}


def test_turn_ids_as_the_files_write_them(write: Write) -> None:
    evidence = ["D8:6; D9:17", "D:11:26", "D30:05", "D"]
    found = answered(write("7.json", locomo_of({"question": "q", "evidence": evidence, "category": 1})))
    assert found[0].evidence == {"D8:6", "D9:17", "D11:26", "D30:5"}


def test_gallery(write: Write, benchmarks: dict[str, Any]) -> None:
    found = read(write("dialog/Maya.json", benchmarks["gallery.json"]))
    assert [(one.user_id, one.category, set(one.evidence)) for one in found.questions[:2]] == [
        ("Maya", "FR", {"D1:1"}),
        ("Maya", "FR", {"D1:2"}),
    ]
    assert [one.caption for one in found.questions] == [None] * 4 + ["a white harbour"]
    assert [one.picture for one in found.questions] == [None] * 4 + ["../image/Maya/Q1.jpg"]


def test_meme_eyes_own_dialogs(write: Write, benchmarks: dict[str, Any]) -> None:
    found = read(write("Travel.json", benchmarks["memeye.json"]))
    assert found.questions[1] == Question(
        "Travel", "when was it that my bicycle was stolen?", frozenset({"T2"}), "X1+Y2", position=1
    )


def test_longmemeval(write: Write, benchmarks: dict[str, Any]) -> None:
    found = read(write("long.json", benchmarks["haystacks.json"]))
    assert found.names == {"q1", "q2", "q3_abs"}
    by_round, by_session, unanswered = found.questions
    assert (by_round.evidence, by_round.by_session, by_round.left_out) == ({"s1:1"}, False, None)
    assert (by_session.evidence, by_session.by_session) == ({"s1"}, True)
    assert unanswered.left_out == "not-answered"
    assert {one.category for one in found.questions} == {"single-session-user"}


def test_marked_turns_are_found_among_alike_and_unread_ones(write: Write, benchmarks: dict[str, Any]) -> None:
    record = benchmarks["haystacks.json"][1]
    told = [("user", "again"), ("assistant", "yes"), ("user", 7), ("user", "again"), ("assistant", "yes")]
    record["haystack_sessions"] = [[], [{"role": role, "content": content} for role, content in told]]
    record["haystack_sessions"][1][3]["has_answer"] = True
    record["haystack_session_ids"] = ["s0", "s1"]
    assert set(answered(write("long.json", [record]))[0].evidence) == {"s1:2"}


def test_packed_files_and_lines_are_read(tmp_path: Path, benchmarks: dict[str, Any]) -> None:
    path = tmp_path / "long.jsonl.gz"
    lines = "".join(json.dumps(record) + "\n" for record in benchmarks["haystacks.json"])
    path.write_bytes(gzip.compress(lines.encode()))
    found = read(path)
    assert (found.stem, [one.position for one in found.questions]) == ("long", [0, 1, 2])


def test_a_question_without_words_does_not_count(write: Write) -> None:
    found = read(write("7.json", locomo_of({"question": " ", "evidence": ["D1:1"], "category": 1})))
    assert [one.left_out for one in found.questions] == ["no-words"]


@pytest.mark.parametrize(
    ("document", "told"),
    [
        ([{"user_id": "u", "messages": [{"role": "user", "content": "x"}]}], "is not a benchmark's file"),
        ({"anything": 1}, "no conversation"),
        ({"speaker_a": "A", "speaker_b": "B", "session_1": turns("a", "b")}, "no questions"),
    ],
)
def test_other_files_are_named(write: Write, document: Any, told: str) -> None:
    with pytest.raises(UsageError, match=rf"odd\.json.*{told}"):
        read(write("odd.json", document))


@pytest.mark.parametrize("text", ["", "  "])
def test_an_empty_file_is_named(tmp_path: Path, text: str) -> None:
    path = tmp_path / "odd.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(UsageError, match=r"odd\.json.*empty"):
        read(path)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('{"speaker_a": "A", "speaker_b": "B", "session_1": [', "bad-json"),
        ('{"qa": ]}', "bad-json"),
        (json.dumps(locomo_of() | {"qa": ["q"]}), "wrong-type"),
        (json.dumps(locomo_of({"question": 7, "evidence": ["D1:1"], "category": 1})), "wrong-type"),
        (json.dumps(locomo_of() | {"session_1": []}), "no-messages"),
    ],
)
def test_a_broken_file_is_named(tmp_path: Path, text: str, told: str) -> None:
    path = tmp_path / "odd.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(SourceError, match=r"odd\.json") as caught:
        read(path)
    assert caught.value.code == told


def test_references_choices_and_when_a_question_is_asked(write: Write, benchmarks: dict[str, Any]) -> None:
    turns_of = locomo_of(
        {"question": "q", "answer": 2022, "category": 2},
        {"question": "q", "answer": ["tea", "milk"], "category": 1},
        {"question": "q", "category": 5},
    )
    assert [one.answer for one in read(write("7.json", turns_of)).questions] == ["2022", "tea, milk", None]
    document = benchmarks["memeye.json"]
    document["qas"][0] |= {"options": {"A": "red", "B": "green"}, "answer": "green"}
    document["qas"][1] |= {"question": "Which? A. red B. green", "answer": "A"}
    document["qas"][2] |= {"options": ["red", "green"], "answer": "neither"}
    first, second, third, *_ = read(write("eye.json", document)).questions
    assert [(one.answer, [letter for letter, _ in one.options]) for one in (first, second, third)] == [
        ("B", ["A", "B"]),
        ("A", ["A", "B"]),
        ("neither", []),
    ]
    record = benchmarks["haystacks.json"][0] | {"question_date": "2023/05/30 (Tue) 08:00"}
    assert str(read(write("long.json", [record])).questions[0].now) == "2023-05-30 08:00:00+00:00"
