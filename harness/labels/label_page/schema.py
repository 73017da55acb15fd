"""The tables of the file with the ratings. Events are only added; the rest follows from them."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from harness.store import transaction, use_write_ahead_log
from harness.values import LabelError

VERSION = 1
# 'LABL', so that another SQLite file is not taken for this one
APPLICATION = 0x4C41424C
_TABLES = (
    "CREATE TABLE document (doc_id TEXT PRIMARY KEY, sha256 TEXT NOT NULL)",
    "CREATE TABLE question (query_id TEXT PRIMARY KEY, place INTEGER NOT NULL, text TEXT NOT NULL)",
    """CREATE TABLE item (
      item_id TEXT PRIMARY KEY, place INTEGER NOT NULL, query_id TEXT NOT NULL, doc_id TEXT NOT NULL,
      start INTEGER NOT NULL, "end" INTEGER NOT NULL, page INTEGER, text TEXT NOT NULL, above TEXT NOT NULL,
      priority REAL, origin TEXT NOT NULL, wanted INTEGER NOT NULL)""",
    "CREATE INDEX item_by_query ON item (query_id)",
    """CREATE TABLE event (
      id INTEGER PRIMARY KEY AUTOINCREMENT, request TEXT NOT NULL UNIQUE, at TEXT NOT NULL,
      rater TEXT NOT NULL, item_id TEXT NOT NULL, kind TEXT NOT NULL, before TEXT NOT NULL,
      after TEXT NOT NULL, seconds REAL, tab TEXT NOT NULL, undoes INTEGER)""",
    "CREATE INDEX event_by_rater ON event (rater, id)",
    """CREATE TABLE label (
      rater TEXT NOT NULL, item_id TEXT NOT NULL, grade INTEGER, skipped TEXT NOT NULL, note TEXT NOT NULL,
      evidence TEXT NOT NULL, event INTEGER NOT NULL, PRIMARY KEY (rater, item_id)) WITHOUT ROWID""",
    "CREATE INDEX label_by_item ON label (item_id)",
    """CREATE TABLE decision (
      item_id TEXT PRIMARY KEY, rater TEXT NOT NULL, grade INTEGER NOT NULL, note TEXT NOT NULL,
      event INTEGER NOT NULL) WITHOUT ROWID""",
    """CREATE TRIGGER events_never_change BEFORE UPDATE ON event
      BEGIN SELECT RAISE(ABORT, 'events are only added'); END""",
    """CREATE TRIGGER events_never_go BEFORE DELETE ON event
      BEGIN SELECT RAISE(ABORT, 'events are only added'); END""",
)


def connect(path: Path) -> sqlite3.Connection:
    """Open the file, or make it; every commit is on the disk before it returns.

    Raises LabelError where the file is something else, damaged, of a later version, or cannot be written.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        db = sqlite3.connect(path, timeout=30, isolation_level=None, check_same_thread=False)
        try:
            _prepare(db, path)
        except BaseException:
            db.close()
            raise
    except (sqlite3.Error, OSError) as error:
        raise LabelError(
            f"{path}: the labels cannot be kept there ({error}). Check the folder and the disk, or name "
            "another file: --state FILE."
        ) from error
    return db


def _prepare(db: sqlite3.Connection, path: Path) -> None:
    use_write_ahead_log(db)
    db.execute("PRAGMA synchronous = FULL")
    with transaction(db):
        version = db.execute("PRAGMA user_version").fetchone()[0]
        application = db.execute("PRAGMA application_id").fetchone()[0]
        tables = db.execute("SELECT COUNT(*) FROM sqlite_master").fetchone()[0]
        if (version, application) == (VERSION, APPLICATION):
            return
        if tables or version:
            raise LabelError(
                f"{path} is not a file of labels that this version can read. Name another one: --state FILE."
            )
        for statement in _TABLES:
            db.execute(statement)
        db.execute(f"PRAGMA application_id = {APPLICATION}")
        db.execute(f"PRAGMA user_version = {VERSION}")
