from __future__ import annotations

from datetime import date
from itertools import pairwise

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from operators.extract.finding import Finding
from operators.extract.text import observe_text
from operators.extract.values import Style

SAID = date(2024, 5, 8)  # a Wednesday
Told = tuple[str, str, object]


def meaning(finding: Finding) -> object:
    parsed = finding.parsed
    return parsed.text if parsed.number is None else round(parsed.number, 3)


def told(text: str, said: date | None = SAID) -> list[Told]:
    """Attribute in lower case, value as written, and its meaning: the number in its base unit, or the text."""
    found = observe_text(text, Style(said=said))
    return [(each.attribute.casefold(), text[each.start : each.end], meaning(each)) for each in found]


def records(text: str) -> list[dict[str, object]]:
    found: dict[int, dict[str, object]] = {}
    for each in observe_text(text, Style(said=SAID)):
        found.setdefault(each.record, {})[each.attribute.casefold()] = meaning(each)
    return list(found.values())


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # sentences
        (
            "Slept 7 h, 8,000 steps, 2,000 kcal",
            [("sleep", "7 h", 25200), ("steps", "8,000 steps", 8000), ("calories", "2,000 kcal", 2000)],
        ),
        ("Slept 6 h 12 min", [("sleep", "6 h 12 min", 22320)]),
        ("I have slept 7 hours.", [("sleep", "7 hours", 25200)]),
        ("I slept seven and a half hours", [("sleep", "seven and a half hours", 27000)]),
        ("BP 128/84", [("bp systolic", "128", 128), ("bp diastolic", "84", 84)]),
        ("paid $3.45 at Blue Bottle", [("paid", "$3.45", 3.45), ("merchant", "Blue Bottle", "blue bottle")]),
        ("Paid \u20ac1.234,56 today", [("paid", "\u20ac1.234,56", 1234.56)]),
        ("my step count was 8,412 and I covered 5.2 km", [("step count", "8,412", 8412), ("distance", "5.2 km", 5200)]),
        ("My weight is 72.4 kg.", [("weight", "72.4 kg", 72.4)]),
        ("I weigh 160 lb", [("weight", "160 lb", 72.575)]),
        ("my screen time was 3 h 20 min", [("screen time", "3 h 20 min", 12000)]),
        ("I didn't walk 5 km but I cycled 12 km", [("cycling distance", "12 km", 12000)]),
        ("humidity is 64 %", [("humidity", "64 %", 64)]),
        ("I woke up at 6:45", [("wake time", "6:45", "06:45")]),
        # key and value
        ("weight: 72.4 kg", [("weight", "72.4 kg", 72.4)]),
        ("weight = 72.4 kg", [("weight", "72.4 kg", 72.4)]),
        ("weight: 72.4 kg (after breakfast)", [("weight", "72.4 kg", 72.4)]),
        ("**Weight:** 72.4 kg", [("weight", "72.4 kg", 72.4)]),
        ("Weight (lbs) = 160", [("weight", "160", 72.575)]),
        ("body fat: 18,5 %", [("body fat", "18,5 %", 18.5)]),
        ("mood: 7/10", [("mood", "7/10", 7)]),
        ("bedtime: 11:15 pm", [("bedtime", "11:15 pm", "23:15")]),
        ("Total: 1.234,56 \u20ac", [("total", "1.234,56 \u20ac", 1234.56)]),
        ("steps: 8,412 (goal: 10,000)", [("steps", "8,412", 8412)]),
        ("sleep 7h, steps 8,412, fat 18%", [("sleep", "7h", 25200), ("steps", "8,412", 8412), ("fat", "18%", 18)]),
        ("weight: \uff17\uff12.\uff14 kg", [("weight", "\uff17\uff12.\uff14 kg", 72.4)]),
        ("Name: Anna\nCity: Berlin", [("name", "Anna", "anna"), ("city", "Berlin", "berlin")]),
        # lists
        ("- sleep: 7 h\n- steps: 8412", [("sleep", "7 h", 25200), ("steps", "8412", 8412)]),
        ("1. sleep: 7 h\n2) steps = 8412", [("sleep", "7 h", 25200), ("steps", "8412", 8412)]),
        ("weight: n/a\nsteps: 8412\nsleep: --", [("steps", "8412", 8412)]),
        # the month is no wish
        ("On May 6, 2024 I slept 7 h", [("date", "May 6, 2024", "2024-05-06"), ("sleep", "7 h", 25200)]),
        ("On June 6, 2024 I slept 7 h", [("date", "June 6, 2024", "2024-06-06"), ("sleep", "7 h", 25200)]),
    ],
)  # fmt: skip
def test_what_is_told(text: str, expected: list[Told]) -> None:
    assert sorted(told(text)) == sorted(expected)


