"""Extraction: how much of what users logged and bought is observed, and how right; how fast text and pictures are read."""

from __future__ import annotations

import json
import random
import re
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import polars as pl

from configs.settings import Settings
from jobs.backfill import BackfillRequest, backfill
from jobs.bench.figures import Spread, seconds_of
from jobs.bench.machine import cores
from operators.encode.text import load_text_encoder
from operators.errors import UsageError
from operators.extract.extraction import Extraction
from operators.extract.rules import RulesExtractor
from operators.memory import Memory, open_store
from operators.records import DEFAULT_TENANT, MESSAGES

LOGGED = {
    "sleep": re.compile(r"sleep|slept|asleep", re.IGNORECASE),
    "steps": re.compile(r"steps?", re.IGNORECASE),
    "calories": re.compile(r"calories|kcal|energy", re.IGNORECASE),
    "distance": re.compile(r"distance|walked|covered", re.IGNORECASE),
}
_UNITS = {"sleep": 1 / 3600, "steps": 1.0, "calories": 1.0, "distance": 1 / 1000}
"""What turns an observed number into the unit that the questions ask in: hours, steps, kcal, km."""

_TALKS = ("locomo", "mem_gallery")
_TEXTS, _PICTURES = 1_000, 12

Tell = Callable[[str], None]


@dataclass(frozen=True)
class Share:
    """``right`` of ``of``."""

    right: int
    of: int

    @property
    def value(self) -> float:
        """Between 0 and 1; 1 of nothing."""
        return self.right / self.of if self.of else 1.0


@dataclass(frozen=True)
class LogFigures:
    """Logs of days. ``recall``: values logged that were observed once; ``precision``: of what was observed in those rounds.

    ``answers``: questions about averages, sums and extremes whose answer the observed values give. A value that the log does
    not tell in this round is not asked for: logs told in words leave some out.
    """

    rounds: int
    recall: Share
    precision: Share
    answers: Share


@dataclass(frozen=True)
class ReceiptFigures:
    """Scans whose merchant, date and total were observed as they are."""

    receipts: int
    merchant: Share
    date: Share
    total: Share


@dataclass(frozen=True)
class TalkFigures:
    """Talks that are no data: how much is observed in them, and some of it to be judged by hand."""

    rounds: int
    observations: int
    sample: list[dict[str, Any]]


@dataclass(frozen=True)
class SpeedFigures:
    """Texts a second of rules and encoder on one thread; pictures a second of one reader, and of one on each core."""

    encoder: str
    encoded: Spread
    observed: Spread
    pictures: int
    one_reader: float
    readers: int
    all_readers: float


@dataclass(frozen=True)
class ExtractFigures:
    """What there was data for."""

    logs: LogFigures | None
    receipts: ReceiptFigures | None
    talks: TalkFigures | None
    speed: SpeedFigures


def measure_extract(data: Path, settings: Settings, *, sample: int, repeat: int, tell: Tell) -> ExtractFigures:
    """Backfill what ``data`` holds of wearables/, receipts/, locomo/ and mem_gallery/, and look at the observations."""
    folders = [data / name for name in ("wearables", "receipts", *_TALKS) if (data / name).is_dir()]
    if not folders:
        raise UsageError(f"{data} holds none of wearables/, receipts/, locomo/, mem_gallery/")
    with tempfile.TemporaryDirectory() as store:
        tell("backfill")
        settings = settings.model_copy(update={"encoder": settings.encoder.model_copy(update={"kind": "stub"})})
        sources = tuple(str(path) for folder in folders for path in _sources(folder))
        backfill(BackfillRequest(sources, store, DEFAULT_TENANT), settings, lambda _: None)
        memory = open_store(store).memory(DEFAULT_TENANT)
        there = {folder.name: folder for folder in folders}
        tell("the observations")
        return ExtractFigures(
            logs=_logs(memory, there["wearables"]) if "wearables" in there else None,
            receipts=_receipts(memory, there["receipts"]) if "receipts" in there else None,
            talks=_talks(memory, [there[name] for name in _TALKS if name in there], sample)
            if set(_TALKS) & set(there)
            else None,
            speed=_speed(memory, folders, settings.extract.chosen(), repeat, tell),
        )


