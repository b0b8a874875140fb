"""``topics``, ``timeline``, ``locate``: what a user's history is about, and when it was."""

from __future__ import annotations

from datetime import date
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from configs.settings import load_settings
from jobs.cli.options import AsOfOption, ConfigOption, JsonOption, StoreOption, TenantOption, parse_as_of
from jobs.cli.output import cell, note, one_line, print_json, print_table
from operators.errors import UsageError
from operators.records import DEFAULT_TENANT, isoformat, require_scope

if TYPE_CHECKING:
    from operators.hierarchy.find import Located
    from operators.hierarchy.nodes import Node
    from operators.memory import Memory

_WIDTH, _NAME_WIDTH = 160, 60

UserOption = Annotated[str | None, typer.Option("--user", metavar="U", help="Whose history. Required.")]


class Level(StrEnum):
    """How far a timeline goes."""

    episode = "episode"
    event = "event"


def register(app: typer.Typer) -> None:
    """Add this family's commands."""
    for command in (topics, timeline, locate):
        app.command()(command)


def open_memory(store: str, tenant: str, user: str | None, as_of: str | None) -> tuple[Memory, str]:
    """One tenant's memory and whose of it is asked for; ScopeError without user."""
    tenant, user = require_scope(tenant, user)
    from operators.memory import open_store

    return open_store(store).memory(tenant, as_of=parse_as_of(as_of)), user


def topics(
    store: StoreOption,
    user: UserOption = None,
    tenant: TenantOption = DEFAULT_TENANT,
    as_of: AsOfOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show what a user's history is about: its topics, those of most rounds first.

    \b
    Examples:
      mnemosaic topics --user mira --store ./memory
    """
    memory, user = open_memory(store, tenant, user, as_of)
    found = sorted(memory.topics(user), key=lambda node: (-len(node.rounds), node.rounds[0].order))
    if as_json:
        print_json({"topics": [node.to_dict(depth=1) for node in found]})
        return
    rows = [
        (
            one_line(node.name, _NAME_WIDTH),
            len(node.children),
            len(node.rounds),
            node.pictures,
            _shown(node.first_day),
            _shown(node.last_day),
            one_line(node.description, _WIDTH),
        )
        for node in found
    ]
    print_table(("topic", "episodes", "rounds", "pictures", "first", "last", "most telling"), rows)
    if not found:
        note(f"no rounds of user '{user}' in tenant '{tenant}'")


def timeline(
    store: StoreOption,
    user: UserOption = None,
    since: Annotated[str | None, typer.Option("--from", metavar="DATE", help="First day, e.g. 2026-01-14.")] = None,
    until: Annotated[str | None, typer.Option("--to", metavar="DATE", help="Last day.")] = None,
    level: Annotated[Level, typer.Option("--level", help="Episodes alone, or each with its events.")] = Level.episode,
    tenant: TenantOption = DEFAULT_TENANT,
    as_of: AsOfOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show a user's history by time: its episodes, with --level event each with its rounds.

    Days are those of the writer's clock. Episodes without a time are shown where no day is asked for.

    \b
    Examples:
      mnemosaic timeline --user mira --store ./memory --from 2026-01-01 --to 2026-01-31
      mnemosaic timeline --user mira --store ./memory --level event --json
    """
    first, last = _day(since, "--from"), _day(until, "--to")
    memory, user = open_memory(store, tenant, user, as_of)
    found = memory.timeline(user, first, last)
    depth = 1 if level is Level.event else 0
    if as_json:
        print_json({"episodes": [node.to_dict(depth) for node in found]})
        return
    for node in found:
        _print_episode(node, events=depth > 0)
    if not found:
        asked = "" if first is None and last is None else " in these days"
        note(f"no episodes of user '{user}' in tenant '{tenant}'{asked}")


def _print_episode(node: Node, *, events: bool) -> None:
    counts = (_counted(len(node.rounds), "round"), *([_counted(node.pictures, "picture")] if node.pictures else ()))
    named = f"  {one_line(node.name, _NAME_WIDTH)}" if node.name else ""
    print(f"{_days(node.first_day, node.last_day)}{named}  ({', '.join(counts)})")
    if not events:
        print(f"    {one_line(node.description, _WIDTH)}")
        return
    for event in node.children:
        print(f"    {cell(event.rounds[0].round_id)}  {one_line(event.description, _WIDTH)}")


def _counted(count: int, what: str) -> str:
    return f"{count:,} {what}" if count == 1 else f"{count:,} {what}s"


def locate(
    query: Annotated[str, typer.Argument(help="What happened, in words.")],
    store: StoreOption,
    user: UserOption = None,
    k: Annotated[int, typer.Option("--k", min=1, metavar="N", help="Most intervals.")] = 1,
    tenant: TenantOption = DEFAULT_TENANT,
    as_of: AsOfOption = None,
    config: ConfigOption = None,
    as_json: JsonOption = False,
) -> None:
    """Say when something happened, and which rounds say so; nothing where no round tells of it.

    "Yesterday", "last Friday" or a date in the text name the day; else it is the one on which it was said.

    \b
    Examples:
      mnemosaic locate "when I went to the hospital" --user mira --store ./memory
    """
    memory, user = open_memory(store, tenant, user, as_of)
    settings = load_settings(config).hierarchy
    found = memory.event_locate(user, query, k=k, weight=settings.weight, least=settings.least)
    if as_json:
        print_json({"found": [each.to_dict() for each in found]})
        return
    for each in found:
        _print_located(each)
    if not found:
        note(f"nothing in the history of user '{user}' in tenant '{tenant}' tells of this")


def _print_located(each: Located) -> None:
    told = " by its words" if each.told else ""
    print(f"{_days(each.first_day, each.last_day)}{told}  confidence {each.confidence:.2f}")
    if each.start is not None:
        print(f"    from {isoformat(each.start)} to {isoformat(each.end)}")
    print(f"    in {', '.join(cell(ref.round_id) for ref in each.rounds)}")
    print(f"    {one_line(each.event.description, _WIDTH)}")
    print(f"    of the episode of {_days(each.episode.first_day, each.episode.last_day)}: {cell(each.episode.name)}")


def _days(first: date | None, last: date | None) -> str:
    if first is None:
        return "time unknown"
    return first.isoformat() if last in (first, None) else f"{first} to {last}"


def _shown(day: date | None) -> str | None:
    return None if day is None else day.isoformat()


def _day(text: str | None, option: str) -> date | None:
    if text is None:
        return None
    try:
        return date.fromisoformat(text)
    except ValueError as error:
        raise UsageError(f"{option} {text!r} is no day such as 2026-01-14") from error
