"""Schemas and their changes as rows of the store, and back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from operators.induce.attributes import Attribute, name_of_key
from operators.induce.induction import Induced, SchemaChange, TableColumn, TableSchema
from operators.records import TENANT, USER


def schema_row(scope: tuple[str, str], schema: TableSchema) -> dict[str, Any]:
    """A schema as a row of ``records.TABLES`` without records; user ``""`` for one that a tenant's users have in common."""
    columns = [
        {
            "name": each.name,
            "kind": each.kind,
            "unit": each.unit,
            "names": [name.key() for name in each.names],
            "samples": [],
        }
        for each in schema.columns
    ]
    return {
        TENANT: scope[0],
        USER: scope[1],
        "table": schema.name,
        "description": "",
        "columns": columns,
        "support": schema.support,
        "all_confidence": schema.all_confidence,
        "rows": 0,
        "start": 0,
        "bytes": 0,
        "dates": [],
        "made_of": "",
    }


def schema_of(row: Mapping[str, Any]) -> TableSchema:
    """The schema that a row of ``records.TABLES`` tells."""
    columns = tuple(
        TableColumn(each["name"], each["kind"], each["unit"], tuple(map(name_of_key, each["names"])))
        for each in row["columns"]
    )
    return TableSchema(row["table"], columns, row["support"], row["all_confidence"])


def change_row(scope: tuple[str, str], run_id: str, rounds: int, change: SchemaChange) -> dict[str, Any]:
    """A change as a row of ``records.SCHEMA_CHANGES``."""
    return {
        TENANT: scope[0],
        USER: scope[1],
        "run_id": run_id,
        "rounds": rounds,
        "change": change.change,
        "table": change.table,
        "columns": list(change.columns),
        "added": list(change.added),
        "support": change.support,
        "all_confidence": change.all_confidence,
        "ext_confidence": change.ext_confidence,
        "why": change.why,
    }


def as_shared(schemas: Sequence[TableSchema]) -> Induced:
    """Schemas as the users of a tenant are given them."""
    columns = {column.names: column for schema in schemas for column in schema.columns}
    attributes = tuple(Attribute(each.name, each.kind, each.unit, names, "") for names, each in columns.items())
    return Induced(attributes, tuple(schemas), ())
