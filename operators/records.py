"""The records of the house: rounds, units, observations, quarantine rows; their Arrow schemas and ids.

Columns are named here, once.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from typing import Any, Literal

import pyarrow as pa
import pyarrow.compute as pc

from operators.errors import ScopeError

DEFAULT_TENANT = "default"

TimePrecision = Literal["second", "minute", "day", "unknown"]
UnitKind = Literal["txt", "img", "audio-transcript"]
Role = Literal["user", "assistant", "system", "tool", "other"]


# --- what a source yields ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Instant:
    """A moment as its writer gave it: UTC, the writer's offset where known, and how exactly it was told."""

    utc: datetime
    offset_minutes: int | None
    precision: TimePrecision


@dataclass(frozen=True)
class Message:
    """One speaker's text in a round. ``speaker`` is a name where the source has one, else the role."""

    role: Role
    speaker: str
    text: str
    message_id: str | None = None
    time: Instant | None = None


@dataclass(frozen=True)
class Image:
    """One picture of a round. ``media`` is the key of its bytes (``sha256`` hex), None where they are not at hand."""

    message: int
    reference: str
    image_id: str | None = None
    media: str | None = None
    caption: str | None = None
    format: str | None = None
    width: int | None = None
    height: int | None = None


@dataclass(frozen=True)
class Round:
    """One exchange. ``position`` counts from 0 within its session, in the order the source tells it."""

    session_id: str
    round_id: str
    position: int
    messages: tuple[Message, ...]
    images: tuple[Image, ...] = ()
    time: Instant | None = None
    metadata: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Session:
    """One session of one user as a format module reads it, before it becomes rows."""

    user_id: str
    session_id: str
    rounds: tuple[Round, ...]


# --- Arrow schemas ----------------------------------------------------------------------------------------------

TENANT, USER, SESSION, ROUND, ORDER = "tenant_id", "user_id", "session_id", "round_id", "order"
TIME, OFFSET, PRECISION, POSITION = "time", "time_offset_minutes", "time_precision", "position"
MESSAGES, IMAGES, METADATA, CONTENT_HASH, SOURCE = "messages", "images", "metadata", "content_hash", "source"
UNIT, KIND, SPEAKER, TEXT, CAPTION, MEDIA = "unit_id", "kind", "speaker", "text", "caption", "media"
MESSAGE, START, END, CONTENT_KEY = "message", "start", "end", "content_key"

ASKED = "asked"

OBSERVATION, RECORD, ATTRIBUTE, VALUE, NUMBER, MEASURE = "observation_id", "record", "attribute", "value", "number", "unit"
PARSED, DOUBT, IMAGE, BOX, EXTRACTOR, CONFIDENCE = "parsed", "doubt", "image", "box", "extractor", "confidence"
FROM_ROUND = "from_round"
"""Beside the observations that are live: the round one is written in, where what it corrects stands in another."""

CORRECTS, CORRECTED_BY, NAMED = "corrects", "corrected_by", "named"
VECTOR = "vector"

TIMESTAMP = pa.timestamp("us", tz="UTC")

MESSAGE_TYPE = pa.struct(
    [
        pa.field("message_id", pa.string()),
        pa.field("role", pa.string(), nullable=False),
        pa.field("speaker", pa.string(), nullable=False),
        pa.field("text", pa.string(), nullable=False),
        pa.field(TIME, TIMESTAMP),
        pa.field(OFFSET, pa.int16()),
        pa.field(PRECISION, pa.string(), nullable=False),
    ]
)
IMAGE_TYPE = pa.struct(
    [
        pa.field("image_id", pa.string()),
        pa.field("message", pa.int32(), nullable=False),
        pa.field("reference", pa.string(), nullable=False),
        pa.field("media", pa.string()),
        pa.field("caption", pa.string()),
        pa.field("format", pa.string()),
        pa.field("width", pa.int32()),
        pa.field("height", pa.int32()),
    ]
)

