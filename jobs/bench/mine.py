"""Mining: seconds to find the itemsets of public transactions, beside the miners of other packages.

Every miner starts from the transactions in memory. The others know no all-confidence: they find what has the support, and
what a filter leaves of that is compared with ours. They run in processes of their own, with a limit on time and memory.
"""

from __future__ import annotations

import importlib
import importlib.util
import multiprocessing
import resource
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from jobs.bench.figures import Spread, seconds_of
from operators.errors import UsageError
from operators.induce.mine import mine
from operators.induce.transactions import Itemset, Transactions, all_confidence

Tell = Callable[[str], None]
Sets = list[list[int]]
Found = list[tuple[tuple[int, ...], int]]

_MEMORY = 8 << 30
_PREPARING = 300.0
"""Seconds that another miner has to start and to read the file."""


@dataclass(frozen=True)
class ItemsetSetting:
    """A file with a transaction a line, what stands between its items (None: blanks), and the thresholds."""

    file: str
    separator: str | None
    min_support: int
    min_all_conf: float


ITEMSET_SETTINGS = (
    ItemsetSetting("online-retail.txt", ",", 50, 0.3),
    ItemsetSetting("online-retail.txt", ",", 20, 0.3),
    ItemsetSetting("T10I4D100K.dat", None, 50, 0.3),
)


@dataclass(frozen=True)
class PeerRow:
    """Another miner: its seconds with the filter, whether it found the same; ``said`` in words, also why there is none."""

    miner: str
    seconds: Spread | None
    same: bool | None
    said: str


@dataclass(frozen=True)
class ItemsetRow:
    """One setting: seconds to read the file, to mine it as arrays, and to make the arrays of Python lists and mine them."""

    file: str
    min_support: int
    min_all_conf: float
    transactions: int
    reading: float
    mining: Spread
    from_lists: Spread
    itemsets: int
    longest: int
    peers: list[PeerRow]


def measure_itemsets(
    folder: Path,
    *,
    repeat: int,
    patience: float,
    tell: Tell,
    settings: Sequence[ItemsetSetting] = ITEMSET_SETTINGS,
    memory: int = _MEMORY,
) -> list[ItemsetRow]:
    """A row a setting; a peer that takes more than ``patience`` seconds or ``memory`` bytes is given up.

    UsageError where the folder lacks a file.
    """
    for setting in settings:
        if not (folder / setting.file).is_file():
            raise UsageError(f"--itemsets {str(folder)!r} holds no {setting.file}")
    return [_measure(folder / setting.file, setting, repeat, patience, memory, tell) for setting in settings]


def _measure(path: Path, setting: ItemsetSetting, repeat: int, patience: float, memory: int, tell: Tell) -> ItemsetRow:
    tell(f"{setting.file}, support {setting.min_support}")
    began = time.perf_counter()
    sets = read_sets(path, setting.separator)
    reading = time.perf_counter() - began
    transactions = Transactions.of(sets)
    found = _ours(transactions, setting)
    mining = [seconds_of(lambda: _ours(transactions, setting)) for _ in range(repeat)]
    from_lists = [seconds_of(lambda: _ours(Transactions.of(sets), setting)) for _ in range(repeat)]
    peers = []
    for name in PEERS:
        tell(f"  {name}")
        peers.append(_peer(name, path, setting, found, repeat, patience, memory))
    return ItemsetRow(
        file=setting.file,
        min_support=setting.min_support,
        min_all_conf=setting.min_all_conf,
        transactions=len(transactions),
        reading=reading,
        mining=Spread.of(mining),
        from_lists=Spread.of(from_lists),
        itemsets=len(found),
        longest=max((len(one.items) for one in found), default=0),
        peers=peers,
    )


def read_sets(path: Path, separator: str | None) -> Sets:
    """The file's transactions, their items numbered as they first occur."""
    numbers: dict[str, int] = {}
    with path.open(encoding="utf-8") as lines:
        parts = (line.strip().split(separator) for line in lines)
        return [[numbers.setdefault(item, len(numbers)) for item in items if item] for items in parts]


def _ours(transactions: Transactions, setting: ItemsetSetting) -> list[Itemset]:
    return mine(transactions, min_support=setting.min_support, min_all_conf=setting.min_all_conf)


# --- other miners -----------------------------------------------------------------------------------------------------


