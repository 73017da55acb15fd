"""SQLite files that several runs open at the same moment: write-ahead logging, and transactions."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

_PAUSE = 0.01


def use_write_ahead_log(db: sqlite3.Connection, patience: float = 60.0) -> None:
    """Switch a file to write-ahead logging, waiting up to ``patience`` seconds for others to do so.

    While another process switches, SQLite answers *busy* at once, whatever the connection's timeout is.
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
