"""``bench``: how fast, how large, how good; on this machine, now."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from configs.settings import load_settings
from jobs.cli.options import ConfigOption
from jobs.cli.output import note, print_facts
from operators.errors import UsageError

DataOption = Annotated[
    Path, typer.Option("--data", metavar="DIR", help="Folder that holds mem_gallery/ and locomo/.", show_default=False)
]
FiguresOption = Annotated[
    Path | None, typer.Option("--json", metavar="FILE", help="Write the figures to this file too, with every run.")
]
EncodersOption = Annotated[
    list[str] | None,
    typer.Option("--encoder", metavar="KIND", help="minilm, sentence-transformers or stub; may be repeated. [minilm]"),
]
NumericOption = Annotated[
    str | None, typer.Option("--numeric", metavar="MODE", help="Only this numeric mode, such as int8. [all there are]")
]
ModelOption = Annotated[
    str | None,
    typer.Option("--baseline-model", metavar="PATH|ID", help="Checkpoint for sentence-transformers. [installed package]"),
]
TempOption = Annotated[
    Path | None, typer.Option("--temp", metavar="DIR", help="Where to put what is written. [the system's]", exists=True)
]


def register(app: typer.Typer) -> None:
    """Add this family's commands."""
    bench = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="Measure this installation on this machine.")
    for command in (ingest, scale, search, recall, readers, extract, mine, records, sweep):
        bench.command()(command)
    app.add_typer(bench, name="bench")


def ingest(
    data: DataOption,
    encoder: EncodersOption = None,
    numeric: NumericOption = None,
    baseline_model: ModelOption = None,
    naive: Annotated[bool, typer.Option("--naive", help="Also a call of sentence-transformers for each 64 texts.")] = False,
    repeat: Annotated[int, typer.Option("--repeat", min=1, metavar="R", help="Times everything is measured.")] = 3,
    query_calls: Annotated[int, typer.Option("--queries", min=0, metavar="N", help="Queries timed, each way.")] = 300,
    config: ConfigOption = None,
    figures: FiguresOption = None,
) -> None:
    """Texts a second: the pipeline, the encoder alone, and one call of sentence-transformers, in one run.

    Without sentence-transformers and a checkpoint of all-MiniLM-L6-v2 the last is left out, and said so. Encoders are
    also timed on single queries, on an idle machine and beside processes that use all of it.
    """
    from jobs.bench.ingest import measure_ingest
    from jobs.bench.machine import machine
    from jobs.cli.bench_tables import print_ingest

    host = machine()
    found = measure_ingest(
        data,
        load_settings(config),
        _chosen(encoder, numeric, baseline_model),
        baseline_model=baseline_model,
        repeat=repeat,
        naive=naive,
        query_calls=query_calls,
        tell=note,
    )
    print_ingest(found)
    _close("ingest", host, asdict(found), figures)


def scale(
    sessions: Annotated[
        str, typer.Option("--sessions", metavar="N,N,..", help="Sessions of each backfill.")
    ] = "20000,60000,200000",
    rounds: Annotated[int, typer.Option("--rounds", min=1, metavar="N", help="Rounds a session.")] = 10,
    temp: TempOption = None,
    config: ConfigOption = None,
    figures: FiguresOption = None,
) -> None:
    """Rounds a second and memory of backfills of growing size, with a stub in place of the encoder.

    The histories are invented, about 40 words a round, ten sessions a user. Each size runs in a process of its own, whose
    memory is looked at twice a second together with that of Ray's processes.
    """
    from jobs.bench.machine import machine
    from jobs.bench.scale import measure_scale
    from jobs.cli.bench_tables import print_scale

    host = machine()
    found = measure_scale(_counts(sessions), rounds, load_settings(config), temp=temp, tell=note)
    print_scale(found)
    _close("scale", host, {**asdict(found), "linear": found.is_linear, "flat": found.is_flat}, figures)


def search(
    rounds_of_one: Annotated[int, typer.Option("--one", min=1, metavar="N", help="Rounds of the single user.")] = 400,
    users: Annotated[int, typer.Option("--users", min=1, metavar="N", help="Users of the large store.")] = 1000,
    rounds: Annotated[int, typer.Option("--rounds", min=1, metavar="N", help="Rounds of each of its users.")] = 1000,
    queries: Annotated[int, typer.Option("--queries", min=2, metavar="N", help="Searches timed, each way.")] = 1000,
    temp: TempOption = None,
    config: ConfigOption = None,
    figures: FiguresOption = None,
) -> None:
    """Milliseconds of a search whose query already has its vector.

    First one user, beside NumPy and bm25s by hand on the same units. Then users of a large store: searched for the first
    time by a new reader, and again. Both stores are written by the store's own writers, without a backfill, with invented
    texts and random vectors of 384 numbers.
    """
    from jobs.bench.machine import machine
    from jobs.bench.search import measure_many_users, measure_one_user
    from jobs.cli.bench_tables import print_search

    host = machine()
    retrieval = load_settings(config).retrieval
    one = measure_one_user(rounds_of_one, queries, retrieval, temp=temp, tell=note)
    many = measure_many_users(users, rounds, queries, retrieval, temp=temp, tell=note)
    print_search(one, many)
    _close("search", host, {"one_user": asdict(one), "many_users": asdict(many)}, figures)