def _sources(folder: Path) -> list[Path]:
    histories = folder / "histories.jsonl"
    return [histories] if histories.exists() else sorted(folder.glob("*.json"))


def _lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]


# --- logs of days ---------------------------------------------------------------------------------------------------


def _logs(memory: Memory, folder: Path) -> LogFigures:
    asked = _lines(folder / "questions.jsonl")
    rounds: dict[str, set[str]] = {}
    for question in asked:
        rounds.setdefault(question["user_id"], set()).update(question["evidence"])
    right = wanted = seen = 0
    values: dict[str, dict[tuple[str, str], float]] = {}
    for user, names in rounds.items():
        told = {row["round_id"]: row for row in memory.rounds(user).to_dicts()}
        logged = [name for name in sorted(names) if name in told and _is_log(told[name])]
        found = [row for row in memory.observations(user).to_dicts() if row["round_id"] in logged and row["kind"] != "date"]
        seen += len(found)
        values[user] = {}
        for name in logged:
            for what in _told(told[name]):
                of = [row for row in found if row["round_id"] == name and LOGGED[what].search(row["attribute"])]
                wanted += 1
                if len(of) == 1 and of[0]["number"] is not None and _is_there(of[0], told[name]):
                    right += 1
                    values[user][name, what] = of[0]["number"] * _UNITS[what]
    answers = [_answered(question, values[question["user_id"]]) for question in asked if _about(question)]
    known = [each for each in answers if each is not None]
    return LogFigures(
        sum(map(len, rounds.values())), Share(right, wanted), Share(right, seen), Share(sum(known), len(known))
    )


def _is_log(row: Mapping[str, Any]) -> bool:
    """Whether the round tells numbers or shows a picture; evidence may also be an event told in words."""
    return bool(row["images"]) or len(re.findall(r"\d+", row[MESSAGES][0]["text"])) > 2


def _told(row: Mapping[str, Any]) -> list[str]:
    """Which of the values the round logs: all in a picture, in words those that are named."""
    text = row[MESSAGES][0]["text"]
    return list(LOGGED) if row["images"] else [what for what, pattern in LOGGED.items() if _named(what, pattern, text)]


def _named(what: str, pattern: re.Pattern[str], text: str) -> bool:
    return (
        re.search(r"distance|\bkm\b", text, re.IGNORECASE) is not None if what == "distance" else bool(pattern.search(text))
    )


def _is_there(row: Mapping[str, Any], told: Mapping[str, Any]) -> bool:
    """Whether the text holds the value where the pointer says; a picture's values are judged by the questions."""
    if row["image"] is not None:
        return True
    return bool(told[MESSAGES][row["message"]]["text"][row["start"] : row["end"]] == row["value"])


def _about(question: Mapping[str, Any]) -> bool:
    return question["answer"]["type"] == "number" and question["operation"] in ("avg", "sum", "max", "sum-partial")


def _answered(question: Mapping[str, Any], values: Mapping[tuple[str, str], float]) -> bool | None:
    """Whether the values of the evidence give the answer; None where the question names no value we know."""
    text = question["question"].lower()
    what = next((name for name, pattern in LOGGED.items() if pattern.search(text)), None)
    if what is None:
        return None
    found = [value for name in question["evidence"] if (value := values.get((name, what))) is not None]
    if not found:
        return False
    told: float = question["answer"]["value"]
    whole = {"avg": sum(found) / len(found), "max": max(found)}.get(question["operation"], sum(found))
    return bool(abs(whole - told) <= question["answer"]["tolerance"] + 1e-6)


# --- receipts -------------------------------------------------------------------------------------------------------


def _receipts(memory: Memory, folder: Path) -> ReceiptFigures:
    fields = _lines(folder / "fields.jsonl")
    held = {user: memory.observations(user) for user in {field["user_id"] for field in fields}}
    right = {"merchant": 0, "date": 0, "total": 0}
    for field in fields:
        rows = held[field["user_id"]].filter(pl.col("round_id") == field["round"]).to_dicts()
        found = {row["attribute"]: row for row in reversed(rows) if row["image"] is not None}
        right["merchant"] += _letters(found.get("merchant", {}).get("parsed")) == _letters(field["merchant"])
        right["date"] += found.get("date", {}).get("parsed") == field["date"]
        total = found.get("total", {}).get("number")
        right["total"] += total is not None and abs(total - float(field["total"])) < 0.005
    return ReceiptFigures(len(fields), **{name: Share(count, len(fields)) for name, count in right.items()})


