"""The store of labels: one SQLite file, to which any number of tabs, people and processes may write."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field

from harness.labels.label_page.ratings import Decision, ItemRating, Rating
from harness.labels.labelling.passages import PassageToGrade
from harness.store import Schema, UnknownVersionError, opened, transaction
from harness.values import LabelError, encodable

# events are only added; the rest follows from them
_TABLES = """
CREATE TABLE document (doc_id TEXT PRIMARY KEY, sha256 TEXT NOT NULL);
CREATE TABLE question (query_id TEXT PRIMARY KEY, place INTEGER NOT NULL, text TEXT NOT NULL);
CREATE TABLE item (
  item_id TEXT PRIMARY KEY, place INTEGER NOT NULL, query_id TEXT NOT NULL, doc_id TEXT NOT NULL,
  start INTEGER NOT NULL, "end" INTEGER NOT NULL, page INTEGER, text TEXT NOT NULL, above TEXT NOT NULL,
  priority REAL, origin TEXT NOT NULL, wanted INTEGER NOT NULL);
CREATE INDEX item_by_query ON item (query_id);
CREATE TABLE event (
  id INTEGER PRIMARY KEY AUTOINCREMENT, request TEXT NOT NULL UNIQUE, at TEXT NOT NULL,
  rater TEXT NOT NULL, item_id TEXT NOT NULL, kind TEXT NOT NULL, before TEXT NOT NULL,
  after TEXT NOT NULL, seconds REAL, tab TEXT NOT NULL, undoes INTEGER);
CREATE INDEX event_by_rater ON event (rater, id);
CREATE TABLE label (
  rater TEXT NOT NULL, item_id TEXT NOT NULL, grade INTEGER, skipped TEXT NOT NULL, note TEXT NOT NULL,
  evidence TEXT NOT NULL, event INTEGER NOT NULL, PRIMARY KEY (rater, item_id)) WITHOUT ROWID;
CREATE INDEX label_by_item ON label (item_id);
CREATE TABLE decision (
  item_id TEXT PRIMARY KEY, rater TEXT NOT NULL, grade INTEGER NOT NULL, note TEXT NOT NULL,
  event INTEGER NOT NULL) WITHOUT ROWID;
CREATE TRIGGER events_never_change BEFORE UPDATE ON event
  BEGIN SELECT RAISE(ABORT, 'events are only added'); END;
CREATE TRIGGER events_never_go BEFORE DELETE ON event
  BEGIN SELECT RAISE(ABORT, 'events are only added'); END;
