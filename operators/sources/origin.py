"""What a record does not say about itself: whose it is and how its sessions are told from another file's."""

from __future__ import annotations

import re
from dataclasses import dataclass
from zoneinfo import ZoneInfo

from operators.errors import SourceError
from operators.sources.fields import reject

_SUFFIXES = re.compile(r"(?:\.(?:json|jsonl|ndjson|parquet|csv|tsv|zip))?(?:\.(?:gz|zst))?$", re.IGNORECASE)
_PART_OF_EXPORT = re.compile(r"conversations(?:[-_]\d+)?", re.IGNORECASE)

ARCHIVE = "!"
"""Ends the name of an archive in the uri of a file inside it: ``/data/export.zip!/conversations.json``."""


@dataclass(frozen=True)
class Origin:
    """Where a record comes from.

    ``user``: the user that was asked for, None where the record or its file must say. ``stem``: the file's name without
    folder and suffixes. ``part``: the record's number (from 1) in a file of several conversations, None where it is alone.
    ``owner``: whose export the file belongs to, by ``owner_of``.
    """

    user: str | None
    zone: ZoneInfo | None
    stem: str
    part: int | None = None
    owner: str = ""


def stem_of(uri: str) -> str:
    """``26`` of ``/data/26.json.gz``; the whole name where nothing but suffixes would be left."""
    name = uri.rsplit("/", 1)[-1]
    return _SUFFIXES.sub("", name) or name


def owner_of(uri: str) -> str:
    """The name an export of one person's conversations goes by: the stem of its file; for a ``conversations.json`` or one
    of several ``conversations-000.json`` the name of the folder or archive that holds it, where that has one."""
    stem = stem_of(uri)
    if not _PART_OF_EXPORT.fullmatch(stem):
        return stem
    folder = uri.rpartition("/")[0].rpartition("/")[2]
    return (stem_of(folder.removesuffix(ARCHIVE)) if folder.endswith(ARCHIVE) else folder) or stem


def user_of_record(named: str | None, origin: Origin) -> str:
    """The user of a record that may name one. SourceError ``no-user``, or ``other-user`` where --user names another."""
    if named is None:
        if origin.user is None:
            raise reject("no-user", "the session names no user: give it a user_id, or say whose it is with --user")
        return origin.user
    if origin.user is not None and named != origin.user:
        raise reject(
            "other-user", "the session is another user's than --user says; leave --user out to read each user's own"
        )
    return named


def user_of_export(origin: Origin) -> str:
    """The user of a conversation in somebody's export, which does not say whose it is."""
    return origin.user if origin.user is not None else origin.owner


def user_of_conversation(name: str | None, origin: Origin) -> tuple[str, str]:
    """User and session prefix of a conversation that names no user.

    The user is the one asked for; else the file's stem, where the file holds one conversation; else the conversation's
    own ``name``, or ``stem-2`` for the second without one. Where a user was asked for, session ids get the stem (and the
    name, where there are several) as a prefix, so that session 1 of two files stays two sessions.
    """
    label = name if name is not None else str(origin.part)
    if origin.user is not None:
        return origin.user, f"{origin.stem}/" if origin.part is None else f"{origin.stem}/{label}/"
    if origin.part is None:
        return origin.stem, ""
    return (name if name is not None else f"{origin.stem}-{origin.part}"), ""


def placed(error: SourceError, file: str, line: int | None) -> SourceError:
    """The same error with its place, where it had none."""
    return type(error)(
        str(error),
        code=error.code,
        file=error.file if error.file is not None else file,
        line=error.line if error.line is not None else line,
        round_id=error.round_id,
    )
