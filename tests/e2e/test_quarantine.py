"""What cannot be read is set aside with its place and reason, without its text; the rest goes in, nothing in silence."""

from __future__ import annotations

import gzip
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

TEST_CONFIG = Path(__file__).resolve().parents[2] / "configs" / "test.yaml"
SECRET = "xylophonesecret"


@dataclass(frozen=True)
class Broken:
    folder: Path
    store: Path
    done: Any
    rows: list[dict[str, Any]]

    def lines(self, name: str) -> list[int | None]:
        return sorted(row["line"] or 0 for row in self.rows if row["file"].endswith(name))


def _lines(make: Any) -> list[bytes]:
    good = [json.dumps(make.session("quinn", f"S{n}", [(f"Good session {n}", "Yes")])).encode() for n in (1, 2, 3)]
    return [
        good[0],
        b'{"user_id": "quinn", "messages": [{"role": "user", "content": "' + SECRET.encode(),
        json.dumps({"session_id": "nobody", "messages": [{"role": "user", "content": SECRET}]}).encode(),
        good[1],
        json.dumps({"user_id": "quinn", "session_id": "S9", "messages": SECRET}).encode(),
        b'{"user_id": "quinn", "session_id": "S8", "messages": [{"role": "user", "content": "\xff\xfe '
        + SECRET.encode()
        + b'"}]}',
        b'["' + SECRET.encode() + b'"]',
        good[2],
    ]


BAD_LINES = [2, 3, 5, 6, 7]


