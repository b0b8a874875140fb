"""Answers: every question about logged days and receipts reckoned anew from the induced tables, through the tools alone."""

from __future__ import annotations

import json
import math
import re
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from difflib import SequenceMatcher
from functools import cached_property
from pathlib import Path
from typing import Any

from configs.settings import Settings
from jobs.backfill import BackfillRequest, backfill
from jobs.bench.extract import Share
from operators.errors import ToolError, UsageError
from operators.memory import Memory, open_store
from operators.records import DEFAULT_TENANT, IMAGES, MESSAGES, ROUND, SESSION
from operators.tables.columns import TableMeta
from operators.tables.compute import Compared, Computed
from operators.tables.rows import when_told
from operators.tables.tools import Rows, read_call

WEARABLES, RECEIPTS = "wearables", "receipts"
LOGGED = ("sleep", "steps", "calories", "distance")
PRINTED = ("merchant", "date", "total")

Tell = Callable[[str], None]


@dataclass(frozen=True)
class Wrong:
    """A question whose answer the tables do not give; ``found`` is what they give, or why they give nothing."""

    question_id: str
    operation: str
    question: str
    expected: Any
    found: Any


@dataclass(frozen=True)
class Fault:
    """A value of a round that the table does not hold as it was told; ``row``: one missing or too many."""

    round_id: str
    field: str
    expected: str
    found: str


@dataclass(frozen=True)
class UserFigures:
    """Whether one table (``table``) holds all of what a user recorded, and in how many rounds all of it is right."""

    user_id: str
    kind: str
    table: str | None
    tables: int
    rounds: Share
    faults: tuple[Fault, ...]


@dataclass(frozen=True)
class AnswersFigures:
    """``operations``: by kind of data and operation. ``inexact``: questions whose merchant had to be matched by likeness."""

    operations: dict[str, Share]
    answers: Share
    wrong: tuple[Wrong, ...]
    users: tuple[UserFigures, ...]
    inexact: tuple[str, ...]


def measure_answers(data: Path, settings: Settings, *, store: str | None, fields: bool, tell: Tell) -> AnswersFigures:
    """Answer all questions below ``data`` and look at every user's tables.

    ``store``: one that holds the histories already; else they are backfilled. ``fields``: receipts tell what
    ``fields.jsonl`` says in words, and their pictures are not read.
    """
    folders = {name: data / name for name in (WEARABLES, RECEIPTS) if (data / name / "histories.jsonl").exists()}
    if not folders:
        raise UsageError(f"{data} holds neither {WEARABLES}/ nor {RECEIPTS}/ with a histories.jsonl")
    shares: dict[str, Share] = {}
    wrong: list[Wrong] = []
    users: list[UserFigures] = []
    inexact: list[str] = []
    with tempfile.TemporaryDirectory() as temp:
        for kind, memory in _memories(folders, settings, store, fields, Path(temp), tell).items():
            tell(f"{kind}: the questions")
            for question in lines(folders[kind] / "questions.jsonl"):
                asked = Asked(memory, question)
                found, right = asked.judged()
                name = f"{kind}: {question['operation']}"
                before = shares.get(name, Share(0, 0))
                shares[name] = Share(before.right + right, before.of + 1)
                if asked.inexact:
                    inexact.append(question["question_id"])
                if not right:
                    told = (question["question_id"], question["operation"], question["question"])
                    wrong.append(Wrong(*told, question["answer"]["value"], _plain(found)))
            tell(f"{kind}: the tables")
            users += _wearers(memory, folders[kind]) if kind == WEARABLES else _shoppers(memory, folders[kind])
    whole = Share(sum(each.right for each in shares.values()), sum(each.of for each in shares.values()))
    return AnswersFigures(shares, whole, tuple(wrong), tuple(users), tuple(inexact))


def lines(path: Path) -> list[dict[str, Any]]:
    """The records of a file of JSON lines; none where there is no file."""
    if not path.exists():
        return []
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]


def _plain(found: Any) -> Any:
    if isinstance(found, list):
        return [_plain(each) for each in found]
    return found.isoformat() if isinstance(found, date) else found


