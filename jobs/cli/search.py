"""``search``: the rounds of one user that answer a question."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Annotated, Any

import typer

from configs.settings import load_settings
from jobs.cli.options import AsOfOption, ConfigOption, JsonOption, StoreOption, TenantOption, parse_as_of
from jobs.cli.output import cell, note, one_line, print_json, told_time
from operators.records import DEFAULT_TENANT, require_scope

_MESSAGE_WIDTH, _SPEAKER_WIDTH = 240, 24


def register(app: typer.Typer) -> None:
    """Add this family's commands."""
    app.command()(search)


def search(
    query: Annotated[str, typer.Argument(help="What is looked for, in words.")],
    store: StoreOption,
    user: Annotated[str | None, typer.Option("--user", metavar="U", help="Whose rounds are searched. Required.")] = None,
    tenant: TenantOption = DEFAULT_TENANT,
    k: Annotated[int | None, typer.Option("--k", min=1, metavar="N", help="Rounds to find. [settings: 12]")] = None,
    neighbours: Annotated[
        int | None,
        typer.Option("--neighbours", min=0, metavar="N", help="Rounds shown before and after each. [settings: 1]"),
    ] = None,
    as_of: AsOfOption = None,
    config: ConfigOption = None,
    as_json: JsonOption = False,
) -> None:
    """Find the rounds of one user that answer a question.

    Rounds are ranked by meaning and by words, fused. The best come first, each with the rounds around it; * marks a round
    that was found, with its score.

    \b
    Examples:
      mnemosaic search "when was the cast taken off?" --user mira --store ./memory
      mnemosaic search "bottom bracket" --user tomas --store ./memory --k 3 --json
    """
    tenant, user = require_scope(tenant, user)
    moment_or_version = parse_as_of(as_of)
    settings = load_settings(config).retrieval
    from operators.memory import open_store

    found = (
        open_store(store)
        .memory(tenant, as_of=moment_or_version)
        .search(
            user,
            query,
            k=settings.k if k is None else k,
            neighbours=settings.neighbours if neighbours is None else neighbours,
            kappa=settings.kappa,
            pool=settings.pool,
            signals=settings.signals,
        )
    )
    if as_json:
        print_json(found.to_dict())
        return
    print_runs(found.rounds.to_dicts())
    if found.rounds.is_empty():
        note(f"nothing found of user '{user}' in tenant '{tenant}'")


def print_runs(rounds: Sequence[dict[str, Any]]) -> None:
    """Rounds with their neighbours: runs of rounds that follow each other, the run with the best score first."""
    ranked = sorted(((_best(run), run) for run in runs_of(rounds)), key=lambda found: -found[0]["score"])
    for number, (best, run) in enumerate(ranked, start=1):
        print(f"{number}. {cell(best['session_id'])}")
        for row in run:
            _print_round(row)
        print()


def _best(run: Sequence[dict[str, Any]]) -> dict[str, Any]:
    return max((row for row in run if row["score"] is not None), key=lambda row: float(row["score"]))


def runs_of(rounds: Sequence[dict[str, Any]]) -> Iterator[list[dict[str, Any]]]:
    """Rounds in the order of the history, cut where a round is missing between two."""
    run: list[dict[str, Any]] = []
    for row in sorted(rounds, key=lambda row: int(row["order"])):
        if run and row["order"] != run[-1]["order"] + 1:
            yield run
            run = []
        run.append(row)
    if run:
        yield run


def _print_round(row: dict[str, Any]) -> None:
    found = row["score"] is not None
    score = f"  score {row['score']:.4f}" if found else ""
    print(f" {'*' if found else ' '} {told_time(row)}  {cell(row['round_id'])}{score}")
    speakers = [one_line(message["speaker"], _SPEAKER_WIDTH) for message in row["messages"]]
    width = max(map(len, speakers), default=0)
    for index, (speaker, message) in enumerate(zip(speakers, row["messages"], strict=True)):
        print(f"     {speaker:<{width}}  {one_line(message['text'], _MESSAGE_WIDTH)}")
        for image in row["images"]:
            if image["message"] == index:
                caption = f": {image['caption']}" if image["caption"] else ""
                print(f"     {'':<{width}}  [picture {one_line(image['reference'] + caption, _MESSAGE_WIDTH)}]")
