"""The packaged encoder end to end: meaning is found, the end of a long text too, and a store keeps to its encoder."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from operators.memory import open_store

REPO = Path(__file__).resolve().parents[2]
TALK = [
    ("The dentist moved my appointment to Thursday.", "I will remind you."),
    ("Our flight to Lisbon leaves at seven.", "Have a safe trip."),
    ("My landlord raised the rent again.", "That is frustrating."),
    ("I repotted the tomato plants on the balcony.", "They will grow well."),
    ("The violin recital went better than I feared.", "Congratulations!"),
    ("We argued about the budget for the kitchen.", "Was it solved?"),
    ("My bicycle chain snapped on the way to work.", "Did you walk?"),
    ("I started learning to bake sourdough.", "How did it turn out?"),
    ("The committee rejected my thesis title.", "Try another wording."),
    ("I watched a meteor shower with Daniel.", "It must have been lovely."),
]
ENDING = (
    "At the very end we brought home a kitten from the shelter. She purrs, chases yarn and sleeps on the windowsill. "
    "The vet checked her paws and whiskers, and we bought a litter box, a scratching post and little bowls. "
)
LONG = "We spoke at length about the quarterly figures and the seating plan of the office. " * 60 + ENDING * 5


@dataclass(frozen=True)
class Real:
    store: Path
    done: Any


@pytest.fixture(scope="module")
def real(cli: Any, make: Any, sample: Any, tmp_path_factory: pytest.TempPathFactory) -> Real:
    root = tmp_path_factory.mktemp("real")
    filler = [(f"Ordinary matter number {n} was put on the list.", "Fine.") for n in range(20)]
    source = make.jsonl(
        root / "h.jsonl",
        [
            make.session("mia", "talk", TALK),
            make.session("mia", "long", [(LONG, "Noted.")], "2024-05-01"),
            make.session("mia", "filler", filler, "2024-06-01"),
        ],
    )
    done = cli.backfill(source, store=root / "store", config=None)
    cli.backfill(sample.folder, store=root / "sample", config=None)
    return Real(root / "store", done)


@pytest.mark.parametrize(
    ("query", "round_id"),
    [
        ("musical performance", "talk:5"),
        ("rental price increase by the owner of the flat", "talk:3"),
        ("airplane departure time", "talk:2"),
        ("shooting stars at night", "talk:10"),
    ],
)
def test_meaning_is_found_without_a_shared_word(cli: Any, reads: Any, real: Real, query: str, round_id: str) -> None:
    hits = reads.hits(cli.read("search", query, "--user", "mia", "--store", real.store, "--k", "3"))
    assert round_id in [record["round_id"] for record in hits]


def test_the_end_of_a_text_beyond_the_window_is_found_by_its_meaning(cli: Any, reads: Any, real: Real) -> None:
    hits = reads.hits(cli.read("search", "adopting a cat", "--user", "mia", "--store", real.store, "--k", "2"))
    assert "long:1" in [record["round_id"] for record in hits]


def test_a_long_text_has_several_units(cli: Any, real: Real) -> None:
    assert cli.status(real.store)["units"] > 2 * (len(TALK) + 20 + 1)


def test_python_searches_with_the_stores_encoder(real: Real) -> None:
    found = open_store(str(real.store)).memory("default").search("mia", "musical performance")
    assert "recital" in str(getattr(found, "rounds", found).to_dicts())


def test_the_digest_holds_nothing_of_the_encoder(cli: Any, real: Real, sample_store: Path) -> None:
    assert cli.digest(real.store.parent / "sample") == cli.digest(sample_store)


def test_another_encoder_is_refused_and_both_are_named(cli: Any, sample: Any, real: Real) -> None:
    before = cli.status(real.store)
    done = cli.run("backfill", sample.folder, "--store", real.store, "--config", REPO / "configs" / "test.yaml")
    assert done.code != 0, str(done)
    assert "minilm" in done.err.lower()
    assert "stub" in done.err.lower()
    assert "Traceback" not in done.text
    assert cli.status(real.store) == before
