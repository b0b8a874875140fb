"""A user's tables from observations: typed columns in one unit each, beside every value its text and where it stands."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import pyarrow as pa

from operators.records import (
    BOX,
    CONFIDENCE,
    END,
    FROM_ROUND,
    IMAGE,
    KIND,
    MEASURE,
    MEDIA,
    MESSAGE,
    NUMBER,
    OBSERVATION,
    ORDER,
    PARSED,
    RECORD,
    ROUND,
    SESSION,
    START,
    TIME,
    TIMESTAMP,
    VALUE,
    isoformat,
)
from operators.tables.columns import AT, CURRENCY, DAY, NUMERIC, RAW, Column, TableMeta
from operators.tables.rows import KEY, Placed, Row, Shape, day_of, place

BUILD_VERSION = 1
"""Raised when the same observations make other tables."""

_TYPES = {"date": pa.date32(), "bool": pa.bool_(), "time": pa.string(), "text": pa.string()}
_SAMPLES = 5
_BY, _WHEN = "by", "at"
_CERTAIN = 2.0
"""More than any observation's confidence."""

_JSON = json.JSONEncoder(ensure_ascii=False)

_POINTS = (OBSERVATION, FROM_ROUND, MESSAGE, START, END, IMAGE, MEDIA, BOX)


@dataclass(frozen=True)
class Spec:
    """A table to build: ``columns`` with the keys of their names, and how many rounds hold all of it."""

    name: str
    columns: Sequence[tuple[Column, Sequence[str]]]
    support: int


@dataclass(frozen=True)
class Built:
    """A table as it goes into the store: its metadata, and its rows as Arrow (``arrow_schema``)."""

    meta: TableMeta
    rows: pa.Table


def arrow_schema(columns: Iterable[Column]) -> pa.Schema:
    """The Arrow schema of a table with such columns."""
    return _schema(tuple((column.name, column.kind) for column in columns))


@lru_cache(maxsize=1024)
def _schema(columns: tuple[tuple[str, str], ...]) -> pa.Schema:
    fields = [
        pa.field(ORDER, pa.int64(), nullable=False),
        pa.field(TIME, TIMESTAMP),
        pa.field(DAY, pa.date32()),
        pa.field(SESSION, pa.string(), nullable=False),
        pa.field(ROUND, pa.string(), nullable=False),
        pa.field(RECORD, pa.int32(), nullable=False),
    ]
    for name, kind in columns:
        fields += [pa.field(name, _TYPES.get(kind, pa.float64())), pa.field(name + RAW, pa.string())]
        if kind == "money":
            fields.append(pa.field(name + CURRENCY, pa.string()))
        fields.append(pa.field(name + AT, pa.string()))
    return pa.schema(fields)


def build(
    observations: Sequence[Row],
    rounds: Sequence[Row],
    corrections: Sequence[Row],
    specs: Sequence[Spec],
    date_keys: frozenset[str],
) -> list[Built]:
    """One user's tables. ``observations`` and ``rounds`` as ``rows.place`` takes them; ``corrections``
    (``records.CORRECTIONS``) go before what was observed.
    """
    shapes = [Shape(spec.name, [(column.name, keys) for column, keys in spec.columns], spec.support) for spec in specs]
    corrected = _corrected(observations, rounds, corrections, specs)
    placed = place(corrected, rounds, shapes, date_keys)
    return [_built(spec, rows) for spec, rows in zip(specs, placed, strict=True)]


# --- what people set right ------------------------------------------------------------------------------------------


def _corrected(
    observations: Sequence[Row], rounds: Sequence[Row], corrections: Sequence[Row], specs: Sequence[Spec]
) -> Sequence[Row]:
    """The observations with each correction in the place of what its record tells of the attribute.

    So the day of a record follows its corrected date, and a correction goes to whichever table has the record now.
    """
    orders = {(row[SESSION], row[ROUND]): row[ORDER] for row in rounds}
    held = list(observations)
    for correction in corrections:
        order = orders.get((correction[SESSION], correction[ROUND]))
        keys = _meant(specs, correction)
        if order is None or not keys:
            continue
        place_ = (order, correction[RECORD])
        taken = [row for row in held if (row[ORDER], row[RECORD]) == place_ and row[KEY] in keys]
        held = [row for row in held if (row[ORDER], row[RECORD]) != place_ or row[KEY] not in keys]
        told = {name: correction[name] for name in (KIND, NUMBER, MEASURE, PARSED, VALUE, _BY, _WHEN, RECORD)}
        image = taken[0][IMAGE] if taken else None
        held.append({**told, KEY: keys[0], ORDER: order, IMAGE: image, CONFIDENCE: _CERTAIN})
    return held