# --- the stores -----------------------------------------------------------------------------------------------------


def _memories(
    folders: Mapping[str, Path], settings: Settings, store: str | None, fields: bool, temp: Path, tell: Tell
) -> dict[str, Memory]:
    """A memory for each kind of data: of the store there is, of a new one for what that does not hold."""
    fresh = [kind for kind in folders if store is None or (fields and kind == RECEIPTS)]
    sources = [str(folders[kind] / "histories.jsonl") for kind in fresh if not (fields and kind == RECEIPTS)]
    if fields and RECEIPTS in folders:
        told = temp / "receipts.jsonl"
        told.write_text("".join(json.dumps(row) + "\n" for row in told_in_words(folders[RECEIPTS])), encoding="utf-8")
        sources.append(str(told))
    if sources:
        tell("backfill")
        backfill(BackfillRequest(tuple(sources), str(temp / "store"), DEFAULT_TENANT), settings, lambda _: None)
    uris = {kind: str(temp / "store") if kind in fresh else str(store) for kind in folders}
    return {kind: open_store(uri).memory(DEFAULT_TENANT) for kind, uri in uris.items()}


def told_in_words(folder: Path) -> Iterator[dict[str, Any]]:
    """The receipts' histories with each receipt's fields as text in place of its picture, everything else equal."""
    known = {(row["user_id"], row["round"]): row for row in lines(folder / "fields.jsonl")}
    for session in lines(folder / "histories.jsonl"):
        messages = []
        for message in session["messages"]:
            row = known.get((session["user_id"], message.get("round")))
            if row is not None and message["role"] == "user":
                text = f"merchant: {row['merchant']}\ndate: {row['date']}\ntotal: RM {float(row['total']):.2f}"
                message = {**message, "content": text}
            messages.append(message)
        yield {**session, "messages": messages}


# --- which column is meant ------------------------------------------------------------------------------------------

_NAMED: Mapping[str, re.Pattern[str]] = {
    "distance": re.compile(r"distance|\bkm\b|kilomet|\bmiles?\b|how far", re.IGNORECASE),
    "sleep": re.compile(r"sleep|slept", re.IGNORECASE),
    "calories": re.compile(r"calories|kcal|energy|\bburn", re.IGNORECASE),
    "steps": re.compile(r"steps?(?![a-z])|\bwalk", re.IGNORECASE),
    "merchant": re.compile(r"merchant|vendor|seller|\bshop\b|\bstore\b", re.IGNORECASE),
    "total": re.compile(r"total|spen[dt]|\bpa(?:y|id)|receipts?|expensive|cost|amount|purchase", re.IGNORECASE),
    "date": re.compile(r"date", re.IGNORECASE),
}
_KINDS: Mapping[str, tuple[str, ...]] = {
    "sleep": ("duration", "number"),
    "steps": ("number",),
    "calories": ("number",),
    "distance": ("number",),
    "merchant": ("text",),
    "total": ("money", "number"),
    "date": ("date",),
}
_ASKED = ("distance", "sleep", "calories", "steps", "total")
"""What a question may be about, what is named more plainly first: in "calories in total" it is calories."""


def pick(columns: Iterable[tuple[str, str]], what: str) -> str | None:
    """Which of the columns (name and kind) holds ``what``: the one called so, else the first that is named like it."""
    fitting = [name for name, kind in columns if kind in _KINDS[what]]
    return what if what in fitting else next((name for name in fitting if _NAMED[what].search(name)), None)


def columns_of(meta: TableMeta) -> list[tuple[str, str]]:
    """Name and kind of each column."""
    return [(column.name, column.kind) for column in meta.columns]