ROUNDS = pa.schema(
    [
        pa.field(TENANT, pa.string(), nullable=False),
        pa.field(USER, pa.string(), nullable=False),
        pa.field(SESSION, pa.string(), nullable=False),
        pa.field(ROUND, pa.string(), nullable=False),
        pa.field(ORDER, pa.int64(), nullable=False),
        pa.field(POSITION, pa.int32(), nullable=False),
        pa.field(TIME, TIMESTAMP),
        pa.field(OFFSET, pa.int16()),
        pa.field(PRECISION, pa.string(), nullable=False),
        pa.field(MESSAGES, pa.list_(MESSAGE_TYPE), nullable=False),
        pa.field(IMAGES, pa.list_(IMAGE_TYPE), nullable=False),
        pa.field(METADATA, pa.string(), nullable=False),
        pa.field(CONTENT_HASH, pa.string(), nullable=False),
        pa.field(SOURCE, pa.string(), nullable=False),
    ]
)
"""One row a round, sorted by tenant, user, order. ``order`` is the round's position in the user's whole history.

``source`` is the uri it was read from; where its messages lie in several files of a table, a line each.
"""

UNITS = pa.schema(
    [
        pa.field(TENANT, pa.string(), nullable=False),
        pa.field(USER, pa.string(), nullable=False),
        pa.field(SESSION, pa.string(), nullable=False),
        pa.field(ROUND, pa.string(), nullable=False),
        pa.field(ORDER, pa.int64(), nullable=False),
        pa.field(UNIT, pa.string(), nullable=False),
        pa.field(KIND, pa.string(), nullable=False),
        pa.field(SPEAKER, pa.string(), nullable=False),
        pa.field(TEXT, pa.string()),
        pa.field(CAPTION, pa.string()),
        pa.field(MEDIA, pa.string()),
        pa.field(MESSAGE, pa.int32(), nullable=False),
        pa.field(START, pa.int32(), nullable=False),
        pa.field(END, pa.int32(), nullable=False),
        pa.field(CONTENT_KEY, pa.binary(16)),
    ]
)
"""One row a unit, in the order of its rounds; row i belongs to row i of the bucket's vectors.

``start`` and ``end`` are character offsets into the message's text (0, 0 for pictures). ``content_key`` names what the
text encoder sees; it is null, and the vector zero, where there is no text (a picture without caption).
"""

USERS = pa.schema(
    [
        pa.field(TENANT, pa.string(), nullable=False),
        pa.field(USER, pa.string(), nullable=False),
        pa.field("round_start", pa.int64(), nullable=False),
        pa.field("rounds", pa.int64(), nullable=False),
        pa.field("unit_start", pa.int64(), nullable=False),
        pa.field("units", pa.int64(), nullable=False),
        pa.field("sessions", pa.int64(), nullable=False),
        pa.field("pictures", pa.int64(), nullable=False),
        pa.field("first_time", TIMESTAMP),
        pa.field("last_time", TIMESTAMP),
        pa.field("digest", pa.string(), nullable=False),
    ]
)
"""One row a user of a bucket: where its rounds, units and vectors stand, and what they hold."""

QUARANTINE = pa.schema(
    [
        pa.field(TENANT, pa.string(), nullable=False),
        pa.field("file", pa.string(), nullable=False),
        pa.field("line", pa.int64()),
        pa.field(ROUND, pa.string()),
        pa.field("code", pa.string(), nullable=False),
        pa.field("reason", pa.string(), nullable=False),
        pa.field(ASKED, pa.string(), nullable=False),
    ]
)
"""What could not be read: where it stands and why. It points at the source and holds none of its text.

``asked`` is how it was read, as JSON (``format``, ``user``, ``timezone``, ``columns``): it can be read that way again.
"""