@pytest.mark.parametrize(
    "text",
    [
        "I did not run 5 km today", "I didn't sleep 8 hours", "I haven't slept 7 hours in weeks", "I never paid $5 for it",
        "My weight is not 72 kg", "I don't think I slept 8 hours", "I almost paid $50", "I refused to pay $40",
        "I want to sleep 8 hours", "I plan to run 10 km tomorrow", "Tomorrow I will run 5 km", "I need to lose 5 kg",
        "My goal is to walk 10,000 steps", "I hope to weigh 70 kg by June", "I was going to run 5 km but it rained",
        "Goals for next week:\n- sleep: 8 h\n- steps: 10000", "Remind me to walk 5 km", "I wish I had slept 8 hours",
        "Should I sleep 8 hours?", "Did I walk 5 km today?", "Is 128/84 normal?", "If I weighed 70 kg I'd be happy",
        "You should walk 10,000 steps", "The doctor recommends 8 hours of sleep", "My brother ran 5 km",
        "Water boils at 100 \u00b0C", "The recipe needs 200 g of flour", "Let's meet at 7:30", "Order #12345 arrived",
        "call 555-1234", "version 3.14 was released in 2023", "https://example.com/?weight=72", "mail weight=72@example.com",
        "`weight = 72`", "```\nweight: 70 kg\n```", "> weight: 70 kg", "URL: http://example.com:8080",
        "weight: n/a", "weight: --", "weight: ??", "sleep:", ": 7 h", "=", "| a | b |\n|---|---|", "hello", "", "   \n\n",
    ],
)  # fmt: skip
def test_what_is_denied_planned_asked_or_of_no_one_is_no_observation(text: str) -> None:
    assert told(text) == []


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("height: 5 ft 11 in", 1.524),
        ("My height is 5'11\"", 5),
        ("My phone number is 555 123 4567", 555123),
        ("steps: 1\u200b2", 1),
        ("weight: l2 kg", 2),
        ("sleep: 6ish hours", 6),
        ("sleep: 7-8 h", 7),
        ("sleep: 7-8 h", 8),
        ("build: 10.4.2", 10.4),
    ],
)
def test_a_value_is_not_read_by_half(text: str, wrong: float) -> None:
    assert wrong not in [each for _, _, each in told(text)]


def test_about_is_kept_as_a_doubt() -> None:
    for text in ("sleep: 6ish", "sleep: ~6", "weight: about 72 kg"):
        (found,) = observe_text(text, Style())
        assert found.parsed.doubt == "approximate"


@pytest.mark.parametrize(
    "text",
    [
        "I slept 6 h. Sorry, it was 7 h",
        "I slept 6 h last night. Correction: it was 7 h.",
        "I slept 6 h. No wait, it was 7 h.",
        "I slept 6 h. Oops, I meant 7 h.",
        "I slept 6 h - I mean 7 h",
        "sleep: 6 h\nsorry, I meant 7 h",
        "sleep: 6 h\nCorrection: sleep: 7 h",
    ],
)
def test_a_correction_takes_the_place_of_what_it_corrects(text: str) -> None:
    assert told(text) == [("sleep", "7 h", 25200)]


@pytest.mark.parametrize("text", ["sorry, it was 7 h", "Actually it was 7 h", "Oops, I meant 7 h"])
def test_a_correction_by_itself_names_nothing(text: str) -> None:
    (found,) = observe_text(text, Style())
    assert (found.attribute, text[found.start : found.end], found.corrects) == ("", "7 h", True)


def test_a_correction_corrected_is_still_one_that_names_nothing() -> None:
    text = "sorry, it was 6 h. Sorry, it was 7 h."
    (found,) = observe_text(text, Style())
    assert (found.attribute, text[found.start : found.end], found.corrects) == ("", "7 h", True)


