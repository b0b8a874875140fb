"""The adapter to Ray: how many blocks work orders make."""

from __future__ import annotations

import json
import pickle
from typing import Any

import pyarrow as pa
import pytest

from jobs.stages import RESULTS, Resources, Stage, Work, cluster, tasks, through
from operators import errors

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


def _families(root: type[errors.MnemosaicError]) -> list[type[errors.MnemosaicError]]:
    return [root, *(kind for below in root.__subclasses__() for kind in _families(below))]


@pytest.mark.parametrize("kind", _families(errors.MnemosaicError))
def test_every_error_survives_the_way_from_a_worker(kind: type[errors.MnemosaicError]) -> None:
    more: dict[type[errors.MnemosaicError], dict[str, Any]] = {
        errors.SourceError: {"code": "bad-json", "file": "f", "line": 3},
        errors.KeyedStoreError: {"key": "k"},
        errors.CommitConflict: {"expected": 1, "found": 2},
    }
    error = kind("what and what to do", **next((given for base, given in more.items() if issubclass(kind, base)), {}))
    again = pickle.loads(pickle.dumps(error))
    assert (type(again), str(again), vars(again)) == (kind, str(error), vars(error))


@pytest.mark.parametrize("late", [True, False], ids=["at work", "while loading"])
@pytest.mark.parametrize("workers", [None, 1])
def test_a_typed_error_of_a_worker_is_raised_as_itself(workers: int | None, late: bool) -> None:
    def fail(_: object = None) -> Any:
        try:
            raise OSError(28, "No space left on device")
        except OSError as error:
            raise errors.StoreDenied("the disk is full") from error

    def make() -> Work:
        return fail if late else fail()  # type: ignore[no-any-return]

    stage = Stage("fails", make, RESULTS, Resources(cpus=1), workers=workers, batch_rows=1)
    with cluster(None, num_cpus=1, object_store_bytes=100 << 20), pytest.raises(errors.StoreDenied) as caught:
        list(through(stage, ["a", "b", "c"]))
    assert (type(caught.value), str(caught.value)) == (errors.StoreDenied, "the disk is full")
