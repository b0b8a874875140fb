"""What people call the things that they record: the words that ask for a column though its name is another."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

_ENDING = re.compile(r"(?:ings?|ed|es|s|e)$")


def stem(word: str) -> str:
    """A word without its ending: ``walked``, ``walks`` and ``walking`` are one."""
    bare = word.casefold().removesuffix("'s").removesuffix("\u2019s")
    cut = _ENDING.sub("", bare) if len(bare) > 3 else bare
    if len(cut) < 2:
        return bare
    return cut[:-1] if len(cut) > 3 and cut[-1] == cut[-2] and cut[-1] not in "sl" else cut


def stems(text: str) -> list[str]:
    """The words of a text without their endings."""
    return [stem(word) for word in re.findall(r"[^\W_]+(?:['\u2019]s)?", text)]


@dataclass(frozen=True)
class Concept:
    """A thing that is recorded. ``names``: stems of columns that hold it. ``words``: what asks for it, and how surely
    (1: nothing else; .5: perhaps). ``adds``: whether its values add up over days. ``kinds``: of the columns that hold it."""

    key: str
    names: frozenset[str]
    words: Mapping[str, float]
    adds: bool
    kinds: frozenset[str]
    said: frozenset[str]
    """The words as they are written."""


_NUMBERS = "number duration money percent ratio"


def _concept(key: str, names: str, sure: str, perhaps: str = "", *, adds: bool, kinds: str = _NUMBERS) -> Concept:
    words = {stem(word): 0.5 for word in perhaps.split()} | {stem(word): 1.0 for word in sure.split()}
    said = frozenset(f"{names} {sure} {perhaps}".split())
    return Concept(key, frozenset(stem(name) for name in names.split()), words, adds, frozenset(kinds.split()), said)


CONCEPTS = (
    _concept(
        "sleep",
        "sleep asleep",
        "sleep slept sleeping asleep rest rested resting shuteye slumber kip kipped snooze snoozed snoozing doze dozed zzz"
        " zzzs pillow",
        "night nights bed bedtime nightly",
        adds=True,
    ),
    _concept(
        "steps",
        "step steps",
        "step steps stepped footstep footsteps pedometer strides paces",
        "walk walked walking stroll strolled foot feet active activity moved moving strolling",
        adds=True,
        kinds="number",
    ),
    _concept(
        "distance",
        "distance mileage",
        "distance far mileage km kms kilometre kilometres kilometer kilometers mile miles metres meters farther further"
        " farthest furthest",
        "walk walked cover covered travel travelled traveled run ran running cycle cycled ride rode swam hike hiked journey",
        adds=True,
        kinds="number",
    ),
    _concept(
        "calories",
        "calorie calories kcal",
        "calorie calories kcal kcals cal cals kilocalories",
        "energy burn burned burnt burning expend expended expenditure torch torched",
        adds=True,
        kinds="number",
    ),
    _concept(
        "money",
        "total amount paid spent cost price sum charge bill grand",
        "spend spent spending pay paid paying cost costs price priced expensive cheap pricey priciest dearest"
        " costly costliest money expense expenses bill bills outlay expenditure payment purchase"
        " purchases spree cash splurge splashed",
        "total amount receipt receipts invoice invoices shop shopping bought buy buying fork forked shell shelled cough"
        " parted transaction transactions cheapest biggest largest",
        adds=True,
        kinds="money number",
    ),
    _concept(
        "merchant",
        "merchant shop store vendor seller restaurant company supplier retailer",
        "merchant merchants shop shops store stores vendor vendors seller sellers retailer retailers restaurant restaurants"
        " establishment establishments outlet outlets supplier suppliers",
        "where place places business businesses company companies",
        adds=False,
        kinds="text",
    ),
    _concept(
        "item",
        "item product article goods",
        "item items product products article articles",
        "thing things bought buy",
        adds=False,
        kinds="text",
    ),
    _concept("tax", "tax gst vat sst", "tax taxes gst vat sst", adds=True, kinds="money number percent"),
    _concept("tip", "tip gratuity", "tip tips tipped gratuity", adds=True, kinds="money number"),
    _concept(
        "weight",
        "weight",
        "weigh weighed weighing weight heavy heavier heaviest lighter lightest scale scales",
        "kilos pounds lost gained",
        adds=False,
        kinds="number",
    ),
    _concept("bmi", "bmi", "bmi", adds=False),
    _concept("body fat", "fat", "fat", adds=False),
    _concept(
        "heart rate", "heart pulse hr bpm rhr", "pulse heart heartbeat bpm hr rhr heartrate", "beats beating", adds=False
    ),
    _concept("blood pressure", "pressure systolic diastolic bp", "pressure systolic diastolic bp", adds=False),
    _concept("glucose", "glucose sugar", "glucose sugar glycemia", adds=False),
    _concept("temperature", "temperature temp", "temperature temp fever", "hot cold warm", adds=False),
    _concept(
        "mood", "mood feeling", "mood moods", "feel feeling felt happy happiness", adds=False, kinds="text number ratio"
    ),
    _concept("stress", "stress", "stress stressed", adds=False, kinds="text number ratio percent"),
    _concept("pain", "pain", "pain hurt ache painful", adds=False, kinds="text number ratio"),
    _concept("water", "water fluid", "water drank drink drinking hydration hydrated fluid fluids", adds=True),
    _concept("coffee", "coffee caffeine", "coffee coffees espresso caffeine", adds=True),
    _concept("pages", "page", "page pages", "read reading", adds=True, kinds="number"),
    _concept("reading", "reading", "reading read", "book books", adds=True, kinds="duration"),
    _concept(
        "exercise",
        "workout exercise training duration",
        "workout workouts exercise exercised exercising training trained",
        "gym session sessions active long",
        adds=True,
        kinds="duration number",
    ),
    _concept("screen time", "screen", "screen phone scrolling", adds=True, kinds="duration number"),
    _concept("pace", "pace speed", "pace speed fast faster quick", adds=False),
    _concept("score", "score grade mark", "score scored scores grade grades marks", adds=False),
    _concept("mileage", "odometer", "odometer", adds=False, kinds="number"),
    _concept("fuel", "fuel petrol gas litres", "fuel petrol gasoline diesel refuel refuelled", adds=True),
)

ADDED_UNITS = frozenset({"s", "steps", "kcal", "m", "l", "kWh"})
"""Base units of what adds up over days, where no concept says so."""