# --- what a question says -------------------------------------------------------------------------------------------

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH = rf"(?P<month>(?:{'|'.join(_MONTHS)})[a-z]*)\.?"
_NAME = rf"(?:{'|'.join(_MONTHS)})[a-z]*\.?"
_TO = r"\s*(?:-|\u2013|\bto\b|\bthrough\b|\buntil\b|\band\b)\s*"
_SPANS = (
    (re.compile(rf"\b({_NAME})\s+(\d{{1,2}}){_TO}(\d{{1,2}})\b(?!\s+{_NAME})", re.IGNORECASE), r"\1 \2 to \1 \3"),
    (re.compile(rf"\b(\d{{1,2}}){_TO}(\d{{1,2}})\s+({_NAME})", re.IGNORECASE), r"\1 \3 to \2 \3"),
)
"""Days that share one month, ``April 21 to 26`` and ``21-26 April``, and how they are written apart."""
_WHOLE_MONTH = re.compile(rf"\b(?:in|during)\s+{_MONTH}(?:\s+(?P<year>\d{{4}}))?\b(?!\s+\d)", re.IGNORECASE)
_DATE = re.compile(
    r"(?P<iso>\d{4}-\d{2}-\d{2})"
    rf"|\b{_MONTH}\s+(?P<day>\d{{1,2}})(?:st|nd|rd|th)?\b(?:,?\s+(?P<year>\d{{4}}))?"
    rf"|\b(?P<day2>\d{{1,2}})(?:st|nd|rd|th)?\s+(?:of\s+)?{_MONTH.replace('month', 'month2')}\b(?:,?\s+(?P<year2>\d{{4}}))?",
    re.IGNORECASE,
)


def dates_in(text: str, as_of: date | None) -> list[date]:
    """The days that a text names, in its order. One without a year is of the year named last, else of that of ``as_of``."""
    for pattern, apart in _SPANS:
        text = pattern.sub(apart, text)
    matches = list(_DATE.finditer(text))
    years = [match["year"] or match["year2"] or (match["iso"] or "")[:4] for match in matches]
    last = next((int(year) for year in reversed(years) if year), as_of.year if as_of else None)
    found = []
    for match, year in zip(matches, years, strict=True):
        if match["iso"]:
            found.append(date.fromisoformat(match["iso"]))
        elif year or last:
            month = 1 + _MONTHS.index((match["month"] or match["month2"])[:3].lower())
            found.append(date(int(year or last or 0), month, int(match["day"] or match["day2"])))
    return found


_BOUND = re.compile(
    r"\b(?P<op>more than|greater than|over|above|exceed\w*|at least|less than|fewer than|under|below|at most)\s+"
    r"(?P<value>(?:[A-Z]{2,3}\s?|[$€£]\s?)?(?:\d[\d,.]*\d|\d))(?:\s+(?P<unit>[a-z]+))?"
)
_SIDES = {"after": ">", "before": "<", "since": ">="}
_OPS = {"at least": ">=", "less than": "<", "fewer than": "<", "under": "<", "below": "<", "at most": "<="}
_EVENT = re.compile(
    r".*(?:\bthe day\b(?:\s+(?:that|when|of|on which))?|\b(?:after|before|since)\b)\s+(?P<phrase>.+?)[\s?.!]*$",
    re.IGNORECASE | re.DOTALL,
)
_MERCHANT = re.compile(
    r".*?\b(?:at|from)\s+(?P<name>(?![a-z]).+?)(?:\s+(?:in total|in all|altogether"
    rf"|(?:after|before|since|during|between|from|on|in)\s+(?:the day|I\b|\d|(?i:{_NAME})).*))?[\s?!]*$",
    re.DOTALL,
)
_UNIT = re.compile(r"\bin\s+(hours?|minutes?|km|kilomet(?:er|re)s|miles|met(?:er|re)s)\b", re.IGNORECASE)
_DEFAULT_UNITS = {"s": "h", "m": "km"}
_END = re.compile(
    r"\b(?:(?P<least>least|lowest|fewest|smallest|shortest|cheapest|minimum)"
    r"|most|highest|largest|biggest|greatest|longest|maximum)\b",
    re.IGNORECASE,
)
"""Which end is asked for: "from most to fewest" begins with the most."""
_NUMBERS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_COMMON = frozenset(
    ("the", "a", "an", "i", "my", "me", "we", "our", "to", "of", "in", "on", "at", "for", "with", "from", "and", "or")
) | frozenset(("was", "were", "is", "had", "have", "did", "do", "it", "that", "this", "when", "day"))


