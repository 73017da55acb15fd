"""One process at a time: a lock that ends with its holder, however that ends."""

from __future__ import annotations

import sqlite3
from pathlib import Path


class Turn:
    """An exclusive lock on a file of its own, held by one object in one process.

    The lock is that of a SQLite transaction: the operating system drops it when the process is gone, killed
    or not, and it excludes processes in other containers on the same machine, whatever they call
    themselves. It holds wherever SQLite itself is safe, which network file systems are not.
    """

    def __init__(self, path: Path) -> None:
        self._db = sqlite3.connect(path, timeout=0, isolation_level=None, check_same_thread=False)

    def take(self) -> bool:
        """Take the turn without waiting; False when it is taken, also by this object."""
        if self._db.in_transaction:
            return False
        try:
            self._db.execute("BEGIN EXCLUSIVE")
        except sqlite3.OperationalError as error:
            # the low byte is the kind of error, the others say more about it
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY:
                raise
            return False
        return True

    def end(self) -> None:
        """Let others have it; nothing happens when it was not taken."""
        if self._db.in_transaction:
            self._db.execute("ROLLBACK")

    def close(self) -> None:
        """End it and close the file."""
        self._db.close()
