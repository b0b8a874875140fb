"""Questions through the command line: the answer and where it stands, as text and as JSON, of a version and of a time."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from PIL import Image, ImageDraw

from operators.memory import open_store

STEPS = {"2025-03-03": 4100, "2025-03-05": 9900, "2025-03-08": 7300, "2025-03-10": 5200, "2025-03-12": 12_500}
LATER = {"2025-04-02": 3300, "2025-04-06": 8800}
"""Told in the second backfill."""
THEIRS = {"2025-03-03": 31_111, "2025-03-05": 32_222, "2025-03-08": 33_333, "2025-03-10": 34_444}


@dataclass(frozen=True)
class Store:
    """A store of two versions; ``picture``: an edited copy of one that pia showed."""

    uri: Path
    picture: Path


def log(user: str, day: str, steps: int, make: Any) -> Any:
    return make.session(user, f"log-{day}", [(f"Daily log: steps {steps}, coffees: {1 + steps % 3}", "Noted.")], day)


def draw(path: Path, colour: str, place: int) -> Image.Image:
    image = Image.new("RGB", (160, 120), (250, 245, 230))
    ImageDraw.Draw(image).ellipse([place, 20, place + 80, 90], fill=colour)
    ImageDraw.Draw(image).rectangle([100 - place, 95, 150 - place, 115], fill="#404040")
    path.parent.mkdir(parents=True, exist_ok=True)
    image.save(path)
    return image


@pytest.fixture(scope="module")
def store(cli: Any, make: Any, tmp_path_factory: pytest.TempPathFactory) -> Store:
    root = tmp_path_factory.mktemp("ask")
    kite = draw(root / "src" / "kite.png", "#e03030", 5)
    draw(root / "src" / "boat.png", "#3050e0", 60)
    kite.resize((120, 90)).save(root / "kite.jpg", "JPEG", quality=70)
    shown = [
        (make.with_picture("I built this kite with grandpa Eero.", "kite.png"), "Lovely."),
        (make.with_picture("The boat of our neighbour.", "boat.png"), "Nice."),
    ]
    told = [log("pia", day, steps, make) for day, steps in STEPS.items()]
    told.append(make.session("pia", "pictures", shown, "2025-03-20"))
    others = [log("rolf", day, steps, make) for day, steps in THEIRS.items()]
    config = make.config(root / "config.yaml", {"encoder.kind": "minilm", "image_encoder.kind": "efficientnet"})
    make.jsonl(root / "src" / "pia.jsonl", told)
    make.jsonl(root / "src" / "rolf.jsonl", others)
    cli.backfill(root / "src", store=root / "store", config=config)
    make.jsonl(root / "src" / "later.jsonl", [log("pia", day, steps, make) for day, steps in LATER.items()])
    cli.backfill(root / "src", store=root / "store", config=config)
    return Store(root / "store", root / "kite.jpg")


TOTAL = "How many steps did I take in total?"


def asked(cli: Any, store: Store, text: str, *more: str | Path) -> Any:
    return cli.read("ask", text, "--user", "pia", "--store", store.uri, *more)


def test_an_answer_names_the_rounds_it_stands_on(cli: Any, store: Store) -> None:
    done = cli.ok("ask", "What was my highest step count?", "--user", "pia", "--store", store.uri)
    answer, cited = done.out.splitlines()
    assert answer.startswith("12,500")
    assert cited.strip() == "[log-2025-03-12:1]: 12500"
    assert done.err == ""


def test_json_holds_value_and_citations_and_is_the_same_again(cli: Any, store: Store) -> None:
    first, second = (cli.ok("ask", TOTAL, "--user", "pia", "--store", store.uri, "--json").out for _ in range(2))
    assert first == second
    told = json.loads(first)
    every = {**STEPS, **LATER}
    assert (told["version"], told["user_id"], told["status"]) == (2, "pia", "answered")
    assert (told["value"]["type"], told["value"]["value"]) == ("number", sum(every.values()))
    cited = told["citations"]
    assert {each["round_id"]: int(each["text"]) for each in cited} == {f"log-{day}:1": n for day, n in every.items()}
    rounds = open_store(str(store.uri)).memory().rounds("pia")
    texts = {row["round_id"]: row["messages"] for row in rounds.iter_rows(named=True)}
    for each in cited:
        assert texts[each["round_id"]][each["message"]]["text"][each["start"] : each["end"]] == each["text"]
    assert "trace" not in told


def test_explain_shows_context_plan_and_calls(cli: Any, store: Store) -> None:
    words = ("ask", TOTAL, "--user", "pia", "--store", store.uri, "--explain")
    out = cli.ok(*words).out
    assert [line for line in ("planner: rules", "context:", "plan:", "steps:") if line not in out.splitlines()] == []
    trace = cli.read(*words)["trace"]
    assert [step["tool"] for step in trace["plan"]["steps"]] == ["compute"]
    assert trace["steps"][0]["arguments"]["operation"] == "sum"
    assert trace["steps"][0]["result"]["value"] == sum(STEPS.values()) + sum(LATER.values())


def test_as_of_counts_from_a_time_and_hides_what_is_later(cli: Any, store: Store) -> None:
    march = asked(cli, store, TOTAL, "--as-of", "2025-03-08")
    assert march["value"]["value"] == 4100 + 9900 + 7300
    last = asked(cli, store, "How many steps did I take last month?", "--as-of", "2025-04-03T12:00+02:00")
    assert last["value"]["value"] == sum(STEPS.values())


def test_an_earlier_version_does_not_know_what_came_later(cli: Any, store: Store) -> None:
    first = asked(cli, store, TOTAL, "--snapshot", "1")
    assert (first["version"], first["value"]["value"]) == (1, sum(STEPS.values()))


@pytest.mark.parametrize("option", ["--as-of", "--snapshot"])
def test_what_is_no_time_is_refused_by_the_name_of_its_option(cli: Any, store: Store, option: str) -> None:
    done = cli.run("ask", TOTAL, "--user", "pia", "--store", store.uri, option, "yesterday")
    assert done.code == 2
    assert f"{option} 'yesterday'" in done.err


def test_a_picture_of_a_question_leads_to_the_round_that_showed_it(cli: Any, store: Store) -> None:
    told = asked(cli, store, "Who built this kite with me?", "--image", store.picture, "--caption", "a red kite")
    assert "Eero" in told["answer"]
    assert [(each["session_id"], each["order"]) for each in told["citations"]] == [("pictures", 5)]
    wordless = asked(cli, store, "What is this?", "--image", store.picture, "--explain")
    assert wordless["trace"]["steps"][0]["result"]["passages"][0]["round_id"] == "pictures:1"


def test_nobody_is_told_of_another(cli: Any, store: Store) -> None:
    for user, more in (("nobody", ()), ("pia", ("--tenant", "other"))):
        done = cli.ok("ask", TOTAL, "--user", user, "--store", store.uri, *more, "--json", "--explain")
        told = done.json()
        assert told["status"] in ("no records", "not found")
        assert (told["value"], told["citations"]) == (None, [])
    out = cli.ok("ask", "How many steps did rolf take in total?", "--user", "pia", "--store", store.uri, "--explain").out
    assert not any(
        shown in out for steps in (*THEIRS.values(), sum(THEIRS.values())) for shown in (str(steps), f"{steps:,}")
    )


@pytest.mark.parametrize(
    ("words", "code", "why"),
    [
        (("   ", "--user", "pia"), 2, "blank"),
        (("w" * 10_001, "--user", "pia"), 2, "10,001"),
        ((TOTAL,), 2, "--user"),
        ((TOTAL, "--user", "pia", "--as-of", "someday"), 2, "--as-of"),
        ((TOTAL, "--user", "pia", "--snapshot", "99"), 2, "99"),
        ((TOTAL, "--user", "pia", "--image", "gone.png"), 2, "gone.png"),
    ],
    ids=["blank", "too long", "no user", "no time", "no version", "no picture"],
)
def test_what_cannot_be_asked(cli: Any, store: Store, words: tuple[str, ...], code: int, why: str) -> None:
    done = cli.run("ask", *words, "--store", store.uri)
    assert done.code == code, str(done)
    assert why in done.err
    assert "Traceback" not in done.err
    assert done.out == ""


def test_a_question_in_another_script(cli: Any, store: Store) -> None:
    told = asked(cli, store, "私は何歩歩きましたか\uff1f \U0001f6b6")
    assert told["status"] == "not found" or told["citations"]