def _meant(specs: Sequence[Spec], correction: Row) -> Sequence[str]:
    """The keys of a correction's column: the one so called in its table, in any, or one that took its names."""
    columns = [(spec.name, column, keys) for spec in specs for column, keys in spec.columns]
    known = set(correction["names"])
    for fits in (
        lambda table, column, _: (table, column.name) == (correction["table"], correction["column"]),
        lambda _, column, __: column.name == correction["column"],
        lambda _, column, keys: column.kind == correction[KIND] and not known.isdisjoint(k.split("\t")[0] for k in keys),
    ):
        for each in columns:
            if fits(*each):
                return each[2]
    return ()


# --- values ---------------------------------------------------------------------------------------------------------


def _built(spec: Spec, rows: Sequence[Placed]) -> Built:
    columns: list[Column] = []
    arrays: dict[str, list[Any]] = {
        ORDER: [row.order for row in rows],
        TIME: [row.time for row in rows],
        DAY: [row.day for row in rows],
        SESSION: [row.session_id for row in rows],
        ROUND: [row.round_id for row in rows],
        RECORD: [row.record for row in rows],
    }
    samples: dict[str, tuple[str, ...]] = {}
    for column, _ in spec.columns:
        cells = [row.cells.get(column.name) for row in rows]
        column, values = _values(column, cells)
        columns.append(column)
        arrays[column.name] = values
        arrays[column.name + RAW] = [None if cell is None else cell[VALUE] for cell in cells]
        if column.kind == "money":
            arrays[column.name + CURRENCY] = [cell[MEASURE] if cell and cell[KIND] == "money" else None for cell in cells]
        arrays[column.name + AT] = [None if cell is None else _pointer(cell) for cell in cells]
        samples[column.name] = _sampled(arrays[column.name + RAW])
    table = pa.Table.from_pydict(arrays, schema=arrow_schema(columns))
    return Built(TableMeta(spec.name, _description(columns, rows), tuple(columns), len(rows), samples), table)


def _pointer(cell: Row) -> str:
    """Where a cell stands, as JSON: what ``records.OBSERVATIONS`` tells of it, without what is null.

    ``from_round``: the round it is written in, where that is not the row's. What a person set right tells ``corrected_by``
    and ``corrected_at`` instead. A string, not a struct: as columns of a file ten numbers a cell would outweigh its value.
    """
    if _BY in cell:
        told = {"corrected_by": cell[_BY], "corrected_at": isoformat(cell[_WHEN])}
    else:
        told = {name: cell[name] for name in _POINTS if cell[name] is not None}
    return _JSON.encode(told)


def _sampled(raw: Sequence[str | None]) -> tuple[str, ...]:
    """Some of the values as written, first and last among them."""
    distinct = list(dict.fromkeys(text for text in raw if text is not None))
    if len(distinct) <= _SAMPLES:
        return tuple(distinct)
    return tuple(distinct[round(at * (len(distinct) - 1) / (_SAMPLES - 1))] for at in range(_SAMPLES))


def _description(columns: Sequence[Column], rows: Sequence[Placed]) -> str:
    named = ", ".join(column.name.replace("_", " ") for column in columns)
    days = [row.day for row in rows if row.day is not None]
    span = f", {min(days)} to {max(days)}" if days else ""
    return f"{len(rows)} record{'' if len(rows) == 1 else 's'} of {named}{span}"


def _values(column: Column, cells: Sequence[Row | None]) -> tuple[Column, list[Any]]:
    """The column with its unit as its values have it, and the values."""
    if column.kind == "ratio":
        return _ratios(column, cells)
    if column.kind in NUMERIC:
        scale = _scale_of_bare(column, cells)
        return column, [None if cell is None else _number(column, cell, scale) for cell in cells]
    return column, [None if cell is None else _told(column, cell) for cell in cells]


