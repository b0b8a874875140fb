"""What a model may write, as JSON Schema: plans, the arguments of each tool, answers.

All keep to what strict structured output takes: every property is required, none besides; what may be left out is null.
That the examples of ``EXAMPLES`` are calls which the tools accept is tested.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from jsonschema import Draft202012Validator

from operators.ask.model.chat import OutputFault
from operators.ask.steps import ToolName

Schema = Mapping[str, Any]

OPERATIONS = ("count", "sum", "avg", "min", "max", "median", "std", "first", "last", "distinct", "trend")
LEVELS = ("round", "episode", "topic")
KINDS = ("number", "date", "dates", "choice", "yes-no", "text")
STATUSES = ("answered", "no records", "not found")

_TEXT: Schema = {"type": "string"}
_TEXTS: Schema = {"type": "array", "items": _TEXT}
_COUNT: Schema = {"type": "integer", "minimum": 1}


def _or_null(schema: Schema) -> Schema:
    return {"anyOf": [schema, {"type": "null"}]}


def _closed(**properties: Schema) -> Schema:
    return {"type": "object", "properties": properties, "required": [*properties], "additionalProperties": False}


def plan_schema(tools: Sequence[ToolName], most: int) -> Schema:
    """At most ``most`` steps, each a goal and one of ``tools`` (AdaMM, Eq. 10)."""
    step = _closed(goal=_TEXT, tool={"enum": [*tools]})
    return _closed(steps={"type": "array", "items": step, "minItems": 1, "maxItems": most})


def _lookup(table: Schema) -> Schema:
    return _closed(table=table, where=_TEXTS, columns=_or_null(_TEXTS))


def _filter(table: Schema) -> Schema:
    return _closed(table=table, where=_TEXTS, columns=_or_null(_TEXTS), limit=_or_null(_COUNT))


def _compute(table: Schema) -> Schema:
    side = {**_TEXTS, "minItems": 1}
    return _closed(
        table=table,
        where=_TEXTS,
        operation={"enum": [*OPERATIONS]},
        column=_or_null(_TEXT),
        by=_or_null(_TEXT),
        unit=_or_null(_TEXT),
        compare=_or_null(_closed(first=side, second=side)),
    )


def _rank(table: Schema) -> Schema:
    descending = {"type": "boolean"}
    return _closed(table=table, where=_TEXTS, column=_TEXT, n=_COUNT, descending=descending, columns=_or_null(_TEXTS))


_ON_TABLES: dict[str, Callable[[Schema], Schema]] = {
    "lookup": _lookup,
    "filter": _filter,
    "compute": _compute,
    "rank": _rank,
}
_ON_ROUNDS: dict[str, Schema] = {
    "semantic_match": _closed(query=_TEXT, k=_COUNT, level={"enum": [*LEVELS]}),
    "event_locate": _closed(query=_TEXT, k=_COUNT),
    "query": _closed(sql=_TEXT),
}


def arguments_schema(tool: ToolName, tables: Sequence[str]) -> Schema:
    """The arguments of a tool; ``tables``: those that it may name, where it names one."""
    return _ON_TABLES[tool]({"enum": [*tables]}) if tool in _ON_TABLES else _ON_ROUNDS[tool]


def answer_schema(evidence: Sequence[str], pictures: Sequence[str], fixed: Sequence[str] = ()) -> Schema:
    """An answer that says which of ``evidence`` it stands on.

    ``pictures``: names of which it may give some, where a picture is asked for. ``fixed``: the only answers there are.
    """
    told = {"evidence": _some_of(evidence)}
    if pictures:
        told["pictures"] = _some_of(pictures)
    told["status"] = {"enum": [*STATUSES]}
    told["answer"] = {"enum": [*fixed]} if fixed else _TEXT
    if not fixed:
        told["kind"] = {"enum": [*KINDS]}
        told["number"] = _or_null({"type": "number"})
        told["dates"] = _TEXTS
        told["unit"] = _or_null(_TEXT)
    return _closed(**told)


def _some_of(names: Sequence[str]) -> Schema:
    return {"type": "array", "items": {"enum": [*names]}, "maxItems": len(names)}


CAPTION = _closed(caption=_TEXT)
KEYWORDS = _closed(keywords=_TEXTS)

EXAMPLES: dict[ToolName, tuple[Mapping[str, Any], ...]] = {
    "lookup": (
        {"table": "T", "where": ["day = 2026-03-01"], "columns": ["sleep"]},
        {"table": "T", "where": [], "columns": None},
    ),
    "filter": (
        {"table": "T", "where": ["sleep < 6 h", "day >= 2026-03-01"], "columns": None, "limit": None},
        {"table": "T", "where": ['shop contains "corner"'], "columns": ["total"], "limit": 5},
    ),
    "compute": (
        {"table": "T", "where": ["day > 2026-03-04"], "operation": "avg", "column": "sleep", "by": None, "unit": "h",
         "compare": None},
        {"table": "T", "where": [], "operation": "sum", "column": "total", "by": "month", "unit": None, "compare": None},
        {"table": "T", "where": [], "operation": "count", "column": None, "by": None, "unit": None, "compare": None},
        {"table": "T", "where": [], "operation": "avg", "column": "sleep", "by": None, "unit": None,
         "compare": {"first": ["day < 2026-03-04"], "second": ["day > 2026-03-04"]}},
    ),
    "rank": (
        {"table": "T", "where": [], "column": "steps", "n": 3, "descending": True, "columns": None},
        {"table": "T", "where": ["day >= 2026-03"], "column": "total", "n": 1, "descending": False, "columns": ["shop"]},
    ),
    "semantic_match": ({"query": "the name of the cat", "k": 5, "level": "round"},),
    "event_locate": ({"query": "the wrist broke", "k": 1},),
    "query": ({"sql": "SELECT count(*) FROM T"},),
}  # fmt: skip
"""Arguments of each tool, as a model is shown them."""


def check(schema: Schema, data: Mapping[str, Any]) -> None:
    """OutputFault, saying where and by which rule, where ``data`` does not fit a schema."""
    faults = sorted(Draft202012Validator(schema).iter_errors(data), key=lambda fault: (len(fault.path), fault.json_path))
    if faults:
        first = faults[0]
        raise OutputFault(f"{first.json_path}: {_rule(first.validator, first.validator_value)}")


def _rule(name: object, value: object) -> str:
    """What a rule of JSON Schema asks for; what was written instead is not repeated."""
    if name == "enum":
        return f"must be one of: {', '.join(map(str, value if isinstance(value, list) else [value]))}"
    if name == "required":
        return f"needs all of: {', '.join(map(str, value if isinstance(value, list) else [value]))}"
    said = {
        "additionalProperties": "holds a property that there is none of",
        "maxItems": f"has at most {value} items",
        "minItems": f"has at least {value} items",
        "minimum": f"is {value} or more",
        "type": f"must be of type {value}",
        "anyOf": "fits none of its forms",
    }
    return said.get(str(name), f"breaks the rule {name}")
