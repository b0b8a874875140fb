"""What is asked: the words, the moment they are asked at, and the picture that comes with them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime, timedelta

from operators.errors import UsageError
from operators.records import local_day

MOST_CHARACTERS = 10_000


@dataclass(frozen=True)
class Picture:
    """A picture attached to a question. ``caption``: what it shows, as far as that is told.

    ``media``, ``round_id`` and ``stored_caption`` name the stored picture that looks most like it (``score``: cosine), where
    there is one.
    """

    caption: str | None = None
    media: str | None = None
    round_id: str | None = None
    stored_caption: str | None = None
    score: float | None = None


@dataclass(frozen=True)
class Question:
    """A question about one user's memory. ``now``: the moment it is asked at (UTC), from which "last month" counts.

    ``offset_minutes``: of the clock of who asks. ``until``: what is later was not there yet (None: all of memory counts).
    """

    text: str
    now: datetime
    offset_minutes: int = 0
    until: datetime | None = None
    picture: Picture | None = None

    def check(self) -> None:
        """UsageError for what is no question."""
        if not isinstance(self.text, str) or not self.text.strip():
            raise UsageError('the question is blank: ask something, e.g. "how much did I sleep in April?"')
        if len(self.text) > MOST_CHARACTERS:
            raise UsageError(f"the question has {len(self.text):,} characters; at most {MOST_CHARACTERS:,} are read")
        if self.now.tzinfo is None:
            raise UsageError("the time of asking has no zone: give one, e.g. 2026-05-01T12:00+00:00")

    @property
    def today(self) -> date:
        """The day on which it is asked, on the clock of who asks."""
        return local_day(self.now, self.offset_minutes)

    @property
    def last_day(self) -> date | None:
        """The last day that counts, where there is one."""
        return None if self.until is None else (self.until + timedelta(minutes=self.offset_minutes)).date()
