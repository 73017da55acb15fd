"""What may happen to a program: standard streams that are closed or whose reader is gone, and signals.

The first of Ctrl-C, SIGTERM and SIGHUP ends the command cleanly, the second one immediately. Everything that
is written is written whole or not at all, so an immediate end only loses time. Imports nothing slow: it is in
force before anything else is imported.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from io import TextIOWrapper
from types import FrameType
from typing import Any, NoReturn, TextIO


def open_closed_streams() -> bool:
    """Put /dev/null in the place of standard streams that are closed; returns whether output was open.

    Without it the next file that is opened gets the number, and what is printed is written into that file.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
    was_open = sys.stdout is not None
    if not was_open:
        sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115 - it stays open
    if sys.stderr is None:
        sys.stderr = open(2, "w", encoding="utf-8", closefd=False)  # noqa: SIM115 - it stays open
    return was_open


def use_utf8() -> None:
    """Write UTF-8 to files and pipes on Windows, whose encodings lack letters of tables and verdicts.

    A console takes every letter as it is, and who sets PYTHONIOENCODING has chosen.
    """
    if os.name == "nt" and "PYTHONIOENCODING" not in os.environ:
        for stream in (sys.stdout, sys.stderr):
            if isinstance(stream, TextIOWrapper) and not stream.isatty():
                stream.reconfigure(encoding="utf-8")


def give_output_up() -> None:
    """Redirect standard output to nowhere, so that Python does not complain at exit about unwritten data."""
    devnull = os.open(os.devnull, os.O_WRONLY)
    # in a test it may not be a file
    with suppress(OSError):
        os.dup2(devnull, sys.stdout.fileno())
    os.close(devnull)


def flush(lost: type[OSError] = BrokenPipeError) -> None:
    """Flush: a failure can be reported now, but no longer when Python exits.

    A closed pipe is not a failure: the work of the command is done, and the rest is dropped. So it is for
    whatever is ``lost`` where another error is reported. Raises OSError for others, such as a full disk.
    """
    try:
        sys.stdout.flush()
    except lost:
        give_output_up()


class Unbreakable:
    """A stream for progress and messages: a closed pipe or a lost terminal does not end a run."""

    def __init__(self, file: TextIO) -> None:
        self._file = file

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)

    def write(self, text: str) -> int:
        """Write it, if there is still a reader."""
        with suppress(OSError):
            self._file.write(text)
        return len(text)

    def flush(self) -> None:
        """Flush it, if there is still a reader."""
        with suppress(OSError):
            self._file.flush()


MESSAGE = "error: stopped; what was computed or saved is kept, and the same command goes on from there.\n"
_SIGNALS = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]
_SHOW_CURSOR = "\x1b[?25h"


class Stopped(KeyboardInterrupt):
    """A signal has asked the command to end. A KeyboardInterrupt, so that every library lets it through."""


class _State:
    process = -1
    signal: int | None = None
    announced = False
    finishing = False
    instead: Callable[[], object] | None = None


def watch() -> None:
    """Handle the signals, for a program; signals that were ignored at its start stay ignored."""
    _State.process = os.getpid()
    for number in _SIGNALS:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _on_signal)
    sys.unraisablehook = _on_unraisable


def exit_code() -> int | None:
    """128 + the number of the signal that has come, as in a shell; None without a signal."""
    return None if _State.signal is None else 128 + _State.signal


def finish() -> None:
    """From here on the first signal ends the program immediately: its work is done, or being reported."""
    _State.finishing = True


def say_stopped() -> None:
    """Say in one line that the command was stopped; only once, however often it is asked to stop."""
    if not _State.announced:
        _State.announced = True
        # not through Python's buffer: the signal may have come while it was in use
        with suppress(OSError):
            os.write(2, MESSAGE.encode())


@contextmanager
def on_stop(act: Callable[[], object]) -> Iterator[None]:
    """Inside the block the first signal calls ``act``, which must not block, instead of raising Stopped.

    For work that ends itself cleanly. Stopped is raised at the end of the block. Does nothing but in a
    program that has called ``watch``.
    """
    before, _State.instead = _State.instead, act
    already = _State.signal
    try:
        yield
    except BaseException:
        if _State.signal != already:
            raise Stopped from None
        raise
    finally:
        _State.instead = before
    if _State.signal != already:
        raise Stopped


def _on_signal(number: int, _: FrameType | None) -> None:
    if os.getpid() != _State.process:
        # a forked worker: its parent prints the message
        os._exit(128 + number)
    if _State.signal is not None:
        _leave(128 + _State.signal)
    _State.signal = number
    if _State.finishing:
        _leave(128 + number)
    if _State.instead is not None:
        _State.instead()
        return
    raise Stopped


def _on_unraisable(unraisable: sys.UnraisableHookArgs) -> None:
    """Python has dropped an exception, as in destructors; a process asked to stop must not go on."""
    if isinstance(unraisable.exc_value, KeyboardInterrupt) and _State.signal is not None:
        _leave(128 + _State.signal)


def _leave(code: int) -> NoReturn:
    """End immediately, without clean-up that may hang, and end the workers too."""
    say_stopped()
    with suppress(Exception):
        if "multiprocessing" in sys.modules:
            for worker in sys.modules["multiprocessing"].active_children():
                worker.kill()
        if os.isatty(2):
            os.write(2, _SHOW_CURSOR.encode())
    os._exit(code)
