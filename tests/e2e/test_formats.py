"""Every format of the main job, plain and compressed, from folder, glob and file, in one backfill; times and text exact."""

from __future__ import annotations

import gzip
import json
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import zstandard

from operators.memory import open_store

ODD_SESSION = "week 3/Tag «ß» 🎈?#%2F"
CJK = "京都で紅葉を見て抹茶を飲みました"
ARABIC = "زرت متحف القاهرة مع صديقي"
HEBREW = "קניתי כרטיסים להצגה בתל אביב"
EMOJI = "The 👩‍👩‍👧‍👦 went 🏄🏽‍♀️ at 🇧🇷 today"
COMBINING = "Cafe\u0301 visit with Zoe\u0308 and a\u030a"
DEVANAGARI = "मैंने दिल्ली में समोसे खाए"
UNICODE = (CJK, ARABIC, HEBREW, EMOJI, COMBINING, DEVANAGARI)


@dataclass(frozen=True)
class Built:
    store: Path
    done: Any

    def frame(self, user: str) -> pl.DataFrame:
        return open_store(str(self.store)).memory("default").rounds(user)

    def found(self, user: str, query: str, k: int) -> list[dict[str, Any]]:
        """The rounds that a search in Python finds by themselves, best first."""
        found = open_store(str(self.store)).memory("default").search(user, query, k=k)
        frame = found if isinstance(found, pl.DataFrame) else found.rounds
        return frame.filter(pl.col("score").is_not_null()).sort("score", descending=True).to_dicts()

    def texts(self, user: str) -> list[list[str]]:
        return [[message["text"] for message in messages] for messages in self.frame(user)["messages"].to_list()]


def _locomo() -> dict[str, Any]:
    return {
        "speaker_a": "Caroline",
        "speaker_b": "Melanie",
        "session_1_date_time": "1:56 pm on 8 May, 2023",
        "session_1": [
            {"speaker": "Caroline", "dia_id": "D1:1", "text": "I signed up for the harbour choir."},
            {"speaker": "Melanie", "dia_id": "D1:2", "text": "Lovely, which voice?"},
            {"speaker": "Caroline", "dia_id": "D1:3", "text": "Alto, and look at this."},
            {
                "speaker": "Melanie",
                "dia_id": "D1:4",
                "text": "Mine is here.",
                "img_url": ["https://example.invalid/p.jpg"],
                "blip_caption": "a photo of a copper kettle on a stove",
                "query": "kettle",
            },
            {"speaker": "Caroline", "dia_id": "D1:5", "text": "That is pretty."},
        ],
        "session_2_date_time": "12:09 am on 1 January, 2024",
        "session_2": [
            {"speaker": "Melanie", "dia_id": "D2:1", "text": "Happy new year!"},
            {"speaker": "Caroline", "dia_id": "D2:2", "text": "You too!"},
        ],
        "session_3_date_time": "8:00 am on 2 January, 2024",
        "session_3": [],
    }


def _mem_gallery() -> dict[str, Any]:
    return {
        "character_profile": {"name": "Nora"},
        "multi_session_dialogues": [
            {
                "session_id": "D1",
                "date": "2024-06-25",
                "dialogues": [
                    {"round": "D1:1", "user": "What is a flying buttress?", "assistant": "An outer stone support."},
                    {
                        "round": "D1:2",
                        "user": "Here is my holiday snapshot.",
                        "assistant": "Beautiful stonework.",
                        "image_id": ["D1:IMG_001"],
                        "input_image": ["../image/Nora/D1_IMG_001.jpg"],
                        "image_caption": ["A gothic cathedral with a rose window behind scaffolding"],
                    },
                ],
            },
            {
                "session_id": "D2",
                "date": "2024-07-01",
                "dialogues": [{"round": "D2:1", "user": "And a nave?", "assistant": "The long middle part."}],
            },
        ],
        "human-annotated QAs": [],
    }


