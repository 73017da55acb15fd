"""The tables of a ledger, and how a file of an earlier version becomes one of this version."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path

from harness.store.wal import transaction, use_write_ahead_log
from harness.values import LlmError

VERSION = 2
_SCHEMA = """
CREATE TABLE answers (
  id INTEGER PRIMARY KEY,
  key TEXT NOT NULL, settled INTEGER NOT NULL,
  query TEXT NOT NULL, passages TEXT NOT NULL, prompt_sha TEXT NOT NULL, model TEXT NOT NULL,
  parameters TEXT NOT NULL, sample INTEGER NOT NULL,
  grades TEXT, reason TEXT NOT NULL, raw TEXT NOT NULL,
  prompt_tokens INTEGER, completion_tokens INTEGER, price REAL, seconds REAL NOT NULL,
  request_id TEXT NOT NULL, served_model TEXT NOT NULL, answered_at TEXT NOT NULL,
  finish TEXT, logprobs TEXT
);
CREATE INDEX answers_by_key ON answers (key, settled);
CREATE INDEX answers_by_parameters ON answers (model, prompt_sha, parameters);
CREATE TRIGGER answers_never_change BEFORE UPDATE ON answers
  BEGIN SELECT RAISE(ABORT, 'answers are only added'); END;
CREATE TRIGGER answers_never_go BEFORE DELETE ON answers
  BEGIN SELECT RAISE(ABORT, 'answers are only added'); END;
"""
# Version 1 kept no finish_reason and no log probabilities. No row is touched: values unknown then stay NULL.
# Its table of claims stays too, for a process that still runs with the version before.
_FROM_1 = """
ALTER TABLE answers ADD COLUMN finish TEXT;
ALTER TABLE answers ADD COLUMN logprobs TEXT;
CREATE INDEX answers_by_parameters ON answers (model, prompt_sha, parameters);
"""


def prepare(db: sqlite3.Connection, path: Path) -> None:
    """Make the tables of a new file, or bring those of an earlier version up to this one, all or nothing.

    Raises LlmError when the file is something else, and sqlite3.DatabaseError when it is damaged.
    """
    use_write_ahead_log(db)
    db.execute("PRAGMA synchronous = FULL")
    if db.execute("PRAGMA user_version").fetchone()[0] == VERSION:
        return
    with transaction(db):
        version = db.execute("PRAGMA user_version").fetchone()[0]
        tables = db.execute("SELECT COUNT(*) FROM sqlite_master").fetchone()[0]
        if version == VERSION:
            return
        if version == 0 and tables == 0:
            script = _SCHEMA
        elif version == 1:
            script = _FROM_1
        else:
            raise LlmError(
                f"{path} is not a ledger of version {VERSION} or earlier (it says {version}). "
                "Export it with the version that wrote it, and import the lines into a new ledger."
            )
        for statement in _statements(script):
            db.execute(statement)
        db.execute(f"PRAGMA user_version = {VERSION}")


def _statements(script: str) -> Iterator[str]:
    statement = ""
    for line in script.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""
