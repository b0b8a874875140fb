"""The backfill command: what is refused before work, and its closing lines."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from jobs.backfill import BackfillReport, BackfillRequest
from jobs.cli.backfill import summary
from jobs.cli.main import main


def report(**changes: Any) -> BackfillReport:
    values: dict[str, Any] = {
        "version": 3,
        "users": 2,
        "sessions": 5,
        "rounds": 1017,
        "units": 37,
        "pictures": 3,
        "content_digest": "ab",
        "read": 17,
        "added": 1000,
        "replaced": 1,
        "unchanged": 16,
        "superseded": 0,
        "quarantined": 0,
        "ignored_files": (),
        "identical_files": (),
        "missing_pictures": 0,
        "doubts": {},
        "unread_columns": (),
        "encoded": 30,
        "found": 7,
        "observations": 9,
        "tables": 2,
        "pictures_read": 2,
        "pictures_encoded": 1,
        "picture_vectors": 3,
        "undecoded": 0,
        "seconds": 12.34,
        "startup_seconds": 2.34,
        "stage_seconds": {},
        "published": True,
    }
    return BackfillReport(**{**values, **changes})


def test_the_summary_tells_what_the_run_did() -> None:
    told = dict(summary(report()))
    assert told["version"] == "3"
    assert told["rounds"] == "1,017 (1,000 added, 1 replaced, 16 already there)"
    assert told["units"] == 37
    assert told["texts"] == "30 encoded now, 7 found done"
    assert (told["pictures"], told["observations"]) == ("3 (2 read now, 1 seen now)", 9)
    assert told["seconds"] == "12.3 (2.3 of them start-up)"
    assert list(told) == [
        "version",
        "users",
        "sessions",
        "rounds",
        "units",
        "texts",
        "pictures",
        "observations",
        "tables",
        "quarantined",
        "seconds",
        "rounds/s",
    ]


def test_a_run_that_changed_nothing_says_so() -> None:
    assert "no version was published" in str(dict(summary(report(published=False)))["version"])


@pytest.mark.parametrize(
    ("option", "value"), [("--format", "carrier-pigeon"), ("--timezone", "Mars/Olympus"), ("--config", "nowhere.yaml")]
)
def test_senseless_options_are_refused_before_anything_is_made(
    option: str, value: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store = tmp_path / "store"
    assert main(["backfill", str(tmp_path), "--store", str(store), option, value]) == 2
    assert value in capsys.readouterr().err
    assert not store.exists()


@pytest.mark.parametrize("mapping", ["text", "texts=body", "text=a,text=b"])
def test_a_mapping_that_is_none_is_refused(mapping: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    store = tmp_path / "store"
    assert main(["backfill", str(tmp_path), "--store", str(store), "--map", mapping]) == 2
    assert "--map" in capsys.readouterr().err
    assert not store.exists()


def test_an_unknown_key_of_a_mapping_is_told_all_there_are(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["backfill", str(tmp_path), "--store", str(tmp_path / "store"), "--map", "texts=body"]) == 2
    assert "user, session, round, text, role, speaker, time, id, image, caption" in capsys.readouterr().err


def test_a_mapping_reaches_the_job(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[BackfillRequest] = []

    def run(request: BackfillRequest, *_: object) -> BackfillReport:
        asked.append(request)
        return report()

    monkeypatch.setattr("jobs.backfill.backfill", run)
    words = ["backfill", str(tmp_path), "--store", str(tmp_path / "store"), "--map", "text=body,time=created_at"]
    assert main(words) == 0
    assert asked[0].columns == {"text": "body", "time": "created_at"}
