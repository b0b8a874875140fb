"""How commands end: exit codes, messages without traceback, quiet when the reader is gone."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest
import typer

from jobs.cli import main as cli
from operators.errors import NotAStore, ScopeError, SourceError, UsageError


@pytest.fixture
def failing(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Make ``mnemosaic`` a tool that raises what it is given."""

    def plant(error: BaseException) -> None:
        app = typer.Typer()

        @app.command()
        def fail() -> None:
            raise error

        monkeypatch.setattr(cli, "app", app)

    return plant


class Wrapped(Exception):
    """As Ray hands over what a worker raised."""

    def __init__(self, cause: Exception) -> None:
        super().__init__("many lines of a worker's traceback")
        self.cause = cause


def chained(cause: Exception) -> Exception:
    error = RuntimeError("outer")
    error.__cause__ = Wrapped(cause)
    return error


@pytest.mark.parametrize(
    ("error", "code", "message"),
    [
        (UsageError("ask like this"), 2, "error: ask like this\n"),
        (ScopeError("pass --user"), 2, "error: pass --user\n"),
        (NotAStore("no store at x"), 2, "error: no store at x\n"),
        (chained(SourceError("bad line", code="bad-json", file="a", line=3)), 1, "error: bad line\n"),
        (chained(UsageError("like this")), 2, "error: like this\n"),
        (NotAStore("a\x1b[2Jb"), 2, "error: a\\x1b[2Jb\n"),
        (KeyError("a user's secret"), 1, "error: unexpected KeyError; run again with --debug to see where\n"),
    ],
)
def test_errors_end_with_one_line(
    failing: Any, capsys: pytest.CaptureFixture[str], error: Exception, code: int, message: str
) -> None:
    failing(error)
    assert cli.main([]) == code
    captured = capsys.readouterr()
    assert captured.err == message
    assert captured.out == ""


def test_debug_shows_the_traceback_wherever_it_stands(failing: Any, capsys: pytest.CaptureFixture[str]) -> None:
    failing(NotAStore("no store at x"))
    assert cli.main(["--debug"]) == 2
    err = capsys.readouterr().err
    assert "Traceback" in err
    assert err.endswith("error: no store at x\n")


@pytest.mark.parametrize(
    ("stop", "code", "word"), [(KeyboardInterrupt(), 130, "interrupted"), (SystemExit(143), 143, "terminated")]
)
def test_a_command_that_a_signal_ends_says_so(
    failing: Any, capsys: pytest.CaptureFixture[str], stop: BaseException, code: int, word: str
) -> None:
    failing(stop)
    assert cli.main([]) == code
    assert capsys.readouterr().err.endswith(f"{word}: what is done is kept, the same command goes on with it\n")


def test_an_output_that_is_full_is_said() -> None:
    command = f"{sys.executable} -m jobs.cli.main --help > /dev/full"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 1
    assert done.stderr == "error: the output could not be written: No space left on device\n"


def test_an_exit_code_of_a_command_is_kept(failing: Any) -> None:
    failing(typer.Exit(3))
    assert cli.main([]) == 3


@pytest.mark.parametrize("words", [["nonsense"], ["status"], ["search", "x", "--store", "s", "--k", "0"], ["backfill"]])
def test_wrong_command_lines_end_with_2(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(words) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.strip()


def test_a_blank_tenant_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["users", "--store", "s", "--tenant", " "]) == 2
    assert "--tenant" in capsys.readouterr().err


def test_help_is_quick_and_starts_no_engine() -> None:
    heavy = "{'ray', 'polars', 'torch', 'boto3', 'onnxruntime'}"
    code = f"import sys; from jobs.cli.main import main; main(['--help']); print({heavy} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.splitlines()[-1] == "set()"


def test_a_reader_that_leaves_is_no_error() -> None:
    command = f"{sys.executable} -m jobs.cli.main --help | head -n 0; echo ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=True, timeout=60)
    assert done.stderr == ""
    assert done.stdout.strip() in ("0", "1", "141")
