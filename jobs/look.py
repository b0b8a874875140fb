"""What a backfill would read, without writing anything: formats, users, sessions, rounds, times, doubts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from jobs.sources import places
from jobs.survey import piece_bytes, survey_sources
from jobs.watch import Progress
from operators.errors import SourceError
from operators.records import Session
from operators.sources.files import SourceFile
from operators.sources.media import PictureCache, PictureLimits, attach_pictures
from operators.sources.read import Parsed, ReadScope, Split, SplitEnd, read_split
from operators.sources.rounds import doubts_of

MISSING_PICTURE = "missing-picture"


@dataclass
class Found:
    """What stands in one file, or in all of them. ``quarantined`` and ``doubts`` count by code."""

    users: set[str] = field(default_factory=set)
    sessions: int = 0
    rounds: int = 0
    pictures: int = 0
    first_time: datetime | None = None
    last_time: datetime | None = None
    quarantined: Counter[str] = field(default_factory=Counter)
    doubts: Counter[str] = field(default_factory=Counter)

    def add(self, other: Found) -> None:
        """Take in what another file holds."""
        self.users |= other.users
        self.sessions += other.sessions
        self.rounds += other.rounds
        self.pictures += other.pictures
        self.quarantined.update(other.quarantined)
        self.doubts.update(other.doubts)
        for time in (other.first_time, other.last_time):
            self._spans(time)

    def add_session(self, session: Session) -> None:
        """Take in a session."""
        self.users.add(session.user_id)
        self.sessions += 1
        for record in session.rounds:
            self.rounds += 1
            self.pictures += len(record.images)
            self._spans(record.time.utc if record.time else None)
            self.doubts.update(doubts_of(record))

    def _spans(self, time: datetime | None) -> None:
        if time is not None:
            self.first_time = time if self.first_time is None else min(self.first_time, time)
            self.last_time = time if self.last_time is None else max(self.last_time, time)


@dataclass(frozen=True)
class FileFound:
    """One file: its format, or why it would not be read (``verdict`` ignored, copy or rejected), and what is in it.

    ``unread``: columns of a table that are kept nowhere.
    """

    uri: str
    format: str | None
    verdict: str
    reason: str | None
    found: Found
    unread: tuple[str, ...] = ()


@dataclass(frozen=True)
class Values:
    """How to read: as the options and settings of a backfill."""

    format: str
    user: str | None
    timezone: str | None
    columns: Mapping[str, str] | None
    max_line_bytes: int
    limits: PictureLimits
    split_bytes: int


def look(sources: Sequence[SourceFile], values: Values, progress: Callable[[Progress], None]) -> list[FileFound]:
    """Read all sources as a backfill would, in this process, and keep only counts. Pictures are opened and checked."""
    surveyed = survey_sources(
        sources,
        format=values.format,
        user=values.user,
        split_bytes=piece_bytes(sources, values.split_bytes),
        columns=values.columns,
        here=True,
    )
    rejected = {error.file: error for error in surveyed.rejected}
    ignored, copies = dict(surveyed.ignored), set(surveyed.copies)
    looked: list[FileFound] = []
    rounds = 0
    for rank, source in enumerate(sources):
        if rank in surveyed.splits:
            found = _in_file(surveyed.splits[rank], values)
            rounds += found.rounds
            looked.append(FileFound(source.uri, surveyed.formats[rank], "read", None, found, surveyed.unread.get(rank, ())))
        elif (error := rejected.get(source.uri)) is not None:
            looked.append(FileFound(source.uri, None, "rejected", str(error), Found(quarantined=Counter([error.code]))))
        elif source.uri in copies:
            looked.append(FileFound(source.uri, None, "copy", "byte for byte a copy of another file", Found()))
        else:
            reason = ignored.get(source.uri, "the file is empty")
            looked.append(FileFound(source.uri, None, "ignored", reason, Found()))
        progress(Progress("look", rounds, None, "rounds"))
    return looked


def _in_file(splits: Sequence[Split], values: Values) -> Found:
    found = Found()
    scope = ReadScope(values.user, values.timezone, values.max_line_bytes, values.columns)
    files_for = places()
    for split in splits:
        files, cache = files_for(split.file.uri), PictureCache()
        for item in read_split(split, files, scope):
            if isinstance(item, SourceError):
                found.quarantined[item.code] += 1
            elif isinstance(item, Parsed):
                attached = attach_pictures(item.session, split.file, files, values.limits, _forget, cache=cache)
                found.quarantined.update(refused.code for refused in attached.refused)
                found.doubts.update({MISSING_PICTURE: attached.missing} if attached.missing else {})
                found.add_session(attached.session)
            else:
                assert isinstance(item, SplitEnd)
    return found


def _forget(_: str, __: bytes) -> None:
    """Pictures are looked at, not kept."""


def total(looked: Sequence[FileFound]) -> Found:
    """All files together; a user of several files counts once."""
    everything = Found()
    for file in looked:
        everything.add(file.found)
    return everything
