"""One session whose messages lie in several files, as tables are cut up (``part-00000.parquet``, a file a day)."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import count, pairwise

from operators.records import Round, Session, natural_key
from operators.sources.rounds import (
    DOUBTS,
    UNKNOWN_PARTS,
    Group,
    Turn,
    by_pairs,
    groups_by_roles,
    make_session,
    one_sided,
    positional_id,
)

_EXACT = ("second", "minute")
_SURELY_GROWN = 4
"""Untimed messages with which two files must begin alike to be two tellings of one session: greetings are alike too."""


@dataclass(frozen=True)
class _Told:
    """A turn, the file that tells it and the round that the file put it in; ``named``: by a name, not by its number."""

    turn: Turn
    source: str
    round_id: str
    named: bool

    @property
    def words(self) -> Hashable:
        """All that is told, however the moment is written and whether pictures are at hand."""
        message = self.turn.message
        time = message.time and message.time.utc
        pictures = tuple((image.reference, image.caption) for image in self.turn.images)
        return message.message_id, message.role, message.speaker, message.text, time, pictures

    @property
    def is_one_of_a_kind(self) -> bool:
        """Whether who tells the same words tells of this very message."""
        message = self.turn.message
        return message.message_id is not None or (message.time is not None and message.time.precision == "second")


def rejoined(user_id: str, session_id: str, parts: Mapping[str, Sequence[Round]]) -> list[tuple[Round, str]]:
    """The rounds of the session that the files tell together, each with the files its messages are from, a line each.

    ``parts`` has each file's rounds of the session, by the file's uri; the files are taken in the natural order of those.
    Messages stand by time where every file tells times, one without a time after the one before it; else file after file.
    A message that two files tell with the same words, at the same second or under the same id, is one; so are whole
    beginnings of several messages. Rounds that were named by number are cut anew where no file names rounds.
    """
    files = sorted(parts, key=lambda source: (natural_key(source), source))
    told = _once([[*_turns(session_id, parts[source], source)] for source in files])
    groups = _groups(session_id, told)
    sources = {group.round_id: source for group, source in groups}
    made = make_session(user_id, session_id, [group for group, _ in groups], None, {})
    return [(record, sources[record.round_id]) for item in made if isinstance(item, Session) for record in item.rounds]


def _turns(session_id: str, rounds: Sequence[Round], source: str) -> Iterator[_Told]:
    for record in sorted(rounds, key=lambda record: record.position):
        shown = [tuple(image for image in record.images if image.message == at) for at in range(len(record.messages))]
        # What could not be read is known of the round: it goes with a message that holds nothing else, so that this stays.
        bare = (at for at, message in enumerate(record.messages) if not message.text.strip() and not shown[at])
        marked = next(bare, 0)
        named = record.round_id != positional_id(session_id, record.position)
        for at, message in enumerate(record.messages):
            turn = Turn(message, tuple(replace(image, message=0) for image in shown[at]))
            if at == marked:
                unknown, doubts = record.metadata.get(UNKNOWN_PARTS, {}), record.metadata.get(DOUBTS, {})
                turn = replace(turn, unknown=unknown, doubts=doubts)
            yield _Told(turn, source, record.round_id, named)


def _once(parts: Sequence[list[_Told]]) -> list[_Told]:
    """All messages, those that several files tell once, in the order in which they were said."""
    kept: list[_Told] = []
    for part in parts:
        known = [item.words for item in kept]
        alike = 0
        while alike < min(len(part), len(kept)) and part[alike].words == known[alike]:
            alike += 1
        grown = alike >= _SURELY_GROWN and alike in (len(part), len(kept))
        places: dict[Hashable, list[int]] = {}
        for at, words in enumerate(known):
            places.setdefault(words, []).append(at)
        for number, item in enumerate(part):
            same = places.get(item.words) if item.is_one_of_a_kind or (grown and number < alike) else None
            if not same:
                kept.append(item)
            elif any(image.media is not None for image in item.turn.images):
                at = same.pop(0)
                kept[at] = replace(kept[at], turn=item.turn)
            else:
                same.pop(0)
    return _by_time(kept)


def _by_time(told: Sequence[_Told]) -> list[_Told]:
    """Stable, file by file: whoever has no exact time stands with the one before."""
    by_source: dict[str, list[tuple[_Told, datetime | None]]] = {}
    for item in told:
        file = by_source.setdefault(item.source, [])
        file.append((item, _moment(item, file[-1][1] if file else None)))
    firsts = {source: next((at for _, at in file if at is not None), None) for source, file in by_source.items()}
    if any(first is None for first in firsts.values()):
        return list(told)
    dated = [(at or firsts[source], item) for source, file in by_source.items() for item, at in file]
    return [item for _, item in sorted(dated, key=lambda pair: pair[0])]  # type: ignore[arg-type,return-value]


def _moment(item: _Told, before: datetime | None) -> datetime | None:
    time = item.turn.message.time
    if time is None or time.precision in _EXACT:
        return before if time is None else time.utc
    same_day = before is not None and time.utc <= before < time.utc + timedelta(days=1)
    return before if same_day else time.utc


def _groups(session_id: str, told: Sequence[_Told]) -> list[tuple[Group, str]]:
    """The rounds that the messages make, each with its files."""
    turns = [item.turn for item in told]
    if not any(item.named for item in told):
        if one_sided([turn.message.role for turn in turns]):
            cut = by_pairs(len(turns))
            groups = [
                Group(positional_id(session_id, at), tuple(turns[index] for index in pair)) for at, pair in enumerate(cut)
            ]
        else:
            groups = groups_by_roles(session_id, turns)
        starts = [0]
        for group in groups:
            starts.append(starts[-1] + len(group.turns))
        return [(group, _files(told[start:end])) for group, (start, end) in zip(groups, pairwise(starts), strict=True)]
    members: dict[tuple[str, str], list[_Told]] = {}
    for item in told:
        members.setdefault(("", item.round_id) if item.named else (item.source, item.round_id), []).append(item)
    taken = {item.round_id for item in told if item.named}
    free = (name for name in (positional_id(session_id, at) for at in count()) if name not in taken)
    return [
        (Group(name if not source else next(free), tuple(item.turn for item in items)), _files(items))
        for (source, name), items in members.items()
    ]


def _files(items: Sequence[_Told]) -> str:
    return "\n".join(dict.fromkeys(line for item in items for line in item.source.split("\n")))
