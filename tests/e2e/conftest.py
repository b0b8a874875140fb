"""What the end-to-end tests share: the command line as a user runs it, readers of its output, makers of sources.

Nothing here looks inside the product: commands run in their own process, JSON is read by the names it promises.
"""

from __future__ import annotations

import contextlib
import gzip
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
import pytest
import yaml
from PIL import Image

REPO = Path(__file__).resolve().parents[2]
TEST_CONFIG = REPO / "configs" / "test.yaml"
LIMIT = 240.0
ANSI = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


# --- running the command line -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Done:
    """A command that has ended."""

    command: tuple[str, ...]
    code: int
    out: str
    err: str

    @property
    def text(self) -> str:
        return self.out + self.err

    def json(self) -> Any:
        return json.loads(self.out)

    def __str__(self) -> str:
        return (
            f"$ mnemosaic {' '.join(self.command)}\n[exit {self.code}]\n{self.out[-6000:]}\n--- stderr\n{self.err[-6000:]}"
        )


class Running:
    """A backfill in its own process group, with its descendants remembered so that none outlives the test."""

    def __init__(self, command: Sequence[str], env: Mapping[str, str], log: Path) -> None:
        self.command = tuple(command)
        self._log = log
        with log.open("wb") as sink:
            self._process = subprocess.Popen(
                _argv(command), cwd=REPO, env=dict(env), stdout=sink, stderr=subprocess.STDOUT, start_new_session=True
            )
        self._family: dict[int, psutil.Process] = {}
        self._remembered = 0.0

    def running(self) -> bool:
        if time.monotonic() - self._remembered > 0.5:
            self._remember()
        return self._process.poll() is None

    def wait(self, seconds: float = LIMIT) -> Done:
        deadline = time.monotonic() + seconds
        while self.running():
            if time.monotonic() > deadline:
                self.end()
                raise AssertionError(f"still running after {seconds} s: {self.command}\n{self.output()}")
            time.sleep(0.1)
        return Done(self.command, self._process.returncode, self.output(), "")

    def kill_driver(self) -> None:
        """SIGKILL to the driver alone: what it started must find out by itself."""
        self._remember()
        self._process.send_signal(signal.SIGKILL)
        self._process.wait(30)

    def signal_driver(self, number: int) -> None:
        """The signal to the driver alone, as a supervisor sends it."""
        self._remember()
        self._process.send_signal(number)

    def left(self) -> list[str]:
        """What it started and is still alive."""
        return [process.name() for process in self._family.values() if process.is_running()]

    def kill_all(self) -> None:
        """SIGKILL to the driver and everything under it, as when a machine goes away."""
        self._remember()
        self._process.send_signal(signal.SIGKILL)
        self._process.wait(30)
        self.end()

    def end(self) -> None:
        """Leave nothing of this run alive."""
        if self._process.poll() is None:
            self._process.kill()
            self._process.wait(30)
        for process in self._family.values():
            with contextlib.suppress(psutil.Error):
                process.kill()
        psutil.wait_procs(list(self._family.values()), timeout=10)

    def output(self) -> str:
        return self._log.read_text(errors="replace")

    def _remember(self) -> None:
        self._remembered = time.monotonic()
        if self._process.returncode is not None:  # its id may be another process's by now
            return
        with contextlib.suppress(psutil.Error):
            for process in psutil.Process(self._process.pid).children(recursive=True):
                self._family.setdefault(process.pid, process)


def _argv(command: Sequence[str]) -> list[str]:
    return [sys.executable, "-m", "jobs.cli.main", *command]


class Cli:
    """The command line, run from outside.

    Backfills that nothing happens to share one Ray cluster, given by address; those that are started to be killed, or in
    an environment of their own, get the local one that users get.
    """

    def __init__(self, home: Path, cluster: str | None, env: Mapping[str, str] | None = None) -> None:
        self._home = home
        self._cluster = cluster
        self._started: list[Running] = []
        self.env = {**os.environ, "COLUMNS": "250", "NO_COLOR": "1", "TERM": "dumb", **(env or {})}

    def with_env(self, env: Mapping[str, str]) -> Cli:
        other = Cli(self._home, None, {**self.env, **env})
        other._started = self._started
        return other

    def run(self, *command: str | Path, limit: float = LIMIT) -> Done:
        words = [str(word) for word in command]
        done = subprocess.run(
            _argv(words), cwd=REPO, env=self.env, capture_output=True, timeout=limit, stdin=subprocess.DEVNULL, check=False
        )
        return Done(tuple(words), done.returncode, done.stdout.decode("utf-8"), done.stderr.decode("utf-8", "replace"))

    def ok(self, *command: str | Path, limit: float = LIMIT) -> Done:
        done = self.run(*command, limit=limit)
        assert done.code == 0, str(done)
        return done

    def read(self, *command: str | Path) -> Any:
        """A command's ``--json`` answer."""
        done = self.ok(*command, "--json")
        try:
            return done.json()
        except json.JSONDecodeError as error:
            raise AssertionError(f"--json printed something that is not one JSON value: {error}\n{done}") from error

    def status(self, store: str | Path, *more: str) -> dict[str, Any]:
        answer = self.read("status", "--store", store, *more)
        assert isinstance(answer, dict)
        return answer

    def digest(self, store: str | Path) -> str:
        digest = self.status(store)["content_digest"]
        assert isinstance(digest, str)
        assert digest
        return digest

    def backfill(
        self, *sources: str | Path, store: str | Path, more: Sequence[str] = (), config: Path | None = TEST_CONFIG
    ) -> Done:
        cluster = () if self._cluster is None else ("--ray-address", self._cluster)
        return self.ok(*backfill_words(sources, store, (*more, *cluster), config))

    def start(
        self, *sources: str | Path, store: str | Path, more: Sequence[str] = (), config: Path | None = TEST_CONFIG
    ) -> Running:
        words = [str(word) for word in backfill_words(sources, store, more, config)]
        running = Running(words, self.env, self._home / f"log-{len(self._started)}.txt")
        self._started.append(running)
        return running

    def end_all(self) -> None:
        for running in self._started:
            running.end()


