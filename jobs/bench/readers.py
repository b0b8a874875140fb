"""Readers: how fast each format is read, beside how fast the encoder takes what they give it. One process, one thread."""

from __future__ import annotations

import csv
import io
import json
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from configs.settings import Settings
from jobs.bench.conversations import texts
from jobs.bench.figures import Spread, seconds_of
from operators.encode.text import TextEncoder, load_text_encoder
from operators.errors import SourceError
from operators.records import Session
from operators.sources import native, openai_jsonl
from operators.sources.files import LocalFiles
from operators.sources.origin import Origin
from operators.sources.read import FORMAT_NAMES, Parsed, ReadScope, read_split, survey

GOAL = 20.0
"""How many times as many rounds as the encoder units a reader is to give a second."""

Tell = Callable[[str], None]

_MB = 1_000_000
_SESSION_ROUNDS, _WORDS = 10, (14, 26)
_ENCODED = 1000
_BEGINS = datetime(2024, 1, 1, 8, tzinfo=UTC)
_SIDES = ("user", "assistant")


@dataclass(frozen=True)
class ReaderRate:
    """One reader on one file: decimal megabytes and rounds a second."""

    reader: str
    bytes: int
    rounds: int
    megabytes: Spread
    rates: Spread


@dataclass(frozen=True)
class ReaderFigures:
    """All readers, and the encoder's units a second in one thread of the same process."""

    encoder: str
    units: Spread
    readers: list[ReaderRate]
    left_out: list[str]

    def ratio(self, reader: ReaderRate) -> float:
        """The reader's rounds for each unit of the encoder, in the same time."""
        return reader.rates.median / self.units.median


