"""Runs as they are written down: the same plan is the same run until it is finished."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobs.run import RunPlan, digest_of_sources, finish, parts_of, take_up
from operators.errors import StoreCorrupt
from operators.sources.files import SourceFile
from operators.store.local import LocalObjects

PLAN = RunPlan(
    sources=digest_of_sources([SourceFile("/data/a.jsonl", 10, "1", named=True)]),
    format="auto",
    tenant="default",
    user=None,
    timezone=None,
    config="c",
    buckets=4,
    encoder="{}",
)


def test_an_unfinished_run_is_taken_up_and_a_finished_one_is_not(tmp_path: Path) -> None:
    objects = LocalObjects(str(tmp_path))
    first = take_up(objects, PLAN, newest_version=3)
    assert take_up(objects, PLAN, newest_version=8) == first
    assert first.base_version == 3
    finish(first, version=4)
    second = take_up(objects, PLAN, newest_version=8)
    assert second.run_id != first.run_id
    assert take_up(objects, PLAN, newest_version=9).run_id == second.run_id


@pytest.mark.parametrize(
    "other",
    [
        {"sources": digest_of_sources([SourceFile("/data/a.jsonl", 10, "2", named=True)])},
        {"sources": digest_of_sources([])},
        {"layout": 1},
        {"tenant": "acme"},
        {"user": "ann"},
        {"timezone": "Europe/Lisbon"},
        {"config": "d"},
        {"encoder": '{"window": 128}'},
        {"columns": (("text", "body"),)},
    ],
)
def test_another_plan_is_another_run(tmp_path: Path, other: dict[str, object]) -> None:
    objects = LocalObjects(str(tmp_path))
    assert take_up(objects, PLAN, 0).run_id != take_up(objects, replace(PLAN, **other), 0).run_id


def test_markers_are_found_by_name_and_a_broken_one_says_what_to_do(tmp_path: Path) -> None:
    objects = LocalObjects(str(tmp_path))
    run = take_up(objects, PLAN, 0)
    assert run.markers("read") == {} and run.marked("read", "1.json") is None
    run.mark({"rounds": 1}, "read", "000001.json")
    run.mark({"rounds": 2}, "read", "000002.json")
    assert run.markers("read") == {"000001": {"rounds": 1}, "000002": {"rounds": 2}}
    objects.put(run.key("read", "000001.json"), b"{")
    with pytest.raises(StoreCorrupt, match=f"delete everything below runs/{run.run_id}/"):
        run.markers("read")


@given(st.lists(st.integers(0, 9)), st.integers(1, 20))
def test_parts_keep_order_and_stop_at_the_target(sizes: list[int], target: int) -> None:
    parts = parts_of(sizes, target)
    assert [index for part in parts for index in part] == list(range(len(sizes)))
    for part in parts:
        assert part and sum(sizes[index] for index in part[:-1]) < target
    for part in parts[:-1]:
        assert sum(sizes[index] for index in part) >= target