def recall(
    data: DataOption,
    encoder: EncodersOption = None,
    numeric: NumericOption = None,
    baseline_model: ModelOption = None,
    config: ConfigOption = None,
    figures: FiguresOption = None,
) -> None:
    """Evidence recall of search on the shared conversations, by signal.

    Of the rounds that answer a question, the share among the k found, and among those with their neighbours; the mean over
    the questions that name their evidence, without LoCoMo's adversarial ones.
    """
    from jobs.bench.machine import machine
    from jobs.bench.recall import measure_recall
    from jobs.cli.bench_tables import print_recall

    host = machine()
    settings = load_settings(config)
    rows = measure_recall(data, settings, _chosen(encoder, numeric, baseline_model), tell=note)
    print_recall(rows, settings.retrieval.k, settings.retrieval.neighbours)
    _close("recall", host, {"rows": [asdict(row) for row in rows]}, figures)


def readers(
    size: Annotated[int, typer.Option("--megabytes", min=1, metavar="N", help="About how large each file is.")] = 20,
    repeat: Annotated[int, typer.Option("--repeat", min=1, metavar="R", help="Times everything is measured.")] = 3,
    temp: TempOption = None,
    config: ConfigOption = None,
    figures: FiguresOption = None,
) -> None:
    """Megabytes and rounds a second of each format's reader, beside the encoder's units a second.

    The histories are invented, about 40 words a round, and read from disk as a backfill reads them, into rounds. Readers
    and encoder take turns in one process; the encoder has one thread.
    """
    from jobs.bench.machine import machine
    from jobs.bench.readers import measure_readers
    from jobs.cli.bench_tables import print_readers

    host = machine()
    found = measure_readers(load_settings(config), size=size * 1_000_000, repeat=repeat, temp=temp, tell=note)
    print_readers(found)
    _close("readers", host, asdict(found), figures)


def extract(
    data: Annotated[Path, typer.Argument(metavar="DATA", help="Folder with wearables/, receipts/, locomo/, mem_gallery/.")],
    sample: Annotated[
        int, typer.Option("--sample", min=0, metavar="N", help="Observations of talks to judge by hand.")
    ] = 100,
    repeat: Annotated[int, typer.Option("--repeat", min=1, metavar="R", help="Times the speed of texts is measured.")] = 3,
    config: ConfigOption = None,
    figures: FiguresOption = None,
) -> None:
    """How much of logged days and scanned receipts is observed, how right, how much of mere talk is, and how fast.

    Histories are backfilled with a stub in place of the encoder. --json also holds the sample of what talks gave.
    """
    from jobs.bench.extract import measure_extract
    from jobs.bench.machine import machine
    from jobs.cli.bench_tables import print_extract

    host = machine()
    found = measure_extract(data, load_settings(config), sample=sample, repeat=repeat, tell=note)
    print_extract(found)
    _close("extract", host, asdict(found), figures)


def mine(
    itemsets: Annotated[
        Path | None,
        typer.Option("--itemsets", metavar="DIR", help="Folder with online-retail.txt and T10I4D100K.dat."),
    ] = None,
    repeat: Annotated[int, typer.Option("--repeat", min=1, metavar="R", help="Times everything is measured.")] = 5,
    patience: Annotated[
        float, typer.Option("--patience", min=0.1, metavar="S", help="Seconds after which another miner is given up.")
    ] = 60.0,
    users: Annotated[
        int, typer.Option("--users", min=0, metavar="N", help="Also induce the tables of so many invented users.")
    ] = 0,
    rounds: Annotated[int, typer.Option("--rounds", min=1, metavar="N", help="Rounds of each of them.")] = 20,
    buckets: Annotated[int, typer.Option("--buckets", min=1, metavar="N", help="Buckets they are spread over.")] = 256,
    append: Annotated[
        float, typer.Option("--append", min=0.0, max=1.0, metavar="P", help="Share of them that tell as much again.")
    ] = 0.01,
    temp: TempOption = None,
    config: ConfigOption = None,
    figures: FiguresOption = None,
) -> None:
    """Seconds to find the itemsets of public transactions by support and all-confidence, beside mlxtend and PyFIM.

    The others know support alone: theirs are filtered afterwards, and compared. Where one is not installed
    (pip install 'mnemosaic[bench]') the table says so. With --users: rounds counted a second, tables induced on Ray, and
    what an append costs of that.
    """
    if itemsets is None and users == 0:
        raise UsageError("name what to measure: --itemsets, --users or both")
    from jobs.bench.machine import machine
    from jobs.cli.bench_tables import print_induce, print_itemsets

    host = machine()
    found: dict[str, Any] = {}
    if itemsets is not None:
        from jobs.bench.mine import measure_itemsets

        rows = measure_itemsets(itemsets, repeat=repeat, patience=patience, tell=note)
        print_itemsets(rows)
        found["itemsets"] = [asdict(row) for row in rows]
    if users:
        from jobs.bench.induce import measure_induce

        induced = measure_induce(users, rounds, buckets, load_settings(config), append=append, temp=temp, tell=note)
        print_induce(induced)
        found["induce"] = asdict(induced)
    _close("mine", host, found, figures)


