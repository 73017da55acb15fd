"""The operations of the labelling page: one method per request, independent of HTTP.

What a method is given it takes by the names that requests use; what it returns is sent as JSON.
"""

from __future__ import annotations

import hashlib
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from statistics import median
from typing import Any

from pydantic import NonNegativeInt

from harness.judge import alpha_of_all, pair_agreements
from harness.labels.label_page.document_store import Answer, DocumentStore
from harness.labels.label_page.page_state import Envelope, PageState
from harness.labels.label_page.ratings import Decision, Rating, SettledGrade, differing, grades_of, settle
from harness.labels.labelling.passages import PassageToGrade
from harness.values import MAX_GRADE, LabelError, encodable, trim

_LONGEST_NAME = 40
_LONGEST_WORDS = 2_000
_LONGEST_MARK = 20_000
# an item left open for longer was not being graded
_LONGEST_LOOK = 300.0
_PAGE = 50
# with fewer, a median is unreliable
_LEAST_TIMES = 5


def rater_name(rater: str, only: str = "") -> str:
    """A name as it is kept; raises LabelError for one that cannot be used, or is another than ``only``."""
    name = unicodedata.normalize("NFC", rater).strip()
    if not name or len(name) > _LONGEST_NAME or not name.isprintable() or set(",;") & set(name):
        raise LabelError(f"A name has 1 to {_LONGEST_NAME} visible letters, no comma and no semicolon.")
    if only and name != only:
        raise LabelError(f"This page was started for {only} alone.")
    return name


def order_for(rater: str, items: Mapping[str, PassageToGrade]) -> list[str]:
    """The ids of all items for a rater, next first; nothing of scores, ranks or settings shows in it.

    The highest priority comes first; without one, question after question, shuffled for each rater.
    """
    queries = dict.fromkeys(item.query_id for item in items.values())
    place = {query_id: number for number, query_id in enumerate(queries)}

    def key(item_id: str) -> tuple[bool, float, int, bytes]:
        item = items[item_id]
        # a hash, so that an item added later does not change the order of the others
        shuffled = hashlib.sha256(f"0\n{rater}\n{item_id}".encode()).digest()
        return item.priority is None, -(item.priority or 0.0), place[item.query_id], shuffled

    return sorted(items, key=key)


def next_open(ids: Sequence[str], finished: frozenset[str], after: int = -1) -> str | None:
    """The first item after a place that is not done, else the first of all; None if all are done."""
    return next(
        (item_id for item_id in (*ids[after + 1 :], *ids[: after + 1]) if item_id not in finished), None
    )


def progress(finished: int, total: int, times: Iterable[float]) -> dict[str, float | None]:
    """How many items are done, the median of the latest times, and how long the rest takes at that pace.

    Times are in seconds, and None unless there are five or more.
    """
    measured = list(times)
    seconds = median(measured) if len(measured) >= _LEAST_TIMES else None
    remaining = None if seconds is None else seconds * (total - finished)
    return {"done": finished, "total": total, "seconds": seconds, "remaining": remaining}


