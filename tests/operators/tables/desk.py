"""A small table of receipts and nights, and a reader of written values, for the tests of tables."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime
from typing import Any

import polars as pl

from operators.tables.columns import Column, Table, TableMeta, Value

COLUMNS = (
    Column("total", "money", None, ("amount", "grand total")),
    Column("sleep duration", "duration", "s", ("time asleep",)),
    Column("distance", "number", "m"),
    Column("steps", "number", "steps"),
    Column("guests", "number"),
    Column("battery", "percent", "%"),
    Column("mood", "ratio", "/10"),
    Column("cafe", "text"),
    Column("visited", "date"),
    Column("bedtime", "time"),
    Column("paid", "bool"),
    Column("time in bed", "duration", "s"),
)
META = TableMeta("receipts", "what was paid and slept", COLUMNS, 0, {})
TYPES = {"date": pl.Date, "bool": pl.Boolean, "time": pl.String, "text": pl.String}
UNITS = {
    "s": ("duration", "s", 1.0),
    "min": ("duration", "s", 60.0),
    "h": ("duration", "s", 3600.0),
    "m": ("number", "m", 1.0),
    "km": ("number", "m", 1000.0),
    "lb": ("number", "kg", 0.45359237),
    "steps": ("number", "steps", 1.0),
    "%": ("percent", "%", 1.0),
    "/10": ("ratio", "/10", 1.0),
    "rm": ("money", "MYR", 1.0),
    "myr": ("money", "MYR", 1.0),
    "eur": ("money", "EUR", 1.0),
}


def read(text: str) -> Value | None:
    """Reads ``7 h``, ``5 km``, ``RM 20``, ``20 EUR``, ``yes``, ``07:30``, a spelled date; None for a blank."""
    folded = text.strip().lower()
    if not folded:
        return None
    if folded in ("yes", "no", "true", "false"):
        return Value("bool", text="true" if folded in ("yes", "true") else "false")
    if re.fullmatch(r"\d\d:\d\d(:\d\d)?", folded):
        return Value("time", text=folded)
    if folded == "20 april 2016":
        return Value("date", text="2016-04-20")
    match = re.fullmatch(r"(?P<before>rm|eur)?\s?(?P<number>-?[\d,]+(?:\.\d+)?)\s?(?P<after>[a-z%/]+(?:10)?)?", folded)
    number = match and match["number"].replace(",", "")
    if match is None or not number or number == "-":
        return Value("text", text=folded)
    unit = match["before"] or match["after"]
    if unit is None:
        return Value("number", float(number))
    if unit not in UNITS:
        return Value("text", text=folded)
    kind, base, factor = UNITS[unit]
    return Value(kind, float(number) * factor, base)


def table(*rows: dict[str, Any]) -> Table:
    """A table of ``COLUMNS``: each row gives some of its values; ``currency`` is that of ``total``.

    ``order`` counts from 0, ``day`` is that of ``time`` where not given, raw texts are the values written out.
    """
    data: dict[str, list[Any]] = {name: [] for name in ("order", "time", "day", "session_id", "round_id", "record")}
    for place, row in enumerate(rows):
        when = row.get("time")
        data["order"].append(row.get("order", place))
        data["time"].append(when)
        data["day"].append(row.get("day", when and when.date()))
        data["session_id"].append("s1")
        data["round_id"].append(f"r{row.get('order', place)}")
        data["record"].append(row.get("record", 0))
    dtypes = [pl.Int64, pl.Datetime("us", "UTC"), pl.Date, pl.String, pl.String, pl.Int32]
    frame = {name: pl.Series(name, values, dtype) for (name, values), dtype in zip(data.items(), dtypes, strict=True)}
    for column in COLUMNS:
        values = [row.get(column.name) for row in rows]
        raw = [None if value is None else str(value) for value in values]
        at = [None if value is None else {"round": f"r{place}"} for place, value in enumerate(values)]
        frame[column.name] = pl.Series(column.name, values, TYPES.get(column.kind, pl.Float64), strict=False)
        frame[f"{column.name}.raw"] = pl.Series(raw, dtype=pl.String)
        frame[f"{column.name}.at"] = pl.Series(at, dtype=pl.Struct({"round": pl.String}))
        if column.kind == "money":
            frame[f"{column.name}.unit"] = pl.Series([row.get("currency") for row in rows], dtype=pl.String)
    return Table(META, pl.DataFrame(frame))


def at(text: str) -> datetime:
    """An instant in UTC: ``at("2016-04-20T07:30")``."""
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def on(text: str) -> date:
    """A day: ``on("2016-04-20")``."""
    return date.fromisoformat(text)