def records(
    data: Annotated[Path, typer.Option("--data", metavar="DIR", help="Folder that holds wearables/ and receipts/.")],
    store: Annotated[
        str | None, typer.Option("--store", metavar="URI", help="A store that holds their histories. [a new one]")
    ] = None,
    fields: Annotated[
        bool, typer.Option("--fields", help="Receipts tell their given fields in words; their pictures are not read.")
    ] = False,
    config: ConfigOption = None,
    figures: FiguresOption = None,
) -> None:
    """Whether one table holds all that a user logged or posted, and what of it is wrong. --json lists every wrong value.

    Questions about the same data are asked by `mnemosaic evaluate analytic`.
    """
    from jobs.bench.machine import machine
    from jobs.bench.records import measure_records
    from jobs.cli.bench_tables import print_records

    host = machine()
    found = measure_records(data, load_settings(config), store=store, fields=fields, tell=note)
    print_records(found)
    _close("records", host, asdict(found), figures)


def sweep(
    store: Annotated[str, typer.Option("--store", metavar="URI", help="A store of logged days and receipts.")],
    chat: Annotated[str | None, typer.Option("--chat", metavar="URI", help="A store of talks that are no data.")] = None,
    config: ConfigOption = None,
    figures: FiguresOption = None,
) -> None:
    """Which thresholds find one table for all that a user recorded, and the fewest tables in mere talk.

    Every user is induced anew under each setting, in memory; nothing is written. All other settings are those of --config.
    """
    from jobs.bench.machine import machine
    from jobs.bench.sweep import measure_sweep
    from jobs.cli.bench_tables import print_sweep

    host = machine()
    found = measure_sweep(store, chat, load_settings(config), tell=note)
    print_sweep(found)
    _close("sweep", host, asdict(found), figures)


def _chosen(kinds: list[str] | None, numeric: str | None, model: str | None) -> Any:
    """The encoders asked for; for sentence-transformers the model given, else the installed package's."""
    from jobs.bench.baseline import Checkpoint, find_checkpoint
    from jobs.bench.encoders import choices

    found = find_checkpoint(model)
    return choices(kinds or ["minilm"], numeric, found.model if isinstance(found, Checkpoint) else None)


def _counts(text: str) -> list[int]:
    found = [part.strip() for part in text.split(",")]
    if not all(part.isascii() and part.isdigit() and int(part) > 0 for part in found):
        raise UsageError(f"--sessions {text!r} is not a list of numbers such as 20000,60000")
    return [int(part) for part in found]


def _close(name: str, host: Any, found: dict[str, Any], figures: Path | None) -> None:
    """Print what it was measured on, and write the figures where they are wanted."""
    changed = " with changes" if host.changed else ""
    packages = ", ".join(f"{package} {version}" for package, version in host.packages.items())
    print()
    print_facts(
        [
            ("machine", f"{host.cpu} ({', '.join(host.cpu_features) or 'no features known'})"),
            ("cores, RAM", f"{host.cores}, {host.ram_gib} GiB"),
            ("system", f"{host.system}, Python {host.python}"),
            ("packages", packages),
            ("commit", f"{host.commit or 'unknown'}{changed}"),
            ("load before", f"{host.load:.1f}"),
        ]
    )
    if host.load > 0.5:
        note(f"other work was running (load {host.load:.1f}): the figures are lower than the machine's own")
    if figures is None:
        return
    document = {"benchmark": name, "machine": asdict(host), **found}
    try:
        figures.write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")
    except OSError as error:
        raise UsageError(f"--json {figures}: {error.strerror}") from error
