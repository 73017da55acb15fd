"""What SQLite raises of a ledger, as an error that says what to do."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import ParamSpec, TypeVar

from harness.errors import LlmError
from harness.store.faults import sqlite_kind

P = ParamSpec("P")
T = TypeVar("T")


def explained(method: Callable[P, T]) -> Callable[P, T]:
    """Turn what SQLite raises in a method of a ledger into an LlmError that says what to do."""

    @wraps(method)
    def guarded(*args: P.args, **kwargs: P.kwargs) -> T:
        try:
            return method(*args, **kwargs)
        except sqlite3.Error as error:
            raise unusable(args[0].path, error) from error  # type: ignore[attr-defined]

    return guarded


def unusable(path: Path, error: sqlite3.Error) -> LlmError:
    """The error for a ledger file that SQLite cannot read or write."""
    kind = sqlite_kind(error)
    if kind in (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR):
        todo = "Free space on the disk and run again: answers that are in it are not paid for again"
    elif kind in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
        todo = "It is damaged: move it away and import the last export; it is never rebuilt silently"
    else:
        todo = "Is another program using it, or is it read-only?"
    return LlmError(f"The ledger {path} cannot be used: {error}. {todo}.".replace("?.", "?"))