def stems(text: str) -> set[str]:
    """The words of a text that tell something, without their endings."""
    words = re.findall(r"[a-z0-9]+", text.casefold())
    return {re.sub(r"(?:ing|ed|es|s|e)$", "", word) if len(word) > 3 else word for word in words if word not in _COMMON}


def letters(name: str) -> str:
    """The name without case, space and punctuation, which are lost or put in where a picture is read."""
    return re.sub(r"[\W_]", "", name.casefold())


def alike(name: str, other: str) -> bool:
    """Whether two names are likely one, a few letters read wrongly apart."""
    first, second = letters(name), letters(other)
    return first == second or SequenceMatcher(None, first, second, autojunk=False).ratio() >= _ALIKE


_ALIKE = 0.85


def event_day(memory: Memory, user: str, phrase: str) -> date | None:
    """The day of the user's round that tells of an event: the one that shares the most, and the rarest, of its words."""
    rounds = memory.rounds(user).to_dicts()
    told = [stems(" ".join(message["text"] for message in row[MESSAGES] if message["role"] == "user")) for row in rounds]
    wanted = stems(phrase)
    weight = {word: math.log((1 + len(told)) / (1 + sum(word in words for words in told))) + 1e-6 for word in wanted}
    best, score = None, 0.0
    for row, words in zip(rounds, told, strict=True):
        shared = sum(weight[word] for word in wanted & words)
        if shared > score + 1e-9:
            best, score = row, shared
    return None if best is None else when_told(best)[1]


# --- one question ---------------------------------------------------------------------------------------------------


