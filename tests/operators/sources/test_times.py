from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from operators.errors import SourceError, UsageError
from operators.sources.times import parse_time, zone_of

BERLIN = ZoneInfo("Europe/Berlin")
NEW_YORK = ZoneInfo("America/New_York")


def told(value: Any, zone: ZoneInfo | None = None) -> tuple[str, int | None, str]:
    found = parse_time(value, zone)
    assert found.utc.tzinfo is UTC
    return found.utc.isoformat().removesuffix("+00:00"), found.offset_minutes, found.precision


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("2024-05-08T13:56:07", ("2024-05-08T13:56:07", None, "second")),
        ("2024-05-08T13:56:07Z", ("2024-05-08T13:56:07", 0, "second")),
        ("2024-05-08T13:56:07.25+02:00", ("2024-05-08T11:56:07.250000", 120, "second")),
        ("2024-05-08 13:56:07.123456789-0330", ("2024-05-08T17:26:07.123456", -210, "second")),
        ("2024-05-08T13:56", ("2024-05-08T13:56:00", None, "minute")),
        ("2024/05/08 (Wed) 02:21", ("2024-05-08T02:21:00", None, "minute")),
        (" 2024-05-08 ", ("2024-05-08T00:00:00", None, "day")),
        ("20240508", ("2024-05-08T00:00:00", None, "day")),
        ("20240508T135607Z", ("2024-05-08T13:56:07", 0, "second")),
        ("20240508T1356", ("2024-05-08T13:56:00", None, "minute")),
        ("2016-12-31T23:59:60Z", ("2017-01-01T00:00:00", 0, "second")),
        ("1:56 pm on 8 May, 2023", ("2023-05-08T13:56:00", None, "minute")),
        ("12:09 am on 13 September, 2023", ("2023-09-13T00:09:00", None, "minute")),
        ("12:30 PM on 1 Jan 2023", ("2023-01-01T12:30:00", None, "minute")),
        ("8 May, 2023", ("2023-05-08T00:00:00", None, "day")),
        ("May 8, 2023", ("2023-05-08T00:00:00", None, "day")),
        ("May 8, 2023 1:56 PM", ("2023-05-08T13:56:00", None, "minute")),
        ("Monday, May 8, 2023 at 12:05 a.m.", ("2023-05-08T00:05:00", None, "minute")),
        ("Wed, 08 May 2024 13:56:07 +0200", ("2024-05-08T11:56:07", 120, "second")),
        ("Wed, 8 May 2024 13:56:07 GMT", ("2024-05-08T13:56:07", 0, "second")),
        ("Wed, 08 May 2024 13:56:07 +0000 (UTC)", ("2024-05-08T13:56:07", 0, "second")),
        ("May 8, 2024, 1:56\u202fPM", ("2024-05-08T13:56:00", None, "minute")),
        ("8 May 2024 13:56", ("2024-05-08T13:56:00", None, "minute")),
        ("1812-09-07T05:30:00Z", ("1812-09-07T05:30:00", 0, "second")),
        (1715176567, ("2024-05-08T13:56:07", None, "second")),
        (1715176567.5, ("2024-05-08T13:56:07.500000", None, "second")),
        (1715176567250, ("2024-05-08T13:56:07.250000", None, "second")),
        (1715176567250000, ("2024-05-08T13:56:07.250000", None, "second")),
        (1715176567250000999, ("2024-05-08T13:56:07.250000", None, "second")),
        ("1715176567", ("2024-05-08T13:56:07", None, "second")),
        ("1715176567250", ("2024-05-08T13:56:07.250000", None, "second")),
        ("1715176567250000", ("2024-05-08T13:56:07.250000", None, "second")),
        ("1715176567250000999", ("2024-05-08T13:56:07.250000", None, "second")),
        (-1, ("1969-12-31T23:59:59", None, "second")),
        (date(2024, 5, 8), ("2024-05-08T00:00:00", None, "day")),
        (datetime(2024, 5, 8, 13, 56), ("2024-05-08T13:56:00", None, "second")),
        (datetime(2024, 5, 8, 13, 56, tzinfo=BERLIN), ("2024-05-08T11:56:00", 120, "second")),
        ("0001-01-01T00:00:00Z", ("0001-01-01T00:00:00", 0, "second")),
        ("9999-12-31T23:59:59Z", ("9999-12-31T23:59:59", 0, "second")),
    ],
)
def test_what_is_written_is_what_is_read(value: Any, expected: tuple[str, int | None, str]) -> None:
    assert told(value) == expected


