"""What people write, read: values of conditions, quantities in questions, and numbers in the units asked for."""

from __future__ import annotations

from operators.ask.rules.meaning import Quantity
from operators.extract.folding import folded
from operators.extract.values import parse_value
from operators.tables.aggregate import scaled, to_float
from operators.tables.asked import conversion
from operators.tables.columns import Value


def read_value(text: str) -> Value | None:
    """A value as a person writes it in a condition (``7 h``, ``RM 20``, ``2016-04-20``); None for nothing."""
    parsed = parse_value(folded(text))
    return None if parsed is None else Value(parsed.kind, parsed.number, parsed.unit, parsed.text)


def read_quantity(text: str) -> Quantity | None:
    """A quantity as a person writes it (``7 hours``, ``RM 20``), in its base unit; None for what is none."""
    value = read_value(text)
    return None if value is None or value.number is None else Quantity(value.kind, value.number, value.unit)


def convert(value: float, base: str | None, unit: str | None) -> float | None:
    """A number of a base unit in another unit, to ten digits; None where it is not converted into that."""
    if unit is None or unit == base:
        return value
    scale = conversion(base, unit, read_value)
    return None if scale is None or not scale.factor else to_float(scaled(value, scale), converted=True)