@dataclass
class Asked:
    """A question about one user's tables. Nothing but ``Memory.run`` is asked for values; ``memory`` tells events."""

    memory: Memory
    question: Mapping[str, Any]
    inexact: bool = field(default=False, init=False)

    def judged(self) -> tuple[Any, bool]:
        """What the tables answer, and whether it is right; the reason in words where they do not answer."""
        try:
            found = self._answer()
        except ToolError as error:
            return f"{type(error).__name__}: {error}", False
        return found, is_right(found, self.question["answer"])

    @property
    def _text(self) -> str:
        return str(self.question["question"])

    @cached_property
    def _what(self) -> str:
        before = re.split(r"\b(?:after|before|since)\b(?!\s+(?:or|and)\b)", self._text)[0]
        for text in (before, self._text):
            what = next((what for what in _ASKED if _NAMED[what].search(text)), None)
            if what is not None:
                return what
        raise ToolError("the question names nothing that is known")

    @cached_property
    def _place(self) -> tuple[TableMeta, str]:
        """The table and the column that the question is about: of several the one called so, then the longest."""
        found = []
        for meta in self.memory.tables(self.question["user_id"]):
            column = pick(columns_of(meta), self._what)
            if column is not None:
                found.append((column != self._what, -meta.rows, meta.name, meta, column))
        if not found:
            raise ToolError(f"no table holds {self._what}")
        return min(found, key=lambda each: each[:3])[3:]

    @property
    def _unit(self) -> str | None:
        meta, name = self._place
        column = next(each for each in meta.columns if each.name == name)
        told = _UNIT.search(self._text)
        if column.kind not in ("duration", "number") or column.unit is None:
            return None
        return told[1] if told else _DEFAULT_UNITS.get(column.unit)

    def _run(self, **call: Any) -> Rows | Computed | Compared:
        return self.memory.run(self.question["user_id"], read_call({"table": self._place[0].name, **call}))

    def _answer(self) -> Any:
        operation = str(self.question["operation"])
        if operation in ("argmax", "argmin", "rank"):
            return self._ranked(operation)
        if operation == "compare":
            return self._compared()
        if operation == "lookup":
            return self._looked_up()
        name = {"latest": "last", "earliest": "first", "average": "avg"}.get(operation, operation.split("-")[0])
        if name == "count":
            return self._counted()
        return self._computed(name, self._conditions())

    def _computed(self, operation: str, where: Sequence[str], column: str | None = None) -> Any:
        call = {"operation": operation, "column": column or self._place[1], "where": list(where), "unit": self._unit}
        found = self._run(tool="compute", **call)
        assert isinstance(found, Computed)
        return found.value

    def _counted(self) -> Any:
        """How many days: distinct ones; how many of anything else: records."""
        days = re.search(r"\bdays?\b", self._text, re.IGNORECASE) is not None
        call = {"operation": "distinct", "column": "day"} if days else {"operation": "count"}
        found = self._run(tool="compute", where=self._conditions(), **call)
        assert isinstance(found, Computed)
        return found.value

    def _looked_up(self) -> Any:
        """The value of the day that is named, in the unit asked for: looked up, and reckoned where there is a unit."""
        where = self._conditions()
        if self._unit is not None:
            return self._computed("last", where)
        found = self._run(tool="lookup", columns=[self._place[1]], where=where)
        assert isinstance(found, Rows)
        return found.rows[self._place[1]].to_list()[-1] if found.total else "no records"

    def _ranked(self, operation: str) -> Any:
        wanted = self.question["answer"]
        told = re.search(r"\b(" + "|".join([r"\d{1,2}", *_NUMBERS]) + r")\s+(?:dates|days)", self._text, re.IGNORECASE)
        word = told[1].lower() if told else "one"
        n = int(word) if word.isdigit() else 1 + _NUMBERS.index(word)
        end = _END.search(self._text)
        least = operation == "argmin" or (end is not None and end["least"] is not None)
        found = self._run(tool="rank", column=self._place[1], n=n, descending=not least, where=self._conditions())
        assert isinstance(found, Rows)
        days = found.rows["day"].to_list()
        return days if wanted["type"] == "dates" else days[0] if days else "no records"

    def _compared(self) -> Any:
        """The side of the event with more (or less), ``before`` or ``after``: the day itself is on neither."""
        day = self._event()
        operation = "avg" if re.search(r"average|per day|a day", self._text, re.IGNORECASE) else "sum"
        sides = {"first": [f"day < {day}"], "second": [f"day > {day}"]}
        found = self._run(tool="compute", operation=operation, column=self._place[1], compare=sides)
        assert isinstance(found, Compared)
        if found.difference is None:
            return "no records on one side"
        less = re.search(r"\b(?:less|fewer)\b", self._text, re.IGNORECASE) is not None
        return "after" if (found.difference > 0) != less else "before"

    # --- conditions ---

    def _conditions(self) -> list[str]:
        """All that the question says of the records that are meant: bounds, days, a merchant, a side of an event."""
        told = self.question.get("as_of")
        as_of = date.fromisoformat(told[:10]) if told else None
        found = self._bounds()
        days, month = dates_in(self._text, as_of), _WHOLE_MONTH.search(self._text)
        side = re.search(r"\b(after|before|since)\b", self._text, re.IGNORECASE)
        if days:
            found.append(f"day between {min(days)} and {max(days)}" if len(days) > 1 else f"day = {days[0]}")
        elif month and (year := month["year"] or (as_of and as_of.year)):
            found.append(f"day = {year}-{1 + _MONTHS.index(month['month'][:3].lower()):02d}")
        elif side:
            found.append(f"day {_SIDES[side[1].lower()]} {self._event()}")
        name = _MERCHANT.match(self._text) if self._what == "total" else None
        if name is not None and not _DATE.match(name["name"]):
            found.append(self._of_merchant(name["name"]))
        return found

    def _bounds(self) -> list[str]:
        column = self._place[1]
        found = []
        for match in _BOUND.finditer(self._text):
            unit = f" {match['unit']}" if match["unit"] and self._unit is not None else ""
            found.append(f"'{column}' {_OPS.get(match['op'], '>')} '{match['value']}{unit}'")
        return found

    def _event(self) -> date:
        match = _EVENT.match(self._text)
        day = event_day(self.memory, self.question["user_id"], match["phrase"]) if match else None
        if day is None:
            raise ToolError("no round tells of the event")
        return day

    def _of_merchant(self, name: str) -> str:
        """A condition for a merchant: all the ways that its name was read, by likeness where there are others."""
        column = pick(columns_of(self._place[0]), "merchant")
        if column is None:
            raise ToolError("the table has no merchants")
        found = self._run(tool="compute", operation="count", column=column, by=column)
        assert isinstance(found, Computed)
        known = [str(group.key) for group in found.groups if group.key is not None]
        chosen = [each for each in known if alike(each, name)]
        chosen = chosen or [each for each in known if letters(name) in letters(each) or letters(each) in letters(name)]
        self.inexact = {each.casefold() for each in chosen} != {name.casefold()}
        if not chosen:
            return f"{_quoted(column)} contains {_quoted(name)}"
        return f"{_quoted(column)} in ({', '.join(map(_quoted, chosen))})"


