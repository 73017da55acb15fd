"""The operations of the labelling page on plain values: one method per request, independent of HTTP."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from typing import Any

from harness.comparison import alpha_of_all, pair_agreements
from harness.labels.label_page.document_store import DocumentPart, DocumentStore
from harness.labels.label_page.items import Item, PageQuestion, Rating
from harness.labels.label_page.queue import Order, Queues, RaterQueue, next_open, progress, usual_order
from harness.labels.label_page.settled import SettledGrade, differing, grades_of, settle
from harness.labels.label_page.state import Decision, Envelope, PageState
from harness.labels.label_page.verdict import LiveVerdict
from harness.values import MAX_GRADE, LabelError, encodable, trim

Answer = dict[str, Any]
_LONGEST_NAME = 40
_LONGEST_WORDS = 2_000
_LONGEST_MARK = 20_000
# an item left open for longer was not being graded
_LONGEST_LOOK = 300.0
_PAGE = 50


@dataclass(frozen=True, slots=True)
class LabelService:
    """The labels, the order and the documents of one pool.

    ``rater`` is the only one allowed, '' for any. ``verdict`` tells how firm the comparison is, where that
    may be shown.
    """

    state: PageState
    store: DocumentStore
    queues: Queues
    questions: dict[str, PageQuestion]
    total: int
    guidelines: str
    rater: str = ""
    verdict: LiveVerdict | None = None

    def about(self) -> Answer:
        """The data of the start page: the raters so far, and the work to do."""
        return {
            "raters": [self.rater] if self.rater else self.state.raters(),
            "fixed": bool(self.rater),
            "items": self.total,
            "questions": len(self.questions),
            "guidelines": self.guidelines,
            "verdict": self.verdict is not None,
        }

    def enter(self, rater: str, item_id: str = "") -> Answer:
        """Begin: the item named, or the first that is not done; stores nothing.

        Raises UnknownItemError for an item that is not there.
        """
        name = self.name(rater)
        return {"rater": name, **self.step(name, item_id)}

    def name(self, rater: str) -> str:
        """A rater's name as it is kept; raises LabelError for one that cannot be used."""
        name = unicodedata.normalize("NFC", rater).strip()
        if not name or len(name) > _LONGEST_NAME or not name.isprintable():
            raise LabelError(f"A name has 1 to {_LONGEST_NAME} visible letters.")
        if self.rater and name != self.rater:
            raise LabelError(f"This page was started for {self.rater} alone.")
        return name

    def step(self, rater: str, item_id: str = "", after: str = "", back: bool = False) -> Answer:
        """One item with its rating by the rater: the one named, or the next open one after another.

        ``back``: the one before ``after``, done or not. ``item`` is None if all is done.
        """
        done = self.state.done(rater)
        queue = self._queue(rater, done)
        if not item_id:
            ids, place = queue.ids, queue.place.get(after)
            if back:
                item_id = ids[max((place if place is not None else len(ids)) - 1, 0)] if ids else ""
            else:
                item_id = next_open(ids, done, -1 if place is None else place, len(queue.named)) or ""
        shown = self._item(rater, self.state.item(item_id)) if item_id else None
        now = progress(sum(one in done for one in queue.ids), len(queue.ids), self.state.seconds(rater))
        return {"item": shown, "progress": asdict(now)}

    def rate(self, by: Envelope, item_id: str, kind: str, value: Any, seen: int) -> Answer:
        """Grade, skip, clear, or change the note or the evidence name; returns the stored rating.

        ``seen`` is the event that the tab knew of: if another tab has rated the item since, ``replaced`` is
        that rating.
        """
        self.state.item(item_id)
        saved = self.state.change(_bounded(by), item_id, kind, _change(kind, value))
        other = (saved.before.grade, saved.before.skipped) != (saved.rating.grade, saved.rating.skipped)
        replaced = saved.before_event > seen and saved.before.done and other
        return {
            "event": saved.event,
            "rating": asdict(saved.rating),
            "replaced": asdict(saved.before) if replaced else None,
        }

    def undo(self, by: Envelope) -> Answer:
        """Undo the last change, and return its item."""
        saved = self.state.undo(by)
        if saved is None:
            return {"undone": False, **self.step(by.rater)}
        item = self.state.item(saved.item_id)
        if item.origin == "mark":
            return {"undone": True, "mark": asdict(item), "item": None}
        return {"undone": True, **self.step(by.rater, saved.item_id)}

    def mark(
        self, by: Envelope, query_id: str, span: tuple[str, int, int], text: str, rating: Rating
    ) -> Answer:
        """Grade a range that was selected in a document; refuses one whose text differs from it."""
        doc_id, start, end = span
        if query_id not in self.questions:
            raise LabelError("There is no such question. Load the page again.")
        document = self.store.document(doc_id)
        if not 0 <= start < end <= len(document.text) or end - start > _LONGEST_MARK:
            raise LabelError(f"Select between 1 and {_LONGEST_MARK} characters of the document.")
        if document.text[start:end] != text:
            raise LabelError(
                "The selection is not the text of the document at that place. Load the page again."
            )
        start, end = trim(document.text, (start, end))
        if start >= end:
            raise LabelError("Select some words; this is white space alone.")
        item = Item.of(document, query_id, start, end, origin="mark")
        graded = Rating(_grade(rating.grade), "", _words(rating.note), _words(rating.evidence))
        saved = self.state.mark(_bounded(by), item, graded)
        return {"event": saved.event, "item_id": saved.item_id, "marks": self.marks(by.rater, query_id)}

    def marks(self, rater: str, query_id: str) -> list[Answer]:
        """The marks of a rater for a question."""
        return [
            {**asdict(item), "rating": asdict(rating)} for item, rating in self.state.marks(rater, query_id)
        ]

    def document_part(self, doc_id: str, offset: int | None, part: int | None) -> DocumentPart:
        """Part of a document, by an offset or by its number."""
        return self.store.part(doc_id, part) if part is not None else self.store.at(doc_id, offset or 0)

    def find(self, sought: str, doc_id: str = "") -> list[Answer]:
        """Passages of the documents that match some words."""
        if not sought.strip():
            raise LabelError("There is nothing to look for: give some words.")
        return [
            {
                "doc_id": one.document.doc_id,
                "start": one.start,
                "end": one.end,
                "page": one.page,
                "how": one.how,
                "text": one.text[:_LONGEST_WORDS],
            }
            for one in self.store.find(sought, doc_id)
        ]

    def copies(self, doc_id: str, start: int, end: int) -> list[Answer]:
        """The other places that hold the text of a range."""
        return [
            {
                "doc_id": document.doc_id,
                "start": first,
                "end": last,
                "page": document.page_of(first),
                "text": document.text[first:last],
                "around": document.text[max(0, first - 80) : last + 80],
            }
            for document, first, last in self.store.copies(doc_id, start, end)
        ]

    def question_list(self, rater: str, begin: int) -> Answer:
        """Fifty questions from a position on, each with its progress and first open item."""
        done = self.state.done(rater)
        shown = list(self.questions.values())[begin : begin + _PAGE]
        query_of = {item.item_id: item.query_id for item in self.state.items()}
        rows: dict[str, Answer] = {
            one.query_id: {"query_id": one.query_id, "text": one.text, "done": 0, "total": 0, "first": ""}
            for one in shown
        }
        for one in self._queue(rater, done).ids:
            row = rows.get(query_of[one])
            if row is not None:
                row["total"] += 1
                row["done"] += one in done
                if not row["first"] or (one not in done and row["first"] in done):
                    row["first"] = one
        return {"questions": list(rows.values()), "begin": begin, "total": len(self.questions)}

    def agreement(self) -> Answer:
        """How far raters agree so far, in numbers; null where one is undefined."""
        grades = grades_of(self.state.labels())
        items, alpha = alpha_of_all(grades)
        pairs = [asdict(one) for one in pair_agreements(grades)]
        return {
            "items": items,
            "alpha": _known(alpha),
            "pairs": [{name: _known(value) for name, value in pair.items()} for pair in pairs],
        }

    def disagreements(self, rater: str, begin: int) -> Answer:
        """Fifty disagreements from a position on, as this rater may see them; undecided ones first."""
        decisions = self.state.decisions()
        settled = settle(self.state.labels(), decisions).values()
        seen = differing(settled, rater, self.state.done(rater))
        all_of_them = sum(one.differs for one in settled)
        return {
            "items": [
                self._side_by_side(one, decisions.get(one.item_id)) for one in seen[begin : begin + _PAGE]
            ],
            "begin": begin,
            "total": len(seen),
            "open": sum(one.grade is None for one in seen),
            "hidden": all_of_them - len(seen),
        }

    def firmness(self, fresh: bool) -> Answer:
        """How firm the verdict is, as far as it is known; raises LabelError if it is not shown."""
        if self.verdict is None:
            raise LabelError("This page does not show the verdict.")
        return self.verdict.so_far(fresh)

    def decide(self, by: Envelope, item_id: str, grade: Any, note: str) -> Answer:
        """Settle a disagreement."""
        self.state.item(item_id)
        decided = self.state.decide(by, item_id, _grade(grade), _words(note))
        return {"item_id": item_id, "grade": decided.grade, "note": decided.note, "by": decided.rater}

    def _side_by_side(self, one: SettledGrade, decision: Decision | None) -> Answer:
        item = self.state.item(one.item_id)
        return {
            **asdict(item),
            "question": self._question(item.query_id),
            "grades": [
                {"rater": rater, "grade": grade, "note": self.state.rating(rater, one.item_id)[0].note}
                for rater, grade in one.grades.items()
            ],
            "decided": None if decision is None else asdict(decision),
        }

    def _item(self, rater: str, item: Item) -> Answer:
        """An item as a rater sees it: no priority, no place in the pool."""
        rating, event = self.state.rating(rater, item.item_id)
        shown = {name: value for name, value in asdict(item).items() if name not in ("priority", "origin")}
        return {
            **shown,
            "question": self._question(item.query_id),
            "rating": asdict(rating),
            "event": event,
            "marks": self.marks(rater, item.query_id),
            "names": self.state.evidence_names(rater, item.query_id),
        }

    def _question(self, query_id: str) -> str:
        known = self.questions.get(query_id)
        return known.text if known is not None else query_id

    def _queue(self, rater: str, done: frozenset[str]) -> RaterQueue:
        return self.queues.queue_of(rater, self.state.labels, self.state.latest(), done)


