"""The extraction benchmark counts what is right, what is missed and what is answered, on data small enough to know."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from configs.settings import Settings
from jobs.bench.extract import ExtractFigures, Share, measure_extract
from operators.errors import UsageError


def message(text: str, day: int, round_id: str) -> dict[str, Any]:
    return {"role": "user", "content": text, "timestamp": f"2024-05-{day:02d}T20:00:00", "round": round_id}


def question(operation: str, text: str, value: float, evidence: list[str]) -> dict[str, Any]:
    answer = {"type": "number", "value": value, "tolerance": 0.01}
    return {"user_id": "ann", "operation": operation, "question": text, "answer": answer, "evidence": evidence}


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> ExtractFigures:
    data = tmp_path_factory.mktemp("data")
    logs = [
        message("Sleep: 6.5 hours; Steps: 10,000", 1, "S1:1"),
        message("Daily log: sleep 7h30m, steps 12000.", 2, "S1:2"),
        message("I did not sleep 8 hours and did not walk 9,000 steps or 5 km.", 3, "S1:3"),
    ]
    asked = [
        question("avg", "What is my average sleep in hours?", 7.0, ["S1:1", "S1:2", "S1:3"]),
        question("sum", "How many steps in all?", 22000, ["S1:1", "S1:2"]),
        question("max", "What is the highest number of steps?", 9, ["S1:1", "S1:2"]),
    ]
    write(data / "wearables" / "histories.jsonl", [{"user_id": "ann", "session_id": "S1", "messages": logs}])
    write(data / "wearables" / "questions.jsonl", asked)
    talk = {
        "session_1": [{"speaker": "Bo", "dia_id": "D1:1", "text": "My budget is $50."}],
        "speaker_a": "Bo",
        "speaker_b": "Cy",
    }
    (data / "locomo").mkdir()
    (data / "locomo" / "7.json").write_text(json.dumps(talk))
    settings = Settings.model_validate({"extract": {"ocr": "none"}, "ray": {"num_cpus": 2, "object_store_mb": 128}})
    return measure_extract(data, settings, sample=10, repeat=1, tell=lambda _: None)


def write(path: Path, rows: list[dict[str, Any]]) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


def test_what_is_logged_is_counted_and_what_is_denied_is_missed(found: ExtractFigures) -> None:
    assert found.logs is not None
    assert found.logs.rounds == 3
    assert found.logs.recall == Share(4, 7)  # the third round names three values, all of them denied
    assert found.logs.precision == Share(4, 4)
    assert found.logs.answers == Share(2, 3)


def test_talks_give_a_sample_to_judge(found: ExtractFigures) -> None:
    assert found.talks is not None
    assert (found.talks.rounds, found.talks.observations) == (1, 1)
    assert found.talks.sample[0]["said"] == "My budget is $50."
    assert found.receipts is None


def test_speed_without_pictures(found: ExtractFigures) -> None:
    assert found.speed.observed.median > 0 < found.speed.encoded.median
    assert (found.speed.pictures, found.speed.one_reader) == (0, 0.0)


def test_a_folder_without_data_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="holds none of"):
        measure_extract(tmp_path, Settings(), sample=1, repeat=1, tell=lambda _: None)
