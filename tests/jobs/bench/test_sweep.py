"""The sweep: induces every user anew under each setting, and chooses what is surest to find all and little else."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from configs.settings import Settings, load_settings
from jobs.backfill import BackfillRequest, backfill
from jobs.bench.sweep import (
    ALL_CONFIDENCES,
    EXT_CONFIDENCES,
    SUPPORTS,
    Setting,
    SweepFigures,
    best_of,
    holds,
    measure_sweep,
)
from operators.induce.induction import TableColumn, TableSchema
from operators.induce.schemas import Thresholds
from operators.memory import open_store
from operators.records import DEFAULT_TENANT

ROOT = Path(__file__).resolve().parents[3]


def settings() -> Settings:
    return load_settings(ROOT / "configs" / "test.yaml")


def filled(folder: Path, users: dict[str, list[str]]) -> str:
    """A store of what users say, each a round a day."""
    rows = [
        {"user_id": user, "session_id": f"S{at}", "messages": [{"role": "user", "content": text, "timestamp": day(at)}]}
        for user, texts in users.items()
        for at, text in enumerate(texts, start=1)
    ]
    folder.mkdir()
    source = folder / "histories.jsonl"
    source.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    backfill(BackfillRequest((str(source),), str(folder / "store"), DEFAULT_TENANT), settings(), lambda _: None)
    return str(folder / "store")


def day(at: int) -> str:
    return f"2024-05-{at:02d}T20:00:00"


@pytest.fixture(scope="module")
def stores(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    """Eight days of ann, the last four with a distance, and four receipts of bea; four rounds of talk of cy."""
    folder = tmp_path_factory.mktemp("data")
    logs = [f"Slept {5 + at / 4} h. Walked {at},100 steps and burned 2,0{at}0 kcal." for at in range(1, 9)]
    logs[4:] = [f"{text} Distance 5.{at} km." for at, text in enumerate(logs[4:])]
    receipts = [
        f"merchant: SHOP {name}\ndate: {day(at)[:10]}\ntotal: RM {at}2.50" for at, name in enumerate("ABCD", start=1)
    ]
    talk = [f"My budget: ${at}0. What a day." for at in range(1, 5)]
    return filled(folder / "records", {"ann": logs, "bea": receipts}), filled(folder / "talk", {"cy": talk})


@pytest.fixture(scope="module")
def found(stores: tuple[str, str]) -> SweepFigures:
    return measure_sweep(*stores, settings(), tell=lambda _: None)


def test_every_setting_is_tried(found: SweepFigures) -> None:
    pairs = sum(part <= whole for whole in ALL_CONFIDENCES for part in EXT_CONFIDENCES)
    assert len(found.grid) == len(SUPPORTS) * pairs
    assert (found.wearers, found.shoppers) == (1, 1)


def test_what_support_a_user_can_give_decides(found: SweepFigures) -> None:
    """Four receipts make a table up to a support of four; distance, told on four days of eight, joins up to half of them."""
    by = {setting.thresholds: setting for setting in found.grid}
    assert {s.shoppers for t, s in by.items() if t.support <= 4} == {1}
    assert {s.shoppers for t, s in by.items() if t.support == 5} == {0}
    assert {s.wearers for t, s in by.items() if t.ext_confidence <= 0.5 and t.support <= 4} == {1}
    assert {s.wearers for t, s in by.items() if t.ext_confidence > 0.5 and t.all_confidence > 0.5} == {0}


def test_tables_of_talk_are_noise(found: SweepFigures) -> None:
    by = {setting.thresholds: setting for setting in found.grid}
    assert by[Thresholds(4, 0.5, 0.5)].talk == ("default/cy: budget",)
    assert by[Thresholds(5, 0.5, 0.5)].noise == 0
    assert found.best.found == 2
    assert found.best.thresholds in found.plateau
    assert found.now.thresholds == settings().induce.values().thresholds


@pytest.mark.usefixtures("found")
def test_nothing_is_written(stores: tuple[str, str]) -> None:
    assert open_store(stores[0]).versions() == [1]


def test_without_talks_there_is_no_noise(stores: tuple[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("jobs.bench.sweep.SUPPORTS", (3,))
    found = measure_sweep(stores[0], None, settings(), tell=lambda _: None)
    assert {setting.noise for setting in found.grid} == {None}
    assert found.best.thresholds.support == 3


def setting(support: int, whole: float, part: float, **changed: Any) -> Setting:
    made = Setting(Thresholds(support, whole, part), wearers=1, shoppers=1, tables=2.0, columns=6.0, talk=())
    return replace(made, **changed)


def test_the_best_is_in_the_middle_of_its_equals() -> None:
    equal = [setting(support, whole, 0.4) for support in (2, 3, 4) for whole in (0.5, 0.6, 0.7)]
    others = [setting(5, 0.9, 0.8, wearers=0), setting(5, 0.9, 0.7, talk=("a: b",))]
    best, plateau = best_of([*others, *equal])
    assert best.thresholds == Thresholds(3, 0.6, 0.4)
    assert len(plateau) == 9


def test_structure_goes_before_noise_and_noise_before_the_middle() -> None:
    noisy = setting(3, 0.5, 0.5, talk=("a: b", "c: d"))
    poor = setting(4, 0.5, 0.5, shoppers=0)
    assert best_of([noisy, poor])[0] == noisy
    assert best_of([noisy, setting(5, 0.9, 0.2)])[0].noise == 0


def test_what_is_spread_over_tables_is_not_found() -> None:
    def table(**columns: str) -> TableSchema:
        return TableSchema("t", tuple(TableColumn(name, kind, None, ()) for name, kind in columns.items()))

    apart = [table(sleep="duration"), table(steps="number")]
    assert not holds(apart, ("sleep", "steps"))
    assert holds([*apart, table(total_sleep="duration", steps="number")], ("sleep", "steps"))
