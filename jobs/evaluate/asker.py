"""How an evaluation asks: ``Memory.ask`` with what the settings say of it, and the time that it took."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from configs.settings import AskingSettings, Settings
from operators.ask.steps import Answer
from operators.errors import UsageError
from operators.memory import Memory

if TYPE_CHECKING:
    from operators.ask.model.fallback import Model


@dataclass(frozen=True)
class Request:
    """A question as it is asked. ``now``: from when "last month" counts; ``until``: what is later does not count."""

    user_id: str
    text: str
    now: datetime | None = None
    until: datetime | None = None
    image: bytes | None = None
    caption: str | None = None


@dataclass(frozen=True)
class Asked:
    """What came of a question: its answer, or why it could not be asked; ``seconds`` that it took."""

    answer: Answer | None
    error: str | None
    seconds: float


@dataclass(frozen=True)
class Asker:
    """Asks under one configuration; the one place where settings become the arguments of ``Memory.ask``.

    ``model``: plans and answers, where there is one.
    """

    settings: Settings
    asking: AskingSettings
    model: Model | None = None

    def ask(self, memory: Memory, request: Request) -> Asked:
        """The answer. What cannot be asked as it is put counts as not answered; other errors are the evaluation's."""
        values, search = self.asking.values(self.settings.hierarchy), self.settings.retrieval.values()
        began, answer, refused = time.perf_counter(), None, None
        try:
            answer = memory.ask(
                request.user_id,
                request.text,
                now=request.now,
                until=request.until,
                image=request.image,
                caption=request.caption,
                values=values,
                search=search,
                model=self.model,
            )
        except UsageError as error:
            refused = f"{type(error).__name__}: {error}"
        return Asked(answer, refused, time.perf_counter() - began)


def cited_orders(answer: Answer | None) -> Iterator[tuple[int, str]]:
    """The rounds that hold what an answer tells (order, round id), each once; not those that tell when an event was."""
    cited = () if answer is None else answer.citations
    yield from dict.fromkeys((each.order, each.round_id) for each in cited if each.role == "value")


def tokens(asked: Sequence[Asked]) -> dict[str, int]:
    """Calls and tokens of a model, summed; all 0 where there was none."""
    used = [one.answer.usage for one in asked if one.answer is not None]
    return {
        "calls": sum(each.calls for each in used),
        "prompt_tokens": sum(each.prompt_tokens for each in used),
        "completion_tokens": sum(each.completion_tokens for each in used),
    }


def planners(asked: Sequence[Asked]) -> dict[str, int]:
    """How many answers each planner planned: rules plan what a model failed on."""
    return dict(Counter(one.answer.trace.planner for one in asked if one.answer is not None))