def make_service(
    state: PageState,
    store: DocumentStore,
    guidelines: str,
    rater: str = "",
    order: Order = usual_order,
    verdict: LiveVerdict | None = None,
) -> LabelService:
    """A service over the content of the state."""
    items = state.items()
    asked = {item.query_id for item in items}
    questions = {one.query_id: one for one in state.questions() if one.query_id in asked}
    return LabelService(state, store, Queues(items, order), questions, len(items), guidelines, rater, verdict)


def _change(kind: str, value: Any) -> Callable[[Rating], Rating]:
    """The change that a request makes to a rating; raises LabelError for an unknown or impossible change."""
    if kind == "grade":
        changes: dict[str, Any] = {"grade": _grade(value), "skipped": ""}
    elif kind == "skip":
        changes = {"grade": None, "skipped": _words(value) or "skipped"}
    elif kind in ("note", "evidence"):
        changes = {kind: _words(value)}
    elif kind == "clear":
        changes = {"grade": None, "skipped": ""}
    else:
        raise LabelError(f"There is no {kind!r} to say of a passage.")
    return lambda rating: replace(rating, **changes)


def _grade(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= MAX_GRADE:
        raise LabelError(f"A grade is a whole number from 0 to {MAX_GRADE}.")
    return value


def _known(value: Any) -> Any:
    """JSON has no NaN."""
    return None if value != value else value


def _words(value: Any) -> str:
    if not isinstance(value, str) or len(value) > _LONGEST_WORDS:
        raise LabelError(f"Write at most {_LONGEST_WORDS} characters.")
    return encodable(value.strip())


def _bounded(by: Envelope) -> Envelope:
    """The request with a valid time: None for an invalid one, at most five minutes."""
    seconds = by.seconds
    if seconds is not None:
        seconds = min(seconds, _LONGEST_LOOK) if 0 <= seconds < float("inf") else None
    return replace(by, seconds=seconds)
