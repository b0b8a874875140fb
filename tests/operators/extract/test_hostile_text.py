# ruff: noqa: RUF001
"""What a fresh pair of eyes found: messages that look like facts and are none, and facts that look odd."""

from __future__ import annotations

import time
from datetime import date

import pytest

from operators.extract.text import observe_text
from operators.extract.values import Style

STYLE = Style(said=date(2024, 5, 8))


def told(text: str) -> list[tuple[str, str, float | None]]:
    found = observe_text(text, STYLE)
    return [(each.attribute, text[each.start : each.end], each.parsed.number) for each in found]


@pytest.mark.parametrize(
    "text",
    [
        "Tom paid $45.",
        "Nobody slept 8 hours",
        "My dog ran 3 km",
        "The thief spent $900 on my card",
        "the baby slept 4 hours",
        "I ran 5 km?",
        "I ran 5 km, right?",
        "I ran 5 km, didn't I?",
        "phone: 555-123-4567",
        "SSN: 123-45-6789",
        "ISBN: 978-3-16-148410-0",
        "Ratio: 16:9",
        "Size: 10 x 20 cm",
        "I paid between $20 and $30",
        "I paid $20 to $30",
        "Sleep: 6 or 7 h",
        "Hours: 9:00-17:00",
        "Weight: 2 kg more than last week",
        "Weight: 72 kg -> 70 kg",
        "Weight (goal): 65 kg",
        "Sleep (planned): 8 h",
        "You said my weight was 80 kg",
        "It is false that I ran 5 km",
        "I dreamt that I ran 100 km",
        'Translate to German: "I paid $30 at Aldi"',
        "Rewrite this sentence: I ran 5 km and slept 8 hours.",
        "To-do:\n- pay $200 rent\n- sleep 8 hours",
        "Goals for May:\n| Metric | Value |\n|---|---|\n| Weight | 65 kg |",
        "for i in range(10): x = 5",
        "ValueError: 3 is no port",
        "Netflix: $15.49/month",
    ],
)
def test_no_fact(text: str) -> None:
    assert told(text) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I paid $3 million for it", [("paid", "$3 million", 3e6)]),
        ("Population: 3 million", [("Population", "3 million", 3e6)]),
        ("Emma slept 9 hours and I slept 6 hours", [("sleep", "6 hours", 21600.0)]),
        ("Slept 6 h. Oops, it is 9 h until my flight.", [("sleep", "6 h", 21600.0)]),
        ("I weighed 160 lb 4 oz", [("weight", "160 lb 4 oz", 72.688177293)]),
        ("Schlaf: 6 Std 12 Min", [("Schlaf", "6 Std 12 Min", 22320.0)]),
        ("Вес: 72,4 кг", [("Вес", "72,4 кг", 72.4)]),
        ("**Weight:** 72.4 kg\n**Sleep**: 7 h", [("Weight", "72.4 kg", 72.4), ("Sleep", "7 h", 25200.0)]),
        ("⚖️ Weight: 72.4 kg", [("Weight", "72.4 kg", 72.4)]),
        ("Slept ~~6 h~~ 7 h", [("sleep", "7 h", 25200.0)]),
        ("slept 7 h 30 \n", [("sleep", "7 h 30", 27000.0)]),
        ("This morning I ran 5 km", [("running distance", "5 km", 5000.0)]),
        ("I only slept 5 hours", [("sleep", "5 hours", 18000.0)]),
        ("I slept 7 hours - is that ok?", [("sleep", "7 hours", 25200.0)]),
    ],
)
def test_a_fact(text: str, expected: list[tuple[str, str, float | None]]) -> None:
    assert told(text) == expected


def test_an_escaped_pipe_is_part_of_its_cell() -> None:
    assert told("| Name | Weight |\n|---|---|\n| Milk \\| oat | 2 kg |") == [
        ("Name", "Milk \\| oat", None),
        ("Weight", "2 kg", 2.0),
    ]


@pytest.mark.timeout(60)
@pytest.mark.parametrize(
    "text", ["a|b\n" + " " * 200_000 + "x", ("-" * 3000 + "\n") * 30, "$5 " * 30_000, "5'11\" " * 20_000]
)
def test_long_and_strange_lines_take_seconds_at_most(text: str) -> None:
    began = time.monotonic()
    observe_text(text, STYLE)
    assert time.monotonic() - began < 40