@pytest.fixture(scope="module")
def broken(cli: Any, make: Any, reads: Any, tmp_path_factory: pytest.TempPathFactory) -> Broken:
    root = tmp_path_factory.mktemp("broken")
    folder = root / "src"
    folder.mkdir()
    (folder / "mixed.jsonl").write_bytes(b"\n".join(_lines(make)) + b"\n")
    whole = gzip.compress(
        b"".join(json.dumps(make.session("gail", f"G{n}", [(f"{SECRET} {n}", "Yes")])).encode() + b"\n" for n in range(200))
    )
    (folder / "cut.jsonl.gz").write_bytes(whole[: len(whole) // 2])
    (folder / "noise.json").write_bytes(bytes(range(256)) * 8 + SECRET.encode())
    (folder / "fake.parquet").write_bytes(b"PAR1" + SECRET.encode() * 10 + b"PAR1")
    done = cli.backfill(folder, store=root / "store")
    return Broken(folder, root / "store", done, reads.rows(cli.read("quarantine", "--store", root / "store")))


def test_broken_lines_are_named_by_file_and_line(broken: Broken) -> None:
    assert broken.lines("mixed.jsonl") == BAD_LINES


def test_broken_files_are_named(broken: Broken) -> None:
    for name in ("cut.jsonl.gz", "noise.json", "fake.parquet"):
        assert broken.lines(name), f"{name} is not in quarantine: {broken.rows}"


def test_each_has_a_reason_and_none_of_the_text(broken: Broken) -> None:
    for row in broken.rows:
        assert row["reason"].strip()
        assert SECRET not in json.dumps(row)


def test_no_user_text_reaches_the_terminal(broken: Broken, cli: Any) -> None:
    assert SECRET not in broken.done.text
    plain = cli.ok("quarantine", "--store", broken.store)
    assert SECRET not in plain.text
    assert "mixed.jsonl" in plain.out


def test_the_rest_went_in(broken: Broken, cli: Any, reads: Any) -> None:
    shown = reads.text(cli.read("show", "quinn", "S1", "--store", broken.store))
    assert "Good session 1" in shown
    status = cli.status(broken.store)
    assert status["quarantined"] == len(broken.rows) == reads.number(broken.done, "quarantined")
    assert "quinn" in reads.users(cli.read("users", "--store", broken.store))
    users = {row.get("user_id", row.get("user")): row for row in reads.rows(cli.read("users", "--store", broken.store))}
    assert users["quinn"]["rounds"] == 3


def test_another_tenant_sees_none_of_it(broken: Broken, cli: Any, reads: Any) -> None:
    assert reads.rows(cli.read("quarantine", "--store", broken.store, "--tenant", "other")) == []


def test_strict_ends_non_zero_and_mending_the_file_clears_it(cli: Any, make: Any, reads: Any, tmp_path: Path) -> None:
    source = tmp_path / "src" / "h.jsonl"
    source.parent.mkdir()
    source.write_bytes(b"\n".join(_lines(make)) + b"\n")
    strict = cli.run("backfill", source, "--store", tmp_path / "store", "--config", TEST_CONFIG, "--strict")
    assert strict.code not in (0, 2), str(strict)
    assert "Traceback" not in strict.text
    good = [make.session("quinn", f"S{n}", [(f"Good session {n}", "Yes")]) for n in range(1, 9)]
    make.jsonl(source, good)
    mended = cli.run("backfill", source, "--store", tmp_path / "store", "--config", TEST_CONFIG, "--strict")
    assert mended.code == 0, str(mended)
    assert reads.rows(cli.read("quarantine", "--store", tmp_path / "store")) == []
    status = cli.status(tmp_path / "store")
    assert (status["quarantined"], status["sessions"], status["rounds"]) == (0, 8, 8)


def test_the_same_broken_source_again_is_not_counted_twice(broken: Broken, cli: Any) -> None:
    before = cli.status(broken.store)
    cli.backfill(broken.folder, store=broken.store)
    after = cli.status(broken.store)
    assert after["content_digest"] == before["content_digest"]
    assert after["quarantined"] == before["quarantined"]


def _odd_sessions() -> list[dict[str, Any]]:
    said = {"role": "user", "content": "hello there"}
    return [
        {"messages": []},
        {"messages": [{"role": "assistant", "content": "Only I spoke"}]},
        {"messages": [{"role": "system", "content": "Be brief"}, said]},
        {"messages": [said, said, said]},
        {"messages": [{"role": "user", "content": None}, {"role": "assistant", "content": "Nothing said"}]},
        {"messages": [{"role": "user", "content": []}, {"role": "assistant", "content": "Empty parts"}]},
        {"messages": [{"role": "user", "content": [{"type": "text", "text": "hi"}, {"type": "hologram", "x": 1}]}]},
        {"messages": [{**said, "timestamp": "the day before"}]},
        {"messages": [{**said, "timestamp": 1700000000}]},
        {"messages": [{**said, "timestamp": 1700000000000}]},
        {"messages": [{**said, "timestamp": "0001-01-01T00:00:00+14:00"}]},
        {"messages": [{**said, "timestamp": "9999-12-31T23:59:59-12:00"}]},
        {"messages": [{**said, "extra": {"nested": [1, 2, {"deep": None}]}}]},
        {"messages": [{"content": "no role"}]},
        {"messages": [{"role": "narrator", "content": "an unknown role"}]},
        {"messages": [{"role": "user", "content": "lone \ud800 surrogate"}]},
        {"messages": [{"role": "user", "content": "null \u0000 character"}]},
        {"messages": [{"role": "user", "content": 42}]},
        {"messages": [said], "session_id": ""},
        {"messages": [said], "session_id": 7},
        {"messages": [said], "user_id": 12},
        {"messages": [said], "user_id": "  "},
        {"messages": [said], "session_id": "x" * 5000},
        {"messages": [{"role": "user", "content": "a" * 200_000}]},
        {"messages": [{"role": "user", "content": "word " * 20_000}]},
    ]


def test_odd_sessions_are_stored_or_set_aside_but_never_lost_and_never_stop_the_rest(
    cli: Any, make: Any, reads: Any, tmp_path: Path
) -> None:
    """Each odd line has a user of its own, so that it can be told which of them went in."""
    odd = [{"user_id": f"odd{n}", "session_id": f"S{n}", **session} for n, session in enumerate(_odd_sessions())]
    source = tmp_path / "odd.jsonl"
    lines = [json.dumps(session) for session in odd] + [json.dumps(make.session("last", "S", [("still here", "yes")]))]
    source.write_text("\n".join(lines) + "\n")
    done = cli.backfill(source, store=tmp_path / "store")
    assert "Traceback" not in done.text
    users = {str(user) for user in reads.users(cli.read("users", "--store", tmp_path / "store"))}
    set_aside = {row["line"] for row in reads.rows(cli.read("quarantine", "--store", tmp_path / "store"))}
    assert "last" in users
    lost = [n for n, session in enumerate(odd) if str(session["user_id"]) not in users and n + 1 not in set_aside]
    assert lost == [], [odd[n] for n in lost]
