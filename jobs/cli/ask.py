"""``ask``: a question about one user, answered with what the answer stands on."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from configs.settings import load_settings
from jobs.asking import model_of
from jobs.cli.options import ConfigOption, JsonOption, StoreOption, TenantOption, parse_as_of, read_time
from jobs.cli.output import note, one_line, print_json
from jobs.cli.search import read_picture
from operators.records import DEFAULT_TENANT, require_scope

if TYPE_CHECKING:
    from operators.ask.outcomes import Citation
    from operators.ask.steps import Answer, Taken

_CITED, _WIDTH, _RESULT = 5, 160, 300


def register(app: typer.Typer) -> None:
    """Add this family's commands."""
    app.command()(ask)


def ask(
    question: Annotated[str, typer.Argument(help="What is asked, in words.")],
    store: StoreOption,
    user: Annotated[str | None, typer.Option("--user", metavar="U", help="Whose memory is asked. Required.")] = None,
    tenant: TenantOption = DEFAULT_TENANT,
    image: Annotated[
        Path | None, typer.Option("--image", metavar="FILE", help="A picture that belongs to the question.")
    ] = None,
    caption: Annotated[str | None, typer.Option("--caption", metavar="TEXT", help="What that picture shows.")] = None,
    as_of: Annotated[
        str | None,
        typer.Option(
            "--as-of",
            metavar="TIME",
            help='Ask as at this time (2026-05-01, 2026-05-01T12:00+02:00): "last month" is counted from it, and what is'
            " later does not count. [now]",
        ),
    ] = None,
    snapshot: Annotated[
        str | None,
        typer.Option("--snapshot", metavar="VERSION|TIME", help="Ask an earlier version of the store. [the newest]"),
    ] = None,
    explain: Annotated[
        bool, typer.Option("--explain", help="Show the planning context, the plan, and each call with its result.")
    ] = False,
    config: ConfigOption = None,
    as_json: JsonOption = False,
) -> None:
    """Answer a question from one user's memory, with citations.

    Averages, totals, counts, extremes, rankings and comparisons are computed over all records of the user's tables; anything
    else is answered from the rounds that a search finds. What memory does not hold is said to be unknown.

    \b
    Examples:
      mnemosaic ask "what was my average sleep after I broke my wrist?" --user mira --store ./memory
      mnemosaic ask "how much did I spend last month?" --user tomas --store ./memory --as-of 2026-03-15
      mnemosaic ask "which food can Pixel not eat?" --user mira --store ./memory --explain
    """
    tenant, user = require_scope(tenant, user)
    now = _moment(as_of)
    loaded = load_settings(config)
    version = parse_as_of(snapshot, "--snapshot")
    picture = None if image is None else read_picture(image, loaded.pictures)
    from operators.memory import open_store

    memory = open_store(store).memory(tenant, as_of=version)
    answer = memory.ask(
        user,
        question,
        now=now,
        until=now,
        image=picture,
        caption=caption,
        values=loaded.asking.values(loaded.hierarchy),
        search=loaded.retrieval.values(),
        model=model_of(loaded),
    )
    if as_json:
        print_json({"version": memory.snapshot.version, "user_id": user, **answer.to_dict(explain=explain)})
        return
    print_answer(answer)
    if explain:
        print_trace(answer)


def _moment(text: str | None) -> datetime | None:
    """A time with its zone (UTC where it has none; of a bare day its end). UsageError."""
    if text is None:
        return None
    found = read_time(text, f"--as-of {text!r} is no time: give one as 2026-05-01 or 2026-05-01T12:00+02:00")
    if len(text) == len("2026-05-01"):
        found = found.replace(hour=23, minute=59, second=59)
    return found.astimezone(UTC)


def print_answer(answer: Answer) -> None:
    """The answer, then where it stands; what must be known of how it was made goes to stderr."""
    print(one_line(answer.text, 10 * _WIDTH))
    rounds: dict[tuple[str, str], list[Citation]] = {}
    for each in answer.citations:
        rounds.setdefault((each.role, each.round_id), []).append(each)
    for (role, round_id), cited in list(rounds.items())[:_CITED]:
        print(f"  [{round_id}]{' when it was' if role == 'event' else ''}{_quoted(cited)}")
    if len(rounds) > _CITED:
        print(f"  and {len(rounds) - _CITED} more rounds (--json names all)")
    for told in answer.trace.notes:
        note(told)


def _quoted(cited: list[Citation]) -> str:
    told = [one_line(each.text, _WIDTH) for each in cited if each.text]
    where = " in a picture" if any(each.kind == "picture" for each in cited) else ""
    return f"{where}: {', '.join(dict.fromkeys(told))}" if told else where


def print_trace(answer: Answer) -> None:
    """What the planner was shown, its plan, and each call with what it found."""
    trace = answer.trace
    print(f"\nplanner: {trace.planner}\ncontext:")
    shown = trace.context.to_dict()
    for each in shown["candidates"]:
        name = f"table {each['table']}" if "table" in each else f"episode {each['episode']}"
        score = "-" if each["score"] is None else f"{each['score']:.3f}"
        print(f"  {score}  {one_line(name, _WIDTH)}: {one_line(each['description'], _WIDTH)}")
        for column in each.get("columns", ()):
            unit = f", {column['unit']}" if column["unit"] else ""
            print(
                f"           {column['name']} ({column['kind']}{unit}): {one_line(', '.join(column['samples'][:3]), _WIDTH)}"
            )
    print(f"tools: {', '.join(shown['tools'])}\nplan:")
    for number, step in enumerate(trace.plan.steps, start=1):
        print(f"  {number}. {step.tool}: {one_line(step.goal, _WIDTH)}")
    print("steps:")
    for number, taken in enumerate(trace.taken, start=1):
        _print_taken(number, taken)


def _print_taken(number: int, taken: Taken) -> None:
    print(f"  {number}. {taken.step.tool} {_arguments(taken.arguments)}")
    for arguments, error in taken.refused:
        print(f"     refused: {_arguments(arguments)}: {one_line(error, _RESULT)}")
    if taken.error is not None:
        print(f"     error: {one_line(taken.error, _RESULT)}")
    elif taken.outcome is not None:
        found = "nothing" if taken.outcome.empty else one_line(_result(taken.outcome.to_dict()), _RESULT)
        print(f"     found: {found}")


def _arguments(arguments: Any) -> str:
    return one_line(
        ", ".join(f"{name}={value}" for name, value in dict(arguments).items() if value not in (None, [])), _RESULT
    )


def _result(found: dict[str, Any]) -> str:
    return ", ".join(f"{name}={value}" for name, value in found.items() if value not in (None, [], ()))
