"""The benchmarks' figures as tables on stdout."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from jobs.bench.figures import Latency, Spread
from jobs.bench.rates import EncoderRates, stage_medians
from jobs.cli.output import note, print_facts, print_table, printable

if TYPE_CHECKING:
    from jobs.bench.extract import ExtractFigures, Share
    from jobs.bench.induce import InduceFigures
    from jobs.bench.ingest import IngestFigures
    from jobs.bench.mine import ItemsetRow
    from jobs.bench.readers import ReaderFigures
    from jobs.bench.recall import RecallRow
    from jobs.bench.records import RecordsFigures
    from jobs.bench.scale import ScaleFigures
    from jobs.bench.search import ManyUsers, OneUser
    from jobs.bench.sweep import Setting, SweepFigures

_MIB = 1 << 20


def print_ingest(found: IngestFigures) -> None:
    """Rates, the seconds of each stage, single queries."""
    print_facts([("distinct texts", found.texts), ("mean characters", found.mean_characters)])
    print()
    _print_rates(found)
    print()
    _print_stages(found.encoders)
    if found.queries:
        print()
        _print_queries(found)
    if found.no_baseline is not None:
        note(f"the baseline was not run: {found.no_baseline}")


def _print_rates(found: IngestFigures) -> None:
    base = found.baseline.whole.median if found.baseline else None
    rows: list[list[str]] = []

    def add(name: str, rate: Spread | float | None, own: float | None = None) -> None:
        middle = rate.median if isinstance(rate, Spread) else rate
        span = f"{rate.least:,.0f} to {rate.most:,.0f}" if isinstance(rate, Spread) else ""
        rows.append([name, _rate(middle), span, _ratio(middle, base), _share(middle, own)])

    if found.baseline:
        add("SentenceTransformer.encode, all texts, batch 64, fp32", found.baseline.whole)
        if found.baseline.per_batch:
            add("  a call for each 64 texts as they arrive", found.baseline.per_batch)
    for encoder in found.encoders:
        own = encoder.alone.median
        add(f"{encoder.encoder}, alone in {found.processes} processes", encoder.alone)
        add("  pipeline: encode stage", encoder.stage, own)
        add("  pipeline: encode stage without starting it", encoder.stage_running, own)
        add("  pipeline: all seconds but start-up", encoder.work, own)
        add("  pipeline: all seconds without starting any stage", encoder.work_running, own)
    print_table(["texts a second", "median", "least to most", "x baseline", "of own best"], rows)


def _print_stages(encoders: Sequence[EncoderRates]) -> None:
    columns = [stage_medians(runs) for encoder in encoders for runs in (encoder.runs, encoder.started)]
    headings = [heading for encoder in encoders for heading in (encoder.encoder, "started only")]
    names = list(dict.fromkeys(name for column in columns for name in column))
    rows = [[name, *(f"{column.get(name, 0.0):.2f}" for column in columns)] for name in names]
    print_table(["seconds (medians)", *headings], rows)


def _print_queries(found: IngestFigures) -> None:
    rows = [[query.encoder, *_ms(query.alone), *_ms(query.beside)] for query in found.queries]
    busy = f"beside {found.queries[0].busy} busy"
    print_table(["one query, ms", "idle p50", "p99", f"{busy} p50", "p99"], rows)


def print_scale(found: ScaleFigures) -> None:
    """A column a size, and what they say together."""
    runs = found.runs
    stages = list(dict.fromkeys(name for run in runs for name in run.stage_seconds))
    rows: list[list[str]] = [
        ["rounds", *(f"{run.rounds:,}" for run in runs)],
        ["source, MiB", *(f"{run.source_bytes / _MIB:,.0f}" for run in runs)],
        ["store, MiB", *(f"{run.store_bytes / _MIB:,.0f}" for run in runs)],
        ["rounds/s without start-up", *(f"{run.rounds_per_second:,.0f}" for run in runs)],
        ["seconds", *(f"{run.seconds:,.1f}" for run in runs)],
        ["  start-up", *(f"{run.startup_seconds:,.1f}" for run in runs)],
        *([f"  {stage}", *(f"{run.stage_seconds.get(stage, 0.0):,.1f}" for run in runs)] for stage in stages),
    ]
    for name, field in _PEAKS:
        rows.append([name, *(f"{getattr(run.peaks, field):,.0f}" for run in runs)])
    print_table(["sessions", *(f"{run.sessions:,}" for run in runs)], rows)
    print()
    print_facts(_verdict(found))


_PEAKS = (
    ("peak MiB: driver, resident", "driver_resident"),
    ("  allocated", "driver_own"),
    ("  largest worker, resident", "worker_resident"),
    ("  allocated", "worker_own"),
    ("  all workers, resident", "workers_resident"),
    ("  allocated", "workers_own"),
    ("raylet, allocated", "raylet_own"),
    ("Ray's other processes, allocated", "other_own"),
    ("object store", "object_store"),
    ("workers at once", "most_workers"),
)


def _verdict(found: ScaleFigures) -> list[tuple[str, str | int | float | None]]:
    from jobs.bench.scale import FLAT, LINEAR

    if found.time is None or found.driver is None or found.worker is None:
        return [("one size", "says nothing about growth")]
    linear, flat = ("yes" if answer else "NO" for answer in (found.is_linear, found.is_flat))
    return [
        ("linear", f"{linear} (seconds grow with rounds to the power {found.time:.2f}; up to {LINEAR} counts)"),
        ("flat", f"{flat} (memory: driver {found.driver:.2f}, largest worker {found.worker:.2f}; up to {FLAT} counts)"),
    ]


def print_search(one: OneUser, many: ManyUsers) -> None:
    """One user, then many."""
    rows = [
        ["Memory.search", *_ms(one.search)],
        ["  its ranking and fusion alone", *_ms(one.index)],
        ["NumPy + bm25s by hand, unfused", *_ms(one.plain)],
    ]
    print_table([f"one user, {one.rounds:,} rounds, {one.units:,} units; ms", "p50", "p99"], rows)
    print()
    rows = [
        ["open the store and pin its version", *_ms(many.opening)],
        [f"cold user, {many.cold.calls:,} of them", *_ms(many.cold)],
        ["cold user, files in the system's cache", *_ms(many.cached)],
        ["warm user", *_ms(many.warm)],
    ]
    size = f"{many.users:,} users, {many.rounds:,} rounds each"
    print_table([f"{size}; ms", "p50", "p99"], rows)
    written = f"{many.store_bytes / _MIB:,.0f} MiB, written by the store's writers in {many.build_seconds:,.0f} s"
    print_facts([("store", written)])


def print_recall(rows: Sequence[RecallRow], k: int, neighbours: int) -> None:
    """A row a benchmark, an encoder and a set of signals; encoders after the first are compared with it."""
    first = {(row.benchmark, row.signals): row.at_k for row in reversed(rows)}
    cells = [
        [
            row.benchmark,
            row.encoder,
            " + ".join(row.signals),
            f"{row.questions:,}",
            f"{row.at_k:.4f}",
            f"{100 * (row.at_k - first[row.benchmark, row.signals]):+.2f}",
            f"{row.with_neighbours:.4f}",
        ]
        for row in rows
    ]
    against = f"points from {rows[0].encoder}"
    print_table(["benchmark", "encoder", "signals", "questions", f"R@{k}", against, f"R@{k}+-{neighbours}"], cells)
    for benchmark, lost in {row.benchmark: row.asked - row.questions for row in rows}.items():
        if lost:
            note(f"{benchmark}: {lost} questions left out, none of their evidence is in the store")


def print_readers(found: ReaderFigures) -> None:
    """A row a reader, and which of them are slower than they should be."""
    from jobs.bench.readers import GOAL

    rows = [
        [
            reader.reader,
            f"{reader.bytes / 1e6:,.1f}",
            f"{reader.rounds:,}",
            f"{reader.megabytes.median:,.1f}",
            f"{reader.rates.median:,.0f}",
            f"{reader.rates.least:,.0f} to {reader.rates.most:,.0f}",
            f"{found.ratio(reader):,.1f}",
        ]
        for reader in found.readers
    ]
    print_table(["reader", "MB", "rounds", "MB/s", "rounds/s", "least to most", "x encoder"], rows)
    print()
    slow = [reader.reader for reader in found.readers if found.ratio(reader) < GOAL]
    print_facts(
        [
            (f"encoder ({found.encoder})", f"{found.units.median:,.0f} units a second in one thread"),
            (f"at least {GOAL:.0f}x", f"all but {', '.join(slow)}" if slow else "all"),
        ]
    )
    if found.left_out:
        note(f"not measured: {', '.join(found.left_out)}")


def _ms(latency: Latency) -> list[str]:
    return [f"{latency.p50:.2f}", f"{latency.p99:.2f}"]


def _rate(value: float | None) -> str:
    return "-" if value is None else f"{value:,.0f}"


def _ratio(value: float | None, base: float | None) -> str:
    return "-" if value is None or base is None else f"{value / base:.2f}"


def _share(value: float | None, own: float | None) -> str:
    return "-" if value is None or own is None else f"{value / own:.0%}"


def print_extract(found: ExtractFigures) -> None:
    """What was observed of each kind of data, and the speed of reading."""
    rows: list[list[str]] = []

    def add(what: str, share: Share) -> None:
        rows.append([what, f"{share.value:.3f}", f"{share.right:,} of {share.of:,}"])

    if found.logs:
        add("logs: values observed (recall)", found.logs.recall)
        add("logs: observed that were logged (precision)", found.logs.precision)
        add("logs: averages, sums, extremes they give", found.logs.answers)
    if found.receipts:
        add("receipts: merchant", found.receipts.merchant)
        add("receipts: date", found.receipts.date)
        add("receipts: total", found.receipts.total)
    if rows:
        print_table(["observed", "share", "count"], rows)
        print()
    speed = found.speed
    facts: list[tuple[str, str | int | float | None]] = []
    if found.talks:
        each = found.talks.observations / max(1, found.talks.rounds)
        facts.append(
            ("talks", f"{found.talks.observations:,} observations in {found.talks.rounds:,} rounds ({each:.4f} a round)")
        )
    facts.append(("rules over text, one thread", f"{speed.observed.median:,.0f} texts/s"))
    ratio = speed.observed.median / speed.encoded.median
    facts.append(
        (f"encoder ({speed.encoder}), one thread", f"{speed.encoded.median:,.0f} texts/s: rules are {ratio:,.0f} x as fast")
    )
    if speed.one_reader:
        facts.append(("one picture reader", f"{1000 / speed.one_reader:,.0f} ms a picture ({speed.pictures} pictures)"))
        scaled = speed.all_readers / speed.one_reader
        facts.append((f"{speed.readers} readers at once", f"{speed.all_readers:.2f} pictures/s, {scaled:.2f} x one"))
    print_facts(facts)


def print_induce(found: InduceFigures) -> None:
    """What induction took of invented users, and what an append took of that."""
    peaks = found.peaks
    print_facts(
        [
            ("users", found.users),
            ("rounds", f"{found.rounds:,} ({found.observations:,} observations, {found.buckets:,} buckets)"),
            ("counted", f"{found.count_rounds_per_second:,.0f} rounds/s, one process"),
            (
                "induced",
                f"{found.full_seconds:.1f} s, {found.full_rounds_per_second:,.0f} rounds/s, {found.tables:,} tables",
            ),
            (
                "appended",
                f"{found.appended_rounds:,} rounds in {found.append_seconds:.1f} s: {found.append_share:.1%} of that",
            ),
            ("memory", f"driver {peaks.driver_own:,.0f} MiB, largest worker {peaks.worker_own:,.0f} MiB, of their own"),
        ]
    )


def print_itemsets(rows: Sequence[ItemsetRow]) -> None:
    """A line a miner and a setting; times as many seconds as ours, from arrays and from the same Python lists."""
    cells: list[list[str]] = []
    for row in rows:
        setting = f"{row.file}, support {row.min_support}, all-conf {row.min_all_conf}"
        ours = row.mining
        found = f"{row.itemsets:,}, longest {row.longest}"
        cells.append([setting, "ours, from arrays", f"{ours.median:.3f}", _from_to(ours), "", "", found])
        cells.append(["", "  from lists", f"{row.from_lists.median:.3f}", _from_to(row.from_lists), "", "", ""])
        for peer in row.peers:
            taken = peer.seconds
            spent = (
                ["-", "", "", ""]
                if taken is None
                else [
                    f"{taken.median:.3f}",
                    _from_to(taken),
                    f"{taken.median / ours.median:.1f}",
                    f"{taken.median / row.from_lists.median:.1f}",
                ]
            )
            cells.append(["", peer.miner, *spent, peer.said])
    print_table(["itemsets", "miner", "seconds", "least to most", "x ours", "x from lists", "found"], cells)
    print()
    reading = dict.fromkeys((row.file, f"{row.reading:.2f} s, {row.transactions:,} transactions") for row in rows)
    print_facts([(f"reading {file}", said) for file, said in reading])


def _from_to(spread: Spread) -> str:
    return f"{spread.least:.3f} to {spread.most:.3f}"


def print_records(found: RecordsFigures) -> None:
    """A row a kind of data, then a row a user."""
    rows = [[name, f"{share.value:.3f}", f"{share.right:,} of {share.of:,}"] for name, share in found.rounds.items()]
    print_table(["records with every value right", "share", "records"], rows)
    print()
    users = [
        [
            user.user_id,
            user.table or "NOT ONE",
            f"{user.tables}",
            f"{user.rounds.right:,} of {user.rounds.of:,}",
            ", ".join(f"{fault.round_id} {fault.field}" for fault in user.faults[:_SHOWN_FAULTS])
            + (f" and {len(user.faults) - _SHOWN_FAULTS} more" if len(user.faults) > _SHOWN_FAULTS else ""),
        ]
        for user in found.users
    ]
    print_table(["user", "one table", "tables", "records all right", "wrong"], users)
    print()
    whole = sum(user.table is not None for user in found.users)
    print_facts([("users with one table for all", f"{whole} of {len(found.users)}")])


_SHOWN_FAULTS = 6


def print_sweep(found: SweepFigures) -> None:
    """A block a support: a row an all-confidence, a column an extension confidence, cells ``users found / noise``."""
    from jobs.bench.sweep import ALL_CONFIDENCES, EXT_CONFIDENCES, SUPPORTS

    cells = {setting.thresholds: setting for setting in found.grid}
    for support in SUPPORTS:
        chosen = {(t.all_confidence, t.ext_confidence): setting for t, setting in cells.items() if t.support == support}
        rows = [
            [f"{whole:.1f}", *(_cell(chosen.get((whole, part)), found.best) for part in EXT_CONFIDENCES)]
            for whole in ALL_CONFIDENCES
        ]
        print_table([f"support {support}: all-conf", *(f"ext {part:.1f}" for part in EXT_CONFIDENCES)], rows)
        print()
    note("a cell: wearers + shoppers with one table / tables a user / tables of talk; * the best, = as good")
    print_facts(
        [
            ("users", f"{found.wearers} wearers, {found.shoppers} shoppers"),
            ("best", _setting(found.best)),
            ("as good", f"{len(found.plateau)} of {len(found.grid)} settings"),
            ("as set now", _setting(found.now)),
        ]
    )
    for name, setting in (("best", found.best), ("now", found.now)):
        for table in setting.talk or ():
            print(f"  talk, {name}: {printable(table)}")


def _cell(setting: Setting | None, best: Setting) -> str:
    if setting is None:
        return ""
    noise = "" if setting.noise is None else f"/{setting.noise}"
    equal = (setting.found, setting.noise) == (best.found, best.noise)
    mark = "*" if setting.thresholds == best.thresholds else "=" if equal else ""
    return f"{setting.wearers}+{setting.shoppers}/{setting.tables:.1f}{noise}{mark}"


def _setting(setting: Setting) -> str:
    told = setting.thresholds
    noise = "" if setting.noise is None else f", {setting.noise} tables of talk"
    return (
        f"support {told.support}, all-confidence {told.all_confidence}, ext-confidence {told.ext_confidence}: "
        f"{setting.wearers} + {setting.shoppers} users found, {setting.tables:.2f} tables and "
        f"{setting.columns:.2f} columns a user{noise}"
    )
