"""The judgment ledger: every answer of a judge that was paid for, kept in SQLite and never changed.

One row is one answered (or finally failed) try of a call. Rows are only added; triggers refuse anything
else. The judgment of a call is its newest *settled* row, so a try that is still to be repeated, or a
failure that cost nothing, holds no place. Claims keep two processes from asking the same call at once.
"""

from __future__ import annotations

import hashlib
import json
import os
import socket
import sqlite3
import time
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Any

from harness.errors import JudgeError
from harness.store.wal import use_write_ahead_log
from harness.types import MAX_GRADE, Answered, Asked

VERSION = 1
_SCHEMA = """
CREATE TABLE answers (
  id INTEGER PRIMARY KEY,
  key TEXT NOT NULL, settled INTEGER NOT NULL,
  query TEXT NOT NULL, passages TEXT NOT NULL, prompt_sha TEXT NOT NULL, model TEXT NOT NULL,
  parameters TEXT NOT NULL, sample INTEGER NOT NULL,
  grades TEXT, reason TEXT NOT NULL, raw TEXT NOT NULL,
  prompt_tokens INTEGER, completion_tokens INTEGER, price REAL, seconds REAL NOT NULL,
  request_id TEXT NOT NULL, served_model TEXT NOT NULL, answered_at TEXT NOT NULL
);
CREATE INDEX answers_by_key ON answers (key, settled);
CREATE TRIGGER answers_never_change BEFORE UPDATE ON answers
  BEGIN SELECT RAISE(ABORT, 'answers are only added'); END;
CREATE TRIGGER answers_never_go BEFORE DELETE ON answers
  BEGIN SELECT RAISE(ABORT, 'answers are only added'); END;
CREATE TABLE claims (key TEXT PRIMARY KEY, owner TEXT NOT NULL, until REAL NOT NULL);
"""
_JSON_COLUMNS = ("query", "passages", "parameters", "grades", "raw", "reason")


@dataclass(frozen=True, slots=True)
class LedgerEntry(Answered):
    """One row: an answer under the ``key`` of its call; ``answered_at`` is UTC, ISO 8601."""

    key: str
    answered_at: str


_ANSWERED = [field.name for field in fields(Answered)]
_COLUMNS = [field.name for field in fields(LedgerEntry)]


@dataclass(frozen=True, slots=True)
class Imported:
    """How many lines of an import were new, and how many were already there."""

    added: int
    already_there: int