def backfill_words(
    sources: Sequence[str | Path], store: str | Path, more: Sequence[str], config: Path | None
) -> list[str | Path]:
    chosen: list[str | Path] = [] if config is None else ["--config", config]
    return ["backfill", *sources, "--store", store, *chosen, *more]


# --- reading its answers ------------------------------------------------------------------------------------------


class Read:
    """Readers of ``--json`` answers. They fix what is promised (the records' names) and leave the nesting free."""

    @staticmethod
    def rows(answer: Any) -> list[dict[str, Any]]:
        """The rows of a listing: the answer itself, or the one list it holds."""
        if isinstance(answer, list):
            return answer
        assert isinstance(answer, dict), answer
        lists = [value for value in answer.values() if isinstance(value, list)]
        assert len(lists) == 1, f"expected one list in {list(answer)}"
        return lists[0]

    @staticmethod
    def get(row: Mapping[str, Any], *names: str) -> Any:
        for name in names:
            if name in row:
                return row[name]
        raise AssertionError(f"none of {names} in {sorted(row)}")

    @classmethod
    def users(cls, answer: Any) -> list[str]:
        return [cls.get(row, "user_id", "user") for row in cls.rows(answer)]

    @classmethod
    def rounds(cls, answer: Any) -> list[dict[str, Any]]:
        """Every round an answer holds, however it is nested, in the order given."""
        if isinstance(answer, list):
            return [found for item in answer for found in cls.rounds(item)]
        if not isinstance(answer, dict):
            return []
        if "round_id" in answer and "messages" in answer:
            return [answer]
        return [found for value in answer.values() for found in cls.rounds(value)]

    @classmethod
    def hits(cls, answer: Any) -> list[dict[str, Any]]:
        """The rounds of a search that were found by themselves (they carry a score), not as neighbours."""
        return [record for record in cls.rounds(answer) if record.get("score") is not None]

    @classmethod
    def ids(cls, answer: Any) -> list[tuple[str, str]]:
        return [(record["session_id"], record["round_id"]) for record in cls.rounds(answer)]

    @staticmethod
    def text(answer: Any) -> str:
        return json.dumps(answer, ensure_ascii=False)

    @staticmethod
    def number(done: Done, *words: str) -> int:
        """The number a summary gives beside one of ``words``: ``rounds 1,234``, ``rounds: 1234`` or ``1,234 rounds``.

        The last mention counts: the summary stands at the end, after the progress lines.
        """
        text = ANSI.sub("", done.text)
        for word in words:
            after = re.findall(rf"{word}[ \t:=.│|]*?([0-9][0-9,_]*)(?![0-9.]*\s*/s)", text, re.IGNORECASE)
            before = re.findall(rf"([0-9][0-9,_]*)\s+{word}", text, re.IGNORECASE)
            for found in (after, before):
                if found:
                    return int(re.sub("[,_]", "", found[-1]))
        raise AssertionError(f"no number beside {words} in the summary:\n{done}")


# --- making sources -----------------------------------------------------------------------------------------------