@pytest.mark.parametrize(
    ("value", "zone", "expected"),
    [
        ("2024-05-08T13:56:07", BERLIN, ("2024-05-08T11:56:07", 120, "second")),
        ("2024-05-08T13:56:07Z", BERLIN, ("2024-05-08T13:56:07", 0, "second")),
        (1715176567, BERLIN, ("2024-05-08T13:56:07", 120, "second")),
        ("2024-05-08", BERLIN, ("2024-05-07T22:00:00", 120, "day")),
        ("1:56 pm on 8 May, 2023", NEW_YORK, ("2023-05-08T17:56:00", -240, "minute")),
        # clocks go back: 01:30 happens twice, the earlier is meant
        ("2024-11-03T01:30:00", NEW_YORK, ("2024-11-03T05:30:00", -240, "second")),
        # clocks skip from 02:00 to 03:00: the offset from before stands
        ("2024-03-10T02:30:00", NEW_YORK, ("2024-03-10T07:30:00", -300, "second")),
    ],
)
def test_wall_times_are_the_zones(value: Any, zone: ZoneInfo, expected: tuple[str, int | None, str]) -> None:
    assert told(value, zone) == expected


@pytest.mark.parametrize(
    "value",
    [
        "05/08/2024",
        "8.5.2024",
        "8.5.24",
        "24-05-08",
        "8 May 24",
        "May 32, 2024",
        "Foo 8, 2024",
        "May 8, 2024 13:56 PM",
        "Wed, 08 May 2024 25:00:00 GMT",
        "yesterday", "", "2024-13-01", "2024-02-30", "2024-05-08T25:00", "2024-05-08T10:61:00", "2024-05-08T10:00:00+25:00",
        "0000-01-01", "99999-01-01", "13:00 pm on 8 May, 2023", "8 Maybe, 2023", "123", True, False, None, [], {},
        float("nan"), float("inf"), 10**30, -(10**30), "0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-12:00",
        "\uff12\uff10\uff12\uff14-05-08",
    ],
)  # fmt: skip
def test_what_cannot_be_told_is_a_typed_error_without_the_text(value: Any) -> None:
    with pytest.raises(SourceError) as caught:
        parse_time(value, BERLIN)
    assert caught.value.code == "bad-time"
    assert not (isinstance(value, str) and value and value in str(caught.value))


WALLS = st.datetimes(min_value=datetime(1, 1, 3), max_value=datetime(9999, 12, 29))
ZONES = st.sampled_from(["UTC", "Europe/Berlin", "America/New_York", "Asia/Kathmandu", "Pacific/Apia", "Africa/Monrovia"])


@given(WALLS, st.integers(-23 * 60, 23 * 60))
def test_times_with_offset_round_trip(wall: datetime, minutes: int) -> None:
    written = wall.replace(tzinfo=timezone(timedelta(minutes=minutes)))
    found = parse_time(written.isoformat(), None)
    assert found.utc == written
    assert found.offset_minutes == minutes


@given(WALLS, ZONES)
def test_utc_plus_offset_is_the_wall_time_as_written(wall: datetime, name: str) -> None:
    found = parse_time(wall.isoformat(), zone_of(name))
    assert found.offset_minutes is not None
    shown = found.utc.replace(tzinfo=None) + timedelta(minutes=found.offset_minutes)
    assert timedelta(0) <= wall - shown < timedelta(minutes=1)


@given(st.one_of(st.text(), st.floats(), st.integers(), st.binary(), st.from_regex(r"\A\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ?\Z")))
def test_nothing_but_a_typed_error_comes_out(value: Any) -> None:
    try:
        parse_time(value, NEW_YORK)
    except SourceError as error:
        assert error.code == "bad-time"


@pytest.mark.parametrize("name", ["Europe/Berln", "", "../etc/passwd", "America", "\0", "/etc/localtime", "+02:00"])
def test_an_unknown_zone_is_a_usage_error(name: str) -> None:
    with pytest.raises(UsageError, match="unknown time zone"):
        zone_of(name)


def test_an_unknown_zone_is_told_its_neighbours() -> None:
    with pytest.raises(UsageError, match="Europe/Berlin"):
        zone_of("Europe/Berln")


def test_no_zone_is_none() -> None:
    assert zone_of(None) is None
