"""SQLite files that several runs open at the same moment: opened, made, brought up to date and changed."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from harness.store.disk import sqlite_kind

_PAUSE = 0.01


@dataclass(frozen=True, slots=True)
class Schema:
    """The tables of a file; statements end with semicolons."""

    version: int | None
    """What the file says of itself (``user_version``); None: nothing."""
    create: str
    """Makes the tables of a new file."""
    upgrades: Mapping[int, str] = field(default_factory=dict)
    """By an earlier version: what brings a file of it up to this one, without touching a row."""
    application: int = 0
    """What the file says that it is (``application_id``), so that no other SQLite file is taken for it."""


class UnknownVersionError(sqlite3.DatabaseError):
    """The file is of a version, its only argument, that the schema does not know, or not its kind of file."""


def opened(path: Path | str, schema: Schema, *, durable: bool = True) -> sqlite3.Connection:
    """The file with the tables of ``schema``, made or brought up to date, all or nothing.

    ``durable``: what a transaction has written survives a loss of power. Raises UnknownVersionError, or
    another sqlite3.DatabaseError where the file is damaged.
    """
    db = sqlite3.connect(path, timeout=60, isolation_level=None, check_same_thread=False)
    try:
        use_write_ahead_log(db)
        db.execute(f"PRAGMA synchronous = {'FULL' if durable else 'NORMAL'}")
        if _needed(db, schema):
            with transaction(db):
                # another process may have done it by now
                for statement in _statements(_needed(db, schema)):
                    db.execute(statement)
                db.execute(f"PRAGMA user_version = {schema.version or 0}")
                db.execute(f"PRAGMA application_id = {schema.application}")
    except BaseException:
        db.close()
        raise
    return db


def use_write_ahead_log(db: sqlite3.Connection, patience: float = 60.0) -> None:
    """Switch a file to write-ahead logging, waiting up to ``patience`` seconds for others to do so.

    While another process switches, SQLite answers *busy* immediately, whatever the connection's timeout.
    """
    deadline = time.monotonic() + patience
    while True:
        try:
            db.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError as error:
            if sqlite_kind(error) != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
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


def _needed(db: sqlite3.Connection, schema: Schema) -> str:
    """The script that brings a file up to date; empty if it is."""
    version = db.execute("PRAGMA user_version").fetchone()[0]
    tables = db.execute("SELECT COUNT(*) FROM sqlite_master").fetchone()[0]
    if version == 0 and tables == 0:
        return schema.create
    ours = db.execute("PRAGMA application_id").fetchone()[0] == schema.application
    if ours and schema.version in (None, version):
        return ""
    if not ours or version not in schema.upgrades:
        raise UnknownVersionError(version)
    return schema.upgrades[version]


def _statements(script: str) -> Iterator[str]:
    statement = ""
    for line in script.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""
