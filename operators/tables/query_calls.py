"""The functions of the engine that are ours: exact sums, texts without regard to case, records, and one currency."""

from __future__ import annotations

import math
import re
import sqlite3
import unicodedata
from collections.abc import Callable
from datetime import UTC, datetime
from decimal import Context, Decimal, localcontext
from functools import lru_cache
from typing import Any

from operators.errors import ColumnTypeError, MixedUnits, QueryError, ToolError
from operators.tables.aggregate import Datum, Operation, Scale, aggregate, to_float
from operators.tables.columns import fold

_EXACT = Context(prec=60)
_ISO = re.compile(r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d{1,6})?)?Z?)?")
_MOST_PATTERN = 200
_PLACE = (False, datetime.min.replace(tzinfo=UTC), 0, 0)


class Faults:
    """What a function of ours refused first: SQLite itself tells only that one did."""

    def __init__(self) -> None:
        self.first: ToolError | None = None

    def refuse(self, error: ToolError) -> ToolError:
        """Keep an error, which is to be raised."""
        self.first = self.first or error
        return error


def register(base: sqlite3.Connection, faults: Faults, groups: list[frozenset[int]]) -> None:
    """Give a connection our functions. ``groups``: where ``gather`` puts what it was given."""
    for name in ("sum", "avg"):
        base.create_window_function(name, 1, _reckons(name, faults))
    for operation in ("median", "std"):
        base.create_aggregate("stddev" if operation == "std" else operation, 1, _collects(operation, faults))
    base.create_aggregate("gather", 1, _gathers(groups))
    base.create_function("guard", 4, _guard(faults), deterministic=True)
    base.create_function("like", 2, _like(faults), deterministic=True)
    base.create_function("instant", 1, _instant, deterministic=True)
    base.create_function("lower", 1, _cased(str.lower), deterministic=True)
    base.create_function("upper", 1, _cased(str.upper), deterministic=True)
    for name, arguments, number in (("ceil", 1, math.ceil), ("floor", 1, math.floor), ("sqrt", 1, math.sqrt)):
        base.create_function(name, arguments, _finite(number), deterministic=True)
    base.create_function("power", 2, _finite(math.pow), deterministic=True)


# --- aggregates -------------------------------------------------------------------------------------------------------


def _reckons(name: str, faults: Faults) -> Any:
    """A sum or mean, also of a window that moves: of decimals as COMPUTE has them, so that 0.1 and 0.2 make 0.3."""

    class Reckoned:
        def __init__(self) -> None:
            self.n, self.whole, self.total = 0, True, Decimal(0)
            self.come: list[Any] = []
            self.gone: list[Any] = []
            # SQLite calls these for each row: lists take them without a step of Python.
            self.step, self.inverse = self.come.append, self.gone.append

        def value(self) -> float | int | None:
            with localcontext(_EXACT):
                for values, sign in ((self.come, 1), (self.gone, -1)):
                    there = [value for value in values if value is not None]
                    values.clear()
                    self.whole &= _check_numbers(there, name, faults) <= {int}
                    self.n += sign * len(there)
                    self.total += sign * sum(map(Decimal, map(repr, there)), Decimal(0))
                return self._reckoned() if self.n else None

        def _reckoned(self) -> float | int:
            if name == "sum" and self.whole and abs(self.total) < 2**63:
                return int(self.total)
            try:
                return to_float(self.total if name == "sum" else self.total / self.n)
            except ToolError as error:
                raise faults.refuse(error) from None

        finalize = value

    return Reckoned


def _collects(operation: Operation, faults: Faults) -> Any:
    class Collected:
        def __init__(self) -> None:
            self.values: list[Any] = []
            self.step = self.values.append

        def finalize(self) -> Any:
            there = [value for value in self.values if value is not None]
            _check_numbers(there, operation, faults)
            try:
                return aggregate(operation, [Datum(float(value), None, None, _PLACE) for value in there], Scale(None))[0]
            except ToolError as error:
                raise faults.refuse(error) from None

    return Collected