def _parquet(path: Path) -> None:
    message = pa.struct([("role", pa.string()), ("content", pa.string()), ("timestamp", pa.string())])
    rows = [
        {
            "user_id": "parquet-user",
            "session_id": f"P{number}",
            "messages": [
                {"role": "user", "content": f"Parquet question {number}", "timestamp": f"2024-05-0{number}T10:00:00Z"},
                {"role": "assistant", "content": f"Parquet answer {number}", "timestamp": f"2024-05-0{number}T10:00:30Z"},
            ],
        }
        for number in (1, 2)
    ]
    schema = pa.schema([("user_id", pa.string()), ("session_id", pa.string()), ("messages", pa.list_(message))])
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.Table.from_pylist(rows, schema=schema), path)


def _timed(make: Any) -> dict[str, Any]:
    messages = []
    stamps = ["2024-01-15T09:00:00", "2024-01-15T09:00:00+05:30", "2024-01-15T09:00:00Z", "2024-01-15", None]
    for number, stamp in enumerate(stamps):
        messages += make.exchange(f"moment {number}", f"noted {number}", stamp, f"T:{number}")
    return {"user_id": "timed", "session_id": "T", "messages": messages}


def _odd_user(make: Any) -> list[dict[str, Any]]:
    filler = [make.session("worldly", f"F{n}", [(f"filler talk {n}", f"filler reply {n}")]) for n in range(30)]
    spoken = make.session("worldly", ODD_SESSION, [(text, f"reply {number}") for number, text in enumerate(UNICODE)])
    return [*filler, spoken]


@pytest.fixture(scope="module")
def built(cli: Any, make: Any, tmp_path_factory: pytest.TempPathFactory) -> Built:
    """One backfill of a folder, a glob and two files, in a time zone."""
    root = tmp_path_factory.mktemp("formats")
    folder, pieces, loose = root / "folder", root / "pieces", root / "loose"
    make.jsonl(folder / "plain.jsonl", [make.session("plain", "S1", [("Plain words", "Yes")])])
    make.jsonl(folder / "deep" / "er" / "packed.jsonl.gz", [make.session("gzipped", "S1", [("Gzip words", "Yes")])])
    make.jsonl(folder / "deep" / "packed.jsonl.zst", [make.session("zstandard", "S1", [("Zstandard words", "Yes")])])
    (folder / "carol.json").write_text(json.dumps(_locomo()))
    wrapped = {"sample_id": "conv-9", "conversation": _locomo(), "qa": [], "observation": {}}
    (folder / "wrapped.json").write_text(json.dumps(wrapped))
    (folder / "nora.json").write_text(json.dumps(_mem_gallery(), indent=2))
    (folder / "harry.json.gz").write_bytes(gzip.compress(json.dumps(_mem_gallery()).encode()))
    (folder / "zelda.json.zst").write_bytes(zstandard.ZstdCompressor().compress(json.dumps(_locomo()).encode()))
    _parquet(folder / "table.parquet")
    for number in (1, 2):
        make.jsonl(pieces / f"part-{number}.jsonl", [make.session("globbed", f"S{number}", [(f"Piece {number}", "Yes")])])
    make.jsonl(pieces / "other.jsonl", [make.session("not-globbed", "S1", [("Not asked for", "No")])])
    make.jsonl(loose / "history.json", [_timed(make), *_odd_user(make)])
    long = (
        "Opening words. "
        + "The meeting went on about budgets and schedules. " * 900
        + "Then we named the boat Periwinkle77."
    )
    odd = [
        make.session("lone", "only", [("A single round", "Kept")], None),
        make.session("blank", "B", [("   \n\t ", "I see only blanks"), ("real words", " ")]),
        make.session("long", "L", [(f"short talk {n}", "ok") for n in range(20)] + [(long, "Noted")]),
    ]
    make.jsonl(loose / "sniffed-by-content", odd)
    store = root / "store"
    sources = [folder, f"{pieces}/part-*.jsonl", loose / "history.json", loose / "sniffed-by-content"]
    return Built(store, cli.backfill(*sources, store=store, more=["--timezone", "Asia/Tokyo"]))


def test_every_source_goes_in_and_nothing_is_quarantined(cli: Any, reads: Any, built: Built) -> None:
    users = set(reads.users(cli.read("users", "--store", built.store)))
    expected = {"plain", "gzipped", "zstandard", "carol", "wrapped", "nora", "harry", "zelda", "parquet-user"}
    expected |= {"globbed", "timed", "worldly", "lone", "blank", "long"}
    assert users == expected
    assert cli.status(built.store)["quarantined"] == 0, cli.read("quarantine", "--store", built.store)