def measure_readers(settings: Settings, *, size: int, repeat: int, temp: Path | None, tell: Tell) -> ReaderFigures:
    """Every reader on about ``size`` bytes of its format, ``repeat`` times in turn with the encoder."""
    chosen = settings.encoder
    encoder = load_text_encoder(chosen.kind, model=chosen.model, window=chosen.window, numeric=chosen.numeric, threads=1)
    said = [text for one in _some_sessions(_ENCODED // (2 * _SESSION_ROUNDS)) for _, text, _ in one.messages]
    encoder.encode(said[:16])
    units: list[float] = []
    seconds: dict[str, list[float]] = {}
    with tempfile.TemporaryDirectory(dir=temp) as folder:
        tell("writing the files")
        files = {name: write(Path(folder), size) for name, (form, write) in SAMPLES.items() if form in FORMAT_NAMES}
        rounds = {name: _read(path) for name, path in files.items()}
        for number in range(repeat):
            tell(f"run {number + 1} of {repeat}")
            units.append(_encoded_a_second(encoder, said))
            for name, path in files.items():
                seconds.setdefault(name, []).append(seconds_of(lambda path=path: _read(path)))  # type: ignore[misc]
        sizes = {name: path.stat().st_size for name, path in files.items()}
    rates = [
        ReaderRate(
            name,
            sizes[name],
            rounds[name],
            Spread.of([sizes[name] / _MB / one for one in taken]),
            Spread.of([rounds[name] / one for one in taken]),
        )
        for name, taken in seconds.items()
    ]
    known = {form for form, _ in SAMPLES.values()}
    return ReaderFigures(
        encoder=f"{chosen.kind} {dict(encoder.fingerprint).get('numeric', chosen.numeric)}",
        units=Spread.of(units),
        readers=rates,
        left_out=[name for name in FORMAT_NAMES if name not in known],
    )


def _encoded_a_second(encoder: TextEncoder, said: list[str]) -> float:
    return len(said) / seconds_of(lambda: encoder.encode(said))


def _read(path: Path) -> int:
    """All rounds of the file, counted; SourceError where one of them cannot be read."""
    files = LocalFiles()
    (source,) = files.find(str(path))
    found = survey(source, files)
    if found.error is not None:
        raise found.error
    rounds = 0
    for split in found.splits:
        for item in read_split(split, files, ReadScope(None, None, 1 << 28)):
            if isinstance(item, SourceError):
                raise item
            if isinstance(item, Parsed):
                rounds += len(item.session.rounds)
    return rounds


# --- invented files -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Told:
    """One session: messages as (role, text, time)."""

    user: str
    session: str
    messages: list[tuple[str, str, str]]


def _some_sessions(number: int) -> Iterator[_Told]:
    sessions = _sessions()
    return (next(sessions) for _ in range(number))


def _sessions() -> Iterator[_Told]:
    """Sessions without end, always the same, ten a user."""
    for number in count():
        said = texts(np.random.default_rng([7, number]), list(_WORDS) * _SESSION_ROUNDS)
        user, place = divmod(number, 10)
        began = _BEGINS + timedelta(days=place, minutes=user % 600)
        times = [(began + timedelta(seconds=30 * index)).isoformat() for index in range(len(said))]
        messages = [(_SIDES[index % 2], text, times[index]) for index, text in enumerate(said)]
        yield _Told(f"user-{user:06d}", f"s{place:04d}", messages)


def _until(size: int, told: Callable[[_Told], str]) -> Iterator[str]:
    """What is told of one session after another, until it is ``size`` characters."""
    held = 0
    for session in _sessions():
        part = told(session)
        yield part
        held += len(part)
        if held >= size:
            return


def _lines(name: str, told: Callable[[_Told], str], first: str = "") -> Callable[[Path, int], Path]:
    def write(folder: Path, size: int) -> Path:
        path = folder / name
        with path.open("w", encoding="utf-8", newline="") as file:
            file.write(first)
            file.writelines(_until(size, told))
        return path

    return write


def _document(name: str, told: Callable[[_Told], Any]) -> Callable[[Path, int], Path]:
    """A JSON list of what is told of each session."""

    def write(folder: Path, size: int) -> Path:
        path = folder / name
        parts = list(_until(size, lambda session: json.dumps(told(session))))
        path.write_text("[" + ",\n".join(parts) + "]", encoding="utf-8")
        return path

    return write


def _messages(session: _Told) -> list[dict[str, Any]]:
    return [{"role": role, "content": text, "timestamp": time} for role, text, time in session.messages]


def _our_line(session: _Told) -> str:
    found = {"user_id": session.user, "session_id": session.session, "messages": _messages(session)}
    return json.dumps(found) + "\n"


def _rows(session: _Told) -> list[tuple[str, ...]]:
    return [(session.user, session.session, *message) for message in session.messages]


_ROW = ("user_id", "session_id", "role", "text", "timestamp")


def _row_lines(session: _Told) -> str:
    return "".join(json.dumps(dict(zip(_ROW, row, strict=True))) + "\n" for row in _rows(session))


def _csv_lines(session: _Told) -> str:
    text = io.StringIO()
    csv.writer(text).writerows(_rows(session))
    return text.getvalue()


def _flat_parquet(folder: Path, size: int) -> Path:
    rows: list[tuple[str, ...]] = []
    for _ in _until(size, lambda session: rows.extend(_rows(session)) or _csv_lines(session)):  # type: ignore[func-returns-value]
        pass
    path = folder / "rows.parquet"
    pq.write_table(pa.table(dict(zip(_ROW, zip(*rows, strict=True), strict=True))), path, compression="none")
    return path


def _session_parquet(folder: Path, size: int) -> Path:
    found = [json.loads(line) for line in _until(size, _our_line)]
    path = folder / "sessions.parquet"
    pq.write_table(pa.Table.from_pylist(found), path, compression="none")
    return path


def _locomo(session: _Told) -> dict[str, Any]:
    turns = [
        {"speaker": "Ann" if role == "user" else "Bob", "dia_id": f"D1:{number}", "text": text}
        for number, (role, text, _) in enumerate(session.messages, start=1)
    ]
    spoken = {"speaker_a": "Ann", "speaker_b": "Bob", "session_1_date_time": "1:56 pm on 8 May, 2023", "session_1": turns}
    return {"sample_id": f"{session.user}-{session.session}", "conversation": spoken}


def _mem_gallery(session: _Told) -> dict[str, Any]:
    pairs = zip(session.messages[::2], session.messages[1::2], strict=True)
    rounds = [
        {"round": f"D1:{number}", "user": asked[1], "assistant": answered[1]}
        for number, (asked, answered) in enumerate(pairs, start=1)
    ]
    return {"multi_session_dialogues": [{"session_id": "D1", "date": session.messages[0][2][:10], "dialogues": rounds}]}


def _longmemeval(session: _Told) -> dict[str, Any]:
    turns = [{"role": role, "content": text, "has_answer": False} for role, text, _ in session.messages]
    found = {
        "haystack_sessions": [turns],
        "haystack_session_ids": [session.session],
        "haystack_dates": ["2023/05/20 (Sat) 02:21"],
    }
    return {"question_id": f"{session.user}-{session.session}", "question": "?", **found}


def _sharegpt(session: _Told) -> dict[str, Any]:
    turns = [{"from": "human" if role == "user" else "gpt", "value": text} for role, text, _ in session.messages]
    return {"id": f"{session.user}-{session.session}", "conversations": turns}


def _claude(session: _Told) -> dict[str, Any]:
    turns = [
        {
            "uuid": f"{session.user}-{session.session}-{number}",
            "sender": "human" if role == "user" else "assistant",
            "text": text,
            "content": [{"type": "text", "text": text}],
            "created_at": time,
        }
        for number, (role, text, time) in enumerate(session.messages)
    ]
    named = {"uuid": f"{session.user}-{session.session}", "name": "talk", "created_at": session.messages[0][2]}
    return {**named, "chat_messages": turns}


def _anthropic_line(session: _Told) -> str:
    *before, (_, answer, _) = session.messages
    asked = {
        "model": "claude",
        "metadata": {"user_id": session.user},
        "messages": [{"role": role, "content": [{"type": "text", "text": text}]} for role, text, _ in before],
    }
    reply = {"type": "message", "role": "assistant", "content": [{"type": "text", "text": answer}]}
    return json.dumps({"session_id": session.session, "request": asked, "response": reply}) + "\n"


def _responses_line(session: _Told) -> str:
    *before, (_, answer, _) = session.messages
    body = {
        "id": f"resp_{session.user}_{session.session}",
        "object": "response",
        "created_at": datetime.fromisoformat(session.messages[0][2]).timestamp(),
        "user": session.user,
        "input": [{"type": "message", "role": role, "content": text} for role, text, _ in before],
        "output": [{"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": answer}]}],
    }
    return json.dumps(body) + "\n"