def test_money_corrected() -> None:
    assert told("I paid $20. Correction: $25.") == [("paid", "$25", 25)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "Mon: slept 6 h\nTue: slept 7 h",
            [{"date": "2024-05-06", "sleep": 21600}, {"date": "2024-05-07", "sleep": 25200}],
        ),
        (
            "2024-05-06: weight 72 kg, steps 8,000\n2024-05-07: weight 71.8 kg, steps 9,000",
            [{"date": "2024-05-06", "weight": 72, "steps": 8000}, {"date": "2024-05-07", "weight": 71.8, "steps": 9000}],
        ),
        (
            "| day | sleep | steps |\n|---|---|---|\n| Mon | 6 h 12 min | 8,412 |\n| Tue | n/a | 9,100 |",
            [{"day": "mon", "sleep": 22320, "steps": 8412}, {"day": "tue", "steps": 9100}],
        ),
        (
            "| Date | Weight (kg) | Sleep (h) |\n|:---|---:|:-:|\n| 2024-05-06 | 72.4 | 7.5 |",
            [{"date": "2024-05-06", "weight": 72.4, "sleep": 27000}],
        ),
        ("| Metric | Value |\n|---|---|\n| Weight | 72.4 kg |\n| Steps | 8,412 |", [{"weight": 72.4, "steps": 8412}]),
        ("sleep: 7 h, steps: 9,000", [{"sleep": 25200, "steps": 9000}]),
        ("Yesterday I slept 7 h", [{"sleep": 25200, "date": "2024-05-07"}]),
        ("I ran 3 km on Monday. I ran 5 km on Tuesday.", [{"running distance": 3000}, {"running distance": 5000}]),
        (
            "Paid $3.45 at Blue Bottle. Paid $12 at Target.",
            [{"paid": 3.45, "merchant": "blue bottle"}, {"paid": 12, "merchant": "target"}],
        ),
        (
            "Paid $3.45 at Blue Bottle and $12 at Target",
            [{"paid": 3.45, "merchant": "blue bottle"}, {"paid": 12, "merchant": "target"}],
        ),
    ],
)
def test_records_of_one_message(text: str, expected: list[dict[str, object]]) -> None:
    assert [{name: each[name] for name in wanted} for each, wanted in zip(records(text), expected, strict=True)] == expected


def test_a_name_of_five_hundred_characters_does_no_harm() -> None:
    for name in ("a" * 500, "ab " * 166, "\u00e9" * 500):
        assert all(len(attribute) <= 500 for attribute, _, _ in told(f"{name}: 7 kg\nsteps: 8412"))
        assert ("steps", "8412", 8412) in told(f"{name}: 7 kg\nsteps: 8412")


@pytest.mark.timeout(30)
@pytest.mark.parametrize("mark", ["", "."])
def test_a_message_of_twenty_thousand_words(mark: str) -> None:
    words = ("we walked along the river and talked about old times" + mark + " ") * 2000
    assert told(words + "\nI slept 7 h") == [("sleep", "7 h", 25200)]


@pytest.mark.timeout(30)
@pytest.mark.parametrize("between", [" ", ", ", "\n", " kg "])
def test_ten_thousand_numbers(between: str) -> None:
    told(between.join(str(number % 977) for number in range(10_000)))


@pytest.mark.timeout(30)
@pytest.mark.parametrize("text", ["a" * 50_000, "1," * 25_000, "slept 7 h and " * 3_000])
def test_pasted_noise(text: str) -> None:
    told(text)


PHRASES = [
    "slept", "6 h 12 min", "weight:", "72.4 kg", "$3.45", "not", "sorry, it was", "7 h", "BP", "128/84", "|", "|---|---|",
    "\n",
    "- ", "Mon:", "2024-05-06", "yesterday", "my", "was", "=", "and", ", ", ". ", "?", "**", "`", "> ", "called", "6ish",
    "n/a",
]  # fmt: skip
TEXTS = st.lists(st.sampled_from(PHRASES) | st.text(max_size=4), max_size=25).map(" ".join)


@settings(max_examples=300, deadline=None)
@given(TEXTS, st.none() | st.dates() | st.just(date.min))
@example("weight: yesterday \n weight: slept", None)
def test_any_text(text: str, said: date | None) -> None:
    found = observe_text(text, Style(said=said))
    assert found == observe_text(text, Style(said=said))
    spans: dict[int, list[tuple[int, int]]] = {}
    for each in found:
        assert 0 <= each.start < each.end <= len(text)
        assert text[each.start : each.end].strip() == text[each.start : each.end]
        assert 0 < each.confidence <= 1
        assert each.attribute or each.corrects
        spans.setdefault(each.record, []).append((each.start, each.end))
    assert sorted(spans) == list(range(len(spans)))
    for places in map(sorted, spans.values()):
        assert all(end <= start for (_, end), (start, _) in pairwise(places))


@pytest.mark.parametrize(
    ("line", "value"),
    [("merchant: TRENDYMAX (M) SDN. BHD.", "TRENDYMAX (M) SDN. BHD"), ("place: St. Mary Cafe", "St. Mary Cafe")],
)
def test_a_full_stop_that_ends_no_sentence(line: str, value: str) -> None:
    text = f"{line}\ntotal: RM 12.50"
    found = [text[each.start : each.end] for each in observe_text(text, Style())]
    assert found == [value, "RM 12.50"]
    assert observe_text("note: I went there. It was nice.\nsteps: 900", Style())[0].attribute == "steps"
