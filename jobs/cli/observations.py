"""``observations``: what was found of a user, attribute by attribute, and where it stands; or what is in one picture."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from configs.settings import load_settings
from jobs.cli.options import AsOfOption, ConfigOption, JsonOption, TenantOption, parse_as_of
from jobs.cli.output import note, one_line, print_json, print_table, told_duration
from operators.errors import UsageError
from operators.records import DEFAULT_TENANT, require_scope

if TYPE_CHECKING:
    from operators.extract.extraction import Extraction

_WIDTH = 60


def register(app: typer.Typer) -> None:
    """Add this family's commands."""
    app.command()(observations)


def observations(
    store: Annotated[
        str | None,
        typer.Option("--store", metavar="URI", help="The store: a folder or s3://bucket/prefix.", show_default=False),
    ] = None,
    user: Annotated[
        str | None, typer.Option("--user", metavar="U", help="Whose observations. Required with --store.")
    ] = None,
    tenant: TenantOption = DEFAULT_TENANT,
    round_id: Annotated[str | None, typer.Option("--round", metavar="R", help="Only those of this round.")] = None,
    corrected: Annotated[bool, typer.Option("--corrected", help="Those that were taken back later too.")] = False,
    picture: Annotated[
        Path | None, typer.Option("--picture", metavar="FILE", help="Read this picture instead of a store.")
    ] = None,
    as_of: AsOfOption = None,
    config: ConfigOption = None,
    as_json: JsonOption = False,
) -> None:
    """Attributes and their values, as a user's rounds and pictures tell them, each with where it stands.

    \b
    Examples:
      mnemosaic observations --user mira --store ./memory
      mnemosaic observations --picture receipt.jpg --json
    """
    if picture is not None:
        if store is not None or user is not None or round_id is not None:
            raise UsageError("--picture reads one file: leave --store, --user and --round out")
        rows = _of_picture(picture, load_settings(config).extract.chosen())
        _print(rows, as_json)
        return
    if store is None:
        raise UsageError("name a store (--store) or a picture (--picture)")
    tenant, user = require_scope(tenant, user)
    from operators.memory import open_store

    memory = open_store(store).memory(tenant, as_of=parse_as_of(as_of))
    rows = memory.observations(user, round_id=round_id, corrected=corrected).to_dicts()
    _print(rows, as_json)
    if not rows:
        note(f"nothing observed of user '{user}' in tenant '{tenant}'")


def _of_picture(path: Path, extraction: Extraction) -> list[dict[str, Any]]:
    from operators.extract.rules import observe_alone

    reader = extraction.reader(1)
    if reader is None:
        raise UsageError("the settings switch the reading of pictures off (extract.ocr)")
    try:
        data = path.read_bytes()
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}") from error
    return observe_alone(reader.read(data))


def _print(rows: list[dict[str, Any]], as_json: bool) -> None:
    if as_json:
        print_json({"observations": rows})
        return
    headings = ("round", "record", "attribute", "value", "read as", "doubt", "where", "sure")
    print_table(headings, [_shown(row) for row in rows])


def _shown(row: dict[str, Any]) -> list[str | int | float | None]:
    sure = f"{row['confidence']:.2f}"
    told = [one_line(row["attribute"], _WIDTH), one_line(row["value"], _WIDTH), read_as(row), row["doubt"] or ""]
    return [row["round_id"], str(row["record"]), *told, _where(row), sure]


def read_as(row: dict[str, Any]) -> str:
    """The parsed value for people: ``6 h 24 min``, ``5200 m``, ``2024-05-08``."""
    if row["kind"] == "duration" and row["number"] is not None:
        return told_duration(row["number"])
    if row["number"] is not None:
        unit = row["unit"] or ""
        return f"{row['number']:,.10g}{unit if unit.startswith('/') else f' {unit}'}".strip()
    return one_line(row["parsed"] or "", _WIDTH)


def _where(row: dict[str, Any]) -> str:
    if row["image"] is not None:
        left, top, right, bottom = (round(side) for side in row["box"])
        return f"picture {row['image']} at {left},{top} to {right},{bottom}"
    return f"message {row['message']}, {row['start']} to {row['end']}"
