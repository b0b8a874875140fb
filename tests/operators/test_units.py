"""Rounds to units."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from operators.records import ROUNDS, UNITS, Image, Message, Round, content_key, round_rows
from operators.units import embedding_texts, units_of


def whole(text: str) -> list[tuple[int, int]]:
    return [(0, len(text))] if text.strip() else []


def halves(text: str) -> list[tuple[int, int]]:
    middle = len(text) // 2
    return [(0, middle), (middle, len(text))] if text.strip() and middle else whole(text)


def table(*rounds: Round, user: str = "u") -> pa.Table:
    rows = round_rows("t", user, rounds, "s")
    for order, row in enumerate(rows):
        row["order"] = order
    return pa.Table.from_pylist(rows, schema=ROUNDS)


def make_round(position: int, messages: list[tuple[str, str]], images: list[tuple[int, str | None]] = []) -> Round:  # noqa: B006
    return Round(
        session_id="s",
        round_id=f"r{position}",
        position=position,
        messages=tuple(Message(role="user", speaker=speaker, text=text) for speaker, text in messages),
        images=tuple(Image(message=at, reference="x", caption=caption, media="m") for at, caption in images),
    )


def test_texts_by_message_then_pictures() -> None:
    rounds = table(
        make_round(0, [("user", "abcd"), ("assistant", "  "), ("Ann", "ef")], [(2, "a cat"), (0, None), (7, " ")]),
        make_round(1, [("user", "gh")]),
    )
    units = units_of(rounds, halves)
    assert units.schema.equals(UNITS)
    rows: list[dict[str, Any]] = units.to_pylist()
    assert [row["unit_id"] for row in rows] == [
        *("s/r0/txt0.0", "s/r0/txt0.1", "s/r0/txt2.0", "s/r0/txt2.1", "s/r0/img0.0", "s/r0/img1.0", "s/r0/img2.0"),
        *("s/r1/txt0.0", "s/r1/txt0.1"),
    ]
    assert [row["text"] for row in rows] == ["ab", "cd", "e", "f", None, None, None, "g", "h"]
    assert [(row["start"], row["end"]) for row in rows[:2]] == [(0, 2), (2, 4)]
    assert [row["speaker"] for row in rows[2:7]] == ["Ann", "Ann", "Ann", "user", ""]
    assert [row["order"] for row in rows] == [0] * 7 + [1] * 2
    assert [row["content_key"] is None for row in rows] == [False] * 5 + [True] * 2 + [False] * 2


def test_the_encoder_sees_named_speakers_and_captions() -> None:
    units = units_of(
        table(make_round(0, [("user", " hi "), ("Ann", "hello")], [(1, "a cat"), (0, "a dog"), (0, None)])), whole
    )
    seen = embedding_texts(units).to_pylist()
    assert seen == ["hi", "Ann: hello", "Ann: a cat", "a dog", None]
    assert units["content_key"].to_pylist() == [text and content_key(text) for text in seen]


def test_no_rounds_and_silent_rounds_give_no_units() -> None:
    assert units_of(ROUNDS.empty_table(), whole).schema.equals(UNITS)
    assert len(units_of(table(make_round(0, [("user", " \n")])), whole)) == 0


@settings(deadline=None)
@given(st.lists(st.lists(st.text(max_size=6), min_size=1, max_size=3), max_size=6), st.integers(0, 5))
def test_units_are_those_of_each_round_alone(texts: list[list[str]], offset: int) -> None:
    rounds = table(*(make_round(at, [("user", text) for text in said], [(0, said[0])]) for at, said in enumerate(texts)))
    sliced = rounds.slice(min(offset, len(rounds)))
    units = units_of(sliced, halves)
    alone = [units_of(sliced.slice(at, 1), halves) for at in range(len(sliced))]
    assert units.equals(pa.concat_tables([UNITS.empty_table(), *alone]))
    spoken = {(row["round_id"], row["message"]): "" for row in units.to_pylist()}
    for row in units.to_pylist():
        spoken[row["round_id"], row["message"]] += row["text"] or ""
    for at, said in enumerate(texts[min(offset, len(rounds)) :], start=min(offset, len(rounds))):
        assert all(spoken[f"r{at}", n] == text for n, text in enumerate(said) if text.strip())