def _told(column: Column, cell: Row) -> Any:
    if cell[KIND] != column.kind or (cell[PARSED] is None and column.kind != "text"):
        return None
    if column.kind == "date":
        return day_of(cell[PARSED])
    if column.kind == "bool":
        return cell[PARSED] == "true"
    return cell[PARSED] if column.kind == "time" else cell[VALUE]


def _number(column: Column, cell: Row, scale: float | None) -> float | None:
    """A number in the column's unit; None where it is of another, or of none and nothing tells which is meant."""
    number = cell[NUMBER]
    if number is None or not math.isfinite(number):
        return None
    bare = _is_bare(cell)
    if column.kind == "money":
        return float(number) if bare or cell[KIND] == "money" else None
    if _is_measured(column, cell):
        return float(number)
    scaled = number * scale if bare and scale is not None else math.inf
    return float(scaled) if math.isfinite(scaled) else None


def _is_bare(cell: Row) -> bool:
    return cell[KIND] == "number" and not cell[MEASURE]


def _is_measured(column: Column, cell: Row) -> bool:
    if column.unit is None:
        return _is_bare(cell)
    return bool(cell[MEASURE] == column.unit)


_WRITTEN = re.compile(r"\d[\d.,'\u00a0\u202f ]*")


def _scale_of_bare(column: Column, cells: Sequence[Row | None]) -> float | None:
    """What a bare number of the column is to be multiplied with: as all of the user's values that tell their unit were.

    Who writes ``72.4 kg`` means kilograms by ``72.1``; who writes both kg and lb may mean either, and of ``5.250 km`` nobody
    knows how far it is. What a person set right says nothing of how they write.
    """
    if column.unit is None or column.kind in ("money", "percent") or column.unit in _COUNTED:
        return 1.0
    if not any(cell is not None and _is_bare(cell) for cell in cells):
        return None
    scales: set[float] | None = None
    for cell in cells:
        if cell is None or _BY in cell or not _is_measured(column, cell) or not cell[NUMBER]:
            continue
        written = _WRITTEN.findall(cell[VALUE])
        size = abs(cell[NUMBER])
        found = (
            {_rounded(size / read) for read in _readings(written[0])} if len(written) == 1 and math.isfinite(size) else set()
        )
        scales = found if scales is None else scales & found
        if not scales:
            return None
    if scales is None or len(scales) > 1:
        return None
    (scale,) = scales
    # 50 °F are not so many times 1 °C: a scale with a shift is none.
    return scale if column.unit != "°C" or scale == 1.0 else None


_COUNTED = frozenset(("steps", "kcal", "bpm", "%"))
"""Units in which a bare number is as good as a written one."""


def _readings(written: str) -> Iterable[float]:
    """What a number as written may be: its last separator that of decimals, or one of thousands."""
    digits = re.sub(r"[\s'\u00a0\u202f]", "", written).rstrip(".,")
    mark = max(digits.rfind("."), digits.rfind(","))
    whole, part = (digits[:mark], digits[mark + 1 :]) if mark >= 0 else (digits, "")
    plain = re.sub(r"[.,]", "", whole)
    texts = [f"{plain}.{part}"] if part else [plain]
    if len(part) == 3 and plain.strip("0"):
        texts.append(plain + part)
    yield from (float(text) for text in texts if float(text or 0) > 0)


def _rounded(scale: float) -> float:
    return float(f"{scale:.6g}")


def _ratios(column: Column, cells: Sequence[Row | None]) -> tuple[Column, list[float | None]]:
    """Ratios out of the largest number that any is out of: 4/5 beside 7/10 is 8/10."""
    of = [_out_of(cell) for cell in cells]
    most = max((number for number in of if number), default=1.0)
    values = [
        cell[NUMBER] * most / number if cell is not None and number else None for cell, number in zip(cells, of, strict=True)
    ]
    finite = [value if value is not None and math.isfinite(value) else None for value in values]
    return Column(column.name, column.kind, f"/{most:g}", column.aliases), finite


def _out_of(cell: Row | None) -> float | None:
    """What a ratio is out of; None where the cell is none, or out of nothing."""
    if cell is None or cell[KIND] != "ratio" or cell[NUMBER] is None:
        return None
    try:
        number = float(str(cell[MEASURE]).removeprefix("/"))
    except ValueError:
        return None
    return number if math.isfinite(number) and number > 0 else None