def _letters(name: str | None) -> str:
    """The name without case and punctuation."""
    return re.sub(r"[\W_]", "", (name or "").casefold())


# --- talks ----------------------------------------------------------------------------------------------------------


def _talks(memory: Memory, folders: Sequence[Path], sample: int) -> TalkFigures:
    users = [
        row["user_id"]
        for row in memory.users().to_dicts()
        if row["user_id"] in {p.stem for f in folders for p in f.glob("*.json")}
    ]
    rounds = 0
    found: list[dict[str, Any]] = []
    for user in users:
        told = {row["round_id"]: row for row in memory.rounds(user).to_dicts()}
        rounds += len(told)
        for row in memory.observations(user).to_dicts():
            text = told[row["round_id"]][MESSAGES][row["message"]]["text"]
            kept = ("user_id", "round_id", "attribute", "value", "kind", "number", "unit", "parsed", "doubt")
            start, end = row["start"] or 0, row["end"] or 0
            found.append({name: row[name] for name in kept} | {"said": text[max(0, start - 80) : end + 40]})
    drawn = random.Random(0).sample(found, min(sample, len(found)))
    return TalkFigures(rounds, len(found), drawn)


# --- speed ----------------------------------------------------------------------------------------------------------


def _speed(memory: Memory, folders: Sequence[Path], extraction: Extraction, repeat: int, tell: Tell) -> SpeedFigures:
    rounds = _some_rounds(memory)
    texts = [message["text"] for row in rounds.to_pylist() for message in row[MESSAGES]]
    encoder = load_text_encoder("minilm", threads=1)
    encoder.encode(texts[:8])
    encoded, observed = [], []
    for number in range(repeat):
        tell(f"texts: run {number + 1} of {repeat}")
        encoded.append(len(texts) / seconds_of(lambda: encoder.encode(texts)))
        observed.append(len(texts) / seconds_of(lambda: RulesExtractor().observe(rounds, {})))
    pictures = [path.read_bytes() for folder in folders for path in _some_pictures(folder)]
    one, everyone = (_pictures_a_second(extraction, pictures, workers, tell) for workers in (1, cores()))
    numeric = dict(encoder.fingerprint).get("numeric")
    return SpeedFigures(f"minilm {numeric}", Spread.of(encoded), Spread.of(observed), len(pictures), one, cores(), everyone)


def _some_rounds(memory: Memory) -> Any:
    """Rounds with about as many texts as are timed."""
    parts: list[pl.DataFrame] = []
    texts = 0
    for row in memory.users().to_dicts():
        if texts >= _TEXTS:
            break
        parts.append(memory.rounds(row["user_id"]))
        texts += int(parts[-1][MESSAGES].list.len().sum())
    return pl.concat(parts).to_arrow()


def _some_pictures(folder: Path) -> Iterator[Path]:
    found = sorted(path for path in (folder / "images").glob("*") if path.is_file()) if (folder / "images").is_dir() else []
    yield from random.Random(0).sample(found, min(_PICTURES, len(found)))


def _pictures_a_second(extraction: Extraction, pictures: Sequence[bytes], workers: int, tell: Tell) -> float:
    """Pictures a second of so many processes with one thread each, loaded and warm; 0 where there are none."""
    if not pictures or extraction.reads == "none":
        return 0.0
    tell(f"pictures: {workers} at once")
    with ProcessPoolExecutor(workers, get_context("spawn"), initializer=_load, initargs=(extraction,)) as pool:
        list(pool.map(_read, [pictures[0]] * workers * 2))
        return len(pictures) / seconds_of(lambda: list(pool.map(_read, pictures)))


_READER: list[Any] = []


def _load(extraction: Extraction) -> None:
    _READER[:] = [extraction.reader(1)]


def _read(picture: bytes) -> int:
    return len(_READER[0].read(picture).lines)
