"""The answers' benchmark: parameters read from questions, answers from tables through the tools, faults told one by one."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from configs.settings import Settings, load_settings
from jobs.bench.answers import (
    AnswersFigures,
    alike,
    dates_in,
    is_right,
    measure_answers,
    pick,
    stems,
    told_in_words,
    told_of_day,
)
from jobs.bench.extract import Share
from operators.errors import UsageError

ROOT = Path(__file__).resolve().parents[3]
SHARED = ROOT.parent / "shared" / "data"

HOURS = (7.0, 6.5, 8.0, 5.5, 7.5, 6.0, 9.0, 7.25)
STEPS = (8_000, 12_000, 9_500, 10_400, 4_000, 11_000, 7_000, 10_000)
KCAL = (2_000, 2_100, 1_900, 2_050, 1_800, 2_200, 1_950, 2_010)
WITHOUT_KM = 4
"""The first days, on which no distance is told."""

BOUGHT = (("OAK & PINE CAFE", "12.50"), ("RIVER BOOKS", "40.00"), ("OAK & PINE CAFE", "8.75"), ("ZENITH MART", "99.90"))


def settings() -> Settings:
    return load_settings(ROOT / "configs" / "test.yaml")


def turn(user: str, number: int, text: Any, day: str) -> dict[str, Any]:
    messages = [
        {"role": "user", "content": text, "timestamp": f"{day}T20:00:00", "round": f"S{number}:1"},
        {"role": "assistant", "content": "Saved.", "timestamp": f"{day}T20:00:00", "round": f"S{number}:1"},
    ]
    return {"user_id": user, "session_id": f"S{number}", "messages": messages}


def asked(
    user: str, number: int, operation: str, text: str, kind: str, value: Any, evidence: tuple[str, ...] = ()
) -> dict[str, Any]:
    answer = {"type": kind, "value": value} | ({"tolerance": 0.005} if kind == "number" else {})
    return {
        "question_id": f"{user}-q{number}",
        "user_id": user,
        "operation": operation,
        "question": text,
        "answer": answer,
        "as_of": "2024-06-01T00:00:00",
        "evidence": list(evidence),
    }


def write(path: Path, rows: list[dict[str, Any]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def wearer(folder: Path) -> None:
    """Eight days of ann, and on the fourth the event that questions ask about."""
    history = []
    for at, (hours, steps, kcal) in enumerate(zip(HOURS, STEPS, KCAL, strict=True)):
        km = "" if at < WITHOUT_KM else f" Distance {steps / 1000} km."
        text = f"Slept {hours} h. Walked {steps:,} steps and burned {kcal:,} kcal.{km}"
        history.append(turn("ann", at + 1, text, f"2024-05-{at + 1:02d}"))
    history.append(turn("ann", 9, "I moved into the new flat today.", "2024-05-04"))
    questions = [
        ("avg", "What is my average sleep in hours over all days?", "number", sum(HOURS) / 8),
        ("max", "What is the highest number of steps I logged?", "number", 12_000),
        ("argmax", "On which date did I log the most steps?", "date", "2024-05-02"),
        ("argmin", "On which date did I sleep the least?", "date", "2024-05-04"),
        ("sum", "How many calories did I burn from May 2 to May 4, 2024?", "number", 6_050),
        ("count", "On how many days did I log more than 10,000 steps?", "number", 3),
        ("count", "On how many days did I sleep at most 6.5 hours?", "number", 3),
        ("avg-after-event", "What was my average sleep in hours on the days after the day I moved into the new flat?",
         "number", sum(HOURS[4:]) / 4),
        ("compare", "Did I walk more steps per day on average before or after the day I moved into the new flat?",
         "choice", "before"),
        ("lookup", "How many steps did I walk on May 3, 2024?", "number", 9_500),
        ("lookup", "How long did I sleep on 5 May 2024?", "number", 7.5),
        ("latest", "How many calories did I burn on the last day I logged?", "number", 2_010),
        ("rank", "Which three dates had the most steps?", "dates", ["2024-05-02", "2024-05-06", "2024-05-04"]),
        ("rank", "List the 2 days with the most steps, from most to fewest.", "dates", ["2024-05-02", "2024-05-06"]),
        ("rank", "Which two dates had the fewest steps?", "dates", ["2024-05-05", "2024-05-07"]),
        ("sum", "How many steps did I walk in May 2024?", "number", sum(STEPS)),
        ("sum", "How many steps did I walk in all since I moved into the new flat?", "number", sum(STEPS[3:])),
        ("sum-partial", "What is the total distance in km over the days where I reported a distance?", "number", 32.0),
    ]  # fmt: skip
    write(folder / "histories.jsonl", history)
    write(folder / "questions.jsonl", [asked("ann", at, *each) for at, each in enumerate(questions, start=1)])


def shopper(folder: Path) -> None:
    """Four receipts of bea, each told the day after it is dated; a question that is put wrong on purpose."""
    fields = [
        {"user_id": "bea", "round": f"S{at}:1", "merchant": name, "date": f"2024-05-{at:02d}", "total": float(total)}
        for at, (name, total) in enumerate(BOUGHT, start=1)
    ]
    history = [
        turn("bea", at, f"merchant: {name}\ndate: 2024-05-{at:02d}\ntotal: RM {total}", f"2024-05-{at + 1:02d}")
        for at, (name, total) in enumerate(BOUGHT, start=1)
    ]
    questions = [
        ("sum", "How much have I spent in total according to my receipts?", "number", 161.15),
        ("sum-filter", "How much did I spend in total at OAK & PINE CAFE?", "number", 21.25),
        ("count-filter", "How many receipts from ZENITH MART on May 4 are over RM 9?", "number", 1),
        ("count-filter", "How many receipts do I have from Oak&Pine Cafe?", "number", 2),
        ("max", "What is the largest total on any of my receipts?", "number", 99.9),
        ("argmax", "What date is printed on my most expensive receipt?", "date", "2024-05-04"),
        ("avg", "What is the average total of my receipts?", "number", 1.0),
    ]
    write(folder / "histories.jsonl", history)
    write(folder / "fields.jsonl", fields)
    write(folder / "questions.jsonl", [asked("bea", at, *each) for at, each in enumerate(questions, start=1)])


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> AnswersFigures:
    data = tmp_path_factory.mktemp("data")
    wearer(data / "wearables")
    shopper(data / "receipts")
    return measure_answers(data, settings(), store=None, fields=False, tell=lambda _: None)


def test_every_operation_is_answered_from_the_tables(found: AnswersFigures) -> None:
    assert [wrong for wrong in found.wrong if wrong.question_id != "bea-q7"] == []
    assert found.answers == Share(24, 25)
    assert found.operations["wearables: count"] == Share(2, 2)
    assert found.operations["receipts: sum-filter"] == Share(1, 1)


def test_a_wrong_answer_is_told_with_what_was_found(found: AnswersFigures) -> None:
    (wrong,) = found.wrong
    assert (wrong.operation, wrong.expected, wrong.found) == ("avg", 1.0, pytest.approx(40.2875))
    assert found.operations["receipts: avg"] == Share(0, 1)


def test_a_merchant_is_matched_by_likeness_where_it_is_written_otherwise(found: AnswersFigures) -> None:
    assert found.inexact == ("bea-q4",)


def test_one_table_holds_all_that_a_user_recorded(found: AnswersFigures) -> None:
    assert [(user.user_id, user.rounds, user.faults) for user in found.users] == [
        ("ann", Share(8, 8), ()),
        ("bea", Share(4, 4), ()),
    ]
    assert all(user.table for user in found.users)


def test_a_value_that_the_table_does_not_hold_is_told(tmp_path: Path) -> None:
    shopper(tmp_path / "receipts")
    path = tmp_path / "receipts" / "fields.jsonl"
    path.write_text(path.read_text().replace("40.0", "41.0"))
    found = measure_answers(tmp_path, settings(), store=None, fields=False, tell=lambda _: None)
    (user,) = found.users
    assert user.rounds == Share(3, 4)
    assert [(fault.round_id, fault.field, fault.expected, fault.found) for fault in user.faults] == [
        ("S2:1", "total", "41.0", "40.0")
    ]


def test_fields_stand_in_for_pictures(tmp_path: Path) -> None:
    shopper(tmp_path / "receipts")
    before = (tmp_path / "receipts" / "histories.jsonl").read_text()
    pictures = [json.loads(line) for line in before.splitlines()]
    for session in pictures:
        session["messages"][0]["content"] = [
            {"type": "text", "text": "A receipt."},
            {"type": "image_url", "image_url": {"url": "images/none.jpg"}},
        ]
    write(tmp_path / "receipts" / "histories.jsonl", pictures)
    (first, *_) = told_in_words(tmp_path / "receipts")
    assert first["messages"][0]["content"] == "merchant: OAK & PINE CAFE\ndate: 2024-05-01\ntotal: RM 12.50"
    assert first["messages"][1] == pictures[0]["messages"][1]
    found = measure_answers(tmp_path, settings(), store=None, fields=True, tell=lambda _: None)
    assert found.answers == Share(6, 7)
    assert found.users[0].rounds == Share(4, 4)


def test_a_folder_without_data_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="holds neither"):
        measure_answers(tmp_path, settings(), store=None, fields=False, tell=lambda _: None)


@pytest.mark.parametrize(
    ("text", "days"),
    [
        ("from April 21 to April 26, 2016", ["2016-04-21", "2016-04-26"]),
        ("between Dec. 30, 2023 and Jan 2nd, 2024", ["2023-12-30", "2024-01-02"]),
        ("on the 3rd of May", ["2024-05-03"]),
        ("since 2016-04-09", ["2016-04-09"]),
        ("I may march 10 times", ["2024-03-10"]),
        ("over all days", []),
        ("from April 21 to 26, 2016", ["2016-04-21", "2016-04-26"]),
        ("21-26 April 2016", ["2016-04-21", "2016-04-26"]),
    ],
)
def test_dates_of_a_text(text: str, days: list[str]) -> None:
    assert [day.isoformat() for day in dates_in(text, date(2024, 6, 1))] == days


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("Slept 7 h 30 min last night. Walked 6,093 steps and burned 1,397 kcal.", (7.5, 6093, 1397, None)),
        ("Daily log: sleep 5h03m, steps 15506, calories 2035, distance 9.88 km.", (5.05, 15506, 2035, 9.88)),
        ("Sleep: 6.4 hours; Steps: 10,735; Calories: 1797; Distance: 6.97 km", (6.4, 10735, 1797, 6.97)),
        ("It rained all afternoon.", (None, None, None, None)),
    ],
)
def test_what_a_text_logs(text: str, told: tuple[float | None, ...]) -> None:
    wanted = dict(zip(("sleep", "steps", "calories", "distance"), told, strict=True))
    assert told_of_day(text) == {what: value for what, value in wanted.items() if value is not None}


def test_names_are_matched_without_what_a_reader_loses() -> None:
    assert alike("B & BEST RESTAURANT", "b&best restaurant")
    assert alike("GARDENIA BAKERIES (KL) SDN BHD", "GARDEN1A BAKERlES (KL) SDN BHD")
    assert not alike("RIVER BOOKS", "ZENITH MART")
    assert stems("The day I moved into flats") == {"mov", "into", "flat"}
    assert pick([("total_sleep", "duration"), ("sleep", "text"), ("steps", "number")], "sleep") == "total_sleep"
    assert pick([("steps", "money")], "steps") is None


@pytest.mark.parametrize(
    ("found", "answer", "right"),
    [
        (5.01, {"type": "number", "value": 5, "tolerance": 0.01}, True),
        (5.02, {"type": "number", "value": 5, "tolerance": 0.01}, False),
        (None, {"type": "number", "value": 0, "tolerance": 0}, False),
        ("no records", {"type": "number", "value": 0, "tolerance": 0}, False),
        (date(2024, 5, 1), {"type": "date", "value": "2024-05-01"}, True),
        ([date(2024, 5, 1)], {"type": "dates", "value": ["2024-05-02"]}, False),
        ("after", {"type": "choice", "value": "after", "options": ["before", "after"]}, True),
    ],
)
def test_what_is_right(found: Any, answer: dict[str, Any], right: bool) -> None:
    assert is_right(found, answer) is right


@pytest.mark.skipif(not SHARED.is_dir(), reason="../shared/data is not here")
def test_shared_receipts_told_in_words(tmp_path: Path, linked: Callable[[Path, str], Path]) -> None:
    found = measure_answers(linked(tmp_path, "receipts"), settings(), store=None, fields=True, tell=lambda _: None)
    assert found.wrong == ()
    assert [user.user_id for user in found.users if user.table is None] == []
    # Text rules take no name that reads like the end of a sentence ("SDN. BHD.") or like another pair ("OLEH : DOVE").
    faults = [fault for user in found.users for fault in user.faults]
    assert [fault for fault in faults if fault.field != "merchant" or not {". ", " : "} & _marks(fault.expected)] == []


def _marks(name: str) -> set[str]:
    return {mark for mark in (". ", " : ") if mark in name}


@pytest.fixture
def linked() -> Callable[[Path, str], Path]:
    def link(folder: Path, name: str) -> Path:
        (folder / name).symlink_to(SHARED / name, target_is_directory=True)
        return folder

    return link
