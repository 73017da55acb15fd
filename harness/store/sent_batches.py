"""The batches of calls in progress, so that after a kill their answers are found and not paid for twice.

A SQLite file beside the ledger, made with the first batch. A batch is recorded before it is sent and removed
when its answers are in the ledger.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from harness.store.sqlite import Schema, opened, transaction
from harness.values import LlmCall, LlmError, canonical

# Version 1 knew a batch by its file alone, and kept no cost.
_FROM_1 = (
    "ALTER TABLE batches ADD COLUMN tag TEXT NOT NULL DEFAULT '';\n"
    "ALTER TABLE batches ADD COLUMN most REAL;\n"
)
_SCHEMA = Schema(
    2,
    "CREATE TABLE batches (number INTEGER PRIMARY KEY AUTOINCREMENT, tag TEXT NOT NULL, "
    "model TEXT NOT NULL, endpoint TEXT NOT NULL, file_id TEXT NOT NULL, batch_id TEXT NOT NULL, "
    "made_at TEXT NOT NULL, size INTEGER NOT NULL, most REAL);\n"
    "CREATE TABLE calls (batch INTEGER NOT NULL, key TEXT NOT NULL, call TEXT NOT NULL, "
    "unusable INTEGER NOT NULL, failed INTEGER NOT NULL, PRIMARY KEY (batch, key)) WITHOUT ROWID;\n"
    "CREATE INDEX calls_by_key ON calls (key);\n",
    {1: _FROM_1},
)


@dataclass(frozen=True, slots=True)
class SentCall:
    """A call in a batch: ``key`` is that of the ledger.

    ``unusable`` counts its answers so far that could not be used, ``failed`` the batches without an answer.
    """

    key: str
    call: LlmCall
    unusable: int = 0
    failed: int = 0


@dataclass(frozen=True, slots=True)
class SentBatch:
    """A batch of calls that an endpoint answers in its own time; ``number`` identifies it here.

    ``tag`` goes with it, so that it is recognised among the batches of an account. ``endpoint`` is the
    configuration it was sent with, which holds no secret. ``file_id`` and ``batch_id`` are the endpoint's
    names, '' until it has sent them. ``made_at`` is when it was last asked for, UTC, ISO 8601; ``size`` the
    number of its calls; ``most`` what they cost at most, None where no price is known.
    """

    number: int
    tag: str
    model: str
    endpoint: dict[str, Any]
    file_id: str
    batch_id: str
    made_at: str
    size: int
    most: float | None


class SentBatches:
    """The batches in progress of one ledger; whoever changes them has the model's turn at the ledger."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def add(
        self, tag: str, model: str, endpoint: dict[str, Any], calls: Iterable[SentCall], most: float | None
    ) -> int:
        """Record a batch before it is sent; returns its number. It is on disk when this returns."""
        rows = list(calls)
        with self._open() as db, transaction(db):
            number = db.execute(
                "INSERT INTO batches (tag, model, endpoint, file_id, batch_id, made_at, size, most) "
                "VALUES (?, ?, ?, '', '', ?, ?, ?)",
                (tag, model, canonical(endpoint), _now(), len(rows), most),
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

    def requested(self, number: int) -> None:
        """Note the time at which the endpoint is asked for a batch: it may list it only some time later."""
        self._set(number, "made_at", _now())

    def created(self, number: int, batch_id: str) -> None:
        """Note the name that the endpoint gave to the batch."""
        self._set(number, "batch_id", batch_id)

    def remove(self, number: int) -> None:
        """Remove a batch: its answers are in the ledger, or none will come."""
        with self._open() as db, transaction(db):
            db.execute("DELETE FROM calls WHERE batch = ?", (number,))
            db.execute("DELETE FROM batches WHERE number = ?", (number,))

    def take(self, number: int, keys: Iterable[str]) -> None:
        """Remove calls of a batch, and the batch with the last of them: their answers are in the ledger."""
        with self._open() as db, transaction(db):
            db.executemany(
                "DELETE FROM calls WHERE batch = ? AND key = ?", ((number, key) for key in list(keys))
            )
            (left,) = db.execute("SELECT COUNT(*) FROM calls WHERE batch = ?", (number,)).fetchone()
            db.execute("UPDATE batches SET size = ? WHERE number = ?", (left, number))
            db.execute("DELETE FROM batches WHERE number = ? AND size = 0", (number,))

    def all(self, model: str | None = None) -> list[SentBatch]:
        """The batches in progress, oldest first; those of one model, if it is named."""
        columns = "number, tag, model, endpoint, file_id, batch_id, made_at, size, most"
        batches = [
            SentBatch(number, tag, name, json.loads(endpoint), *rest)
            for number, tag, name, endpoint, *rest in self._rows(
                f"SELECT {columns} FROM batches ORDER BY number"
            )
        ]
        return [batch for batch in batches if model in (None, batch.model)]

    def calls(self, number: int) -> list[SentCall]:
        """The calls of a batch."""
        rows = self._rows("SELECT key, call, unusable, failed FROM calls WHERE batch = ?", number)
        return [SentCall(key, _call(call), unusable, failed) for key, call, unusable, failed in rows]

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


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def _call_row(call: LlmCall) -> str:
    fields = [call.query, call.passages, call.prompt_sha, call.model, call.parameters, call.sample]
    return canonical(fields)


def _call(row: str) -> LlmCall:
    query, passages, prompt_sha, model, parameters, sample = json.loads(row)
    return LlmCall(query, tuple(passages), prompt_sha, model, parameters, sample)
