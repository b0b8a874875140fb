"""Units as people write them, and the base unit that each is counted in."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

Kind = Literal["number", "duration", "money", "percent", "date", "time", "ratio", "bool", "text"]


@dataclass(frozen=True)
class Unit:
    """``number * factor + shift`` in this unit is the same in ``base``."""

    base: str
    factor: float = 1.0
    shift: float = 0.0
    kind: Kind = "number"


_TABLE: dict[str, tuple[Kind, dict[float, str]]] = {
    "s": (
        "duration",
        {
            1: "s sec secs second seconds 秒",
            60: "min mins minute minutes minuto minutos minuten minuti мин минут 分 分钟 分鐘",
            3600: "h hr hrs hour hours hora horas stunde stunden std heure heures ora ore ч час часа часов 時間 小时 小時",
            86400: "day days",
            604800: "week weeks wk wks",
        },
    ),
    "m": (
        "number",
        {
            1: "m meter meters metre metres",
            1000: "公里 км km kms kilometer kilometers kilometre kilometres",
            0.01: "cm centimeter centimeters centimetre centimetres",
            0.001: "mm millimeter millimeters millimetre millimetres",
            1609.344: "mi mile miles",
            0.9144: "yd yard yards",
            0.3048: "ft foot feet",
            0.0254: "inch inches",
        },
    ),
    "kg": (
        "number",
        {
            1: "公斤 кг kg kgs kilo kilos kilogram kilograms",
            0.001: "g gr gram grams",
            1e-6: "mg milligram milligrams",
            0.45359237: "lb lbs pound pounds",
            0.028349523125: "oz ounce ounces",
            6.35029318: "stone",
        },
    ),
    "l": (
        "number",
        {
            1: "l liter liters litre litres",
            0.001: "ml milliliter milliliters millilitre millilitres",
            0.01: "cl",
            0.1: "dl",
            0.2365882365: "cup cups",
            0.473176473: "pint pints",
            3.785411784: "gallon gallons gal",
        },
    ),
    "kcal": (
        "number",
        {1: "kcal kcals cal cals calorie calories kilocalorie kilocalories", 1 / 4.184: "kj kilojoule kilojoules"},
    ),
    "kWh": ("number", {1: "kwh", 0.001: "wh", 1000: "mwh"}),
    "W": ("number", {1: "w watt watts", 1000: "kw"}),
    "km/h": ("number", {1: "km/h kmh kph", 1.609344: "mph", 3.6: "m/s"}),
    "s/km": ("number", {60: "min/km"}),
    "m2": ("number", {1: "m2 m² sqm", 0.09290304: "sqft ft2 ft²"}),
    "B": ("number", {1e6: "mb", 1e9: "gb", 1e12: "tb"}),
    "bpm": ("number", {1: "bpm"}),
    "mmHg": ("number", {1: "mmhg"}),
    "steps": ("number", {1: "step steps pasos schritte passi шагов 歩 步"}),
    "mg/dl": ("number", {1: "mg/dl"}),
    "mmol/l": ("number", {1: "mmol/l"}),
    "dB": ("number", {1: "db"}),
}

UNITS: dict[str, Unit] = {
    name: Unit(base, factor, kind=kind)
    for base, (kind, rows) in _TABLE.items()
    for factor, names in rows.items()
    for name in names.split()
} | {
    "°c": Unit("°C"),
    "celsius": Unit("°C"),
    "°f": Unit("°C", 5 / 9, -160 / 9),
    "fahrenheit": Unit("°C", 5 / 9, -160 / 9),
    "%": Unit("%", kind="percent"),
    "percent": Unit("%", kind="percent"),
    "square meters": Unit("m2"),
    "square metres": Unit("m2"),
    "square feet": Unit("m2", 0.09290304),
}
"""By the name folded to lower case. Dietary calories are kilocalories, as on every label and tracker."""

UNIT_NAMES = "|".join(re.escape(name) for name in sorted(UNITS, key=len, reverse=True))
"""Alternatives of a regular expression, long names first."""

CURRENCIES = {
    "$": "USD", "us$": "USD", "usd": "USD", "dollar": "USD", "dollars": "USD", "bucks": "USD",
    "€": "EUR", "eur": "EUR", "euro": "EUR", "euros": "EUR",
    "£": "GBP", "gbp": "GBP", "quid": "GBP",
    "¥": "JPY", "jpy": "JPY", "yen": "JPY", "円": "JPY", "cny": "CNY", "rmb": "CNY", "yuan": "CNY", "元": "CNY",
    "rm": "MYR", "myr": "MYR", "ringgit": "MYR", "s$": "SGD", "sgd": "SGD", "a$": "AUD", "aud": "AUD",
    "c$": "CAD", "cad": "CAD", "chf": "CHF", "₹": "INR", "inr": "INR", "rs": "INR", "rupees": "INR",
    "₩": "KRW", "krw": "KRW", "won": "KRW", "sek": "SEK", "nok": "NOK", "dkk": "DKK", "pln": "PLN", "brl": "BRL",
    "r$": "BRL", "mxn": "MXN", "idr": "IDR", "rp": "IDR", "thb": "THB", "฿": "THB", "php": "PHP", "₱": "PHP",
    "vnd": "VND", "₫": "VND", "try": "TRY", "₺": "TRY", "uah": "UAH", "₴": "UAH", "rub": "RUB", "₽": "RUB", "zar": "ZAR",
}  # fmt: skip
"""Currency codes (ISO 4217) by sign and name. ``$`` is read as US and ``¥`` as Japanese money: the signs say no more."""

BEFORE = (
    r"us\$|s\$|a\$|c\$|r\$|[$€£¥₹₩฿₱₫₺₴₽]|(?:usd|eur|gbp|jpy|cny|rmb|rm|myr|sgd|aud|cad|chf|inr|rs|krw|idr|rp|thb|php)\.?"
)
"""Currency signs and codes that stand before an amount."""

_WORDS_ONLY = {"won", "try", "rs", "rp", "rm"}
AFTER = "|".join(re.escape(name) for name in sorted(CURRENCIES, key=len, reverse=True) if name not in _WORDS_ONLY)
"""Those that stand after one."""