OBSERVATIONS = pa.schema(
    [
        pa.field(TENANT, pa.string(), nullable=False),
        pa.field(USER, pa.string(), nullable=False),
        pa.field(SESSION, pa.string(), nullable=False),
        pa.field(ROUND, pa.string(), nullable=False),
        pa.field(ORDER, pa.int64(), nullable=False),
        pa.field(OBSERVATION, pa.string(), nullable=False),
        pa.field(RECORD, pa.int32(), nullable=False),
        pa.field(ATTRIBUTE, pa.string(), nullable=False),
        pa.field(VALUE, pa.string(), nullable=False),
        pa.field(KIND, pa.string(), nullable=False),
        pa.field(NUMBER, pa.float64()),
        pa.field(MEASURE, pa.string()),
        pa.field(PARSED, pa.string()),
        pa.field(DOUBT, pa.string()),
        pa.field(SPEAKER, pa.string(), nullable=False),
        pa.field(MESSAGE, pa.int32(), nullable=False),
        pa.field(START, pa.int32()),
        pa.field(END, pa.int32()),
        pa.field(IMAGE, pa.int32()),
        pa.field(MEDIA, pa.string()),
        pa.field(BOX, pa.list_(pa.float32(), 4)),
        pa.field(EXTRACTOR, pa.string(), nullable=False),
        pa.field(CONFIDENCE, pa.float32(), nullable=False),
        pa.field(NAMED, pa.bool_(), nullable=False),
        pa.field(CORRECTS, pa.string()),
        pa.field(CORRECTED_BY, pa.string()),
    ]
)
"""One row an observation (AdaMM, Eq. 1: attribute, source-faithful value, pointer), sorted by tenant, user, order, record.

``attribute`` and ``value`` are as written. ``kind`` is number, duration, money, percent, date, time, ratio, bool or text;
``number`` is in ``unit`` (a base unit such as s, m, kg, kcal, a currency, %), ``parsed`` a date, a time, true or false, or
a text folded for comparing. Where the value may mean something else, ``doubt`` says why.

The pointer: ``message`` with ``start`` and ``end``, character offsets of the value in its text; or ``image``, the place of
the picture among its round's, its ``media`` and ``box``, the value's left, top, right and bottom in pixels.

``corrects`` names the observation that this one takes back (empty where none was found), ``corrected_by`` the one that takes
this one back. ``named`` is false where the source tells no attribute, which is then the corrected one's, or empty.
"""

ROUNDS_LEVEL, RECORDS_LEVEL, USERS_LEVEL = "round", "record", "user"

COUNTS = pa.schema(
    [
        pa.field(TENANT, pa.string(), nullable=False),
        pa.field(USER, pa.string(), nullable=False),
        pa.field("level", pa.string(), nullable=False),
        pa.field("names", pa.string(), nullable=False),
        pa.field("weight", pa.int64(), nullable=False),
    ]
)
"""One row a distinct set of names of a user's rounds (``level`` round) or of their records (record), and its rounds.

``names``: sorted keys of names (``induce.attributes.Name.key``), a line each. Weights of disjoint rounds add. Where a
tenant's users are counted together their user is ``""``, and the level user says of each name how many tell it.
"""

COLUMN_TYPE = pa.struct(
    [
        pa.field("name", pa.string(), nullable=False),
        pa.field("kind", pa.string(), nullable=False),
        pa.field("unit", pa.string()),
        pa.field("names", pa.list_(pa.string()), nullable=False),
        pa.field("samples", pa.list_(pa.string()), nullable=False),
    ]
)

TABLES = pa.schema(
    [
        pa.field(TENANT, pa.string(), nullable=False),
        pa.field(USER, pa.string(), nullable=False),
        pa.field("table", pa.string(), nullable=False),
        pa.field("description", pa.string(), nullable=False),
        pa.field("columns", pa.list_(COLUMN_TYPE), nullable=False),
        pa.field("support", pa.int64(), nullable=False),
        pa.field("all_confidence", pa.float64(), nullable=False),
        pa.field("rows", pa.int64(), nullable=False),
        pa.field("start", pa.int64(), nullable=False),
        pa.field("bytes", pa.int64(), nullable=False),
        pa.field("dates", pa.list_(pa.string()), nullable=False),
        pa.field("made_of", pa.string(), nullable=False),
    ]
)
"""One row a table of a user, sorted by tenant, user, table: its metadata, and where its Parquet stands in the bucket's pack.

``names`` of a column: the keys of the names it takes, those that it has taken before included; ``samples``: values as
written. ``dates``: the keys of the user's names that tell the day of a record. ``made_of``: how the user's tables were made,
and behind a dash a digest of all that they were made of: the same two make the same tables.
"""

