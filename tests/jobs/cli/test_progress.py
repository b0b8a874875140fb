"""Progress elsewhere than on a terminal: plain lines, few of them, with rate and time left."""

from __future__ import annotations

import io

from jobs.cli.progress import Lines, plain_line
from jobs.watch import Progress


class Clock:
    """A clock that the test moves."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_a_line_tells_rate_and_time_left() -> None:
    assert plain_line(Progress("encode", 1200, 4800, "units"), 4.0) == "encode: 1,200 of 4,800 units, 300 units/s, 0:12 left"
    assert plain_line(Progress("read", 50, None, "rounds"), 2.0) == "read: 50 rounds, 25 rounds/s"
    assert plain_line(Progress("encode", 0, 10, "units"), 9.0) == "encode: 0 of 10 units"
    assert plain_line(Progress("encode", 1, 36001, "units"), 1.0).endswith("10:00:00 left")


def test_lines_are_few_and_the_end_is_told_once() -> None:
    out, clock = io.StringIO(), Clock()
    lines = Lines(out, clock)
    for second in range(13):
        clock.now = float(second)
        lines(Progress("read", second, 12, "rounds"))
    lines(Progress("read", 12, 12, "rounds"))
    told = out.getvalue().splitlines()
    assert [line.split(" of")[0] for line in told] == ["read: 0", "read: 5", "read: 10", "read: 12"]


def test_each_stage_is_told_from_its_start() -> None:
    out, clock = io.StringIO(), Clock()
    lines = Lines(out, clock)
    lines(Progress("read", 1, None, "rounds"))
    lines(Progress("encode", 1, 9, "units"))
    assert out.getvalue().splitlines() == ["read: 1 rounds", "encode: 1 of 9 units"]
