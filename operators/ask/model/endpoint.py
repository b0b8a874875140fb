"""Where a language model answers, as plain values."""

from __future__ import annotations

from dataclasses import dataclass, field
from urllib.parse import urlsplit


@dataclass(frozen=True)
class Endpoint:
    """Where a model answers. ``base_url``: up to and with ``/v1``; ``key`` None: it asks for none.

    ``timeout_s``: seconds for one question to the model, connecting and all retries included. ``attempts``: tries of a
    request that fails on its way or is turned away (429, 5xx). ``max_tokens``: of one output. ``section``: of the settings
    that this was made of, for messages.
    """

    base_url: str
    model: str
    key: str | None = field(default=None, repr=False)
    timeout_s: float = 60.0
    attempts: int = 3
    max_tokens: int = 1024
    temperature: float = 0.0
    section: str = "planner_model"

    @property
    def host(self) -> str:
        """Host and port, as messages name it: an address may hold a password."""
        parts = urlsplit(self.base_url)
        return f"{parts.hostname}:{parts.port}" if parts.port else str(parts.hostname)
