"""One session whose messages lie in several files, as tables are cut up (``part-00000.parquet``, a file a day)."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, replace

from operators.records import Round, Session
from operators.sources.rounds import (
    DOUBTS,
    UNKNOWN_PARTS,
    Group,
    Turn,
    by_names,
    by_pairs,
    groups_by_roles,
    make_session,
    one_sided,
    positional_id,
)

_EXACT = ("second", "minute")


@dataclass(frozen=True)
class _Told:
    """A turn and the round that its file put it in."""

    turn: Turn
    round_id: str

    @property
    def said(self) -> Hashable:
        """What makes two readings of one message one: its id, else all that is told; None where it has no time."""
        message = self.turn.message
        if message.message_id is not None:
            return message.message_id
        return None if message.time is None else (message, self.turn.images)


def rejoined(user_id: str, session_id: str, parts: Sequence[Sequence[Round]]) -> Session:
    """The session that the files tell together; ``parts`` has each file's rounds of it, in the order of the files.

    Messages stand by time where all have an exact one, else file after file. A message that two files tell is one: the
    same id, or the same words by the same speaker at the same time; and a file that begins with all that those before it
    told is the session grown. Rounds that were named by number are cut anew, others are joined by name.
    """
    told = _once([[*_turns(sorted(part, key=lambda record: record.position))] for part in parts])
    if all(item.turn.message.time is not None and item.turn.message.time.precision in _EXACT for item in told):
        told.sort(key=lambda item: item.turn.message.time.utc)  # type: ignore[union-attr]
    made = make_session(user_id, session_id, _groups(session_id, told, parts), None, {})
    (session,) = [item for item in made if isinstance(item, Session)]
    return session


def _turns(rounds: Sequence[Round]) -> Iterator[_Told]:
    for record in rounds:
        for index, message in enumerate(record.messages):
            images = tuple(image for image in record.images if image.message == index)
            turn = Turn(message, tuple(replace(image, message=0) for image in images))
            if index == 0:
                turn = replace(turn, unknown=record.metadata.get(UNKNOWN_PARTS, {}), doubts=record.metadata.get(DOUBTS, {}))
            yield _Told(turn, record.round_id)


def _once(parts: Sequence[list[_Told]]) -> list[_Told]:
    told: list[_Told] = []
    for part in parts:
        if _begins_with(part, told):
            told = list(part)
        elif not _begins_with(told, part):
            places: dict[Hashable, list[int]] = {}
            for at, item in enumerate(told):
                places.setdefault(item.said, []).append(at)
            for item in part:
                if item.said is not None and places.get(item.said):
                    told[places[item.said].pop(0)] = item
                else:
                    told.append(item)
    return told


def _begins_with(longer: Sequence[_Told], shorter: Sequence[_Told]) -> bool:
    def words(items: Sequence[_Told]) -> list[Hashable]:
        return [(item.turn.message, item.turn.images) for item in items]

    return words(longer[: len(shorter)]) == words(shorter)


def _groups(session_id: str, told: Sequence[_Told], parts: Sequence[Sequence[Round]]) -> list[Group]:
    turns = [item.turn for item in told]
    if any(record.round_id != positional_id(session_id, record.position) for part in parts for record in part):
        named = by_names([item.round_id for item in told])
        return [Group(name, tuple(turns[index] for index in indexes)) for name, indexes in named]
    if one_sided([turn.message.role for turn in turns]):
        pairs = enumerate(by_pairs(len(turns)))
        return [Group(positional_id(session_id, at), tuple(turns[index] for index in pair)) for at, pair in pairs]
    return groups_by_roles(session_id, turns)