@pytest.mark.parametrize(
    ("user", "text"), [("plain", "Plain words"), ("gzipped", "Gzip words"), ("zstandard", "Zstandard words")]
)
def test_our_jsonl_plain_and_compressed(built: Built, user: str, text: str) -> None:
    assert built.texts(user) == [[text, "Yes"]]


def test_a_glob_takes_what_it_matches(built: Built) -> None:
    assert built.texts("globbed") == [["Piece 1", "Yes"], ["Piece 2", "Yes"]]


@pytest.mark.parametrize("user", ["carol", "wrapped", "zelda"])
def test_locomo_rounds_are_pairs_of_turns_with_both_speakers(built: Built, user: str) -> None:
    frame = built.frame(user)
    assert [[message["speaker"] for message in messages] for messages in frame["messages"].to_list()] == [
        ["Caroline", "Melanie"],
        ["Caroline", "Melanie"],
        ["Caroline"],
        ["Melanie", "Caroline"],
    ]
    assert built.texts(user)[0] == ["I signed up for the harbour choir.", "Lovely, which voice?"]
    assert frame["images"].list.len().to_list() == [0, 1, 0, 0]
    assert frame["images"][1][0]["caption"] == "a photo of a copper kettle on a stove"
    assert frame["images"][1][0]["media"] is None


def test_locomo_times_are_read_in_the_given_zone(built: Built) -> None:
    frame = built.frame("carol")
    assert frame["time"].to_list()[0] == datetime(2023, 5, 8, 4, 56, tzinfo=UTC)
    assert frame["time"].to_list()[3] == datetime(2023, 12, 31, 15, 9, tzinfo=UTC)
    assert frame["time_offset_minutes"].to_list()[0] == 540
    assert frame["time_precision"].to_list()[0] == "minute"


@pytest.mark.parametrize("user", ["nora", "harry"])
def test_mem_gallery_rounds_keep_their_names_and_captions(built: Built, user: str) -> None:
    frame = built.frame(user)
    assert frame["round_id"].to_list() == ["D1:1", "D1:2", "D2:1"]
    assert frame["session_id"].to_list() == ["D1", "D1", "D2"]
    assert built.texts(user)[0] == ["What is a flying buttress?", "An outer stone support."]
    assert frame["images"][1][0]["image_id"] == "D1:IMG_001"
    assert frame["images"][1][0]["caption"].startswith("A gothic cathedral")


def test_mem_gallery_knows_the_day_only(built: Built) -> None:
    frame = built.frame("nora")
    assert set(frame["time_precision"]) == {"day"}
    assert frame["time"].to_list()[0] == datetime(2024, 6, 24, 15, 0, tzinfo=UTC), "midnight of 25 June in Tokyo"


def test_captions_are_found_where_the_picture_is_not_at_hand(built: Built) -> None:
    assert built.found("nora", "rose window scaffolding", k=3)[0]["round_id"] == "D1:2"
    assert built.found("harry", "gothic cathedral", k=3)[0]["round_id"] == "D1:2"
    assert built.found("carol", "copper kettle", k=3)[0]["messages"][0]["text"] == "Alto, and look at this."


def test_parquet_with_the_same_columns(built: Built) -> None:
    assert built.texts("parquet-user") == [
        ["Parquet question 1", "Parquet answer 1"],
        ["Parquet question 2", "Parquet answer 2"],
    ]
    assert built.frame("parquet-user")["time"].to_list()[1] == datetime(2024, 5, 2, 10, 0, tzinfo=UTC)


def test_times_keep_the_writers_offset_and_are_never_now(built: Built) -> None:
    rows = {row["round_id"]: row for row in built.frame("timed").to_dicts()}
    told = {name: (row["time"], row["time_offset_minutes"], row["time_precision"]) for name, row in rows.items()}
    assert told["T:0"] == (datetime(2024, 1, 15, 0, 0, tzinfo=UTC), 540, "second")
    assert told["T:1"] == (datetime(2024, 1, 15, 3, 30, tzinfo=UTC), 330, "second")
    assert told["T:2"] == (datetime(2024, 1, 15, 9, 0, tzinfo=UTC), 0, "second")
    assert told["T:3"] == (datetime(2024, 1, 14, 15, 0, tzinfo=UTC), 540, "day")
    assert told["T:4"][0] is None
    assert told["T:4"][2] == "unknown"


