"""The benchmark of records: one table for all that a user recorded, faults told one by one."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from configs.settings import Settings, load_settings
from jobs.bench.extract import Share
from jobs.bench.records import RecordsFigures, measure_records, pick, told_of_day
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


def write(path: Path, rows: list[dict[str, Any]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def wearer(folder: Path) -> None:
    """Eight days of ann, and an event on the fourth."""
    history = []
    for at, (hours, steps, kcal) in enumerate(zip(HOURS, STEPS, KCAL, strict=True)):
        km = "" if at < WITHOUT_KM else f" Distance {steps / 1000} km."
        text = f"Slept {hours} h. Walked {steps:,} steps and burned {kcal:,} kcal.{km}"
        history.append(turn("ann", at + 1, text, f"2024-05-{at + 1:02d}"))
    history.append(turn("ann", 9, "I moved into the new flat today.", "2024-05-04"))
    write(folder / "histories.jsonl", history)
    write(folder / "questions.jsonl", [])


def shopper(folder: Path) -> None:
    """Four receipts of bea, each told the day after it is dated."""
    fields = [
        {"user_id": "bea", "round": f"S{at}:1", "merchant": name, "date": f"2024-05-{at:02d}", "total": float(total)}
        for at, (name, total) in enumerate(BOUGHT, start=1)
    ]
    history = [
        turn("bea", at, f"merchant: {name}\ndate: 2024-05-{at:02d}\ntotal: RM {total}", f"2024-05-{at + 1:02d}")
        for at, (name, total) in enumerate(BOUGHT, start=1)
    ]
    write(folder / "histories.jsonl", history)
    write(folder / "fields.jsonl", fields)


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> RecordsFigures:
    data = tmp_path_factory.mktemp("data")
    wearer(data / "wearables")
    shopper(data / "receipts")
    return measure_records(data, settings(), store=None, fields=False, tell=lambda _: None)


def test_one_table_holds_all_that_a_user_recorded(found: RecordsFigures) -> None:
    assert [(user.user_id, user.rounds, user.faults) for user in found.users] == [
        ("ann", Share(8, 8), ()),
        ("bea", Share(4, 4), ()),
    ]
    assert all(user.table for user in found.users)
    assert found.rounds == {"wearables": Share(8, 8), "receipts": Share(4, 4)}


def test_a_value_that_the_table_does_not_hold_is_told(tmp_path: Path) -> None:
    shopper(tmp_path / "receipts")
    path = tmp_path / "receipts" / "fields.jsonl"
    path.write_text(path.read_text().replace("40.0", "41.0"))
    found = measure_records(tmp_path, settings(), store=None, fields=False, tell=lambda _: None)
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
    found = measure_records(tmp_path, settings(), store=None, fields=True, tell=lambda _: None)
    assert found.users[0].rounds == Share(4, 4)


def test_a_folder_without_data_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="holds neither"):
        measure_records(tmp_path, settings(), store=None, fields=False, tell=lambda _: None)


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


def test_a_column_is_picked_by_name_and_kind() -> None:
    assert pick([("total_sleep", "duration"), ("sleep", "text"), ("steps", "number")], "sleep") == "total_sleep"
    assert pick([("steps", "money")], "steps") is None


@pytest.mark.skipif(not SHARED.is_dir(), reason="../shared/data is not here")
def test_shared_receipts_told_in_words(tmp_path: Path, linked: Callable[[Path, str], Path]) -> None:
    found = measure_records(linked(tmp_path, "receipts"), settings(), store=None, fields=True, tell=lambda _: None)
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
