"""The store of reviewed golden answers: one SQLite file, to which an expert's page writes each of them."""

from __future__ import annotations

import sqlite3
import threading
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from harness.labels.label_page.page_state import Envelope
from harness.store import Schema, UnknownVersionError, opened, transaction
from harness.values import LabelError, encodable

# edits are only added; the last one of a question counts
_TABLES = """
CREATE TABLE edit (
  id INTEGER PRIMARY KEY AUTOINCREMENT, request TEXT NOT NULL UNIQUE, at TEXT NOT NULL,
  expert TEXT NOT NULL, query_id TEXT NOT NULL, question TEXT NOT NULL, before TEXT NOT NULL,
  after TEXT NOT NULL, seconds REAL, tab TEXT NOT NULL);
CREATE INDEX edit_by_question ON edit (query_id, id);
CREATE TABLE taken (edit INTEGER NOT NULL);
CREATE TRIGGER edits_never_change BEFORE UPDATE ON edit
  BEGIN SELECT RAISE(ABORT, 'edits are only added'); END;
CREATE TRIGGER edits_never_go BEFORE DELETE ON edit
  BEGIN SELECT RAISE(ABORT, 'edits are only added'); END;
"""
# called 'ANSW', so that another SQLite file is not taken for this one
_SCHEMA = Schema(1, _TABLES, application=0x414E5357)
_EDIT = "SELECT id, expert, query_id, question, after FROM edit"


@dataclass(frozen=True, slots=True)
class AnswerEdit:
    """A golden answer as an expert has left it; ``number`` orders the edits."""

    number: int
    expert: str
    query_id: str
    question: str
    answer: str


class AnswerEdits(AbstractContextManager["AnswerEdits"]):
    """The edits of the answers of one test set, which are never changed and never removed.

    Every one is on the disk before `save` returns. Raises LabelError where the file is something else,
    damaged, of a later version, or cannot be written.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.RLock()
        try:
            self._db = opened(path, _SCHEMA)
        except UnknownVersionError as error:
            raise LabelError(
                f"{path} is not a file of reviewed answers that this version can read. Name another one: "
                "--state FILE."
            ) from error
        except (sqlite3.Error, OSError) as error:
            raise LabelError(
                f"{path}: reviewed answers cannot be kept there ({error}). Check the folder and the disk, or "
                "name another file: --state FILE."
            ) from error

    def __exit__(self, *failure: object) -> None:
        with self._lock:
            self._db.close()

    def save(self, by: Envelope, query_id: str, question: str, before: str, after: str) -> AnswerEdit:
        """Save an answer; a request that was answered before is answered the same again.

        Raises LabelError where its number comes with something else, which would not be saved.
        """
        wanted = (by.rater, query_id, encodable(question), encodable(after))
        with self._lock, transaction(self._db):
            earlier = self._read(f"{_EDIT} WHERE request = ?", by.request)
            if earlier:
                edit = AnswerEdit(*earlier[0])
                if (edit.expert, edit.query_id, edit.question, edit.answer) != wanted:
                    raise LabelError("Nothing was saved: the request was made before. Load the page again.")
                return edit
            at = datetime.now(UTC).isoformat(timespec="milliseconds")
            expert, _, question, after = wanted
            self._read(
                "INSERT INTO edit (request, at, expert, query_id, question, before, after, seconds, tab) "
                "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                *(by.request, at, expert, query_id, question, encodable(before), after, by.seconds, by.tab),
            )
            return AnswerEdit(*self._read(f"{_EDIT} WHERE request = ?", by.request)[0])

    def experts(self) -> list[str]:
        """All who have ever reviewed an answer, in the order of their first."""
        return [row[0] for row in self._read("SELECT expert FROM edit GROUP BY expert ORDER BY MIN(id)")]

    def open(self) -> list[AnswerEdit]:
        """The last edit of each question that the test set has not taken yet, in their order."""
        rows = self._read(
            f"""{_EDIT} WHERE id > (SELECT COALESCE(MAX(edit), 0) FROM taken)
            AND id IN (SELECT MAX(id) FROM edit GROUP BY query_id) ORDER BY id"""
        )
        return [AnswerEdit(*row) for row in rows]

    def take(self, until: int) -> None:
        """Note that the test set has the edits up to a number."""
        with self._lock, transaction(self._db):
            self._read("INSERT INTO taken VALUES (?)", until)

    def _read(self, statement: str, *values: object) -> list[Any]:
        with self._lock:
            return self._db.execute(statement, values).fetchall()
