"""The miners' benchmark: small files, and other miners that answer, disagree, fail or do not come back."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from jobs.bench.mine import PEERS, ItemsetSetting, measure_itemsets, passing, read_sets
from jobs.cli.bench_tables import print_itemsets
from operators.errors import UsageError

SETTINGS = (ItemsetSetting("shop.txt", ",", 2, 0.5), ItemsetSetting("numbers.dat", None, 2, 0.5))
EXPECTED = {(0,): 4, (1,): 3, (2,): 2, (0, 1): 3, (0, 2): 2, (1, 2): 2, (0, 1, 2): 2}
STAND_IN = """
from itertools import combinations
import os, time

def eclat(sets, target, supp, zmin, report):
    {eclat}
    items = sorted({{item for one in sets for item in one}})
    found = [c for n in range(1, len(items) + 1) for c in combinations(items, n)]
    counted = [(c, sum(set(c) <= set(one) for one in sets)) for c in found]
    return [(c, n) for c, n in counted if n >= -supp]

def fpgrowth(*args, **named):
    {fpgrowth}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "shop.txt").write_text("tea,milk,sugar\nmilk,tea\ntea,milk,sugar\ntea\n", encoding="utf-8")
    (tmp_path / "numbers.dat").write_text("7 8 9 \n8 7 \n7 9 8 \n7 \n", encoding="utf-8")
    return tmp_path


@pytest.fixture
def pyfim(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Puts a stand-in for PyFIM where the processes find it."""

    def put(eclat: str = "pass", fpgrowth: str = "return eclat(*args, **named)") -> None:
        place = tmp_path / "stand-in"
        place.mkdir()
        (place / "fim.py").write_text(STAND_IN.format(eclat=eclat, fpgrowth=fpgrowth), encoding="utf-8")
        monkeypatch.syspath_prepend(place)
        monkeypatch.delitem(PEERS, "mlxtend fpgrowth")

    return put


def test_items_are_numbered_as_they_occur(folder: Path) -> None:
    assert read_sets(folder / "shop.txt", ",") == [[0, 1, 2], [1, 0], [0, 1, 2], [0]]
    assert read_sets(folder / "numbers.dat", None) == [[0, 1, 2], [1, 0], [0, 2, 1], [0]]


def test_what_has_the_support_is_filtered() -> None:
    assert passing([((0,), 4), ((1,), 2), ((1, 0), 1)], 0.25) == {(0,): 4, (1,): 2, (0, 1): 1}
    assert passing([((0,), 4), ((1,), 2), ((1, 0), 1)], 0.26) == {(0,): 4, (1,): 2}


def test_every_setting_is_measured(folder: Path, pyfim: Callable[..., None], capsys: pytest.CaptureFixture[str]) -> None:
    pyfim(fpgrowth="return [((0,), 9)]")
    told: list[str] = []
    rows = measure_itemsets(folder, repeat=2, patience=30.0, tell=told.append, settings=SETTINGS)
    assert [(row.file, row.transactions, row.itemsets, row.longest) for row in rows] == [
        ("shop.txt", 4, len(EXPECTED), 3),
        ("numbers.dat", 4, len(EXPECTED), 3),
    ]
    for row in rows:
        assert row.mining.runs == row.from_lists.runs == 2
        assert [(peer.miner, peer.same, peer.said) for peer in row.peers] == [
            ("PyFIM eclat", True, "the same (7)"),
            ("PyFIM fpgrowth", False, "NOT THE SAME (1)"),
        ]
        assert all(peer.seconds and peer.seconds.runs == 2 for peer in row.peers)
    assert told == ["shop.txt, support 2", "  PyFIM eclat", "  PyFIM fpgrowth", "numbers.dat, support 2", *told[1:3]]
    print_itemsets(rows)
    out = capsys.readouterr().out
    assert "shop.txt, support 2, all-conf 0.5" in out and "7, longest 3" in out and "NOT THE SAME (1)" in out


def test_who_does_not_come_back_is_given_up(folder: Path, pyfim: Callable[..., None]) -> None:
    pyfim(eclat="time.sleep(600)", fpgrowth="os._exit(9)")
    (row,) = measure_itemsets(folder, repeat=1, patience=0.5, tell=lambda _: None, settings=SETTINGS[:1])
    assert [(peer.seconds, peer.same) for peer in row.peers] == [(None, None)] * 2
    assert [peer.said for peer in row.peers] == ["given up after 0.5 s", "its process ended, most likely for want of memory"]


def test_who_takes_too_much_memory_fails(folder: Path, pyfim: Callable[..., None]) -> None:
    pyfim(eclat="bytearray(1 << 36)", fpgrowth="raise ValueError")
    (row,) = measure_itemsets(folder, repeat=1, patience=30.0, tell=lambda _: None, settings=SETTINGS[:1])
    assert [peer.said for peer in row.peers] == ["failed: MemoryError", "failed: ValueError"]


def test_who_is_not_installed_is_said_to_be_so(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("jobs.bench.mine.importlib.util.find_spec", lambda _: None)
    rows = measure_itemsets(folder, repeat=1, patience=1.0, tell=lambda _: None, settings=SETTINGS)
    assert {peer.said for row in rows for peer in row.peers} == {"not installed (pip install 'mnemosaic[bench]')"}
    print_itemsets(rows)
    assert capsys.readouterr().out.count("not installed") == 2 * len(PEERS)


@pytest.mark.parametrize("name", list(PEERS))
def test_the_real_miners_find_the_same(name: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip(PEERS[name][0])
    for other in set(PEERS) - {name}:
        monkeypatch.delitem(PEERS, other)
    (row,) = measure_itemsets(folder, repeat=1, patience=60.0, tell=lambda _: None, settings=SETTINGS[:1])
    assert [peer.said for peer in row.peers] == ["the same (7)"]


def test_a_folder_without_the_files_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"holds no online-retail\.txt"):
        measure_itemsets(tmp_path, repeat=1, patience=1.0, tell=lambda _: None)


def test_the_command_writes_its_figures(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from jobs.cli.main import main

    monkeypatch.setattr("jobs.bench.mine.PEERS", {})
    (folder / "shop.txt").rename(folder / "online-retail.txt")
    (folder / "numbers.dat").rename(folder / "T10I4D100K.dat")
    path = folder / "figures.json"
    assert main(["bench", "mine", "--itemsets", str(folder), "--repeat", "1", "--json", str(path)]) == 0
    document = json.loads(path.read_text(encoding="utf-8"))
    assert document["benchmark"] == "mine"
    assert [row["min_support"] for row in document["itemsets"]] == [50, 20, 50]