SCHEMA_CHANGES = pa.schema(
    [
        pa.field(TENANT, pa.string(), nullable=False),
        pa.field(USER, pa.string(), nullable=False),
        pa.field("run_id", pa.string(), nullable=False),
        pa.field("rounds", pa.int64(), nullable=False),
        pa.field("change", pa.string(), nullable=False),
        pa.field("table", pa.string(), nullable=False),
        pa.field("columns", pa.list_(pa.string()), nullable=False),
        pa.field("added", pa.list_(pa.string()), nullable=False),
        pa.field("support", pa.int64(), nullable=False),
        pa.field("all_confidence", pa.float64()),
        pa.field("ext_confidence", pa.float64()),
        pa.field("why", pa.string(), nullable=False),
    ]
)
"""One row a change of a user's tables, in the order they came: ``discovered``, ``evolved``, ``retyped``, ``narrowed``,
``merged``, ``parted`` (names that a column took are another's now), ``dropped``, ``threshold``. ``rounds``: those the
user had then; ``added``: the columns that are new, or gone, or the names.
"""

CORRECTIONS = pa.schema(
    [
        pa.field(TENANT, pa.string(), nullable=False),
        pa.field(USER, pa.string(), nullable=False),
        pa.field(SESSION, pa.string(), nullable=False),
        pa.field(ROUND, pa.string(), nullable=False),
        pa.field(RECORD, pa.int32(), nullable=False),
        pa.field("table", pa.string(), nullable=False),
        pa.field("column", pa.string(), nullable=False),
        pa.field("names", pa.list_(pa.string()), nullable=False),
        pa.field(VALUE, pa.string()),
        pa.field(KIND, pa.string(), nullable=False),
        pa.field(NUMBER, pa.float64()),
        pa.field(MEASURE, pa.string()),
        pa.field(PARSED, pa.string()),
        pa.field("by", pa.string(), nullable=False),
        pa.field("at", TIMESTAMP, nullable=False),
    ]
)
"""One row a cell that a person set right: which cell, what it holds (``value`` null: nothing), who said so and when.

``names``: the normal names that the column took then; the cell is known by them where no column is called so any more.
"""

TOPIC, EPISODE, EVENT = "topic", "episode", "event"
LEVELS = (TOPIC, EPISODE, EVENT)
"""The levels of a hierarchy, from the top."""

HIERARCHY = pa.schema(
    [
        pa.field(TENANT, pa.string(), nullable=False),
        pa.field(USER, pa.string(), nullable=False),
        pa.field("level", pa.string(), nullable=False),
        pa.field("node", pa.string(), nullable=False),
        pa.field("parent", pa.string()),
        pa.field("name", pa.string(), nullable=False),
        pa.field("description", pa.string(), nullable=False),
        pa.field("first_order", pa.int64(), nullable=False),
        pa.field("last_order", pa.int64(), nullable=False),
        pa.field("rounds", pa.int64(), nullable=False),
        pa.field("pictures", pa.int64(), nullable=False),
        pa.field("first_time", TIMESTAMP),
        pa.field("first_offset_minutes", pa.int16()),
        pa.field("last_time", TIMESTAMP),
        pa.field("last_offset_minutes", pa.int16()),
        pa.field("vector", pa.list_(pa.float16())),
        pa.field("image_vector", pa.list_(pa.float16())),
        pa.field("made_of", pa.string(), nullable=False),
    ]
)
"""One row a topic, an episode, an event; sorted by tenant and user, a user's topics before episodes before events, each by
their first rounds.

An event is a round and an episode the rounds from ``first_order`` to ``last_order``; a topic's are those of its episodes,
which name it as ``parent``. The vectors of texts and pictures, unit length, are null where there are none, and of events,
whose units and pictures have theirs. ``made_of``: with what numbers a user's hierarchy was made, and behind a dash of what
rounds.
"""

LINE_TYPE = pa.struct(
    [
        pa.field("text", pa.string(), nullable=False),
        pa.field(BOX, pa.list_(pa.float32(), 4), nullable=False),
        pa.field("score", pa.float32(), nullable=False),
    ]
)

PICTURE_TEXTS = pa.schema(
    [
        pa.field(CONTENT_KEY, pa.binary(16), nullable=False),
        pa.field(MEDIA, pa.string(), nullable=False),
        pa.field("width", pa.int32(), nullable=False),
        pa.field("height", pa.int32(), nullable=False),
        pa.field("turn", pa.int16(), nullable=False),
        pa.field("tilt", pa.float32(), nullable=False),
        pa.field("lines", pa.list_(LINE_TYPE), nullable=False),
        pa.field("fault", pa.string()),
    ]
)
"""One row a picture of a bucket: what OCR read in it. ``fault``: why it could not be read, null where it could.

``turn`` and ``tilt`` as in ``extract.page.PictureText``. ``content_key`` is the first 16 bytes of ``media``.
"""