class Ledger:
    """An open ledger file. Safe for several processes; within one, for one thread at a time.

    Write-ahead logging with full synchronisation: what ``record`` has returned from survives a kill and a
    loss of power. Raises JudgeError when the file is not a ledger of this version.
    """

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._path = path
        self._owner = f"{socket.gethostname()}:{os.getpid()}:{uuid.uuid4().hex}"
        self._db = _connect(path)
        # Claims may be lost with the power, so they need not wait for the disk.
        self._claims = _connect(path)
        try:
            self._prepare()
        except sqlite3.DatabaseError as error:
            self._close()
            raise JudgeError(
                f"The judgment ledger {path} cannot be opened: {error}. If it is damaged, move it away "
                "and import "
                "the last export; it is never rebuilt silently, for it holds what was paid for."
            ) from error
        except JudgeError:
            self._close()
            raise

    def __enter__(self) -> Ledger:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Give back all claims of this process and close the file."""
        self._claims.execute("DELETE FROM claims WHERE owner = ?", (self._owner,))
        self._close()

    def key(self, asked: Asked) -> str:
        """The identity of a call: the SHA-256 of everything that can change its answer."""
        parts = [
            asked.query,
            list(asked.passages),
            asked.prompt_sha,
            asked.model,
            dict(asked.parameters),
            asked.sample,
        ]
        return hashlib.sha256(_dump(parts).encode("ascii")).hexdigest()

    def find(self, key: str) -> LedgerEntry | None:
        """The newest settled answer to a call, or None."""
        columns = ", ".join(_COLUMNS)
        row = self._db.execute(
            f"SELECT {columns} FROM answers WHERE key = ? AND settled = 1 ORDER BY id DESC LIMIT 1", (key,)
        ).fetchone()
        return _entry(row) if row else None

    def cost(self, key: str) -> float | None:
        """What all tries of a call have cost; None when the price of one that used tokens is unknown."""
        total, unknown = self._db.execute(
            "SELECT COALESCE(SUM(price), 0), COALESCE(SUM(price IS NULL), 0) FROM answers WHERE key = ?",
            (key,),
        ).fetchone()
        return None if unknown else float(total)

    def usage(self, prompt_sha: str, model: str, parameters: Mapping[str, Any]) -> tuple[int, int]:
        """How many calls of one prompt and model are answered, and the completion tokens of all tries."""
        calls, tokens = self._db.execute(
            "SELECT COUNT(DISTINCT key), COALESCE(SUM(completion_tokens), 0) FROM answers "
            "WHERE prompt_sha = ? AND model = ? AND parameters = ? AND completion_tokens IS NOT NULL",
            (prompt_sha, model, _dump(dict(parameters))),
        ).fetchone()
        return int(calls), int(tokens)

    def claim(self, key: str, seconds: float) -> bool:
        """Reserve a call for this process for some seconds; False when it is taken.

        A claim whose time is over, or whose process on this machine is gone, may be taken over.
        """
        now = time.time()
        with _Transaction(self._claims):
            held = self._claims.execute("SELECT owner, until FROM claims WHERE key = ?", (key,)).fetchone()
            if held and held[1] > now and not _is_gone(held[0]):
                return False
            self._claims.execute("REPLACE INTO claims VALUES (?, ?, ?)", (key, self._owner, now + seconds))
        return True

    def renew(self, seconds: float) -> None:
        """Keep the claims of this process for some more seconds."""
        self._claims.execute(
            "UPDATE claims SET until = ? WHERE owner = ?", (time.time() + seconds, self._owner)
        )

    def release(self, key: str) -> None:
        """Give a claim of this process back."""
        self._claims.execute("DELETE FROM claims WHERE key = ? AND owner = ?", (key, self._owner))

    def record(self, key: str, answered: Answered) -> None:
        """Add one answer; it is on disk when this returns. If settled, the claim on its call ends."""
        entry = LedgerEntry(
            **{name: getattr(answered, name) for name in _ANSWERED},
            key=key,
            answered_at=datetime.now(UTC).isoformat(timespec="milliseconds"),
        )
        with _Transaction(self._db):
            self._add(entry)
            if entry.settled:
                self._db.execute("DELETE FROM claims WHERE key = ? AND owner = ?", (key, self._owner))

    def entries(self) -> Iterator[LedgerEntry]:
        """All rows, oldest first."""
        for row in self._db.execute(f"SELECT {', '.join(_COLUMNS)} FROM answers ORDER BY id"):
            yield _entry(row)

    def export_lines(self) -> Iterator[str]:
        """All rows as JSON lines, for ``import_lines`` of another ledger."""
        for entry in self.entries():
            yield _dump(asdict(entry))

    def import_lines(self, lines: Iterable[str], name: str = "the import") -> Imported:
        """Add the rows of an export that are not yet here, all of them or none.

        Raises JudgeError that names the line where a row is malformed or does not belong to its key.
        """
        added = already = 0
        with _Transaction(self._db):
            for number, line in enumerate(lines, start=1):
                if not line.strip():
                    continue
                entry = self._checked(line, f"{name}, line {number}")
                if self._holds(entry):
                    already += 1
                else:
                    self._add(entry)
                    added += 1
        return Imported(added, already)

    def _close(self) -> None:
        self._claims.close()
        self._db.close()

    def _prepare(self) -> None:
        use_write_ahead_log(self._db)
        self._db.execute("PRAGMA synchronous = FULL")
        self._claims.execute("PRAGMA synchronous = NORMAL")
        with _Transaction(self._db):
            version = self._db.execute("PRAGMA user_version").fetchone()[0]
            tables = self._db.execute("SELECT COUNT(*) FROM sqlite_master").fetchone()[0]
            if version == 0 and tables == 0:
                for statement in _statements(_SCHEMA):
                    self._db.execute(statement)
                self._db.execute(f"PRAGMA user_version = {VERSION}")
            elif version != VERSION:
                raise JudgeError(
                    f"{self._path} is not a judgment ledger of version {VERSION} (it says {version}). "
                    "Export it with "
                    "the harness that wrote it, and import the lines into a new one."
                )

    def _add(self, entry: LedgerEntry) -> None:
        values = [
            _dump(value) if name in _JSON_COLUMNS and value is not None else value
            for name in _COLUMNS
            for value in (getattr(entry, name),)
        ]
        marks = ", ".join("?" * len(_COLUMNS))
        self._db.execute(f"INSERT INTO answers ({', '.join(_COLUMNS)}) VALUES ({marks})", values)

    def _holds(self, entry: LedgerEntry) -> bool:
        return bool(
            self._db.execute(
                "SELECT 1 FROM answers WHERE key = ? AND settled = ? AND answered_at = ? AND request_id = ?",
                (entry.key, entry.settled, entry.answered_at, entry.request_id),
            ).fetchone()
        )

    def _checked(self, line: str, where: str) -> LedgerEntry:
        try:
            row = json.loads(line)
            entry = _from_json(row)
        except (ValueError, TypeError, KeyError) as error:
            raise JudgeError(
                f"{where}: not a judgment of this ledger ({error}). Nothing was imported."
            ) from error
        if entry.key != self.key(entry):
            raise JudgeError(
                f"{where}: the key does not belong to this query, passage, prompt, model and parameters: "
                "the line "
                "was edited. Nothing was imported."
            )
        return entry


class _Transaction:
    """BEGIN IMMEDIATE, so that reading and writing are one step for other processes too."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db

    def __enter__(self) -> None:
        self._db.execute("BEGIN IMMEDIATE")

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._db.execute("ROLLBACK" if error else "COMMIT")


