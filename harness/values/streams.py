"""Standard streams that are closed, or whose reader or terminal is gone."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from typing import Any, TextIO


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


def give_output_up() -> None:
    """Redirect standard output to nowhere, so that Python does not complain at exit about unwritten data."""
    devnull = os.open(os.devnull, os.O_WRONLY)
    # in a test it may not be a file
    with suppress(OSError):
        os.dup2(devnull, sys.stdout.fileno())
    os.close(devnull)


def flush() -> None:
    """Flush: a failure can be reported now, but no longer when Python exits.

    A closed pipe is not a failure: the work of the command is done. Raises OSError for a full disk.
    """
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        give_output_up()


def flush_or_give_up() -> None:
    """Flush, or drop the rest: another error is reported."""
    try:
        sys.stdout.flush()
    except OSError:
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
