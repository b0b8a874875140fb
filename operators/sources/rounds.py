"""Messages grouped into rounds, whatever the format they came in."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from operators.errors import SourceError
from operators.records import Image, Instant, Message, Role, Round, Session
from operators.sources.fields import reject

DOUBTS, UNKNOWN_PARTS = "doubts", "unknown_parts"
"""Keys of a round's metadata: how often something of it was not understood and left out, by code; and how many parts of a
message nobody here can read, by type."""


BAD_TIME, NO_TIME, NO_OFFSET, UNKNOWN_PART = "bad-time", "no-time", "no-offset", "unknown-part"


def doubts_of(record: Round) -> Counter[str]:
    """What is uncertain about a round that goes in, by code: what its metadata notes, and what its time and parts show."""
    doubts: Counter[str] = Counter(record.metadata.get(DOUBTS, {}))
    if unknown := sum(record.metadata.get(UNKNOWN_PARTS, {}).values()):
        doubts[UNKNOWN_PART] += unknown
    if record.time is None and not doubts[BAD_TIME]:
        doubts[NO_TIME] += 1
    elif record.time is not None and record.time.offset_minutes is None:
        doubts[NO_OFFSET] += 1
    return +doubts


@dataclass(frozen=True)
class Turn:
    """One message with its pictures (``Image.message`` is set when rounds are made).

    ``unknown`` counts the parts nobody here can read, ``doubts`` what could not be understood and was left out, by its
    code (``bad-time``). ``fault``: why nothing of the message can be read; it stands in its place, so that the messages
    around it keep theirs.
    """

    message: Message
    images: tuple[Image, ...] = ()
    unknown: Mapping[str, int] = field(default_factory=dict)
    doubts: Mapping[str, int] = field(default_factory=dict)
    fault: SourceError | None = None

    @property
    def empty(self) -> bool:
        """True where it holds neither words nor a picture nor anything else."""
        return not (self.message.text.strip() or self.images or self.unknown)


def lost_turn(role: Role, fault: SourceError) -> Turn:
    """The place of a message that cannot be read."""
    return Turn(Message(role, role, ""), fault=fault)


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


def one_sided(roles: Sequence[Role]) -> bool:
    """True where all speak from one side, as in a group chat: then roles make no rounds."""
    asked = [role == "user" for role in roles]
    return all(asked) or not any(asked)


def groups_by_roles(session_id: str, turns: Sequence[Turn], *, by_message: bool = False) -> list[Group]:
    """Turns by the rounds that their roles make, named by their number.

    ``by_message``: named by the id of their first message, where it has one, so that they keep their names when the session
    is told with other messages before them.
    """
    groups: list[Group] = []
    for position, indexes in enumerate(by_roles([turn.message.role for turn in turns])):
        first = turns[indexes[0]].message.message_id if by_message else None
        groups.append(Group(first or positional_id(session_id, position), tuple(turns[index] for index in indexes)))
    return groups


def gathered(turns: Iterable[Turn]) -> list[Turn]:
    """The turns that say or show something, with what those between them hold in parts nobody can read or doubts added to
    the next one, or the last: reasoning and calls of tools are no messages of their own."""
    kept: list[Turn] = []
    unknown: Counter[str] = Counter()
    doubts: Counter[str] = Counter()
    for turn in turns:
        if turn.fault is None and not (turn.message.text.strip() or turn.images):
            unknown.update(turn.unknown)
            doubts.update(turn.doubts)
            continue
        kept.append(_with(turn, unknown, doubts))
        unknown, doubts = Counter(), Counter()
    if kept and (unknown or doubts):
        kept[-1] = _with(kept[-1], unknown, doubts)
    return kept


def _with(turn: Turn, unknown: Mapping[str, int], doubts: Mapping[str, int]) -> Turn:
    if not unknown and not doubts:
        return turn
    return replace(turn, unknown=_added_up([unknown, turn.unknown]), doubts=_added_up([doubts, turn.doubts]))


def session_from_content(turns: Sequence[Turn], time: Instant | None) -> str:
    """An id for a session that names none: from its first message where that has an exact time, so that it stays when the
    session grows; else from all its messages, so that two sessions that begin alike stay two."""
    first = turns[0].message.time or time
    exact = first is not None and first.precision in ("second", "minute")
    digest = hashlib.sha256()
    for turn in turns[:1] if exact else turns:
        told = turn.message.time or time
        parts = [turn.message.role, turn.message.text, told.utc.isoformat() if told else ""]
        parts += [image.reference for image in turn.images]
        for part in parts:
            data = part.encode("utf-8")
            digest.update(len(data).to_bytes(8, "big") + data)
    return f"s-{digest.hexdigest()[:16]}"


def positional_id(session_id: str, position: int) -> str:
    """Id of a round that the source does not name: its session and its number there, from 1."""
    return f"{session_id}:{position + 1}"


def make_session(
    user_id: str,
    session_id: str,
    groups: Sequence[Group],
    time: Instant | None,
    metadata: Mapping[str, Any],
    doubts: Mapping[str, int] | None = None,
) -> Iterator[Session | SourceError]:
    """The session of these rounds, after an error for each round that cannot go in.

    A message that cannot be read is an error, and its round goes in without it. A round in which nothing was said or shown
    is left out (``no-messages``), and so is one whose id is taken (``duplicate-round``); the others keep their positions.
    SourceError is raised where no round is left: that of the first message that cannot be read, else ``no-messages``.
    A round's time is that of its first message that has one, else ``time``. ``metadata`` and the session's own ``doubts``
    stand in the first round alone: in every round they would multiply, and a change of them would change them all.
    """
    seen: set[str] = set()
    rounds: list[Round] = []
    left_out: list[SourceError] = []
    for position, group in enumerate(groups):
        faults = [turn.fault for turn in group.turns if turn.fault is not None]
        left_out += [reject(fault.code, str(fault), round_id=group.round_id) for fault in faults]
        if all(turn.empty for turn in group.turns):
            if not faults:
                left_out.append(reject("no-messages", "nothing is said or shown in this round", round_id=group.round_id))
        elif group.round_id in seen:
            left_out.append(reject("duplicate-round", "the session has this round id twice", round_id=group.round_id))
        else:
            seen.add(group.round_id)
            told = ({}, {}) if rounds else (metadata, doubts or {})
            rounds.append(_round(session_id, position, group, time, *told))
    if not rounds:
        fault = next((turn.fault for group in groups for turn in group.turns if turn.fault is not None), None)
        raise fault or reject("no-messages", "the session has no message with words or a picture")
    yield from left_out
    yield Session(user_id, session_id, tuple(rounds))


def _round(
    session_id: str,
    position: int,
    group: Group,
    time: Instant | None,
    metadata: Mapping[str, Any],
    doubts: Mapping[str, int],
) -> Round:
    turns = [turn for turn in group.turns if turn.fault is None]
    counted = {
        UNKNOWN_PARTS: _added_up(turn.unknown for turn in turns),
        DOUBTS: _added_up([doubts, *(turn.doubts for turn in turns)]),
    }
    return Round(
        session_id=session_id,
        round_id=group.round_id,
        position=position,
        messages=tuple(turn.message for turn in turns),
        images=tuple(replace(image, message=index) for index, turn in enumerate(turns) for image in turn.images),
        time=next((turn.message.time for turn in turns if turn.message.time), time),
        metadata={**metadata, **{name: counts for name, counts in counted.items() if counts}},
    )


def _added_up(counts: Iterable[Mapping[str, int]]) -> dict[str, int]:
    total: Counter[str] = Counter()
    for part in counts:
        if part:
            total.update(part)
    return dict(total)