def _connect(path: Path) -> sqlite3.Connection:
    return sqlite3.connect(path, timeout=60, isolation_level=None, check_same_thread=False)


def _entry(row: Sequence[Any]) -> LedgerEntry:
    values = dict(zip(_COLUMNS, row, strict=True))
    for name in _JSON_COLUMNS:
        values[name] = None if values[name] is None else json.loads(values[name])
    return _from_json(values)


def _from_json(row: Mapping[str, Any]) -> LedgerEntry:
    values = {name: row[name] for name in _COLUMNS}
    values["settled"] = bool(values["settled"])
    values["passages"] = tuple(values["passages"])
    grades = values["grades"]
    values["grades"] = None if grades is None else tuple(grades)
    if grades is not None and (
        len(grades) != len(values["passages"])
        or any(type(grade) is not int or not 0 <= grade <= MAX_GRADE for grade in grades)
    ):
        raise ValueError(f"grades {grades!r} for {len(values['passages'])} passages")
    return LedgerEntry(**values)


def _dump(value: object) -> str:
    """ASCII JSON: one form for one value, and lone surrogates pass."""
    return json.dumps(value, ensure_ascii=True, sort_keys=True, separators=(",", ":"))


def _is_gone(owner: str) -> bool:
    """Whether the process that owns a claim is known to have ended: on this machine, and not running."""
    host, pid, _ = owner.rsplit(":", 2)
    # On Windows, signal 0 is not a question but an event sent to the process.
    if host != socket.gethostname() or os.name != "posix":
        return False
    try:
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        return False
    return False


def _statements(script: str) -> Iterator[str]:
    statement = ""
    for line in script.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""
