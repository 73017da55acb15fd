"""The batches of calls in progress, so that after a kill their answers are found and not paid twice.

A SQLite file next to the ledger, made with the first batch. A batch is recorded before it is sent and removed
when its answers are in the ledger.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from harness.store.artifacts import canonical
from harness.store.sqlite import Schema, opened, transaction
from harness.values import LlmCall, LlmError, SentBatch, SentCall

_SCHEMA = Schema(
    1,
    "CREATE TABLE batches (number INTEGER PRIMARY KEY AUTOINCREMENT, model TEXT NOT NULL, "
    "endpoint TEXT NOT NULL, file_id TEXT NOT NULL, batch_id TEXT NOT NULL, made_at TEXT NOT NULL, "
    "size INTEGER NOT NULL);\n"
    "CREATE TABLE calls (batch INTEGER NOT NULL, key TEXT NOT NULL, call TEXT NOT NULL, "
    "unusable INTEGER NOT NULL, failed INTEGER NOT NULL, PRIMARY KEY (batch, key)) WITHOUT ROWID;\n"
    "CREATE INDEX calls_by_key ON calls (key);\n",
)


class SentBatches:
    """The batches in progress of one ledger; whoever changes them has the model's turn at the ledger."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def add(self, model: str, endpoint: dict[str, Any], calls: Iterable[SentCall]) -> int:
        """Record a batch before it is sent; returns its number."""
        rows = list(calls)
        now = datetime.now(UTC).isoformat(timespec="seconds")
        with self._open() as db, transaction(db):
            number = db.execute(
                "INSERT INTO batches (model, endpoint, file_id, batch_id, made_at, size) "
                "VALUES (?, ?, '', '', ?, ?)",
                (model, canonical(endpoint), now, len(rows)),
            ).lastrowid
            assert number is not None
            db.executemany(
                "INSERT INTO calls VALUES (?, ?, ?, ?, ?)",
                ((number, sent.key, _call_row(sent.call), sent.unusable, sent.failed) for sent in rows),
            )
        return number

    def uploaded(self, number: int, file_id: str) -> None:
        """Note the name that the endpoint gave to the file of requests."""
        self._set(number, "file_id", file_id)

    def created(self, number: int, batch_id: str) -> None:
        """Note the name that the endpoint gave to the batch."""
        self._set(number, "batch_id", batch_id)

    def remove(self, number: int) -> None:
        """Remove a batch: its answers are in the ledger, or none will come."""
        with self._open() as db, transaction(db):
            db.execute("DELETE FROM calls WHERE batch = ?", (number,))
            db.execute("DELETE FROM batches WHERE number = ?", (number,))

    def all(self, model: str | None = None) -> list[SentBatch]:
        """The batches in progress, oldest first; those of one model, if it is named."""
        found = [
            SentBatch(number, name, json.loads(endpoint), file_id, batch_id, made_at, size)
            for number, name, endpoint, file_id, batch_id, made_at, size in self._rows(
                "SELECT * FROM batches ORDER BY number"
            )
        ]
        return [batch for batch in found if model in (None, batch.model)]

    def calls(self, number: int) -> list[SentCall]:
        """The calls of a batch."""
        rows = self._rows("SELECT key, call, unusable, failed FROM calls WHERE batch = ?", number)
        return [SentCall(key, _call(call), unusable, failed) for key, call, unusable, failed in rows]

    def holds(self, key: str) -> bool:
        """Whether a call is part of a batch in progress."""
        return bool(self._rows("SELECT 1 FROM calls WHERE key = ? LIMIT 1", key))

    def keys(self) -> frozenset[str]:
        """The keys of all calls in progress."""
        return frozenset(key for (key,) in self._rows("SELECT key FROM calls"))

    def _rows(self, query: str, *values: Any) -> list[Any]:
        """The rows of a query; none if no batch was ever sent."""
        if not self.path.exists():
            return []
        with self._open() as db:
            return db.execute(query, values).fetchall()

    def _set(self, number: int, column: str, value: str) -> None:
        with self._open() as db, transaction(db):
            db.execute(f"UPDATE batches SET {column} = ? WHERE number = ?", (value, number))

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        """A connection for one statement or two: batches change a few times an hour."""
        try:
            with closing(opened(self.path, _SCHEMA)) as db:
                yield db
        except sqlite3.Error as error:
            raise LlmError(
                f"{self.path}, which holds the batches in progress, cannot be used: {error}. Free space and "
                "make it writable. If it is damaged, look up the batches at your provider before you move it "
                "away: their answers are paid for, and without this file the calls would be made again."
            ) from error


def _call_row(call: LlmCall) -> str:
    fields = [call.query, call.passages, call.prompt_sha, call.model, call.parameters, call.sample]
    return canonical(fields)


def _call(row: str) -> LlmCall:
    query, passages, prompt_sha, model, parameters, sample = json.loads(row)
    return LlmCall(query, tuple(passages), prompt_sha, model, parameters, sample)