def _export_line(session: _Told) -> str:
    (told,) = openai_jsonl.read(json.loads(_our_line(session)), Origin(None, None, ""))
    assert isinstance(told, Session)
    return json.dumps(native.line_of(told.user_id, told.session_id, told.rounds, {})) + "\n"


def _chatgpt(session: _Told) -> dict[str, Any]:
    name = f"{session.user}-{session.session}"
    last = len(session.messages) - 1
    mapping: dict[str, Any] = {"root": {"id": "root", "message": None, "parent": None, "children": ["n0"]}}
    for number, (role, text, time) in enumerate(session.messages):
        message = {
            "id": f"{name}-{number}",
            "author": {"role": role},
            "create_time": datetime.fromisoformat(time).timestamp(),
            "content": {"content_type": "text", "parts": [text]},
        }
        mapping[f"n{number}"] = {
            "id": f"n{number}",
            "message": message,
            "parent": f"n{number - 1}" if number else "root",
            "children": [f"n{number + 1}"] if number < last else [],
        }
    began = datetime.fromisoformat(session.messages[0][2]).timestamp()
    return {"title": "talk", "create_time": began, "conversation_id": name, "current_node": f"n{last}", "mapping": mapping}


SAMPLES: dict[str, tuple[str, Callable[[Path, int], Path]]] = {
    "our JSONL": ("jsonl", _lines("ours.jsonl", _our_line)),
    "our columns, Parquet": ("parquet", _session_parquet),
    "our own export": ("mnemosaic", _lines("export.jsonl", _export_line)),
    "Anthropic requests": ("anthropic", _lines("anthropic.jsonl", _anthropic_line)),
    "OpenAI responses": ("responses", _lines("responses.jsonl", _responses_line)),
    "ChatGPT export": ("chatgpt", _document("conversations.json", _chatgpt)),
    "Claude export": ("claude", _document("claude.json", _claude)),
    "ShareGPT": ("sharegpt", _document("sharegpt.json", _sharegpt)),
    "LongMemEval": ("longmemeval", _document("longmemeval.json", _longmemeval)),
    "LoCoMo": ("locomo", _document("locomo.json", _locomo)),
    "Mem-Gallery": ("mem_gallery", _document("mem_gallery.json", _mem_gallery)),
    "a message a row, CSV": ("rows", _lines("rows.csv", _csv_lines, ",".join(_ROW) + "\r\n")),
    "a message a row, JSON lines": ("rows", _lines("rows.jsonl", _row_lines)),
    "a message a row, Parquet": ("rows", _flat_parquet),
}
"""What is measured: a name for people, the format, and how a file of about so many bytes is made in a folder."""