def _mlxtend(sets: Sets, min_support: int) -> Callable[[], Found]:
    pandas, patterns = importlib.import_module("pandas"), importlib.import_module("mlxtend.frequent_patterns")
    numpy = importlib.import_module("numpy")
    table = numpy.zeros((len(sets), 1 + max((max(one, default=-1) for one in sets), default=-1)), numpy.bool_)
    for row, one in enumerate(sets):
        table[row, one] = True
    frame = pandas.DataFrame(table)

    def work() -> Found:
        # It takes a share of the transactions, and gives one back.
        found = patterns.fpgrowth(frame, min_support=(min_support - 0.5) / max(1, len(sets)))
        pairs = zip(found["itemsets"], found["support"], strict=True)
        return [(tuple(items), round(share * len(sets))) for items, share in pairs]

    return work


def _pyfim(algorithm: str) -> Callable[[Sets, int], Callable[[], Found]]:
    def prepare(sets: Sets, min_support: int) -> Callable[[], Found]:
        miner = getattr(importlib.import_module("fim"), algorithm)
        # It drops an item that no transaction lacks; an empty transaction changes no support.
        return lambda: miner([*sets, []], target="s", supp=-min_support, zmin=1, report="a")

    return prepare


PEERS: dict[str, tuple[str, Callable[[Sets, int], Callable[[], Found]]]] = {
    "mlxtend fpgrowth": ("mlxtend", _mlxtend),
    "PyFIM eclat": ("fim", _pyfim("eclat")),
    "PyFIM fpgrowth": ("fim", _pyfim("fpgrowth")),
}
"""Name -> the module it needs, and what makes the work to be timed of transactions and a support."""


def passing(found: Iterable[tuple[Sequence[int], int]], min_all_conf: float) -> dict[tuple[int, ...], int]:
    """Of itemsets by support, single items among them, those of at least the all-confidence."""
    found = list(found)
    counts = {items[0]: support for items, support in found if len(items) == 1}
    return {
        tuple(sorted(items)): support
        for items, support in found
        if all_confidence(support, [counts[item] for item in items]) >= min_all_conf
    }


def _peer(
    name: str, path: Path, setting: ItemsetSetting, ours: list[Itemset], repeat: int, patience: float, memory: int
) -> PeerRow:
    if importlib.util.find_spec(PEERS[name][0]) is None:
        return PeerRow(name, None, None, "not installed (pip install 'mnemosaic[bench]')")
    context = multiprocessing.get_context("spawn")
    here, there = context.Pipe(duplex=False)
    process = context.Process(target=_in_process, args=(name, path, setting, repeat, memory, there), daemon=True)
    process.start()
    there.close()
    try:
        return _heard(name, here, ours, repeat, patience)
    finally:
        process.kill()
        process.join()
        here.close()


def _in_process(name: str, path: Path, setting: ItemsetSetting, repeat: int, memory: int, pipe: Connection) -> None:
    """Say when ready, then the seconds of each run, then what was found; or what went wrong, as text."""
    limits = resource.getrlimit(resource.RLIMIT_AS)
    try:
        resource.setrlimit(resource.RLIMIT_AS, (memory, limits[1]))
        work = PEERS[name][1](read_sets(path, setting.separator), setting.min_support)
        pipe.send("ready")
        found: dict[tuple[int, ...], int] = {}
        for _ in range(repeat):
            began = time.perf_counter()
            found = passing(work(), setting.min_all_conf)
            pipe.send(time.perf_counter() - began)
        pipe.send(found)
    except Exception as error:
        resource.setrlimit(resource.RLIMIT_AS, limits)  # to say what is wanting takes memory too
        pipe.send(f"failed: {type(error).__name__}")


def _heard(name: str, pipe: Connection, ours: list[Itemset], repeat: int, patience: float) -> PeerRow:
    """What a miner's process says, as a row."""
    seconds: list[float] = []
    limit = _PREPARING
    while True:
        spread = Spread.of(seconds) if seconds else None
        try:
            if not pipe.poll(limit):
                return PeerRow(name, spread, None, f"given up after {limit:g} s")
            message: Any = pipe.recv()
        except EOFError:
            return PeerRow(name, spread, None, "its process ended, most likely for want of memory")
        if isinstance(message, dict):
            same = message == {one.items: one.support for one in ours}
            return PeerRow(name, spread, same, f"{'the same' if same else 'NOT THE SAME'} ({len(message):,})")
        if isinstance(message, float):
            seconds.append(message)
        elif message != "ready":
            return PeerRow(name, spread, None, message)
        limit = patience if len(seconds) < repeat else _PREPARING
