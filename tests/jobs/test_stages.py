"""The adapter to Ray: how many blocks work orders make."""

from __future__ import annotations

import json

import pyarrow as pa
import pytest

from jobs.stages import RESULTS, Resources, Stage, Work, tasks, through

pytestmark = pytest.mark.usefixtures("ray_cluster")


def test_few_orders_are_a_block_each_and_many_are_neighbours_in_a_bounded_number() -> None:
    few = [str(number) for number in range(30)]
    many = [str(number) for number in range(5000)]
    assert tasks(few).num_blocks() == 30
    bundled = tasks(many)
    assert bundled.num_blocks() <= 512
    blocks = [block["task"].to_pylist() for block in bundled.iter_batches(batch_size=None, batch_format="pyarrow")]
    assert sorted(blocks, key=lambda block: int(block[0])) == [
        many[at : at + len(blocks[0])] for at in range(0, len(many), len(blocks[0]))
    ]


def test_each_order_is_a_call_of_its_own_however_many_share_a_block() -> None:
    def make() -> Work:
        def work(batch: pa.Table) -> pa.Table:
            seen = [json.dumps({"order": task, "beside": len(batch)}) for task in batch["task"].to_pylist()]
            return pa.table({"result": seen}, schema=RESULTS)

        return work

    orders = [str(number) for number in range(1100)]
    results = list(through(Stage("echo", make, RESULTS, Resources(cpus=1), batch_rows=1), orders))
    assert sorted(result["order"] for result in results) == sorted(orders)
    assert {result["beside"] for result in results} == {1}