class Make:
    """Makers of source files. Every text is plain data: no test depends on how the product splits or names things."""

    @staticmethod
    def message(role: str, content: Any, timestamp: str | None = None, round_id: str | None = None) -> dict[str, Any]:
        message: dict[str, Any] = {"role": role, "content": content}
        if timestamp is not None:
            message["timestamp"] = timestamp
        if round_id is not None:
            message["round"] = round_id
        return message

    @classmethod
    def exchange(
        cls, user: Any, assistant: Any, timestamp: str | None = None, round_id: str | None = None
    ) -> list[dict[str, Any]]:
        return [cls.message("user", user, timestamp, round_id), cls.message("assistant", assistant, timestamp, round_id)]

    @classmethod
    def session(
        cls, user: str, session: str, exchanges: Sequence[tuple[Any, Any]], day: str | None = "2024-03-01"
    ) -> dict[str, Any]:
        messages: list[dict[str, Any]] = []
        for number, (said, answered) in enumerate(exchanges, start=1):
            stamp = None if day is None else f"{day}T09:{number % 60:02d}:00Z"
            messages += cls.exchange(said, answered, stamp, f"{session}:{number}")
        return {"user_id": user, "session_id": session, "messages": messages}

    @staticmethod
    def with_picture(text: str, url: str) -> list[dict[str, Any]]:
        return [{"type": "text", "text": text}, {"type": "image_url", "image_url": {"url": url}}]

    @staticmethod
    def picture(path: Path, seed: int) -> Path:
        path.parent.mkdir(parents=True, exist_ok=True)
        image = Image.new("RGB", (24, 16), ((seed * 67) % 256, (seed * 31) % 256, (seed * 7) % 256))
        image.putpixel((seed % 24, seed % 16), (255, 255, 255))
        image.save(path)
        return path

    @staticmethod
    def jsonl(path: Path, sessions: Sequence[Mapping[str, Any]]) -> Path:
        path.parent.mkdir(parents=True, exist_ok=True)
        text = "".join(json.dumps(session, ensure_ascii=False) + "\n" for session in sessions)
        data = text.encode("utf-8")
        if path.suffix == ".gz":
            data = gzip.compress(data)
        elif path.suffix == ".zst":
            import zstandard

            data = zstandard.ZstdCompressor().compress(data)
        path.write_bytes(data)
        return path

    @staticmethod
    def config(path: Path, changes: Mapping[str, Any]) -> Path:
        """The test configuration with some settings changed, each named ``section.key``."""
        settings = yaml.safe_load(TEST_CONFIG.read_text())
        for name, value in changes.items():
            section, key = name.split(".")
            settings.setdefault(section, {})[key] = value
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(yaml.safe_dump(settings))
        return path


def wait_until(check: Callable[[], bool], seconds: float, step: float = 0.01) -> bool:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if check():
            return True
        time.sleep(step)
    return False


@pytest.fixture(scope="session")
def make() -> Make:
    return Make()


@pytest.fixture(scope="session")
def reads() -> Read:
    return Read()


@pytest.fixture(scope="session")
def until() -> Callable[..., bool]:
    return wait_until


@pytest.fixture(scope="session")
def cli(tmp_path_factory: pytest.TempPathFactory, ray_cluster: str) -> Iterator[Cli]:
    runner = Cli(tmp_path_factory.mktemp("cli"), ray_cluster)
    yield runner
    runner.end_all()


# --- the sample that several modules build ------------------------------------------------------------------------


@dataclass(frozen=True)
class Sample:
    """A small history and what it holds, counted by hand."""

    folder: Path
    sessions: tuple[dict[str, Any], ...]
    counts: Mapping[str, int]


@pytest.fixture(scope="session")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Sample:
    """Two users, five sessions, seventeen rounds, three pictures. Every round says a word that no other round says."""
    folder = tmp_path_factory.mktemp("sample")
    for number in (1, 2, 3):
        Make.picture(folder / "images" / f"p{number}.png", number)
    ada1 = Make.session(
        "ada", "S1", [(f"My lighthouse{n} note", f"Saved item number {n}") for n in range(1, 6)], "2024-03-01"
    )
    ada1["messages"][4]["content"] = Make.with_picture("My lighthouse3 photo", "images/p1.png")
    ada2 = Make.session("ada", "S2", [(f"The saxophone{n} lesson", f"Lesson {n} kept") for n in range(1, 5)], "2024-03-05")
    ada3 = Make.session("ada", "S3", [("Look at this giraffe1", "A tall one")], "2024-04-02")
    ada3["messages"][0]["content"] = Make.with_picture("Look at this giraffe1", "images/p2.png")
    bo1 = Make.session("bo", "S1", [(f"A walrus{n} fact", f"Fact {n} stored") for n in range(1, 5)], "2024-02-01")
    bo2 = Make.session("bo", "S2", [(f"Some turmeric{n} curry", f"Recipe {n} filed") for n in range(1, 4)], "2024-02-03")
    bo2["messages"][0]["content"] = Make.with_picture("Some turmeric1 curry", "images/p3.png")
    sessions = (ada1, ada2, ada3, bo1, bo2)
    Make.jsonl(folder / "histories.jsonl", sessions)
    counts = {"users": 2, "sessions": 5, "rounds": 17, "units": 37, "pictures": 3, "quarantined": 0}
    return Sample(folder, sessions, counts)


@pytest.fixture(scope="session")
def sample_run(cli: Cli, sample: Sample, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Done]:
    """The sample backfilled once with the test configuration; read-only for the tests that share it."""
    store = tmp_path_factory.mktemp("sample-store") / "store"
    return store, cli.backfill(sample.folder, store=store)


@pytest.fixture(scope="session")
def sample_store(sample_run: tuple[Path, Done]) -> Path:
    return sample_run[0]
