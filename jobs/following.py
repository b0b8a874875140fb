"""The version that follows another, and what a writer does whom another commit overtakes."""

from __future__ import annotations

import random
import time
import uuid
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from operators.errors import StoreUnavailable
from operators.store.manifest import Snapshot

_LONGEST_PAUSE = 2.0


def following(base: Snapshot, run_id: str, **changed: Any) -> Snapshot:
    """The snapshot that ``run_id`` would publish upon ``base``; ``changed``: those of its fields that are others."""
    return replace(
        base,
        version=base.version + 1,
        parent=base.version,
        commit_id=uuid.uuid4().hex,
        run_id=run_id,
        committed_at=datetime.now(UTC),
        **changed,
    )


def pause(attempt: int) -> None:
    """Wait before the next attempt, longer each time and never as long as another writer."""
    time.sleep(random.uniform(0, min(_LONGEST_PAUSE, 0.05 * 2**attempt)))


def overtaken(uri: str, attempts: int, kept: str = "") -> StoreUnavailable:
    """The error of a writer whose every attempt was overtaken; ``kept``: what of its work need not be done again."""
    return StoreUnavailable(f"{uri}: {attempts} commits were overtaken by other writers; run again{kept}")
