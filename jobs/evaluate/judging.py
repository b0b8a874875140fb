"""Is an answer exact? A number within its tolerance, a date, dates in their order, a choice: by the type expected."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from jobs.evaluate.histories import Expected
from operators.ask.steps import Answer, AnswerValue
from operators.extract.units import CURRENCIES, UNITS

_ISO = re.compile(r"\d{4}-\d{2}-\d{2}")

_ROUNDING = 1e-9
"""What reckoning in floats may add to a tolerance, relative to the value."""


@dataclass(frozen=True)
class Judged:
    """``value``: the answer as data of the type expected (None where it is of another), in ``unit``. ``why``: what is
    wrong with it."""

    right: bool
    value: Any
    unit: str | None
    why: str | None = None


def judge(expected: Expected, answer: Answer | None) -> Judged:
    """Whether the answer is the one expected. A number is converted to the expected unit where both are known."""
    told = None if answer is None else answer.value
    if told is None:
        return Judged(False, None, None, "no answer" if answer is None else answer.status)
    found = _of_kind(expected, told)
    if found is None:
        return Judged(False, None, told.unit, f"a {told.kind} in place of a {expected.kind}")
    if expected.kind == "number":
        return _number(expected, float(found), told.unit)
    right = found == _plain(expected)
    return Judged(right, found, None, None if right else f"another {expected.kind}")


def _plain(expected: Expected) -> Any:
    if expected.kind == "dates":
        return list(map(str, expected.value))
    return str(expected.value).casefold().strip() if expected.kind == "choice" else str(expected.value)


def _of_kind(expected: Expected, told: AnswerValue) -> Any:
    """The value as the expected type has it; None where it is of another."""
    value = told.value
    if expected.kind == "number":
        is_number = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
        return value if is_number else None
    if expected.kind == "choice":
        return _choice(value, expected.options)
    days = [_day(each) for each in (value if isinstance(value, list | tuple) else [value])]
    if not days or None in days:
        return None
    if expected.kind == "dates":
        return days
    return days[0] if len(days) == 1 else None


def _choice(value: Any, options: Sequence[str]) -> str | None:
    """The option that the value is, without regard to case; any text where there are no options."""
    text = value.casefold().strip() if isinstance(value, str) else None
    known = {option.casefold().strip() for option in options}
    return text if text and (not known or text in known) else None


def _day(value: Any) -> str | None:
    return value[:10] if isinstance(value, str) and _ISO.match(value) else None


# --- numbers --------------------------------------------------------------------------------------------------------


def _number(expected: Expected, value: float, unit: str | None) -> Judged:
    """A unit that is not known, on either side, says nothing against the number."""
    wanted = expected.unit
    one, other = _dimension(unit), _dimension(wanted)
    if one and other and one != other:
        return Judged(False, value, unit, f"in {unit}, which is no {wanted}")
    converted = convert(value, unit, wanted)
    right = abs(converted - float(expected.value)) <= expected.tolerance + _ROUNDING * max(1.0, abs(converted))
    shown = wanted if wanted is not None and (unit is None or other) else unit
    return Judged(right, converted, shown, None if right else "another number")


def _dimension(unit: str | None) -> str | None:
    """What amounts can be reckoned with: the code of a currency, the base of a unit; None for what is not known."""
    name = (unit or "").casefold()
    if name in CURRENCIES:
        return CURRENCIES[name]
    return UNITS[name].base if name in UNITS else None


def convert(value: float, unit: str | None, wanted: str | None) -> float:
    """A value in the unit that is wanted, where both are known units of one kind; else as it is."""
    one, other = UNITS.get((unit or "").casefold()), UNITS.get((wanted or "").casefold())
    if one is None or other is None or one.base != other.base or one == other:
        return value
    return (value * one.factor + one.shift - other.shift) / other.factor
