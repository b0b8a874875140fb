"""What commands print: text made safe for a terminal, tables, JSON on stdout, notes on stderr."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime, timedelta, timezone
from typing import Any, TextIO

from rich.console import Console
from rich.table import Table
from rich.text import Text

from operators.records import OFFSET, PRECISION, TIME, isoformat

_UNSAFE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
"""Control characters (all but tab and newline) and the marks that reorder a line."""

_PIPE_WIDTH = 1_000_000


def printable(text: str) -> str:
    """Stored text as it may be shown: characters that drive a terminal become visible escapes such as ``\\x1b``."""
    return _UNSAFE.sub(_escape, text.replace("\r\n", "\n"))


def one_line(text: str, limit: int) -> str:
    """``printable`` text on one line of at most ``limit`` characters; a cut is marked with an ellipsis."""
    flat = printable(" ".join(text.split()))
    return flat if len(flat) <= limit else flat[: limit - 1] + "…"


def takes_unicode(stream: TextIO) -> bool:
    """True where the stream writes UTF-8; JSON for any other is written in ASCII."""
    return (stream.encoding or "").lower().replace("-", "") == "utf8"


def rate(each_second: float) -> str:
    """A speed for people: whole, but for what would be next to nothing."""
    return f"{each_second:,.0f}" if each_second >= 10 else f"{each_second:.1f}"


def unread_note(columns: Sequence[str]) -> str:
    """What to say of a table's columns that nothing is taken from."""
    return f"columns that are not kept: {', '.join(map(printable, columns))} (--map says which column is which)"


def counted(counts: Mapping[str, int]) -> str:
    """Counts by code on one line, for people."""
    return ", ".join(f"{code} {count:,}" for code, count in sorted(counts.items())) or "none"


def print_json(value: Any) -> None:
    """One JSON document on stdout. Times become ISO 8601; what could drive a terminal is escaped."""
    text = json.dumps(value, ensure_ascii=not takes_unicode(sys.stdout), indent=2, default=_json_default)
    print(_UNSAFE.sub(lambda match: f"\\u{ord(match[0]):04x}", text))


def print_table(headings: Sequence[str], rows: Iterable[Sequence[str | int | float | None]]) -> None:
    """Aligned columns on stdout, numbers to the right. Cells are made printable here; on a pipe nothing is cut."""
    rows = [list(row) for row in rows]
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for index, heading in enumerate(headings):
        numeric = bool(rows) and all(isinstance(row[index], int | float) or row[index] is None for row in rows)
        table.add_column(Text(heading), justify="right" if numeric else "left", overflow="fold")
    for row in rows:
        table.add_row(*(Text(cell(value)) for value in row))
    console().print(table)


def print_facts(facts: Iterable[tuple[str, str | int | float | None]]) -> None:
    """``name  value`` lines on stdout, names aligned."""
    facts = list(facts)
    width = max(len(name) for name, _ in facts)
    for name, value in facts:
        print(f"{name:<{width}}  {cell(value)}")


def cell(value: str | int | float | None) -> str:
    """A value as a table shows it: numbers grouped by thousands, nothing as a dash."""
    if value is None:
        return "-"
    if isinstance(value, str):
        return printable(value).replace("\n", "\\n").replace("\t", "\\t")
    return f"{value:,}" if isinstance(value, int) else f"{value:,.4g}"


def told_duration(seconds: float) -> str:
    """A duration for people, to the second: ``6 h 24 min``."""
    minutes, rest = divmod(abs(round(seconds)), 60)
    hours, minutes = divmod(minutes, 60)
    parts = ((hours, "h"), (minutes, "min"), (rest, "s"))
    told = " ".join(f"{number} {unit}" for number, unit in parts if number) or "0 s"
    return f"-{told}" if seconds < 0 else told


def moment(time: datetime | None) -> str | None:
    """A UTC time to the minute, for people."""
    return None if time is None else time.strftime("%Y-%m-%d %H:%M")


def told_time(row: Mapping[str, Any]) -> str:
    """When a round was, on its writer's clock and as exactly as it was told: a day, or minutes with the offset."""
    time: datetime | None = row[TIME]
    if time is None:
        return "time unknown"
    offset: int | None = row[OFFSET]
    local = time if offset is None else time.astimezone(timezone(timedelta(minutes=offset)))
    if row[PRECISION] == "day":
        return local.strftime("%Y-%m-%d")
    return local.strftime("%Y-%m-%d %H:%M ") + ("UTC" if offset is None else local.isoformat()[-6:])


def note(message: str) -> None:
    """A line for the user that is not the answer: on stderr."""
    print(printable(message), file=sys.stderr)


def console() -> Console:
    """Where tables go: stdout, never cut to a width when it is not a terminal."""
    if sys.stdout.isatty():
        return Console(file=sys.stdout, highlight=False)
    return Console(file=sys.stdout, highlight=False, width=_PIPE_WIDTH, no_color=True)


def _escape(match: re.Match[str]) -> str:
    code = ord(match[0])
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"


def _json_default(value: Any) -> str | None:
    if isinstance(value, datetime):
        return isoformat(value)
    if isinstance(value, date):
        return value.isoformat()
    raise TypeError(f"{type(value).__name__} is not JSON")
