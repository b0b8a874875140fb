"""``status``, ``users``, ``show``, ``quarantine``: what a store holds."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from configs.settings import load_settings
from jobs.cli.backfill import print_notes
from jobs.cli.options import AsOfOption, ConfigOption, JsonOption, StoreOption, TenantOption, parse_as_of
from jobs.cli.output import cell, moment, note, print_facts, print_json, print_table, printable, told_time
from jobs.cli.progress import live_progress
from jobs.cli.reading import (
    ColumnsOption,
    FormatOption,
    OwnerOption,
    RayAddressOption,
    TimezoneOption,
    check_reading,
)
from operators.errors import UsageError
from operators.records import DEFAULT_TENANT, isoformat

if TYPE_CHECKING:
    from operators.store.manifest import Snapshot


def register(app: typer.Typer) -> None:
    """Add this family's commands."""
    app.command()(status)
    app.command()(users)
    app.command()(show)
    app.command()(quarantine)


def status(store: StoreOption, as_of: AsOfOption = None, as_json: JsonOption = False) -> None:
    """What a store holds, over all its tenants.

    Two stores with the same content_digest hold the same conversations, however they were built.

    \b
    Example:
      mnemosaic status --store ./memory
    """
    from operators.memory import open_store

    snapshot = open_store(store).pin(parse_as_of(as_of))
    facts = _status(snapshot)
    if as_json:
        print_json(facts)
        return
    encoder = ", ".join(f"{key}={value}" for key, value in sorted(snapshot.spec.encoder.items()))
    shown = {**facts, "encoder": encoder, "committed_at": moment(snapshot.committed_at)}
    # A version is a name, not an amount: no thousands separators.
    print_facts([("store", store), *((key, str(value) if key == "version" else value) for key, value in shown.items())])


def _status(snapshot: Snapshot) -> dict[str, Any]:
    counts = snapshot.counts
    return {
        "version": snapshot.version,
        "users": counts.users,
        "sessions": counts.sessions,
        "rounds": counts.rounds,
        "units": counts.units,
        "pictures": counts.pictures,
        "observations": snapshot.observations,
        "tables": snapshot.tables,
        "quarantined": snapshot.quarantined,
        "content_digest": snapshot.content_digest,
        "buckets": snapshot.spec.buckets,
        "encoder": dict(snapshot.spec.encoder),
        "committed_at": isoformat(snapshot.committed_at),
    }


def users(
    store: StoreOption, tenant: TenantOption = DEFAULT_TENANT, as_of: AsOfOption = None, as_json: JsonOption = False
) -> None:
    """The users of a tenant and how much each has said.

    \b
    Example:
      mnemosaic users --store ./memory
    """
    from operators.memory import open_store

    rows = open_store(store).memory(tenant, as_of=parse_as_of(as_of)).users().to_dicts()
    columns = ("user_id", "sessions", "rounds", "units", "pictures", "first_time", "last_time")
    if as_json:
        print_json([{column: row[column] for column in columns} for row in rows])
        return
    if not rows:
        note(f"no users in tenant '{tenant}'")
        return
    print_table(
        ("user", "sessions", "rounds", "units", "pictures", "first (UTC)", "last (UTC)"),
        [[_cell(row[column]) for column in columns] for row in rows],
    )


def show(
    user: Annotated[str, typer.Argument(help="Whose conversations.")],
    store: StoreOption,
    session: Annotated[str | None, typer.Argument(help="Print this one in full.")] = None,
    tenant: TenantOption = DEFAULT_TENANT,
    as_of: AsOfOption = None,
    as_json: JsonOption = False,
) -> None:
    """A user's sessions, or one of them in full.

    \b
    Examples:
      mnemosaic show mira --store ./memory
      mnemosaic show mira 2026-01-14-broken-wrist --store ./memory
    """
    from operators.memory import open_store

    memory = open_store(store).memory(tenant, as_of=parse_as_of(as_of))
    if session is None:
        _print_sessions(user, memory.sessions(user).to_dicts(), as_json)
    else:
        rounds = [row for row in memory.rounds(user).to_dicts() if row["session_id"] == session]
        _print_conversation(user, session, rounds, as_json)


def _print_sessions(user: str, rows: list[dict[str, Any]], as_json: bool) -> None:
    columns = ("session_id", "rounds", "pictures", "first_time", "last_time")
    headings = ("session", "rounds", "pictures", "first (UTC)", "last (UTC)")
    if as_json:
        print_json(rows)
    elif rows:
        print_table(headings, [[_cell(row[column]) for column in columns] for row in rows])
    else:
        note(f"no sessions of user '{user}'")


