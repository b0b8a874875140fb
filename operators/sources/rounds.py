"""Messages grouped into rounds, whatever the format they came in."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from operators.errors import SourceError
from operators.records import Image, Instant, Message, Role, Round, Session
from operators.sources.fields import reject


@dataclass(frozen=True)
class Turn:
    """One message with its pictures (``Image.message`` is set when rounds are made) and the parts nobody here can read."""

    message: Message
    images: tuple[Image, ...] = ()
    unknown: Mapping[str, int] = field(default_factory=dict)

    @property
    def empty(self) -> bool:
        """True where it holds neither words nor a picture nor anything else."""
        return not (self.message.text.strip() or self.images or self.unknown)


@dataclass(frozen=True)
class Group:
    """The turns of one round, in the order the source tells them."""

    round_id: str
    turns: tuple[Turn, ...]


def by_roles(roles: Sequence[Role]) -> list[list[int]]:
    """Indexes of messages by round: one or more user messages and all that follows until the next user message.

    What comes before the first user message (a greeting, a system prompt) belongs to the first round.
    """
    groups: list[list[int]] = []
    asked = answered = False
    for index, role in enumerate(roles):
        if not groups or (role == "user" and asked and answered):
            groups.append([])
            asked = answered = False
        groups[-1].append(index)
        asked = asked or role == "user"
        answered = asked and role != "user"
    return groups


def by_names(names: Sequence[str | None]) -> list[tuple[str, list[int]]]:
    """Indexes of messages by the round they name, in order of first appearance.

    A message that names none belongs to the round of the one before it; leading ones to the first round named. At least
    one message must name its round (ValueError).
    """
    current = next((name for name in names if name is not None), None)
    if current is None:
        raise ValueError("no message names its round")
    groups: dict[str, list[int]] = {}
    for index, name in enumerate(names):
        current = current if name is None else name
        groups.setdefault(current, []).append(index)
    return list(groups.items())


def by_pairs(count: int) -> list[list[int]]:
    """Indexes of messages two by two; an odd last one alone."""
    return [list(range(start, min(start + 2, count))) for start in range(0, count, 2)]


def positional_id(session_id: str, position: int) -> str:
    """Id of a round that the source does not name: its session and its number there, from 1."""
    return f"{session_id}:{position + 1}"


def make_session(
    user_id: str, session_id: str, groups: Sequence[Group], time: Instant | None, metadata: Mapping[str, Any]
) -> Iterator[Session | SourceError]:
    """The session of these rounds, after an error for each round that cannot go in.

    A round in which nothing was said or shown is left out (``no-messages``), and so is one whose id is taken
    (``duplicate-round``); the others keep their positions. SourceError ``no-messages`` is raised where no round is left.
    A round's time is that of its first message that has one, else ``time``. ``metadata`` stands in the first round alone:
    in every round it would multiply, and a change of it would change them all.
    """
    seen: set[str] = set()
    rounds: list[Round] = []
    left_out: list[SourceError] = []
    for position, group in enumerate(groups):
        if all(turn.empty for turn in group.turns):
            left_out.append(reject("no-messages", "nothing is said or shown in this round", round_id=group.round_id))
        elif group.round_id in seen:
            left_out.append(reject("duplicate-round", "the session has this round id twice", round_id=group.round_id))
        else:
            seen.add(group.round_id)
            rounds.append(_round(session_id, position, group, time, {} if rounds else metadata))
    if not rounds:
        raise reject("no-messages", "the session has no message with words or a picture")
    yield from left_out
    yield Session(user_id, session_id, tuple(rounds))


def _round(session_id: str, position: int, group: Group, time: Instant | None, metadata: Mapping[str, Any]) -> Round:
    return Round(
        session_id=session_id,
        round_id=group.round_id,
        position=position,
        messages=tuple(turn.message for turn in group.turns),
        images=tuple(replace(image, message=index) for index, turn in enumerate(group.turns) for image in turn.images),
        time=next((turn.message.time for turn in group.turns if turn.message.time), time),
        metadata={**metadata, **_unknown(group.turns)},
    )


def _unknown(turns: Sequence[Turn]) -> dict[str, Any]:
    counts: Counter[str] = Counter()
    for turn in turns:
        if turn.unknown:
            counts.update(turn.unknown)
    return {"unknown_parts": dict(counts)} if counts else {}