def vectors_by_key(dim: int) -> pa.Schema:
    """Schema of a block of encoded texts: content key and a float16 vector of ``dim`` numbers."""
    return pa.schema(
        [
            pa.field(CONTENT_KEY, pa.binary(16), nullable=False),
            pa.field(VECTOR, pa.list_(pa.float16(), dim), nullable=False),
        ]
    )


def picture_vectors(dim: int) -> pa.Schema:
    """Schema of a bucket's vectors of pictures: float16, unit length, a row each distinct picture of a user's rounds.

    Sorted by tenant, user, media. A picture that cannot be decoded has no row.
    """
    return pa.schema(
        [
            pa.field(TENANT, pa.string(), nullable=False),
            pa.field(USER, pa.string(), nullable=False),
            pa.field(MEDIA, pa.string(), nullable=False),
            pa.field(VECTOR, pa.list_(pa.float16(), dim), nullable=False),
        ]
    )


def pictures_by_key(dim: int) -> pa.Schema:
    """Schema of a block of encoded pictures: content key, vector, and why it is zero (``fault``, null where it is not)."""
    return pa.schema([*vectors_by_key(dim), pa.field("fault", pa.string())])


# --- ids and hashes ---------------------------------------------------------------------------------------------


def require_scope(tenant: str | None, user: str | None) -> tuple[str, str]:
    """Tenant and user of a read, or ScopeError: a missing one never means "all"."""
    if not isinstance(tenant, str) or not tenant.strip():
        raise ScopeError("a read needs a tenant: pass --tenant (tenant= in Python)")
    if not isinstance(user, str) or not user.strip():
        raise ScopeError("a read needs a user: pass --user (user= in Python)")
    for name in (tenant, user):
        try:
            name.encode("utf-8")
        except UnicodeEncodeError as error:
            raise ScopeError(f"{name!r} is no name of a tenant or user: it is not valid Unicode") from error
    return tenant, user


def bucket_of(tenant: str, user: str, buckets: int) -> int:
    """The bucket of a user: stable across processes, machines and releases."""
    return int.from_bytes(_hash_parts([tenant, user])[:8], "big") % buckets


def content_key(text: str) -> bytes:
    """16 bytes naming what the text encoder sees; equal texts are encoded once."""
    return hashlib.sha256(text.encode("utf-8")).digest()[:16]


def picture_key(media: str) -> bytes:
    """16 bytes naming a picture, as ``content_key`` names a text."""
    return bytes.fromhex(media)[:16]


def media_key(sha256: str) -> str:
    """Store key of a picture's original bytes, by the hex sha256 of those bytes."""
    return f"media/sha256/{sha256[:2]}/{sha256}"


def unit_id(session_id: str, round_id: str, kind: UnitKind, index: int, span: int) -> str:
    """Id of a unit within its user: its round, its kind, which message or picture, which span of it."""
    session, round_ = (part.replace("%", "%25").replace("/", "%2F") for part in (session_id, round_id))
    return f"{session}/{round_}/{kind}{index}.{span}"


def observation_id(session_id: str, round_id: str, index: int) -> str:
    """Id of an observation within its user: its round and its place among the round's."""
    session, round_ = (part.replace("%", "%25").replace("/", "%2F") for part in (session_id, round_id))
    return f"{session}/{round_}/obs{index}"


def node_id(level: str, session_id: str, round_id: str) -> str:
    """Id of a topic, an episode or an event within its user: its level and its first round."""
    session, round_ = (part.replace("%", "%25").replace("/", "%2F") for part in (session_id, round_id))
    return f"{level}/{session}/{round_}"


def round_hash(record: Round) -> str:
    """Hex hash of all that a round says. It leaves out where the round was read from and its place among others."""
    parts: list[str] = [record.session_id, record.round_id, _told(record.time)]
    parts += [str(len(record.messages)), str(len(record.images))]
    for message in record.messages:
        parts += [message.role, message.speaker, message.text, message.message_id or "", _told(message.time)]
    for image in record.images:
        parts += [str(image.message), image.image_id or "", image.media or f"ref:{image.reference}", image.caption or ""]
    parts.append(json.dumps(record.metadata, sort_keys=True, ensure_ascii=False))
    return _hash_parts(parts).hex()[:32]