class LabelService:
    """The labels, the order and the documents of one pool; ``rater`` is the only one allowed, '' for any.

    ``as_listed`` is for pools that were ordered on purpose: their order is that of every rater.
    """

    page = "page.html"

    def __init__(
        self,
        state: PageState,
        store: DocumentStore,
        guidelines: str,
        rater: str = "",
        as_listed: bool = False,
    ) -> None:
        self.state, self.store = state, store
        self.items = state.items()
        query_ids = {item.query_id for item in self.items.values()}
        self.questions = {name: text for name, text in state.questions().items() if name in query_ids}
        self._as_listed, self._guidelines = as_listed, guidelines
        self._rater = rater_name(rater) if rater else ""
        self._queues: dict[str, list[str]] = {}

    @property
    def reads(self) -> Mapping[str, Callable[..., Any]]:
        """What the page may ask for."""
        return {
            "about": self.about,
            "step": self.step,
            "marks": self.marks,
            "questions": self.question_list,
            "agreement": self.agreement,
            "disagreements": self.disagreements,
            "leaf": self.store.part,
            "find": self.store.find,
            "copies": self.store.copies,
            "picture": self.store.picture,
        }

    @property
    def writes(self) -> Mapping[str, Callable[..., Any]]:
        """What the page may change."""
        return {
            "enter": self.enter,
            "say": self.rate,
            "undo": self.undo,
            "mark": self.mark,
            "decide": self.decide,
        }

    def about(self) -> Answer:
        """The data of the start page: the raters so far, and the work to do."""
        return {
            "raters": [self._rater] if self._rater else self.state.raters(),
            "fixed": bool(self._rater),
            "items": len(self.items),
            "questions": len(self.questions),
            "guidelines": self._guidelines,
        }

    def enter(self, rater: str, item: str = "") -> Answer:
        """The item to begin with: the one named, or the first that is not done; stores nothing.

        Raises UnknownItemError for an item that is not there.
        """
        name = self.name(rater)
        return {"rater": name, **self.step(name, item)}

    def name(self, rater: str) -> str:
        """A rater's name as it is kept; raises LabelError for one that cannot be used."""
        return rater_name(rater, self._rater)

    def step(self, rater: str, item: str = "", after: str = "", back: bool = False) -> Answer:
        """One item with its rating by the rater: the one named, or the next open one after another.

        ``back``: the one before ``after``, done or not. ``item`` is None if all is done.
        """
        finished = self.state.done(rater)
        ids = self._queue(rater)
        if not item:
            place = ids.index(after) if after in self.items else None
            if back:
                item = ids[max((place if place is not None else len(ids)) - 1, 0)] if ids else ""
            else:
                item = next_open(ids, finished, -1 if place is None else place) or ""
        shown = self._rated(rater, self.state.item(item)) if item else None
        now = progress(sum(item_id in finished for item_id in ids), len(ids), self.state.seconds(rater))
        same = [item_id for item_id in ids if shown and self.items[item_id].query_id == shown["query_id"]]
        of_question = {"done": sum(item_id in finished for item_id in same), "total": len(same)}
        return {"item": shown, "progress": {**now, "question": of_question}}

    def rate(self, by: Envelope, item: str, kind: str, value: Any, seen: int, next: bool = False) -> Answer:
        """Grade, skip, clear, or change the note or the evidence name; returns the stored rating.

        ``seen`` is the event that the tab knew of: if another tab has rated the item since, ``replaced`` is
        that rating. ``next``: with the next passage, so that a key takes one request.
        """
        self.state.item(item)
        saved = self.state.change(bounded(by), item, kind, _change(kind, value))
        other = (saved.before.grade, saved.before.skipped) != (saved.rating.grade, saved.rating.skipped)
        replaced = saved.before.done and other and self.state.graded_elsewhere(by, item, seen, saved.event)
        return {
            "event": saved.event,
            "rating": asdict(saved.rating),
            "replaced": asdict(saved.before) if replaced else None,
            **({"next": self.step(by.rater, after=item)} if next else {}),
        }

    def undo(self, by: Envelope) -> Answer:
        """Undo the last change, and return its item."""
        saved = self.state.undo(by)
        if saved is None:
            return {"undone": False, **self.step(by.rater)}
        if saved.undecided:
            decision = self.state.decisions().get(saved.item_id)
            return {"undone": True, "decided": None if decision is None else asdict(decision), "item": None}
        item = self.state.item(saved.item_id)
        if item.origin == "mark":
            return {"undone": True, "mark": {**_shown(item), "rating": asdict(saved.rating)}, "item": None}
        return {"undone": True, **self.step(by.rater, saved.item_id)}

    def mark(
        self,
        by: Envelope,
        query: str,
        doc: str,
        start: int,
        end: int,
        text: Any,
        grade: Any,
        note: Any = "",
        evidence: Any = "",
    ) -> Answer:
        """Grade a range that was selected in a document; refuses one whose text differs from it."""
        if query not in self.questions:
            raise LabelError("There is no such question. Load the page again.")
        document = self.store.document(doc)
        if not 0 <= start < end <= len(document.text) or end - start > _LONGEST_MARK:
            raise LabelError(f"Select between 1 and {_LONGEST_MARK} characters of the document.")
        if document.text[start:end] != text:
            raise LabelError(
                "The selection is not the text of the document at that place. Load the page again."
            )
        start, end = trim(document.text, (start, end))
        if start >= end:
            raise LabelError("Select some words; this is white space alone.")
        item = PassageToGrade.of(document, query, start, end, origin="mark")
        if item.item_id in self.items:
            raise LabelError("This is the whole of a passage to grade: grade that instead of a mark.")
        rating = Rating(_grade(grade), "", _words(note), _words(evidence))
        saved = self.state.mark(bounded(by), item, rating)
        return {"event": saved.event, "item_id": saved.item_id, **self.marks(by.rater, query)}

    def marks(self, rater: str, query: str) -> Answer:
        """The marks of a rater for a question."""
        marks = self.state.marks(rater, query)
        return {"marks": [{**_shown(item), "rating": asdict(rating)} for item, rating in marks]}

    def question_list(self, rater: str, begin: NonNegativeInt) -> Answer:
        """Fifty questions from a position on, each with its progress and first open item."""
        finished = self.state.done(rater)
        rows: dict[str, Answer] = {
            query_id: {"query_id": query_id, "text": text, "done": 0, "total": 0, "first": ""}
            for query_id, text in list(self.questions.items())[begin : begin + _PAGE]
        }
        for item_id in self._queue(rater):
            row = rows.get(self.items[item_id].query_id)
            if row is not None:
                row["total"] += 1
                row["done"] += item_id in finished
                if not row["first"] or (item_id not in finished and row["first"] in finished):
                    row["first"] = item_id
        return {"questions": list(rows.values()), "begin": begin, "total": len(self.questions)}

    def agreement(self) -> Answer:
        """How far raters agree so far, in numbers; null where one is undefined."""
        grades = grades_of(self.state.labels())
        items, alpha = alpha_of_all(grades)
        pairs = [asdict(pair) for pair in pair_agreements(grades)]
        return {
            "items": items,
            "alpha": _finite(alpha),
            "pairs": [{name: _finite(value) for name, value in pair.items()} for pair in pairs],
        }

    def disagreements(self, rater: str, begin: NonNegativeInt) -> Answer:
        """Fifty disagreements from a position on, as this rater may see them; undecided ones first."""
        decisions = self.state.decisions()
        settled = settle(self.state.labels(), decisions).values()
        seen = differing(settled, self.state.done(rater))
        shown = seen[begin : begin + _PAGE]
        return {
            "items": [self._side_by_side(final, decisions.get(final.item_id)) for final in shown],
            "begin": begin,
            "total": len(seen),
            "open": sum(final.grade is None for final in seen),
            "hidden": sum(final.differs for final in settled) - len(seen),
        }

    def decide(self, by: Envelope, item: str, grade: Any, note: Any = "") -> Answer:
        """Settle a disagreement."""
        self.state.item(item)
        decided = self.state.decide(by, item, _grade(grade), _words(note))
        return {"item_id": item, "grade": decided.grade, "note": decided.note, "by": decided.rater}

    def _side_by_side(self, final: SettledGrade, decision: Decision | None) -> Answer:
        item = self.state.item(final.item_id)
        return {
            **_shown(item),
            "question": self.questions.get(item.query_id, item.query_id),
            "grades": [
                {"rater": rater, "grade": grade, "note": self.state.rating(rater, final.item_id)[0].note}
                for rater, grade in final.grades.items()
            ],
            "decided": None if decision is None else asdict(decision),
        }

    def _rated(self, rater: str, item: PassageToGrade) -> Answer:
        """An item as a rater sees it."""
        rating, event = self.state.rating(rater, item.item_id)
        before, after = self.store.around(item.doc_id, item.start, item.end)
        return {
            **_shown(item),
            "before": before,
            "after": after,
            "question": self.questions.get(item.query_id, item.query_id),
            "rating": asdict(rating),
            "event": event,
            **self.marks(rater, item.query_id),
            "names": self.state.evidence_names(rater, item.query_id),
        }

    def _queue(self, rater: str) -> list[str]:
        if rater not in self._queues:
            self._queues[rater] = list(self.items) if self._as_listed else order_for(rater, self.items)
        return self._queues[rater]


def _shown(item: PassageToGrade) -> Answer:
    """What anybody may see of an item: no priority, no rank, no place in the pool."""
    names = ("item_id", "query_id", "doc_id", "start", "end", "page", "text", "above")
    return {name: getattr(item, name) for name in names}


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


def _finite(value: Any) -> Any:
    """JSON has no NaN."""
    return None if value != value else value


def _words(value: Any) -> str:
    if not isinstance(value, str) or len(value) > _LONGEST_WORDS:
        raise LabelError(f"Write at most {_LONGEST_WORDS} characters.")
    return encodable(value.strip())


def bounded(by: Envelope) -> Envelope:
    """The request with a valid time: None for an invalid one, at most five minutes."""
    seconds = by.seconds
    if seconds is not None:
        seconds = min(seconds, _LONGEST_LOOK) if 0 <= seconds < float("inf") else None
    return replace(by, seconds=seconds)
