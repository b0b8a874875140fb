"""The words of a question that say what is to be reckoned, and in which form it is to be told."""

from __future__ import annotations

import re
from dataclasses import dataclass

from operators.ask.rules import patterns
from operators.ask.rules.reading import Reading


@dataclass(frozen=True)
class Asked:
    """What the words of a question ask for."""

    n: int | None
    counted: str | None
    counts: bool
    how_often: bool
    average: bool
    median: bool
    spread: bool
    trend: bool
    total: bool
    how_much: bool
    many: bool
    present: bool
    habit: bool
    superlative: bool
    largest: bool
    ranked: bool
    when: bool
    which_day: bool
    strong_average: bool
    one: bool
    what_bought: bool
    nth: int | None
    many_are: bool
    in_a_day: bool
    latest: bool
    earliest: bool
    group: str | None
    group_picked: bool
    which_of: str | None
    share: bool
    lower: bool
    than: bool
    or_: bool
    compares: bool
    how_much_more: bool
    changed: bool
    rises: bool
    changed_by: bool
    yes_no: bool
    money: bool
    receipts: bool
    records: bool
    items: bool
    logged: bool
    listed: bool
    units: tuple[str, ...]

    @property
    def reckons(self) -> bool:
        """Whether anything is to be reckoned."""
        return any(
            (
                self.average,
                self.median,
                self.spread,
                self.trend,
                self.total,
                self.superlative,
                self.how_much,
                self.group,
                self.share,
            )
        )

    @property
    def any(self) -> bool:
        """Whether anything is asked of records."""
        return any(
            (
                self.reckons,
                self.counts,
                self.how_often,
                self.latest,
                self.earliest,
                self.which_of,
                self.changed,
                self.changed_by,
                self.ranked,
                self.logged,
            )
        )


def is_about_talk(text: str) -> bool:
    """Whether a question is about what was said, by whom or why: nothing of a table."""
    return patterns.TALK.search(text) is not None


def is_about_money(text: str) -> bool:
    """Whether a question (in lower case) is about what was bought or paid."""
    return patterns.MONEY.search(text) is not None or patterns.RECEIPTS.search(text) is not None


def bare(text: str) -> str:
    """What is left of a question without the words that every question has."""
    return " ".join(re.sub(r"[^\w\s]", " ", patterns.FILLERS.sub(" ", text)).split())