def _told(time: Instant | None) -> str:
    return "" if time is None else f"{time.utc.isoformat()}|{time.offset_minutes}|{time.precision}"


def digest_of(parts: Iterable[str]) -> str:
    """Hex digest of an ordered sequence of strings, each length-prefixed."""
    return _hash_parts(parts).hex()


def _hash_parts(parts: Iterable[str]) -> bytes:
    digest = hashlib.sha256()
    for part in parts:
        data = part.encode("utf-8")
        digest.update(len(data).to_bytes(8, "big"))
        digest.update(data)
    return digest.digest()


_DIGITS = re.compile(r"([0-9]+)")


def natural_key(name: str) -> str:
    """A string that sorts as a reader would sort names: ``D2`` before ``D10``; names that differ may tie, as 1 and 01."""
    parts = _DIGITS.split(name)
    for index in range(1, len(parts), 2):
        digits = parts[index].lstrip("0")
        parts[index] = f"{len(digits):06d}{digits}"
    return "".join(parts)


# --- rows -------------------------------------------------------------------------------------------------------


def round_rows(tenant: str, user: str, rounds: Sequence[Round], source: str) -> list[dict[str, Any]]:
    """Rounds as rows of the ``ROUNDS`` schema; ``order`` is 0 until the bucket is merged."""
    return [_round_row(tenant, user, record, source) for record in rounds]


def _round_row(tenant: str, user: str, record: Round, source: str) -> dict[str, Any]:
    return {
        TENANT: tenant,
        USER: user,
        SESSION: record.session_id,
        ROUND: record.round_id,
        ORDER: 0,
        POSITION: record.position,
        **_time_row(record.time),
        MESSAGES: [
            {
                "message_id": message.message_id,
                "role": message.role,
                "speaker": message.speaker,
                "text": message.text,
                **_time_row(message.time),
            }
            for message in record.messages
        ],
        IMAGES: [
            {
                "image_id": image.image_id,
                "message": image.message,
                "reference": image.reference,
                "media": image.media,
                "caption": image.caption,
                "format": image.format,
                "width": image.width,
                "height": image.height,
            }
            for image in record.images
        ],
        METADATA: json.dumps(record.metadata, sort_keys=True, ensure_ascii=False),
        CONTENT_HASH: round_hash(record),
        SOURCE: source,
    }


def _time_row(time: Instant | None) -> dict[str, Any]:
    if time is None:
        return {TIME: None, OFFSET: None, PRECISION: "unknown"}
    return {TIME: time.utc, OFFSET: time.offset_minutes, PRECISION: time.precision}


def round_of_row(row: Mapping[str, Any]) -> Round:
    """The round that a row of the ``ROUNDS`` schema holds: the inverse of ``round_rows``."""
    return Round(
        session_id=row[SESSION],
        round_id=row[ROUND],
        position=row[POSITION],
        messages=tuple(_message_of_row(raw) for raw in row[MESSAGES]),
        images=tuple(Image(**raw) for raw in row[IMAGES]),
        time=_instant_of_row(row),
        metadata=json.loads(row[METADATA]),
    )


def _message_of_row(row: Mapping[str, Any]) -> Message:
    return Message(row["role"], row["speaker"], row["text"], row["message_id"], _instant_of_row(row))


def _instant_of_row(row: Mapping[str, Any]) -> Instant | None:
    return None if row[TIME] is None else Instant(row[TIME], row[OFFSET], row[PRECISION])


def pictures_of(rounds: pa.Table) -> pa.Array:
    """The names (``media``) of all pictures at hand in a table with the ``images`` column of ``ROUNDS``, each once."""
    return pc.unique(pc.struct_field(pc.list_flatten(rounds[IMAGES]), MEDIA).drop_null())


def local_day(time: datetime, offset_minutes: int | None) -> date:
    """The day of a moment on its writer's clock."""
    try:
        return (time + timedelta(minutes=offset_minutes or 0)).date()
    except OverflowError:  # in the first or the last hours of all time
        return time.date()


def isoformat(moment: datetime | None) -> str | None:
    """UTC time as ISO 8601 with a Z, None where unknown."""
    return None if moment is None else moment.astimezone(UTC).isoformat().replace("+00:00", "Z")
