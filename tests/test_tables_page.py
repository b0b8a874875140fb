"""The page on tables is true: its conditions are understood, and its numbers are the settings'."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from configs.settings import Settings
from operators.memory import read_value
from operators.tables.columns import Column, TableMeta
from operators.tables.where import parse_where

PAGE = (Path(__file__).resolve().parents[1] / "TABLES.md").read_text(encoding="utf-8")
ROWS = re.findall(r"^\| (?!condition|---)[^|]+ \| (`.*`) \|$", PAGE, re.MULTILINE)
CONDITIONS = [condition for row in ROWS for condition in re.findall(r"`([^`]+)`", row)]
META = TableMeta(
    "all",
    "",
    (
        Column("steps", "number", "steps"),
        Column("sleep", "duration", "s"),
        Column("total", "money"),
        Column("merchant", "text"),
        Column("distance", "number", "m"),
    ),
    0,
    {},
)


@pytest.mark.parametrize("condition", [*CONDITIONS, "total.unit = EUR"])
def test_a_condition_is_understood(condition: str) -> None:
    assert parse_where(condition, META, read_value).to_expr() is not None


def test_the_numbers_are_the_settings() -> None:
    induce = Settings().induce
    told = (induce.support, induce.all_confidence, induce.ext_confidence)
    assert tuple(float(number) for number in re.findall(r"`(?:support|\w+_confidence)` \(([\d.]+)\)", PAGE)) == told
    assert f"cosine of {induce.alike_at}" in PAGE
    assert len(CONDITIONS) >= 10
