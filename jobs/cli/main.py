"""``mnemosaic``: the families of commands under one name, and how their errors end the process.

Exit codes: 0 done, 1 the work failed, 2 the command cannot be done as asked, 3 ``backfill --strict`` met something it
could not read, 130 interrupted, 143 terminated.
"""

from __future__ import annotations

import errno
import io
import os
import signal
import sys
import threading
import traceback
from collections.abc import Sequence
from types import FrameType

import typer

from jobs.cli import (
    ask,
    backfill,
    bench,
    compute,
    evaluate,
    export,
    hierarchy,
    inspect,
    look,
    maintain,
    observations,
    reinduce,
    search,
    tables,
)
from jobs.cli.output import printable
from operators.errors import MnemosaicError, NotAStore, SnapshotNotFound, UsageError

FAMILIES = (
    backfill,
    look,
    ask,
    search,
    hierarchy,
    observations,
    tables,
    compute,
    reinduce,
    inspect,
    export,
    maintain,
    evaluate,
    bench,
)
"""Modules of commands. Each has ``register(app)``; a new family is added here."""

app = typer.Typer(
    name="mnemosaic",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    rich_markup_mode=None,
)


@app.callback()
def _root(
    debug: bool = typer.Option(False, "--debug", help="Show the traceback of an error."),
) -> None:
    """Long-term memory for multimodal agents: chat histories go in, the rounds that answer a question come out.

    \b
    Start with:
      mnemosaic backfill chats.jsonl --store ./memory
      mnemosaic search "when did we fix the bike?" --store ./memory --user tomas

    A STORE is a folder or s3://bucket/prefix. Results go to stdout; progress and notes go to stderr.
    """


for family in FAMILIES:
    family.register(app)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit code. ``--debug`` is taken wherever it stands."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a terminal that lacks a character shows its escape
            stream.reconfigure(errors="backslashreplace")
    debug, arguments = _take_debug(arguments)
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, _terminate)
    try:
        app(arguments, prog_name="mnemosaic")
    except SystemExit as stop:
        code = _code(stop.code)
        if code in _STOPPED:
            kept = "what is done is kept, the same command goes on with it"
            if not _WITHOUT_TRACE.isdisjoint(arguments[:1]):
                kept = "nothing is kept"
            print(f"{_STOPPED[code]}: {kept}", file=sys.stderr)
        return _after_output(code)
    except Exception as error:
        return _after_output(_report(error, debug))
    return _after_output(0)


_WITHOUT_TRACE = frozenset({"evaluate", "bench"})
"""Commands that work in temporary folders."""

_STOPPED = {130: "interrupted", 128 + signal.SIGTERM: "terminated"}
"""Exit codes of a command that a signal ended."""


def _terminate(_number: int, _frame: FrameType | None) -> None:
    """As on Ctrl-C, everything that was begun is ended in its order: Ray's processes do not outlive the command."""
    raise SystemExit(128 + signal.SIGTERM)


def _take_debug(arguments: list[str]) -> tuple[bool, list[str]]:
    own = arguments[: arguments.index("--")] if "--" in arguments else arguments
    return "--debug" in own, [word for word in own if word != "--debug"] + arguments[len(own) :]


def _report(error: Exception, debug: bool) -> int:
    if debug:
        traceback.print_exception(error)
    known = _known(error)
    if known is None and isinstance(error, OSError) and error.filename is None and error.errno in (errno.ENOSPC, errno.EIO):
        _silence()
        print(f"error: the output could not be written: {error.strerror}", file=sys.stderr)
        return 1
    if known is None:
        hint = "" if debug else "; run again with --debug to see where"
        print(f"error: unexpected {type(error).__name__}{hint}", file=sys.stderr)
        return 1
    print(f"error: {printable(str(known))}", file=sys.stderr)
    return 2 if isinstance(known, UsageError | NotAStore | SnapshotNotFound) else 1


def _known(error: BaseException | None) -> MnemosaicError | None:
    """The error raised on purpose behind ``error``: Ray wraps what its workers raise, as ``cause`` or ``__cause__``."""
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        wrapped = getattr(error, "cause", None)
        if isinstance(wrapped, BaseException):
            error = wrapped
        elif isinstance(error, MnemosaicError):
            return error
        else:
            error = error.__cause__
    return None


def _after_output(code: int) -> int:
    """``code``, or 141 (as shells report it) where the reader of stdout is gone; nothing is said then."""
    if sys.stdout is None:
        return code
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        _silence()
        return 141
    except OSError as error:
        _silence()
        print(f"error: the output could not be written: {error.strerror}", file=sys.stderr)
        return 1
    return code


def _silence() -> None:
    """What is still to be written to stdout goes nowhere: nobody takes it."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _code(code: str | int | None) -> int:
    if code is None:
        return 0
    return code if isinstance(code, int) else 1


if __name__ == "__main__":
    sys.exit(main())