def _quoted(text: str) -> str:
    return '"' + text.replace('"', '""') + '"'


def is_right(found: Any, answer: Mapping[str, Any]) -> bool:
    """Whether what was found is the answer, within its tolerance."""
    value = answer["value"]
    if answer["type"] == "number":
        told = isinstance(found, int | float) and not isinstance(found, bool)
        return told and abs(found - value) <= answer.get("tolerance", 0) + 1e-9
    return bool(_plain(found) == value)


# --- one user's tables ----------------------------------------------------------------------------------------------

_HOURS = r"(?P<hours>\d+(?:\.\d+)?)\s*h(?:ours?)?(?:\s*(?P<minutes>\d+)\s*m)?"
_TOLD: Mapping[str, re.Pattern[str]] = {
    "sleep": re.compile(rf"\b(?:slept|sleep)\W*{_HOURS}", re.IGNORECASE),
    "steps": re.compile(r"(?P<a>\d[\d,]*)\s*steps\b|\bsteps\W*(?P<b>\d[\d,]*)", re.IGNORECASE),
    "calories": re.compile(r"(?P<a>\d[\d,]*)\s*kcal\b|\bcalories\W*(?P<b>\d[\d,]*)", re.IGNORECASE),
    "distance": re.compile(r"\bdistance\W*(?P<a>\d+(?:\.\d+)?)\s*km|(?P<b>\d+(?:\.\d+)?)\s*km\b", re.IGNORECASE),
}


def told_of_day(text: str) -> dict[str, float]:
    """What a text logs, in hours, steps, kcal and km, by patterns of this benchmark's own."""
    found: dict[str, float] = {}
    for what, pattern in _TOLD.items():
        match = pattern.search(text)
        if match and what == "sleep":
            found[what] = float(match["hours"]) + float(match["minutes"] or 0) / 60
        elif match:
            found[what] = float((match["a"] or match["b"]).replace(",", ""))
    return found


def _wearers(memory: Memory, folder: Path) -> Iterator[UserFigures]:
    """Each wearer's days: values told in words must be there as told; of a picture each must be there, and those that a
    question about one round tells must be right.
    """
    questions = lines(folder / "questions.jsonl")
    for user in dict.fromkeys(row["user_id"] for row in lines(folder / "histories.jsonl")):
        asked = [question for question in questions if question["user_id"] == user]
        distant = {name for question in asked if question["operation"] == "sum-partial" for name in question["evidence"]}
        wanted: dict[str, tuple[date | None, dict[str, Any]]] = {}
        for row in memory.rounds(user).to_dicts():
            told: dict[str, Any] = dict(told_of_day(" ".join(each["text"] for each in row[MESSAGES])))
            if row[IMAGES]:
                told = {what: None for what in LOGGED if what != "distance" or not distant or row[ROUND] in distant}
                told.update(_known_of(row[ROUND], asked))
            if len(told) > 1:
                wanted[row[ROUND]] = (when_told(row)[1], told)
        yield _judged(memory, user, WEARABLES, LOGGED, wanted)


