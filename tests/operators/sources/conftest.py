"""What the tests of the sources room share: reading a file through the room's door, and making sessions."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from operators.errors import SourceError
from operators.records import Session
from operators.sources.files import LocalFiles
from operators.sources.read import Parsed, ReadScope, SplitEnd, Survey, read_split, survey

settings.register_profile("patient", deadline=None)  # other work on the machine must not fail a property
settings.load_profile("patient")


@dataclass
class Outcome:
    """All that came out of one file, lines counted from its beginning."""

    survey: Survey
    sessions: list[Session] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)
    errors: list[SourceError] = field(default_factory=list)
    total_lines: int = 0

    @property
    def codes(self) -> list[tuple[str, int | None]]:
        return [(error.code, error.line) for error in self.errors]


def read_file(
    path: Path,
    *,
    user: str | None = None,
    timezone: str | None = None,
    limit: int = 1 << 26,
    format: str = "auto",
    split_bytes: int = 1 << 26,
    columns: dict[str, str] | None = None,
) -> Outcome:
    """Survey and read a local file."""
    files = LocalFiles()
    (source,) = files.find(str(path))
    outcome = Outcome(survey(source, files, format=format, split_bytes=split_bytes, columns=columns))
    if outcome.survey.error:
        outcome.errors.append(outcome.survey.error)
    for split in outcome.survey.splits:
        before = outcome.total_lines
        ends = 0
        for item in read_split(split, files, ReadScope(user, timezone, limit, columns)):
            assert not ends, "nothing follows SplitEnd"
            if isinstance(item, SplitEnd):
                ends += 1
                outcome.total_lines += item.lines
            elif isinstance(item, Parsed):
                outcome.sessions.append(item.session)
                outcome.lines.append(before + item.line)
            else:
                assert item.file == source.uri
                item.line = None if item.line is None else before + item.line
                outcome.errors.append(item)
        assert ends == 1
    return outcome


@pytest.fixture(scope="session")
def read() -> Callable[..., Outcome]:
    return read_file


def make_session(number: int = 1, user: Any = "ada", **more: Any) -> dict[str, Any]:
    """A record of our JSONL with one round."""
    messages = [{"role": "user", "content": f"question {number}"}, {"role": "assistant", "content": f"answer {number}"}]
    return {"user_id": user, "session_id": f"S{number}", "messages": messages, **more}


@pytest.fixture(scope="session")
def session() -> Callable[..., dict[str, Any]]:
    return make_session


@pytest.fixture(scope="session")
def dump() -> Callable[[Path, list[Any]], Path]:
    def write(path: Path, records: list[Any]) -> Path:
        path.write_text("".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records), encoding="utf-8")
        return path

    return write
