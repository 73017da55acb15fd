"""Many small binary values in one SQLite file that survives a kill and is shared by concurrent runs."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from harness.errors import HarnessError
from harness.store.wal import use_write_ahead_log

_ASK_AT_ONCE = 500


class KeyValue:
    """A table from key to value, both bytes; a value once written is never changed."""

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._path = path
        try:
            self._db = sqlite3.connect(path, timeout=60, isolation_level=None)
            use_write_ahead_log(self._db)
            self._db.execute("PRAGMA synchronous=NORMAL")
            self._db.execute(
                "CREATE TABLE IF NOT EXISTS item (key BLOB PRIMARY KEY, value BLOB) WITHOUT ROWID"
            )
        except sqlite3.DatabaseError as error:
            raise HarnessError(f"{path} cannot be used ({error}). Remove it: it only caches.") from error

    def get(self, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        """The values of those keys that are present."""
        found: dict[bytes, bytes] = {}
        for start in range(0, len(keys), _ASK_AT_ONCE):
            part = keys[start : start + _ASK_AT_ONCE]
            marks = ",".join("?" * len(part))
            found.update(self._db.execute(f"SELECT key, value FROM item WHERE key IN ({marks})", part))
        return found

    def put(self, items: Mapping[bytes, bytes] | Iterable[tuple[bytes, bytes]]) -> None:
        """Write all items or, when killed, none of them."""
        rows = items.items() if isinstance(items, Mapping) else items
        self._db.execute("BEGIN IMMEDIATE")
        try:
            self._db.executemany("INSERT OR IGNORE INTO item VALUES (?, ?)", rows)
        except BaseException:
            self._db.execute("ROLLBACK")
            raise
        self._db.execute("COMMIT")

    def close(self) -> None:
        """Let go of the file."""
        self._db.close()