def _known_of(round_id: str, questions: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str, float]]:
    """What questions about this round alone tell of it."""
    for question in questions:
        what = next((what for what in _ASKED if _NAMED[what].search(question["question"])), None)
        single = question["evidence"] == [round_id] and question["answer"]["type"] == "number"
        if what in LOGGED and single and question["operation"] in ("lookup", "max", "min", "latest"):
            yield what, question["answer"]["value"]


def _shoppers(memory: Memory, folder: Path) -> Iterator[UserFigures]:
    known = lines(folder / "fields.jsonl")
    for user in dict.fromkeys(row["user_id"] for row in lines(folder / "histories.jsonl")):
        wanted: dict[str, tuple[date | None, dict[str, Any]]] = {
            row["round"]: (date.fromisoformat(row["date"]), {what: row[what] for what in PRINTED})
            for row in known
            if row["user_id"] == user
        }
        yield _judged(memory, user, RECEIPTS, PRINTED, wanted)


def _judged(
    memory: Memory,
    user: str,
    kind: str,
    whats: Sequence[str],
    wanted: Mapping[str, tuple[date | None, Mapping[str, Any]]],
) -> UserFigures:
    """The table that holds the most of ``whats`` against what each round (with its day) told."""
    tables = memory.tables(user)
    given = [what for what in whats if any(what in told for _, told in wanted.values())]
    picked = {meta.name: {what: name for what in given if (name := pick(columns_of(meta), what))} for meta in tables}
    if not picked:
        missing = tuple(Fault(name, "row", "a row", "no table") for name in wanted)
        return UserFigures(user, kind, None, 0, Share(0, len(wanted)), missing)
    longest = {meta.name: meta.rows for meta in tables}
    best = min(picked, key=lambda name: (-len(picked[name]), -longest[name], name))
    found = memory.run(user, read_call({"tool": "filter", "table": best}))
    assert isinstance(found, Rows)
    rows: dict[str, list[dict[str, Any]]] = {}
    for row in found.rows.to_dicts():
        rows.setdefault(row[ROUND], []).append(row)
    units = {column.name: column.unit for meta in tables if meta.name == best for column in meta.columns}
    faults: list[Fault] = []
    for name, (day, told) in wanted.items():
        faults += _faults(name, day, told, rows.pop(name, []), picked[best], units)
    right = len(wanted) - len({fault.round_id for fault in faults})
    for name, more in rows.items():
        faults.append(Fault(name, "row", "none", f"{len(more)} of session {more[0][SESSION]}"))
    whole = best if len(picked[best]) == len(given) else None
    return UserFigures(user, kind, whole, len(tables), Share(right, len(wanted)), tuple(faults))


def _faults(
    round_id: str,
    day: date | None,
    told: Mapping[str, Any],
    rows: Sequence[Mapping[str, Any]],
    picked: Mapping[str, str],
    units: Mapping[str, str | None],
) -> Iterator[Fault]:
    if len(rows) != 1:
        yield Fault(round_id, "row", "one", str(len(rows)))
        if not rows:
            return
    row = rows[0]
    if row["day"] != day:
        yield Fault(round_id, "day", str(day), str(row["day"]))
    for what, value in told.items():
        held = row.get(picked.get(what, ""))
        if held is None or not _same(what, value, held, units.get(picked[what])):
            yield Fault(round_id, what, "a value" if value is None else str(value), str(held))


_IN_ASKED = {"s": 3600.0, "m": 1000.0}


def _same(what: str, told: Any, held: Any, unit: str | None) -> bool:
    """Whether a cell holds what was told (None: anything); names are compared without case and spaces."""
    if told is None:
        return True
    if what == "merchant":
        return "".join(str(told).casefold().split()) == "".join(str(held).casefold().split())
    if what == "date":
        return str(held) == str(told)
    scale = _IN_ASKED.get(unit or "", 1.0)
    # A picture rounds hours to a minute, and distances to ten metres.
    return abs(float(held) / scale - float(told)) <= (0.0051 if what in ("sleep", "distance", "total") else 1e-6)