"""
# called 'LABL', so that another SQLite file is not taken for this one
_SCHEMA = Schema(1, _TABLES, application=0x4C41424C)
_FIELDS = ("query_id", "doc_id", "start", "end", "page", "text", "above", "priority", "origin")
# in quotes, as `end` is a word of SQL
_ITEM = ", ".join(f'"{name}"' for name in _FIELDS)
_LABEL = "SELECT rater, item_id, event, grade, skipped, note, evidence FROM label"
DECIDE, UNDECIDE = "decide", "undecide"


class UnknownItemError(LabelError):
    """There is no item of the requested id."""


@dataclass(frozen=True, slots=True)
class Envelope:
    """Sent with every request: the rater, and the number of the ``request``, so that it counts once.

    ``tab`` names the tab of the browser. ``seconds`` is how long the rater has looked at the item, None if
    nothing was measured.
    """

    rater: str
    request: Annotated[str, Field(min_length=8, max_length=80)]
    tab: Annotated[str, Field(max_length=80)] = ""
    seconds: Annotated[float, Field(strict=True)] | None = None


@dataclass(frozen=True, slots=True)
class SavedRating:
    """A stored rating; ``before`` is the one it replaced at ``event``."""

    event: int
    item_id: str
    before: Rating
    rating: Rating
    # whether it is no rating, but a decision that was undone
    undecided: bool = False


class PageState(AbstractContextManager["PageState"]):
    """The labels of one pool. Every change is an event; events are never changed and never removed.

    Every commit is on the disk before it returns. Raises LabelError where the file is something else,
    damaged, of a later version, or cannot be written.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.RLock()
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._db = opened(path, _SCHEMA)
        except UnknownVersionError as error:
            raise LabelError(
                f"{path} is not a file of labels that this version can read. Name another one: --state FILE."
            ) from error
        except (sqlite3.Error, OSError) as error:
            raise LabelError(
                f"{path}: the labels cannot be kept there ({error}). Check the folder and the disk, or name "
                "another file: --state FILE."
            ) from error

    def __exit__(self, *failure: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._db.close()

    def sync(
        self, questions: Mapping[str, str], items: Iterable[PassageToGrade], texts: Mapping[str, str]
    ) -> None:
        """Load a pool: new items are added; items no longer in it keep their labels but are not shown.

        ``questions`` are texts by id; ``texts`` has the sha256 of each document's text. Raises LabelError if
        the text of a document has changed since something of it was labelled: the offsets would point
        elsewhere.
        """
        with self._lock, transaction(self._db):
            labelled = self._read(
                """SELECT DISTINCT doc_id, sha256 FROM document JOIN item USING (doc_id)
                JOIN label USING (item_id)"""
            )
            changed = sorted(name for name, sha in labelled if texts.get(name, sha) != sha)
            if changed:
                raise LabelError(
                    f"The text of {', '.join(changed[:5])} has changed since it was labelled in {self.path}, "
                    "so the places of its labels no longer hold. Bring the old file back, or begin a new "
                    "file of labels: --state FILE."
                )
            self._db.executemany("INSERT OR REPLACE INTO document VALUES (?, ?)", texts.items())
            listed = [(query_id, place, text) for place, (query_id, text) in enumerate(questions.items())]
            self._db.executemany("INSERT OR REPLACE INTO question VALUES (?, ?, ?)", listed)
            self._db.execute("UPDATE item SET wanted = 0 WHERE origin = 'pool'")
            for place, item in enumerate(items):
                self._add_item(item, place)

    def items(self, *, wanted: bool = True) -> dict[str, PassageToGrade]:
        """The items to grade by id, in the order of the pool; else all that were ever known, marks too."""
        which = "WHERE wanted = 1 AND origin = 'pool'" if wanted else ""
        rows = self._read(f"SELECT item_id, {_ITEM} FROM item {which} ORDER BY place, item_id")
        return {name: _passage(row) for name, *row in rows}

    def item(self, item_id: str) -> PassageToGrade:
        """One item; raises UnknownItemError if there is none of that id."""
        rows = self._read(f"SELECT {_ITEM} FROM item WHERE item_id = ?", item_id)
        if not rows:
            raise UnknownItemError(f"There is no passage {item_id!r} to grade. Load the page again.")
        return _passage(rows[0])

    def marks(self, rater: str, query_id: str) -> list[tuple[PassageToGrade, Rating]]:
        """The evidence that a rater has marked for a question, by document and place."""
        rows = self._read(
            f"""SELECT grade, skipped, note, evidence, {_ITEM} FROM item JOIN label USING (item_id)
            WHERE origin = 'mark' AND rater = ? AND query_id = ? AND grade IS NOT NULL
            ORDER BY doc_id, start""",
            *(rater, query_id),
        )
        return [(_passage(row[4:]), Rating(*row[:4])) for row in rows]

    def questions(self) -> dict[str, str]:
        """The texts of the questions by id, in their order."""
        return dict(self._read("SELECT query_id, text FROM question ORDER BY place"))

    def labels(self, rater: str = "") -> list[ItemRating]:
        """The ratings of all items, by one rater or by all."""
        rows = self._read(f"{_LABEL} WHERE rater = ?", rater) if rater else self._read(_LABEL)
        return [ItemRating(who, item_id, Rating(*rest), event) for who, item_id, event, *rest in rows]

    def done(self, rater: str) -> frozenset[str]:
        """The ids of the items that a rater has graded or skipped."""
        rows = self._read(
            "SELECT item_id FROM label WHERE rater = ? AND (grade IS NOT NULL OR skipped != '')", rater
        )
        return frozenset(row[0] for row in rows)

    def rating(self, rater: str, item_id: str) -> tuple[Rating, int]:
        """The rating of an item by a rater, and the event that gave it; empty and 0 if there is none."""
        rows = self._read(f"{_LABEL} WHERE rater = ? AND item_id = ?", rater, item_id)
        return (Rating(*rows[0][3:]), rows[0][2]) if rows else (Rating(), 0)

    def evidence_names(self, rater: str, query_id: str) -> list[str]:
        """The names that a rater has given to evidence of a question."""
        rows = self._read(
            """SELECT DISTINCT evidence FROM label JOIN item USING (item_id)
            WHERE rater = ? AND query_id = ? AND evidence != '' ORDER BY evidence""",
            *(rater, query_id),
        )
        return [row[0] for row in rows]

    def raters(self) -> list[str]:
        """All who have ever rated something, in the order of their first ratings."""
        return [row[0] for row in self._read("SELECT rater FROM event GROUP BY rater ORDER BY MIN(id)")]

    def change(
        self, by: Envelope, item_id: str, kind: str, change: Callable[[Rating], Rating]
    ) -> SavedRating:
        """Change the rating of an item by a rater; it is on the disk when this returns.

        A request that was answered already is answered the same again; LabelError if its number comes with
        another change, which would not be saved. Of two tabs the last one counts, and what it replaced stays
        in the history.
        """
        with self._lock, transaction(self._db):
            again = self._answered(by, {kind}, item_id, change)
            return again or self._rate(by, item_id, kind, change)

    def graded_elsewhere(self, by: Envelope, item_id: str, seen: int, until: int) -> bool:
        """Whether another tab of a rater has graded, skipped or cleared an item between two events."""
        query = """SELECT 1 FROM event WHERE rater = ? AND item_id = ? AND id > ? AND id < ? AND tab != ?
            AND kind NOT IN ('note', 'evidence') LIMIT 1"""
        return bool(self._read(query, by.rater, item_id, seen, until, by.tab))

    def mark(self, by: Envelope, item: PassageToGrade, rating: Rating) -> SavedRating:
        """Grade a range that a rater has marked as evidence."""
        with self._lock, transaction(self._db):
            self._add_item(item, -1)
            again = self._answered(by, {"mark"}, item.item_id, lambda _: rating)
            return again or self._rate(by, item.item_id, "mark", lambda _: rating)

    def undo(self, by: Envelope) -> SavedRating | None:
        """Undo the latest change of a rater that is not undone yet; None if there is none."""
        with self._lock, transaction(self._db):
            if again := self._answered(by, {"undo", UNDECIDE}):
                return again
            last = self._read(
                """SELECT id, item_id, kind, before FROM event AS done WHERE rater = ? AND undoes IS NULL
                AND NOT EXISTS (SELECT 1 FROM event WHERE undoes = done.id) ORDER BY id DESC LIMIT 1""",
                by.rater,
            )
            if not last:
                return None
            undone, item_id, kind, stored = last[0]
            if kind == DECIDE:
                return self._undecide(by, item_id, undone)
            return self._rate(by, item_id, "undo", lambda _: Rating.from_json(stored), undone)

    def decide(self, by: Envelope, item_id: str, grade: int, note: str = "") -> Decision:
        """Record the grade that raters have agreed on; the last decision on an item counts."""
        with self._lock, transaction(self._db):
            if self._answered(by, {DECIDE}, item_id, lambda _: Rating(grade, note=note)) is None:
                earlier = self.decisions().get(item_id)
                before = Rating() if earlier is None else Rating(earlier.grade, note=earlier.note)
                event = self._add_event(by, item_id, DECIDE, before, Rating(grade, note=note))
                self._read(
                    "INSERT OR REPLACE INTO decision VALUES (?, ?, ?, ?, ?)",
                    *(item_id, by.rater, grade, note, event),
                )
        return Decision(item_id, by.rater, grade, note)

    def _undecide(self, by: Envelope, item_id: str, undone: int) -> SavedRating:
        """Take a decision back: the latest other one on the item counts, if there is one."""
        event = self._add_event(by, item_id, UNDECIDE, Rating(), Rating(), undone)
        self._read("DELETE FROM decision WHERE item_id = ?", item_id)
        self._read(
            """INSERT INTO decision
            SELECT item_id, rater, json_extract(after, '$.grade'), json_extract(after, '$.note'), id
            FROM event WHERE item_id = ? AND kind = ?
            AND id NOT IN (SELECT undoes FROM event WHERE undoes IS NOT NULL) ORDER BY id DESC LIMIT 1""",
            *(item_id, DECIDE),
        )
        return SavedRating(event, item_id, Rating(), Rating(), undecided=True)

    def decisions(self) -> dict[str, Decision]:
        """All decisions by the id of their item."""
        rows = self._read("SELECT item_id, rater, grade, note FROM decision")
        return {row[0]: Decision(*row) for row in rows}

    def seconds(self, rater: str, most: int = 200) -> list[float]:
        """How long a rater has looked at the last ``most`` items that were graded or skipped."""
        rows = self._read(
            """SELECT seconds FROM event WHERE rater = ? AND kind IN ('grade', 'skip')
            AND seconds IS NOT NULL ORDER BY id DESC LIMIT ?""",
            *(rater, most),
        )
        return [row[0] for row in rows]

    def _read(self, statement: str, *values: object) -> list[Any]:
        with self._lock:
            return self._db.execute(statement, values).fetchall()

    def _answered(
        self,
        by: Envelope,
        kinds: Collection[str],
        item_id: str | None = None,
        change: Callable[[Rating], Rating] | None = None,
    ) -> SavedRating | None:
        """The result of a request that was made before; LabelError if that made another change."""
        query = "SELECT id, rater, item_id, before, after, kind FROM event WHERE request = ?"
        rows = self._read(query, by.request)
        if not rows:
            return None
        event, rater, changed, before, after, kind = rows[0]
        if rater != by.rater:
            raise LabelError("The request was made by another rater. Load the page again.")
        old, new = Rating.from_json(before), Rating.from_json(after)
        if kind not in kinds or item_id not in (None, changed) or (change is not None and change(old) != new):
            raise LabelError(
                "The number of this request belongs to another change; nothing was saved. "
                "Load the page again."
            )
        return SavedRating(event, changed, old, new, undecided=kind == UNDECIDE)

    def _rate(
        self,
        by: Envelope,
        item_id: str,
        kind: str,
        change: Callable[[Rating], Rating],
        undoes: int | None = None,
    ) -> SavedRating:
        before, _ = self.rating(by.rater, item_id)
        after = change(before)
        event = self._add_event(by, item_id, kind, before, after, undoes)
        self._read(
            "INSERT OR REPLACE INTO label VALUES (?, ?, ?, ?, ?, ?, ?)",
            *(by.rater, item_id, after.grade, after.skipped, after.note, after.evidence, event),
        )
        return SavedRating(event, item_id, before, after)

    def _add_event(
        self, by: Envelope, item_id: str, kind: str, before: Rating, after: Rating, undoes: int | None = None
    ) -> int:
        at = datetime.now(UTC).isoformat(timespec="milliseconds")
        change = before.to_json(), after.to_json()
        cursor = self._db.execute(
            "INSERT INTO event (request, at, rater, item_id, kind, before, after, seconds, tab, undoes) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (by.request, at, by.rater, item_id, kind, *change, by.seconds, by.tab, undoes),
        )
        return int(cursor.lastrowid or 0)

    def _add_item(self, item: PassageToGrade, place: int) -> None:
        """A new item, or one of a pool that is wanted again; a mark changes nothing that is there."""
        again = "DO NOTHING"
        if item.origin == "pool":
            again = """DO UPDATE SET place = excluded.place, wanted = 1, above = excluded.above,
            priority = excluded.priority, origin = 'pool'"""
        self._read(
            f"""INSERT INTO item (item_id, place, wanted, {_ITEM}) VALUES (?, ?, 1, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            ON CONFLICT (item_id) {again}""",
            *(item.item_id, place, *item.key, item.page),
            *(encodable(item.text), encodable(item.above), item.priority, item.origin),
        )


def _passage(row: Iterable[Any]) -> PassageToGrade:
    return PassageToGrade(**dict(zip(_FIELDS, row, strict=True)))
