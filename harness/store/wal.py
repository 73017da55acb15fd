"""SQLite files that several runs open at the same moment: write-ahead logging, and transactions."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import wraps
from pathlib import Path
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")
_PAUSE = 0.01


def use_write_ahead_log(db: sqlite3.Connection, patience: float = 60.0) -> None:
    """Switch a file to write-ahead logging, waiting up to ``patience`` seconds for others to do so.

    While another process switches, SQLite answers *busy* immediately, whatever the connection's timeout.
    """
    deadline = time.monotonic() + patience
    while True:
        try:
            db.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError as error:
            # the low byte is the kind of error, the others say more about it
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                raise
            time.sleep(_PAUSE)
        else:
            return


@contextmanager
def transaction(db: sqlite3.Connection) -> Iterator[None]:
    """BEGIN IMMEDIATE, so that reading and writing are one step for other processes too."""
    db.execute("BEGIN IMMEDIATE")
    try:
        yield
        db.execute("COMMIT")
    except BaseException:
        # a full disk may have ended the transaction already
        with suppress(sqlite3.Error):
            db.execute("ROLLBACK")
        raise


def explained(
    error_of: Callable[[Path, sqlite3.Error], Exception],
) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Turn what SQLite raises in a method of a class with a ``path`` into the error that says what to do."""

    def explaining(method: Callable[P, T]) -> Callable[P, T]:
        @wraps(method)
        def guarded(*args: P.args, **kwargs: P.kwargs) -> T:
            try:
                return method(*args, **kwargs)
            except sqlite3.Error as error:
                raise error_of(args[0].path, error) from error  # type: ignore[attr-defined]

        return guarded

    return explaining