def _print_conversation(user: str, session: str, rounds: list[dict[str, Any]], as_json: bool) -> None:
    if as_json:
        print_json(rounds)
        return
    for row in rounds:
        print(f"# {cell(row['round_id'])}  {told_time(row)}")
        for index, message in enumerate(row["messages"]):
            _print_message(message)
            for image in row["images"]:
                if image["message"] == index:
                    print(f"  [picture {printable(_picture(image))}]")
        print()
    if not rounds:
        note(f"no session '{session}' of user '{user}'")


def _print_message(message: dict[str, Any]) -> None:
    lines = printable(message["text"]).split("\n") if message["text"] else []
    print(f"{cell(message['speaker'])}:")
    for line in lines:
        print(f"  {line}")


def _picture(image: dict[str, Any]) -> str:
    reference = image["reference"]
    name = reference if len(reference) <= 120 else f"{reference[:40]}…"
    state = "" if image["media"] else ", not at hand"
    caption = f": {image['caption']}" if image["caption"] else ""
    return f"{name}{state}{caption}"


def quarantine(
    store: StoreOption,
    tenant: TenantOption = DEFAULT_TENANT,
    as_of: AsOfOption = None,
    retry: Annotated[bool, typer.Option("--retry", help="Read the files again, as they were read before.")] = False,
    user: OwnerOption = None,
    timezone: TimezoneOption = None,
    source_format: FormatOption = "auto",
    columns: ColumnsOption = None,
    config: ConfigOption = None,
    ray_address: RayAddressOption = None,
    as_json: JsonOption = False,
) -> None:
    """What could not be read: file, line and reason. The text itself is not kept.

    A row leaves the quarantine when a later backfill reads its file without the fault. --retry reads all these files again,
    with the options they were read with; --user, --timezone, --format and --map, given with --retry, go before them.

    \b
    Examples:
      mnemosaic quarantine --store ./memory
      mnemosaic quarantine --store ./memory --retry --user mira
    """
    from operators.memory import open_store

    rows = _quarantined(store, open_store(store).pin(parse_as_of(as_of)), tenant)
    if retry:
        mapped = check_reading(source_format, timezone, columns)
        if as_of is not None:
            raise UsageError("--retry reads what is in quarantine now: leave --as-of out")
        _retry(rows, store, tenant, (user, timezone, source_format, mapped), config, ray_address, as_json)
        return
    if (user, timezone, source_format, columns, config, ray_address) != (None, None, "auto", None, None, None):
        raise UsageError("--user, --timezone, --format, --map, --config, --ray-address say how to read again: add --retry")
    names = ("file", "line", "round_id", "code", "reason")
    if as_json:
        print_json([{name: row[name] for name in names} for row in rows])
        return
    if not rows:
        note(f"nothing of tenant '{tenant}' is in quarantine")
        return
    print_table(
        ("file", "line", "round", "code", "reason"),
        [[_cell(row["file"]), _number(row["line"]), *(row[name] for name in names[2:])] for row in rows],
    )


def _retry(
    rows: list[dict[str, Any]],
    store: str,
    tenant: str,
    reading: tuple[str | None, str | None, str, dict[str, str] | None],
    config: Path | None,
    ray_address: str | None,
    as_json: bool,
) -> None:
    from jobs.backfill import BackfillRequest
    from jobs.retry import retry
    from operators.memory import open_store

    user, timezone, source_format, columns = reading
    settings = load_settings(config)
    address = ray_address if ray_address is not None else settings.ray.address
    request = BackfillRequest((), store, tenant, user, timezone, source_format, address, columns)
    with live_progress() as progress:
        done = retry(rows, request, settings, progress)
    left = len(_quarantined(store, open_store(store).pin(), tenant))
    added = sum(report.added + report.replaced for report in done.reports)
    facts = {"tried": len(rows), "rounds": added, "quarantined": left, "gone": len(done.gone)}
    if as_json:
        print_json({**facts, "gone": list(done.gone)})
    else:
        print_facts(list(facts.items()))
    for report in done.reports:
        print_notes(report, store)
    for name in done.gone:
        note(f"no longer there: {printable(name)}")


def _quarantined(store: str, snapshot: Snapshot, tenant: str) -> list[dict[str, Any]]:
    from operators.store.opening import open_objects
    from operators.store.tables import read_table

    if snapshot.quarantine is None:
        return []
    rows: list[dict[str, Any]] = read_table(open_objects(store), snapshot.quarantine).to_pylist()
    return [row for row in rows if row["tenant_id"] == tenant]


def _cell(value: Any) -> str | int | float | None:
    if isinstance(value, str | int | float) or value is None:
        return value
    return moment(value)


def _number(line: int | None) -> str | None:
    """A line number is a name, not an amount: no thousands separators."""
    return None if line is None else str(line)
