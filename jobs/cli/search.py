"""``search``: the rounds of one user that answer a question."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from configs.settings import PictureSettings, load_settings
from jobs.cli.options import AsOfOption, ConfigOption, JsonOption, StoreOption, TenantOption, parse_as_of
from jobs.cli.output import cell, note, one_line, print_json, told_time
from operators.errors import UsageError
from operators.records import DEFAULT_TENANT, require_scope

_MESSAGE_WIDTH, _SPEAKER_WIDTH = 240, 24


def register(app: typer.Typer) -> None:
    """Add this family's commands."""
    app.command()(search)


def search(
    store: StoreOption,
    query: Annotated[str, typer.Argument(help="What is looked for, in words. With --image it may be left out.")] = "",
    user: Annotated[str | None, typer.Option("--user", metavar="U", help="Whose rounds are searched. Required.")] = None,
    tenant: TenantOption = DEFAULT_TENANT,
    image: Annotated[
        Path | None,
        typer.Option(
            "--image", metavar="FILE", help="A picture that belongs to the question: rounds that show it, or its like."
        ),
    ] = None,
    caption: Annotated[
        str | None,
        typer.Option(
            "--caption",
            metavar="TEXT",
            help="What a picture that belongs to the question shows, with or without the picture itself.",
        ),
    ] = None,
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

    What is asked for, rounds or pictures, decides what is searched; meaning and words are fused. The best come first, each
    with the rounds around it; * marks a round that was found, with its score.

    \b
    Examples:
      mnemosaic search "when was the cast taken off?" --user mira --store ./memory
      mnemosaic search "bottom bracket" --user tomas --store ./memory --k 3 --json
      mnemosaic search "what breed is this?" --image photo.jpg --user mira --store ./memory
    """
    tenant, user = require_scope(tenant, user)
    moment_or_version = parse_as_of(as_of)
    loaded = load_settings(config)
    picture = None if image is None else read_picture(image, loaded.pictures)
    from operators.memory import open_store

    found = (
        open_store(store)
        .memory(tenant, as_of=moment_or_version)
        .search(
            user,
            query,
            k=k,
            neighbours=neighbours,
            values=loaded.retrieval.values(),
            image=picture,
            caption=caption,
        )
    )
    if as_json:
        print_json(found.to_dict())
        return
    print_runs(found.rounds.to_dicts())
    if found.rounds.is_empty():
        note(f"nothing found of user '{user}' in tenant '{tenant}'")


def read_picture(path: Path, limits: PictureSettings) -> bytes:
    """The bytes of a picture file; UsageError, saying what is accepted, for what is none or is beyond the limits."""
    from operators.errors import PictureError
    from operators.sources.media import FORMATS, PictureLimits, check_picture

    accepted = f"give a {', '.join(FORMATS)} file of at most {limits.max_bytes:,} bytes and {limits.max_pixels:,} pixels"
    try:
        if not path.is_file():
            raise UsageError(f"--image {path} is no file: {accepted}")
        with path.open("rb") as file:
            data = file.read(limits.max_bytes + 1)
        if not data:
            raise UsageError(f"--image {path} is empty: {accepted}")
        check_picture(data, PictureLimits(limits.max_bytes, limits.max_pixels))
    except OSError as error:
        raise UsageError(f"--image {path} cannot be read ({error.strerror}): {accepted}") from error
    except PictureError as error:
        raise UsageError(f"--image {path} is not accepted, {error}: {accepted}") from error
    return data


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