def test_a_session_remembers_the_order_its_source_told(built: Built) -> None:
    assert built.frame("timed").sort("position")["round_id"].to_list() == [f"T:{n}" for n in range(5)]


def test_text_is_kept_to_the_character(built: Built) -> None:
    frame = built.frame("worldly").filter(pl.col("session_id") == ODD_SESSION)
    assert [messages[0]["text"] for messages in frame["messages"].to_list()] == list(UNICODE)


@pytest.mark.parametrize("text", UNICODE, ids=["cjk", "arabic", "hebrew", "emoji", "combining", "devanagari"])
def test_text_in_any_script_is_found(built: Built, text: str) -> None:
    assert text in [record["messages"][0]["text"] for record in built.found("worldly", text, k=3)]


@pytest.mark.parametrize(
    ("word", "text"),
    [("القاهرة", ARABIC), ("להצגה", HEBREW), ("दिल्ली", DEVANAGARI), ("Zoë", COMBINING), ("抹茶", CJK)],
    ids=["arabic", "hebrew", "devanagari", "composed", "cjk"],
)
def test_one_word_of_a_text_in_another_script_is_found(built: Built, word: str, text: str) -> None:
    assert text in [record["messages"][0]["text"] for record in built.found("worldly", word, k=3)]


def test_the_command_line_takes_a_query_in_any_script(cli: Any, reads: Any, built: Built) -> None:
    answer = cli.read("search", HEBREW, "--user", "worldly", "--store", built.store, "--k", "3")
    assert HEBREW in [record["messages"][0]["text"] for record in reads.hits(answer)]


def test_a_session_with_an_odd_name_is_shown(cli: Any, reads: Any, built: Built) -> None:
    answer = cli.read("show", "worldly", ODD_SESSION, "--store", built.store)
    assert len(reads.rounds(answer)) == len(UNICODE)


def test_a_user_of_one_round(cli: Any, reads: Any, built: Built) -> None:
    assert built.texts("lone") == [["A single round", "Kept"]]
    assert built.frame("lone")["time"].to_list() == [None]
    assert len(reads.rounds(cli.read("search", "anything", "--user", "lone", "--store", built.store))) == 1


def test_blank_messages_do_no_harm(built: Built) -> None:
    said = [text for texts in built.texts("blank") for text in texts]
    assert "I see only blanks" in said
    assert "real words" in said


def test_the_end_of_a_very_long_text_is_found(cli: Any, reads: Any, built: Built) -> None:
    assert built.texts("long")[-1][0].endswith("Periwinkle77.")
    answer = cli.read("search", "Periwinkle77", "--user", "long", "--store", built.store, "--k", "1")
    (hit,) = reads.hits(answer)
    assert hit["messages"][0]["text"].endswith("Periwinkle77.")


def test_a_named_user_takes_a_source_that_names_none(cli: Any, reads: Any, tmp_path: Path) -> None:
    path = tmp_path / "anything.json"
    path.write_text(json.dumps(_locomo()))
    cli.backfill(path, store=tmp_path / "store", more=["--user", "Caroline & co", "--format", "locomo"])
    assert reads.users(cli.read("users", "--store", tmp_path / "store")) == ["Caroline & co"]


def test_an_unknown_format_zone_or_source_is_refused_before_work(cli: Any, sample: Any, tmp_path: Path) -> None:
    store = tmp_path / "store"
    for words, named in (
        ((sample.folder, "--format", "nonsense"), "nonsense"),
        ((sample.folder, "--timezone", "Mars/Olympus"), "Mars/Olympus"),
        ((tmp_path / "not-there.jsonl",), "not-there.jsonl"),
        ((f"{tmp_path}/*.nothing",), "*.nothing"),
    ):
        done = cli.run("backfill", *words, "--store", store)
        assert done.code != 0, str(done)
        assert named in done.err
        assert "Traceback" not in done.text
        assert not store.exists() or not list(store.rglob("snapshots/0*"))
