"""Option values: versions and times."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from jobs.cli.options import parse_as_of
from operators.errors import UsageError


def test_versions_and_times() -> None:
    assert parse_as_of(None) is None
    assert parse_as_of("7") == 7
    assert parse_as_of("2026-05-01T12:00") == datetime(2026, 5, 1, 12, tzinfo=UTC)
    assert parse_as_of("2026-05-01T12:00Z") == datetime(2026, 5, 1, 12, tzinfo=UTC)
    berlin = parse_as_of("2026-05-01T12:00+02:00")
    assert isinstance(berlin, datetime)
    assert berlin.utcoffset() == timedelta(hours=2)


@pytest.mark.parametrize("text", ["yesterday", "-1", "1.5", "", "\uff12"])
def test_anything_else_is_refused_by_name(text: str) -> None:
    with pytest.raises(UsageError, match="--as-of"):
        parse_as_of(text)
