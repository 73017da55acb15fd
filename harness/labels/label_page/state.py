"""The store of labels: one SQLite file, to which any number of tabs, people and processes may write."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from harness.labels.label_page.items import Item, ItemRating, PageQuestion, Rating, UnknownItemError
from harness.labels.label_page.schema import connect
from harness.store import transaction
from harness.values import LabelError, encodable

_ITEM = 'item_id, query_id, doc_id, start, "end", page, text, above, priority, origin'
DECIDE = "decide"


@dataclass(frozen=True, slots=True)
class Envelope:
    """Sent with every request: the rater, and the number of the ``request``, so that it counts once.

    ``tab`` names the tab of the browser. ``seconds`` is how long the rater has looked at the item, None if
    nothing was measured.
    """

    rater: str
    request: str
    tab: str = ""
    seconds: float | None = None


@dataclass(frozen=True, slots=True)
class SavedRating:
    """A stored rating; ``before`` is the one it replaced at ``event``, there since ``before_event``.

    ``before_event`` is 0 if the item was not rated before, or the request was made a second time.
    """

    event: int
    item_id: str
    before: Rating
    before_event: int
    rating: Rating


@dataclass(frozen=True, slots=True)
class Decision:
    """The grade that raters who had disagreed have agreed on, and who recorded it."""

    item_id: str
    rater: str
    grade: int
    note: str


class PageState:
    """The labels of one pool. Every change is an event; events are never changed and never removed."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._db = connect(path)
        self._lock = threading.RLock()

    def __enter__(self) -> PageState:
        return self

    def __exit__(self, *failure: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._db.close()

    def sync(
        self, questions: Sequence[PageQuestion], items: Sequence[Item], texts: Mapping[str, str]
    ) -> None:
        """Load a pool: new items are added; items no longer in it keep their labels but are not shown.

        ``texts`` has the sha256 of each document's text. Raises LabelError if the text of a document has
        changed since something of it was labelled: the offsets would point elsewhere.
        """
        with self._lock, transaction(self._db):
            self._refuse_changed(texts)
            self._db.executemany("INSERT OR REPLACE INTO document VALUES (?, ?)", texts.items())
            self._db.executemany(
                "INSERT OR REPLACE INTO question VALUES (?, ?, ?)",
                [(one.query_id, place, one.text) for place, one in enumerate(questions)],
            )
            self._db.execute("UPDATE item SET wanted = 0 WHERE origin = 'pool'")
            for place, item in enumerate(items):
                self._put_item(item, place)

    def items(self, *, wanted: bool = True) -> list[Item]:
        """The items to grade, in the order of the pool; else all that were ever known, marks too."""
        which = "WHERE wanted = 1 AND origin = 'pool'" if wanted else ""
        rows = self._read(f"SELECT {_ITEM} FROM item {which} ORDER BY place, item_id")
        return [Item(*row) for row in rows]

    def item(self, item_id: str) -> Item:
        """One item; raises UnknownItemError if there is none of that id."""
        rows = self._read(f"SELECT {_ITEM} FROM item WHERE item_id = ?", item_id)
        if not rows:
            raise UnknownItemError(f"There is no passage {item_id!r} to grade. Load the page again.")
        return Item(*rows[0])

    def marks(self, rater: str, query_id: str) -> list[tuple[Item, Rating]]:
        """The evidence that a rater has marked for a question, by document and place."""
        rows = self._read(
            f"""SELECT {_ITEM}, grade, skipped, note, evidence FROM item JOIN label USING (item_id)
            WHERE origin = 'mark' AND rater = ? AND query_id = ? AND grade IS NOT NULL
            ORDER BY doc_id, start""",
            rater,
            query_id,
        )
        return [(Item(*row[:10]), Rating(*row[10:])) for row in rows]

    def questions(self) -> list[PageQuestion]:
        """The questions, in their order."""
        return [
            PageQuestion(*row) for row in self._read("SELECT query_id, text FROM question ORDER BY place")
        ]

    def labels(self, rater: str = "") -> list[ItemRating]:
        """The ratings of all items, by one rater or by all."""
        which = ("WHERE rater = ?", rater) if rater else ("",)
        rows = self._read(
            f"SELECT rater, item_id, grade, skipped, note, evidence, event FROM label {which[0]}", *which[1:]
        )
        return [ItemRating(row[0], row[1], Rating(*row[2:6]), row[6]) for row in rows]

    def done(self, rater: str) -> frozenset[str]:
        """The ids of the items that a rater has graded or skipped."""
        rows = self._read(
            "SELECT item_id FROM label WHERE rater = ? AND (grade IS NOT NULL OR skipped != '')", rater
        )
        return frozenset(row[0] for row in rows)

    def rating(self, rater: str, item_id: str) -> tuple[Rating, int]:
        """The rating of an item by a rater, and the event that gave it; empty and 0 if there is none."""
        rows = self._read(
            "SELECT grade, skipped, note, evidence, event FROM label WHERE rater = ? AND item_id = ?",
            rater,
            item_id,
        )
        return (Rating(*rows[0][:4]), rows[0][4]) if rows else (Rating(), 0)

    def evidence_names(self, rater: str, query_id: str) -> list[str]:
        """The names that a rater has given to evidence of a question."""
        rows = self._read(
            """SELECT DISTINCT evidence FROM label JOIN item USING (item_id)
            WHERE rater = ? AND query_id = ? AND evidence != '' ORDER BY evidence""",
            rater,
            query_id,
        )
        return [row[0] for row in rows]

    def latest(self) -> int:
        """The number of the last event; 0 if there is none."""
        return int(self._read("SELECT COALESCE(MAX(id), 0) FROM event")[0][0])

    def raters(self) -> list[str]:
        """All who have ever rated something, in the order of their first ratings."""
        rows = self._read("SELECT rater FROM event GROUP BY rater ORDER BY MIN(id)")
        return [row[0] for row in rows]

    def change(
        self, by: Envelope, item_id: str, kind: str, change: Callable[[Rating], Rating]
    ) -> SavedRating:
        """Change the rating of an item by a rater; it is on the disk when this returns.

        A request that was answered already is answered the same again. Of two tabs the last one counts, and
        what it replaced stays in the history.
        """
        with self._lock, transaction(self._db):
            again = self._answered(by)
            if again is not None:
                return again
            before, before_event = self.rating(by.rater, item_id)
            after = change(before)
            event = self._add_event(by, item_id, kind, before.to_json(), after.to_json())
            self._put_label(by.rater, item_id, after, event)
        return SavedRating(event, item_id, before, before_event, after)

    def mark(self, by: Envelope, item: Item, rating: Rating) -> SavedRating:
        """Grade a range that a rater has marked as evidence."""
        with self._lock:
            with transaction(self._db):
                self._db.execute(
                    f"INSERT OR IGNORE INTO item (place, wanted, {_ITEM}) "
                    "VALUES (-1, 1, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                    _cells(item),
                )
            return self.change(by, item.item_id, "mark", lambda _: rating)

    def undo(self, by: Envelope) -> SavedRating | None:
        """Undo the latest change of a rater that is not undone yet; None if there is none."""
        with self._lock, transaction(self._db):
            again = self._answered(by)
            if again is not None:
                return again
            last = self._db.execute(
                """SELECT id, item_id, before FROM event AS done WHERE rater = ? AND undoes IS NULL
                AND kind != ? AND NOT EXISTS (SELECT 1 FROM event WHERE undoes = done.id)
                ORDER BY id DESC LIMIT 1""",
                (by.rater, DECIDE),
            ).fetchone()
            if last is None:
                return None
            undone, item_id, stored = last
            before, before_event = self.rating(by.rater, item_id)
            rating = Rating.from_json(stored)
            event = self._add_event(by, item_id, "undo", before.to_json(), stored, undone)
            self._put_label(by.rater, item_id, rating, event)
        return SavedRating(event, item_id, before, before_event, rating)

    def decide(self, by: Envelope, item_id: str, grade: int, note: str = "") -> Decision:
        """Record the grade that raters have agreed on; the last decision on an item counts."""
        decided = Rating(grade=grade, note=note)
        with self._lock, transaction(self._db):
            if self._answered(by) is None:
                rows = self._read("SELECT grade, '', note FROM decision WHERE item_id = ?", item_id)
                before = Rating(*rows[0]) if rows else Rating()
                event = self._add_event(by, item_id, DECIDE, before.to_json(), decided.to_json())
                self._db.execute(
                    "INSERT OR REPLACE INTO decision VALUES (?, ?, ?, ?, ?)",
                    (item_id, by.rater, grade, note, event),
                )
        return Decision(item_id, by.rater, grade, note)

    def decisions(self) -> dict[str, Decision]:
        """All decisions by the id of their item."""
        rows = self._read("SELECT item_id, rater, grade, note FROM decision")
        return {row[0]: Decision(*row) for row in rows}

    def seconds(self, rater: str, most: int = 200) -> list[float]:
        """How long a rater has looked at the last ``most`` items that were graded or skipped."""
        rows = self._read(
            """SELECT seconds FROM event WHERE rater = ? AND kind IN ('grade', 'skip')
            AND seconds IS NOT NULL ORDER BY id DESC LIMIT ?""",
            rater,
            most,
        )
        return [row[0] for row in rows]

    def _read(self, statement: str, *values: object) -> list[Any]:
        with self._lock:
            return self._db.execute(statement, values).fetchall()

    def _answered(self, by: Envelope) -> SavedRating | None:
        """The result of a request that was made before."""
        rows = self._read("SELECT id, rater, item_id, before, after FROM event WHERE request = ?", by.request)
        if not rows:
            return None
        event, rater, item_id, before, after = rows[0]
        if rater != by.rater:
            raise LabelError("The request was made by another rater. Load the page again.")
        return SavedRating(event, item_id, Rating.from_json(before), 0, Rating.from_json(after))

    def _add_event(
        self, by: Envelope, item_id: str, kind: str, before: str, after: str, undoes: int | None = None
    ) -> int:
        at = datetime.now(UTC).isoformat(timespec="milliseconds")
        values = (by.request, at, by.rater, item_id, kind, before, after, by.seconds, by.tab, undoes)
        cursor = self._db.execute(
            "INSERT INTO event (request, at, rater, item_id, kind, before, after, seconds, tab, undoes) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            values,
        )
        return int(cursor.lastrowid or 0)

    def _put_label(self, rater: str, item_id: str, rating: Rating, event: int) -> None:
        self._db.execute(
            "INSERT OR REPLACE INTO label VALUES (?, ?, ?, ?, ?, ?, ?)",
            (rater, item_id, rating.grade, rating.skipped, rating.note, rating.evidence, event),
        )

    def _put_item(self, item: Item, place: int) -> None:
        self._db.execute(
            f"""INSERT INTO item (place, wanted, {_ITEM}) VALUES (?, 1, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            ON CONFLICT (item_id) DO UPDATE SET place = excluded.place, wanted = 1, above = excluded.above,
            priority = excluded.priority, origin = 'pool'""",
            (place, *_cells(item)),
        )

    def _refuse_changed(self, texts: Mapping[str, str]) -> None:
        labelled = self._db.execute(
            """SELECT DISTINCT doc_id, sha256 FROM document JOIN item USING (doc_id)
            JOIN label USING (item_id)"""
        )
        changed = sorted(name for name, sha in labelled if texts.get(name, sha) != sha)
        if changed:
            raise LabelError(
                f"The text of {', '.join(changed[:5])} has changed since it was labelled in {self.path}, so "
                "the places of its labels no longer hold. Bring the old file back, or begin a new file of "
                "labels: --state FILE."
            )


def _cells(item: Item) -> tuple[object, ...]:
    return (
        *(item.item_id, item.query_id, item.doc_id, item.start, item.end, item.page),
        *(encodable(item.text), encodable(item.above), item.priority, item.origin),
    )