def read(reading: Reading) -> Asked:
    """What the words of a question, but for what is taken already, ask for."""
    left = reading.left
    units = tuple(
        word
        for found in patterns.UNITS.finditer(left)
        if (word := found["a"] or found["b"] or found["c"]) and word not in patterns.NOT_IN
    )
    in_a_day = patterns.IN_A_DAY.search(left) is not None
    without = patterns.IN_A_DAY.sub(lambda found: " " * len(found[0]), left)
    first_to = patterns.FIRST_TO.search(without)
    ends = patterns.SUPER.search(patterns.NOT_ENDS.sub(lambda found: " " * len(found[0]), without))
    pick, group = patterns.PICK.search(without), patterns.GROUP.search(without)
    many, many_of = patterns.HOW_MANY.search(without), patterns.HOW_MANY_OF.search(without)
    bare_count = patterns.BARE_COUNT.search(without)
    thing = many["thing"] if many else bare_count["thing"] if bare_count else None
    which_of = patterns.WHICH_OF.search(without)
    picked = (pick["unit"] or pick["unit2"] or pick["unit3"]) if pick and ends else None
    high = patterns.HOW_HIGH.search(without) if ends is None else None
    explicit = patterns.EXPLICIT_WHEN.search(without) is not None
    asks_when = explicit or (patterns.WHEN.search(without) is not None and patterns.VALUE.search(without) is None)
    when = asks_when and not (picked or (many and not ends))
    earliest = patterns.EARLIEST.search(patterns.FIRST_TO.sub(" ", without)) is not None
    return Asked(
        n=_number(without),
        counted=_counted(thing),
        counts=many is not None or bare_count is not None,
        how_often=patterns.HOW_OFTEN.search(without) is not None,
        average=patterns.AVERAGE.search(without) is not None,
        median=patterns.MEDIAN.search(without) is not None,
        spread=patterns.SPREAD.search(without) is not None,
        trend=patterns.TREND.search(without) is not None,
        total=patterns.TOTAL.search(without) is not None,
        many=re.search(r"\bhow many\b|\bnumber of\b|\bcount\b", without) is not None,
        how_much=patterns.HOW_MUCH.search(without) is not None or many_of is not None,
        present=patterns.PRESENT.search(without) is not None,
        habit=patterns.HABIT.search(without) is not None,
        superlative=ends is not None or high is not None,
        largest=(ends is None or ends["high"] is not None)
        and (high is None or bool(high["high"] or high["most"]))
        and (ends is not None or patterns.ASCENDING.search(without) is None),
        ranked=patterns.RANKED.search(without) is not None
        or first_to is not None
        or patterns.MEDALS.search(without) is not None,
        when=when,
        nth=patterns.PLACES[nth["nth"]]
        if (nth := patterns.NTH.search(without)) is not None
        and patterns.MEDALS.search(without) is None
        and patterns.RANKED.search(without) is None
        else None,
        what_bought=patterns.WHAT_BOUGHT.search(without) is not None,
        one=patterns.ONE.search(without) is not None,
        which_day=patterns.WHICH_DAY.search(without) is not None,
        strong_average=patterns.STRONG_AVERAGE.search(without) is not None,
        many_are=patterns.MANY_ARE.search(without) is not None,
        in_a_day=in_a_day or when,
        latest=patterns.LATEST.search(without) is not None,
        earliest=earliest and first_to is None and patterns.RANKED.search(without) is None,
        group=picked or _grouping(group),
        group_picked=picked is not None,
        which_of=which_of["thing"] if which_of else None,
        share=patterns.SHARE.search(without) is not None,
        lower=patterns.LOWER.search(without) is not None
        and (patterns.MORE.search(without) is None or _before(without, patterns.LOWER, patterns.MORE)),
        than=patterns.THAN.search(without) is not None,
        or_=patterns.OR.search(without) is not None,
        compares=patterns.COMPARES.search(left) is not None,
        how_much_more=patterns.MUCH_MORE.search(without) is not None,
        changed=patterns.CHANGED.search(without) is not None,
        rises=patterns.LOWER.search(without) is None and re.search(r"\bdown\b|\bworse\b|\bfall|\bfell\b", without) is None,
        changed_by=patterns.CHANGED_BY.search(without) is not None,
        yes_no=patterns.YES_NO.search(without) is not None,
        money=patterns.MONEY.search(without) is not None,
        receipts=patterns.RECEIPTS.search(without) is not None,
        records=patterns.RECORDS.search(without) is not None,
        items=re.search(r"\b(?:items?|products?|articles?|line items?)\b", without) is not None,
        logged=patterns.LOGGED.search(without) is not None,
        listed=patterns.LISTED.search(without) is not None,
        units=units,
    )


def _before(text: str, one: re.Pattern[str], other: re.Pattern[str]) -> bool:
    first, second = one.search(text), other.search(text)
    return first is not None and (second is None or first.start() < second.start())


def _counted(thing: str | None) -> str | None:
    if thing is None:
        return None
    if re.match(r"days?|dates?|mornings?|evenings?", thing):
        return "days"
    if re.match(r"nights?", thing):
        return "nights"
    return thing if thing.endswith("s") else thing + "s"


def _number(text: str) -> int | None:
    if patterns.MEDALS.search(text):
        return 3
    found = patterns.N.search(text)
    if found is None:
        return None
    word = next(each for each in found.groups() if each is not None)
    count = patterns.NUMBERS.get(word) or int(word)
    return count if 1 <= count <= 1000 else None


def _grouping(found: re.Match[str] | None) -> str | None:
    if found is None:
        return None
    if found["ly"]:
        return patterns.LY[found["ly"]] if found["ly"] != "daily" else None
    if found["unit"]:
        return found["unit"] if found["unit"] != "day" else None
    return None