def _gathers(groups: list[frozenset[int]]) -> Any:
    class Gathered:
        def __init__(self) -> None:
            self.held: set[int | None] = set()
            self.step = self.held.add

        def finalize(self) -> int | None:
            there = frozenset(each for each in self.held if each is not None)
            if not there:
                return None
            groups.append(there)
            return -len(groups)

    return Gathered


def _check_numbers(values: list[Any], name: str, faults: Faults) -> set[type]:
    """The types of values that are all finite numbers; ColumnTypeError, QueryError where they are not."""
    types = set(map(type, values))
    if not types <= {int, float}:
        raise faults.refuse(ColumnTypeError(f"{name} takes numbers, and there are texts: CAST(.. AS REAL) reads them"))
    if not all(map(math.isfinite, values)):
        raise faults.refuse(QueryError("a number is larger than a number can be"))
    return types


# --- one row ----------------------------------------------------------------------------------------------------------


def _guard(faults: Faults) -> Callable[[Any, Any, Any, str], Any]:
    """Its first argument, if the next two, the first and last currency of what it is reckoned from, are one."""

    def guard(value: Any, first: str | None, last: str | None, name: str) -> Any:
        if first != last:
            raise faults.refuse(
                MixedUnits(
                    f"{name!r} holds {first} and {last}: they are not reckoned as one; keep to one by a condition on "
                    f"'{name}_currency' in WHERE, or group by it"
                )
            )
        return value

    return guard


def _like(faults: Faults) -> Callable[[Any, Any], bool | None]:
    """LIKE without regard to case and width of whitespace in any script; its time grows with the text alone."""

    def like(pattern: Any, text: Any) -> bool | None:
        if pattern is None or text is None:
            return None
        if len(str(pattern)) > _MOST_PATTERN:
            raise faults.refuse(QueryError(f"a pattern of LIKE has at most {_MOST_PATTERN} characters"))
        return _matches(_pieces(str(pattern)), fold(str(text)))

    return like


@lru_cache(maxsize=256)
def _pieces(pattern: str) -> tuple[tuple[re.Pattern[str], int], ...]:
    """What stands between the ``%`` of a pattern, and how long each is; ``_`` is any one character."""
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", pattern).casefold())
    parts = re.sub(r"\s+", " ", folded).split("%")
    signs = [["." if sign == "_" else re.escape(sign) for sign in part] for part in parts]
    return tuple((re.compile("".join(each), re.DOTALL), len(each)) for each in signs)


def _matches(pieces: tuple[tuple[re.Pattern[str], int], ...], text: str) -> bool:
    """Whether a text is made of the pieces in order: each taken where it stands first, the last at the end."""
    if len(pieces) == 1:
        return pieces[0][0].fullmatch(text) is not None
    (first, place), *middle, (last, length) = pieces
    if first.match(text) is None:
        return False
    for piece, _ in middle:
        found = piece.search(text, place)
        if found is None:
            return False
        place = found.end()
    end = len(text) - length
    return end >= place and last.match(text, end) is not None


def _instant(value: Any) -> Any:
    """A day or an instant as it is, a Julian day too; null for all else, such as ``now``."""
    if isinstance(value, str):
        return value if _ISO.fullmatch(value) else None
    return value if isinstance(value, int | float) else None


def _cased(change: Callable[[str], str]) -> Callable[[Any], Any]:
    return lambda value: change(value) if isinstance(value, str) else value


def _finite(number: Callable[..., float]) -> Callable[..., Any]:
    """A function of numbers that gives null where it has no value."""

    def reckon(*values: Any) -> Any:
        if not all(isinstance(each, int | float) for each in values):
            return None
        try:
            return number(*map(float, values))
        except (ValueError, OverflowError):
            return None

    return reckon
