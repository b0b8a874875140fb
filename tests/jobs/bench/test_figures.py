"""Medians, percentiles, growth."""

from __future__ import annotations

import pytest

from jobs.bench.figures import Latency, Spread, growth
from jobs.bench.rates import PipelineRun, rates, stage_medians


def test_spread_and_latency() -> None:
    assert Spread.of([3.0, 1.0, 2.0]) == Spread(2.0, 1.0, 3.0, 3)
    found = Latency.of([0.001] * 98 + [0.5, 0.5])
    assert (found.p50, found.calls) == (pytest.approx(1.0), 100)
    assert found.p99 > 400


def test_growth_is_the_power_between_the_extremes() -> None:
    assert growth([1000, 10, 100], [2000, 20, 777]) == pytest.approx(1.0)
    assert growth([10, 1000], [5, 5]) == pytest.approx(0.0)
    assert growth([10, 1000], [1, 10_000]) == pytest.approx(2.0)


def run(encode: float, seconds: float, encoded: int = 1000) -> PipelineRun:
    return PipelineRun(500, encoded, seconds, 4.0, {"read": 1.0, "encode": encode})


def test_rates_tell_the_start_apart() -> None:
    found = rates("e", [300.0, 200.0, 250.0], [run(5, 11), run(5, 13), run(5, 12)], [run(1, 7, 8)] * 3)
    assert found.alone == Spread(250.0, 200.0, 300.0, 3)
    assert found.stage.median == pytest.approx(200)
    assert found.work.median == pytest.approx(1000 / 8)
    assert found.stage_running == pytest.approx(250)
    assert found.work_running == pytest.approx(1000 / 5)


def test_where_starting_is_the_greater_part_no_rate_is_told() -> None:
    found = rates("e", [1.0], [run(1.9, 7.9)], [run(1, 6, 8)])
    assert found.stage_running is None
    assert found.work_running is None


def test_stage_medians_add_up_to_the_whole() -> None:
    found = stage_medians([run(5, 11), run(6, 14), run(7, 12)])
    assert found == {"start-up": 4.0, "read": 1.0, "encode": 6.0, "between stages": 1.0}
